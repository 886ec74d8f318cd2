//! Taking what was asked for and not let go. It needs a holder that is gone, or one that let the deadline pass, gave no
//! sign of life for twice as long as an answer may take, and did not say that it takes longer.

use super::super::draft::Draft;
use super::super::identity::Identified;
use super::super::kept;
use super::super::{Step, Success};
use super::answer::{is_split, told};
use super::{of_party, over};
use crate::agent::Liveness;
use crate::command::Force;
use crate::event::{Actor, Body};
use crate::facts::FactQuery;
use crate::failure::{Details, Failure, Retry};
use crate::hint::Hint;
use crate::ids::{AgentId, Entropy};
use crate::lease::Lease;
use crate::limits::{FORCE_SILENCE_WINDOWS, FORCES_MAX, FORCES_MS};
use crate::negotiation::{Negotiated, Negotiation, NegotiationEnd, Status};
use crate::slice::Note;
use crate::slug::Slug;
use crate::snapshot::SnapshotCause;
use crate::time::{Mono, rounded};
use std::collections::BTreeSet;

/// Takes it, once. Whoever forces again is told what came of the first time, and of what was let go meanwhile that nothing
/// had to be taken.
pub(in super::super) fn force(
    draft: &mut Draft<'_>,
    force: &Force,
    identified: &Identified,
    entropy: &mut Entropy<'_>,
) -> Step {
    let actor = draft.act_as(identified);
    let by_operator = draft.operator_reason.is_some();
    let side = |asked: &Negotiation| asked.requester;
    let negotiation = match draft.negotiation(force.negotiation).cloned().filter(|_| by_operator) {
        Some(negotiation) => negotiation,
        None => match of_party(draft, force.negotiation, actor, side) {
            Ok(negotiation) => negotiation,
            Err(failure) => return Ok(Err(failure)),
        },
    };
    if let Some(settled) = negotiation.settled() {
        return Ok(again(draft, &negotiation, settled.how));
    }
    let Some(lease) = draft.pinned(&negotiation).cloned() else {
        return Ok(again(draft, &negotiation, NegotiationEnd::Lapsed));
    };
    let unknown = evidence(draft, &lease);
    if !unknown.is_empty() {
        return Err(unknown);
    }
    if let Err(failure) = may_force(draft, &negotiation, &lease, actor) {
        return Ok(Err(failure));
    }
    let taken = taken_part(&lease, &negotiation);
    let unkept = draft.unkept(std::iter::once(&taken), SnapshotCause::TakeOver);
    if !unkept.is_empty() {
        return Err(unkept);
    }
    let why = draft.why_unkept(&taken).filter(|_| !force.without_snapshot).map(str::to_owned);
    if let Some(why) = why {
        return Ok(Err(not_kept(draft, &negotiation, &why)));
    }
    let actor = draft.sign(identified, entropy);
    Ok(Ok(take(draft, actor, &negotiation, &lease, &taken, &force.reason)))
}

/// Nobody's work is taken unkept, but where a person says so.
fn not_kept(draft: &Draft<'_>, negotiation: &Negotiation, why: &str) -> Failure {
    let (holder, id) = (draft.name_of(negotiation.holder), negotiation.id);
    let what = negotiation.target.display();
    let message = format!("what {holder} has not committed of {what} could not be kept first: {why}");
    Failure::new(Slug::GitFailed, message)
        .hint("nothing is taken; try again when git answers, and see whether it does: clearway snapshot")
        .hint(Hint::for_operator(&format!(
            "a person may take it without: clearway force {id} --reason TEXT --without-snapshot"
        )))
}

/// What is said of a request that is over already. Nothing is written.
fn again(draft: &Draft<'_>, negotiation: &Negotiation, how: NegotiationEnd) -> Result<Success, Failure> {
    let is_split = |lease: &Lease| is_split(lease, &negotiation.target);
    let by_itself = negotiation.settled().is_some_and(|settled| settled.released > 0);
    let outcome = match how {
        NegotiationEnd::Forced if !by_itself => {
            Negotiated { status: Status::AlreadyReleased, ..Negotiated::default() }
        }
        NegotiationEnd::Forced if draft.slice.lease(negotiation.lease).is_some_and(is_split) => {
            let split = vec![negotiation.target.display()];
            Negotiated { status: Status::Forced, split, ..Negotiated::default() }
        }
        NegotiationEnd::Forced => {
            Negotiated { status: Status::Forced, released: vec![negotiation.lease], ..Negotiated::default() }
        }
        NegotiationEnd::Released | NegotiationEnd::Lapsed if draft.pinned(negotiation).is_none() => {
            Negotiated { status: Status::AlreadyReleased, ..Negotiated::default() }
        }
        _ => return Err(over(draft, negotiation)),
    };
    Ok(told(draft, negotiation.id, outcome))
}

/// What has to be known of the processes behind a lease.
fn evidence(draft: &Draft<'_>, lease: &Lease) -> BTreeSet<FactQuery> {
    let holder = draft.slice.agent(lease.holder).and_then(|view| view.agent.process.clone());
    let unknown = holder.filter(|process| draft.facts.process(process).is_none()).map(FactQuery::Process);
    let mut evidence = draft.evidence_of_leases([lease]);
    evidence.extend(unknown);
    evidence
}

fn may_force(
    draft: &mut Draft<'_>,
    negotiation: &Negotiation,
    lease: &Lease,
    actor: Actor,
) -> Result<(), Failure> {
    kept::refuse(draft, actor, lease)?;
    let is_gone =
        draft.slice.agent(lease.holder).is_some_and(|view| draft.view().liveness(view) == Liveness::Gone);
    if !is_gone && let Some((why, said, left_ms)) = too_early(draft, negotiation, lease) {
        let fields = vec![("why", why.to_owned().into()), ("left_ms", left_ms.into())];
        let failure = Failure::new(Slug::ForceTooEarly, said)
            .hint("your place in the queue is kept; work on something else meanwhile")
            .retry(Retry::AfterMs(left_ms.max(1)))
            .details(Details::Fields(fields));
        return Err(draft.denied(actor, negotiation.id.to_string(), failure));
    }
    within_rate(draft, actor, negotiation)
}

/// Why it may not be taken yet, in a word and in words, and for how long still.
fn too_early(
    draft: &Draft<'_>,
    negotiation: &Negotiation,
    lease: &Lease,
) -> Option<(&'static str, String, u64)> {
    let (now, holder) = (draft.now.mono, draft.name_of(negotiation.holder));
    let what = negotiation.target.display();
    if let Some(until) = negotiation.later().filter(|until| now < *until) {
        let left_ms = until.since(now);
        let said = format!("{holder} said that it needs {what} for another {}", rounded(left_ms));
        return Some(("later", said, left_ms));
    }
    if now < negotiation.deadline {
        let left_ms = negotiation.deadline.since(now);
        let said = format!("{holder} has another {} to answer for {what}", rounded(left_ms));
        return Some(("deadline", said, left_ms));
    }
    let silence_ms = now.since(last_seen(draft, lease));
    let needed_ms = FORCE_SILENCE_WINDOWS * negotiation.urgency.window_ms();
    (silence_ms <= needed_ms).then(|| {
        let left_ms = needed_ms - silence_ms + 1;
        let seen = crate::time::elapsed(silence_ms);
        let said = format!(
            "{holder} gave a sign of life {seen} ago; what it holds can be taken after {} of silence",
            rounded(needed_ms)
        );
        ("active", said, left_ms)
    })
}

/// When anybody of the holder's family was last heard of.
fn last_seen(draft: &Draft<'_>, lease: &Lease) -> Mono {
    let root = draft.root_of(lease.holder);
    let family = draft.slice.agents.iter().filter(|view| view.agent.root == root);
    let seen = family.filter_map(|view| draft.view().last_seen(view.agent.id));
    seen.chain([lease.granted]).max().unwrap_or(lease.granted)
}

fn within_rate(draft: &mut Draft<'_>, actor: Actor, negotiation: &Negotiation) -> Result<(), Failure> {
    let (now, by) = (draft.now.mono, actor.agent.unwrap_or(negotiation.requester));
    let recent = |at: &&Mono| now.since(**at) < FORCES_MS;
    let lately = draft.memo_of(by).map_or(0, |memo| memo.forced.iter().filter(recent).count());
    if lately < FORCES_MAX {
        return Ok(());
    }
    let message = format!("leases taken by force in an hour: at most {FORCES_MAX}");
    let failure = Failure::new(Slug::QuotaExceeded, message)
        .hint("wait for your turn: clearway waits")
        .hint("a person may stop whoever is in the way: clearway halt AGENT --reason TEXT");
    Err(draft.denied(actor, negotiation.id.to_string(), failure))
}

/// The lease as far as it is taken: that one path of it, or all of it.
fn taken_part(lease: &Lease, negotiation: &Negotiation) -> Lease {
    match is_split(lease, &negotiation.target) {
        true => Lease { target: negotiation.target.clone(), ..lease.clone() },
        false => lease.clone(),
    }
}

fn take(
    draft: &mut Draft<'_>,
    actor: Actor,
    negotiation: &Negotiation,
    lease: &Lease,
    taken: &Lease,
    reason: &str,
) -> Success {
    let (to, holder, target) = (negotiation.requester, lease.holder, taken.target.clone());
    let (kept, said) = draft.record_kept(actor, taken).unzip();
    let unkept = draft.told_unkept(taken);
    draft.notices.extend(said.or(unkept));
    let mut outcome = Negotiated { status: Status::Forced, ..Negotiated::default() };
    if taken.target == lease.target {
        draft.end_lease(lease.id);
        draft.push(actor, Body::LeaseTakenOver { lease: lease.id, holder, to });
        outcome.released.push(lease.id);
    } else {
        let mut rest = lease.clone();
        rest.ceded.push(target.clone());
        draft.push(actor, Body::LeaseSplit { lease: lease.id, holder, path: target.clone(), to });
        draft.replace(rest);
        outcome.split.push(target.display());
    }
    let last_seen = draft.view().last_seen(holder);
    let forced = Body::NegotiationForced {
        negotiation: negotiation.id,
        lease: lease.id,
        holder,
        target: target.clone(),
        reason: reason.to_owned(),
        last_seen,
    };
    draft.push_negotiation(actor, forced);
    note_force(
        draft,
        actor,
        negotiation,
        Note::Forced {
            target: target.display(),
            by: draft.name_of(actor.agent.unwrap_or(to)),
            to: draft.name_of(to),
            reason: reason.to_owned(),
            kept,
        },
    );
    // Whoever forces for itself reads it in the answer, but not that it was granted.
    if actor.agent != Some(to) || negotiation.then_reserve {
        let from = draft.name_of(holder);
        draft.note(to, Note::Taken { target: negotiation.target.display(), from, kept });
    }
    told(draft, negotiation.id, outcome)
}

/// The holder hears of it, and whoever took it has done so once more.
fn note_force(draft: &mut Draft<'_>, actor: Actor, negotiation: &Negotiation, note: Note) {
    let (now, by): (Mono, AgentId) = (draft.now.mono, actor.agent.unwrap_or(negotiation.requester));
    draft.forget_note(negotiation.holder, &Note::Asked(negotiation.id));
    draft.forget_note(negotiation.holder, &Note::Overdue(negotiation.id));
    draft.note(negotiation.holder, note);
    let forced = &mut draft.memo(by).forced;
    forced.retain(|at| now.since(*at) < FORCES_MS);
    forced.push(now);
    draft.promise(negotiation.id);
}
