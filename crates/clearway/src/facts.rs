//! Facts of the outside: processes, uncommitted changes and what git ignores.

use clearway_core::facts::{FactQuery, Facts, Process, ProcessLife, StartedBy};
use clearway_core::target::Worktree;
use clearway_git::Git;
use clearway_platform::clock::BootKey;
use clearway_platform::environment::Environment;
use clearway_platform::process::{self, ProcessIdentity};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Answers every query; what cannot be told counts as what keeps a lease in place.
pub(crate) fn gather(environment: &Environment, queries: &BTreeSet<FactQuery>, facts: &mut Facts) {
    let mut paths: BTreeMap<&Worktree, Vec<&str>> = BTreeMap::new();
    for query in queries {
        match query {
            FactQuery::Process(process) => facts.learn_process(process.clone(), liveness(process)),
            // Asked of the shelf.
            FactQuery::Keep(..) => {}
            FactQuery::Above => {
                facts.learn_above(process::ancestors().map(|above| process(&above)).collect())
            }
            FactQuery::AboveOf(process) => facts.learn_above_of(process.clone(), above(process)),
            FactQuery::Ignored(worktree, path) => {
                let is_ignored = clearway_git::is_ignored(environment, Path::new(&worktree.0), path);
                facts.learn_ignored(worktree.clone(), path.clone(), is_ignored);
            }
            FactQuery::Dirty(worktree, path) => paths.entry(worktree).or_default().push(path),
        }
    }
    for (worktree, paths) in paths {
        learn_dirty(environment, worktree, &paths, facts);
    }
}

/// Asks git once for everything in a checkout.
fn learn_dirty(environment: &Environment, worktree: &Worktree, paths: &[&str], facts: &mut Facts) {
    let git = Git::locate(environment);
    let dirty = git.and_then(|git| git.are_dirty(Path::new(&worktree.0), paths));
    let dirty = dirty.unwrap_or_else(|_| vec![true; paths.len()]);
    // What git put aside for a rebase that it is about to begin is not committed either.
    let aside = put_aside_for_rebase(environment, Path::new(&worktree.0));
    let is_aside = |path: &str| aside.iter().any(|found| Path::new(found).starts_with(path));
    let dirty = paths.iter().zip(dirty).map(|(path, dirty)| dirty || is_aside(path)).collect::<Vec<_>>();
    for (path, dirty) in paths.iter().zip(dirty) {
        facts.learn_dirty(worktree.clone(), (*path).to_owned(), dirty);
    }
}

fn put_aside_for_rebase(environment: &Environment, worktree: &Path) -> Vec<String> {
    let git_dir = clearway_git::discover(worktree).ok().flatten().map(|repository| repository.git_dir);
    let Some(commit) = git_dir.and_then(|git_dir| clearway_git::autostash(&git_dir)) else {
        return Vec::new();
    };
    let before = format!("{commit}^");
    let paths = Git::locate(environment).and_then(|git| git.paths_between(worktree, &before, &commit));
    paths.unwrap_or_default()
}

/// A process as the kernel knows it.
pub(crate) fn process(found: &ProcessIdentity) -> Process {
    Process {
        host: found.host.clone().unwrap_or_default(),
        boot: found.boot.as_str().replace('/', ":"),
        pid_namespace: found.pid_namespace.clone(),
        pid: found.pid,
        start: found.start_ticks,
    }
}

/// The same the other way round.
pub(crate) fn identity(wanted: &Process) -> ProcessIdentity {
    ProcessIdentity {
        host: Some(wanted.host.clone()).filter(|host| !host.is_empty()),
        boot: BootKey::from_text(wanted.boot.replacen(':', "/", 1)),
        pid_namespace: wanted.pid_namespace.clone(),
        pid: wanted.pid,
        start_ticks: wanted.start,
    }
}

fn above(of: &Process) -> StartedBy {
    let found = process::ancestors_of(&identity(of));
    found.map_or(StartedBy::Unseen, |above| StartedBy::These(above.iter().map(process).collect()))
}

fn liveness(wanted: &Process) -> ProcessLife {
    match process::liveness(&identity(wanted)) {
        process::Liveness::Alive => ProcessLife::Alive,
        process::Liveness::Dead => ProcessLife::Dead,
        process::Liveness::Unknown => ProcessLife::Unknown,
    }
}
