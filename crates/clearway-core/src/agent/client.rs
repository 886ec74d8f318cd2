//! The programs behind agents, and what the rules have to know of each: one table, one entry for each client.
//!
//! How a client speaks to us and where its configuration lies is no part of this: adapters know it.

use crate::limits::WAIT_MS;

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

/// What is known of one client.
struct Known {
    word: &'static str,
    name_stem: &'static str,
    session_variables: &'static [&'static str],
    process_variable: Option<&'static str>,
    commands: &'static [&'static str],
    resume_words: Option<&'static str>,
    patience_ms: u64,
    has_hooks: bool,
    calls_one_by_one: bool,
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

    fn known(self) -> &'static Known {
        match self {
            Self::Manual => &MANUAL,
            Self::Terminal => &TERMINAL,
            Self::ClaudeCode => &CLAUDE_CODE,
            Self::Codex => &CODEX,
            Self::Gemini => &GEMINI,
            Self::Cursor => &CURSOR,
            Self::Copilot => &COPILOT,
        }
    }

    /// The word used in output, events and keys.
    pub fn word(self) -> &'static str {
        self.known().word
    }

    /// Reads the word back.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|client| client.word() == word)
    }

    /// What a name made for it begins with.
    pub fn name_stem(self) -> &'static str {
        self.known().name_stem
    }

    /// The variables in which the client tells its session, most telling first: the one that its hooks are told too,
    /// before one that differs in a subagent.
    pub fn session_variables(self) -> &'static [&'static str] {
        self.known().session_variables
    }

    /// The variable in which the client tells its hooks its own process.
    pub fn process_variable(self) -> Option<&'static str> {
        self.known().process_variable
    }

    /// What the process of the client may be called. Clients written for node are called after it.
    pub(super) fn commands(self) -> &'static [&'static str] {
        self.known().commands
    }

    /// The words that go on with a session, up to its id.
    pub fn resume_words(self) -> Option<&'static str> {
        self.known().resume_words
    }

    /// How long one command may wait before the client takes it for stuck.
    pub fn patience_ms(self) -> u64 {
        self.known().patience_ms
    }

    /// Whether it calls us by hooks, and hears what is said to it there.
    pub fn has_hooks(self) -> bool {
        self.known().has_hooks
    }

    /// Whether a call that writes runs alone in each of its agents, and its hooks tell its agents apart: then the hook of
    /// any other call tells that it is over.
    pub fn calls_one_by_one(self) -> bool {
        self.known().calls_one_by_one
    }
}

const MANUAL: Known = Known {
    word: "manual",
    name_stem: "agent",
    session_variables: &[],
    process_variable: None,
    commands: &[],
    resume_words: None,
    patience_ms: WAIT_MS,
    has_hooks: false,
    calls_one_by_one: false,
};

const TERMINAL: Known = Known {
    word: "terminal",
    name_stem: "term",
    session_variables: &[],
    process_variable: None,
    commands: &[],
    resume_words: None,
    patience_ms: WAIT_MS,
    has_hooks: false,
    calls_one_by_one: false,
};

const CLAUDE_CODE: Known = Known {
    word: "claude-code",
    name_stem: "claude",
    session_variables: &["CLAUDE_CODE_SESSION_ID"],
    process_variable: Some("CLAUDE_PID"),
    commands: &["claude"],
    resume_words: Some("claude --resume"),
    patience_ms: 110_000,
    has_hooks: true,
    calls_one_by_one: true,
};

const CODEX: Known = Known {
    word: "codex",
    name_stem: "codex",
    session_variables: &["CODEX_SESSION_ID", "CODEX_THREAD_ID"],
    process_variable: None,
    commands: &["codex"],
    resume_words: Some("codex resume"),
    patience_ms: 9_000,
    has_hooks: true,
    calls_one_by_one: true,
};

const GEMINI: Known = Known {
    word: "gemini",
    name_stem: "gemini",
    session_variables: &["GEMINI_SESSION_ID"],
    process_variable: None,
    commands: &["gemini"],
    resume_words: Some("gemini --resume"),
    patience_ms: 45_000,
    has_hooks: true,
    calls_one_by_one: false,
};

const CURSOR: Known = Known {
    word: "cursor",
    name_stem: "cursor",
    session_variables: &[],
    process_variable: None,
    commands: &["cursor", "Cursor", "cursor-agent", "agent"],
    resume_words: Some("cursor-agent --resume"),
    patience_ms: 45_000,
    has_hooks: true,
    calls_one_by_one: false,
};

const COPILOT: Known = Known {
    word: "copilot",
    name_stem: "copilot",
    session_variables: &[],
    process_variable: None,
    commands: &["copilot"],
    resume_words: Some("copilot --resume"),
    patience_ms: 45_000,
    has_hooks: true,
    calls_one_by_one: false,
};

#[cfg(test)]
mod tests {
    use super::*;

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

    #[test]
    fn clients_are_known_by_their_words() {
        for client in Client::ALL {
            assert_eq!(Client::from_word(client.word()), Some(client));
        }
    }
}
