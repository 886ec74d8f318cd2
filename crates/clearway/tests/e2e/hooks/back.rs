//! Agents that come back, and what is left behind by those who do not.

use super::gate::{held, invited};
use crate::{app, home, list, text};
use clearway_testkit::{Client, Home, Repository};
use serde_json::{Value, json};

/// A session that changed a file and ended.
fn gone(home: &Home, app: &Repository<'_>, file: &str) -> Client {
    let mut one = Client::claude(home, app, "one");
    one.before_edit(file).silent();
    app.write(file, "changed\n");
    one.event("SessionEnd", &json!({"reason": "prompt_input_exit"})).silent();
    one
}

/// Edits a file that is its own, whatever there is to say beside.
#[track_caller]
fn edits(client: &mut Client, file: &str) {
    let answer = client.before_edit(file);
    assert_eq!(answer.code, 0, "{answer:#?}");
}

fn resume(client: &mut Client) {
    client.event("SessionStart", &json!({"source": "resume"}));
}

fn auto(file: &str) -> (String, String) {
    (file.to_owned(), "auto".to_owned())
}

#[test]
fn a_session_that_is_resumed_has_its_uncommitted_files_again() {
    let home = home();
    let app = app(&home);
    invited(&app);
    let mut one = Client::claude(&home, &app, "one");
    for file in ["src/a.rs", "src/b.rs"] {
        one.before_edit(file).silent();
        app.write(file, "changed\n");
    }
    one.event("SessionEnd", &json!({"reason": "prompt_input_exit"})).silent();
    app.git(&["checkout", "-q", "--", "src/b.rs"]);
    assert!(held(&app).is_empty());
    resume(&mut one);
    assert_eq!(held(&app), [auto("src/a.rs")], "what is clean by now is nobody's");
    let kinds = app.kinds();
    assert_eq!(kinds[kinds.len() - 2..], ["agent.resumed", "lease.granted"]);
    one.event("SessionEnd", &json!({"reason": "other"})).silent();
    resume(&mut one);
    assert_eq!(held(&app), [auto("src/a.rs")], "as often as it comes back");
    Client::claude(&home, &app, "two").before_edit("src/a.rs").denied();
    edits(&mut one, "src/a.rs");
}

#[test]
fn the_first_edit_after_an_end_brings_the_others_back_too() {
    let home = home();
    let app = app(&home);
    invited(&app);
    let mut one = gone(&home, &app, "src/a.rs");
    one.before_edit("src/b.rs").silent();
    assert_eq!(held(&app), [auto("src/a.rs"), auto("src/b.rs")]);
}

#[test]
fn what_somebody_took_meanwhile_stays_with_it() {
    let home = home();
    let app = app(&home);
    invited(&app);
    let mut one = gone(&home, &app, "src/a.rs");
    let mut two = Client::claude(&home, &app, "two");
    assert!(two.before_edit("src/a.rs").told().contains("ended and left changes"));
    resume(&mut one);
    assert_eq!(held(&app).len(), 1);
    one.before_edit("src/a.rs").denied();
    edits(&mut two, "src/a.rs");
    two.event("SessionEnd", &json!({"reason": "other"})).silent();
    one.event("SessionEnd", &json!({"reason": "other"})).silent();
    resume(&mut one);
    assert!(held(&app).is_empty(), "the changes are two's by now: {:?}", held(&app));
}

#[test]
fn what_a_parent_leaves_is_told_though_a_subagent_shared_it() {
    let home = home();
    let app = app(&home);
    invited(&app);
    let mut one = Client::claude(&home, &app, "one");
    one.before_edit("src/a.rs").silent();
    app.write("src/a.rs", "changed\n");
    let worker = json!({"agent_id": "x", "agent_type": "worker"});
    let mut edit = worker.clone();
    edit["tool_name"] = json!("Edit");
    edit["tool_input"] = json!({"file_path": "src/a.rs"});
    one.event("PreToolUse", &edit).silent();
    one.event("SubagentStop", &worker).silent();
    one.event("SessionEnd", &json!({"reason": "other"})).silent();
    let status = app.clearway().ok(&["status"]).to_string();
    assert!(status.contains("src/a.rs"), "{status}");
    let told = Client::claude(&home, &app, "two").before_edit("src/a.rs").told();
    assert!(told.contains("ended and left changes in it that are not committed"), "{told}");
}

#[test]
fn nobody_is_told_of_changes_that_are_gone() {
    type Mend = fn(&Repository<'_>) -> String;
    let committed: Mend = |app| app.git(&["commit", "-q", "-a", "-m", "all of it"]);
    let undone: Mend = |app| app.git(&["checkout", "-q", "--", "src/a.rs"]);
    for mend in [committed, undone] {
        let home = home();
        let app = app(&home);
        invited(&app);
        drop(gone(&home, &app, "src/a.rs"));
        mend(&app);
        Client::claude(&home, &app, "two").before_edit("src/a.rs").silent();
    }
}

#[test]
fn whoever_is_refused_an_edit_is_queued_and_closes_no_circle() {
    let home = home();
    let app = app(&home);
    invited(&app);
    let [mut holder, mut first, mut second] =
        ["one", "two", "three"].map(|name| Client::claude(&home, &app, name));
    let edit = |client: &mut Client, file: &str| {
        client.before_edit(file).silent();
        app.write(file, "changed\n");
    };
    edit(&mut holder, "src/a.rs");
    first.before_edit("src/a.rs").denied();
    second.before_edit("src/a.rs").denied();
    edit(&mut second, "src/b.rs");
    let refused = first.before_edit("src/b.rs").denied();
    assert!(refused.contains("You are queued, 1st"), "{refused}");
    edit(&mut first, "main.rs");
    let refused = second.before_edit("main.rs").denied();
    assert!(refused.contains("You are queued, 1st"), "two that wait for each other's files go on: {refused}");
    let waits = app.clearway().ok(&["waits"]);
    assert_eq!(list(&waits, "waits").len(), 4, "{waits}");
}

fn session(home: &Home, app: &Repository<'_>, name: &str) -> Client {
    let mut client = Client::claude(home, app, name);
    client.event("SessionStart", &json!({"source": "startup"}));
    client
}

fn reserve(app: &Repository<'_>, words: &[&str]) -> Value {
    let reserved = app.clearway().session("one").ok(&[&["reserve"], words].concat());
    list(&reserved, "leases")[0].clone()
}

#[test]
fn what_a_hook_took_is_claimed_by_whoever_reserves_it() {
    let home = home();
    let app = app(&home);
    invited(&app);
    let (mut one, mut two) = (session(&home, &app, "one"), session(&home, &app, "two"));
    one.before_edit("src/a.rs").silent();
    app.write("src/a.rs", "changed\n");
    one.after_edit("src/a.rs").silent();
    let before = list(&app.clearway().ok(&["leases"]), "leases")[0].clone();
    let lease = reserve(&app, &["src/a.rs", "--reason", "mine"]);
    assert_eq!((text(&lease, "grade"), text(&lease, "reason")), ("claimed", "mine"));
    assert_eq!((&lease["id"], &lease["fence"]), (&before["id"], &before["fence"]), "it is the same one");
    assert_eq!(app.kinds().last().map(String::as_str), Some("lease.claimed"));
    app.git(&["commit", "-q", "-a", "-m", "all of it"]);
    let refused = two.before_edit("src/a.rs").denied();
    assert!(refused.contains("when claude-") && refused.contains("releases it"), "{refused}");
    edits(&mut one, "src/a.rs");
    assert_eq!(held(&app), [("src/a.rs".to_owned(), "claimed".to_owned())]);
}

#[test]
fn what_is_named_beside_a_broad_claim_does_not_make_way() {
    let home = home();
    let app = app(&home);
    invited(&app);
    let (_one, mut two) = (session(&home, &app, "one"), session(&home, &app, "two"));
    reserve(&app, &["**", "--broad"]);
    reserve(&app, &["src/a.rs"]);
    two.before_edit("src/a.rs").denied();
    two.before_edit("src/b.rs").silent();
    app.clearway().session("two").ok(&["release", "src/b.rs"]);
    reserve(&app, &["docs/"]);
    two.before_edit("docs/x.md").denied();
    let strict = reserve(&app, &["**", "--broad", "--strict"]);
    assert_eq!(text(&strict, "pattern"), "**");
    two.before_edit("main.rs").denied();
    assert_eq!(held(&app).len(), 3);
}

#[test]
fn a_file_named_with_something_broad_is_meant_itself() {
    let home = home();
    let app = app(&home);
    invited(&app);
    let (_one, mut two) = (session(&home, &app, "one"), session(&home, &app, "two"));
    reserve(&app, &["**", "src/a.rs", "--broad"]);
    two.before_edit("src/a.rs").denied();
    two.before_edit("src/b.rs").silent();
}

#[test]
fn a_session_that_was_killed_keeps_its_file_from_who_waits_whatever_it_does_first() {
    type First = fn(&mut Client);
    let edits_it: First = |one| edits(one, "src/a.rs");
    let starts: First = resume;
    let calls: First = |one| {
        one.event("PreToolUse", &json!({"tool_name": "Bash", "tool_input": {"command": "ls"}}));
    };
    let reads: First = |one| {
        one.event("PreToolUse", &json!({"tool_name": "Read", "tool_input": {"file_path": "src/b.rs"}}));
    };
    for first in [edits_it, starts, calls, reads] {
        let home = home();
        let app = app(&home);
        invited(&app);
        let mut one = Client::claude(&home, &app, "one");
        one.before_edit("src/a.rs").silent();
        app.write("src/a.rs", "changed\n");
        one.after_edit("src/a.rs").silent();
        let mut two = Client::claude(&home, &app, "two");
        two.before_edit("src/a.rs").denied();
        one.die();
        let mut again = Client::claude(&home, &app, "one");
        first(&mut again);
        edits(&mut again, "src/a.rs");
        assert_eq!(held(&app), [auto("src/a.rs")]);
        assert!(!app.kinds().contains(&"lease.taken-over".to_owned()), "{:?}", app.kinds());
        two.before_edit("src/a.rs").denied();
    }
}

#[test]
fn status_says_of_nobody_who_is_back_that_its_session_ended() {
    let home = home();
    let app = app(&home);
    invited(&app);
    let mut one = gone(&home, &app, "src/a.rs");
    let warnings = || app.clearway().ok(&["status"])["warnings"].to_string();
    assert!(warnings().contains("and its session ended"), "{}", warnings());
    // What is clean when it comes back is nobody's, also if it changes again.
    app.git(&["stash", "--quiet"]);
    resume(&mut one);
    app.git(&["stash", "pop", "--quiet"]);
    assert!(warnings().contains("and it is back without holding it"), "{}", warnings());
    edits(&mut one, "src/a.rs");
    assert!(!warnings().contains("src/a.rs"), "{}", warnings());
}
