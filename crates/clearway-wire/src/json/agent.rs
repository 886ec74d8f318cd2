//! Agents as programs read them.

use super::{integer, rfc3339};
use clearway_core::agent::Liveness;
use clearway_core::slice::AgentView;
use clearway_core::time::Now;
use schemars::JsonSchema;
use serde::Serialize;

/// An agent. What proves its identity is not among the fields.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "Agent")]
pub struct AgentJson {
    /// Stable id.
    pub id: String,
    /// Unique in the scope.
    pub name: String,
    /// `claude-code`, `codex`, `gemini`, `cursor`, `copilot`, `manual` or `terminal`.
    pub client: String,
    /// `active`, `idle` or `gone`.
    pub liveness: String,
    /// Since its last sign of life; null if it gave none since the machine started.
    pub last_active_ms_ago: Option<u64>,
    /// How many leases it holds.
    pub leases: u64,
    /// For how many it waits.
    pub waiting: u64,
    /// The agent that started it.
    pub parent_id: Option<String>,
    /// When it was first seen.
    pub registered_at: String,
    /// Why a person stopped it, if one did.
    pub halted: Option<String>,
    /// Whether its edits are refused again and again.
    pub looping: bool,
}

impl AgentJson {
    /// An agent as it looks at this instant.
    pub fn new(view: &AgentView, liveness: Liveness, waiting: u64, now: &Now) -> Self {
        let agent = &view.agent;
        Self {
            id: agent.id.to_string(),
            name: agent.name.to_string(),
            client: agent.client.word().to_owned(),
            liveness: liveness.word().to_owned(),
            last_active_ms_ago: view.last_seen().map(|seen| integer(now.mono.since(seen))),
            leases: integer(view.live_leases),
            waiting: integer(waiting),
            parent_id: agent.parent.map(|parent| parent.to_string()),
            registered_at: rfc3339(agent.registered_at),
            halted: agent.halted.clone(),
            looping: false,
        }
    }

    /// The same, refused again and again or not.
    #[must_use]
    pub fn looping(self, looping: bool) -> Self {
        Self { looping, ..self }
    }
}
