//! The log as a table of who held and awaited what from which revision to which, made by the fold that defines state.
//!
//! Making it also proves what the log alone can show: it folds, no two leases that exclude each other live at once,
//! fences rise, nobody overtakes. It knows nothing of operations.

use super::breach::{Breach, Rule};
use crate::stage::Outcome;
use clearway_core::event::{Body, Event};
use clearway_core::fold::State;
use clearway_core::ids::{AgentId, LeaseId, Seq, WaitId};
use clearway_core::lease::{Lease, Mode};
use clearway_core::pattern::Fold;
use clearway_core::wait::{Wait, WaitEnd};
use clearway_testkit::checker::History;
use clearway_wire::canonical;
use serde_json::Value;
use std::collections::BTreeMap;

/// Everything a log says.
#[derive(Clone, Debug, Default)]
pub struct Ledger {
    /// In order; the first has number 1.
    pub events: Vec<Event>,
    /// Agents by name.
    pub agents: BTreeMap<String, AgentId>,
    /// Every lease there ever was.
    pub leases: BTreeMap<LeaseId, Line>,
    /// Every wait there ever was.
    pub waits: BTreeMap<WaitId, WaitLine>,
}

/// The life of a lease.
#[derive(Clone, Debug)]
pub struct Line {
    /// The lease as it was granted.
    pub lease: Lease,
    /// What it was, one after the other.
    pub spans: Vec<Span>,
}

/// A stretch of revisions in which a lease was the same.
#[derive(Clone, Debug)]
pub struct Span {
    /// The first revision.
    pub from: u64,
    /// The first revision after it.
    pub to: u64,
    /// The lease as it was.
    pub lease: Lease,
}

/// The life of a wait.
#[derive(Clone, Debug)]
pub struct WaitLine {
    /// The wait as it began.
    pub wait: Wait,
    /// The first revision.
    pub from: u64,
    /// The first revision after it.
    pub to: u64,
    /// Why it ended.
    pub end: Option<WaitEnd>,
}

impl Line {
    /// The lease at a revision, if it lived.
    pub fn at(&self, rev: u64) -> Option<&Lease> {
        self.spans.iter().find(|span| span.from <= rev && rev < span.to).map(|span| &span.lease)
    }
}

impl Ledger {
    /// Reads the lines of `audit export`. The log is also folded by the checker that shares no code with the product.
    pub fn read(export: &str) -> Result<Self, Breach> {
        History::fold(export).map_err(|broken| Breach::new(rule_of(&broken), broken))?;
        let events = decoded(export).map_err(|why| Breach::new(Rule::LogFolds, why))?;
        Self::of(events)
    }

    /// Folds events.
    pub fn of(events: Vec<Event>) -> Result<Self, Breach> {
        let mut folding = Folding::default();
        for event in &events {
            folding.take(event)?;
        }
        Ok(Self { events, ..folding.ledger })
    }

    /// The last revision.
    pub fn rev(&self) -> u64 {
        self.events.len() as u64
    }

    /// Everything that lived at a revision.
    pub fn live_at(&self, rev: u64) -> impl Iterator<Item = &Lease> {
        self.leases.values().filter_map(move |line| line.at(rev))
    }

    /// A lease by its id as answers write it.
    pub fn lease(&self, id: &str) -> Option<&Line> {
        LeaseId::parse(id).and_then(|id| self.leases.get(&id))
    }

    /// A wait by its id as answers write it.
    pub fn wait(&self, id: &str) -> Option<&WaitLine> {
        WaitId::parse(id).and_then(|id| self.waits.get(&id))
    }
}

fn rule_of(broken: &str) -> Rule {
    match broken {
        text if text.contains("live at once") => Rule::OneHolder,
        text if text.contains("fence") => Rule::FencesRise,
        _ => Rule::LogFolds,
    }
}

fn decoded(export: &str) -> Outcome<Vec<Event>> {
    let event = |line: &str| {
        let value: Value = serde_json::from_str(line).map_err(|error| format!("{error}: {line}"))?;
        let bytes = value["bytes"].as_str().and_then(bytes_of).ok_or(format!("no bytes: {line}"))?;
        let seq = Seq(value["seq"].as_u64().ok_or(format!("no seq: {line}"))?);
        canonical::decode(seq, &bytes, Fold::Exact).map_err(|error| format!("{error}: {line}"))
    };
    export.lines().map(event).collect()
}

fn bytes_of(hex: &str) -> Option<Vec<u8>> {
    let digit = |character: u8| char::from(character).to_digit(16);
    let pair = |pair: &[u8]| u8::try_from(digit(*pair.first()?)? * 16 + digit(*pair.get(1)?)?).ok();
    hex.as_bytes().chunks(2).map(pair).collect()
}

/// A ledger being made.
#[derive(Debug, Default)]
struct Folding {
    state: State,
    ledger: Ledger,
    live: BTreeMap<LeaseId, Lease>,
    last_fence: u64,
}

impl Folding {
    fn take(&mut self, event: &Event) -> Result<(), Breach> {
        if let Body::LeaseGranted(lease) = &event.body {
            self.nobody_waits_longer(event.seq, lease)?;
        }
        self.state.apply(event).map_err(|error| Breach::new(Rule::LogFolds, error.to_string()))?;
        match &event.body {
            Body::AgentRegistered(agent) => {
                self.ledger.agents.insert(agent.name.to_string(), agent.id);
            }
            body if body.wait().is_some() => self.note_wait(event.seq, body),
            _ => {}
        }
        match event.body.lease() {
            Some(id) => self.note_lease(event.seq, id),
            None => Ok(()),
        }
    }

    fn note_lease(&mut self, seq: Seq, id: LeaseId) -> Result<(), Breach> {
        let Some(lease) = self.state.leases.get(&id).cloned() else { return Ok(()) };
        let before = self.live.remove(&id);
        let line =
            self.ledger.leases.entry(id).or_insert_with(|| Line { lease: lease.clone(), spans: Vec::new() });
        line.spans.last_mut().into_iter().for_each(|span| span.to = span.to.min(seq.0));
        if lease.ended.is_some() {
            return Ok(());
        }
        line.spans.push(Span { from: seq.0, to: u64::MAX, lease: lease.clone() });
        if before.as_ref().map(|before| before.fence) != Some(lease.fence) {
            self.fence_rises(seq, &lease)?;
        }
        self.alone(seq, &lease)?;
        self.live.insert(id, lease);
        Ok(())
    }

    fn fence_rises(&mut self, seq: Seq, lease: &Lease) -> Result<(), Breach> {
        let fence = lease.fence.to_integer();
        if fence <= self.last_fence || lease.fence.seq != seq {
            let text = format!("event {seq}: fence {fence} of {} after {}", lease.id, self.last_fence);
            return Err(Breach::new(Rule::FencesRise, text));
        }
        self.last_fence = fence;
        Ok(())
    }

    fn alone(&self, seq: Seq, lease: &Lease) -> Result<(), Breach> {
        let excludes = |other: &&Lease| {
            other.holder != lease.holder
                && other.mode.conflicts_with(lease.mode)
                && other.worktree == lease.worktree
                && other.target.overlaps(&lease.target)
        };
        match self.live.values().find(excludes) {
            None => Ok(()),
            Some(other) => {
                let text = format!("event {seq}: {} and {} of two holders live at once", lease.id, other.id);
                Err(Breach::new(Rule::OneHolder, text))
            }
        }
    }

    fn note_wait(&mut self, seq: Seq, body: &Body) {
        if let Body::WaitBegan(wait) = body {
            let line = WaitLine { wait: wait.clone(), from: seq.0, to: u64::MAX, end: None };
            self.ledger.waits.insert(wait.id, line);
        }
        let line = body.wait().and_then(|id| self.ledger.waits.get_mut(&id));
        if let (Some(line), Body::WaitEnded { cause, .. }) = (line, body) {
            (line.to, line.end) = (seq.0, Some(*cause));
        }
    }

    /// A request may pass an earlier wait only if it adds to what its agent already holds in the way of that wait.
    fn nobody_waits_longer(&self, seq: Seq, granted: &Lease) -> Result<(), Breach> {
        let me = granted.holder;
        let mine = self.state.waits.values().filter(|wait| wait.agent == me && wants(wait, granted));
        let place = mine.map(|wait| wait.place).min().unwrap_or(Seq(u64::MAX));
        let overtaken = self.state.waits.values().find(|wait| {
            wait.agent != me
                && wait.place < place
                && wait.wanted.conflicts_with_lease(granted)
                && !self.live.values().any(|held| held.id != granted.id && adds_to(held, granted, wait))
        });
        match overtaken {
            None => Ok(()),
            Some(wait) => {
                let text =
                    format!("event {seq}: {me} got {} before wait {}", granted.target.display(), wait.id);
                Err(Breach::new(Rule::NobodyOvertakes, text))
            }
        }
    }
}

fn wants(wait: &Wait, lease: &Lease) -> bool {
    wait.wanted.mode >= lease.mode && wait.wanted.touches(&lease.target, &lease.worktree)
}

/// Whether a lease of the same holder is in the way of a wait already: whoever blocks a wait may add to what it holds.
pub(super) fn adds_to(held: &Lease, granted: &Lease, wait: &Wait) -> bool {
    held.holder == granted.holder && wait.wanted.conflicts_with_lease(held)
}

/// A mode as answers write it.
pub(super) fn mode_of(shared: bool) -> Mode {
    if shared { Mode::Shared } else { Mode::Exclusive }
}
