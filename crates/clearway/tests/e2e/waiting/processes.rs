//! Processes that wait: how they are woken, watched and killed.

use super::{A_MOMENT, LONG, answer, done, ends, queue, waiter, waits};
use crate::{app, each, home, list, number, text};
use clearway_testkit::{Terminal, eventually};
use serde_json::Value;

#[test]
fn a_process_that_waits_gets_it_when_it_is_given_back_and_prints_nothing_before() {
    let home = home();
    let repository = app(&home);
    repository.grant("alice", &["src/a.rs"]);
    let child = waiter(&repository, "bob", &["src/a.rs"]);
    repository.agent("alice").ok(&["release", "--all"]);
    let reply = done(child);
    assert_eq!((&reply["leases"][0]["agent"], &reply["queued"]), (&"bob".into(), &Value::Null));
    assert_eq!((waits(&repository).len(), ends(&repository)), (0, vec!["granted".to_owned()]));
}

#[test]
fn a_process_waits_for_a_lease_that_only_time_ends() {
    let home = home();
    let repository = app(&home);
    repository.grant("alice", &["src/a.rs", "--ttl", "1s"]);
    let reply = repository.agent("bob").ok(&["reserve", "src/a.rs", "--wait", LONG]);
    assert_eq!(reply["leases"][0]["agent"], "bob");
    assert!(repository.kinds().contains(&"lease.expired".to_owned()));
}

#[test]
fn whoever_waits_loses_nothing_to_time_meanwhile_however_short_it_was_granted_for() {
    let home = home();
    let repository = app(&home);
    repository.grant("alice", &["src/a.rs", "--ttl", "7s"]);
    repository.grant("bob", &["src/b.rs", "--ttl", "3s"]);
    let reply = repository.agent("bob").ok(&["reserve", "src/a.rs", "--wait", LONG]);
    assert_eq!(reply["leases"][0]["agent"], "bob");
    let expired = repository.events().into_iter().filter(|event| event["kind"] == "lease.expired").count();
    assert_eq!(expired, 1, "that of alice, who was silent");
}

#[test]
fn a_killed_waiter_leaves_nothing_that_blocks_others() {
    let home = home();
    let repository = app(&home);
    repository.grant("alice", &["src/a.rs"]);
    let mut child = waiter(&repository, "bob", &["src/a.rs"]);
    let next = waiter(&repository, "carol", &["src/a.rs"]);
    child.kill().expect("a process of ours");
    child.wait().expect("it is dead");
    assert_eq!(each(&repository.clearway().ok(&["waits"]), "waits", "agent"), ["carol"], "at once");
    repository.agent("alice").ok(&["release", "--all"]);
    assert_eq!(done(next)["leases"][0]["agent"], "carol");
    assert_eq!(ends(&repository), ["gone", "granted"]);
}

#[test]
fn a_killed_waiter_has_no_place_to_give_up() {
    for by_id in [false, true] {
        let home = home();
        let repository = app(&home);
        repository.grant("alice", &["src/a.rs"]);
        let mut child = waiter(&repository, "bob", &["src/a.rs"]);
        let id = text(&waits(&repository)[0], "id").to_owned();
        child.kill().expect("a process of ours");
        child.wait().expect("it is dead");
        repository.agent("bob").fails("not-found", 5, &["wait"]);
        let words = ["wait", "--cancel", &id];
        let left = repository.agent("bob").ok(if by_id { &words } else { &words[..2] });
        assert_eq!(left["cancelled"], serde_json::json!([]), "nobody waits");
        assert_eq!(ends(&repository), ["gone"]);
    }
}

#[test]
fn the_place_of_an_agent_whose_terminal_was_closed_blocks_nobody() {
    let home = home();
    let repository = app(&home);
    repository.grant("alice", &["src/a.rs"]);
    let terminal = Terminal::open();
    let script = "clearway reserve src/a.rs --queue && exec sleep 600";
    let mut shell = home.session_shell(&terminal, repository.path(), script).spawn().expect("a shell");
    eventually("the terminal has its place", || (waits(&repository).len() == 1).then_some(()));
    drop(terminal);
    shell.wait().expect("the shell is hung up");
    assert_eq!(waits(&repository).len(), 0);
    repository.agent("alice").ok(&["release", "--all"]);
    repository.grant("bob", &["src/a.rs"]);
}

#[test]
fn a_wait_that_is_over_first_keeps_its_place_and_is_no_failure() {
    let home = home();
    let repository = app(&home);
    repository.grant("alice", &["src/a.rs"]);
    let reply = repository.agent("bob").ok(&["reserve", "src/a.rs", "--wait", A_MOMENT]);
    let place = &reply["queued"];
    assert_eq!((list(&reply, "leases").len(), number(place, "position")), (0, 1));
    queue(&repository, "carol", &["src/a.rs"]);
    let again = repository.agent("bob").ok(&["wait", text(place, "id"), "--for", A_MOMENT]);
    assert_eq!((&again["queued"]["id"], number(&again["queued"], "position")), (&place["id"], 1));
    assert_eq!(again["queued"]["pid"], Value::Null, "nobody waits any more; the place is kept");
    repository.agent("alice").ok(&["release", "--all"]);
    assert_eq!(repository.agent("bob").ok(&["wait"])["leases"][0]["agent"], "bob");
}

#[test]
fn a_person_at_a_terminal_sees_how_things_stand_and_the_line_is_gone_at_the_end() {
    let home = home();
    let repository = app(&home);
    repository.grant("alice", &["src/a.rs"]);
    let script = "clearway --agent bob reserve src/a.rs --wait 1s; echo DONE";
    let shown = home.terminal(repository.path(), script);
    let shown = String::from_utf8_lossy(&shown.stdout).into_owned();
    assert!(shown.contains("waiting: src/a.rs is with alice (active); place 1, at most"), "{shown:?}");
    let lines = shown.split("\x1b[2K").filter(|part| part.starts_with("waiting"));
    assert!(lines.clone().count() > 0, "{shown:?}");
    for line in lines {
        assert!(line.contains("more\r\n"), "whoever interrupts has a line for the prompt: {line:?}");
    }
    let after = shown.rsplit("\x1b[2K").next().unwrap_or_default();
    assert!(after.starts_with("queued") || after.contains("queued"), "{after:?}");
    assert!(!after.contains("at most") && after.contains("DONE"), "{after:?}");
    let json = home.terminal(repository.path(), "clearway --json --agent bob wait --for 200ms");
    let json = String::from_utf8_lossy(&json.stdout).into_owned();
    assert!(serde_json::from_str::<Value>(json.trim()).is_ok(), "a program is shown nothing else: {json:?}");
}

#[test]
fn a_process_whose_place_was_given_up_elsewhere_stops_waiting() {
    let home = home();
    let repository = app(&home);
    repository.grant("alice", &["src/a.rs"]);
    let child = waiter(&repository, "bob", &["src/a.rs"]);
    repository.agent("bob").ok(&["wait", "--cancel"]);
    let output = child.wait_with_output().expect("the process ends");
    assert_eq!(
        (answer(&output)["error"]["slug"].as_str(), output.status.code()),
        (Some("reservation-held"), Some(1))
    );
    let error = &answer(&output)["error"];
    assert!(text(error, "message").starts_with("your place in the queue was given up meanwhile"), "{error}");
    assert!(error["hints"][0].to_string().contains("events --kind wait.ended --last 1"), "{error}");
    assert_eq!((waits(&repository).len(), ends(&repository)), (0, vec!["cancelled".to_owned()]));
}

/// A place taken with `--queue` is the agent's. A process that comes to wait at it may die without taking it along.
#[test]
fn a_place_in_the_queue_outlives_a_killed_wait() {
    let home = home();
    let repository = app(&home);
    repository.grant("alice", &["src/a.rs"]);
    let wait = repository.agent("bob").ok(&["reserve", "--queue", "src/a.rs"])["queued"].clone();
    let id = text(&wait, "id").to_owned();
    let mut child = repository.agent("bob").spawn(&["wait", &id, "--for", "10m"]);
    let pid = || repository.clearway().ok(&["waits"])["waits"][0]["pid"].clone();
    eventually("bob waits there", || pid().is_u64().then_some(()));
    child.kill().expect("a process of ours");
    child.wait().expect("it ended");
    assert!(pid().is_null(), "nobody is at it any more, and it is kept");
    let error = repository.agent("carol").fails("reservation-held", 1, &["reserve", "src/a.rs"]);
    assert_eq!(error["details"]["blockers"][0]["waiters"], 1, "{error:#}");
    repository.agent("alice").ok(&["release", "--all"]);
    let waits = repository.clearway().ok(&["waits"]);
    assert_eq!((&waits["waits"][0]["id"], &waits["waits"][0]["state"]), (&id.into(), &"offered".into()));
    repository.grant("bob", &["src/a.rs"]);
}

#[test]
fn a_person_who_waits_without_a_time_sees_how_things_stand_too() {
    let home = home();
    let repository = app(&home);
    repository.grant("alice", &["src/a.rs"]);
    let script = "clearway --agent bob reserve src/a.rs --wait & \
                  until clearway waits | grep -q bob; do :; done; \
                  clearway --agent alice release --all; wait";
    let shown = home.terminal(repository.path(), script);
    let shown = String::from_utf8_lossy(&shown.stdout).into_owned();
    assert!(shown.contains("waiting: src/a.rs is with alice (active); place 1, at most"), "{shown:?}");
    let lines = shown.split("\x1b[2K").filter(|part| part.starts_with("waiting"));
    assert!(lines.clone().count() > 0, "{shown:?}");
    for line in lines {
        assert!(line.contains("more\r\n"), "whoever interrupts has a line for the prompt: {line:?}");
    }
    assert!(shown.contains(" as bob"), "{shown:?}");
}
