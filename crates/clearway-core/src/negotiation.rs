//! Negotiations: somebody asks the holder of a lease for it, and what became of that.
//!
//! A negotiation is state with transitions of its own, never the text of a message: what was let go is told by the lease
//! that ended, and by nothing that anybody says. It takes nothing. Its deadline is an instant that counts whether or not a
//! process lives; once it passed, both sides are told, and the rules of a force may hold. Its requester keeps a place in
//! the queue as long as it is open.

use crate::agent::AgentName;
use crate::failure::LeaseView;
use crate::ids::{AgentId, Fence, LeaseId, NegotiationId, WaitId};
use crate::limits::{ASK_MS, ASK_URGENT_MS};
use crate::target::{Target, Worktree};
use crate::time::{Mono, Wall};
use crate::wait::Queued;

/// One request to the holder of one lease.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Negotiation {
    /// Stable for its whole life, and drawn so that nobody guesses it.
    pub id: NegotiationId,
    /// Who asks.
    pub requester: AgentId,
    /// Who is asked.
    pub holder: AgentId,
    /// For which lease: a later one of the same holder is another matter.
    pub lease: LeaseId,
    /// By which fence that was known then.
    pub fence: Fence,
    /// What of it is asked for.
    pub target: Target,
    /// In which checkout.
    pub worktree: Worktree,
    /// Why, in the requester's words.
    pub why: String,
    /// How soon.
    pub urgency: Urgency,
    /// The place in the queue that the requester keeps meanwhile.
    pub wait: WaitId,
    /// Whether the requester is granted it in the transaction that lets it go.
    pub then_reserve: bool,
    /// How it stands.
    pub state: NegotiationState,
    /// When both sides are told that it was not settled in time.
    pub deadline: Mono,
    /// Whether they were.
    pub overdue: bool,
    /// Since when.
    pub since: Mono,
    /// Since when, for people.
    pub created_at: Wall,
}

/// How soon an answer is needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Urgency {
    /// Within ten minutes.
    Normal,
    /// Within five.
    Urgent,
}

impl Urgency {
    /// The word used in output.
    pub fn word(self) -> &'static str {
        match self {
            Self::Normal => "normal",
            Self::Urgent => "urgent",
        }
    }

    /// Reads the word back.
    pub fn from_word(word: &str) -> Option<Self> {
        [Self::Normal, Self::Urgent].into_iter().find(|urgency| urgency.word() == word)
    }

    /// How long an answer may take.
    pub fn window_ms(self) -> u64 {
        match self {
            Self::Normal => ASK_MS,
            Self::Urgent => ASK_URGENT_MS,
        }
    }
}

/// How a negotiation stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NegotiationState {
    /// Nobody answered yet.
    Requested,
    /// The holder lets it go with its next commit of it.
    AfterCommit,
    /// The holder means to be done with it then.
    Later(Mono),
    /// It is over.
    Over(Settled),
}

/// What a negotiation came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settled {
    /// In which way.
    pub how: NegotiationEnd,
    /// How many leases were let go, as a whole or by the part that was asked for.
    pub released: u64,
    /// Why, in the words of whoever refused or forced it; where the request of somebody else took it, with who that is.
    pub reason: Option<String>,
    /// When, for people.
    pub at: Wall,
}

/// The ways a negotiation ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NegotiationEnd {
    /// The holder let it go: by an answer, a commit, a release, or because nothing of it was changed.
    Released,
    /// The holder said no.
    Refused,
    /// The requester needs it no more.
    Withdrawn,
    /// The lease is over, or somebody else's, without the holder having let it go.
    Lapsed,
    /// It was taken from a holder that was gone, or silent for too long: by this request, or by that of somebody else, in
    /// which case this one freed nothing.
    Forced,
}

impl NegotiationEnd {
    /// Every way.
    pub const ALL: [Self; 5] = [Self::Released, Self::Refused, Self::Withdrawn, Self::Lapsed, Self::Forced];

    /// Whether what was asked for is the holder's no more.
    pub fn is_free(self) -> bool {
        matches!(self, Self::Released | Self::Lapsed | Self::Forced)
    }

    /// The word used in events and output.
    pub fn word(self) -> &'static str {
        match self {
            Self::Released => "released",
            Self::Refused => "refused",
            Self::Withdrawn => "withdrawn",
            Self::Lapsed => "lapsed",
            Self::Forced => "forced",
        }
    }

    /// Reads the word back.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|end| end.word() == word)
    }
}

impl Negotiation {
    /// Whether nothing became of it yet.
    pub fn is_open(&self) -> bool {
        !matches!(self.state, NegotiationState::Over(_))
    }

    /// How it stands, as a word.
    pub fn word(&self) -> &'static str {
        match &self.state {
            NegotiationState::Over(settled) => settled.how.word(),
            _ if self.overdue => "escalatable",
            NegotiationState::Requested => "requested",
            NegotiationState::AfterCommit | NegotiationState::Later(_) => "deferred",
        }
    }

    /// What it came to, if it is over.
    pub fn settled(&self) -> Option<&Settled> {
        match &self.state {
            NegotiationState::Over(settled) => Some(settled),
            _ => None,
        }
    }

    /// Until when the holder said that it takes.
    pub fn later(&self) -> Option<Mono> {
        match self.state {
            NegotiationState::Later(until) => Some(until),
            _ => None,
        }
    }
}

/// A negotiation as an onlooker sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NegotiationView {
    /// The negotiation.
    pub negotiation: Negotiation,
    /// Who asks.
    pub requester: AgentName,
    /// Who is asked.
    pub holder: AgentName,
}

/// What a verb about negotiations came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Negotiated {
    /// In one word.
    pub status: Status,
    /// Those that it was about, as they are now.
    pub negotiations: Vec<NegotiationView>,
    /// Leases that it ended.
    pub released: Vec<LeaseId>,
    /// Paths that it took out of leases which stay.
    pub split: Vec<String>,
    /// What is still in the way of what was asked for.
    pub remaining: Vec<LeaseView>,
    /// The place that the requester keeps.
    pub queued: Option<Box<Queued>>,
}

/// The words of [`Negotiated`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Status {
    /// Nobody is in the way.
    #[default]
    FreeNow,
    /// The holder was asked.
    Requested,
    /// Only those who wait longer are in the way: nobody holds it who could be asked.
    Queued,
    /// It was let go.
    Released,
    /// Some of it was let go.
    PartlyReleased,
    /// It is let go later.
    Deferred,
    /// It is not let go.
    Refused,
    /// The request was taken back.
    Withdrawn,
    /// It was over before, without having been let go.
    Lapsed,
    /// It was taken.
    Forced,
    /// It was let go before anything had to be taken.
    AlreadyReleased,
}

impl Status {
    /// Every word.
    pub const ALL: [Self; 11] = [
        Self::FreeNow,
        Self::Requested,
        Self::Queued,
        Self::Released,
        Self::PartlyReleased,
        Self::Deferred,
        Self::Refused,
        Self::Withdrawn,
        Self::Lapsed,
        Self::Forced,
        Self::AlreadyReleased,
    ];

    /// The word.
    pub fn word(self) -> &'static str {
        match self {
            Self::FreeNow => "free-now",
            Self::Requested => "requested",
            Self::Queued => "queued",
            Self::Released => "released",
            Self::PartlyReleased => "partly-released",
            Self::Deferred => "deferred",
            Self::Refused => "refused",
            Self::Withdrawn => "withdrawn",
            Self::Lapsed => "lapsed",
            Self::Forced => "forced",
            Self::AlreadyReleased => "already-released",
        }
    }

    /// Reads the word back.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.word() == word)
    }
}

impl From<NegotiationEnd> for Status {
    fn from(end: NegotiationEnd) -> Self {
        match end {
            NegotiationEnd::Released => Self::Released,
            NegotiationEnd::Refused => Self::Refused,
            NegotiationEnd::Withdrawn => Self::Withdrawn,
            NegotiationEnd::Lapsed => Self::Lapsed,
            NegotiationEnd::Forced => Self::Forced,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_reads_back() {
        for status in Status::ALL {
            assert_eq!(Status::from_word(status.word()), Some(status));
        }
        for end in NegotiationEnd::ALL {
            assert_eq!(NegotiationEnd::from_word(end.word()), Some(end));
            assert_eq!(Status::from(end).word(), end.word());
        }
        for urgency in [Urgency::Normal, Urgency::Urgent] {
            assert_eq!(Urgency::from_word(urgency.word()), Some(urgency));
        }
    }
}
