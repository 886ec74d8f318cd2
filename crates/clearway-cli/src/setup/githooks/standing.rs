//! How the hooks of git stand: whether git still calls us where it was made to. Nothing is said where it never was.

use super::{
    HooksFollowed, HooksPlace, NAMES, OLD, beside, config, holds_ours, kept_of, names, runs_as_legacy, shown,
    step,
};
use crate::Host;
use clearway_core::shell;
use clearway_kernel::{Check, CheckStatus};
use std::path::{Path, PathBuf};

/// What puts hooks back.
const AGAIN: &str = "put it back: clearway init --git-hooks";

/// How the hooks stand: said only where one of ours is or was.
pub(crate) fn checks(host: &mut dyn Host, root: &Path, strict: bool) -> Vec<Check> {
    let Some(faults) = faults(host, root, strict) else { return Vec::new() };
    if !faults.is_empty() {
        return faults;
    }
    let text = "git calls us before commits, rebases and pushes".to_owned();
    vec![Check { about: "git", status: CheckStatus::Good, text, hint: None }]
}

/// What an agent that begins is told of hooks that were installed and do not run any more.
pub(crate) fn lapse(host: &mut dyn Host, root: &Path, strict: bool) -> Option<String> {
    faults(host, root, strict)?.into_iter().next().map(|fault| fault.text)
}

/// What is wrong; `None` where git was never made to call us. Git itself is asked only where it was.
fn faults(host: &mut dyn Host, root: &Path, strict: bool) -> Option<Vec<Check>> {
    let place = host.hooks_place(root)?;
    let seen: Vec<(PathBuf, Seen)> = names(strict)
        .iter()
        .map(|name| place.own.join(name))
        .map(|path| {
            let seen = look(host, &path);
            (path, seen)
        })
        .collect();
    let in_files = seen.iter().any(|(_, seen)| !matches!(seen, Seen::Theirs));
    let config = host.read_text(&place.config).ok().flatten().unwrap_or_default();
    let configured = config::installed(&config);
    if !in_files && configured.is_empty() {
        return called_elsewhere(host, root, &place).then(Vec::new);
    }
    let followed = host.hooks_followed(root)?;
    Some(match configured.is_empty() {
        false => of_config(&place, &configured, &config, &followed, strict),
        true => of_files(host, root, &place, &seen, &followed),
    })
}

/// Whether hooks of another directory call us. Git is asked only where the repository's own configuration names one.
fn called_elsewhere(host: &mut dyn Host, root: &Path, place: &HooksPlace) -> bool {
    let config = host.read_text(&place.config).ok().flatten().unwrap_or_default();
    if !config.to_ascii_lowercase().contains("hookspath") {
        return false;
    }
    let Some(HooksFollowed { directory, .. }) = host.hooks_followed(root) else { return false };
    directory != place.own && calls_us(host, &layer(&directory).join(NAMES[0]), NAMES[0])
}

fn of_config(
    place: &HooksPlace,
    configured: &[String],
    config: &str,
    followed: &HooksFollowed,
    strict: bool,
) -> Vec<Check> {
    let is_there = |name: &&str| configured.iter().any(|configured| configured == name);
    if !followed.in_config {
        let why = "holds hooks of ours that this git does not know; it would have to be 2.54 or newer";
        return vec![wrong(&place.config, why, AGAIN.to_owned())];
    }
    let missing = names(strict).into_iter().filter(|name| !is_there(name));
    let mut faults: Vec<Check> = missing
        .map(|name| {
            wrong(
                &place.config,
                &format!("has no hook of ours for {name} beside the others"),
                AGAIN.to_owned(),
            )
        })
        .collect();
    if config::is_switched_off(config) {
        faults.push(wrong(&place.config, "switches a hook of ours off", AGAIN.to_owned()));
    }
    faults
}

fn of_files(
    host: &mut dyn Host,
    root: &Path,
    place: &HooksPlace,
    seen: &[(PathBuf, Seen)],
    followed: &HooksFollowed,
) -> Vec<Check> {
    if followed.directory != place.own {
        if calls_us(host, &layer(&followed.directory).join(NAMES[0]), NAMES[0]) {
            return Vec::new();
        }
        let why = format!("is passed over: core.hooksPath leads git to {}", shown(&followed.directory));
        let hint = if followed.in_config { AGAIN.to_owned() } else { step(root, &followed.directory) };
        return vec![wrong(&place.own, &why, hint)];
    }
    let fault = |(path, seen): &(PathBuf, Seen)| match seen {
        Seen::Ours => None,
        Seen::NotExecutable => {
            let word = shell::word(&path.display().to_string());
            let hint = format!("let it be run: chmod +x {word}");
            Some(wrong(path, "cannot be run, so git passes it over", hint))
        }
        Seen::WithoutProgram => {
            Some(wrong(path, "would run a program that is gone, so nothing is checked", AGAIN.to_owned()))
        }
        Seen::Replaced => Some(wrong(path, "was replaced since it was installed", AGAIN.to_owned())),
        Seen::Theirs => Some(wrong(path, "is missing beside the others", AGAIN.to_owned())),
    };
    seen.iter().filter_map(fault).collect()
}

fn wrong(path: &Path, why: &str, hint: String) -> Check {
    let text = format!("{} {why}", shown(path));
    Check { about: "git", status: CheckStatus::Wrong, text, hint: Some(hint) }
}

enum Seen {
    Ours,
    NotExecutable,
    /// What it would run is gone.
    WithoutProgram,
    /// What stood before ours is kept, or ours was put aside, and ours is gone.
    Replaced,
    Theirs,
}

fn look(host: &mut dyn Host, path: &Path) -> Seen {
    match holds_ours(host, path) {
        true if !host.can_run(path) => Seen::NotExecutable,
        true if !program_is_there(host, path) => Seen::WithoutProgram,
        true => Seen::Ours,
        false if runs_as_legacy(host, path) => Seen::Ours,
        false if host.file_id(&kept_of(path)).is_some() || holds_ours(host, &beside(path, OLD)) => {
            Seen::Replaced
        }
        false => Seen::Theirs,
    }
}

/// Whether the program is there that a hook of ours runs.
fn program_is_there(host: &mut dyn Host, path: &Path) -> bool {
    let text = host.read_text(path).ok().flatten().unwrap_or_default();
    let line = text.lines().find(|line| line.starts_with("if test -x ") && line.contains(" git-hook "));
    let words = line.map(|line| shell::read(line).words).unwrap_or_default();
    words.get(3).is_none_or(|program| host.can_run(Path::new(program.trim_end_matches(';'))))
}

/// Where somebody else's hooks are written by people: husky generates the files that git runs, and those run these.
pub(super) fn layer(directory: &Path) -> PathBuf {
    match (directory.file_name(), directory.parent()) {
        (Some(name), Some(parent)) if name == "_" => parent.to_owned(),
        _ => directory.to_owned(),
    }
}

/// Whether a hook of somebody else calls us.
pub(super) fn calls_us(host: &mut dyn Host, path: &Path, name: &str) -> bool {
    let text = host.read_text(path).ok().flatten().unwrap_or_default();
    text.lines().any(|line| {
        !line.trim_start().starts_with('#')
            && line.contains("clearway")
            && line.contains(&format!("git-hook {name}"))
    })
}
