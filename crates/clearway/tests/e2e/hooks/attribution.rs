//! What a tool call wrote that does not say what it writes: who is told of it, and who is not blamed for it.

use super::gate::invited;
use crate::{app, home, list, text};
use clearway_testkit::{Client, Home, Repository};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

fn shell(client: &mut Client, event: &str) -> clearway_testkit::Answer {
    let input = json!({"command": "make"});
    client.event(event, &json!({"tool_name": "Bash", "tool_input": input, "tool_response": {}}))
}

fn looks(client: &mut Client) -> clearway_testkit::Answer {
    client.event("PreToolUse", &json!({"tool_name": "Read", "tool_input": {}}))
}

fn changed(path: &Path) -> Option<(i64, i64)> {
    fs::symlink_metadata(path).ok().map(|found| (found.ctime(), found.ctime_nsec()))
}

/// Does something to a file until the file system shows it later than every mark: its clock ticks slowly.
fn later(home: &Home, seen: &Path, act: impl Fn()) {
    let marks = fs::read_dir(home.path().join("run/clearway")).expect("marks");
    let last = marks.filter_map(|entry| changed(&entry.expect("an entry").path())).max();
    clearway_testkit::eventually("time passes", || {
        act();
        (changed(seen) > last).then_some(())
    });
}

/// A client that changed `src/a.rs` and is done with it, and another one.
fn holder<'h>(home: &'h Home, app: &Repository<'h>) -> (Client, Client) {
    invited(app);
    let (mut one, mut two) = (Client::claude(home, app, "one"), Client::claude(home, app, "two"));
    one.before_edit("src/a.rs").silent();
    app.write("src/a.rs", "changed\n");
    one.after_edit("src/a.rs").silent();
    two.event("SessionStart", &json!({"source": "startup"})).told();
    (one, two)
}

#[test]
fn a_command_that_writes_over_somebody_is_told_to_both() {
    let home = home();
    let app = app(&home);
    let (mut one, mut two) = holder(&home, &app);
    shell(&mut two, "PreToolUse").silent();
    later(&home, &app.path().join("src/a.rs"), || app.write("src/a.rs", "over\n"));
    let told = shell(&mut two, "PostToolUse").told();
    assert!(told.starts_with("src/a.rs is with claude-"), "{told}");
    assert!(told.contains("was written while your command ran"), "{told}");
    let told = looks(&mut one).told();
    assert!(told.starts_with("src/a.rs is yours and was written in a tool call of claude-"), "{told}");
    looks(&mut one).silent();
    looks(&mut two).silent();
    let digest = app.clearway().ok(&["digest"]);
    let written = &list(&digest, "written_over")[0];
    assert_eq!(text(written, "pattern"), "src/a.rs");
    assert!(text(written, "by").starts_with("claude-"), "{written}");
    let said = app.clearway().run(&["digest"]).expect(0).stdout();
    assert!(said.contains("written over src/a.rs by claude-"), "{said}");
}

#[test]
fn a_tool_of_a_server_that_nobody_knows_is_looked_at_too() {
    let home = home();
    let app = app(&home);
    let (_one, mut two) = holder(&home, &app);
    let call = json!({"tool_name": "mcp__acme__frobnicate", "tool_input": {"x": 1}, "tool_response": {}});
    two.event("PreToolUse", &call).silent();
    later(&home, &app.path().join("src/a.rs"), || app.write("src/a.rs", "over\n"));
    two.event("PostToolUse", &call).told();
}

#[test]
fn a_file_that_a_command_removed_was_written_over() {
    let home = home();
    let app = app(&home);
    let (_one, mut two) = holder(&home, &app);
    shell(&mut two, "PreToolUse").silent();
    later(&home, &app.path().join("src"), || {
        app.write("src/made.rs", "x\n");
        drop(fs::remove_file(app.path().join("src/a.rs")));
        drop(fs::remove_file(app.path().join("src/made.rs")));
    });
    shell(&mut two, "PostToolUse").told();
}

#[test]
fn what_a_holder_changes_itself_is_nobodys_fault() {
    let home = home();
    let app = app(&home);
    let (mut one, mut two) = holder(&home, &app);
    let path = app.path().join("src/a.rs");
    shell(&mut two, "PreToolUse").silent();
    one.before_edit("src/a.rs").silent();
    later(&home, &path, || app.write("src/a.rs", "more\n"));
    shell(&mut two, "PostToolUse").silent();
    shell(&mut two, "PreToolUse").silent();
    later(&home, &path, || app.write("src/a.rs", "still more\n"));
    one.after_edit("src/a.rs").silent();
    shell(&mut two, "PostToolUse").silent();
    shell(&mut one, "PreToolUse").silent();
    shell(&mut two, "PreToolUse").silent();
    later(&home, &path, || app.write("src/a.rs", "and more\n"));
    shell(&mut one, "PostToolUse").silent();
    shell(&mut two, "PostToolUse").silent();
    looks(&mut one).silent();
}

#[test]
fn a_change_that_several_calls_may_have_made_is_nobodys() {
    let home = home();
    let app = app(&home);
    let (mut one, mut two) = holder(&home, &app);
    let mut three = Client::claude(&home, &app, "three");
    three.event("SessionStart", &json!({"source": "startup"})).told();
    shell(&mut three, "PreToolUse").silent();
    shell(&mut two, "PreToolUse").silent();
    later(&home, &app.path().join("src/a.rs"), || app.write("src/a.rs", "over\n"));
    shell(&mut two, "PostToolUse").silent();
    let told = looks(&mut one).told();
    assert!(told.contains("was written by something that no tool call explains"), "{told}");
    let digest = app.clearway().ok(&["digest"]);
    assert_eq!(list(&digest, "written_over")[0]["by"], Value::Null);
}

#[test]
fn a_change_that_was_there_before_a_command_is_not_blamed_on_it() {
    let home = home();
    let app = app(&home);
    let (mut one, mut two) = holder(&home, &app);
    later(&home, &app.path().join("src/a.rs"), || app.write("src/a.rs", "by a person\n"));
    shell(&mut two, "PreToolUse").silent();
    shell(&mut two, "PostToolUse").silent();
    looks(&mut one).silent();
}

#[test]
fn a_file_that_another_command_removed_is_not_blamed_on_the_next_agent() {
    let home = home();
    let app = app(&home);
    let (mut one, mut two) = holder(&home, &app);
    let mut three = Client::claude(&home, &app, "three");
    three.event("SessionStart", &json!({"source": "startup"})).told();
    let touches = || {
        app.write("src/made.rs", "x\n");
        drop(fs::remove_file(app.path().join("src/made.rs")));
    };
    shell(&mut two, "PreToolUse").silent();
    later(&home, &app.path().join("src"), || {
        touches();
        drop(fs::remove_file(app.path().join("src/a.rs")));
    });
    shell(&mut two, "PostToolUse").told();
    looks(&mut one).told();
    for _ in 0..2 {
        shell(&mut three, "PreToolUse").silent();
        later(&home, &app.path().join("src"), touches);
        shell(&mut three, "PostToolUse").silent();
    }
    looks(&mut one).silent();
    let times = app.kinds().iter().filter(|kind| *kind == "lease.overwritten").count();
    assert_eq!(times, 1);
    // What is there again is looked at again.
    app.write("src/a.rs", "again\n");
    shell(&mut three, "PreToolUse").silent();
    later(&home, &app.path().join("src"), || {
        touches();
        drop(fs::remove_file(app.path().join("src/a.rs")));
    });
    shell(&mut three, "PostToolUse").told();
}

#[test]
fn a_file_that_never_was_is_not_missed() {
    let home = home();
    let app = app(&home);
    let (mut one, mut two) = holder(&home, &app);
    one.before_edit("src/new.rs").silent();
    one.after_edit("src/new.rs").silent();
    shell(&mut two, "PreToolUse").silent();
    later(&home, &app.path().join("src"), || {
        app.write("src/other.rs", "x\n");
        fs::remove_file(app.path().join("src/other.rs")).expect("it was there");
    });
    shell(&mut two, "PostToolUse").silent();
    looks(&mut one).silent();
}

/// A command has run, and the client says what it changed.
fn ran(client: &mut Client, response: &Value) -> clearway_testkit::Answer {
    let input = json!({"command": "make"});
    client.event("PostToolUse", &json!({"tool_name": "Bash", "tool_input": input, "tool_response": response}))
}

#[test]
fn what_a_client_says_a_command_changed_is_held_like_an_edit() {
    let home = home();
    let app = app(&home);
    let (_one, mut two) = holder(&home, &app);
    let path = |file: &str| app.path().join(file).display().to_string();
    app.write("src/b.rs", "by a command\n");
    app.write("src/new.rs", "by a command\n");
    let files = ["src/a.rs", "src/b.rs", "src/new.rs", "docs/x.md", "Cargo.lock", "/etc/hosts"].map(path);
    shell(&mut two, "PreToolUse").silent();
    ran(&mut two, &json!({"stdout": "", "bashEditDiff": {"changedFiles": files}})).silent();
    let mut held = super::gate::held(&app);
    held.sort();
    let held: Vec<&str> = held.iter().map(|(path, _)| path.as_str()).collect();
    assert_eq!(held, ["src/a.rs", "src/b.rs", "src/new.rs"], "docs/x.md is as it was committed");
    assert!(!app.kinds().contains(&"reservation.refused".to_owned()), "{:?}", app.kinds());
    let reason = Client::claude(&home, &app, "three").before_edit("src/b.rs").denied();
    assert!(reason.contains("src/b.rs is with claude-"), "{reason}");
    app.git(&["add", "."]);
    app.git(&["commit", "-qm", "all"]);
    Client::claude(&home, &app, "four").before_edit("src/new.rs").silent();
}

#[test]
fn what_a_client_says_in_no_form_we_know_changes_nothing() {
    let home = home();
    let app = app(&home);
    let (_one, mut two) = holder(&home, &app);
    app.write("src/b.rs", "by a command\n");
    shell(&mut two, "PreToolUse").silent();
    for response in [
        json!("src/b.rs"),
        json!({"bashEditDiff": "src/b.rs"}),
        json!({"bashEditDiff": {"changedFiles": [7, null, {"x": "src/b.rs"}, ["src/b.rs"], "\u{0}", ""]}}),
        json!({"filePath": {"path": 1}}),
    ] {
        ran(&mut two, &response).silent();
    }
    assert_eq!(super::gate::held(&app).len(), 1);
}

fn silent_sessions(app: &Repository<'_>) -> Vec<String> {
    let doctor = app.clearway().ok(&["doctor"]);
    let checks = list(&doctor, "checks").iter().filter(|check| check["about"] == "session");
    checks.map(|check| text(check, "text").to_owned()).collect()
}

#[test]
fn a_session_whose_hooks_fell_silent_is_named_by_what_changed_since() {
    let home = home();
    let app = app(&home);
    let (mut one, _two) = holder(&home, &app);
    let path = app.path().join("src/a.rs");
    assert!(silent_sessions(&app).is_empty(), "its last call explains the change");
    shell(&mut one, "PreToolUse").silent();
    later(&home, &path, || app.write("src/a.rs", "by its command\n"));
    assert!(silent_sessions(&app).is_empty(), "its command still runs");
    shell(&mut one, "PostToolUse").silent();
    assert!(silent_sessions(&app).is_empty());
    later(&home, &path, || app.write("src/a.rs", "by a call that no hook told of\n"));
    let said = silent_sessions(&app);
    assert!(
        matches!(&said[..], [one] if one.ends_with(" holds 1 file that changed after its last hook call"))
    );
    one.before_edit("src/a.rs").silent();
    assert!(silent_sessions(&app).is_empty(), "a call is about to change it");
    one.die();
    assert!(silent_sessions(&app).is_empty(), "it is gone");
}

#[test]
fn what_a_holder_changes_after_it_cleared_its_session_is_nobodys_fault() {
    let home = home();
    let app = app(&home);
    let (mut one, mut two) = holder(&home, &app);
    one.resume_as("one-cleared");
    one.event("SessionStart", &json!({"source": "clear"}));
    shell(&mut one, "PreToolUse").silent();
    shell(&mut two, "PreToolUse").silent();
    later(&home, &app.path().join("src/a.rs"), || app.write("src/a.rs", "by one\n"));
    shell(&mut one, "PostToolUse").silent();
    shell(&mut two, "PostToolUse").silent();
    looks(&mut one).silent();
    assert!(silent_sessions(&app).is_empty());
}

#[test]
fn a_command_of_a_subagent_that_holds_nothing_is_one_that_may_have_written() {
    let home = home();
    let app = app(&home);
    let (mut one, mut two) = holder(&home, &app);
    let command = json!({"tool_name": "Bash", "tool_input": {"command": "make"}, "agent_id": "x"});
    Client::claude(&home, &app, "three").event("PreToolUse", &command).silent();
    shell(&mut two, "PreToolUse").silent();
    later(&home, &app.path().join("src/a.rs"), || app.write("src/a.rs", "over\n"));
    shell(&mut two, "PostToolUse").silent();
    let told = looks(&mut one).told();
    assert!(told.contains("was written by something that no tool call explains"), "{told}");
}

/// Where nothing is enforced the edit passes, and whose file it was hears of it.
#[test]
fn an_edit_that_passes_over_somebody_where_nothing_is_enforced_is_told_to_the_holder() {
    for mode in ["warn", "observe"] {
        let home = home();
        home.user_config(&format!("mode = \"{mode}\"\n"));
        let app = app(&home);
        let (mut one, mut two) = holder(&home, &app);
        let name = |client: &str| text(&app.clearway().session(client).ok(&["status"]), "agent").to_owned();
        for _ in 0..3 {
            two.before_edit("src/a.rs");
            app.write("src/a.rs", "over\n");
            two.after_edit("src/a.rs").silent();
        }
        let told = looks(&mut one).told();
        let by = format!("src/a.rs is yours and was written in a tool call of {}. ", name("two"));
        assert!(told.starts_with(&by) && told.lines().count() == 1, "{mode}: {told}");
        looks(&mut one).silent();
        assert!(told.len() <= 400);
        let events = app.events();
        let over: Vec<&Value> = events.iter().filter(|event| event["kind"] == "lease.overwritten").collect();
        assert_eq!(over.len(), 1, "{mode}: {over:?}");
        assert_eq!(text(&over[0]["data"], "path"), "src/a.rs");
        assert_eq!(text(over[0], "agent"), name("two"), "{over:?}");
        let status = app.clearway().ok(&["status"]);
        let written = &list(&status, "written_over")[0];
        assert_eq!((text(written, "holder"), text(written, "by")), (&*name("one"), &*name("two")));
        let said = format!("src/a.rs is with {} and was written by {}", name("one"), name("two"));
        assert!(status["warnings"].to_string().contains(&said), "{status}");
        assert_eq!(text(&list(&app.clearway().ok(&["digest"]), "written_over")[0], "pattern"), "src/a.rs");
        one.before_edit("src/a.rs");
        one.after_edit("src/a.rs");
        two.before_edit("src/a.rs");
        two.after_edit("src/a.rs").silent();
        assert!(looks(&mut one).told().starts_with(&by), "{mode}: once more, after its own edit");
        app.clearway().session("one").ok(&["release", "src/a.rs"]);
        assert!(list(&app.clearway().ok(&["status"]), "written_over").is_empty(), "nobody holds it");
    }
}

#[test]
fn an_edit_that_came_to_nothing_is_told_to_nobody() {
    let home = home();
    home.user_config("mode = \"observe\"\n");
    let app = app(&home);
    let (mut one, mut two) = holder(&home, &app);
    let input = json!({"file_path": app.path().join("src/a.rs"), "old_string": "a", "new_string": "b"});
    let call = json!({"tool_name": "Edit", "tool_input": input, "error": "String to replace not found"});
    two.before_edit("src/a.rs");
    two.event("PostToolUseFailure", &call).silent();
    looks(&mut one).silent();
    assert!(!app.kinds().contains(&"lease.overwritten".to_owned()));
}

/// A line of `status` that needs a person names who has the file now, and goes when there is nothing to look after.
#[test]
fn what_was_written_over_is_shown_with_who_has_it_now_and_for_as_long_as_that_is_news() {
    let home = home();
    home.user_config("mode = \"warn\"\n");
    let app = app(&home);
    let (mut one, mut two) = holder(&home, &app);
    let name = |client: &str| text(&app.clearway().session(client).ok(&["status"]), "agent").to_owned();
    let over = |two: &mut Client, file: &str| {
        two.before_edit(file);
        app.write(file, "over\n");
        two.after_edit(file);
    };
    let shown = || {
        let status = app.clearway().ok(&["status"]);
        let written = list(&status, "written_over");
        written.iter().map(|file| text(file, "holder").to_owned()).collect::<Vec<String>>()
    };
    app.grant("cy", &["README.md"]);
    over(&mut two, "src/a.rs");
    assert_eq!(shown(), [name("one")]);
    app.clearway().session("one").ok(&["transfer", "--to", "cy", "src/a.rs"]);
    assert_eq!(shown(), ["cy"], "it was handed on");
    app.agent("cy").ok(&["transfer", "--to", &name("one"), "src/a.rs"]);
    over(&mut two, "src/a.rs");
    assert_eq!(shown(), [name("one")], "each once");
    one.before_edit("src/a.rs");
    one.after_edit("src/a.rs");
    assert_eq!(shown(), [""; 0], "its holder edited it");
    app.agent("cy").ok(&["release", "--all"]);
    app.clearway().session("one").ok(&["reserve", "--broad", "**"]);
    app.write("docs/y.md", "changed\n");
    over(&mut two, "docs/y.md");
    assert_eq!(shown(), [name("one")]);
    app.git(&["clean", "-qf", "--", "docs"]);
    two.before_edit("docs/y.md");
    assert_eq!(shown(), [""; 0], "it was taken out of the claim");
}
