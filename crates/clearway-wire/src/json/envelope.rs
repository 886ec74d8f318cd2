//! What surrounds every answer.

use super::integer;
use clearway_core::agent::AgentName;
use clearway_core::decide::Notice;
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

/// Something worth saying beside an answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct NoticeJson {
    /// `took-over`, `yielded`, `changed-hands` or `unreadable-rows`.
    pub code: String,
    /// The same in words.
    pub message: String,
    /// What it is about.
    pub target: Option<String>,
    /// Whom it is about.
    pub agent: Option<String>,
}

impl From<&Notice> for NoticeJson {
    fn from(notice: &Notice) -> Self {
        let about = |code: &str, target: &str, agent: &AgentName, message: String| Self {
            code: code.to_owned(),
            message,
            target: Some(target.to_owned()),
            agent: Some(agent.to_string()),
        };
        match notice {
            Notice::TookOver { target, from } => {
                about("took-over", target, from, format!("took over {target} from {from}, which is gone"))
            }
            Notice::Yielded { target, from } => {
                about("yielded", target, from, format!("{from} had not changed {target} and made room"))
            }
            Notice::ChangedHands { target, by } => about(
                "changed-hands",
                target,
                by,
                format!("{by} held {target} since you last did: read it again before you edit it"),
            ),
            Notice::UnreadableRows(rows) => Self {
                code: "unreadable-rows".to_owned(),
                message: format!("stored rows cannot be read: {}; see: clearway doctor", rows.join(", ")),
                target: None,
                agent: None,
            },
            Notice::ScopeInsideAnother { inner, outer } => Self {
                code: "scope-inside-another".to_owned(),
                message: format!(
                    "{inner} is now a scope of its own inside {outer}; leases of one are not seen in the other"
                ),
                target: Some(inner.clone()),
                agent: None,
            },
        }
    }
}
