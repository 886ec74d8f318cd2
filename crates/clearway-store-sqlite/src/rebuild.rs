//! Making the projections of a scope anew from its log, inside a transaction of its own.

use crate::schema::Schema;
use crate::transaction::SqliteTransaction;
use clearway_core::event::Durability;
use clearway_core::fold::State;
use clearway_core::ids::{Seq, WaitId};
use clearway_core::pattern::Fold;
use clearway_core::slice::ScopeState;
use clearway_core::time::Mono;
use clearway_store::contract::{Head, StoreError, Transaction};
use clearway_wire::canonical;
use std::collections::BTreeMap;

impl SqliteTransaction<'_> {
    /// Replaces every projection of the scope by what the log says. Soft state and the log stay as they are.
    /// What was written since the fold was made is folded in here, where nobody else can write.
    pub(crate) fn rebuild(mut self, state: &State, schema: Schema) -> Result<(), StoreError> {
        let (state, head) = self.caught_up(state.clone())?;
        self.run(|connection| schema.restore(connection))?;
        let row = self.row()?;
        let lost_tail = row.state.lost_tail;
        (row.head, row.state) = (head, ScopeState { lost_tail, ..state.scope.clone() });
        let scope = row.id;
        self.insert("UPDATE scopes SET key = ? WHERE id = ?", &[&self.key.as_str(), &scope])?;
        let heard = self.heard(scope, state.scope.fold)?;
        for table in ["leases", "ended_leases", "agents", "waits", "negotiations"] {
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
        for wait in state.waits.values() {
            self.insert_wait(wait, heard.get(&wait.id).copied())?;
        }
        self.rebuild_mail(&state.mail)?;
        for negotiation in state.negotiations.values() {
            self.insert_negotiation(negotiation)?;
        }
        Box::new(self).commit(Durability::Full)
    }

    /// When each waiting process was last heard of, which is in no event.
    fn heard(&self, scope: i64, fold: Fold) -> Result<BTreeMap<WaitId, Mono>, StoreError> {
        let queue = self.run(|connection| crate::waits::queue(connection, scope, fold))?;
        Ok(queue.into_iter().flatten().filter_map(|view| Some((view.wait.id, view.heard?))).collect())
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
}
