//! I12: no step closes a circle of agents that wait for each other.

use super::way::{Asker, Way, may_yield};
use super::{Checked, Invariant, Scene, hold};
use crate::ground;
use crate::ledger::Ledger;
use clearway_core::event::{Body, Event};
use clearway_core::ids::{AgentId, Seq};
use clearway_core::lease::{Lease, Mode};
use clearway_core::wait::Wait;
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
    for wait in ledger.waits.values().filter(|wait| way.is_waiting(wait)) {
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

/// Whether somebody that the wait is for waits, near or far, for whoever waits there.
fn closes(way: &Way<'_>, wait: &Wait, counted: Counted) -> bool {
    let mut open = blockers(way, &way.waiter(wait), counted);
    let mut reached = BTreeSet::new();
    while let Some(agent) = open.pop() {
        if agent == wait.agent {
            return true;
        }
        if reached.insert(agent) {
            open.extend(waited_for(way, agent, counted));
        }
    }
    false
}

/// Whether a wait would close a circle if it were the last of the queue.
pub(crate) fn closes_from_the_end(way: &Way<'_>, wait: &Wait) -> bool {
    closes(way, &Wait { place: Seq(u64::MAX), ..wait.clone() }, Counted::WhatStays)
}

/// Whom an agent waits for: by its own places, and its subagents that wait.
fn waited_for(way: &Way<'_>, agent: AgentId, counted: Counted) -> Vec<AgentId> {
    let waiting = way.ledger.waits.values().filter(|wait| way.is_waiting(wait));
    let mut found = Vec::new();
    for wait in waiting {
        if wait.agent == agent {
            found.extend(blockers(way, &way.waiter(wait), counted));
        } else if way.ledger.is_above(agent, wait.agent) {
            found.push(wait.agent);
        }
    }
    found
}

/// Who keeps a request from being granted. What another command of the same agent runs under ends with that command, so
/// nobody waits for itself there. Units of one resource are interchangeable, so they do not count.
fn blockers(way: &Way<'_>, asker: &Asker<'_>, counted: Counted) -> Vec<AgentId> {
    let mut found = Vec::new();
    for want in asker.wants() {
        let several = ground::capacity(&want.target) > 1 && asker.wanted.mode == Mode::Exclusive;
        if several || way.own(asker, want).is_some() {
            continue;
        }
        let firm = way.leases(asker, want).into_iter();
        let is_counted = |lease: &&Lease| counted == Counted::WhateverIsHeld || !may_yield(lease);
        let firm = firm.filter(is_counted).filter(|lease| !way.is_abandoned(lease));
        found.extend(firm.map(|lease| lease.holder));
        found.extend(way.waits(asker, want).into_iter().map(|wait| wait.agent));
    }
    found.retain(|agent| *agent != asker.agent);
    found
}
