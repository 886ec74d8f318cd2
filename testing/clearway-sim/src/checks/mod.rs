//! The invariants, judged after every step by code that shares nothing with the decisions.
//!
//! An event is judged against the books before it, a step against the books after it. What truly stands in the way of
//! a request is worked out in [`way`], from the hand-written table of what overlaps what.

mod answers;
mod circles;
mod exclusion;
mod fences;
mod inside;
mod keys;
mod lifetimes;
mod queue;
pub(crate) mod talk;
pub(crate) mod way;

pub(crate) use keys::{Keys, is_mismatch};
pub(crate) use lifetimes::Signs;

use crate::ledger::Ledger;
use crate::world::SimWorld;
use clearway_core::command::{Command, Request, Reserve};
use clearway_core::event::Event;
use clearway_core::ids::AgentId;
use clearway_core::lease::Lease;
use clearway_core::target::Target;
use clearway_core::time::Now;
use clearway_core::wait::Wait;
use clearway_store::Reply;
use std::fmt;

/// What must always hold, by the number it has in the design.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Invariant {
    /// No two live overlapping exclusive leases, and no more holders than units.
    I1OneHolder,
    /// Fences strictly increase, and a stale one changes nothing.
    I2Fences,
    /// No grant after its own lease expired.
    I3NoGrantAfterExpiry,
    /// No early end, and every end is one event.
    I4NoEarlyEnd,
    /// A repetition answers what the first time was answered.
    I6Idempotency,
    /// The sequence has no gap.
    I7Sequence,
    /// State is the fold of the events.
    I8Fold,
    /// Nobody barges, nobody waits beyond an end, nobody is refused or left waiting without a reason.
    I12Queue,
    /// Nobody waits in a circle.
    I12Circle,
    /// Asking takes nothing by itself, keeps the place of who asks, and is answered by what truly happened.
    Asking,
    /// What is answered is what was asked for, what was written, and the caller's to do.
    Answer,
}

impl fmt::Display for Invariant {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(match self {
            Self::I1OneHolder => "I1 one holder",
            Self::I2Fences => "I2 fences",
            Self::I3NoGrantAfterExpiry => "I3 no grant after expiry",
            Self::I4NoEarlyEnd => "I4 no early end",
            Self::I6Idempotency => "I6 idempotency",
            Self::I7Sequence => "I7 sequence",
            Self::I8Fold => "I8 fold",
            Self::I12Queue => "I12 queue",
            Self::I12Circle => "I12 circle",
            Self::Asking => "asking",
            Self::Answer => "answer",
        })
    }
}

/// An invariant that did not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// Which.
    pub invariant: Invariant,
    /// How it showed.
    pub what: String,
}

impl Violation {
    pub(crate) fn new(invariant: Invariant, what: impl Into<String>) -> Self {
        Self { invariant, what: what.into() }
    }
}

pub(crate) type Checked = Result<(), Violation>;

/// Fails unless the condition holds.
pub(crate) fn hold(condition: bool, invariant: Invariant, what: impl FnOnce() -> String) -> Checked {
    if condition { Ok(()) } else { Err(Violation::new(invariant, what())) }
}

/// A step as it is judged.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scene<'a> {
    pub(crate) request: &'a Request,
    pub(crate) world: &'a SimWorld,
    pub(crate) now: &'a Now,
    /// Who asked, once it is registered.
    pub(crate) me: Option<AgentId>,
    /// Whether everything that was asked about the outside was answered with what is true now.
    pub(crate) fresh: bool,
}

impl<'a> Scene<'a> {
    /// Whether a lease is on a part of what is given back that goes on being held.
    pub(crate) fn keeps(&self, lease: &Lease) -> bool {
        matches!(&self.request.command, Command::Release(release) if release.keep.contains(&lease.target))
    }

    /// What a lease is granted for: what its holder asks for now, or the place that it was promised to have granted. `None`
    /// if it keeps a part of what it gives back.
    pub(crate) fn asked_for(
        &self,
        ledger: &'a Ledger,
        lease: &Lease,
    ) -> Option<(&'a Reserve, Option<&'a Wait>)> {
        let own = self.me == Some(lease.holder);
        if self.keeps(lease) {
            return None;
        }
        let is_it = |wanted: &&Reserve| {
            wanted.bound == lease.bound
                && (lease.worktree == wanted.worktree || matches!(lease.target, Target::Name(_)))
                && wanted.wants.iter().any(|want| want.target == lease.target)
        };
        if let Some(wanted) = self.request.wanted().filter(is_it).filter(|_| own) {
            return Some((wanted, None));
        }
        let wait = talk::promised(ledger, lease)?;
        Some((&wait.wanted, Some(wait)))
    }
}

/// Judges one event by the books before it.
pub(crate) fn before(scene: &Scene<'_>, ledger: &Ledger, event: &Event, signs: &Signs) -> Checked {
    fences::of_event(scene, ledger, event)?;
    lifetimes::of_event(scene, ledger, event, signs)?;
    exclusion::of_grant(scene, ledger, event)?;
    queue::of_event(scene, ledger, event)?;
    talk::of_event(scene, ledger, event, signs)?;
    inside::of_event(scene, ledger, event)?;
    answers::of_event(scene, ledger, event)
}

/// Judges a step by the books before and after it.
pub(crate) fn after(
    scene: &Scene<'_>,
    then: &Ledger,
    ledger: &Ledger,
    events: &[Event],
    reply: &Reply,
) -> Checked {
    exclusion::of_state(ledger, scene.now)?;
    fences::of_step(scene, then, events, reply)?;
    if !reply.replayed && !is_mismatch(reply) {
        lifetimes::of_step(scene, then, ledger, events)?;
        queue::of_step(scene, then, ledger, events, reply)?;
        inside::of_step(scene, ledger, reply)?;
        circles::of_refusal(scene, ledger, reply)?;
        talk::of_step(scene, then, ledger, events, reply)?;
        answers::of_step(scene, ledger, events, reply)?;
    }
    circles::of_step(scene, then, ledger, events)
}
