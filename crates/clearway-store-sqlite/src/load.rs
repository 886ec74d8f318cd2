//! Answering a read set: a handful of indexed queries, then the agents behind what was found.

use crate::leases::{Due, LeaseTable};
use crate::rows::{self, AGENT_COLUMNS, Readable};
use clearway_core::agent::{Agent, SignOfLife};
use clearway_core::ids::{AgentId, Epoch, LeaseId, ScopeKey, Seq};
use clearway_core::lease::Lease;
use clearway_core::negotiation::Negotiation;
use clearway_core::pattern::Fold;
use clearway_core::slice::{self, AgentLookup, AgentView, Freeze, ReadSet, RefusalMemory, ScopeState, Slice};
use clearway_core::time::{BootKey, Mono, Now};
use clearway_core::wait::WaitView;
use clearway_store::contract::{Head, in_order};
use clearway_wire::chain::ChainHash;
use clearway_wire::memo;
use rusqlite::{Connection, OptionalExtension, Result, params};

/// A scope's row.
#[derive(Clone, Debug)]
pub(crate) struct ScopeRow {
    pub(crate) id: i64,
    pub(crate) head: Head,
    pub(crate) state: ScopeState,
    /// Whether the log ends with the event that the row says it does.
    pub(crate) has_head: bool,
    /// Whether the row goes by another key than the log was hashed with.
    pub(crate) is_renamed: bool,
}

/// The columns of a scope, in the order [`read_scope`] reads them.
const SCOPE_COLUMNS: &str = "id, rev, head, epoch, boot, folds, live_leases, root_patterns, live_waits, \
     frozen_until, frozen_reason, EXISTS (SELECT 1 FROM events WHERE scope = id AND seq = rev AND hash = head)";

/// Finds a scope's row: by its key, or by its log, of which the key is a part.
pub(crate) fn scope_row(connection: &Connection, key: &ScopeKey) -> Result<Option<ScopeRow>> {
    let text = format!("SELECT {SCOPE_COLUMNS} FROM scopes WHERE key = ?");
    let found = connection.prepare_cached(&text)?.query_row([key.as_str()], read_scope).optional()?;
    found.map_or_else(|| renamed_row(connection, key), |row| Ok(Some(row)))
}

/// The row of the log whose first event was hashed with this key. The first write to a file that holds other scopes
/// pays for it.
fn renamed_row(connection: &Connection, key: &ScopeKey) -> Result<Option<ScopeRow>> {
    let text = format!(
        "SELECT {SCOPE_COLUMNS}, first.bytes, first.hash FROM scopes \
         JOIN events AS first ON first.scope = id AND first.seq = 1"
    );
    let mut statement = connection.prepare(&text)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let (Ok(bytes), Ok(hash)) = (row.get::<_, Vec<u8>>(12), row.get::<_, [u8; 32]>(13)) else { continue };
        if ChainHash::GENESIS.next(key, Seq(1), &bytes).0 == hash {
            return Ok(Some(ScopeRow { is_renamed: true, ..read_scope(row)? }));
        }
    }
    Ok(None)
}

fn read_scope(row: &rusqlite::Row<'_>) -> Result<ScopeRow> {
    let rev = Seq(row.get(1)?);
    let hash: [u8; 32] = row.get(2)?;
    let state = ScopeState {
        rev,
        epoch: Epoch(row.get(3)?),
        boot: row.get::<_, Option<String>>(4)?.map(BootKey),
        fold: if row.get(5)? { Fold::Insensitive } else { Fold::Exact },
        live_leases: row.get(6)?,
        root_patterns: row.get(7)?,
        live_waits: row.get(8)?,
        frozen: row
            .get::<_, Option<u64>>(9)?
            .map(|until| row.get(10).map(|reason| Freeze { until: Mono(until), reason }))
            .transpose()?,
        lost_tail: 0,
    };
    let has_head = rev.0 == 0 || row.get(11)?;
    Ok(ScopeRow {
        id: row.get(0)?,
        head: Head { rev, hash: ChainHash(hash) },
        state,
        has_head,
        is_renamed: false,
    })
}

/// What a read set was answered with.
#[derive(Debug, Default)]
pub(crate) struct Loaded {
    pub(crate) slice: Slice,
    /// Leases that were to be looked at and are kept by signs of life, and until when.
    pub(crate) kept: Vec<(String, Mono)>,
}

/// Loads slices of one scope.
#[derive(Debug)]
pub(crate) struct Loader<'a> {
    pub(crate) connection: &'a Connection,
    pub(crate) scope: &'a ScopeRow,
    pub(crate) now: &'a Now,
}

impl Loader<'_> {
    pub(crate) fn load(&self, read: &ReadSet) -> Result<Loaded> {
        let mut slice = Slice { scope: self.scope.state.clone(), ..Slice::default() };
        let lookup = self.looked_up(&read.agents)?;
        let due = self.due(read.due)?;
        self.take(due.overdue, &mut slice)?;
        let overdue: Vec<LeaseId> = slice.leases.iter().map(|lease| lease.id).collect();
        let is_overdue = |lease: &Lease| overdue.contains(&lease.id);
        self.take(self.leases(read)?, &mut slice)?;
        let callers: Vec<AgentId> = lookup.iter().map(|agent| agent.id).collect();
        let caller = read.agents.settled(&lookup);
        for (worktree, pattern) in &read.history {
            if caller.is_none_or(|caller| !slice.is_with(caller, worktree, pattern, is_overdue)) {
                self.take(self.table().history(worktree, pattern, &callers)?, &mut slice)?;
            }
        }
        if read.waits {
            slice.waits = self.queue(&mut slice.unreadable_waits)?;
        }
        self.negotiations(read, &mut slice)?;
        let mut wanted = self.remembered(read)?;
        wanted.extend(self.everyone(&read.mail)?);
        self.agents(lookup, wanted, &mut slice)?;
        if !read.mail.is_nothing() {
            slice.mail = self.mail(&read.mail, &slice)?;
        }
        slice.refusal = self.refusal(read)?;
        Ok(Loaded { slice: in_order(slice), kept: due.kept })
    }

    fn due(&self, due: slice::Due) -> Result<Due> {
        match due {
            slice::Due::None => Ok(Due::default()),
            slice::Due::Some(limit) => self.table().due(limit, self.now),
            slice::Due::EveryLive => Ok(Due { overdue: self.table().every_live()?, ..Due::default() }),
        }
    }

    pub(crate) fn table(&self) -> LeaseTable<'_> {
        LeaseTable { connection: self.connection, scope: self.scope.id, fold: self.scope.state.fold }
    }

    fn leases(&self, read: &ReadSet) -> Result<Vec<Readable<Lease>>> {
        let table = self.table();
        let mut rows = Vec::new();
        for (worktree, pattern) in &read.overlapping {
            rows.extend(table.overlapping(worktree, pattern)?);
        }
        for name in &read.names {
            rows.extend(table.named(name)?);
        }
        for id in &read.leases {
            rows.extend(table.by_id(*id)?);
        }
        for agent in &read.held_by {
            rows.extend(table.held_by(*agent)?);
        }
        Ok(rows)
    }

    /// The queue. Only a scope in which somebody waits pays for reading it.
    fn queue(&self, unreadable: &mut Vec<String>) -> Result<Vec<WaitView>> {
        let mut queue = Vec::new();
        if self.scope.state.live_waits == 0 {
            return Ok(queue);
        }
        let (scope, fold) = (self.scope.id, self.scope.state.fold);
        // What another boot heard has no age on this clock.
        let same_boot = self.scope.state.is_of(&self.now.boot);
        for row in crate::waits::queue(self.connection, scope, fold)? {
            match row {
                Ok(view) => queue.push(WaitView { heard: view.heard.filter(|_| same_boot), ..view }),
                Err(id) => match crate::projection::rebuild_wait(self.connection, scope, fold, &id)? {
                    Some(wait) => queue.push(WaitView { wait, heard: None }),
                    None => unreadable.push(id),
                },
            }
        }
        queue.sort_by_key(|view| view.wait.place);
        Ok(queue)
    }

    /// Open requests to holders and those that were named, with their leases. Whoever asks keeps a place in the queue, so
    /// that only a scope in which somebody waits pays for reading them.
    fn negotiations(&self, read: &ReadSet, slice: &mut Slice) -> Result<()> {
        let (scope, fold) = (self.scope.id, self.scope.state.fold);
        let mut rows = Vec::new();
        if read.waits && self.scope.state.live_waits > 0 {
            rows = crate::negotiations::open(self.connection, scope, fold)?;
        }
        for id in &read.negotiations {
            rows.extend(crate::negotiations::by_id(self.connection, scope, fold, *id)?);
        }
        for row in rows {
            let found = match row {
                Ok(negotiation) => Some(negotiation),
                Err(id) => crate::projection::rebuild_negotiation(self.connection, scope, fold, &id)?,
            };
            let is_new = |found: &Negotiation| slice.negotiation(found.id).is_none();
            if let Some(negotiation) = found.filter(is_new) {
                self.take(self.table().by_id(negotiation.lease)?, slice)?;
                slice.negotiations.push(negotiation);
            }
        }
        Ok(())
    }

    fn take(&self, rows: Vec<Readable<Lease>>, slice: &mut Slice) -> Result<()> {
        let mut illegible = Vec::new();
        slice.add_leases(rows.into_iter().filter_map(|row| row.map_err(|id| illegible.push(id)).ok()));
        illegible.into_iter().try_for_each(|id| self.rebuild(id, slice))
    }

    /// A row that cannot be read is taken from its events; one that cannot be found there is named.
    fn rebuild(&self, id: String, slice: &mut Slice) -> Result<()> {
        let (scope, fold) = (self.scope.id, self.scope.state.fold);
        match crate::projection::rebuild_lease(self.connection, scope, fold, &id)? {
            Some(lease) => slice.add_leases([lease]),
            None if slice.unreadable.contains(&id) => {}
            None => slice.unreadable.push(id),
        }
        Ok(())
    }

    /// Agents of which something is remembered in this boot, if they are asked for.
    fn remembered(&self, read: &ReadSet) -> Result<Vec<AgentId>> {
        if !read.remembered {
            return Ok(Vec::new());
        }
        let mut statement =
            self.connection.prepare_cached("SELECT agent FROM memos WHERE scope = ? AND boot = ?")?;
        let ids = statement.query_map(params![self.scope.id, self.now.boot.0], |row| row.get(0))?;
        let ids = ids.collect::<Result<Vec<String>>>()?;
        Ok(ids.iter().filter_map(|id| AgentId::parse(id)).collect())
    }

    fn agents(&self, looked_up: Vec<Agent>, mut wanted: Vec<AgentId>, slice: &mut Slice) -> Result<()> {
        for agent in looked_up {
            self.add(agent, slice)?;
        }
        wanted.extend(slice.leases.iter().map(|lease| lease.holder));
        wanted.extend(slice.waits.iter().map(|view| view.wait.agent));
        wanted.extend(slice.negotiations.iter().flat_map(|asked| [asked.requester, asked.holder]));
        wanted.extend(slice.agents.iter().filter_map(|view| view.agent.parent));
        while let Some(id) = wanted.pop() {
            if slice.agent(id).is_none()
                && let Some(agent) = self.agents_where("id = ?2", id.as_str())?.pop()
            {
                wanted.extend(agent.parent);
                self.add(agent, slice)?;
            }
        }
        Ok(())
    }

    fn looked_up(&self, lookup: &AgentLookup) -> Result<Vec<Agent>> {
        let names = lookup.names.iter().map(|name| ("name = ?2", name.as_str().to_owned()));
        let keys = lookup.keys.iter().map(|key| ("key = ?2", key.0.clone()));
        let processes = lookup.processes.iter().map(|process| ("process = ?2", process.key()));
        let ids = lookup.ids.iter().map(|id| ("id = ?2", id.to_string()));
        let mut found = Vec::new();
        for (condition, value) in names.chain(keys).chain(processes).chain(ids) {
            found.extend(self.agents_where(condition, &value)?);
        }
        Ok(found)
    }

    /// Every agent of which this is true; a process may be that of a session and of its subagents.
    fn agents_where(&self, condition: &str, value: &str) -> Result<Vec<Agent>> {
        let text = format!("SELECT {AGENT_COLUMNS} FROM agents WHERE scope = ?1 AND {condition}");
        let mut statement = self.connection.prepare_cached(&text)?;
        let rows = rows::collect(&mut statement, params![self.scope.id, value], rows::agent)?;
        let mut agents = Vec::with_capacity(rows.len());
        for row in rows {
            match row {
                Ok(agent) => agents.push(agent),
                Err(id) => {
                    agents.extend(crate::projection::rebuild_agent(self.connection, self.scope.id, &id)?);
                }
            }
        }
        Ok(agents)
    }

    fn add(&self, agent: Agent, slice: &mut Slice) -> Result<()> {
        if slice.agent(agent.id).is_none() {
            let view = self.view(agent)?;
            slice.agents.push(view);
        }
        Ok(())
    }

    /// The agent with what is softly known of it and what it holds, in one statement.
    pub(crate) fn view(&self, agent: Agent) -> Result<AgentView> {
        let mut statement = self.connection.prepare_cached(
            "SELECT (SELECT last_seen FROM presence WHERE scope = ?1 AND agent = ?2 AND boot = ?3), \
             count(*), min(ttl_ms), (SELECT memo FROM memos WHERE scope = ?1 AND agent = ?2 AND boot = ?3) \
             FROM leases WHERE scope = ?1 AND holder = ?2",
        )?;
        let id = agent.id;
        let parameters = params![self.scope.id, id.as_str(), self.now.boot.0];
        statement.query_row(parameters, |row| {
            let (stored, memo): (Option<u64>, Option<Vec<u8>>) = (row.get(0)?, row.get(3)?);
            Ok(AgentView {
                agent,
                sign: stored.map(|at| SignOfLife::judged(Mono(at), self.now.mono)),
                live_leases: row.get(1)?,
                shortest_ttl_ms: row.get(2)?,
                memo: memo.map(|bytes| memo::decode(&bytes)).unwrap_or_default(),
            })
        })
    }

    fn refusal(&self, read: &ReadSet) -> Result<Option<RefusalMemory>> {
        let Some(principal) = &read.refusals_of else { return Ok(None) };
        let mut statement = self.connection.prepare_cached(
            "SELECT key, since, repeats FROM refusals WHERE scope = ? AND principal = ? AND boot = ?",
        )?;
        let memory = |row: &rusqlite::Row<'_>| {
            Ok(RefusalMemory {
                principal: principal.clone(),
                key: row.get(0)?,
                since: Mono(row.get(1)?),
                repeats: row.get(2)?,
            })
        };
        statement.query_row(params![self.scope.id, principal, self.now.boot.0], memory).optional()
    }
}
