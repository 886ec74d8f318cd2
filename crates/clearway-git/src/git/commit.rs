//! Committing some paths and nothing else, by git's own `commit --only`: what others staged or changed stays as it is.
//!
//! The one thing in this crate that changes a repository. Git reads the index before it locks it, so that of two who
//! write it at once one may undo what the other just did: whoever calls this takes turns with others that do, and what
//! a program outside the turn breaks is tried again.

use super::child::{Answer, Feed};
use super::{Git, GitError, PATHS_BYTES_MAX, Question, batches, status};
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

/// A commit that was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewCommit {
    /// Its full name.
    pub id: String,
    /// The branch it is on; `None` for a detached head.
    pub branch: Option<String>,
}

impl Git {
    /// Commits these paths as they are in the checkout, new files and deletions included. Every path has a change.
    pub fn commit_only(
        &self,
        worktree: &Path,
        messages: &[String],
        paths: &[&str],
    ) -> Result<NewCommit, GitError> {
        self.persisting(|| self.try_commit(worktree, messages, paths))
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
    /// paths and settings elsewhere. Messages are in the language that [`persisting`](super::persisting) reads.
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
