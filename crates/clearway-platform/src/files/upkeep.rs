//! Small acts on files: copy, flush, measure, and directories that vanish with their owner.

use super::leftovers::{KEPT, claim, directory_name};
use super::private::sync_parent;
use super::{FileError, PRIVATE_DIR_MODE, open_private};
use crate::random;
use rustix::fs::FallocateFlags;
use rustix::io::Errno;
use std::fs::{self, DirBuilder, File};
use std::io::{self, Read};
use std::os::unix::fs::{DirBuilderExt, FileExt};
use std::path::{Path, PathBuf};

/// Removes a file; one that is not there is fine.
pub fn remove_if_present(path: &Path) -> Result<(), FileError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(FileError::system("remove", path)(error))
        }
        _ => Ok(()),
    }
}

/// Gives a file another name on its file system.
pub fn rename(from: &Path, to: &Path) -> Result<(), FileError> {
    fs::rename(from, to).map_err(FileError::system("rename", from))
}

/// Copies a file into a new private one.
pub fn copy_private(from: &Path, to: &Path) -> Result<(), FileError> {
    let mut source = File::open(from).map_err(FileError::system("read", from))?;
    let mut target = open_private(to)?;
    io::copy(&mut source, &mut target).map_err(FileError::system("write", to))?;
    Ok(())
}

/// Makes a private file that really takes up so many bytes of its disk.
pub fn allocate(path: &Path, bytes: u64) -> Result<(), FileError> {
    let mut file = open_private(path)?;
    let allocated = match rustix::fs::fallocate(&file, FallocateFlags::empty(), 0, bytes) {
        // A file system that cannot be asked for room can be written to.
        Err(Errno::OPNOTSUPP | Errno::NOSYS) => io::copy(&mut io::repeat(0).take(bytes), &mut file).map(drop),
        settled => settled.map_err(io::Error::from),
    };
    allocated.map_err(FileError::system("allocate", path))
}

/// Makes the disk promise a file's contents.
pub fn flush(path: &Path) -> Result<(), FileError> {
    let flushed = File::open(path).and_then(|file| file.sync_data());
    flushed.map_err(FileError::system("flush", path))
}

/// Makes the disk promise a file's contents and that the file is there.
pub fn flush_with_name(path: &Path) -> Result<(), FileError> {
    flush(path)?;
    sync_parent(path)
}

/// Whether something is there, as far as may be looked.
pub fn exists(path: &Path) -> bool {
    path.exists()
}

/// The names in a directory, as far as they are text; none if it is not there or may not be looked into.
pub fn names_in(directory: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(directory) else { return Vec::new() };
    entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok()).collect()
}

/// What lies at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry {
    /// A regular file.
    File,
    /// A symbolic link, wherever it leads.
    Link,
    /// A directory, a pipe, a device.
    Other,
}

/// What is there, or why that cannot be told; `None` if nothing is there.
pub fn entry(path: &Path) -> Result<Option<Entry>, FileError> {
    match fs::symlink_metadata(path) {
        Ok(found) if found.is_file() => Ok(Some(Entry::File)),
        Ok(found) if found.is_symlink() => Ok(Some(Entry::Link)),
        Ok(_) => Ok(Some(Entry::Other)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(FileError::system("look for", path)(error)),
    }
}

/// How long a file is; `None` if it is not there.
pub fn length(path: &Path) -> Option<u64> {
    fs::metadata(path).ok().map(|metadata| metadata.len())
}

/// One byte of a file; `None` if there is none or it cannot be read.
///
/// The file is closed again, and with it goes every record lock that this process has on it: only for a file that nothing
/// else in this process has open.
pub fn byte_at(path: &Path, offset: u64) -> Option<u8> {
    let mut byte = [0];
    File::open(path).and_then(|file| file.read_exact_at(&mut byte, offset)).ok()?;
    Some(byte[0])
}

/// A text longer than this is nobody's configuration, key or list of anchors.
const TEXT_BYTES_MAX: u64 = 64 << 20;

/// The text of a regular file; `None` if it is not there. Anything else could wait for ever or never end.
pub fn read_text(path: &Path) -> Result<Option<String>, FileError> {
    let read = || {
        let metadata = fs::metadata(path)?;
        if !metadata.is_file() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is no regular file"));
        }
        let mut text = String::with_capacity(SMALL_BYTES);
        File::open(path)?.take(TEXT_BYTES_MAX).read_to_string(&mut text)?;
        Ok(text)
    };
    match read() {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(FileError::system("read", path)(error)),
    }
}

/// The first bytes of a file; none if it is not there.
pub fn read_start(path: &Path, bytes_max: usize) -> Result<Vec<u8>, FileError> {
    match read_small(path, bytes_max as u64) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(FileError::system("read", path)(error)),
        read => Ok(read.unwrap_or_default()),
    }
}

/// The size of a file that is expected to be small: the files of `/proc`, and those in which a line or two stand.
const SMALL_BYTES: usize = 1_024;

/// The bytes of a file, at most so many. A small file takes one read, and one more that finds its end: the standard
/// library asks for its size first, which `/proc` does not tell, and then begins with 32 bytes.
pub fn read_small(path: &Path, bytes_max: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(SMALL_BYTES);
    File::open(path)?.take(bytes_max).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// A private directory that is removed with everything in it.
#[derive(Debug)]
pub struct TemporaryDir {
    path: PathBuf,
    is_kept: bool,
    /// Says that its owner lives.
    _claim: File,
}

impl TemporaryDir {
    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Leaves it where it is, for somebody to look at; nothing of ours removes it any more.
    pub fn keep(mut self) -> Result<(), FileError> {
        self.is_kept = true;
        open_private(&self.path.join(KEPT)).map(drop)
    }
}

impl Drop for TemporaryDir {
    fn drop(&mut self) {
        if !self.is_kept {
            let _ = fs::remove_dir_all(&self.path);
        }
    }
}

/// Makes a private directory with an unpredictable name in the system's place for temporary files.
pub fn temporary_dir(stem: &str) -> Result<TemporaryDir, FileError> {
    // What is named relative to a directory is another place in the next one.
    let named = Some(std::env::temp_dir()).filter(|base| base.is_absolute());
    temporary_dir_in(&named.unwrap_or_else(|| PathBuf::from("/tmp")), stem)
}

/// The same in another directory, for what is to be moved on from there.
pub fn temporary_dir_in(base: &Path, stem: &str) -> Result<TemporaryDir, FileError> {
    for _ in 0..NAMES_TRIED_MAX {
        let mut salt = [0_u8; 8];
        random::fill(&mut salt).map_err(FileError::system("name a directory in", base))?;
        let path = base.join(directory_name(stem, u64::from_ne_bytes(salt)));
        let made = DirBuilder::new().mode(PRIVATE_DIR_MODE).create(&path);
        made.map_err(FileError::system("create", &path))?;
        // Taken for a leftover in the moment before it was claimed: the next one has another name.
        match File::open(&path) {
            Ok(opened) if claim(&opened) => return Ok(TemporaryDir { path, is_kept: false, _claim: opened }),
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(FileError::system("open", &path)(error));
            }
            _ => {}
        }
    }
    Err(FileError::system("claim a directory in", base)(io::ErrorKind::ResourceBusy.into()))
}

/// How many names are tried for a directory. Nobody is in the way of as many but a file system that keeps no claims.
const NAMES_TRIED_MAX: usize = 16;

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_temporary_directory_is_private_and_vanishes() {
        let directory = temporary_dir("clearway-test").unwrap();
        let path = directory.path().to_owned();
        fs::write(path.join("x"), "y").unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o700);
        drop(directory);
        assert!(!path.exists());
    }

    #[test]
    fn an_allocated_file_takes_up_its_room() {
        use std::os::unix::fs::MetadataExt;
        let directory = temporary_dir("clearway-test").unwrap();
        let path = directory.path().join("a");
        allocate(&path, 65_536).unwrap();
        let metadata = fs::metadata(&path).unwrap();
        assert_eq!((metadata.len(), metadata.mode() & 0o777), (65_536, 0o600));
        assert!(metadata.blocks() * 512 >= 65_536, "{} blocks", metadata.blocks());
    }

    #[test]
    fn a_copy_is_private_and_whole() {
        let directory = temporary_dir("clearway-test").unwrap();
        let (from, to) = (directory.path().join("a"), directory.path().join("b"));
        fs::write(&from, "contents").unwrap();
        copy_private(&from, &to).unwrap();
        assert_eq!(fs::read_to_string(&to).unwrap(), "contents");
        assert_eq!(fs::metadata(&to).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!((length(&to), length(&directory.path().join("c"))), (Some(8), None));
        remove_if_present(&to).unwrap();
        remove_if_present(&to).unwrap();
    }
}
