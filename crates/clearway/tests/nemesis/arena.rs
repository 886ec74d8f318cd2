//! Where the tests take place: one repository, one state directory, and what can be said about both.

use clearway_testkit::checker::History;
use clearway_testkit::{Clearway, Home, until};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

pub(crate) fn home() -> Home {
    Home::new(env!("CARGO_BIN_EXE_clearway"))
}

/// One repository with one state directory. Copies share the repository, so they share the scope's key.
#[derive(Debug)]
pub(crate) struct Arena<'h> {
    home: &'h Home,
    directory: PathBuf,
    state: PathBuf,
}

impl<'h> Arena<'h> {
    /// A fresh repository without a store.
    pub(crate) fn new(home: &'h Home, name: &str) -> Self {
        let directory = home.repository(name, &[("f.rs", "fn main() {}\n")]).path().to_owned();
        let state = home.path().join(format!("state-{name}"));
        std::fs::create_dir(&state).expect("a directory");
        Self { home, directory, state }
    }

    /// A plain directory without a store: a scope costs less this way than with git.
    pub(crate) fn plain(home: &'h Home, name: &str) -> Self {
        let state = home.path().join(format!("state-{name}"));
        std::fs::create_dir(&state).expect("a directory");
        Self { home, directory: home.directory(name), state }
    }

    /// The same repository with a copy of the state as it is now.
    pub(crate) fn copy(&self, name: &str) -> Self {
        let state = self.home.path().join(format!("copy-{name}"));
        copy_tree(&self.state, &state);
        Self { home: self.home, directory: self.directory.clone(), state }
    }

    /// The state directory, as `XDG_STATE_HOME` names it.
    pub(crate) fn state(&self) -> &Path {
        &self.state
    }

    /// The repository.
    pub(crate) fn directory(&self) -> &Path {
        &self.directory
    }

    /// The directory of the one scope.
    pub(crate) fn scope_directory(&self) -> PathBuf {
        let scopes = std::fs::read_dir(self.state.join("clearway/scopes")).expect("scopes exist");
        let found: Vec<PathBuf> = scopes.map(|entry| entry.expect("an entry").path()).collect();
        assert_eq!(found.len(), 1, "{found:?}");
        found[0].clone()
    }

    /// The database of the one scope, or a file beside it.
    pub(crate) fn store(&self, suffix: &str) -> PathBuf {
        self.scope_directory().join(format!("store.db{suffix}"))
    }

    /// Where the operator's key lies, if there is one.
    pub(crate) fn operator_key(&self) -> PathBuf {
        self.state.join("clearway/operator.key")
    }

    /// Puts the operator's key there, as the first anchor at a terminal would.
    pub(crate) fn make_operator_key(&self) {
        clearway_testkit::write_private(&self.operator_key(), &format!("{}\n", "5e".repeat(32)));
    }

    /// A command with JSON answers.
    pub(crate) fn command(&self, agent: &str, arguments: &[&str]) -> Command {
        let mut command = self.clearway().agent(agent).args(&["--json"]).args(arguments).into_command();
        // Anchors are an operator's, who has no terminal here.
        command.envs(arguments.contains(&"anchor").then(|| ("CLEARWAY_OPERATOR_KEY", self.operator_key())));
        command
    }

    /// Its temporary files are its own, so that no other copy's files change what a command meets.
    fn clearway(&self) -> Clearway {
        let temporary = self.home.path().join("tmp").join(self.state.file_name().unwrap_or_default());
        std::fs::create_dir_all(&temporary).expect("a directory");
        self.home.clearway(&self.directory).env("XDG_STATE_HOME", &self.state).env("TMPDIR", temporary)
    }

    /// Words as they are.
    pub(crate) fn bare(&self, words: &[String]) -> Command {
        self.clearway().args(words).into_command()
    }

    /// A command without a claimed name: it acts for the terminal session it runs in.
    pub(crate) fn anonymous(&self, arguments: &[&str]) -> Command {
        self.clearway().args(&["--json"]).args(arguments).into_command()
    }

    /// Runs a command to its end.
    pub(crate) fn run(&self, agent: &str, arguments: &[&str]) -> Reply {
        Reply::of(self.command(agent, arguments))
    }

    /// Starts a command.
    pub(crate) fn start(&self, agent: &str, arguments: &[&str]) -> Child {
        started(self.command(agent, arguments))
    }

    /// The id of the one lease there ever was on a path.
    pub(crate) fn lease_id(&self, path: &str) -> String {
        let found = self.run("reader", &["leases", "--history", "--pattern", path]).expect(0);
        found.value["leases"][0]["id"].as_str().expect("a lease").to_owned()
    }

    /// Polls `check` until the path is free.
    pub(crate) fn wait_until_free(&self, path: &str) {
        until(&format!("{path} becomes free"), || self.run("watcher", &["check", path]).code == 0);
    }

    /// The log folded by the independent checker.
    pub(crate) fn history(&self) -> Result<History, String> {
        let export = self.run("auditor", &["audit", "export"]);
        if export.code != 0 {
            return Err(format!("audit export: {export:?}"));
        }
        History::fold(&export.stdout)
    }

    /// Everything that must hold after any fault: the log verifies, the doctor finds nothing wrong, and the
    /// checker finds no broken rule.
    pub(crate) fn audited(&self) -> Result<History, String> {
        for arguments in [["audit", "verify"].as_slice(), &["doctor"]] {
            let reply = self.run("auditor", arguments);
            if reply.code != 0 {
                return Err(format!("{arguments:?}: {reply:?}"));
            }
        }
        self.history()
    }

    /// What is stored, in words that do not differ between two runs of the same commands.
    pub(crate) fn facts(&self) -> Result<Facts, String> {
        let leases = self.run("reader", &["leases", "--history"]);
        let (events, waits) = (self.run("reader", &["events"]), self.run("reader", &["waits"]));
        if (leases.code, events.code, waits.code) != (0, 0, 0) {
            return Err(format!("reading: {leases:?} {events:?} {waits:?}"));
        }
        Ok(Facts::new(&leases.value, &events.stdout, &waits.value))
    }
}

/// What a command answered.
pub(crate) struct Reply {
    /// Its exit code; -1 if a signal ended it.
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    /// The one document on stdout; null if there is none.
    pub(crate) value: Value,
}

impl Reply {
    pub(crate) fn of(mut command: Command) -> Self {
        Self::from(command.output().expect("the command starts"))
    }

    pub(crate) fn from(output: Output) -> Self {
        let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
        let value = serde_json::from_str(&stdout).unwrap_or(Value::Null);
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        Self { code: output.status.code().unwrap_or(-1), stdout, stderr, value }
    }

    pub(crate) fn wait(child: Child) -> Self {
        Self::from(child.wait_with_output().expect("the command ends"))
    }

    /// The failure's name; empty on success.
    pub(crate) fn slug(&self) -> &str {
        self.value["error"]["slug"].as_str().unwrap_or_default()
    }

    /// Whether success was reported in full.
    pub(crate) fn acknowledged(&self) -> bool {
        self.value["ok"] == true
    }

    /// Expects this exit code.
    #[track_caller]
    pub(crate) fn expect(self, code: i32) -> Self {
        assert_eq!(self.code, code, "stdout: {}\nstderr: {}", self.stdout, self.stderr);
        self
    }

    /// Expects this failure.
    #[track_caller]
    pub(crate) fn refused(self, code: i32, slug: &str) -> Self {
        assert_eq!(
            (self.code, self.slug()),
            (code, slug),
            "stdout: {}\nstderr: {}",
            self.stdout,
            self.stderr
        );
        self
    }
}

impl std::fmt::Debug for Reply {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "exit {} {}{}", self.code, self.stdout, self.stderr)
    }
}

/// Starts a command with its answer kept.
pub(crate) fn started(mut command: Command) -> Child {
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the command starts")
}

/// What is stored, without ids, times and hashes. Two runs of the same commands give equal facts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Facts {
    pub(crate) events: Vec<String>,
    pub(crate) leases: Vec<String>,
    pub(crate) waits: Vec<String>,
}

impl Facts {
    fn new(leases: &Value, events: &str, waits: &Value) -> Self {
        let list = leases["leases"].as_array().cloned().unwrap_or_default();
        let queue = waits["waits"].as_array().cloned().unwrap_or_default();
        let text = |value: &Value| value.as_str().unwrap_or("-").to_owned();
        let lease = |lease: &Value| {
            let words = ["pattern", "mode", "agent", "state", "ended_how", "reason", "kind"];
            let words: Vec<String> = words.iter().map(|name| text(&lease[*name])).collect();
            format!("{} fence {} ttl {}", words.join(" "), lease["fence"], lease["ttl_ms"])
        };
        let event = |line: &str| {
            let event: Value = serde_json::from_str(line).unwrap_or(Value::Null);
            format!(
                "{} {} {} {}",
                event["seq"],
                text(&event["kind"]),
                text(&event["agent"]),
                event["data"]["pattern"]
            )
        };
        let wait = |wait: &Value| {
            let (agent, state) = (text(&wait["agent"]), text(&wait["state"]));
            format!("{agent} {} {state} place {}", wait["patterns"], wait["position"])
        };
        Self {
            events: events.lines().map(event).collect(),
            leases: list.iter().map(lease).collect(),
            waits: queue.iter().map(wait).collect(),
        }
    }

    /// Live leases by what they are on and whose they are.
    pub(crate) fn live(&self) -> Vec<String> {
        let live = self.leases.iter().filter(|lease| lease.contains(" active "));
        live.map(|lease| lease.split(" active ").next().unwrap_or_default().to_owned()).collect()
    }
}

/// Copies a directory with everything in it.
pub(crate) fn copy_tree(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("a directory");
    let mode = std::fs::metadata(from).expect("a directory").permissions();
    std::fs::set_permissions(to, mode).expect("a directory of ours");
    for entry in std::fs::read_dir(from).expect("a directory") {
        let entry = entry.expect("an entry");
        let target = to.join(entry.file_name());
        if entry.file_type().expect("a type").is_dir() {
            copy_tree(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).expect("a copy");
        }
    }
}
