//! The clients and the managers of git hooks, once for every change of their versions, under `target/clients` and
//! `target/managers`.
//!
//! Scripts of the packages are not run: each brings its program ready to start, and what those scripts would build is not
//! needed here. The lock files name no host: the packages come from wherever npm and pip are set up to look, and their
//! hashes say whether they are the right ones.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What is installed, and in which versions.
const MANIFEST: &str = "package.json";
const LOCK: &str = "package-lock.json";
/// The same of what pip installs.
const REQUIREMENTS: &str = "requirements.txt";
/// Says which lock file was installed to the end.
const DONE: &str = "installed.json";

/// Where the clients are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Installed {
    directory: PathBuf,
}

impl Installed {
    /// The directory of all of them.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// A file of a package.
    pub(crate) fn module(&self, path: &str) -> OsString {
        self.directory.join("node_modules").join(path).into_os_string()
    }

    /// The node that runs them, which may be newer than this machine's.
    pub(crate) fn node(&self) -> PathBuf {
        self.module(&format!("node-linux-{}/bin/node", machine())).into()
    }
}

/// Where the managers of git hooks are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Managers {
    directory: PathBuf,
}

impl Managers {
    /// The directory of all of them.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// What of husky node runs.
    pub fn husky(&self) -> PathBuf {
        self.directory.join("node_modules/husky/bin.js")
    }

    /// What of lint-staged node runs.
    pub fn lint_staged(&self) -> PathBuf {
        self.directory.join("node_modules/lint-staged/bin/lint-staged.js")
    }

    /// The program lefthook.
    pub fn lefthook(&self) -> PathBuf {
        self.directory.join(format!("node_modules/lefthook-linux-{}/bin/lefthook", machine()))
    }

    /// The program pre-commit.
    pub fn pre_commit(&self) -> PathBuf {
        self.directory.join("python/bin/pre-commit")
    }
}

/// What packages call the processor.
fn machine() -> &'static str {
    if std::env::consts::ARCH == "aarch64" { "arm64" } else { "x64" }
}

/// Installs the clients unless they are there.
pub fn ready() -> Result<Installed, String> {
    let directory = target().join("clients");
    let from = Path::new(env!("CARGO_MANIFEST_DIR"));
    once(&directory, from, &[MANIFEST, LOCK], npm)
        .map_err(|why| format!("the clients cannot be installed: {why}"))?;
    Ok(Installed { directory })
}

/// Installs the managers of git hooks unless they are there.
pub fn managers() -> Result<Managers, String> {
    let directory = target().join("managers");
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("managers");
    let install = |directory: &Path| npm(directory).and_then(|()| pip(directory));
    once(&directory, &from, &[MANIFEST, LOCK, REQUIREMENTS], install)
        .map_err(|why| format!("the managers of git hooks cannot be installed: {why}"))?;
    Ok(Managers { directory })
}

/// Several tests may begin at once; the first installs and the others wait for it.
fn once(
    directory: &Path,
    from: &Path,
    files: &[&str],
    install: impl FnOnce(&Path) -> Result<(), String>,
) -> Result<(), String> {
    let told = |error: io::Error| error.to_string();
    fs::create_dir_all(directory).map_err(told)?;
    let turn = File::create(directory.with_extension("lock")).map_err(told)?;
    turn.lock().map_err(told)?;
    let texts: Result<Vec<String>, io::Error> =
        files.iter().skip(1).map(|file| fs::read_to_string(from.join(file))).collect();
    let wanted = texts.map_err(told)?.concat();
    if fs::read_to_string(directory.join(DONE)).is_ok_and(|done| done == wanted) {
        return Ok(());
    }
    for file in files {
        fs::copy(from.join(file), directory.join(file)).map_err(told)?;
    }
    install(directory)?;
    fs::write(directory.join(DONE), wanted).map_err(told)
}

/// An environment of its own, so that nothing of the machine's Python is used or changed.
fn pip(directory: &Path) -> Result<(), String> {
    let python = directory.join("python");
    let mut made = Command::new("python3");
    made.args(["-m", "venv", "--clear"]).arg(&python);
    succeeds(&mut made, "scripts/setup installs python3 and python3-venv")?;
    let mut pip = Command::new(python.join("bin/pip"));
    pip.args([
        "install",
        "--quiet",
        "--disable-pip-version-check",
        "--require-hashes",
        "--only-binary=:all:",
    ]);
    pip.arg("-r").arg(directory.join(REQUIREMENTS));
    succeeds(&mut pip, "the first time, and after a change of versions, it needs the network")
}

fn succeeds(command: &mut Command, otherwise: &str) -> Result<(), String> {
    let output = command.output().map_err(|error| format!("{command:?}: {error}; {otherwise}"))?;
    let said = String::from_utf8_lossy(&output.stderr);
    if output.status.success() { Ok(()) } else { Err(format!("{command:?} failed; {otherwise}:\n{said}")) }
}

fn npm(directory: &Path) -> Result<(), String> {
    let mut command = Command::new("npm");
    command.args(["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]);
    // Two repetitions, soon: without a network everybody who waits would wait for a minute each.
    command.args(["--fetch-retry-mintimeout=1000", "--fetch-retry-maxtimeout=3000"]);
    let output = command.current_dir(directory).output();
    let output = output.map_err(|error| format!("npm: {error}; scripts/setup installs it"))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(format!(
        "`npm ci` in {} failed ({}); the first time, and after a change of versions, it needs the network:\n{said}",
        directory.display(),
        output.status
    ))
}

/// Cargo's own directory for what is built.
fn target() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let root = root.canonicalize().unwrap_or(root);
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| PathBuf::from("target"), PathBuf::from);
    root.join(target)
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    fn read(text: &str) -> Value {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn versions_are_pinned_and_the_lock_file_has_hashes_and_no_host() {
        pinned(include_str!("../package.json"), include_str!("../package-lock.json"));
        pinned(include_str!("../managers/package.json"), include_str!("../managers/package-lock.json"));
        let requirements = include_str!("../managers/requirements.txt");
        assert!(!requirements.contains("://") && !requirements.contains("--find-links"));
        let packages: Vec<&str> = requirements.lines().filter(|line| line.contains("==")).collect();
        assert!(packages.iter().any(|line| line.starts_with("pre-commit==")), "{packages:?}");
        assert!(requirements.matches("--hash=sha256:").count() >= packages.len());
    }

    #[track_caller]
    fn pinned(manifest: &str, lock: &str) {
        assert!(!lock.contains("://"), "npm install --package-lock-only --omit-lockfile-registry-resolved");
        let packages = read(lock)["packages"].clone();
        let mut installed = packages.as_object().unwrap().iter().filter(|(path, _)| !path.is_empty());
        assert!(installed.all(|(_, package)| package["integrity"].is_string()), "{packages:#}");
        for kind in ["dependencies", "optionalDependencies"] {
            for (name, version) in read(manifest)[kind].as_object().unwrap() {
                let path = format!("node_modules/{name}");
                assert_eq!(&packages[path]["version"], version, "{name}");
            }
        }
    }
}
