//! Which snapshots a repository keeps, and what is in one.

use super::manifest::{HEAD_LINES, Manifest};
use super::{SNAPSHOTS, SnapshotError};
use crate::git::{Git, Question};
use std::path::Path;

/// A snapshot that is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// Its number.
    pub number: u64,
    /// Its reference.
    pub reference: String,
    /// The commit.
    pub commit: String,
    /// What it is, without its files.
    pub manifest: Manifest,
}

impl Git {
    /// Every snapshot of the repository, the latest first.
    pub fn snapshots(&self, worktree: &Path) -> Result<Vec<Listed>, SnapshotError> {
        let format = format!("--format=%(refname)%00%(objectname)%00%(contents:lines={HEAD_LINES})%00");
        let question = Question { command: "for-each-ref", options: &[&format, SNAPSHOTS], paths: &[] };
        let output = self.ask(worktree, &question)?;
        let text = String::from_utf8_lossy(&output);
        let fields: Vec<&str> = text.split('\0').collect();
        let mut listed: Vec<Listed> = fields.chunks_exact(3).filter_map(listed).collect();
        listed.sort_by_key(|listed| std::cmp::Reverse(listed.number));
        Ok(listed)
    }

    /// Keeps these no longer, each named by its reference and its commit. What one holds goes with the next `git gc` that finds it.
    pub fn forget_snapshots(
        &self,
        worktree: &Path,
        snapshots: &[(String, String)],
    ) -> Result<(), SnapshotError> {
        let deletion = |(reference, commit): &(String, String)| format!("delete {reference} {commit}\n");
        let commands: String = snapshots.iter().map(deletion).collect();
        let question = Question { command: "update-ref", options: &["--stdin"], paths: &[] };
        self.ask_fed(worktree, &question, Box::new(move |out| out.write_all(commands.as_bytes())))?;
        Ok(())
    }

    /// What a snapshot holds.
    pub fn snapshot_manifest(&self, worktree: &Path, commit: &str) -> Result<Manifest, SnapshotError> {
        let question = Question { command: "cat-file", options: &["commit", commit], paths: &[] };
        let output = self.ask(worktree, &question)?;
        let text = String::from_utf8_lossy(&output);
        let message = text.split_once("\n\n").map(|(_, message)| message).unwrap_or_default();
        Manifest::read(message).ok_or_else(|| SnapshotError::NoSnapshot { commit: commit.to_owned() })
    }
}

/// `refs/clearway/snap/AGENT/NUMBER`, and the head of the message. The end of the record before it stands in front.
fn listed(fields: &[&str]) -> Option<Listed> {
    let &[reference, commit, head] = fields else { return None };
    let reference = reference.trim_start_matches('\n');
    let number = reference.strip_prefix(SNAPSHOTS)?.rsplit_once('/')?.1.parse().ok()?;
    let lines: Vec<&str> = head.lines().map(str::trim_start).collect();
    let manifest = Manifest::read(&lines.join("\n"))?;
    Some(Listed { number, reference: reference.to_owned(), commit: commit.to_owned(), manifest })
}
