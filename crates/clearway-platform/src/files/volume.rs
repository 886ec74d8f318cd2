//! What kind of file system a path lives on, and how much room it has. Locks and shared memory
//! work only between processes of one machine, so a network file system cannot hold a store.

use std::io;
use std::path::{Path, PathBuf};

use rustix::fs::{StatFs, StatVfs};

use super::FileError;

/// Whether a file system is shared between machines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FsKind {
    /// Belongs to this machine.
    Local(&'static str),
    /// Shared with other machines, or with a host whose locks we do not see.
    Network(&'static str),
    /// Not known to us; FUSE is such a case, since sshfs looks like any other.
    Unknown,
}

/// The kind of file system a path is on, or will be on once it is created.
pub fn file_system_kind(path: &Path) -> Result<FsKind, FileError> {
    let found = on_nearest_existing(path, |part| rustix::fs::statfs(part))?;
    Ok(kind_of(&found))
}

/// Bytes that this user may still write on the file system of a path.
pub fn free_bytes(path: &Path) -> Result<u64, FileError> {
    room(path).map(|room| room.unwrap_or(0))
}

/// Whether a file system that tells how much it holds has less left than so many bytes for this user.
pub fn lacks(path: &Path, bytes: u64) -> bool {
    matches!(room(path), Ok(Some(free)) if free < bytes)
}

/// Files that this user may still make on the file system of a path; `None` on one that does not count them.
pub fn free_files(path: &Path) -> Result<Option<u64>, FileError> {
    let found: StatVfs = on_nearest_existing(path, |part| rustix::fs::statvfs(part))?;
    Ok((found.f_files > 0).then_some(found.f_favail))
}

/// Whether a file system that counts files has room for fewer than so many more of this user.
pub fn lacks_files(path: &Path, files: u64) -> bool {
    matches!(free_files(path), Ok(Some(free)) if free < files)
}

/// Bytes that are left for this user; `None` on a file system that does not tell how much it holds.
fn room(path: &Path) -> Result<Option<u64>, FileError> {
    let found: StatVfs = on_nearest_existing(path, |part| rustix::fs::statvfs(part))?;
    Ok((found.f_blocks > 0).then(|| found.f_bavail.saturating_mul(found.f_frsize)))
}

/// The directory where the file system of a path is mounted, as far up as may be looked.
pub fn mount_point(path: &Path) -> Result<PathBuf, FileError> {
    let device = on_nearest_existing(path, |part| rustix::fs::stat(part))?.st_dev;
    let is_on_it = |part: &&Path| rustix::fs::stat(*part).is_ok_and(|found| found.st_dev == device);
    let parts = path.ancestors().skip_while(|part| rustix::fs::stat(*part).is_err());
    Ok(parts.take_while(is_on_it).last().unwrap_or(path).to_owned())
}

/// Whether this user may change a file or directory, as far as rights and the mount tell.
pub fn can_write(path: &Path) -> bool {
    rustix::fs::access(path, rustix::fs::Access::WRITE_OK).is_ok()
}

/// A store that is yet to be created will live where its nearest existing ancestor does.
fn on_nearest_existing<T>(path: &Path, ask: impl Fn(&Path) -> rustix::io::Result<T>) -> Result<T, FileError> {
    let absent = || FileError::system("find", path)(io::ErrorKind::NotFound.into());
    for part in path.ancestors() {
        let part = if part.as_os_str().is_empty() { Path::new(".") } else { part };
        match ask(part) {
            Err(rustix::io::Errno::NOENT) => {}
            Err(error) => return Err(FileError::system("ask the file system of", part)(error.into())),
            Ok(found) => return Ok(found),
        }
    }
    Err(absent())
}

/// The numbers of `linux/magic.h` and of the file systems that keep theirs to themselves.
#[cfg(not(target_os = "macos"))]
fn kind_of(found: &StatFs) -> FsKind {
    // The field's width and sign differ between architectures; the numbers are 32 bits wide.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::unnecessary_cast)]
    let magic = found.f_type as u32;
    kind_of_magic(magic)
}

#[cfg(not(target_os = "macos"))]
fn kind_of_magic(magic: u32) -> FsKind {
    match magic {
        0x0000_ef53 => FsKind::Local("ext4"),
        0x5846_5342 => FsKind::Local("xfs"),
        0x9123_683e => FsKind::Local("btrfs"),
        0x2fc1_2fc1 => FsKind::Local("zfs"),
        0xf2f5_2010 => FsKind::Local("f2fs"),
        0xca45_1a4e => FsKind::Local("bcachefs"),
        0x0102_1994 => FsKind::Local("tmpfs"),
        0x8584_58f6 => FsKind::Local("ramfs"),
        0x794c_7630 => FsKind::Local("overlay"),
        0x0000_f15f => FsKind::Local("ecryptfs"),
        0x3153_464a => FsKind::Local("jfs"),
        0x5265_4973 => FsKind::Local("reiserfs"),
        0x0000_3434 => FsKind::Local("nilfs"),
        0x0000_4d44 => FsKind::Local("vfat"),
        0x2011_bab0 => FsKind::Local("exfat"),
        0x7366_746e => FsKind::Local("ntfs"),
        0x0000_482b => FsKind::Local("hfsplus"),
        0x0000_6969 => FsKind::Network("nfs"),
        0x0000_517b => FsKind::Network("smb"),
        0xff53_4d42 => FsKind::Network("cifs"),
        0xfe53_4d42 => FsKind::Network("smb2"),
        0x0102_1997 => FsKind::Network("9p"),
        0x5346_414f | 0x6b41_4653 => FsKind::Network("afs"),
        0x00c3_6400 => FsKind::Network("ceph"),
        0x7375_7245 => FsKind::Network("coda"),
        0x0000_564c => FsKind::Network("ncp"),
        0x0116_1970 => FsKind::Network("gfs2"),
        0x7461_636f => FsKind::Network("ocfs2"),
        0x0bd0_0bd0 => FsKind::Network("lustre"),
        0x4750_4653 => FsKind::Network("gpfs"),
        0x1983_0326 => FsKind::Network("beegfs"),
        0x2003_0528 => FsKind::Network("orangefs"),
        0x786f_4256 => FsKind::Network("vboxsf"),
        0xbacb_acbc => FsKind::Network("vmhgfs"),
        0x7c7c_6673 => FsKind::Network("prl_fs"),
        _ => FsKind::Unknown,
    }
}

/// Untested: macOS names its file systems.
#[cfg(target_os = "macos")]
fn kind_of(found: &StatFs) -> FsKind {
    let name: Vec<u8> = found
        .f_fstypename
        .iter()
        .map(|letter| letter.cast_unsigned())
        .take_while(|byte| *byte != 0)
        .collect();
    match name.as_slice() {
        b"apfs" => FsKind::Local("apfs"),
        b"hfs" => FsKind::Local("hfs"),
        b"exfat" => FsKind::Local("exfat"),
        b"nfs" => FsKind::Network("nfs"),
        b"smbfs" => FsKind::Network("smb"),
        b"afpfs" => FsKind::Network("afp"),
        b"webdav" => FsKind::Network("webdav"),
        _ => FsKind::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fresh_directory_can_be_written_and_an_absent_one_cannot() {
        let dir = tempfile::tempdir().unwrap();
        assert!(can_write(dir.path()));
        assert!(!can_write(&dir.path().join("absent")));
    }

    #[test]
    fn network_file_systems_are_told_from_local_ones() {
        let check = |magic, expect| assert_eq!(kind_of_magic(magic), expect, "{magic:#x}");
        check(0xef53, FsKind::Local("ext4"));
        check(0x6969, FsKind::Network("nfs"));
        check(0xff53_4d42, FsKind::Network("cifs"));
        check(0xfe53_4d42, FsKind::Network("smb2"));
        check(0x0102_1997, FsKind::Network("9p"));
        check(0x0102_1994, FsKind::Local("tmpfs"));
    }

    #[test]
    fn fuse_is_unknown_because_sshfs_hides_behind_it() {
        assert_eq!(kind_of_magic(0x6573_5546), FsKind::Unknown);
    }

    #[test]
    fn a_path_yet_to_be_created_is_judged_by_its_nearest_ancestor() {
        let dir = tempfile::tempdir().unwrap();
        let here = file_system_kind(dir.path()).unwrap();
        assert_eq!(file_system_kind(&dir.path().join("not/yet/there")).unwrap(), here);
        assert!(!matches!(here, FsKind::Network(_)));
        assert!(file_system_kind(Path::new("relative-and-absent")).is_ok());
    }

    #[test]
    fn the_process_table_is_no_place_for_a_store() {
        assert_eq!(file_system_kind(Path::new("/proc")).unwrap(), FsKind::Unknown);
        assert_eq!(free_bytes(Path::new("/proc")).unwrap(), 0);
        assert!(!lacks(Path::new("/proc"), 1), "it does not tell");
    }

    #[test]
    fn a_mount_point_is_found_from_anything_below_it() {
        for path in ["/proc", "/proc/sys/kernel", "/proc/no/such/file"] {
            assert_eq!(mount_point(Path::new(path)).unwrap(), Path::new("/proc"), "{path}");
        }
    }

    #[test]
    fn a_writable_directory_has_room() {
        let dir = tempfile::tempdir().unwrap();
        let absent = dir.path().join("absent");
        assert!(free_bytes(&absent).unwrap() > 0);
        assert!(!lacks(&absent, 1) && lacks(&absent, u64::MAX));
    }
}
