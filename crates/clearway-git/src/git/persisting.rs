//! Trying again what git could not do because somebody else wrote the same index or branch at that moment. A lock that
//! nobody lets go of is no such moment.

use super::GitError;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant, SystemTime};

/// How long something is tried again.
const RETRY_MS: u64 = 20_000;
/// How long it pauses in between, at first and at most.
const PAUSE_MS: u64 = 5;
const PAUSE_MS_MAX: u64 = 80;

/// How long the very same lock of an index is waited for, which no git of ours leaves behind.
const LOCK_MS: u64 = 3_000;

/// What git says of the moment and not of what was asked.
const PASSING: [&str; 5] = [
    // Somebody else writes the index, or the branch.
    "index.lock': File exists",
    "cannot lock ref",
    "Unable to create temporary file",
    // Somebody else's write of the index undid the entry of a new file.
    "did not match any file(s) known to git",
    "unable to write new index file",
];

/// Tries until it succeeds, or fails for another reason than what others do at the moment.
pub(crate) fn persisting<T>(mut attempt: impl FnMut() -> Result<T, GitError>) -> Result<T, GitError> {
    let ends = Instant::now() + Duration::from_millis(RETRY_MS);
    let mut pause_ms = PAUSE_MS;
    let mut lock = StandingLock::default();
    loop {
        let failure = match attempt() {
            Err(failure) => failure,
            done => return done,
        };
        let passes = matches!(&failure, GitError::Failed { message, .. } if is_passing(message));
        if !passes || Instant::now() >= ends || lock.stands(&failure) {
            return Err(failure);
        }
        thread::sleep(Duration::from_millis(pause_ms));
        pause_ms = (pause_ms * 2).min(PAUSE_MS_MAX);
    }
}

/// Whether the same may succeed a moment later.
fn is_passing(message: &str) -> bool {
    PASSING.iter().any(|text| message.contains(text))
}

/// A lock that is in the way, as it was first met.
#[derive(Debug, Default)]
struct StandingLock(Option<(FileMark, Instant)>);

/// What tells a file from another one in its place.
type FileMark = (u64, SystemTime);

impl StandingLock {
    /// Whether the lock that git names has been there for longer than anybody should have it.
    fn stands(&mut self, failure: &GitError) -> bool {
        let GitError::Failed { message, .. } = failure else { return false };
        let Some(mark) = lock_named_in(message).and_then(mark_of) else {
            self.0 = None;
            return false;
        };
        let since = match &self.0 {
            Some((known, since)) if *known == mark => *since,
            _ => Instant::now(),
        };
        self.0 = Some((mark, since));
        since.elapsed() >= Duration::from_millis(LOCK_MS)
    }
}

fn mark_of(path: &Path) -> Option<FileMark> {
    let found = std::fs::metadata(path).ok()?;
    Some((found.ino(), found.modified().ok()?))
}

/// The lock in `Unable to create '/x/.git/index.lock': File exists.`
fn lock_named_in(message: &str) -> Option<&Path> {
    let (before, _) = message.split_once("index.lock': File exists")?;
    let begins = before.rfind('\'')? + 1;
    Some(Path::new(&message[begins..before.len() + "index.lock".len()]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_others_do_at_the_moment_passes() {
        assert!(is_passing("fatal: Unable to create '/x/.git/index.lock': File exists."));
        assert!(is_passing("fatal: cannot lock ref 'HEAD': is at 1 but expected 2"));
        assert!(!is_passing("fatal: cannot do a partial commit during a merge."));
        assert!(!is_passing("tests failed"));
    }
}
