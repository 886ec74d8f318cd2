//! What is put aside in a repository, and hooks that put things aside for the length of a commit.

use crate::shelf::unanswered;
use crate::uncommitted::checkout;
use clearway_core::failure::Failure;
use clearway_git::{Git, Stashes};
use clearway_kernel::{PutAside, Site};
use clearway_platform::environment::Environment;
use clearway_platform::files;
use std::path::Path;

/// What the hook of the pre-commit framework says of itself, and what a hook says that runs lint-staged.
const PUTS_ASIDE: [&str; 3] = ["pre-commit.com", "pre_commit", "lint-staged"];
/// Programs that run what another file says, and those files.
const RUNNERS: [(&[&str], &[&str]); 2] = [
    (&["lefthook"], &["lefthook.yml", "lefthook.yaml", ".lefthook.yml", ".lefthook.yaml", "lefthook.toml"]),
    (&["npm ", "yarn ", "pnpm ", "bun "], &["package.json"]),
];

pub(crate) fn put_aside(environment: &Environment, site: &Site) -> Result<PutAside, Failure> {
    let root = checkout(site)?;
    let found = Git::locate(environment).and_then(|git| git.stashes(root));
    let Stashes { entries, changed, untracked } = found.map_err(|error| unanswered(&error))?;
    Ok(PutAside { entries, changed, untracked })
}

/// Whether hooks before a commit put aside what is not committed. What cannot be read puts nothing aside.
pub(crate) fn hooks_put_aside(environment: &Environment, site: &Site) -> bool {
    let Ok(root) = checkout(site) else { return false };
    let Ok(directory) = Git::locate(environment).and_then(|git| git.hooks_directory(root)) else {
        return false;
    };
    scripts(&directory).iter().any(|script| script_puts_aside(root, script))
}

/// The hook, and the one that husky's runs.
fn scripts(directory: &Path) -> Vec<String> {
    let husky = directory.file_name().filter(|name| *name == "_").and_then(|_| directory.parent());
    let places = [Some(directory), husky].into_iter().flatten().map(|place| place.join("pre-commit"));
    places.filter_map(|place| text(&place)).collect()
}

fn script_puts_aside(root: &Path, script: &str) -> bool {
    let says = |text: &str| PUTS_ASIDE.iter().any(|word| text.contains(word));
    let runs = |(programs, _): &&(&[&str], &[&str])| programs.iter().any(|program| script.contains(program));
    let mut elsewhere = RUNNERS.iter().filter(runs).flat_map(|(_, files)| files.iter());
    says(script) || elsewhere.any(|file| text(&root.join(file)).is_some_and(|text| says(&text)))
}

fn text(path: &Path) -> Option<String> {
    files::read_text(path).ok().flatten()
}
