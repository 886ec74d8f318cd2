//! Answers about scopes and where they lie.

use schemars::JsonSchema;
use serde::Serialize;

/// `scope list`
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ScopesReply {
    /// Every scope of the store in use, in the order of their keys.
    pub scopes: Vec<ScopeReply>,
}

/// One scope.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ScopeReply {
    /// Its key, as `--scope` takes it.
    pub scope: String,
    /// Where its repository is, or was when the scope began.
    pub place: String,
    /// How many leases are live.
    pub leases: u64,
    /// The number of its last event.
    pub rev: u64,
    /// When that was; null if it cannot be read.
    pub last_event_at: Option<String>,
    /// Whether it is the scope here.
    pub here: bool,
    /// What keeps its store from being read; null if nothing does. The numbers are then 0.
    pub trouble: Option<String>,
}

/// `scope adopt`
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct AdoptReply {
    /// The scope in use here from now on.
    pub scope: String,
    /// What belongs to it.
    pub place: String,
    /// Whether anything changed.
    pub changed: bool,
    /// Where a log that was begun here meanwhile was put; what was held in it has to be taken again.
    pub put_aside: Option<String>,
    /// How many live leases are on paths of where it was: they do not follow.
    pub left_behind: u64,
}
