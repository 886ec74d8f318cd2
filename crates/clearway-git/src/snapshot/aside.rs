//! What is to lie in a checkout or among git's own files is made aside and moved to its place, so that it is there whole or
//! not at all. Whoever does so has a directory of its own for it, which says by a lock that its owner lives: of two at once
//! neither meets what the other makes, and what a killed one left is removed by the next.

use clearway_platform::files::{FileError, TemporaryDir, remove_leftovers_in, temporary_dir_in};
use std::cell::OnceCell;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// What such a directory is called where git does not see it.
const AMONG_GITS_OWN: &str = "clearway-back";
/// What it is called in a checkout that lies on another disk than git's own files.
const IN_CHECKOUT: &str = ".clearway-back";
/// What is in the making there.
const IN_THE_MAKING: &str = "new";

/// What may be at a place to which something is moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Onto {
    /// Any file: it is replaced.
    Whatever,
    /// Nothing: what is there stays.
    Nothing,
}

/// Where things are made before they are moved.
#[derive(Debug)]
pub(super) struct Aside {
    git_dir: Option<PathBuf>,
    made: OnceCell<TemporaryDir>,
}

impl Aside {
    /// That of a checkout, without what calls left there that were killed.
    pub(super) fn of(root: &Path) -> Self {
        let git_dir = crate::discover(root).ok().flatten().map(|repository| repository.git_dir);
        git_dir.iter().for_each(|git_dir| remove_leftovers_in(git_dir, AMONG_GITS_OWN));
        Self { git_dir, made: OnceCell::new() }
    }

    /// Makes something and moves it to a place.
    pub(super) fn put(
        &self,
        place: &Path,
        onto: Onto,
        make: impl Fn(&Path) -> io::Result<()>,
    ) -> io::Result<()> {
        let put = |directory: &Path| {
            let made = directory.join(IN_THE_MAKING);
            let moved = make(&made).and_then(|()| onto.move_there(&made, place));
            moved.inspect_err(|_| drop(fs::remove_file(&made)))
        };
        match self.among_gits_own()?.map(|directory| put(directory.path())) {
            Some(Err(error)) if error.kind() == io::ErrorKind::CrossesDevices => {}
            Some(put) => return put,
            None => {}
        }
        let beside = place.parent().unwrap_or(Path::new("."));
        remove_leftovers_in(beside, IN_CHECKOUT);
        put(temporary_dir_in(beside, IN_CHECKOUT).map_err(why)?.path())
    }

    fn among_gits_own(&self) -> io::Result<Option<&TemporaryDir>> {
        let (None, Some(git_dir)) = (self.made.get(), &self.git_dir) else { return Ok(self.made.get()) };
        let made = temporary_dir_in(git_dir, AMONG_GITS_OWN).map_err(why)?;
        Ok(Some(self.made.get_or_init(|| made)))
    }
}

impl Onto {
    fn move_there(self, from: &Path, place: &Path) -> io::Result<()> {
        match self {
            Self::Whatever => fs::rename(from, place),
            Self::Nothing => match fs::hard_link(from, place) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => fs::remove_file(from),
                linked => linked.and_then(|()| fs::remove_file(from)),
            },
        }
    }
}

fn why(error: FileError) -> io::Error {
    match error {
        FileError::System { source, .. } => source,
        error => io::Error::other(error),
    }
}
