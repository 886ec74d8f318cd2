//! I12: no step closes a circle of agents that wait for each other. Whoever was refused an edit goes on with something
//! else; only its place is in the way of those behind it.

use super::way::{Asker, Way, may_yield};
use super::{Checked, Invariant, Scene, hold};
use crate::ground;
use crate::ledger::Ledger;
use clearway_core::command::{Await, Command, Stay};
use clearway_core::event::{Body, Event};
use clearway_core::facts::{Process, ProcessLife};
use clearway_core::failure::Details;
use clearway_core::ids::{AgentId, Seq, WaitId};
use clearway_core::lease::{Grade, Lease, Mode};
use clearway_core::time::{Mono, Now};
use clearway_core::wait::Wait;
use clearway_store::Reply;
use std::collections::BTreeSet;

/// Judges everybody who waits after a step that put somebody in somebody's way. What giving back and time do to the
/// order of the queue is nobody's to refuse.
pub(crate) fn of_step(scene: &Scene<'_>, then: &Ledger, ledger: &Ledger, events: &[Event]) -> Checked {
    if !events.iter().any(|event| puts_in_the_way(&event.body)) {
        return Ok(());
    }
    let way = Way { ledger, world: scene.world, now: scene.now };
    let given_back = without_what_was_given_up(then, events);
    let before = [then, &given_back].map(|then| Way { ledger: then, ..way });
    for wait in ledger.waits.values().filter(|wait| way.is_waiting(wait) && !goes_on(wait)) {
        let then = then.waits.get(&wait.id);
        let was_one = || {
            then.is_some_and(|wait| before.iter().any(|before| closes(before, wait, Counted::WhateverIsHeld)))
        };
        hold(!closes(&way, wait, Counted::WhatStays) || was_one(), Invariant::I12Circle, || {
            let agent = ledger.agents.get(&wait.agent).map_or("nobody", |agent| agent.name.as_str());
            format!("{agent} waits for itself by wait {}", wait.id)
        })?;
    }
    Ok(())
}

/// The books as if what was handed over, or made way, had been given back: that is half of what was done.
fn without_what_was_given_up(then: &Ledger, events: &[Event]) -> Ledger {
    let mut given_back = then.clone();
    for event in events {
        if let Body::LeaseTransferred { lease, .. }
        | Body::LeaseYielded { lease, .. }
        | Body::LeaseTakenOver { lease, .. } = &event.body
        {
            given_back.open.remove(lease);
        }
    }
    given_back
}

fn puts_in_the_way(body: &Body) -> bool {
    matches!(
        body,
        Body::WaitBegan(_)
            | Body::WaitPassed { .. }
            | Body::LeaseGranted(_)
            | Body::LeaseUpgraded { .. }
            | Body::LeaseTransferred { .. }
    )
}

/// Which leases keep somebody waiting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Counted {
    /// Those that surely do: what may yield may go at any moment.
    WhatStays,
    /// Those that may as well: what might yield does not as long as it is changed.
    WhateverIsHeld,
}

/// What goes on when something else does.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Node {
    /// An agent, with its last wait.
    Agent(AgentId),
    /// A command of an agent, with the last wait inside of it.
    Command(AgentId, Process),
    /// A place in the queue.
    Place(WaitId),
}

/// Whether something that the wait is for waits, near or far, for that wait.
fn closes(way: &Way<'_>, wait: &Wait, counted: Counted) -> bool {
    let mut open = blockers(way, &way.waiter(wait), counted);
    let mut reached = BTreeSet::new();
    while let Some(node) = open.pop() {
        if goes_on_with(way, &node, wait, counted) {
            return true;
        }
        if reached.insert(node.clone()) {
            open.extend(waited_for(way, &node, counted));
        }
    }
    false
}

/// Whether a wait would close a circle if it were the last of the queue.
pub(crate) fn closes_from_the_end(way: &Way<'_>, wait: &Wait) -> bool {
    !goes_on(wait) && closes(way, &Wait { place: Seq(u64::MAX), ..wait.clone() }, Counted::WhatStays)
}

/// Whether an agent goes on while it waits.
fn goes_on(wait: &Wait) -> bool {
    wait.wanted.grade == Grade::Auto && wait.attached.is_none()
}

fn goes_on_with(way: &Way<'_>, node: &Node, wait: &Wait, counted: Counted) -> bool {
    match node {
        Node::Agent(agent) => *agent == wait.agent && !goes_on(wait),
        Node::Command(holder, process) => wait.attached.as_ref().is_some_and(|own| {
            let is_unseen = way.world.liveness(own) == ProcessLife::Unknown;
            let may_be = counted == Counted::WhateverIsHeld && is_unseen && *holder == wait.agent;
            may_be || way.world.is_below(own, process)
        }),
        Node::Place(id) => *id == wait.id,
    }
}

/// Nobody is told that its waiting would close a circle unless it may.
pub(crate) fn of_refusal(scene: &Scene<'_>, ledger: &Ledger, reply: &Reply) -> Checked {
    let (Err(failure), Some(agent), Command::Await(asked)) =
        (&reply.outcome, scene.me, &scene.request.command)
    else {
        return Ok(());
    };
    // Whoever has a place already is refused for what taking it would do.
    if !scene.fresh || asked.wait.is_some() || !matches!(failure.details, Details::Circle(_)) {
        return Ok(());
    }
    let (mut admitted, wait) = (ledger.clone(), refused(asked, agent, scene.now));
    admitted.waits.insert(wait.id, wait.clone());
    let way = Way { ledger: &admitted, world: scene.world, now: scene.now };
    // What is refused for what taking it would do is not in anybody's way, or not all of it.
    let asker = way.asker(agent, &asked.reserve);
    let is_blocked = !asked.reserve.best_effort && !blockers(&way, &asker, Counted::WhatStays).is_empty();
    hold(!is_blocked || closes(&way, &wait, Counted::WhateverIsHeld), Invariant::I12Circle, || {
        format!("nobody waits for that: {}", failure.message)
    })
}

/// The wait that did not begin.
fn refused(asked: &Await, agent: AgentId, now: &Now) -> Wait {
    let attached = match &asked.stay {
        Stay::Attached(process) => Some(process.clone()),
        Stay::Durable | Stay::Last => None,
    };
    Wait {
        id: WaitId::draw(&mut |bytes: &mut [u8]| bytes.fill(0)),
        agent,
        wanted: asked.reserve.clone(),
        place: Seq(u64::MAX),
        attached,
        until: Mono(u64::MAX),
        kept_until: None,
        offered_until: None,
        offers: 0,
        since: now.mono,
        created_at: now.wall,
    }
}

/// What something waits for: by each wait that it goes on with, and an agent for its subagents that wait.
fn waited_for(way: &Way<'_>, node: &Node, counted: Counted) -> Vec<Node> {
    let mut found = Vec::new();
    for wait in way.ledger.waits.values().filter(|wait| way.is_waiting(wait)) {
        if goes_on_with(way, node, wait, counted) {
            found.extend(blockers(way, &way.waiter(wait), counted));
        }
        if matches!(node, Node::Agent(agent) if !goes_on(wait) && way.ledger.is_above(*agent, wait.agent)) {
            found.push(Node::Agent(wait.agent));
        }
    }
    found
}

/// What keeps a request from being granted. Units of one resource are interchangeable, so they do not count.
fn blockers(way: &Way<'_>, asker: &Asker<'_>, counted: Counted) -> Vec<Node> {
    let mut found = Vec::new();
    for want in asker.wants() {
        let several = ground::capacity(&want.target) > 1 && asker.wanted.mode == Mode::Exclusive;
        if several || way.own(asker, want).is_some() {
            continue;
        }
        let firm = way.leases(asker, want).into_iter();
        let is_counted = |lease: &&Lease| counted == Counted::WhateverIsHeld || !may_yield(lease);
        let firm = firm.filter(is_counted).filter(|lease| !way.is_abandoned(lease));
        found.extend(firm.map(kept_by));
        found.extend(way.waits(asker, want).into_iter().map(waiter));
    }
    found.retain(|node| *node != Node::Agent(asker.agent));
    found
}

fn waiter(wait: &Wait) -> Node {
    let is_alone = wait.wanted.bound.is_some() || goes_on(wait);
    if is_alone { Node::Place(wait.id) } else { Node::Agent(wait.agent) }
}

fn kept_by(lease: &Lease) -> Node {
    match &lease.bound {
        Some(process) => Node::Command(lease.holder, process.clone()),
        None => Node::Agent(lease.holder),
    }
}
