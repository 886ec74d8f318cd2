//! What `git stash` put aside.

use super::status::records;
use super::{Git, GitError, Question};
use std::path::Path;

/// What is put aside, and what would be.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stashes {
    /// The commits of the entries, the first one first.
    pub entries: Vec<String>,
    /// Tracked paths with a change that is not committed.
    pub changed: Vec<String>,
    /// Paths that the index does not know.
    pub untracked: Vec<String>,
}

impl Git {
    /// The entries of the repository, and what the checkout has for another. Names that are not UTF-8 are shown with
    /// replacement characters.
    pub fn stashes(&self, worktree: &Path) -> Result<Stashes, GitError> {
        let list = Question { command: "stash", options: &["list", "--format=%H"], paths: &[] };
        let list = self.ask(worktree, &list)?;
        let entries = String::from_utf8_lossy(&list).lines().map(str::to_owned).collect();
        let options =
            ["--porcelain=v2", "-z", "--untracked-files=all", "--no-renames", "--ignore-submodules=all"];
        let status = self.ask(worktree, &Question { command: "status", options: &options, paths: &[] })?;
        let mut found = Stashes { entries, ..Stashes::default() };
        for record in records(&status)? {
            let path = String::from_utf8_lossy(record.path).into_owned();
            match record.kind {
                b'1' | b'2' | b'u' => found.changed.push(path),
                b'?' => found.untracked.push(path),
                _ => {}
            }
        }
        Ok(found)
    }
}
