//! Files that somebody holds and somebody else wrote: recorded, and told to the holder. Once for each file and writer, and
//! again when the holder has edited that very file meanwhile: whoever writes it over and over would tell nothing new.

use super::draft::Draft;
use super::plan::{Blocked, Planner, Step};
use crate::command::{Care, Reserve, Used};
use crate::event::{Actor, Body};
use crate::facts::FactQuery;
use crate::failure::LeaseView;
use crate::ids::AgentId;
use crate::lease::Lease;
use crate::limits::{OVERWRITTEN_PER_AGENT_MAX, OVERWRITTEN_PER_CALL_MAX};
use crate::slice::{Note, Overwritten};
use crate::target::{Target, Worktree};
use std::collections::BTreeSet;

impl Draft<'_> {
    /// A call wrote these files. Those that its agent would be kept from are told of to whoever keeps it from them: what it
    /// has a lease on is its own, and from what git ignores nobody is kept.
    pub(super) fn report_written(
        &mut self,
        me: AgentId,
        actor: Actor,
        files: &[Used],
        worktree: &Worktree,
    ) -> Result<(), BTreeSet<FactQuery>> {
        // What everybody writes is nobody's.
        let leased = files.iter().filter(|used| used.how != Care::Common).map(|used| &used.target);
        let is_on = |lease: &Lease, target: &Target| {
            lease.is_in(worktree) && lease.is_on(target) && self.can_block(lease.holder, me)
        };
        let met = leased.filter(|target| self.leases_now().any(|lease| is_on(lease, target)));
        let met: Vec<Target> = met.take(OVERWRITTEN_PER_CALL_MAX).cloned().collect();
        if met.is_empty() {
            return Ok(());
        }
        let edit = Reserve::edit(met, worktree.clone());
        let steps = Planner::new(self, me, &edit).plan()?;
        for (want, step) in edit.wants.iter().zip(steps) {
            let Step::Blocked(Blocked { leases, .. }) = step else { continue };
            for LeaseView { lease, .. } in leases {
                self.report_overwritten(&lease, want.target.display(), Some((me, actor)));
            }
        }
        Ok(())
    }

    /// A file that a lease is on was written; by whom, if that is known.
    pub(super) fn report_overwritten(&mut self, lease: &Lease, path: String, by: Option<(AgentId, Actor)>) {
        let (writer, actor) = by.unzip();
        let new = Overwritten { lease: lease.id, path: path.clone(), by: writer };
        if self.memo_of(lease.holder).is_some_and(|memo| memo.overwritten.contains(&new)) {
            return;
        }
        self.remember_overwritten(lease.holder, new);
        let body = Body::LeaseOverwritten { lease: lease.id, holder: lease.holder, path: path.clone() };
        self.push(actor.unwrap_or(Actor::KERNEL), body);
        let by = writer.map(|writer| self.name_of(writer));
        self.note(lease.holder, Note::WrittenOver { target: path, by });
    }

    /// What was written over goes to whoever is handed the lease: it is as unseen as before.
    pub(super) fn hand_on_overwritten(&mut self, lease: &Lease, to: AgentId) {
        let is_its = |known: &&Overwritten| known.lease == lease.id;
        let known = self.memo_of(lease.holder).map(|memo| memo.overwritten.iter().filter(is_its).cloned());
        let known: Vec<Overwritten> = known.into_iter().flatten().collect();
        if !known.is_empty() {
            self.memo(lease.holder).overwritten.retain(|own| !known.contains(own));
            known.into_iter().for_each(|known| self.remember_overwritten(to, known));
        }
    }

    /// Of more, the latest.
    fn remember_overwritten(&mut self, holder: AgentId, new: Overwritten) {
        let known = &mut self.memo(holder).overwritten;
        known.push(new);
        let surplus = known.len().saturating_sub(OVERWRITTEN_PER_AGENT_MAX);
        known.drain(..surplus);
    }

    /// The holder edits these files: that one of them is written over from now on is news.
    pub(super) fn forget_overwritten(&mut self, me: AgentId, edit: &Reserve) {
        let Some(memo) = self.memo_of(me) else { return };
        let is_elsewhere = |known: &Overwritten| {
            self.leases_now().any(|lease| lease.id == known.lease && !lease.is_in(&edit.worktree))
        };
        let is_edited = |known: &&Overwritten| {
            edit.wants.iter().any(|want| want.target.display() == known.path) && !is_elsewhere(known)
        };
        let edited: Vec<Overwritten> = memo.overwritten.iter().filter(is_edited).cloned().collect();
        if !edited.is_empty() {
            self.memo(me).overwritten.retain(|known| !edited.contains(known));
        }
    }
}
