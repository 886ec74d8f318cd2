//! The engine: which file, which connection, whose turn.

use crate::adoption;
use crate::ballast;
use crate::connect::{Patience, Reader, Writer, refuse_exposed};
use crate::errors;
use crate::place::Place;
use crate::schema::Schema;
use crate::snapshot::SqliteSnapshot;
use crate::transaction::SqliteTransaction;
use clearway_core::fold::State;
use clearway_core::ids::{ScopeKey, Seq};
use clearway_platform::doorbell::{self, Listener};
use clearway_platform::files::{self, with_suffix};
use clearway_store::contract::{
    Capabilities, Engine, Examination, Head, Holder, Snapshot, StoreError, Transaction,
};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How the engine is set up.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Where scopes live.
    pub place: Place,
    /// Where doorbells hang.
    pub runtime_dir: PathBuf,
    /// The longest wait for another writer.
    pub timeout: Duration,
    /// Names the network file system a path lies on, if it does.
    pub network: fn(&Path) -> Option<String>,
    /// The schema to bring files to.
    pub schema: Schema,
    /// Leave closing to the kernel: for a process that ends right after.
    pub leave_open: bool,
}

/// SQLite files behind the storage contract.
#[derive(Debug)]
pub struct SqliteEngine {
    pub(crate) settings: Settings,
    pub(crate) writers: BTreeMap<PathBuf, Writer>,
    pub(crate) readers: BTreeMap<PathBuf, Reader>,
    listeners: BTreeMap<ScopeKey, Listener>,
}

/// How often a follower looks for itself, should a doorbell not ring.
const POLL_MS: u64 = 20;

impl SqliteEngine {
    /// An engine that has opened nothing yet.
    pub fn new(settings: Settings) -> Self {
        Self { settings, writers: BTreeMap::new(), readers: BTreeMap::new(), listeners: BTreeMap::new() }
    }

    /// How it is set up.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    fn refuse_network(&self, path: &Path) -> Result<(), StoreError> {
        let nearest = path.ancestors().find(|ancestor| files::exists(ancestor)).unwrap_or(path);
        match (self.settings.network)(nearest) {
            Some(kind) => Err(StoreError::Network { path: path.display().to_string(), kind }),
            None => Ok(()),
        }
    }

    /// A place where locks do not hold, or where others could change the store, is not used.
    fn refuse_place(&self, path: &Path) -> Result<(), StoreError> {
        self.refuse_network(path)?;
        refuse_exposed(path, &self.settings.place.directories(path))
    }

    fn open_writer(&mut self, path: &Path, create: bool) -> Result<bool, StoreError> {
        if self.writers.contains_key(path) {
            return Ok(true);
        }
        self.refuse_place(path)?;
        if !files::exists(path) {
            self.settings.place.refuse_nowhere()?;
            if create {
                adoption::refuse_adopted(path)?;
            }
        }
        let Settings { schema, timeout, .. } = self.settings;
        let Some(writer) = Writer::open(path, create, schema, timeout)? else { return Ok(false) };
        self.writers.insert(path.to_owned(), writer);
        Ok(true)
    }

    fn open_reader(&mut self, path: &Path) -> Result<Option<&mut Reader>, StoreError> {
        // A copy is of its moment: whoever looks again may have written in between. So is a file that was replaced.
        if self.readers.get(path).is_some_and(|reader| reader.is_copy() || reader.is_replaced()) {
            self.readers.remove(path);
        }
        if !self.readers.contains_key(path) {
            self.refuse_place(path)?;
            match Reader::open(path, self.settings.schema, self.settings.timeout)? {
                Some(reader) => self.readers.insert(path.to_owned(), reader),
                None => return Ok(None),
            };
        }
        Ok(self.readers.get_mut(path))
    }
}

impl Drop for SqliteEngine {
    /// Nothing is owed at closing: the log stays in place, and locks die with the process.
    fn drop(&mut self) {
        if self.settings.leave_open {
            std::mem::take(&mut self.writers).into_values().for_each(std::mem::forget);
            std::mem::take(&mut self.readers).into_values().for_each(Reader::leave_open);
        }
    }
}

impl Engine for SqliteEngine {
    fn capabilities(&self) -> Capabilities {
        Capabilities { engine: "sqlite", version: rusqlite::version().to_owned(), durable: true }
    }

    fn begin(
        &mut self,
        scope: &ScopeKey,
        create: bool,
    ) -> Result<Option<Box<dyn Transaction + '_>>, StoreError> {
        let transaction = self.turn(scope, create)?.map(SqliteTransaction::refuse_renamed).transpose()?;
        Ok(transaction.map(|transaction| Box::new(transaction) as Box<dyn Transaction>))
    }

    fn snapshot(&mut self, scope: &ScopeKey) -> Result<Option<Box<dyn Snapshot + '_>>, StoreError> {
        let patience = Patience::of(self.settings.timeout);
        let path = self.settings.place.file(scope);
        let begun = match self.open_reader(&path) {
            Ok(Some(reader)) => SqliteSnapshot::begin(reader, scope),
            Ok(None) => return Ok(None),
            Err(error) => Err(error),
        };
        let snapshot = begun.map_err(|error| patience.spent_on(error))?;
        Ok(Some(Box::new(snapshot)))
    }

    fn scopes(&mut self) -> Result<Vec<ScopeKey>, StoreError> {
        let mut keys = match self.settings.place.clone() {
            Place::PerScope(_) => self.settings.place.scopes_with_files(),
            Place::OneFile(file) => match self.open_reader(&file)? {
                Some(reader) => scope_keys(reader)?,
                None => Vec::new(),
            },
        };
        keys.sort();
        Ok(keys)
    }

    /// Whether a file is there is answered without opening it.
    fn has(&mut self, scope: &ScopeKey) -> Result<bool, StoreError> {
        match &self.settings.place {
            Place::PerScope(_) => {
                let files =
                    [self.settings.place.file(scope), adoption::alias_file(&self.settings.place, scope)];
                Ok(files.iter().any(|file| files::exists(file)))
            }
            Place::OneFile(_) => Ok(self.scopes()?.contains(scope)),
        }
    }

    fn alias(&mut self, key: &ScopeKey) -> Result<Option<ScopeKey>, StoreError> {
        match files::exists(&self.settings.place.file(key)) {
            true => Ok(None),
            false => adoption::alias(&self.settings.place, key),
        }
    }

    fn adopt(&mut self, key: &ScopeKey, scope: &ScopeKey, rev: Seq) -> Result<Option<String>, StoreError> {
        self.make_stand_for(key, scope, rev)
    }

    fn changed(&mut self, scope: &ScopeKey, after: Seq, wait_ms: u64) -> Result<bool, StoreError> {
        let started = clearway_platform::stopwatch::Stopwatch::start();
        let mut looked_at = None;
        loop {
            let version = self.data_version(scope);
            if version.is_none() || version != looked_at {
                let head = self.snapshot(scope)?.map(|mut snapshot| snapshot.head()).transpose()?;
                if head.is_some_and(|head| head.rev > after) {
                    return Ok(true);
                }
                looked_at = version;
            }
            let left = wait_ms.saturating_sub(started.elapsed_ms());
            if left == 0 {
                return Ok(false);
            }
            self.listen(scope, left.min(POLL_MS));
        }
    }

    fn examine(&mut self, scope: &ScopeKey) -> Result<Examination, StoreError> {
        let patience = Patience::of(self.settings.timeout);
        self.look_at(scope).map_err(|error| patience.spent_on(error))
    }

    fn writers(&mut self, scope: &ScopeKey) -> Result<Vec<Holder>, StoreError> {
        Ok(self.seen_writing(scope))
    }

    fn witness(&mut self, scope: &ScopeKey) -> Result<Option<Head>, StoreError> {
        let patience = Patience::of(self.settings.timeout);
        self.witnessed(scope).map_err(|error| patience.spent_on(error))
    }

    fn make_room(&mut self, scope: &ScopeKey) -> Result<bool, StoreError> {
        ballast::give_up(&self.settings.place.file(scope))
    }

    fn flush(&mut self, scope: &ScopeKey) -> Result<(), StoreError> {
        let log = with_suffix(&self.settings.place.file(scope), "-wal");
        match files::exists(&log) {
            true => files::flush(&log).map_err(|error| errors::file(&log, &error)),
            false => Ok(()),
        }
    }

    fn rebuild(&mut self, scope: &ScopeKey, state: &State) -> Result<(), StoreError> {
        match self.rebuild_once(scope, state) {
            Err(StoreError::Full { .. }) if self.make_room(scope)? => self.rebuild_once(scope, state),
            other => other,
        }
    }
}

/// The scopes of a file.
fn scope_keys(reader: &Reader) -> Result<Vec<ScopeKey>, StoreError> {
    let keys = || -> rusqlite::Result<Vec<String>> {
        let mut rows = reader.connection.prepare_cached("SELECT key FROM scopes WHERE rev > 0")?;
        rows.query_map([], |row| row.get(0))?.collect()
    };
    let keys = keys().map_err(|error| errors::sqlite(&reader.path, &error))?;
    Ok(keys.iter().filter_map(|key| ScopeKey::parse(key)).collect())
}

impl SqliteEngine {
    /// Waits for the turn to write, and begins. `None` if there is no store and none must be made.
    pub(crate) fn turn(
        &mut self,
        scope: &ScopeKey,
        create: bool,
    ) -> Result<Option<SqliteTransaction<'_>>, StoreError> {
        let patience = Patience::of(self.settings.timeout);
        let path = self.settings.place.file(scope);
        if !self.open_writer(&path, create).map_err(|error| patience.spent_on(error))? {
            return Ok(None);
        }
        let settings = self.settings.clone();
        let Some(writer) = self.writers.get_mut(&path) else { return Ok(None) };
        let guard = writer.pass_gate(&patience)?;
        let number = writer.number(&patience)?;
        match (number, create) {
            (0, false) => return Ok(None),
            // A disk without room for it is too full to begin a store on.
            (0, true) => ballast::keep(&path)?,
            _ => {}
        }
        writer.migrate(number, settings.schema, &patience)?;
        SqliteTransaction::begin(writer, guard, scope, &settings, &patience).map(Some)
    }

    fn rebuild_once(&mut self, scope: &ScopeKey, state: &State) -> Result<(), StoreError> {
        let (schema, path) = (self.settings.schema, self.settings.place.file(scope));
        let Some(transaction) = self.turn(scope, false)? else { return Ok(()) };
        transaction.rebuild(state, schema)?;
        // A store that was mended on a full disk is mended; the next reservation says what it lacks.
        let _ = ballast::keep(&path);
        Ok(())
    }

    /// A number that changes with every commit of somebody else; `None` where only a look can tell.
    fn data_version(&self, scope: &ScopeKey) -> Option<i64> {
        let reader = self.readers.get(&self.settings.place.file(scope))?;
        if reader.is_copy() || reader.is_replaced() {
            return None;
        }
        let mut statement = reader.connection.prepare_cached("PRAGMA data_version").ok()?;
        statement.query_row([], |row| row.get(0)).ok()
    }

    /// Waits for a ring; without a doorbell the wait itself is the poll.
    fn listen(&mut self, scope: &ScopeKey, wait_ms: u64) {
        let wait = Duration::from_millis(wait_ms);
        if !self.listeners.contains_key(scope)
            && let Ok(listener) = doorbell::listen(&self.settings.runtime_dir, scope.as_str())
        {
            self.listeners.insert(scope.clone(), listener);
        }
        let heard = self.listeners.get_mut(scope).map(|listener| listener.wait(wait));
        if !matches!(heard, Some(Ok(_))) {
            clearway_platform::stopwatch::pause(wait);
        }
    }
}
