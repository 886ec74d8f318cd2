//! What an agent left behind and comes back to. Its uncommitted changes are its work, and the work is the lease: what
//! nobody took meanwhile is its own again from the moment it is back.

use super::draft::Draft;
use super::identity::Identified;
use super::plan::{Planner, Step};
use super::reserve::grant_free;
use crate::command::{Command, Reserve, Want};
use crate::facts::FactQuery;
use crate::ids::{AgentId, Entropy};
use crate::lease::{End, Grade, Lease, Mode};
use crate::limits::TTL_MS_AUTO;
use crate::target::{Target, Worktree};
use std::collections::{BTreeMap, BTreeSet};

/// Leases to an agent that comes back what it left behind, as far as it is still changed and nobody had it since. It gets
/// the rest by asking, like anybody.
pub(super) fn take_back(
    draft: &mut Draft<'_>,
    command: &Command,
    identified: &Identified,
    entropy: &mut Entropy<'_>,
) -> Result<(), BTreeSet<FactQuery>> {
    let back = identified.known.as_ref().filter(|_| command.brings_back()).map(|view| view.agent.id);
    let left = draft.slice.left_by(back);
    if left.is_empty() {
        return Ok(());
    }
    let (me, actor) = draft.register(identified, entropy);
    draft.memo(me).left.clear();
    let mut of_worktrees: BTreeMap<Worktree, Vec<Target>> = BTreeMap::new();
    for (worktree, path) in left {
        let target = Target::Path(path);
        if was_last(draft, me, &worktree, &target) {
            of_worktrees.entry(worktree).or_default().push(target);
        }
    }
    let mut missing = BTreeSet::new();
    for (worktree, targets) in of_worktrees {
        let edit = match changed(draft, &worktree, targets) {
            Ok(targets) => edit_of(worktree, targets),
            Err(queries) => {
                missing.extend(queries);
                continue;
            }
        };
        match Planner::new(draft, me, &edit).plan() {
            Ok(steps) if steps.iter().any(is_free) => grant_free(draft, &edit, (me, actor), &steps, entropy),
            Ok(_) => {}
            Err(queries) => missing.extend(queries),
        }
    }
    if missing.is_empty() { Ok(()) } else { Err(missing) }
}

/// Whether nobody held a path after somebody of the family left it behind.
fn was_last(draft: &Draft<'_>, me: AgentId, worktree: &Worktree, target: &Target) -> bool {
    let is_there = |lease: &&Lease| lease.target == *target && lease.worktree == *worktree;
    let last = draft.slice.leases.iter().filter(is_there).max_by_key(|lease| lease.fence);
    last.is_some_and(|last| {
        last.ended.is_some_and(|ended| ended.how == End::Orphaned)
            && draft.root_of(last.holder) == draft.root_of(me)
    })
}

/// Those of the files that hold a change which is not committed.
fn changed(
    draft: &Draft<'_>,
    worktree: &Worktree,
    targets: Vec<Target>,
) -> Result<Vec<Target>, BTreeSet<FactQuery>> {
    let is_dirty = |target: &Target| draft.facts.dirty(worktree, target.canonical());
    let unknown = targets.iter().filter(|target| is_dirty(target).is_none());
    let missing: BTreeSet<FactQuery> =
        unknown.map(|target| FactQuery::Dirty(worktree.clone(), target.canonical().to_owned())).collect();
    match missing.is_empty() {
        true => Ok(targets.into_iter().filter(|target| is_dirty(target) == Some(true)).collect()),
        false => Err(missing),
    }
}

/// Whether nothing has to end for it.
pub(super) fn is_free(step: &Step) -> bool {
    matches!(step, Step::Grant { room, .. } if room.is_empty())
}

/// What a hook would ask for an edit of these files.
fn edit_of(worktree: Worktree, targets: Vec<Target>) -> Reserve {
    Reserve {
        wants: targets.into_iter().map(|target| Want { target, capacity: 1 }).collect(),
        worktree,
        mode: Mode::Exclusive,
        grade: Grade::Auto,
        as_set: false,
        ttl_ms: TTL_MS_AUTO,
        max_ms: None,
        reason: None,
        best_effort: true,
        bound: None,
        makes_way: false,
    }
}
