//! What time and other people's acts do to negotiations: a deadline passes, a lease ends, a place in the queue is given up.

use super::super::draft::Draft;
use super::super::identity::Identified;
use super::super::plan::Step;
use super::answer::{end, tell_requester};
use crate::command::{Attend, Command};
use crate::event::{Actor, Body, Event};
use crate::facts::FactQuery;
use crate::ids::{AgentId, Entropy, LeaseId, NegotiationId, WaitId};
use crate::lease::{End, Lease};
use crate::limits::WAIT_MS_MAX;
use crate::negotiation::{Negotiation, NegotiationEnd, NegotiationState, Settled};
use crate::slice::{Answer, Note};
use crate::target::Target;
use crate::time::rounded;
use crate::wait::{Wait, WaitEnd};
use std::collections::BTreeSet;

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
            if self.end_of_place(&negotiation) == Some(WaitEnd::TimedOut) {
                tell_requester(self, &negotiation, Answer::Outlasted);
            }
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
                    false => Fate { reason: self.handed_on(negotiation), ..Fate::LAPSED },
                },
            ));
        }
        let waits = self.queue.iter().any(|view| view.wait.id == negotiation.wait);
        (!waits).then(|| match self.end_of_place(negotiation) {
            Some(WaitEnd::Cancelled) => Fate::of_itself(NegotiationEnd::Withdrawn, 0),
            Some(WaitEnd::Gone) => {
                let gone = format!("{} is gone", self.name_of(negotiation.requester));
                Fate { reason: Some(gone), ..Fate::LAPSED }
            }
            Some(WaitEnd::TimedOut) => {
                let over = format!("a place is kept for {}", rounded(WAIT_MS_MAX));
                Fate { reason: Some(over), ..Fate::LAPSED }
            }
            _ => Fate::LAPSED,
        })
    }

    /// To whom the holder gave what was asked for, in words.
    fn handed_on(&self, negotiation: &Negotiation) -> Option<String> {
        let lease = self.leases_now().find(|lease| lease.id == negotiation.lease)?;
        let (from, to) = (self.name_of(negotiation.holder), self.name_of(lease.holder));
        (lease.holder != negotiation.holder).then(|| format!("{from} handed it to {to}"))
    }

    /// A request follows what it asks for: whoever was handed it is asked, and the requester is told so.
    pub(in super::super) fn follow_what_was_handed(&mut self, entropy: &mut Entropy<'_>) {
        for old in self.asked_of_who_handed_it() {
            let lease = self.leases_now().find(|lease| lease.id == old.lease).cloned();
            let Some(lease) = lease.filter(|lease| self.can_block(lease.holder, old.requester)) else {
                continue;
            };
            let now = self.now;
            let asked = Negotiation {
                id: NegotiationId::draw(entropy),
                holder: lease.holder,
                fence: lease.fence,
                state: NegotiationState::Requested,
                deadline: now.mono.plus_ms(old.urgency.window_ms()),
                overdue: false,
                since: now.mono,
                created_at: now.wall,
                ..old.clone()
            };
            let id = asked.id;
            self.push_negotiation(Actor::KERNEL, Body::NegotiationAsked(asked));
            self.forget_note(lease.holder, &Note::WaitedFor(old.wait));
            self.note(lease.holder, Note::Asked(id));
            let to = self.name_of(lease.holder);
            tell_requester(self, &old, Answer::HandedTo(to));
        }
    }

    /// Requests that ended in this decision because their lease went to somebody else, and whose requesters wait on.
    fn asked_of_who_handed_it(&self) -> Vec<Negotiation> {
        let handed = |over: &&Negotiation| {
            let is_it = |body: &Body| matches!(body, Body::LeaseTransferred { lease, from, .. } if *lease == over.lease && *from == over.holder);
            let is_end = |body: &Body| matches!(body, Body::NegotiationEnded { negotiation, how: NegotiationEnd::Lapsed, .. } if *negotiation == over.id);
            let has =
                |is_meant: &dyn Fn(&Body) -> bool| self.events().iter().any(|event| is_meant(&event.body));
            has(&is_it) && has(&is_end) && self.queue.iter().any(|view| view.wait.id == over.wait)
        };
        self.negotiations.iter().filter(handed).cloned().collect()
    }

    /// Whether something was taken from somebody by force in this decision.
    pub(in super::super) fn is_forced_from(&self, from: AgentId, what: &Target) -> bool {
        self.events().iter().any(|event| {
            matches!(&event.body, Body::NegotiationForced { holder, target, .. } if *holder == from && target.overlaps(what))
        })
    }

    /// The processes of those whom the caller is about to hear of, or to answer: whoever is proven gone asks for nothing
    /// any more.
    pub(in super::super) fn unseen_askers(
        &self,
        command: &Command,
        identified: &Identified,
    ) -> BTreeSet<FactQuery> {
        let Some(me) = identified.known.as_ref().map(|view| view.agent.id) else { return BTreeSet::new() };
        let place = |id: &NegotiationId| {
            self.negotiation(*id).filter(|asked| asked.is_open()).map(|asked| asked.wait)
        };
        let told_of = |note: &Note| match note {
            Note::Asked(id) | Note::Overdue(id) => place(id),
            Note::WaitedFor(wait) => Some(*wait),
            _ => None,
        };
        let notes = self.memo_of(me).map(|memo| memo.notes.as_slice()).unwrap_or_default();
        let mut places: Vec<WaitId> = notes.iter().filter_map(told_of).collect();
        if let Command::Answer(answer) = command {
            places.extend(place(&answer.negotiation));
        }
        let reminds = matches!(command, Command::Attend(Attend::Rest)) && self.hears;
        let is_in_way = |wait: &Wait| {
            let mut mine = self.leases_now().filter(|lease| lease.holder == me);
            reminds && mine.any(|lease| wait.wanted.conflicts_with_lease(lease))
        };
        self.evidence_of(|wait| places.contains(&wait.id) || is_in_way(wait))
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

    /// How the place of a request ended, if it did in this decision.
    fn end_of_place(&self, negotiation: &Negotiation) -> Option<WaitEnd> {
        self.events().iter().find_map(|event| match &event.body {
            Body::WaitEnded { wait, cause, .. } if *wait == negotiation.wait => Some(*cause),
            _ => None,
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
    const LAPSED: Self = Self { how: NegotiationEnd::Lapsed, released: 0, reason: None, by: Actor::KERNEL };

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
