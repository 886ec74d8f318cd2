//! The way through the turnstile. Whoever finds it free walks through with two system calls; whoever has to wait sends
//! one helper thread through line and gate, so that nobody behind waits for a thread to be told.

use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::time::Duration;

use super::GateError;
use super::line::Line;
use crate::files::{self, FileError};
use crate::lock::{LockedFile, ended_early, lock, lock_within, on_helper, try_lock};

/// When nobody was let in for this long, the first in line stands still: those behind go straight to `gate`, so that one
/// process cannot shut out everybody. A line that moves is waited for, however long it is.
const STANDSTILL_MS: u64 = 250;

/// Passes both files; `None` when no time is left.
pub(super) fn pass(
    line: &Line,
    next: &Path,
    gate: &Path,
    left: impl Fn() -> Duration,
) -> Result<Option<LockedFile>, GateError> {
    if line.is_empty().map_err(FileError::system("lock", next))?
        && let Some(passed) = lock_gate(gate, try_lock)?
    {
        return Ok(Some(passed));
    }
    if left().is_zero() {
        return Ok(None);
    }
    let straight = || lock_gate(gate, |file| lock_within(file, left()));
    let walk = Walk { line: line.clone(), next: next.to_owned(), gate: gate.to_owned() };
    let served = line.served();
    let Some(said) = on_helper(move |sender| walk.through(sender)) else { return Ok(straight()?) };
    match (Wait { next, line, said, served, is_first: false }).until(&left)? {
        Waited::Passed(gate) => Ok(Some(gate)),
        Waited::StandsStill => Ok(straight()?),
        Waited::TimeOver => Ok(None),
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

/// What a helper thread walks through, and what it says on its way.
struct Walk {
    line: Line,
    next: PathBuf,
    gate: PathBuf,
}

enum Said {
    /// It is the first in line.
    IsFirst,
    /// It is through.
    Passed(Result<Option<LockedFile>, GateError>),
}

impl Walk {
    fn through(self, sender: &Sender<Said>) {
        let passed = self.walk(sender).map_err(GateError::from);
        // If nobody waits any more, the error returns the lock and dropping it lets go.
        drop(sender.send(Said::Passed(passed)));
    }

    fn walk(&self, sender: &Sender<Said>) -> Result<Option<LockedFile>, FileError> {
        let place = self.line.join().map_err(FileError::system("lock", &self.next))?;
        if let Some(place) = &place {
            place.wait().map_err(FileError::system("lock", &self.next))?;
        }
        // Nobody waits for it any more: its turn goes to whoever comes after.
        if sender.send(Said::IsFirst).is_err() {
            return Ok(None);
        }
        lock_gate(&self.gate, |file| lock(file).map(Some))
    }
}

/// The wait for a helper.
struct Wait<'a> {
    next: &'a Path,
    line: &'a Line,
    said: Receiver<Said>,
    /// Who was let in at the last look.
    served: u64,
    /// Whether the helper is the first in line.
    is_first: bool,
}

enum Waited {
    Passed(LockedFile),
    StandsStill,
    TimeOver,
}

impl Wait<'_> {
    fn until(mut self, left: &impl Fn() -> Duration) -> Result<Waited, GateError> {
        loop {
            let span = if self.is_first { left() } else { left().min(Duration::from_millis(STANDSTILL_MS)) };
            match self.said.recv_timeout(span) {
                Ok(Said::IsFirst) => self.is_first = true,
                Ok(Said::Passed(gate)) => return Ok(gate?.map_or(Waited::TimeOver, Waited::Passed)),
                Err(RecvTimeoutError::Timeout) if left().is_zero() => {
                    return Ok(self.give_up(Waited::TimeOver));
                }
                Err(RecvTimeoutError::Timeout) if self.stands_still() => {
                    return Ok(self.give_up(Waited::StandsStill));
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(FileError::system("wait for", self.next)(ended_early()).into());
                }
            }
        }
    }

    fn stands_still(&mut self) -> bool {
        let served = self.line.served();
        let stands = !self.is_first && served == self.served;
        self.served = served;
        stands
    }

    /// The helper may stand anywhere. First it is told that nobody listens, so that it gives back a turn it gets from
    /// now on; then the place it may have is given back for it.
    fn give_up(self, how: Waited) -> Waited {
        drop(self.said);
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
