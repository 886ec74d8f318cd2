//! What is said of leases that are over, or not the ones that somebody believes to hold.

use super::draft::Draft;
use super::{Left, Notice};
use crate::agent::AgentName;
use crate::command::LeaseRef;
use crate::failure::{Details, Failure, LeaseView};
use crate::hint::Hint;
use crate::ids::{AgentId, LeaseId};
use crate::lease::{End, Lease};
use crate::slug::Slug;
use crate::target::Target;
use std::collections::BTreeSet;

/// The lease with this id, live or ended.
pub(super) fn find(draft: &Draft<'_>, id: LeaseId) -> Result<Lease, Failure> {
    if draft.slice.unreadable.iter().any(|row| row == id.as_str()) {
        let message = format!("the stored row of lease {id} cannot be read");
        return Err(Failure::new(Slug::UnreadableRow, message)
            .hint("rebuild it from the log: clearway doctor --repair"));
    }
    draft.slice.lease(id).cloned().ok_or_else(|| {
        Failure::new(Slug::NotFound, format!("no lease has the id {id}"))
            .hint("list the leases: clearway leases")
    })
}

/// A fence, once presented, has to be the lease's own.
pub(super) fn is_current(draft: &Draft<'_>, wanted: &LeaseRef, lease: &Lease) -> Result<(), Failure> {
    match wanted.fence {
        Some(fence) if fence != lease.fence => {
            let message = format!("lease {} has fence {}, not {fence}", lease.id, lease.fence);
            Err(stale(draft, Slug::StaleFence, message, lease))
        }
        _ => Ok(()),
    }
}

/// Whether nobody ended the lease, before this decision or in it.
pub(super) fn is_live(draft: &Draft<'_>, lease: &Lease) -> bool {
    lease.ended.is_none() && !draft.ended.contains(&lease.id)
}

/// What is over is nobody's, whoever names it.
pub(super) fn refuse_ended(draft: &Draft<'_>, lease: &Lease) -> Result<(), Failure> {
    if is_live(draft, lease) {
        return Ok(());
    }
    let how = lease.ended.map_or("has expired", |ended| match ended.how {
        End::Released => "was released",
        End::Expired(_) => "has expired",
        End::Yielded => "made room for another agent",
        End::TakenOver => "was taken over",
        End::Orphaned => {
            match draft.slice.agent(lease.holder).map(|view| Left::of(&view.agent, Some(ended.at))) {
                Some(Left::Ended) => "was left behind when its session ended",
                Some(Left::Halted) => "was left behind when a person stopped its holder",
                Some(Left::Earlier) | None => "was left behind with changes",
            }
        }
    });
    let message = format!("lease {} on {} {how}", lease.id, draft.placed(lease));
    Err(stale(draft, Slug::LeaseExpired, message, lease))
}

/// A stale answer says who holds the thing now.
fn stale(draft: &Draft<'_>, slug: Slug, message: String, lease: &Lease) -> Failure {
    let view = draft.view();
    let is_anothers = is_live(draft, lease) && Some(lease.holder) != draft.me();
    let same = |other: &&Lease| {
        let is_other = other.id != lease.id || is_anothers;
        is_other && other.worktree == lease.worktree && other.overlaps(lease)
    };
    let held_now: Vec<LeaseView> =
        view.live_except(&draft.ended).filter(same).filter_map(|other| draft.show(other)).collect();
    let holder = held_now.first().map(|other| other.agent.clone());
    let failure = held_now_by(slug, message, holder, lease);
    // This very decision may have found the end that the row does not state yet.
    let as_it_is = Lease { ended: view.ended(lease), ..lease.clone() };
    match draft.show(&as_it_is) {
        Some(shown) => failure.details(Details::Lease { lease: Box::new(shown), held_now }),
        None => failure,
    }
}

fn held_now_by(slug: Slug, message: String, holder: Option<AgentName>, lease: &Lease) -> Failure {
    let now = holder.map(|holder| format!("; {holder} holds it now")).unwrap_or_default();
    let target = lease.target.canonical();
    Failure::new(slug, format!("{message}{now}")).hint(match lease.target {
        Target::Path(_) => Hint::command("read the file again, then reserve anew", "reserve", &[target])
            .about(&lease.worktree),
        Target::Name(_) => Hint::about_name("reserve it anew", "reserve", target),
    })
}

/// Of leases that were looked at, those of a family that ran out and of which it holds nothing since, the latest first.
pub fn ran_out<'a>(leases: &'a [LeaseView], family: &BTreeSet<AgentId>) -> Vec<&'a LeaseView> {
    let own = || leases.iter().filter(|view| family.contains(&view.lease.holder));
    let is_since = |view: &LeaseView, old: &Lease| {
        view.lease.fence > old.fence && view.lease.worktree == old.worktree && view.lease.overlaps(old)
    };
    let mut found: Vec<&LeaseView> = own()
        .filter(|view| {
            let ran_out = view.lease.ended.is_some_and(|ended| matches!(ended.how, End::Expired(_)));
            ran_out && view.lease.bound.is_none() && !own().any(|later| is_since(later, &view.lease))
        })
        .collect();
    found.sort_by_key(|view| std::cmp::Reverse(view.lease.fence));
    found
}

/// Whoever would go on holding what ran out is told so, and who has it since.
pub fn lease_ran_out(old: &LeaseView, leases: &[LeaseView]) -> Failure {
    let message = format!("lease {} on {} has expired", old.lease.id, old.lease.target.display());
    let held_now = held_since(old, leases);
    let holder = held_now.first().map(|view| view.agent.clone());
    held_now_by(Slug::LeaseExpired, message, holder, &old.lease)
        .details(Details::Lease { lease: Box::new(old.clone()), held_now })
}

/// The same beside an answer that it is no part of.
pub fn told_of_lapse(old: &LeaseView, leases: &[LeaseView]) -> Option<Notice> {
    let how = old.lease.ended?.how;
    let held_by = held_since(old, leases).into_iter().next().map(|view| view.agent);
    Some(Notice::Lapsed { lease: old.lease.id, target: old.lease.target.display(), how, held_by })
}

fn held_since(old: &LeaseView, leases: &[LeaseView]) -> Vec<LeaseView> {
    let is_there = |view: &&LeaseView| {
        view.lease.ended.is_none()
            && view.lease.worktree == old.lease.worktree
            && view.lease.overlaps(&old.lease)
    };
    leases.iter().filter(is_there).cloned().collect()
}
