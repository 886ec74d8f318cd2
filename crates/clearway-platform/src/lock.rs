//! Waiting for a file lock for a bounded time. `flock` itself knows no timeout, and asking again
//! and again would be unfair, so a helper thread stands in the kernel's queue and hands the locked
//! file over. If nobody takes it any more, it lets go at once.

use std::fs::File;
use std::io;
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use crate::helper::{ended_early, on_helper};
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

/// How often a waiter asks that has no helper.
const POLL_MS: u64 = 5;

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
