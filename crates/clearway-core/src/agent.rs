//! Agents, how a caller is recognised as one, families and liveness.

use crate::facts::{Facts, Liveness as ProcessLiveness, Process};
use crate::ids::AgentId;
use crate::limits::{ACTIVE_MS, AGENT_NAME_CHARS_MAX, WAIT_MS};
use crate::time::{Mono, Wall};
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
}

/// The name of an agent: safe in a shell, in JSON and in a file name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AgentName(String);

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

/// The kind of program behind an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Client {
    /// A name somebody chose with `--agent`.
    Manual,
    /// A person's or a script's terminal session.
    Terminal,
    /// Claude Code.
    ClaudeCode,
    /// OpenAI Codex.
    Codex,
    /// Gemini CLI.
    Gemini,
    /// Cursor, the editor and its command-line agent.
    Cursor,
    /// GitHub Copilot CLI.
    Copilot,
}

impl Client {
    /// Every client, in the order its session variable is looked for.
    pub const ALL: [Self; 7] = [
        Self::ClaudeCode,
        Self::Codex,
        Self::Gemini,
        Self::Cursor,
        Self::Copilot,
        Self::Manual,
        Self::Terminal,
    ];

    /// The word used in output, events and keys.
    pub fn word(self) -> &'static str {
        match self {
            Self::Manual => "manual",
            Self::Terminal => "terminal",
            Self::ClaudeCode => "claude-code",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
            Self::Cursor => "cursor",
            Self::Copilot => "copilot",
        }
    }

    /// Reads the word back.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|client| client.word() == word)
    }

    /// The variables in which the client tells its session, most telling first: the one that its hooks are told too,
    /// before one that differs in a subagent.
    pub fn session_variables(self) -> &'static [&'static str] {
        match self {
            Self::ClaudeCode => &["CLAUDE_CODE_SESSION_ID"],
            Self::Codex => &["CODEX_SESSION_ID", "CODEX_THREAD_ID"],
            Self::Gemini => &["GEMINI_SESSION_ID"],
            Self::Cursor | Self::Copilot | Self::Manual | Self::Terminal => &[],
        }
    }

    /// The variable in which the client tells its hooks its own process.
    pub fn process_variable(self) -> Option<&'static str> {
        (self == Self::ClaudeCode).then_some("CLAUDE_PID")
    }

    /// What the process of the client may be called. Clients written for node are called after it.
    fn commands(self) -> &'static [&'static str] {
        match self {
            Self::ClaudeCode => &["claude"],
            Self::Codex => &["codex"],
            Self::Gemini => &["gemini"],
            Self::Cursor => &["cursor", "Cursor", "cursor-agent", "agent"],
            Self::Copilot => &["copilot"],
            Self::Manual | Self::Terminal => &[],
        }
    }

    /// The client that a process is, by the short name of its command and, for what runs scripts, that of its script.
    pub fn running_as(command: &str, script: Option<&str>) -> Option<Self> {
        let name = if RUNTIMES.contains(&command) { script? } else { command };
        // Anything may be called an agent.
        Self::ALL.into_iter().find(|client| name != "agent" && client.commands().contains(&name))
    }

    /// The words that go on with a session, up to its id.
    pub fn resume_words(self) -> Option<&'static str> {
        match self {
            Self::ClaudeCode => Some("claude --resume"),
            Self::Codex => Some("codex resume"),
            Self::Gemini => Some("gemini --resume"),
            Self::Cursor => Some("cursor-agent --resume"),
            Self::Copilot => Some("copilot --resume"),
            Self::Manual | Self::Terminal => None,
        }
    }

    /// How long one command may wait before the client takes it for stuck.
    pub fn patience_ms(self) -> u64 {
        match self {
            Self::ClaudeCode => 110_000,
            Self::Codex => 9_000,
            Self::Gemini | Self::Cursor | Self::Copilot => 45_000,
            Self::Manual | Self::Terminal => WAIT_MS,
        }
    }

    /// Whether it calls us by hooks, and hears what is said to it there.
    pub fn has_hooks(self) -> bool {
        !matches!(self, Self::Manual | Self::Terminal)
    }

    /// What a name made for it begins with.
    pub fn name_stem(self) -> &'static str {
        match self {
            Self::Manual => "agent",
            Self::Terminal => "term",
            Self::ClaudeCode => "claude",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
            Self::Cursor => "cursor",
            Self::Copilot => "copilot",
        }
    }
}

/// A process above the caller, and what it is called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Above {
    /// The process.
    pub process: Process,
    /// The short name of its command.
    pub command: String,
}

/// The process of the client that started a hook, among those above it, nearest first. `told_pid` is what the client
/// itself says its number is.
///
/// The death of this process ends what its agent holds, so a wrong one is worse than none: only shells may stand
/// between it and the hook, and it has to be called like the client or like what runs it.
pub fn client_process(client: Client, above: &[Above], told_pid: Option<u32>) -> Option<&Process> {
    if let Some(told) = above.iter().find(|above| Some(above.process.pid) == told_pid) {
        return Some(&told.process);
    }
    let nearest = above.iter().find(|above| !SHELLS.contains(&above.command.as_str()))?;
    let mut names = client.commands().iter().chain(&RUNTIMES);
    names.any(|name| *name == nearest.command).then_some(&nearest.process)
}

/// Whether looking at processes further above a hook can change which one its client is.
pub fn needs_more_above(above: &[Above], told_pid: Option<u32>) -> bool {
    let Some(last) = above.last() else { return true };
    match told_pid {
        Some(told) => last.process.pid != told,
        None => SHELLS.contains(&last.command.as_str()),
    }
}

/// Shells that a client starts a hook through.
const SHELLS: [&str; 8] = ["sh", "bash", "dash", "zsh", "ash", "ksh", "fish", "busybox"];
/// What clients without a binary of their own are run by.
const RUNTIMES: [&str; 5] = ["node", "node-MainThread", "MainThread", "bun", "deno"];

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
    /// Whether the agent hears what is said beside the answer.
    pub hears: bool,
    /// Whether the session begins as a branch of the one that its process had.
    pub forks: bool,
    /// The process, dead by now, in which the session was begun before.
    pub earlier: Option<Process>,
}

impl Caller {
    /// Whether the environment, or that of a process above, is an agent's, whichever it is.
    pub fn in_client_session(&self) -> bool {
        let named = [&self.rival_sessions, &self.malformed_sessions, &self.sessions_above];
        self.session.is_some() || named.iter().any(|variables| !variables.is_empty())
    }
}

/// A session that the environment names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedSession {
    /// The variable that names it.
    pub variable: &'static str,
    /// The session.
    pub session: ClientSession,
}

/// The innermost of sessions that the environment names at once, as when one agent starts another. `above` tells for
/// the processes above, nearest first, which of the variables they were started with.
///
/// A client gives its variable to what it starts and was itself started without it, so the first process that lacks
/// one of them lacks the innermost. Where it lacks several, or none lacks any, nothing is told.
pub fn innermost<'a>(named: &'a [NamedSession], above: &[Vec<&'static str>]) -> Option<&'a NamedSession> {
    if let [only] = named {
        return Some(only);
    }
    let lacks = |started_with: &Vec<&str>, one: &NamedSession| !started_with.contains(&one.variable);
    let outer = above.iter().find(|started_with| named.iter().any(|one| lacks(started_with, one)))?;
    let mut missing = named.iter().filter(|one| lacks(outer, one));
    missing.next().filter(|_| missing.next().is_none())
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

/// How alive an agent looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Liveness {
    /// Gave a sign of life within five minutes.
    Active,
    /// Silent for longer.
    Idle,
    /// Ended, or its process is proven dead.
    Gone,
}

impl Liveness {
    /// The word used in output.
    pub fn word(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Idle => "idle",
            Self::Gone => "gone",
        }
    }
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

/// Judges an agent by its last sign of life and what is known of its process.
pub fn liveness(agent: &Agent, last_seen: Option<Mono>, facts: &Facts, now: Mono) -> Liveness {
    let dead =
        agent.process.as_ref().is_some_and(|process| facts.process(process) == Some(ProcessLiveness::Dead));
    if agent.ended_at.is_some() || dead {
        Liveness::Gone
    } else if last_seen.is_some_and(|seen| now.since(seen) <= ACTIVE_MS) {
        Liveness::Active
    } else {
        Liveness::Idle
    }
}

/// Whether a lease of `holder` can stand in the way of `requester`.
///
/// An ancestor's lease never does. A sibling's, a child's and a stranger's do. `parent_of` answers from the
/// agents at hand; an unknown parent ends the walk, which errs on the side of blocking.
pub fn can_block(
    holder: AgentId,
    requester: AgentId,
    parent_of: impl Fn(AgentId) -> Option<AgentId>,
) -> bool {
    let mut current = Some(requester);
    for _ in 0..FAMILY_DEPTH_MAX {
        match current {
            Some(agent) if agent == holder => return false,
            Some(agent) => current = parent_of(agent),
            None => return true,
        }
    }
    true
}

/// Deepest chain of subagents that is followed.
pub const FAMILY_DEPTH_MAX: usize = 16;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_is_known_by_its_command_or_by_the_script_that_is_run() {
        for (command, script, expect) in [
            ("claude", None, Some(Client::ClaudeCode)),
            ("node", Some("gemini"), Some(Client::Gemini)),
            ("node", Some("server.js"), None),
            ("node", None, None),
            ("agent", None, None),
            ("vim", Some("claude"), None),
        ] {
            assert_eq!(Client::running_as(command, script), expect, "{command} {script:?}");
        }
    }

    #[test]
    fn each_client_has_its_own_patience() {
        for (client, allowed_ms) in [
            (Client::ClaudeCode, 110_000),
            (Client::Codex, 9_000),
            (Client::Gemini, 45_000),
            (Client::Cursor, 45_000),
            (Client::Copilot, 45_000),
            (Client::Manual, WAIT_MS),
            (Client::Terminal, WAIT_MS),
        ] {
            assert_eq!(client.patience_ms(), allowed_ms, "{client:?}");
        }
    }

    fn id(text: &str) -> AgentId {
        AgentId::parse(text).unwrap()
    }

    #[test]
    fn an_ancestor_never_blocks_and_everyone_else_does() {
        let (root, child, sibling, grandchild, other) =
            (id("root0000"), id("child000"), id("child001"), id("grand000"), id("other000"));
        let parent_of = |agent: AgentId| match agent {
            a if a == child || a == sibling => Some(root),
            a if a == grandchild => Some(child),
            _ => None,
        };
        for (holder, requester, blocks) in [
            (root, root, false),
            (root, child, false),
            (root, grandchild, false),
            (child, grandchild, false),
            (child, root, true),
            (sibling, child, true),
            (sibling, grandchild, true),
            (other, root, true),
            (root, other, true),
        ] {
            assert_eq!(can_block(holder, requester, parent_of), blocks, "{holder} blocks {requester}");
        }
    }

    #[test]
    fn a_family_that_loops_still_gets_an_answer() {
        let (a, b) = (id("aaaaaaaa"), id("bbbbbbbb"));
        let parent_of = |agent: AgentId| if agent == a { Some(b) } else { Some(a) };
        assert!(can_block(id("cccccccc"), a, parent_of));
    }

    fn named(variable: &'static str, client: Client) -> NamedSession {
        NamedSession {
            variable,
            session: ClientSession { client, session: "s".to_owned(), subagent: None, process: None },
        }
    }

    #[test]
    fn of_nested_sessions_the_one_that_outer_processes_lack_is_the_innermost() {
        let all = [named("A", Client::ClaudeCode), named("B", Client::Codex), named("C", Client::Gemini)];
        let check = |named: &[NamedSession], above: &[&[&'static str]], expect: Option<&str>| {
            let above: Vec<Vec<&'static str>> = above.iter().map(|names| names.to_vec()).collect();
            assert_eq!(innermost(named, &above).map(|one| one.variable), expect, "{above:?}");
        };
        check(&all[..1], &[], Some("A"));
        check(&all[..2], &[&["A", "B"], &["A"], &[]], Some("B"));
        check(&all[..2], &[&["B"], &[]], Some("A"));
        check(&all, &[&["A", "C"], &["C"], &[]], Some("B"));
        check(&all[..2], &[&["A", "B"], &[]], None);
        check(&all[..2], &[&["A", "B"]], None);
        check(&all[..2], &[], None);
        check(&[], &[&["A"]], None);
    }

    fn above(pid: u32, command: &str) -> Above {
        let text = |text: &str| text.to_owned();
        let process = Process {
            host: text("h"),
            boot: text("b"),
            pid_namespace: text("n"),
            pid,
            start: u64::from(pid),
        };
        Above { process, command: text(command) }
    }

    #[test]
    fn a_clients_process_is_the_first_above_the_shells_if_it_is_called_like_one() {
        let check = |client, names: &[&str], told: Option<u32>, expect: Option<u32>| {
            let above: Vec<Above> = names.iter().zip(1..).map(|(name, pid)| above(pid, name)).collect();
            let found = client_process(client, &above, told).map(|process| process.pid);
            assert_eq!(found, expect, "{client:?} {names:?} {told:?}");
        };
        check(Client::ClaudeCode, &["claude", "zsh"], None, Some(1));
        check(Client::Codex, &["sh", "codex", "node"], None, Some(2));
        check(Client::Gemini, &["bash", "sh", "node-MainThread"], None, Some(3));
        check(Client::Codex, &["timeout", "codex"], None, None);
        check(Client::Codex, &["claude"], None, None);
        check(Client::ClaudeCode, &["wrapper", "anything"], Some(2), Some(2));
        check(Client::ClaudeCode, &["wrapper", "anything"], Some(9), None);
        check(Client::Cursor, &[], None, None);
    }

    #[test]
    fn nobody_looks_further_up_than_the_client() {
        let more = |names: &[&str], told: Option<u32>| {
            let above: Vec<Above> = names.iter().zip(1..).map(|(name, pid)| above(pid, name)).collect();
            needs_more_above(&above, told)
        };
        assert!(more(&[], None) && more(&["sh", "bash"], None) && more(&["claude"], Some(2)));
        assert!(!more(&["sh", "codex"], None) && !more(&["timeout"], None) && !more(&["x", "y"], Some(2)));
    }

    #[test]
    fn clients_are_known_by_their_words() {
        for client in Client::ALL {
            assert_eq!(Client::from_word(client.word()), Some(client));
        }
    }
}
