//! Merges that are never made, as git predicts them.

use crate::shelf::unanswered;
use clearway_core::failure::Failure;
use clearway_core::slug::Slug;
use clearway_git::{Git, GitError, MERGES_WITHOUT_CHECKOUT};
use clearway_kernel::CheckedOut;
use std::path::Path;

pub(crate) fn checkouts(git: &Git, root: &Path) -> Result<Vec<CheckedOut>, Failure> {
    let version = asked(git.version(root))?;
    if version < MERGES_WITHOUT_CHECKOUT {
        return Err(too_old(version));
    }
    let found = asked(git.checkouts(root))?;
    let one = |found: clearway_git::Checkout| CheckedOut {
        root: found.root,
        commit: found.commit,
        branch: found.branch,
    };
    Ok(found.into_iter().map(one).collect())
}

pub(crate) fn commit_of(git: &Git, root: &Path, name: &str) -> Result<Option<String>, Failure> {
    asked(git.commit_of(root, name))
}

pub(crate) fn merge_conflicts(
    git: &Git,
    root: &Path,
    one: &str,
    other: &str,
) -> Result<Vec<String>, Failure> {
    asked(git.merge_conflicts(root, one, other))
}

fn asked<T>(answer: Result<T, GitError>) -> Result<T, Failure> {
    answer.map_err(|error| unanswered(&error))
}

fn too_old((major, minor): (u32, u32)) -> Failure {
    let (least_major, least_minor) = MERGES_WITHOUT_CHECKOUT;
    let message =
        format!("git {major}.{minor} cannot predict a merge; it takes {least_major}.{least_minor} or newer");
    Failure::new(Slug::GitFailed, message).hint("install a newer git; everything else works with this one")
}
