//! A place of its own for each test: directories, a home, and a `git` that knows nothing else.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use clearway_git::Git;
use clearway_platform::environment::Environment;

/// A temporary directory with an environment that points nowhere else.
pub(crate) struct Sandbox {
    dir: tempfile::TempDir,
    path: OsString,
}

impl Sandbox {
    /// An empty place with a home directory in it.
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("home")).unwrap();
        let path = Environment::capture().var("PATH").unwrap().to_owned();
        Self { dir, path }
    }

    /// The canonical path of something in here, whether it exists or not.
    pub(crate) fn at(&self, relative: &str) -> PathBuf {
        fs::canonicalize(self.dir.path()).unwrap().join(relative)
    }

    /// Writes a file and the directories above it.
    pub(crate) fn write(&self, relative: &str, text: &str) -> PathBuf {
        let path = self.at(relative);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    /// A repository with one commit of one file.
    pub(crate) fn repository(&self, relative: &str) -> PathBuf {
        fs::create_dir_all(self.at(relative)).unwrap();
        self.git(relative, &["init", "--quiet", "--initial-branch=main"]);
        self.write(&format!("{relative}/file"), "text\n");
        self.git(relative, &["add", "file"]);
        self.git(relative, &["commit", "--quiet", "--message=first"]);
        self.at(relative)
    }

    /// Runs git in a directory and answers what it printed.
    pub(crate) fn git(&self, relative: &str, arguments: &[&str]) -> String {
        let output = self.command(relative, arguments).output().unwrap();
        assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim_end().to_owned()
    }

    /// Runs git where it is expected to refuse.
    #[allow(dead_code, reason = "not every test binary has git fail")]
    pub(crate) fn git_refuses(&self, relative: &str, arguments: &[&str]) {
        assert!(!self.command(relative, arguments).output().unwrap().status.success(), "git {arguments:?}");
    }

    fn command(&self, relative: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new("git");
        command
            .env_clear()
            .env("PATH", &self.path)
            .env("HOME", self.at("home"))
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_SYSTEM", "/dev/null")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .args(["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "protocol.file.allow=always"])
            .args(arguments)
            .current_dir(self.at(relative));
        command
    }

    /// An environment in which every variable that could mislead git is set.
    #[allow(dead_code, reason = "not every test binary asks git")]
    pub(crate) fn environment(&self) -> Environment {
        let misleading = ["GIT_DIR", "GIT_INDEX_FILE", "GIT_WORK_TREE", "GIT_COMMON_DIR"];
        let mut vars: std::collections::BTreeMap<OsString, OsString> =
            misleading.iter().map(|name| (name.into(), "/nowhere".into())).collect();
        vars.insert("PATH".into(), self.path.clone());
        vars.insert("HOME".into(), self.at("home").into());
        Environment { vars, ..Environment::default() }
    }

    /// The product's own git, in that environment.
    #[allow(dead_code, reason = "not every test binary asks git")]
    pub(crate) fn locate(&self) -> Git {
        Git::locate(&self.environment()).unwrap()
    }
}

/// A symbolic link, with what it says first.
#[allow(dead_code, reason = "not every test binary makes links")]
pub(crate) fn link(says: impl AsRef<Path>, at: impl AsRef<Path>) {
    std::os::unix::fs::symlink(says, at).unwrap();
}
