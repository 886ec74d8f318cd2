//! Why a lease makes way for somebody else: its holder is gone, or nothing of its holder's is in the path.
//!
//! One rule for whoever wants a path and for whoever commits it.

use super::draft::Draft;
use crate::agent::{Agent, Liveness};
use crate::facts::{FactQuery, Facts};
use crate::lease::{Grade, Lease, Mode};
use crate::target::{Target, Worktree};
use std::collections::BTreeSet;

/// Why a lease may be ended for somebody else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum RoomWhy {
    /// Its holder is proven gone.
    HolderGone,
    /// It is automatic and its path has no uncommitted change.
    Unchanged,
    /// It was for one tool call, and that is over.
    CallOver,
    /// It is a broad claim, and its holder does not touch this path of it: that alone makes way.
    Untouched(Target),
}

/// Whether a lease makes way on a target, or what has to be known to tell.
pub(super) fn may_end(
    draft: &Draft<'_>,
    facts: &Facts,
    lease: &Lease,
    target: &Target,
) -> Result<Option<RoomWhy>, BTreeSet<FactQuery>> {
    // It is nobody else's yet, whatever is in the path.
    if draft.is_given_here(lease) {
        return Ok(None);
    }
    let view = draft.view();
    let Some(holder) = view.holder(lease) else { return Ok(None) };
    // What a process keeps is over with that process, and not before, whatever became of the agent.
    let evidence = match &lease.bound {
        Some(process) => Some(process),
        None if draft.is_back(lease.holder) => None,
        None if view.liveness(holder) == Liveness::Gone => return Ok(Some(RoomWhy::HolderGone)),
        None => holder.agent.process.as_ref(),
    };
    let mut queries: BTreeSet<FactQuery> = evidence
        .into_iter()
        .filter(|process| facts.process(process).is_none())
        .map(|process| FactQuery::Process(process.clone()))
        .collect();
    let look = Look { draft, facts };
    let why = if lease.lasts_one_call() && !draft.is_in_hand(lease) {
        Some(RoomWhy::CallOver)
    } else if look.is_unchanged(lease, &mut queries) {
        Some(RoomWhy::Unchanged)
    } else if look.is_untouched(lease, target, &mut queries) {
        Some(RoomWhy::Untouched(target.clone()))
    } else {
        None
    };
    if queries.is_empty() { Ok(why) } else { Err(queries) }
}

/// What a lease is judged by.
struct Look<'a> {
    draft: &'a Draft<'a>,
    facts: &'a Facts,
}

impl Look<'_> {
    /// A path of a broad claim makes way if its holder neither changed nor edited it. What was edited is known of agents
    /// alone that hooks speak for; a shared claim is there to read, and keeps all of it.
    fn is_untouched(&self, lease: &Lease, target: &Target, queries: &mut BTreeSet<FactQuery>) -> bool {
        let Target::Path(pattern) = target else { return false };
        let Some(path) = pattern.as_literal().filter(|_| lease.makes_way) else { return false };
        let hooks_speak_for = |agent: &Agent| agent.client.has_hooks() && agent.process.is_some();
        let holder = self.draft.slice.agent(lease.holder);
        lease.mode == Mode::Exclusive
            && lease.target.contains(target)
            && holder.is_some_and(|view| hooks_speak_for(&view.agent))
            && !self.draft.was_edited(lease, target)
            && self.is_clean(&lease.worktree, path, queries)
    }

    /// Whether a path is known to have no uncommitted change.
    fn is_clean(&self, worktree: &Worktree, path: &str, queries: &mut BTreeSet<FactQuery>) -> bool {
        let dirty = self.facts.dirty(worktree, path);
        if dirty.is_none() {
            queries.insert(FactQuery::Dirty(worktree.clone(), path.to_owned()));
        }
        dirty == Some(false)
    }

    /// An automatic lease stands only while its path has an uncommitted change, or a tool call is about to make one.
    fn is_unchanged(&self, lease: &Lease, queries: &mut BTreeSet<FactQuery>) -> bool {
        let Target::Path(pattern) = &lease.target else { return false };
        let (Grade::Auto, Some(path)) = (lease.grade, pattern.as_literal()) else { return false };
        !self.draft.is_in_hand(lease) && self.is_clean(&lease.worktree, path, queries)
    }
}
