//! Idempotency keys: the same request twice has one effect and one answer.

use crate::{app, each, home, list, number, text};
use clearway_testkit::eventually;

#[test]
fn the_same_key_and_request_give_the_same_answer_once_more() {
    let home = home();
    let repository = app(&home);
    let reserve =
        || repository.agent("alice").args(&["--idempotency-key", "k-1"]).ok(&["reserve", "src/a.rs"]);
    let (first, second) = (reserve(), reserve());
    assert_eq!((&first["replayed"], &second["replayed"]), (&false.into(), &true.into()));
    for field in ["id", "fence", "created_at"] {
        assert_eq!(first["leases"][0][field], second["leases"][0][field], "{field}");
    }
    assert_eq!(first["rev"], second["rev"]);
    let granted = repository.kinds().iter().filter(|kind| *kind == "lease.granted").count();
    assert_eq!(granted, 1);
}

#[test]
fn the_answer_stays_the_same_after_the_world_moved_on() {
    let home = home();
    let repository = app(&home);
    let reserve =
        || repository.agent("alice").args(&["--idempotency-key", "k-1"]).ok(&["reserve", "src/a.rs"]);
    let first = reserve();
    repository.agent("alice").ok(&["release", "--all"]);
    repository.grant("bob", &["src/a.rs"]);
    let again = reserve();
    assert_eq!((&again["leases"][0]["id"], &again["replayed"]), (&first["leases"][0]["id"], &true.into()));
    assert_eq!((&first["rev"], &first["leases"][0]["fence"]), (&again["rev"], &again["leases"][0]["fence"]));
    let notice = &list(&again, "notices")[0];
    assert_eq!((text(notice, "code"), text(notice, "state")), ("lapsed", "released"));
    assert_eq!((&notice["lease"], text(notice, "agent")), (&first["leases"][0]["id"], "bob"));
    assert!(!repository.is_clear("alice", "src/a.rs"), "a replay takes nothing");
    let said = repository.agent("alice").args(&["--idempotency-key", "k-1"]).text(&["reserve", "src/a.rs"]);
    assert!(said.contains("is over by now (released); bob holds it now"), "{said}");
}

#[test]
fn an_answer_given_once_more_says_that_its_lease_has_run_out() {
    let home = home();
    let repository = app(&home);
    let words = ["reserve", "src/a.rs", "--ttl", "1s"];
    let reserve = || repository.agent("alice").args(&["--idempotency-key", "k-1"]).ok(&words);
    assert_eq!(list(&reserve(), "notices").len(), 0);
    eventually("the lease runs out", || repository.is_clear("bob", "src/a.rs").then_some(()));
    let again = reserve();
    let notice = &list(&again, "notices")[0];
    assert_eq!((text(notice, "state"), &notice["agent"]), ("expired", &serde_json::Value::Null));
}

#[test]
fn a_key_used_for_another_request_is_refused_and_nothing_changes() {
    let home = home();
    let repository = app(&home);
    let keyed = || repository.agent("alice").args(&["--idempotency-key", "k-1"]);
    keyed().ok(&["reserve", "src/a.rs"]);
    let before = repository.events().len();
    for words in
        [&["reserve", "src/b.rs"] as &[&str], &["reserve", "src/a.rs", "--shared"], &["release", "--all"]]
    {
        keyed().fails("idempotency-mismatch", 2, words);
    }
    assert_eq!(repository.events().len(), before);
    assert!(repository.is_clear("bob", "src/b.rs") && !repository.is_clear("bob", "src/a.rs"));
}

#[test]
fn keys_of_two_agents_do_not_meet() {
    let home = home();
    let repository = app(&home);
    for (agent, file) in [("alice", "src/a.rs"), ("bob", "src/b.rs")] {
        let reply = repository.agent(agent).args(&["--idempotency-key", "k-1"]).ok(&["reserve", file]);
        assert_eq!((&reply["replayed"], list(&reply, "leases").len()), (&false.into(), 1));
    }
}

#[test]
fn a_refused_request_may_be_tried_again_with_its_key() {
    let home = home();
    let repository = app(&home);
    repository.grant("bob", &["src/a.rs"]);
    let keyed = || repository.agent("alice").args(&["--idempotency-key", "k-1"]);
    keyed().fails("reservation-held", 1, &["reserve", "src/a.rs"]);
    repository.agent("bob").ok(&["release", "--all"]);
    let reply = keyed().ok(&["reserve", "src/a.rs"]);
    assert_eq!((&reply["replayed"], list(&reply, "leases").len()), (&false.into(), 1));
}

#[test]
fn releases_and_renewals_are_replayed_too() {
    let home = home();
    let repository = app(&home);
    repository.grant("alice", &["src/a.rs"]);
    for words in [["renew"].as_slice(), ["release", "--all"].as_slice()] {
        let run = || repository.agent("alice").args(&["--idempotency-key", words[0]]).ok(words);
        let (first, second) = (run(), run());
        assert_eq!(
            (number(&first, "rev"), &second["replayed"]),
            (number(&second, "rev"), &true.into()),
            "{words:?}"
        );
        assert_eq!(first["released"], second["released"]);
    }
}

/// What an answer said when it was first given need not be so any more.
#[test]
fn a_replayed_place_or_hand_over_says_what_became_of_it() {
    let home = home();
    let repository = app(&home);
    let lease = repository.grant("alice", &["src/a.rs"]);
    repository.grant("carol", &["docs/"]);
    let queue =
        || repository.agent("bob").args(&["--idempotency-key", "q"]).ok(&["reserve", "src/a.rs", "--queue"]);
    assert_eq!(queue()["notices"], serde_json::json!([]));
    assert_eq!(queue()["notices"], serde_json::json!([]), "it waits there still");
    repository.agent("bob").ok(&["wait", "--cancel"]);
    let again = queue();
    assert_eq!(each(&again, "notices", "code"), ["wait-over"], "{again:#}");
    let hand = || {
        let words = ["transfer", "--to", "carol", text(&lease, "id")];
        repository.agent("alice").args(&["--idempotency-key", "t"]).ok(&words)
    };
    assert_eq!(hand()["notices"], serde_json::json!([]));
    repository.agent("carol").ok(&["transfer", "--to", "bob", text(&lease, "id")]);
    let again = hand();
    let told = &again["notices"][0];
    assert_eq!((text(told, "code"), text(told, "agent")), ("moved-on", "bob"), "{again:#}");
}
