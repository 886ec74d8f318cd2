//! Requests to holders: asking takes nothing by itself, whoever asks keeps its place, what is said to be let go was let
//! go, and force needs a holder that is gone or was silent for long.

use super::way::{Way, may_yield};
use super::{Checked, Invariant, Scene, Signs, hold};
use crate::ground;
use crate::ledger::Ledger;
use clearway_core::agent::AgentName;
use clearway_core::command::{Answer, Command, Says};
use clearway_core::decide::Success;
use clearway_core::event::{Body, Event};
use clearway_core::failure::{Details, Failure, Field};
use clearway_core::ids::{AgentId, LeaseId, NegotiationId};
use clearway_core::lease::Lease;
use clearway_core::negotiation::{
    Negotiated, Negotiation, NegotiationEnd, NegotiationState, Status, Urgency,
};
use clearway_core::slug::Slug;
use clearway_core::target::Target;
use clearway_core::time::Mono;
use clearway_core::wait::Wait;
use clearway_store::Reply;

/// How long an answer may take.
fn window_ms(urgency: Urgency) -> u64 {
    match urgency {
        Urgency::Normal => 600_000,
        Urgency::Urgent => 300_000,
    }
}

/// For how long a holder has to be silent before what it has may be taken.
pub(crate) fn silence_ms(urgency: Urgency) -> u64 {
    2 * window_ms(urgency)
}

/// A sign of life is noted that often.
const PRESENCE_MS: u64 = 15_000;

fn asking(condition: bool, asked: &Negotiation, what: &str) -> Checked {
    hold(condition, Invariant::Asking, || {
        format!("request {} for {} {what}", asked.id, asked.target.display())
    })
}

/// The place for which a lease is granted as its holder was promised.
pub(crate) fn promised<'a>(ledger: &'a Ledger, lease: &Lease) -> Option<&'a Wait> {
    let wants = |wait: &&Wait| {
        let terms = (wait.wanted.mode, wait.wanted.grade, wait.wanted.ttl_ms);
        let is_here = wait.wanted.worktree == lease.worktree || matches!(lease.target, Target::Name(_));
        is_here
            && terms == (lease.mode, lease.grade, lease.ttl_ms)
            && wait.wanted.wants.iter().any(|want| want.target == lease.target)
    };
    let own = ledger.waits.values().filter(|wait| wait.agent == lease.holder && is_promised(ledger, wait));
    own.filter(wants).min_by_key(|wait| wait.place)
}

/// Whether what a wait is for is granted to it as soon as it is let go, and was.
pub(crate) fn is_promised(ledger: &Ledger, wait: &Wait) -> bool {
    let is_free = |asked: &Negotiation| match asked.settled() {
        Some(settled) => settled.how.is_free(),
        None => ledger.lease_asked_for(asked).is_none(),
    };
    let mut asked = ledger.negotiations.values().filter(|asked| asked.wait == wait.id);
    asked.any(|asked| asked.then_reserve && is_free(asked))
}

/// Judges one event by the books before it.
pub(crate) fn of_event(scene: &Scene<'_>, ledger: &Ledger, event: &Event, signs: &Signs) -> Checked {
    if let Body::NegotiationAsked(asked) = &event.body {
        return begins(scene, ledger, asked);
    }
    stopped(scene, ledger, event)?;
    let Some(asked) = event.body.negotiation().and_then(|id| ledger.negotiations.get(&id)) else {
        return Ok(());
    };
    match &event.body {
        Body::NegotiationRaised { urgency, deadline, .. } => {
            let sooner = *urgency >= asked.urgency && *deadline <= asked.deadline;
            asking(sooner && is(scene, ledger, asked.requester), asked, "was put off by who asks")
        }
        Body::NegotiationDeferred { until, deadline, .. } => {
            deferred(scene, ledger, asked, *until, *deadline)
        }
        Body::NegotiationOverdue { .. } => {
            asking(!asked.overdue && scene.now.mono >= asked.deadline, asked, "was overdue before its time")
        }
        Body::NegotiationEnded { how, .. } => ended(scene, ledger, asked, *how),
        Body::NegotiationForced { lease, .. } => forced(scene, ledger, asked, *lease, signs),
        _ => Ok(()),
    }
}

/// Whether the caller is this agent, or the top of its family.
fn is(scene: &Scene<'_>, ledger: &Ledger, agent: AgentId) -> bool {
    scene.me.is_some_and(|me| me == agent || me == ledger.family(agent))
}

/// Whoever a person stopped takes nothing and asks nobody.
fn stopped(scene: &Scene<'_>, ledger: &Ledger, event: &Event) -> Checked {
    let takes = matches!(
        event.body,
        Body::LeaseGranted(_)
            | Body::WaitBegan(_)
            | Body::LeaseUpgraded { .. }
            | Body::NegotiationForced { .. }
    );
    let stopped = event.actor.agent.filter(|agent| scene.me == Some(*agent) && ledger.is_stopped(*agent));
    let gives_back = matches!(scene.request.command, Command::Release(_));
    hold(!takes || gives_back || stopped.is_none(), Invariant::Asking, || {
        format!("{} by an agent that was stopped", event.body.kind())
    })
}

fn begins(scene: &Scene<'_>, ledger: &Ledger, asked: &Negotiation) -> Checked {
    let same = |open: &Negotiation| {
        (open.requester, open.lease, &open.target) == (asked.requester, asked.lease, &asked.target)
    };
    asking(!ledger.asked().any(same), asked, "was open already")?;
    let held = ledger.lease_asked_for(asked).is_some_and(|lease| ledger.is_live(lease, scene.now));
    asking(held && asked.holder != asked.requester, asked, "is to somebody who does not hold it")?;
    let place = ledger.waits.get(&asked.wait);
    asking(place.is_some_and(|wait| wait.agent == asked.requester), asked, "has no place in the queue")?;
    let due = scene.now.mono.plus_ms(window_ms(asked.urgency));
    let asks = matches!(scene.request.command, Command::Ask(_)) && scene.me == Some(asked.requester);
    let fresh = asked.deadline == due && !asked.overdue && asked.state == NegotiationState::Requested;
    // A request follows what was handed on in this very step.
    let is_handed = |lease: &Lease| lease.handed_by.is_some() && lease.fence == asked.fence;
    let follows = ledger.lease_asked_for(asked).is_some_and(is_handed);
    asking(
        (asks || follows) && fresh && !ledger.is_stopped(asked.requester),
        asked,
        "is not what was asked for",
    )
}

fn deferred(
    scene: &Scene<'_>,
    ledger: &Ledger,
    asked: &Negotiation,
    until: Option<Mono>,
    deadline: Mono,
) -> Checked {
    let says = match &scene.request.command {
        Command::Answer(Answer { negotiation, says }) if *negotiation == asked.id => says,
        _ => return asking(false, asked, "was put off by nobody"),
    };
    let said = match (says, until) {
        (Says::AfterCommit, None) => true,
        (Says::Later { for_ms }, Some(until)) => until.0 >= scene.now.mono.0 + for_ms && deadline >= until,
        _ => false,
    };
    asking(said && is(scene, ledger, asked.holder), asked, "was put off otherwise than its holder said")?;
    asking(deadline >= asked.deadline, asked, "is due sooner than before")
}

fn ended(scene: &Scene<'_>, ledger: &Ledger, asked: &Negotiation, how: NegotiationEnd) -> Checked {
    let way = Way { ledger, world: scene.world, now: scene.now };
    let lasts = |lease: &Lease| ledger.is_live(lease, scene.now) && !way.has_lost_its_process(lease);
    let stays = ledger.lease_asked_for(asked).filter(|lease| lasts(lease));
    let is_split = ledger.leases.get(&asked.lease).is_some_and(lasts);
    let is_let_go = ledger.let_go.contains(&asked.lease) || is_split;
    let command = &scene.request.command;
    let is_taken = is_taken_by_another(command, ledger, asked);
    let right = match how {
        NegotiationEnd::Released => stays.is_none() && is_let_go && !is_taken,
        NegotiationEnd::Refused => {
            let no = matches!(command, Command::Answer(Answer { negotiation, says: Says::No(_) }) if *negotiation == asked.id);
            no && is(scene, ledger, asked.holder)
        }
        NegotiationEnd::Withdrawn => match command {
            Command::Withdraw(id) if *id == asked.id => is(scene, ledger, asked.requester),
            _ => !ledger.waits.contains_key(&asked.wait),
        },
        NegotiationEnd::Lapsed => (stays.is_none() && !is_taken) || !ledger.waits.contains_key(&asked.wait),
        NegotiationEnd::Forced => stays.is_none() && is_taken,
    };
    asking(right, asked, &format!("ended as {} without being so", how.word()))
}

/// Whether the request of somebody else takes the lease by force. The books are those after the event about that.
fn is_taken_by_another(command: &Command, ledger: &Ledger, asked: &Negotiation) -> bool {
    let Command::Force(force) = command else { return false };
    let taken = ledger.negotiations.get(&force.negotiation).filter(|taken| taken.id != asked.id);
    let is_forced = |taken: &Negotiation| {
        taken.settled().is_some_and(|settled| settled.how == NegotiationEnd::Forced && settled.released > 0)
    };
    taken.is_some_and(|taken| taken.lease == asked.lease && is_forced(taken))
}

/// What was taken is over by now: the books are those after the event about its lease.
fn forced(scene: &Scene<'_>, ledger: &Ledger, asked: &Negotiation, lease: LeaseId, signs: &Signs) -> Checked {
    let by_force = matches!(&scene.request.command, Command::Force(force) if force.negotiation == asked.id);
    let may = is(scene, ledger, asked.requester) || scene.request.caller.operator.is_some();
    asking(by_force && may && lease == asked.lease, asked, "was forced by nobody who may")?;
    asking(ledger.lease_asked_for(asked).is_none(), asked, "was forced and stays where it was")?;
    let way = Way { ledger, world: scene.world, now: scene.now };
    if way.is_dead_agent(asked.holder) || !scene.fresh {
        return Ok(());
    }
    let now = scene.now.mono;
    asking(now >= asked.deadline, asked, "was forced before its deadline")?;
    asking(asked.later().is_none_or(|until| now >= until), asked, "was forced although it takes longer")?;
    let family = ledger.agents.keys().filter(|agent| ledger.family(**agent) == ledger.family(asked.holder));
    let needed_ms = silence_ms(asked.urgency) - PRESENCE_MS;
    let active =
        family.filter_map(|agent| signs.last(*agent, scene.now)).any(|seen| now.since(seen) <= needed_ms);
    asking(!active, asked, "was forced from somebody who is active")
}

/// Judges a step by the books before and after it.
pub(crate) fn of_step(
    scene: &Scene<'_>,
    then: &Ledger,
    ledger: &Ledger,
    events: &[Event],
    reply: &Reply,
) -> Checked {
    for asked in ledger.asked() {
        asking(ledger.lease_asked_for(asked).is_some(), asked, "outlives what it is for")?;
        let place = ledger.waits.get(&asked.wait);
        asking(place.is_some_and(|wait| wait.agent == asked.requester), asked, "lost its place")?;
        let told = asked.overdue || scene.now.mono < asked.deadline;
        let is_late = !events.is_empty() || matches!(scene.request.command, Command::Sweep);
        asking(told || !is_late, asked, "is overdue and nobody is told")?;
    }
    match &reply.outcome {
        Ok(Success::Negotiated(outcome)) => answered(scene, then, ledger, events, outcome),
        Ok(Success::Halted { agent, .. }) => is_halted(ledger, agent, true),
        Ok(Success::Continued { agent, .. }) => is_halted(ledger, agent, false),
        Err(failure) => refused(scene, then, events, failure),
        _ => Ok(()),
    }
}

fn is_halted(ledger: &Ledger, name: &AgentName, wanted: bool) -> Checked {
    let agent = ledger.agents.values().find(|agent| agent.name == *name);
    hold(agent.is_some_and(|agent| agent.halted.is_some() == wanted), Invariant::Asking, || {
        format!("{name} is not what was answered of it")
    })
}

fn answered(
    scene: &Scene<'_>,
    then: &Ledger,
    ledger: &Ledger,
    events: &[Event],
    outcome: &Negotiated,
) -> Checked {
    for view in &outcome.negotiations {
        let known = ledger.negotiations.get(&view.negotiation.id);
        asking(known == Some(&view.negotiation), &view.negotiation, "is not as it was answered")?;
    }
    match &scene.request.command {
        Command::Ask(ask) => {
            let way = Way { ledger, world: scene.world, now: scene.now };
            let asker = scene.me.map(|me| way.asker(me, &ask.reserve));
            let may_end =
                |lease: &Lease| way.is_takeable(lease) || (may_yield(lease) && lease.lasts_one_call());
            let mut wants = ask.reserve.wants.iter();
            let blocked = asker.is_none_or(|asker| wants.any(|want| way.is_blocked(&asker, want, may_end)));
            let free = outcome.status == Status::FreeNow;
            hold(!scene.fresh || !free || !blocked, Invariant::Asking, || {
                "free now, and somebody is in the way".to_owned()
            })?;
            let asked = outcome.status == Status::Requested;
            hold(asked != outcome.negotiations.is_empty(), Invariant::Asking, || "asked nobody".to_owned())
        }
        Command::Force(force) => forced_once(then, events, force.negotiation, outcome),
        Command::Answer(_) | Command::Withdraw(_) => {
            let how = outcome.negotiations.first().map(|view| &view.negotiation.state);
            hold(how.is_some_and(|how| is_so(outcome.status, how)), Invariant::Asking, || {
                format!("{} is not what came of it", outcome.status.word())
            })
        }
        _ => Ok(()),
    }
}

fn is_so(status: Status, state: &NegotiationState) -> bool {
    match state {
        NegotiationState::Over(settled) => status == settled.how.into(),
        NegotiationState::Requested => status == Status::PartlyReleased,
        NegotiationState::AfterCommit | NegotiationState::Later(_) => {
            matches!(status, Status::Deferred | Status::PartlyReleased)
        }
    }
}

/// The second time changes nothing, and what was let go needs no force.
fn forced_once(then: &Ledger, events: &[Event], id: NegotiationId, outcome: &Negotiated) -> Checked {
    let settled = then.negotiations.get(&id).and_then(Negotiation::settled);
    let before = settled.map(|settled| settled.how);
    let by_itself = settled.is_some_and(|settled| settled.released > 0);
    let right = match before {
        Some(NegotiationEnd::Forced) if by_itself => outcome.status == Status::Forced,
        Some(how) => outcome.status == Status::AlreadyReleased && how.is_free(),
        None => matches!(outcome.status, Status::Forced | Status::AlreadyReleased),
    };
    let takes = |event: &Event| {
        matches!(
            event.body,
            Body::LeaseTakenOver { .. } | Body::LeaseSplit { .. } | Body::NegotiationForced { .. }
        )
    };
    let once = before.is_none() || !events.iter().any(takes);
    hold(right && once, Invariant::Asking, || {
        format!("forced again, which came to {} after {before:?}", outcome.status.word())
    })
}

/// Nobody is told that it is too early to force when it is not, and a refusal ends nothing.
fn refused(scene: &Scene<'_>, then: &Ledger, events: &[Event], failure: &Failure) -> Checked {
    let about = |event: &&Event| event.body.negotiation().is_some() && event.actor.agent.is_some();
    hold(!events.iter().any(|event| about(&event)), Invariant::Asking, || {
        format!("{}, and yet it came to something", failure.slug)
    })?;
    let (Slug::ForceTooEarly, Command::Force(force)) = (failure.slug, &scene.request.command) else {
        return Ok(());
    };
    let Some(asked) = then.negotiations.get(&force.negotiation).filter(|_| scene.fresh) else {
        return Ok(());
    };
    let way = Way { ledger: then, world: scene.world, now: scene.now };
    asking(!way.is_dead_agent(asked.holder), asked, "is with somebody who is gone, and cannot be forced")?;
    asking(too_early(failure).is_some(), asked, "cannot be forced, and nobody says why")
}

/// Why it is too early to force, in a word.
pub(crate) fn too_early(failure: &Failure) -> Option<&str> {
    let Details::Fields(fields) = &failure.details else { return None };
    fields.iter().find_map(|(name, value)| match value {
        Field::Text(why) if *name == "why" => Some(why.as_str()),
        _ => None,
    })
}

/// Whether something that was asked for is a part of what its holder has.
pub(crate) fn is_part(ledger: &Ledger, asked: &Negotiation) -> bool {
    let lease = ledger.leases.get(&asked.lease);
    lease.is_some_and(|lease| {
        lease.target != asked.target
            && ground::within(&asked.target, &asked.worktree, &lease.target, &lease.worktree)
    })
}
