//! What git is about to do, or did, with a checkout that others work in.
//!
//! A commit takes nothing for its agent, so nothing makes way for good: a lease that would is only not in its way. For
//! commits a family is one agent.

use super::draft::Draft;
use super::identity::Identified;
use super::way::may_end;
use super::{Step, Success};
use crate::command::{Commit, Settle, Unchecked};
use crate::commit::{Whose, recorded, whose};
use crate::event::{Actor, Body};
use crate::facts::FactQuery;
use crate::failure::{Details, Failure, LeaseView};
use crate::ids::{AgentId, Entropy, LeaseId};
use crate::lease::{Grade, Lease};
use crate::slice::Note;
use crate::slug::Slug;
use crate::target::Target;
use std::collections::BTreeSet;

/// Refuses a commit that takes along what is with somebody else, unless an operator lets it.
pub(super) fn check(
    draft: &mut Draft<'_>,
    commit: &Commit,
    identified: &Identified,
    entropy: &mut Entropy<'_>,
) -> Step {
    let actor = draft.act_as(identified);
    let Some(Along { paths, blockers, failure }) = along(draft, commit, family(draft, actor.agent))? else {
        return Ok(Ok(Success::Done));
    };
    Ok(match draft.operator_reason.clone() {
        None => {
            let (_, actor) = draft.register(identified, entropy);
            Err(draft.denied(actor, paths.join(" "), failure))
        }
        Some(reason) => {
            let actor = draft.sign(identified, entropy);
            draft.push(actor, Body::CommitAllowed { paths, blockers, reason });
            Ok(Success::Done)
        }
    })
}

/// The same for a person whom nobody knows, of whom nothing is recorded.
pub(super) fn check_of_nobody(draft: &Draft<'_>, commit: &Commit) -> Step {
    Ok(along(draft, commit, None)?.map_or_else(|| Ok(Success::Done), |along| Err(along.failure)))
}

/// What of others a commit takes along.
struct Along {
    paths: Vec<String>,
    blockers: Vec<LeaseId>,
    failure: Failure,
}

fn along(
    draft: &Draft<'_>,
    commit: &Commit,
    family: Option<AgentId>,
) -> Result<Option<Along>, BTreeSet<FactQuery>> {
    let (mut refused, mut queries) = (Vec::new(), BTreeSet::new());
    for path in &commit.paths {
        match in_the_way(draft, commit, path, family) {
            Ok(held) if held.is_empty() => {}
            Ok(held) => refused.push((path, held)),
            Err(missing) => queries.extend(missing),
        }
    }
    if !queries.is_empty() {
        return Err(queries);
    }
    let written = written(draft, commit, family);
    if refused.is_empty() && written.is_empty() {
        return Ok(None);
    }
    let paths = refused.iter().map(|(path, _)| *path).chain(written.iter().map(|(path, _)| *path));
    let paths = recorded(paths);
    let blockers = refused.iter().flat_map(|(_, held)| held.iter().map(|lease| lease.id));
    let blockers: BTreeSet<LeaseId> = blockers.collect();
    let failure = takes_along(draft, &refused, &written);
    Ok(Some(Along { paths, blockers: blockers.into_iter().collect(), failure }))
}

/// Gives back what hooks took on files that a commit made clean: none that was taken or renewed since it began, none that a
/// call is about to change. What somebody claimed stays, but for what it promised to who asks.
pub(super) fn settle(draft: &mut Draft<'_>, settle: &Settle, identified: &Identified) -> Step {
    let actor = draft.act_as(identified);
    let family = family(draft, actor.agent);
    let is_over = |lease: &&Lease| {
        settle.leases.contains(&lease.id)
            && Some(draft.root_of(lease.holder)) == family
            && lease.grade == Grade::Auto
            && lease.bound.is_none()
            && lease.granted <= settle.began
            && lease.deadline <= settle.began.plus_ms(lease.ttl_ms)
            && !draft.is_in_hand(lease)
    };
    let done: Vec<Lease> = draft.leases_now().filter(is_over).cloned().collect();
    let is_own = |holder: AgentId| Some(draft.root_of(holder)) == family;
    let promised = draft.promised_to_commit(&settle.leases, is_own);
    let places = done.iter().filter_map(|lease| Some((lease, lease.target.literal()?)));
    let asked = promised.iter().filter_map(|open| Some((&open.worktree, open.target.literal()?)));
    let looked_at = places.clone().map(|(lease, path)| (&lease.worktree, path)).chain(asked);
    let unknown = looked_at.filter(|(worktree, path)| draft.facts.dirty(worktree, path).is_none());
    let unknown: BTreeSet<FactQuery> =
        unknown.map(|(worktree, path)| FactQuery::Dirty(worktree.clone(), path.to_owned())).collect();
    if !unknown.is_empty() {
        return Err(unknown);
    }
    let is_clean = |(lease, path): &(&Lease, &str)| draft.facts.dirty(&lease.worktree, path) == Some(false);
    let clean: Vec<Lease> = places.filter(is_clean).map(|(lease, _)| lease.clone()).collect();
    let mut released: Vec<LeaseId> = clean.iter().map(|lease| draft.give_back(actor, lease)).collect();
    released.extend(promised.iter().flat_map(|open| draft.let_go_as_promised(actor, open)));
    Ok(Ok(Success::released(released)))
}

/// Records that a commit went past the check with what was with somebody else, and has the holders told. Who made it is said
/// where nobody else can have.
pub(super) fn unchecked(draft: &mut Draft<'_>, found: &Unchecked, caller: Option<Actor>) -> Success {
    let by = caller.filter(|actor| found.explained && actor.agent.is_some());
    let family = family(draft, by.and_then(|actor| actor.agent));
    let is_hit = |lease: &&Lease| {
        lease.worktree == found.worktree
            && lease.created_at <= found.at
            && Some(draft.root_of(lease.holder)) != family
            && found.paths.iter().any(|path| lease.is_on(path))
    };
    let hit: Vec<Lease> = draft.leases_now().filter(is_hit).cloned().collect();
    if hit.is_empty() {
        return Success::Done;
    }
    let is_held = |path: &&Target| hit.iter().any(|lease| lease.is_on(path));
    let paths = recorded(found.paths.iter().filter(is_held));
    let name = by.and_then(|actor| actor.agent).map(|agent| draft.name_of(agent));
    for lease in &hit {
        let target = found.paths.iter().find(|path| lease.is_on(path)).unwrap_or(&lease.target).display();
        let note = Note::CommittedUnchecked { target, commit: found.commit.clone(), by: name.clone() };
        draft.note(lease.holder, note);
    }
    let blockers: BTreeSet<LeaseId> = hit.iter().map(|lease| lease.id).collect();
    let body = Body::CommitUnchecked {
        commit: found.commit.clone(),
        paths,
        blockers: blockers.into_iter().collect(),
    };
    draft.push(by.unwrap_or(Actor::KERNEL), body);
    Success::Done
}

pub(super) fn family(draft: &Draft<'_>, agent: Option<AgentId>) -> Option<AgentId> {
    agent.map(|agent| draft.root_of(agent))
}

/// The leases on a path that the commit would go past.
fn in_the_way(
    draft: &Draft<'_>,
    commit: &Commit,
    path: &Target,
    family: Option<AgentId>,
) -> Result<Vec<Lease>, BTreeSet<FactQuery>> {
    let is_family = |agent: AgentId| Some(draft.root_of(agent)) == family;
    let here = draft.leases_now().filter(|lease| lease.worktree == commit.worktree);
    let Whose::Held(held) = whose(path, here, &[], is_family) else { return Ok(Vec::new()) };
    let is_brought = commit.brought.contains(path);
    let (mut firm, mut queries) = (Vec::new(), BTreeSet::new());
    for lease in held {
        if is_brought && lease.grade == Grade::Auto && !draft.is_in_hand(&lease) {
            continue;
        }
        match may_end(draft, draft.facts, &lease, path) {
            Ok(None) => firm.push(lease),
            Ok(Some(_)) => {}
            Err(missing) => queries.extend(missing),
        }
    }
    if queries.is_empty() { Ok(firm) } else { Err(queries) }
}

/// Paths that nobody holds and others wrote.
fn written<'c>(draft: &Draft<'_>, commit: &'c Commit, family: Option<AgentId>) -> Vec<(&'c Target, String)> {
    let is_own = |path: &Target| {
        let own = |lease: &Lease| {
            Some(draft.root_of(lease.holder)) == family
                && lease.worktree == commit.worktree
                && lease.is_on(path)
        };
        draft.leases_now().any(own)
    };
    let written = commit.written.iter().filter(|(path, _)| !is_own(path));
    written.map(|(path, by)| (path, by.to_string())).collect()
}

fn takes_along(
    draft: &Draft<'_>,
    refused: &[(&Target, Vec<Lease>)],
    written: &[(&Target, String)],
) -> Failure {
    let mut seen = BTreeSet::new();
    let leases = refused.iter().flat_map(|(_, held)| held).filter(|lease| seen.insert(lease.id));
    let leases: Vec<LeaseView> = leases.filter_map(|lease| draft.show(lease)).collect();
    let held = refused.iter().map(|(path, held)| {
        let by = held.iter().map(|lease| draft.name_of(lease.holder).to_string());
        (path.display(), format!("is with {}", names(by)))
    });
    let lines = written.iter().map(|(path, by)| (path.display(), format!("has uncommitted lines of {by}")));
    let mut whys: Vec<(String, String)> = held.chain(lines).collect();
    whys.sort();
    whys.dedup_by(|one, before| one.0 == before.0);
    let more = whys.len().saturating_sub(PATHS_NAMED);
    let named: Vec<String> =
        whys.iter().take(PATHS_NAMED).map(|(path, why)| format!("{path} {why}")).collect();
    let more = if more > 0 { format!(", and {more} more are with others") } else { String::new() };
    Failure::new(Slug::CommitRefused, format!("{}{more}", named.join(", ")))
        .details(Details::Blockers { leases, ahead: Vec::new().into() })
}

/// Paths that are named in a sentence.
const PATHS_NAMED: usize = 3;

pub(super) fn names(names: impl Iterator<Item = String>) -> String {
    let mut names: Vec<String> = names.collect();
    names.sort();
    names.dedup();
    names.join(", ")
}
