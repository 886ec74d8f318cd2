//! Who holds a file lock, as far as the system tells. Asked once a wait has failed, to help a person, or to find out
//! that trying would be in vain: what may be done is never decided by it.

use std::path::Path;

use super::{GateFile, GateHolder};
use crate::process;

/// A process seen holding a lock.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Holder {
    pid: u32,
}

impl Holder {
    pub(super) fn standing_in(self, file: GateFile) -> GateHolder {
        let state = process::state_of(self.pid);
        let words = state.as_ref().map_or_else(|| "not visible from here".to_owned(), |state| state.words());
        let is_stopped = state.as_ref().is_some_and(process::ProcessState::is_stopped);
        let command = state.map(|state| state.command).unwrap_or_default();
        GateHolder { file, pid: self.pid, state: words, is_stopped, command }
    }
}

/// The processes that hold an flock on the file; empty where the system does not tell.
#[cfg(not(target_os = "macos"))]
pub(super) fn of(path: &Path) -> Vec<Holder> {
    let Some(key) = lock_key(path) else { return Vec::new() };
    found_in_looks(|table| holders_in(table, &key))
}

/// The processes that hold a record lock for writing on one byte of the file.
#[cfg(not(target_os = "macos"))]
pub(super) fn of_byte(path: &Path, byte: u64) -> Vec<Holder> {
    let Some(key) = lock_key(path) else { return Vec::new() };
    found_in_looks(|table| byte_holders_in(table, &key, byte))
}

/// The process that stands first in a line, the one that all others wait for. Locks that belong to an open file name no
/// process in the table, only beside the open file itself; files of other users are not seen.
#[cfg(not(target_os = "macos"))]
pub(super) fn first_in_line(path: &Path) -> Vec<Holder> {
    let Some(key) = lock_key(path) else { return Vec::new() };
    let first_of = |pid: u32| {
        let files = std::fs::read_dir(format!("/proc/{pid}/fdinfo")).ok()?;
        let described = files.filter_map(|file| std::fs::read_to_string(file.ok()?.path()).ok());
        described.filter_map(|text| first_byte_in(&text, &key)).min().map(|byte| (byte, pid))
    };
    let names = std::fs::read_dir("/proc").into_iter().flatten().flatten().map(|entry| entry.file_name());
    let pids = names.filter_map(|name| name.to_str()?.parse().ok()).take(PROCESSES_MAX);
    pids.filter_map(first_of).min().map(|(_, pid)| Holder { pid }).into_iter().collect()
}

/// More processes than this are not looked through.
#[cfg(not(target_os = "macos"))]
const PROCESSES_MAX: usize = 10_000;

/// A long table is read in several pieces, and locks that come and go in between hide others or show them twice.
#[cfg(not(target_os = "macos"))]
fn found_in_looks(look: impl Fn(&str) -> Vec<Holder>) -> Vec<Holder> {
    let mut looks = (0..LOOKS_MAX).map(|_| look(&lock_table()));
    let mut found = looks.find(|found| !found.is_empty()).unwrap_or_default();
    found.dedup();
    found
}

/// How often somebody who must be there is looked for.
#[cfg(not(target_os = "macos"))]
const LOOKS_MAX: usize = 3;

/// The kernel's table of locks, empty where it cannot be read. It comes in pages; `std::fs::read` would begin with a
/// buffer too small for two lines.
#[cfg(not(target_os = "macos"))]
fn lock_table() -> String {
    use std::io::Read;

    let mut bytes = vec![0; LOCK_TABLE_BYTES];
    let mut filled = 0;
    if let Ok(mut table) = std::fs::File::open("/proc/locks") {
        while let Some(room) = bytes.get_mut(filled..).filter(|room| !room.is_empty()) {
            match table.read(room) {
                Ok(count) if count > 0 => filled += count,
                _ => break,
            }
        }
    }
    bytes.truncate(filled);
    String::from_utf8_lossy(&bytes).into_owned()
}

/// More locks than this are not looked through.
#[cfg(not(target_os = "macos"))]
const LOCK_TABLE_BYTES: usize = 1 << 20;

/// Untested: macOS has no table of locks.
#[cfg(target_os = "macos")]
pub(super) fn of_byte(_path: &Path, _byte: u64) -> Vec<Holder> {
    Vec::new()
}

/// Untested: on macOS nobody stands in line.
#[cfg(target_os = "macos")]
pub(super) fn first_in_line(_path: &Path) -> Vec<Holder> {
    Vec::new()
}

/// Untested: macOS has no table of locks.
#[cfg(target_os = "macos")]
pub(super) fn of(_path: &Path) -> Vec<Holder> {
    Vec::new()
}

/// How the kernel's lock table names a file: the superblock's device and the inode, which on btrfs
/// and overlay file systems are not what `stat` says.
#[cfg(not(target_os = "macos"))]
fn lock_key(path: &Path) -> Option<String> {
    use std::os::fd::AsRawFd;
    use std::os::unix::fs::MetadataExt;

    // Only a name for the file: closing a real descriptor would drop every record lock this process has on it.
    let flags = rustix::fs::OFlags::PATH | rustix::fs::OFlags::CLOEXEC;
    let file = std::fs::File::from(rustix::fs::open(path, flags, rustix::fs::Mode::empty()).ok()?);
    let metadata = file.metadata().ok()?;
    let described = std::fs::read_to_string(format!("/proc/self/fdinfo/{}", file.as_raw_fd())).ok()?;
    let inode = field(&described, "ino:").and_then(|text| text.parse().ok()).unwrap_or(metadata.ino());
    let mounts = std::fs::read("/proc/self/mountinfo").unwrap_or_default();
    let device = field(&described, "mnt_id:")
        .and_then(|mount| device_of_mount(&String::from_utf8_lossy(&mounts), mount))
        .unwrap_or_else(|| (rustix::fs::major(metadata.dev()), rustix::fs::minor(metadata.dev())));
    Some(format!("{:02x}:{:02x}:{inode}", device.0, device.1))
}

#[cfg(not(target_os = "macos"))]
fn field<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    text.lines().find_map(|line| line.strip_prefix(name)).map(str::trim)
}

/// Reads `36 35 98:0 /mnt1 /mnt2 rw …`: mount id, parent, device.
#[cfg(not(target_os = "macos"))]
fn device_of_mount(mounts: &str, mount: &str) -> Option<(u32, u32)> {
    let mut lines = mounts.lines().map(|line| line.split(' '));
    let device = lines.find_map(|mut words| (words.next() == Some(mount)).then(|| words.nth(1)))??;
    let (major, minor) = device.split_once(':')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

/// Reads `1: FLOCK  ADVISORY  WRITE 4467 fe:00:10010739 0 EOF`; `1: -> FLOCK …` is a waiter.
#[cfg(not(target_os = "macos"))]
fn holders_in(table: &str, key: &str) -> Vec<Holder> {
    let holder = |line: &str| {
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        let [_, "FLOCK", _, _, pid, found, ..] = words.as_slice() else { return None };
        (*found == key).then(|| Holder { pid: pid.parse().unwrap_or(0) })
    };
    table.lines().filter_map(holder).collect()
}

/// Reads `1: POSIX  ADVISORY  WRITE 700 fe:00:42 120 120`: the last two words are the locked range.
#[cfg(not(target_os = "macos"))]
fn byte_holders_in(table: &str, key: &str, byte: u64) -> Vec<Holder> {
    let holder = |line: &str| {
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        let [_, "POSIX" | "OFDLCK", _, "WRITE", pid, found, from, to] = words.as_slice() else { return None };
        let reaches = *to == "EOF" || to.parse::<u64>().is_ok_and(|to| byte <= to);
        let covers = from.parse::<u64>().is_ok_and(|from| from <= byte) && reaches;
        (*found == key && covers).then(|| Holder { pid: pid.parse().unwrap_or(0) })
    };
    table.lines().filter_map(holder).collect()
}

/// Reads `lock: 1: OFDLCK ADVISORY  WRITE -1 fe:00:42 7 8` of an open file: the first byte it has locked.
#[cfg(not(target_os = "macos"))]
fn first_byte_in(described: &str, key: &str) -> Option<u64> {
    let byte = |line: &str| {
        let words: Vec<&str> = line.strip_prefix("lock:")?.split_ascii_whitespace().collect();
        let [_, "OFDLCK", _, "WRITE", _, found, from, _] = words.as_slice() else { return None };
        (*found == key).then(|| from.parse().ok()).flatten()
    };
    described.lines().filter_map(byte).min()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "\
1: POSIX  ADVISORY  WRITE 700 fe:00:42 0 EOF
2: FLOCK  ADVISORY  WRITE 4467 fe:00:42 0 EOF
2: -> FLOCK  ADVISORY  WRITE 4470 fe:00:42 0 EOF
3: FLOCK  ADVISORY  READ -1 fe:01:42 0 EOF
4: OFDLCK ADVISORY  WRITE -1 fe:00:42 0 EOF
nonsense
";

    fn check(key: &str, expect: &[u32]) {
        let found: Vec<u32> = holders_in(TABLE, key).into_iter().map(|holder| holder.pid).collect();
        assert_eq!(found, expect, "{key}");
    }

    #[test]
    fn only_flock_holders_of_that_very_file_are_named() {
        check("fe:00:42", &[4467]);
        check("fe:00:4", &[]);
    }

    #[test]
    fn a_record_lock_is_found_by_the_byte_it_covers() {
        let table =
            "1: POSIX  ADVISORY  WRITE 700 fe:00:42 120 120\n2: POSIX  ADVISORY  READ 701 fe:00:42 123 123\n";
        let pids = |byte| {
            byte_holders_in(table, "fe:00:42", byte).into_iter().map(|found| found.pid).collect::<Vec<_>>()
        };
        assert_eq!((pids(120), pids(121), pids(123)), (vec![700], vec![], vec![]));
        assert_eq!(byte_holders_in(TABLE, "fe:00:42", 9).len(), 2);
    }

    #[test]
    fn the_first_byte_that_an_open_file_has_locked_is_found() {
        let described = "pos:\t0\nino:\t42\nlock:\t1: OFDLCK ADVISORY  WRITE -1 fe:00:42 9 9\n\
                         lock:\t2: OFDLCK ADVISORY  WRITE -1 fe:00:42 7 8\n\
                         lock:\t3: FLOCK  ADVISORY  WRITE 8 fe:00:42 0 EOF\n";
        assert_eq!(first_byte_in(described, "fe:00:42"), Some(7));
        assert_eq!(first_byte_in(described, "fe:00:4"), None);
    }

    /// Closing a file drops every record lock its process has on it, SQLite's included.
    #[test]
    fn asking_who_holds_a_file_leaves_our_own_locks_on_it_alone() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("shm");
        let file = std::fs::File::create(&path).unwrap();
        rustix::fs::fcntl_lock(&file, rustix::fs::FlockOperation::NonBlockingLockExclusive).unwrap();
        let own = vec![Holder { pid: std::process::id() }];
        assert_eq!(of_byte(&path, 120), own);
        assert_eq!(of_byte(&path, 120), own);
        assert_eq!(of(&path), []);
        assert_eq!(of_byte(&path, 120), own);
    }

    #[test]
    fn a_holder_out_of_sight_is_pid_zero() {
        check("fe:01:42", &[0]);
        assert_eq!(Holder { pid: 0 }.standing_in(GateFile::Gate).state, "not visible from here");
        let said = Holder { pid: 0 }.standing_in(GateFile::Gate).to_string();
        assert!(said.starts_with("pid 0, not visible from here, holds "), "{said}");
    }

    #[test]
    fn the_device_of_a_mount_is_the_third_word_of_its_line() {
        let mounts = "36 35 98:0 / / rw - ext4\n361 36 0:54 /sub /home rw - btrfs\n";
        assert_eq!(device_of_mount(mounts, "361"), Some((0, 54)));
        assert_eq!(device_of_mount(mounts, "3"), None);
        assert_eq!(device_of_mount("361\n361 1\n361 1 x /", "361"), None);
    }
}
