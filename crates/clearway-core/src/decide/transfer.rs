//! Handing leases to another agent: same id, same silence, a new fence. Those who wait keep their places.

use super::cycle;
use super::draft::Draft;
use super::identity::Identified;
use super::kept;
use super::over::refuse_ended;
use super::quota::Held;
use super::selection::{Chosen, choose, refuse_part, refuse_unheld};
use super::{Step, Success};
use crate::agent::{AgentName, Client, Liveness};
use crate::command::{Selection, Transfer};
use crate::event::{Actor, Body};
use crate::facts::FactQuery;
use crate::failure::{Details, Failure, LeaseView};
use crate::ids::{Entropy, LeaseId};
use crate::lease::Lease;
use crate::slice::{AgentView, Freeze};
use crate::slug::Slug;
use crate::target::Target;
use std::collections::BTreeSet;

/// Hands over what is named, all or none.
pub(super) fn transfer(
    draft: &mut Draft<'_>,
    transfer: &Transfer,
    identified: &Identified,
    entropy: &mut Entropy<'_>,
) -> Step {
    let actor = draft.act_as(identified);
    let to = match recipient(draft, &transfer.to)? {
        Ok(to) => to,
        Err(failure) => return Ok(Err(failure)),
    };
    let unknown = kept::evidence(draft, &transfer.selection, actor);
    if !unknown.is_empty() {
        return Err(unknown);
    }
    let chosen = match chosen(draft, &transfer.selection, actor, &to) {
        Ok(chosen) => chosen,
        Err(failure) => return Ok(Err(failure)),
    };
    if let Some(freeze) = stopped_by(draft, &chosen, &to) {
        return Ok(Err(draft.denied(actor, subject(&chosen), freeze.failure_of_transfer(draft.now))));
    }
    if let Err(failure) = stands_alone(draft, &chosen, &to) {
        return Ok(Err(draft.denied(actor, subject(&chosen), failure)));
    }
    let actor = if chosen.is_empty() { actor } else { draft.sign(identified, entropy) };
    Ok(match hand_all(draft, &chosen, actor, &to)? {
        Ok(leases) => Ok(Success::Transferred(leases)),
        Err(failure) => Err(draft.denied(actor, subject(&chosen), failure)),
    })
}

/// Hands everything over, unless the recipient would hold too much or somebody would wait for ever: either shows once
/// everything has changed hands.
fn hand_all(
    draft: &mut Draft<'_>,
    chosen: &[Lease],
    actor: Actor,
    to: &AgentView,
) -> Result<Result<Vec<LeaseView>, Failure>, BTreeSet<FactQuery>> {
    let (id, name) = (to.agent.id, &to.agent.name);
    let mut trial = draft.clone();
    let leases = chosen.iter().map(|lease| hand_over(&mut trial, actor, lease, to)).collect();
    if let Err(failure) = Held::by(draft, id).may_become(Held::by(&trial, id)) {
        let failure = failure.hint(format!("hand {name} fewer: clearway transfer --to {name} ID…"));
        return Ok(Err(failure.details(Details::field("agent", name.to_string()))));
    }
    trial.record_fulfilled(id, actor, None);
    if let Some(circle) = cycle::closed_between(draft, &trial, id)? {
        return Ok(Err(circle.failure_of_transfer()));
    }
    *draft = trial;
    Ok(Ok(leases))
}

/// The pause that keeps an agent from getting paths, whoever gives them. A person may hand over what it wants.
fn stopped_by(draft: &Draft<'_>, chosen: &[Lease], to: &AgentView) -> Option<Freeze> {
    let is_path = |lease: &Lease| matches!(lease.target, Target::Path(_));
    let is_stopped = to.agent.client != Client::Terminal && draft.operator_reason.is_none();
    draft.frozen.clone().filter(|_| is_stopped && chosen.iter().any(is_path))
}

fn subject(chosen: &[Lease]) -> String {
    chosen.iter().map(|lease| lease.id.as_str()).collect::<Vec<_>>().join(" ")
}

/// Who gets them: an agent of this scope that is not known to be gone.
fn recipient(draft: &Draft<'_>, name: &AgentName) -> Result<Result<AgentView, Failure>, BTreeSet<FactQuery>> {
    let Some(view) = draft.slice.agent_meant(name) else {
        return Ok(Err(Failure::new(Slug::NotFound, format!("nobody here is called {name}"))
            .hint(crate::hint::AGENTS)
            .hint("an agent is known from its first reservation on")));
    };
    if let Some(process) =
        view.agent.process.as_ref().filter(|process| draft.facts.process(process).is_none())
    {
        return Err(BTreeSet::from([FactQuery::Process(process.clone())]));
    }
    let name = &view.agent.name;
    if let Some(reason) = &view.agent.halted {
        return Ok(Err(Failure::new(Slug::RecipientGone, format!("a person stopped {name}: {reason}"))
            .hint("hand it to somebody who is at work: clearway agents")
            .details(Details::field("agent", name.to_string()))));
    }
    Ok(if draft.view().liveness(view) == Liveness::Gone {
        Err(Failure::new(Slug::RecipientGone, format!("{name} is gone and can hold nothing"))
            .hint("hand it to somebody who is here: clearway agents")
            .details(Details::field("agent", name.to_string())))
    } else {
        Ok(view.clone())
    })
}

/// The live leases meant. One that ended is no error in a selection of everything, but it is when it was named.
fn chosen(
    draft: &mut Draft<'_>,
    selection: &Selection,
    actor: Actor,
    to: &AgentView,
) -> Result<Vec<Lease>, Failure> {
    let chosen = choose(draft, selection, actor)?;
    refuse_unheld(&chosen)?;
    refuse_part(selection, &chosen, &format!("{} --to {}", draft.verb, to.agent.name))?;
    let Chosen { live, already, .. } = chosen;
    if let Some(lease) = already.first().and_then(|id| draft.slice.lease(*id)) {
        refuse_ended(draft, lease)?;
    }
    if let Some(lease) = live.iter().find(|lease| lease.holder == to.agent.id) {
        let message = format!("lease {} is {}'s already", lease.id, to.agent.name);
        return Err(Failure::new(Slug::Usage, message).hint("name somebody else with --to"));
    }
    Ok(live)
}

/// What was within one family, or one agent, cannot be torn apart: the recipient would hold it beside a stranger.
fn stands_alone(draft: &Draft<'_>, chosen: &[Lease], to: &AgentView) -> Result<(), Failure> {
    let moving: BTreeSet<LeaseId> = chosen.iter().map(|lease| lease.id).collect();
    let staying: Vec<&Lease> = draft.leases_now().filter(|lease| !moving.contains(&lease.id)).collect();
    let tears = |lease: &Lease, other: &Lease| {
        let units = lease.holder == other.holder && are_two_units(lease, other);
        draft.root_of(other.holder) == draft.root_of(lease.holder)
            && other.worktree == lease.worktree
            && other.mode.conflicts_with(lease.mode)
            && other.overlaps(lease)
            && draft.can_block(other.holder, to.agent.id)
            && !units
    };
    let torn = chosen.iter().find_map(|lease| {
        let other = staying.iter().find(|other| tears(lease, other))?;
        Some((lease, *other))
    });
    let Some((lease, other)) = torn else { return Ok(()) };
    let message = format!(
        "lease {} on {} cannot be handed over alone: lease {} on {} is held within it",
        lease.id,
        draft.placed(lease),
        other.id,
        draft.placed(other)
    );
    let way_out = match &other.bound {
        Some(process) => format!("wait for the command that runs within it, process {}", process.pid),
        None => "hand over both, or give back the other first: clearway leases".to_owned(),
    };
    Err(Failure::new(Slug::ReservationHeld, message).hint(way_out).details(Details::Blockers {
        leases: draft.show(other).into_iter().collect(),
        ahead: Box::default(),
    }))
}

/// Whether two leases of one holder are on different units of a resource with several.
fn are_two_units(one: &Lease, other: &Lease) -> bool {
    matches!(one.target, Target::Name(_))
        && one.slot.is_some()
        && other.slot.is_some()
        && one.slot != other.slot
}

/// Somebody who holds the very same thing already has one lease on it afterwards: the stronger one.
pub(super) fn hand_over(draft: &mut Draft<'_>, actor: Actor, lease: &Lease, to: &AgentView) -> LeaseView {
    let same = |other: &&Lease| {
        other.holder == to.agent.id
            && other.target == lease.target
            && other.worktree == lease.worktree
            && other.bound.is_none()
    };
    let own = draft.leases_now().find(same).cloned();
    match own {
        Some(own) if own.mode >= lease.mode => {
            draft.give_back(actor, lease);
            LeaseView::new(&own, to, Liveness::Active)
        }
        weaker => {
            if let Some(own) = &weaker {
                draft.give_back(actor, own);
            }
            hand(draft, actor, lease, to)
        }
    }
}

fn hand(draft: &mut Draft<'_>, actor: Actor, lease: &Lease, to: &AgentView) -> LeaseView {
    let deadline = draft.now.mono.plus_ms(lease.ttl_ms);
    let moved = Lease {
        holder: to.agent.id,
        fence: draft.next_fence(),
        handed_by: Some(lease.holder),
        deadline,
        ..lease.clone()
    };
    let body = Body::LeaseTransferred {
        lease: lease.id,
        from: lease.holder,
        to: to.agent.id,
        deadline,
        operator_reason: draft.operator_reason_for(actor, lease),
    };
    draft.push(actor, body);
    draft.replace(moved.clone());
    draft.hand_on_overwritten(lease, to.agent.id);
    LeaseView::new(&moved, to, draft.view().liveness(to))
}
