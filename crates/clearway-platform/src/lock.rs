//! Waiting for a file lock for a bounded time. `flock` itself knows no timeout, and asking again
//! and again would be unfair, so a helper thread stands in the kernel's queue and hands the locked
//! file over. If nobody takes it any more, it lets go at once.

use std::fs::File;
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

/// Helper threads at a time. A waiter that gave up leaves its thread in the queue until the holder
/// lets go, so a server in front of a holder that stands still must not collect them without end.
const HELPERS_MAX: usize = 64;

/// How often a waiter beyond [`HELPERS_MAX`] asks.
const POLL_MS: u64 = 5;

const HELPER_STACK_BYTES: usize = 64 * 1024;

static HELPERS: AtomicUsize = AtomicUsize::new(0);

/// A file whose lock we hold; dropping it unlocks.
#[derive(Debug)]
pub(crate) struct LockedFile(File);

impl LockedFile {
    pub(crate) fn file(&self) -> &File {
        &self.0
    }
}

impl Drop for LockedFile {
    /// Closing alone would leave the lock to a child that was forked and has not yet executed.
    fn drop(&mut self) {
        let _ = flock(&self.0, FlockOperation::Unlock);
    }
}

/// Locks the file, or answers `None` when the time is over. A free lock costs one system call.
pub(crate) fn lock_within(file: File, timeout: Duration) -> io::Result<Option<LockedFile>> {
    let file = match try_lock(file)? {
        Tried::Locked(locked) => return Ok(Some(locked)),
        Tried::Held(file) => file,
    };
    if timeout.is_zero() {
        return Ok(None);
    }
    let deadline = Instant::now().checked_add(timeout);
    match Helper::start(file) {
        Ok(helper) => helper.wait(timeout),
        Err(file) => poll(file, deadline),
    }
}

enum Tried {
    Locked(LockedFile),
    Held(File),
}

fn try_lock(file: File) -> io::Result<Tried> {
    match retrying(|| flock(&file, FlockOperation::NonBlockingLockExclusive)) {
        Ok(()) => Ok(Tried::Locked(LockedFile(file))),
        Err(Errno::WOULDBLOCK) => Ok(Tried::Held(file)),
        Err(error) => Err(error.into()),
    }
}

fn retrying(mut call: impl FnMut() -> rustix::io::Result<()>) -> rustix::io::Result<()> {
    loop {
        match call() {
            Err(Errno::INTR) => {}
            settled => return settled,
        }
    }
}

struct Helper {
    locked: mpsc::Receiver<io::Result<LockedFile>>,
}

impl Helper {
    /// Gives the file back if no thread may or can be started.
    fn start(file: File) -> Result<Self, File> {
        let Some(permit) = Permit::take() else { return Err(file) };
        let (sender, locked) = mpsc::channel();
        let (hand_over, handed) = mpsc::channel::<File>();
        let body = move || {
            let _permit = permit;
            if let Ok(file) = handed.recv() {
                stand_in_queue(file, &sender);
            }
        };
        let builder = thread::Builder::new().name("clearway-gate".to_owned()).stack_size(HELPER_STACK_BYTES);
        if builder.spawn(body).is_err() {
            return Err(file);
        }
        match hand_over.send(file) {
            Ok(()) => Ok(Self { locked }),
            Err(mpsc::SendError(file)) => Err(file),
        }
    }

    /// A lock that arrives after the time is over is dropped together with the receiver.
    fn wait(self, timeout: Duration) -> io::Result<Option<LockedFile>> {
        match self.locked.recv_timeout(timeout) {
            Ok(locked) => locked.map(Some),
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => Err(io::Error::other("the waiting thread ended early")),
        }
    }
}

fn stand_in_queue(file: File, sender: &Sender<io::Result<LockedFile>>) {
    let locked = match retrying(|| flock(&file, FlockOperation::LockExclusive)) {
        Ok(()) => Ok(LockedFile(file)),
        Err(error) => Err(error.into()),
    };
    // If nobody waits any more, the error returns the lock and dropping it lets go.
    drop(sender.send(locked));
}

fn poll(mut file: File, deadline: Option<Instant>) -> io::Result<Option<LockedFile>> {
    loop {
        if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            return Ok(None);
        }
        thread::sleep(Duration::from_millis(POLL_MS));
        file = match try_lock(file)? {
            Tried::Locked(locked) => return Ok(Some(locked)),
            Tried::Held(file) => file,
        };
    }
}

/// Counts one helper thread for as long as it lives.
struct Permit;

impl Permit {
    fn take() -> Option<Self> {
        let grow = |count: usize| (count < HELPERS_MAX).then_some(count + 1);
        HELPERS.fetch_update(Ordering::Relaxed, Ordering::Relaxed, grow).ok().map(|_| Self)
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        HELPERS.fetch_sub(1, Ordering::Relaxed);
    }
}
