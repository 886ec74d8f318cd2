//! What somebody left uncommitted is kept before anybody else gets it.

use super::checkout;
use crate::{app, home, list, number, text};
use clearway_testkit::{Client, Home, Repository};
use serde_json::{Value, json};

/// A client writes a file and dies without a word.
fn writes_and_dies(home: &Home, app: &Repository<'_>, session: &str, file: &str, content: &str) {
    let mut ada = Client::claude(home, app, session);
    ada.before_edit(file).silent();
    app.write(file, content);
    ada.after_edit(file).silent();
    ada.die();
}

fn only(app: &Repository<'_>) -> Value {
    let listed = app.clearway().ok(&["snapshots"]);
    assert_eq!(list(&listed, "snapshots").len(), 1, "{listed}");
    list(&listed, "snapshots")[0].clone()
}

#[test]
fn a_hook_that_takes_over_from_the_dead_keeps_their_work_and_both_are_told() {
    let home = home();
    let app = app(&home);
    app.grant("bob", &["--kind", "name", "build"]);
    writes_and_dies(&home, &app, "ada", "src/a.rs", "ada's work\n");
    let mut cy = Client::claude(&home, &app, "cy");
    let told = cy.before_edit("src/a.rs").told();
    let kept = only(&app);
    let word = format!("s{}", number(&kept, "number"));
    assert!(told.contains(&format!("also kept as snapshot {word}")), "{told}");
    assert_eq!((text(&kept, "cause"), number(&kept, "files")), ("take-over", 1));
    let kinds = app.kinds();
    let at = |kind: &str| kinds.iter().position(|found| found == kind).expect("an event");
    assert!(at("snapshot.taken") < at("lease.taken-over"), "{kinds:?}");
    app.write("src/a.rs", "cy's work\n");
    cy.after_edit("src/a.rs");
    // Ada comes back in a new process and hears of it.
    let mut again = Client::claude(&home, &app, "ada");
    let heard = again.event("SessionStart", &json!({"source": "resume"}));
    assert!(format!("{heard:?}").contains(&format!("show {word}")), "{heard:?}");
    app.agent("bob").fails("reservation-held", 1, &["restore", &word]);
    app.clearway().session("cy").ok(&["restore", &word]);
    assert_eq!(std::fs::read(app.path().join("src/a.rs")).expect("bytes"), b"ada's work\n");
}

#[test]
fn a_reservation_that_takes_over_keeps_the_work_and_a_look_keeps_nothing() {
    let home = home();
    let app = app(&home);
    app.grant("bob", &["--kind", "name", "build"]);
    writes_and_dies(&home, &app, "ada", "src/a.rs", "ada's work\n");
    let before = (app.kinds(), checkout(app.path()));
    assert!(app.is_clear("cy", "src/a.rs"));
    assert_eq!((app.kinds(), checkout(app.path())), before);
    assert_eq!(app.git(&["for-each-ref", "refs/clearway"]), "");
    let reserved = app.agent("cy").ok(&["reserve", "src/a.rs"]);
    let kept = only(&app);
    let notices = list(&reserved, "notices");
    let notice = notices.iter().find(|notice| notice["code"] == "kept").expect("a notice");
    let said = format!("is also kept as s{}", number(&kept, "number"));
    assert!(text(notice, "message").ends_with(&said), "{notice}");
    assert_eq!(text(&kept, "agent"), "cy");
}

#[test]
fn what_a_dead_agent_committed_or_cannot_be_kept_keeps_nobody_from_taking_it() {
    let home = home();
    let app = app(&home);
    app.grant("bob", &["--kind", "name", "build"]);
    writes_and_dies(&home, &app, "ada", "src/a.rs", "ada's work\n");
    app.git(&["commit", "--quiet", "--all", "--message", "ada's work"]);
    app.agent("cy").ok(&["reserve", "src/a.rs"]);
    writes_and_dies(&home, &app, "otter", "src/b.rs", "more work\n");
    let empty = home.directory("empty");
    app.agent("cy").env("PATH", &empty).ok(&["reserve", "src/b.rs"]);
    assert!(!app.kinds().contains(&"snapshot.taken".to_owned()));
}

#[test]
fn what_a_session_leaves_behind_is_kept_when_it_ends() {
    let home = home();
    let app = app(&home);
    app.grant("bob", &["--kind", "name", "build"]);
    let mut ada = Client::claude(&home, &app, "ada");
    for file in ["src/a.rs", "src/b.rs"] {
        ada.before_edit(file).silent();
        app.write(file, "left behind\n");
        ada.after_edit(file).silent();
    }
    ada.event("SessionEnd", &json!({"reason": "exit"})).silent();
    let kept = only(&app);
    assert_eq!((text(&kept, "cause"), number(&kept, "files")), ("session-end", 2));
    let kinds = app.kinds();
    assert_eq!(kinds.iter().filter(|kind| *kind == "lease.orphaned").count(), 2);
    app.git(&["checkout", "--quiet", "--", "."]);
    app.agent("bob").ok(&["undo", &number(&kept, "number").to_string(), "-y"]);
    assert_eq!(std::fs::read(app.path().join("src/b.rs")).expect("bytes"), b"left behind\n");
}

/// A client that died with an uncommitted change, for which another one waits.
fn dead_and_waited_for(home: &Home, app: &Repository<'_>) -> Client {
    let mut ada = Client::claude(home, app, "ada");
    ada.before_edit("src/a.rs").silent();
    app.write("src/a.rs", "ada's work\n");
    ada.after_edit("src/a.rs").silent();
    let mut cy = Client::claude(home, app, "cy");
    cy.before_edit("src/a.rs").denied();
    ada.die();
    cy
}

fn calls(client: &mut Client, command: &str) -> clearway_testkit::Answer {
    client.event(
        "PreToolUse",
        &json!({"tool_name": "Bash", "tool_use_id": command, "tool_input": {"command": command}}),
    )
}

#[test]
fn what_the_dead_left_is_kept_before_its_path_is_kept_for_who_waits_whatever_call_comes_first() {
    type First = fn(&Repository<'_>, &mut Client) -> String;
    let any_call: First = |_, cy| {
        let told = calls(cy, "ls").told();
        assert!(told.contains("kept for you"), "{told}");
        told
    };
    let sweep: First = |app, _| {
        app.clearway().ok(&["sweep"]);
        String::new()
    };
    for (first, tells) in [(any_call, true), (sweep, false)] {
        let home = home();
        let app = app(&home);
        app.grant("bob", &["--kind", "name", "build"]);
        let mut cy = dead_and_waited_for(&home, &app);
        let told = first(&app, &mut cy);
        let kept = only(&app);
        let word = format!("s{}", number(&kept, "number"));
        assert_eq!(text(&kept, "cause"), "take-over");
        let kinds = app.kinds();
        let at = |kind: &str| kinds.iter().position(|found| found == kind).expect("an event");
        assert!(at("snapshot.taken") < at("lease.taken-over"), "{kinds:?}");
        assert_eq!(told.contains(&format!("also kept as snapshot {word}")), tells, "{told}");
        let told = cy.before_edit("src/a.rs").told();
        assert!(told.contains(&format!("also kept as snapshot {word}")), "{told}");
        app.write("src/a.rs", "cy's work\n");
        cy.after_edit("src/a.rs");
        let heard = Client::claude(&home, &app, "ada").event("SessionStart", &json!({"source": "resume"}));
        assert!(format!("{heard:?}").contains(&format!("show {word}")), "{heard:?}");
        app.clearway().session("cy").ok(&["restore", &word]);
        assert_eq!(std::fs::read(app.path().join("src/a.rs")).expect("bytes"), b"ada's work\n");
    }
}
