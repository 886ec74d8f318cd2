//! What time does to leases before a command is looked at.

use super::draft::Draft;
use super::identify;
use super::identity::Identified;
use crate::command::{Command, Request, Reserve};
use crate::event::{Actor, Body};
use crate::facts::FactQuery;
use crate::failure::Failure;
use crate::hint::Hint;
use crate::ids::{Epoch, LeaseId};
use crate::lease::{ExpiryCause, Lease};
use crate::limits::EXPIRIES_PER_WRITE;
use crate::slice::ScopeState;
use crate::slug::Slug;
use crate::time::Now;
use crate::wait::WaitEnd;
use std::collections::{BTreeMap, BTreeSet};

/// Within one boot nothing committed can vanish: a log that is shorter than its witness remembers was damaged or put
/// back, and going on would hand out its fences again. A new boot may have lost the last moments with the power; its
/// new epoch makes that safe.
pub fn lost_tail(scope: &ScopeState, now: &Now) -> Option<Failure> {
    scope.has_lost_tail(now).then(|| {
        Failure::new(Slug::StoreCorrupt, scope.tail_is_lost())
            .hint("see what is known: clearway audit verify")
            .hint(Hint::for_operator(
                "go on without them; every lease ends: clearway doctor --repair --reason TEXT",
            ))
    })
}

impl Draft<'_> {
    /// The draft after everything that time did: the epoch is this boot's, and what ran out is recorded.
    /// A sweep also looks whether those who wait, and the processes that keep leases, still live.
    pub(super) fn caught_up(&mut self, request: &Request) -> Result<&mut Self, BTreeSet<FactQuery>> {
        self.begin_epoch(request);
        if matches!(request.command, Command::Sweep) {
            let mut unknown = self.evidence_of_waits();
            unknown.extend(self.evidence_of_leases(self.leases_now()));
            if !unknown.is_empty() {
                return Err(unknown);
            }
        }
        self.record_expiries(request);
        self.record_wait_ends()?;
        self.record_overdue();
        Ok(self)
    }

    /// The same for somebody who is about to hear who asks, and answers: those who are gone are known by then.
    pub(super) fn caught_up_for(
        &mut self,
        request: &Request,
        identified: &Identified,
    ) -> Result<&mut Self, BTreeSet<FactQuery>> {
        let unknown = self.unseen_askers(&request.command, identified);
        if unknown.is_empty() { self.caught_up(request) } else { Err(unknown) }
    }

    /// Opens the scope with its first event, and begins an epoch when the boot is not the one last seen.
    /// A new boot ends every lease of the old one: whoever held them died with it.
    fn begin_epoch(&mut self, request: &Request) {
        let fresh = self.slice.scope.rev.0 == 0;
        if fresh && !request.command.opens_scope() {
            return;
        }
        if fresh {
            let birth = &request.birth;
            self.push(Actor::KERNEL, Body::ScopeOpened { place: birth.place.clone(), fold: birth.fold });
        }
        let same_boot = self.slice.scope.is_of(&self.now.boot);
        let recovers = matches!(request.command, Command::Recover);
        let operator_reason = self.operator_reason.clone().filter(|_| recovers);
        match (same_boot, recovers) {
            (false, _) => self.move_epoch(ExpiryCause::Reboot, operator_reason),
            (true, true) => self.move_epoch(ExpiryCause::Recovery, operator_reason),
            (true, false) => {}
        }
    }

    fn move_epoch(&mut self, cause: ExpiryCause, operator_reason: Option<String>) {
        self.epoch = Epoch(self.slice.scope.epoch.0 + 1);
        let (epoch, boot, lost_tail) = (self.epoch, self.now.boot.clone(), self.slice.scope.lost_tail);
        self.push(self.recovered_by, Body::EpochBegan { epoch, boot, lost_tail, operator_reason });
        self.frozen = None;
        let ended: Vec<&Lease> = self.slice.leases.iter().filter(|lease| lease.ended.is_none()).collect();
        ended.into_iter().for_each(|lease| self.expire(lease, cause));
        let cause = if cause == ExpiryCause::Recovery { WaitEnd::Recovery } else { WaitEnd::Reboot };
        for view in self.queue.clone() {
            self.end_wait(Actor::KERNEL, &view, cause);
        }
    }

    pub(super) fn refuse_lost_tail(&self, request: &Request) -> Result<(), Failure> {
        match request.command {
            Command::Recover => Ok(()),
            _ => lost_tail(&self.slice.scope, self.now).map_or(Ok(()), Err),
        }
    }

    /// Records what is over of what somebody is granted now, whoever's request brought its turn.
    pub(super) fn record_over(&mut self, wanted: &Reserve) {
        let slice = self.slice;
        let touched = |lease: &Lease| wanted.touches(&lease.target, &lease.worktree);
        let over =
            self.view().overdue().filter(|(lease, _)| !self.ended.contains(&lease.id) && touched(lease));
        let over: BTreeMap<LeaseId, ExpiryCause> = over.map(|(lease, cause)| (lease.id, cause)).collect();
        for lease in &slice.leases {
            if let Some(cause) = over.get(&lease.id) {
                self.expire(lease, *cause);
            }
        }
    }

    /// Records the expiry of every overdue lease that concerns the request, and of those that are over for longest, each
    /// exactly once. Order and bound hold here and not by what an engine loads: one that loads more writes the same
    /// log. Which processes are dead is known only as far as somebody asked, so what they left is recorded where it
    /// concerns the request.
    fn record_expiries(&mut self, request: &Request) {
        let everything = matches!(request.command, Command::Sweep | Command::Recover);
        let caller = identify(self.slice, &request.caller).ok().and_then(|identified| identified.known);
        let caller = caller.map(|view| view.agent.id);
        let share = if everything { usize::MAX } else { EXPIRIES_PER_WRITE };
        let (view, slice) = (self.view(), self.slice);
        let open = view.overdue().filter(|(lease, _)| !self.ended.contains(&lease.id));
        let (mut left, mut overdue): (Vec<_>, Vec<_>) =
            open.partition(|(_, cause)| *cause == ExpiryCause::ProcessGone);
        overdue.sort_by_key(|(lease, _)| (lease.deadline_given(view.last_seen(lease.holder)), lease.id));
        left.sort_by_key(|(lease, _)| lease.id);
        let concerns = |lease: &Lease| everything || request.concerns(lease, slice, caller);
        let within_share = overdue.iter().take(share).map(|(lease, _)| lease.id).collect::<BTreeSet<_>>();
        for (lease, cause) in overdue.into_iter().chain(left) {
            if within_share.contains(&lease.id) || concerns(lease) {
                self.expire(lease, cause);
            }
        }
    }

    /// What has to be known of the processes that keep these leases, to tell which of them are over.
    pub(super) fn evidence_of_leases<'l>(
        &self,
        leases: impl IntoIterator<Item = &'l Lease>,
    ) -> BTreeSet<FactQuery> {
        let kept = leases.into_iter().filter_map(|lease| lease.bound.as_ref());
        let unknown = kept.filter(|process| self.facts.process(process).is_none());
        unknown.cloned().map(FactQuery::Process).collect()
    }

    fn expire(&mut self, lease: &Lease, cause: ExpiryCause) {
        let last_seen = self.view().last_seen(lease.holder);
        let (lease, holder) = (lease.id, lease.holder);
        self.ended.insert(lease);
        self.expired.push(lease);
        self.push(Actor::KERNEL, Body::LeaseExpired { lease, holder, cause, last_seen });
    }
}
