//! Packages as cargo describes them.

use serde_json::Value;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::Command;

/// One package.
#[derive(Clone, Debug)]
pub struct Package {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// Its manifest.
    pub manifest: PathBuf,
    /// Where it came from; `None` for a package of this workspace.
    pub source: Option<String>,
    /// Its SPDX expression.
    pub licence: Option<String>,
    /// What it is built with: normal and build dependencies, not those of its tests.
    pub dependencies: BTreeSet<String>,
    /// Its library and binaries, as root files.
    pub roots: Vec<PathBuf>,
}

/// The packages of the workspace.
pub fn members() -> Vec<Package> {
    packages(&["--no-deps"])
}

/// The packages of the workspace and everything they are built from, on any platform.
pub fn everything() -> Vec<Package> {
    packages(&["--all-features"])
}

/// Names and versions of everything that is really built into a package here, its optional parts left out.
pub fn built_into(name: &str) -> BTreeSet<(String, String)> {
    let output = cargo(&["tree", "--locked", "--edges", "normal", "--prefix", "none", "--package", name]);
    let entry = |line: &str| {
        let mut words = line.split_whitespace();
        Some((words.next()?.to_owned(), words.next()?.trim_start_matches('v').to_owned()))
    };
    output.lines().filter_map(entry).collect()
}

/// Who in the workspace, or among what it is built from, uses a package directly.
pub fn users(package: &Package) -> BTreeSet<String> {
    let exactly = format!("{}@{}", package.name, package.version);
    let whole = ["--workspace", "--all-features", "--target", "all", "--edges", "normal,build,dev"];
    let inverted = ["tree", "--locked", "--prefix", "depth", "--invert", &exactly, "--depth", "1"];
    let output = cargo(&[&inverted[..], &whole[..]].concat());
    let user = |line: &str| Some(line.strip_prefix('1')?.split_whitespace().next()?.to_owned());
    output.lines().filter_map(user).collect()
}

fn packages(arguments: &[&str]) -> Vec<Package> {
    let output = cargo(&[&["metadata", "--format-version", "1", "--locked"], arguments].concat());
    let metadata: Value = serde_json::from_str(&output).expect("cargo metadata prints JSON");
    list(&metadata, "packages").iter().map(package).collect()
}

fn cargo(arguments: &[&str]) -> String {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo).args(arguments).current_dir(crate::root()).output().expect("cargo runs");
    assert!(output.status.success(), "cargo {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn package(value: &Value) -> Package {
    let text = |name: &str| value[name].as_str().map(str::to_owned);
    let is_root = |target: &&Value| {
        list(target, "kind").iter().any(|kind| matches!(kind.as_str(), Some("lib" | "bin" | "proc-macro")))
    };
    Package {
        name: text("name").unwrap_or_default(),
        version: text("version").unwrap_or_default(),
        manifest: text("manifest_path").unwrap_or_default().into(),
        source: text("source"),
        licence: text("license"),
        dependencies: list(value, "dependencies")
            .iter()
            .filter(|dependency| dependency["kind"].as_str() != Some("dev"))
            .filter_map(|dependency| dependency["name"].as_str().map(str::to_owned))
            .collect(),
        roots: list(value, "targets")
            .iter()
            .filter(is_root)
            .filter_map(|target| target["src_path"].as_str().map(PathBuf::from))
            .collect(),
    }
}

fn list<'a>(value: &'a Value, name: &str) -> &'a [Value] {
    value[name].as_array().map_or(&[], Vec::as_slice)
}
