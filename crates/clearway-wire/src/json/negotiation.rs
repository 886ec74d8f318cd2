//! Negotiations as programs read them.

use super::{LeaseJson, WaitJson, integer, rfc3339};
use clearway_core::negotiation::{Negotiated, NegotiationView};
use clearway_core::time::Now;
use schemars::JsonSchema;
use serde::Serialize;

/// A request to the holder of a lease.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "Negotiation")]
pub struct NegotiationJson {
    /// Stable for its whole life.
    pub id: String,
    /// Who asks.
    pub requester: String,
    /// Who is asked.
    pub holder: String,
    /// The lease that is asked for.
    pub lease: String,
    /// Its fence when it was asked for.
    pub fence: u64,
    /// What of it is asked for.
    pub pattern: String,
    /// Why, in the requester's words.
    pub why: String,
    /// `normal` or `urgent`.
    pub urgency: String,
    /// `requested`, `deferred`, `escalatable`, `released`, `refused`, `withdrawn`, `lapsed` or `forced`.
    pub state: String,
    /// What the holder said, where it takes longer: `after-commit` or `later`.
    pub answer: Option<String>,
    /// After which span the deadline passes; 0 once it has. Nothing is taken by that. Null if it is over.
    pub deadline_in_ms: Option<u64>,
    /// How many leases were let go, 0 where somebody else's request took it; null while it is open.
    pub released: Option<u64>,
    /// Why, in the words of who refused or forced it; where somebody else's request took it, with who that is.
    pub reason: Option<String>,
    /// The requester's place in the queue.
    pub wait: String,
    /// Whether the requester is granted it in the transaction that lets it go.
    pub then_reserve: bool,
    /// When it was asked for.
    pub created_at: String,
    /// When it was over; null while it is open.
    pub ended_at: Option<String>,
    /// The checkout it is about.
    pub worktree: String,
}

impl NegotiationJson {
    /// A negotiation as it looks at this instant.
    pub fn new(view: &NegotiationView, now: &Now) -> Self {
        use clearway_core::negotiation::NegotiationState as State;
        let negotiation = &view.negotiation;
        let settled = negotiation.settled();
        let answer = match negotiation.state {
            State::AfterCommit => Some("after-commit"),
            State::Later(_) => Some("later"),
            State::Requested | State::Over(_) => None,
        };
        Self {
            id: negotiation.id.to_string(),
            requester: view.requester.to_string(),
            holder: view.holder.to_string(),
            lease: negotiation.lease.to_string(),
            fence: negotiation.fence.to_integer(),
            pattern: negotiation.target.display(),
            why: negotiation.why.clone(),
            urgency: negotiation.urgency.word().to_owned(),
            state: negotiation.word().to_owned(),
            answer: answer.map(str::to_owned),
            deadline_in_ms: negotiation.is_open().then(|| integer(negotiation.deadline.since(now.mono))),
            released: settled.map(|settled| integer(settled.released)),
            reason: settled.and_then(|settled| settled.reason.clone()),
            wait: negotiation.wait.to_string(),
            then_reserve: negotiation.then_reserve,
            created_at: rfc3339(negotiation.created_at),
            ended_at: settled.map(|settled| rfc3339(settled.at)),
            worktree: negotiation.worktree.0.clone(),
        }
    }

    /// Every negotiation of a list.
    pub fn list<'v>(views: impl IntoIterator<Item = &'v NegotiationView>, now: &Now) -> Vec<Self> {
        views.into_iter().map(|view| Self::new(view, now)).collect()
    }
}

/// `ask`, `answer`, `withdraw` and `force`
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct NegotiatedReply {
    /// `free-now`, `granted`, `requested`, `queued`, `released`, `partly-released`, `deferred`, `refused`, `withdrawn`,
    /// `lapsed`, `forced` or `already-released`.
    pub status: String,
    /// What it was about, as it is now.
    pub negotiations: Vec<NegotiationJson>,
    /// Leases that this call ended.
    pub released: Vec<String>,
    /// Paths that this call took out of leases which stay.
    pub split: Vec<String>,
    /// How many leases and paths that is together.
    pub released_count: u64,
    /// What is still in the way of what was asked for.
    pub remaining: Vec<LeaseJson>,
    /// The place that the requester keeps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queued: Option<WaitJson>,
    /// With `ask --then-reserve`: the leases held now.
    pub leases: Vec<LeaseJson>,
}

impl NegotiatedReply {
    /// Nobody was in the way of what was to be reserved.
    pub fn granted(leases: Vec<LeaseJson>) -> Self {
        Self {
            status: "granted".to_owned(),
            negotiations: Vec::new(),
            released: Vec::new(),
            split: Vec::new(),
            released_count: 0,
            remaining: Vec::new(),
            queued: None,
            leases,
        }
    }

    /// What a verb came to.
    pub fn new(outcome: &Negotiated, now: &Now) -> Self {
        Self {
            status: outcome.status.word().to_owned(),
            negotiations: NegotiationJson::list(&outcome.negotiations, now),
            released: outcome.released.iter().map(ToString::to_string).collect(),
            split: outcome.split.clone(),
            released_count: (outcome.released.len() + outcome.split.len()) as u64,
            remaining: LeaseJson::list(&outcome.remaining, now),
            queued: outcome.queued.as_deref().map(|queued| WaitJson::new(queued, now)),
            leases: Vec::new(),
        }
    }
}

/// `negotiations`
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct NegotiationsReply {
    /// Those that are open, in the order they were asked.
    pub negotiations: Vec<NegotiationJson>,
}

/// `halt`
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct HaltReply {
    /// Who was stopped.
    pub halted: String,
    /// Whether it was before.
    pub was_halted: bool,
    /// Leases of it that are over by this.
    pub ended: Vec<String>,
}

/// `resume`
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ResumeReply {
    /// Who may go on.
    pub resumed: String,
    /// Whether it was stopped before.
    pub was_halted: bool,
}
