//! What surrounds every answer.

use super::{NoticeJson, integer};
use clearway_core::agent::AgentName;
use clearway_core::ids::{AgentId, Seq};
use schemars::JsonSchema;
use serde::Serialize;

/// An answer that has to do with no scope.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Told<T> {
    /// Always true here.
    pub ok: bool,
    /// The answer.
    #[serde(flatten)]
    pub body: T,
}

impl<T> Told<T> {
    /// Puts an answer into its envelope.
    pub fn new(body: T) -> Self {
        Self { ok: true, body }
    }
}

/// What was seen in a scope.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Looked<T> {
    /// Always true here.
    pub ok: bool,
    /// The revision of the scope that was looked at; 0 before its first event.
    pub rev: u64,
    /// The answer.
    #[serde(flatten)]
    pub body: T,
}

impl<T> Looked<T> {
    /// Puts an answer into its envelope.
    pub fn new(rev: Seq, body: T) -> Self {
        Self { ok: true, rev: integer(rev.0), body }
    }
}

/// What was done in a scope.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Acted<T> {
    /// Always true here.
    pub ok: bool,
    /// The revision of the scope that the answer belongs to.
    pub rev: u64,
    /// Who acted.
    #[serde(flatten)]
    pub actor: Actor,
    /// Whether this is the remembered answer to an earlier, equal request with the same idempotency key.
    pub replayed: bool,
    /// Things to know beside the answer.
    pub notices: Vec<NoticeJson>,
    /// The answer.
    #[serde(flatten)]
    pub body: T,
}

/// Who the caller is.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct Actor {
    /// The caller's name; null if it has none in this scope.
    pub agent: Option<String>,
    /// The caller's id.
    pub agent_id: Option<String>,
}

impl Actor {
    /// The caller as it was found.
    pub fn new(found: Option<&(AgentId, AgentName)>) -> Self {
        Self { agent: found.map(|(_, name)| name.to_string()), agent_id: found.map(|(id, _)| id.to_string()) }
    }
}
