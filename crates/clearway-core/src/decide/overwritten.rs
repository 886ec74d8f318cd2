//! Files that somebody holds and somebody else wrote: recorded, and told to the holder. Once for each file and writer, and
//! again when the holder has edited the file meanwhile: whoever writes it over and over would tell nothing new.

use super::draft::Draft;
use crate::command::{Care, Used};
use crate::event::{Actor, Body};
use crate::ids::AgentId;
use crate::lease::Lease;
use crate::limits::OVERWRITTEN_PER_AGENT_MAX;
use crate::slice::{Note, Overwritten};
use crate::target::Worktree;

impl Draft<'_> {
    /// A call wrote these files, whoever holds them.
    pub(super) fn report_written(&mut self, me: AgentId, actor: Actor, files: &[Used], worktree: &Worktree) {
        // What everybody writes is nobody's.
        for Used { target, .. } in files.iter().filter(|used| used.how != Care::Common) {
            let is_hit = |lease: &&Lease| {
                lease.is_in(worktree) && lease.is_on(target) && self.can_block(lease.holder, me)
            };
            let hit: Vec<Lease> = self.leases_now().filter(is_hit).cloned().collect();
            hit.iter().for_each(|lease| self.report_overwritten(lease, target.display(), Some((me, actor))));
        }
    }

    /// A file that a lease is on was written; by whom, if that is known.
    pub(super) fn report_overwritten(&mut self, lease: &Lease, path: String, by: Option<(AgentId, Actor)>) {
        let (writer, actor) = by.unzip();
        let new = Overwritten { lease: lease.id, path: path.clone(), by: writer };
        if self.memo_of(lease.holder).is_some_and(|memo| memo.overwritten.contains(&new)) {
            return;
        }
        let known = &mut self.memo(lease.holder).overwritten;
        known.push(new);
        let surplus = known.len().saturating_sub(OVERWRITTEN_PER_AGENT_MAX);
        known.drain(..surplus);
        let body = Body::LeaseOverwritten { lease: lease.id, holder: lease.holder, path: path.clone() };
        self.push(actor.unwrap_or(Actor::KERNEL), body);
        let by = writer.map(|writer| self.name_of(writer));
        self.note(lease.holder, Note::WrittenOver { target: path, by });
    }

    /// The holder edits what its leases are on: what is written over from now on is news.
    pub(super) fn forget_overwritten(&mut self, me: AgentId, leases: &[Lease]) {
        let is_edited = |known: &Overwritten| leases.iter().any(|lease| lease.id == known.lease);
        if self.memo_of(me).is_some_and(|memo| memo.overwritten.iter().any(is_edited)) {
            self.memo(me).overwritten.retain(|known| !is_edited(known));
        }
    }
}
