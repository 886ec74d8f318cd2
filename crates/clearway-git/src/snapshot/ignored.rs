//! Small files that git ignores: settings and keys of a person that no command brings back. They are kept beside git,
//! never in it, because they were not meant to be there.

use super::content::{self, Content, LINK_MODE, Sort};
use super::manifest::{KeptFile, KeptState, Manifest};
use super::survey::Staged;
use crate::glob::Glob;
use std::collections::BTreeMap;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Which ignored files are small enough.
#[derive(Clone, Copy, Debug)]
pub struct IgnoredRules<'o> {
    /// Bytes of one.
    pub file_bytes_max: u64,
    /// Bytes of all of them.
    pub bytes_max: u64,
    /// How many are looked at.
    pub files_max: usize,
    /// Names of directories whose content is made anew by a build.
    pub build_directories: &'o [&'o str],
}

impl IgnoredRules<'_> {
    /// Whether a path lies in a directory of a build, or is one.
    fn is_built(&self, path: &Path) -> bool {
        path.iter().any(|name| self.build_directories.iter().any(|known| name == *known))
    }
}

/// What is about to be lost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gone {
    /// Its name from the root of the checkout, wildcards of a shell and all; the empty one is everything.
    pub name: String,
    /// Whether what lies below it is lost with it.
    pub is_deep: bool,
}

impl Gone {
    fn takes(&self, path: &Path) -> bool {
        let glob = Glob::parse(self.name.as_bytes());
        let is_named = |place: &Path| {
            let bytes = place.as_os_str().as_bytes();
            bytes == self.name.as_bytes() || glob.as_ref().is_some_and(|glob| glob.matches(bytes))
        };
        // What is too many is named by a directory above it.
        let is_inside = Path::new(&self.name).starts_with(path);
        is_inside || if self.is_deep { path.ancestors().any(is_named) } else { is_named(path) }
    }
}

/// What is kept of them.
#[derive(Debug, Default)]
pub(super) struct Gathered {
    /// Each with its bytes; of a link, where it leads.
    pub(super) files: Vec<(KeptFile, Vec<u8>)>,
    /// What is too large, too much or cannot be read.
    pub(super) left_out: Vec<PathBuf>,
    looked_at: usize,
    bytes: u64,
}

/// Reads those at these paths that are small enough, in the order of their paths.
pub(super) fn gather(
    worktree: &Path,
    ignored: &[PathBuf],
    paths: &[&str],
    rules: IgnoredRules<'_>,
) -> Gathered {
    let mut gathered = Gathered::default();
    for path in ignored.iter().flat_map(|ignored| narrowed(ignored, paths, rules)) {
        gathered.take_in(worktree, &path, rules);
    }
    gathered.files.sort_by(|(one, _), (other, _)| one.path.cmp(&other.path));
    gathered
}

/// What is asked for of something that is ignored: git names the directory that is ignored as a whole.
fn narrowed(ignored: &Path, paths: &[&str], rules: IgnoredRules<'_>) -> Vec<PathBuf> {
    let is_inside = |path: &&Path| path.starts_with(ignored) && *path != ignored;
    let asked: Vec<&Path> = paths.iter().map(Path::new).filter(is_inside).collect();
    if asked.is_empty() || paths.iter().any(|path| ignored.starts_with(path)) {
        return vec![ignored.to_owned()];
    }
    let above = ignored.parent().unwrap_or(ignored);
    let is_kept = |path: &&Path| !rules.is_built(path.strip_prefix(above).unwrap_or(path));
    asked.into_iter().filter(is_kept).map(Path::to_owned).collect()
}

impl Gathered {
    /// What is not kept of what is about to be lost, and is not made anew by a build.
    pub(super) fn lost(&self, gone: &[Gone], rules: IgnoredRules<'_>) -> Vec<PathBuf> {
        let is_lost = |path: &&PathBuf| !rules.is_built(path) && gone.iter().any(|gone| gone.takes(path));
        self.left_out.iter().filter(is_lost).cloned().collect()
    }

    fn take_in(&mut self, worktree: &Path, path: &Path, rules: IgnoredRules<'_>) {
        let place = worktree.join(path);
        let sort = content::sort_of(&place);
        if let Ok(Sort::Directory) = sort {
            let is_built = path
                .file_name()
                .is_some_and(|name| rules.build_directories.iter().any(|known| name == *known));
            if !is_built && !crate::is_repository_root(&place) {
                self.take_below(worktree, path, &place, rules);
            }
            return;
        }
        self.looked_at += 1;
        let bytes_left = rules.bytes_max.saturating_sub(self.bytes).min(rules.file_bytes_max);
        let is_small = |bytes: u64| bytes <= bytes_left && self.looked_at <= rules.files_max;
        match sort {
            Ok(Sort::File { bytes } | Sort::Link { bytes }) if is_small(bytes) => {
                match content::read(&place, bytes_left) {
                    Ok(Content::File { mode, bytes }) => self.keep(path, mode, bytes),
                    Ok(Content::Link(target)) => self.keep(path, LINK_MODE, target),
                    Ok(Content::Nothing | Content::Directory) => {}
                    Err(_) => self.left_out.push(path.to_owned()),
                }
            }
            Ok(Sort::File { .. } | Sort::Link { .. }) | Err(_) => self.left_out.push(path.to_owned()),
            Ok(Sort::Nothing | Sort::Directory | Sort::Special) => {}
        }
    }

    fn take_below(&mut self, worktree: &Path, path: &Path, place: &Path, rules: IgnoredRules<'_>) {
        let Ok(entries) = std::fs::read_dir(place) else {
            self.left_out.push(path.to_owned());
            return;
        };
        let mut names: Vec<_> = entries.flatten().map(|entry| entry.file_name()).collect();
        names.sort();
        for name in names {
            // What is too much is named by the directory it lies in.
            if self.looked_at > rules.files_max {
                self.left_out.push(path.to_owned());
                return;
            }
            self.take_in(worktree, &path.join(name), rules);
        }
    }

    fn keep(&mut self, path: &Path, mode: u32, content: Vec<u8>) {
        let bytes = content.len() as u64;
        self.bytes += bytes;
        let (path, staged) = (path.to_owned(), Staged::Same);
        self.files.push((KeptFile { path, state: KeptState::Ignored, mode, bytes, staged }, content));
    }
}

/// The ignored files of a snapshot, by their paths; none of what was not kept whole.
pub(super) fn unpacked(manifest: &Manifest, pack: &[u8]) -> BTreeMap<PathBuf, Content> {
    let mut rest = pack;
    let mut found = BTreeMap::new();
    for file in manifest.files.iter().filter(|file| file.state == KeptState::Ignored) {
        let Ok(bytes) = usize::try_from(file.bytes) else { break };
        let Some((content, after)) = rest.split_at_checked(bytes) else { break };
        rest = after;
        let bytes = content.to_vec();
        let content = match file.mode {
            LINK_MODE => Content::Link(bytes),
            mode => Content::File { mode, bytes },
        };
        found.insert(file.path.clone(), content);
    }
    found
}
