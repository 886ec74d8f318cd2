//! Real git repositories.

use crate::{Clearway, Home};
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
        repository.git(&["config", "user.name", "Test"]);
        repository.git(&["config", "user.email", "test@example.org"]);
        for (file, text) in files {
            repository.write(file, text);
        }
        repository.git(&["add", "-A"]);
        repository.git(&["commit", "-q", "--allow-empty", "-m", "first"]);
        repository
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
}
