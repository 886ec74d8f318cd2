//! Leaving the queue, and being taken out of it.

use super::{queue, waits};
use crate::{app, home, list, text};
use serde_json::Value;

#[test]
fn whoever_leaves_the_queue_lets_the_next_one_through() {
    let home = home();
    let repository = app(&home);
    repository.grant("alice", &["src/a.rs"]);
    let place = queue(&repository, "bob", &["src/a.rs"]);
    queue(&repository, "carol", &["src/a.rs"]);
    let error = repository.agent("carol").fails("not-holder", 3, &["wait", "--cancel", text(&place, "id")]);
    assert!(list(&error, "hints").len() == 2, "{error}");
    repository.agent("alice").ok(&["release", "--all"]);
    let left = repository.agent("bob").ok(&["wait", "--cancel"]);
    assert_eq!(list(&left, "cancelled"), [place["id"].clone()]);
    assert_eq!(list(&repository.agent("bob").ok(&["wait", "--cancel"]), "cancelled").len(), 0);
    assert_eq!(text(&waits(&repository)[0], "state"), "offered");
    repository.grant("carol", &["src/a.rs"]);
}

#[test]
fn a_person_may_end_a_wait_of_an_agent_with_a_reason_that_is_recorded() {
    let home = home();
    let repository = app(&home);
    repository.grant("alice", &["src/a.rs"]);
    let place = queue(&repository, "bob", &["src/"]);
    let words = ["wait", "--cancel", text(&place, "id"), "--reason", "bob hangs"];
    repository.agent("carol").fails("not-operator", 3, &words);
    assert_eq!(waits(&repository).len(), 1);
    let script = format!("clearway wait --cancel {} --reason 'bob hangs'", text(&place, "id"));
    let shown = home.terminal(repository.path(), &script);
    assert!(shown.status.success(), "{}", String::from_utf8_lossy(&shown.stdout));
    let ended = repository.events().into_iter().find(|event| event["kind"] == "wait.ended");
    assert_eq!(ended.expect("an end")["data"]["operator_reason"], "bob hangs");
}

#[test]
fn whoever_waits_for_several_things_says_which() {
    let home = home();
    let repository = app(&home);
    repository.grant("alice", &["src/", "docs/"]);
    let first = queue(&repository, "bob", &["src/a.rs"]);
    let second = queue(&repository, "bob", &["docs/"]);
    let error = repository.agent("bob").fails("usage", 2, &["wait"]);
    let hints: Vec<&str> = list(&error, "hints").iter().filter_map(Value::as_str).collect();
    assert!(hints[0].ends_with(text(&first, "id")) && hints[1].ends_with(text(&second, "id")), "{hints:?}");
    repository.agent("bob").fails("usage", 2, &["wait", text(&first, "id"), text(&second, "id")]);
    let other = repository.agent("carol").fails("not-holder", 3, &["wait", text(&first, "id")]);
    assert!(text(&other, "message").contains("bob"), "{other}");
}

/// Whoever asks after its turn was taken, as one whose answer was lost does, is told what it holds.
#[test]
fn who_waits_for_what_it_got_is_told_that_it_holds_it() {
    let home = home();
    let repository = app(&home);
    repository.grant("alice", &["src/a.rs"]);
    let place = queue(&repository, "bob", &["src/a.rs"]);
    let id = text(&place, "id");
    repository.agent("alice").ok(&["release", "--all"]);
    let got = repository.agent("bob").ok(&["wait", id]);
    let again = repository.agent("bob").ok(&["wait", id]);
    assert_eq!(again["leases"][0]["id"], got["leases"][0]["id"], "{again:#}");
    repository.agent("alice").fails("not-found", 5, &["wait", id]);
    repository.agent("bob").ok(&["release", "--all"]);
    repository.agent("bob").fails("not-found", 5, &["wait", id]);
}

#[test]
fn how_somebody_elses_wait_is_ended_is_told_with_its_id() {
    let home = home();
    let repository = app(&home);
    repository.grant("alice", &["src/a.rs"]);
    let place = queue(&repository, "bob", &["src/a.rs"]);
    let error = repository.agent("eve").fails("not-holder", 3, &["wait", "--cancel", text(&place, "id")]);
    let command = format!("clearway wait --cancel {} --reason TEXT", text(&place, "id"));
    assert!(error["hints"].to_string().contains(&command), "{error:#}");
    let told = repository.clearway().run(&["waits", "--agent-name", "nobody"]).expect(0);
    assert!(told.stderr().contains("no agent here is called nobody"), "{}", told.stderr());
}
