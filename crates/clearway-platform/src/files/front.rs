//! A file put in front of another, which is kept beside it and put back whole.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use super::private::replace_atomic;
use super::{FileError, create_private_dir_all};

/// Anybody may run it, as far as the mask of the process lets them.
const EXECUTABLE_MODE: u32 = 0o755;

/// Puts an executable file where another may be. With `kept` that one goes on under this name, as the very file it is;
/// it is never missing in between. What was kept under that name before, and is another file, goes on under a further one:
/// somebody may miss it.
pub fn put_in_front(path: &Path, kept: Option<&Path>, bytes: &[u8]) -> Result<(), FileError> {
    if let Some(parent) = path.parent().filter(|parent| !parent.exists()) {
        create_private_dir_all(parent)?;
    }
    if let Some(kept) = kept.filter(|_| fs::symlink_metadata(path).is_ok()) {
        make_room(path, kept)?;
        fs::hard_link(path, kept).map_err(|source| failed(kept, source))?;
    }
    replace_atomic(path, bytes, EXECUTABLE_MODE, None)
}

/// Takes away what is kept under a name if the file in front holds the same, and otherwise gives it the first name behind
/// it that nobody has.
fn make_room(path: &Path, kept: &Path) -> Result<(), FileError> {
    if fs::symlink_metadata(kept).is_err() {
        return Ok(());
    }
    let is_same = fs::read(path).ok().is_some_and(|bytes| fs::read(kept).is_ok_and(|kept| kept == bytes));
    if is_same {
        return fs::remove_file(kept).map_err(|source| failed(kept, source));
    }
    let further = (1..).map(|number| super::with_suffix(kept, &format!("-{number}")));
    let free = further.take(FURTHER_MAX).find(|name| fs::symlink_metadata(name).is_err());
    let free = free.ok_or_else(|| failed(kept, io::ErrorKind::AlreadyExists.into()))?;
    fs::rename(kept, &free).map_err(|source| failed(kept, source))
}

/// Files that are kept beside one, each of another time.
const FURTHER_MAX: usize = 100;

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

#[cfg(test)]
mod tests {
    use super::super::temporary_dir;
    use super::*;

    #[test]
    fn what_was_kept_before_goes_on_under_a_further_name() {
        let directory = temporary_dir("clearway-test").unwrap();
        let (path, kept) = (directory.path().join("hook"), directory.path().join("hook.before"));
        for text in ["a person's", "a manager's", "a manager's"] {
            fs::write(&path, text).unwrap();
            put_in_front(&path, Some(&kept), b"ours").unwrap();
        }
        let read = |path: &Path| fs::read_to_string(path).unwrap();
        assert_eq!((read(&kept).as_str(), read(&path).as_str()), ("a manager's", "ours"));
        assert_eq!(read(&directory.path().join("hook.before-1")), "a person's");
        assert!(!directory.path().join("hook.before-2").exists(), "the same is kept once");
    }
}
