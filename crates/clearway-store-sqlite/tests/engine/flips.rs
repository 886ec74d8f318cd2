//! Single bits flipped in the files of a store: whatever changes a fact is reported.

use crate::specimen::{Flip, Specimen, facts, fold_log, live, open_plainly, spread};
use crate::support::{TestWorld, must_be_whole};
use crate::support::{beside, complaints, engine, fast_dir, grant, store_file};
use clearway_core::event::Body;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Mutex;

/// Events in a store whose every fact is in the database file.
const EVENTS_FOLDED: u64 = 250;
/// A life that sees every kind of event early.
const SEED_FOLDED: u64 = 6;
/// Events in a store whose facts are mostly in the log beside it.
const EVENTS_LOGGED: u64 = 60;

/// What became of a number of flips.
#[derive(Debug, Default)]
struct Tally {
    flips: usize,
    changed: usize,
    reported: usize,
    missed: Vec<(Flip, Vec<String>)>,
}

#[test]
fn a_bit_that_changes_a_fact_in_the_database_is_reported() {
    let directory = fast_dir();
    live(directory.path(), SEED_FOLDED, EVENTS_FOLDED, Body::KINDS.len());
    fold_log(directory.path());
    let specimen = Specimen::take(directory.path());
    assert_eq!(specimen.length("-wal"), 0);
    let flips = spread("", specimen.length(""), 600, 1);
    check("everything in the database", &specimen, &flips);
}

#[test]
fn a_bit_that_changes_a_fact_in_the_log_is_reported() {
    let directory = fast_dir();
    let specimen = mostly_logged(directory.path());
    let mut flips = spread("-wal", specimen.length("-wal"), 500, 2);
    flips.extend(spread("", specimen.length(""), 100, 3));
    check("most in the log", &specimen, &flips);
}

/// Whoever has the log open trusts its index and looks at no checksum: what a flip does then is seen in the pages.
#[test]
fn a_bit_that_changes_a_fact_under_a_running_process_is_reported() {
    let directory = fast_dir();
    let specimen = mostly_logged(directory.path());
    specimen.put(directory.path());
    let resident = open_plainly(directory.path()).unwrap();
    let before = facts(&resident).unwrap();
    let log = beside(&store_file(directory.path()), "-wal");
    let log = std::fs::OpenOptions::new().read(true).write(true).open(log).unwrap();
    let mut tally = Tally::default();
    for flip in specimen.spread_over_last_frames(500, 4) {
        toggle(&log, flip);
        tally.count(flip, &before, directory.path());
        toggle(&log, flip);
    }
    tally.settle("under a running process");
    assert_eq!(facts(&resident).unwrap(), before, "every bit was put back");
}

fn toggle(file: &std::fs::File, flip: Flip) {
    let (mut byte, at) = ([0], flip.byte as u64);
    file.read_exact_at(&mut byte, at).unwrap();
    file.write_all_at(&[byte[0] ^ (1 << flip.bit)], at).unwrap();
}

/// A reader that stands still keeps every frame in the log.
fn mostly_logged(state: &Path) -> Specimen {
    grant(&mut engine(state), &mut TestWorld::new(1), "first", "f");
    let reader = open_plainly(state).unwrap();
    reader.execute_batch("BEGIN").unwrap();
    facts(&reader).unwrap();
    live(state, 11, EVENTS_LOGGED, 0);
    must_be_whole(&mut engine(state));
    Specimen::take(state)
}

/// Makes each flip in a copy of its own, two at a time.
fn check(what: &str, specimen: &Specimen, flips: &[Flip]) {
    let before = {
        let directory = fast_dir();
        specimen.put(directory.path());
        must_be_whole(&mut engine(directory.path()));
        facts(&open_plainly(directory.path()).unwrap()).unwrap()
    };
    let tally = Mutex::new(Tally::default());
    std::thread::scope(|threads| {
        for half in flips.chunks(flips.len().div_ceil(2)) {
            let (tally, before) = (&tally, &before);
            threads.spawn(move || {
                let mut own = Tally::default();
                for flip in half {
                    let directory = fast_dir();
                    specimen.flipped(*flip).put(directory.path());
                    own.count(*flip, before, directory.path());
                }
                tally.lock().unwrap().add(own);
            });
        }
    });
    tally.into_inner().unwrap().settle(what);
}

impl Tally {
    fn count(&mut self, flip: Flip, before: &[String], state: &Path) {
        // The audit looks first: a plain connection may repair the log by opening it.
        let found = complaints(&mut engine(state), &[]);
        let after = open_plainly(state).and_then(|connection| facts(&connection));
        let changed = !after.as_ref().is_ok_and(|after| after == before);
        self.flips += 1;
        self.changed += usize::from(changed);
        self.reported += usize::from(!found.is_empty());
        if changed && found.is_empty() {
            let after = after.unwrap_or_default();
            let lost = before.iter().filter(|row| !after.contains(row)).take(3).cloned();
            let gained = after.iter().filter(|row| !before.contains(row)).take(3).cloned();
            self.missed.push((flip, lost.chain(gained).collect()));
        }
    }

    fn add(&mut self, other: Self) {
        self.flips += other.flips;
        self.changed += other.changed;
        self.reported += other.reported;
        self.missed.extend(other.missed);
    }

    fn settle(self, what: &str) {
        let Self { flips, changed, reported, missed } = self;
        println!(
            "{what}: {flips} flips, {changed} changed a fact, {reported} reported, {} without effect",
            flips - changed.max(reported)
        );
        assert!(changed > flips / 20, "the flips hit facts: {changed} of {flips}");
        assert!(missed.is_empty(), "{} missed, first {:#?}", missed.len(), &missed[..missed.len().min(5)]);
    }
}
