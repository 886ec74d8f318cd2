//! What is known of whoever calls, before it is one agent.

use super::{AgentName, Client, IdentityKey};
use crate::facts::Process;

/// Everything the outside knows about who is calling. [`crate::decide`] turns it into one agent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Caller {
    /// `--agent` or `CLEARWAY_AGENT`.
    pub claim: Option<AgentName>,
    /// The client session of the environment; of nested ones the innermost.
    pub session: Option<ClientSession>,
    /// Variables that name sessions of different clients where nothing tells which one is the innermost.
    pub rival_sessions: Vec<&'static str>,
    /// Session variables that hold no session id. Whoever needs no identity is not kept from its work by them.
    pub malformed_sessions: Vec<&'static str>,
    /// The processes above the caller, nearest first, where they matter: without a claim and a session, and for an
    /// operator's act.
    pub ancestors: Vec<Process>,
    /// Session variables that processes above the caller were started with, looked for at an operator's act alone:
    /// whoever takes the variable out of its own environment does not take it out of theirs.
    pub sessions_above: Vec<&'static str>,
    /// The terminal session it runs in.
    pub terminal: Option<Process>,
    /// A claim to authority over other people's leases.
    pub operator: Option<OperatorAct>,
    /// Whether the client itself calls, by its hook: it knows which session goes on as which.
    pub hook: bool,
    /// Whether the agent hears what is said beside the answer: by its client's hook, or because it called itself and reads
    /// this very answer.
    pub hears: bool,
    /// Whether the session begins as a branch of the one that its process had.
    pub forks: bool,
    /// The processes, dead by now, in which the session was begun before and its agent went on since.
    pub earlier: Vec<Process>,
}

impl Caller {
    /// Whether the environment, or that of a process above, is an agent's, whichever it is.
    pub fn in_client_session(&self) -> bool {
        let named = [&self.rival_sessions, &self.malformed_sessions, &self.sessions_above];
        self.session.is_some() || named.iter().any(|variables| !variables.is_empty())
    }
}

/// A session of a client program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientSession {
    /// Which program.
    pub client: Client,
    /// Its own id of the session.
    pub session: String,
    /// Its own id of the subagent that is meant; `None` for the agent of the session itself.
    pub subagent: Option<String>,
    /// The process of the client, where it was found.
    pub process: Option<Process>,
}

impl ClientSession {
    /// By what its agent, or the one of its subagent, is recognised.
    pub fn key(&self) -> IdentityKey {
        match &self.subagent {
            Some(subagent) => IdentityKey::subagent(self.client, &self.session, subagent),
            None => self.root_key(),
        }
    }

    /// By what the agent of the session itself is recognised.
    pub fn root_key(&self) -> IdentityKey {
        IdentityKey::session(self.client, &self.session)
    }
}

/// A claim to an operator's authority, with what speaks for it. [`crate::decide`] judges it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OperatorAct {
    /// Why.
    pub reason: String,
    /// Whether a person may be typing and reading.
    pub at_terminal: bool,
    /// Whether the operator's key was shown.
    pub holds_key: bool,
}

/// How an actor was established; recorded with every event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Established {
    /// The client's session variable.
    Session,
    /// A registered ancestor process.
    Ancestry,
    /// The caller said so.
    Claim,
    /// The terminal it runs in.
    Terminal,
    /// The kernel itself (expiry).
    Kernel,
}

impl Established {
    /// The word used in events.
    pub fn word(self) -> &'static str {
        match self {
            Self::Session => "session",
            Self::Ancestry => "ancestry",
            Self::Claim => "claim",
            Self::Terminal => "terminal",
            Self::Kernel => "kernel",
        }
    }

    /// Reads the word back.
    pub fn from_word(word: &str) -> Option<Self> {
        [Self::Session, Self::Ancestry, Self::Claim, Self::Terminal, Self::Kernel]
            .into_iter()
            .find(|how| how.word() == word)
    }
}
