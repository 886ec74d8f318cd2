//! The text by which an agent is recognised the next time.

use super::{AgentName, Client};
use crate::facts::Process;

/// The text by which an agent is recognised: `session:claude-code:<id>`, `manual:<name>`, `terminal:<process>`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct IdentityKey(pub String);

impl IdentityKey {
    /// The key of a name chosen with `--agent`.
    pub fn manual(name: &AgentName) -> Self {
        Self(format!("manual:{name}"))
    }

    /// The key of a client session.
    pub fn session(client: Client, session: &str) -> Self {
        Self(format!("session:{}:{session}", client.word()))
    }

    /// The session that it is the key of.
    pub fn session_of(&self, client: Client) -> Option<&str> {
        self.0.strip_prefix("session:")?.strip_prefix(client.word())?.strip_prefix(':')
    }

    /// The key of a subagent of a client session.
    pub fn subagent(client: Client, session: &str, subagent: &str) -> Self {
        Self(format!("session:{}:{session}/{subagent}", client.word()))
    }

    /// The key of a terminal session.
    pub fn terminal(process: &Process) -> Self {
        Self(format!("terminal:{}", process.key()))
    }
}
