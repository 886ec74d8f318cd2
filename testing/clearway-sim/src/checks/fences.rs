//! I2: fences strictly increase, epochs too, and a stale fence changes nothing.

use super::{Checked, Invariant, Scene, hold};
use crate::ledger::Ledger;
use clearway_core::command::{Command, LeaseRef, Release, Renew, Selection, Transfer};
use clearway_core::event::{Body, Event};
use clearway_core::ids::{Epoch, Fence};
use clearway_store::Reply;

/// Judges the fence or epoch that an event states.
pub(crate) fn of_event(scene: &Scene<'_>, ledger: &Ledger, event: &Event) -> Checked {
    match &event.body {
        Body::LeaseGranted(lease) => {
            let own = Fence { epoch: Epoch(ledger.epoch), seq: event.seq };
            hold(lease.fence == own && ledger.highest_fence < Some(own), Invariant::I2Fences, || {
                format!(
                    "event {} grants the fence {:?} after {:?}",
                    event.seq, lease.fence, ledger.highest_fence
                )
            })
        }
        Body::EpochBegan { epoch, boot, .. } => {
            let rises = epoch.0 == ledger.epoch + 1 && *boot == scene.now.boot;
            hold(rises, Invariant::I2Fences, || format!("epoch {} follows {}", epoch.0, ledger.epoch))
        }
        _ => Ok(()),
    }
}

/// Judges what a caller achieved that presented a fence.
pub(crate) fn of_step(scene: &Scene<'_>, then: &Ledger, events: &[Event], reply: &Reply) -> Checked {
    for wanted in presented(&scene.request.command) {
        let Some(lease) = then.leases.get(&wanted.id) else { continue };
        if wanted.fence.is_none_or(|fence| fence == lease.fence) {
            continue;
        }
        let about = |event: &&Event| event.body.lease() == Some(wanted.id) && event.actor.agent.is_some();
        let changed = events.iter().find(about);
        let refused = reply.outcome.is_err() || reply.replayed;
        hold(changed.is_none() && refused, Invariant::I2Fences, || {
            format!(
                "fence {:?} of lease {}, whose fence is {:?}, did something",
                wanted.fence, wanted.id, lease.fence
            )
        })?;
    }
    Ok(())
}

/// The leases a request names.
pub(crate) fn presented(command: &Command) -> &[LeaseRef] {
    match command {
        Command::Renew(Renew { selection: Selection::These { leases, .. }, .. })
        | Command::Release(Release { selection: Selection::These { leases, .. }, .. })
        | Command::Transfer(Transfer { selection: Selection::These { leases, .. }, .. }) => leases,
        _ => &[],
    }
}
