//! Directories and files that only their owner can look into.

use std::fmt;
use std::fs::{self, DirBuilder, File, Metadata, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

use super::leftovers::{claim, file_name};
use super::{FileError, uid};
use crate::random;

/// The mode of directories we create.
pub const PRIVATE_DIR_MODE: u32 = 0o700;

/// The mode of files we create.
pub const PRIVATE_FILE_MODE: u32 = 0o600;

const MODE_BITS: u32 = 0o7777;
const GROUP_AND_OTHERS: u32 = 0o077;
const WRITING_BY_OTHERS: u32 = 0o022;
const WRITING_BY_EVERYBODY: u32 = 0o002;

/// Creates a directory and what is missing above it, all of it private.
///
/// An existing directory is taken as it is if it is ours; its mode is for `doctor` to report.
pub fn create_private_dir_all(path: &Path) -> Result<(), FileError> {
    let made = DirBuilder::new().recursive(true).mode(PRIVATE_DIR_MODE).create(path);
    if let Err(source) = made {
        return Err(why_not_created(path, source));
    }
    let metadata = fs::metadata(path).map_err(FileError::system("look at", path))?;
    refuse_foreign(path, &metadata, uid())
}

/// Opens a file for reading and writing, creating it private; a symbolic link is refused, since it
/// could lead the write anywhere.
pub fn open_private(path: &Path) -> Result<File, FileError> {
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(PRIVATE_FILE_MODE)
        .custom_flags(OFlags::NOFOLLOW.bits().cast_signed())
        .open(path)
        .map_err(FileError::system("open", path))?;
    let metadata = file.metadata().map_err(FileError::system("look at", path))?;
    refuse_foreign(path, &metadata, uid())?;
    Ok(file)
}

/// What keeps a file or directory from being private; empty if nothing does.
pub fn privacy_complaints(path: &Path) -> Result<Vec<PrivacyComplaint>, FileError> {
    let metadata = fs::metadata(path).map_err(FileError::system("look at", path))?;
    Ok(complaints(&metadata, uid()))
}

/// What lets others put files into a directory or take them out; empty if nothing does. Looking in is no harm: what
/// lies there is private itself.
pub fn directory_complaints(path: &Path) -> Result<Vec<PrivacyComplaint>, FileError> {
    let metadata = fs::metadata(path).map_err(FileError::system("look at", path))?;
    Ok(complaints_about(&metadata, WRITING_BY_OTHERS, uid()))
}

/// Whether every user of the machine can write a file, as far as may be looked.
pub fn everybody_can_write(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|metadata| metadata.mode() & WRITING_BY_EVERYBODY != 0)
}

/// Whether anybody but its owner can read or write a file, as far as may be looked.
pub fn others_can_use(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|metadata| metadata.mode() & GROUP_AND_OTHERS != 0)
}

/// One reason why others could read or change a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PrivacyComplaint {
    /// Group or others have rights.
    Mode {
        /// The mode found.
        mode: u32,
        /// The mode that would be private.
        wanted: u32,
    },
    /// Someone else owns it.
    Owner {
        /// The owner found.
        owner: u32,
        /// The user who should own it.
        wanted: u32,
    },
}

impl fmt::Display for PrivacyComplaint {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Mode { mode, wanted } => write!(out, "mode is {mode:04o}, should be {wanted:04o}"),
            Self::Owner { owner, wanted } => write!(out, "owner is uid {owner}, should be uid {wanted}"),
        }
    }
}

/// Replaces a file as a whole: readers see the old bytes or the new ones, also after a power cut.
///
/// A symbolic link at the path is replaced, not followed.
pub fn write_atomic(path: &Path, bytes: &[u8]) -> Result<(), FileError> {
    replace_atomic(path, bytes, PRIVATE_FILE_MODE, None)
}

/// The same with a mode, of which the mask of the process takes away, or with exactly this one.
pub(super) fn replace_atomic(
    path: &Path,
    bytes: &[u8],
    mode: u32,
    exactly: Option<u32>,
) -> Result<(), FileError> {
    let (temporary, made) = write_beside(path, bytes, mode)?;
    let kept = exactly.map_or(Ok(()), |mode| made.set_permissions(fs::Permissions::from_mode(mode)));
    let renamed =
        kept.and_then(|()| fs::rename(&temporary, path)).map_err(FileError::system("replace", path));
    if renamed.is_err() {
        // The write's own error is the one to report; a leftover is harmless and private.
        let _ = fs::remove_file(&temporary);
    }
    renamed?;
    sync_parent(path)
}

/// Makes a file that is whole from its first moment, unless there is one at the path: then it answers false and
/// changes nothing. Of several that try at once exactly one succeeds.
pub fn create_atomic(path: &Path, bytes: &[u8]) -> Result<bool, FileError> {
    if fs::symlink_metadata(path).is_ok() {
        return Ok(false);
    }
    let (temporary, _claim) = write_beside(path, bytes, PRIVATE_FILE_MODE)?;
    let linked = fs::hard_link(&temporary, path);
    let _ = fs::remove_file(&temporary);
    match linked {
        Ok(()) => sync_parent(path).map(|()| true),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        Err(source) => Err(FileError::system("create", path)(source)),
    }
}

/// How often a temporary file is made anew when it was taken for a leftover before it was claimed.
const CLAIMS_MAX: usize = 3;

/// Writes and flushes a temporary file in the same directory; it is gone if that fails. The open file is the claim
/// that its maker lives.
fn write_beside(path: &Path, bytes: &[u8], mode: u32) -> Result<(PathBuf, File), FileError> {
    let (temporary, mut file) = claimed_beside(path, mode)?;
    let written = file.write_all(bytes).map_err(FileError::system("write", &temporary));
    match written.and_then(|()| file.sync_all().map_err(FileError::system("flush", &temporary))) {
        Ok(()) => Ok((temporary, file)),
        Err(error) => {
            let _ = fs::remove_file(&temporary);
            Err(error)
        }
    }
}

fn claimed_beside(path: &Path, mode: u32) -> Result<(PathBuf, File), FileError> {
    let mut tries = 0;
    loop {
        let temporary =
            temporary_beside(path).map_err(FileError::system("name a temporary file for", path))?;
        let file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(mode)
            .open(&temporary)
            .map_err(FileError::system("create", &temporary))?;
        tries += 1;
        if claim(&file) || tries == CLAIMS_MAX {
            return Ok((temporary, file));
        }
    }
}

/// The rename itself is durable only once the directory is flushed.
pub(super) fn sync_parent(path: &Path) -> Result<(), FileError> {
    let parent = parent_of(path);
    let dir = File::open(parent).map_err(FileError::system("open", parent))?;
    dir.sync_all().map_err(FileError::system("flush", parent))
}

/// Random, so that two writers, even in different pid namespaces, never share a temporary file.
fn temporary_beside(path: &Path) -> io::Result<PathBuf> {
    let mut salt = [0_u8; 8];
    random::fill(&mut salt)?;
    Ok(parent_of(path).join(file_name(u64::from_ne_bytes(salt))))
}

pub(super) fn parent_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

fn why_not_created(path: &Path, source: io::Error) -> FileError {
    let in_the_way = path.ancestors().find(|part| fs::metadata(part).is_ok_and(|found| !found.is_dir()));
    match in_the_way {
        Some(file) => FileError::NotADirectory { path: file.to_owned() },
        None => FileError::System { action: "create", path: path.to_owned(), source },
    }
}

fn refuse_foreign(path: &Path, metadata: &Metadata, uid: u32) -> Result<(), FileError> {
    if metadata.uid() == uid {
        return Ok(());
    }
    Err(FileError::ForeignOwner { path: path.to_owned(), owner: metadata.uid(), uid })
}

fn complaints(metadata: &Metadata, uid: u32) -> Vec<PrivacyComplaint> {
    complaints_about(metadata, GROUP_AND_OTHERS, uid)
}

fn complaints_about(metadata: &Metadata, forbidden: u32, uid: u32) -> Vec<PrivacyComplaint> {
    let mode = metadata.mode() & MODE_BITS;
    let wanted = mode & !forbidden;
    let mode_complaint = (mode != wanted).then_some(PrivacyComplaint::Mode { mode, wanted });
    let owner = metadata.uid();
    let owner_complaint = (owner != uid).then_some(PrivacyComplaint::Owner { owner, wanted: uid });
    mode_complaint.into_iter().chain(owner_complaint).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::Permissions;
    use std::os::unix::fs::symlink;

    fn mode_of(path: &Path) -> u32 {
        fs::metadata(path).unwrap().mode() & MODE_BITS
    }

    #[test]
    fn missing_directories_are_created_private_and_existing_ones_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        fs::set_permissions(dir.path(), Permissions::from_mode(0o755)).unwrap();
        let deep = dir.path().join("a/b/c");
        create_private_dir_all(&deep).unwrap();
        create_private_dir_all(&deep).unwrap();
        assert_eq!((mode_of(&deep), mode_of(&dir.path().join("a"))), (0o700, 0o700));
        assert_eq!(mode_of(dir.path()), 0o755);
    }

    #[test]
    fn a_file_in_the_way_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("file");
        fs::write(&file, "").unwrap();
        for path in [file.clone(), file.join("below/it")] {
            match create_private_dir_all(&path) {
                Err(FileError::NotADirectory { path: named }) => assert_eq!(named, file),
                other => panic!("{other:?}"),
            }
        }
    }

    #[test]
    fn what_another_user_owns_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let metadata = fs::metadata(dir.path()).unwrap();
        let stranger = metadata.uid() + 1;
        let error = refuse_foreign(dir.path(), &metadata, stranger).unwrap_err();
        assert!(matches!(error, FileError::ForeignOwner { owner, uid, .. } if owner + 1 == uid), "{error:?}");
        assert!(refuse_foreign(dir.path(), &metadata, metadata.uid()).is_ok());
    }

    #[test]
    fn opened_files_are_private_and_keep_their_content() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("store");
        open_private(&path).unwrap().write_all(b"kept").unwrap();
        drop(open_private(&path).unwrap());
        assert_eq!(mode_of(&path), 0o600);
        assert_eq!(fs::read(&path).unwrap(), b"kept");
    }

    #[test]
    fn a_symbolic_link_is_not_opened() {
        let dir = tempfile::tempdir().unwrap();
        let (target, link) = (dir.path().join("target"), dir.path().join("link"));
        fs::write(&target, "").unwrap();
        symlink(&target, &link).unwrap();
        assert!(open_private(&link).is_err());
    }

    #[test]
    fn complaints_tell_mode_and_owner() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        fs::write(&path, "").unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
        assert_eq!(privacy_complaints(&path).unwrap(), []);
        fs::set_permissions(&path, Permissions::from_mode(0o644)).unwrap();
        let told: Vec<String> = privacy_complaints(&path).unwrap().iter().map(ToString::to_string).collect();
        assert_eq!(told, ["mode is 0644, should be 0600"]);
        let stranger = uid() + 1;
        let both = complaints(&fs::metadata(&path).unwrap(), stranger);
        assert_eq!(both.get(1), Some(&PrivacyComplaint::Owner { owner: uid(), wanted: stranger }));
    }

    #[test]
    fn a_directory_may_be_looked_into_but_not_changed_by_others() {
        let dir = tempfile::tempdir().unwrap();
        for (mode, complaints) in [(0o700, 0), (0o755, 0), (0o770, 1), (0o777, 1), (0o1777, 1)] {
            fs::set_permissions(dir.path(), Permissions::from_mode(mode)).unwrap();
            assert_eq!(directory_complaints(dir.path()).unwrap().len(), complaints, "{mode:o}");
        }
    }

    #[test]
    fn an_atomic_write_replaces_the_whole_file_and_leaves_nothing_beside_it() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("config");
        write_atomic(&path, b"a longer first version").unwrap();
        write_atomic(&path, b"second").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"second");
        assert_eq!(mode_of(&path), 0o600);
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_file_is_created_once_and_whole_and_leaves_nothing_beside_it() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("key");
        assert!(create_atomic(&path, b"first").unwrap());
        assert!(!create_atomic(&path, b"second").unwrap());
        assert_eq!(fs::read(&path).unwrap(), b"first");
        assert_eq!(mode_of(&path), 0o600);
        symlink(dir.path().join("nowhere"), dir.path().join("link")).unwrap();
        assert!(!create_atomic(&dir.path().join("link"), b"through").unwrap());
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2);
        assert!(create_atomic(&dir.path().join("absent/file"), b"new").is_err());
    }

    #[test]
    fn of_many_that_create_at_once_one_succeeds() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("key");
        let made = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..8_u8)
                .map(|number| {
                    scope.spawn({
                        let path = &path;
                        move || create_atomic(path, &[number])
                    })
                })
                .collect();
            threads.into_iter().map(|thread| thread.join().unwrap().unwrap()).filter(|made| *made).count()
        });
        assert_eq!((made, fs::read_dir(dir.path()).unwrap().count()), (1, 1));
    }

    #[test]
    fn a_failed_atomic_write_leaves_nothing_beside_the_old_file() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("occupied");
        fs::create_dir(&path).unwrap();
        assert!(write_atomic(&path, b"new").is_err());
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
        assert!(write_atomic(&dir.path().join("absent/file"), b"new").is_err());
    }

    #[test]
    fn a_bare_file_name_lives_in_the_current_directory() {
        assert_eq!(parent_of(Path::new("name")), Path::new("."));
        assert_eq!(parent_of(Path::new("/name")), Path::new("/"));
    }
}
