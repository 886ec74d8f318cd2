//! What a person who does not watch wants to be told of. Nothing is decided by it: an alert is said once, after what it
//! tells of was recorded.

use crate::agent::AgentName;
use crate::lease::Lease;
use crate::limits::WAITING_LONG_MS;
use crate::target::Target;
use crate::time::Mono;
use crate::wait::Wait;

/// One thing to tell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Alert {
    /// The same edit of an agent is refused again and again.
    Looping {
        /// Whose.
        agent: AgentName,
        /// How often lately.
        times: u32,
    },
    /// An agent waits for long, and whoever is in its way does nothing by itself.
    Waiting {
        /// Who waits.
        agent: AgentName,
        /// Who holds it.
        holder: AgentName,
        /// What.
        target: Target,
        /// For how long by now.
        waited_ms: u64,
    },
    /// The session of an agent ended, or a person stopped it, and what it changed is not committed.
    Orphaned {
        /// Whose work.
        agent: AgentName,
        /// In what.
        target: Target,
        /// Whether a person stopped it.
        is_halted: bool,
    },
    /// Hooks cannot check anything.
    Outage {
        /// What is wrong.
        message: String,
    },
    /// What an agent held was taken from it.
    Forced {
        /// Who took it; `None` if nobody is on record.
        by: Option<AgentName>,
        /// From whom.
        holder: AgentName,
        /// What.
        target: Target,
        /// Why.
        reason: String,
    },
    /// A person ordered a pause.
    Paused {
        /// Why.
        reason: String,
    },
}

impl Alert {
    /// The stable name of the kind.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Looping { .. } => "looping",
            Self::Waiting { .. } => "waiting",
            Self::Orphaned { .. } => "orphaned",
            Self::Outage { .. } => "outage",
            Self::Forced { .. } => "forced",
            Self::Paused { .. } => "paused",
        }
    }

    /// In a line.
    pub fn text(&self) -> String {
        match self {
            Self::Looping { agent, times } => {
                format!("the same edit of {agent} was refused {times} times lately")
            }
            Self::Waiting { agent, holder, target, waited_ms } => {
                let minutes = waited_ms / 60_000;
                format!("{agent} waits for {} since {minutes} min; it is with {holder}", target.display())
            }
            Self::Orphaned { agent, target, is_halted } => {
                let how = if *is_halted { "was stopped" } else { "ended" };
                format!("{agent} {how} and left {} changed and not committed", target.display())
            }
            Self::Outage { message } => format!("edits are not checked: {message}"),
            Self::Forced { by, holder, target, reason } => {
                let by = by.as_ref().map_or("somebody", AgentName::as_str);
                format!("{by} took {} from {holder}: {reason}", target.display())
            }
            Self::Paused { reason } => format!("agents get no new files: {reason}"),
        }
    }
}

/// Whether a wait is long enough for a person to hear of it, and its turn has not come.
pub fn waits_long(wait: &Wait, now: Mono) -> bool {
    wait.offered_until.is_none() && now.since(wait.since) >= WAITING_LONG_MS
}

/// Whether a lease keeps a wait from its turn.
pub fn stands_in_way(lease: &Lease, wait: &Wait) -> bool {
    lease.ended.is_none() && lease.holder != wait.agent && wait.wanted.conflicts_with_lease(lease)
}
