//! The clients from npm, once for every change of their versions, under `target/clients`.
//!
//! Scripts of the packages are not run: each client brings its program ready to start, and what those scripts would
//! build is not needed here. The lock file names no host: the packages come from wherever npm is set up to look, and
//! their hashes say whether they are the right ones.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What is installed, and in which versions.
const MANIFEST: &str = "package.json";
const LOCK: &str = "package-lock.json";
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
        let kind = if std::env::consts::ARCH == "aarch64" { "arm64" } else { "x64" };
        self.module(&format!("node-linux-{kind}/bin/node")).into()
    }
}

/// Installs the clients unless they are there.
pub fn ready() -> Result<Installed, String> {
    let target = target();
    let directory = target.join("clients");
    install(&target, &directory).map_err(|why| format!("the clients cannot be installed: {why}"))?;
    Ok(Installed { directory })
}

/// Several tests may begin at once; the first installs and the others wait for it.
fn install(target: &Path, directory: &Path) -> Result<(), String> {
    let told = |error: io::Error| error.to_string();
    fs::create_dir_all(directory).map_err(told)?;
    let turn = File::create(target.join("clients.lock")).map_err(told)?;
    turn.lock().map_err(told)?;
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let lock = fs::read_to_string(here.join(LOCK)).map_err(told)?;
    if fs::read_to_string(directory.join(DONE)).is_ok_and(|done| done == lock) {
        return Ok(());
    }
    for file in [MANIFEST, LOCK] {
        fs::copy(here.join(file), directory.join(file)).map_err(told)?;
    }
    npm(directory)?;
    fs::write(directory.join(DONE), lock).map_err(told)
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
        let (manifest, lock) = (include_str!("../package.json"), include_str!("../package-lock.json"));
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
