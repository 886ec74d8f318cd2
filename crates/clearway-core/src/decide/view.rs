//! Effective state: the leases of a slice that live at this instant, with their holders.

use crate::agent::{self, Liveness};
use crate::facts::Facts;
use crate::ids::{AgentId, LeaseId};
use crate::lease::{End, Ended, ExpiryCause, Lease};
use crate::slice::{AgentView, Slice};
use crate::time::{Mono, Now};
use std::collections::BTreeSet;

/// A slice at one instant.
#[derive(Clone, Copy, Debug)]
pub(super) struct View<'a> {
    slice: &'a Slice,
    now: &'a Now,
    facts: &'a Facts,
    /// False right after a change of boot: deadlines of the old clock mean nothing on the new one.
    same_boot: bool,
}

impl<'a> View<'a> {
    pub(super) fn new(slice: &'a Slice, now: &'a Now, facts: &'a Facts) -> Self {
        let same_boot = slice.scope.is_of(&now.boot);
        Self { slice, now, facts, same_boot }
    }

    /// Leases that nobody ended, no clock ran out on and no process left behind.
    pub(super) fn live(&self) -> impl Iterator<Item = &'a Lease> + use<'a> {
        let view = *self;
        view.slice.leases.iter().filter(move |lease| view.is_live(lease))
    }

    /// Leases that nobody ended but that are over, and why.
    pub(super) fn overdue(&self) -> impl Iterator<Item = (&'a Lease, ExpiryCause)> + use<'a> {
        let view = *self;
        view.slice.leases.iter().filter_map(move |lease| match (lease.ended, view.ended(lease)?.how) {
            (None, End::Expired(cause)) => Some((lease, cause)),
            _ => None,
        })
    }

    pub(super) fn is_live(&self, lease: &Lease) -> bool {
        self.ended(lease).is_none()
    }

    /// How the lease is over, whether or not that was recorded.
    pub(super) fn ended(&self, lease: &Lease) -> Option<Ended> {
        lease.ended_given(self.last_seen(lease.holder), self.now, self.same_boot, self.facts)
    }

    pub(super) fn last_seen(&self, agent: AgentId) -> Option<Mono> {
        self.slice.agent(agent).filter(|_| self.same_boot).and_then(AgentView::last_seen)
    }

    pub(super) fn holder(&self, lease: &Lease) -> Option<&'a AgentView> {
        self.slice.agent(lease.holder)
    }

    pub(super) fn liveness(&self, holder: &AgentView) -> Liveness {
        let seen = holder.at_work().filter(|_| self.same_boot);
        agent::liveness(&holder.agent, seen, self.facts, self.now.mono)
    }

    /// Live leases without those in `except`.
    pub(super) fn live_except<'b>(
        &self,
        except: &'b BTreeSet<LeaseId>,
    ) -> impl Iterator<Item = &'a Lease> + use<'a, 'b> {
        self.live().filter(move |lease| !except.contains(&lease.id))
    }
}
