//! What the log of the last day says that somebody is to see: commits that went past the check, and files that were written
//! while somebody else held them. Whether any of it still stands is for whoever shows it.

use crate::checked::UncheckedCommit;
use crate::digest::late_events;
use crate::ledger::DAY_MS;
use crate::overwritten::{OverwrittenFile, overwritten};
use clearway_core::event::Body;
use clearway_core::ids::{AgentId, Seq};
use clearway_core::pattern::Fold;
use clearway_core::slice::AgentView;
use clearway_core::time::{Now, Wall};
use clearway_store::contract::{Snapshot, StoreError};

/// All of it, the earliest first.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lately {
    pub(crate) unchecked: Vec<UncheckedCommit>,
    pub(crate) overwritten: Vec<OverwrittenFile>,
}

/// Looks it up in a snapshot.
pub(crate) fn lately(
    snapshot: &mut dyn Snapshot,
    now: &Now,
    head: Seq,
    fold: Fold,
    agents: &[AgentView],
) -> Result<Lately, StoreError> {
    let since = Wall(now.wall.0 - DAY_MS);
    let is_wanted = |kind: &str| [Body::COMMIT_UNCHECKED, Body::LEASE_OVERWRITTEN].contains(&kind);
    let events = late_events(snapshot, since, head, fold, &is_wanted)?;
    let name =
        |id: AgentId| agents.iter().find(|view| view.agent.id == id).map(|view| view.agent.name.clone());
    let shown = |id: AgentId| name(id).map_or_else(|| id.to_string(), |name| name.to_string());
    let overwritten = overwritten(&events, &shown);
    let unchecked = events.into_iter().filter_map(|event| match event.body {
        Body::CommitUnchecked { commit, paths, blockers } => {
            let by = event.actor.agent.and_then(name);
            Some(UncheckedCommit { commit, paths, blockers, by, at: event.at })
        }
        _ => None,
    });
    Ok(Lately { unchecked: unchecked.collect(), overwritten })
}
