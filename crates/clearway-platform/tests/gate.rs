//! The gate between real processes and threads: exclusion, bounded waits, and holders that are
//! killed or stand still.

use std::fs;
use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Barrier};
use std::thread;
use std::time::Duration;

use clearway_platform::gate::{Gate, GateError, GateFile, GateHolder, WITNESS_BYTES, WITNESS_SLOTS_MAX};
use clearway_platform::process::state_of;
use rustix::process::{Pid, Signal, kill_process};

/// Long enough to never pass on a loaded machine; no test waits it out.
const LONG: Duration = Duration::from_secs(60);

/// Short, for waits that must fail.
const SHORT: Duration = Duration::from_millis(20);

fn store() -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let store = dir.path().join("store.db");
    (dir, store)
}

fn lock_file(store: &Path, suffix: &str) -> PathBuf {
    store.with_file_name(format!("store.db-{suffix}"))
}

fn holders_when_busy(gate: &Gate) -> Vec<GateHolder> {
    match gate.acquire(SHORT) {
        Err(GateError::Busy { holders, .. }) => holders,
        other => panic!("{other:?}"),
    }
}

/// Another process that holds a lock until it is killed or its standard input is closed.
struct Holder(Child);

impl Holder {
    fn start(file: &Path) -> Self {
        let mut child = Command::new("flock")
            .args(["--no-fork", "--exclusive"])
            .arg(file)
            .arg("cat")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.as_mut().unwrap().write_all(b"held?").unwrap();
        let mut repeated = [0; 5];
        child.stdout.as_mut().unwrap().read_exact(&mut repeated).unwrap();
        Self(child)
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.0), signal).unwrap();
    }

    fn wait_for_state(&self, letter: char) {
        while state_of(self.0.id()).map(|state| state.letter) != Some(letter) {
            thread::yield_now();
        }
    }
}

impl Drop for Holder {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn writers_never_overlap() {
    const WRITERS: usize = 8;
    const ROUNDS: usize = 40;
    let (dir, store) = store();
    let counter = dir.path().join("counter");
    fs::write(&counter, "0").unwrap();
    let start = Arc::new(Barrier::new(WRITERS));
    let write = move |counter: PathBuf, gate: Gate, start: Arc<Barrier>| {
        start.wait();
        for _ in 0..ROUNDS {
            let _guard = gate.acquire(LONG).unwrap();
            let count: usize = fs::read_to_string(&counter).unwrap().parse().unwrap();
            thread::yield_now();
            fs::write(&counter, (count + 1).to_string()).unwrap();
        }
    };
    let writers: Vec<_> = (0..WRITERS)
        .map(|_| {
            let (counter, gate, start) = (counter.clone(), Gate::beside(&store), start.clone());
            thread::spawn(move || write(counter, gate, start))
        })
        .collect();
    writers.into_iter().for_each(|writer| writer.join().unwrap());
    assert_eq!(fs::read_to_string(&counter).unwrap(), (WRITERS * ROUNDS).to_string());
}

#[test]
fn one_gate_value_shared_by_threads_excludes_them_too() {
    let (_dir, store) = store();
    let gate = Gate::beside(&store);
    let _guard = gate.acquire(LONG).unwrap();
    assert!(matches!(gate.acquire(Duration::ZERO), Err(GateError::Busy { .. })));
}

#[test]
fn a_timeout_names_the_process_that_holds_the_gate() {
    let (_dir, store) = store();
    let _guard = Gate::beside(&store).acquire(LONG).unwrap();
    let holders = holders_when_busy(&Gate::beside(&store));
    assert_eq!(holders.len(), 1, "{holders:?}");
    assert_eq!((holders[0].pid, holders[0].file), (std::process::id(), GateFile::Gate));
}

#[test]
fn the_error_can_be_shown_to_a_user() {
    let (_dir, store) = store();
    let holder = Holder::start(&lock_file(&store, "gate"));
    let error = Gate::beside(&store).acquire(SHORT).unwrap_err();
    let expect = format!("pid {} (cat), ", holder.0.id());
    assert!(error.to_string().starts_with("the store is busy: waited "), "{error}");
    assert!(error.to_string().contains(&expect), "{error}");
}

#[test]
fn a_holder_that_is_killed_frees_the_gate_for_who_waits() {
    let (_dir, store) = store();
    let mut holder = Holder::start(&lock_file(&store, "gate"));
    let gate = Gate::beside(&store);
    let waiter = thread::spawn(move || gate.acquire(LONG).map(drop));
    holder.0.kill().unwrap();
    waiter.join().unwrap().unwrap();
}

#[test]
fn a_holder_that_stands_still_is_named_as_stopped() {
    let (_dir, store) = store();
    let holder = Holder::start(&lock_file(&store, "gate"));
    holder.signal(Signal::STOP);
    holder.wait_for_state('T');
    let expect = GateHolder {
        file: GateFile::Gate,
        pid: holder.0.id(),
        state: "stopped (T)".to_owned(),
        command: "cat".to_owned(),
    };
    assert_eq!(holders_when_busy(&Gate::beside(&store)), [expect]);
}

#[test]
fn a_waiter_that_gave_up_does_not_keep_the_lock() {
    let (_dir, store) = store();
    let gate = Gate::beside(&store);
    let guard = gate.acquire(LONG).unwrap();
    for _ in 0..3 {
        assert!(matches!(gate.acquire(SHORT), Err(GateError::Busy { .. })));
    }
    drop(guard);
    for _ in 0..3 {
        gate.acquire(LONG).unwrap();
    }
}

#[test]
fn more_waiters_that_gave_up_than_helper_threads_exist_do_no_harm() {
    let (_dir, store) = store();
    let gate = Gate::beside(&store);
    let guard = gate.acquire(LONG).unwrap();
    for _ in 0..80 {
        assert!(matches!(gate.acquire(Duration::from_millis(1)), Err(GateError::Busy { .. })));
    }
    drop(guard);
    gate.acquire(LONG).unwrap();
}

/// Somebody who is in line, holds the ticket before all others and never moves.
fn stand_still_in_line(store: &Path) -> fs::File {
    let line = lock_file(store, "next");
    let file = fs::File::options().read(true).write(true).create(true).truncate(false).open(line).unwrap();
    lock_bytes(&file, 1);
    file
}

/// Locks all bytes of a file from this one on.
fn lock_bytes(file: &fs::File, from: i64) {
    use nix::fcntl::{FcntlArg, fcntl};
    use nix::libc::{F_WRLCK, SEEK_SET, flock};
    let (l_type, l_whence) = (F_WRLCK as i16, SEEK_SET as i16);
    let all = flock { l_type, l_whence, l_start: from, l_len: 0, l_pid: 0 };
    fcntl(file, FcntlArg::F_OFD_SETLK(&all)).unwrap();
}

#[test]
fn who_stands_still_in_the_turnstile_shuts_nobody_out_and_is_named() {
    let (_dir, store) = store();
    let _still = stand_still_in_line(&store);
    let _guard = Gate::beside(&store).acquire(LONG).unwrap();
    let named: Vec<_> =
        holders_when_busy(&Gate::beside(&store)).iter().map(|holder| (holder.file, holder.pid)).collect();
    let own = std::process::id();
    assert_eq!(named, [(GateFile::Gate, own), (GateFile::Next, own)]);
}

#[test]
fn nobody_keeps_standing_in_the_turnstile() {
    let (_dir, store) = store();
    let gate = Gate::beside(&store);
    let guard = gate.acquire(LONG).unwrap();
    let waiter = thread::spawn({
        let gate = gate.clone();
        move || gate.acquire(LONG).unwrap()
    });
    drop(guard);
    let _guard = waiter.join().unwrap();
    lock_bytes(&fs::File::options().write(true).open(lock_file(&store, "next")).unwrap(), 0);
}

#[test]
fn whoever_came_first_is_let_in_first() {
    let (_dir, store) = store();
    let gate = Gate::beside(&store);
    let next = lock_file(&store, "next");
    let drawn =
        || fs::read(&next).ok().and_then(|bytes| Some(u64::from_le_bytes(bytes.get(..8)?.try_into().ok()?)));
    let guard = gate.acquire(LONG).unwrap();
    let (sender, order) = std::sync::mpsc::channel();
    let waiters: Vec<_> = (1..=20)
        .map(|number| {
            let (gate, sender) = (gate.clone(), sender.clone());
            let waiter = thread::spawn(move || {
                let _guard = gate.acquire(LONG).unwrap();
                sender.send(number).unwrap();
            });
            while drawn() != Some(number) {
                thread::yield_now();
            }
            waiter
        })
        .collect();
    drop(guard);
    waiters.into_iter().for_each(|waiter| waiter.join().unwrap());
    assert_eq!(order.try_iter().collect::<Vec<_>>(), (1..=20).collect::<Vec<_>>());
}

#[test]
fn a_line_that_lost_its_count_lets_everybody_in() {
    let (_dir, store) = store();
    let gate = Gate::beside(&store);
    for count in [&[0xff; 16][..], &[], b"short"] {
        let guard = gate.acquire(LONG).unwrap();
        let first = thread::spawn({
            let gate = gate.clone();
            move || drop(gate.acquire(LONG).unwrap())
        });
        fs::write(lock_file(&store, "next"), count).unwrap();
        let second = thread::spawn({
            let gate = gate.clone();
            move || drop(gate.acquire(LONG).unwrap())
        });
        drop(guard);
        first.join().unwrap();
        second.join().unwrap();
    }
}

#[test]
fn a_gate_file_deleted_under_a_waiter_is_waited_for_anew() {
    let (_dir, store) = store();
    let gate = Gate::beside(&store);
    let guard = gate.acquire(LONG).unwrap();
    let waiter = thread::spawn({
        let gate = gate.clone();
        move || gate.acquire(LONG).unwrap()
    });
    fs::remove_file(lock_file(&store, "gate")).unwrap();
    drop(guard);
    let guard = waiter.join().unwrap();
    guard.write_witness(0, &[7; WITNESS_BYTES]).unwrap();
    assert_eq!(gate.read_witness(0).unwrap(), Some([7; WITNESS_BYTES]));
}

#[test]
fn a_writer_that_panics_lets_go() {
    let (_dir, store) = store();
    let gate = Gate::beside(&store);
    let panicking = thread::spawn({
        let gate = gate.clone();
        move || {
            let _guard = gate.acquire(LONG).unwrap();
            std::panic::resume_unwind(Box::new("a writer's fault"));
        }
    });
    assert!(panicking.join().is_err());
    gate.acquire(LONG).unwrap();
}

#[test]
fn lock_files_are_private() {
    let (dir, store) = store();
    drop(Gate::beside(&store).acquire(LONG).unwrap());
    let modes: Vec<u32> = fs::read_dir(dir.path())
        .unwrap()
        .map(|entry| entry.unwrap().metadata().unwrap().permissions().mode() & 0o7777)
        .collect();
    assert_eq!(modes, [0o600, 0o600]);
}

#[test]
fn a_missing_directory_is_an_error_that_names_the_file() {
    let (_dir, store) = store();
    let error = Gate::beside(&store.join("below")).acquire(LONG).unwrap_err();
    assert!(error.to_string().contains("store.db/below-next"), "{error}");
}

#[test]
fn witnesses_are_kept_by_slot() {
    let (_dir, store) = store();
    let gate = Gate::beside(&store);
    assert_eq!(gate.read_witness(0).unwrap(), None);
    let guard = gate.acquire(LONG).unwrap();
    assert_eq!(guard.read_witness(0).unwrap(), None);
    guard.write_witness(5, &[5; WITNESS_BYTES]).unwrap();
    guard.write_witness(3, &[3; WITNESS_BYTES]).unwrap();
    guard.write_witness(5, &[6; WITNESS_BYTES]).unwrap();
    drop(guard);
    let found = [2, 3, 4, 5, 6].map(|slot| gate.read_witness(slot).unwrap().map(|bytes| bytes[0]));
    assert_eq!(found, [None, Some(3), None, Some(6), None]);
}

#[test]
fn a_slot_beyond_the_last_is_refused() {
    let (_dir, store) = store();
    let gate = Gate::beside(&store);
    let guard = gate.acquire(LONG).unwrap();
    for slot in [WITNESS_SLOTS_MAX, u64::MAX] {
        assert!(matches!(gate.read_witness(slot), Err(GateError::WitnessSlot { .. })));
        assert!(matches!(guard.write_witness(slot, &[1; WITNESS_BYTES]), Err(GateError::WitnessSlot { .. })));
    }
    guard.write_witness(WITNESS_SLOTS_MAX - 1, &[1; WITNESS_BYTES]).unwrap();
}
