//! What to do now, as data: a command keeps its flags apart until it is shown, so that whoever knows how the caller
//! stands to the scope and the store can add what the command needs to mean the same ones.

use crate::shell;
use std::fmt;

/// What stands before a command in advice.
const BEFORE_COMMAND: &str = ": clearway ";

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
        /// Whether it names paths, which start at the root of the scope.
        names_paths: bool,
        /// Who is to run it.
        runner: Runner,
    },
}

/// Who is to run a command that is suggested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Runner {
    /// Whoever is told.
    Caller,
    /// A person with an operator's authority, who does not act in the caller's name.
    Operator,
}

impl Hint {
    /// Advice that ends with a command for an operator.
    pub fn for_operator(advice: &str) -> Self {
        match Self::from(advice) {
            Self::Command { purpose, flags, words, names_paths, .. } => {
                Self::Command { purpose, flags, words, names_paths, runner: Runner::Operator }
            }
            advice => advice,
        }
    }

    /// A command about something of the scope. The verb may bring flags of its own; the words are quoted here.
    pub fn command(purpose: &str, verb: &str, words: &[&str]) -> Self {
        let quoted = words.iter().map(|word| format!(" {}", shell::word(word)));
        let words = std::iter::once(verb.to_owned()).chain(quoted).collect();
        Self::Command {
            purpose: purpose.to_owned(),
            flags: Vec::new(),
            words,
            names_paths: true,
            runner: Runner::Caller,
        }
    }

    /// Makes a command that names paths work for a caller who does not stand at the root.
    pub fn run_at(&mut self, directory: &str) {
        if let Self::Command { flags, names_paths: true, .. } = self {
            flags.push(format!("-C {}", shell::word(directory)));
        }
    }

    /// What is to be typed, without what it is good for; `None` for plain advice.
    pub fn line(&self) -> Option<String> {
        let Self::Command { flags, words, .. } = self else { return None };
        let flags = flags.iter().map(String::as_str);
        let line: Vec<&str> = std::iter::once("clearway").chain(flags).chain([words.as_str()]).collect();
        Some(line.join(" "))
    }

    /// Whether it is the caller who is to run it.
    pub fn is_for_caller(&self) -> bool {
        !matches!(self, Self::Command { runner: Runner::Operator, .. })
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
                names_paths: false,
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
        hint.run_at("/home/a b");
        assert_eq!(hint.to_string(), r"see who: clearway -C '/home/a b' who 'it'\''s clearway who x'");
    }

    #[test]
    fn a_command_means_the_store_and_scope_of_the_caller() {
        let mut hint = Hint::from("see what is wrong: clearway doctor");
        hint.run_at("/home");
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
