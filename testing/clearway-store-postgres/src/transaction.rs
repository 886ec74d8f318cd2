//! A write transaction. Changes are kept here and go out with the commit, in one round trip; whatever is read before that
//! sends them first.

use crate::engine::View;
use crate::link::{CHANNEL, Statement, Value};
use crate::load::Loaded;
use crate::tables::{
    AGENTS, EVENTS, IDEMPOTENCY, LEASES, PRESENCE, PROJECTIONS, REFUSALS, SCOPES, agent_values, event_values,
    lease_values, scope_values,
};
use clearway_core::event::{Body, Durability, Event};
use clearway_core::fold::{FoldError, State};
use clearway_core::ids::{AgentId, LeaseId, Seq};
use clearway_core::limits::IDEMPOTENCY_KEYS_MAX;
use clearway_core::slice::{AgentLookup, AgentView, Due, ReadSet, RefusalMemory, Slice, Soft};
use clearway_core::time::{Mono, Now};
use clearway_store::contract::{
    Head, LeaseListing, Listed, Remembered, Snapshot, StoreError, StoredEvent, Transaction,
};
use clearway_wire::canonical;
use tokio_postgres::Row;

/// One transaction.
#[derive(Debug)]
pub(crate) struct PostgresTransaction<'a> {
    view: View<'a>,
    clock: Mono,
    /// What came with the lock, and what was asked; gone with the first change.
    first: Option<(Loaded, ReadSet)>,
    pending: Vec<Statement>,
    open: bool,
}

impl<'a> PostgresTransaction<'a> {
    pub(crate) fn new(view: View<'a>, clock: Mono) -> Self {
        Self { view, clock, first: None, pending: Vec::new(), open: true }
    }

    /// Takes what came with the lock. The scope is locked, so it stays true to the end.
    pub(crate) fn take_first(&mut self, answers: &[Vec<Row>], read: &ReadSet) -> Slice {
        let loaded = Loaded::read(answers, self.view.state.scope.fold);
        let slice = self.view.slice(&loaded, read);
        self.know(&slice);
        self.first = Some((loaded, read.clone()));
        slice
    }

    /// The fold changes leases it knows. A decision changes leases it was shown.
    fn know(&mut self, slice: &Slice) {
        for lease in &slice.leases {
            self.view.state.leases.entry(lease.id).or_insert_with(|| lease.clone());
        }
    }

    fn know_lease(&mut self, id: LeaseId) -> Result<(), StoreError> {
        if self.view.state.leases.contains_key(&id) {
            return Ok(());
        }
        let now = Now {
            boot: clearway_core::time::BootKey(String::new()),
            mono: self.clock,
            wall: Default::default(),
        };
        self.load(&ReadSet { leases: vec![id], ..ReadSet::default() }, &now).map(|_| ())
    }

    /// Whether what the caller may be asked about next came with the lock for this agent.
    fn came_for(&self, agent: &str) -> bool {
        let Some((first, ReadSet { agents: lookup, .. })) = &self.first else { return false };
        first.slice.agents.iter().map(|view| &view.agent).any(|found| {
            found.id.as_str() == agent
                && (lookup.names.contains(&found.name)
                    || lookup.keys.contains(&found.key)
                    || found.process.as_ref().is_some_and(|process| lookup.processes.contains(process)))
        })
    }

    /// The principal's last refusal, if that is all that is asked and it came with the lock.
    fn came_with_the_lock(&self, read: &ReadSet) -> Option<Slice> {
        let ReadSet { agents, overlapping, names, leases, held_by, due, history, refusals_of, key: _ } = read;
        let asks_more = *agents != AgentLookup::default() || *due != Due::None;
        if asks_more || !(overlapping.is_empty() && names.is_empty() && leases.is_empty()) {
            return None;
        }
        let (first, _) = self.first.as_ref().filter(|_| held_by.is_empty() && history.is_empty())?;
        let principal = refusals_of.as_ref()?;
        let covered = *principal == RefusalMemory::principal(None) || self.came_for(principal);
        let refusal = first.refusal_of(Some(principal));
        covered.then(|| Slice { scope: self.view.state.scope.clone(), refusal, ..Slice::default() })
    }

    fn write(&mut self, statement: Statement) {
        self.first = None;
        if !std::mem::replace(&mut self.view.exists, true) {
            let values = scope_values(&self.view.state.scope, &Head::EMPTY, self.clock);
            self.pending.push(SCOPES.insert(&self.view.scope, values));
        }
        self.pending.push(statement);
    }

    fn flush(&mut self) -> Result<(), StoreError> {
        let pending = std::mem::take(&mut self.pending);
        if pending.is_empty() { Ok(()) } else { self.view.run(&pending).map(|_| ()) }
    }

    /// Replaces every projection of the scope by what the log says. What was written since the fold was made is
    /// folded in here, where nobody else can write.
    pub(crate) fn rebuild(mut self, mut state: State) -> Result<(), StoreError> {
        let corrupt = |reason: String| StoreError::Corrupt { path: "the log".to_owned(), reason };
        let before = Seq(state.scope.rev.0.saturating_sub(1));
        for stored in self.view.events(before, usize::MAX)? {
            self.view.head = Head { rev: stored.seq, hash: stored.hash };
            if stored.seq <= state.scope.rev {
                continue;
            }
            let event = canonical::decode(stored.seq, &stored.bytes, state.scope.fold);
            let event = event.map_err(|error| corrupt(error.to_string()))?;
            state.apply(&event).map_err(|error| corrupt(error.to_string()))?;
        }
        let scope = self.view.scope.clone();
        for table in PROJECTIONS {
            let text = format!("DELETE FROM {} WHERE scope = $1", table.name);
            self.write(Statement::new(text, vec![Value::text(scope.as_str())]));
        }
        state.agents.values().for_each(|agent| self.write(AGENTS.insert(&scope, agent_values(agent))));
        state.leases.values().for_each(|lease| self.write(LEASES.insert(&scope, lease_values(lease))));
        self.view.state = state;
        Box::new(self).commit(Durability::Full)
    }
}

impl Drop for PostgresTransaction<'_> {
    fn drop(&mut self) {
        if self.open {
            self.view.roll_back();
        }
    }
}

impl Snapshot for PostgresTransaction<'_> {
    fn load(&mut self, read: &ReadSet, now: &Now) -> Result<Slice, StoreError> {
        if let Some(slice) = self.came_with_the_lock(read) {
            return Ok(slice);
        }
        self.flush()?;
        let slice = self.view.load(read, now)?;
        self.know(&slice);
        Ok(slice)
    }

    fn head(&mut self) -> Result<Head, StoreError> {
        Ok(self.view.head)
    }

    fn events(&mut self, after: Seq, limit: usize) -> Result<Vec<StoredEvent>, StoreError> {
        self.flush()?;
        self.view.events(after, limit)
    }

    fn leases(&mut self, wanted: LeaseListing, _now: &Now) -> Result<Listed, StoreError> {
        self.flush()?;
        self.view.leases(wanted)
    }

    fn agents(&mut self, now: &Now) -> Result<Vec<AgentView>, StoreError> {
        self.flush()?;
        self.view.agents(now)
    }

    fn recall(&mut self, agent: AgentId, key: &str, now: &Now) -> Result<Option<Remembered>, StoreError> {
        if let Some((first, asked)) = &self.first
            && asked.key.as_deref() == Some(key)
            && self.came_for(agent.as_str())
        {
            let own = first.keyed.iter().find(|keyed| keyed.remembered.agent == agent);
            return Ok(own.filter(|keyed| !keyed.is_forgotten(now)).map(|keyed| keyed.remembered.clone()));
        }
        self.flush()?;
        self.view.recall(agent, key, now)
    }

    fn projection(&mut self) -> Result<State, StoreError> {
        self.flush()?;
        self.view.projection()
    }
}

impl Transaction for PostgresTransaction<'_> {
    fn append(&mut self, event: &StoredEvent) -> Result<(), StoreError> {
        self.view.head = Head { rev: event.seq, hash: event.hash };
        self.write(EVENTS.insert(&self.view.scope.clone(), event_values(event)));
        Ok(())
    }

    /// The fold itself says what an event does; the rows it touched are written as they are afterwards.
    fn apply(&mut self, event: &Event) -> Result<(), StoreError> {
        if !matches!(event.body, Body::LeaseGranted(_))
            && let Some(id) = event.body.lease()
        {
            self.know_lease(id)?;
        }
        self.view.state.apply(event).map_err(|error| match error {
            FoldError::Twice { .. } => StoreError::IdTaken,
            other => StoreError::Internal(other.to_string()),
        })?;
        let scope = self.view.scope.clone();
        match &event.body {
            Body::AgentRegistered(agent) => self.write(AGENTS.insert(&scope, agent_values(agent))),
            Body::LeaseGranted(lease) => self.write(LEASES.insert(&scope, lease_values(lease))),
            body => {
                let changed = body.lease().and_then(|id| self.view.state.leases.get(&id)).map(lease_values);
                changed.into_iter().for_each(|values| self.write(LEASES.replace(&scope, values)));
            }
        }
        Ok(())
    }

    fn soften(&mut self, soft: &Soft, now: &Now) -> Result<(), StoreError> {
        let (scope, boot) = (self.view.scope.clone(), Value::text(&now.boot.0));
        self.write(match soft {
            Soft::Seen { agent, at } => {
                PRESENCE.replace(&scope, vec![Value::text(agent.as_str()), boot, Value::number(at.0)])
            }
            Soft::Refused(RefusalMemory { principal, key, since, repeats }) => REFUSALS.replace(
                &scope,
                vec![
                    Value::text(principal),
                    Value::text(key),
                    boot,
                    Value::number(since.0),
                    Value::number(*repeats),
                ],
            ),
        });
        Ok(())
    }

    fn remember(&mut self, remembered: &Remembered, now: &Now) -> Result<(), StoreError> {
        let Remembered { agent, key, request, rev, outcome } = remembered;
        let scope = self.view.scope.clone();
        let values = vec![
            Value::text(agent.as_str()),
            Value::text(key),
            Value::Bytes(request.to_vec()),
            Value::number(rev.0),
            Value::Bytes(outcome.clone()),
            Value::text(&now.boot.0),
            Value::number(now.mono.0),
        ];
        self.write(IDEMPOTENCY.replace(&scope, values));
        let surplus = "DELETE FROM idempotency WHERE scope = $1 AND rev <= \
                       (SELECT rev FROM idempotency WHERE scope = $1 ORDER BY rev DESC LIMIT 1 OFFSET $2)";
        let values = vec![Value::text(scope.as_str()), Value::number(IDEMPOTENCY_KEYS_MAX)];
        self.write(Statement::new(surplus, values));
        Ok(())
    }

    /// Sends what is pending, the scope's row, the announcement and the commit together. The announcement is made by
    /// the commit and not without it.
    fn commit(mut self: Box<Self>, _durability: Durability) -> Result<(), StoreError> {
        let values = scope_values(&self.view.state.scope, &self.view.head, self.clock);
        self.write(SCOPES.replace(&self.view.scope.clone(), values));
        let announced = vec![Value::text(CHANNEL), Value::text(self.view.scope.as_str())];
        self.write(Statement::new("SELECT pg_notify($1, $2)", announced));
        self.write(Statement::plain("COMMIT"));
        let pending = std::mem::take(&mut self.pending);
        match self.view.link.run(&pending) {
            Ok(_) => {
                self.open = false;
                Ok(())
            }
            Err(trouble) if trouble.leaves_open() => {
                Err(StoreError::Unsure { path: self.view.place.clone() })
            }
            Err(trouble) => Err(trouble.store_error(&self.view.place)),
        }
    }
}
