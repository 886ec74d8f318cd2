//! A program with its arguments: runnable, and printable so that it can be pasted.

use crate::root;
use std::fmt;
use std::process::{Command, Stdio};

/// One command line, run in the root of the workspace.
#[derive(Clone, Debug)]
pub(crate) struct Invocation {
    variables: Vec<(&'static str, String)>,
    words: Vec<String>,
}

impl Invocation {
    /// A command line without quotes, split at spaces.
    pub(crate) fn new(line: &str) -> Self {
        Self { variables: Vec::new(), words: line.split_whitespace().map(str::to_owned).collect() }
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
        let mut command = Command::new(words.next().map_or("true", String::as_str));
        command.args(words).envs(self.variables.iter().cloned()).current_dir(root()).stdin(Stdio::null());
        command
    }
}

impl fmt::Display for Invocation {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.variables.iter().try_for_each(|(name, value)| write!(out, "{name}={value} "))?;
        out.write_str(&self.words.join(" "))
    }
}
