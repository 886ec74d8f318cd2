//! I1: no two live overlapping exclusive leases of different holders, and no more holders than units.

use super::way::{Asker, Way, is_conflict, units};
use super::{Checked, Invariant, Scene, hold};
use crate::ground;
use crate::ledger::Ledger;
use clearway_core::command::{Reserve, Want};
use clearway_core::event::{Body, Event};
use clearway_core::lease::{Grade, Lease, Mode};
use clearway_core::target::Target;
use clearway_core::time::Now;
use std::collections::BTreeSet;

/// Judges what is in force now.
pub(crate) fn of_state(ledger: &Ledger, now: &Now) -> Checked {
    let live = ledger.live(now);
    for (index, one) in live.iter().enumerate() {
        for other in &live[index + 1..] {
            let apart = !may_meet(ledger, one, other);
            let several = ground::capacity(&one.target) > 1;
            hold(!apart || (several && one.mode == other.mode), Invariant::I1OneHolder, || {
                format!("{} beside {}", told(ledger, one), told(ledger, other))
            })?;
            let same_unit = one.slot.is_some() && one.slot == other.slot && one.target == other.target;
            hold(!same_unit || !apart, Invariant::I1OneHolder, || {
                format!("one unit twice: {} and {}", told(ledger, one), told(ledger, other))
            })?;
        }
        hold(one.slot.is_none_or(|slot| (slot as usize) < units_of(one)), Invariant::I1OneHolder, || {
            format!("there is no such unit: {}", told(ledger, one))
        })?;
        let families: BTreeSet<_> = live
            .iter()
            .filter(|other| other.target == one.target && other.mode == Mode::Exclusive)
            .map(|other| ledger.family(other.holder))
            .collect();
        let units = units_of(one);
        let is_name = matches!(one.target, Target::Name(_));
        hold(!is_name || families.len() <= units, Invariant::I1OneHolder, || {
            format!("{} families hold {units} units of {}", families.len(), one.target.display())
        })?;
    }
    Ok(())
}

fn units_of(lease: &Lease) -> usize {
    ground::capacity(&lease.target)
}

/// Whether two live leases may exist at once.
fn may_meet(ledger: &Ledger, one: &Lease, other: &Lease) -> bool {
    let related = ledger.is_above(one.holder, other.holder) || ledger.is_above(other.holder, one.holder);
    let two_commands = one.holder == other.holder
        && one.bound.is_some()
        && other.bound.is_some()
        && one.bound != other.bound;
    !ground::meet(one, other) || !is_conflict(one.mode, other.mode) || (related && !two_commands)
}

fn told(ledger: &Ledger, lease: &Lease) -> String {
    let agent = ledger.agents.get(&lease.holder).map_or("nobody", |agent| agent.name.as_str());
    format!("{} {} of {agent} ({})", lease.mode.word(), lease.target.display(), lease.id)
}

/// Judges a grant by what was in force before it.
pub(crate) fn of_grant(scene: &Scene<'_>, ledger: &Ledger, event: &Event) -> Checked {
    let Body::LeaseGranted(lease) = &event.body else { return Ok(()) };
    if scene.keeps(lease) {
        return Ok(());
    }
    let capacity = u32::try_from(ground::capacity(&lease.target)).unwrap_or(1);
    let wanted = Reserve {
        wants: vec![Want { target: lease.target.clone(), capacity }],
        worktree: lease.worktree.clone(),
        mode: lease.mode,
        grade: Grade::Claimed,
        as_set: false,
        ttl_ms: lease.ttl_ms,
        max_ms: None,
        reason: None,
        best_effort: false,
        bound: lease.bound.clone(),
        makes_way: false,
    };
    let way = Way { ledger, world: scene.world, now: scene.now };
    let asker = Asker { agent: lease.holder, wanted: &wanted, place: 0 };
    let found = way.leases(&asker, &wanted.wants[0]);
    hold(units(&found) <= way.free(&asker, &wanted.wants[0]), Invariant::I1OneHolder, || {
        let others: Vec<String> = found.iter().map(|other| told(ledger, other)).collect();
        format!("{} was granted beside {}", told(ledger, lease), others.join(", "))
    })
}
