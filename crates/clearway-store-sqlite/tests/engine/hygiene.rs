//! The log beside the database stays short, whoever writes and whoever reads.

use crate::specimen::{facts, open_plainly};
use crate::support::{
    TestWorld, beside, engine, fast_dir, grant, named, release_all, request, run, scope, store_file,
};
use clearway_store::contract::Engine;
use std::path::Path;

/// One-shot processes in a row.
const ENGINES: usize = 2_000;
/// The log is folded in once it has more than 48 pages, by whoever made it so.
const LOG_BYTES_MAX: u64 = 48 * (2_048 + 24);

/// One process: opens, takes something, gives it back, ends.
fn one_shot(state: &Path, world: &mut TestWorld, number: usize) {
    let mut engine = engine(state);
    grant(&mut engine, world, "a", &format!("d/{}", number % 10));
    run(&mut engine, world, &request(named("a"), release_all(), None)).unwrap().outcome.unwrap();
}

fn log_bytes(state: &Path) -> u64 {
    std::fs::metadata(beside(&store_file(state), "-wal")).expect("the log stays in place").len()
}

fn files_are_in_place(state: &Path) {
    for suffix in ["", "-wal", "-shm", "-gate", "-next"] {
        assert!(beside(&store_file(state), suffix).exists(), "{suffix}");
    }
}

#[test]
fn one_shot_processes_keep_the_log_short() {
    let directory = fast_dir();
    let mut world = TestWorld::new(1);
    let mut longest = 0;
    for number in 0..ENGINES {
        one_shot(directory.path(), &mut world, number);
        files_are_in_place(directory.path());
        longest = longest.max(log_bytes(directory.path()));
    }
    println!("the log had at most {longest} bytes");
    assert!(longest <= LOG_BYTES_MAX, "{longest}");
}

/// Folding waits while others stand in line, but not beyond a size, and not beyond the crowd.
#[test]
fn a_crowd_leaves_a_short_log_behind() {
    const CROWD: u64 = 8;
    const CROWDED_BYTES_MAX: u64 = (4_096 + 64) * (2_048 + 24);
    let directory = fast_dir();
    let state = directory.path();
    std::thread::scope(|threads| {
        for seed in 0..CROWD {
            threads.spawn(move || {
                let (mut engine, mut world) = (engine(state), TestWorld::new(10 + seed));
                let agent = format!("a{seed}");
                for number in 0..60 {
                    grant(&mut engine, &mut world, &agent, &format!("{agent}/{number}"));
                    assert!(log_bytes(state) <= CROWDED_BYTES_MAX);
                }
            });
        }
    });
    one_shot(state, &mut TestWorld::new(9), 0);
    assert!(log_bytes(state) <= LOG_BYTES_MAX, "{}", log_bytes(state));
}

#[test]
fn a_reader_that_stays_keeps_nothing_in_the_log() {
    let directory = fast_dir();
    let mut world = TestWorld::new(2);
    one_shot(directory.path(), &mut world, 0);
    let mut resident = engine(directory.path());
    let mut seen = 0;
    for number in 0..ENGINES / 4 {
        one_shot(directory.path(), &mut world, number);
        let rev = resident.snapshot(&scope()).unwrap().unwrap().head().unwrap().rev.0;
        assert!(rev > seen, "the reader sees every commit");
        seen = rev;
        assert!(log_bytes(directory.path()) <= LOG_BYTES_MAX);
    }
}

#[test]
fn a_reader_that_stands_still_holds_the_log_only_as_long_as_it_stands() {
    let directory = fast_dir();
    let mut world = TestWorld::new(3);
    one_shot(directory.path(), &mut world, 0);
    let reader = open_plainly(directory.path()).unwrap();
    reader.execute_batch("BEGIN").unwrap();
    let before = facts(&reader).unwrap();
    (0..100).for_each(|number| one_shot(directory.path(), &mut world, number));
    assert!(log_bytes(directory.path()) > LOG_BYTES_MAX, "what is read cannot be folded in");
    assert_eq!(facts(&reader).unwrap(), before, "one consistent view");
    reader.execute_batch("ROLLBACK").unwrap();
    one_shot(directory.path(), &mut world, 0);
    assert!(log_bytes(directory.path()) <= LOG_BYTES_MAX);
}
