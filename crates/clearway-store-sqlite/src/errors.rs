//! SQLite's errors in the words of the contract.

use crate::ballast;
use crate::connect::database_writers;
use clearway_core::limits::BALLAST_BYTES;
use clearway_platform::files::{self, FileError};
use clearway_platform::gate::{GateError, GateHolder};
use clearway_store::contract::{Holder, Lack, Openness, Room, StoreError};
use rusqlite::{Error, ErrorCode};
use std::io::ErrorKind;
use std::path::Path;

/// What a failed statement means for the caller.
pub(crate) fn sqlite(path: &Path, error: &Error) -> StoreError {
    let at = path.display().to_string();
    let reason = error.to_string();
    let Some(code) = error.sqlite_error_code() else { return StoreError::Corrupt { path: at, reason } };
    match code {
        // The last of these is how SQLite says that it tried again and again and somebody was always in the way.
        ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked | ErrorCode::FileLockingProtocolFailed => {
            StoreError::Busy { waited_ms: 0, holders: database_writers(path) }
        }
        ErrorCode::DiskFull => full(path),
        ErrorCode::ReadOnly | ErrorCode::PermissionDenied => StoreError::ReadOnly { path: at, reason },
        ErrorCode::NotADatabase => StoreError::NoDatabase { path: at },
        ErrorCode::DatabaseCorrupt => StoreError::Corrupt { path: at, reason },
        // Only a page that finds no room is called a full disk, and only a file that is there is called
        // read-only; what goes wrong with files beside it is told in other words.
        ErrorCode::CannotOpen | ErrorCode::SystemIoFailure if has_no_room(path) => full(path),
        ErrorCode::SystemIoFailure if is_write(error) && is_over_quota(path) => over_quota(path),
        ErrorCode::CannotOpen if lies_fixed(path) => StoreError::ReadOnly { path: at, reason },
        ErrorCode::CannotOpen | ErrorCode::SystemIoFailure => StoreError::Unavailable { path: at, reason },
        // A statement of ours that does not fit the schema met one that was tampered with.
        ErrorCode::Unknown if reason.starts_with("no such ") => StoreError::Corrupt { path: at, reason },
        _ => StoreError::Internal(format!("{at}: {reason}")),
    }
}

/// What opening a store takes beside its pages: the log's index, and a page or two.
const ROOM_BYTES_MIN: u64 = 64 * 1024;

/// What a reservation takes where nothing is kept aside yet.
const RESERVING_BYTES_MIN: u64 = BALLAST_BYTES + ROOM_BYTES_MIN;

/// What a store takes from its first reservation on: its pages, their log and its index, and the ballast.
const FIRST_BYTES_MIN: u64 = BALLAST_BYTES + 2 * ROOM_BYTES_MIN;

/// Files that a store needs, in a directory of its own: itself, its log and the index of that, the two of its gate, and the
/// ballast.
const FILES: [&str; 6] = ["", "-wal", "-shm", "-gate", "-next", "-ballast"];

/// Whether a place that may be written has too little room for a new store.
pub(crate) fn cannot_begin(path: &Path) -> bool {
    let nearest = path.ancestors().find(|place| files::exists(place)).unwrap_or(path);
    let lacks = files::lacks(nearest, FIRST_BYTES_MIN) || files::lacks_files(nearest, files_needed(path));
    files::can_write(nearest) && lacks
}

/// Whether what a reservation keeps aside is not there, and there is no room to take it.
pub(crate) fn lacks_ballast(path: &Path) -> bool {
    let lacks = || files::lacks(path, RESERVING_BYTES_MIN) || files::lacks_files(path, files_needed(path));
    !ballast::is_kept(path) && lacks()
}

/// A disk without room, by name, with what is left of it and what it takes.
pub(crate) fn full(path: &Path) -> StoreError {
    let free_bytes = files::free_bytes(path).unwrap_or(0);
    let free_files = files::free_files(path).ok().flatten();
    full_of(path, free_bytes, lack(path, free_bytes, free_files))
}

fn full_of(path: &Path, free_bytes: u64, lack: Lack) -> StoreError {
    let disk = files::mount_point(path).unwrap_or_else(|_| path.to_owned());
    StoreError::Full { path: path.display().to_string(), disk: disk.display().to_string(), free_bytes, lack }
}

/// What there is too little of where something was not to be written, or not to be made.
fn lack(path: &Path, free_bytes: u64, free_files: Option<u64>) -> Lack {
    let (least, kept_bytes) = match () {
        () if !files::exists(path) => (FIRST_BYTES_MIN, BALLAST_BYTES),
        () if !ballast::is_kept(path) => (RESERVING_BYTES_MIN, BALLAST_BYTES),
        () => (ROOM_BYTES_MIN, 0),
    };
    let needed = files_needed(path);
    match free_files.filter(|free| *free < needed) {
        _ if least > free_bytes => Lack::Bytes(Some(Room { bytes: least, kept_bytes })),
        Some(free) => Lack::Files { free, needed },
        // As much is free and was not enough: more than the usual was to be written.
        None => Lack::Bytes(Some(Room { bytes: free_bytes + ROOM_BYTES_MIN, kept_bytes })),
    }
}

/// Files and directories that are yet to be made for a store, at least one: something was to be made.
fn files_needed(path: &Path) -> u64 {
    let beside = FILES.map(|suffix| files::with_suffix(path, suffix));
    let above = path.ancestors().skip(1).filter(|directory| !directory.as_os_str().is_empty());
    let is_missing = |place: &&Path| !files::exists(place);
    let count = beside.iter().map(|file| file.as_path()).filter(is_missing).count()
        + above.filter(is_missing).count();
    count.max(1) as u64
}

/// Whether what SQLite could not open or write is for want of room, which it does not say.
pub(crate) fn has_no_room(path: &Path) -> bool {
    files::lacks(path, ROOM_BYTES_MIN) || lacks_files_beside(path)
}

/// Whether a file that SQLite makes beside a store is not there and cannot be made.
fn lacks_files_beside(path: &Path) -> bool {
    let missing = ["-wal", "-shm"].iter().filter(|suffix| !files::exists(&files::with_suffix(path, suffix)));
    match missing.count() as u64 {
        0 => false,
        missing => files::lacks_files(path, missing),
    }
}

/// Whether what could not be written is more than the user may take up, which SQLite does not say either. A file of that
/// size is tried beside the store.
fn is_over_quota(path: &Path) -> bool {
    let probe = files::with_suffix(path, "-probe");
    let tried = files::allocate(&probe, ROOM_BYTES_MIN);
    let _ = files::remove_if_present(&probe);
    tried.is_err_and(|error| is_quota(&error))
}

/// Whether SQLite says that a page, or the log's index, could not be written.
fn is_write(error: &Error) -> bool {
    use rusqlite::ffi::{SQLITE_IOERR_SHMSIZE, SQLITE_IOERR_WRITE};
    let code = error.sqlite_error().map(|found| found.extended_code);
    matches!(code, Some(SQLITE_IOERR_WRITE | SQLITE_IOERR_SHMSIZE))
}

fn over_quota(path: &Path) -> StoreError {
    full_of(path, files::free_bytes(path).unwrap_or(0), Lack::Quota)
}

fn is_quota(error: &FileError) -> bool {
    matches!(error, FileError::System { source, .. } if source.kind() == ErrorKind::QuotaExceeded)
}

fn lies_fixed(path: &Path) -> bool {
    path.parent().is_some_and(|parent| files::exists(parent) && !files::can_write(parent))
}

/// A broken uniqueness means that a drawn id or name exists already.
pub(crate) fn inserting(path: &Path, error: &Error) -> StoreError {
    use rusqlite::ffi::{SQLITE_CONSTRAINT_PRIMARYKEY, SQLITE_CONSTRAINT_UNIQUE};
    match error.sqlite_error().map(|found| found.extended_code) {
        Some(SQLITE_CONSTRAINT_PRIMARYKEY | SQLITE_CONSTRAINT_UNIQUE) => StoreError::IdTaken,
        _ => sqlite(path, error),
    }
}

/// What a failed file operation means.
pub(crate) fn file(path: &Path, error: &FileError) -> StoreError {
    let at = path.display().to_string();
    match error {
        FileError::ForeignOwner { .. } => {
            StoreError::NotPrivate { path: at, reason: error.to_string(), openness: Openness::Owner }
        }
        error if is_quota(error) => over_quota(path),
        FileError::System { source, .. } if source.kind() == ErrorKind::StorageFull => full(path),
        FileError::System { source, .. }
            if matches!(source.kind(), ErrorKind::ReadOnlyFilesystem | ErrorKind::PermissionDenied) =>
        {
            StoreError::ReadOnly { path: at, reason: source.to_string() }
        }
        other => StoreError::Unavailable { path: at, reason: with_cause(other) },
    }
}

/// What it means that a file could not be looked at: whoever may not do that cannot read, let alone write.
pub(crate) fn looking(path: &Path, error: &FileError) -> StoreError {
    match error {
        FileError::System { source, .. } if source.kind() == ErrorKind::PermissionDenied => {
            StoreError::Unreadable { path: path.display().to_string(), reason: source.to_string() }
        }
        other => file(path, other),
    }
}

/// What it means that a committed change could not be flushed: it is there for every process, and only the promise
/// for a power cut is missing. The caller must not take it for undone.
pub(crate) fn unflushed(path: &Path, error: &FileError) -> StoreError {
    let reason = format!("the change was made, but may not survive a power cut: {}", with_cause(error));
    StoreError::Unavailable { path: path.display().to_string(), reason }
}

fn with_cause(error: &FileError) -> String {
    let cause = std::error::Error::source(error).map(|cause| format!(": {cause}"));
    format!("{error}{}", cause.unwrap_or_default())
}

/// What a failed wait at the gate means.
pub(crate) fn gate(path: &Path, error: GateError) -> StoreError {
    match error {
        GateError::Busy { waited_ms, holders } => {
            StoreError::Busy { waited_ms, holders: holders.into_iter().map(holder).collect() }
        }
        GateError::File(error) => file(path, &error),
        other => StoreError::Internal(other.to_string()),
    }
}

/// Who holds a lock, for the contract.
pub(crate) fn holder(found: GateHolder) -> Holder {
    let GateHolder { file, pid, state, is_stopped, command } = found;
    Holder::Process { pid, command, state, is_stopped, holds: file.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_system_that_does_not_tell_how_much_it_holds_is_not_full() {
        assert_eq!(files::free_bytes(Path::new("/proc")).ok(), Some(0));
        assert!(!has_no_room(Path::new("/proc/store.db")) && !cannot_begin(Path::new("/proc/store.db")));
    }

    #[test]
    fn a_disk_lacks_bytes_before_it_lacks_files_and_neither_where_a_quota_is_used_up() {
        let directory = tempfile::tempdir().unwrap();
        let store = directory.path().join("scopes/app/store.db");
        let (room, all) = (FIRST_BYTES_MIN, 8);
        assert_eq!(files_needed(&store), all, "two directories, and what lies in the inner one");
        let bytes = |bytes| Lack::Bytes(Some(Room { bytes, kept_bytes: BALLAST_BYTES }));
        for (free_bytes, free_files, expected) in [
            (room - 1, Some(0), bytes(room)),
            (room, Some(0), Lack::Files { free: 0, needed: all }),
            (room, Some(all - 1), Lack::Files { free: all - 1, needed: all }),
            (room, Some(all), bytes(room + ROOM_BYTES_MIN)),
            (room, None, bytes(room + ROOM_BYTES_MIN)),
        ] {
            assert_eq!(lack(&store, free_bytes, free_files), expected, "{free_bytes} {free_files:?}");
        }
        let refused = |kind: ErrorKind| {
            let error = FileError::System { action: "make", path: store.clone(), source: kind.into() };
            file(&store, &error)
        };
        assert!(matches!(refused(ErrorKind::QuotaExceeded), StoreError::Full { lack: Lack::Quota, .. }));
        assert!(matches!(refused(ErrorKind::StorageFull), StoreError::Full { lack: Lack::Bytes(_), .. }));
    }
}
