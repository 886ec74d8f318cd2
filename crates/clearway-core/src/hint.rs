//! What to do now, as data: a command keeps its words apart until it is shown, so that whoever knows where the caller
//! stands can say from where it works.

use crate::shell;
use std::fmt;

/// One piece of advice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Hint {
    /// Plain advice, also with a command that works anywhere.
    Advice(String),
    /// A command of ours whose paths start at the root of the scope.
    Command {
        /// What it is good for.
        purpose: &'static str,
        /// Its verb, with the flags that we put there.
        verb: &'static str,
        /// What it is about, not yet quoted for a shell.
        words: Vec<String>,
        /// The directory to run it in, if not the one the caller stands in.
        root: Option<String>,
    },
}

impl Hint {
    /// A command to be run where the caller stands.
    pub fn command(purpose: &'static str, verb: &'static str, words: &[&str]) -> Self {
        let words = words.iter().map(|word| (*word).to_owned()).collect();
        Self::Command { purpose, verb, words, root: None }
    }

    /// Makes a command work for a caller who does not stand at the root.
    pub fn run_at(&mut self, directory: &str) {
        if let Self::Command { root, .. } = self {
            *root = Some(directory.to_owned());
        }
    }
}

impl From<String> for Hint {
    fn from(advice: String) -> Self {
        Self::Advice(advice)
    }
}

impl From<&str> for Hint {
    fn from(advice: &str) -> Self {
        Self::Advice(advice.to_owned())
    }
}

impl fmt::Display for Hint {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Advice(advice) => formatter.write_str(advice),
            Self::Command { purpose, verb, words, root } => {
                write!(formatter, "{purpose}: clearway")?;
                if let Some(root) = root {
                    write!(formatter, " -C {}", shell::word(root))?;
                }
                write!(formatter, " {verb}")?;
                words.iter().try_for_each(|word| write!(formatter, " {}", shell::word(word)))
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
    fn advice_stays_as_it_is_wherever_the_caller_stands() {
        let mut hint = Hint::from("wait, or run: clearway who x");
        hint.run_at("/home");
        assert_eq!(hint.to_string(), "wait, or run: clearway who x");
    }
}
