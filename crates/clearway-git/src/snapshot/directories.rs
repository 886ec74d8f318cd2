//! Directories, of which git knows nothing: what modes they have, and which are empty.

use super::content::{self, Sort};
use super::manifest::KeptFile;
use super::survey::Survey;
use super::take::SnapshotOrder;
use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Directories that are looked into for one snapshot. Beyond them only those are known that lead to a file of it.
const LOOKED_AT_MAX: usize = 10_000;

/// The permission bits of a mode.
const PERMISSIONS: u32 = 0o7777;

/// What is kept of directories.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Directories {
    /// The permission bits that most of them have; `None` if that is not known.
    pub(super) usual: Option<u32>,
    /// Those that have others.
    pub(super) unusual: BTreeMap<PathBuf, u32>,
    /// Those in which nothing is, with their permission bits.
    pub(super) empty: BTreeMap<PathBuf, u32>,
}

impl Directories {
    /// The permission bits of one; `None` if they are not known.
    pub(super) fn mode_of(&self, path: &Path) -> Option<u32> {
        self.unusual.get(path).or_else(|| self.empty.get(path)).copied().or(self.usual)
    }
}

/// Looks at those that lead to a file of a snapshot, and at all that go with what is about to be destroyed: where files that
/// git does not track are left alone, no directory goes but with the last file in it.
pub(super) fn gather(order: &SnapshotOrder<'_>, survey: &Survey, files: &[KeptFile]) -> Directories {
    let mut look = Look { worktree: order.worktree, modes: BTreeMap::new(), empty: BTreeSet::new() };
    for above in files.iter().flat_map(|file| file.path.ancestors().skip(1)) {
        look.at(above);
    }
    if let Some(rules) = order.ignored.filter(|_| !order.spared.untracked) {
        let is_built = |path: &&PathBuf| {
            path.file_name().is_some_and(|name| rules.build_directories.iter().any(|built| name == *built))
        };
        let built: BTreeSet<&PathBuf> = survey.ignored.iter().filter(is_built).collect();
        look.below(order.paths, &built);
    }
    look.found()
}

struct Look<'l> {
    worktree: &'l Path,
    modes: BTreeMap<PathBuf, u32>,
    empty: BTreeSet<PathBuf>,
}

impl Look<'_> {
    /// Whether it is a directory of the checkout, whose mode is known from now on.
    fn at(&mut self, path: &Path) -> bool {
        let is_root = path.as_os_str().is_empty();
        if is_root || self.modes.contains_key(path) {
            return true;
        }
        let place = self.worktree.join(path);
        match std::fs::symlink_metadata(&place) {
            Ok(found) if found.is_dir() && !crate::is_repository_root(&place) => {
                self.modes.insert(path.to_owned(), found.permissions().mode() & PERMISSIONS);
                true
            }
            _ => false,
        }
    }

    fn below(&mut self, paths: &[&str], built: &BTreeSet<&PathBuf>) {
        let mut left: Vec<PathBuf> = paths.iter().map(PathBuf::from).collect();
        for _ in 0..LOOKED_AT_MAX {
            let Some(path) = left.pop() else { return };
            if built.contains(&path) || !self.at(&path) {
                continue;
            }
            let Ok(entries) = std::fs::read_dir(self.worktree.join(&path)) else { continue };
            let mut is_empty = true;
            for entry in entries.flatten() {
                is_empty = false;
                let is_directory = entry.file_type().is_ok_and(|kind| kind.is_dir());
                if is_directory && entry.file_name() != ".git" {
                    left.push(path.join(entry.file_name()));
                }
            }
            if is_empty && !path.as_os_str().is_empty() {
                self.empty.insert(path);
            }
        }
    }

    fn found(self) -> Directories {
        let mut counts: BTreeMap<u32, usize> = BTreeMap::new();
        for mode in self.modes.values() {
            *counts.entry(*mode).or_default() += 1;
        }
        let usual = counts.into_iter().max_by_key(|(_, count)| *count).map(|(mode, _)| mode);
        let (empty, filled): (BTreeMap<_, _>, BTreeMap<_, _>) =
            self.modes.into_iter().partition(|(path, _)| self.empty.contains(path));
        let unusual = filled.into_iter().filter(|(_, mode)| Some(*mode) != usual).collect();
        Directories { usual, unusual, empty }
    }
}

/// Whether a directory can be made where none is, once these files are gone.
pub(super) fn is_free(root: &Path, path: &Path, going: &BTreeSet<PathBuf>) -> bool {
    let is_vacant = matches!(content::sort_of(&root.join(path)), Ok(Sort::Nothing)) || going.contains(path);
    is_vacant && content::way_is_clear(root, path, going)
}

/// Makes directories on the way to what is brought back, with the modes that they had.
pub(super) struct Maker<'m> {
    root: &'m Path,
    directories: &'m Directories,
    /// Those into which nobody could write any more, which get their modes in the end.
    closed: Vec<(PathBuf, u32)>,
}

/// Permission bits without which an owner can put nothing into a directory.
const OPEN: u32 = 0o300;

impl<'m> Maker<'m> {
    pub(super) fn new(root: &'m Path, directories: &'m Directories) -> Self {
        Self { root, directories, closed: Vec::new() }
    }

    /// Makes a directory and those above it. A link on the way is not followed, and what is there stays as it is.
    pub(super) fn make(&mut self, path: &Path) -> std::io::Result<()> {
        let mut made = PathBuf::new();
        for part in path.components() {
            made.push(part);
            let place = self.root.join(&made);
            match content::sort_of(&place)? {
                Sort::Directory => {}
                Sort::Nothing => self.make_one(&made, &place)?,
                _ => return Err(std::io::ErrorKind::NotADirectory.into()),
            }
        }
        Ok(())
    }

    fn make_one(&mut self, path: &Path, place: &Path) -> std::io::Result<()> {
        match std::fs::create_dir(place) {
            // Somebody else does the same at this moment, and gives it its mode.
            Err(error)
                if error.kind() == std::io::ErrorKind::AlreadyExists
                    && content::sort_of(place)? == Sort::Directory =>
            {
                return Ok(());
            }
            made => made?,
        }
        match self.directories.mode_of(path) {
            Some(mode) if mode & OPEN == OPEN => set_mode(place, mode),
            Some(mode) => {
                self.closed.push((place.to_owned(), mode));
                Ok(())
            }
            None => Ok(()),
        }
    }

    /// Gives those their modes that could not have them yet, the deepest first.
    pub(super) fn finish(self) -> std::io::Result<()> {
        self.closed.iter().rev().try_for_each(|(place, mode)| set_mode(place, *mode))
    }
}

fn set_mode(place: &Path, mode: u32) -> std::io::Result<()> {
    std::fs::set_permissions(place, std::fs::Permissions::from_mode(mode))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_somebody_else_made_meanwhile_is_a_directory_or_in_the_way() {
        let root = tempfile::tempdir().unwrap();
        let elsewhere = tempfile::tempdir().unwrap();
        let directories = Directories::default();
        let mut maker = Maker::new(root.path(), &directories);
        let (made, link) = (root.path().join("made"), root.path().join("link"));
        std::fs::create_dir(&made).unwrap();
        std::os::unix::fs::symlink(elsewhere.path(), &link).unwrap();
        maker.make_one(Path::new("made"), &made).unwrap();
        assert!(maker.make_one(Path::new("link"), &link).is_err(), "what it leads to lies elsewhere");
    }
}
