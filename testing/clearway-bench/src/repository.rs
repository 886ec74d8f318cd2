//! A repository with a store of its own, reachable both through the binary and through the engine.

use crate::Outcome;
use clearway_core::ids::ScopeKey;
use clearway_core::target::Worktree;
use clearway_store_sqlite::{Place, Schema, Settings, SqliteEngine};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// The session of the agent whose calls are measured.
const SESSION: &str = "measured-0000";

/// Of many files, so many lie in one directory.
const FILES_PER_DIRECTORY: usize = 100;

/// A directory with home, state and one git repository.
#[derive(Debug)]
pub(crate) struct Repository {
    base: TempDir,
    root: PathBuf,
}

impl Repository {
    pub(crate) fn new() -> Outcome<Self> {
        let base = tempfile::Builder::new().prefix("clearway-bench-").tempdir()?;
        for name in ["home", "state", "config", "run", "app"] {
            std::fs::create_dir(base.path().join(name))?;
        }
        let root = base.path().join("app").canonicalize()?;
        let repository = Self { base, root };
        let made =
            repository.command(Path::new("git")).args(["init", "--quiet"]).arg(repository.root()).status()?;
        if made.success() { Ok(repository) } else { Err(format!("git init: {made}").into()) }
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// The scope as the binary names it.
    pub(crate) fn scope(&self) -> ScopeKey {
        clearway_kernel::scope_key(&self.root, &self.root.join(".git"))
    }

    pub(crate) fn worktree(&self) -> Worktree {
        Worktree(self.root.display().to_string())
    }

    /// Makes so many small files, none of which git knows yet.
    pub(crate) fn write_files(&self, count: usize) -> Outcome<()> {
        for number in 0..count {
            let path = self.numbered(number);
            if number % FILES_PER_DIRECTORY == 0 {
                std::fs::create_dir_all(path.parent().unwrap_or(&self.root))?;
            }
            std::fs::write(path, format!("file {number}\n"))?;
        }
        Ok(())
    }

    /// One of them.
    pub(crate) fn numbered(&self, number: usize) -> PathBuf {
        self.root.join(format!("d{}/f{number}.txt", number / FILES_PER_DIRECTORY))
    }

    /// A file beside the store, for measuring the disk it lies on.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.base.path().join(name)
    }

    /// The engine over the store that the binary uses here.
    pub(crate) fn engine(&self) -> SqliteEngine {
        SqliteEngine::new(Settings {
            place: Place::PerScope(self.base.path().join("state/clearway")),
            runtime_dir: self.base.path().join("run/clearway"),
            timeout: Duration::from_secs(10),
            network: |_| None,
            schema: Schema::CURRENT,
            leave_open: false,
        })
    }

    /// A program with an environment of known size. It starts where this process stands: naming a directory would make
    /// starting it dearer.
    pub(crate) fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command
            .env_clear()
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .env("HOME", self.base.path().join("home"))
            .env("XDG_STATE_HOME", self.base.path().join("state"))
            .env("XDG_CONFIG_HOME", self.base.path().join("config"))
            .env("XDG_RUNTIME_DIR", self.base.path().join("run"))
            .env("CLAUDE_CODE_SESSION_ID", SESSION)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        command
    }

    /// Starts a program and waits for its end.
    pub(crate) fn time(&self, program: &Path, arguments: &[&str]) -> Outcome<(Duration, ExitStatus)> {
        let mut command = self.command(program);
        command.args(arguments);
        let started = Instant::now();
        let status = command.status().map_err(|error| format!("{}: {error}", program.display()))?;
        Ok((started.elapsed(), status))
    }
}
