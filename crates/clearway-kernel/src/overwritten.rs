//! Files that somebody holds and somebody else wrote, as the log tells of them.

use clearway_core::event::{Body, Event};
use clearway_core::ids::{AgentId, LeaseId};

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
}

/// Those that events tell of, the earliest first.
pub(crate) fn overwritten(events: &[Event], name_of: &dyn Fn(AgentId) -> String) -> Vec<OverwrittenFile> {
    let one = |event: &Event| match &event.body {
        Body::LeaseOverwritten { lease, holder, path } => Some(OverwrittenFile {
            path: path.clone(),
            lease: *lease,
            holder: name_of(*holder),
            by: event.actor.agent.map(name_of),
        }),
        _ => None,
    };
    events.iter().filter_map(one).collect()
}
