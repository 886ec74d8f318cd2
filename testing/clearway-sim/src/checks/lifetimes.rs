//! I3 and I4, also across clock jumps: nothing ends early, nothing is done with a lease after its end, every end is
//! recorded once.

use super::way::{Way, may_yield};
use super::{Checked, Invariant, Scene, hold};
use crate::ledger::Ledger;
use clearway_core::command::Command;
use clearway_core::event::{Body, Event};
use clearway_core::ids::AgentId;
use clearway_core::lease::{ExpiryCause, Lease};
use clearway_core::time::{BootKey, Mono, Now};
use std::collections::BTreeMap;

/// When each agent really last did something.
#[derive(Debug, Default)]
pub(crate) struct Signs(BTreeMap<AgentId, (BootKey, Mono)>);

impl Signs {
    pub(crate) fn note(&mut self, agent: AgentId, now: &Now) {
        self.0.insert(agent, (now.boot.clone(), now.mono));
    }

    pub(crate) fn last(&self, agent: AgentId, now: &Now) -> Option<Mono> {
        self.0.get(&agent).filter(|(boot, _)| *boot == now.boot).map(|(_, at)| *at)
    }
}

/// Judges one event about a lease.
pub(crate) fn of_event(scene: &Scene<'_>, ledger: &Ledger, event: &Event, signs: &Signs) -> Checked {
    let lease = event.body.lease().and_then(|id| ledger.leases.get(&id));
    let Some(lease) = lease.filter(|lease| ledger.open.contains(&lease.id)) else { return Ok(()) };
    match &event.body {
        Body::LeaseExpired { cause, .. } => expired(scene, ledger, lease, *cause, signs),
        Body::LeaseYielded { .. } => {
            let way = Way { ledger, world: scene.world, now: scene.now };
            let is_over = lease.lasts_one_call() || way.is_unchanged(lease);
            let may = may_yield(lease) && (!scene.fresh || is_over);
            early(may, lease, "yielded while it was claimed or its file was changed")
        }
        Body::LeaseTakenOver { .. } => {
            let way = Way { ledger, world: scene.world, now: scene.now };
            let may = way.is_abandoned(lease) || is_forced(scene, ledger, lease);
            early(may, lease, "was taken over from somebody who is not provably gone")
        }
        body => {
            in_force(scene, ledger, lease, body.kind())?;
            match body {
                Body::LeaseRenewed { terms, .. }
                | Body::LeaseUpgraded { terms, .. }
                | Body::LeaseDowngraded { terms, .. }
                | Body::LeaseClaimed { terms, .. } => {
                    let capped = |end: Mono| lease.end_max.map_or(end, |max| end.min(max));
                    early(capped(terms.deadline) >= capped(lease.deadline), lease, "was shortened")
                }
                _ => Ok(()),
            }
        }
    }
}

/// Whether it is the lease that somebody takes by force, which is judged by the request that it was asked for with.
fn is_forced(scene: &Scene<'_>, ledger: &Ledger, lease: &Lease) -> bool {
    let Command::Force(force) = &scene.request.command else { return false };
    let asked = ledger.negotiations.get(&force.negotiation);
    asked.and_then(|asked| ledger.lease_asked_for(asked)).is_some_and(|asked| asked.id == lease.id)
}

fn early(condition: bool, lease: &Lease, what: &str) -> Checked {
    hold(condition, Invariant::I4NoEarlyEnd, || {
        format!("lease {} on {} {what}", lease.id, lease.target.display())
    })
}

fn in_force(scene: &Scene<'_>, ledger: &Ledger, lease: &Lease, what: &str) -> Checked {
    hold(ledger.is_live(lease, scene.now), Invariant::I3NoGrantAfterExpiry, || {
        let (end, now) = (ledger.ends_at(lease, scene.now).0, scene.now.mono.0);
        format!("{what} of lease {} at {now}, which ended at {end}", lease.id)
    })
}

fn expired(scene: &Scene<'_>, ledger: &Ledger, lease: &Lease, cause: ExpiryCause, signs: &Signs) -> Checked {
    let now = scene.now;
    let due = match cause {
        ExpiryCause::Reboot => lease.fence.epoch.0 < ledger.epoch,
        ExpiryCause::Recovery => matches!(scene.request.command, Command::Recover),
        ExpiryCause::ProcessGone => Way { ledger, world: scene.world, now }.has_lost_its_process(lease),
        ExpiryCause::Maximum => lease.end_max.is_some_and(|end| now.mono >= end),
        // A sign of life is noted when a quarter of the silence is over, not each time.
        ExpiryCause::Silence => {
            let sign = signs.last(lease.holder, now).map_or(0, |at| at.0 + lease.ttl_ms - lease.ttl_ms / 4);
            now.mono >= ledger.ends_at(lease, now) && now.mono.0 >= sign
        }
    };
    early(due, lease, &format!("expired by {} at {}", cause.word(), now.mono.0))
}

/// Judges the books after a step.
pub(crate) fn of_step(scene: &Scene<'_>, then: &Ledger, ledger: &Ledger, events: &[Event]) -> Checked {
    let now = scene.now;
    if !events.is_empty() {
        hold(ledger.boot.as_ref() == Some(&now.boot), Invariant::I4NoEarlyEnd, || {
            format!("something was written under {:?} in {}", ledger.boot, now.boot)
        })?;
    }
    for lease in ledger.open_leases() {
        let before = then.leases.get(&lease.id).filter(|lease| then.open.contains(&lease.id));
        let overdue = before.is_some_and(|before| !then.is_live(before, now));
        let risen = overdue && ledger.is_live(lease, now);
        let way = Way { ledger, world: scene.world, now };
        let overdue = overdue || (scene.fresh && way.has_lost_its_process(lease));
        hold(!risen, Invariant::I3NoGrantAfterExpiry, || format!("lease {} came back to life", lease.id))?;
        let swept = matches!(scene.request.command, Command::Sweep);
        hold(!(swept && overdue), Invariant::I4NoEarlyEnd, || format!("no sweep ended lease {}", lease.id))?;
        hold(lease.fence.epoch.0 == ledger.epoch || events.is_empty(), Invariant::I4NoEarlyEnd, || {
            format!("lease {} outlived its boot", lease.id)
        })?;
    }
    Ok(())
}
