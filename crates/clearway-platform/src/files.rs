//! Files as the store needs them: private, written whole, and on a file system that keeps its
//! promises. Nothing here widens a mode, changes an owner or deletes what no process of ours created.

mod append;
mod case;
mod front;
mod jot;
mod leftovers;
mod private;
mod replace;
mod upkeep;
mod volume;

use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

pub use append::append_line;
pub use case::{folds_case, folds_case_of};
pub use front::{put_back, put_in_front, replace_locked};
pub use jot::jot;
pub use leftovers::{DEMO, READING, leftover_directories, leftovers, remove_leftover, remove_leftovers_in};
pub use private::{
    PRIVATE_DIR_MODE, PRIVATE_FILE_MODE, PrivacyComplaint, create_atomic, create_private_dir_all,
    directory_complaints, everybody_can_write, open_private, others_can_use, privacy_complaints,
    write_atomic,
};
pub use replace::{Turn, can_run, remove_followed, remove_if_empty, replace, take_turn};
pub use upkeep::{
    Entry, TemporaryDir, allocate, byte_at, copy_private, entry, exists, flush, flush_with_name, length,
    names_in, read_small, read_start, read_text, remove_if_present, rename, temporary_dir, temporary_dir_in,
};
pub use volume::{
    FsKind, can_write, file_system_kind, free_bytes, free_files, lacks, lacks_files, mount_point,
};

/// Why a file or directory could not be used.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// The system refused.
    #[error("cannot {action} {}", path.display())]
    System {
        /// What was tried, as a verb.
        action: &'static str,
        /// The file or directory it was tried on.
        path: PathBuf,
        /// What the system answered.
        source: io::Error,
    },
    /// Using it would leave private data in another user's hands, or ours in his.
    #[error("{} belongs to uid {owner}, not to uid {uid} who runs this", path.display())]
    ForeignOwner {
        /// The file or directory.
        path: PathBuf,
        /// Who owns it.
        owner: u32,
        /// Who we are.
        uid: u32,
    },
    /// A directory was needed and something else is there.
    #[error("{} is not a directory", path.display())]
    NotADirectory {
        /// What is in the way.
        path: PathBuf,
    },
}

impl FileError {
    pub(crate) fn system(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::System { action, path, source }
    }
}

/// What a file is, whatever it is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FileKey {
    /// The device the file lives on.
    pub device: u64,
    /// Its inode there.
    pub inode: u64,
}

/// Device and inode of what the path leads to, through symbolic links.
pub fn device_and_inode(path: &Path) -> Result<FileKey, FileError> {
    let metadata = std::fs::metadata(path).map_err(FileError::system("look at", path))?;
    Ok(FileKey { device: metadata.dev(), inode: metadata.ino() })
}

/// How many names a file has in directories; nothing if it cannot be looked at.
pub fn names_of(path: &Path) -> Option<u64> {
    std::fs::metadata(path).ok().map(|metadata| metadata.nlink())
}

/// When a file or what is known of it last changed, in nanoseconds; a link itself, not what it leads to.
pub fn changed_at(path: &Path) -> Option<i64> {
    let metadata = std::fs::symlink_metadata(path).ok()?;
    metadata.ctime().checked_mul(1_000_000_000)?.checked_add(metadata.ctime_nsec())
}

/// The path of a file that lies beside another and is called like it with something added.
pub fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

/// The user whose rights count: the effective one.
pub fn uid() -> u32 {
    rustix::process::geteuid().as_raw()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_keeps_its_key_under_another_name() {
        let dir = tempfile::tempdir().unwrap();
        let (first, second, other) = (dir.path().join("a"), dir.path().join("b"), dir.path().join("c"));
        std::fs::write(&first, "x").unwrap();
        std::fs::write(&other, "x").unwrap();
        std::os::unix::fs::symlink(&first, &second).unwrap();
        assert_eq!(device_and_inode(&first).unwrap(), device_and_inode(&second).unwrap());
        assert_ne!(device_and_inode(&first).unwrap(), device_and_inode(&other).unwrap());
        assert!(device_and_inode(&dir.path().join("absent")).is_err());
    }

    #[test]
    fn errors_name_the_path() {
        let error = device_and_inode(Path::new("/no/such/file")).unwrap_err();
        assert_eq!(error.to_string(), "cannot look at /no/such/file");
    }

    #[test]
    fn files_made_here_belong_to_our_uid() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(std::fs::metadata(dir.path()).unwrap().uid(), uid());
    }
}
