//! Whether a log is whole: its chain, its order, its fold, and what was anchored or witnessed of it.

use crate::contract::{Head, LostTexts, Snapshot, StoreError};
use clearway_core::event::{Body, Event};
use clearway_core::fold::State;
use clearway_core::ids::{ScopeKey, Seq};
use clearway_core::limits::EVENTS_PER_READ;
use clearway_core::pattern::Fold;
use clearway_wire::canonical;
use clearway_wire::chain::ChainHash;
use std::ops::Range;

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
    /// Messages whose text is gone.
    pub lost_texts: Vec<String>,
    /// The fold itself, as far as the log could be read.
    pub state: State,
    given_up: GivenUp,
}

impl Report {
    /// Whether an operator went on without the event that once had this number.
    pub fn gave_up(&self, seq: Seq) -> bool {
        self.given_up.has(seq)
    }
}

/// Numbers of events that were lost, and that an operator went on without, as the log itself records. Others have them
/// now, which nobody who remembers the lost ones can know.
#[derive(Clone, Debug, Default)]
struct GivenUp(Vec<Range<u64>>);

impl GivenUp {
    fn note(&mut self, event: &Event) {
        if let Body::EpochBegan { lost_tail, operator_reason: Some(_), .. } = event.body {
            self.0.push(event.seq.0..event.seq.0.saturating_add(lost_tail));
        }
    }

    fn has(&self, seq: Seq) -> bool {
        self.0.iter().any(|lost| lost.contains(&seq.0))
    }
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
                return Ok(walk.report(Vec::new(), Vec::new()));
            }
        }
        if last {
            break;
        }
    }
    walk.end(snapshot.head()?);
    if walk.broken.is_some() {
        return Ok(walk.report(Vec::new(), Vec::new()));
    }
    let mut stale = stale_projections(snapshot, &walk.state)?;
    let texts = lost_texts(snapshot)?;
    stale.extend(texts.altered.iter().map(|id| format!("the text of message {id}")));
    Ok(walk.report(stale, texts.gone.iter().map(ToString::to_string).collect()))
}

/// What lies beside the log is compared with the digests that the log has. Damage that keeps it from being read is told
/// with the projections.
fn lost_texts(snapshot: &mut dyn Snapshot) -> Result<LostTexts, StoreError> {
    match snapshot.lost_texts() {
        Err(StoreError::Corrupt { .. }) => Ok(LostTexts::default()),
        other => other,
    }
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
    given_up: GivenUp,
}

impl<'a> Walk<'a> {
    fn new(scope: &'a ScopeKey, marks: &'a [Mark]) -> Self {
        let (head, fold, state) = (Head::EMPTY, Fold::default(), State::default());
        Self { scope, marks, head, fold, state, broken: None, given_up: GivenUp::default() }
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
                self.given_up.note(&event);
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
        if let Some(mark) = differs.filter(|_| !self.given_up.has(seq)) {
            let what = format!("{} remembers another event there: the history was rewritten", mark.by);
            self.fail(seq, what);
        }
    }

    /// The log ends here: everything remembered must have been passed.
    fn end(&mut self, stored: Head) {
        let end = self.head.rev;
        let is_beyond = |mark: &&Mark| mark.head.rev > end && !self.given_up.has(mark.head.rev);
        let beyond = self.marks.iter().filter(is_beyond).max_by_key(|mark| mark.head.rev);
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

    fn report(self, stale_projections: Vec<String>, lost_texts: Vec<String>) -> Report {
        Report {
            events: self.head.rev.0,
            head: self.head,
            broken: self.broken,
            stale_projections,
            lost_texts,
            state: self.state,
            given_up: self.given_up,
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
    found.extend(fold.mail.differences(&stored.mail));
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
