//! What somebody else is about to take over, or nobody looks after any more, is kept before that: the decision says what,
//! somebody outside keeps it while nothing is locked, and its record is part of the same transaction.

use super::draft::Draft;
use super::identity::Identified;
use super::plan::{Room, Step};
use super::way::RoomWhy;
use super::{Notice, Success};
use crate::event::{Actor, Body};
use crate::facts::FactQuery;
use crate::ids::{Entropy, Seq};
use crate::lease::Lease;
use crate::snapshot::{Keeping, Kept, SnapshotCause};
use crate::target::Target;
use std::collections::BTreeSet;

impl Draft<'_> {
    /// What has to be known, and kept, before those who are gone make room as these steps say.
    pub(super) fn unsheltered(&self, steps: &[Step]) -> BTreeSet<FactQuery> {
        let is_left = |room: &&Room| room.why == RoomWhy::HolderGone;
        let left = steps.iter().flat_map(Step::room).filter(is_left).map(|room| &room.lease);
        let mut unknown: BTreeSet<FactQuery> =
            left.clone().filter_map(|lease| self.unknown_change(lease)).collect();
        unknown.extend(self.unkept(left, SnapshotCause::TakeOver));
        unknown
    }

    /// What has yet to be kept of the paths of these leases. Whoever only looks keeps nothing.
    pub(super) fn unkept<'l>(
        &self,
        leases: impl Iterator<Item = &'l Lease>,
        cause: SnapshotCause,
    ) -> BTreeSet<FactQuery> {
        if self.only_looks {
            return BTreeSet::new();
        }
        let query = |lease: &Lease| {
            let path = kept_path(lease)?;
            let is_known = self.facts.kept(&lease.worktree, &path).is_some();
            (!is_known).then(|| FactQuery::Keep(lease.worktree.clone(), path, cause))
        };
        leases.filter_map(query).collect()
    }

    /// Why what is not committed on the path of a lease could not be kept, if it could not.
    pub(super) fn why_unkept(&self, lease: &Lease) -> Option<&str> {
        self.facts.unkept(&lease.worktree, &kept_path(lease)?)
    }

    /// The same to be told.
    pub(super) fn told_unkept(&self, lease: &Lease) -> Option<Notice> {
        let why = self.why_unkept(lease)?.to_owned();
        Some(Notice::Unkept { target: lease.target.display(), from: self.name_of(lease.holder), why })
    }

    /// Records the snapshot of what is not committed on the path of a lease, each once; its number and what there is to
    /// say of it, if there is one.
    pub(super) fn record_kept(&mut self, actor: Actor, lease: &Lease) -> Option<(Seq, Notice)> {
        let path = kept_path(lease)?;
        let keeping = self.facts.kept(&lease.worktree, &path)??.clone();
        let number = match self.kept.get(&keeping.commit) {
            Some(kept) => kept.number,
            None => {
                let (number, agent) = (self.next_seq(), actor.agent.unwrap_or(lease.holder));
                self.kept
                    .insert(keeping.commit.clone(), Kept { number, commit: keeping.commit.clone(), agent });
                self.push(actor, Body::SnapshotTaken(keeping));
                number
            }
        };
        let (target, from) = (lease.target.display(), self.name_of(lease.holder));
        Some((number, Notice::Kept { target, from, number }))
    }
}

/// What somebody keeps is recorded for it; there is nothing to refuse.
pub(super) fn keep(
    draft: &mut Draft<'_>,
    keeping: &Keeping,
    identified: &Identified,
    entropy: &mut Entropy<'_>,
) -> Success {
    let (_, actor) = draft.register(identified, entropy);
    let number = draft.next_seq();
    draft.push(actor, Body::SnapshotTaken(keeping.clone()));
    Success::Kept { number }
}

/// Where the files of a lease lie: its path, or the directory in front of its wildcards.
fn kept_path(lease: &Lease) -> Option<String> {
    let Target::Path(pattern) = &lease.target else { return None };
    if let Some(path) = pattern.as_literal() {
        return Some(path.to_owned());
    }
    let text = lease.target.canonical();
    let end = text.find(['*', '?', '[', '{', '\\']).unwrap_or(text.len());
    Some(text[..end].rfind('/').map_or_else(String::new, |slash| text[..slash].to_owned()))
}
