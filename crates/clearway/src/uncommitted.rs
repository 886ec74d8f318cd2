//! What is not committed of a checkout, as git tells it.

use crate::shelf::unanswered;
use clearway_core::failure::Failure;
use clearway_core::time::Wall;
use clearway_git::{FileChange, Git, LineRun};
use clearway_kernel::{ChangedRun, Commits, Site, SiteKind, Uncommitted};
use clearway_platform::environment::Environment;
use std::collections::BTreeMap;
use std::path::Path;

/// Every changed file of the checkout at these paths or below them.
pub(crate) fn of(
    environment: &Environment,
    site: &Site,
    paths: &[&str],
) -> Result<Vec<Uncommitted>, Failure> {
    let root = checkout(site)?;
    let changes = Git::locate(environment).and_then(|git| git.changes(root, paths));
    Ok(changes.map_err(|error| unanswered(&error))?.into_iter().map(change).collect())
}

/// When each of these files was last committed, as far back as asked.
pub(crate) fn last_commits(
    environment: &Environment,
    site: &Site,
    paths: &[&str],
    since: Wall,
    counting: Commits,
) -> Result<BTreeMap<String, Wall>, Failure> {
    let root = checkout(site)?;
    let seconds = since.0.div_euclid(1_000);
    let tip = match counting {
        Commits::All => "HEAD",
        Commits::ButTheLast => "HEAD^",
    };
    let last = Git::locate(environment).and_then(|git| git.committed_since(root, tip, paths, seconds));
    let last = last.map_err(|error| unanswered(&error))?;
    Ok(last.into_iter().map(|(path, seconds)| (path, Wall(seconds.saturating_mul(1_000)))).collect())
}

pub(crate) fn checkout(site: &Site) -> Result<&Path, Failure> {
    let root = site.root.as_deref().filter(|_| site.kind == SiteKind::Git);
    root.ok_or_else(clearway_kernel::no_checkout)
}

pub(crate) fn change(change: FileChange) -> Uncommitted {
    let FileChange { path, is_binary, runs } = change;
    let run = |LineRun { first, removed, added }| ChangedRun { first, removed, added };
    Uncommitted { path, is_binary, runs: runs.into_iter().map(run).collect() }
}
