//! Files that belong to other programs: changed whole, through their links, and with the mode they have.

use super::private::{parent_of, replace_atomic};
use super::{FileError, PRIVATE_FILE_MODE, create_private_dir_all, leftovers, open_private};
use super::{remove_if_present, remove_leftover};
use crate::lock::{LockedFile, lock_within};
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// The mode of a new file, before the mask of the process.
const COMMON_FILE_MODE: u32 = 0o666;
/// Links that are followed before they are taken for a circle.
const LINKS_MAX: usize = 40;
const MODE_BITS: u32 = 0o7777;

/// Replaces a file as a whole or makes it. A link is followed, also one that leads nowhere yet, and a file keeps its
/// mode. Answers the directories that had to be made, outermost first.
pub fn replace(path: &Path, bytes: &[u8]) -> Result<Vec<PathBuf>, FileError> {
    let target = followed(path)?;
    let parent = parent_of(&target);
    let made: Vec<PathBuf> =
        parent.ancestors().take_while(|part| !part.exists()).map(Path::to_owned).collect();
    if !made.is_empty() {
        create_private_dir_all(parent)?;
    }
    remove_leftovers(parent);
    match fs::metadata(&target) {
        Ok(found) => replace_like(&target, bytes, found.mode() & MODE_BITS)?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            replace_atomic(&target, bytes, COMMON_FILE_MODE, None)?;
        }
        Err(error) => return Err(FileError::system("look at", &target)(error)),
    }
    Ok(made.into_iter().rev().collect())
}

/// A file that may not be written is not replaced either, though its directory would allow it.
fn replace_like(target: &Path, bytes: &[u8], mode: u32) -> Result<(), FileError> {
    if !super::can_write(target) {
        return Err(FileError::system("write", target)(io::ErrorKind::PermissionDenied.into()));
    }
    replace_atomic(target, bytes, PRIVATE_FILE_MODE, Some(mode))
}

/// Nobody else looks into the directories of other programs for what a killed process of ours left there.
fn remove_leftovers(directory: &Path) {
    for left in leftovers(directory).iter().filter(|path| path.parent() == Some(directory)) {
        // What cannot be removed is in nobody's way.
        let _ = remove_leftover(left);
    }
}

/// Removes a file; one that is not there is fine. A link to it is followed and stays.
pub fn remove_followed(path: &Path) -> Result<(), FileError> {
    remove_if_present(&followed(path)?)
}

/// Where a path leads in the end.
fn followed(path: &Path) -> Result<PathBuf, FileError> {
    let mut path = path.to_owned();
    for _ in 0..LINKS_MAX {
        match fs::read_link(&path) {
            Ok(next) => path = parent_of(&path).join(next),
            Err(_) => return Ok(path),
        }
    }
    Err(FileError::system("follow", &path)(io::Error::other("too many links")))
}

/// Whether a file can be run by whoever asks.
pub fn can_run(path: &Path) -> bool {
    path.is_file() && rustix::fs::access(path, rustix::fs::Access::EXEC_OK).is_ok()
}

/// Removes a directory that is empty. One that is not stays, and so does one that somebody else is using.
pub fn remove_if_empty(path: &Path) {
    // What is in it is somebody's; that it stays is the point.
    let _ = fs::remove_dir(path);
}

/// A turn that ends when it is dropped.
#[derive(Debug)]
pub struct Turn {
    _lock: LockedFile,
}

/// Waits for a turn at what a private file stands for, at most so long.
pub fn take_turn(path: &Path, timeout: Duration) -> Result<Turn, FileError> {
    let file = open_private(path)?;
    let lock = lock_within(&Arc::new(file), timeout)
        .and_then(|lock| lock.ok_or_else(|| io::ErrorKind::TimedOut.into()));
    lock.map(|lock| Turn { _lock: lock }).map_err(FileError::system("lock", path))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::Permissions;
    use std::os::unix::fs::{PermissionsExt, symlink};

    #[test]
    fn a_file_keeps_its_mode_and_its_link() {
        let dir = tempfile::tempdir().unwrap();
        let (real, link) = (dir.path().join("real"), dir.path().join("link"));
        fs::write(&real, "old").unwrap();
        fs::set_permissions(&real, Permissions::from_mode(0o664)).unwrap();
        symlink("real", &link).unwrap();
        assert_eq!(replace(&link, b"new").unwrap(), Vec::<PathBuf>::new());
        assert_eq!(fs::read(&real).unwrap(), b"new");
        assert_eq!(fs::metadata(&real).unwrap().mode() & MODE_BITS, 0o664);
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2);
    }

    #[test]
    fn what_a_killed_process_left_beside_a_file_is_gone_with_the_next_write() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join(".clearway-0123456789abcdef.tmp"), "half").unwrap();
        fs::write(dir.path().join(".clearway-notes.tmp"), "somebody's").unwrap();
        replace(&dir.path().join("file"), b"new").unwrap();
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2);
    }

    #[test]
    fn a_link_that_leads_nowhere_leads_to_the_new_file() {
        let dir = tempfile::tempdir().unwrap();
        symlink("deep/er/file", dir.path().join("link")).unwrap();
        let made = replace(&dir.path().join("link"), b"new").unwrap();
        assert_eq!(made, [dir.path().join("deep"), dir.path().join("deep/er")]);
        assert_eq!(fs::read(dir.path().join("deep/er/file")).unwrap(), b"new");
        symlink("circle", dir.path().join("circle")).unwrap();
        assert!(replace(&dir.path().join("circle"), b"new").is_err());
    }

    #[test]
    fn only_an_empty_directory_is_removed() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("file"), "").unwrap();
        remove_if_empty(dir.path());
        assert!(dir.path().exists());
        fs::remove_file(dir.path().join("file")).unwrap();
        remove_if_empty(dir.path());
        assert!(!dir.path().exists());
    }

    #[test]
    fn a_turn_is_waited_for_no_longer_than_said() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("turn");
        let turn = take_turn(&path, Duration::ZERO).unwrap();
        assert!(take_turn(&path, Duration::from_millis(1)).is_err());
        drop(turn);
        // Whoever gave up may be let in for a moment before it goes.
        take_turn(&path, Duration::from_secs(30)).unwrap();
    }
}
