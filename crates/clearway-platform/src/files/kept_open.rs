//! A look into a file that something else in this process may have locked.
//!
//! Closing any descriptor of a file gives up every record lock that the process has on it. So a file that is looked into
//! here stays open for as long as the process lives; a second look at the same file opens nothing.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// By device and number.
static OPEN: Mutex<BTreeMap<(u64, u64), File>> = Mutex::new(BTreeMap::new());

/// One byte of a file; `None` if there is none or it cannot be read.
pub fn byte_at(path: &Path, offset: u64) -> Option<u8> {
    let found = fs::metadata(path).ok()?;
    let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
    let key = (found.dev(), found.ino());
    if !open.contains_key(&key) {
        let file = File::open(path).ok()?;
        let opened = file.metadata().ok()?;
        // Another one may have taken its place; it is kept under its own number, and seen the next time.
        open.entry((opened.dev(), opened.ino())).or_insert(file);
    }
    let mut byte = [0];
    open.get(&key)?.read_exact_at(&mut byte, offset).ok()?;
    Some(byte[0])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_is_read_as_it_is_now_and_of_the_file_that_is_there_now() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("file");
        assert_eq!(byte_at(&path, 0), None);
        fs::write(&path, "ab").unwrap();
        assert_eq!((byte_at(&path, 1), byte_at(&path, 2)), (Some(b'b'), None));
        fs::write(&path, "abc").unwrap();
        assert_eq!(byte_at(&path, 2), Some(b'c'));
        let other = directory.path().join("other");
        fs::write(&other, "xyz").unwrap();
        fs::rename(&other, &path).unwrap();
        assert_eq!(byte_at(&path, 2), Some(b'z'));
    }

    #[test]
    fn a_lock_of_this_process_outlives_a_look() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("file");
        fs::write(&path, "ab").unwrap();
        let locked = File::options().read(true).write(true).open(&path).unwrap();
        rustix::fs::fcntl_lock(&locked, rustix::fs::FlockOperation::NonBlockingLockExclusive).unwrap();
        assert_eq!(byte_at(&path, 0), Some(b'a'));
        assert!(!crate::gate::byte_lock_holders(&path, 0).is_empty());
    }
}
