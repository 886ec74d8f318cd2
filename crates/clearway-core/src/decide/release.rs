//! Giving leases back.

use super::draft::Draft;
use super::identity::Identified;
use super::kept;
use super::quota::Held;
use super::selection::{Chosen, choose, held_by};
use super::{Step, Success};
use crate::command::Release;
use crate::event::{Actor, Body};
use crate::facts::Process;
use crate::failure::{Failure, LeaseView};
use crate::ids::{AgentId, Entropy, LeaseId, SetId};
use crate::lease::Lease;
use crate::slug::Slug;
use crate::target::Target;
use std::collections::BTreeSet;

/// Releases what is named, all or none. Releasing what is gone already is no error and no event.
pub(super) fn release(
    draft: &mut Draft<'_>,
    release: &Release,
    identified: &Identified,
    entropy: &mut Entropy<'_>,
) -> Step {
    let actor = draft.act_as(identified);
    let unknown = kept::evidence(draft, &release.selection, actor);
    if !unknown.is_empty() {
        return Err(unknown);
    }
    let chosen = match choose(draft, &release.selection, actor) {
        Ok(chosen) => chosen,
        Err(failure) => return Ok(Err(failure)),
    };
    let kept = match release.keep.iter().map(|keep| parent_of(keep, &chosen)).collect::<Result<Vec<_>, _>>() {
        Ok(kept) => kept,
        Err(failure) => return Ok(Err(failure)),
    };
    let released = chosen.live.iter().map(|lease| lease.id).collect();
    if let Err(failure) = within_quota(draft, &chosen, &release.keep, &kept) {
        return Ok(Err(failure));
    }
    let actor = if chosen.live.is_empty() { actor } else { draft.sign(identified, entropy) };
    for lease in &chosen.live {
        draft.give_back(actor, lease);
    }
    let rest = rest_of_sets(draft, &chosen);
    let still = chosen.remaining.iter().chain(&rest);
    let mut remaining: Vec<LeaseView> = still.filter_map(|lease| draft.show(lease)).collect();
    keep_parts(draft, actor, release.keep.iter().zip(&kept), &mut remaining, entropy);
    Ok(Ok(Success::Released { released, already: chosen.already, remaining }))
}

/// Goes on holding parts of what was released, each once.
fn keep_parts<'k>(
    draft: &mut Draft<'_>,
    actor: Actor,
    parts: impl Iterator<Item = (&'k Target, &'k Lease)>,
    remaining: &mut Vec<LeaseView>,
    entropy: &mut Entropy<'_>,
) {
    for (keep, parent) in parts {
        let lease = match already_held(draft, keep, parent) {
            Some(lease) => lease,
            None => keep_part(draft, actor, keep, parent, entropy),
        };
        if !remaining.iter().any(|view| view.lease.id == lease.id) {
            remaining.extend(draft.show(&lease));
        }
    }
}

/// A process gives back what it keeps, and nothing else does while it lives.
pub(super) fn let_go(
    draft: &mut Draft<'_>,
    process: &Process,
    identified: &Identified,
    entropy: &mut Entropy<'_>,
) -> Success {
    let actor = draft.act_as(identified);
    let mut kept = held_by(draft, actor.agent);
    kept.retain(|lease| lease.bound.as_ref() == Some(process));
    let actor = if kept.is_empty() { actor } else { draft.sign(identified, entropy) };
    Success::released(kept.iter().map(|lease| draft.give_back(actor, lease)).collect())
}

/// The lease a kept part comes from: it must hold all of it, or keeping would be taking.
fn parent_of(keep: &Target, chosen: &Chosen) -> Result<Lease, Failure> {
    let parent = chosen.live.iter().find(|lease| lease.target.contains(keep) && lease.is_on(keep));
    parent.cloned().ok_or_else(|| {
        Failure::new(Slug::Usage, format!("{} is not inside anything this releases", keep.display()))
            .hint("--keep names a part of what is released; see what you hold: clearway leases")
    })
}

/// What the same holders go on holding of sets that were taken together and are given back in part.
fn rest_of_sets(draft: &Draft<'_>, chosen: &Chosen) -> Vec<Lease> {
    let sets: BTreeSet<(SetId, AgentId)> =
        chosen.live.iter().filter_map(|lease| Some((lease.set?, lease.holder))).collect();
    let is_rest = |lease: &&Lease| {
        lease.set.is_some_and(|set| sets.contains(&(set, lease.holder)))
            && !chosen.remaining.iter().any(|known| known.id == lease.id)
    };
    match sets.is_empty() {
        true => Vec::new(),
        false => draft.view().live_except(&draft.ended).filter(is_rest).cloned().collect(),
    }
}

/// Many parts may be more than the whole they come from.
fn within_quota(draft: &Draft<'_>, chosen: &Chosen, keep: &[Target], kept: &[Lease]) -> Result<(), Failure> {
    if keep.is_empty() {
        return Ok(());
    }
    let mut after = draft.clone();
    for lease in &chosen.live {
        after.end_lease(lease.id);
    }
    let mut parts: Vec<(&Target, &Lease)> = Vec::new();
    for (keep, parent) in keep.iter().zip(kept) {
        let place = |lease: &Lease| (lease.holder, lease.worktree.clone());
        let same = |part: &(&Target, &Lease)| part.0 == keep && place(part.1) == place(parent);
        if !parts.iter().any(same) && already_held(&after, keep, parent).is_none() {
            parts.push((keep, parent));
        }
    }
    let holders: BTreeSet<AgentId> = kept.iter().map(|parent| parent.holder).collect();
    holders.into_iter().try_for_each(|holder| {
        let own = || parts.iter().filter(|(_, parent)| parent.holder == holder);
        let roots = own().filter(|(keep, _)| keep.is_root_level()).count() as u64;
        let would_be = Held::by(&after, holder).with(own().count() as u64, roots);
        let hint = "keep fewer parts, or a directory around them";
        Held::by(draft, holder).may_become(would_be).map_err(|failure| failure.hint(hint))
    })
}

/// A holder has one live lease on the same target: one that stays, or one kept a moment ago, is that one.
fn already_held(draft: &Draft<'_>, keep: &Target, parent: &Lease) -> Option<Lease> {
    let same = |lease: &&Lease| {
        lease.holder == parent.holder && lease.worktree == parent.worktree && lease.target == *keep
    };
    draft.leases_now().find(same).cloned()
}

/// Goes on holding a part on the terms of the whole. Nobody else can be there: the whole was held until now.
fn keep_part(
    draft: &mut Draft<'_>,
    actor: Actor,
    keep: &Target,
    parent: &Lease,
    entropy: &mut Entropy<'_>,
) -> Lease {
    let lease = Lease {
        id: LeaseId::draw(entropy),
        target: keep.clone(),
        fence: draft.next_fence(),
        handed_by: None,
        granted: draft.now.mono,
        deadline: draft.now.mono.plus_ms(parent.ttl_ms),
        created_at: draft.now.wall,
        ..parent.clone()
    };
    draft.push(actor, Body::LeaseGranted(lease.clone()));
    draft.replace(lease.clone());
    lease
}
