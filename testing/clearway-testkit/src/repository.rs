//! Real git repositories.

use crate::{Clearway, Home};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A git repository in a home.
#[derive(Debug)]
pub struct Repository<'h> {
    home: &'h Home,
    path: PathBuf,
}

impl<'h> Repository<'h> {
    pub(crate) fn create(home: &'h Home, name: &str, files: &[(&str, &str)]) -> Self {
        let path = home.path().join("home").join(name);
        std::fs::create_dir_all(&path).expect("a directory");
        let repository = Self { home, path };
        repository.git(&["init", "-q", "-b", "main"]);
        repository.configure();
        for (file, text) in files {
            repository.write(file, text);
        }
        repository.git(&["add", "-A"]);
        repository.git(&["commit", "-q", "--allow-empty", "-m", "first"]);
        repository
    }

    /// Who commits, and that git does nothing behind anybody's back: its own housekeeping would change files while a
    /// test compares them.
    fn configure(&self) {
        let path = self.path.join(".git/config");
        let mut text = std::fs::read_to_string(&path).expect("git made its configuration");
        text.push_str("[user]\n\tname = Test\n\temail = test@example.org\n");
        text.push_str("[gc]\n\tauto = 0\n[maintenance]\n\tauto = false\n");
        std::fs::write(&path, text).expect("a file");
    }

    /// Its root.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes a file, making its directories.
    ///
    /// # Panics
    /// If that fails.
    pub fn write(&self, file: &str, text: &str) {
        let path = self.path.join(file);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("directories");
        std::fs::write(path, text).expect("a file");
    }

    /// Runs git here and returns what it printed.
    ///
    /// # Panics
    /// If git fails.
    pub fn git(&self, arguments: &[&str]) -> String {
        let mut command = Command::new("git");
        command.args(arguments).current_dir(&self.path).env_clear().envs(self.home.environment());
        let output = command.output().expect("git runs");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "git {arguments:?}: {stderr}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// A command of the binary, run at the root.
    pub fn clearway(&self) -> Clearway {
        self.home.clearway(&self.path)
    }

    /// A command of the binary, run in a directory below the root.
    pub fn clearway_in(&self, directory: &str) -> Clearway {
        self.home.clearway(&self.path.join(directory))
    }

    /// A command of the binary run by an agent of this name.
    pub fn agent(&self, name: &str) -> Clearway {
        self.clearway().agent(name)
    }

    /// Reserves for an agent and expects the grant: the first lease.
    ///
    /// # Panics
    /// If it is refused.
    #[track_caller]
    pub fn grant(&self, agent: &str, arguments: &[&str]) -> Value {
        let words: Vec<&str> = [&["reserve"], arguments].concat();
        self.agent(agent).ok(&words)["leases"][0].clone()
    }

    /// Reserves for an agent and expects that somebody holds it: who.
    ///
    /// # Panics
    /// If it is granted.
    #[track_caller]
    pub fn blockers(&self, agent: &str, arguments: &[&str]) -> Vec<Value> {
        let words: Vec<&str> = [&["reserve"], arguments].concat();
        let error = self.agent(agent).fails("reservation-held", 1, &words);
        error["details"]["blockers"].as_array().expect("a list").clone()
    }

    /// Whether the way is clear for an agent; exit code and answer agree.
    ///
    /// # Panics
    /// If they do not.
    #[track_caller]
    pub fn is_clear(&self, agent: &str, pattern: &str) -> bool {
        let ran = self.agent(agent).json(&["check", "--", pattern]);
        let value = ran.value();
        let clear = value["clear"].as_bool().unwrap_or_else(|| panic!("no answer: {value}"));
        assert_eq!(ran.code(), i32::from(!clear), "{value}");
        let nobody = |field: &str| value[field].as_array().is_some_and(Vec::is_empty);
        assert_eq!(nobody("blockers") && nobody("ahead"), clear, "{value}");
        clear
    }

    /// Every event of the scope.
    ///
    /// # Panics
    /// If the log cannot be read.
    #[track_caller]
    pub fn events(&self) -> Vec<Value> {
        self.clearway().json(&["events"]).expect(0).lines()
    }

    /// The kinds of every event, in the order of the log.
    ///
    /// # Panics
    /// If the log cannot be read.
    #[track_caller]
    pub fn kinds(&self) -> Vec<String> {
        let kind = |event: &Value| event["kind"].as_str().expect("a kind").to_owned();
        self.events().iter().map(kind).collect()
    }
}
