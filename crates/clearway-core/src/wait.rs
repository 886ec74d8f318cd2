//! Waits: a place in the queue, kept for an agent until it gets what it asked for, leaves, or is gone.
//!
//! A wait holds nothing. It keeps later requests from overtaking: whoever comes after it and would be in its way
//! stands behind it. An *attached* wait belongs to a process that tries again whenever something changes; a
//! *durable* one belongs to an agent without such a process and gets an offer when its turn has come.

use crate::agent::{Agent, AgentName, Liveness};
use crate::command::Reserve;
use crate::facts::{Facts, Process, ProcessLife};
use crate::ids::{AgentId, Seq, WaitId};
use crate::lease::{Grade, Lease};
use crate::limits::WAITER_SILENCE_MS;
use crate::time::{Mono, Wall};
use std::collections::BTreeSet;

/// One place in the queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wait {
    /// Stable for its whole life.
    pub id: WaitId,
    /// Who waits.
    pub agent: AgentId,
    /// What is to be reserved when the turn comes.
    pub wanted: Reserve,
    /// The order of the queue: the event that gave it its place.
    pub place: Seq,
    /// The process that waits; `None` if the agent is to be told.
    pub attached: Option<Process>,
    /// When it gives up.
    pub until: Mono,
    /// Until when the place is kept without a process, if one came to wait at a place that was kept without: when that
    /// process is gone, it is kept so again. Not part of how a wait begins.
    pub kept_until: Option<Mono>,
    /// Until when its turn is kept for it.
    pub offered_until: Option<Mono>,
    /// How many offers it was made.
    pub offers: u32,
    /// Since when it waits.
    pub since: Mono,
    /// Since when, for people.
    pub created_at: Wall,
}

/// A wait with what is softly known of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaitView {
    /// The wait.
    pub wait: Wait,
    /// When its process last said that it still waits.
    pub heard: Option<Mono>,
}

/// Why a wait is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitEnd {
    /// It got what it waited for.
    Granted,
    /// Its time ran out.
    TimedOut,
    /// It was given up.
    Cancelled,
    /// Its process said nothing for too long.
    Silent,
    /// Its process or its agent is proven gone.
    Gone,
    /// Its turn came often enough and was never taken.
    Lapsed,
    /// The machine started anew.
    Reboot,
    /// The log lost its tail and an operator went on without it.
    Recovery,
}

impl WaitEnd {
    /// Every way.
    pub const ALL: [Self; 8] = [
        Self::Granted,
        Self::TimedOut,
        Self::Cancelled,
        Self::Silent,
        Self::Gone,
        Self::Lapsed,
        Self::Reboot,
        Self::Recovery,
    ];

    /// The word used in events.
    pub fn word(self) -> &'static str {
        match self {
            Self::Granted => "granted",
            Self::TimedOut => "timed-out",
            Self::Cancelled => "cancelled",
            Self::Silent => "silent",
            Self::Gone => "gone",
            Self::Lapsed => "lapsed",
            Self::Reboot => "reboot",
            Self::Recovery => "recovery",
        }
    }

    /// Reads the word back.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|end| end.word() == word)
    }
}

impl WaitView {
    /// Why the wait is over at `now`, if it is. At the instant itself it is, for every operation alike.
    pub fn over(&self, agent: Option<&Agent>, facts: &Facts, now: Mono) -> Option<WaitEnd> {
        let agent_gone =
            agent.is_some_and(|agent| crate::agent::liveness(agent, None, facts, now) == Liveness::Gone);
        match self.process_over(facts, now) {
            _ if agent_gone => Some(WaitEnd::Gone),
            Some(_) if self.falls_back(facts, now).is_some() => None,
            over => over,
        }
    }

    /// Until when the place is kept for its agent alone, now that the process is gone which came to wait at it.
    pub fn falls_back(&self, facts: &Facts, now: Mono) -> Option<Mono> {
        let kept = self.wait.kept_until.filter(|kept| now < *kept)?;
        self.process_over(facts, now).map(|_| kept)
    }

    /// Why the process that waits does so no more, or the time is up.
    fn process_over(&self, facts: &Facts, now: Mono) -> Option<WaitEnd> {
        let wait = &self.wait;
        let is_dead = |process: &Process| facts.process(process) == Some(ProcessLife::Dead);
        let heard = self.heard.map_or(wait.since, |heard| heard.max(wait.since));
        if wait.attached.as_ref().is_some_and(is_dead) {
            Some(WaitEnd::Gone)
        } else if now >= wait.until {
            Some(WaitEnd::TimedOut)
        } else if wait.attached.is_some() && now.since(heard) >= WAITER_SILENCE_MS {
            Some(WaitEnd::Silent)
        } else {
            None
        }
    }

    /// Whether its turn came and was not taken in time.
    pub fn offer_lapsed(&self, now: Mono) -> bool {
        self.wait.offered_until.is_some_and(|until| now >= until)
    }
}

impl Wait {
    /// Whether it is of an edit that a hook refused. Its agent works on elsewhere and holds nothing for it, so that nobody
    /// stands still while it waits.
    pub fn is_of_edit(&self) -> bool {
        self.wanted.grade == Grade::Auto && self.attached.is_none()
    }

    /// Whether the turn of this wait may be taken by a request of its agent. One that is kept for the agent serves its
    /// commands, too; where a process waits, or what a command is to run under, is for that one alone.
    pub fn serves(&self, request: &Reserve) -> bool {
        let is_its_own = self.wanted.bound == request.bound || self.is_kept_for_agent();
        is_its_own && self.wanted.includes(request)
    }

    /// Whether a lease of its agent is some of what it waits for, were it on the right thing. `by` is the command that
    /// takes it now.
    pub fn is_for(&self, lease: &Lease, by: Option<&Process>) -> bool {
        lease.bound == self.wanted.bound || (self.is_kept_for_agent() && lease.bound.as_ref() == by)
    }

    fn is_kept_for_agent(&self) -> bool {
        self.wanted.bound.is_none() && self.attached.is_none()
    }
}

/// How many agents wait for a lease to end.
pub fn waiters_for<'a>(lease: &Lease, waits: impl Iterator<Item = &'a Wait>) -> u64 {
    let waits_for = |wait: &&Wait| wait.agent != lease.holder && wait.wanted.conflicts_with_lease(lease);
    waits.filter(waits_for).map(|wait| wait.agent).collect::<BTreeSet<_>>().len() as u64
}

/// The place of a wait among those in each other's way, counted from 1.
pub fn position<'a>(wait: &Wait, queue: impl Iterator<Item = &'a Wait>) -> u64 {
    let earlier = |other: &&Wait| {
        other.place < wait.place && other.agent != wait.agent && other.wanted.conflicts_with(&wait.wanted)
    };
    queue.filter(earlier).count() as u64 + 1
}

/// A wait as an onlooker sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Queued {
    /// The wait.
    pub wait: Wait,
    /// Who waits.
    pub agent: AgentName,
    /// Its place among those in each other's way, counted from 1.
    pub position: u64,
}
