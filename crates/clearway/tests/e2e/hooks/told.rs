//! What agents are told: it is true, it fits, and a command in it works where the agent stands.

use super::gate::{held, invited};
use crate::{app, home, list};
use clearway_testkit::{Answer, Client, Home};
use serde_json::json;
use std::path::Path;

const BYTES_MAX: usize = 400;

/// An edit of a file by an agent that stands in a directory.
fn edit_from(client: &mut Client, directory: &Path, file: &Path) -> Answer {
    let input = json!({"file_path": file, "old_string": "a", "new_string": "b"});
    client.event("PreToolUse", &json!({"cwd": directory, "tool_name": "Edit", "tool_input": input}))
}

pub(crate) fn reads(client: &mut Client) -> Answer {
    client.event("PreToolUse", &json!({"tool_name": "Read", "tool_input": {"file_path": "docs/x.md"}}))
}

/// Runs what stands behind a word of a text, in a directory; what it prints.
#[track_caller]
pub(crate) fn run_what_follows(home: &Home, directory: &Path, text: &str, word: &str) -> String {
    let (_, command) = text.split_once(word).unwrap_or_else(|| panic!("{word} in {text}"));
    let command = command.lines().next().unwrap_or_default();
    let output =
        home.shell(directory, command).env("CLAUDE_CODE_SESSION_ID", "one").output().expect("a shell");
    assert!(output.status.success(), "{command}: {output:?}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn a_refusal_promises_what_ends_the_lease_in_the_way() {
    let home = home();
    let app = app(&home);
    app.grant("otter", &["src/a.rs"]);
    let (mut one, mut two) = (Client::claude(&home, &app, "one"), Client::claude(&home, &app, "two"));
    let claimed = one.before_edit("src/a.rs").denied();
    assert!(claimed.contains("it passes to you when otter releases it"), "{claimed}");
    assert!(!claimed.contains("commit"), "a commit ends no claim: {claimed}");
    one.before_edit("src/b.rs").silent();
    app.write("src/b.rs", "changed\n");
    let taken = two.before_edit("src/b.rs").denied();
    assert!(taken.contains(" commits or releases it, and you will be told"), "{taken}");
}

#[test]
fn the_command_of_a_refusal_works_where_the_agent_stands() {
    let home = home();
    let app = app(&home);
    app.grant("otter", &["src/a.rs"]);
    let elsewhere = home.repository("other", &[("x.rs", "\n")]);
    let mut one = Client::claude(&home, &app, "one");
    for directory in [app.path().to_owned(), app.path().join("src"), elsewhere.path().to_owned()] {
        let told = edit_from(&mut one, &directory, &app.path().join("src/a.rs")).denied();
        let said = run_what_follows(&home, &directory, &told, "Urgent: ");
        assert!(said.contains("otter"), "{told}: {said}");
        app.clearway().session("one").ok(&["wait", "--cancel"]);
    }
}

#[test]
fn whoever_holds_a_claim_or_a_name_is_told_how_it_passes_on() {
    let home = home();
    let app = app(&home);
    invited(&app);
    let mut one = Client::claude(&home, &app, "one");
    reads(&mut one).silent();
    for (words, released) in [(["--kind", "name", "build"], "build"), (["--kind", "path", "src/"], "src/")] {
        let reserve = [&["reserve"], &words[..]].concat();
        app.clearway().session("one").ok(&reserve);
        let wanted = if released == "src/" { ["--kind", "path", "src/a.rs"] } else { words };
        app.agent("otter").ok(&[&["reserve", "--queue"], &wanted[..]].concat());
        let told = reads(&mut one).told();
        assert!(told.contains("It passes on when you release it: clearway release"), "{told}");
        run_what_follows(&home, app.path(), &told, "release it: ");
        assert!(held(&app).is_empty(), "{told}");
        app.agent("otter").ok(&["wait", "--cancel"]);
    }
}

#[test]
fn whoever_waited_for_a_name_is_told_how_to_take_it() {
    let home = home();
    let app = app(&home);
    app.grant("otter", &["--kind", "name", "build"]);
    let mut one = Client::claude(&home, &app, "one");
    reads(&mut one).silent();
    app.clearway().session("one").ok(&["reserve", "--queue", "--kind", "name", "build"]);
    app.agent("otter").ok(&["release", "--all"]);
    let told = reads(&mut one).told();
    run_what_follows(&home, app.path(), &told, "Take it: ");
    assert_eq!(list(&app.clearway().ok(&["leases"]), "leases").len(), 1, "{told}");
}

#[test]
fn a_command_that_does_not_fit_is_left_out() {
    let home = home();
    let app = app(&home);
    let long = format!("src/{}/{}.rs", "d".repeat(150), "é".repeat(60));
    app.write(&long, "\n");
    app.grant("otter", &[&long, "--reason", &"why ".repeat(40)]);
    let mut one = Client::claude(&home, &app, "one");
    let told = one.before_edit(&long).denied();
    assert!(told.len() <= BYTES_MAX && !told.contains("clearway who"), "{} bytes: {told}", told.len());
    let deeper = format!("{}/{long}", "d".repeat(150));
    app.clearway().session("one").ok(&["reserve", &deeper]);
    app.agent("heron").ok(&["reserve", "--queue", &deeper]);
    let told = reads(&mut one).told();
    assert!(
        told.starts_with("heron waits for …ddd")
            && told.contains("éé.rs. ")
            && told.ends_with(" when you release it"),
        "{told}"
    );
    assert!(told.len() <= BYTES_MAX, "{} bytes: {told}", told.len());
}

/// A call of a client whose model hears only after it, before and after: what the model is told.
fn heard_after(app: &clearway_testkit::Repository<'_>, client: &str, file: &str) -> String {
    let (session, cwd, file) = (format!("{client}-late"), app.path(), app.path().join(file));
    let payload = |after: bool| match client {
        "gemini" => json!({
            "session_id": session, "transcript_path": "/t", "cwd": cwd, "timestamp": "t", "tool_name": "replace",
            "hook_event_name": if after { "AfterTool" } else { "BeforeTool" }, "tool_input": {"file_path": file},
        }),
        "cursor" => json!({
            "conversation_id": session, "cursor_version": "2", "cwd": cwd, "tool_name": "Write",
            "hook_event_name": if after { "postToolUse" } else { "preToolUse" }, "tool_input": {"file_path": file},
        }),
        _ => {
            json!({"sessionId": session, "timestamp": 1, "cwd": cwd, "toolName": "edit", "toolArgs": {"path": file}})
        }
    };
    let call = |after: bool| {
        let event = if after { "postToolUse" } else { "preToolUse" };
        let words: &[&str] = if client == "copilot" { &["hook", client, event] } else { &["hook", client] };
        app.clearway().run_with(payload(after).to_string().as_bytes(), words).expect(0).stdout()
    };
    assert_eq!(call(false), "", "{client} does not hear it");
    let said = call(true);
    assert_eq!(call(true), "", "it is said once");
    said
}

#[test]
fn what_belongs_to_an_edit_is_told_after_it_where_nobody_hears_it_before() {
    let home = home();
    let app = app(&home);
    invited(&app);
    for client in ["gemini", "cursor", "copilot"] {
        let (dead, ended) = (format!("src/{client}-dead.rs"), format!("src/{client}-ended.rs"));
        let mut one = Client::claude(&home, &app, &format!("{client}-one"));
        one.before_edit(&ended).silent();
        app.write(&ended, "changed\n");
        one.event("SessionEnd", &json!({"reason": "other"})).silent();
        let mut two = Client::claude(&home, &app, &format!("{client}-two"));
        two.before_edit(&dead).silent();
        app.write(&dead, "changed\n");
        two.die();
        let told = heard_after(&app, client, &dead);
        assert!(told.contains("held it and is gone"), "{client}: {told}");
        let told = heard_after(&app, client, &ended);
        assert!(told.contains("ended and left changes in it"), "{client}: {told}");
    }
    home.user_config("mode = \"warn\"\n");
    app.grant("otter", &["src/held.rs"]);
    for client in ["gemini", "cursor", "copilot"] {
        let told = heard_after(&app, client, "src/held.rs");
        assert!(told.contains("otter") && told.contains("may be edited all the same"), "{client}: {told}");
    }
}

#[test]
fn where_nothing_is_enforced_that_is_shown_and_nobody_counts_as_refused() {
    let home = home();
    let app = app(&home);
    home.user_config("mode = \"observe\"\n");
    app.grant("otter", &["src/a.rs"]);
    let mut one = Client::claude(&home, &app, "one");
    one.before_edit("src/a.rs").silent();
    let shown = app.clearway().text(&["status"]);
    assert!(shown.contains("are not refused here"), "{shown}");
    let digest = app.clearway().ok(&["digest"]);
    let refused: Vec<u64> =
        list(&digest, "agents").iter().filter_map(|agent| agent["refused"].as_u64()).collect();
    assert!(!refused.is_empty() && refused.iter().all(|count| *count == 0), "{digest:#}");
    home.user_config("mode = \"enforce\"\n");
    assert!(!app.clearway().text(&["status"]).contains("are not refused here"));
}

#[test]
fn a_warning_is_given_once_for_each_holder_of_a_file() {
    let home = home();
    let app = app(&home);
    home.user_config("mode = \"warn\"\n");
    app.grant("otter", &["src/a.rs", "src/b.rs"]);
    let mut one = Client::claude(&home, &app, "one");
    for file in ["src/a.rs", "src/b.rs"] {
        assert!(one.before_edit(file).told().contains("otter"));
    }
    for number in 0..30 {
        one.before_edit(["src/a.rs", "src/b.rs"][number % 2]).silent();
    }
    app.agent("otter").ok(&["release", "src/a.rs"]);
    app.grant("heron", &["src/a.rs"]);
    assert!(one.before_edit("src/a.rs").told().contains("heron"), "another holder is news");
    one.before_edit("src/a.rs").silent();
    let cost = app.clearway().ok(&["status", "--cost"]);
    assert_eq!(list(&cost, "agents")[0]["let_pass"], 34, "each of them is counted: {cost}");
    let digest = app.clearway().ok(&["digest"]);
    assert_eq!(digest["let_pass"], 34, "{digest}");
    let shown = app.clearway().text(&["digest"]);
    assert!(shown.contains("34 edits that would have been refused"), "{shown}");
    assert!(app.clearway().text(&["status", "--cost"]).contains("let pass"));
}

#[test]
fn one_tool_call_is_told_one_thing_before_and_after_it_together() {
    let home = home();
    let app = app(&home);
    invited(&app);
    let mut one = Client::claude(&home, &app, "one");
    let files = [("src/a.rs", "two"), ("src/b.rs", "three")];
    for (file, _) in files {
        one.before_edit(file).silent();
        app.write(file, "changed\n");
    }
    let waiting = files.map(|(file, name)| {
        let mut waiting = Client::claude(&home, &app, name);
        waiting.before_edit(file).denied();
        waiting
    });
    let call = |number: u32| {
        let input = json!({"file_path": app.path().join("src/c.rs"), "old_string": "a", "new_string": "b"});
        json!({"tool_name": "Edit", "tool_use_id": format!("toolu_{number}"), "tool_input": input})
    };
    let mut told = Vec::new();
    for number in 0..2 {
        told.push(one.event("PreToolUse", &call(number)).told());
        one.event("PostToolUse", &call(number)).silent();
    }
    assert!(told[0].contains("src/a.rs") && told[1].contains("src/b.rs"), "{told:?}");
    drop(waiting);
}

/// A call that writes several files.
fn patch(client: &mut Client, files: &[String]) -> Answer {
    let update = |file: &String| format!("*** Update File: {file}\n@@\n+x\n");
    let updates: String = files.iter().map(update).collect();
    let patch = format!("*** Begin Patch\n{updates}*** End Patch");
    client.event("PreToolUse", &json!({"tool_name": "mcp__x__apply_patch", "tool_input": {"patch": patch}}))
}

fn changes(client: &mut Client, app: &clearway_testkit::Repository<'_>, file: &str) {
    assert_eq!(client.before_edit(file).code, 0);
    app.write(file, "changed\n");
    assert_eq!(client.after_edit(file).code, 0);
}

#[test]
fn whose_several_files_were_is_told_in_one_sentence() {
    let home = home();
    let app = app(&home);
    invited(&app);
    let files: Vec<String> = (0..20).map(|number| format!("src/some/longer/way/file-{number}.rs")).collect();
    let mut dead = Client::claude(&home, &app, "dead");
    let mut ended = Client::claude(&home, &app, "ended");
    for (number, file) in files.iter().enumerate() {
        changes(if number < 12 { &mut dead } else { &mut ended }, &app, file);
    }
    dead.die();
    ended.event("SessionEnd", &json!({"reason": "other"}));
    let told = patch(&mut Client::claude(&home, &app, "two"), &files).told();
    for part in [
        "12 files (src/some/longer/way/file-0.rs, src/some/longer/way/file-1.rs and 10 more) are yours; claude-",
        " held them and is gone.",
        "8 files (src/some/longer/way/file-12.rs,",
    ] {
        assert!(told.contains(part), "{part} in {told}");
    }
    assert!(told.len() <= BYTES_MAX && !told.contains("file-2.rs"), "{} bytes: {told}", told.len());
}

#[test]
fn a_refusal_calls_nothing_the_agents_own() {
    let home = home();
    let app = app(&home);
    invited(&app);
    let otter = super::hot::has_lines_in_the_changelog(&home, &app);
    let (mut two, mut three) = (Client::claude(&home, &app, "two"), Client::claude(&home, &app, "three"));
    for client in [&mut two, &mut three] {
        client.before_edit("CHANGELOG.md");
        client.after_edit("CHANGELOG.md");
    }
    let input = json!({"file_path": app.path().join("CHANGELOG.md"), "content": "# Anew\n"});
    let reason = two.event("PreToolUse", &json!({"tool_name": "Write", "tool_input": input})).denied();
    assert!(reason.contains(&otter.name) && !reason.contains("yours"), "{reason}");
    assert!(held(&app).is_empty());
    // What somebody left in another file of the call is told all the same.
    changes(&mut three, &app, "src/b.rs");
    three.event("SessionEnd", &json!({"reason": "other"}));
    app.grant("heron", &["src/z.rs"]);
    let reason = patch(&mut two, &["src/b.rs".to_owned(), "src/z.rs".to_owned()]).denied();
    assert!(!reason.contains("yours"), "{reason}");
}

#[test]
fn of_a_clean_file_of_somebody_who_died_nothing_is_told() {
    let home = home();
    let app = app(&home);
    invited(&app);
    let mut one = Client::claude(&home, &app, "one");
    one.before_edit("src/a.rs").silent();
    one.after_edit("src/a.rs").silent();
    changes(&mut one, &app, "src/b.rs");
    one.die();
    let mut two = Client::claude(&home, &app, "two");
    two.before_edit("src/a.rs").silent();
    assert!(two.before_edit("src/b.rs").told().contains("held it and is gone"));
}

#[test]
fn what_is_told_beside_edits_is_bounded() {
    let home = home();
    let app = app(&home);
    invited(&app);
    let mut dead = Client::claude(&home, &app, "dead");
    let files: Vec<String> = (0..9).map(|number| format!("src/{number}.rs")).collect();
    files.iter().for_each(|file| changes(&mut dead, &app, file));
    dead.die();
    let mut heir = Client::claude(&home, &app, "heir");
    let told = files.iter().filter(|file| !heir.before_edit(file).is_silent()).count();
    assert_eq!(told, 5, "of each of nine files of the dead");
    let mut two = [Client::claude(&home, &app, "one"), Client::claude(&home, &app, "two")];
    let mut told = 0;
    for _ in 0..9 {
        for client in &mut two {
            told += usize::from(!client.before_edit("CHANGELOG.md").is_silent());
            client.after_edit("CHANGELOG.md");
        }
    }
    assert_eq!(told, 10, "five to each");
}

#[test]
fn what_is_told_is_said_as_people_say_it() {
    let home = home();
    let app = app(&home);
    invited(&app);
    app.write("src/a.rs", "changed\n");
    let mut one = Client::claude(&home, &app, "one");
    let remove = json!({"tool_name": "Bash", "tool_input": {"command": "rm src/a.rs"}});
    let told = one.event("PreToolUse", &remove).told();
    assert!(told.starts_with("Clearway: 1 file with uncommitted changes is kept as s"), "{told}");
    assert!(told.ends_with(" -y brings it back."), "{told}");
    home.user_config("mode = \"warn\"\n");
    one.before_edit("Cargo.lock").silent();
    let told = Client::claude(&home, &app, "two").before_edit("Cargo.lock").told();
    assert!(told.contains("at the most. It may be edited all the same."), "{told}");
}

#[test]
fn what_is_told_of_a_file_fits_who_has_it_now() {
    let home = home();
    let app = app(&home);
    invited(&app);
    let (mut one, mut two) = (Client::claude(&home, &app, "one"), Client::claude(&home, &app, "two"));
    one.before_edit("src/a.rs").silent();
    app.write("src/a.rs", "mine\n");
    one.after_edit("src/a.rs").silent();
    reads(&mut two).silent();
    let command =
        json!({"tool_name": "Bash", "tool_input": {"command": "cp docs/x.md src/a.rs"}, "tool_response": {}});
    two.event("PreToolUse", &command);
    app.git(&["checkout", "-q", "--", "src/a.rs"]);
    two.event("PostToolUse", &command);
    let granted = two.before_edit("src/a.rs");
    assert!(!granted.stdout.contains("is with claude-"), "it is with the one that is told: {granted:?}");
    app.write("src/a.rs", "theirs\n");
    two.after_edit("src/a.rs");
    let refused = one.before_edit("src/a.rs").denied();
    assert!(!refused.contains("is yours"), "{refused}");
}

#[test]
fn whoever_has_a_file_again_is_not_told_at_a_call_that_names_none_that_it_made_way() {
    let home = home();
    let app = app(&home);
    invited(&app);
    let (mut one, mut two) = (Client::claude(&home, &app, "one"), Client::claude(&home, &app, "two"));
    for file in ["src/a.rs", "src/b.rs"] {
        one.before_edit(file).silent();
        one.after_edit(file).silent();
    }
    two.before_edit("src/a.rs").silent();
    two.before_edit("src/b.rs").silent();
    app.clearway().session("two").ok(&["release", "src/a.rs"]);
    app.clearway().session("one").ok(&["reserve", "src/a.rs"]);
    let told = format!("{:?}{:?}", reads(&mut one), reads(&mut one));
    assert!(told.contains("src/b.rs made way") && !told.contains("src/a.rs made way"), "{told}");
}
