//! A write transaction: behind the gate, immediate, all or nothing.

use crate::ballast;
use crate::connect::{PAGE_BYTES, Patience, Writer};
use crate::engine::Settings;
use crate::errors;
use crate::examine::{lost_scope, refuse_renamed};
use crate::load::{Loaded, ScopeRow, scope_row};
use crate::snapshot::{KeyedRow, Reading, next_scope};
use crate::witness;
use clearway_core::event::{Durability, Event};
use clearway_core::fold::State;
use clearway_core::ids::{AgentId, ScopeKey, Seq};
use clearway_core::limits::{EXPIRIES_PER_WRITE, IDEMPOTENCY_KEYS_MAX};
use clearway_core::slice::{AgentView, ReadSet, Slice, Soft};
use clearway_core::time::{Mono, Now};
use clearway_platform::doorbell;
use clearway_platform::files::{self, with_suffix};
use clearway_platform::gate::GateGuard;
use clearway_store::contract::{
    Head, LeaseListing, Listed, LostTexts, Remembered, Snapshot, StoreError, StoredEvent, Transaction,
};
use clearway_wire::memo;
use rusqlite::{Connection, ToSql, params};
use std::path::PathBuf;

/// The log of a store is folded into the file when it has grown to this many pages. A process that is alone reads
/// the whole log at its start, so a longer one costs every call what a fold costs one call in six.
const WAL_PAGES_MAX: u64 = 48;
/// While others stand in line a fold would cost all of them, and nobody is alone: it waits for a quieter moment, or for
/// this many pages.
const WAL_PAGES_CROWDED_MAX: u64 = 4_096;
/// Until then whoever is done copies what there is, once every so many revisions, beside those who write: a fold that
/// everybody waits for is to find little left.
const COPY_AHEAD_EVERY: u64 = 128;
/// The size of one page in the log, its header included.
const WAL_PAGE_BYTES: u64 = PAGE_BYTES + 24;
/// Leases whose next look a write puts off, like the expiries it records.
const POSTPONED_PER_WRITE: usize = EXPIRIES_PER_WRITE;
/// Forgotten idempotency keys are removed once every so many revisions.
const PRUNE_EVERY: u64 = 256;

/// One transaction and the turn to make it.
#[derive(Debug)]
pub(crate) struct SqliteTransaction<'a> {
    pub(crate) writer: &'a mut Writer,
    /// The turn; it is given up when all that needs it is done.
    guard: Option<GateGuard>,
    pub(crate) key: ScopeKey,
    pub(crate) scope: Option<ScopeRow>,
    runtime_dir: PathBuf,
    /// Leases whose holder turned out alive: when to look again.
    pub(crate) postponed: Vec<(String, Mono)>,
    /// The revision the transaction found.
    begun_at: Seq,
    open: bool,
}

impl<'a> SqliteTransaction<'a> {
    pub(crate) fn begin(
        writer: &'a mut Writer,
        guard: GateGuard,
        scope: &ScopeKey,
        settings: &Settings,
        patience: &Patience,
    ) -> Result<Self, StoreError> {
        let begun = writer.connection.execute_batch("BEGIN IMMEDIATE");
        begun.map_err(|error| writer.failed(&error, patience))?;
        let mut transaction = Self {
            writer,
            guard: Some(guard),
            key: scope.clone(),
            scope: None,
            runtime_dir: settings.runtime_dir.clone(),
            postponed: Vec::new(),
            begun_at: Seq(0),
            open: true,
        };
        transaction.scope = transaction.run(|connection| scope_row(connection, scope))?;
        transaction.begun_at = transaction.reading().head().rev;
        transaction.note_lost_tail()?;
        Ok(transaction)
    }

    pub(crate) fn run<T>(
        &self,
        act: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        act(&self.writer.connection).map_err(|error| errors::sqlite(&self.writer.path, &error))
    }

    pub(crate) fn reading(&self) -> Reading<'_> {
        Reading { connection: &self.writer.connection, scope: self.scope.as_ref(), path: &self.writer.path }
    }

    /// Compares the log with what the gate remembers of it. A log that is shorter lost its tail; one that says
    /// otherwise at the same place is another log.
    fn note_lost_tail(&mut self) -> Result<(), StoreError> {
        let Some(scope) = &self.scope else { return self.refuse_lost_scope() };
        if !scope.has_head {
            return Err(self.damaged(format!("its log does not end with event {} any more", scope.head.rev)));
        }
        let Some(witnessed) = self.witnessed(scope.id) else { return Ok(()) };
        let lost = witnessed.rev.0.saturating_sub(scope.head.rev.0);
        if lost == 0 && witnessed != scope.head && !self.holds(&witnessed)? {
            let reason =
                format!("event {} is not the one that the witness beside it remembers", witnessed.rev);
            return Err(self.damaged(reason));
        }
        let (id, fold) = (scope.id, scope.state.fold);
        let is_given_up =
            lost > 0 && self.run(|connection| witness::was_given_up(connection, id, fold, &witnessed))?;
        if let Some(scope) = &mut self.scope {
            scope.state.lost_tail = if is_given_up { 0 } else { lost };
        }
        Ok(())
    }

    /// For everybody but a repair.
    pub(crate) fn refuse_renamed(self) -> Result<Self, StoreError> {
        self.scope.as_ref().map_or(Ok(()), |row| refuse_renamed(row, &self.writer.path)).map(|()| self)
    }

    fn damaged(&self, reason: String) -> StoreError {
        StoreError::Corrupt { path: self.writer.path.display().to_string(), reason }
    }

    fn holds(&self, head: &Head) -> Result<bool, StoreError> {
        let before = Seq(head.rev.0.saturating_sub(1));
        Ok(self.reading().events(before, 1)?.first().is_some_and(|event| event.hash == head.hash))
    }

    /// A log that begins anew where the gate remembers another would give out the same fences a second time.
    fn refuse_lost_scope(&self) -> Result<(), StoreError> {
        let next = self.run(next_scope)?;
        let Some(head) = self.witnessed(next) else { return Ok(()) };
        Err(lost_scope(&self.writer.path, &head, next > 1))
    }

    fn witnessed(&self, scope: i64) -> Option<Head> {
        let record = self.guard.as_ref()?.read_witness(u64::try_from(scope).ok()?).ok().flatten()?;
        witness::decode(&record)
    }

    pub(crate) fn insert(&self, text: &str, values: &[&dyn ToSql]) -> Result<(), StoreError> {
        let done =
            self.writer.connection.prepare_cached(text).and_then(|mut statement| statement.execute(values));
        done.map(|_| ()).map_err(|error| errors::inserting(&self.writer.path, &error))
    }

    pub(crate) fn row(&mut self) -> Result<&mut ScopeRow, StoreError> {
        if self.scope.is_none() {
            let text = "INSERT INTO scopes (key, rev, head, epoch, boot, folds, live_leases, root_patterns, live_waits) \
                        VALUES (?, 0, ?, 0, NULL, 0, 0, 0, 0)";
            let (key, genesis) = (self.key.clone(), Head::EMPTY.hash.0);
            self.run(|connection| connection.execute(text, params![key.as_str(), genesis]))?;
            self.scope = self.run(|connection| scope_row(connection, &key))?;
        }
        self.scope.as_mut().ok_or_else(|| StoreError::Internal("the scope's row vanished".to_owned()))
    }

    /// Remembers the head outside the database. The witness may lag behind the log, never lead it, unless the
    /// log lost its tail: then only a new epoch makes the witness follow. A failure to write it loses a check,
    /// not a fact.
    fn write_witness(&self) {
        let (Some(scope), Some(guard)) = (&self.scope, &self.guard) else { return };
        if scope.state.lost_tail == 0 {
            let slot = u64::try_from(scope.id).unwrap_or(0);
            let _ = guard.write_witness(slot, &witness::encode(&scope.head));
        }
    }

    /// Flushes the log to the disk, which is what `synchronous = FULL` would have done.
    fn flush(&self) -> Result<(), StoreError> {
        let log = with_suffix(&self.writer.path, "-wal");
        files::flush(&log).map_err(|error| errors::unflushed(&self.writer.path, &error))
    }

    /// One-shot processes never let SQLite rewind its log: each is its only connection and forgets how much
    /// of it is in the file already. Whoever makes it too long folds it in, while holding the gate. Then the gate is
    /// open.
    fn leave(&mut self) {
        let log = with_suffix(&self.writer.path, "-wal");
        let bytes = files::length(&log).unwrap_or(0);
        let exceeds = |pages: u64| bytes > pages * WAL_PAGE_BYTES;
        let is_awaited = || self.guard.as_ref().is_some_and(GateGuard::is_awaited);
        if !exceeds(WAL_PAGES_MAX) {
            self.guard = None;
        } else if exceeds(WAL_PAGES_CROWDED_MAX) || !is_awaited() {
            self.fold_log("TRUNCATE");
            self.guard = None;
        } else {
            self.guard = None;
            if self.comes_by_every(COPY_AHEAD_EVERY) {
                self.fold_log("PASSIVE");
            }
        }
    }

    /// A reader in the way, or somebody who does the same, is no reason to wait: the next one tries again.
    fn fold_log(&self, how: &str) {
        let connection = &self.writer.connection;
        let _ = connection.busy_timeout(std::time::Duration::ZERO);
        let _ = connection.query_row(&format!("PRAGMA wal_checkpoint({how})"), [], |_| Ok(()));
    }

    /// Whether this transaction is the one of so many revisions that does something for all of them.
    fn comes_by_every(&self, revisions: u64) -> bool {
        self.reading().head().rev.0 / revisions != self.begun_at.0 / revisions
    }
}

impl Drop for SqliteTransaction<'_> {
    fn drop(&mut self) {
        if self.open {
            let _ = self.writer.connection.execute_batch("ROLLBACK");
        }
    }
}

impl Snapshot for SqliteTransaction<'_> {
    fn load(&mut self, read: &ReadSet, now: &Now) -> Result<Slice, StoreError> {
        let Loaded { slice, kept } = self.reading().load(read, now)?;
        self.postponed.extend(kept.into_iter().take(POSTPONED_PER_WRITE));
        Ok(slice)
    }

    fn head(&mut self) -> Result<Head, StoreError> {
        Ok(self.reading().head())
    }

    fn events(&mut self, after: Seq, limit: usize) -> Result<Vec<StoredEvent>, StoreError> {
        self.reading().events(after, limit)
    }

    fn leases(&mut self, wanted: LeaseListing, now: &Now) -> Result<Listed, StoreError> {
        self.reading().leases(wanted, now)
    }

    fn agents(&mut self, now: &Now) -> Result<Vec<AgentView>, StoreError> {
        self.reading().agents(now)
    }

    fn recall(&mut self, agent: AgentId, key: &str, now: &Now) -> Result<Option<Remembered>, StoreError> {
        self.reading().recall(agent, key, now)
    }

    fn projection(&mut self) -> Result<State, StoreError> {
        self.reading().projection()
    }

    fn lost_texts(&mut self) -> Result<LostTexts, StoreError> {
        self.reading().lost_texts()
    }
}

impl Transaction for SqliteTransaction<'_> {
    fn append(&mut self, event: &StoredEvent) -> Result<(), StoreError> {
        let row = self.row()?;
        row.head = Head { rev: event.seq, hash: event.hash };
        row.state.rev = event.seq;
        let scope = row.id;
        let text = "INSERT INTO events (scope, seq, bytes, hash) VALUES (?, ?, ?, ?)";
        let appended = self.run(|connection| {
            connection.prepare_cached(text)?.execute(params![scope, event.seq.0, event.bytes, event.hash.0])
        });
        appended.map(|_| ())
    }

    fn apply(&mut self, event: &Event) -> Result<(), StoreError> {
        self.apply_event(event)
    }

    fn soften(&mut self, soft: &Soft, now: &Now) -> Result<(), StoreError> {
        let scope = self.row()?.id;
        match soft {
            Soft::Seen { agent, at } => self.insert(
                "INSERT OR REPLACE INTO presence (scope, agent, boot, last_seen) VALUES (?, ?, ?, ?)",
                &[&scope, &agent.as_str(), &now.boot.0, &at.0],
            ),
            Soft::Noted { agent, memo } => self.insert(
                "INSERT OR REPLACE INTO memos (scope, agent, boot, memo) VALUES (?, ?, ?, ?)",
                &[&scope, &agent.as_str(), &now.boot.0, &memo::encode(memo)],
            ),
            Soft::Refused(memory) => self.insert(
                "INSERT OR REPLACE INTO refusals (scope, principal, key, boot, since, repeats) VALUES (?, ?, ?, ?, ?, ?)",
                &[&scope, &memory.principal, &memory.key, &now.boot.0, &memory.since.0, &memory.repeats],
            ),
            Soft::Heard { wait, at } => self.insert(
                "UPDATE waits SET heard = ? WHERE scope = ? AND id = ?",
                &[&at.0, &scope, &wait.as_str()],
            ),
            Soft::MailText { message, text } => self.keep_text(scope, *message, text),
        }
    }

    fn remember(&mut self, remembered: &Remembered, now: &Now) -> Result<(), StoreError> {
        let Remembered { agent, key, request, rev, outcome } = remembered;
        let scope = self.row()?.id;
        let row = KeyedRow {
            scope,
            agent: agent.as_str(),
            key,
            request,
            rev: rev.0,
            outcome,
            boot: &now.boot.0,
            at: now.mono.0,
        };
        self.insert(
            "INSERT OR REPLACE INTO idempotency (scope, agent, key, request, rev, outcome, boot, at, check_sum) \
             VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            &[&scope, &agent.as_str(), key, request, &rev.0, outcome, &now.boot.0, &now.mono.0, &row.check_sum()],
        )?;
        if self.comes_by_every(PRUNE_EVERY) {
            self.insert(
                "DELETE FROM idempotency WHERE scope = ?1 AND rev <= (SELECT rev FROM idempotency WHERE scope = ?1 \
                 ORDER BY rev DESC LIMIT 1 OFFSET ?2)",
                &[&scope, &IDEMPOTENCY_KEYS_MAX],
            )?;
        }
        Ok(())
    }

    fn keep_room(&mut self) -> Result<(), StoreError> {
        ballast::keep(&self.writer.path)
    }

    fn commit(mut self: Box<Self>, durability: Durability) -> Result<(), StoreError> {
        self.write_postponed()?;
        self.write_scope_row()?;
        self.run(|connection| connection.execute_batch("COMMIT"))?;
        self.open = false;
        if durability == Durability::Full {
            self.flush()?;
        }
        self.write_witness();
        self.leave();
        // Soft state is nobody's turn.
        if self.reading().head().rev > self.begun_at {
            doorbell::ring(&self.runtime_dir, self.key.as_str());
        }
        Ok(())
    }
}
