//! A read transaction: one consistent view, nothing written.

use crate::connect::Reader;
use crate::errors;
use crate::examine::{lost_scope, refuse_renamed};
use crate::load::{Loaded, Loader, ScopeRow, scope_row};
use crate::rows::{self, AGENT_COLUMNS};
use crate::witness;
use clearway_core::fold::State;
use clearway_core::ids::{AgentId, ScopeKey, Seq};
use clearway_core::limits::IDEMPOTENCY_MS;
use clearway_core::slice::{AgentView, ReadSet, Slice};
use clearway_core::time::Now;
use clearway_store::contract::{
    Head, LeaseListing, Listed, LostTexts, Remembered, Snapshot, StoreError, StoredEvent,
};
use clearway_wire::chain::{ChainHash, digest_bytes};
use rusqlite::{Connection, OptionalExtension, Result, params};
use std::path::Path;

/// A view of one scope that ends with it.
#[derive(Debug)]
pub(crate) struct SqliteSnapshot<'a> {
    reader: &'a mut Reader,
    scope: Option<ScopeRow>,
}

impl<'a> SqliteSnapshot<'a> {
    /// Begins, and notes what the log lost of what the gate remembers. The gate is looked at after the log, so a
    /// commit in between looks like a loss: the log is then looked at once more.
    pub(crate) fn begin(reader: &'a mut Reader, scope: &ScopeKey) -> std::result::Result<Self, StoreError> {
        let mut snapshot = Self { reader, scope: None };
        snapshot.look("BEGIN", scope)?;
        let Some((number, witnessed)) = snapshot.witnessed()? else { return Ok(snapshot) };
        if snapshot.lacks(&witnessed) > 0 {
            snapshot.look("ROLLBACK; BEGIN", scope)?;
        }
        // Others may have begun scopes meanwhile.
        if snapshot.number()? == number {
            snapshot.note_loss(&witnessed)?;
        }
        Ok(snapshot)
    }

    fn look(&mut self, begin: &str, scope: &ScopeKey) -> std::result::Result<(), StoreError> {
        let connection = &self.reader.connection;
        let row = connection.execute_batch(begin).and_then(|()| scope_row(connection, scope));
        self.scope = row.map_err(|error| errors::sqlite(&self.reader.path, &error))?;
        Ok(())
    }

    /// The number of the scope and what the gate remembers of it. One that is not there has the number that it would get.
    fn witnessed(&self) -> std::result::Result<Option<(i64, Head)>, StoreError> {
        let number = self.number()?;
        Ok(self.reader.remembered(number).map(|head| (number, head)))
    }

    fn number(&self) -> std::result::Result<i64, StoreError> {
        let next = || next_scope(&self.reader.connection);
        let number = self.scope.as_ref().map_or_else(next, |row| Ok(row.id));
        number.map_err(|error| errors::sqlite(&self.reader.path, &error))
    }

    fn note_loss(&mut self, witnessed: &Head) -> std::result::Result<(), StoreError> {
        let lost_tail = self.lacks(witnessed);
        let Some(row) = &mut self.scope else {
            let holds_others = self.number()? > 1;
            return Err(lost_scope(&self.reader.path, witnessed, holds_others));
        };
        let is_given_up = lost_tail > 0
            && witness::was_given_up(&self.reader.connection, row.id, row.state.fold, witnessed)
                .map_err(|error| errors::sqlite(&self.reader.path, &error))?;
        row.state.lost_tail = if is_given_up { 0 } else { lost_tail };
        Ok(())
    }

    /// How many events the log is short of a head.
    fn lacks(&self, head: &Head) -> u64 {
        let own = self.scope.as_ref().map_or(Head::EMPTY, |row| row.head);
        head.rev.0.saturating_sub(own.rev.0)
    }
}

/// The number that the next scope of a file gets. Where the gate remembers one of that number, it is gone.
pub(crate) fn next_scope(connection: &Connection) -> Result<i64> {
    connection.query_row("SELECT coalesce(max(id), 0) + 1 FROM scopes", [], |row| row.get(0))
}

impl Drop for SqliteSnapshot<'_> {
    fn drop(&mut self) {
        let _ = self.reader.connection.execute_batch("ROLLBACK");
    }
}

/// What both kinds of transactions read with: a connection, the scope's row if there is one, and the file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reading<'a> {
    pub(crate) connection: &'a Connection,
    pub(crate) scope: Option<&'a ScopeRow>,
    pub(crate) path: &'a Path,
}

impl Reading<'_> {
    fn with<T: Default>(
        &self,
        read: impl FnOnce(&Connection, &ScopeRow) -> Result<T>,
    ) -> std::result::Result<T, StoreError> {
        let Some(scope) = self.scope else { return Ok(T::default()) };
        read(self.connection, scope).map_err(|error| errors::sqlite(self.path, &error))
    }

    pub(crate) fn load(&self, read: &ReadSet, now: &Now) -> std::result::Result<Loaded, StoreError> {
        self.with(|connection, scope| Loader { connection, scope, now }.load(read))
    }

    pub(crate) fn head(&self) -> Head {
        self.scope.map_or(Head::EMPTY, |scope| scope.head)
    }

    pub(crate) fn events(
        &self,
        after: Seq,
        limit: usize,
    ) -> std::result::Result<Vec<StoredEvent>, StoreError> {
        self.with(|connection, scope| {
            let mut statement = connection.prepare_cached(
                "SELECT seq, bytes, hash FROM events WHERE scope = ? AND seq > ? ORDER BY seq LIMIT ?",
            )?;
            let limit = i64::try_from(limit).unwrap_or(i64::MAX);
            statement.query_map(params![scope.id, after.0, limit], read_event)?.collect()
        })
    }

    pub(crate) fn leases(&self, wanted: LeaseListing, now: &Now) -> std::result::Result<Listed, StoreError> {
        self.with(|connection, scope| {
            let table = Loader { connection, scope, now };
            let mut rows = match wanted {
                LeaseListing::Live => Vec::new(),
                LeaseListing::WithEnded(limit) => table.table().latest_ended(limit)?,
            };
            rows.reverse();
            rows.extend(table.table().all_live()?);
            let mut listed = Listed::default();
            for row in rows {
                match row {
                    Ok(lease) => listed.leases.push(lease),
                    Err(id) => {
                        match crate::projection::rebuild_lease(connection, scope.id, scope.state.fold, &id)? {
                            Some(lease) => listed.leases.push(lease),
                            None => listed.unreadable.push(id),
                        }
                    }
                }
            }
            listed.leases.sort_by_key(|lease| lease.fence);
            Ok(listed)
        })
    }

    pub(crate) fn agents(&self, now: &Now) -> std::result::Result<Vec<AgentView>, StoreError> {
        self.with(|connection, scope| {
            let text =
                format!("SELECT {AGENT_COLUMNS} FROM agents WHERE scope = ? ORDER BY registered_at, id");
            let mut statement = connection.prepare_cached(&text)?;
            let found = rows::collect(&mut statement, [scope.id], rows::agent)?;
            let loader = Loader { connection, scope, now };
            found.into_iter().filter_map(std::result::Result::ok).map(|agent| loader.view(agent)).collect()
        })
    }

    pub(crate) fn recall(
        &self,
        agent: AgentId,
        key: &str,
        now: &Now,
    ) -> std::result::Result<Option<Remembered>, StoreError> {
        self.with(|connection, scope| {
            let mut statement = connection.prepare_cached(
                "SELECT request, rev, outcome FROM idempotency WHERE scope = ?1 AND agent = ?2 AND key = ?3 \
                 AND NOT (boot = ?4 AND at <= ?5)",
            )?;
            // What another boot remembered has no age on this clock; it stays until its place is needed.
            let oldest =
                i64::try_from(now.mono.0).unwrap_or(i64::MAX) - i64::try_from(IDEMPOTENCY_MS).unwrap_or(0);
            let read = |row: &rusqlite::Row<'_>| {
                Ok(Remembered {
                    agent,
                    key: key.to_owned(),
                    request: row.get(0)?,
                    rev: Seq(row.get(1)?),
                    outcome: row.get(2)?,
                })
            };
            statement.query_row(params![scope.id, agent.as_str(), key, now.boot.0, oldest], read).optional()
        })
    }

    pub(crate) fn projection(&self) -> std::result::Result<State, StoreError> {
        self.with(crate::projection::read)
    }

    pub(crate) fn lost_texts(&self) -> std::result::Result<LostTexts, StoreError> {
        self.with(crate::mail::lost_texts)
    }
}

/// A remembered answer as its row states it.
#[derive(Debug)]
pub(crate) struct KeyedRow<'a> {
    pub(crate) scope: i64,
    pub(crate) agent: &'a str,
    pub(crate) key: &'a str,
    pub(crate) request: &'a [u8],
    pub(crate) rev: u64,
    pub(crate) outcome: &'a [u8],
    pub(crate) boot: &'a str,
    pub(crate) at: u64,
}

impl KeyedRow<'_> {
    /// The sum over the whole row, which no event covers.
    pub(crate) fn check_sum(&self) -> [u8; 32] {
        let numbers = [self.scope.to_be_bytes(), self.rev.to_be_bytes(), self.at.to_be_bytes()].concat();
        let mut bytes = Vec::with_capacity(self.outcome.len() + 256);
        for part in [
            &numbers,
            self.agent.as_bytes(),
            self.key.as_bytes(),
            self.request,
            self.outcome,
            self.boot.as_bytes(),
        ] {
            bytes.extend_from_slice(&(part.len() as u64).to_be_bytes());
            bytes.extend_from_slice(part);
        }
        digest_bytes(&bytes)
    }
}

fn read_event(row: &rusqlite::Row<'_>) -> Result<StoredEvent> {
    let hash: [u8; 32] = row.get(2)?;
    Ok(StoredEvent { seq: Seq(row.get(0)?), bytes: row.get(1)?, hash: ChainHash(hash) })
}

impl Snapshot for SqliteSnapshot<'_> {
    fn load(&mut self, read: &ReadSet, now: &Now) -> std::result::Result<Slice, StoreError> {
        // Nothing is decided from a log that nobody could go on with.
        self.scope.as_ref().map_or(Ok(()), |row| refuse_renamed(row, &self.reader.path))?;
        Ok(self.reading().load(read, now)?.slice)
    }

    fn head(&mut self) -> std::result::Result<Head, StoreError> {
        Ok(self.reading().head())
    }

    fn events(&mut self, after: Seq, limit: usize) -> std::result::Result<Vec<StoredEvent>, StoreError> {
        self.reading().events(after, limit)
    }

    fn leases(&mut self, wanted: LeaseListing, now: &Now) -> std::result::Result<Listed, StoreError> {
        self.reading().leases(wanted, now)
    }

    fn agents(&mut self, now: &Now) -> std::result::Result<Vec<AgentView>, StoreError> {
        self.reading().agents(now)
    }

    fn recall(
        &mut self,
        agent: AgentId,
        key: &str,
        now: &Now,
    ) -> std::result::Result<Option<Remembered>, StoreError> {
        self.reading().recall(agent, key, now)
    }

    fn projection(&mut self) -> std::result::Result<State, StoreError> {
        self.reading().projection()
    }

    fn lost_texts(&mut self) -> std::result::Result<LostTexts, StoreError> {
        self.reading().lost_texts()
    }
}

impl SqliteSnapshot<'_> {
    fn reading(&self) -> Reading<'_> {
        Reading { connection: &self.reader.connection, scope: self.scope.as_ref(), path: &self.reader.path }
    }
}
