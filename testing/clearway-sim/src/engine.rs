//! The memory model behind a door that a fault can close: a transaction may be dropped just before its commit.

use clearway_core::event::{Durability, Event};
use clearway_core::fold::State;
use clearway_core::ids::{AgentId, ScopeKey, Seq};
use clearway_core::slice::{AgentView, ReadSet, Slice, Soft};
use clearway_core::time::Now;
use clearway_store::contract::{
    Capabilities, Engine, Examination, Head, LeaseListing, Listed, LostTexts, Remembered, Snapshot,
    StoreError, StoredEvent, Transaction,
};
use clearway_store::memory::MemoryEngine;

/// What a caller is told whose process died between deciding and committing: nothing. The simulation sees this.
const CUT: &str = "the process died before its commit";

/// The model, with a fault to come or not.
#[derive(Debug, Default)]
pub(crate) struct FaultyEngine {
    model: MemoryEngine,
    /// Whether the next commit does not happen.
    pub(crate) cuts_next_commit: bool,
}

/// Whether an error is the fault itself.
pub(crate) fn is_cut(error: &StoreError) -> bool {
    matches!(error, StoreError::Internal(why) if why == CUT)
}

impl Engine for FaultyEngine {
    fn capabilities(&self) -> Capabilities {
        self.model.capabilities()
    }

    fn begin(
        &mut self,
        scope: &ScopeKey,
        create: bool,
    ) -> Result<Option<Box<dyn Transaction + '_>>, StoreError> {
        let cuts = self.cuts_next_commit;
        let begun = self.model.begin(scope, create)?;
        Ok(begun.map(|inner| Box::new(Fated { inner, cuts }) as Box<dyn Transaction>))
    }

    fn snapshot(&mut self, scope: &ScopeKey) -> Result<Option<Box<dyn Snapshot + '_>>, StoreError> {
        self.model.snapshot(scope)
    }

    fn changed(&mut self, scope: &ScopeKey, after: Seq, wait_ms: u64) -> Result<bool, StoreError> {
        self.model.changed(scope, after, wait_ms)
    }

    fn examine(&mut self, scope: &ScopeKey) -> Result<Examination, StoreError> {
        self.model.examine(scope)
    }

    fn witness(&mut self, scope: &ScopeKey) -> Result<Option<Head>, StoreError> {
        self.model.witness(scope)
    }

    fn scopes(&mut self) -> Result<Vec<ScopeKey>, StoreError> {
        self.model.scopes()
    }

    fn make_room(&mut self, scope: &ScopeKey) -> Result<bool, StoreError> {
        self.model.make_room(scope)
    }

    fn flush(&mut self, scope: &ScopeKey) -> Result<(), StoreError> {
        self.model.flush(scope)
    }

    fn rebuild(&mut self, scope: &ScopeKey, state: &State) -> Result<(), StoreError> {
        self.model.rebuild(scope, state)
    }
}

/// A transaction whose commit may be kept from happening.
struct Fated<'a> {
    inner: Box<dyn Transaction + 'a>,
    cuts: bool,
}

impl Snapshot for Fated<'_> {
    fn load(&mut self, read: &ReadSet, now: &Now) -> Result<Slice, StoreError> {
        self.inner.load(read, now)
    }

    fn head(&mut self) -> Result<Head, StoreError> {
        self.inner.head()
    }

    fn events(&mut self, after: Seq, limit: usize) -> Result<Vec<StoredEvent>, StoreError> {
        self.inner.events(after, limit)
    }

    fn leases(&mut self, wanted: LeaseListing, now: &Now) -> Result<Listed, StoreError> {
        self.inner.leases(wanted, now)
    }

    fn agents(&mut self, now: &Now) -> Result<Vec<AgentView>, StoreError> {
        self.inner.agents(now)
    }

    fn recall(&mut self, agent: AgentId, key: &str, now: &Now) -> Result<Option<Remembered>, StoreError> {
        self.inner.recall(agent, key, now)
    }

    fn projection(&mut self) -> Result<State, StoreError> {
        self.inner.projection()
    }

    fn lost_texts(&mut self) -> Result<LostTexts, StoreError> {
        self.inner.lost_texts()
    }
}

impl Transaction for Fated<'_> {
    fn append(&mut self, event: &StoredEvent) -> Result<(), StoreError> {
        self.inner.append(event)
    }

    fn apply(&mut self, event: &Event) -> Result<(), StoreError> {
        self.inner.apply(event)
    }

    fn soften(&mut self, soft: &Soft, now: &Now) -> Result<(), StoreError> {
        self.inner.soften(soft, now)
    }

    fn remember(&mut self, remembered: &Remembered, now: &Now) -> Result<(), StoreError> {
        self.inner.remember(remembered, now)
    }

    fn commit(self: Box<Self>, durability: Durability) -> Result<(), StoreError> {
        if self.cuts {
            return Err(StoreError::Internal(CUT.to_owned()));
        }
        self.inner.commit(durability)
    }
}
