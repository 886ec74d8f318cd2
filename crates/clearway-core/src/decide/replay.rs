//! What a remembered answer cannot know: which of the leases it granted are over by now, and who holds since then
//! what they were on.

use super::view::View;
use super::{Notice, Success};
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

/// What to say beside an answer that is given once more.
pub fn since_granted(success: &Success, slice: &Slice, now: &Now) -> Vec<Notice> {
    let view = View::new(slice, now);
    success.granted().iter().filter_map(|granted| lapsed(&view, slice, &granted.lease)).collect()
}

fn lapsed(view: &View<'_>, slice: &Slice, granted: &Lease) -> Option<Notice> {
    let ended = view.ended(slice.lease(granted.id)?)?;
    let same = |other: &&Lease| other.worktree == granted.worktree && other.target.overlaps(&granted.target);
    let held_by = view.live().find(same).and_then(|other| view.holder(other));
    Some(Notice::Lapsed {
        lease: granted.id,
        target: granted.target.display(),
        how: ended.how,
        held_by: held_by.map(|holder| holder.agent.name.clone()),
    })
}
