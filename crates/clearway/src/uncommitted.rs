//! What is not committed of a checkout, as git tells it.

use clearway_core::failure::Failure;
use clearway_core::slug::Slug;
use clearway_core::time::Wall;
use clearway_git::{FileChange, Git, GitError, LineRun};
use clearway_kernel::{ChangedRun, Site, SiteKind, Uncommitted};
use clearway_platform::environment::Environment;
use std::collections::BTreeMap;
use std::path::Path;

/// Every changed file of the checkout.
pub(crate) fn of(environment: &Environment, site: &Site) -> Result<Vec<Uncommitted>, Failure> {
    let root = checkout(site)?;
    let changes = Git::locate(environment).and_then(|git| git.changes(root, &[""]));
    Ok(changes.map_err(|error| unanswered(&error))?.into_iter().map(change).collect())
}

/// When each of these files was last committed, as far back as asked.
pub(crate) fn last_commits(
    environment: &Environment,
    site: &Site,
    paths: &[&str],
    since: Wall,
) -> Result<BTreeMap<String, Wall>, Failure> {
    let root = checkout(site)?;
    let seconds = since.0.div_euclid(1_000);
    let last = Git::locate(environment).and_then(|git| git.committed_since(root, paths, seconds));
    let last = last.map_err(|error| unanswered(&error))?;
    Ok(last.into_iter().map(|(path, seconds)| (path, Wall(seconds.saturating_mul(1_000)))).collect())
}

fn checkout(site: &Site) -> Result<&Path, Failure> {
    let root = site.root.as_deref().filter(|_| site.kind == SiteKind::Git);
    root.ok_or_else(|| {
        Failure::new(
            Slug::NoCheckout,
            "there is no git checkout here, so nothing is committed or uncommitted",
        )
        .hint("go to a checkout, or name one: cd DIR")
    })
}

fn unanswered(error: &GitError) -> Failure {
    Failure::new(Slug::GitFailed, error.to_string()).hint("see what git says: git status")
}

fn change(change: FileChange) -> Uncommitted {
    let FileChange { path, is_binary, runs } = change;
    let run = |LineRun { first, removed, added }| ChangedRun { first, removed, added };
    Uncommitted { path, is_binary, runs: runs.into_iter().map(run).collect() }
}
