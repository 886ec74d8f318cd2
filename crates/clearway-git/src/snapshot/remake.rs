//! Making a linked checkout again that is gone, so that what is kept of it can be brought back there.

use super::manifest::Manifest;
use super::{BackPlan, BackState, SnapshotError};
use crate::git::{Git, Question};
use crate::snapshot::bring_back::Back;
use crate::snapshot::manifest::KeptState;
use crate::snapshot::survey::{Staged, Survey};
use crate::snapshot::under_way;
use std::io;
use std::path::{Path, PathBuf};

/// What is to be known of a linked checkout to make it again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Linked {
    /// The branch that was checked out; `None` for a detached head.
    pub(super) branch: Option<String>,
}

/// A checkout that is linked to a repository elsewhere.
pub(super) fn linked(worktree: &Path, survey: &Survey) -> Option<Linked> {
    let repository = crate::discover_from(worktree).ok().flatten()?;
    let is_linked = repository.git_dir.starts_with(repository.common_dir.join("worktrees"));
    is_linked.then(|| Linked { branch: survey.branch.clone() })
}

impl Git {
    /// What bringing a snapshot back would do in its checkout made anew; `None` if that was no linked one.
    pub fn plan_anew(&self, worktree: &Path, commit: &str) -> Result<Option<BackPlan>, SnapshotError> {
        let manifest = self.snapshot_manifest(worktree, commit)?;
        let resumes = under_way::word(manifest.under_way.iter());
        let back = |file: super::KeptFile| {
            let is_removal = file.state == KeptState::Deleted;
            let state = if is_removal { BackState::Removed } else { BackState::Written };
            Back { restages: file.staged != Staged::Same, file, state, is_dirty: false }
        };
        let is_linked = manifest.linked.is_some() && manifest.base.is_some();
        let files = manifest.files.into_iter().map(back).collect();
        Ok(is_linked.then_some(BackPlan { files, resumes }))
    }

    /// Makes the checkout of a snapshot again: on the branch that it had, if that leads where it did and nobody else has it
    /// checked out, and otherwise on the commit alone. Answers where that is.
    pub fn remake_checkout(&self, worktree: &Path, commit: &str) -> Result<PathBuf, SnapshotError> {
        let manifest = self.snapshot_manifest(worktree, commit)?;
        let place = manifest.label.worktree.clone();
        let unmakeable = || {
            let source = io::ErrorKind::Unsupported.into();
            SnapshotError::Unwritable { path: place.clone(), source }
        };
        let base = manifest.base.as_deref().ok_or_else(unmakeable)?;
        let name = place.to_str().ok_or_else(unmakeable)?;
        let branch = self.free_branch(worktree, &manifest, base)?;
        let (options, start): (&[&str], &str) = match &branch {
            Some(branch) => (&["add", "--quiet", "--force"], branch),
            None => (&["add", "--quiet", "--force", "--detach"], base),
        };
        self.ask(worktree, &Question { command: "worktree", options, paths: &[name, start] })?;
        Ok(place)
    }

    fn free_branch(
        &self,
        worktree: &Path,
        manifest: &Manifest,
        base: &str,
    ) -> Result<Option<String>, SnapshotError> {
        let Some(branch) = manifest.linked.as_ref().and_then(|linked| linked.branch.clone()) else {
            return Ok(None);
        };
        let is_taken = self.checkouts(worktree)?.iter().any(|there| there.branch.as_ref() == Some(&branch));
        let leads_to = self.commit_of(worktree, &format!("refs/heads/{branch}"))?;
        Ok((!is_taken && leads_to.as_deref() == Some(base)).then_some(branch))
    }
}
