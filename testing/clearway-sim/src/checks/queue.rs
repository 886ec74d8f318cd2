//! I12: nobody barges, every place ends for a reason and in time, and nobody is refused or kept waiting without one.

use super::way::{Way, is_conflict, is_kept_for_agent, may_yield, units};
use super::{Checked, Invariant, Scene, circles, hold, talk};
use crate::ground;
use crate::ledger::Ledger;
use clearway_core::agent::Client;
use clearway_core::command::{Await, Command, Reserve, Stay, Want};
use clearway_core::decide::Success;
use clearway_core::event::{Body, Event};
use clearway_core::facts::Process;
use clearway_core::ids::AgentId;
use clearway_core::lease::Lease;
use clearway_core::limits::OFFERS_PER_WAIT_MAX;
use clearway_core::slug::Slug;
use clearway_core::target::Target;
use clearway_core::wait::{Wait, WaitEnd};
use clearway_store::Reply;

/// Judges one event by the queue before it.
pub(crate) fn of_event(scene: &Scene<'_>, ledger: &Ledger, event: &Event) -> Checked {
    let way = Way { ledger, world: scene.world, now: scene.now };
    if let Body::LeaseGranted(lease) = &event.body {
        return barges(scene, &way, lease);
    }
    let Some(wait) = event.body.wait().and_then(|id| ledger.waits.get(&id)) else { return Ok(()) };
    let lapsed = wait.offered_until.is_some_and(|until| scene.now.mono >= until);
    match &event.body {
        Body::WaitPassed { .. } => queue(lapsed, wait, "lost its turn before its time"),
        Body::WaitWithdrawn { .. } => {
            queue(lapsed && could_not_take(&way, wait), wait, "was relieved of a turn that it could take")
        }
        Body::WaitOffered { .. } => {
            let alone = wait.attached.is_none() && wait.offered_until.is_none();
            queue(alone && is_clear(&way, wait), wait, "was offered a turn that was not its own")
        }
        Body::WaitEnded { cause, .. } => ended(scene, &way, wait, *cause, lapsed),
        _ => Ok(()),
    }
}

fn queue(condition: bool, wait: &Wait, what: &str) -> Checked {
    hold(condition, Invariant::I12Queue, || format!("wait {} {what}", wait.id))
}

/// A grant never overtakes an earlier wait that it is in the way of.
fn barges(scene: &Scene<'_>, way: &Way<'_>, lease: &Lease) -> Checked {
    let Some((wanted, place)) = scene.asked_for(way.ledger, lease) else { return Ok(()) };
    let Some(want) = wanted.wants.iter().find(|want| want.target == lease.target) else { return Ok(()) };
    let asker = place.map_or_else(|| way.asker(lease.holder, wanted), |wait| way.waiter(wait));
    let (leases, waits) = (way.leases(&asker, want), way.waits(&asker, want));
    hold(units(&leases) + waits.len() <= way.free(&asker, want), Invariant::I12Queue, || {
        let ahead: Vec<&str> = waits.iter().map(|wait| wait.id.as_str()).collect();
        format!("the grant of {} overtakes {}", want.target.display(), ahead.join(", "))
    })
}

/// Whether the waiter is the one that something is handed to.
fn is_handed_to(command: &Command, way: &Way<'_>, wait: &Wait) -> bool {
    let Command::Transfer(transfer) = command else { return false };
    way.ledger.agents.get(&wait.agent).is_some_and(|agent| agent.name == transfer.to)
}

/// Whether the turn of a wait has come: everything it wants could be granted.
fn is_clear(way: &Way<'_>, wait: &Wait) -> bool {
    let asker = way.waiter(wait);
    let may_end = |lease: &Lease| may_yield(lease) || way.is_abandoned(lease);
    asker.wants().all(|want| !way.is_blocked(&asker, want, may_end)) && is_admitted(way, wait)
}

/// Whether somebody or a pause kept a wait from its turn. A pause that is over may have lasted for a part of it.
fn could_not_take(way: &Way<'_>, wait: &Wait) -> bool {
    let asker = way.waiter(wait);
    let paused = way.ledger.frozen_until.is_some() && wants_paths(&wait.wanted);
    paused || asker.wants().any(|want| way.is_blocked(&asker, want, |_| false))
}

fn is_admitted(way: &Way<'_>, wait: &Wait) -> bool {
    let client = way.ledger.agents.get(&wait.agent).map(|agent| agent.client);
    !way.ledger.is_frozen(way.now) || client == Some(Client::Terminal) || !wants_paths(&wait.wanted)
}

/// Whether a request is about files.
pub(crate) fn wants_paths(wanted: &Reserve) -> bool {
    wanted.wants.iter().any(|want| matches!(want.target, Target::Path(_)))
}

fn ended(scene: &Scene<'_>, way: &Way<'_>, wait: &Wait, cause: WaitEnd, lapsed: bool) -> Checked {
    let command = &scene.request.command;
    let last = matches!(command, Command::Await(Await { stay: Stay::Last, .. }));
    let dead = wait.attached.as_ref().is_some_and(|process| way.is_dead(process));
    let right = match cause {
        WaitEnd::Granted => {
            scene.me == Some(wait.agent)
                || is_handed_to(command, way, wait)
                || talk::is_promised(way.ledger, wait)
                || holds_all(way, wait, None)
        }
        WaitEnd::TimedOut => scene.now.mono >= wait.until || (last && scene.me == Some(wait.agent)),
        WaitEnd::Cancelled => match command {
            Command::Leave(_) | Command::Withdraw(_) => may_leave(scene, way.ledger, wait),
            Command::Halt(name) => {
                way.ledger.agents.get(&wait.agent).is_some_and(|agent| agent.name == *name)
            }
            // Whoever waits there and is refused at its turn goes.
            Command::Await(Await { stay: Stay::Attached(process), wait: Some(id), .. }) => {
                *id == wait.id && wait.attached.as_ref() == Some(process) && scene.me == Some(wait.agent)
            }
            _ => false,
        },
        WaitEnd::Silent => way.is_silent(wait),
        WaitEnd::Gone => dead || way.is_dead_agent(wait.agent),
        WaitEnd::Lapsed => {
            lapsed && (wait.offers >= OFFERS_PER_WAIT_MAX || circles::closes_from_the_end(way, wait))
        }
        WaitEnd::Reboot => wait.place.0 < way.ledger.rev && way.ledger.boot.as_ref() == Some(&scene.now.boot),
        WaitEnd::Recovery => matches!(command, Command::Recover),
    };
    queue(right, wait, &format!("ended as {} without being so", cause.word()))
}

fn may_leave(scene: &Scene<'_>, ledger: &Ledger, wait: &Wait) -> bool {
    let mine = |me: AgentId| me == wait.agent || me == ledger.family(wait.agent);
    scene.me.is_some_and(mine) || scene.request.caller.operator.is_some()
}

/// Judges the queue after a step.
pub(crate) fn of_step(
    scene: &Scene<'_>,
    then: &Ledger,
    ledger: &Ledger,
    events: &[Event],
    reply: &Reply,
) -> Checked {
    let way = Way { ledger, world: scene.world, now: scene.now };
    for wait in ledger.waits.values() {
        queue(!way.is_overdue(wait), wait, "outlives its deadline or its silence")?;
        let lapsed = wait.offered_until.is_some_and(|until| scene.now.mono >= until);
        queue(!lapsed, wait, "keeps a turn that it let pass")?;
        if wait.attached.is_none() && (looks_at_all(scene) || is_freed(then, ledger, events, wait)) {
            let offered = wait.offered_until.is_some() || !is_plainly_free(&way, wait);
            queue(offered, wait, "was not offered its turn")?;
        }
        queue(!is_fulfilled(scene, &way, wait, reply), wait, "goes on although it got everything")?;
    }
    granted(&way, events)?;
    refused(scene, &way, events, reply)
}

/// Whether a command concerns everybody in the queue.
fn looks_at_all(scene: &Scene<'_>) -> bool {
    let may_thaw = scene.request.caller.operator.is_some();
    matches!(scene.request.command, Command::Sweep)
        || (may_thaw && matches!(scene.request.command, Command::Thaw))
}

/// Whether a step ended something that a wait was waiting for.
fn is_freed(then: &Ledger, ledger: &Ledger, events: &[Event], wait: &Wait) -> bool {
    let touches = |wanted: &Reserve| {
        let mut wants = wanted.wants.iter().filter(|_| is_conflict(wanted.mode, wait.wanted.mode));
        wants.any(|want| ground::touches(&wait.wanted, &want.target, &wanted.worktree))
    };
    events.iter().any(|event| match &event.body {
        Body::WaitEnded { wait: ended, .. } => {
            then.waits.get(ended).is_some_and(|ended| touches(&ended.wanted))
        }
        Body::LeaseSplit { lease, path, .. } => {
            let lease = ledger.leases.get(lease);
            lease.is_some_and(|lease| ground::touches(&wait.wanted, path, &lease.worktree))
        }
        body => {
            let ended = body.end().and(body.lease()).and_then(|id| ledger.leases.get(&id));
            ended.is_some_and(|lease| ground::asks_for(&wait.wanted, lease))
        }
    })
}

/// Whether nothing at all, living or not, is in the way of a wait.
fn is_plainly_free(way: &Way<'_>, wait: &Wait) -> bool {
    let nobody = |want: &Want| {
        let here = &wait.wanted.worktree;
        let others = way
            .ledger
            .waits
            .values()
            .any(|other| other.id != wait.id && ground::touches(&other.wanted, &want.target, here));
        way.ledger.on(&want.target, here, way.now).is_empty() && !others
    };
    wait.wanted.wants.iter().all(nobody) && is_admitted(way, wait)
}

/// Whether the request that was just granted was all that a wait of the same agent was for.
fn is_fulfilled(scene: &Scene<'_>, way: &Way<'_>, wait: &Wait, reply: &Reply) -> bool {
    let (Some(asked), Ok(Success::Reserved { refused, .. })) = (scene.request.wanted(), &reply.outcome)
    else {
        return false;
    };
    let asked_for = |want: &Want| asked.wants.iter().any(|other| other.target == want.target);
    Some(wait.agent) == scene.me
        && refused.is_empty()
        && asked.worktree == wait.wanted.worktree
        && wait.wanted.wants.iter().all(asked_for)
        && holds_all(way, wait, asked.bound.as_ref())
}

fn holds_all(way: &Way<'_>, wait: &Wait, by: Option<&Process>) -> bool {
    let (held, wanted) = (way.ledger.live(way.now), &wait.wanted);
    let is_for = |lease: &Lease| {
        let of_command = is_kept_for_agent(wait) && lease.bound.as_ref() == by;
        lease.bound == wanted.bound || of_command
    };
    wanted.wants.iter().all(|want| {
        held.iter().any(|lease| {
            lease.holder == wait.agent
                && lease.mode >= wanted.mode
                && is_for(lease)
                && ground::covers(lease, &want.target, &wanted.worktree)
        })
    })
}

/// Whoever's wait ended as granted holds something now.
fn granted(way: &Way<'_>, events: &[Event]) -> Checked {
    for event in events {
        if let Body::WaitEnded { wait, agent, cause: WaitEnd::Granted, .. } = &event.body {
            let holds = way.ledger.live(way.now).iter().any(|lease| lease.holder == *agent);
            hold(holds, Invariant::I12Queue, || format!("wait {wait} was granted nothing"))?;
        }
    }
    Ok(())
}

/// Nobody is refused, or told to wait, unless something stands in the way. Who was told old facts may be.
fn refused(scene: &Scene<'_>, way: &Way<'_>, events: &[Event], reply: &Reply) -> Checked {
    let asked = scene.request.wanted().filter(|_| scene.fresh);
    let (Some(agent), Some(wanted)) = (scene.me, asked) else { return Ok(()) };
    let asker = match &reply.outcome {
        Err(failure) if failure.slug == Slug::ReservationHeld => way.asker(agent, wanted),
        Ok(Success::Queued { queued, .. }) => match way.ledger.waits.get(&queued.wait.id) {
            Some(wait) => way.waiter(wait),
            None => return Ok(()),
        },
        _ => return Ok(()),
    };
    // What was promised to somebody ahead is granted in the same step, and yields to nobody within it.
    let is_new = |lease: &Lease| events.iter().any(|event| event.body.lease() == Some(lease.id));
    let may_end = |lease: &Lease| way.is_takeable(lease) && !is_new(lease);
    let client = way.ledger.agents.get(&agent).map(|agent| agent.client);
    let frozen = way.ledger.is_frozen(way.now) && wants_paths(wanted) && client != Some(Client::Terminal);
    let reason = frozen || asker.wants().any(|want| way.is_blocked(&asker, want, may_end));
    hold(reason, Invariant::I12Queue, || {
        let wants: Vec<String> = wanted.wants.iter().map(|want| want.target.display()).collect();
        format!("{} was refused although nothing is in the way", wants.join(", "))
    })
}
