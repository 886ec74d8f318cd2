//! Waiting: places in the queue, turns, and how they end.

use crate::{app, each, home, list, number, open_store, text};
use clearway_testkit::{Clearway, Home, Repository, Terminal, eventually};
use serde_json::Value;
use std::process::{Child, Output};

/// Far longer than any test takes.
const LONG: &str = "10m";
/// The shortest time there is to wait.
const A_MOMENT: &str = "100ms";

/// Asks for a place: the place.
#[track_caller]
fn queue(repository: &Repository<'_>, agent: &str, words: &[&str]) -> Value {
    let reply = repository.agent(agent).ok(&[&["reserve", "--queue"], words].concat());
    assert!(list(&reply, "leases").is_empty() && reply["queued"].is_object(), "{reply}");
    reply["queued"].clone()
}

/// A process that waits, once the others can see that it does.
fn waiter(repository: &Repository<'_>, agent: &str, words: &[&str]) -> Child {
    let line = [&["--json", "reserve", "--wait", LONG], words].concat();
    let child = repository.agent(agent).spawn(&line);
    eventually("the process has its place", || {
        let waits = waits(repository);
        waits.iter().any(|wait| wait["pid"] == child.id()).then_some(())
    });
    child
}

fn waits(repository: &Repository<'_>) -> Vec<Value> {
    list(&repository.clearway().ok(&["waits"]), "waits").to_vec()
}

fn answer(output: &Output) -> Value {
    assert_eq!(String::from_utf8_lossy(&output.stderr), "", "nothing is said while waiting");
    serde_json::from_slice(&output.stdout).expect("one JSON document")
}

fn done(child: Child) -> Value {
    answer(&child.wait_with_output().expect("the process ends"))
}

/// The agents that were granted something, in order.
fn granted(repository: &Repository<'_>) -> Vec<String> {
    let events = repository.events().into_iter().filter(|event| event["kind"] == "lease.granted");
    events.map(|event| text(&event, "agent").to_owned()).collect()
}

/// How the waits ended, in order.
fn ends(repository: &Repository<'_>) -> Vec<String> {
    let events = repository.events().into_iter().filter(|event| event["kind"] == "wait.ended");
    events.map(|event| text(&event["data"], "cause").to_owned()).collect()
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
    keyed("k2").fails("not-found", 5, &["wait", &id]);
    repository.agent("bob").fails("not-found", 5, &["wait", &id]);
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
