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
use clearway_core::text::truncate_columns;
use clearway_core::time::Wall;
use std::path::{Path, PathBuf};

/// Columns of a command that are remembered as the reason.
pub(crate) const COMMAND_COLUMNS: usize = 120;
/// How long a snapshot that somebody took by hand stands for one that takes too long for a hook.
const FRESH_MS: i64 = 2 * 60 * 1_000;

/// What is kept of what a command is about to destroy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sheltered {
    /// The number of the snapshot.
    pub number: Seq,
    /// How many files it holds.
    pub files: u64,
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
                if let Some(fresh) = session.kept_just_now(&reached) {
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
            drop(session.outside.write_private(&note, &format!("{}\n{}", number.0, root.display())));
        }
        kept = Some(Sheltered { number, files: files.len() as u64 });
    }
    Ok(kept)
}

/// Notes how files lie there that the last command of the caller may have destroyed.
pub(crate) fn after_shell(outside: &mut dyn Outside, call: &HookCall) {
    let Some(note) = note_of(outside, call) else { return };
    let Ok(Some(text)) = outside.read_text(&note) else { return };
    drop(outside.remove_file(&note));
    let Some((number, root)) = text.split_once('\n') else { return };
    let Ok(number) = number.parse().map(Seq) else { return };
    let globals = Globals { idempotency_key: None, ..call.globals() };
    let Ok(Some(ground)) = welcome(outside, &globals, Path::new(root)) else { return };
    if let Ok(mut session) = Session::on(outside, &globals, ground) {
        drop(session.note_all_after(number));
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
        Some(Sheltered { number: Seq(u64::try_from(number).ok()?), files: u64::try_from(files).ok()? })
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

    fn note_all_after(&mut self, number: Seq) -> Result<(), Failure> {
        let list = self.shelf()?.list()?;
        let Some(seen) = list.iter().find(|seen| seen.number == number) else { return Ok(()) };
        let files = self.shelf()?.files(&seen.commit)?;
        self.note_after(number, files.iter().map(|file| file.path.as_str()))
    }
}
