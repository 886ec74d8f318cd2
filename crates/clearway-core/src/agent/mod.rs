//! Agents: who acts in a scope, by what it is recognised, and how it stands to the others.
//!
//! An [`Agent`] is what was registered; a [`Caller`] is what the outside knows of whoever calls, before
//! [`crate::decide`] has turned it into one. What is known of the programs behind agents is the table of [`Client`].

mod caller;
mod client;
mod client_process;
mod family;
mod key;
mod liveness;
mod nested;

pub use caller::{Caller, ClientSession, Established, OperatorAct};
pub use client::Client;
pub use client_process::{Above, client_process, needs_more_above};
pub use family::{FAMILY_DEPTH_MAX, can_block};
pub use key::IdentityKey;
pub use liveness::{Liveness, SignOfLife, liveness};
pub use nested::{NamedSession, innermost};

use crate::facts::Process;
use crate::ids::AgentId;
use crate::limits::AGENT_NAME_CHARS_MAX;
use crate::time::Wall;
use std::fmt;

/// One identity in one scope.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Agent {
    /// Stable id.
    pub id: AgentId,
    /// Readable and unique in the scope.
    pub name: AgentName,
    /// What kind of program it is.
    pub client: Client,
    /// What recognises it the next time; unique in the scope.
    pub key: IdentityKey,
    /// The agent that started it.
    pub parent: Option<AgentId>,
    /// The top of its family; itself without a parent.
    pub root: AgentId,
    /// The client's own process, evidence of its death when it is gone.
    pub process: Option<Process>,
    /// When it was first seen.
    pub registered_at: Wall,
    /// When it said goodbye.
    pub ended_at: Option<Wall>,
    /// Why a person stopped it, if one did.
    pub halted: Option<String>,
}

/// The name of an agent: safe in a shell, in JSON and in a file name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AgentName(String);

/// Words that stand beside names in answers: lines that nobody is known to have written, and what all repositories share.
pub const NOBODYS_NAMES: [&str; 2] = ["unattributed", "machine"];

impl AgentName {
    /// Checks a name; `None` unless it is 1 to 64 of `A-Z a-z 0-9 . _ -`, beginning with a letter or digit.
    pub fn parse(text: &str) -> Option<Self> {
        let short = text.chars().count() <= AGENT_NAME_CHARS_MAX;
        (short && crate::text::is_plain_name(text)).then(|| Self(text.to_owned()))
    }

    /// A name put together by the kernel from parts that are plain.
    pub(crate) fn made(text: String) -> Self {
        debug_assert!(crate::text::is_plain_name(&text), "{text}");
        Self(text)
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for AgentName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(&self.0)
    }
}
