//! Waiting for a file lock for a bounded time. `flock` itself knows no timeout, and asking again
//! and again would be unfair, so a helper thread stands in the kernel's queue and hands the locked
//! file over. If nobody takes it any more, it lets go at once.

use std::fs::File;
use std::io;
use std::sync::Arc;
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
pub(crate) struct LockedFile(Arc<File>);

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
pub(crate) fn lock_within(file: &Arc<File>, timeout: Duration) -> io::Result<Option<LockedFile>> {
    if let Some(locked) = try_lock(file)? {
        return Ok(Some(locked));
    }
    if timeout.is_zero() {
        return Ok(None);
    }
    let deadline = Instant::now().checked_add(timeout);
    let waiting = Arc::clone(file);
    let stand = move |sender: &Sender<io::Result<LockedFile>>| {
        // If nobody waits any more, the error returns the lock and dropping it lets go.
        drop(sender.send(lock(&waiting)));
    };
    let Some(locked) = on_helper(stand) else { return poll(file, deadline) };
    match locked.recv_timeout(timeout) {
        Ok(locked) => locked.map(Some),
        Err(RecvTimeoutError::Timeout) => Ok(None),
        Err(RecvTimeoutError::Disconnected) => Err(ended_early()),
    }
}

/// Locks the file if it is free.
pub(crate) fn try_lock(file: &Arc<File>) -> io::Result<Option<LockedFile>> {
    match retrying(|| flock(file, FlockOperation::NonBlockingLockExclusive)) {
        Ok(()) => Ok(Some(LockedFile(Arc::clone(file)))),
        Err(Errno::WOULDBLOCK) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Locks the file, however long it takes: for helper threads only.
pub(crate) fn lock(file: &Arc<File>) -> io::Result<LockedFile> {
    retrying(|| flock(file, FlockOperation::LockExclusive))?;
    Ok(LockedFile(Arc::clone(file)))
}

fn retrying(mut call: impl FnMut() -> rustix::io::Result<()>) -> rustix::io::Result<()> {
    loop {
        match call() {
            Err(Errno::INTR) => {}
            settled => return settled,
        }
    }
}

/// What a helper says, until it has ended. `None` if no thread may or can be started.
pub(crate) fn on_helper<T: Send + 'static>(
    work: impl FnOnce(&Sender<T>) + Send + 'static,
) -> Option<mpsc::Receiver<T>> {
    let permit = Permit::take()?;
    let (sender, said) = mpsc::channel();
    let body = move || {
        let _permit = permit;
        work(&sender);
    };
    let builder = thread::Builder::new().name("clearway-gate".to_owned()).stack_size(HELPER_STACK_BYTES);
    builder.spawn(body).ok().map(|_| said)
}

pub(crate) fn ended_early() -> io::Error {
    io::Error::other("the waiting thread ended early")
}

fn poll(file: &Arc<File>, deadline: Option<Instant>) -> io::Result<Option<LockedFile>> {
    loop {
        if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            return Ok(None);
        }
        thread::sleep(Duration::from_millis(POLL_MS));
        if let Some(locked) = try_lock(file)? {
            return Ok(Some(locked));
        }
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
