//! Canonical bytes: every value has one encoding and reads back, nothing else is accepted, nothing panics.

#![allow(clippy::disallowed_methods, reason = "seeds for fuzzing are files")]

mod strategies;

use clearway_core::decide::Success;
use clearway_core::event::{Actor, Body, Event};
use clearway_core::ids::{ScopeKey, Seq};
use clearway_core::pattern::Fold;
use clearway_core::time::Wall;
use clearway_wire::chain::ChainHash;
use clearway_wire::{DecodeError, canonical, outcome};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use strategies::{event, success};

/// Every bit flipped, every cut, and something put in or repeated at every place.
fn mutations(bytes: &[u8]) -> impl Iterator<Item = Vec<u8>> {
    let flip = move |bit: usize| {
        let mut flipped = bytes.to_vec();
        flipped[bit / 8] ^= 1 << (bit % 8);
        flipped
    };
    let insert = move |at: usize| [&bytes[..at], &[at as u8], &bytes[at..]].concat();
    let repeat = move |at: usize| [bytes, &bytes[at..]].concat();
    let places = || 0..bytes.len();
    let flips = (0..bytes.len() * 8).map(flip);
    flips
        .chain(places().map(move |at| bytes[..at].to_vec()))
        .chain(places().map(insert))
        .chain(places().map(repeat))
}

fn cases(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

/// One value has one encoding. Answers of an earlier version are read, and written as those of the last.
fn is_one_encoding(bytes: &[u8], read: &Success) -> bool {
    let own = outcome::encode(read);
    own == bytes || bytes[0] < own[0]
}

proptest! {
    #![proptest_config(cases(512))]

    #[test]
    fn an_event_reads_back(event in event()) {
        let bytes = canonical::encode(&event);
        prop_assert_eq!(canonical::decode(event.seq, &bytes, Fold::Exact), Ok(event));
    }

    #[test]
    fn an_outcome_reads_back(success in success()) {
        prop_assert_eq!(outcome::decode(&outcome::encode(&success), Fold::Exact), Ok(success));
    }

    #[test]
    fn any_bytes_are_answered(bytes in vec(any::<u8>(), 0..200), version in 0_u8..=2) {
        let versioned: Vec<u8> = std::iter::once(version).chain(bytes.iter().copied()).collect();
        for bytes in [bytes, versioned] {
            if let Ok(read) = canonical::decode(Seq(1), &bytes, Fold::Exact) {
                prop_assert_eq!(canonical::encode(&read), bytes);
            } else if let Ok(read) = outcome::decode(&bytes, Fold::Exact) {
                prop_assert!(is_one_encoding(&bytes, &read));
            }
        }
    }

    #[test]
    fn a_newer_version_is_refused_whatever_follows(event in event(), success in success(), newer in 3_u8..) {
        let (mut bytes, mut answer) = (canonical::encode(&event), outcome::encode(&success));
        (bytes[0], answer[0]) = (newer, newer);
        let refused = |known| DecodeError::Newer { found: newer, known };
        prop_assert_eq!(canonical::decode(event.seq, &bytes, Fold::Exact), Err(refused(1)));
        prop_assert_eq!(outcome::decode(&answer, Fold::Exact), Err(refused(2)));
    }

    #[test]
    fn a_hash_tells_scope_place_bytes_and_past_apart(
        (scope, other_scope) in ("[a-z]{1,3}", "[a-z]{1,3}"),
        (seq, other_seq) in (0_u64..4, 0_u64..4),
        (bytes, other_bytes) in (vec(any::<u8>(), 0..40), vec(any::<u8>(), 0..40)),
        (past, other_past) in (any::<[u8; 32]>(), any::<[u8; 32]>()),
    ) {
        let key = |text: &str| ScopeKey::parse(text).unwrap();
        let hash = |past, scope: &str, seq, bytes: &[u8]| ChainHash(past).next(&key(scope), Seq(seq), bytes);
        let own = hash(past, &scope, seq, &bytes);
        prop_assert_eq!(own == hash(past, &other_scope, seq, &bytes), scope == other_scope);
        prop_assert_eq!(own == hash(past, &scope, other_seq, &bytes), seq == other_seq);
        prop_assert_eq!(own == hash(past, &scope, seq, &other_bytes), bytes == other_bytes);
        prop_assert_eq!(own == hash(other_past, &scope, seq, &bytes), past == other_past);
        for bit in 0..bytes.len() * 8 {
            let mut flipped = bytes.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            prop_assert_ne!(own, hash(past, &scope, seq, &flipped));
        }
    }
}

proptest! {
    #![proptest_config(cases(48))]

    #[test]
    fn an_event_that_decodes_is_what_would_be_encoded(event in event()) {
        for bytes in mutations(&canonical::encode(&event)) {
            if let Ok(read) = canonical::decode(event.seq, &bytes, Fold::Exact) {
                prop_assert_eq!(canonical::encode(&read), bytes, "one value has one encoding");
            }
        }
    }

    #[test]
    fn an_outcome_that_decodes_is_what_would_be_encoded(success in success()) {
        for bytes in mutations(&outcome::encode(&success)) {
            if let Ok(read) = outcome::decode(&bytes, Fold::Exact) {
                prop_assert!(is_one_encoding(&bytes, &read));
            }
        }
    }
}

#[test]
fn a_version_that_never_was_is_refused() {
    let mut bytes = outcome::encode(&Success::Swept { expired: Vec::new() });
    bytes[0] = 0;
    assert!(outcome::decode(&bytes, Fold::Exact).is_err());
    let word = || "word".to_owned();
    let body = Body::ActionDenied { action: word(), subject: word(), reason: word(), repeats: 0 };
    let event = Event { seq: Seq(1), at: Wall(0), actor: Actor::KERNEL, body };
    let mut bytes = canonical::encode(&event);
    bytes[0] = 0;
    assert!(canonical::decode(Seq(1), &bytes, Fold::Exact).is_err());
}

/// Fuzzing starts from what it is given: a kind of event that no seed is of is hardly ever found. With
/// `CLEARWAY_WRITE_SEEDS=1` those that are missing are written.
#[test]
#[expect(clippy::disallowed_methods, reason = "the seeds are files of the repository")]
fn every_kind_of_event_has_a_seed_to_fuzz_from() {
    let directory = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds/event");
    let seeds = || std::fs::read_dir(&directory).expect("seeds").map(|entry| entry.expect("an entry").path());
    let read = |path: std::path::PathBuf| {
        let bytes = std::fs::read(&path).expect("a seed");
        canonical::decode(Seq(1), &bytes, Fold::Exact).ok().map(|event| event.body.kind())
    };
    let known: std::collections::BTreeSet<&str> = seeds().filter_map(read).collect();
    let missing: Vec<&&str> = Body::KINDS.iter().filter(|kind| !known.contains(**kind)).collect();
    if std::env::var_os("CLEARWAY_WRITE_SEEDS").is_none() {
        assert!(missing.is_empty(), "no seed is of {missing:?}");
    }
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    for kind in missing {
        let is_it = |event: &Event| event.body.kind() == *kind;
        let found =
            (0..100_000).map(|_| event().new_tree(&mut runner).expect("a value").current()).find(is_it);
        let found = found.unwrap_or_else(|| panic!("no event is of {kind}"));
        std::fs::write(directory.join(kind), canonical::encode(&found)).expect("a seed is written");
    }
}
