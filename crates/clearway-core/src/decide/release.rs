//! Giving leases back.

use super::draft::Draft;
use super::identity::Identified;
use super::kept;
use super::quota::Held;
use super::renew::{find, held_by, is_current, is_live, may_act};
use super::{Notice, Step, Success};
use crate::command::{LeaseRef, Release, Selection};
use crate::event::{Actor, Body};
use crate::facts::Process;
use crate::failure::{Failure, LeaseView};
use crate::hint::Hint;
use crate::ids::{AgentId, Entropy, Fence, LeaseId, SetId};
use crate::lease::Lease;
use crate::nearest::nearest;
use crate::slug::Slug;
use crate::target::{Target, Worktree};
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
        let lease = match already_held(draft, keep, parent, remaining) {
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
    let released = kept.iter().map(|lease| draft.give_back(actor, lease)).collect();
    Success::Released { released, already: Vec::new(), remaining: Vec::new() }
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
        if !parts.iter().any(same) && already_held(&after, keep, parent, &[]).is_none() {
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
fn already_held(draft: &Draft<'_>, keep: &Target, parent: &Lease, kept: &[LeaseView]) -> Option<Lease> {
    let same = |lease: &&Lease| {
        lease.holder == parent.holder && lease.worktree == parent.worktree && lease.target == *keep
    };
    let here = kept.iter().map(|view| &view.lease).find(same).cloned();
    here.or_else(|| draft.view().live_except(&draft.ended).find(same).cloned())
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
        fence: Fence { epoch: draft.epoch, seq: draft.next_seq() },
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

/// What a selection comes to.
#[derive(Debug, Default)]
pub(super) struct Chosen {
    pub(super) live: Vec<Lease>,
    pub(super) already: Vec<LeaseId>,
    pub(super) remaining: Vec<Lease>,
}

pub(super) fn choose(draft: &mut Draft<'_>, selection: &Selection, actor: Actor) -> Result<Chosen, Failure> {
    match selection {
        Selection::All => {
            refuse_unreadable(draft)?;
            kept::leave(draft, actor, |_| true);
            Ok(Chosen { live: own(draft, actor), ..Chosen::default() })
        }
        Selection::These { leases, targets, worktree } => {
            let mut chosen = by_id(draft, leases, actor)?;
            let mine = of_family(draft, actor);
            kept::refuse_named(draft, (targets, worktree), actor, &mine)?;
            by_target(draft, targets, worktree, mine, &mut chosen);
            Ok(chosen)
        }
    }
}

/// An operation over everything cannot leave out what it cannot read.
fn refuse_unreadable(draft: &Draft<'_>) -> Result<(), Failure> {
    let first = draft.slice.unreadable.first().and_then(|row| LeaseId::parse(row));
    first.map_or(Ok(()), |id| find(draft, id).map(|_| ()))
}

fn by_id(draft: &mut Draft<'_>, refs: &[LeaseRef], actor: Actor) -> Result<Chosen, Failure> {
    let mut chosen = Chosen::default();
    for wanted in refs {
        let lease = find(draft, wanted.id)?;
        is_current(draft, wanted, &lease)?;
        let over = !is_live(draft, &lease);
        if !over {
            may_act(draft, actor, &lease)?;
            kept::refuse(draft, actor, &lease)?;
        }
        let twice =
            chosen.live.iter().any(|other| other.id == lease.id) || chosen.already.contains(&lease.id);
        match (twice, over) {
            (true, _) => {}
            (false, true) => chosen.already.push(lease.id),
            (false, false) => chosen.live.push(lease),
        }
    }
    Ok(chosen)
}

/// Adds those of the caller's leases that are inside the targets.
pub(super) fn by_target(
    draft: &mut Draft<'_>,
    targets: &[Target],
    worktree: &Worktree,
    mut mine: Vec<Lease>,
    chosen: &mut Chosen,
) {
    mine.retain(|lease| lease.is_in(worktree));
    let missed = targets.iter().filter(|target| !mine.iter().any(|lease| lease.is_on(target)));
    let (verb, is_operator) = (draft.verb, draft.operator_reason.is_some());
    let mut held = held_by(draft, draft.me());
    held.retain(|lease| lease.is_in(worktree));
    draft.notices.extend(missed.map(|target| match is_operator {
        true => Notice::OthersById { target: target.display(), verb },
        false => nothing_held(target, &held),
    }));
    for lease in mine {
        let inside = targets.iter().any(|target| target.contains(&lease.target));
        let touched = targets.iter().any(|target| lease.is_on(target));
        let known = chosen.live.iter().any(|other| other.id == lease.id);
        match (!known, inside, touched) {
            (true, true, _) => chosen.live.push(lease),
            (true, false, true) => chosen.remaining.push(lease),
            _ => {}
        }
    }
}

/// What to say of a target on which the caller holds nothing: it may be a slip.
fn nothing_held(target: &Target, held: &[Lease]) -> Notice {
    let text = target.display();
    let is_path = |target: &Target| matches!(target, Target::Path(_));
    let alike = held.iter().filter(|lease| is_path(&lease.target) == is_path(target));
    let texts: Vec<(String, &Lease)> = alike.map(|lease| (lease.target.display(), lease)).collect();
    let near = nearest(&text, texts.iter().map(|(text, _)| text.as_str()));
    let near = texts.iter().find(|(text, _)| Some(text.as_str()) == near);
    Notice::NothingHeld { meant: near.map(|(_, lease)| lease.target.clone()), target: text }
}

/// Giving back what one does not hold changes nothing, and that is what was asked for. Whoever would go on holding it, or
/// hand it over, is mistaken: it may be somebody else's by now.
pub(super) fn refuse_unheld(draft: &Draft<'_>) -> Result<(), Failure> {
    let unheld = draft.notices.iter().find_map(|notice| match notice {
        Notice::NothingHeld { target, meant } => Some((target, meant)),
        _ => None,
    });
    let Some((target, meant)) = unheld else { return Ok(()) };
    let failure = Failure::new(Slug::NotFound, format!("you hold nothing on {target}; nothing was changed"));
    let meant = meant
        .iter()
        .fold(failure, |failure, meant| failure.hint(format!("did you mean {}?", meant.canonical())));
    Err(meant.hint("see what you hold, and what others do: clearway leases"))
}

/// A lease is renewed or handed over as a whole: whoever names a part of it is told which lease that is part of. `how` is
/// the verb with the flags it needs.
pub(super) fn refuse_part(selection: &Selection, chosen: &Chosen, how: &str) -> Result<(), Failure> {
    let Selection::These { targets, .. } = selection else { return Ok(()) };
    let is_met = |target: &Target| chosen.live.iter().any(|lease| target.contains(&lease.target));
    let around = |target| chosen.remaining.iter().find(|lease| lease.is_on(target));
    let part = targets.iter().filter(|target| !is_met(target)).find_map(|part| Some((part, around(part)?)));
    let Some((part, whole)) = part else { return Ok(()) };
    let (part, target, id) = (part.display(), &whole.target, whole.id);
    let whole = target.display();
    let message = format!(
        "you hold no lease on {part} alone: it is a part of lease {id} on {whole}; nothing was changed"
    );
    Err(Failure::new(Slug::NotFound, message)
        .hint(Hint::command("name the whole of it", how, &[target.canonical()]))
        .hint(format!("or its lease: clearway {how} {id}")))
}

/// What an agent holds itself, and what its subagents hold: what is typed in a subagent's shell is the root's, and the
/// root may act for its family. What is named of it is in the slice, whoever of them holds it.
fn of_family(draft: &Draft<'_>, actor: Actor) -> Vec<Lease> {
    let is_of_family = |lease: &&Lease| {
        let of_subagent = || actor.agent == Some(draft.root_of(lease.holder));
        actor.agent.is_some() && (actor.agent == Some(lease.holder) || of_subagent())
    };
    draft.leases_now().filter(is_of_family).filter(|lease| lease.bound.is_none()).cloned().collect()
}

/// What an agent holds itself. What one of its commands runs under ends with that command.
fn own(draft: &Draft<'_>, actor: Actor) -> Vec<Lease> {
    held_by(draft, actor.agent).into_iter().filter(|lease| lease.bound.is_none()).collect()
}
