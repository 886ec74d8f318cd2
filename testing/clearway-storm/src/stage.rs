//! Where a storm takes place: a private home, one directory as its scope, the real binary, and the engine over the
//! same store for looking at it without starting a process.

use clearway_core::ids::ScopeKey;
use clearway_core::slice::ReadSet;
use clearway_core::time::{BootKey, Mono, Now, Wall};
use clearway_core::wait::WaitView;
use clearway_platform::clock::{Clock, SystemClock};
use clearway_store::contract::{Engine, StoreError};
use clearway_store_sqlite::{Place, Schema, Settings, SqliteEngine};
use clearway_testkit::Home;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

/// What went wrong, in words: a storm has no caller that would tell errors apart.
pub type Outcome<T> = Result<T, String>;

/// The programs of a storm.
#[derive(Clone, Debug)]
pub struct Programs {
    /// The binary under test.
    pub clearway: PathBuf,
    /// This program, for parts that it plays in processes of their own.
    pub storm: PathBuf,
}

/// A home with one scope.
#[derive(Debug)]
pub struct Stage {
    home: Home,
    directory: PathBuf,
}

/// Plays a storm on a fresh stage. One that fails leaves everything for somebody to look at.
pub(crate) fn on_stage(
    programs: &Programs,
    storm: impl FnOnce(&Stage) -> Outcome<String>,
) -> Outcome<String> {
    let mut stage = Stage::new(programs);
    let told = storm(&stage);
    told.map_err(|why| format!("{why}\nkept: {}", stage.keep().display()))
}

impl Stage {
    /// A fresh directory that becomes a scope with the first command.
    pub fn new(programs: &Programs) -> Self {
        let home = Home::new(&programs.clearway.display().to_string());
        let directory = home.directory("storm");
        Self { home, directory }
    }

    /// Where everything lies.
    pub fn path(&self) -> &Path {
        self.home.path()
    }

    /// The directory that is the scope.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Keeps everything for somebody to look at.
    pub fn keep(&mut self) -> PathBuf {
        self.home.keep().to_owned()
    }

    /// A command of an agent with JSON answers.
    pub fn command(&self, agent: &str, words: &[&str]) -> Command {
        self.home.clearway(&self.directory).agent(agent).args(&["--json"]).args(words).into_command()
    }

    /// Another program where commands are run, with what is around them.
    pub fn in_its_place(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command.current_dir(&self.directory).env_clear().envs(self.home.environment());
        command
    }

    /// Starts a command with its answer kept.
    pub fn start(&self, agent: &str, words: &[&str]) -> Outcome<Child> {
        let mut command = self.command(agent, words);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().map_err(|error| format!("{words:?} does not start: {error}"))
    }

    /// Runs a command to its end.
    pub fn run(&self, agent: &str, words: &[&str]) -> Outcome<Reply> {
        Reply::wait(self.start(agent, words)?)
    }

    /// Runs a command that has to succeed.
    pub fn done(&self, agent: &str, words: &[&str]) -> Outcome<Reply> {
        self.run(agent, words)?.expect(0)
    }

    /// The lines of `audit export`, after `audit verify` and `doctor` found nothing wrong.
    pub fn audited(&self) -> Outcome<String> {
        self.done("auditor", &["audit", "verify"])?;
        self.done("auditor", &["doctor"])?;
        Ok(self.done("auditor", &["audit", "export"])?.stdout)
    }

    /// The state directory of the one scope.
    pub fn scope_directory(&self) -> Outcome<PathBuf> {
        only_entry(&self.home.state().join("scopes"))
    }

    /// The engine over the same store.
    pub fn engine(&self) -> SqliteEngine {
        engine(self.path())
    }

    /// The key of the one scope.
    pub fn scope(&self) -> Outcome<ScopeKey> {
        let directory = self.scope_directory()?;
        let name = directory.file_name().map(|name| name.display().to_string()).unwrap_or_default();
        ScopeKey::parse(&name).ok_or(format!("{name} is no scope"))
    }
}

/// The engine over the store in a home.
pub(crate) fn engine(home: &Path) -> SqliteEngine {
    SqliteEngine::new(Settings {
        place: Place::PerScope(home.join("state/clearway")),
        runtime_dir: home.join("run/clearway"),
        timeout: Duration::from_secs(10),
        network: |_| None,
        schema: Schema::CURRENT,
        leave_open: false,
    })
}

fn only_entry(directory: &Path) -> Outcome<PathBuf> {
    let entries =
        std::fs::read_dir(directory).map_err(|error| format!("{}: {error}", directory.display()))?;
    let found: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    match found.as_slice() {
        [only] => Ok(only.clone()),
        other => Err(format!("not one scope: {other:?}")),
    }
}

/// Looks at the queue again and again without starting a process.
#[derive(Debug)]
pub(crate) struct Onlooker {
    engine: SqliteEngine,
    scope: ScopeKey,
    clock: SystemClock,
}

impl Onlooker {
    /// Looks at the scope of a stage, which has to exist.
    pub(crate) fn new(stage: &Stage) -> Outcome<Self> {
        Ok(Self { engine: stage.engine(), scope: stage.scope()?, clock: SystemClock::new() })
    }

    /// Everyone in the queue.
    pub(crate) fn waits(&mut self) -> Outcome<Vec<WaitView>> {
        let now = now(&self.clock).map_err(|error| error.to_string())?;
        let said = |error: StoreError| error.to_string();
        let snapshot = self.engine.snapshot(&self.scope).map_err(said)?;
        let queue = ReadSet { waits: true, ..ReadSet::default() };
        let slice = snapshot.map(|mut snapshot| snapshot.load(&queue, &now)).transpose().map_err(said)?;
        Ok(slice.unwrap_or_default().waits)
    }

    /// The number of the last event.
    pub(crate) fn rev(&mut self) -> Outcome<u64> {
        let said = |error: StoreError| error.to_string();
        let snapshot = self.engine.snapshot(&self.scope).map_err(said)?;
        let head = snapshot.map(|mut snapshot| snapshot.head()).transpose().map_err(said)?;
        Ok(head.map_or(0, |head| head.rev.0))
    }

    /// Looks until the queue is as wished.
    pub(crate) fn until(&mut self, what: &str, wished: impl Fn(&[WaitView]) -> bool) -> Outcome<()> {
        let waits = || match self.waits() {
            Ok(waits) => wished(&waits).then_some(Ok(())),
            Err(error) => Some(Err(error)),
        };
        clearway_testkit::seen(waits).unwrap_or_else(|| Err(format!("waited in vain until {what}")))
    }
}

/// The machine's clock as the kernel reads it.
pub(crate) fn now(clock: &SystemClock) -> Result<Now, StoreError> {
    let reading = clock.read().map_err(|error| StoreError::Internal(error.to_string()))?;
    Ok(Now {
        boot: BootKey(reading.boot.as_str().to_owned()),
        mono: Mono(reading.mono_ms),
        wall: Wall(reading.wall_ms),
    })
}

/// What a command answered.
#[derive(Clone, Debug)]
pub struct Reply {
    /// Its exit code; `None` if a signal ended it.
    pub code: Option<i32>,
    /// What it printed.
    pub stdout: String,
    /// The one document of it; null if there is none.
    pub value: Value,
}

impl Reply {
    /// Waits for a command to end.
    pub fn wait(child: Child) -> Outcome<Self> {
        let output = child.wait_with_output().map_err(|error| format!("a command never ended: {error}"))?;
        Ok(Self::from(output))
    }

    /// The failure's name; empty on success.
    pub fn slug(&self) -> &str {
        self.value["error"]["slug"].as_str().unwrap_or_default()
    }

    /// Expects this exit code.
    pub fn expect(self, code: i32) -> Outcome<Self> {
        if self.code == Some(code) { Ok(self) } else { Err(format!("not exit {code}: {self:?}")) }
    }

    /// Expects this failure.
    pub fn refused(self, code: i32, slug: &str) -> Outcome<Self> {
        let reply = self.expect(code)?;
        if reply.slug() == slug { Ok(reply) } else { Err(format!("not {slug}: {reply:?}")) }
    }
}

impl From<Output> for Reply {
    fn from(output: Output) -> Self {
        let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
        let value = serde_json::from_str(&stdout).unwrap_or(Value::Null);
        Self { code: output.status.code(), stdout, value }
    }
}
