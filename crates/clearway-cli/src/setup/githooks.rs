//! The hooks of a repository's git: ours stand in front, and what was there before runs first.
//!
//! A hook that was there is kept beside ours under another name, as the very file it was, and is put back whole. Only
//! git's own directory is written: where `core.hooksPath` leads elsewhere, that is somebody else's.

use super::changes::{After, Change, stable_binary};
use super::{Wish, shown};
use crate::Host;
use clearway_core::failure::Failure;
use clearway_core::shell;
use clearway_core::slug::Slug;
use clearway_kernel::{Check, CheckStatus};
use std::path::{Path, PathBuf};

/// The hooks that we answer.
const NAMES: [&str; 4] = ["prepare-commit-msg", "post-commit", "pre-rebase", "pre-push"];
/// A line by which a hook is known as ours.
const MARK: &str =
    "# clearway git-hook: what was here before runs first; `clearway init --uninstall` gives it back.";
/// What the pre-commit framework calls a hook that it found and runs before its own.
const LEGACY: &str = ".legacy";
/// What follows the name of a hook that was there before.
const KEPT: &str = ".before-clearway";

/// Where git looks for hooks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HooksPlace {
    /// The directory.
    pub directory: PathBuf,
    /// Git's own of this repository, which may be another.
    pub own: PathBuf,
}

/// What becomes of each hook.
pub(super) fn changes(host: &mut dyn Host, root: &Path, wish: &Wish) -> Result<Vec<Change>, Failure> {
    let Some(place) = host.hooks_place(root) else { return Ok(Vec::new()) };
    if wish.uninstall {
        let names = NAMES.iter().flat_map(|name| [(*name).to_owned(), format!("{name}{LEGACY}")]);
        return Ok(names.map(|name| given_back(host, &place.own.join(name))).collect());
    }
    if place.directory != place.own {
        return Ok(vec![elsewhere(&place.directory)]);
    }
    let binary = stable_binary(host)?;
    let change =
        |name: &&str| set_up(host, &place.directory.join(name), &text(name, &binary, wish.unattended));
    Ok(NAMES.iter().map(change).collect())
}

/// Makes such a change.
pub(super) fn make(
    host: &mut dyn Host,
    change: &Change,
    kept: &Path,
    uninstall: bool,
) -> Result<(), Failure> {
    match (&change.outcome, uninstall) {
        (Ok(After::Text(_) | After::Absent), true) => host.give_back_hook(&change.path, kept),
        (Ok(After::Text(text)), false) => {
            let is_theirs = !change.before.as_deref().is_some_and(is_ours);
            host.put_hook(&change.path, Some(kept).filter(|_| is_theirs), text)
        }
        _ => Ok(()),
    }
}

/// How the hooks stand: said only where one of ours is or was.
pub(crate) fn checks(host: &mut dyn Host, root: &Path) -> Vec<Check> {
    let Some(place) = host.hooks_place(root) else { return Vec::new() };
    let seen: Vec<(PathBuf, Seen)> = NAMES
        .iter()
        .map(|name| place.own.join(name))
        .map(|path| {
            let seen = look(host, &path);
            (path, seen)
        })
        .collect();
    if seen.iter().all(|(_, seen)| matches!(seen, Seen::Theirs)) {
        return Vec::new();
    }
    let wrong = |path: &Path, why: &str, hint: String| Check {
        about: "git",
        status: CheckStatus::Wrong,
        text: format!("{} {why}", shown(path)),
        hint: Some(hint),
    };
    if place.directory != place.own {
        let why = format!("is passed over: core.hooksPath leads git to {}", shown(&place.directory));
        let hint = "let a hook there call: clearway git-hook prepare-commit-msg \"$@\"".to_owned();
        return vec![wrong(&place.own, &why, hint)];
    }
    let again = || "put it back: clearway init --git-hooks".to_owned();
    let faults = seen.iter().filter_map(|(path, seen)| match seen {
        Seen::Ours => None,
        Seen::NotExecutable => {
            let path_word = shell::word(&path.display().to_string());
            Some(wrong(
                path,
                "cannot be run, so git passes it over",
                format!("let it be run: chmod +x {path_word}"),
            ))
        }
        Seen::Replaced => Some(wrong(path, "was replaced since it was installed", again())),
        Seen::Theirs => Some(wrong(path, "is missing beside the others", again())),
    });
    let faults: Vec<Check> = faults.collect();
    match faults.is_empty() {
        false => faults,
        true => {
            let text = "git calls us before commits, rebases and pushes".to_owned();
            vec![Check { about: "git", status: CheckStatus::Good, text, hint: None }]
        }
    }
}

enum Seen {
    Ours,
    NotExecutable,
    /// What stood before ours is kept, and ours is gone.
    Replaced,
    Theirs,
}

fn look(host: &mut dyn Host, path: &Path) -> Seen {
    match holds_ours(host, path) {
        true if host.can_run(path) => Seen::Ours,
        true => Seen::NotExecutable,
        false if runs_as_legacy(host, path) => Seen::Ours,
        false if host.file_id(&kept_of(path)).is_some() => Seen::Replaced,
        false => Seen::Theirs,
    }
}

fn holds_ours(host: &mut dyn Host, path: &Path) -> bool {
    host.read_text(path).ok().flatten().as_deref().is_some_and(is_ours)
}

/// Whether ours is run by a hook of pre-commit that took its place.
fn runs_as_legacy(host: &mut dyn Host, path: &Path) -> bool {
    let legacy = beside(path, LEGACY);
    holds_ours(host, &legacy) && host.can_run(&legacy)
}

fn set_up(host: &mut dyn Host, path: &Path, wanted: &str) -> Change {
    let before = host.read_text(path).ok().flatten();
    let is_there = host.file_id(path).is_some();
    let is_done = before.as_deref() == Some(wanted) && host.can_run(path) || runs_as_legacy(host, path);
    let outcome = if is_done { After::Unchanged } else { After::Text(wanted.to_owned()) };
    let is_theirs = is_there && !is_done && !before.as_deref().is_some_and(is_ours);
    let note = is_theirs.then(|| "what was there runs first".to_owned());
    Change {
        client: None,
        path: path.to_owned(),
        before,
        outcome: Ok(outcome),
        note,
        kept: Some(kept_of(path)),
    }
}

fn given_back(host: &mut dyn Host, path: &Path) -> Change {
    let before = host.read_text(path).ok().flatten();
    let kept = kept_of(path);
    let original = host.read_text(&kept).ok().flatten();
    let outcome = match (before.as_deref().is_some_and(is_ours), host.file_id(&kept).is_some()) {
        (false, _) => After::Unchanged,
        (true, true) => After::Text(original.unwrap_or_default()),
        (true, false) => After::Absent,
    };
    Change { client: None, path: path.to_owned(), before, outcome: Ok(outcome), note: None, kept: Some(kept) }
}

fn elsewhere(directory: &Path) -> Change {
    let message = format!(
        "core.hooksPath leads git to {}, which is somebody else's; no hook was added",
        shown(directory)
    );
    let failure = Failure::new(Slug::ClientConfig, message)
        .hint("let a hook there call: clearway git-hook prepare-commit-msg \"$@\"");
    let path = directory.to_owned();
    Change { client: None, path, before: None, outcome: Err(failure), note: None, kept: None }
}

fn is_ours(text: &str) -> bool {
    text.lines().any(|line| line == MARK)
}

fn kept_of(path: &Path) -> PathBuf {
    beside(path, KEPT)
}

fn beside(path: &Path, end: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(end);
    PathBuf::from(name)
}

/// A hook. A program that is gone keeps nobody from git, unless it was installed for agents that nobody watches. What git
/// tells of a push is told to both.
fn text(name: &str, binary: &str, unattended: bool) -> String {
    let (binary, code) = (shell::as_it_is(binary), u8::from(unattended));
    let is_push = name == "pre-push";
    let (feed, pipe, run) = match is_push {
        true => {
            ("refs=$(cat)\nfeed() { test -z \"$refs\" || printf '%s\\n' \"$refs\"; }\n", "feed | ", "feed | ")
        }
        false => ("", "", "exec "),
    };
    format!(
        "#!/bin/sh\n{MARK}\n{feed}before=\"$0{KEPT}\"\n\
         if test -x \"$before\"; then {pipe}\"$before\" \"$@\" || exit $?; fi\n\
         if test -x {binary}; then {run}{binary} git-hook {name} \"$@\"; exit $?; fi\n\
         echo \"clearway: {name} checked nothing, for the program is gone: install it again, or: rm $0\" >&2\n\
         exit {code}\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hook_is_known_as_ours_and_quotes_the_program() {
        let hook = text("post-commit", "/a b/clearway", false);
        assert!(
            is_ours(&hook)
                && hook.contains("then exec '/a b/clearway' git-hook post-commit \"$@\"; exit $?; fi")
        );
        assert!(hook.ends_with("exit 0\n") && text("pre-push", "/x", true).ends_with("exit 1\n"));
        assert!(!is_ours("#!/bin/sh\nclearway git-hook post-commit\n"));
    }
}
