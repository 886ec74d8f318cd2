//! The log beside the database stays short, whoever writes and whoever reads.

use crate::specimen::{facts, open_plainly};
use crate::support::{
    TestWorld, beside, engine, fast_dir, grant, named, release_all, request, run, scope, store_file,
};
use clearway_store::contract::Engine;
use std::io::Read;
use std::path::Path;
use std::process::{Child, Command, Stdio};

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

/// The same by two, each of which forgets how much of the log is in the file already.
fn two_shots(state: &Path, world: &mut TestWorld, number: usize) {
    grant(&mut engine(state), world, "a", &format!("d/{}", number % 10));
    run(&mut engine(state), world, &request(named("a"), release_all(), None)).unwrap().outcome.unwrap();
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

/// The longest log beside a line of writers.
const CROWDED_BYTES_MAX: u64 = 4_096 * (2_048 + 24);

/// Stands in the line behind everybody who will ever come, until its standard input ends.
const LAST_IN_LINE: &str = "
import fcntl, os, struct, sys
line = os.open(sys.argv[1], os.O_RDWR)
fcntl.fcntl(line, 37, struct.pack('hhqqi4x', fcntl.F_WRLCK, os.SEEK_SET, 1 << 40, 1, 0))
os.write(1, b'.')
os.read(0, 1)
";

fn last_in_line(state: &Path) -> Child {
    let mut last = Command::new("python3")
        .args(["-c", LAST_IN_LINE])
        .arg(beside(&store_file(state), "-next"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    last.stdout.as_mut().unwrap().read_exact(&mut [0]).unwrap();
    last
}

/// A fold that everybody in line waits for is to find little left to do.
#[test]
fn in_a_crowd_the_log_is_copied_ahead_beside_those_who_wait() {
    let directory = fast_dir();
    let (state, mut world) = (directory.path(), TestWorld::new(9));
    one_shot(state, &mut world, 0);
    let mut last = last_in_line(state);
    let lengths = || (std::fs::metadata(store_file(state)).unwrap().len(), log_bytes(state));
    let mut copies = 0;
    for number in 0..300 {
        let (database, log) = lengths();
        one_shot(state, &mut world, number);
        let (grown, after) = lengths();
        copies += usize::from(grown > database && after >= log);
    }
    last.kill().unwrap();
    last.wait().unwrap();
    assert!((1..=600 / 128).contains(&copies), "copied {copies} times without a fold");
}

/// Folding waits while others stand in line, but not beyond a size, and not beyond the crowd.
#[test]
fn folding_waits_for_a_crowd_up_to_a_size_and_is_made_up_for_after_it() {
    let directory = fast_dir();
    let (state, mut world) = (directory.path(), TestWorld::new(9));
    one_shot(state, &mut world, 0);
    let mut last = last_in_line(state);
    let (mut longest, mut folds, mut before) = (0, 0, 0);
    for number in 0..1_000 {
        two_shots(state, &mut world, number);
        let bytes = log_bytes(state);
        (longest, folds) = (longest.max(bytes), folds + usize::from(bytes < before));
        before = bytes;
    }
    assert!(longest > 20 * LOG_BYTES_MAX && longest <= CROWDED_BYTES_MAX, "{longest}");
    assert!((1..10).contains(&folds), "{folds}");
    last.kill().unwrap();
    last.wait().unwrap();
    one_shot(state, &mut world, 0);
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
