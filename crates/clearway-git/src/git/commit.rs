//! Committing some paths and nothing else, by git's own `commit --only`: what others staged or changed stays as it is.
//!
//! The one thing in this crate that changes a repository. Git reads the index before it locks it, so that of two who
//! write it at once one may undo what the other just did: whoever calls this takes turns with others that do, and what
//! a program outside the turn breaks is tried again.

use super::child::{Answer, Feed};
use super::persisting::persisting;
use super::{Git, GitError, PATHS_BYTES_MAX, Question, batches, status};
use clearway_platform::files;
use std::collections::BTreeSet;
use std::io;
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

/// A commit that was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewCommit {
    /// Its full name.
    pub id: String,
    /// The branch it is on; `None` for a detached head.
    pub branch: Option<String>,
}

/// Waits until nobody else makes a commit in a checkout, at most so long; whether that is so.
pub type OthersAreDone = fn(&Path, Duration) -> bool;

/// How long commits of others are waited for before this one, however often it is tried: somebody may be writing a message.
const OTHERS_WAIT: Duration = Duration::from_secs(5);
/// How long one is waited for that began in the moment before git had the index for this one.
const SLIPPED_IN_WAIT: Duration = Duration::from_secs(2);
/// How long git may take until it has the index.
const INDEX_WAIT: Duration = Duration::from_secs(5);
const INDEX_PAUSE: Duration = Duration::from_millis(1);

/// The wait for commits of others.
#[derive(Clone, Copy)]
struct Waiting {
    others: OthersAreDone,
    ends: Instant,
}

impl Waiting {
    /// Waits; how to wait once more if it was not in vain.
    fn through(self, worktree: &Path) -> Option<OthersAreDone> {
        let left = self.ends.saturating_duration_since(Instant::now());
        (self.others)(worktree, left).then_some(self.others)
    }
}

/// The message, for git to read. It asks for it once it has the index, and writes it to the one file that every commit of
/// the checkout has for that: whoever else is between its own look at the index and reading its message is to be over
/// first, and nobody begins meanwhile.
fn fed(worktree: &Path, messages: &[String], others: Option<OthersAreDone>) -> Feed {
    let lock = crate::discover(worktree).ok().flatten().map(|found| found.git_dir.join("index.lock"));
    let message = messages.iter().map(|message| message.trim_end()).collect::<Vec<_>>().join("\n\n") + "\n";
    let worktree = worktree.to_owned();
    Box::new(move |out| {
        if let (Some(others), Some(lock)) = (others, lock) {
            let ends = Instant::now() + INDEX_WAIT;
            while !lock.exists() && Instant::now() < ends {
                thread::sleep(INDEX_PAUSE);
            }
            others(&worktree, SLIPPED_IN_WAIT);
        }
        out.write_all(message.as_bytes())
    })
}

impl Git {
    /// Commits these paths as they are in the checkout, new files and deletions included. Every path has a change.
    pub fn commit_only(
        &self,
        worktree: &Path,
        messages: &[String],
        paths: &[&str],
        others: OthersAreDone,
    ) -> Result<NewCommit, GitError> {
        let ends = Instant::now() + OTHERS_WAIT;
        persisting(|| self.try_commit(worktree, messages, paths, Waiting { others, ends }))
    }

    fn try_commit(
        &self,
        worktree: &Path,
        messages: &[String],
        paths: &[&str],
        waiting: Waiting,
    ) -> Result<NewCommit, GitError> {
        let new = self.untracked(worktree, paths)?;
        let new: Vec<&str> = new.iter().map(String::as_str).collect();
        self.over_paths(worktree, "add", &["--intent-to-add"], &new)?;
        let list = files::temporary_dir(files::READING).map_err(|error| self.unstarted(error))?;
        let list_path = list.path().join("paths");
        std::fs::write(&list_path, literal(paths)).map_err(|error| self.unstarted(error))?;
        let feed = fed(worktree, messages, waiting.through(worktree));
        let made = self.run_command("commit", self.commit_command(worktree, &list_path), Some(feed));
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
    /// paths and settings elsewhere. Messages are in the language that [`persisting`](super::persisting) reads.
    fn commit_command(&self, worktree: &Path, list: &Path) -> Command {
        let mut git = self.bare_command(worktree);
        git.env("LANGUAGE", "en").args([
            "commit",
            "--only",
            "--no-status",
            "--file=-",
            "--pathspec-file-nul",
        ]);
        git.arg("--pathspec-from-file").arg(list);
        git
    }

    fn unstarted(&self, error: impl std::error::Error + Send + Sync + 'static) -> GitError {
        GitError::Run { program: self.program.clone(), source: io::Error::other(error) }
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
}
