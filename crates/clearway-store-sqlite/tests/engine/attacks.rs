//! Somebody with SQL and patience: what the log, the witness beside it and an anchor kept elsewhere notice.

use crate::specimen::{Specimen, live, open_plainly};
use crate::support::{
    TestWorld, audit, beside, complaints, engine, fast_dir, grant, must_be_whole, scope, store_file,
};
use clearway_core::ids::Seq;
use clearway_core::pattern::Fold;
use clearway_store::contract::{Engine, Head, StoredEvent};
use clearway_store::verify::Mark;
use clearway_wire::canonical;
use clearway_wire::chain::ChainHash;
use rusqlite::{Connection, params};
use std::path::Path;

/// A life whose scope does not fold case.
const SEED: u64 = 3;
const EVENTS: u64 = 60;
/// An event in the middle.
const VICTIM: u64 = 30;

fn lived_in() -> tempfile::TempDir {
    let directory = fast_dir();
    live(directory.path(), SEED, EVENTS, 0);
    must_be_whole(&mut engine(directory.path()));
    directory
}

fn log(state: &Path) -> Vec<StoredEvent> {
    engine(state).snapshot(&scope()).unwrap().unwrap().events(Seq(0), usize::MAX).unwrap()
}

fn anchor(event: &StoredEvent) -> Mark {
    Mark { head: Head { rev: event.seq, hash: event.hash }, by: "an anchor".to_owned() }
}

/// Where an audit finds the log broken.
fn first_bad(state: &Path, marks: &[Mark]) -> Option<Seq> {
    audit(&mut engine(state), marks).unwrap().unwrap().broken.map(|broken| broken.seq)
}

/// The witness beside the store forgets.
fn forget_witness(state: &Path) {
    std::fs::write(beside(&store_file(state), "-gate"), "").unwrap();
}

#[test]
fn what_is_done_to_one_event_is_found_at_that_event() {
    let acts: [(&str, &str); 6] = [
        ("dropped", "DELETE FROM events WHERE seq = ?1"),
        ("moved away", "UPDATE events SET seq = seq + 100000 WHERE seq = ?1"),
        ("emptied", "UPDATE events SET bytes = x'' WHERE seq = ?1"),
        ("given another hash", "UPDATE events SET hash = zeroblob(32) WHERE seq = ?1"),
        (
            "replaced by its neighbour",
            "UPDATE events SET bytes = (SELECT bytes FROM events WHERE seq = ?1 + 1), \
             hash = (SELECT hash FROM events WHERE seq = ?1 + 1) WHERE seq = ?1",
        ),
        ("cut", "UPDATE events SET bytes = substr(bytes, 1, length(bytes) - 1) WHERE seq = ?1"),
    ];
    let directory = lived_in();
    let specimen = Specimen::take(directory.path());
    for (what, act) in acts {
        specimen.put(directory.path());
        open_plainly(directory.path()).unwrap().execute(act, [VICTIM]).unwrap();
        forget_witness(directory.path());
        assert_eq!(first_bad(directory.path(), &[]), Some(Seq(VICTIM)), "{what}");
    }
}

#[test]
fn two_events_that_changed_places_are_found_at_the_first() {
    let directory = lived_in();
    let connection = open_plainly(directory.path()).unwrap();
    for (from, to) in [(VICTIM, 900_000), (VICTIM + 1, VICTIM), (900_000, VICTIM + 1)] {
        connection.execute("UPDATE events SET seq = ?2 WHERE seq = ?1", [from, to]).unwrap();
    }
    drop(connection);
    forget_witness(directory.path());
    assert_eq!(first_bad(directory.path(), &[]), Some(Seq(VICTIM)));
}

/// Changes the time of one event, then makes every hash from there on right again.
fn rewrite(connection: &Connection, log: &[StoredEvent], victim: u64) {
    let mut past = ChainHash::GENESIS;
    for stored in log {
        let mut event = canonical::decode(stored.seq, &stored.bytes, Fold::Exact).unwrap();
        if stored.seq == Seq(victim) {
            event.at.0 += 1;
        }
        let bytes = canonical::encode(&event);
        past = past.next(&scope(), stored.seq, &bytes);
        let text = "UPDATE events SET bytes = ?2, hash = ?3 WHERE seq = ?1";
        connection.execute(text, params![stored.seq.0, bytes, past.0]).unwrap();
    }
    connection.execute("UPDATE scopes SET head = ?1", [past.0]).unwrap();
}

/// An event whose time no projection repeats.
fn timeless(log: &[StoredEvent]) -> u64 {
    let is = |stored: &&StoredEvent| {
        let event = canonical::decode(stored.seq, &stored.bytes, Fold::Exact).unwrap();
        stored.seq.0 > 10 && matches!(event.body.kind(), "reservation.refused" | "lease.granted")
    };
    log.iter().find(is).unwrap().seq.0
}

#[test]
fn a_history_rewritten_with_right_hashes_is_found_against_the_witness_and_against_an_anchor() {
    let directory = lived_in();
    let log = log(directory.path());
    let victim = timeless(&log);
    rewrite(&open_plainly(directory.path()).unwrap(), &log, victim);
    let last = log.last().unwrap().seq;
    assert_eq!(first_bad(directory.path(), &[]), Some(last), "the witness remembers the last event");
    let at = usize::try_from(victim).unwrap() + 3;
    let (after, before) = (anchor(&log[at]), anchor(&log[at - 6]));
    assert_eq!(first_bad(directory.path(), std::slice::from_ref(&after)), Some(after.head.rev));
    forget_witness(directory.path());
    assert_eq!(first_bad(directory.path(), &[]), None, "nothing else can know");
    assert_eq!(first_bad(directory.path(), std::slice::from_ref(&before)), None, "nor an anchor from before");
    assert_eq!(first_bad(directory.path(), &[before, after.clone()]), Some(after.head.rev));
}

#[test]
fn a_tail_that_was_cut_off_cleanly_is_found_where_it_should_go_on() {
    let directory = lived_in();
    let log = log(directory.path());
    let connection = open_plainly(directory.path()).unwrap();
    let kept = &log[usize::try_from(VICTIM).unwrap() - 1];
    connection.execute("DELETE FROM events WHERE seq > ?1", [VICTIM]).unwrap();
    assert_eq!(first_bad(directory.path(), &[]), Some(Seq(VICTIM + 1)), "its own row says more");
    connection.execute("UPDATE scopes SET rev = ?1, head = ?2", params![VICTIM, kept.hash.0]).unwrap();
    drop(connection);
    assert_eq!(first_bad(directory.path(), &[]), Some(Seq(VICTIM + 1)), "the witness says more");
    forget_witness(directory.path());
    assert_eq!(first_bad(directory.path(), &[]), None);
    let anchored = anchor(log.last().unwrap());
    assert_eq!(first_bad(directory.path(), &[anchored]), Some(Seq(VICTIM + 1)), "an anchor says more");
}

#[test]
fn an_older_copy_put_back_is_found_where_it_should_go_on() {
    let directory = lived_in();
    let state = directory.path();
    let older = log(state).last().unwrap().seq;
    let files = ["", "-wal"].map(|suffix| beside(&store_file(state), suffix));
    let copies = files.clone().map(|file| std::fs::read(file).unwrap());
    for number in 0..5 {
        grant(&mut engine(state), &mut TestWorld::new(40 + number), "late", &format!("elsewhere/{number}"));
    }
    let anchored = anchor(log(state).last().unwrap());
    for (file, bytes) in files.iter().zip(&copies) {
        std::fs::write(file, bytes).unwrap();
    }
    assert_eq!(first_bad(state, &[]), Some(older.next()));
    forget_witness(state);
    assert_eq!(first_bad(state, &[]), None);
    assert_eq!(first_bad(state, &[anchored]), Some(older.next()));
}

#[test]
fn a_scope_that_was_taken_out_whole_is_missed() {
    let directory = lived_in();
    let connection = open_plainly(directory.path()).unwrap();
    let records =
        ["events", "leases", "ended_leases", "waits", "idempotency", "presence", "memos", "refusals"];
    for table in records.iter().chain(&["agents", "scopes"]) {
        connection.execute(&format!("DELETE FROM {table}"), []).unwrap();
    }
    drop(connection);
    let found = complaints(&mut engine(directory.path()), &[]);
    assert!(found.iter().any(|text| text.contains("has lost")), "{found:?}");
}

#[test]
fn a_row_altered_behind_the_log_is_named() {
    let acts: [(&str, &str); 5] = [
        ("UPDATE leases SET deadline = deadline + 1", "lease "),
        ("UPDATE ended_leases SET reason = 'none of yours'", "lease "),
        ("UPDATE agents SET registered_at = 0", "agent "),
        ("UPDATE scopes SET live_leases = live_leases + 1", "the scope's own row"),
        ("UPDATE idempotency SET at = at + 1", "remembered answer"),
    ];
    let directory = lived_in();
    let specimen = Specimen::take(directory.path());
    for (act, named) in acts {
        specimen.put(directory.path());
        assert!(open_plainly(directory.path()).unwrap().execute(act, []).unwrap() > 0, "{act}");
        let found = complaints(&mut engine(directory.path()), &[]);
        assert!(found.iter().any(|text| text.contains(named)), "{act}: {found:?}");
    }
}
