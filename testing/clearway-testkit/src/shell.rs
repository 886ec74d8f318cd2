//! The binary behind other programs: a shell, a new session, a terminal.

use crate::{Clearway, Home, Terminal};
use std::ffi::OsStr;
use std::path::Path;
use std::process::{Command, Output, Stdio};

impl Home {
    /// A POSIX shell script in which `clearway` is the binary under test.
    pub fn shell(&self, directory: &Path, script: &str) -> Command {
        self.program(directory, "sh", &["-c", script])
    }

    /// The same as the leader of a session at a terminal, as a window's shell is. What it prints goes elsewhere.
    pub fn session_shell(&self, terminal: &Terminal, directory: &Path, script: &str) -> Command {
        terminal.seat(self.program(directory, "setsid", &["--ctty", "sh", "-c", script]))
    }

    /// Runs the binary as cron does: the leader of a session that has no terminal. Its one JSON document.
    ///
    /// # Panics
    /// If it does not print one.
    pub fn json_without_terminal(&self, directory: &Path, arguments: &[&str]) -> serde_json::Value {
        let words: Vec<&str> = ["clearway", "--json"].iter().chain(arguments).copied().collect();
        let output = self.program(directory, "setsid", &words).output().expect("setsid runs");
        serde_json::from_slice(&output.stdout).expect("one JSON document")
    }

    /// Runs a script at a terminal of 24 lines and 80 columns; what the terminal showed.
    ///
    /// # Panics
    /// If no terminal can be had.
    pub fn terminal(&self, directory: &Path, script: &str) -> Output {
        let sized = format!("stty rows 24 cols 80; {script}");
        let mut command = self.program(directory, "script", &["-qec", &sized, "/dev/null"]);
        command.env("TERM", "xterm").env("SHELL", "/bin/sh").output().expect("script runs")
    }

    /// A program for which `clearway` is the binary under test.
    pub fn program<A: AsRef<OsStr>>(
        &self,
        directory: &Path,
        program: impl AsRef<OsStr>,
        arguments: &[A],
    ) -> Command {
        let bin = self.path().join("bin");
        let mut command = Command::new(program);
        command.args(arguments).current_dir(directory).env_clear().envs(self.environment());
        command.env("PATH", format!("{}:/usr/local/bin:/usr/bin:/bin", bin.display()));
        command.stdin(Stdio::null());
        command
    }
}

impl Clearway {
    /// Runs it and expects success; what it printed.
    ///
    /// # Panics
    /// If it fails.
    #[track_caller]
    pub fn text(self, arguments: &[&str]) -> String {
        let ran = self.run(arguments).expect(0);
        assert_eq!(ran.stderr(), "", "{arguments:?}");
        ran.stdout()
    }
}
