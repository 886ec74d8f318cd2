//! Leases as programs read them.

use super::{integer, rfc3339};
use clearway_core::failure::LeaseView;
use clearway_core::target::Target;
use clearway_core::time::Now;
use clearway_core::unit;
use schemars::JsonSchema;
use serde::Serialize;

/// A lease.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "Lease")]
pub struct LeaseJson {
    /// Stable for the lease's whole life.
    pub id: String,
    /// `path`, `name` or `write-set`.
    pub kind: String,
    /// What it is on: a pattern relative to the root of the worktree, or the name of a resource.
    pub pattern: String,
    /// Paths that made way for others and are no part of it any more.
    pub ceded: Vec<String>,
    /// Whether more of them may: a broad claim gives up single paths that its holder neither changed nor edited.
    pub makes_way: bool,
    /// `exclusive` or `shared`.
    pub mode: String,
    /// `auto` (taken by a hook) or `claimed` (taken by `reserve`).
    pub grade: String,
    /// The holder's name.
    pub agent: String,
    /// The holder's id.
    pub agent_id: String,
    /// The order of its grant; strictly increases within a scope.
    pub fence: u64,
    /// Why, in the holder's words; without them, for a lease of `clearway with`, how its command begins.
    pub reason: Option<String>,
    /// When it was granted.
    pub created_at: String,
    /// When it ends if the holder gives no sign of life until then.
    pub expires_at: String,
    /// The same as a span from now; 0 once it is over.
    pub expires_in_ms: u64,
    /// `active`, `released` or `expired`; one that was handed over is active, and its new holder's.
    pub state: String,
    /// The checkout it is about; empty for names.
    pub worktree: String,
    /// The silence it allows.
    pub ttl_ms: u64,
    /// Ties the leases of one write-set together.
    pub set_id: Option<String>,
    /// Which unit of a named resource, counted from 0.
    pub slot: Option<u32>,
    /// The number that goes with it, for a resource such as `port:3000-3009`.
    pub number: Option<u32>,
    /// The process it is for and ends with, for a lease of `clearway with`.
    pub pid: Option<u32>,
    /// When it ended.
    pub ended_at: Option<String>,
    /// How exactly it ended: `released`, `silence`, `maximum`, `reboot`, `recovery`, `process-gone`,
    /// `yielded`, `taken-over` or `orphaned`.
    pub ended_how: Option<String>,
}

impl LeaseJson {
    /// A lease as it looks at this instant.
    pub fn new(view: &LeaseView, now: &Now) -> Self {
        let lease = &view.lease;
        let left_ms = if lease.ended.is_some() { 0 } else { view.deadline.since(now.mono) };
        Self {
            id: lease.id.to_string(),
            kind: lease.kind().word().to_owned(),
            pattern: lease.target.display(),
            ceded: lease.ceded.iter().map(Target::display).collect(),
            makes_way: lease.makes_way,
            mode: lease.mode.word().to_owned(),
            grade: lease.grade.word().to_owned(),
            agent: view.agent.to_string(),
            agent_id: lease.holder.to_string(),
            fence: integer(lease.fence.to_integer()),
            reason: lease.reason.clone(),
            created_at: rfc3339(lease.created_at),
            expires_at: rfc3339(now.wall_at(view.deadline)),
            expires_in_ms: integer(left_ms),
            state: lease.ended.map_or("active", |ended| ended.how.state_word()).to_owned(),
            worktree: lease.worktree.0.clone(),
            ttl_ms: integer(lease.ttl_ms),
            set_id: lease.set.map(|set| set.to_string()),
            slot: lease.slot,
            number: unit::number_of(lease),
            pid: lease.bound.as_ref().map(|process| process.pid),
            ended_at: lease.ended.map(|ended| rfc3339(ended.at)),
            ended_how: lease.ended.map(|ended| ended.how.word().to_owned()),
        }
    }

    /// Every lease of a list.
    pub fn list(views: &[LeaseView], now: &Now) -> Vec<Self> {
        views.iter().map(|view| Self::new(view, now)).collect()
    }
}

/// A lease that stands in the way, with how alive its holder looks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Blocker {
    /// The lease.
    #[serde(flatten)]
    pub lease: LeaseJson,
    /// `active`, `idle` or `gone`.
    pub liveness: String,
    /// Whether a person stopped its holder, however alive that is.
    pub holder_halted: bool,
    /// How many agents wait for it; told to somebody who is turned away, how many others.
    pub waiters: u64,
}

impl Blocker {
    /// A blocker as it looks at this instant.
    pub fn new(view: &LeaseView, now: &Now) -> Self {
        Self {
            lease: LeaseJson::new(view, now),
            liveness: view.liveness.word().to_owned(),
            holder_halted: view.is_halted,
            waiters: integer(view.waiters),
        }
    }

    /// Every blocker of a list.
    pub fn list<'v>(views: impl IntoIterator<Item = &'v LeaseView>, now: &Now) -> Vec<Self> {
        views.into_iter().map(|view| Self::new(view, now)).collect()
    }
}
