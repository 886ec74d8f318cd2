//! Who asks from inside a command for what that command keeps: it is given back only after the asker has ended, so waiting
//! for it would never end.

use super::draft::Draft;
use super::plan::{Planner, Step, blockers};
use super::queue::Asking;
use crate::command::Reserve;
use crate::facts::FactQuery;
use crate::failure::{Details, Failure};
use crate::lease::Lease;
use crate::slug::Slug;
use std::collections::BTreeSet;

/// The lease of a command that the caller runs inside of and that keeps the request from ever being granted. Under best
/// effort, any part will do.
pub(super) fn never(
    draft: &Draft<'_>,
    reserve: &Reserve,
    asking: Asking<'_>,
) -> Result<Option<Lease>, BTreeSet<FactQuery>> {
    if !blockers(asking.steps).iter().any(|view| view.lease.bound.is_some()) {
        return Ok(None);
    }
    let Some(above) = draft.facts.above() else { return Err(BTreeSet::from([FactQuery::Above])) };
    let planner = Planner::new(draft, asking.me, reserve);
    let blocked = reserve.wants.iter().zip(asking.steps).filter(|(_, step)| matches!(step, Step::Blocked(_)));
    let found: Vec<Option<&Lease>> = blocked.map(|(want, _)| planner.never_free(want, above)).collect();
    let is_never = match reserve.best_effort {
        true => found.iter().all(Option::is_some),
        false => found.iter().any(Option::is_some),
    };
    Ok(found.into_iter().flatten().next().filter(|_| is_never).cloned())
}

impl Draft<'_> {
    /// Refuses a request from inside, and records that.
    pub(super) fn refuse_inside(&mut self, reserve: &Reserve, asking: Asking<'_>, around: &Lease) -> Failure {
        let leases = blockers(asking.steps);
        let ids = leases.iter().map(|view| view.lease.id).collect();
        self.refuse_leases(asking.actor, "inside", (reserve.mode, reserve.wants.iter()), ids);
        let target = around.target.display();
        let message = format!("this runs inside a command that holds {target} until it ends");
        Failure::new(Slug::WouldDeadlock, message)
            .hint("run it as it is: what it needs is held already")
            .details(Details::Blockers { leases, ahead: Box::default() })
    }
}
