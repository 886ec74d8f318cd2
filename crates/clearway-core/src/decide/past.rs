//! What a path has been through before somebody takes it: who held it since the caller last did, and who left changes
//! in it.

use super::draft::Draft;
use super::{Left, Notice};
use crate::agent::Liveness;
use crate::command::Want;
use crate::facts::FactQuery;
use crate::ids::{AgentId, Epoch, Fence, LeaseId, Seq};
use crate::lease::{End, Lease, Mode};
use crate::limits::{SHARED_PAST_MAX, WIDE_PAST_MAX};
use crate::pattern::Pattern;
use crate::slice::Note;
use crate::target::{Target, Worktree};
use std::collections::{BTreeMap, BTreeSet};

/// Somebody else held the path after the caller last did, by itself or within something wider. Whoever it was taken over
/// from is said already, and who had it alone is told before whoever shared it. Those who only share a path write nothing
/// in it, so that whoever shared it too comes back to what it knew.
pub(super) fn changed_hands(draft: &Draft<'_>, me: AgentId, lease: &Lease) -> Option<Notice> {
    let past = past_of(draft, lease);
    let live = draft.slice.leases.iter().filter(|own| !own.ceded.is_empty() && own.ended.is_none());
    let had = |old: &'_ Lease| Some((last_had(old, me, &lease.target)?, old.mode));
    let (own, own_mode) = past.iter().copied().chain(live).filter_map(had).max_by_key(|(had, _)| *had)?;
    let may_have_written = |old: &Lease| [old.mode, own_mode].contains(&Mode::Exclusive);
    let is_news = |old: &&&Lease| {
        old.holder != me && old.is_on(&lease.target) && (old.fence, Had::Kept) > own && may_have_written(old)
    };
    let latest = latest_on_it(&past, lease);
    let others = past.iter().filter(|old| old.target != lease.target || latest.contains(&old.id));
    let other = others.filter(is_news).max_by_key(|old| (old.mode == Mode::Exclusive, old.fence))?;
    let by = draft.slice.agent(other.holder)?.agent.name.clone();
    let is_said = |notice: &Notice| matches!(notice, Notice::TookOver { from, .. } if *from == by);
    (!draft.notices.iter().any(is_said)).then(|| Notice::ChangedHands { target: lease.target.display(), by })
}

/// The latest lease on just this, and, if that was shared, the latest that was not, as far back as an engine looks.
fn latest_on_it(past: &[&Lease], lease: &Lease) -> Vec<LeaseId> {
    let mut on_it: Vec<&Lease> = past.iter().copied().filter(|old| old.target == lease.target).collect();
    on_it.sort_by_key(|old| std::cmp::Reverse(old.fence));
    on_it.truncate(SHARED_PAST_MAX);
    let alone = on_it.iter().find(|old| old.mode == Mode::Exclusive);
    on_it.first().into_iter().chain(alone).map(|old| old.id).collect()
}

/// The last who held the very path left a change behind that is still there, or it was taken from that one for a turn that
/// the caller takes now: because it was proven gone, or by force. Whoever above the caller holds it since was told.
pub(super) fn left_behind(draft: &Draft<'_>, me: AgentId, lease: &Lease) -> Option<Notice> {
    let last = last_on(draft, &lease.target, &lease.worktree)?;
    let ended = last.ended.filter(|_| last.holder != me)?;
    let holder = &draft.slice.agent(last.holder)?.agent;
    let (target, from) = (lease.target.display(), holder.name.clone());
    match ended.how {
        End::Orphaned | End::TakenOver if is_clean(draft, lease) => None,
        End::Orphaned => Some(Notice::LeftBehind { target, from, left: Left::of(holder, Some(ended.at)) }),
        End::TakenOver => {
            // What a command kept is taken from nobody before that command is gone.
            let is_there = draft.view().liveness(draft.slice.agent(last.holder)?) != Liveness::Gone;
            let is_gone = last.bound.is_some() || !is_there;
            Some(Notice::TookOver { target, from, is_gone })
        }
        End::Released | End::Yielded | End::Expired(_) => None,
    }
}

/// Where what was not committed there is kept, if the last who held the very path was found gone when it was kept for the
/// caller's turn: that one was to be told the number.
pub(super) fn kept_at_turn(draft: &Draft<'_>, me: AgentId, lease: &Lease) -> Option<Notice> {
    let last = last_on(draft, &lease.target, &lease.worktree)?;
    let how = last.ended.filter(|_| last.holder != me)?.how;
    if how != End::TakenOver || is_clean(draft, lease) {
        return None;
    }
    let target = lease.target.display();
    let number = draft.memo_of(last.holder)?.notes.iter().find_map(|note| match note {
        Note::PassedOn { target: passed, kept, .. } | Note::Forced { target: passed, kept, .. }
            if *passed == target =>
        {
            *kept
        }
        _ => None,
    })?;
    Some(Notice::Kept { target, from: draft.name_of(last.holder), number })
}

/// What has to be known of files that are about to be taken, and were left behind by others: nobody is told of a change
/// that was committed or undone since, nor of anybody that it is gone who is not.
pub(super) fn unknown_leftovers<'w>(
    draft: &Draft<'_>,
    me: AgentId,
    worktree: &Worktree,
    taken: impl Iterator<Item = &'w Want>,
) -> BTreeSet<FactQuery> {
    let is_left = |want: &&Want| {
        last_on(draft, &want.target, worktree).is_some_and(|last| {
            let is_left = |how: End| matches!(how, End::Orphaned | End::TakenOver);
            last.holder != me && last.ended.is_some_and(|ended| is_left(ended.how))
        })
    };
    let left: Vec<&Want> = taken.filter(is_left).collect();
    let paths = left.iter().map(|want| want.target.canonical());
    let unseen = paths.filter(|path| draft.facts.dirty(worktree, path).is_none());
    let unseen = unseen.map(|path| FactQuery::Dirty(worktree.clone(), path.to_owned()));
    let holders =
        left.iter().filter_map(|want| draft.slice.agent(last_on(draft, &want.target, worktree)?.holder));
    let processes = holders.filter_map(|view| view.agent.process.clone());
    let unknown = processes.filter(|process| draft.facts.process(process).is_none());
    unseen.chain(unknown.map(FactQuery::Process)).collect()
}

/// The last of the leases on exactly this path that were there before this decision. The past of anything else is not
/// asked for, and counts for nothing where an engine brings it along.
fn last_on<'a>(draft: &Draft<'a>, target: &Target, worktree: &Worktree) -> Option<&'a Lease> {
    target.literal()?;
    let was_here = |old: &&Lease| old.target == *target && old.worktree == *worktree;
    draft.slice.leases.iter().filter(was_here).max_by_key(|old| old.fence)
}

fn is_clean(draft: &Draft<'_>, lease: &Lease) -> bool {
    draft.facts.dirty(&lease.worktree, lease.target.canonical()) == Some(false)
}

/// How an agent had a lease in relation to its fence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Had {
    /// Until then: it handed it over.
    Handed,
    /// From then on.
    Kept,
}

/// When an agent last had something by a lease. What made way went to somebody else before anything that is told of here.
fn last_had(old: &Lease, agent: AgentId, target: &Target) -> Option<(Fence, Had)> {
    let before_all = Fence { epoch: Epoch(0), seq: Seq(0) };
    match old {
        _ if old.ceded.contains(target) => (old.holder == agent).then_some((before_all, Had::Handed)),
        _ if !old.is_on(target) => None,
        _ if old.holder == agent => Some((old.fence, Had::Kept)),
        _ if old.handed_by == Some(agent) => Some((old.fence, Had::Handed)),
        _ => None,
    }
}

/// Leases that were on what a lease is on, and are over; of a single path also those that reached further.
fn past_of<'a>(draft: &Draft<'a>, lease: &Lease) -> Vec<&'a Lease> {
    let view = draft.view();
    let is_over = |old: &&Lease| view.ended(old).is_some() || draft.ended.contains(&old.id);
    let ended = || draft.slice.leases.iter().filter(|old| old.worktree == lease.worktree).filter(is_over);
    let mut past: Vec<&Lease> = ended().filter(|old| old.target == lease.target).collect();
    if let Target::Path(path) = &lease.target
        && path.as_literal().is_some()
    {
        past.extend(wider(path, ended()).into_iter().filter(|old| old.target.contains(&lease.target)));
    }
    past
}

/// The latest leases on more than one path of each directory above a path. What an engine found beyond those counts for
/// nothing.
fn wider<'a>(path: &Pattern, ended: impl Iterator<Item = &'a Lease>) -> Vec<&'a Lease> {
    let mut above: BTreeMap<&str, Vec<&Lease>> = BTreeMap::new();
    for old in ended {
        if let Target::Path(pattern) = &old.target
            && pattern.as_literal().is_none()
            && pattern.is_anchored_above(path)
        {
            above.entry(pattern.anchor()).or_default().push(old);
        }
    }
    let latest = |mut leases: Vec<&'a Lease>| {
        leases.sort_by_key(|old| std::cmp::Reverse(old.fence));
        leases.truncate(WIDE_PAST_MAX);
        leases
    };
    above.into_values().flat_map(latest).collect()
}
