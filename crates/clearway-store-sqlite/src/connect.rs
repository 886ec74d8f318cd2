//! Opening the file: for writing through the turnstile, for reading without leaving a trace.

use crate::errors;
use crate::memory;
use crate::private_copy::PrivateCopy;
use crate::schema::{APPLICATION_ID, Schema, number_of};
use crate::witness;
use clearway_platform::files::{self, Entry, FileKey, PrivacyComplaint, with_suffix};
use clearway_platform::gate::{self, Gate, GateGuard};
use clearway_platform::stopwatch::{Stopwatch, pause};
use clearway_store::contract::{Head, Holder, Openness, StoreError};
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// The bit of a directory in which everybody may put files and nobody takes away those of others.
const STICKY: u32 = 0o1000;

/// The oldest SQLite whose write-ahead log cannot lose a reset under concurrent checkpoints.
const SQLITE_VERSION_MIN: i32 = 3_051_003;

/// The size of a page. Half of SQLite's own: a reservation touches seven pages, and each is written, summed and
/// read again by whoever comes next.
pub(crate) const PAGE_BYTES: u64 = 2_048;

/// A connection that may write, as long as it holds the gate.
#[derive(Debug)]
pub(crate) struct Writer {
    pub(crate) connection: Connection,
    pub(crate) path: PathBuf,
    gate: Gate,
    key: Option<FileKey>,
    is_set: bool,
}

impl Writer {
    /// Opens the file; `None` if it is not there and must not be made.
    pub(crate) fn open(
        path: &Path,
        create: bool,
        schema: Schema,
        wait: Duration,
    ) -> Result<Option<Self>, StoreError> {
        refuse_lost(path, schema, wait)?;
        match (is_there(path)?, create) {
            (true, false) if is_blank(path) => return Ok(None),
            (true, _) => refuse_garbage(path).and_then(|()| refuse_several_names(path))?,
            (false, true) => make_room(path)?,
            (false, false) => return Ok(None),
        }
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = open(path, flags, wait)?;
        // Where it may not write, SQLite opens for reading without a word.
        if connection.is_readonly("main").map_err(|error| errors::sqlite(path, &error))? {
            let reason = "the file or its file system is read-only".to_owned();
            return Err(StoreError::ReadOnly { path: path.display().to_string(), reason });
        }
        let (gate, key) = (Gate::beside(path), files::device_and_inode(path).ok());
        Ok(Some(Self { connection, path: path.to_owned(), gate, key, is_set: false }))
    }

    /// Waits for the turn to write. What is left of the time is what a statement may wait for a writer that
    /// does not pass the gate.
    ///
    /// The first look at the file comes behind the gate: whoever is the first to open a store locks out everybody
    /// while it reads the log anew, and if it stood still there without the gate, SQLite would try for ten seconds
    /// and then blame the locks.
    pub(crate) fn pass_gate(&mut self, patience: &Patience) -> Result<GateGuard, StoreError> {
        let guard = self.gate.acquire(patience.left()).map_err(|error| errors::gate(&self.path, error))?;
        // What was put aside while this one waited is nobody's log any more.
        if files::device_and_inode(&self.path).ok() != self.key {
            let holders = vec![Holder::Told("the store was put aside or replaced meanwhile".to_owned())];
            return Err(StoreError::Busy { waited_ms: patience.waited_ms(), holders });
        }
        if !self.is_set {
            let_first_pass(&self.path, patience)?;
        }
        let set = self.connection.busy_timeout(patience.left()).and_then(|()| self.set());
        set.map_err(|error| self.failed(&error, patience))?;
        Ok(guard)
    }

    /// A checkpoint happens where `transaction.rs` says, never in the middle of somebody's commit. A commit that
    /// owes more than surviving the process is flushed there too.
    fn set(&mut self) -> rusqlite::Result<()> {
        if !self.is_set {
            self.connection.execute_batch("PRAGMA wal_autocheckpoint = 0; PRAGMA synchronous = NORMAL")?;
            self.is_set = true;
        }
        Ok(())
    }

    /// The number of the file's schema; 0 if nobody has made the tables yet, and nobody ever had. The caller holds the
    /// gate.
    pub(crate) fn number(&self, patience: &Patience) -> Result<u32, StoreError> {
        let number = number_of(&self.connection).map_err(|error| self.failed(&error, patience))?;
        let remembered = if number == 0 { witness::last_remembered(&self.path) } else { None };
        remembered.map_or(Ok(number), |head| Err(lost(&self.path, &head)))
    }

    /// What a failed statement means for a caller that waited, with whoever is in the way.
    pub(crate) fn failed(&self, error: &rusqlite::Error, patience: &Patience) -> StoreError {
        patience.spent_on(errors::sqlite(&self.path, error))
    }

    /// Brings the schema from `found` to `schema`, with one backup of what was there. The caller holds the gate.
    pub(crate) fn migrate(&self, found: u32, schema: Schema, patience: &Patience) -> Result<(), StoreError> {
        let fail = |error: &rusqlite::Error| self.failed(error, patience);
        refuse_foreign(&self.connection, &self.path, found)?;
        refuse_newer(&self.path, found, schema)?;
        self.keep_log(patience)?;
        if found == schema.number() {
            return Ok(());
        }
        if found > 0 {
            self.back_up(found)?;
        }
        self.connection.execute_batch("BEGIN IMMEDIATE").map_err(|error| fail(&error))?;
        let migrated =
            schema.migrate(&self.connection, found).and_then(|()| self.connection.execute_batch("COMMIT"));
        migrated.map_err(|error| {
            let _ = self.connection.execute_batch("ROLLBACK");
            fail(&error)
        })
    }

    /// Makes the file keep a write-ahead log: a new one does not yet, and neither does a backup that was put
    /// back. Asks again afterwards, because a change over that fails at its end is not reported as an error.
    fn keep_log(&self, patience: &Patience) -> Result<(), StoreError> {
        if files::exists(&with_suffix(&self.path, "-wal")) {
            return Ok(());
        }
        let begin = format!("PRAGMA page_size = {PAGE_BYTES}; PRAGMA journal_mode = WAL");
        let changed = self.connection.execute_batch(&begin);
        let asked =
            changed.and_then(|()| self.connection.pragma_query_value(None, "journal_mode", |row| row.get(0)));
        let mode: String = asked.map_err(|error| self.failed(&error, patience))?;
        if mode == "wal" {
            return Ok(());
        }
        let reason = format!("it cannot be made to keep a write-ahead log, and stays in mode {mode}");
        Err(StoreError::Unavailable { path: self.path.display().to_string(), reason })
    }

    /// One backup per number that was left behind; a half-written one of an earlier try is replaced.
    fn back_up(&self, number: u32) -> Result<(), StoreError> {
        let backup = with_suffix(&self.path, &format!("-schema-{number}-backup"));
        let fail = |error: files::FileError| errors::file(&backup, &error);
        files::remove_if_present(&backup).map_err(fail)?;
        files::open_private(&backup).map_err(fail)?;
        let target = backup.display().to_string();
        self.connection
            .execute("VACUUM INTO ?1", [target])
            .map_err(|error| errors::sqlite(&backup, &error))?;
        // The migration overwrites what only the backup still holds.
        files::flush_with_name(&backup).map_err(fail)
    }
}

/// A connection that cannot write.
#[derive(Debug)]
pub(crate) struct Reader {
    pub(crate) connection: Connection,
    pub(crate) path: PathBuf,
    /// The schema number of the file itself, whatever its copy was brought to.
    pub(crate) schema: u32,
    /// Which file it is, whatever lies at the path by now.
    key: Option<FileKey>,
    /// Keeps the copy alive where the original could not be opened without writing.
    copy: Option<PrivateCopy>,
    /// What the gate remembered before the copy was made: later it may know more than a copy can.
    remembered: BTreeMap<i64, Head>,
}

impl Reader {
    /// Opens the file; `None` if it is not there. Where the gate remembers a log, the file is looked at once more before
    /// it counts as lost: somebody may have begun it after the first look.
    pub(crate) fn open(path: &Path, schema: Schema, wait: Duration) -> Result<Option<Self>, StoreError> {
        let found = Self::look(path, schema, wait)?;
        let head = if found.is_some() { None } else { witness::last_remembered(path) };
        let Some(head) = head else { return Ok(found) };
        Self::look(path, schema, wait)?.map(Some).ok_or_else(|| lost(path, &head))
    }

    fn look(path: &Path, schema: Schema, wait: Duration) -> Result<Option<Self>, StoreError> {
        // Even a reader's SQLite would throw away the log beside an empty file.
        if !is_there(path)? || is_empty(path) {
            return Ok(None);
        }
        // Without its log beside it SQLite would create one: somebody moved the file, so look at a copy.
        let in_place = ["-wal", "-shm"].iter().all(|suffix| files::exists(&with_suffix(path, suffix)));
        let opened = if in_place { Self::in_place(path, wait) } else { Self::copied(path) };
        let reader =
            match opened {
                Err(
                    StoreError::ReadOnly { .. } | StoreError::Unavailable { .. } | StoreError::Full { .. },
                ) if in_place => Self::copied(path)?,
                other => other?,
            };
        refuse_foreign(&reader.connection, path, reader.schema)?;
        match reader.schema {
            0 => Ok(None),
            found if found > schema.number() => Err(newer(path, found, schema)),
            found if found < schema.number() => Self::copied_and_migrated(path, schema).map(Some),
            _ => Ok(Some(reader)),
        }
    }

    /// Leaves the connection to the kernel; a private copy goes all the same.
    pub(crate) fn leave_open(self) {
        std::mem::forget(self.connection);
    }

    /// Whether this is a look at what was there when it was opened, and not at what is there now.
    pub(crate) fn is_copy(&self) -> bool {
        self.copy.is_some()
    }

    /// The head that the gate remembers of a scope, no later than what is read here.
    pub(crate) fn remembered(&self, scope: i64) -> Option<Head> {
        match &self.copy {
            Some(_) => self.remembered.get(&scope).copied(),
            None => witness::remembered(&self.path, scope),
        }
    }

    fn in_place(path: &Path, wait: Duration) -> Result<Self, StoreError> {
        let_first_pass(path, &Patience::of(wait))?;
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = open(path, flags, wait)?;
        Self::on(connection, path, None, BTreeMap::new())
    }

    fn copied(path: &Path) -> Result<Self, StoreError> {
        let remembered = witness::all_remembered(path).collect();
        let copy = PrivateCopy::of(path)?;
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = open_as(&copy.path(), path, flags, Duration::ZERO)?;
        Self::on(connection, path, Some(copy), remembered)
    }

    /// Whether what was opened is no longer what lies at the path: it was replaced, or is gone.
    pub(crate) fn is_replaced(&self) -> bool {
        self.key.is_none() || files::device_and_inode(&self.path).ok() != self.key
    }

    fn on(
        connection: Connection,
        path: &Path,
        copy: Option<PrivateCopy>,
        remembered: BTreeMap<i64, Head>,
    ) -> Result<Self, StoreError> {
        let key = files::device_and_inode(path).ok();
        let schema = number_of(&connection).map_err(|error| errors::sqlite(path, &error))?;
        Ok(Self { connection, path: path.to_owned(), schema, key, copy, remembered })
    }

    /// An older schema is read by way of a migrated copy, so that reading has one set of statements.
    fn copied_and_migrated(path: &Path, schema: Schema) -> Result<Self, StoreError> {
        let reader = Self::copied(path)?;
        let migrated = schema.migrate(&reader.connection, reader.schema);
        migrated.map_err(|error| errors::sqlite(path, &error))?;
        Ok(reader)
    }
}

/// An empty file that nobody ever wrote to as a store: without a gate there is no log beside it either.
fn is_blank(path: &Path) -> bool {
    is_empty(path) && !files::exists(&with_suffix(path, "-gate"))
}

fn is_empty(path: &Path) -> bool {
    files::length(path) == Some(0)
}

/// What the file of a database begins with.
const HEADER: &[u8] = b"SQLite format 3\0";

/// A file that is no database gets no gate beside it. One that has a gate was a store before.
fn refuse_garbage(path: &Path) -> Result<(), StoreError> {
    let known = files::exists(&with_suffix(path, "-gate"));
    if known {
        return Ok(());
    }
    let start = files::read_start(path, HEADER.len()).map_err(|error| errors::looking(path, &error))?;
    if start.is_empty() || start == HEADER {
        return Ok(());
    }
    Err(StoreError::NoDatabase { path: path.display().to_string() })
}

/// A gate lies beside a name, not beside a file: two names would be two gates, and two would write at once.
pub(crate) fn refuse_several_names(path: &Path) -> Result<(), StoreError> {
    match files::names_of(path) {
        Some(names) if names > 1 => Err(StoreError::SeveralNames { path: path.display().to_string(), names }),
        _ => Ok(()),
    }
}

fn open(path: &Path, flags: OpenFlags, wait: Duration) -> Result<Connection, StoreError> {
    open_as(path, path, flags, wait)
}

/// Opens a file that stands for the store `named`: what is wrong with it is said of that store.
fn open_as(path: &Path, named: &Path, flags: OpenFlags, wait: Duration) -> Result<Connection, StoreError> {
    memory::share();
    if rusqlite::version_number() < SQLITE_VERSION_MIN {
        return Err(StoreError::Internal(format!("SQLite {} is too old", rusqlite::version())));
    }
    let fail = |error: rusqlite::Error| errors::sqlite(named, &error);
    let connection = Connection::open_with_flags(path, flags).map_err(fail)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true).map_err(fail)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true).map_err(fail)?;
    // Planned once: peeking at what is bound would have every statement of a short life planned twice.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true).map_err(fail)?;
    connection.set_prepared_statement_cache_capacity(64);
    connection.busy_timeout(wait).map_err(fail)?;
    Ok(connection)
}

/// One caller's time for every wait of one operation together.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Patience {
    started: Stopwatch,
    total: Duration,
}

impl Patience {
    /// Begins to run.
    pub(crate) fn of(total: Duration) -> Self {
        Self { started: Stopwatch::start(), total }
    }

    fn left(&self) -> Duration {
        self.total.saturating_sub(Duration::from_millis(self.started.elapsed_ms()))
    }

    fn waited_ms(&self) -> u64 {
        self.started.elapsed_ms()
    }

    /// A failure that is somebody in the way is told with the time that passed before it.
    pub(crate) fn spent_on(&self, error: StoreError) -> StoreError {
        match error {
            StoreError::Busy { holders, .. } => StoreError::Busy { waited_ms: self.waited_ms(), holders },
            other => other,
        }
    }
}

/// Waits for a process that is the first to open the store and keeps everybody out meanwhile, at most as long as the
/// caller waits for anything. SQLite would try for ten seconds whatever it was told, and whoever writes would stand in
/// the gate all that time.
///
/// The first one empties the shared-memory file before it lets others in, makes room in it piece by piece, and marks it as
/// begun once it has read the log: one that is marked is asked nothing more. Where it is not, and one process stays the
/// one that locks it, there is no use in trying; whatever else is so, SQLite finds out.
///
/// To look for the mark the file is opened and closed, which gives up the locks of this process on it. So that is done
/// before its first connection to a store alone, and no second one begins meanwhile.
fn let_first_pass(path: &Path, patience: &Patience) -> Result<(), StoreError> {
    static CONNECTED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());
    let mut connected = CONNECTED.lock().unwrap_or_else(PoisonError::into_inner);
    let is_known = connected.iter().any(|known| known == path);
    wait_for_first(&with_suffix(path, "-shm"), !is_known, patience)?;
    if !is_known {
        connected.push(path.to_owned());
    }
    Ok(())
}

/// Waits until the shared-memory file is in use, or nobody is about to make it so.
fn wait_for_first(shared: &Path, may_open: bool, patience: &Patience) -> Result<(), StoreError> {
    let locks = || SHARED_MEMORY_LOCKS.iter().flat_map(|byte| gate::byte_lock_holders(shared, *byte));
    let is_marked = || !may_open || files::byte_at(shared, BEGUN_AT) != Some(0);
    let has_begun = || match files::length(shared) {
        Some(bytes) => bytes >= SHARED_MEMORY_BYTES_MIN && is_marked(),
        None => true,
    };
    let first = || if has_begun() { None } else { locks().next() };
    let Some(seen) = first() else { return Ok(()) };
    let mut look_again = FIRST_LOOK;
    while let Some(now) = first().filter(|now| now.pid == seen.pid) {
        if patience.left().is_zero() {
            let holders = vec![errors::holder(now)];
            return Err(StoreError::Busy { waited_ms: patience.waited_ms(), holders });
        }
        pause(look_again.min(patience.left()));
        look_again = (look_again * 2).min(LAST_LOOK);
    }
    Ok(())
}

/// How soon to look whether the first one is through: it hardly ever takes as long as this. One that stands still is
/// looked at less and less often.
const FIRST_LOOK: Duration = Duration::from_millis(1);
const LAST_LOOK: Duration = Duration::from_millis(50);

/// The least that SQLite's shared-memory file holds once it is in use.
const SHARED_MEMORY_BYTES_MIN: u64 = 32_768;

/// Where it says whether the log was read into it.
const BEGUN_AT: u64 = 12;

/// The bytes of that file by which one process keeps others out: those of a writer, of a checkpoint, of
/// reading the log anew, and of whoever is the first to open the file.
const SHARED_MEMORY_LOCKS: [u64; 4] = [120, 121, 122, 128];

/// The first of the bytes that whoever keeps the database to itself locks in the file.
const WHOLE_FILE_LOCK: u64 = 0x4000_0002;

/// Who holds one of the database's own locks.
pub(crate) fn database_writers(file: &Path) -> Vec<Holder> {
    let shared = with_suffix(file, "-shm");
    let in_memory = SHARED_MEMORY_LOCKS.iter().flat_map(|byte| gate::byte_lock_holders(&shared, *byte));
    let holders = in_memory.chain(gate::byte_lock_holders(file, WHOLE_FILE_LOCK));
    holders.map(errors::holder).collect::<BTreeSet<_>>().into_iter().collect()
}

fn refuse_newer(path: &Path, found: u32, schema: Schema) -> Result<(), StoreError> {
    if found > schema.number() { Err(newer(path, found, schema)) } else { Ok(()) }
}

fn newer(path: &Path, found: u32, schema: Schema) -> StoreError {
    StoreError::Newer { path: path.display().to_string(), found, known: schema.number() }
}

/// Whether the file is there. A place that cannot be looked into is not an empty one, whoever opens a pipe may wait for
/// ever, and the log and the gate lie beside what a link leads to, not beside the link.
fn is_there(path: &Path) -> Result<bool, StoreError> {
    match files::entry(path).map_err(|error| errors::looking(path, &error))? {
        None => Ok(false),
        Some(Entry::File) => Ok(true),
        Some(Entry::Link) => Err(StoreError::Link { path: path.display().to_string() }),
        Some(Entry::Other) => Err(StoreError::Unavailable {
            path: path.display().to_string(),
            reason: "it is no regular file".to_owned(),
        }),
    }
}

/// A store that others can write, or in whose directories they can put another, is neither read nor written.
pub(crate) fn refuse_exposed(file: &Path, directories: &[&Path]) -> Result<(), StoreError> {
    if is_there(file)? {
        let complaints = files::privacy_complaints(file);
        let is_exposed = complaints.as_ref().is_ok_and(|complaints| !complaints.is_empty());
        // The mode of what is no store at all is nobody's to change for us.
        if let Err(garbage @ StoreError::NoDatabase { .. }) = refuse_garbage(file)
            && is_exposed
        {
            return Err(garbage);
        }
        refuse_complaints(file, complaints)?;
    }
    let mut there = directories.iter().filter(|directory| files::exists(directory));
    there.try_for_each(|directory| refuse_complaints(directory, files::directory_complaints(directory)))
}

fn refuse_complaints(
    path: &Path,
    complaints: Result<Vec<PrivacyComplaint>, files::FileError>,
) -> Result<(), StoreError> {
    match complaints.map_err(|error| errors::looking(path, &error))?.first() {
        Some(complaint) => {
            let openness = match complaint {
                PrivacyComplaint::Mode { mode, .. } if mode & STICKY != 0 => Openness::Shared,
                PrivacyComplaint::Mode { .. } => Openness::Mode,
                PrivacyComplaint::Owner { .. } => Openness::Owner,
            };
            let (path, reason) = (path.display().to_string(), complaint.to_string());
            Err(StoreError::NotPrivate { path, reason, openness })
        }
        None => Ok(()),
    }
}

/// A store of which nothing is left while the gate beside it remembers a log is not one that never was. A reader
/// settles that before anything is opened for writing: SQLite begins a log where there is none, and throws away that of
/// an empty file.
pub(crate) fn refuse_lost(path: &Path, schema: Schema, wait: Duration) -> Result<(), StoreError> {
    let is_whole = files::exists(&with_suffix(path, "-wal")) && files::length(path).unwrap_or(0) > 0;
    if is_whole || witness::last_remembered(path).is_none() {
        return Ok(());
    }
    Reader::open(path, schema, wait).map(|_| ())
}

fn lost(path: &Path, head: &Head) -> StoreError {
    let reason = format!("it is gone or empty, but the gate beside it remembers {} events", head.rev);
    StoreError::Lost { path: path.display().to_string(), reason, holds_others: false }
}

/// A database of somebody else is neither read nor written. The mark is read last: a store may come into being, all at
/// once, after it was seen to be empty.
fn refuse_foreign(connection: &Connection, path: &Path, number: u32) -> Result<(), StoreError> {
    let foreign = || {
        let count = "SELECT count(*) > 0 FROM sqlite_schema";
        if number == 0 && !connection.query_row(count, [], |row| row.get(0))? {
            return Ok(false);
        }
        let mark: i32 = connection.query_row("PRAGMA application_id", [], |row| row.get(0))?;
        Ok(mark != APPLICATION_ID)
    };
    match foreign().map_err(|error| errors::sqlite(path, &error))? {
        false => Ok(()),
        true => Err(StoreError::Unavailable {
            path: path.display().to_string(),
            reason: "it is a database of something else".to_owned(),
        }),
    }
}

/// Makes the directory and the file, private before SQLite puts anything into them. A disk on which the store could
/// not be begun is left as it is.
fn make_room(path: &Path) -> Result<(), StoreError> {
    if errors::cannot_begin(path) {
        return Err(errors::full(path));
    }
    let fail = |error: files::FileError| errors::file(path, &error);
    if let Some(parent) = path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
        files::create_private_dir_all(parent).map_err(fail)?;
    }
    files::open_private(path).map(|_| ()).map_err(fail)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_store_that_came_into_being_after_it_was_seen_empty_is_ours_and_any_other_database_is_not() {
        let (ours, foreign) = (Connection::open_in_memory().unwrap(), Connection::open_in_memory().unwrap());
        Schema::CURRENT.migrate(&ours, 0).unwrap();
        foreign.execute_batch("CREATE TABLE t (a)").unwrap();
        let path = Path::new("store.db");
        assert_eq!(refuse_foreign(&ours, path, 0), Ok(()));
        assert_eq!(refuse_foreign(&ours, path, 1), Ok(()));
        assert!(refuse_foreign(&foreign, path, 0).is_err() && refuse_foreign(&foreign, path, 1).is_err());
    }
}
