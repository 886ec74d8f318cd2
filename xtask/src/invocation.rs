//! A program with its arguments: runnable, and printable so that it can be pasted.

use crate::root;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::Path;
use std::process::{Command, Stdio};

/// One command line, run in the root of the workspace.
#[derive(Clone, Debug)]
pub(crate) struct Invocation {
    variables: Vec<(&'static str, String)>,
    words: Vec<OsString>,
}

impl Invocation {
    /// A command line without quotes, split at spaces.
    pub(crate) fn new(line: &str) -> Self {
        Self { variables: Vec::new(), words: Vec::new() }.and(line)
    }

    /// A program of ours, wherever that lies.
    pub(crate) fn program(path: &Path) -> Self {
        Self { variables: Vec::new(), words: Vec::new() }.path(path)
    }

    /// More words, split at spaces.
    pub(crate) fn and(mut self, words: &str) -> Self {
        self.words.extend(words.split_whitespace().map(OsString::from));
        self
    }

    /// One word more, whatever it holds.
    pub(crate) fn path(mut self, path: &Path) -> Self {
        self.words.push(path.into());
        self
    }

    /// Sets a variable for it.
    pub(crate) fn with(mut self, name: &'static str, value: &str) -> Self {
        self.variables.push((name, value.to_owned()));
        self
    }

    /// Runs it, its output going where ours goes.
    pub(crate) fn run(&self) -> Result<(), String> {
        let status = self.command().status().map_err(|error| format!("cannot run {self}: {error}"))?;
        if status.success() { Ok(()) } else { Err(format!("{self}: {status}")) }
    }

    /// Whether it runs at all, for asking if a program is there.
    pub(crate) fn succeeds(&self) -> bool {
        let quiet = self.command().stdout(Stdio::null()).stderr(Stdio::null()).status();
        quiet.is_ok_and(|status| status.success())
    }

    fn command(&self) -> Command {
        let mut words = self.words.iter();
        let mut command = Command::new(words.next().map_or(OsStr::new("true"), OsString::as_os_str));
        command.args(words).envs(self.variables.iter().cloned()).current_dir(root()).stdin(Stdio::null());
        command
    }
}

impl fmt::Display for Invocation {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.variables.iter().try_for_each(|(name, value)| write!(out, "{name}={value} "))?;
        let words: Vec<String> = self.words.iter().map(|word| pasted(&word.to_string_lossy())).collect();
        out.write_str(&words.join(" "))
    }
}

/// A word as a shell reads it.
fn pasted(word: &str) -> String {
    let is_plain = |character: char| character.is_alphanumeric() || "-_=./:,+@%".contains(character);
    if word.chars().all(is_plain) { word.to_owned() } else { format!("'{}'", word.replace('\'', r"'\''")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_one_word_and_can_be_pasted() {
        let invocation =
            Invocation::program(Path::new("/my target/storm")).and("day --binary").path(Path::new("/it's"));
        assert_eq!(invocation.words.len(), 4);
        assert_eq!(invocation.to_string(), r"'/my target/storm' day --binary '/it'\''s'");
    }
}
