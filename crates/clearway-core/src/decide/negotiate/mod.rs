//! Negotiations: asking who holds something, what becomes of that, and what time does to it.
//!
//! Nothing here is taken by time alone. What was let go is told by leases: every decision ends by looking which requests
//! were fulfilled by what it did, whoever did it and why.

mod answer;
mod ask;
mod close;
mod force;
mod halt;

pub(super) use answer::{answer, withdraw};
pub(super) use ask::ask;
pub(super) use force::force;
pub(super) use halt::{go_on, halt, is_halted, tell_halted};

use super::authority::stands_for;
use super::draft::Draft;
use crate::event::{Actor, Body};
use crate::facts::{FactQuery, Facts};
use crate::failure::{Details, Failure};
use crate::ids::{AgentId, NegotiationId};
use crate::lease::Lease;
use crate::negotiation::{Negotiation, NegotiationView};
use crate::slice::Slice;
use crate::slug::Slug;
use crate::time::Now;
use std::collections::BTreeSet;

/// The open requests as they stand, whether or not anybody recorded what became of them: by the very rules that record it.
pub fn standing_negotiations(
    slice: &Slice,
    facts: &Facts,
    now: &Now,
) -> Result<Vec<NegotiationView>, BTreeSet<FactQuery>> {
    if !slice.scope.is_of(&now.boot) {
        return Ok(Vec::new());
    }
    let mut draft = Draft::of_nobody(slice, now, facts);
    let unknown = draft.evidence_of_waits();
    if !unknown.is_empty() {
        return Err(unknown);
    }
    draft.record_wait_ends()?;
    draft.record_overdue();
    let mut open: Vec<NegotiationView> =
        draft.open_negotiations().filter_map(|open| draft.show_negotiation(open.id)).collect();
    open.sort_by_key(|view| (view.negotiation.since, view.negotiation.id));
    Ok(open)
}

impl Draft<'_> {
    /// Records an event about a negotiation, in the log and as the rest of this decision sees it.
    fn push_negotiation(&mut self, actor: Actor, body: Body) {
        match &body {
            Body::NegotiationAsked(negotiation) => self.negotiations.push(negotiation.clone()),
            body => {
                let id = body.negotiation();
                let changed = self.negotiations.iter_mut().filter(|negotiation| Some(negotiation.id) == id);
                let at = self.now.wall;
                changed.for_each(|negotiation| crate::fold::change_negotiation(negotiation, at, body));
            }
        }
        self.push(actor, body);
    }

    fn negotiation(&self, id: NegotiationId) -> Option<&Negotiation> {
        self.negotiations.iter().find(|negotiation| negotiation.id == id)
    }

    fn open_negotiations(&self) -> impl Iterator<Item = &Negotiation> {
        self.negotiations.iter().filter(|negotiation| negotiation.is_open())
    }

    fn show_negotiation(&self, id: NegotiationId) -> Option<NegotiationView> {
        let negotiation = self.negotiation(id)?.clone();
        let (requester, holder) = (self.name_of(negotiation.requester), self.name_of(negotiation.holder));
        Some(NegotiationView { negotiation, requester, holder })
    }

    /// The lease that a negotiation is about, as long as it is that very one: still its holder's, under its fence, and on
    /// what was asked for.
    fn pinned(&self, negotiation: &Negotiation) -> Option<&Lease> {
        let Negotiation { lease, fence, holder, target, .. } = negotiation;
        let is_it = |own: &&Lease| own.id == *lease && own.fence == *fence && own.holder == *holder;
        self.leases_now().find(is_it).filter(|lease| lease.is_on(target))
    }

    /// Leases of an agent on something, in the checkout that is meant.
    fn held_on(&self, holder: AgentId, negotiation: &Negotiation) -> Vec<Lease> {
        let is_on = |lease: &&Lease| {
            lease.holder == holder && lease.is_in(&negotiation.worktree) && lease.is_on(&negotiation.target)
        };
        self.leases_now().filter(is_on).cloned().collect()
    }
}

/// The negotiation that is meant, if the actor is the side of it that may do this.
fn of_party(
    draft: &mut Draft<'_>,
    id: NegotiationId,
    actor: Actor,
    side: impl Fn(&Negotiation) -> AgentId,
) -> Result<Negotiation, Failure> {
    let Some(negotiation) = draft.negotiation(id).cloned() else {
        return Err(Failure::new(Slug::NotFound, format!("nobody asked for anything under {id}"))
            .hint("see who asks whom for what: clearway negotiations"));
    };
    if stands_for(draft, actor, side(&negotiation)) {
        return Ok(negotiation);
    }
    let (requester, holder) = (draft.name_of(negotiation.requester), draft.name_of(negotiation.holder));
    let message = format!("{id} is between {requester}, who asks, and {holder}, who holds it");
    let fields = vec![("requester", requester.to_string().into()), ("holder", holder.to_string().into())];
    let stands = |party| stands_for(draft, actor, party);
    let hint = if stands(negotiation.requester) {
        format!("take it back: clearway withdraw {id}")
    } else if stands(negotiation.holder) {
        format!("say what becomes of it: clearway answer {id} release")
    } else {
        "ask for it yourself: clearway ask PATH WHY".to_owned()
    };
    let failure = Failure::new(Slug::NotParty, message).hint(hint).details(Details::Fields(fields));
    Err(draft.denied(actor, id.to_string(), failure))
}

/// What is said to who comes too late.
fn over(draft: &Draft<'_>, negotiation: &Negotiation) -> Failure {
    let how = negotiation.word();
    let holder = draft.name_of(negotiation.holder);
    let what = negotiation.target.display();
    let reason = negotiation.settled().and_then(|settled| settled.reason.as_deref());
    let reason = reason.map(|reason| format!(": {reason}")).unwrap_or_default();
    Failure::new(Slug::AlreadyAnswered, format!("the request to {holder} for {what} is over, {how}{reason}"))
        .hint("see what is open: clearway negotiations")
        .details(Details::field("status", how.to_owned()))
}
