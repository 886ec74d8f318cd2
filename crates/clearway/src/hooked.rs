//! The commit at hand, as a hook that git started finds it.

use crate::shelf::unanswered;
use crate::uncommitted::change;
use clearway_core::commit::Reverts;
use clearway_core::failure::Failure;
use clearway_core::time::Wall;
use clearway_git::{Git, GitError};
use clearway_kernel::{Brings, Head, HeadMove, Staged, Uncommitted, UnderWay};
use clearway_platform::environment::Environment;
use std::collections::BTreeSet;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

pub(crate) fn under_way(environment: &Environment) -> UnderWay {
    let Some(git_dir) = clearway_git::hooked_git_dir(environment, &here(environment)) else {
        return UnderWay::Nothing;
    };
    match clearway_git::under_way(&git_dir) {
        clearway_git::UnderWay::Nothing => UnderWay::Nothing,
        clearway_git::UnderWay::Merge(heads) => UnderWay::Merge(heads),
        clearway_git::UnderWay::CherryPick => UnderWay::CherryPick,
        clearway_git::UnderWay::Revert => UnderWay::Revert,
        clearway_git::UnderWay::Rebase => UnderWay::Rebase,
    }
}

fn as_git_has_it(under_way: &UnderWay) -> clearway_git::UnderWay {
    match under_way {
        UnderWay::Nothing => clearway_git::UnderWay::Nothing,
        UnderWay::Merge(heads) => clearway_git::UnderWay::Merge(heads.clone()),
        UnderWay::CherryPick => clearway_git::UnderWay::CherryPick,
        UnderWay::Revert => clearway_git::UnderWay::Revert,
        UnderWay::Rebase => clearway_git::UnderWay::Rebase,
    }
}

pub(crate) fn staged(environment: &Environment, under_way: &UnderWay) -> Result<Staged, Failure> {
    asked(environment, |git, here| {
        let mut paths = git.staged_paths(here, None)?;
        if let UnderWay::Merge(heads) = under_way {
            for head in heads {
                let differs: BTreeSet<String> = git.staged_paths(here, Some(head))?.into_iter().collect();
                paths.retain(|path| differs.contains(path));
            }
        }
        let is_passing =
            environment.var("GIT_INDEX_FILE").is_some_and(|file| file.as_bytes().ends_with(LOCK));
        let git_dir = clearway_git::hooked_git_dir(environment, here);
        let is_of_several = git_dir.is_some_and(|git_dir| git_dir.join(SEQUENCE).exists());
        let staged = Staged { paths, is_passing, is_of_several, ..Staged::default() };
        if staged.paths.is_empty() { Ok(staged) } else { beside_brought(git, here, under_way, staged) }
    })
}

/// Where git has what is left of several picks or reverts.
const SEQUENCE: &str = "sequencer";
/// What the index is called while git writes the next one.
const LOCK: &[u8] = b".lock";

/// Tells what of a commit is staged otherwise than what is under way brings it. What this git cannot merge by itself it
/// brings as one of its sides has it, and nothing else.
fn beside_brought(
    git: &Git,
    here: &Path,
    under_way: &UnderWay,
    mut staged: Staged,
) -> Result<Staged, GitError> {
    let side = match under_way {
        UnderWay::Nothing | UnderWay::Rebase => return Ok(staged),
        UnderWay::Merge(_) => None,
        UnderWay::CherryPick => Some("CHERRY_PICK_HEAD"),
        // What takes back a commit to the letter leaves no mark, and is nothing else.
        UnderWay::Revert if git.commit_of(here, "REVERT_HEAD")?.is_none() => return Ok(staged),
        UnderWay::Revert => Some("REVERT_HEAD^"),
    };
    let differs = match (git.brought(here, &as_git_has_it(under_way))?, side) {
        (Some((brings, differs)), _) => {
            let clearway_git::Brings { tree, undecided, changes } = brings;
            staged.brings = Some(Brings { tree, undecided, changes });
            Some(differs)
        }
        (None, Some(side)) => Some(git.staged_paths(here, Some(side))?),
        (None, None) => None,
    };
    let differs: Option<BTreeSet<String>> = differs.map(|differs| differs.into_iter().collect());
    let is_beyond = |path: &&String| differs.as_ref().is_none_or(|differs| differs.contains(*path));
    staged.beyond = staged.paths.iter().filter(is_beyond).cloned().collect();
    Ok(staged)
}

pub(crate) fn lines(environment: &Environment, paths: &[&str]) -> Result<Vec<Uncommitted>, Failure> {
    let changes = asked(environment, |git, here| git.staged_changes(here, paths))?;
    Ok(changes.into_iter().map(change).collect())
}

/// What git cannot tell is none.
pub(crate) fn is_reverse(environment: &Environment, reverts: &Reverts) -> bool {
    let back_to = reverts.back_to.as_deref();
    asked(environment, |git, here| git.stages_reverse_of(here, &reverts.commit, back_to)).unwrap_or(false)
}

pub(crate) fn committed(environment: &Environment) -> Result<Vec<String>, Failure> {
    asked(environment, Git::committed_paths)
}

pub(crate) fn head(environment: &Environment) -> Option<Head> {
    let here = here(environment);
    let git_dir = clearway_git::hooked_git_dir(environment, &here)?;
    let common = std::fs::read_to_string(git_dir.join("commondir"));
    let common = common.map_or_else(|_| git_dir.clone(), |common| git_dir.join(common.trim()));
    clearway_git::head(&git_dir, &common).map(|found| Head { branch: found.branch, commit: found.commit })
}

pub(crate) fn new_paths(environment: &Environment, from: &str, to: &str) -> Result<Vec<String>, Failure> {
    let git_dir = clearway_git::hooked_git_dir(environment, &here(environment));
    let known = git_dir.map(|git_dir| clearway_git::fetched(&git_dir)).unwrap_or_default();
    asked(environment, |git, here| git.new_paths(here, from, to, &known))
}

pub(crate) fn head_moves(root: &Path, after: u64) -> Option<(u64, Vec<HeadMove>)> {
    let repository = clearway_git::discover(root).ok().flatten()?;
    let (length, moves) = clearway_git::head_moves(&repository, after)?;
    let one = |step: clearway_git::HeadMove| HeadMove {
        from: step.from,
        to: step.to,
        at: Wall(step.seconds.saturating_mul(1_000)),
        action: step.action,
    };
    Some((length, moves.into_iter().map(one).collect()))
}

pub(crate) fn paths_between(
    environment: &Environment,
    root: &Path,
    from: &str,
    to: &str,
) -> Result<Vec<String>, Failure> {
    let answer = Git::locate(environment).and_then(|git| git.paths_between(root, from, to));
    answer.map_err(|error| unanswered(&error))
}

pub(crate) fn leads_to(environment: &Environment, root: &Path, commit: &str, head: &str) -> bool {
    Git::locate(environment).and_then(|git| git.leads_to(root, commit, head)).unwrap_or(false)
}

fn asked<T>(
    environment: &Environment,
    ask: impl FnOnce(&Git, &Path) -> Result<T, GitError>,
) -> Result<T, Failure> {
    let answer = Git::for_hook(environment).and_then(|git| ask(&git, &here(environment)));
    answer.map_err(|error| unanswered(&error))
}

/// Git starts its hooks at the root of the checkout, and names the index from there.
fn here(environment: &Environment) -> PathBuf {
    environment.cwd.clone().unwrap_or_default()
}
