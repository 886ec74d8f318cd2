//! I12: nobody waits for what a command keeps that it runs inside of: that is given back only after the asker has ended.

use super::way::{Asker, Way, units};
use super::{Checked, Invariant, Scene, hold};
use crate::ground;
use crate::ledger::Ledger;
use clearway_core::command::Want;
use clearway_core::event::{Body, Event};
use clearway_core::failure::Details;
use clearway_core::lease::{Lease, Mode};
use clearway_core::slug::Slug;
use clearway_store::Reply;

/// Judges whether a wait that begins can end.
pub(crate) fn of_event(scene: &Scene<'_>, ledger: &Ledger, event: &Event) -> Checked {
    let Body::WaitBegan(wait) = &event.body else { return Ok(()) };
    let way = Way { ledger, world: scene.world, now: scene.now };
    let asker = way.waiter(wait);
    let never = asker.wants().any(|want| is_kept_around(&way, &asker, want));
    hold(!never || !scene.fresh, Invariant::I12Circle, || {
        format!("wait {} is for what is kept around it", wait.id)
    })
}

/// Nobody is told that a command around it keeps what it asks for unless one does.
pub(crate) fn of_step(scene: &Scene<'_>, ledger: &Ledger, reply: &Reply) -> Checked {
    let (Err(failure), Some(me), Some(wanted)) = (&reply.outcome, scene.me, scene.request.wanted()) else {
        return Ok(());
    };
    let is_told = failure.slug == Slug::WouldDeadlock && matches!(failure.details, Details::Blockers { .. });
    let way = Way { ledger, world: scene.world, now: scene.now };
    let asker = way.asker(me, wanted);
    let is_so = asker.wants().any(|want| is_kept_around(&way, &asker, want));
    hold(!is_told || !scene.fresh || is_so, Invariant::I12Circle, || "nothing is kept around it".to_owned())
}

/// Whether commands around the asker keep all there is of a thing.
fn is_kept_around(way: &Way<'_>, asker: &Asker<'_>, want: &Want) -> bool {
    let above = way.world.above();
    let mut kept = way.leases(asker, want);
    let is_around = |lease: &Lease| lease.bound.as_ref().is_some_and(|process| above.contains(process));
    kept.retain(|lease| is_around(lease) && !way.is_takeable(lease));
    let several =
        asker.wanted.mode == Mode::Exclusive && kept.iter().all(|lease| lease.mode == Mode::Exclusive);
    let free = if several { ground::capacity(&want.target) - 1 } else { 0 };
    way.own(asker, want).is_none() && units(&kept) > free
}
