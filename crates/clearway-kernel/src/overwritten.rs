//! Files that somebody holds and somebody else wrote, as the log tells of them.

use crate::listings::AgentSeen;
use clearway_core::event::{Body, Event};
use clearway_core::failure::LeaseView;
use clearway_core::ids::{AgentId, LeaseId};
use clearway_core::slice::Overwritten;

/// One of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OverwrittenFile {
    /// Which.
    pub path: String,
    /// The lease on it.
    pub lease: LeaseId,
    /// Who held it.
    pub holder: String,
    /// Who wrote it; `None` if that cannot be told.
    pub by: Option<String>,
    /// By its id.
    writer: Option<AgentId>,
}

impl OverwrittenFile {
    /// The same with who holds it now, unless the lease is over, or on it no more, or its holder edited it since: what was
    /// let go is read anew by whoever takes it.
    fn still(self, leases: &[LeaseView], agents: &[AgentSeen]) -> Option<Self> {
        let LeaseView { lease, agent, .. } = leases.iter().find(|view| view.lease.id == self.lease)?;
        let holder = agents.iter().find(|seen| seen.view.agent.id == lease.holder)?;
        let is_ceded = lease.ceded.iter().any(|ceded| ceded.display() == self.path);
        let is_unseen = |known: &Overwritten| {
            known.lease == lease.id && known.path == self.path && known.by == self.writer
        };
        let stands = !is_ceded && holder.view.memo.overwritten.iter().any(is_unseen);
        stands.then(|| Self { holder: agent.to_string(), ..self })
    }
}

/// Those of them that still stand, each once.
pub(crate) fn still_overwritten(
    files: Vec<OverwrittenFile>,
    leases: &[LeaseView],
    agents: &[AgentSeen],
) -> Vec<OverwrittenFile> {
    let mut standing: Vec<OverwrittenFile> = Vec::new();
    for file in files.into_iter().filter_map(|file| file.still(leases, agents)) {
        standing.retain(|earlier| *earlier != file);
        standing.push(file);
    }
    standing
}

/// Those that events tell of, the earliest first.
pub(crate) fn overwritten(events: &[Event], name_of: &dyn Fn(AgentId) -> String) -> Vec<OverwrittenFile> {
    let one = |event: &Event| match &event.body {
        Body::LeaseOverwritten { lease, holder, path } => Some(OverwrittenFile {
            path: path.clone(),
            lease: *lease,
            holder: name_of(*holder),
            by: event.actor.agent.map(name_of),
            writer: event.actor.agent,
        }),
        _ => None,
    };
    events.iter().filter_map(one).collect()
}
