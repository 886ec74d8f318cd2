//! The log itself.

use super::Story;
use super::stage::*;
use crate::contract::Head;
use crate::verify::{Mark, verify};
use clearway_core::agent::Caller;
use clearway_core::command::Command;
use clearway_core::ids::{ScopeKey, Seq};
use clearway_wire::canonical;
use clearway_wire::chain::ChainHash;

pub(super) const STORIES: &[Story] = &[
    ("a scope is begun once, by nobody in particular and without asking for anything", begun),
    ("events are gap-free and each hash follows from the one before", chained),
    ("a read that changes nothing moves no revision", reads_are_free),
    ("a dropped transaction leaves nothing behind", dropped),
    ("a log that a mark remembers differently, or longer, is broken", marks),
    ("a store tells which scopes were written to", scopes),
];

fn begun(stage: &mut Stage) {
    let swept = stage.execute(&Caller::default(), Command::Sweep, None);
    assert_eq!(swept.rev.0, 0, "nothing is begun by looking after it");
    for _ in 0..2 {
        let reply = stage.execute(&Caller::default(), Command::Open, None);
        assert!(reply.outcome.is_ok(), "{reply:?}");
        assert_eq!((reply.rev.0, stage.agents()), (2, 0), "the scope and its epoch, and nobody in it");
    }
}

fn scopes(stage: &mut Stage) {
    let (scope, other) = (stage.scope.clone(), ScopeKey::machine());
    stage.check(&named("a"), &[path("f")], &How::default());
    assert_eq!(stage.engine.scopes(), Ok(Vec::new()));
    for (at, key) in [scope.clone(), other.clone()].into_iter().enumerate() {
        assert_eq!(stage.engine.has(&key), Ok(false));
        stage.scope = key.clone();
        stage.grant("a", "f", How::default());
        assert_eq!(
            (stage.engine.has(&key), stage.engine.scopes().map(|keys| keys.len())),
            (Ok(true), Ok(at + 1))
        );
    }
    assert_eq!(stage.engine.scopes(), Ok(vec![other, scope]));
}

fn chained(stage: &mut Stage) {
    for number in 0..30 {
        stage.grant("a", &format!("f{}", number % 7), ttl(2_000));
        stage.refused("b", &format!("f{}", number % 7), How::default());
        stage.pass(1_500);
    }
    let mut hash = ChainHash::GENESIS;
    let scope = stage.scope.clone();
    for (index, event) in stage.stored_events().into_iter().enumerate() {
        assert_eq!(event.seq, Seq(index as u64 + 1));
        hash = hash.next(&scope, event.seq, &event.bytes);
        assert_eq!(event.hash, hash);
    }
    for event in stage.events() {
        let bytes = canonical::encode(&event);
        assert_eq!(stage.stored_events()[event.seq.0 as usize - 1].bytes, bytes, "bytes are canonical");
    }
}

fn reads_are_free(stage: &mut Stage) {
    stage.grant("a", "f", ttl(1_000));
    stage.pass(5_000);
    let before = stage.stored_events();
    for _ in 0..10 {
        stage.check(&named("b"), &[path("f")], &How::default());
        stage.stored();
    }
    assert_eq!(stage.stored_events(), before);
}

fn dropped(stage: &mut Stage) {
    stage.grant("a", "f", How::default());
    let before = stage.stored_events();
    let scope = stage.scope.clone();
    let mut transaction = stage.engine.begin(&scope, true).unwrap().unwrap();
    let stored = before[0].clone();
    transaction
        .append(&crate::contract::StoredEvent { seq: Seq(before.len() as u64 + 1), ..stored })
        .unwrap();
    drop(transaction);
    assert_eq!(stage.stored_events(), before);
    stage.grant("b", "g", How::default());
}

fn marks(stage: &mut Stage) {
    stage.grant("a", "f", How::default());
    stage.grant("a", "g", How::default());
    let scope = stage.scope.clone();
    let events = stage.stored_events();
    let mut verdict = |head: Head| {
        let mark = Mark { head, by: "a mark".to_owned() };
        let mut snapshot = stage.engine.snapshot(&scope).unwrap().unwrap();
        verify(&mut *snapshot, &scope, &[mark]).unwrap().broken.map(|broken| broken.seq)
    };
    let last = events.last().unwrap();
    assert_eq!(verdict(Head { rev: last.seq, hash: last.hash }), None);
    assert_eq!(verdict(Head { rev: events[2].seq, hash: last.hash }), Some(Seq(3)), "rewritten");
    assert_eq!(verdict(Head { rev: Seq(99), hash: last.hash }), Some(last.seq.next()), "rolled back");
}
