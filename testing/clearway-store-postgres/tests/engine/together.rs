//! Several connections at once.

use crate::support::{Actor, granted, scope, server};
use clearway_core::ids::Seq;
use clearway_store::contract::{Engine, StoreError};
use std::sync::{Barrier, Mutex};
use std::time::Duration;

const CONTENDERS: usize = 6;
const ROUNDS: usize = 10;

#[test]
fn of_many_connections_that_want_the_same_one_wins_each_round() {
    let server = server();
    let (barrier, answers) = (Barrier::new(CONTENDERS), Mutex::new(vec![Vec::new(); ROUNDS]));
    std::thread::scope(|threads| {
        for number in 0..CONTENDERS {
            let (server, barrier, answers) = (&server, &barrier, &answers);
            threads.spawn(move || {
                let mut actor = Actor::new(server, &format!("contender-{number}"));
                for round in 0..ROUNDS {
                    barrier.wait();
                    // Nobody may leave the others waiting: what went wrong is looked at in the end.
                    let won = actor.reserve("src/**", None).map(granted);
                    let answer = won.as_ref().map(Option::is_some).map_err(ToString::to_string);
                    answers.lock().unwrap()[round].push(answer);
                    barrier.wait();
                    let given_back = won.ok().flatten().map(|lease| actor.release(&lease));
                    answers.lock().unwrap()[round].extend(given_back.and_then(Result::err).map(Err));
                }
            });
        }
    });
    for answers in answers.into_inner().unwrap() {
        let won: Vec<bool> = answers.into_iter().collect::<Result<_, _>>().unwrap();
        assert_eq!(won.iter().filter(|won| **won).count(), 1, "of {}", won.len());
    }
    let mut reader = Actor::new(&server, "reader");
    assert_eq!(reader.count("lease.granted"), ROUNDS);
    assert_eq!(reader.count("agent.registered"), CONTENDERS, "each is registered once");
}

#[test]
fn a_wait_for_another_writer_is_bounded_and_names_it() {
    let server = server();
    let mut holder = Actor::new(&server, "holder");
    let turn = holder.engine.begin(&scope(), true).unwrap();
    let mut other = Actor::at(server.directory(), "other", Duration::from_millis(50));
    match other.reserve("f", None) {
        Err(StoreError::Busy { waited_ms: 50, holders }) => {
            let named = format!("clearway pid {}", std::process::id());
            assert!(holders.len() == 1 && holders[0].to_string().starts_with(&named), "{holders:?}");
        }
        answer => panic!("{answer:?}"),
    }
    drop(turn);
    other.grant("f");
}

#[test]
fn a_reader_waits_for_nobody_and_sees_nothing_unfinished() {
    let server = server();
    let (mut writer, mut reader) = (Actor::new(&server, "writer"), Actor::new(&server, "reader"));
    writer.grant("f");
    let before = reader.kinds();
    let mut turn = writer.engine.begin(&scope(), true).unwrap().unwrap();
    let first = turn.events(Seq(0), 1).unwrap().remove(0);
    let next = Seq(before.len() as u64 + 1);
    turn.append(&clearway_store::contract::StoredEvent { seq: next, ..first }).unwrap();
    assert_eq!(turn.events(Seq(before.len() as u64), 9).unwrap().len(), 1, "the writer sees its own");
    assert_eq!(reader.kinds(), before);
}

#[test]
fn a_follower_is_told_that_the_scope_moved() {
    let server = server();
    let (mut writer, mut follower) = (Actor::new(&server, "writer"), Actor::new(&server, "follower"));
    writer.grant("f");
    let rev = Seq(writer.kinds().len() as u64);
    assert!(!follower.engine.changed(&scope(), rev, 0).unwrap());
    std::thread::scope(|threads| {
        let waiting = threads.spawn(|| follower.engine.changed(&scope(), rev, 600_000).unwrap());
        writer.grant("g");
        assert!(waiting.join().unwrap());
    });
}
