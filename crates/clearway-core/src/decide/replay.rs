//! What is said beside an answer about leases: which of them are over by now, and who holds since then what they
//! were on, which a remembered answer cannot know; and which last longer than was asked for.

use super::view::View;
use super::{Notice, Success};
use crate::facts::Facts;
use crate::failure::LeaseView;
use crate::lease::Lease;
use crate::slice::{ReadSet, Slice};
use crate::time::Now;

impl Success {
    /// The state to compare this answer with when it is given once more.
    pub fn read_again(&self) -> ReadSet {
        let mut read = ReadSet::default();
        for LeaseView { lease, .. } in self.granted() {
            read.leases.push(lease.id);
            read.meet(&lease.worktree, &lease.target);
        }
        read.waits = matches!(self, Self::Queued { .. });
        read.for_the_answer_alone()
    }

    fn granted(&self) -> &[LeaseView] {
        match self {
            Self::Reserved { leases, .. } | Self::Renewed(leases) | Self::Transferred(leases) => leases,
            Self::Released { remaining, .. } => remaining,
            _ => &[],
        }
    }
}

/// Which of the leases last longer than the span that was asked for, because no request brings an end nearer. One that a
/// command is run under lasts as long as that.
pub fn not_shortened(success: &Success, asked_ttl_ms: u64, now: &Now) -> Vec<Notice> {
    let longer =
        |view: &&LeaseView| view.lease.bound.is_none() && view.deadline.since(now.mono) > asked_ttl_ms;
    let notice = |view: &LeaseView| Notice::NotShortened {
        lease: view.lease.id,
        target: view.lease.target.display(),
        left_ms: view.deadline.since(now.mono),
    };
    success.granted().iter().filter(longer).map(notice).collect()
}

/// What to say beside an answer that is given once more.
pub fn since_granted(success: &Success, slice: &Slice, now: &Now) -> Vec<Notice> {
    let nothing_asked = Facts::default();
    let view = View::new(slice, now, &nothing_asked);
    let leases = success.granted().iter().map(|granted| &granted.lease);
    let since = |lease: &Lease| lapsed(&view, slice, lease).or_else(|| moved_on(&view, slice, lease));
    leases.filter_map(since).chain(waits_no_more(success, slice)).collect()
}

/// What to say of a lease that somebody else has by now.
fn moved_on(view: &View<'_>, slice: &Slice, granted: &Lease) -> Option<Notice> {
    let lease = slice.lease(granted.id).filter(|lease| lease.holder != granted.holder)?;
    let to = view.holder(lease)?.agent.name.clone();
    Some(Notice::MovedOn { lease: lease.id, target: lease.target.display(), to })
}

/// What to say of a place in the queue that is gone.
fn waits_no_more(success: &Success, slice: &Slice) -> Option<Notice> {
    let Success::Queued { queued, .. } = success else { return None };
    let is_gone = slice.waits.iter().all(|view| view.wait.id != queued.wait.id);
    is_gone.then_some(Notice::WaitOver { wait: queued.wait.id })
}

/// What to say of a lease that is over: how it ended, and who has it since.
pub(super) fn lapsed(view: &View<'_>, slice: &Slice, granted: &Lease) -> Option<Notice> {
    let ended = view.ended(slice.lease(granted.id)?)?;
    let same = |other: &&Lease| other.worktree == granted.worktree && other.overlaps(granted);
    let held_by = view.live().find(same).and_then(|other| view.holder(other));
    Some(Notice::Lapsed {
        lease: granted.id,
        target: granted.target.display(),
        how: ended.how,
        held_by: held_by.map(|holder| holder.agent.name.clone()),
    })
}
