//! Commands of git that change a whole checkout: they wait until nobody else is at work in it.

use super::commit::{family, names};
use super::draft::Draft;
use super::identity::Identified;
use super::way::{RoomWhy, may_end};
use super::{Step, Success};
use crate::agent::{AgentName, Liveness};
use crate::command::Upheaval;
use crate::facts::FactQuery;
use crate::failure::{Details, Failure, LeaseView};
use crate::ids::{AgentId, Entropy};
use crate::lease::Lease;
use crate::slug::Slug;
use crate::target::{Target, Worktree};
use std::collections::BTreeSet;

/// Refuses to begin a rebase where somebody else who is there has changes that are not committed.
pub(super) fn rebase(
    draft: &mut Draft<'_>,
    worktree: &Worktree,
    identified: &Identified,
    entropy: &mut Entropy<'_>,
) -> Step {
    let actor = draft.act_as(identified);
    let family = family(draft, actor.agent);
    let changed = at_work(draft, worktree, family)?.changed;
    if changed.is_empty() {
        return Ok(Ok(Success::Done));
    }
    let who = names(changed.iter().map(|lease| draft.name_of(lease.holder).to_string()));
    let message = format!("{who} has uncommitted changes in this checkout, which a rebase would move along");
    let failure = refusal(draft, message, &changed);
    let (_, actor) = draft.register(identified, entropy);
    Ok(Err(draft.denied(actor, worktree.0.clone(), failure)))
}

/// Refuses a command that changes a whole checkout where somebody else is at work, or left changes that are not committed.
pub(super) fn upheave(
    draft: &mut Draft<'_>,
    upheaval: &Upheaval,
    identified: &Identified,
    entropy: &mut Entropy<'_>,
) -> Step {
    let actor = draft.act_as(identified);
    let family = family(draft, actor.agent);
    let AtWork { changed, active } = at_work(draft, &upheaval.worktree, family)?;
    let holders = |leases: &[Lease]| -> BTreeSet<AgentName> {
        leases.iter().map(|lease| draft.name_of(lease.holder).clone()).collect()
    };
    let mut with_changes = holders(&changed);
    with_changes.extend(upheaval.wrote.iter().cloned());
    let mut at_work = holders(&active);
    at_work.extend(upheaval.present.iter().cloned());
    let message = match (with_changes.is_empty(), at_work.is_empty()) {
        (false, _) => said(&with_changes, "uncommitted changes in this checkout", "has", "have"),
        (true, false) => said(&at_work, "at work in this checkout", "is", "are"),
        (true, true) => return Ok(Ok(Success::Done)),
    };
    let failure = refusal(
        draft,
        format!("{message}, and {} would change all of it", upheaval.what),
        if changed.is_empty() { &active } else { &changed },
    );
    let (_, actor) = draft.register(identified, entropy);
    Ok(Err(draft.denied(actor, upheaval.what.clone(), failure)))
}

fn said(who: &BTreeSet<AgentName>, what: &str, one: &str, several: &str) -> String {
    let verb = if who.len() == 1 { one } else { several };
    format!("{} {verb} {what}", names(who.iter().map(ToString::to_string)))
}

fn refusal(draft: &Draft<'_>, message: String, leases: &[Lease]) -> Failure {
    let leases: Vec<LeaseView> = leases.iter().filter_map(|lease| draft.show(lease)).collect();
    Failure::new(Slug::OthersAtWork, message).details(Details::Blockers { leases, ahead: Vec::new().into() })
}

/// Leases of others in a checkout that tell of work there.
struct AtWork {
    /// Of those who are there, on what is changed and not committed.
    changed: Vec<Lease>,
    /// Of those who are active, on whatever.
    active: Vec<Lease>,
}

fn at_work(
    draft: &Draft<'_>,
    worktree: &Worktree,
    family: Option<AgentId>,
) -> Result<AtWork, BTreeSet<FactQuery>> {
    let is_foreign = |lease: &&Lease| {
        matches!(lease.target, Target::Path(_))
            && lease.worktree == *worktree
            && Some(draft.root_of(lease.holder)) != family
    };
    let (mut found, mut queries) = (AtWork { changed: Vec::new(), active: Vec::new() }, BTreeSet::new());
    for lease in draft.leases_now().filter(is_foreign) {
        match (may_end(draft, draft.facts, lease, &lease.target), is_changed(draft, lease)) {
            (Err(missing), _) => queries.extend(missing),
            (_, Err(missing)) => drop(queries.insert(missing)),
            (Ok(Some(RoomWhy::HolderGone)), _) => {}
            (Ok(None), Ok(true)) => found.changed.push(lease.clone()),
            _ if is_active(draft, lease) => found.active.push(lease.clone()),
            _ => {}
        }
    }
    if queries.is_empty() { Ok(found) } else { Err(queries) }
}

fn is_active(draft: &Draft<'_>, lease: &Lease) -> bool {
    let view = draft.view();
    view.holder(lease).is_some_and(|holder| view.liveness(holder) == Liveness::Active)
}

/// Whether something at or below what a lease is on is changed; of a pattern that is no place nothing is known to be.
fn is_changed(draft: &Draft<'_>, lease: &Lease) -> Result<bool, FactQuery> {
    let Target::Path(pattern) = &lease.target else { return Ok(false) };
    let Some(place) = pattern.as_literal().or_else(|| pattern.as_subtree()) else { return Ok(false) };
    let dirty = draft.facts.dirty(&lease.worktree, place);
    dirty.ok_or_else(|| FactQuery::Dirty(lease.worktree.clone(), place.to_owned()))
}
