//! A file put in front of another, which is kept beside it and put back whole.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use super::private::replace_atomic;
use super::{FileError, create_private_dir_all};

/// Anybody may run it, as far as the mask of the process lets them.
const EXECUTABLE_MODE: u32 = 0o755;

/// Puts an executable file where another may be. With `kept` that one goes on under this name, as the very file it is;
/// it is never missing in between.
pub fn put_in_front(path: &Path, kept: Option<&Path>, bytes: &[u8]) -> Result<(), FileError> {
    if let Some(parent) = path.parent().filter(|parent| !parent.exists()) {
        create_private_dir_all(parent)?;
    }
    if let Some(kept) = kept.filter(|_| fs::symlink_metadata(path).is_ok()) {
        drop(fs::remove_file(kept));
        fs::hard_link(path, kept).map_err(|source| failed(kept, source))?;
    }
    replace_atomic(path, bytes, EXECUTABLE_MODE, None)
}

/// Puts back what was kept, or nothing where nothing was.
pub fn put_back(path: &Path, kept: &Path) -> Result<(), FileError> {
    match fs::rename(kept, path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            fs::remove_file(path).map_err(|source| failed(path, source))
        }
        done => done.map_err(|source| failed(path, source)),
    }
}

/// Replaces a file whole while a lock lies beside it, as git does with files of its own. A lock of somebody else is never
/// taken away.
pub fn replace_locked(path: &Path, bytes: &[u8]) -> Result<(), FileError> {
    let lock = super::with_suffix(path, ".lock");
    let locked = |source| FileError::System { action: "lock", path: lock.clone(), source };
    let mut file = fs::File::options().write(true).create_new(true).open(&lock).map_err(locked)?;
    let mode = fs::metadata(path).map(|found| found.permissions());
    let written = file
        .write_all(bytes)
        .and_then(|()| file.sync_all())
        .and_then(|()| mode.map_or(Ok(()), |mode| file.set_permissions(mode)))
        .and_then(|()| fs::rename(&lock, path));
    written.map_err(|source| {
        drop(fs::remove_file(&lock));
        failed(path, source)
    })
}

fn failed(path: &Path, source: io::Error) -> FileError {
    FileError::System { action: "replace", path: path.to_owned(), source }
}
