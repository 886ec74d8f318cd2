//! Files that are not about to be lost, whatever becomes of those around them.

use super::SnapshotError;
use super::survey::Survey;
use super::take::SnapshotOrder;
use crate::git::{Git, Question};
use std::path::{Path, PathBuf};

/// What is left alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spared<'o> {
    /// Files that git tracks.
    pub tracked: bool,
    /// Files that it does not track.
    pub untracked: bool,
    /// But for those that one of these commits has. A name of none has no files.
    pub but_in: &'o [String],
}

impl Git {
    /// Tells files that are left alone from those that are not.
    pub(super) fn spared(
        &self,
        order: &SnapshotOrder<'_>,
        survey: &Survey,
        files: Vec<PathBuf>,
    ) -> Result<(Vec<PathBuf>, Vec<PathBuf>), SnapshotError> {
        let Spared { tracked, untracked, but_in } = order.spared;
        let (mut spared, mut lost) = (Vec::new(), Vec::new());
        for path in files {
            let is_tracked = survey.files.get(&path).is_some_and(|change| change.tracked);
            let is_spared = if is_tracked { tracked } else { untracked };
            let is_written = is_spared && !is_tracked && self.is_in_any(order.worktree, but_in, &path)?;
            if is_spared && !is_written { spared.push(path) } else { lost.push(path) }
        }
        Ok((spared, lost))
    }

    fn is_in_any(&self, worktree: &Path, commits: &[String], path: &Path) -> Result<bool, SnapshotError> {
        // What no text names is asked for in vain, so it counts as there.
        let Some(path) = path.to_str() else { return Ok(!commits.is_empty()) };
        for commit in commits {
            let tree = format!("{commit}^{{tree}}");
            let options = ["--verify", "--quiet", "--end-of-options", &tree];
            let is_commit = Question { command: "rev-parse", options: &options, paths: &[] };
            if !self.says(worktree, &is_commit)? {
                continue;
            }
            let options = ["--full-tree", "--name-only", tree.as_str()];
            let found =
                self.ask(worktree, &Question { command: "ls-tree", options: &options, paths: &[path] })?;
            if !found.is_empty() {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
