//! Whose turn it is.

use super::{LONG, done, ends, granted, queue, waiter, waits};
use crate::{app, each, home, list, number, open_store, text};
use clearway_testkit::Home;
use serde_json::Value;
use std::process::Child;

#[test]
fn whoever_came_first_is_served_first() {
    let home = home();
    let repository = app(&home);
    repository.grant("alice", &["src/a.rs"]);
    let children: Vec<(&str, Child)> =
        ["b", "c", "d"].map(|agent| (agent, waiter(&repository, agent, &["src/a.rs"]))).into();
    repository.agent("alice").ok(&["release", "--all"]);
    for (agent, child) in children {
        assert_eq!(done(child)["leases"][0]["agent"], agent);
        repository.agent(agent).ok(&["release", "--all"]);
    }
    assert_eq!(granted(&repository), ["alice", "b", "c", "d"]);
}

#[test]
fn nobody_takes_what_somebody_else_has_the_turn_for() {
    let home = home();
    let repository = app(&home);
    repository.grant("alice", &["src/a.rs"]);
    let place = queue(&repository, "bob", &["src/a.rs"]);
    repository.agent("alice").ok(&["release", "--all"]);
    let offered = &waits(&repository)[0];
    assert_eq!((text(offered, "state"), &offered["id"]), ("offered", &place["id"]));
    assert!(number(offered, "offer_left_ms") > 0);
    let error = repository.agent("dave").fails("reservation-held", 1, &["reserve", "src/"]);
    assert_eq!(list(&error["details"], "blockers").len(), 0, "nobody holds it: {error}");
    let ahead = &error["details"]["ahead"][0];
    assert_eq!((&ahead["agent"], &ahead["offered"]), (&"bob".into(), &true.into()));
    assert!(text(&error, "message").contains("bob has the turn for src/a.rs"), "{error}");
    assert!(!repository.is_clear("dave", "src/a.rs") && repository.is_clear("bob", "src/a.rs"));
    let best = repository.agent("dave").ok(&["reserve", "src/a.rs", "main.rs", "--best-effort"]);
    assert_eq!(best["refused"][0]["ahead"][0]["agent"], "bob");
    let reply = repository.agent("bob").ok(&["wait"]);
    assert_eq!(reply["leases"][0]["pattern"], "src/a.rs");
    assert_eq!(ends(&repository), ["granted"]);
}

/// A test cannot move the clock on, so it moves the end of the offer back.
fn let_offers_lapse(home: &Home) {
    let moved = open_store(home)
        .execute("UPDATE waits SET offered_until = 1 WHERE offered_until IS NOT NULL", [])
        .expect("a row of ours");
    assert_eq!(moved, 1, "one offer at a time");
}

#[test]
fn a_turn_that_is_not_taken_passes_on_and_twice_is_enough() {
    let home = home();
    let repository = app(&home);
    repository.grant("alice", &["src/a.rs"]);
    queue(&repository, "bob", &["src/a.rs"]);
    queue(&repository, "carol", &["src/a.rs"]);
    repository.agent("alice").ok(&["release", "--all"]);
    let turns = || {
        let offered = waits(&repository).into_iter().filter(|wait| wait["state"] == "offered");
        offered.map(|wait| text(&wait, "agent").to_owned()).collect::<Vec<_>>()
    };
    let mut seen = vec![turns()];
    for _ in 0..2 {
        let_offers_lapse(&home);
        repository.clearway().ok(&["sweep"]);
        seen.push(turns());
    }
    assert_eq!(seen, [["bob"], ["carol"], ["bob"]]);
    let_offers_lapse(&home);
    let reply = repository.agent("carol").ok(&["wait"]);
    assert_eq!((&reply["leases"][0]["agent"], ends(&repository)[0].as_str()), (&"carol".into(), "lapsed"));
}

#[test]
fn readers_that_come_later_wait_behind_a_writer() {
    let home = home();
    let repository = app(&home);
    repository.grant("r1", &["src/a.rs", "--shared"]);
    let writer = waiter(&repository, "w", &["src/a.rs"]);
    let error = repository.agent("r2").fails("reservation-held", 1, &["reserve", "src/a.rs", "--shared"]);
    assert_eq!(error["details"]["ahead"][0]["agent"], "w", "{error}");
    let reader = waiter(&repository, "r2", &["src/a.rs", "--shared"]);
    repository.agent("r1").ok(&["release", "--all"]);
    assert_eq!(done(writer)["leases"][0]["mode"], "exclusive");
    repository.agent("w").ok(&["release", "--all"]);
    assert_eq!(done(reader)["leases"][0]["mode"], "shared");
    assert_eq!(granted(&repository), ["r1", "w", "r2"]);
}

#[test]
fn an_upgrade_goes_before_those_who_wait_and_a_second_one_is_refused_at_once() {
    let home = home();
    let repository = app(&home);
    repository.grant("a", &["src/a.rs", "--shared"]);
    repository.grant("b", &["src/a.rs", "--shared"]);
    queue(&repository, "w", &["src/a.rs"]);
    let upgrade = waiter(&repository, "b", &["src/a.rs"]);
    for words in [["reserve", "src/a.rs", "--queue"].as_slice(), &["reserve", "src/a.rs", "--wait", LONG]] {
        let error = repository.agent("a").fails("would-deadlock", 1, words);
        assert_eq!(each(&error["details"], "cycle", "agent"), ["a", "b"], "{error}");
    }
    repository.agent("a").ok(&["release", "--all"]);
    assert_eq!(done(upgrade)["leases"][0]["mode"], "exclusive");
    assert_eq!(each(&repository.clearway().ok(&["waits"]), "waits", "agent"), ["w"]);
}

#[test]
fn a_downgrade_lets_waiting_readers_in_and_keeps_writers_out() {
    let home = home();
    let repository = app(&home);
    repository.grant("a", &["src/a.rs"]);
    let reader = waiter(&repository, "r", &["src/a.rs", "--shared"]);
    queue(&repository, "w", &["src/a.rs"]);
    repository.grant("a", &["src/a.rs", "--shared"]);
    assert_eq!(done(reader)["leases"][0]["agent"], "r");
    let waiting = &waits(&repository)[0];
    assert_eq!((&waiting["agent"], text(waiting, "state")), (&"w".into(), "waiting"));
}

#[test]
fn three_that_would_wait_for_each_other_are_found_when_the_third_asks() {
    let home = home();
    let repository = app(&home);
    for (agent, path) in [("a", "x"), ("b", "y"), ("c", "z")] {
        repository.grant(agent, &[path]);
    }
    queue(&repository, "a", &["y"]);
    let waiting = waiter(&repository, "b", &["z"]);
    let events = repository.events().len();
    let error = repository.agent("c").fails("would-deadlock", 1, &["reserve", "x", "--wait", LONG]);
    let cycle = list(&error["details"], "cycle");
    let told: Vec<(&str, &str, &str)> =
        cycle.iter().map(|step| (text(step, "agent"), text(step, "waits_for"), text(step, "of"))).collect();
    assert_eq!(told, [("c", "x", "a"), ("a", "y", "b"), ("b", "z", "c")]);
    let yielder = &error["details"]["yielder"];
    assert_eq!((&yielder["agent"], &yielder["pattern"]), (&"c".into(), &"z".into()), "the youngest lease");
    assert!(text(&error, "message").contains("c waits for x of a, a waits for y of b"), "{error}");
    let hint = format!("clearway --agent c release {}", text(yielder, "lease"));
    assert!(list(&error, "hints")[0].as_str().is_some_and(|text| text.ends_with(&hint)), "{error}");
    let kinds = repository.kinds();
    assert_eq!(kinds[events..], ["reservation.refused"], "nothing is left of it");
    repository.agent("d").ok(&["reserve", "x", "--queue"]);
    repository.agent("c").ok(&["release", text(yielder, "lease")]);
    assert_eq!(done(waiting)["leases"][0]["pattern"], "z", "the hint helps");
}

#[test]
fn several_things_are_waited_for_together_and_none_is_held_meanwhile() {
    let home = home();
    let repository = app(&home);
    repository.grant("alice", &["src/a.rs"]);
    repository.grant("eve", &["docs/"]);
    let words = ["src/a.rs", "main.rs", "docs/x.md", "--kind", "write-set"];
    let child = waiter(&repository, "bob", &words);
    assert_eq!(list(&repository.clearway().ok(&["leases"]), "leases").len(), 2, "a wait holds nothing");
    assert!(!repository.is_clear("dave", "main.rs"), "yet nobody takes a part of it");
    repository.agent("alice").ok(&["release", "--all"]);
    repository.agent("eve").ok(&["release", "--all"]);
    let reply = done(child);
    assert_eq!(list(&reply, "leases").len(), 3);
    let sets: Vec<&Value> = list(&reply, "leases").iter().map(|lease| &lease["set_id"]).collect();
    assert!(sets[0].is_string() && sets.iter().all(|set| *set == sets[0]), "one set: {reply}");
}

/// Of a wait for several things, the one in the way is named.
#[test]
fn whoever_stands_behind_a_wait_is_told_what_of_it_is_in_the_way() {
    let home = home();
    let repository = app(&home);
    repository.grant("alice", &["--kind", "name", "m1"]);
    queue(&repository, "bob", &["--kind", "name", "m1", "m2"]);
    let asked = repository.agent("carol").json(&["check", "--kind", "name", "m2"]).expect(1).value();
    assert_eq!(asked["ahead"][0]["pattern"], "m2", "{asked}");
}

#[test]
fn who_would_wait_for_ever_is_not_told_to_wait() {
    let home = home();
    let repository = app(&home);
    for name in ["alice", "bob"] {
        repository.agent(name).ok(&["reserve", "--shared", "src/a.rs"]);
    }
    queue(&repository, "bob", &["src/a.rs"]);
    let error = repository.agent("alice").fails("reservation-held", 1, &["reserve", "src/a.rs"]);
    let hints = error["hints"].to_string();
    assert!(hints.contains("clearway --agent alice release") && !hints.contains("--wait"), "{hints}");
    let error = repository.agent("carol").fails("reservation-held", 1, &["reserve", "src/a.rs"]);
    assert!(error["hints"].to_string().contains("--wait"), "{error:#}");
}

#[test]
fn the_way_out_of_several_circles_is_out_of_all_of_them() {
    let home = home();
    let repository = app(&home);
    for name in ["ada", "bob"] {
        repository.grant(name, &["--shared", "docs/"]);
    }
    repository.grant("bob", &["src/b.rs"]);
    for wanted in ["src/b.rs", "docs/"] {
        repository.agent("ada").ok(&["reserve", "--queue", wanted]);
    }
    let queue = ["reserve", "--queue", "docs/"];
    let error = repository.agent("bob").fails("would-deadlock", 1, &queue);
    let hint = error["hints"][0].as_str().expect("a hint");
    let (said, command) = hint.rsplit_once(": clearway ").expect("a command");
    assert!(said.contains("src/b.rs") && said.contains("docs/"), "{error}");
    let words: Vec<&str> = command.split(' ').collect();
    repository.clearway().ok(&words);
    repository.agent("bob").ok(&queue);
}
