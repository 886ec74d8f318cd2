//! A look into a file that something else in this process may have locked.
//!
//! Closing any descriptor of a file gives up every record lock that the process has on it. So whatever is opened here
//! stays open for as long as the process lives; a second look at the same file opens nothing. There are as many as files
//! that lay at the paths asked about: one for each store that a process opens, and one more whenever a store was replaced.

use std::fs::{self, File};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// Everything that was opened, with its device and number; without them where even that could not be told.
static OPEN: Mutex<Vec<(Option<Identity>, File)>> = Mutex::new(Vec::new());

type Identity = (u64, u64);

/// One byte of a file; `None` if there is none or it cannot be read.
pub fn byte_at(path: &Path, offset: u64) -> Option<u8> {
    let wanted = identity(&fs::metadata(path).ok()?);
    let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
    if !open.iter().any(|(found, _)| *found == Some(wanted)) {
        let file = File::open(path).ok()?;
        // Another one may have taken its place meanwhile: that one is kept open all the same, and seen the next time.
        let found = file.metadata().ok().map(|found| identity(&found));
        open.push((found, file));
    }
    let (_, file) = open.iter().find(|(found, _)| *found == Some(wanted))?;
    let mut byte = [0];
    file.read_exact_at(&mut byte, offset).ok()?;
    Some(byte[0])
}

fn identity(found: &fs::Metadata) -> Identity {
    (found.dev(), found.ino())
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
