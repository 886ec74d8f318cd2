//! Whether a log is whole: its chain, its order, its fold, and what was anchored or witnessed of it.

use crate::contract::{Head, Snapshot, StoreError};
use clearway_core::event::Body;
use clearway_core::fold::State;
use clearway_core::ids::{ScopeKey, Seq};
use clearway_core::limits::EVENTS_PER_READ;
use clearway_core::pattern::Fold;
use clearway_wire::canonical;
use clearway_wire::chain::ChainHash;

/// What verification found.
#[derive(Clone, Debug)]
pub struct Report {
    /// Events read.
    pub events: u64,
    /// The end of the log as it was found.
    pub head: Head,
    /// The first event that is wrong, and how; `None` if the log is whole.
    pub broken: Option<Broken>,
    /// Differences between the projections and the fold of the log.
    pub stale_projections: Vec<String>,
    /// The fold itself, as far as the log could be read.
    pub state: State,
}

/// Where a log goes wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broken {
    /// The first bad event.
    pub seq: Seq,
    /// What is wrong with it.
    pub what: String,
    /// Whether the log is whole as far as it goes, and more of it is remembered.
    pub is_lost_tail: bool,
}

/// A head that somebody remembers: a signed anchor, or the witness beside the store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mark {
    /// The head.
    pub head: Head,
    /// Who remembers it, for messages.
    pub by: String,
}

/// Reads the whole log and compares it with itself, with the marks and with the projections.
pub fn verify(snapshot: &mut dyn Snapshot, scope: &ScopeKey, marks: &[Mark]) -> Result<Report, StoreError> {
    let mut walk = Walk::new(scope, marks);
    loop {
        let batch = snapshot.events(walk.head.rev, EVENTS_PER_READ)?;
        let last = batch.len() < EVENTS_PER_READ;
        for event in batch {
            walk.step(event.seq, &event.bytes, event.hash);
            if walk.broken.is_some() {
                return Ok(walk.report(Vec::new()));
            }
        }
        if last {
            break;
        }
    }
    walk.end(snapshot.head()?);
    let stale = if walk.broken.is_none() { stale_projections(snapshot, &walk.state)? } else { Vec::new() };
    Ok(walk.report(stale))
}

/// What the projections say differently from the fold. Damage that keeps them from being read at all is one difference:
/// the log can be whole all the same, and then brings them back.
fn stale_projections(snapshot: &mut dyn Snapshot, fold: &State) -> Result<Vec<String>, StoreError> {
    match snapshot.projection() {
        Ok(stored) => Ok(compare(fold, &stored)),
        Err(StoreError::Corrupt { reason, .. }) => Ok(vec![reason]),
        Err(other) => Err(other),
    }
}

/// The way along a log.
#[derive(Debug)]
struct Walk<'a> {
    scope: &'a ScopeKey,
    marks: &'a [Mark],
    head: Head,
    fold: Fold,
    state: State,
    broken: Option<Broken>,
}

impl<'a> Walk<'a> {
    fn new(scope: &'a ScopeKey, marks: &'a [Mark]) -> Self {
        let (head, fold, state) = (Head::EMPTY, Fold::default(), State::default());
        Self { scope, marks, head, fold, state, broken: None }
    }

    fn step(&mut self, seq: Seq, bytes: &[u8], hash: ChainHash) {
        let expected = self.head.rev.next();
        if seq != expected {
            return self
                .fail(expected, format!("event {expected} is missing; {seq} follows {}", self.head.rev));
        }
        if self.head.hash.next(self.scope, seq, bytes) != hash {
            return self.fail(seq, "its hash does not follow from its bytes and its predecessor".to_owned());
        }
        match canonical::decode(seq, bytes, self.fold) {
            Err(error) => return self.fail(seq, error.to_string()),
            Ok(event) => {
                if let Body::ScopeOpened { fold, .. } = event.body {
                    self.fold = fold;
                }
                if let Err(error) = self.state.apply(&event) {
                    return self.fail(seq, error.to_string());
                }
            }
        }
        self.head = Head { rev: seq, hash };
        self.compare_marks(seq, hash);
    }

    fn compare_marks(&mut self, seq: Seq, hash: ChainHash) {
        let differs = self.marks.iter().find(|mark| mark.head.rev == seq && mark.head.hash != hash);
        if let Some(mark) = differs {
            let what = format!("{} remembers another event there: the history was rewritten", mark.by);
            self.fail(seq, what);
        }
    }

    /// The log ends here: everything remembered must have been passed.
    fn end(&mut self, stored: Head) {
        let end = self.head.rev;
        let beyond = self.marks.iter().filter(|mark| mark.head.rev > end).max_by_key(|mark| mark.head.rev);
        let remembered = beyond.map(|mark| format!("{} remembers {}", mark.by, mark.head.rev));
        if stored != self.head {
            let said = match stored.rev == end {
                true => "with another event than the scope's row says".to_owned(),
                false => format!("the scope says {}", stored.rev),
            };
            let remembered = remembered.map(|text| format!(", and {text}")).unwrap_or_default();
            return self.fail(end.next(), format!("the log ends at {end}, {said}{remembered}"));
        }
        if let Some(remembered) = remembered {
            let what = format!("the log ends at {end}, but {remembered}");
            let seq = self.head.rev.next();
            self.broken.get_or_insert(Broken { seq, what, is_lost_tail: true });
        }
    }

    fn fail(&mut self, seq: Seq, what: String) {
        if self.broken.is_none() {
            self.broken = Some(Broken { seq, what, is_lost_tail: false });
        }
    }

    fn report(self, stale_projections: Vec<String>) -> Report {
        Report {
            events: self.head.rev.0,
            head: self.head,
            broken: self.broken,
            stale_projections,
            state: self.state,
        }
    }
}

/// What the projections say differently from the fold.
fn compare(fold: &State, stored: &State) -> Vec<String> {
    let mut found = Vec::new();
    if fold.scope != stored.scope {
        found.push("the scope's own row".to_owned());
    }
    let agents = fold.agents.keys().chain(stored.agents.keys());
    let leases = fold.leases.keys().chain(stored.leases.keys());
    found.extend(
        agents.filter(|id| fold.agents.get(id) != stored.agents.get(id)).map(|id| format!("agent {id}")),
    );
    found.extend(
        leases.filter(|id| fold.leases.get(id) != stored.leases.get(id)).map(|id| format!("lease {id}")),
    );
    let waits = fold.waits.keys().chain(stored.waits.keys());
    found
        .extend(waits.filter(|id| fold.waits.get(id) != stored.waits.get(id)).map(|id| format!("wait {id}")));
    let negotiations = fold.negotiations.keys().chain(stored.negotiations.keys());
    found.extend(
        negotiations
            .filter(|id| fold.negotiations.get(id) != stored.negotiations.get(id))
            .map(|id| format!("negotiation {id}")),
    );
    found.sort();
    found.dedup();
    found
}
