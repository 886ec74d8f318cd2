//! A write transaction. Changes are kept here and go out with the commit, in one round trip; whatever is read before
//! that sends them first.

use crate::engine::View;
use crate::link::{CHANNEL, Statement, Value};
use crate::load::Loaded;
use crate::tables::{
    AGENTS, EVENTS, IDEMPOTENCY, LEASES, MEMOS, NEGOTIATIONS, PRESENCE, REFUSALS, SCOPES, WAITS,
    agent_values, event_values, lease_values, negotiation_values, scope_values, wait_values,
};
use clearway_core::event::{Body, Durability, Event};
use clearway_core::fold::{FoldError, State};
use clearway_core::ids::{AgentId, Seq};
use clearway_core::limits::IDEMPOTENCY_KEYS_MAX;
use clearway_core::slice::{AgentLookup, AgentView, Due, ReadSet, RefusalMemory, Slice, Soft};
use clearway_core::time::{BootKey, Mono, Now, Wall};
use clearway_core::wait::WaitView;
use clearway_store::contract::{
    Head, LeaseListing, Listed, LostTexts, Remembered, Snapshot, StoreError, StoredEvent, Transaction,
};
use clearway_wire::{canonical, memo};
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
    pub(crate) fn take_first(&mut self, answers: &[Vec<Row>], read: &ReadSet) -> Result<Slice, StoreError> {
        let loaded = Loaded::read(answers, self.view.state.scope.fold);
        let slice = self.view.slice(&loaded, read);
        self.know(&slice);
        self.first = Some((loaded, read.clone()));
        self.view.with_mail(slice, read)
    }

    /// The fold changes leases, waits and agents it knows. A decision changes what it was shown.
    fn know(&mut self, slice: &Slice) {
        for lease in &slice.leases {
            self.view.state.leases.entry(lease.id).or_insert_with(|| lease.clone());
        }
        for view in &slice.agents {
            self.view.state.agents.entry(view.agent.id).or_insert_with(|| view.agent.clone());
        }
        for WaitView { wait, .. } in &slice.waits {
            self.view.state.waits.entry(wait.id).or_insert_with(|| wait.clone());
        }
        for negotiation in &slice.negotiations {
            let known = self.view.state.negotiations.entry(negotiation.id);
            known.or_insert_with(|| negotiation.clone());
        }
    }

    /// Reads what an event changes, should nobody have asked for it.
    fn know_changed(&mut self, body: &Body) -> Result<(), StoreError> {
        if matches!(body, Body::LeaseGranted(_) | Body::WaitBegan(_) | Body::NegotiationAsked(_)) {
            return Ok(());
        }
        let state = &self.view.state;
        let lease = body.lease().filter(|id| !state.leases.contains_key(id));
        let waits = body.wait().is_some_and(|id| !state.waits.contains_key(&id));
        if lease.is_none() && !waits {
            return Ok(());
        }
        let now = Now { boot: BootKey(String::new()), mono: self.clock, wall: Wall::default() };
        let read = ReadSet { leases: lease.into_iter().collect(), waits, ..ReadSet::default() };
        self.load(&read, &now).map(|_| ())
    }

    /// Whether what the caller may be asked about next came with the lock for this agent.
    fn came_for(&self, agent: &str) -> bool {
        let Some((first, ReadSet { agents: lookup, .. })) = &self.first else { return false };
        first.slice.agents.iter().map(|view| &view.agent).any(|found| {
            found.id.as_str() == agent
                && (lookup.names.contains(&found.name)
                    || lookup.keys.contains(&found.key)
                    || lookup.ids.contains(&found.id)
                    || found.process.as_ref().is_some_and(|process| lookup.processes.contains(process)))
        })
    }

    /// What is asked after the lock was taken, if all of it came with the lock: the principal's last refusal, and
    /// leases that were looked for already.
    fn came_with_the_lock(&self, read: &ReadSet) -> Option<Slice> {
        let ReadSet { agents, overlapping, names, leases, held_by, due, history, .. } = read;
        let ReadSet { refusals_of, remembered, waits, negotiations, surveyed: _, key: _, .. } = read;
        let (first, asked) = self.first.as_ref()?;
        let asks_more = *waits
            || *remembered
            || !read.mail.is_nothing()
            || !negotiations.is_empty()
            || *agents != AgentLookup::default()
            || *due != Due::None;
        if asks_more || !(held_by.is_empty() && history.is_empty()) {
            return None;
        }
        let met = leases.iter().all(|id| first.slice.lease(*id).is_some())
            && overlapping.iter().all(|place| asked.overlapping.contains(place))
            && names.iter().all(|name| asked.names.contains(name));
        let nobody = RefusalMemory::principal(None);
        let covers = |principal: &String| *principal == nobody || self.came_for(principal);
        (met && refusals_of.as_ref().is_none_or(covers)).then(|| self.view.slice(first, read))
    }

    fn write(&mut self, statement: Statement) {
        self.first = None;
        if !std::mem::replace(&mut self.view.exists, true) {
            let values = scope_values(&self.view.state.scope, &Head::EMPTY, self.clock);
            self.pending.push(SCOPES.insert(&self.view.scope, values));
        }
        self.pending.push(statement);
    }

    /// Writes the row an event changed as it is now; a wait that is over has none.
    fn write_changed(&mut self, body: &Body) {
        let (scope, state) = (&self.view.scope, &self.view.state);
        let lease = body.lease().and_then(|id| state.leases.get(&id));
        let lease = lease.map(|lease| LEASES.replace(scope, lease_values(lease)));
        let wait = body.wait().map(|id| match state.waits.get(&id) {
            Some(wait) => WAITS.replace(scope, wait_values(wait)),
            None => WAITS.take_out(scope, id.as_str()),
        });
        let agent = body.changed_agent().and_then(|id| state.agents.get(&id));
        let agent = agent.map(|agent| AGENTS.replace(scope, agent_values(agent)));
        let negotiation = body.negotiation().and_then(|id| state.negotiations.get(&id));
        let negotiation =
            negotiation.map(|negotiation| NEGOTIATIONS.replace(scope, negotiation_values(negotiation)));
        lease
            .into_iter()
            .chain(wait)
            .chain(agent)
            .chain(negotiation)
            .for_each(|statement| self.write(statement));
    }

    fn flush(&mut self) -> Result<(), StoreError> {
        let pending = std::mem::take(&mut self.pending);
        if pending.is_empty() { Ok(()) } else { self.view.run(&pending).map(|_| ()) }
    }

    /// Replaces every projection of the scope by what the log says. The log does not say what was heard of those who
    /// wait: their rows are corrected, not made anew, or all of them would have gone silent. What was written since the
    /// fold was made is folded in here, where nobody else can write.
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
        for table in [LEASES, AGENTS, NEGOTIATIONS] {
            self.write(table.keep_only(&scope, Vec::new()));
        }
        let waiting = state.waits.keys().map(ToString::to_string).collect();
        self.write(WAITS.keep_only(&scope, waiting));
        state.agents.values().for_each(|agent| self.write(AGENTS.insert(&scope, agent_values(agent))));
        state.leases.values().for_each(|lease| self.write(LEASES.insert(&scope, lease_values(lease))));
        state.waits.values().for_each(|wait| self.write(WAITS.replace(&scope, wait_values(wait))));
        let altered = self.view.lost_texts()?.altered;
        let mail = crate::mail::rebuild(&scope, &state.mail, &altered);
        mail.into_iter().for_each(|statement| self.write(statement));
        for negotiation in state.negotiations.values() {
            self.write(NEGOTIATIONS.insert(&scope, negotiation_values(negotiation)));
        }
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

    fn lost_texts(&mut self) -> Result<LostTexts, StoreError> {
        self.flush()?;
        self.view.lost_texts()
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
        if let Body::Mail(mail) = &event.body {
            self.view.state.scope.rev = event.seq;
            let statements = crate::mail::apply(&self.view.scope, event.at, mail);
            statements.into_iter().for_each(|statement| self.write(statement));
            return Ok(());
        }
        self.know_changed(&event.body)?;
        self.view.state.apply(event).map_err(|error| match error {
            FoldError::Twice { .. } => StoreError::IdTaken,
            other => StoreError::Internal(other.to_string()),
        })?;
        let scope = self.view.scope.clone();
        match &event.body {
            Body::AgentRegistered(agent) => self.write(AGENTS.insert(&scope, agent_values(agent))),
            Body::LeaseGranted(lease) => self.write(LEASES.insert(&scope, lease_values(lease))),
            Body::WaitBegan(wait) => self.write(WAITS.insert(&scope, wait_values(wait))),
            Body::NegotiationAsked(asked) => {
                self.write(NEGOTIATIONS.insert(&scope, negotiation_values(asked)));
            }
            body => self.write_changed(body),
        }
        Ok(())
    }

    fn soften(&mut self, soft: &Soft, now: &Now) -> Result<(), StoreError> {
        let (scope, boot) = (self.view.scope.clone(), Value::text(&now.boot.0));
        self.write(match soft {
            Soft::Seen { agent, at } => {
                PRESENCE.replace(&scope, vec![Value::text(agent.as_str()), boot, Value::number(at.0)])
            }
            Soft::Noted { agent, memo } => MEMOS
                .replace(&scope, vec![Value::text(agent.as_str()), boot, Value::Bytes(memo::encode(memo))]),
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
            Soft::MailText { message, text } => crate::mail::keep_text(&scope, *message, text),
            Soft::Heard { wait, at } => {
                let text = "UPDATE waits SET heard_boot = $3, heard = $4 WHERE scope = $1 AND id = $2";
                let place = [Value::text(scope.as_str()), Value::text(wait.as_str())];
                Statement::new(text, place.into_iter().chain([boot, Value::number(at.0)]).collect())
            }
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
