//! Waits as programs read them.

use super::{integer, rfc3339};
use clearway_core::failure::{Ahead, CircleStep};
use clearway_core::time::Now;
use clearway_core::wait::Queued;
use schemars::JsonSchema;
use serde::Serialize;

/// A place in the queue.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "Wait")]
pub struct WaitJson {
    /// Stable for the wait's whole life.
    pub id: String,
    /// Who waits.
    pub agent: String,
    /// Its id.
    pub agent_id: String,
    /// For what: patterns relative to the root of the worktree, or names of resources.
    pub patterns: Vec<String>,
    /// `exclusive` or `shared`.
    pub mode: String,
    /// Why, in the words of who waits.
    pub reason: Option<String>,
    /// Its place among those in each other's way, counted from 1.
    pub position: u64,
    /// `waiting`, or `offered` once its turn has come and is kept for it.
    pub state: String,
    /// How long its turn is still kept.
    pub offer_left_ms: Option<u64>,
    /// The process that waits; null if the agent is told.
    pub pid: Option<u32>,
    /// Since when it waits.
    pub created_at: String,
    /// The same as a span.
    pub waited_ms: u64,
    /// After which span it gives up.
    pub gives_up_in_ms: u64,
    /// The checkout it is about.
    pub worktree: String,
}

impl WaitJson {
    /// A wait as it looks at this instant.
    pub fn new(queued: &Queued, now: &Now) -> Self {
        let wait = &queued.wait;
        Self {
            id: wait.id.to_string(),
            agent: queued.agent.to_string(),
            agent_id: wait.agent.to_string(),
            patterns: wait.wanted.wants.iter().map(|want| want.target.display()).collect(),
            mode: wait.wanted.mode.word().to_owned(),
            reason: wait.wanted.reason.clone(),
            position: integer(queued.position),
            state: if wait.offered_until.is_some() { "offered" } else { "waiting" }.to_owned(),
            offer_left_ms: wait.offered_until.map(|until| integer(until.since(now.mono))),
            pid: wait.attached.as_ref().map(|process| process.pid),
            created_at: rfc3339(wait.created_at),
            waited_ms: integer(now.mono.since(wait.since)),
            gives_up_in_ms: integer(wait.until.since(now.mono)),
            worktree: wait.wanted.worktree.0.clone(),
        }
    }

    /// Every wait of a list.
    pub fn list<'q>(queued: impl IntoIterator<Item = &'q Queued>, now: &Now) -> Vec<Self> {
        queued.into_iter().map(|wait| Self::new(wait, now)).collect()
    }
}

/// An earlier wait that stands before a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "Ahead")]
pub struct AheadJson {
    /// Which wait.
    pub wait: String,
    /// Who waits.
    pub agent: String,
    /// For what.
    pub pattern: String,
    /// Whether its turn has come and is kept for it.
    pub offered: bool,
}

impl AheadJson {
    /// Every earlier wait of a list.
    pub fn list(ahead: &[Ahead]) -> Vec<Self> {
        let one = |ahead: &Ahead| Self {
            wait: ahead.wait.to_string(),
            agent: ahead.agent.to_string(),
            pattern: ahead.target.clone(),
            offered: ahead.offered,
        };
        ahead.iter().map(one).collect()
    }
}

/// One agent of a circle of waiting.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "CycleStep")]
pub struct CycleStepJson {
    /// Who waits.
    pub agent: String,
    /// For what.
    pub waits_for: String,
    /// Who has it, or waits for it longer.
    pub of: String,
    /// The lease, if it is one.
    pub lease: Option<String>,
    /// The process that keeps the lease, if one does: it is given back when that ends.
    pub kept_by: Option<u32>,
}

impl CycleStepJson {
    /// One step.
    pub fn new(step: &CircleStep) -> Self {
        Self {
            agent: step.agent.to_string(),
            waits_for: step.waits_for.clone(),
            of: step.of.to_string(),
            lease: step.lease.map(|lease| lease.to_string()),
            kept_by: step.kept_by,
        }
    }
}
