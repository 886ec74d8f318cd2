//! Who gets a place in the queue, and what is said of it.

use super::{A_MOMENT, LONG, done, queue, waiter, waits};
use crate::{app, each, home, list, number, text};
use clearway_testkit::{Clearway, eventually};
use serde_json::Value;

#[test]
fn who_is_in_the_way_of_those_who_wait_alone_is_not_told_to_ask_at_once() {
    let home = home();
    let repository = app(&home);
    repository.grant("alice", &["--shared", "docs/"]);
    queue(&repository, "bob", &["docs/"]);
    let refused =
        repository.agent("carol").fails("reservation-held", 1, &["reserve", "--shared", "docs/x.md"]);
    assert_eq!(refused["retry"], serde_json::json!({"when": "after", "ms": 30_000}), "{refused}");
}

#[test]
fn a_request_that_cannot_be_granted_keeps_a_place_and_says_who_is_in_the_way() {
    let home = home();
    let repository = app(&home);
    let held = repository.grant("alice", &["src/"]);
    let place = queue(&repository, "bob", &["src/a.rs", "--reason", "the parser"]);
    assert_eq!((number(&place, "position"), text(&place, "state")), (1, "waiting"));
    assert_eq!(each(&place, "blockers", "id"), [text(&held, "id")]);
    assert_eq!((&place["reason"], &place["pid"]), (&"the parser".into(), &Value::Null));
    let events = repository.events().len();
    assert_eq!(queue(&repository, "bob", &["src/a.rs"])["id"], place["id"], "asking again is the same place");
    assert_eq!(repository.events().len(), events, "and no event");
    let behind = queue(&repository, "carol", &["src/"]);
    assert_eq!((number(&behind, "position"), &behind["ahead"][0]["agent"]), (2, &"bob".into()));
    let apart = queue(&repository, "dave", &["src/b.rs"]);
    assert_eq!(apart["ahead"][0]["agent"], "carol", "a place is among those in each other's way");
    assert_eq!(number(&apart, "position"), 2);
}

#[test]
fn what_is_free_is_granted_at_once_however_one_would_have_waited() {
    let home = home();
    let repository = app(&home);
    for flag in ["--queue", "--wait"] {
        let reply = repository.agent("bob").ok(&["reserve", "src/a.rs", flag]);
        assert_eq!((list(&reply, "leases").len(), &reply["queued"]), (1, &Value::Null));
    }
    assert!(!repository.kinds().contains(&"wait.began".to_owned()));
}

#[test]
fn everybody_sees_who_waits_for_what() {
    let home = home();
    let repository = app(&home);
    let held = repository.grant("alice", &["src/a.rs"]);
    let place = queue(&repository, "bob", &["src/"]);
    let child = waiter(&repository, "carol", &["src/a.rs"]);
    let who = repository.clearway().ok(&["who", "src/a.rs"]);
    assert_eq!(each(&who, "waiters", "agent"), ["bob", "carol"]);
    assert_eq!(number(&who["holders"][0], "waiters"), 2);
    assert_eq!(each(&repository.clearway().ok(&["who", "main.rs"]), "waiters", "agent"), [""; 0]);
    assert_eq!(number(&repository.clearway().ok(&["leases"])["leases"][0], "waiters"), 2);
    let agents = repository.clearway().ok(&["agents"]);
    let waiting: Vec<u64> = list(&agents, "agents").iter().map(|agent| number(agent, "waiting")).collect();
    assert_eq!(waiting, [0, 1, 1]);
    let status = repository.clearway().ok(&["status"]);
    assert_eq!(each(&status, "waits", "agent"), ["bob", "carol"]);
    let people = repository.clearway().text(&["status"]);
    assert!(people.contains(text(&place, "id")) && people.contains("2 waits"), "{people}");
    assert!(people.contains(&format!("process {} waits", child.id())), "{people}");
    let terse = repository.agent("bob").text(&["status"]);
    assert!(terse.contains("you wait for: src/** (place 1)"), "{terse}");
    repository.agent("alice").ok(&["release", text(&held, "id")]);
    let turn = repository.agent("bob").text(&["status"]);
    assert!(turn.ends_with(&format!("\nnext: clearway --agent bob wait {}\n", text(&place, "id"))), "{turn}");
    let listed = repository.clearway().ok(&["waits", "--agent-name", "carol"]);
    assert_eq!(list(&listed, "waits").len(), 1);
    repository.agent("bob").ok(&["wait", "--cancel"]);
    assert_eq!(done(child)["leases"][0]["agent"], "carol");
}

#[test]
fn a_key_gives_a_repeated_request_one_place_and_then_one_grant() {
    let home = home();
    let repository = app(&home);
    repository.grant("alice", &["src/a.rs"]);
    let ask = |how: &[&str]| {
        let words = [&["--idempotency-key", "k-1", "reserve", "src/a.rs"], how].concat();
        repository.agent("bob").ok(&words)
    };
    let first = ask(&["--queue"]);
    assert_eq!((&first["replayed"], first["queued"].is_object()), (&false.into(), true));
    let second = ask(&["--wait", A_MOMENT]);
    assert_eq!((&second["queued"]["id"], &second["replayed"]), (&first["queued"]["id"], &false.into()));
    repository.agent("alice").ok(&["release", "--all"]);
    let granted = ask(&["--wait", LONG]);
    assert_eq!((list(&granted, "leases").len(), &granted["replayed"]), (1, &false.into()));
    for how in [&["--queue"][..], &["--wait"], &[]] {
        let again = ask(how);
        assert_eq!(
            (&again["leases"][0]["id"], &again["replayed"]),
            (&granted["leases"][0]["id"], &true.into())
        );
    }
    let other = ["--idempotency-key", "k-1", "reserve", "main.rs", "--queue"];
    repository.agent("bob").fails("idempotency-mismatch", 2, &other);
}

#[test]
fn in_another_worktree_the_same_path_is_another_and_a_name_is_the_same() {
    let home = home();
    let repository = app(&home);
    let tree = home.path().join("home/tree");
    repository.git(&["worktree", "add", "-q", tree.to_str().expect("text")]);
    let there = |agent: &str| home.clearway(&tree).agent(agent);
    repository.grant("alice", &["src/a.rs"]);
    queue(&repository, "bob", &["src/a.rs"]);
    assert_eq!(list(&there("carol").ok(&["reserve", "src/a.rs"]), "leases").len(), 1);
    repository.grant("alice", &["--kind", "name", "build"]);
    queue(&repository, "bob", &["--kind", "name", "build"]);
    let reply = there("carol").ok(&["reserve", "--kind", "name", "build", "--queue"]);
    assert_eq!(reply["queued"]["ahead"][0]["agent"], "bob");
}

#[test]
fn an_agent_has_so_many_places_and_no_more() {
    let home = home();
    let repository = app(&home);
    repository.grant("alice", &["d/"]);
    for number in 0..64 {
        queue(&repository, "bob", &[&format!("d/{number}")]);
    }
    let error = repository.agent("bob").fails("quota-exceeded", 3, &["reserve", "d/more", "--queue"]);
    assert!(text(&error, "message").contains("at most 64"), "{error}");
    assert_eq!(waits(&repository).len(), 64);
    queue(&repository, "carol", &["d/more"]);
    repository.agent("bob").ok(&["wait", "--cancel"]);
    assert_eq!(waits(&repository).len(), 1);
}

/// What is refused with which slug, and what a hint has to say. Nothing of it takes a place.
#[test]
fn what_makes_no_sense_is_refused_with_a_hint_and_takes_no_place() {
    let home = home();
    let repository = app(&home);
    repository.grant("alice", &["src/a.rs"]);
    let events = repository.events().len();
    let bob = || -> Clearway { repository.agent("bob") };
    for (slug, words, hint) in [
        ("invalid-duration", ["reserve", "src/a.rs", "--wait", "0"].as_slice(), "--queue"),
        ("invalid-duration", &["reserve", "src/a.rs", "--wait", "0s"], "--queue"),
        ("invalid-duration", &["reserve", "src/a.rs", "--wait", "25h"], "--queue"),
        ("invalid-duration", &["reserve", "src/a.rs", "--wait", "1ms"], "--queue"),
        ("invalid-duration", &["reserve", "src/a.rs", "--wait", "99999999999999999999d"], "15m"),
        ("invalid-duration", &["reserve", "src/a.rs", "--wait="], "15m"),
        ("invalid-duration", &["reserve", "src/a.rs", "--wait=-5s"], "15m"),
        ("invalid-duration", &["reserve", "src/a.rs", "--wait", "-5"], "15m"),
        ("invalid-duration", &["reserve", "--wait", "-5m", "src/a.rs"], "15m"),
        ("invalid-duration", &["--timeout", "-5s", "reserve", "src/a.rs"], "15m"),
        ("usage", &["reserve", "src/a.rs", "--wait", "-x"], "clearway help reserve"),
        (
            "invalid-duration",
            &["reserve", "src/b.rs", "--wait", "src/a.rs"],
            "clearway --agent bob reserve --wait 5m PATTERN",
        ),
        ("usage", &["reserve", "--wait", "src/a.rs"], "clearway --agent bob reserve --wait 5m src/a.rs"),
        ("usage", &["reserve", "src/a.rs", "--wait", "--best-effort"], "clearway help reserve"),
        ("usage", &["reserve", "src/a.rs", "--queue", "--best-effort"], "clearway help reserve"),
        ("invalid-duration", &["wait", "--for", "0"], "your place is kept"),
        ("usage", &["wait", "--for", "5m", "--cancel"], "clearway help wait"),
        ("usage", &["wait", "--reason", "x"], "clearway help wait"),
        ("invalid-id", &["wait", "nonsense!"], "clearway --agent bob waits"),
        ("invalid-id", &["wait", "--cancel", "nonsense!"], "clearway --agent bob waits"),
    ] {
        let error = bob().fails(slug, 2, words);
        let hints = list(&error, "hints").iter().filter_map(Value::as_str);
        assert!(hints.into_iter().any(|text| text.contains(hint)), "{words:?}: {error}");
    }
    bob().fails("not-found", 5, &["wait"]);
    bob().fails("not-found", 5, &["wait", "00000000"]);
    bob().fails("not-found", 5, &["wait", "--cancel", "00000000"]);
    assert_eq!((repository.events().len(), waits(&repository).len()), (events, 0));
}

#[test]
fn a_refusal_counts_neither_the_caller_nor_the_dead_among_those_who_wait() {
    let home = home();
    let repository = app(&home);
    repository.grant("alice", &["src/a.rs"]);
    repository.agent("bob").ok(&["reserve", "--queue", "src/a.rs"]);
    let waiters = |agent: &str| repository.blockers(agent, &["src/a.rs"])[0]["waiters"].clone();
    assert_eq!(waiters("bob"), 0);
    repository.agent("bob").ok(&["wait", "--cancel"]);
    let mut child = repository.agent("dave").spawn(&["reserve", "--wait", "10m", "src/a.rs"]);
    eventually("dave waits", || (waiters("carol") == 1).then_some(()));
    child.kill().expect("a process of ours");
    child.wait().expect("it ended");
    assert_eq!(waiters("carol"), 0);
}

#[test]
fn a_wait_is_answered_again_under_its_key_after_it_was_granted() {
    let home = home();
    let repository = app(&home);
    let held = repository.grant("alice", &["src/a.rs"]);
    let wait = repository.agent("bob").ok(&["reserve", "--queue", "src/a.rs"])["queued"].clone();
    let id = text(&wait, "id").to_owned();
    repository.agent("alice").ok(&["release", text(&held, "id")]);
    let keyed = |key: &str| repository.agent("bob").args(&["--idempotency-key", key]);
    let first = keyed("k1").ok(&["wait", &id]);
    for words in [["wait"].as_slice(), &["wait", &id], &["wait", "--for", "5m"]] {
        let again = keyed("k1").ok(words);
        assert_eq!(
            (&again["replayed"], &again["leases"][0]["id"]),
            (&true.into(), &first["leases"][0]["id"])
        );
    }
    for bob in [keyed("k2"), repository.agent("bob")] {
        assert_eq!(bob.ok(&["wait", &id])["leases"][0]["id"], first["leases"][0]["id"], "it holds that");
    }
    repository.grant("alice", &["main.rs"]);
    let other = repository.agent("bob").ok(&["reserve", "--queue", "main.rs"])["queued"].clone();
    for words in [["wait"].as_slice(), &["wait", &id]] {
        assert_eq!(
            keyed("k1").ok(words)["leases"][0]["id"],
            first["leases"][0]["id"],
            "another place or not"
        );
    }
    keyed("k1").fails("idempotency-mismatch", 2, &["wait", text(&other, "id"), "--for", "1s"]);
    let grants = repository.kinds().into_iter().filter(|kind| kind == "lease.granted").count();
    assert_eq!(grants, 3, "alice's two and one of bob's");
}
