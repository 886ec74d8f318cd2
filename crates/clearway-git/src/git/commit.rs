//! Committing some paths and nothing else, by git's own `commit --only`: what others staged or changed stays as it is.
//!
//! The one thing in this crate that changes a repository. Git reads the index before it locks it, so that of two who
//! write it at once one may undo what the other just did: whoever calls this takes turns with others that do, and what
//! a program outside the turn breaks is tried again.

use super::child::{Answer, Feed};
use super::{Git, GitError, PATHS_BYTES_MAX, Question, batches, status};
use std::collections::BTreeSet;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant, SystemTime};

/// How long a commit is tried again that somebody else's write of the index kept from happening.
const RETRY_MS: u64 = 20_000;
/// How long it pauses in between, at first and at most.
const PAUSE_MS: u64 = 5;
const PAUSE_MS_MAX: u64 = 80;

/// A commit that was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewCommit {
    /// Its full name.
    pub id: String,
    /// The branch it is on; `None` for a detached head.
    pub branch: Option<String>,
}

/// How long the very same lock of an index is waited for, which no git of ours leaves behind.
const LOCK_MS: u64 = 3_000;

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

/// What git says of the moment and not of the commit.
const PASSING: [&str; 5] = [
    // Somebody else writes the index, or the branch.
    "index.lock': File exists",
    "cannot lock ref",
    "Unable to create temporary file",
    // Somebody else's write of the index undid the entry of a new file.
    "did not match any file(s) known to git",
    "unable to write new index file",
];

impl Git {
    /// Commits these paths as they are in the checkout, new files and deletions included. Every path has a change.
    pub fn commit_only(
        &self,
        worktree: &Path,
        messages: &[String],
        paths: &[&str],
    ) -> Result<NewCommit, GitError> {
        let ends = Instant::now() + Duration::from_millis(RETRY_MS);
        let mut pause_ms = PAUSE_MS;
        let mut lock = StandingLock::default();
        loop {
            let failure = match self.try_commit(worktree, messages, paths) {
                Err(failure) => failure,
                made => return made,
            };
            let passes = matches!(&failure, GitError::Failed { message, .. } if is_passing(message));
            if !passes || Instant::now() >= ends || lock.stands(&failure) {
                return Err(failure);
            }
            thread::sleep(Duration::from_millis(pause_ms));
            pause_ms = (pause_ms * 2).min(PAUSE_MS_MAX);
        }
    }

    fn try_commit(
        &self,
        worktree: &Path,
        messages: &[String],
        paths: &[&str],
    ) -> Result<NewCommit, GitError> {
        let new = self.untracked(worktree, paths)?;
        let new: Vec<&str> = new.iter().map(String::as_str).collect();
        self.over_paths(worktree, "add", &["--intent-to-add"], &new)?;
        let list = literal(paths);
        let feed: Feed = Box::new(move |out| out.write_all(&list));
        let made = self.run_command("commit", self.commit_command(worktree, messages), Some(feed));
        match made {
            Ok(answer) if answer.code == Some(0) => self.made(worktree, &answer.output),
            failed => {
                // What was made known for this commit alone is unknown again.
                drop(self.over_paths(worktree, "update-index", &["--force-remove"], &new));
                Err(failed.map_or_else(|error| error, |answer| not_made(&answer)))
            }
        }
    }

    /// What hooks of the repository find around them is what they find in a commit of a person: nothing of how we read
    /// paths and settings elsewhere. Messages are in the language that [`is_passing`] reads.
    fn commit_command(&self, worktree: &Path, messages: &[String]) -> Command {
        let mut git = self.bare_command(worktree);
        git.env("LANGUAGE", "en").args(["commit", "--only", "--no-status"]);
        git.args(messages.iter().map(|message| format!("--message={message}")));
        git.args(["--pathspec-from-file=-", "--pathspec-file-nul"]);
        git
    }

    /// Those of the paths that the index does not know.
    fn untracked(&self, worktree: &Path, paths: &[&str]) -> Result<BTreeSet<String>, GitError> {
        let options = ["--porcelain=v2", "-z", "--untracked-files=all", "--no-renames"];
        let mut new = BTreeSet::new();
        for batch in batches(paths, PATHS_BYTES_MAX) {
            let question = Question { command: "status", options: &options, paths: &batch };
            new.extend(status::untracked_in(&self.ask(worktree, &question)?)?);
        }
        Ok(new)
    }

    fn over_paths(
        &self,
        worktree: &Path,
        command: &'static str,
        options: &[&str],
        paths: &[&str],
    ) -> Result<(), GitError> {
        for batch in batches(paths, PATHS_BYTES_MAX) {
            self.ask(worktree, &Question { command, options, paths: &batch })?;
        }
        Ok(())
    }

    /// The first line tells which commit it was, whatever came after it on the branch.
    fn made(&self, worktree: &Path, output: &[u8]) -> Result<NewCommit, GitError> {
        let text = String::from_utf8_lossy(output);
        let told = text
            .lines()
            .next()
            .and_then(told)
            .unwrap_or_else(|| NewCommit { id: "HEAD".to_owned(), branch: None });
        let question = Question { command: "rev-parse", options: &["--verify", &told.id], paths: &[] };
        let id = self.ask(worktree, &question)?;
        Ok(NewCommit {
            id: String::from_utf8_lossy(&id).lines().next().unwrap_or_default().to_owned(),
            ..told
        })
    }
}

/// That there is nothing to commit git says where it says what it did.
fn not_made(answer: &Answer) -> GitError {
    let output = String::from_utf8_lossy(&answer.output);
    match NOTHING.iter().any(|text| output.contains(text)) {
        true => GitError::NothingToCommit,
        false => answer.failure("commit"),
    }
}

/// What git says of a commit that would change nothing.
const NOTHING: [&str; 3] = ["nothing to commit", "nothing added to commit", "no changes added to commit"];

/// Whether the same may succeed a moment later.
fn is_passing(message: &str) -> bool {
    PASSING.iter().any(|text| message.contains(text))
}

/// Paths for git to read, none of which is a pattern.
fn literal(paths: &[&str]) -> Vec<u8> {
    paths.iter().flat_map(|path| format!(":(top,literal){path}\0").into_bytes()).collect()
}

/// Reads `[main 0123abcd] subject` and `[detached HEAD (root-commit) 0123abcd] subject`.
fn told(line: &str) -> Option<NewCommit> {
    let (head, _) = line.strip_prefix('[')?.split_once("] ")?;
    let (place, id) = head.rsplit_once(' ')?;
    let place = place.strip_suffix(" (root-commit)").unwrap_or(place);
    let is_id = !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_hexdigit());
    let branch = Some(place).filter(|place| *place != "detached HEAD").map(str::to_owned);
    is_id.then(|| NewCommit { id: id.to_owned(), branch })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_of_git_tells_the_commit() {
        let made = |id: &str, branch: Option<&str>| {
            Some(NewCommit { id: id.to_owned(), branch: branch.map(str::to_owned) })
        };
        for (line, expect) in [
            ("[main 0123abc] a] b", made("0123abc", Some("main"))),
            ("[topic/x (root-commit) 0123abc] a", made("0123abc", Some("topic/x"))),
            ("[detached HEAD 0123abc] a", made("0123abc", None)),
            ("On branch main", None),
            ("[main] a", None),
        ] {
            assert_eq!(told(line), expect, "{line}");
        }
    }

    #[test]
    fn only_what_others_do_at_the_moment_passes() {
        assert!(is_passing("fatal: Unable to create '/x/.git/index.lock': File exists."));
        assert!(is_passing("fatal: cannot lock ref 'HEAD': is at 1 but expected 2"));
        assert!(!is_passing("fatal: cannot do a partial commit during a merge."));
        assert!(!is_passing("tests failed"));
    }
}
