//! What a holder says to who asks, and a request that is taken back.

use super::super::draft::Draft;
use super::super::identity::Identified;
use super::super::kept;
use super::super::{Step, Success};
use super::{of_party, over};
use crate::command::{Answer, Says};
use crate::event::{Actor, Body};
use crate::failure::{Failure, LeaseView};
use crate::ids::{AgentId, Entropy, LeaseId, NegotiationId};
use crate::lease::Lease;
use crate::negotiation::{Negotiated, Negotiation, NegotiationEnd, NegotiationState, Status};
use crate::slice::{self, Note};
use crate::slug::Slug;
use crate::target::Target;
use crate::wait::{WaitEnd, WaitView};

/// Takes an answer of the holder. "Released" is nothing that can be said: it is what letting go comes to.
pub(in super::super) fn answer(
    draft: &mut Draft<'_>,
    answer: &Answer,
    identified: &Identified,
    entropy: &mut Entropy<'_>,
) -> Step {
    let actor = draft.act_as(identified);
    let negotiation = match of_party(draft, answer.negotiation, actor, |asked| asked.holder) {
        Ok(negotiation) => negotiation,
        Err(failure) => return Ok(Err(failure)),
    };
    if !negotiation.is_open() {
        return Ok(Err(over(draft, &negotiation)));
    }
    let held = draft.held_on(negotiation.holder, &negotiation);
    let unknown = draft.evidence_of_leases(&held);
    if !unknown.is_empty() {
        return Err(unknown);
    }
    let actor = draft.sign(identified, entropy);
    // Whoever answers has heard of it.
    for heard in [Note::Asked(negotiation.id), Note::Overdue(negotiation.id)] {
        draft.forget_note(negotiation.holder, &heard);
    }
    Ok(match &answer.says {
        Says::Release(parts) => release(draft, actor, &negotiation, parts, &held),
        Says::AfterCommit => after_commit(draft, actor, &negotiation),
        Says::Later { for_ms } => Ok(defer(draft, actor, &negotiation, Some(*for_ms))),
        Says::No(reason) => Ok(refuse(draft, actor, &negotiation, reason)),
    })
}

/// Lets go of what was asked for, whatever leases of the holder it is under: as a whole where that is all of a lease, or
/// of that path alone where the lease reaches further.
fn release(
    draft: &mut Draft<'_>,
    actor: Actor,
    negotiation: &Negotiation,
    parts: &[Target],
    held: &[Lease],
) -> Result<Success, Failure> {
    let asked = std::slice::from_ref(&negotiation.target);
    let parts = if parts.is_empty() { asked } else { parts };
    if let Some(part) = parts.iter().find(|part| !negotiation.target.overlaps(part)) {
        let message = format!("{} is no part of what was asked for", part.display());
        return Err(Failure::new(Slug::Usage, message)
            .hint(format!("let go of all of it: clearway answer {} release", negotiation.id)));
    }
    for lease in held {
        kept::refuse(draft, actor, lease)?;
    }
    let mut outcome = Negotiated::default();
    for part in parts {
        for lease in held.iter().filter(|lease| lease.is_on(part)) {
            let_go(draft, actor, lease.id, part, negotiation.requester, &mut outcome);
        }
    }
    let remaining = draft.held_on(negotiation.holder, negotiation);
    outcome.remaining = remaining.iter().filter_map(|lease| draft.show(lease)).collect();
    outcome.status = match draft.pinned(negotiation).is_none() {
        true => Status::Released,
        false => Status::PartlyReleased,
    };
    if outcome.status == Status::Released {
        let released = (outcome.released.len() + outcome.split.len()) as u64;
        end(draft, actor, negotiation.id, NegotiationEnd::Released, released, None);
    }
    Ok(told(draft, negotiation.id, outcome))
}

/// Ends a lease for somebody, or takes one path out of it.
pub(super) fn let_go(
    draft: &mut Draft<'_>,
    actor: Actor,
    id: LeaseId,
    part: &Target,
    to: AgentId,
    outcome: &mut Negotiated,
) {
    let Some(mut lease) = draft.leases_now().find(|lease| lease.id == id).cloned() else { return };
    if !is_split(&lease, part) {
        outcome.released.push(draft.give_back(actor, &lease));
        return;
    }
    lease.ceded.push(part.clone());
    let (holder, path) = (lease.holder, part.clone());
    draft.push(actor, Body::LeaseSplit { lease: id, holder, path, to });
    draft.replace(lease);
    outcome.split.push(part.display());
}

/// Whether letting go of a part leaves the rest where it is: a single path within a pattern does.
pub(super) fn is_split(lease: &Lease, part: &Target) -> bool {
    let is_literal = matches!(part, Target::Path(pattern) if pattern.as_literal().is_some());
    is_literal && lease.target != *part && lease.target.contains(part)
}

fn defer(draft: &mut Draft<'_>, actor: Actor, negotiation: &Negotiation, for_ms: Option<u64>) -> Success {
    let now = draft.now.mono;
    let until = for_ms.map(|ms| now.plus_ms(ms).max(negotiation.later().unwrap_or(now)));
    let said = until.map_or(NegotiationState::AfterCommit, NegotiationState::Later);
    let is_said = negotiation.state == said && !negotiation.overdue;
    if !is_said {
        let window = now.plus_ms(negotiation.urgency.window_ms());
        let deadline = negotiation.deadline.max(until.unwrap_or(window));
        draft.push_negotiation(
            actor,
            Body::NegotiationDeferred { negotiation: negotiation.id, until, deadline },
        );
        let answer = until.map_or(slice::Answer::AfterCommit, slice::Answer::Later);
        tell_requester(draft, negotiation, answer);
    }
    told(draft, negotiation.id, Negotiated { status: Status::Deferred, ..Negotiated::default() })
}

impl Draft<'_> {
    /// Forgets what the requester was to be told that its holder said.
    pub(super) fn forget_answer(&mut self, negotiation: &Negotiation) {
        let (target, holder) = (negotiation.target.display(), self.name_of(negotiation.holder));
        self.forget_note_if(negotiation.requester, |note| {
            matches!(note, Note::Answered { target: own, holder: by, .. } if *own == target && *by == holder)
        });
    }

    /// Requests for one of these leases that an own agent answered with its next commit.
    pub(in super::super) fn promised_to_commit(
        &self,
        leases: &[LeaseId],
        is_own: impl Fn(AgentId) -> bool,
    ) -> Vec<Negotiation> {
        let is_meant = |open: &&Negotiation| {
            open.state == NegotiationState::AfterCommit
                && leases.contains(&open.lease)
                && is_own(open.holder)
                && self.pinned(open).is_some_and(|lease| lease.bound.is_none() && !self.is_in_hand(lease))
        };
        self.open_negotiations().filter(is_meant).cloned().collect()
    }

    /// Lets go of what was promised, if all of it is committed: the leases that this ended.
    pub(in super::super) fn let_go_as_promised(&mut self, actor: Actor, open: &Negotiation) -> Vec<LeaseId> {
        let is_clean = |path: &str| self.facts.dirty(&open.worktree, path) == Some(false);
        if !open.target.literal().is_some_and(is_clean) || self.pinned(open).is_none() {
            return Vec::new();
        }
        let mut outcome = Negotiated::default();
        for lease in self.held_on(open.holder, open) {
            let_go(self, actor, lease.id, &open.target, open.requester, &mut outcome);
        }
        let released = (outcome.released.len() + outcome.split.len()) as u64;
        end(self, actor, open.id, NegotiationEnd::Released, released, None);
        outcome.released
    }
}

/// A commit tells only of a single file that all of it is committed.
fn after_commit(draft: &mut Draft<'_>, actor: Actor, negotiation: &Negotiation) -> Result<Success, Failure> {
    if negotiation.target.literal().is_some() {
        return Ok(defer(draft, actor, negotiation, None));
    }
    let message = format!("no commit ends {}: it is no single file", negotiation.target.display());
    Err(Failure::new(Slug::Usage, message)
        .hint(format!("say when: clearway answer {} later 10", negotiation.id)))
}

fn refuse(draft: &mut Draft<'_>, actor: Actor, negotiation: &Negotiation, reason: &str) -> Success {
    end(draft, actor, negotiation.id, NegotiationEnd::Refused, 0, Some(reason.to_owned()));
    tell_requester(draft, negotiation, slice::Answer::No(reason.to_owned()));
    told(draft, negotiation.id, Negotiated { status: Status::Refused, ..Negotiated::default() })
}

pub(super) fn tell_requester(draft: &mut Draft<'_>, negotiation: &Negotiation, answer: slice::Answer) {
    let (target, holder) = (negotiation.target.display(), draft.name_of(negotiation.holder));
    draft.forget_answer(negotiation);
    draft.note(negotiation.requester, Note::Answered { target, holder, answer });
}

/// Takes a request back, and with it the place that was kept for it.
pub(in super::super) fn withdraw(
    draft: &mut Draft<'_>,
    id: NegotiationId,
    identified: &Identified,
    entropy: &mut Entropy<'_>,
) -> Result<Success, Failure> {
    let actor = draft.act_as(identified);
    let negotiation = of_party(draft, id, actor, |asked| asked.requester)?;
    if let Some(settled) = negotiation.settled() {
        let status = settled.how.into();
        return Ok(told(draft, id, Negotiated { status, ..Negotiated::default() }));
    }
    let actor = draft.sign(identified, entropy);
    end(draft, actor, id, NegotiationEnd::Withdrawn, 0, None);
    draft.forget_note(negotiation.holder, &Note::Asked(id));
    let is_used = draft.open_negotiations().any(|open| open.wait == negotiation.wait);
    let is_it = |view: &&WaitView| view.wait.id == negotiation.wait && !is_used;
    if let Some(view) = draft.queue.iter().find(is_it).cloned() {
        draft.end_wait(actor, &view, WaitEnd::Cancelled);
    }
    Ok(told(draft, id, Negotiated { status: Status::Withdrawn, ..Negotiated::default() }))
}

pub(super) fn end(
    draft: &mut Draft<'_>,
    actor: Actor,
    negotiation: NegotiationId,
    how: NegotiationEnd,
    released: u64,
    reason: Option<String>,
) {
    draft.push_negotiation(actor, Body::NegotiationEnded { negotiation, how, released, reason });
    draft.promise(negotiation);
}

/// An answer with the negotiation as it is now, and what is still in the way.
pub(super) fn told(draft: &Draft<'_>, id: NegotiationId, outcome: Negotiated) -> Success {
    let negotiations: Vec<_> = draft.show_negotiation(id).into_iter().collect();
    let held = |view: &crate::negotiation::NegotiationView| {
        draft.held_on(view.negotiation.holder, &view.negotiation)
    };
    let remaining: Vec<LeaseView> =
        negotiations.iter().flat_map(held).filter_map(|lease| draft.show(&lease)).collect();
    Success::negotiated(Negotiated { negotiations, remaining, ..outcome })
}
