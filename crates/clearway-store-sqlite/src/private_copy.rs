//! A store that cannot be opened where it lies is read from a private copy that vanishes with its reader.

use crate::errors;
use clearway_platform::files::{self, with_suffix};
use clearway_store::contract::StoreError;
use std::path::{Path, PathBuf};

/// A copy of a database and its log, in a directory of its own.
#[derive(Debug)]
pub(crate) struct PrivateCopy {
    directory: files::TemporaryDir,
}

impl PrivateCopy {
    /// Copies the file and its log. The log is copied last: frames that came in between are simply newer.
    pub(crate) fn of(path: &Path) -> Result<Self, StoreError> {
        let fail = |error: files::FileError| errors::file(path, &error);
        let copy = Self { directory: files::temporary_dir(files::READING).map_err(fail)? };
        files::copy_private(path, &copy.path()).map_err(fail)?;
        let log = with_suffix(path, "-wal");
        if files::exists(&log) {
            files::copy_private(&log, &with_suffix(&copy.path(), "-wal")).map_err(fail)?;
        }
        Ok(copy)
    }

    /// The copied database.
    pub(crate) fn path(&self) -> PathBuf {
        self.directory.path().join("store.db")
    }
}
