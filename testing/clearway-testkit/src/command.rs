//! Running the binary and looking at what it said.

use crate::Home;
use serde_json::Value;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

/// A command about to be run.
#[derive(Debug)]
pub struct Clearway {
    command: Command,
    hidden: Vec<(String, &'static str)>,
}

impl Clearway {
    pub(crate) fn new(home: &Home, directory: &Path) -> Self {
        let mut command = Command::new(&home.binary);
        command.current_dir(directory).env_clear().envs(home.environment()).stdin(Stdio::null());
        let hidden = vec![(home.path().display().to_string(), "$HOME")];
        Self { command, hidden }
    }

    /// Adds `--agent NAME`.
    #[must_use]
    pub fn agent(self, name: &str) -> Self {
        self.args(&["--agent", name])
    }

    /// Adds arguments.
    #[must_use]
    pub fn args(mut self, arguments: &[&str]) -> Self {
        self.command.args(arguments);
        self
    }

    /// Sets a variable.
    #[must_use]
    pub fn env(mut self, name: &str, value: impl AsRef<std::ffi::OsStr>) -> Self {
        self.command.env(name, value);
        self
    }

    /// The command as the standard library knows it, for tests that need more.
    pub fn into_command(self) -> Command {
        self.command
    }

    /// Runs it to its end.
    ///
    /// # Panics
    /// If it cannot be started.
    pub fn run(mut self, arguments: &[&str]) -> Ran {
        self.command.args(arguments);
        let output = self.command.output().expect("the binary starts");
        Ran { output, hidden: self.hidden }
    }

    /// Runs it with `--json`.
    pub fn json(self, arguments: &[&str]) -> Ran {
        self.args(&["--json"]).run(arguments)
    }

    /// Starts it and returns at once.
    ///
    /// # Panics
    /// If it cannot be started.
    pub fn spawn(mut self, arguments: &[&str]) -> Child {
        self.command.args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped());
        self.command.spawn().expect("the binary starts")
    }
}

/// What a command did.
#[derive(Debug)]
pub struct Ran {
    output: Output,
    hidden: Vec<(String, &'static str)>,
}

impl Ran {
    /// Its exit code; -1 if a signal ended it.
    pub fn code(&self) -> i32 {
        self.output.status.code().unwrap_or(-1)
    }

    /// What it printed.
    pub fn stdout(&self) -> String {
        String::from_utf8_lossy(&self.output.stdout).into_owned()
    }

    /// What it complained about.
    pub fn stderr(&self) -> String {
        String::from_utf8_lossy(&self.output.stderr).into_owned()
    }

    /// The one JSON document on stdout.
    ///
    /// # Panics
    /// If there is not exactly one, or anything was printed to stderr.
    pub fn value(&self) -> Value {
        let text = self.stdout();
        assert_eq!(self.stderr(), "", "with --json nothing goes to stderr; stdout: {text}");
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("not one JSON document: {error}\n{text}"))
    }

    /// Expects this exit code and goes on.
    ///
    /// # Panics
    /// If it is another.
    #[track_caller]
    pub fn expect(self, code: i32) -> Self {
        assert_eq!(self.code(), code, "stdout: {}\nstderr: {}", self.stdout(), self.stderr());
        self
    }

    /// Expects a failure with this slug and returns its error object.
    ///
    /// # Panics
    /// If it succeeded or failed otherwise.
    #[track_caller]
    pub fn slug(&self, slug: &str) -> Value {
        let value = self.value();
        assert_eq!(value["error"]["slug"], slug, "{value}");
        assert_eq!(value["ok"], false);
        value["error"].clone()
    }

    /// Everything it did as one text to compare: stdout, stderr and exit code, with what differs from run to run
    /// replaced: the home's path, ids, hashes, fences, times.
    pub fn transcript(&self) -> String {
        let hide = |text: String| {
            let text = self.hidden.iter().fold(text, |text, (from, to)| text.replace(from, to));
            steady(&text)
        };
        format!("{}--- stderr\n{}--- exit {}\n", hide(self.stdout()), hide(self.stderr()), self.code())
    }
}

/// Replaces what no two runs share: ids, hashes and instants. Words of eight letters that hold no digit stay.
fn steady(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut word = String::new();
    for c in text.chars().chain(std::iter::once('\n')) {
        if c.is_ascii_alphanumeric() {
            word.push(c);
        } else {
            out.push_str(&steady_word(&word));
            word.clear();
            out.push(c);
        }
    }
    out.pop();
    out
}

fn steady_word(word: &str) -> String {
    let has_digit = word.bytes().any(|b| b.is_ascii_digit());
    let is_hex = word.bytes().all(|b| b.is_ascii_hexdigit());
    let is_id =
        word.len() == 8 && has_digit && word.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit());
    match word.len() {
        64 if is_hex => "HASH".to_owned(),
        13 if word.starts_with("10995") => "FENCE".to_owned(),
        8 if is_id => "ID".to_owned(),
        _ => word.to_owned(),
    }
}
