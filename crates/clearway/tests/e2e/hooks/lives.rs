//! Sessions and subagents: who goes on as whom, what ends with what, and what agents are told on the way.

use super::gate::{held, invited};
use crate::{app, each, home, list, text};
use clearway_testkit::{Client, Home, Repository};
use serde_json::json;

fn edit(client: &mut Client, file: &str) {
    client.before_edit(file).silent();
}

/// A session with an uncommitted change of `src/a.rs`.
fn at_work(home: &Home, app: &Repository<'_>) -> Client {
    invited(app);
    let mut one = Client::claude(home, app, "one");
    edit(&mut one, "src/a.rs");
    app.write("src/a.rs", "changed\n");
    one
}

#[test]
fn a_session_that_is_alone_is_told_nothing_whatever_it_does() {
    let home = home();
    let app = app(&home);
    invited(&app);
    let mut one = Client::claude(&home, &app, "one");
    one.event("SessionStart", &json!({"source": "startup"})).silent();
    let read = json!({"tool_name": "Read", "tool_input": {"file_path": "src/a.rs"}});
    for number in 0..1_000 {
        let file = format!("src/f{}.rs", number % 17);
        edit(&mut one, &file);
        app.write(&file, "changed\n");
        if number % 20 == 0 {
            one.after_edit(&file).silent();
            one.event("PreToolUse", &read).silent();
            app.git(&["add", "-A"]);
            app.git(&["commit", "-q", "--allow-empty", "-m", "so far"]);
        }
    }
    one.event("Stop", &json!({})).silent();
    one.event("SessionEnd", &json!({"reason": "other"})).silent();
}

#[test]
fn a_session_that_is_not_alone_learns_who_is_here_within_its_budget() {
    let home = home();
    let app = app(&home);
    invited(&app);
    let mut others: Vec<Client> =
        (0..6).map(|number| Client::claude(&home, &app, &format!("s{number}"))).collect();
    for (number, other) in others.iter_mut().enumerate() {
        edit(other, &format!("src/{}.rs", "deep/".repeat(number + 1)));
    }
    let told = Client::claude(&home, &app, "new").event("SessionStart", &json!({"source": "startup"})).told();
    assert!(told.starts_with("Also at work here: claude-") && told.contains("3 more"), "{told}");
    assert!(told.len() <= 400, "{} bytes: {told}", told.len());
}

#[test]
fn the_end_of_a_turn_releases_nothing_and_makes_an_agent_idle() {
    let home = home();
    let app = app(&home);
    let mut one = at_work(&home, &app);
    one.event("Stop", &json!({})).silent();
    assert_eq!(held(&app).len(), 1);
    let agents = app.clearway().ok(&["agents"]);
    let one_of = |agents: &serde_json::Value| {
        let claude = |agent: &&serde_json::Value| text(agent, "client") == "claude-code";
        list(agents, "agents").iter().find(claude).map(|agent| text(agent, "liveness").to_owned())
    };
    assert_eq!(one_of(&agents).as_deref(), Some("idle"));
    one.event("PreToolUse", &json!({"tool_name": "Read", "tool_input": {}})).silent();
    assert_eq!(one_of(&app.clearway().ok(&["agents"])).as_deref(), Some("active"));
}

#[test]
fn a_session_that_ends_leaves_clean_files_to_all_and_says_whose_changes_it_left() {
    let home = home();
    let app = app(&home);
    invited(&app);
    let (mut one, mut two) = (Client::claude(&home, &app, "one"), Client::claude(&home, &app, "two"));
    edit(&mut one, "src/a.rs");
    app.write("src/a.rs", "changed\n");
    edit(&mut one, "src/b.rs");
    one.event("SessionEnd", &json!({"reason": "other"})).silent();
    assert!(held(&app).is_empty());
    let kinds = app.kinds();
    assert_eq!(kinds[kinds.len() - 3..], ["lease.orphaned", "lease.released", "agent.ended"]);
    two.before_edit("src/b.rs").silent();
    let told = two.before_edit("src/a.rs").told();
    assert!(told.contains("ended and left changes in it that are not committed"), "{told}");
    let agents = app.clearway().ok(&["agents"]);
    assert!(each(&agents, "agents", "liveness").contains(&"gone"));
    edit(&mut one, "docs/x.md");
    assert!(app.kinds().contains(&"agent.resumed".to_owned()), "who acts has not ended");
}

#[test]
fn a_subagent_is_not_told_of_changes_that_its_parent_was_told_of() {
    let home = home();
    let app = app(&home);
    invited(&app);
    let (mut one, mut two) = (Client::claude(&home, &app, "one"), Client::claude(&home, &app, "two"));
    edit(&mut one, "src/a.rs");
    app.write("src/a.rs", "changed\n");
    one.event("SessionEnd", &json!({"reason": "other"})).silent();
    two.before_edit("src/a.rs").told();
    as_subagent(&mut two, "x", "src/a.rs").silent();
}

#[test]
fn another_session_id_of_the_same_client_is_the_same_agent() {
    let home = home();
    let app = app(&home);
    let mut one = at_work(&home, &app);
    one.event("SessionEnd", &json!({"reason": "clear"})).silent();
    one.resume_as("two");
    one.event("SessionStart", &json!({"source": "clear"})).silent();
    edit(&mut one, "src/a.rs");
    let released = app.clearway().session("two").ok(&["release", "src/a.rs"]);
    assert_eq!(list(&released, "released").len(), 1, "the command line of the new session is that agent too");
    let agents = app.clearway().ok(&["agents"]);
    let claudes =
        each(&agents, "agents", "client").into_iter().filter(|client| *client == "claude-code").count();
    assert_eq!(claudes, 1);
}

#[test]
fn an_earlier_id_of_a_client_that_died_is_the_same_agent_when_it_is_resumed() {
    let home = home();
    let app = app(&home);
    invited(&app);
    let mut one = Client::claude(&home, &app, "one");
    one.event("SessionStart", &json!({"source": "startup"})).silent();
    edit(&mut one, "src/a.rs");
    app.write("src/a.rs", "changed\n");
    one.event("SessionEnd", &json!({"reason": "clear"})).silent();
    one.resume_as("two");
    one.event("SessionStart", &json!({"source": "clear"})).silent();
    one.die();
    let mut again = Client::claude(&home, &app, "one");
    again.event("SessionStart", &json!({"source": "resume"})).silent();
    edit(&mut again, "src/a.rs");
    let agents = app.clearway().ok(&["agents"]);
    let claudes = each(&agents, "agents", "client").into_iter().filter(|client| *client == "claude-code");
    assert_eq!(claudes.count(), 1, "{agents:#}");
}

#[test]
fn an_earlier_id_leads_to_its_agent_though_that_went_on_elsewhere_in_between() {
    let home = home();
    let app = app(&home);
    invited(&app);
    let mut first = Client::claude(&home, &app, "one");
    first.event("SessionStart", &json!({"source": "startup"})).silent();
    edit(&mut first, "src/a.rs");
    app.write("src/a.rs", "changed\n");
    first.event("SessionEnd", &json!({"reason": "clear"})).silent();
    first.resume_as("two");
    first.event("SessionStart", &json!({"source": "clear"})).silent();
    first.die();
    let mut second = Client::claude(&home, &app, "two");
    second.event("SessionStart", &json!({"source": "resume"})).silent();
    second.die();
    let mut third = Client::claude(&home, &app, "one");
    third.event("SessionStart", &json!({"source": "resume"})).silent();
    edit(&mut third, "src/a.rs");
    let agents = app.clearway().ok(&["agents"]);
    let claudes = each(&agents, "agents", "client").into_iter().filter(|client| *client == "claude-code");
    assert_eq!(claudes.count(), 1, "{agents:#}");
}

#[test]
fn a_session_that_is_resumed_in_another_process_is_not_taken_for_dead() {
    let home = home();
    let app = app(&home);
    let one = at_work(&home, &app);
    one.die();
    let (mut again, mut two) = (Client::claude(&home, &app, "one"), Client::claude(&home, &app, "two"));
    again.event("SessionStart", &json!({"source": "resume"})).silent();
    two.before_edit("src/a.rs").denied();
    again.before_edit("src/a.rs").told();
}

/// A tool call of a subagent.
fn as_subagent(client: &mut Client, subagent: &str, file: &str) -> clearway_testkit::Answer {
    client.event(
        "PreToolUse",
        &json!({"agent_id": subagent, "agent_type": "worker", "tool_name": "Edit", "tool_input": {"file_path": file}}),
    )
}

#[test]
fn a_parent_in_the_way_of_which_a_subagent_is_hears_so_and_how_to_go_on_if_that_is_over() {
    let home = home();
    let app = app(&home);
    invited(&app);
    let mut one = Client::claude(&home, &app, "one");
    one.event("PreToolUse", &json!({"tool_name": "Read", "tool_input": {}})).silent();
    as_subagent(&mut one, "x", "src/a.rs").silent();
    app.write("src/a.rs", "changed\n");
    one.event("Stop", &json!({})).silent();
    let told = one.before_edit("src/a.rs").denied();
    assert!(told.contains("is a subagent of yours. If it is over, take what it has: "), "{told}");
    super::told::run_what_follows(&home, app.path(), &told, "take what it has: ");
    one.before_edit("src/a.rs");
    let leases = app.clearway().ok(&["leases"]);
    let holders = each(&leases, "leases", "agent");
    let agents = app.clearway().ok(&["agents"]);
    let is_root =
        |agent: &&serde_json::Value| text(agent, "client") == "claude-code" && agent["parent_id"].is_null();
    let root = list(&agents, "agents").iter().find(is_root).expect("a root");
    assert!(holders.contains(&text(root, "name")), "{leases} {agents}");
}

#[test]
fn siblings_exclude_each_other_and_what_a_subagent_leaves_is_its_parents() {
    let home = home();
    let app = app(&home);
    let mut one = at_work(&home, &app);
    as_subagent(&mut one, "x", "src/a.rs").silent();
    as_subagent(&mut one, "x", "src/b.rs").silent();
    app.write("src/b.rs", "changed\n");
    as_subagent(&mut one, "y", "src/b.rs").denied();
    one.event("SubagentStop", &json!({"agent_id": "x", "agent_type": "worker"})).silent();
    edit(&mut one, "src/b.rs");
    edit(&mut one, "src/a.rs");
    let stranger = Client::claude(&home, &app, "two").before_edit("src/b.rs").denied();
    assert!(stranger.contains("src/b.rs is with claude-"), "{stranger}");
    assert!(app.kinds().contains(&"lease.transferred".to_owned()));
}

#[test]
fn a_holder_learns_once_who_waits_and_the_waiter_when_it_is_free() {
    let home = home();
    let app = app(&home);
    invited(&app);
    let (mut one, mut two) = (Client::claude(&home, &app, "one"), Client::claude(&home, &app, "two"));
    edit(&mut one, "src/a.rs");
    app.write("src/a.rs", "changed\n");
    one.after_edit("src/a.rs").silent();
    two.before_edit("src/a.rs").denied();
    let read = json!({"tool_name": "Read", "tool_input": {"file_path": "docs/x.md"}});
    let told = one.event("PreToolUse", &read).told();
    assert!(
        told.contains("waits for src/a.rs. It passes on when you commit it, or: clearway release src/a.rs"),
        "{told}"
    );
    one.event("PreToolUse", &read).silent();
    two.event("PreToolUse", &read).silent();
    app.git(&["commit", "-qam", "done"]);
    let told = two.event("PreToolUse", &read).told();
    assert!(told.starts_with("src/a.rs is free, and kept for you for 5m"), "{told}");
    two.event("PreToolUse", &read).silent();
    two.before_edit("src/a.rs").silent();
    let told = one.event("PreToolUse", &read).told();
    assert!(told.contains("src/a.rs made way for claude-"), "{told}");
    assert!(!told.contains("changed it"), "nobody knows whether it was, before it was committed: {told}");
}

#[test]
fn whoever_was_told_much_in_an_hour_is_still_told_that_its_turn_has_come() {
    let home = home();
    let app = app(&home);
    invited(&app);
    let (mut one, mut two) = (Client::claude(&home, &app, "one"), Client::claude(&home, &app, "two"));
    let read = json!({"tool_name": "Read", "tool_input": {"file_path": "docs/x.md"}});
    let mut told = 0;
    for number in 0..7 {
        let file = format!("src/much{number}.rs");
        edit(&mut two, &file);
        two.after_edit(&file);
        edit(&mut one, &file);
        one.after_edit(&file);
        told += usize::from(!two.event("PreToolUse", &read).is_silent());
    }
    assert_eq!(told, 5, "as much as an hour has room for");
    edit(&mut one, "src/a.rs");
    app.write("src/a.rs", "changed\n");
    one.after_edit("src/a.rs");
    two.before_edit("src/a.rs").denied();
    app.git(&["commit", "-qam", "done"]);
    let told = two.event("PreToolUse", &read).told();
    assert!(told.starts_with("src/a.rs is free, and kept for you"), "{told}");
}

#[test]
fn a_file_that_a_running_call_is_about_to_change_is_not_clean() {
    let home = home();
    let app = app(&home);
    invited(&app);
    let (mut one, mut two) = (Client::claude(&home, &app, "one"), Client::claude(&home, &app, "two"));
    edit(&mut one, "src/a.rs");
    two.before_edit("src/a.rs").denied();
    one.after_edit("src/a.rs").told();
    two.event("PreToolUse", &json!({"tool_name": "Read", "tool_input": {}})).told();
    two.before_edit("src/a.rs").silent();
}

#[test]
fn a_file_that_many_edit_briefly_is_held_for_the_call_alone() {
    let home = home();
    let app = app(&home);
    invited(&app);
    let (mut one, mut two) = (Client::claude(&home, &app, "one"), Client::claude(&home, &app, "two"));
    edit(&mut one, "src/mod.rs");
    two.before_edit("src/mod.rs").denied();
    app.write("src/mod.rs", "changed\n");
    one.after_edit("src/mod.rs");
    assert!(held(&app).is_empty());
    two.before_edit("src/mod.rs");
    assert_eq!(held(&app).len(), 1);
}

#[test]
fn nobody_waits_behind_an_agent_that_is_away_for_a_file_that_many_edit_briefly() {
    let home = home();
    let app = app(&home);
    invited(&app);
    let [mut one, mut away, mut three] =
        ["one", "away", "three"].map(|name| Client::claude(&home, &app, name));
    edit(&mut one, "src/mod.rs");
    let said = away.before_edit("src/mod.rs").denied();
    assert!(said.contains("this moment") && said.contains("edit it again"), "{said}");
    assert!(app.agent("ada").ok(&["waits"])["waits"].as_array().is_some_and(Vec::is_empty));
    app.write("src/mod.rs", "changed\n");
    one.after_edit("src/mod.rs");
    three.before_edit("src/mod.rs").silent();
}

#[test]
fn a_patch_over_a_file_that_many_edit_briefly_keeps_a_place_for_the_others() {
    let home = home();
    let app = app(&home);
    invited(&app);
    let (mut one, mut two) = (Client::claude(&home, &app, "one"), Client::claude(&home, &app, "two"));
    edit(&mut one, "src/a.rs");
    app.write("src/a.rs", "changed\n");
    one.after_edit("src/a.rs").silent();
    let patch = "*** Begin Patch\n*** Update File: src/mod.rs\n*** Update File: src/a.rs\n*** End Patch";
    let call = json!({"tool_name": "mcp__x__apply_patch", "tool_input": {"patch": patch}});
    let said = two.event("PreToolUse", &call).denied();
    assert!(said.contains("You are queued, 1st"), "{said}");
}

#[test]
fn a_part_of_a_patch_that_is_tried_again_waits_at_the_place_of_the_patch() {
    let home = home();
    let app = app(&home);
    invited(&app);
    let mut one = Client::claude(&home, &app, "one");
    edit(&mut one, "src/a.rs");
    app.write("src/a.rs", "changed\n");
    one.after_edit("src/a.rs").silent();
    let codex = |number: u8, files: &[&str]| {
        let updates: String =
            files.iter().map(|file| format!("*** Update File: {file}\n@@\n-a\n+b\n")).collect();
        let patch = format!("*** Begin Patch\n{updates}*** End Patch");
        let payload = json!({
            "session_id": "two", "cwd": app.path(), "hook_event_name": "PreToolUse", "turn_id": "t", "model": "m",
            "tool_use_id": format!("call-{number}"), "tool_name": "apply_patch", "tool_input": {"command": patch},
        });
        app.clearway().run_with(payload.to_string().as_bytes(), &["hook", "codex"]).expect(2).stderr()
    };
    codex(1, &["src/b.rs", "src/a.rs"]);
    let again = codex(2, &["src/a.rs"]);
    assert!(again.contains("is still with claude-") && again.contains("You are 1st in the queue"), "{again}");
    let waits = app.clearway().ok(&["waits"]);
    assert_eq!(list(&waits, "waits").len(), 1, "{waits}");
}

#[test]
fn a_lock_file_is_written_by_one_call_after_the_other_and_held_by_nobody() {
    let home = home();
    let app = app(&home);
    invited(&app);
    let (mut one, mut two) = (Client::claude(&home, &app, "one"), Client::claude(&home, &app, "two"));
    edit(&mut one, "Cargo.lock");
    let reason = two.before_edit("Cargo.lock").denied();
    assert!(reason.starts_with("Not edited: claude-"), "{reason}");
    assert!(
        reason.contains("is writing Cargo.lock at this moment") && reason.contains("Try again."),
        "{reason}"
    );
    assert!(held(&app).is_empty());
    assert!(list(&app.clearway().ok(&["waits"]), "waits").is_empty(), "there is nothing to wait for");
    let waits = std::thread::spawn(move || {
        two.before_edit("Cargo.lock").silent();
        two
    });
    one.after_edit("Cargo.lock").silent();
    let two = waits.join().expect("it is let in as soon as the other is done");
    one.before_edit("Cargo.lock").denied();
    drop(two);
}

#[test]
fn a_call_that_is_refused_for_a_lock_file_takes_nothing_else() {
    let home = home();
    let app = app(&home);
    invited(&app);
    let (mut one, mut two) = (Client::claude(&home, &app, "one"), Client::claude(&home, &app, "two"));
    edit(&mut one, "Cargo.lock");
    let patch = "*** Begin Patch\n*** Update File: src/a.rs\n*** Update File: Cargo.lock\n*** End Patch";
    let call = json!({"tool_name": "mcp__x__apply_patch", "tool_input": {"patch": patch}});
    two.event("PreToolUse", &call).denied();
    assert!(held(&app).is_empty(), "{:?}", held(&app));
    home.user_config("mode = \"warn\"\n");
    let told = two.event("PreToolUse", &call).told();
    assert!(told.contains("It may be edited all the same."), "{told}");
}

#[test]
fn a_session_that_ends_releases_what_is_clean_wherever_it_edited() {
    let home = home();
    let (app, other) = (app(&home), home.repository("other", &[("x.rs", "x\n"), ("y.rs", "y\n")]));
    let inner = home.repository("app/inner", &[("z.rs", "z\n")]);
    for repository in [&app, &other, &inner] {
        repository.grant("ada", &["ada.md"]);
        repository.agent("ada").ok(&["release", "--all"]);
    }
    let mut one = Client::claude(&home, &app, "one");
    let at = |repository: &Repository<'_>, file: &str| repository.path().join(file).display().to_string();
    let files = [at(&app, "src/a.rs"), at(&other, "x.rs"), at(&other, "y.rs"), at(&inner, "z.rs")];
    for file in &files {
        one.event("PreToolUse", &json!({"tool_name": "Edit", "tool_input": {"file_path": file}})).silent();
    }
    other.write("y.rs", "changed\n");
    one.event("Stop", &json!({})).silent();
    let idle = |repository: &Repository<'_>| {
        let agents = repository.clearway().ok(&["agents"]);
        each(&agents, "agents", "liveness").contains(&"idle")
    };
    assert!(idle(&app) && idle(&other) && idle(&inner));
    one.event("SessionEnd", &json!({"reason": "other", "cwd": home.path()})).silent();
    for (repository, ends) in [
        (&app, ["lease.released", "agent.ended"].as_slice()),
        (&other, &["lease.released", "snapshot.taken", "lease.orphaned", "agent.ended"]),
        (&inner, &["lease.released", "agent.ended"]),
    ] {
        assert!(held(repository).is_empty(), "{}", repository.path().display());
        let kinds = repository.kinds();
        let mut last: Vec<&str> = kinds[kinds.len() - ends.len()..].iter().map(String::as_str).collect();
        let mut ends = ends.to_vec();
        last.sort_unstable();
        ends.sort_unstable();
        assert_eq!(last, ends, "{}", repository.path().display());
    }
}

#[test]
fn a_branch_of_a_session_is_a_child_that_uses_what_its_parent_holds() {
    let home = home();
    let app = app(&home);
    let mut one = at_work(&home, &app);
    one.resume_as("branch");
    one.event("SessionStart", &json!({"source": "fork"})).silent();
    edit(&mut one, "src/a.rs");
    edit(&mut one, "src/b.rs");
    app.write("src/b.rs", "changed\n");
    let agents = app.clearway().ok(&["agents"]);
    let of_claude = |agent: &&serde_json::Value| text(agent, "client") == "claude-code";
    let claudes: Vec<&serde_json::Value> = list(&agents, "agents").iter().filter(of_claude).collect();
    let [parent, child] = claudes.as_slice() else { panic!("two agents: {agents}") };
    assert_eq!(child["parent_id"], parent["id"]);
    let place = app.clearway().ok(&["where", text(child, "name")]);
    assert!(text(&place, "resume").ends_with("claude --resume branch"), "{place}");
    one.event("SessionEnd", &json!({"reason": "other"})).silent();
    one.resume_as("one");
    edit(&mut one, "src/b.rs");
    let stranger = Client::claude(&home, &app, "two").before_edit("src/b.rs").denied();
    assert!(stranger.contains(text(parent, "name")), "{stranger}");
}

#[test]
fn whoever_edits_in_another_repository_waits_holds_and_ends_there_too() {
    let home = home();
    let (app, other) = (app(&home), home.repository("other", &[("a.rs", "\n"), ("b.rs", "\n")]));
    invited(&app);
    invited(&other);
    let (mut one, mut two) = (Client::claude(&home, &other, "one"), Client::claude(&home, &app, "two"));
    edit(&mut one, "a.rs");
    other.write("a.rs", "changed\n");
    one.after_edit("a.rs").silent();
    edit(&mut two, "../other/b.rs");
    two.after_edit("../other/b.rs").silent();
    two.before_edit("../other/a.rs").denied();
    let read = json!({"tool_name": "Read", "tool_input": {"file_path": "docs/x.md"}});
    two.event("PreToolUse", &read).silent();
    other.git(&["commit", "-qam", "done"]);
    let told = two.event("PreToolUse", &read).told();
    let free = format!("a.rs in {} is free, and kept for you", other.path().display());
    assert!(told.starts_with(&free), "{told}");
    two.event("SessionEnd", &json!({"reason": "other"})).silent();
    let held = held(&other);
    assert!(!held.iter().any(|(pattern, _)| pattern == "b.rs"), "{held:?}");
    assert!(list(&other.clearway().ok(&["waits"]), "waits").is_empty());
}

#[test]
fn a_session_that_ends_takes_its_subagents_along() {
    let home = home();
    let app = app(&home);
    let mut one = at_work(&home, &app);
    as_subagent(&mut one, "x", "src/b.rs").silent();
    app.write("src/b.rs", "changed\n");
    as_subagent(&mut one, "x", "src/c.rs").silent();
    one.event("SessionEnd", &json!({"reason": "other"})).silent();
    assert!(held(&app).is_empty(), "{:?}", held(&app));
    let kinds = app.kinds();
    let count = |kind: &str| kinds.iter().filter(|other| *other == kind).count();
    assert_eq!((count("lease.orphaned"), count("agent.ended")), (2, 2), "{kinds:?}");
    let mut two = Client::claude(&home, &app, "two");
    two.before_edit("src/c.rs").silent();
    let told = two.before_edit("src/b.rs").told();
    assert!(told.contains("ended and left changes in it"), "{told}");
}

#[test]
fn what_a_subagent_is_told_to_type_works_in_its_shell() {
    let home = home();
    let app = app(&home);
    invited(&app);
    let (mut one, mut two) = (Client::claude(&home, &app, "one"), Client::claude(&home, &app, "two"));
    edit(&mut one, "src/a.rs");
    as_subagent(&mut one, "x", "src/b.rs").silent();
    app.write("src/b.rs", "changed\n");
    two.before_edit("src/b.rs").denied();
    let read = json!({"tool_name": "Read", "tool_input": {}, "agent_id": "x"});
    let told = one.event("PreToolUse", &read).told();
    assert!(told.ends_with("clearway release src/b.rs"), "{told}");
    let shell = app.clearway().session("one");
    assert_eq!(list(&app.clearway().session("one").ok(&["renew", "src/b.rs"]), "leases").len(), 1);
    assert_eq!(list(&shell.ok(&["release", "src/b.rs"]), "released").len(), 1);
    let others = app.clearway().session("two").ok(&["release", "src/a.rs"]);
    assert!(list(&others, "released").is_empty(), "nobody else's: {others:#}");
    assert_eq!(held(&app).len(), 1);
}

/// Whoever only waits has no turn yet.
#[test]
fn a_refusal_behind_somebody_who_waits_says_that_it_waits() {
    let home = home();
    let app = app(&home);
    let _one = at_work(&home, &app);
    app.agent("bob").ok(&["reserve", "--queue", "src/*.rs"]);
    let mut two = Client::claude(&home, &app, "two");
    let first = two.before_edit("src/b.rs").denied();
    assert!(first.contains("bob waits for src/b.rs before you."), "{first}");
    let again = two.before_edit("src/b.rs").denied();
    assert!(again.contains("bob still waits for src/b.rs before you."), "{again}");
    for said in [first, again] {
        assert!(!said.contains("has the turn"), "{said}");
    }
}

#[test]
fn whoever_gets_a_dead_agents_file_through_the_queue_is_told_of_its_changes() {
    let home = home();
    let app = app(&home);
    let one = at_work(&home, &app);
    let (mut two, mut three) = (Client::claude(&home, &app, "two"), Client::claude(&home, &app, "three"));
    two.before_edit("src/a.rs").denied();
    three.before_edit("src/a.rs").denied();
    one.die();
    three.before_edit("src/a.rs").denied();
    let turn = two.event("PreToolUse", &json!({"tool_name": "Read", "tool_input": {}})).told();
    assert!(turn.contains("is free, and kept for you"), "{turn}");
    let again = three.before_edit("src/a.rs").denied();
    assert!(again.contains("still has the turn at src/a.rs") && !again.contains("still with"), "{again}");
    let told = two.before_edit("src/a.rs").told();
    assert!(told.contains("held it and is gone") && told.contains("not committed"), "{told}");
}
