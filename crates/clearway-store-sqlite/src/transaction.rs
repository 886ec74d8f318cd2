//! A write transaction: behind the gate, immediate, all or nothing.

use crate::connect::{PAGE_BYTES, Patience, Writer};
use crate::engine::Settings;
use crate::errors;
use crate::load::{ScopeRow, scope_row};
use crate::place::with_suffix;
use crate::rows;
use crate::schema::Schema;
use crate::snapshot::{KeyedRow, Reading};
use crate::witness;
use clearway_core::agent::Agent;
use clearway_core::event::{Body, Durability, Event};
use clearway_core::fold::{State, change_lease};
use clearway_core::ids::{AgentId, Fence, LeaseId, ScopeKey, Seq};
use clearway_core::lease::{Ended, Lease};
use clearway_core::limits::IDEMPOTENCY_KEYS_MAX;
use clearway_core::pattern::Fold;
use clearway_core::slice::{AgentView, ReadSet, ScopeState, Slice, Soft};
use clearway_core::time::{Mono, Now};
use clearway_platform::gate::GateGuard;
use clearway_platform::{doorbell, files};
use clearway_store::contract::{
    Head, LeaseListing, Listed, Remembered, Snapshot, StoreError, StoredEvent, Transaction,
};
use clearway_wire::canonical;
use rusqlite::{Connection, ToSql, params};
use std::path::PathBuf;

/// The log of a store is folded into the file when it has grown to this many pages. A process that is alone reads
/// the whole log at its start, so a longer one costs every call what a fold costs one call in six.
const WAL_PAGES_MAX: u64 = 48;
/// The size of one page in the log, its header included.
const WAL_PAGE_BYTES: u64 = PAGE_BYTES + 24;
/// Forgotten idempotency keys are removed once every so many revisions.
const PRUNE_EVERY: u64 = 256;

/// One transaction and the turn to make it.
#[derive(Debug)]
pub(crate) struct SqliteTransaction<'a> {
    writer: &'a mut Writer,
    guard: GateGuard,
    key: ScopeKey,
    scope: Option<ScopeRow>,
    runtime_dir: PathBuf,
    /// Leases whose holder turned out alive: when to look again.
    postponed: Vec<(LeaseId, Mono)>,
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
        writer.migrate(settings.schema, patience)?;
        let begun = writer.connection.execute_batch("BEGIN IMMEDIATE");
        begun.map_err(|error| writer.failed(&error, patience))?;
        let mut transaction = Self {
            writer,
            guard,
            key: scope.clone(),
            scope: None,
            runtime_dir: settings.runtime_dir.clone(),
            postponed: Vec::new(),
            begun_at: Seq(0),
            open: true,
        };
        transaction.scope = transaction.run(|connection| scope_row(connection, scope.as_str()))?;
        transaction.begun_at = transaction.reading().head().rev;
        transaction.note_lost_tail()?;
        Ok(transaction)
    }

    fn run<T>(&self, act: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T, StoreError> {
        act(&self.writer.connection).map_err(|error| errors::sqlite(&self.writer.path, &error))
    }

    fn reading(&self) -> Reading<'_> {
        Reading { connection: &self.writer.connection, scope: self.scope.as_ref(), path: &self.writer.path }
    }

    /// Compares the log with what the gate remembers of it. A log that is shorter lost its tail; one that says
    /// otherwise at the same place is another log.
    fn note_lost_tail(&mut self) -> Result<(), StoreError> {
        let Some(scope) = &self.scope else { return self.refuse_lost_scope() };
        let Some(witnessed) = self.witnessed(scope.id) else { return Ok(()) };
        let lost = witnessed.rev.0.saturating_sub(scope.head.rev.0);
        if lost == 0 && witnessed != scope.head && !self.holds(&witnessed)? {
            let path = self.writer.path.display().to_string();
            let reason =
                format!("event {} is not the one that the witness beside it remembers", witnessed.rev);
            return Err(StoreError::Corrupt { path, reason });
        }
        if let Some(scope) = &mut self.scope {
            scope.state.lost_tail = lost;
        }
        Ok(())
    }

    fn holds(&self, head: &Head) -> Result<bool, StoreError> {
        let before = Seq(head.rev.0.saturating_sub(1));
        Ok(self.reading().events(before, 1)?.first().is_some_and(|event| event.hash == head.hash))
    }

    /// A log that begins anew where the gate remembers another would give out the same fences a second time.
    fn refuse_lost_scope(&self) -> Result<(), StoreError> {
        let next = "SELECT coalesce(max(id), 0) + 1 FROM scopes";
        let next = self.run(|connection| connection.query_row(next, [], |row| row.get(0)))?;
        match self.witnessed(next) {
            None => Ok(()),
            Some(head) => Err(StoreError::Corrupt {
                path: self.writer.path.display().to_string(),
                reason: format!(
                    "{}; put the file back, or remove the gate file too to begin anew",
                    crate::examine::lost(&head)
                ),
            }),
        }
    }

    fn witnessed(&self, scope: i64) -> Option<Head> {
        let record = self.guard.read_witness(u64::try_from(scope).ok()?).ok().flatten()?;
        witness::decode(&record)
    }

    fn row(&mut self) -> Result<&mut ScopeRow, StoreError> {
        if self.scope.is_none() {
            let text = "INSERT INTO scopes (key, rev, head, epoch, boot, folds, live_leases, root_patterns) \
                        VALUES (?, 0, ?, 0, NULL, 0, 0, 0)";
            let (key, genesis) = (self.key.clone(), Head::EMPTY.hash.0);
            self.run(|connection| connection.execute(text, params![key.as_str(), genesis]))?;
            self.scope = self.run(|connection| scope_row(connection, key.as_str()))?;
        }
        self.scope.as_mut().ok_or_else(|| StoreError::Internal("the scope's row vanished".to_owned()))
    }

    fn insert(&self, text: &str, values: &[&dyn ToSql]) -> Result<(), StoreError> {
        let done =
            self.writer.connection.prepare_cached(text).and_then(|mut statement| statement.execute(values));
        done.map(|_| ()).map_err(|error| errors::inserting(&self.writer.path, &error))
    }

    fn register(&mut self, agent: &Agent) -> Result<(), StoreError> {
        let scope = self.row()?.id;
        self.insert(
            "INSERT INTO agents (scope, id, name, client, key, parent, root, process, registered_at, ended_at) \
             VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            &[
                &scope,
                &agent.id.as_str(),
                &agent.name.as_str(),
                &agent.client.word(),
                &agent.key.0,
                &agent.parent.as_ref().map(AgentId::as_str),
                &agent.root.as_str(),
                &agent.process.as_ref().map(clearway_core::facts::Process::key),
                &agent.registered_at.0,
                &agent.ended_at.map(|at| at.0),
            ],
        )
    }

    fn grant(&mut self, lease: &Lease) -> Result<(), StoreError> {
        let row = self.row()?;
        row.state.live_leases += 1;
        row.state.root_patterns += u64::from(lease.target.is_root_level());
        if self.has_ended(lease.id)? {
            return Err(StoreError::IdTaken);
        }
        self.insert_live(lease)
    }

    fn insert_live(&mut self, lease: &Lease) -> Result<(), StoreError> {
        let scope = self.row()?.id;
        self.insert(
            "INSERT INTO leases (scope, id, space, worktree, anchor, pattern, write_set, mode, grade, holder, fence, \
             reason, slot, ttl_ms, granted, deadline, end_max, created_at, check_at) \
             VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            &[
                &scope,
                &lease.id.as_str(),
                &rows::space(&lease.target),
                &lease.worktree.0,
                &rows::anchor(&lease.target),
                &lease.target.canonical(),
                &lease.set.as_ref().map(clearway_core::ids::SetId::as_str),
                &lease.mode.word(),
                &lease.grade.word(),
                &lease.holder.as_str(),
                &lease.fence.to_integer(),
                &lease.reason,
                &lease.slot,
                &lease.ttl_ms,
                &lease.granted.0,
                &lease.deadline.0,
                &lease.end_max.map(|end| end.0),
                &lease.created_at.0,
                &lease.deadline_given(None).0,
            ],
        )
    }

    fn has_ended(&self, id: LeaseId) -> Result<bool, StoreError> {
        let scope = self.scope.as_ref().map_or(0, |scope| scope.id);
        self.run(|connection| {
            let mut statement =
                connection.prepare_cached("SELECT 1 FROM ended_leases WHERE scope = ? AND id = ?")?;
            statement.exists(params![scope, id.as_str()])
        })
    }

    /// Changes or ends one live lease as the fold says.
    fn change(&mut self, id: LeaseId, event: &Event) -> Result<(), StoreError> {
        let fence = Fence { epoch: self.row()?.state.epoch, seq: event.seq };
        let mut lease = self.live_lease(id)?;
        change_lease(&mut lease, fence, event.at, &event.body);
        match lease.ended {
            Some(ended) => self.end(&lease, ended),
            None => self.update(&lease),
        }
    }

    fn live_lease(&self, id: LeaseId) -> Result<Lease, StoreError> {
        let Some(scope) = &self.scope else { return Err(StoreError::UnreadableRow(id)) };
        let table = crate::leases::LeaseTable {
            connection: &self.writer.connection,
            scope: scope.id,
            fold: scope.state.fold,
        };
        match self.run(|_| table.by_id(id))?.into_iter().next() {
            Some(Ok(lease)) if lease.ended.is_none() => Ok(lease),
            Some(Err(row)) => self
                .run(|connection| {
                    crate::projection::rebuild_lease(connection, scope.id, scope.state.fold, &row)
                })?
                .ok_or(StoreError::UnreadableRow(id)),
            _ => Err(StoreError::UnreadableRow(id)),
        }
    }

    fn update(&mut self, lease: &Lease) -> Result<(), StoreError> {
        let scope = self.row()?.id;
        self.insert(
            "UPDATE leases SET mode = ?, fence = ?, reason = ?, ttl_ms = ?, deadline = ?, check_at = ? \
             WHERE scope = ? AND id = ?",
            &[
                &lease.mode.word(),
                &lease.fence.to_integer(),
                &lease.reason,
                &lease.ttl_ms,
                &lease.deadline.0,
                &lease.deadline_given(None).0,
                &scope,
                &lease.id.as_str(),
            ],
        )
    }

    fn end(&mut self, lease: &Lease, ended: Ended) -> Result<(), StoreError> {
        let row = self.row()?;
        row.state.live_leases = row.state.live_leases.saturating_sub(1);
        let root = u64::from(lease.target.is_root_level());
        row.state.root_patterns = row.state.root_patterns.saturating_sub(root);
        let scope = row.id;
        self.insert("DELETE FROM leases WHERE scope = ? AND id = ?", &[&scope, &lease.id.as_str()])?;
        self.insert_ended(lease, ended)
    }

    fn insert_ended(&mut self, lease: &Lease, ended: Ended) -> Result<(), StoreError> {
        let scope = self.row()?.id;
        self.insert(
            "INSERT INTO ended_leases (scope, id, space, worktree, pattern, write_set, mode, grade, holder, fence, \
             reason, slot, ttl_ms, granted, deadline, end_max, created_at, ended_how, ended_at) \
             VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            &[
                &scope,
                &lease.id.as_str(),
                &rows::space(&lease.target),
                &lease.worktree.0,
                &lease.target.canonical(),
                &lease.set.as_ref().map(clearway_core::ids::SetId::as_str),
                &lease.mode.word(),
                &lease.grade.word(),
                &lease.holder.as_str(),
                &lease.fence.to_integer(),
                &lease.reason,
                &lease.slot,
                &lease.ttl_ms,
                &lease.granted.0,
                &lease.deadline.0,
                &lease.end_max.map(|end| end.0),
                &lease.created_at.0,
                &ended.how.word(),
                &ended.at.0,
            ],
        )
    }

    /// Replaces every projection of the scope by what the log says. Soft state and the log stay as they are.
    /// What was written since the fold was made is folded in here, where nobody else can write.
    pub(crate) fn rebuild(mut self, state: &State, schema: Schema) -> Result<(), StoreError> {
        let (state, head) = self.caught_up(state.clone())?;
        self.run(|connection| schema.restore_indexes(connection))?;
        let row = self.row()?;
        let lost_tail = row.state.lost_tail;
        (row.head, row.state) = (head, ScopeState { lost_tail, ..state.scope });
        let scope = row.id;
        for table in ["leases", "ended_leases", "agents"] {
            self.insert(&format!("DELETE FROM {table} WHERE scope = ?"), &[&scope])?;
        }
        for agent in state.agents.values() {
            self.register(agent)?;
        }
        for lease in state.leases.values() {
            match lease.ended {
                Some(ended) => self.insert_ended(lease, ended)?,
                None => self.insert_live(lease)?,
            }
        }
        Box::new(self).commit(Durability::Full)
    }

    fn caught_up(&self, mut state: State) -> Result<(State, Head), StoreError> {
        let corrupt =
            |reason: String| StoreError::Corrupt { path: self.writer.path.display().to_string(), reason };
        let before = Seq(state.scope.rev.0.saturating_sub(1));
        let mut head = Head::EMPTY;
        for stored in self.reading().events(before, usize::MAX)? {
            head = Head { rev: stored.seq, hash: stored.hash };
            if stored.seq > state.scope.rev {
                let event = canonical::decode(stored.seq, &stored.bytes, state.scope.fold);
                let event = event.map_err(|error| corrupt(error.to_string()))?;
                state.apply(&event).map_err(|error| corrupt(error.to_string()))?;
            }
        }
        match head.rev == state.scope.rev {
            true => Ok((state, head)),
            false => Err(corrupt(format!("the log ends at {}, not at {}", head.rev, state.scope.rev))),
        }
    }

    fn write_scope_row(&mut self) -> Result<(), StoreError> {
        let row = self.row()?.clone();
        let folds = row.state.fold == Fold::Insensitive;
        self.insert(
            "UPDATE scopes SET rev = ?, head = ?, epoch = ?, boot = ?, folds = ?, live_leases = ?, root_patterns = ? \
             WHERE id = ?",
            &[
                &row.head.rev.0,
                &row.head.hash.0,
                &row.state.epoch.0,
                &row.state.boot.as_ref().map(|boot| &boot.0),
                &folds,
                &row.state.live_leases,
                &row.state.root_patterns,
                &row.id,
            ],
        )
    }

    fn write_postponed(&mut self) -> Result<(), StoreError> {
        let scope = self.row()?.id;
        for (id, at) in std::mem::take(&mut self.postponed) {
            self.insert(
                "UPDATE leases SET check_at = ? WHERE scope = ? AND id = ?",
                &[&at.0, &scope, &id.as_str()],
            )?;
        }
        Ok(())
    }

    /// Remembers the head outside the database. The witness may lag behind the log, never lead it, unless the
    /// log lost its tail: then only a new epoch makes the witness follow. A failure to write it loses a check,
    /// not a fact.
    fn write_witness(&self) {
        let Some(scope) = &self.scope else { return };
        if scope.state.lost_tail == 0 {
            let slot = u64::try_from(scope.id).unwrap_or(0);
            let _ = self.guard.write_witness(slot, &witness::encode(&scope.head));
        }
    }

    /// Flushes the log to the disk, which is what `synchronous = FULL` would have done.
    fn flush(&self) -> Result<(), StoreError> {
        let log = with_suffix(&self.writer.path, "-wal");
        files::flush(&log).map_err(|error| errors::unflushed(&self.writer.path, &error))
    }

    /// One-shot processes never let SQLite rewind its log: each is its only connection and forgets how much
    /// of it is in the file already. Whoever makes it too long folds it in, while holding the gate.
    fn fold_log(&self) {
        let log = with_suffix(&self.writer.path, "-wal");
        if files::length(&log).is_some_and(|bytes| bytes > WAL_PAGES_MAX * WAL_PAGE_BYTES) {
            let connection = &self.writer.connection;
            // A reader in the way is no reason to wait: the next writer tries again.
            let _ = connection.busy_timeout(std::time::Duration::ZERO);
            let _ = connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
        }
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
        let slice = self.reading().load(read, now)?;
        let same_boot = slice.scope.boot.as_ref() == Some(&now.boot);
        for lease in slice.leases.iter().filter(|lease| same_boot && lease.ended.is_none()) {
            let seen = slice.agent(lease.holder).and_then(|view| view.last_seen);
            let deadline = lease.deadline_given(seen);
            if lease.deadline <= now.mono && deadline > now.mono {
                self.postponed.push((lease.id, deadline));
            }
        }
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
        match &event.body {
            Body::ScopeOpened { fold, .. } => self.row()?.state.fold = *fold,
            Body::EpochBegan { epoch, boot, .. } => {
                let state = &mut self.row()?.state;
                (state.epoch, state.boot, state.lost_tail) = (*epoch, Some(boot.clone()), 0);
            }
            Body::AgentRegistered(agent) => self.register(agent)?,
            Body::LeaseGranted(lease) => self.grant(lease)?,
            body => {
                if let Some(id) = body.lease() {
                    self.change(id, event)?;
                }
            }
        }
        Ok(())
    }

    fn soften(&mut self, soft: &Soft, now: &Now) -> Result<(), StoreError> {
        let scope = self.row()?.id;
        match soft {
            Soft::Seen { agent, at } => self.insert(
                "INSERT OR REPLACE INTO presence (scope, agent, boot, last_seen) VALUES (?, ?, ?, ?)",
                &[&scope, &agent.as_str(), &now.boot.0, &at.0],
            ),
            Soft::Refused(memory) => self.insert(
                "INSERT OR REPLACE INTO refusals (scope, principal, key, boot, since, repeats) VALUES (?, ?, ?, ?, ?, ?)",
                &[&scope, &memory.principal, &memory.key, &now.boot.0, &memory.since.0, &memory.repeats],
            ),
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
        if rev.0 / PRUNE_EVERY != self.begun_at.0 / PRUNE_EVERY {
            self.insert(
                "DELETE FROM idempotency WHERE scope = ?1 AND rev <= (SELECT rev FROM idempotency WHERE scope = ?1 \
                 ORDER BY rev DESC LIMIT 1 OFFSET ?2)",
                &[&scope, &IDEMPOTENCY_KEYS_MAX],
            )?;
        }
        Ok(())
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
        self.fold_log();
        doorbell::ring(&self.runtime_dir, self.key.as_str());
        Ok(())
    }
}
