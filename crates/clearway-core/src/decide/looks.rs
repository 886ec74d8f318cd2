//! Which looks at files still count. Between a look and the decision that rests on it nothing is locked, so a whole edit of
//! whoever holds the file may lie there, from the word before the call to the word after it.

use crate::facts::Facts;
use crate::ids::LeaseId;
use crate::limits::LOOK_MS_MAX;
use crate::slice::Slice;
use crate::target::Worktree;
use crate::time::{Mono, Now};
use std::borrow::Cow;
use std::collections::BTreeSet;

/// The facts without what was seen too long ago, or before a call ended that had the path in hand: a decision that needs
/// those asks once more.
pub(super) fn that_count<'a>(slice: &Slice, facts: &'a Facts, now: &Now) -> Cow<'a, Facts> {
    let is_old = |from: Mono| now.mono.since(from) > LOOK_MS_MAX;
    let overtaken: BTreeSet<(Worktree, String)> = facts
        .seen_clean()
        .filter(|(worktree, path, from)| {
            is_old(*from) || was_put_down_since(slice, worktree, path, *from, now)
        })
        .map(|(worktree, path, _)| (worktree.clone(), path.to_owned()))
        .collect();
    if overtaken.is_empty() { Cow::Borrowed(facts) } else { Cow::Owned(facts.without_looks_at(&overtaken)) }
}

/// What is in hand still is judged by that, whatever was seen. A call takes longer than the clock needs to tell it: what
/// ended in the very moment was over when it was looked at.
fn was_put_down_since(slice: &Slice, worktree: &Worktree, path: &str, from: Mono, now: &Now) -> bool {
    let mut on_it = slice
        .leases
        .iter()
        .filter(|lease| lease.worktree == *worktree && lease.target.literal().is_some_and(|own| own == path));
    on_it.any(|lease| {
        let ended_since =
            |(id, until): &(LeaseId, Mono)| *id == lease.id && *until > from && *until <= now.mono;
        slice.agent(lease.holder).is_some_and(|view| view.memo.in_hand.iter().any(ended_since))
    })
}
