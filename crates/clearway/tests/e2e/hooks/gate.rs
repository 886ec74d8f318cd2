//! The gate before an edit, with clients that live and die.

use crate::{app, each, home, list};
use clearway_testkit::{Client, Files, Home, Repository, until};
use serde_json::json;
use std::os::unix::fs::PermissionsExt;

/// A repository that somebody invited us to.
pub(super) fn invited(repository: &Repository<'_>) {
    repository.grant("ada", &["docs/x.md"]);
    repository.agent("ada").ok(&["release", "--all"]);
}

pub(super) fn held(repository: &Repository<'_>) -> Vec<(String, String)> {
    let leases = repository.clearway().ok(&["leases"]);
    let lease = |lease: &serde_json::Value| {
        (crate::text(lease, "pattern").to_owned(), crate::text(lease, "grade").to_owned())
    };
    list(&leases, "leases").iter().map(lease).collect()
}

#[test]
fn where_nobody_invited_us_there_is_no_answer_and_no_file() {
    let home = home();
    let app = app(&home);
    let before = Files::below(app.path());
    Client::claude(&home, &app, "one").before_edit("src/a.rs").silent();
    assert_eq!(Files::below(app.path()), before);
    assert!(!home.state().exists(), "nothing was made");
}

#[test]
fn a_free_file_is_leased_without_a_word_and_once() {
    let home = home();
    let app = app(&home);
    invited(&app);
    let mut one = Client::claude(&home, &app, "one");
    for _ in 0..3 {
        one.before_edit("src/a.rs").silent();
    }
    assert_eq!(held(&app), [("src/a.rs".to_owned(), "auto".to_owned())]);
    let grants = app.kinds().iter().filter(|kind| *kind == "lease.granted").count();
    assert_eq!(grants, 2, "the invitation and this one");
}

#[test]
fn a_file_with_somebodys_uncommitted_change_is_refused_and_queued_for() {
    let home = home();
    let app = app(&home);
    invited(&app);
    let (mut one, mut two) = (Client::claude(&home, &app, "one"), Client::claude(&home, &app, "two"));
    one.before_edit("src/a.rs").silent();
    app.write("src/a.rs", "changed\n");
    let reason = two.before_edit("src/a.rs").denied();
    for part in [
        "Not edited: src/a.rs is with claude-",
        "is changing it",
        "You are queued, 1st",
        "Urgent: clearway ask src/a.rs",
    ] {
        assert!(reason.contains(part), "{part}: {reason}");
    }
    assert!(reason.len() <= 400, "{} bytes", reason.len());
    let waits = app.clearway().ok(&["waits"]);
    assert_eq!(list(&waits, "waits").len(), 1);
    let again = two.before_edit("src/a.rs").denied();
    assert!(again.contains("is still with claude-") && again.len() < 150, "{again}");
    two.before_edit("src/b.rs").silent();
}

/// Names from macOS come decomposed; and git can be told not to look at a file, where nothing else could bring it back.
#[test]
fn a_change_counts_however_the_file_is_spelled_and_where_git_was_told_not_to_look() {
    let home = home();
    let app = app(&home);
    invited(&app);
    let (clean, changed) = ("src/cafe\u{301}-clean.rs", ["src/cafe\u{301}.rs", "local.toml", "assumed.toml"]);
    for file in changed.iter().chain([&clean]) {
        app.write(file, "before\n");
    }
    app.git(&["add", "."]);
    app.git(&["commit", "--quiet", "-m", "files"]);
    app.git(&["update-index", "--skip-worktree", changed[1]]);
    app.git(&["update-index", "--assume-unchanged", changed[2]]);
    let (mut one, mut two) = (Client::claude(&home, &app, "one"), Client::claude(&home, &app, "two"));
    one.before_edit(clean).silent();
    for file in changed {
        one.before_edit(file).silent();
        app.write(file, "changed\n");
        one.after_edit(file).silent();
    }
    two.before_edit(clean).silent();
    for file in changed {
        let reason = two.before_edit(file).denied();
        assert!(reason.contains("has uncommitted changes in it"), "that call is over: {reason}");
    }
}

#[test]
fn a_clean_file_of_a_hook_is_granted_in_the_same_call() {
    let home = home();
    let app = app(&home);
    invited(&app);
    let (mut one, mut two) = (Client::claude(&home, &app, "one"), Client::claude(&home, &app, "two"));
    one.before_edit("src/a.rs").silent();
    one.after_edit("src/a.rs").silent();
    two.before_edit("src/a.rs").silent();
    assert!(app.kinds().contains(&"lease.yielded".to_owned()));
    assert_eq!(held(&app).len(), 1);
}

/// A directory with a git that looks as ever, tells that it did in a file of this name, and answers once there is another.
fn git_that_waits_after_its_look(home: &Home) -> (String, std::path::PathBuf) {
    let directory = home.directory("slow-git");
    let script = format!(
        "#!/bin/sh\nPATH=/usr/local/bin:/usr/bin:/bin; for word; do case $word in status) is_look=1;; esac; done\n\
         test -n \"$is_look\" && test ! -e {0}/looked || exec git \"$@\"\n\
         git \"$@\" > {0}/answer; : > {0}/looked; until test -e {0}/go; do sleep 0.01; done; cat {0}/answer\n",
        directory.display()
    );
    let git = directory.join("git");
    std::fs::write(&git, script).expect("a file");
    std::fs::set_permissions(&git, std::fs::Permissions::from_mode(0o755)).expect("a mode");
    (format!("PATH={}:/usr/local/bin:/usr/bin:/bin", directory.display()), directory)
}

#[test]
fn a_whole_edit_between_somebodys_look_and_the_answer_is_not_lost_sight_of() {
    let home = home();
    let app = app(&home);
    invited(&app);
    let (path, directory) = git_that_waits_after_its_look(&home);
    let mut one = Client::claude(&home, &app, "one");
    let mut two = Client::claude_behind(&home, &app, "two", &["env", &path]);
    one.before_edit("src/a.rs").silent();
    one.after_edit("src/a.rs").silent();
    let looking = std::thread::spawn(move || two.before_edit("src/a.rs"));
    until("it looked", || directory.join("looked").exists());
    one.before_edit("src/a.rs").silent();
    app.write("src/a.rs", "changed\n");
    one.after_edit("src/a.rs").silent();
    std::fs::write(directory.join("go"), "").expect("a file");
    let reason = looking.join().expect("an answer").denied();
    assert!(reason.contains("has uncommitted changes in it"), "{reason}");
}

#[test]
fn what_somebody_claimed_is_refused_even_if_it_is_clean() {
    let home = home();
    let app = app(&home);
    app.grant("otter", &["src/a.rs", "--reason", "split it"]);
    let reason = Client::claude(&home, &app, "one").before_edit("src/a.rs").denied();
    assert!(reason.contains("is with otter (active): \"split it\"."), "{reason}");
}

#[test]
fn the_files_of_a_client_that_died_are_granted_in_the_same_call() {
    let home = home();
    let app = app(&home);
    invited(&app);
    let (mut one, mut two) = (Client::claude(&home, &app, "one"), Client::claude(&home, &app, "two"));
    one.before_edit("src/a.rs").silent();
    app.write("src/a.rs", "changed\n");
    two.before_edit("src/a.rs").denied();
    one.die();
    let told = two.before_edit("src/a.rs").told();
    assert!(told.contains("src/a.rs is yours; claude-") && told.contains("is gone"), "{told}");
    assert!(app.kinds().contains(&"lease.taken-over".to_owned()));
}

#[test]
fn the_command_line_inside_a_session_is_the_agent_of_its_hook() {
    let home = home();
    let app = app(&home);
    invited(&app);
    Client::claude(&home, &app, "one").before_edit("src/a.rs").silent();
    let released = app.clearway().session("one").ok(&["release", "src/a.rs"]);
    assert_eq!(list(&released, "released").len(), 1);
    assert!(held(&app).is_empty());
}

#[test]
fn a_name_is_a_name_whatever_it_is_made_of() {
    let home = home();
    let names = [
        "app/[id]/page.tsx",
        "a*b.rs",
        "q\"uote.rs",
        "$(touch x).rs",
        "`id`.rs",
        "-n.rs",
        "{a,b}.rs",
        "é\u{1f980}.rs",
        "שלום.rs",
    ];
    let app = home.repository("odd", &[("keep.rs", "\n")]);
    app.grant("ada", &["keep.rs"]);
    let (mut one, mut two) = (Client::claude(&home, &app, "one"), Client::claude(&home, &app, "two"));
    for name in names {
        assert_eq!(one.before_edit(name).code, 0, "{name}");
        app.write(name, "new\n");
        let answer = two.before_edit(name);
        assert_eq!(answer.code, 2, "{name}");
        let reason = answer.denied();
        assert!(reason.starts_with("Not edited: "), "{reason}");
        two.before_edit("a-b.rs").silent();
    }
    assert!(!app.path().join("x").exists(), "nothing was run");
}

#[test]
fn every_way_to_write_a_path_is_the_same_file() {
    let home = home();
    let app = app(&home);
    app.grant("otter", &["src/a.rs"]);
    std::os::unix::fs::symlink("src", app.path().join("link")).expect("a link");
    std::os::unix::fs::symlink("src/a.rs", app.path().join("alias.rs")).expect("a link");
    let mut one = Client::claude(&home, &app, "one");
    let write = |one: &mut Client, file: &str| {
        one.event(
            "PreToolUse",
            &json!({"tool_name": "Write", "tool_input": {"file_path": file, "content": ""}}),
        )
    };
    for file in ["src/a.rs", "./src/../src/a.rs", "link/a.rs", "alias.rs"] {
        write(&mut one, file).denied();
        write(&mut one, &app.path().join(file).display().to_string()).denied();
    }
    for file in [".git/config", "/etc/hosts", "Cargo.lock", "src/a.rs~", "", "\u{0}", "x\u{202e}y.rs"] {
        write(&mut one, file).silent();
    }
    write(&mut one, "not/there/yet.rs").silent();
    assert_eq!(held(&app).last(), Some(&("not/there/yet.rs".to_owned(), "auto".to_owned())));
}

#[test]
fn a_path_that_goes_through_a_file_is_the_one_that_a_client_makes_of_it() {
    let home = home();
    let app = app(&home);
    app.grant("otter", &["src/a.rs"]);
    let mut one = Client::claude(&home, &app, "one");
    for path in [
        "src/b.rs/../a.rs",
        "src/a.rs/",
        "src/a.rs/.",
        "src/a.rs//",
        "src/a.rs/../a.rs",
        "src/b.rs/../../src/a.rs/",
    ] {
        let told = one.before_edit(path).denied();
        assert!(told.contains("src/a.rs is") && told.contains("otter"), "{path}: {told}");
        let absolute = app.path().join(path).display().to_string();
        one.before_edit(&absolute).denied();
    }
    one.before_edit("src/a.rs/below.rs").silent();
}

#[test]
fn a_file_belongs_to_the_innermost_repository_and_a_refusal_there_takes_nothing_elsewhere() {
    let home = home();
    let outer = app(&home);
    invited(&outer);
    let inner = home.repository("app/inner", &[("in.rs", "\n")]);
    let mut one = Client::claude(&home, &outer, "one");
    one.before_edit("inner/in.rs").silent();
    assert!(held(&outer).is_empty(), "the inner repository invited nobody");
    inner.grant("otter", &["in.rs"]);
    one.before_edit("inner/in.rs").denied();
    let patch = format!(
        "*** Begin Patch\n*** Update File: src/a.rs\n*** Update File: {}\n*** End Patch",
        inner.path().join("in.rs").display()
    );
    let answer =
        one.event("PreToolUse", &json!({"tool_name": "mcp__x__apply_patch", "tool_input": {"patch": patch}}));
    answer.denied();
    assert!(held(&outer).is_empty(), "one refusal refuses the whole call");
    assert_eq!(each(&inner.clearway().ok(&["leases"]), "leases", "agent"), ["otter"]);
}

#[test]
fn whoever_edits_what_it_was_refused_by_itself_keeps_no_place_at_the_rest() {
    let home = home();
    let app = app(&home);
    invited(&app);
    let [mut one, mut two, mut three] = ["one", "two", "three"].map(|id| Client::claude(&home, &app, id));
    one.before_edit("src/a.rs").silent();
    app.write("src/a.rs", "changed\n");
    one.after_edit("src/a.rs").silent();
    let patch = "*** Begin Patch\n*** Update File: src/a.rs\n*** Add File: src/new.rs\n*** End Patch";
    two.event("PreToolUse", &json!({"tool_name": "mcp__x__apply_patch", "tool_input": {"patch": patch}}))
        .denied();
    app.git(&["commit", "--quiet", "--all", "-m", "one's"]);
    let told = two.before_edit("src/a.rs");
    assert!(!told.stdout.contains("kept for you"), "it has it: {told:?}");
    app.write("src/a.rs", "changed again\n");
    two.after_edit("src/a.rs");
    app.git(&["commit", "--quiet", "--all", "-m", "two's"]);
    assert!(list(&app.clearway().ok(&["waits"]), "waits").is_empty());
    assert_eq!(three.before_edit("src/a.rs").code, 0);
    assert_eq!(three.before_edit("src/new.rs").code, 0);
}

#[test]
fn a_tool_that_the_settings_name_is_gated_like_an_edit() {
    let home = home();
    let app = app(&home);
    invited(&app);
    home.user_config("[tools]\nsave_page = \"target\"\n");
    app.write(".clearway.toml", "[tools]\nacme__move_page = [\"from\", \"to\"]\nwrite_file = \"into\"\n");
    let (mut one, mut two) = (Client::claude(&home, &app, "one"), Client::claude(&home, &app, "two"));
    let call = |client: &mut Client, tool: &str, input: serde_json::Value| {
        client.event("PreToolUse", &json!({"tool_name": tool, "tool_input": input}))
    };
    call(&mut one, "mcp__wiki__save_page", json!({"target": "src/a.rs", "text": "docs/x.md"})).silent();
    call(&mut one, "mcp__acme__move_page", json!({"from": "src/b.rs", "to": ["docs/y.md"]})).silent();
    call(&mut one, "mcp__acme__write_file", json!({"into": "main.rs"})).silent();
    call(&mut one, "mcp__acme__read_page", json!({"target": "docs/x.md"})).silent();
    let mut held: Vec<String> = held(&app).into_iter().map(|(path, _)| path).collect();
    held.sort();
    assert_eq!(held, ["docs/y.md", "main.rs", "src/a.rs", "src/b.rs"]);
    app.write("src/a.rs", "changed\n");
    call(&mut two, "mcp__wiki__save_page", json!({"target": "src/a.rs"})).denied();
}

#[test]
fn a_client_that_counts_its_calls_anew_is_not_refused_for_it() {
    let home = home();
    let app = app(&home);
    invited(&app);
    let mut one = Client::claude(&home, &app, "one");
    for file in ["src/a.rs", "src/b.rs"] {
        let input = json!({"file_path": app.path().join(file), "old_string": "a", "new_string": "b"});
        let call = json!({"tool_name": "Edit", "tool_use_id": "call-1", "tool_input": input});
        one.event("PreToolUse", &call).silent();
    }
    assert_eq!(held(&app).len(), 2);
}

#[test]
fn a_call_that_is_told_twice_holds_its_file_the_second_time_too() {
    let home = home();
    let app = app(&home);
    invited(&app);
    let mut one = Client::claude(&home, &app, "one");
    let input = json!({"file_path": app.path().join("src/a.rs")});
    let call = json!({"tool_name": "Edit", "tool_use_id": "toolu_same", "tool_input": input});
    one.event("PreToolUse", &call).silent();
    app.clearway().session("one").ok(&["release", "src/a.rs"]);
    assert!(held(&app).is_empty());
    one.event("PreToolUse", &call).silent();
    assert_eq!(held(&app).len(), 1);
    app.clearway().session("one").ok(&["release", "src/a.rs"]);
    app.grant("otter", &["src/a.rs"]);
    one.event("PreToolUse", &call).denied();
}

#[test]
fn a_payload_of_claude_is_known_whatever_hook_it_reaches() {
    let home = home();
    let app = app(&home);
    app.grant("otter", &["src/a.rs"]);
    let payload = json!({
        "session_id": "one", "transcript_path": "/nowhere/t.jsonl", "cwd": app.path(), "hook_event_name": "PreToolUse",
        "tool_name": "Edit", "tool_use_id": "toolu_1", "tool_input": {"file_path": app.path().join("src/a.rs")},
    });
    for (client, denial) in [
        ("codex", "permissionDecision"),
        ("gemini", "\"decision\":\"deny\""),
        ("cursor", "\"permission\":\"deny\""),
        ("copilot", "\"permissionDecision\":\"deny\""),
    ] {
        let ran = app.clearway().run_with(payload.to_string().as_bytes(), &["hook", client]).expect(2);
        assert!(ran.stdout().contains(denial), "{client}: {}", ran.stdout());
    }
}

#[test]
fn a_tool_that_moves_a_directory_is_kept_from_what_is_held_in_it() {
    let home = home();
    let app = app(&home);
    invited(&app);
    let (mut one, mut two) = (Client::claude(&home, &app, "one"), Client::claude(&home, &app, "two"));
    one.before_edit("src/a.rs").silent();
    app.write("src/a.rs", "changed\n");
    one.after_edit("src/a.rs").silent();
    let moves = |from: &str, to: &str| {
        let at = |file: &str| app.path().join(file).display().to_string();
        let input = json!({"source": at(from), "destination": at(to)});
        json!({"tool_name": "mcp__filesystem__move_file", "tool_input": input})
    };
    let reason = two.event("PreToolUse", &moves("src", "lib")).denied();
    assert!(reason.contains("src/a.rs is with claude-"), "{reason}");
    assert_eq!(two.event("PreToolUse", &moves("docs", "pages")).code, 0, "nothing is held there");
    assert_eq!(one.event("PreToolUse", &moves("src", "lib")).code, 0, "it is its own");
}
