//! Answers that list what is there now.

use crate::json::WrittenOverJson;
use crate::json::{AgentJson, Blocker, WaitJson};
use schemars::JsonSchema;
use serde::Serialize;

/// `mine`
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct MineReply {
    /// Files and directories that the caller and its subagents hold, relative to where it stands.
    pub paths: Vec<String>,
}

/// `radar`
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct RadarReply {
    /// What was compared with each other.
    pub tips: Vec<TipJson>,
    /// The pairs that will not merge.
    pub conflicts: Vec<ConflictJson>,
}

/// The end of a line of work.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct TipJson {
    /// The branch, or the beginning of the commit where there is none.
    pub name: String,
    /// The root of the checkout; null for a branch that was named.
    pub root: Option<String>,
    /// Whether it holds what is not committed.
    pub uncommitted: bool,
    /// Who holds paths there.
    pub agents: Vec<String>,
}

/// Two that will not merge.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ConflictJson {
    /// One of them, by its name.
    pub one: String,
    /// The other.
    pub other: String,
    /// The files that somebody would have to decide.
    pub paths: Vec<String>,
}

/// `diff`
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct DiffReply {
    /// Files with uncommitted changes, in the order of their paths.
    pub files: Vec<FileLinesJson>,
}

/// What is not committed of a file.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct FileLinesJson {
    /// Its path, relative to the root of the worktree.
    pub path: String,
    /// Whether it holds something else than text, or too much, so that no lines are told.
    pub binary: bool,
    /// How many lines were added.
    pub added: u64,
    /// How many lines were removed.
    pub removed: u64,
    /// Who added how many of them, as far as hooks told.
    pub by: Vec<AuthorLinesJson>,
    /// How many of the added lines are nobody's, as far as hooks told.
    pub unattributed: u64,
    /// The added lines; of one agent, if one was named.
    pub lines: Vec<ChangedLineJson>,
}

/// How many lines an agent added.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct AuthorLinesJson {
    /// Its name.
    pub agent: String,
    /// Its id.
    pub agent_id: String,
    /// How many.
    pub lines: u64,
}

/// One added line.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ChangedLineJson {
    /// Its number in the file, from 1.
    pub number: u64,
    /// Who wrote it; `null` if nobody is known to have.
    pub agent: Option<String>,
    /// The line.
    pub text: String,
}

/// `statusline`
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct StatuslineReply {
    /// The line; empty if there is nothing to say.
    pub line: String,
}

/// `where`
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct WhereReply {
    /// The agent.
    pub agent: AgentJson,
    /// The process of its client, if it is known to live.
    pub pid: Option<u32>,
    /// The terminal of that process.
    pub terminal: Option<String>,
    /// The pane of tmux that it was started in.
    pub tmux_pane: Option<String>,
    /// The directory it works in; of one that is gone the checkout it last held something in.
    pub directory: Option<String>,
    /// The branch of that directory.
    pub branch: Option<String>,
    /// The command that goes on with its session.
    pub resume: Option<String>,
}

/// `leases`
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct LeasesReply {
    /// In the order of their fences; after them those of the caller on machine-wide names.
    pub leases: Vec<Blocker>,
    /// Which of them, by id, are in the scope of the machine: their fences have an order of their own.
    pub machine_wide: Vec<String>,
    /// Ids of rows that cannot be read.
    pub unreadable: Vec<String>,
    /// Things to know beside the answer.
    pub notices: Vec<crate::json::NoticeJson>,
}

/// `who`
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct WhoReply {
    /// The path asked about, relative to the root of the worktree, or the name.
    pub path: String,
    /// Everyone whose lease overlaps it.
    pub holders: Vec<Blocker>,
    /// Everyone who waits for it.
    pub waiters: Vec<WaitJson>,
    /// Things to know beside the answer.
    pub notices: Vec<crate::json::NoticeJson>,
}

/// `agents`
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct AgentsReply {
    /// In the order they came.
    pub agents: Vec<AgentJson>,
}

/// `status`
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct StatusReply {
    /// The scope's key.
    pub scope: String,
    /// What the scope is.
    pub place: String,
    /// Who the caller is.
    #[serde(flatten)]
    pub actor: crate::json::Actor,
    /// Every agent that is not gone, and every gone one that still holds something.
    pub agents: Vec<AgentJson>,
    /// Live leases; after them those of the caller on machine-wide names.
    pub leases: Vec<Blocker>,
    /// The queue, in the order of places; after it the caller's waits for machine-wide names.
    pub waits: Vec<WaitJson>,
    /// Who asks whom for what, in the order it was asked.
    pub negotiations: Vec<crate::json::NegotiationJson>,
    /// Which of the leases and waits, by id, are in the scope of the machine.
    pub machine_wide: Vec<String>,
    /// Until when no new edits of agents are admitted, if a person ordered that.
    pub frozen_until: Option<String>,
    /// Commits of the last day that went past the check with what was with somebody else, the earliest first.
    pub unchecked: Vec<UncheckedJson>,
    /// Files of the last day that were written while somebody else held them, and that are held still, the earliest first.
    pub written_over: Vec<WrittenOverJson>,
    /// How many messages to the caller it has not read; of very many only that there are at least so many.
    pub unread: u64,
    /// What needs a person.
    pub warnings: Vec<String>,
}

/// A commit that went past the check.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct UncheckedJson {
    /// Its id.
    pub commit: String,
    /// Its paths that were with others.
    pub paths: Vec<String>,
    /// The leases on them.
    pub blockers: Vec<String>,
    /// Whether one of these leases is still live.
    pub held: bool,
    /// Whose command it was, if no other ran then.
    pub agent: Option<String>,
    /// When it was found.
    pub found_at: String,
}
