//! Many processes at once: every request is answered, exactly one of those that exclude each other wins, and the
//! log tells all of it.

use crate::arena::{Arena, Reply, home};
use std::collections::BTreeSet;
use std::process::{Child, Stdio};

const CONTENDERS: usize = 30;

fn answers(children: Vec<Child>) -> Vec<Reply> {
    let replies: Vec<Reply> = children.into_iter().map(Reply::wait).collect();
    for reply in &replies {
        assert!(matches!(reply.code, 0 | 1), "neither granted nor held: {reply:?}");
        assert!(reply.code == 0 || reply.slug() == "reservation-held", "{reply:?}");
    }
    replies
}

fn winners(replies: &[Reply]) -> Vec<&Reply> {
    replies.iter().filter(|reply| reply.code == 0).collect()
}

#[test]
fn thirty_processes_in_ten_rounds_on_one_pattern_have_one_winner_each_and_an_event_for_every_outcome() {
    const ROUNDS: usize = 10;
    let home = home();
    let arena = Arena::new(&home, "storm");
    let mut last_fence = 0;
    for round in 0..ROUNDS {
        let before = if round == 0 { 0 } else { arena.history().unwrap().rev };
        let names: Vec<String> = (0..CONTENDERS).map(|number| format!("agent-{number}")).collect();
        let children = names.iter().map(|name| arena.start(name, &["reserve", "src/**"])).collect();
        let replies = answers(children);
        let winners = winners(&replies);
        assert_eq!(winners.len(), 1, "round {round}");
        let lease = &winners[0].value["leases"][0];
        assert!(lease["fence"].as_u64().unwrap() > last_fence);
        last_fence = lease["fence"].as_u64().unwrap();
        every_agent_has_its_event(&arena, before, &names, lease["agent"].as_str().unwrap());
        arena.run(lease["agent"].as_str().unwrap(), &["release", "--all"]).expect(0);
    }
    let history = arena.audited().unwrap();
    assert_eq!(history.count("lease.granted"), ROUNDS);
    assert_eq!(history.count("reservation.refused"), ROUNDS * (CONTENDERS - 1));
    assert_eq!(history.count("lease.released"), ROUNDS);
    assert_eq!(history.count("scope.opened"), 1);
    assert_eq!(history.count("agent.registered"), CONTENDERS);
}

/// Of the events after `before`, the winner has one grant and everyone else one refusal.
fn every_agent_has_its_event(arena: &Arena<'_>, before: u64, names: &[String], winner: &str) {
    let from = (before + 1).to_string();
    let lines = arena.run("auditor", &["events", "--from", &from]).expect(0).stdout;
    let events: Vec<serde_json::Value> =
        lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    for name in names {
        let own: Vec<&str> = events
            .iter()
            .filter(|event| event["agent"] == name.as_str())
            .filter_map(|event| event["kind"].as_str())
            .filter(|kind| *kind != "agent.registered")
            .collect();
        let expected = if name == winner { "lease.granted" } else { "reservation.refused" };
        assert_eq!(own, [expected], "{name}");
    }
}

#[test]
fn three_hundred_disjoint_reservations_are_three_hundred_grants() {
    const WAVES: usize = 10;
    let home = home();
    let arena = Arena::new(&home, "disjoint");
    for wave in 0..WAVES {
        let one = |number: usize| {
            let path = format!("dir-{number}/wave-{wave}.rs");
            arena.start(&format!("agent-{number}"), &["reserve", &path])
        };
        let replies = answers((0..CONTENDERS).map(one).collect());
        assert_eq!(winners(&replies).len(), CONTENDERS, "wave {wave}");
    }
    let history = arena.audited().unwrap();
    assert_eq!((history.count("lease.granted"), history.live.len()), (300, 300));
    let paths: BTreeSet<&str> = history.live.values().map(|held| held.pattern.as_str()).collect();
    assert_eq!(paths.len(), 300);
}

/// Every lease lies in a scope of its own, so that each is still recorded as live when its contenders come.
#[test]
fn sixty_times_twelve_contenders_on_a_lease_that_just_ran_out_have_one_winner_each() {
    const ROUNDS: usize = 60;
    const EACH: usize = 12;
    let home = home();
    let arenas: Vec<Arena<'_>> =
        (0..ROUNDS).map(|number| Arena::plain(&home, &format!("old-{number}"))).collect();
    for arena in &arenas {
        arena.run("old", &["reserve", "f.rs", "--ttl", "1s"]).expect(0);
    }
    for arena in &arenas {
        arena.wait_until_free("f.rs");
        let start = |number: usize| arena.start(&format!("new-{number}"), &["reserve", "f.rs"]);
        let replies = answers((0..EACH).map(start).collect());
        assert_eq!(winners(&replies).len(), 1);
        let history = arena.audited().unwrap();
        assert_eq!(history.count("lease.expired"), 1);
        assert_eq!(history.count("lease.granted"), 2);
        assert_eq!(history.count("reservation.refused"), EACH - 1);
    }
}

#[test]
fn six_sweeps_at_once_record_each_of_twenty_expiries_once() {
    const LEASES: usize = 20;
    const SWEEPS: usize = 6;
    let home = home();
    let arena = Arena::new(&home, "sweeps");
    let paths: Vec<String> = (0..LEASES).map(|number| format!("f-{number}.rs")).collect();
    let mut arguments = vec!["reserve", "--ttl", "1s"];
    arguments.extend(paths.iter().map(String::as_str));
    arena.run("old", &arguments).expect(0);
    arena.wait_until_free(&paths[LEASES - 1]);
    let sweeps: Vec<Child> =
        (0..SWEEPS).map(|number| arena.start(&format!("s-{number}"), &["sweep"])).collect();
    let mut swept = Vec::new();
    for reply in sweeps.into_iter().map(Reply::wait) {
        let reply = reply.expect(0);
        let ids = reply.value["expired"].as_array().unwrap().iter();
        swept.extend(ids.map(|id| id.as_str().unwrap().to_owned()));
    }
    let distinct: BTreeSet<&String> = swept.iter().collect();
    assert_eq!((swept.len(), distinct.len()), (LEASES, LEASES));
    let history = arena.audited().unwrap();
    assert_eq!((history.count("lease.expired"), history.count("lease.released")), (LEASES, 0));
    assert!(history.live.is_empty());
}

#[test]
fn twelve_anchors_at_once_make_one_key_and_are_all_there() {
    const ANCHORS: usize = 12;
    let home = home();
    for round in 0..3 {
        let arena = Arena::plain(&home, &format!("anchors-{round}"));
        arena.run("ada", &["reserve", "f.rs"]).expect(0);
        let terminal = clearway_testkit::Terminal::open();
        let anchor = || {
            let mut command = arena.anonymous(&["audit", "anchor"]);
            terminal.attach(&mut command);
            command.stdout(Stdio::piped()).spawn().expect("the command starts")
        };
        let children: Vec<Child> = (0..ANCHORS).map(|_| anchor()).collect();
        let replies: Vec<Reply> = children.into_iter().map(|child| Reply::wait(child).expect(0)).collect();
        let signers: BTreeSet<&str> =
            replies.iter().filter_map(|reply| reply.value["signer"].as_str()).collect();
        assert_eq!(signers.len(), 1, "{signers:?}");
        let new = replies.iter().filter(|reply| reply.value["new_key"] == true).count();
        let lines = std::fs::read_to_string(arena.store("-anchors")).unwrap().lines().count();
        assert_eq!((new, lines), (1, ANCHORS));
        arena.audited().unwrap();
    }
}

/// Each of them reads the whole store while others open it for the first time, write to it and fold its log.
#[test]
fn doctors_and_auditors_beside_writers_are_neither_hurt_nor_misled() {
    const ROUNDS: usize = 12;
    let home = home();
    let arena = Arena::plain(&home, "watched");
    arena.run("ada", &["reserve", "f.rs"]).expect(0);
    for round in 0..ROUNDS {
        let mut children = Vec::new();
        for number in 0..5 {
            let path = format!("f-{round}-{number}.rs");
            children.push(arena.start(&format!("w-{number}"), &["reserve", &path]));
            children.push(arena.start("doctor", &["doctor"]));
            children.push(arena.start("auditor", &["audit", "verify"]));
        }
        for child in children {
            Reply::wait(child).expect(0);
        }
    }
    assert_eq!(arena.audited().unwrap().count("lease.granted"), 1 + 5 * ROUNDS);
}
