//! What is answered is what was asked for, what was written, and the caller's to do.

use super::{Checked, Invariant, Scene, hold};
use crate::ground;
use crate::ledger::Ledger;
use clearway_core::agent::Client;
use clearway_core::command::{Await, Command, Reserve, Stay, Transfer, Want};
use clearway_core::decide::Success;
use clearway_core::event::{Body, Event};
use clearway_core::failure::LeaseView;
use clearway_core::ids::LeaseId;
use clearway_core::lease::Lease;
use clearway_core::negotiation::Status;
use clearway_core::target::{Target, Worktree};
use clearway_store::Reply;

fn answer(condition: bool, what: impl FnOnce() -> String) -> Checked {
    hold(condition, Invariant::Answer, what)
}

/// Judges whether an event was the caller's to cause.
pub(crate) fn of_event(scene: &Scene<'_>, ledger: &Ledger, event: &Event) -> Checked {
    match &event.body {
        Body::LeaseGranted(lease) => granted(scene, ledger, lease),
        Body::LeaseRenewed { .. } | Body::LeaseReleased { .. } | Body::LeaseTransferred { .. } => {
            let lease = event.body.lease().and_then(|id| ledger.leases.get(&id));
            answer(lease.is_none_or(|lease| may_act(scene, ledger, lease)), || {
                format!("{} of a lease that is somebody else's", event.body.kind())
            })
        }
        Body::ScopeFrozen { .. }
        | Body::ScopeThawed { .. }
        | Body::CommitAllowed { .. }
        | Body::AgentHalted { .. }
        | Body::AgentContinued { .. }
        | Body::LeaseOrphaned { .. } => {
            answer(scene.request.caller.operator.is_some(), || "an agent did an operator's act".to_owned())
        }
        _ => Ok(()),
    }
}

fn may_act(scene: &Scene<'_>, ledger: &Ledger, lease: &Lease) -> bool {
    let recipient = match &scene.request.command {
        Command::Transfer(Transfer { to, .. }) => {
            ledger.agents.get(&lease.holder).is_some_and(|agent| agent.name == *to)
        }
        _ => false,
    };
    recipient
        || scene.request.caller.operator.is_some()
        || scene.me.is_some_and(|me| me == lease.holder || me == ledger.family(lease.holder))
}

/// A new lease is what was asked for, on the terms that were asked for.
fn granted(scene: &Scene<'_>, ledger: &Ledger, lease: &Lease) -> Checked {
    let Some((wanted, _)) = scene.asked_for(ledger, lease) else { return kept(scene, lease) };
    let asked = wanted.wants.iter().any(|want| want.target == lease.target);
    let here = match lease.target {
        Target::Path(_) => lease.worktree == wanted.worktree,
        Target::Name(_) => lease.worktree == Worktree::default(),
    };
    let terms = lease.mode == wanted.mode
        && lease.grade == wanted.grade
        && lease.bound == wanted.bound
        && lease.ttl_ms == wanted.ttl_ms
        && lease.deadline == scene.now.mono.plus_ms(wanted.ttl_ms)
        && lease.end_max == wanted.max_ms.map(|ms| scene.now.mono.plus_ms(ms));
    answer(asked && here && terms, || format!("lease {} is not what was asked for", lease.id))?;
    let client = ledger.agents.get(&lease.holder).map(|agent| agent.client);
    let is_path = matches!(lease.target, Target::Path(_));
    let stopped = ledger.is_frozen(scene.now) && client != Some(Client::Terminal) && is_path;
    answer(!stopped, || format!("lease {} was granted during a freeze", lease.id))
}

/// Who asked for nothing keeps a part of what it gives back.
fn kept(scene: &Scene<'_>, lease: &Lease) -> Checked {
    answer(scene.keeps(lease), || format!("lease {} was granted to nobody who asked", lease.id))
}

/// Judges a reply by what was written with it.
pub(crate) fn of_step(scene: &Scene<'_>, ledger: &Ledger, events: &[Event], reply: &Reply) -> Checked {
    match &reply.outcome {
        Err(failure) => {
            let acted = |event: &&Event| event.body.lease().is_some() && event.actor.agent.is_some();
            answer(!events.iter().any(|event| acted(&event)), || {
                format!("{}, and yet it acted", failure.slug)
            })
        }
        Ok(Success::Reserved { leases, refused }) => {
            leases.iter().try_for_each(|view| in_force(scene, ledger, view))?;
            let Some(wanted) = scene.request.wanted() else { return Ok(()) };
            answer(refused.is_empty() || wanted.best_effort, || "refused in part, unasked".to_owned())?;
            let said = |want: &Want| refused.iter().any(|other| other.target == want.target.display());
            let missing = wanted.wants.iter().find(|want| !said(want) && !is_got(wanted, want, leases));
            answer(missing.is_none(), || format!("{missing:?} was neither granted nor refused"))
        }
        Ok(Success::Renewed(leases)) => leases.iter().try_for_each(|view| in_force(scene, ledger, view)),
        Ok(Success::Transferred(leases)) => leases.iter().try_for_each(|view| as_written(ledger, view)),
        Ok(Success::Released { released, .. }) => {
            let written = leases_of(events, |body| matches!(body, Body::LeaseReleased { .. }));
            answer(written == *released, || "released something else than it says".to_owned())
        }
        Ok(Success::Swept { expired }) => {
            let written = leases_of(events, |body| matches!(body, Body::LeaseExpired { .. }));
            answer(written == *expired, || "swept something else than it says".to_owned())
        }
        Ok(Success::Queued { queued, .. }) => {
            let wait = &queued.wait;
            let last = matches!(&scene.request.command, Command::Await(Await { stay: Stay::Last, .. }));
            let kept = ledger.waits.get(&wait.id) == Some(wait);
            hold(kept && !last, Invariant::I12Queue, || format!("wait {} was promised and not kept", wait.id))
        }
        Ok(Success::Left { waits }) => {
            let gone = waits.iter().all(|wait| !ledger.waits.contains_key(wait));
            answer(gone, || "a place was left and is still there".to_owned())
        }
        Ok(Success::Frozen(freeze)) => {
            let until = ledger.frozen_until;
            answer(until == Some(freeze.until), || "frozen otherwise than it says".to_owned())
        }
        Ok(Success::Kept { number }) => {
            answer(number.0 == ledger.rev, || "kept under a number that is not its event's".to_owned())
        }
        // No life of the simulation writes to another.
        Ok(Success::Mail(_)) => Ok(()),
        Ok(Success::Done) => {
            let written = leases_of(events, |body| matches!(body, Body::LeaseReleased { .. }));
            answer(written.is_empty(), || "gave leases back and does not say so".to_owned())
        }
        Ok(Success::Negotiated(outcome)) => {
            let written = leases_of(events, |body| body.end().is_some());
            let said = outcome.released.iter().all(|lease| written.contains(lease));
            // A second force says what the first one took, whatever else it finds to be over by now.
            let forces = |event: &Event| matches!(event.body, Body::NegotiationForced { .. });
            let is_again = outcome.status == Status::Forced && !events.iter().any(forces);
            answer(said || is_again || events.is_empty(), || {
                "let go of something else than it says".to_owned()
            })
        }
        Ok(Success::Halted { ended, .. }) => {
            let written = leases_of(events, |body| body.end().is_some());
            answer(ended.iter().all(|lease| written.contains(lease)), || "ended something else".to_owned())
        }
        Ok(Success::Continued { .. }) => Ok(()),
        Ok(Success::Thawed { .. }) => answer(!ledger.is_frozen(scene.now), || "still frozen".to_owned()),
    }
}

fn leases_of(events: &[Event], wanted: impl Fn(&Body) -> bool) -> Vec<LeaseId> {
    events.iter().filter(|event| wanted(&event.body)).filter_map(|event| event.body.lease()).collect()
}

/// I3: what is answered as held is in force at the instant of the answer, as it says.
fn in_force(scene: &Scene<'_>, ledger: &Ledger, view: &LeaseView) -> Checked {
    as_written(ledger, view)?;
    let live = ledger.leases.get(&view.lease.id).is_some_and(|lease| ledger.is_live(lease, scene.now));
    hold(live && view.deadline > scene.now.mono, Invariant::I3NoGrantAfterExpiry, || {
        format!("lease {} was answered after its end", view.lease.id)
    })
}

fn as_written(ledger: &Ledger, view: &LeaseView) -> Checked {
    let own = &view.lease;
    let written = ledger.leases.get(&own.id).filter(|lease| ledger.open.contains(&lease.id));
    let same = |lease: &Lease| {
        (lease.holder, lease.fence, lease.mode, lease.deadline)
            == (own.holder, own.fence, own.mode, own.deadline)
    };
    answer(written.is_some_and(same), || format!("lease {} was not written as it was answered", own.id))
}

fn is_got(wanted: &Reserve, want: &Want, leases: &[LeaseView]) -> bool {
    let here = &wanted.worktree;
    // A lease that something was taken out of says so, and is what it is when it is asked for again.
    let is_it = |lease: &Lease| {
        let again = !lease.ceded.is_empty() && lease.target == want.target;
        ground::covers(lease, &want.target, here)
            || (again && ground::within(&want.target, here, &lease.target, &lease.worktree))
    };
    leases.iter().map(|view| &view.lease).any(|lease| lease.mode >= wanted.mode && is_it(lease))
}
