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

/// Locks one byte as those in line do, and says what it hears.
const IN_LINE: &str = "
import fcntl, os, struct, sys
line = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT, 0o600)
fcntl.fcntl(line, 37, struct.pack('hhqqi4x', fcntl.F_WRLCK, os.SEEK_SET, 1, 1, 0))
while heard := os.read(0, 64): os.write(1, heard)
";

impl Holder {
    fn start(file: &Path) -> Self {
        Self::run(Command::new("flock").args(["--no-fork", "--exclusive"]).arg(file).arg("cat"))
    }

    /// One that stands before everybody else in the line.
    fn in_line(file: &Path) -> Self {
        Self::run(Command::new("python3").args(["-c", IN_LINE]).arg(file))
    }

    fn run(command: &mut Command) -> Self {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
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
        is_stopped: true,
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

#[test]
fn who_stands_still_in_the_turnstile_shuts_nobody_out_and_is_named() {
    let (_dir, store) = store();
    let holder = Holder::in_line(&lock_file(&store, "next"));
    holder.signal(Signal::STOP);
    holder.wait_for_state('T');
    let gate = Gate::beside(&store);
    let _guard = gate.acquire(LONG).unwrap();
    assert_eq!(drawn(&store), Some(1), "it stood in line before it went around");
    let named: Vec<_> =
        holders_when_busy(&gate).into_iter().map(|holder| (holder.file, holder.pid, holder.state)).collect();
    assert_eq!(named[0].0, GateFile::Gate);
    assert_eq!(named[1..], [(GateFile::Next, holder.0.id(), "stopped (T)".to_owned())]);
}

#[test]
fn a_turn_that_takes_long_makes_nobody_leave_the_line() {
    let (_dir, store) = store();
    let gate = Gate::beside(&store);
    let guard = gate.acquire(LONG).unwrap();
    let waiters: Vec<_> = (1..=3).map(|number| stand_in_line(&gate, &store, number, |_| {})).collect();
    // Longer than a line may stand before those in it look around: they find the gate held.
    assert!(matches!(gate.acquire(Duration::from_millis(600)), Err(GateError::Busy { .. })));
    let line = fs::File::open(lock_file(&store, "next")).unwrap();
    for ticket in 1..=3 {
        assert!(is_locked(&line, 1 + ticket), "{ticket}");
    }
    drop(guard);
    waiters.into_iter().for_each(|waiter| waiter.join().unwrap());
}

#[test]
fn nobody_keeps_standing_in_the_turnstile() {
    let (_dir, store) = store();
    let gate = Gate::beside(&store);
    let guard = gate.acquire(LONG).unwrap();
    let waiter = stand_in_line(&gate, &store, 1, |_| {});
    drop(guard);
    waiter.join().unwrap();
    assert_eq!(drawn(&store), Some(1));
    let line = fs::File::open(lock_file(&store, "next")).unwrap();
    assert!((0..3).all(|byte| !is_locked(&line, byte)));
}

/// The last ticket that was drawn.
fn drawn(store: &Path) -> Option<u64> {
    let count = fs::read(lock_file(store, "next")).ok()?;
    Some(u64::from_le_bytes(count.get(..8)?.try_into().ok()?))
}

/// Whether somebody has this byte of the line locked.
fn is_locked(line: &fs::File, byte: u64) -> bool {
    use nix::fcntl::{FcntlArg, fcntl};
    use nix::libc::{F_UNLCK, F_WRLCK, SEEK_SET, flock};
    let (l_type, l_whence, l_start) = (F_WRLCK as i16, SEEK_SET as i16, byte.cast_signed());
    let mut wanted = flock { l_type, l_whence, l_start, l_len: 1, l_pid: 0 };
    fcntl(line, FcntlArg::F_OFD_GETLK(&mut wanted)).unwrap();
    wanted.l_type != F_UNLCK as i16
}

/// A thread that has drawn this ticket, and does something once it is let in.
fn stand_in_line(
    gate: &Gate,
    store: &Path,
    ticket: u64,
    act: impl FnOnce(u64) + Send + 'static,
) -> thread::JoinHandle<()> {
    let waiter = thread::spawn({
        let gate = gate.clone();
        move || {
            let _guard = gate.acquire(LONG).unwrap();
            act(ticket);
        }
    });
    while drawn(store) != Some(ticket) {
        thread::yield_now();
    }
    waiter
}

#[test]
fn whoever_came_first_is_let_in_first() {
    let (_dir, store) = store();
    let gate = Gate::beside(&store);
    let guard = gate.acquire(LONG).unwrap();
    let (sender, order) = std::sync::mpsc::channel();
    let waiters: Vec<_> = (1..=20)
        .map(|ticket| {
            let sender = sender.clone();
            stand_in_line(&gate, &store, ticket, move |ticket| sender.send(ticket).unwrap())
        })
        .collect();
    drop(guard);
    waiters.into_iter().for_each(|waiter| waiter.join().unwrap());
    assert_eq!(order.try_iter().collect::<Vec<_>>(), (1..=20).collect::<Vec<_>>());
}

#[test]
fn a_line_that_lost_its_count_still_lets_one_in_at_a_time() {
    for count in [&[0xff; 16][..], &[], b"short"] {
        let (_dir, store) = store();
        let gate = Gate::beside(&store);
        let guard = gate.acquire(LONG).unwrap();
        let inside = Arc::new(std::sync::atomic::AtomicUsize::new(0));
        let enter = |inside: Arc<std::sync::atomic::AtomicUsize>| {
            move |_| {
                use std::sync::atomic::Ordering::SeqCst;
                assert_eq!(inside.fetch_add(1, SeqCst), 0);
                thread::yield_now();
                inside.fetch_sub(1, SeqCst);
            }
        };
        let first = stand_in_line(&gate, &store, 1, enter(inside.clone()));
        fs::write(lock_file(&store, "next"), count).unwrap();
        let second = stand_in_line(&gate, &store, 1, enter(inside.clone()));
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
