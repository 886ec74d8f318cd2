//! What time and other people's acts do to negotiations: a deadline passes, a lease ends, a place in the queue is given up.

use super::super::draft::Draft;
use super::super::plan::Step;
use super::answer::end;
use crate::event::{Actor, Body, Event};
use crate::ids::{AgentId, LeaseId, NegotiationId};
use crate::lease::{End, Lease};
use crate::negotiation::{Negotiation, NegotiationEnd, Settled};
use crate::slice::Note;
use crate::wait::{Wait, WaitEnd};

impl Draft<'_> {
    /// Records every deadline that passed, once, and has both sides told. Nothing is taken by that.
    pub(in super::super) fn record_overdue(&mut self) {
        if self.negotiations.is_empty() {
            return;
        }
        self.close_negotiations();
        let now = self.now.mono;
        let is_due = |open: &&Negotiation| !open.overdue && now >= open.deadline;
        let due: Vec<Negotiation> = self.open_negotiations().filter(is_due).cloned().collect();
        for negotiation in due {
            self.push_negotiation(Actor::KERNEL, Body::NegotiationOverdue { negotiation: negotiation.id });
            // Whoever was away hears of it once, and not beside that of what it was asked before.
            self.forget_note(negotiation.holder, &Note::Asked(negotiation.id));
            for side in [negotiation.holder, negotiation.requester] {
                self.note(side, Note::Overdue(negotiation.id));
            }
        }
    }

    /// Records what became of every request whose lease is not what it was, or whose requester waits no more.
    pub(in super::super) fn close_negotiations(&mut self) {
        let open: Vec<Negotiation> = self.open_negotiations().cloned().collect();
        for negotiation in open {
            let Some(Fate { how, released, reason, by }) = self.fate_of(&negotiation) else { continue };
            end(self, by, negotiation.id, how, released, reason);
            self.forget_note(negotiation.holder, &Note::Asked(negotiation.id));
        }
    }

    /// Whoever asked to be granted what is let go is, in this very decision, if its turn has come.
    pub(super) fn promise(&mut self, id: NegotiationId) {
        let over = self.negotiation(id).filter(|over| over.then_reserve);
        let is_free = |settled: &Settled| settled.how.is_free();
        let promised = over.filter(|over| over.settled().is_some_and(is_free));
        let promised = promised.map(|over| (over.wait, over.holder));
        self.promised.extend(promised);
    }

    /// Who was asked for something that makes way for this turn, and that the requester is granted as soon as it is free:
    /// nobody lets it go before.
    pub(in super::super) fn promises(&self, wait: &Wait, steps: &[Step]) -> Option<AgentId> {
        let makes_way = |id: LeaseId| steps.iter().flat_map(Step::room).any(|room| room.lease.id == id);
        let is_it = |open: &&Negotiation| open.wait == wait.id && open.then_reserve && makes_way(open.lease);
        self.open_negotiations().find(is_it).map(|open| open.holder)
    }

    /// How a request ended by what happened to its lease or its place, if it did.
    fn fate_of(&self, negotiation: &Negotiation) -> Option<Fate> {
        if self.pinned(negotiation).is_none() {
            return Some(self.forced_here(negotiation).unwrap_or_else(
                || match self.is_let_go(negotiation) {
                    true => Fate::of_itself(NegotiationEnd::Released, 1),
                    false => Fate::of_itself(NegotiationEnd::Lapsed, 0),
                },
            ));
        }
        let waits = self.queue.iter().any(|view| view.wait.id == negotiation.wait);
        (!waits).then(|| match self.is_cancelled(negotiation) {
            true => Fate::of_itself(NegotiationEnd::Withdrawn, 0),
            false => Fate::of_itself(NegotiationEnd::Lapsed, 0),
        })
    }

    /// What was asked for was taken by the request of somebody else: that one has it, and this one has freed nothing.
    fn forced_here(&self, negotiation: &Negotiation) -> Option<Fate> {
        self.events().iter().find_map(|event| match &event.body {
            Body::NegotiationForced { negotiation: by, lease, reason, .. } if *lease == negotiation.lease => {
                let requester = || self.negotiation(*by).map(|forced| forced.requester);
                let who = self.name_of(event.actor.agent.or_else(requester)?);
                let reason = Some(format!("{who} took it: {reason}"));
                Some(Fate { how: NegotiationEnd::Forced, released: 0, reason, by: event.actor })
            }
            _ => None,
        })
    }

    /// Whether the holder let it go: it gave it back, or had nothing in it. A path that was taken out of a lease that
    /// stays was let go too.
    fn is_let_go(&self, negotiation: &Negotiation) -> bool {
        let id = negotiation.lease;
        if self.leases_now().any(|lease| is_same(lease, negotiation)) {
            return true;
        }
        let here =
            self.events().iter().rev().find_map(|event| event.body.end().filter(|_| is_about(event, id)));
        let ended = here.or_else(|| self.slice.lease(id)?.ended.map(|ended| ended.how));
        matches!(ended, Some(End::Released | End::Yielded))
    }

    fn is_cancelled(&self, negotiation: &Negotiation) -> bool {
        self.events().iter().any(|event| {
            matches!(&event.body, Body::WaitEnded { wait, cause: WaitEnd::Cancelled, .. } if *wait == negotiation.wait)
        })
    }
}

/// What became of a request without anybody answering it.
struct Fate {
    how: NegotiationEnd,
    released: u64,
    reason: Option<String>,
    /// By whose act, where it was nobody's own business.
    by: Actor,
}

impl Fate {
    fn of_itself(how: NegotiationEnd, released: u64) -> Self {
        Self { how, released, reason: None, by: Actor::KERNEL }
    }
}

fn is_about(event: &Event, lease: LeaseId) -> bool {
    event.body.lease() == Some(lease)
}

/// Whether it is the lease that was asked for, on whatever it still is.
fn is_same(lease: &Lease, negotiation: &Negotiation) -> bool {
    lease.id == negotiation.lease && lease.fence == negotiation.fence && lease.holder == negotiation.holder
}
