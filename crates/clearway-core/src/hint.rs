//! What to do now, as data: a command keeps its flags apart until it is shown, so that whoever knows how the caller
//! stands to the scope and the store can add what the command needs to mean the same ones.

use crate::shell;
use crate::target::Worktree;
use std::fmt;

/// What stands before a command in advice.
const BEFORE_COMMAND: &str = ": clearway ";

/// What to do about a store in a directory that is not there: that is a slip more often than a wish.
pub const STORE_SLIP: &str = "look for a slip in --store, CLEARWAY_STORE or store.url";

/// Commands that lead on from many a failure, each with what it is good for.
pub const DOCTOR: &str = "see what is wrong: clearway doctor";
pub const ASK_GIT: &str = "see what git says: git status";
pub const PATH_RULES: &str = "the rules for paths: clearway explain invalid-path";
pub const SNAPSHOTS: &str = "see what is kept: clearway snapshots";
pub const AGENTS: &str = "see who is here: clearway agents";
pub const WAITS: &str = "see who waits for what: clearway waits";

/// One piece of advice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Hint {
    /// Plain advice.
    Advice(String),
    /// A command of ours.
    Command {
        /// What it is good for.
        purpose: String,
        /// Flags of every verb, already quoted, such as `-C DIR`.
        flags: Vec<String>,
        /// Its verb and words, quoted for a shell.
        words: String,
        /// Whose paths it names.
        paths: Paths,
        /// Who is to run it.
        runner: Runner,
    },
}

/// Whose paths a command names, if it names some. They start at the root of a checkout.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Paths {
    /// It names none.
    None,
    /// Of the checkout that the caller stands in.
    Here,
    /// Of this one.
    Of(Worktree),
}

/// Who is to run a command that is suggested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Runner {
    /// Whoever is told.
    Caller,
    /// Whoever is told, but not in the name that was given.
    Anybody,
    /// A person with an operator's authority, who does not act in the caller's name.
    Operator,
}

impl Hint {
    /// Advice that ends with a command for whoever is told, by whatever name: the one it gave is none of its own.
    pub fn for_anybody(advice: &str) -> Self {
        Self::from(advice).run_by(Runner::Anybody)
    }

    /// Advice that ends with a command for an operator.
    pub fn for_operator(advice: &str) -> Self {
        Self::from(advice).run_by(Runner::Operator)
    }

    fn run_by(mut self, by: Runner) -> Self {
        if let Self::Command { runner, .. } = &mut self {
            *runner = by;
        }
        self
    }

    /// The same about something with a name, which is no path and may look like a flag.
    pub fn about_name(purpose: &str, verb: &str, name: &str) -> Self {
        let dashes = if name.starts_with('-') { "-- " } else { "" };
        let words = format!("{verb} --kind name {dashes}{}", shell::as_it_is(name));
        Self::from(format!("{purpose}{BEFORE_COMMAND}{words}"))
    }

    /// A command about something of the scope. The verb may bring flags of its own; the words are quoted here.
    pub fn command(purpose: &str, verb: &str, words: &[&str]) -> Self {
        let quoted = words.iter().map(|word| format!(" {}", shell::word(word)));
        let words = std::iter::once(verb.to_owned()).chain(quoted).collect();
        Self::Command {
            purpose: purpose.to_owned(),
            flags: Vec::new(),
            words,
            paths: Paths::Here,
            runner: Runner::Caller,
        }
    }

    /// The same about paths of this checkout, wherever the caller stands.
    #[must_use]
    pub fn about(self, worktree: &Worktree) -> Self {
        match self {
            Self::Command { purpose, flags, words, runner, .. } => {
                Self::Command { purpose, flags, words, paths: Paths::Of(worktree.clone()), runner }
            }
            advice @ Self::Advice(_) => advice,
        }
    }

    /// Makes a command that names paths work for a caller who stands in a directory of a checkout.
    pub fn run_from(&mut self, directory: &str, here: &Worktree) {
        let Self::Command { flags, paths, .. } = self else { return };
        let Worktree(root) = match paths {
            Paths::None => return,
            Paths::Here => here,
            Paths::Of(worktree) => worktree,
        };
        if !root.is_empty() && root != directory {
            flags.push(format!("-C {}", shell::word(root)));
        }
    }

    /// What is to be typed, without what it is good for; `None` for plain advice.
    pub fn line(&self) -> Option<String> {
        let Self::Command { flags, words, .. } = self else { return None };
        let flags = flags.iter().map(String::as_str);
        let line: Vec<&str> = std::iter::once("clearway").chain(flags).chain([words.as_str()]).collect();
        Some(line.join(" "))
    }

    /// Whether it is the caller who is to run it, in its own name.
    pub fn is_for_caller(&self) -> bool {
        !matches!(self, Self::Command { runner: Runner::Operator | Runner::Anybody, .. })
    }

    /// Adds a flag that the caller gave, unless the command has it already.
    pub fn run_with(&mut self, flag: &str, value: &str) {
        let Self::Command { flags, words, .. } = self else { return };
        let begins = format!("{flag} ");
        let has_it = flags.iter().any(|own| own.starts_with(&begins)) || words.contains(&begins);
        if !has_it {
            flags.push(format!("{flag} {}", shell::word(value)));
        }
    }
}

impl From<String> for Hint {
    fn from(advice: String) -> Self {
        Self::from(advice.as_str())
    }
}

impl From<&str> for Hint {
    fn from(advice: &str) -> Self {
        match advice.split_once(BEFORE_COMMAND) {
            Some((purpose, words)) => Self::Command {
                purpose: purpose.to_owned(),
                flags: Vec::new(),
                words: words.to_owned(),
                paths: Paths::None,
                runner: Runner::Caller,
            },
            None => Self::Advice(advice.to_owned()),
        }
    }
}

impl fmt::Display for Hint {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self, self.line()) {
            (Self::Advice(advice), _) => formatter.write_str(advice),
            (Self::Command { purpose, .. }, line) => {
                write!(formatter, "{purpose}: {}", line.unwrap_or_default())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_quoted_for_a_shell_and_says_where_it_works() {
        let mut hint = Hint::command("see who", "who", &["it's clearway who x"]);
        assert_eq!(hint.to_string(), r"see who: clearway who 'it'\''s clearway who x'");
        let (here, there) = (Worktree("/home/a b".to_owned()), Worktree("/there".to_owned()));
        let mut elsewhere = hint.clone().about(&there);
        elsewhere.run_from("/home/a b", &here);
        assert_eq!(elsewhere.to_string(), r"see who: clearway -C /there who 'it'\''s clearway who x'");
        let at_root = hint.to_string();
        hint.run_from("/home/a b", &here);
        assert_eq!(hint.to_string(), at_root);
        hint.run_from("/home/a b/c", &here);
        assert_eq!(hint.to_string(), r"see who: clearway -C '/home/a b' who 'it'\''s clearway who x'");
    }

    #[test]
    fn a_command_means_the_store_and_scope_of_the_caller() {
        let mut hint = Hint::from("see what is wrong: clearway doctor");
        hint.run_from("/home/c", &Worktree("/home".to_owned()));
        hint.run_with("--store", "/tmp/a b.db");
        hint.run_with("--store", "/tmp/other.db");
        assert_eq!(hint.to_string(), "see what is wrong: clearway --store '/tmp/a b.db' doctor");
        let mut hint = Hint::from("act there: clearway -C /x …");
        hint.run_with("-C", "/y");
        assert_eq!(hint.to_string(), "act there: clearway -C /x …");
    }

    #[test]
    fn an_operator_does_not_act_in_the_name_of_the_caller() {
        let advice = "an operator may: clearway release abcdefgh --reason TEXT";
        assert!(!Hint::for_operator(advice).is_for_caller() && Hint::from(advice).is_for_caller());
        assert_eq!(Hint::for_operator(advice).to_string(), advice);
    }

    #[test]
    fn advice_stays_as_it_is() {
        let mut hint = Hint::from("make room on that disk");
        hint.run_with("--store", "x");
        assert_eq!(hint.to_string(), "make room on that disk");
    }
}
