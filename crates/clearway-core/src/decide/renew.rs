//! Extending leases, and the rule of who may act on a lease at all.

use super::draft::Draft;
use super::identity::Identified;
use super::kept;
use super::release::{Chosen, by_target, refuse_part, refuse_unheld};
use super::replay::lapsed;
use super::{Notice, Step, Success};
use crate::agent::{AgentName, Liveness};
use crate::command::{LeaseRef, Renew, Selection, Verb};
use crate::event::{Actor, Body};
use crate::failure::{Details, Failure, LeaseView};
use crate::hint::Hint;
use crate::ids::{AgentId, Entropy, LeaseId};
use crate::lease::{End, Lease, Terms};
use crate::slug::Slug;
use crate::target::Target;

/// Extends the named leases, all or none.
pub(super) fn renew(
    draft: &mut Draft<'_>,
    renew: &Renew,
    identified: &Identified,
    entropy: &mut Entropy<'_>,
) -> Step {
    let actor = draft.act_as(identified);
    let unknown = kept::evidence(draft, &renew.selection, actor);
    if !unknown.is_empty() {
        return Err(unknown);
    }
    let leases = match chosen(draft, &renew.selection, actor) {
        Ok(leases) => leases,
        Err(failure) => return Ok(Err(failure)),
    };
    let actor = if leases.is_empty() { actor } else { draft.sign(identified, entropy) };
    let renewed = leases.into_iter().map(|lease| extend(draft, actor, renew, lease)).collect();
    Ok(Ok(Success::Renewed(renewed)))
}

/// The live leases meant. One that ended is no error in a selection of everything, but it is when it was named.
fn chosen(draft: &mut Draft<'_>, selection: &Selection, actor: Actor) -> Result<Vec<Lease>, Failure> {
    match selection {
        Selection::All => {
            draft.notices.extend(run_out(draft, actor.agent));
            Ok(held_by(draft, actor.agent))
        }
        Selection::These { leases, targets, worktree } => {
            let mut chosen = Chosen { live: named(draft, leases, actor)?, ..Chosen::default() };
            let mine = held_by(draft, actor.agent);
            by_target(draft, targets, worktree, mine, &mut chosen);
            refuse_unheld(draft)?;
            refuse_part(selection, &chosen, draft.verb.word())?;
            Ok(chosen.live)
        }
    }
}

/// What the caller may believe to hold still: this very decision found it to be over.
fn run_out(draft: &Draft<'_>, agent: Option<AgentId>) -> Vec<Notice> {
    let expired = draft.expired.iter().filter_map(|id| draft.slice.lease(*id));
    let own = expired.filter(|lease| Some(lease.holder) == agent);
    own.filter_map(|lease| lapsed(&draft.view(), draft.slice, lease)).collect()
}

fn named(draft: &mut Draft<'_>, refs: &[LeaseRef], actor: Actor) -> Result<Vec<Lease>, Failure> {
    let mut leases: Vec<Lease> = Vec::new();
    for wanted in refs {
        let lease = find(draft, wanted.id)?;
        is_current(draft, wanted, &lease)?;
        refuse_ended(draft, &lease)?;
        may_act(draft, actor, &lease)?;
        if !leases.iter().any(|earlier| earlier.id == lease.id) {
            leases.push(lease);
        }
    }
    Ok(leases)
}

fn extend(draft: &mut Draft<'_>, actor: Actor, renew: &Renew, mut lease: Lease) -> LeaseView {
    let view = draft.view();
    let ttl_ms = renew.ttl_ms.unwrap_or(lease.ttl_ms);
    // A sign of life may have carried the lease further than its row says; a renewal never shortens it.
    let deadline = lease.deadline_given(view.last_seen(lease.holder)).max(draft.now.mono.plus_ms(ttl_ms));
    let reason = renew.reason.clone().or_else(|| lease.reason.clone());
    let operator_reason = draft.operator_reason_for(actor, &lease);
    lease.set_terms(Terms { ttl_ms, deadline, reason, ..lease.terms() });
    draft.push(actor, Body::LeaseRenewed { lease: lease.id, terms: lease.terms(), operator_reason });
    let (agent, liveness) = shown_holder(draft, actor, &lease);
    LeaseView { deadline: lease.deadline_given(None), lease, agent, liveness, waiters: 0 }
}

/// Renewing is a sign of life of whoever does it, which for an operator says nothing about the holder.
fn shown_holder(draft: &Draft<'_>, actor: Actor, lease: &Lease) -> (AgentName, Liveness) {
    let view = draft.view();
    match view.holder(lease) {
        Some(holder) if actor.agent == Some(lease.holder) => (holder.agent.name.clone(), Liveness::Active),
        Some(holder) => (holder.agent.name.clone(), view.liveness(holder)),
        None => (AgentName::made("unknown".to_owned()), Liveness::Idle),
    }
}

/// Every live lease of an agent, as this decision leaves it.
pub(super) fn held_by(draft: &Draft<'_>, agent: Option<AgentId>) -> Vec<Lease> {
    draft.leases_now().filter(|lease| Some(lease.holder) == agent).cloned().collect()
}

/// The lease with this id, live or ended.
pub(super) fn find(draft: &Draft<'_>, id: LeaseId) -> Result<Lease, Failure> {
    if draft.slice.unreadable.iter().any(|row| row == id.as_str()) {
        let message = format!("the stored row of lease {id} cannot be read");
        return Err(Failure::new(Slug::UnreadableRow, message)
            .hint("rebuild it from the log: clearway doctor --repair"));
    }
    draft.slice.lease(id).cloned().ok_or_else(|| {
        Failure::new(Slug::NotFound, format!("no lease has the id {id}"))
            .hint("list the leases: clearway leases")
    })
}

/// Only the holder, the root of its family, or an operator may act on a lease. The attempt is recorded.
pub(super) fn may_act(draft: &mut Draft<'_>, actor: Actor, lease: &Lease) -> Result<(), Failure> {
    let holder = draft.view().holder(lease);
    let root = holder.map(|view| view.agent.root);
    let allowed = actor.agent.is_some() && (actor.agent == Some(lease.holder) || actor.agent == root);
    if allowed || draft.operator_reason.is_some() {
        return Ok(());
    }
    let name = holder.map_or_else(|| lease.holder.to_string(), |view| view.agent.name.to_string());
    draft.record_denial(actor, lease.id.to_string(), Slug::NotHolder);
    let verb = draft.verb;
    let to = if verb == Verb::Transfer { " --to NAME" } else { "" };
    let message = format!("lease {} on {} is held by {name}, not by you", lease.id, lease.target.display());
    let how = format!("clearway {verb} {}{to} --reason TEXT", lease.id);
    let hint = match lease.bound.is_some() {
        true => Hint::from("it is given back when the command that keeps it ends"),
        false => Hint::for_operator(&format!("an operator at a terminal may {verb} it: {how}")),
    };
    Err(Failure::new(Slug::NotHolder, message)
        .hint(hint)
        .details(Details::Fields(vec![("lease", lease.id.to_string().into()), ("agent", name.into())])))
}

/// A fence, once presented, has to be the lease's own.
pub(super) fn is_current(draft: &Draft<'_>, wanted: &LeaseRef, lease: &Lease) -> Result<(), Failure> {
    match wanted.fence {
        Some(fence) if fence != lease.fence => {
            let message = format!("lease {} has fence {}, not {fence}", lease.id, lease.fence);
            Err(stale(draft, Slug::StaleFence, message, lease))
        }
        _ => Ok(()),
    }
}

/// Whether nobody ended the lease, before this decision or in it.
pub(super) fn is_live(draft: &Draft<'_>, lease: &Lease) -> bool {
    lease.ended.is_none() && !draft.ended.contains(&lease.id)
}

/// What is over is nobody's, whoever names it.
pub(super) fn refuse_ended(draft: &Draft<'_>, lease: &Lease) -> Result<(), Failure> {
    if is_live(draft, lease) {
        return Ok(());
    }
    let how = lease.ended.map_or("has expired", |ended| match ended.how {
        End::Released => "was released",
        End::Expired(_) => "has expired",
        End::Yielded => "made room for another agent",
        End::TakenOver => "was taken over",
        End::Orphaned => "was left behind when its session ended",
    });
    let message = format!("lease {} on {} {how}", lease.id, lease.target.display());
    Err(stale(draft, Slug::LeaseExpired, message, lease))
}

/// A stale answer says who holds the thing now.
fn stale(draft: &Draft<'_>, slug: Slug, message: String, lease: &Lease) -> Failure {
    let view = draft.view();
    let same =
        |other: &&Lease| other.id != lease.id && other.worktree == lease.worktree && other.overlaps(lease);
    let held_now: Vec<LeaseView> =
        view.live_except(&draft.ended).filter(same).filter_map(|other| draft.show(other)).collect();
    let own = Some(lease).filter(|lease| is_live(draft, lease) && Some(lease.holder) != draft.me());
    let holder =
        held_now.first().map(|other| other.agent.clone()).or(own.map(|own| draft.name_of(own.holder)));
    let now = holder.map(|holder| format!("; {holder} holds it now")).unwrap_or_default();
    let target = lease.target.canonical();
    let failure = Failure::new(slug, format!("{message}{now}")).hint(match lease.target {
        Target::Path(_) => Hint::command("read the file again, then reserve anew", "reserve", &[target])
            .about(&lease.worktree),
        Target::Name(_) => Hint::about_name("reserve it anew", "reserve", target),
    });
    // This very decision may have found the end that the row does not state yet.
    let as_it_is = Lease { ended: view.ended(lease), ..lease.clone() };
    match draft.show(&as_it_is) {
        Some(shown) => failure.details(Details::Lease { lease: Box::new(shown), held_now }),
        None => failure,
    }
}
