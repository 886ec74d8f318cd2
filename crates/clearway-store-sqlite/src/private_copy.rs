//! A store that cannot be opened where it lies is read from a private copy that vanishes with its reader.
//!
//! Nobody waits for a copy: whoever writes meanwhile goes on, and a copy that may have been torn is made again.

use crate::errors;
use clearway_platform::files::{self, FileError, with_suffix};
use clearway_store::contract::StoreError;
use std::path::{Path, PathBuf};

/// How often a copy is made before the store is called busy. A fold of the log tears one, and folds are rare.
const COPIES_MAX: usize = 64;

/// The bytes at the beginning of a log that are drawn anew whenever it begins again.
const LOG_HEADER_BYTES: usize = 32;

/// More than the gate of any store remembers of its scopes.
const GATE_BYTES_MAX: usize = 64 << 20;

/// A copy of a database and its log, in a directory of its own.
#[derive(Debug)]
pub(crate) struct PrivateCopy {
    directory: files::TemporaryDir,
}

impl PrivateCopy {
    /// Copies the file and then its log, as often as it takes to get both of one moment.
    pub(crate) fn of(path: &Path) -> Result<Self, StoreError> {
        for _ in 0..COPIES_MAX {
            let before = Moment::of(path)?;
            let copy = Self::once(path)?;
            if before.is_still(&Moment::of(path)?) {
                return Ok(copy);
            }
        }
        Err(StoreError::Busy { waited_ms: 0, holders: Vec::new() })
    }

    fn once(path: &Path) -> Result<Self, StoreError> {
        let copy = Self { directory: files::temporary_dir(files::READING).map_err(|error| named(&error))? };
        files::copy_private(path, &copy.path()).map_err(|error| named(&error))?;
        let log = with_suffix(path, "-wal");
        if files::exists(&log) {
            files::copy_private(&log, &with_suffix(&copy.path(), "-wal")).map_err(|error| named(&error))?;
        }
        Ok(copy)
    }

    /// The copied database.
    pub(crate) fn path(&self) -> PathBuf {
        self.directory.path().join("store.db")
    }
}

/// Which log there is, and what the gate remembers of it.
#[derive(Debug)]
struct Moment {
    log: Vec<u8>,
    gate: Vec<u8>,
}

impl Moment {
    fn of(path: &Path) -> Result<Self, StoreError> {
        let read = |suffix, bytes_max| files::read_start(&with_suffix(path, suffix), bytes_max);
        let log = read("-wal", LOG_HEADER_BYTES).map_err(|error| named(&error))?;
        let gate = read("-gate", GATE_BYTES_MAX).map_err(|error| named(&error))?;
        Ok(Self { log, gate })
    }

    /// Pages come into the database only from the log, so with the same log at the end the copied one covers whatever
    /// was folded in meanwhile, and frames that came in between are simply newer. Where there was no log, none may
    /// have come and gone, and every commit leaves its mark at the gate.
    fn is_still(&self, later: &Self) -> bool {
        self.log == later.log && (!self.log.is_empty() || self.gate == later.gate)
    }
}

/// What went wrong, said of the file that it went wrong with: the store, or the copy.
fn named(error: &FileError) -> StoreError {
    match error {
        FileError::System { path, .. }
        | FileError::ForeignOwner { path, .. }
        | FileError::NotADirectory { path } => errors::file(path, error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clearway_platform::gate::{Gate, WITNESS_BYTES};
    use rusqlite::Connection;
    use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
    use std::time::Duration;

    const COPIES: usize = 300;
    const WRITES_PER_FOLD: u64 = 3;

    /// Every row of every page says the same number, and every commit raises it.
    fn hammer(store: &Path, committed: &AtomicU64, over: &AtomicBool) {
        let connection = Connection::open(store).unwrap();
        connection.execute_batch("PRAGMA wal_autocheckpoint = 0; PRAGMA synchronous = OFF").unwrap();
        let gate = Gate::beside(store);
        for number in 1_u64.. {
            if over.load(Ordering::Relaxed) {
                return;
            }
            let guard = gate.acquire(Duration::from_secs(60)).unwrap();
            connection.execute("UPDATE numbers SET number = ?", [number]).unwrap();
            let mut witness = [1; WITNESS_BYTES];
            witness[..8].copy_from_slice(&number.to_be_bytes());
            guard.write_witness(1, &witness).unwrap();
            if number % WRITES_PER_FOLD == 0 {
                connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
            }
            committed.store(number, Ordering::SeqCst);
        }
    }

    #[test]
    fn a_copy_beside_a_writer_is_of_one_moment_and_no_older_than_what_was_committed_before() {
        let directory = files::temporary_dir("clearway-test").unwrap();
        let store = directory.path().join("store.db");
        let connection = Connection::open(&store).unwrap();
        let make = "PRAGMA page_size = 1024; PRAGMA journal_mode = WAL; CREATE TABLE numbers (number, rest); \
                    WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200) \
                    INSERT INTO numbers SELECT 0, zeroblob(900) FROM n";
        connection.execute_batch(make).unwrap();
        let (committed, over) = (AtomicU64::new(0), AtomicBool::new(false));
        std::thread::scope(|scope| {
            scope.spawn(|| hammer(&store, &committed, &over));
            let looked = (0..COPIES).map(|_| look(&store, &committed)).collect::<Result<Vec<bool>, String>>();
            over.store(true, Ordering::Relaxed);
            let whole = looked.unwrap().into_iter().filter(|copied| *copied).count();
            assert!(whole > COPIES / 2, "{whole} of {COPIES} copies could be made");
        });
    }

    fn look(store: &Path, committed: &AtomicU64) -> Result<bool, String> {
        let before = committed.load(Ordering::SeqCst);
        let copy = match PrivateCopy::of(store) {
            Err(StoreError::Busy { .. }) => return Ok(false),
            other => other.map_err(|error| error.to_string())?,
        };
        let connection = Connection::open(copy.path()).map_err(|error| error.to_string())?;
        let (least, most): (u64, u64) = connection
            .query_row("SELECT min(number), max(number) FROM numbers", [], |row| {
                Ok((row.get(0)?, row.get(1)?))
            })
            .map_err(|error| error.to_string())?;
        match least == most && least >= before {
            true => Ok(true),
            false => Err(format!("{least} to {most} in one copy, after {before} was committed")),
        }
    }
}
