//! Which files changed lately, by what the file system says of them.

use clearway_core::snapshot::BUILD_DIRECTORIES;
use clearway_core::time::Wall;
use clearway_git::Git;
use clearway_kernel::Changed;
use clearway_platform::environment::Environment;
use clearway_platform::files;
use clearway_platform::stopwatch::Stopwatch;
use std::fs::DirEntry;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long a walk through a checkout may take: somebody waits.
const WALK_MS_MAX: u64 = 1_000;
/// How long repositories are looked for.
const SEARCH_MS_MAX: u64 = 200;
/// By how much times of files may lie behind the clock.
const CLOCK_STEP_MS: i64 = 20;

/// Those that changed after an instant, as far as can be told in a while.
pub(crate) fn since(root: &Path, paths: &[&str], since_ns: i64, within: Duration) -> Vec<Changed> {
    let stopwatch = Stopwatch::start();
    let in_time = |_: &(usize, &&str)| Duration::from_millis(stopwatch.elapsed_ms()) < within;
    let looked_at = paths.iter().enumerate().take_while(in_time);
    looked_at
        .filter_map(|(at, path)| Some(Changed { at, is_gone: is_gone(&root.join(path), since_ns)? }))
        .collect()
}

/// Whether any file at these paths or below them changed since an instant, or may have: what takes too long to tell
/// counts, and so does what cannot be looked at, but for what is not there.
/// Repositories inside are their own affair, and what a build makes and git ignores is nobody's work.
pub(crate) fn any_below(environment: &Environment, root: &Path, paths: &[String], since: Wall) -> bool {
    let stopwatch = Stopwatch::start();
    let since_ns = (since.0 - CLOCK_STEP_MS).saturating_mul(1_000_000);
    let mut left: Vec<PathBuf> = paths.iter().map(|path| root.join(path)).collect();
    while let Some(place) = left.pop() {
        if stopwatch.elapsed_ms() > WALK_MS_MAX {
            return true;
        }
        let found = match place.symlink_metadata() {
            Ok(found) => found,
            Err(error) if error.kind() == ErrorKind::NotFound => continue,
            Err(_) => return true,
        };
        if !found.is_dir() {
            if files::changed_at(&place).is_none_or(|changed| changed >= since_ns) {
                return true;
            }
            continue;
        }
        let is_own = place == root || !clearway_git::is_repository_root(&place);
        if is_own && !is_built(environment, root, &place) {
            let entries = std::fs::read_dir(&place).and_then(Iterator::collect::<std::io::Result<Vec<_>>>);
            let Ok(entries) = entries else { return true };
            let entries = entries.iter().map(DirEntry::path);
            left.extend(entries.filter(|path| !path.ends_with(".git")));
        }
    }
    false
}

/// Repositories in a directory, as far as they are found in a while.
pub(crate) fn repositories_in(directory: &Path) -> Vec<PathBuf> {
    let stopwatch = Stopwatch::start();
    let (mut found, mut left) = (Vec::new(), vec![directory.to_owned()]);
    while let Some(place) = left.pop().filter(|_| stopwatch.elapsed_ms() < SEARCH_MS_MAX) {
        if clearway_git::is_repository_root(&place) {
            found.push(place);
            continue;
        }
        left.extend(directories_in(&place).into_iter().filter(|path| !is_named_like_built(path)));
    }
    found
}

/// Repositories at a place in a checkout, or below it, that the one around them does not track. Where git does not tell, they
/// count as untracked.
pub(crate) fn untracked_repositories_in(
    environment: &Environment,
    root: &Path,
    place: &Path,
    with_ignored: bool,
) -> Vec<PathBuf> {
    let starts = if place == root { directories_in(place) } else { vec![place.to_owned()] };
    let git = Git::locate(environment).ok();
    let is_meant = |nested: &PathBuf| {
        let Some(path) = nested.strip_prefix(root).ok().and_then(Path::to_str) else { return true };
        let is_tracked = git.as_ref().is_some_and(|git| git.is_tracked(root, path).unwrap_or(false));
        !is_tracked && (with_ignored || !clearway_git::is_ignored(environment, root, &format!("{path}/x")))
    };
    starts.iter().flat_map(|start| repositories_in(start)).filter(is_meant).collect()
}

fn directories_in(place: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(place).into_iter().flatten().flatten();
    let below = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    below.map(|entry| entry.path()).filter(|path| !path.ends_with(".git")).collect()
}

fn is_named_like_built(directory: &Path) -> bool {
    directory.file_name().is_some_and(|name| BUILD_DIRECTORIES.iter().any(|known| name == *known))
}

fn is_built(environment: &Environment, root: &Path, directory: &Path) -> bool {
    let inside = directory.strip_prefix(root).map(|path| path.join("x"));
    is_named_like_built(directory)
        && inside.is_ok_and(|path| {
            path.to_str().is_some_and(|path| clearway_git::is_ignored(environment, root, path))
        })
}

/// Whether a file that changed is gone; `None` if it did not change.
fn is_gone(path: &Path, since_ns: i64) -> Option<bool> {
    if let Some(changed) = files::changed_at(path) {
        return (changed > since_ns).then_some(false);
    }
    let directory = path.ancestors().skip(1).find_map(files::changed_at)?;
    (directory > since_ns).then_some(true)
}
