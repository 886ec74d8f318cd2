//! `mine` and `statusline`.

use crate::{app, each, home, text};
use clearway_testkit::Client;
use serde_json::json;

#[test]
fn mine_names_what_the_family_holds_from_where_the_caller_stands() {
    let home = home();
    let app = app(&home);
    app.grant("bob", &["main.rs"]);
    app.grant("ada", &["src/a.rs", "docs/", "src/*.toml"]);
    assert_eq!(app.agent("ada").run(&["mine"]).expect(0).stdout(), "docs\nsrc/a.rs\n");
    assert_eq!(
        app.clearway_in("src").agent("ada").run(&["mine", "-0"]).expect(0).stdout(),
        "../docs\0a.rs\0"
    );
    app.write("src/a.rs", "changed\n");
    assert_eq!(app.agent("ada").run(&["mine", "--dirty"]).expect(0).stdout(), "src/a.rs\n");
    assert_eq!(app.agent("eve").run(&["mine"]).expect(0).stdout(), "");
}

#[test]
fn what_mine_prints_is_a_path_to_every_program_whatever_its_name() {
    let home = home();
    let app = app(&home);
    for name in ["-n", "two words"] {
        app.write(name, "x\n");
        app.grant("ada", &["--", name]);
    }
    assert_eq!(app.agent("ada").ok(&["mine"])["paths"], json!(["-n", "two words"]));
    let listed =
        home.shell(app.path(), "clearway --agent ada mine -0 | xargs -0 cat").output().expect("a shell");
    assert_eq!(String::from_utf8_lossy(&listed.stdout), "x\nx\n");
    app.agent("ada").ok(&["release", "two words"]);
    let listed = home.shell(app.path(), "cat $(clearway --agent ada mine)").output().expect("a shell");
    assert_eq!(String::from_utf8_lossy(&listed.stdout), "x\n");
}

#[test]
fn mine_names_directories_that_look_like_patterns() {
    let home = home();
    let app = home.repository("app", &[("app/[id]/page.tsx", ""), ("a*b/c.rs", "")]);
    app.grant("ada", &["app/[id]", "a*b"]);
    assert_eq!(app.agent("ada").ok(&["mine"])["paths"], json!(["a*b", "app/[id]"]));
}

#[test]
fn a_subagents_files_are_its_sessions_too() {
    let home = home();
    let app = app(&home);
    app.grant("bob", &["main.rs"]);
    let mut one = Client::claude(&home, &app, "one");
    let edit = json!({"agent_id": "x", "tool_name": "Edit", "tool_input": {"file_path": "src/a.rs"}});
    one.event("PreToolUse", &edit).silent();
    let mine = app.clearway().session("one").ok(&["mine"]);
    assert_eq!(mine["paths"], json!(["src/a.rs"]));
}

#[test]
fn a_status_line_is_empty_where_there_is_nothing_to_say_and_begins_with_what_matters() {
    let home = home();
    let app = app(&home);
    let line = |agent: &str| app.agent(agent).run(&["statusline"]).expect(0).stdout();
    assert_eq!(line("ada"), "");
    app.grant("ada", &["src/a.rs"]);
    app.agent("bob").ok(&["reserve", "src/a.rs", "--queue"]);
    assert_eq!(line("ada"), "1 waits for you, 1 lease, 1 other agent\n");
    app.agent("ada").ok(&["release", "--all"]);
    assert!(line("bob").starts_with("1 turn is yours"), "{}", line("bob"));
}

#[test]
fn status_names_changes_that_an_ended_session_left_until_somebody_takes_them() {
    let home = home();
    let app = app(&home);
    app.grant("bob", &["main.rs"]);
    let mut one = Client::claude(&home, &app, "one");
    one.before_edit("src/a.rs").silent();
    app.write("src/a.rs", "changed\n");
    one.event("SessionEnd", &json!({"reason": "other"})).silent();
    let warnings = || app.agent("bob").ok(&["status"])["warnings"].clone();
    let said = warnings()[0].as_str().expect("a warning").to_owned();
    let terse = app.agent("bob").run(&["status"]).expect(0).stdout();
    assert!(terse.contains("needs a person: changes of "), "{terse}");
    assert!(said.contains("in src/a.rs are not committed, and its session ended"), "{said}");
    let taken = app.grant("bob", &["src/a.rs"]);
    assert_eq!(text(&taken, "pattern"), "src/a.rs");
    assert_eq!(warnings(), json!([]));
    assert!(each(&app.clearway().ok(&["leases"]), "leases", "agent").contains(&"bob"));
}
