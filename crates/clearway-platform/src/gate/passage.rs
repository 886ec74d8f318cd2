//! The way through the turnstile. Whoever finds it free walks through without a thread; whoever has to wait sends one
//! helper thread through line and gate, so that nobody behind waits for a thread to be told.

use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::time::Duration;

use super::line::Line;
use crate::files::{self, FileError};
use crate::helper::{ended_early, on_helper};
use crate::lock::{LockedFile, lock, lock_within, try_lock};

/// When nobody became the first in line for this long, the one who is may stand still, or whoever is inside takes its
/// time. A line that moves is waited for, however long it is.
const STANDSTILL_MS: u64 = 250;

/// How often those in a line that does not move look whether the gate is free: then the first in line stands still, and
/// is not to shut out everybody.
const LOOK_MS: u64 = 25;

/// Passes both files; `None` when no time is left.
pub(super) fn pass(
    line: &Line,
    gate: &Path,
    left: impl Fn() -> Duration,
) -> Result<Option<LockedFile>, FileError> {
    if line.is_empty()
        && let Some(passed) = lock_gate(gate, try_lock)?
    {
        return Ok(Some(passed));
    }
    if left().is_zero() {
        return Ok(None);
    }
    let served = line.served();
    let standing = Arc::new(Standing::default());
    let walk = Walk { line: line.clone(), gate: gate.to_owned(), standing: standing.clone() };
    match on_helper(move |sender| walk.through(sender)) {
        Some(passed) => (Wait { line, gate, passed, served, standing }).until(&left),
        None => lock_gate(gate, |file| lock_within(file, left())),
    }
}

/// A gate file that was deleted while we waited guards nothing any more; its successor does.
fn lock_gate(
    gate: &Path,
    take: impl Fn(&Arc<File>) -> io::Result<Option<LockedFile>>,
) -> Result<Option<LockedFile>, FileError> {
    loop {
        let file = Arc::new(files::open_private(gate)?);
        match take(&file).map_err(FileError::system("lock", gate))? {
            Some(locked) if is_at(&file, gate) => return Ok(Some(locked)),
            Some(_) => {}
            None => return Ok(None),
        }
    }
}

fn is_at(file: &File, path: &Path) -> bool {
    let key = |metadata: std::fs::Metadata| (metadata.dev(), metadata.ino());
    match (file.metadata(), std::fs::metadata(path)) {
        (Ok(opened), Ok(named)) => key(opened) == key(named),
        _ => false,
    }
}

/// What a helper and the one who waits for it know of each other. They look at it when they are awake: waking the other
/// for it would take a processor from whoever is inside.
#[derive(Debug, Default)]
struct Standing {
    /// The helper is the first in line.
    is_first: AtomicBool,
    /// Nobody waits for the helper any more.
    is_left: AtomicBool,
}

/// What a helper thread walks through. It says a word once, when it is through.
struct Walk {
    line: Line,
    gate: PathBuf,
    standing: Arc<Standing>,
}

type Passed = Result<Option<LockedFile>, FileError>;

impl Walk {
    fn through(self, sender: &Sender<Passed>) {
        let place = self.line.join();
        if let Some(place) = &place {
            place.wait();
        }
        self.standing.is_first.store(true, Ordering::SeqCst);
        // If nobody waits for it any more, its turn goes to whoever comes after.
        if self.standing.is_left.load(Ordering::SeqCst) {
            return;
        }
        let passed = lock_gate(&self.gate, |file| lock(file).map(Some));
        drop(place);
        // If nobody waits any more, the error returns the lock and dropping it lets go.
        drop(sender.send(passed));
    }
}

/// The wait for a helper.
struct Wait<'a> {
    line: &'a Line,
    gate: &'a Path,
    passed: Receiver<Passed>,
    /// Who was first at the last look.
    served: u64,
    standing: Arc<Standing>,
}

impl Wait<'_> {
    fn until(mut self, left: &impl Fn() -> Duration) -> Passed {
        let mut pause = Duration::from_millis(STANDSTILL_MS);
        loop {
            match self.passed.recv_timeout(left().min(pause)) {
                Ok(passed) => return passed,
                Err(RecvTimeoutError::Timeout) if left().is_zero() => return self.leave(Ok(None)),
                Err(RecvTimeoutError::Timeout) if self.stands_still() => {
                    match lock_gate(self.gate, try_lock) {
                        Ok(None) => pause = Duration::from_millis(LOOK_MS),
                        settled => return self.leave(settled),
                    }
                }
                Err(RecvTimeoutError::Timeout) => pause = Duration::from_millis(STANDSTILL_MS),
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(FileError::system("wait for", self.gate)(ended_early()));
                }
            }
        }
    }

    fn stands_still(&mut self) -> bool {
        let served = self.line.served();
        let stands = !self.standing.is_first.load(Ordering::SeqCst) && served == self.served;
        self.served = served;
        stands
    }

    /// The helper may stand anywhere. First it is told that nobody listens, so that it gives back a turn it gets from
    /// now on; then the place it may have is given back for it.
    fn leave<T>(self, how: T) -> T {
        self.standing.is_left.store(true, Ordering::SeqCst);
        drop(self.passed);
        self.line.leave();
        how
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gate_file_that_went_when_the_time_was_over_is_no_pass() {
        let dir = tempfile::tempdir().unwrap();
        let gate = dir.path().join("gate");
        // Locked while it is being deleted, and then the time is over.
        let locks = std::cell::Cell::new(0);
        let take = |file: &Arc<File>| {
            locks.set(locks.get() + 1);
            if locks.get() > 1 {
                return Ok(None);
            }
            let _ = std::fs::remove_file(&gate);
            try_lock(file)
        };
        assert!(lock_gate(&gate, take).unwrap().is_none());
        assert!(lock_gate(&gate, try_lock).unwrap().is_some());
    }
}
