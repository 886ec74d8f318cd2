//! Running the binary and looking at what it said.

use crate::{Home, Terminal, schema, transcript};
use serde_json::Value;
use std::ffi::OsStr;
use std::io::Write;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

/// A command about to be run.
#[derive(Debug)]
pub struct Clearway {
    command: Command,
    arguments: Vec<String>,
    hidden: Vec<(String, &'static str)>,
}

impl Clearway {
    pub(crate) fn new(home: &Home, directory: &Path) -> Self {
        let mut command = Command::new(home.binary());
        command.current_dir(directory).env_clear().envs(home.environment()).stdin(Stdio::null());
        let hidden = vec![(home.path().display().to_string(), "$HOME")];
        Self { command, arguments: Vec::new(), hidden }
    }

    /// Adds `--agent NAME`.
    #[must_use]
    pub fn agent(self, name: &str) -> Self {
        self.args(&["--agent", name])
    }

    /// Adds arguments.
    #[must_use]
    pub fn args<A: AsRef<OsStr>>(mut self, arguments: &[A]) -> Self {
        self.command.args(arguments);
        let texts = arguments.iter().map(|argument| argument.as_ref().to_string_lossy().into_owned());
        self.arguments.extend(texts);
        self
    }

    /// Sets a variable.
    #[must_use]
    pub fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.command.env(name, value);
        self
    }

    /// Takes a variable away.
    #[must_use]
    pub fn without_env(mut self, name: &str) -> Self {
        self.command.env_remove(name);
        self
    }

    /// Acts inside a Claude Code session.
    #[must_use]
    pub fn session(self, id: &str) -> Self {
        self.env("CLAUDE_CODE_SESSION_ID", id)
    }

    /// Acts with the operator's key, without a terminal.
    #[must_use]
    pub fn operator(self, home: &Home) -> Self {
        self.env("CLEARWAY_OPERATOR_KEY", home.operator_key())
    }

    /// Acts as a person at a terminal, who types there and reads the errors there.
    #[must_use]
    pub fn at(mut self, terminal: &Terminal) -> Self {
        terminal.attach(&mut self.command);
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
    pub fn run<A: AsRef<OsStr>>(self, arguments: &[A]) -> Ran {
        let mut ready = self.args(arguments);
        let output = ready.command.output().expect("the binary starts");
        Ran { output, command: ready.command, arguments: ready.arguments, hidden: ready.hidden }
    }

    /// Runs it with `--json`.
    pub fn json<A: AsRef<OsStr>>(self, arguments: &[A]) -> Ran {
        self.args(&["--json"]).run(arguments)
    }

    /// Runs it with `--json` and expects success: the answer.
    ///
    /// # Panics
    /// If it fails.
    #[track_caller]
    pub fn ok<A: AsRef<OsStr>>(self, arguments: &[A]) -> Value {
        let ran = self.json(arguments).expect(0);
        ran.value()
    }

    /// Runs it with `--json` and expects this failure: the error object.
    ///
    /// # Panics
    /// If it succeeds or fails otherwise.
    #[track_caller]
    pub fn fails<A: AsRef<OsStr>>(self, slug: &str, code: i32, arguments: &[A]) -> Value {
        let ran = self.json(arguments);
        let error = ran.slug(slug);
        ran.expect(code);
        error
    }

    /// Runs it with this on standard input.
    ///
    /// # Panics
    /// If it cannot be started.
    pub fn run_with<A: AsRef<OsStr>>(self, input: &[u8], arguments: &[A]) -> Ran {
        let mut ready = self.args(arguments);
        ready.command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = ready.command.spawn().expect("the binary starts");
        let mut stdin = child.stdin.take().expect("a pipe");
        let input = input.to_vec();
        // It may end without reading everything, which is no error of the test.
        let writer = std::thread::spawn(move || drop(stdin.write_all(&input)));
        let output = child.wait_with_output().expect("the binary ends");
        writer.join().expect("the writer ends");
        Ran { output, command: ready.command, arguments: ready.arguments, hidden: ready.hidden }
    }

    /// Starts it and returns at once.
    ///
    /// # Panics
    /// If it cannot be started.
    pub fn spawn(self, arguments: &[&str]) -> Child {
        let mut ready = self.args(arguments);
        ready.command.stdout(Stdio::piped()).stderr(Stdio::piped());
        ready.command.spawn().expect("the binary starts")
    }
}

/// What a command did.
#[derive(Debug)]
pub struct Ran {
    output: Output,
    command: Command,
    arguments: Vec<String>,
    hidden: Vec<(String, &'static str)>,
}

impl Ran {
    /// Its exit code; -1 if a signal ended it.
    pub fn code(&self) -> i32 {
        self.output.status.code().unwrap_or(-1)
    }

    /// A shell script typed where this was run, by whom it was run: in its directory, with its variables.
    ///
    /// # Panics
    /// If it was run nowhere in particular.
    pub fn shell(&self, home: &Home, script: &str) -> Command {
        let mut shell = home.shell(self.command.get_current_dir().expect("a directory"), script);
        let own = self.command.get_envs().filter(|(name, _)| *name != "PATH");
        shell.envs(own.filter_map(|(name, value)| Some((name, value?))));
        shell
    }

    /// What it printed.
    pub fn stdout(&self) -> String {
        String::from_utf8_lossy(&self.output.stdout).into_owned()
    }

    /// What it complained about.
    pub fn stderr(&self) -> String {
        String::from_utf8_lossy(&self.output.stderr).into_owned()
    }

    /// The one JSON document on stdout, which follows the published schema of its verb.
    ///
    /// # Panics
    /// If there is not exactly one, it breaks its schema, or anything was printed to stderr.
    #[track_caller]
    pub fn value(&self) -> Value {
        let text = self.stdout();
        assert_eq!(self.stderr(), "", "with --json nothing goes to stderr; stdout: {text}");
        self.checked(&text)
    }

    /// The JSON Lines on stdout, each of which follows the published schema of its verb.
    ///
    /// # Panics
    /// If one does not.
    #[track_caller]
    pub fn lines(&self) -> Vec<Value> {
        self.stdout().lines().map(|line| self.checked(line)).collect()
    }

    #[track_caller]
    fn checked(&self, text: &str) -> Value {
        let value: Value = serde_json::from_str(text)
            .unwrap_or_else(|error| panic!("not one JSON document: {error}\n{text}"));
        schema::check(&schema::name_for(&self.arguments, value["ok"] != false), &value);
        value
    }

    /// Expects this exit code and goes on.
    ///
    /// # Panics
    /// If it is another.
    #[track_caller]
    pub fn expect(self, code: i32) -> Self {
        let (stdout, stderr) = (self.stdout(), self.stderr());
        assert_eq!(self.code(), code, "{:?}\nstdout: {stdout}\nstderr: {stderr}", self.arguments);
        self
    }

    /// Expects a failure with this slug and returns its error object.
    ///
    /// # Panics
    /// If it succeeded or failed otherwise.
    #[track_caller]
    pub fn slug(&self, slug: &str) -> Value {
        let value = self.value();
        assert_eq!(value["error"]["slug"], slug, "{:?}\n{value:#}", self.arguments);
        value["error"].clone()
    }

    /// Everything it did as one text to compare: stdout, stderr and exit code, JSON spread over lines, with `masks`
    /// and what differs from run to run replaced.
    pub fn transcript(&self, masks: &[(String, String)]) -> String {
        let hide = |text: String| {
            let hidden = self.hidden.iter().map(|(from, to)| (from.as_str(), *to));
            let masks = masks.iter().map(|(from, to)| (from.as_str(), to.as_str()));
            let text = masks.chain(hidden).fold(spread(&text), |text, (from, to)| text.replace(from, to));
            transcript::steady(&text)
        };
        format!("{}--- stderr\n{}--- exit {}\n", hide(self.stdout()), hide(self.stderr()), self.code())
    }
}

/// JSON spread over lines; anything else as it is.
fn spread(text: &str) -> String {
    let documents: Option<Vec<Value>> = text.lines().map(|line| serde_json::from_str(line).ok()).collect();
    match documents {
        Some(documents) if documents.iter().all(Value::is_object) => {
            documents.iter().map(|document| format!("{document:#}\n")).collect()
        }
        _ => text.to_owned(),
    }
}
