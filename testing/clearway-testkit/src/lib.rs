//! What end-to-end tests stand on: a private home, real git repositories, the real binary.
//!
//! Nothing of the machine leaks in: every command gets its own HOME and XDG directories, no GIT_* variable and no
//! client session. Start at [`Home`].

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "tests act on the machine: files, processes and the clock"
)]

pub mod checker;
mod client;
mod command;
pub mod faults;
mod files;
pub mod namespace;
pub mod process;
mod repository;
pub mod schema;
mod shell;
mod terminal;
mod transcript;
mod waiting;

pub use client::{Answer, Client};
pub use command::{Clearway, Ran};
pub use files::Files;
pub use repository::Repository;
pub use terminal::Terminal;
pub use transcript::steady;
pub use waiting::{eventually, seen, until, within};

use namespace::Namespace;
use std::path::{Path, PathBuf};

/// A private home with its own state, configuration and temporary directories. Removed when dropped, unless the
/// test fails: then its path is printed and it stays.
#[derive(Debug)]
pub struct Home {
    binary: PathBuf,
    directory: Option<tempfile::TempDir>,
    path: PathBuf,
    /// Keeps the clock that its commands see.
    clock: Option<Namespace>,
}

/// How long a machine runs that was started long ago: longer than any test lets pass.
const LONG_S: u32 = 2 * 86_400;

impl Home {
    /// A home for tests of this binary. Its path is equally long wherever tests run, so that text is broken into
    /// lines at the same places.
    ///
    /// # Panics
    /// If no temporary directory can be made.
    pub fn new(binary: &str) -> Self {
        let directory = tempfile::Builder::new()
            .prefix("clearway-e2e-")
            .tempdir_in("/tmp")
            .expect("a temporary directory");
        let path = directory.path().canonicalize().expect("the directory exists");
        for name in ["home", "state", "config", "run", "tmp", "bin"] {
            std::fs::create_dir_all(path.join(name)).expect("a directory");
        }
        std::os::unix::fs::symlink(binary, path.join("bin/clearway")).expect("a link");
        Self { binary: PathBuf::from(binary), directory: Some(directory), path, clock: None }
    }

    /// The same on a machine that was started long ago, however young the real one is: on its clock there is a past for
    /// what a test puts into it.
    ///
    /// # Panics
    /// If there is no such clock.
    pub fn long_after_boot(binary: &str) -> Self {
        let mut home = Self::new(binary);
        let clock = Namespace::of_time(LONG_S);
        let place = home.path.join("bin/clearway");
        std::fs::remove_file(&place).expect("the link");
        clock.wrap(&home.binary, &place);
        (home.binary, home.clock) = (place, Some(clock));
        home
    }

    /// Where everything of this home lies.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Keeps everything of this home for somebody to look at.
    pub fn keep(&mut self) -> &Path {
        self.directory.take().map(tempfile::TempDir::keep);
        &self.path
    }

    /// The binary under test.
    pub fn binary(&self) -> &Path {
        &self.binary
    }

    /// Every byte of the state directory but shared memory, which readers may touch, and the count of those in line.
    pub fn state_files(&self) -> Files {
        Files::below(&self.state()).without("-shm").without("-next")
    }

    /// Writes the user's configuration file.
    ///
    /// # Panics
    /// If that fails.
    pub fn user_config(&self, text: &str) -> PathBuf {
        let path = self.path.join("config/clearway/config.toml");
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
        std::fs::write(&path, text).expect("a file");
        path
    }

    /// The operator's key, put there by hand the first time, as for an operator who has no terminal.
    ///
    /// # Panics
    /// If that fails.
    pub fn operator_key(&self) -> PathBuf {
        let path = self.state().join("operator.key");
        if !path.exists() {
            std::fs::create_dir_all(self.state()).expect("a directory");
            write_private(&path, &format!("{}\n", "5e".repeat(32)));
        }
        path
    }

    /// The state directory.
    pub fn state(&self) -> PathBuf {
        self.path.join("state/clearway")
    }

    /// A fresh git repository with one commit of these files.
    pub fn repository(&self, name: &str, files: &[(&str, &str)]) -> Repository<'_> {
        Repository::create(self, name, files)
    }

    /// A fresh directory without git.
    ///
    /// # Panics
    /// If it cannot be made.
    pub fn directory(&self, name: &str) -> PathBuf {
        let path = self.path.join("home").join(name);
        std::fs::create_dir_all(&path).expect("a directory");
        path
    }

    /// A command of the binary, run in `directory`.
    pub fn clearway(&self, directory: &Path) -> Clearway {
        Clearway::new(self, directory)
    }

    /// The database of the one scope in this home.
    ///
    /// # Panics
    /// If there is not exactly one.
    pub fn only_store(&self) -> PathBuf {
        let scopes = std::fs::read_dir(self.state().join("scopes")).expect("scopes exist");
        let stores: Vec<PathBuf> =
            scopes.map(|entry| entry.expect("an entry").path().join("store.db")).collect();
        assert_eq!(stores.len(), 1, "{stores:?}");
        stores[0].clone()
    }

    /// The environment every command starts from.
    pub fn environment(&self) -> Vec<(&'static str, PathBuf)> {
        vec![
            ("PATH", PathBuf::from("/usr/local/bin:/usr/bin:/bin")),
            ("HOME", self.path.join("home")),
            ("XDG_STATE_HOME", self.path.join("state")),
            ("XDG_CONFIG_HOME", self.path.join("config")),
            ("XDG_RUNTIME_DIR", self.path.join("run")),
            ("TMPDIR", self.path.join("tmp")),
            ("GIT_CONFIG_GLOBAL", PathBuf::from("/dev/null")),
            ("GIT_CONFIG_SYSTEM", PathBuf::from("/dev/null")),
            ("LC_ALL", PathBuf::from("C.UTF-8")),
        ]
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        if std::thread::panicking() && self.directory.is_some() {
            eprintln!("what the test left behind: {}", self.keep().display());
        }
    }
}

/// Writes a file that is its owner's alone, such as a key.
///
/// # Panics
/// If that fails.
pub fn write_private(path: &std::path::Path, text: &str) {
    std::fs::write(path, text).expect("a file");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o600);
    std::fs::set_permissions(path, mode).expect("its mode");
}
