//! What a command of an agent's shell would destroy is kept before it runs, and how things lie there after it is noted, so
//! that `undo` can tell what was changed since.

use crate::ground::Ground;
use crate::hooking::{HookCall, welcome};
use crate::outside::Outside;
use crate::passing::name_after;
use crate::session::{Globals, Session};
use crate::shelf::Drafted;
use crate::site::SiteKind;
use crate::targets::Look;
use clearway_core::failure::Failure;
use clearway_core::harm::{ROOT, harm_of};
use clearway_core::ids::Seq;
use clearway_core::redact::redact;
use clearway_core::slug::Slug;
use clearway_core::snapshot::SnapshotCause;
use clearway_core::text::{shown, truncate_columns};
use clearway_core::time::Wall;
use std::path::{Path, PathBuf};

/// Columns of a command that are remembered as the reason.
pub(crate) const COMMAND_COLUMNS: usize = 120;
/// Repositories inside a directory that are looked at before it is removed.
const NESTED_MAX: usize = 8;
/// How long a snapshot that somebody took by hand stands for one that takes too long for a hook.
const FRESH_MS: i64 = 2 * 60 * 1_000;

/// What is kept of what a command is about to destroy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sheltered {
    /// The number of the snapshot.
    pub number: Seq,
    /// How many files it holds.
    pub files: u64,
    /// The root of its checkout, where the agent stands in none or in another.
    pub elsewhere: Option<PathBuf>,
}

/// What a command would destroy, as seen from where it runs; `None` if that is nothing.
pub fn destroyed_by(command: &str) -> Option<Vec<String>> {
    let place = |path: String| match path.strip_suffix(ROOT) {
        Some(directory) => Path::new(directory).join(".git").display().to_string(),
        None => path,
    };
    harm_of(command).map(|harm| harm.paths.into_iter().map(place).collect())
}

/// Keeps what a command is about to destroy; `None` if that is nothing. A failure means that it cannot be kept.
pub fn before_shell(
    outside: &mut dyn Outside,
    call: &HookCall,
    command: &str,
) -> Result<Option<Sheltered>, Failure> {
    let Some(harm) = harm_of(command) else { return Ok(None) };
    let globals = Globals { idempotency_key: None, ..call.globals_with_client(outside) };
    refuse_removal(outside, &globals, &call.cwd, &harm.removed)?;
    let mut kept = None;
    for (ground, paths) in by_checkout(outside, &globals, &call.cwd, &harm.paths) {
        let mut session = Session::on(outside, &globals, ground)?;
        let reached = session.reached(&paths);
        if reached.is_empty() {
            continue;
        }
        let reason = truncate_columns(&redact(command), COMMAND_COLUMNS).into_owned();
        let taken = match session.take_snapshot(reached.clone(), SnapshotCause::Command, Some(reason)) {
            Err(failure) if failure.slug == Slug::GitFailed => {
                if let Some(mut fresh) = session.kept_just_now(&reached) {
                    fresh.elsewhere = fresh.elsewhere.filter(|root| !call.cwd.starts_with(root));
                    kept = Some(fresh).filter(|fresh| fresh.files > 0).or(kept);
                    continue;
                }
                return Err(Failure::new(failure.slug, failure.message)
                    .hint("keep it first, without haste: clearway snapshot"));
            }
            taken => taken?,
        };
        let (Some(number), Some(Drafted { files, .. })) = (taken.number, taken.drafted) else { continue };
        let root = session.site.root.clone().unwrap_or_default();
        if let Some(note) = note_of(session.outside, call) {
            // Without it `undo` is more careful.
            let text = format!("{}\n{}\n{}", number.0, root.display(), reached.join("\n"));
            drop(session.outside.write_private(&note, &text));
        }
        let elsewhere = (!call.cwd.starts_with(&root)).then_some(root);
        kept = Some(Sheltered { number, files: files.len() as u64, elsewhere });
    }
    Ok(kept)
}

/// Notes how files lie there that the last command of the caller may have destroyed.
pub(crate) fn after_shell(outside: &mut dyn Outside, call: &HookCall) {
    let Some(note) = note_of(outside, call) else { return };
    let Ok(Some(text)) = outside.read_text(&note) else { return };
    drop(outside.remove_file(&note));
    let mut lines = text.split('\n');
    let (Some(number), Some(root)) = (lines.next(), lines.next()) else { return };
    let Ok(number) = number.parse().map(Seq) else { return };
    let reached: Vec<String> = lines.map(str::to_owned).collect();
    let globals = Globals { idempotency_key: None, ..call.globals() };
    let Ok(Some(ground)) = welcome(outside, &globals, Path::new(root)) else { return };
    if let Ok(mut session) = Session::on(outside, &globals, ground) {
        drop(session.note_all_after(number, &reached));
    }
}

/// The paths by the checkouts that they are of, where anybody invited us; `None` is the root of one. A store that failed a
/// moment ago is told of where files are written.
fn by_checkout(
    outside: &mut dyn Outside,
    globals: &Globals,
    cwd: &Path,
    paths: &[String],
) -> Vec<(Ground, Vec<Option<String>>)> {
    let mut found: Vec<(Ground, Vec<Option<String>>)> = Vec::new();
    for path in paths {
        let (place, path) = match path.strip_suffix(ROOT) {
            Some(directory) => (cwd.join(directory), None),
            None => (cwd.join(path), Some(cwd.join(path).display().to_string())),
        };
        let nearest = place.ancestors().find(|place| outside.is_directory(place)).map(Path::to_owned);
        let ground = nearest.and_then(|directory| welcome(outside, globals, &directory).ok().flatten());
        let Some(ground) = ground.filter(|ground| ground.site.kind == SiteKind::Git) else { continue };
        match found.iter_mut().find(|(known, _)| known.site.root == ground.site.root) {
            Some((_, paths)) => paths.push(path),
            None if ground.site.root.is_some() => found.push((ground, vec![path])),
            None => {}
        }
    }
    found
}

/// Refuses what would remove the repository itself: with it goes everything that is kept, and what was committed too.
fn refuse_removal(
    outside: &mut dyn Outside,
    globals: &Globals,
    cwd: &Path,
    removed: &[String],
) -> Result<(), Failure> {
    for path in removed {
        let Ok(place) = outside.destination(cwd, path).map(|found| found.file) else {
            continue;
        };
        let around = [Some(place.as_path()), place.parent(), Some(cwd)];
        let around = around.into_iter().flatten().filter(|start| outside.is_directory(start));
        for start in around.map(Path::to_owned).collect::<Vec<_>>() {
            let Ok(Some(ground)) = welcome(outside, globals, &start) else { continue };
            let repository = Path::new(&ground.site.place);
            let is_in_it = repository.starts_with(&place) || place.starts_with(repository);
            if ground.site.kind == SiteKind::Git && is_in_it {
                let message =
                    format!("it would remove {}, where it would be kept", shown(&ground.site.place));
                return Err(Failure::new(Slug::GitFailed, message)
                    .hint("a person removes a repository, in a terminal of their own"));
            }
        }
        refuse_nested(outside, globals, cwd, &place)?;
    }
    Ok(())
}

/// A repository inside the checkout is its own, and nothing of it is kept with the rest: one with uncommitted changes stays.
fn refuse_nested(
    outside: &mut dyn Outside,
    globals: &Globals,
    cwd: &Path,
    removed: &Path,
) -> Result<(), Failure> {
    let Ok(Some(ground)) = welcome(outside, globals, cwd) else { return Ok(()) };
    if !ground.site.root.as_ref().is_some_and(|root| removed.starts_with(root)) {
        return Ok(());
    }
    for nested in outside.repositories_in(removed).into_iter().take(NESTED_MAX) {
        let is_kept = nested == removed && matches!(welcome(outside, globals, &nested), Ok(Some(_)));
        if !is_kept && !outside.changed_files(&nested).is_empty() {
            let place = nested.display().to_string();
            let message = format!("{} is a repository of its own, with changes of its own", shown(&place));
            return Err(Failure::new(Slug::GitFailed, message)
                .hint("move it elsewhere first, or let a person remove it"));
        }
    }
    Ok(())
}

/// Where it is remembered which snapshot the running command of a session has.
fn note_of(outside: &dyn Outside, call: &HookCall) -> Option<PathBuf> {
    outside.passing_file(&format!("undo-{}", name_after(&call.session.key().0))).ok()
}

impl Session<'_> {
    /// The paths from the root; `None` is the root itself. What lies elsewhere is not of this checkout.
    fn reached(&mut self, paths: &[Option<String>]) -> Vec<String> {
        let mut look = Look { outside: self.outside, engine: &mut *self.engine };
        let site = &self.site;
        let place = |path: &Option<String>| match path {
            None => Some(String::new()),
            Some(path) => {
                let located = look.resolve(site, path).ok()?;
                located.nested.is_none().then_some(located.path)
            }
        };
        paths.iter().filter_map(place).collect()
    }

    /// A snapshot of the whole checkout that somebody asked for a moment ago, if nothing at these paths changed since.
    fn kept_just_now(&mut self, paths: &[String]) -> Option<Sheltered> {
        let (now, note) = (self.now().ok()?.wall, self.note_of_whole()?);
        let text = self.outside.read_text(&note).ok()??;
        let mut words = text.split_whitespace().map_while(|word| word.parse::<i64>().ok());
        let (at, number, files) = (Wall(words.next()?), words.next()?, words.next()?);
        let root = self.site.root.clone()?;
        let is_fresh = (0..FRESH_MS).contains(&now.0.saturating_sub(at.0));
        if !is_fresh || self.outside.is_changed_since(&root, paths, at) {
            return None;
        }
        let (number, files) = (Seq(u64::try_from(number).ok()?), u64::try_from(files).ok()?);
        Some(Sheltered { number, files, elsewhere: Some(root) })
    }

    /// Notes that everything in the checkout was kept, which nobody could tell by the snapshot itself. Without the note the
    /// next command is more careful.
    pub(crate) fn note_whole(&mut self, at: Wall, number: Seq, files: usize) {
        if let Some(note) = self.note_of_whole() {
            drop(self.outside.write_private(&note, &format!("{} {} {files}", at.0, number.0)));
        }
    }

    fn note_of_whole(&self) -> Option<PathBuf> {
        let worktree = name_after(&self.site.worktree().0);
        self.outside.passing_file(&format!("whole-{}-{worktree}", self.site.key)).ok()
    }

    /// What the snapshot holds, and what went with it that was as committed: no snapshot holds that.
    fn note_all_after(&mut self, number: Seq, reached: &[String]) -> Result<(), Failure> {
        let list = self.shelf()?.list()?;
        let Some(seen) = list.iter().find(|seen| seen.number == number) else { return Ok(()) };
        let files = self.shelf()?.files(&seen.commit)?;
        let gone = self.shelf()?.missing(reached).unwrap_or_default();
        let held = files.iter().map(|file| file.path.as_str());
        self.note_after(number, held.chain(gone.iter().map(String::as_str)))
    }
}
