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
            let Some((how, released)) = self.outcome_of(&negotiation) else { continue };
            end(self, Actor::KERNEL, negotiation.id, how, released, None);
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
    fn outcome_of(&self, negotiation: &Negotiation) -> Option<(NegotiationEnd, u64)> {
        if self.pinned(negotiation).is_none() {
            return Some(match self.is_let_go(negotiation) {
                true => (NegotiationEnd::Released, 1),
                false => (NegotiationEnd::Lapsed, 0),
            });
        }
        let waits = self.queue.iter().any(|view| view.wait.id == negotiation.wait);
        (!waits).then(|| match self.is_cancelled(negotiation) {
            true => (NegotiationEnd::Withdrawn, 0),
            false => (NegotiationEnd::Lapsed, 0),
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

fn is_about(event: &Event, lease: LeaseId) -> bool {
    event.body.lease() == Some(lease)
}

/// Whether it is the lease that was asked for, on whatever it still is.
fn is_same(lease: &Lease, negotiation: &Negotiation) -> bool {
    lease.id == negotiation.lease && lease.fence == negotiation.fence && lease.holder == negotiation.holder
}
