//! The answer of each verb, without its envelope.

use super::{AgentJson, AheadJson, Blocker, LeaseJson, WaitJson};
use schemars::JsonSchema;
use serde::Serialize;

/// `reserve`
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ReserveReply {
    /// The leases held now.
    pub leases: Vec<LeaseJson>,
    /// With `--best-effort`: what was not granted.
    pub refused: Vec<RefusedTarget>,
    /// With `--queue`, or when `--wait` ends first: the place in the queue.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queued: Option<QueuedReply>,
}

/// A place in the queue, and who stands in the way.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct QueuedReply {
    /// The place.
    #[serde(flatten)]
    pub wait: WaitJson,
    /// Leases in the way.
    pub blockers: Vec<Blocker>,
    /// Earlier waits in the way.
    pub ahead: Vec<AheadJson>,
}

/// `waits`
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct WaitsReply {
    /// In the order of places; after them those of the caller for machine-wide names.
    pub waits: Vec<WaitJson>,
    /// Which of them, by id, are in the scope of the machine.
    pub machine_wide: Vec<String>,
}

/// `wait --cancel`
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct LeftReply {
    /// Ids of the waits given up by this call.
    pub cancelled: Vec<String>,
}

/// `transfer`
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct TransferReply {
    /// The leases as they are now.
    pub leases: Vec<LeaseJson>,
}

/// `freeze`
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct FreezeReply {
    /// Until when no new edits of agents are admitted.
    pub frozen_until: String,
    /// The same as a span from now.
    pub frozen_for_ms: u64,
}

/// `thaw`
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ThawReply {
    /// Whether there was anything to thaw.
    pub was_frozen: bool,
}

/// Something that best effort could not get.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct RefusedTarget {
    /// What.
    pub pattern: String,
    /// Who stands in the way.
    pub blockers: Vec<Blocker>,
    /// Who waits for it longer.
    pub ahead: Vec<AheadJson>,
}

/// `check`
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct CheckReply {
    /// Whether the reservation would be granted. The exit code is 1 if not.
    pub clear: bool,
    /// Who stands in the way.
    pub blockers: Vec<Blocker>,
    /// Who waits for it longer.
    pub ahead: Vec<AheadJson>,
    /// Things to know beside the answer.
    pub notices: Vec<super::NoticeJson>,
}

/// `renew`
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct RenewReply {
    /// The leases as they are now.
    pub leases: Vec<LeaseJson>,
}

/// `release`
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ReleaseReply {
    /// Ids of the leases given back by this call.
    pub released: Vec<String>,
    /// Ids of leases that were over before it.
    pub already_released: Vec<String>,
    /// Own leases that overlap what was named but reach further, and what was kept.
    pub remaining: Vec<LeaseJson>,
}

/// `sweep`
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct SweepReply {
    /// Ids of the leases recorded as expired, or that would be.
    pub expired: Vec<String>,
    /// Whether nothing was recorded.
    pub dry_run: bool,
}

/// `mine`
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct MineReply {
    /// Files and directories that the caller and its subagents hold, relative to where it stands.
    pub paths: Vec<String>,
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
    pub notices: Vec<super::NoticeJson>,
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
    pub notices: Vec<super::NoticeJson>,
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
    pub actor: super::Actor,
    /// Every agent that is not gone, and every gone one that still holds something.
    pub agents: Vec<AgentJson>,
    /// Live leases; after them those of the caller on machine-wide names.
    pub leases: Vec<Blocker>,
    /// The queue, in the order of places; after it the caller's waits for machine-wide names.
    pub waits: Vec<WaitJson>,
    /// Which of the leases and waits, by id, are in the scope of the machine.
    pub machine_wide: Vec<String>,
    /// Until when no new edits of agents are admitted, if a person ordered that.
    pub frozen_until: Option<String>,
    /// What needs a person.
    pub warnings: Vec<String>,
}

/// `audit verify`
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct VerifyReply {
    /// How many events were read.
    pub events: u64,
    /// The hash of the last one.
    pub head: String,
    /// The last event an anchor vouches for.
    pub anchored_seq: Option<u64>,
    /// How many events came after it.
    pub unanchored: u64,
    /// Whether the gate file beside the store remembers the log. Where it does not, a tail that was lost before the
    /// next write is missed by anchors alone.
    pub witnessed: bool,
}

/// `audit anchor`
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct AnchorReply {
    /// The hash that was signed.
    pub head: String,
    /// The signer's public key in hexadecimal.
    pub signer: String,
    /// When.
    pub anchored_at: String,
    /// The files it was written to.
    pub written: Vec<String>,
    /// Whether the operator's key was made by this call.
    pub new_key: bool,
}

/// `init`
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct InitReply {
    /// The scope of this repository, in which hooks act once it has begun.
    pub scope: String,
    /// The clients that are on this machine, or that were named; with `--uninstall` those that had hooks of ours.
    pub clients: Vec<ClientJson>,
    /// The files that were looked at.
    pub files: Vec<ClientFileJson>,
}

/// A client as it stands.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Client")]
pub struct ClientJson {
    /// Its name, as in `--client`.
    pub client: String,
    /// `active`, `one-step-left` or `not-enforceable`.
    pub standing: String,
    /// Why it is not active.
    pub why: Option<String>,
    /// What to do about it.
    pub step: Option<String>,
    /// What else was noticed.
    pub notes: Vec<String>,
}

/// A file that is changed for a client.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "ClientFile")]
pub struct ClientFileJson {
    /// The client; null for the repository's page for agents.
    pub client: Option<String>,
    /// The file.
    pub path: String,
    /// `written`, `removed`, `unchanged`, `planned` or `refused`.
    pub change: String,
    /// The changed lines.
    pub diff: String,
    /// What is worth knowing about it.
    pub note: Option<String>,
    /// Why it was refused: the name of the error, what it says and what to do.
    pub problem: Option<ProblemJson>,
}

/// Why something was not done.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Problem")]
pub struct ProblemJson {
    /// The name of the error.
    pub slug: String,
    /// What it says.
    pub message: String,
    /// What to do.
    pub hints: Vec<String>,
}

/// `doctor`
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct DoctorReply {
    /// Whether nothing is wrong.
    pub healthy: bool,
    /// With `--repair`: what was done.
    pub repaired: Option<RepairedJson>,
    /// What was looked at.
    pub checks: Vec<CheckedThing>,
}

/// What a repair did.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Repaired")]
pub struct RepairedJson {
    /// Rows made anew from the log.
    pub rows: u64,
    /// Events that are gone for good.
    pub lost_events: u64,
    /// Temporary files of killed processes that were removed.
    pub leftovers: u64,
}

/// `demo`
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct DemoReply {
    /// What was done, in order.
    pub steps: Vec<DemoStep>,
    /// How long the agent that waited took to have what it waited for, from the moment somebody began to give it up.
    pub wake_up_ms: u64,
    /// How long the commands took together.
    pub duration_ms: u64,
}

/// One step of a demonstration. It went as expected: a demonstration ends with the first step that does not.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct DemoStep {
    /// What it is to show.
    pub scene: String,
    /// Who acted.
    pub who: String,
    /// What was typed.
    pub command: String,
    /// How it ended; null if it goes on in the background.
    pub exit_code: Option<i32>,
    /// How long it took.
    pub duration_ms: u64,
    /// What it said.
    pub output: String,
}

/// One thing a doctor looked at.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct CheckedThing {
    /// What.
    pub about: String,
    /// `ok`, `note` or `wrong`.
    pub status: String,
    /// In words.
    pub text: String,
    /// What to do about it.
    pub hint: Option<String>,
}

/// `config show`
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct SettingsReply {
    /// Every key in the order of the reference.
    pub settings: Vec<Setting>,
    /// `CLEARWAY_…` variables that nothing reads.
    pub unknown_variables: Vec<UnknownVariableReply>,
}

/// One value and where it came from.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Setting {
    /// As written in a file, with dots between the tables.
    pub key: String,
    /// The value in force as text; null where nothing is set.
    pub value: Option<String>,
    /// Where it came from: file and line, variable, flag, posture or default.
    pub source: String,
    /// `default`, `user`, `repository`, `environment` or `flags`.
    pub layer: String,
    /// What it replaced, the strongest first.
    pub overrode: Vec<OverriddenSetting>,
    /// What was given but does not count.
    pub ignored: Vec<IgnoredSetting>,
    /// Whether safety depends on it.
    pub safety: bool,
    /// What it is for.
    pub about: String,
}

/// A value that a stronger one replaced.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct OverriddenSetting {
    /// The value.
    pub value: String,
    /// Where it came from.
    pub source: String,
}

/// A value that would lower safety from where it may not.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct IgnoredSetting {
    /// The value.
    pub value: String,
    /// Where it came from.
    pub source: String,
    /// The safer value that was kept.
    pub kept: String,
}

/// A variable that looks like ours.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct UnknownVariableReply {
    /// Its name.
    pub name: String,
    /// The nearest one that is read.
    pub nearest: Option<String>,
}

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

/// `config path`
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct PathsReply {
    /// The configuration files, weakest first.
    pub files: Vec<ConfigFile>,
}

/// One configuration file.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ConfigFile {
    /// `user` or `repository`.
    pub layer: String,
    /// Where it is, or would be.
    pub path: String,
    /// Whether it is there.
    pub present: bool,
}

/// `config classes`
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ClassesReply {
    /// One for each class.
    pub classes: Vec<ClassReply>,
}

/// One class of paths.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ClassReply {
    /// `ignored`, `common` or `hot`.
    pub class: String,
    /// What being in it means.
    pub about: String,
    /// Its patterns.
    pub patterns: Vec<PatternReply>,
    /// Where a list is given that adds nothing to those.
    pub adds_nothing: Vec<String>,
}

/// One pattern of a class.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct PatternReply {
    /// As it was written.
    pub pattern: String,
    /// Where it came from.
    pub source: String,
}

/// `explain SLUG`
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ExplainReply {
    /// Which one.
    #[serde(flatten)]
    pub slug: SlugReply,
    /// Its page, as Markdown.
    pub page: String,
}

/// `explain` alone
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct SlugsReply {
    /// Every slug in the order of the reference.
    pub slugs: Vec<SlugReply>,
}

/// One slug.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct SlugReply {
    /// The stable name.
    pub slug: String,
    /// What sort of failure it is.
    pub kind: String,
    /// The exit code of a command that fails with it.
    pub exit_code: u8,
    /// What it means in a sentence.
    pub summary: String,
}

/// `completions`
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct CompletionsReply {
    /// For which shell.
    pub shell: String,
    /// The script.
    pub script: String,
}

/// `man`
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ManReply {
    /// The files written.
    pub written: Vec<String>,
    /// Without a directory: the page of `clearway` itself, or of the verb that was named.
    pub page: Option<String>,
}

/// `help` and `--version`
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct TextReply {
    /// What a person would have been shown.
    pub text: String,
}
