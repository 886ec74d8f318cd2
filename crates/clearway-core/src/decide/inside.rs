//! Who asks from inside a command for what that command keeps: it is given back only after the asker has ended, so waiting
//! for it would never end.

use super::draft::Draft;
use super::plan::{Blocked, Step, blockers};
use crate::command::{Reserve, Want};
use crate::event::{Actor, Body};
use crate::facts::{FactQuery, Facts};
use crate::failure::{Details, Failure, LeaseView};
use crate::lease::Mode;
use crate::slug::Slug;
use std::collections::BTreeSet;

/// The lease of a command that the caller runs inside of and that keeps the request from ever being granted. A resource
/// with room for several may be had from others that hold it; under best effort, any part will do.
pub(super) fn never(
    reserve: &Reserve,
    steps: &[Step],
    facts: &Facts,
) -> Result<Option<LeaseView>, BTreeSet<FactQuery>> {
    let leases = blockers(steps);
    let kept = leases.iter().filter_map(|view| view.lease.bound.as_ref());
    let unknown: BTreeSet<FactQuery> =
        kept.filter(|process| facts.inside(process).is_none()).cloned().map(FactQuery::Inside).collect();
    if !unknown.is_empty() {
        return Err(unknown);
    }
    let found: Vec<Option<LeaseView>> = reserve
        .wants
        .iter()
        .zip(steps)
        .filter_map(|(want, step)| match step {
            Step::Blocked(blocked) => Some(around(reserve.mode, want, blocked, facts)),
            _ => None,
        })
        .collect();
    let is_never = match reserve.best_effort {
        true => found.iter().all(Option::is_some),
        false => found.iter().any(Option::is_some),
    };
    Ok(found.into_iter().flatten().next().filter(|_| is_never))
}

/// The command around the caller that keeps so much of one thing that others have nothing to give.
fn around(mode: Mode, want: &Want, blocked: &Blocked, facts: &Facts) -> Option<LeaseView> {
    let is_around = |view: &&LeaseView| {
        view.lease.bound.as_ref().is_some_and(|process| facts.inside(process) == Some(true))
    };
    let mut around = blocked.leases.iter().filter(is_around);
    let units = around.clone().filter_map(|view| view.lease.slot).collect::<BTreeSet<_>>().len();
    let shares = around.clone().any(|view| view.lease.mode == Mode::Shared);
    let is_all = mode == Mode::Shared || shares || units >= want.capacity.max(1) as usize;
    around.next().filter(|_| is_all).cloned()
}

impl Draft<'_> {
    /// Refuses a request from inside, and records that.
    pub(super) fn refuse_inside(
        &mut self,
        actor: Actor,
        reserve: &Reserve,
        steps: &[Step],
        around: &LeaseView,
    ) -> Failure {
        let leases = blockers(steps);
        let (mode, blockers) = (reserve.mode, leases.iter().map(|view| view.lease.id).collect::<Vec<_>>());
        let targets: Vec<String> =
            reserve.wants.iter().map(|want| want.target.canonical().to_owned()).collect();
        let key = format!("inside {} {targets:?} {blockers:?}", mode.word());
        self.refuse(actor, key, |repeats| Body::ReservationRefused { targets, mode, blockers, repeats });
        let target = around.lease.target.display();
        let message = format!("this runs inside a command that holds {target} until it ends");
        Failure::new(Slug::WouldDeadlock, message)
            .hint("run it as it is: what it needs is held already")
            .details(Details::Blockers { leases, ahead: Box::default() })
    }
}
