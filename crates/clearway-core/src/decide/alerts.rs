//! What of a decision a person is told who does not watch.

use super::Verdict;
use crate::agent::AgentName;
use crate::alert::Alert;
use crate::event::{Body, Event};
use crate::ids::{AgentId, LeaseId};
use crate::slice::{Slice, Soft};
use crate::target::Target;

/// Everything of what a verdict writes that is worth it, told from the state that it was decided on.
pub fn alerts(slice: &Slice, verdict: &Verdict) -> Vec<Alert> {
    let of_events = verdict.events.iter().filter_map(|event| of_event(slice, verdict, event));
    of_events.chain(begins_to_loop(slice, verdict)).collect()
}

fn of_event(slice: &Slice, verdict: &Verdict, event: &Event) -> Option<Alert> {
    let name = |agent: AgentId| name_of(slice, verdict, agent);
    match &event.body {
        Body::LeaseOrphaned { lease, holder } => {
            let is_end = |event: &Event| matches!(&event.body, Body::AgentEnded { agent } if agent == holder);
            let is_halted = !verdict.events.iter().any(is_end);
            Some(Alert::Orphaned { agent: name(*holder)?, target: target_of(slice, *lease)?, is_halted })
        }
        Body::NegotiationForced { holder, target, reason, .. } => Some(Alert::Forced {
            by: event.actor.agent.and_then(name),
            holder: name(*holder)?,
            target: target.clone(),
            reason: reason.clone(),
        }),
        Body::ScopeFrozen { reason, .. } => Some(Alert::Paused { reason: reason.clone() }),
        _ => None,
    }
}

fn name_of(slice: &Slice, verdict: &Verdict, agent: AgentId) -> Option<AgentName> {
    let own = verdict.agent.iter().find(|(id, _)| *id == agent).map(|(_, name)| name.clone());
    slice.agent(agent).map(|view| view.agent.name.clone()).or(own)
}

fn target_of(slice: &Slice, id: LeaseId) -> Option<Target> {
    slice.leases.iter().find(|lease| lease.id == id).map(|lease| lease.target.clone())
}

/// Once for each edit and span that refusals are counted in: when there are just as many of it as count as a circle.
fn begins_to_loop(slice: &Slice, verdict: &Verdict) -> Option<Alert> {
    let (me, agent) = verdict.agent.clone()?;
    let memo = verdict.soft.iter().find_map(|soft| match soft {
        Soft::Noted { agent, memo } if *agent == me => Some(memo),
        _ => None,
    })?;
    let before = slice.agent(me).map(|view| view.memo.clone()).unwrap_or_default();
    memo.begins_to_loop(&before).map(|refused| Alert::Looping { agent, times: refused.times })
}
