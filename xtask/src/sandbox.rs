//! A repository, a home and an environment that are the same every time, so that only the binary makes a difference.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A place of its own, removed with everything in it.
#[derive(Debug)]
pub(crate) struct Sandbox {
    base: PathBuf,
}

impl Sandbox {
    /// Makes one. Its path always has the same length, because lengths show in instruction counts.
    pub(crate) fn new() -> Result<Self, String> {
        let base = std::env::temp_dir().join(format!("clearway-sandbox-{:010}", std::process::id()));
        let sandbox = Self { base };
        for directory in ["home", "state", "config", "run", "repo"] {
            let path = sandbox.base.join(directory);
            std::fs::create_dir_all(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        }
        let git = sandbox.command(Path::new("git")).args(["init", "--quiet", "."]).status();
        match git {
            Ok(status) if status.success() => Ok(sandbox),
            _ => Err("git init failed; git is installed by scripts/setup".to_owned()),
        }
    }

    /// A program in the repository, with an environment of known size and nothing of the caller's.
    pub(crate) fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command
            .current_dir(self.base.join("repo"))
            .env_clear()
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .env("HOME", self.base.join("home"))
            .env("XDG_STATE_HOME", self.base.join("state"))
            .env("XDG_CONFIG_HOME", self.base.join("config"))
            .env("XDG_RUNTIME_DIR", self.base.join("run"))
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        command
    }

    /// A file beside the repository.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.base.join(name)
    }
}

impl Drop for Sandbox {
    fn drop(&mut self) {
        // What cannot be removed from the system's place for temporary files is left to the system.
        let _ = std::fs::remove_dir_all(&self.base);
    }
}
