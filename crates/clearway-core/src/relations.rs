//! How requests stand to each other and to leases: in each other's way, for something in common, one within the other.

use crate::command::Reserve;
use crate::lease::Lease;
use crate::target::{Target, Worktree};

impl Reserve {
    /// Whether a lease would keep this request from being granted, were its holder somebody else.
    pub fn conflicts_with_lease(&self, lease: &Lease) -> bool {
        self.mode.conflicts_with(lease.mode)
            && self
                .wants
                .iter()
                .any(|want| lease.is_on(&want.target) && self.same_space(&want.target, &lease.worktree))
    }

    /// Whether two requests would be in each other's way.
    pub fn conflicts_with(&self, other: &Self) -> bool {
        self.mode.conflicts_with(other.mode) && self.meets(other)
    }

    /// Whether two requests are for something in common.
    pub fn meets(&self, other: &Self) -> bool {
        self.wants.iter().any(|want| other.touches(&want.target, &self.worktree))
    }

    /// Whether this request is for something that overlaps `target`.
    pub fn touches(&self, target: &Target, worktree: &Worktree) -> bool {
        self.wants.iter().any(|want| want.target.overlaps(target) && self.same_space(&want.target, worktree))
    }

    /// Whether getting this request is getting all of `other`.
    pub fn includes(&self, other: &Self) -> bool {
        let covered = |target: &Target| self.wants.iter().any(|want| want.target.covers(target));
        self.mode >= other.mode
            && other
                .wants
                .iter()
                .all(|want| covered(&want.target) && self.same_space(&want.target, &other.worktree))
    }

    /// Names are shared by all checkouts, paths are not.
    fn same_space(&self, target: &Target, worktree: &Worktree) -> bool {
        matches!(target, Target::Name(_)) || self.worktree == *worktree
    }
}
