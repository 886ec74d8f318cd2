//! I12: whoever joins the queue does not close a circle of agents that wait for each other.

use super::way::{Asker, Way, may_yield};
use super::{Checked, Invariant, Scene, hold};
use crate::ground;
use crate::ledger::Ledger;
use clearway_core::event::{Body, Event};
use clearway_core::ids::AgentId;
use clearway_core::lease::Mode;
use clearway_core::wait::Wait;
use std::collections::BTreeSet;

/// Judges every place that a step gave out.
pub(crate) fn of_step(scene: &Scene<'_>, ledger: &Ledger, events: &[Event]) -> Checked {
    let way = Way { ledger, world: scene.world, now: scene.now };
    let began = events.iter().filter_map(|event| match &event.body {
        Body::WaitBegan(wait) => ledger.waits.get(&wait.id),
        _ => None,
    });
    for wait in began {
        hold(!closes(&way, wait), Invariant::I12Circle, || {
            let agent = ledger.agents.get(&wait.agent).map_or("nobody", |agent| agent.name.as_str());
            format!("{agent} waits for itself by wait {}", wait.id)
        })?;
    }
    Ok(())
}

/// Whether somebody that the wait is for waits, near or far, for whoever waits there.
fn closes(way: &Way<'_>, wait: &Wait) -> bool {
    let mut open = blockers(way, &way.waiter(wait));
    let mut reached = BTreeSet::new();
    while let Some(agent) = open.pop() {
        if agent == wait.agent {
            return true;
        }
        if reached.insert(agent) {
            open.extend(waited_for(way, agent));
        }
    }
    false
}

/// Whom an agent waits for: by its own places, and its subagents that wait.
fn waited_for(way: &Way<'_>, agent: AgentId) -> Vec<AgentId> {
    let waiting = way.ledger.waits.values().filter(|wait| way.is_waiting(wait));
    let mut found = Vec::new();
    for wait in waiting {
        if wait.agent == agent {
            found.extend(blockers(way, &way.waiter(wait)));
        } else if way.ledger.is_above(agent, wait.agent) {
            found.push(wait.agent);
        }
    }
    found
}

/// Who surely keeps a request from being granted. What another command of the same agent runs under ends with that
/// command, so nobody waits for itself there. Units of one resource are interchangeable, and what may yield may
/// go at any moment, so neither counts.
fn blockers(way: &Way<'_>, asker: &Asker<'_>) -> Vec<AgentId> {
    let mut found = Vec::new();
    for want in asker.wants() {
        let several = ground::capacity(&want.target) > 1 && asker.wanted.mode == Mode::Exclusive;
        if several || way.own(asker, want).is_some() {
            continue;
        }
        let firm = way.leases(asker, want).into_iter();
        let firm = firm.filter(|lease| !may_yield(lease) && !way.is_abandoned(lease));
        found.extend(firm.map(|lease| lease.holder));
        found.extend(way.waits(asker, want).into_iter().map(|wait| wait.agent));
    }
    found.retain(|agent| *agent != asker.agent);
    found
}
