//! What a checkout was in the middle of: a merge, a cherry-pick, a revert. Git keeps that in files of its own directory, and
//! a hard reset forgets it with the conflicts.

use super::SnapshotError;
use super::aside::{Aside, Onto};
use super::manifest::Manifest;
use crate::discover_from;
use crate::git::{Git, Question};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

/// Files that say what git is in the middle of, with the word for it.
const HEADS: [(&str, &str); 3] =
    [("REVERT_HEAD", "revert"), ("CHERRY_PICK_HEAD", "cherry-pick"), ("MERGE_HEAD", "merge")];
/// Files that say what it will be when it is over.
const BESIDE: [&str; 3] = ["MERGE_MSG", "SQUASH_MSG", "MERGE_MODE"];
/// Bytes of such a file; a longer one is not kept.
const BYTES_MAX: u64 = 64 * 1_024;

/// A file of the git directory with what is in it.
pub(super) type StateFile = (String, Vec<u8>);

/// Whether a file of the git directory is one of these.
pub(super) fn is_known(name: &str) -> bool {
    BESIDE.contains(&name) || HEADS.iter().any(|(head, _)| *head == name)
}

/// What a checkout is in the middle of; nothing if no commit is named by it.
pub(super) fn gather(worktree: &Path) -> Vec<StateFile> {
    let Some(git_dir) = git_dir(worktree) else { return Vec::new() };
    let heads = HEADS.iter().map(|(name, _)| *name);
    let read = |name: &str| Some((name.to_owned(), content(&git_dir.join(name))?));
    let heads: Vec<StateFile> = heads.filter_map(read).collect();
    // In the order in which they are written: what says that it is under way comes last.
    let beside = BESIDE.into_iter().filter(|_| !heads.is_empty()).filter_map(read);
    beside.chain(heads.iter().cloned()).collect()
}

/// The word for it; `None` if that is nothing.
pub(super) fn word<'f>(files: impl Iterator<Item = &'f StateFile>) -> Option<&'static str> {
    let known = files.filter_map(|(name, _)| HEADS.into_iter().find(|(head, _)| head == name));
    known.last().map(|(_, word)| word)
}

/// The commits that files of the kind name.
pub(super) fn commits(files: &[StateFile]) -> Vec<String> {
    let is_head = |name: &str| HEADS.iter().any(|(head, _)| *head == name);
    let named = files.iter().filter(|(name, _)| is_head(name));
    let lines = named
        .flat_map(|(_, bytes)| String::from_utf8_lossy(bytes).lines().map(str::to_owned).collect::<Vec<_>>());
    lines.filter(|line| line.len() >= 40 && line.bytes().all(|byte| byte.is_ascii_hexdigit())).collect()
}

/// Those files of a snapshot that are to be written again; `None` if the checkout is in the middle of something else, or was
/// left for another commit.
pub(super) fn left_over<'m>(
    worktree: &Path,
    manifest: &'m Manifest,
    head: Option<&String>,
) -> Option<Vec<&'m StateFile>> {
    let git_dir = git_dir(worktree).filter(|_| manifest.base.as_ref() == head)?;
    let kept = |name: &str| manifest.under_way.iter().find(|(kept, _)| kept == name).map(|(_, bytes)| bytes);
    let is_same = |name: &str| match content(&git_dir.join(name)) {
        None => true,
        Some(now) => kept(name) == Some(&now),
    };
    let is_free = HEADS.iter().all(|(name, _)| is_same(name));
    let is_gone = |file: &&StateFile| !git_dir.join(&file.0).exists();
    is_free.then(|| manifest.under_way.iter().filter(is_gone).collect())
}

/// Has the checkout be in the middle of it again: each file whole or not at all, and what is there already stays.
pub(super) fn write(aside: &Aside, worktree: &Path, files: &[&StateFile]) -> Result<(), SnapshotError> {
    let Some(git_dir) = git_dir(worktree) else { return Ok(()) };
    for (name, bytes) in files {
        let place = git_dir.join(name);
        let written = aside.put(&place, Onto::Nothing, |made| {
            let mut file = std::fs::File::create(made)?;
            file.write_all(bytes)?;
            file.sync_all()
        });
        written.map_err(|source| SnapshotError::Unwritable { path: place, source })?;
    }
    Ok(())
}

fn git_dir(worktree: &Path) -> Option<PathBuf> {
    discover_from(worktree).ok().flatten().map(|repository| repository.git_dir)
}

/// What is in a file, unless that is too much.
fn content(path: &Path) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let file = std::fs::File::open(path).ok()?;
    file.take(BYTES_MAX + 1).read_to_end(&mut bytes).ok()?;
    (bytes.len() as u64 <= BYTES_MAX).then_some(bytes)
}

impl Git {
    /// Those of these commits that the repository has.
    pub(super) fn known_commits(
        &self,
        worktree: &Path,
        commits: Vec<String>,
    ) -> Result<Vec<String>, SnapshotError> {
        let mut known = Vec::new();
        for commit in commits {
            let name = format!("{commit}^{{commit}}");
            let options = ["--verify", "--quiet", "--end-of-options", &name];
            if self.says(worktree, &Question { command: "rev-parse", options: &options, paths: &[] })? {
                known.push(commit);
            }
        }
        Ok(known)
    }
}
