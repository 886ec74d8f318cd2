//! Scopes inside a scope that a pattern would seem to reach into: a lease covers nothing in them.
//!
//! Looks no further than a bounded number of directories, because the answer is a courtesy: whoever edits in there is
//! asked by the scope that owns it.

use crate::sites;
use clearway_core::path::CanonicalPath;
use clearway_core::pattern::Pattern;
use clearway_kernel::{Knows, Site};
use std::collections::VecDeque;
use std::path::{Path, PathBuf};

/// How many directories are opened.
const DIRECTORIES_MAX: usize = 64;
/// How many of their entries are looked at.
const ENTRIES_MAX: usize = 1_000;

/// The nearest scope inside this one that a pattern names something of.
pub(crate) fn reached(site: &Site, pattern: &Pattern, knows: &mut Knows<'_>) -> Option<PathBuf> {
    let root = site.root.as_deref()?;
    let mut ahead = VecDeque::from([PathBuf::from(pattern.anchor())]);
    let mut left = ENTRIES_MAX;
    for _ in 0..DIRECTORIES_MAX {
        let directory = ahead.pop_front().filter(|_| left > 0)?;
        for name in directories_in(&root.join(&directory), &mut left) {
            let path = directory.join(name);
            if !may_match_below(site, pattern, &path) {
                continue;
            }
            let place = root.join(&path);
            if clearway_git::is_repository_root(&place) || sites::is_inner_directory(site, &place, knows) {
                return Some(place);
            }
            ahead.push_back(path);
        }
    }
    None
}

/// The directories in a directory, in order; links are not followed, as no wildcard follows them.
fn directories_in(directory: &Path, left: &mut usize) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(directory) else { return Vec::new() };
    let entries = entries.take(*left).inspect(|_| *left -= 1).filter_map(Result::ok);
    let directories = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    let mut names: Vec<String> =
        directories.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort();
    names
}

fn may_match_below(site: &Site, pattern: &Pattern, path: &Path) -> bool {
    let path = path.to_str().and_then(|path| CanonicalPath::parse(path, site.fold).ok());
    path.is_some_and(|path| pattern.overlaps(&Pattern::subtree(&path)))
}
