//! The store of this machine: an engine in memory that outlives the commands it is lent to.

use super::Shelf;
use clearway_core::agent::Established;
use clearway_core::event::{Actor, Body, Durability, Event};
use clearway_core::ids::{ScopeKey, Seq};
use clearway_core::wait::WaitEnd;
use clearway_store::contract::{
    Capabilities, Engine, Examination, Head, Snapshot, StoreError, StoredEvent, Transaction,
};
use clearway_store::memory::MemoryEngine;
use clearway_wire::canonical;
use std::cell::Cell;
use std::rc::Rc;

/// An engine that goes back to its shelf when a command is done with it.
pub(super) struct Lent {
    pub(super) engine: MemoryEngine,
    pub(super) is_busy: bool,
    pub(super) empties_queue: Rc<Cell<bool>>,
    pub(super) looks: Rc<Cell<usize>>,
    pub(super) shelf: Shelf,
}

impl Drop for Lent {
    fn drop(&mut self) {
        self.shelf.replace(std::mem::take(&mut self.engine));
    }
}

impl Lent {
    /// Everybody's place in the queue is given up, as another process might do it.
    fn empty_queue(&mut self, scope: &ScopeKey) -> Result<(), StoreError> {
        let Some(mut transaction) = self.engine.begin(scope, false)? else { return Ok(()) };
        for wait in transaction.projection()?.waits.into_values() {
            let (cause, last_heard, operator_reason) = (WaitEnd::Cancelled, None, None);
            let body =
                Body::WaitEnded { wait: wait.id, agent: wait.agent, cause, last_heard, operator_reason };
            let head = transaction.head()?;
            let actor = Actor { agent: Some(wait.agent), how: Established::Claim };
            let event = Event { seq: head.rev.next(), at: wait.created_at, actor, body };
            let bytes = canonical::encode(&event);
            let hash = head.hash.next(scope, event.seq, &bytes);
            transaction.append(&StoredEvent { seq: event.seq, bytes, hash })?;
            transaction.apply(&event)?;
        }
        transaction.commit(Durability::Normal)
    }

    /// One more event, as another process might have written it.
    fn grow(&mut self, scope: &ScopeKey) -> Result<(), StoreError> {
        let Some(mut transaction) = self.engine.begin(scope, false)? else { return Ok(()) };
        let head = transaction.head()?;
        let (seq, bytes) = (head.rev.next(), b"later".to_vec());
        let hash = head.hash.next(scope, seq, &bytes);
        transaction.append(&StoredEvent { seq, bytes, hash })?;
        transaction.commit(Durability::Normal)
    }
}

impl Engine for Lent {
    fn capabilities(&self) -> Capabilities {
        self.engine.capabilities()
    }

    fn begin(
        &mut self,
        scope: &ScopeKey,
        create: bool,
    ) -> Result<Option<Box<dyn Transaction + '_>>, StoreError> {
        if self.empties_queue.take() {
            self.empty_queue(scope)?;
        }
        self.engine.begin(scope, create)
    }

    fn snapshot(&mut self, scope: &ScopeKey) -> Result<Option<Box<dyn Snapshot + '_>>, StoreError> {
        let is_own = *scope != ScopeKey::machine();
        self.looks.set(self.looks.get() + usize::from(is_own));
        self.engine.snapshot(scope)
    }

    fn scopes(&mut self) -> Result<Vec<ScopeKey>, StoreError> {
        self.engine.scopes()
    }

    fn changed(&mut self, scope: &ScopeKey, after: Seq, wait_ms: u64) -> Result<bool, StoreError> {
        self.engine.changed(scope, after, wait_ms)
    }

    fn examine(&mut self, scope: &ScopeKey) -> Result<Examination, StoreError> {
        if self.is_busy {
            self.grow(scope)?;
        }
        self.engine.examine(scope)
    }

    fn witness(&mut self, scope: &ScopeKey) -> Result<Option<Head>, StoreError> {
        self.engine.witness(scope)
    }

    fn make_room(&mut self, scope: &ScopeKey) -> Result<bool, StoreError> {
        self.engine.make_room(scope)
    }

    fn flush(&mut self, scope: &ScopeKey) -> Result<(), StoreError> {
        self.engine.flush(scope)
    }

    fn rebuild(&mut self, scope: &ScopeKey, state: &clearway_core::fold::State) -> Result<(), StoreError> {
        self.engine.rebuild(scope, state)
    }
}
