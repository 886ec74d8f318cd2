//! Temporary files and directories that a killed process left behind.
//!
//! Whoever makes one holds a lock on it for as long as it is used, so that a lock that can be had proves its maker
//! dead, whatever pid namespace it lived in. Nothing is removed here whose lock cannot be had, that is not ours,
//! whose name we would not give, or that was kept on purpose.

use super::{FileError, uid};
use rustix::fs::{FlockOperation, flock};
use std::fs::{self, File, Metadata, OpenOptions};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

const SALT_DIGITS: usize = 16;
const FILE_START: &str = ".clearway-";
const FILE_END: &str = ".tmp";
/// What directories for reading are called.
pub const READING: &str = "clearway-read";
/// What the directories of demonstrations are called.
pub const DEMO: &str = "clearway-demo";
/// An entry of this name in a directory says that it is to stay when its maker has ended.
pub(super) const KEPT: &str = "kept";

/// The name of a temporary file.
pub(super) fn file_name(salt: u64) -> String {
    format!("{FILE_START}{salt:016x}{FILE_END}")
}

/// The name of a temporary directory.
pub(super) fn directory_name(stem: &str, salt: u64) -> String {
    format!("{stem}-{salt:016x}")
}

/// Locks what was just made. False if somebody took it for a leftover in the moment before.
pub(super) fn claim(made: &File) -> bool {
    // Where locks are not supported nobody can have it, so nobody removes it either.
    let _ = flock(made, FlockOperation::LockExclusive);
    made.metadata().is_ok_and(|metadata| metadata.nlink() > 0)
}

/// What dead processes left in a directory of ours and in the system's place for temporary files.
pub fn leftovers(directory: &Path) -> Vec<PathBuf> {
    let files = entries(directory).filter(|path| is_file_name(&name_of(path)));
    let mut found: Vec<PathBuf> = files.filter(|path| take(path).is_some()).collect();
    found.extend(leftover_directories());
    found.sort();
    found
}

/// What dead processes left in the system's place for temporary files.
pub fn leftover_directories() -> Vec<PathBuf> {
    let temporary = std::env::temp_dir();
    let directories = entries(&temporary).filter(|path| is_directory_name(&name_of(path)));
    directories.filter(|path| take(path).is_some()).collect()
}

/// Removes one of them. False if it is in use after all, or gone.
pub fn remove_leftover(path: &Path) -> Result<bool, FileError> {
    let Some((_held, metadata)) = take(path) else { return Ok(false) };
    let removed = if metadata.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
    removed.map(|()| true).map_err(FileError::system("remove", path))
}

/// Removes what dead processes left in a directory of what [`temporary_dir_in`](super::temporary_dir_in) made there under
/// this name. What cannot be removed now is in nobody's way.
pub fn remove_leftovers_in(directory: &Path, stem: &str) {
    for left in entries(directory).filter(|path| is_directory_of(stem, &name_of(path))) {
        let _ = remove_leftover(&left);
    }
}

/// The lock of something abandoned, held until dropped.
fn take(path: &Path) -> Option<(File, Metadata)> {
    let nofollow = rustix::fs::OFlags::NOFOLLOW.bits().cast_signed();
    let file = OpenOptions::new().read(true).custom_flags(nofollow).open(path).ok()?;
    let metadata = file.metadata().ok().filter(|metadata| metadata.uid() == uid())?;
    if metadata.is_dir() && path.join(KEPT).exists() {
        return None;
    }
    flock(&file, FlockOperation::NonBlockingLockExclusive).ok()?;
    Some((file, metadata))
}

fn entries(directory: &Path) -> impl Iterator<Item = PathBuf> {
    fs::read_dir(directory).into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path()))
}

fn name_of(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

fn is_file_name(name: &str) -> bool {
    name.strip_prefix(FILE_START).and_then(|rest| rest.strip_suffix(FILE_END)).is_some_and(is_salt)
}

fn is_directory_name(name: &str) -> bool {
    [READING, DEMO].iter().any(|stem| is_directory_of(stem, name))
}

fn is_directory_of(stem: &str, name: &str) -> bool {
    name.strip_prefix(stem).and_then(|rest| rest.strip_prefix('-')).is_some_and(is_salt)
}

fn is_salt(text: &str) -> bool {
    text.len() == SALT_DIGITS && text.bytes().all(|b| b.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_leftover_is_what_has_our_name_and_nobody_holds() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        let (dead, living) = (at(&file_name(1)), at(&file_name(2)));
        fs::write(&dead, "x").unwrap();
        fs::write(at("store.db"), "x").unwrap();
        fs::write(at(".clearway-mine.tmp"), "x").unwrap();
        let held = File::create(&living).unwrap();
        assert!(claim(&held));
        let ours =
            || leftovers(directory.path()).into_iter().filter(|path| path.starts_with(directory.path()));
        assert_eq!(ours().collect::<Vec<_>>(), std::slice::from_ref(&dead));
        assert!(!remove_leftover(&living).unwrap() && living.exists());
        assert!(remove_leftover(&dead).unwrap() && !dead.exists());
        drop(held);
        assert_eq!(ours().collect::<Vec<_>>(), [living]);
    }

    #[test]
    fn what_was_removed_before_it_was_claimed_is_noticed() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join(file_name(3));
        let made = File::create(&path).unwrap();
        fs::remove_file(&path).unwrap();
        assert!(!claim(&made));
    }

    #[test]
    fn a_directory_for_reading_is_a_leftover_only_without_its_owner() {
        let directory = super::super::temporary_dir(READING).unwrap();
        assert!(!remove_leftover(directory.path()).unwrap());
        assert!(directory.path().exists());
    }

    #[test]
    fn in_a_directory_only_what_has_the_name_and_nobody_holds_is_removed() {
        let base = tempfile::tempdir().unwrap();
        let held = super::super::temporary_dir_in(base.path(), "back").unwrap();
        let at = |name: &str| base.path().join(name);
        let dead = at(&directory_name("back", 7));
        fs::create_dir(&dead).unwrap();
        fs::write(dead.join("made"), "x").unwrap();
        fs::create_dir(at("back-mine")).unwrap();
        remove_leftovers_in(base.path(), "back");
        assert_eq!((dead.exists(), at("back-mine").exists(), held.path().exists()), (false, true, true));
    }

    #[test]
    fn what_was_kept_on_purpose_is_no_leftover() {
        let directory = super::super::temporary_dir(DEMO).unwrap();
        let path = directory.path().to_owned();
        directory.keep().unwrap();
        assert!(!remove_leftover(&path).unwrap() && path.exists());
        fs::remove_file(path.join(KEPT)).unwrap();
        assert!(remove_leftover(&path).unwrap() && !path.exists());
    }
}
