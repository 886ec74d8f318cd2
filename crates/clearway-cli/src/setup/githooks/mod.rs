//! The hooks of a repository's git: ours stand beside others, and what was there before goes on.
//!
//! Git from 2.54 has hooks in its configuration (`config.rs`). For older ones ours stand in git's own directory, in front
//! of what was there, which is kept as the very file it was, runs first and is put back whole. Where `core.hooksPath` leads
//! elsewhere, that directory is somebody else's, and nothing is written there.

mod config;
mod script;
mod standing;

pub(crate) use standing::{checks, lapse};

use super::changes::{After, Change, Way, stable_binary};
use super::journal::Journal;
use super::{Wish, changes, shown};
use crate::Host;
use clearway_core::failure::Failure;
use clearway_core::shell;
use clearway_core::slug::Slug;
use script::Program;
use std::path::{Path, PathBuf};

/// The hooks that we answer.
const NAMES: [&str; 4] = ["prepare-commit-msg", "post-commit", "pre-rebase", "pre-push"];
/// The one that is answered beside them where settings are strict.
const REFERENCES: &str = "reference-transaction";
/// A line by which a hook is known as ours.
const MARK: &str =
    "# clearway git-hook: what was here before runs first; `clearway init --uninstall` gives it back.";
/// What others call a hook that they found and took the place of: the pre-commit framework runs it before its own, lefthook
/// does not.
const LEGACY: &str = ".legacy";
const OLD: &str = ".old";
/// What follows the name of a hook that was there before.
const KEPT: &str = ".before-clearway";

/// Where hooks of a repository are its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HooksPlace {
    /// Git's own directory of hooks.
    pub own: PathBuf,
    /// The configuration of the repository.
    pub config: PathBuf,
}

/// What git itself does about hooks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HooksFollowed {
    /// The directory in which it looks for them.
    pub directory: PathBuf,
    /// Whether it looks into its configuration too.
    pub in_config: bool,
}

/// What becomes of each hook.
pub(super) fn changes(
    host: &mut dyn Host,
    journal: &Journal,
    root: &Path,
    wish: &Wish,
) -> Result<Vec<Change>, Failure> {
    let Some(place) = host.hooks_place(root) else { return Ok(Vec::new()) };
    if wish.uninstall {
        let mut changes = files_given_back(host, &place, &names(true));
        changes.push(config_given_back(host, journal, &place));
        return Ok(changes);
    }
    let Some(followed) = host.hooks_followed(root) else { return Ok(Vec::new()) };
    let binary = stable_binary(host)?;
    let program = Program { binary: &binary, unattended: wish.unattended };
    let wanted = names(wish.strict);
    if followed.in_config {
        let mut changes = vec![configured(host, &place.config, &wanted, program)];
        // An older git needed them, and two that check the same are one too many.
        changes.extend(files_given_back(host, &place, &names(true)).into_iter().filter(Change::is_due));
        return Ok(changes);
    }
    let mut changes = vec![config_given_back(host, journal, &place)];
    changes.retain(Change::is_due);
    if followed.directory != place.own {
        changes.push(elsewhere(host, root, &followed.directory));
        return Ok(changes);
    }
    changes.extend(wanted.iter().map(|name| set_up(host, &place.own.join(name), &program.script(name))));
    let unwanted = names(true).into_iter().filter(|name| !wanted.contains(name)).collect::<Vec<_>>();
    changes.extend(files_given_back(host, &place, &unwanted).into_iter().filter(Change::is_due));
    Ok(changes)
}

/// Puts a hook in front, or gives back what was there.
pub(super) fn make(host: &mut dyn Host, change: &Change) -> Result<(), Failure> {
    match (&change.way, &change.outcome) {
        (Way::HookBack(kept), Ok(After::Text(_))) => host.give_back_hook(&change.path, kept),
        (Way::HookBack(kept), Ok(After::Absent)) => {
            host.remove_text(kept)?;
            host.give_back_hook(&change.path, kept)
        }
        (Way::Hook(kept), Ok(After::Text(text))) => {
            let is_theirs = !change.before.as_deref().is_some_and(is_ours);
            clear_displaced(host, &change.path, kept)?;
            host.put_hook(&change.path, Some(kept.as_path()).filter(|_| is_theirs), text)
        }
        _ => Ok(()),
    }
}

/// Somebody took the place of ours and put it aside: what stood there before us goes where it would be without us.
fn clear_displaced(host: &mut dyn Host, path: &Path, kept: &Path) -> Result<(), Failure> {
    let aside = beside(path, OLD);
    if !holds_ours(host, &aside) {
        return Ok(());
    }
    match is_same(host, path, kept) || host.file_id(kept).is_none() {
        true => host.remove_text(&aside),
        false => host.give_back_hook(&aside, kept),
    }
}

/// The hooks that git is to call.
pub(crate) fn names(strict: bool) -> Vec<&'static str> {
    NAMES.iter().copied().chain(strict.then_some(REFERENCES)).collect()
}

fn configured(host: &mut dyn Host, path: &Path, names: &[&str], program: Program<'_>) -> Change {
    let (before, outcome) = match host.read_text(path) {
        Err(failure) => (None, Err(changes::unreadable(path, &failure.message))),
        Ok(before) => {
            let text = before.clone().unwrap_or_default();
            let after = config::install(&text, names, program);
            (before, Ok(if after == text { After::Unchanged } else { After::Text(after) }))
        }
    };
    Change { client: None, path: path.to_owned(), before, outcome, note: None, way: Way::GitConfig }
}

fn config_given_back(host: &mut dyn Host, journal: &Journal, place: &HooksPlace) -> Change {
    let change = changes::take_back(host, journal, None, &place.config, &|text, _| Ok(config::without(text)));
    Change { way: Way::GitConfig, ..change }
}

/// What is left of a configuration without ours, as it is remembered.
pub(super) fn bare_config(text: &str) -> super::text::Removed {
    config::without(text)
}

fn holds_ours(host: &mut dyn Host, path: &Path) -> bool {
    host.read_text(path).ok().flatten().as_deref().is_some_and(is_ours)
}

/// Whether ours is run by a hook of pre-commit that took its place.
fn runs_as_legacy(host: &mut dyn Host, path: &Path) -> bool {
    let legacy = beside(path, LEGACY);
    holds_ours(host, &legacy) && host.can_run(&legacy)
}

fn is_same(host: &mut dyn Host, one: &Path, other: &Path) -> bool {
    let mut text = |path: &Path| host.read_text(path).ok().flatten();
    text(one).is_some_and(|one| text(other) == Some(one))
}

fn set_up(host: &mut dyn Host, path: &Path, wanted: &str) -> Change {
    let before = host.read_text(path).ok().flatten();
    let is_there = host.file_id(path).is_some();
    let is_done = before.as_deref() == Some(wanted) && host.can_run(path) || runs_as_legacy(host, path);
    let outcome = if is_done { After::Unchanged } else { After::Text(wanted.to_owned()) };
    let is_theirs = is_there && !is_done && !before.as_deref().is_some_and(is_ours);
    let note = is_theirs.then(|| "what was there runs first".to_owned());
    let way = Way::Hook(kept_of(path));
    Change { client: None, path: path.to_owned(), before, outcome: Ok(outcome), note, way }
}

/// Ours may stand under its own name, or where somebody put it aside.
fn files_given_back(host: &mut dyn Host, place: &HooksPlace, names: &[&str]) -> Vec<Change> {
    let places = names.iter().flat_map(|name| {
        let path = place.own.join(name);
        ["", LEGACY, OLD].map(|end| (path.clone(), beside(&path, end)))
    });
    places.map(|(name, path)| given_back(host, &name, &path)).collect()
}

/// What stood before ours is put in the place of ours, unless the one who took that place brought it along again.
fn given_back(host: &mut dyn Host, name: &Path, path: &Path) -> Change {
    let before = host.read_text(path).ok().flatten();
    let kept = kept_of(name);
    let original = host.read_text(&kept).ok().flatten();
    let is_wanted = host.file_id(&kept).is_some() && (path == name || !is_same(host, name, &kept));
    let outcome = match (before.as_deref().is_some_and(is_ours), is_wanted) {
        (false, _) => After::Unchanged,
        (true, true) => After::Text(original.unwrap_or_default()),
        (true, false) => After::Absent,
    };
    let way = Way::HookBack(kept);
    Change { client: None, path: path.to_owned(), before, outcome: Ok(outcome), note: None, way }
}

/// A directory of somebody else: nothing is written there, and the one step is named that makes it call us.
fn elsewhere(host: &mut dyn Host, root: &Path, directory: &Path) -> Change {
    let layer = standing::layer(directory);
    let path = layer.join(NAMES[0]);
    let outcome = match standing::calls_us(host, &path, NAMES[0]) {
        true => Ok(After::Unchanged),
        false => {
            let message = format!(
                "one step left: core.hooksPath leads git to {}, which is somebody else's; no hook was added",
                shown(directory)
            );
            Err(Failure::new(Slug::ClientConfig, message).hint(step(root, directory)))
        }
    };
    Change { client: None, path, before: None, outcome, note: None, way: Way::Text }
}

/// What a person types so that hooks of somebody else's directory call us too, where we are installed.
fn step(root: &Path, directory: &Path) -> String {
    let layer = standing::layer(directory);
    let place = layer.strip_prefix(root).unwrap_or(&layer).display().to_string();
    let file = format!("{}/$hook", shell::word(&place));
    // Husky reads files of its users with a shell of its own.
    let runs = match layer == directory {
        true => format!("test -e {file} || echo '#!/bin/sh' > {file}; chmod +x {file}; "),
        false => String::new(),
    };
    format!(
        "let hooks there call ours: for hook in {}; do {runs}echo \"if command -v clearway > /dev/null; then \
         clearway git-hook $hook \\\"\\$@\\\"; fi\" >> {file}; done",
        NAMES.join(" ")
    )
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
