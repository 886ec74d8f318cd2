//! Answers about a span of time: what hooks cost, what happened in a night.

use schemars::JsonSchema;
use serde::Serialize;

/// `status --cost`
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct CostReply {
    /// From when on.
    pub since: String,
    /// What hooks cost each agent, the dearest first.
    pub agents: Vec<AgentCostJson>,
    /// Hook calls that took 250 ms or longer, the slowest first, at most ten.
    pub slowest: Vec<SlowCallJson>,
    /// How many there were.
    pub slow: u64,
}

/// What hooks cost an agent.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct AgentCostJson {
    /// Who.
    pub agent: String,
    /// How often its model was told something.
    pub told: u64,
    /// How many of its tool calls were refused.
    pub refused: u64,
    /// How many would have been, had the settings been to enforce it.
    pub let_pass: u64,
    /// Bytes that its model was told, refusals included.
    pub bytes: u64,
    /// About how many tokens that is.
    pub tokens: u64,
    /// How many hook calls were slow.
    pub slow: u64,
}

/// A slow call of a hook.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct SlowCallJson {
    /// When.
    pub at: String,
    /// For whom; null if that was not found out.
    pub agent: Option<String>,
    /// How long it took.
    pub ms: u64,
    /// What it waited for longest: `payload`, `git`, `store`, or the slug of what failed.
    pub cause: String,
}

/// `digest`
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct DigestReply {
    /// From when on.
    pub since: String,
    /// Events of that time.
    pub events: u64,
    /// Who committed how often, as git tells it; null where git cannot tell.
    pub commits: Option<Vec<CommitsJson>>,
    /// Edits that would have been refused, had the settings been to enforce it.
    pub let_pass: u64,
    /// Who did something, the busiest first.
    pub agents: Vec<DeedsJson>,
    /// The longest that anybody waited.
    pub longest_wait: Option<LongestWaitJson>,
    /// Leases that were taken from somebody who was gone.
    pub taken_over: Vec<PassedJson>,
    /// Changes that somebody left behind who ended.
    pub left_behind: Vec<PassedJson>,
    /// Files that were written while somebody else held them.
    pub written_over: Vec<WrittenOverJson>,
    /// Acts of operators.
    pub operator_acts: Vec<OperatorActJson>,
    /// Acts that were denied.
    pub denied: u64,
    /// About how many tokens hooks told models.
    pub tokens: u64,
    /// Hook calls that took 250 ms or longer.
    pub slow_hooks: u64,
    /// What needs a person now.
    pub needs: Vec<String>,
}

/// How often somebody committed.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct CommitsJson {
    /// The author, as git knows it.
    pub author: String,
    /// How often.
    pub count: u64,
}

/// What one agent did.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct DeedsJson {
    /// Who.
    pub agent: String,
    /// Leases it got.
    pub leases: u64,
    /// How often it was refused something.
    pub refused: u64,
    /// How often it waited.
    pub waits: u64,
    /// How long together.
    pub waited_ms: u64,
}

/// A wait that was longer than every other.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct LongestWaitJson {
    /// Who waited.
    pub agent: String,
    /// For what.
    pub pattern: String,
    /// How long.
    pub ms: u64,
    /// Whether it goes on.
    pub open: bool,
}

/// A lease that somebody lost.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct PassedJson {
    /// On what.
    pub pattern: String,
    /// Whose it was.
    pub from: String,
    /// Who has it; null for nobody.
    pub to: Option<String>,
}

/// A file that was written while somebody else held it.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct WrittenOverJson {
    /// The file.
    pub pattern: String,
    /// Who held it.
    pub holder: String,
    /// During whose call; null if that cannot be told.
    pub by: Option<String>,
}

/// An act of an operator.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct OperatorActJson {
    /// Who.
    pub agent: String,
    /// The kind of its event.
    pub kind: String,
}
