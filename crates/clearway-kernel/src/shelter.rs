//! What a command of an agent's shell would destroy is kept before it runs, and how things lie there after it is noted, so
//! that `undo` can tell what was changed since.

use crate::config::Enforcement;
use crate::ground::Ground;
use crate::hooking::{HookCall, welcome};
use crate::outage::{Failing, cannot_be_asked, known_trouble, welcome_beside};
use crate::outside::Outside;
use crate::passing::name_after;
use crate::rooted::rooted;
use crate::session::{Globals, Session};
use crate::shelf::Drafted;
use crate::site::SiteKind;
use crate::targets::Look;
use clearway_core::failure::Failure;
use clearway_core::harm::{Cleaned, Gone, Harm, ROOT, harm_of, removes_repository};
use clearway_core::hint::{ASK_GIT, Hint};
use clearway_core::ids::Seq;
use clearway_core::redact::redact;
use clearway_core::slug::Slug;
use clearway_core::snapshot::SnapshotCause;
use clearway_core::text::{shown, truncate_columns};
use clearway_core::time::Wall;
use std::path::{Path, PathBuf};

/// Columns of a command that are remembered as the reason.
pub(crate) const COMMAND_COLUMNS: usize = 120;
/// Repositories inside a directory that are looked at before it is removed: somebody waits, and each is asked of git.
const NESTED_MAX: usize = 64;
/// How long a snapshot that somebody took by hand stands for one that takes too long for a hook, or finds no room.
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
    /// What the command may reach and is not kept, such as ignored files that are too large.
    pub left_out: Vec<String>,
    /// Whether the command may remove what is kept too, which only a shell can tell.
    pub may_go: bool,
}

/// What became of what a command is about to destroy, in every checkout that it reaches.
#[derive(Debug, Default)]
pub struct Shelter {
    /// What is kept of it, in each checkout.
    pub kept: Vec<Sheltered>,
    /// Why it cannot be kept.
    pub refused: Option<Refusal>,
    /// What is not kept because a store fails.
    pub unkept: Vec<Unkept>,
}

/// Why a command had better not run, and what the checkout concerned has to say about that.
#[derive(Clone, Debug)]
pub struct Refusal {
    /// Why.
    pub failure: Failure,
    /// What becomes of refusals there.
    pub mode: Enforcement,
}

/// Something that a command reaches where the store fails.
#[derive(Clone, Debug)]
pub struct Unkept {
    /// As seen from where the command runs.
    pub file: String,
    /// How the store fails.
    pub failure: Failure,
}

/// The home of whoever runs commands here: the shell of an agent has the one that its client's hook has.
pub(crate) fn home(outside: &dyn Outside) -> Option<String> {
    let home = outside.surroundings().variables.get("HOME")?;
    home.starts_with('/').then(|| home.clone())
}

/// What a command would destroy, as seen from where it runs; `None` if that is nothing.
pub fn destroyed_by(outside: &dyn Outside, command: &str) -> Option<Vec<String>> {
    harm_of(command, home(outside).as_deref())
        .map(|harm| harm.paths.iter().map(|path| seen_from(path)).collect())
}

fn seen_from(path: &str) -> String {
    match path.strip_suffix(ROOT) {
        Some(directory) => Path::new(directory).join(".git").display().to_string(),
        None => path.to_owned(),
    }
}

/// Keeps what a command is about to destroy. `failing` is the store of where the agent stands, if that failed already.
pub fn before_shell(
    outside: &mut dyn Outside,
    call: &HookCall,
    command: &str,
    failing: Option<&Failing>,
) -> Shelter {
    let mut shelter = Shelter::default();
    let Some(harm) = harm_of(command, home(outside).as_deref()) else { return shelter };
    let globals = Globals { idempotency_key: None, ..call.globals_with_client(outside) };
    let refused = refuse_removal(outside, &globals, &call.cwd, &harm)
        .or_else(|| refuse_clean(outside, &globals, &call.cwd, &harm.cleaned));
    if let Some(refusal) = refused {
        shelter.refused = Some(refusal);
        return shelter;
    }
    let Reached { checkouts, unkept } = by_checkout(outside, &globals, &call.cwd, &harm.paths, failing);
    shelter.unkept = unkept;
    for Checkout { ground, paths, first } in checkouts {
        let mode = ground.config.mode();
        match keep(outside, call, &globals, Threat { command, harm: &harm }, ground, &paths) {
            Ok(kept) => shelter.kept.extend(kept),
            Err(failure) if cannot_be_asked(&failure) => {
                shelter.unkept.push(Unkept { file: seen_from(first), failure });
            }
            Err(failure) => {
                shelter.refused.get_or_insert(Refusal { failure, mode });
            }
        }
    }
    shelter
}

/// What the last command destroyed where the store fails, as far as that is known.
pub fn unkept_by(
    outside: &mut dyn Outside,
    call: &HookCall,
    command: &str,
    failing: Option<&Failing>,
) -> Vec<Unkept> {
    let globals = call.globals();
    let mut unkept: Vec<Unkept> = Vec::new();
    let home = home(outside);
    for path in harm_of(command, home.as_deref()).map(|harm| harm.paths).unwrap_or_default() {
        let nearest = nearest(outside, &call.cwd, &path);
        let trouble = nearest.and_then(|place| known_trouble(outside, &globals, &place, failing));
        let file = seen_from(&path);
        unkept.extend(trouble.map(|failure| Unkept { file, failure }));
    }
    unkept
}

/// A command, and what it can destroy where it reaches.
#[derive(Clone, Copy)]
struct Threat<'c> {
    command: &'c str,
    harm: &'c Harm,
}

/// Keeps what a command is about to destroy in one checkout; `None` if that is nothing.
fn keep(
    outside: &mut dyn Outside,
    call: &HookCall,
    globals: &Globals,
    threat: Threat<'_>,
    ground: Ground,
    paths: &[Option<String>],
) -> Result<Option<Sheltered>, Failure> {
    let Threat { command, harm } = threat;
    let stays: Vec<PathBuf> = harm.only_moved().map(|path| call.cwd.join(path)).collect();
    let gone = gone_in(outside, globals, call, harm);
    let mut session = Session::on(outside, globals, ground)?;
    let lost: Vec<Option<String>> = paths
        .iter()
        .filter(|path| path.as_ref().is_none_or(|path| !stays.iter().any(|stays| stays == Path::new(path))))
        .cloned()
        .collect();
    let (paths, lost) = (session.reached(paths), session.reached(&lost));
    if paths.is_empty() {
        return Ok(None);
    }
    let gone: Vec<Gone> = gone.into_iter().filter_map(|gone| session.gone(gone)).collect();
    let reason = truncate_columns(&redact(command), COMMAND_COLUMNS).into_owned();
    let mut take = |paths: &[String]| {
        let (grasp, reason) = (harm.grasp.clone(), Some(reason.clone()));
        session.take_from(paths.to_vec(), grasp, gone.clone(), SnapshotCause::Command, reason)
    };
    let mut taken = take(&paths);
    // What lies elsewhere afterwards is kept too if it can be, and not lost if it cannot.
    if taken.as_ref().is_err_and(|failure| failure.slug == Slug::SnapshotTooLarge) && lost != paths {
        if lost.is_empty() {
            return Ok(None);
        }
        taken = take(&lost);
    }
    let taken = match taken {
        Err(failure) if may_be_kept_already(&failure) => {
            let Some(mut fresh) = session.kept_just_now(&paths) else { return Err(with_advice(failure)) };
            fresh.elsewhere = fresh.elsewhere.filter(|root| !call.cwd.starts_with(root));
            fresh.may_go = harm.may_remove;
            return Ok(Some(fresh).filter(|fresh| fresh.files > 0));
        }
        taken => taken?,
    };
    let (Some(number), Some(drafted)) = (taken.number, taken.drafted) else { return Ok(None) };
    let Drafted { files, left_out, .. } = drafted;
    let root = session.site.root.clone().unwrap_or_default();
    note_kept(session.outside, call, number, &root, &paths);
    let place = place_after(session.outside, globals, call, &threat, root);
    let elsewhere = (!call.cwd.starts_with(&place)).then_some(place);
    let left_out = if harm.may_take_ignored { left_out } else { Vec::new() };
    Ok(Some(Sheltered { number, files: files.len() as u64, elsewhere, left_out, may_go: harm.may_remove }))
}

/// What goes for sure, where it lies.
fn gone_in(outside: &mut dyn Outside, globals: &Globals, call: &HookCall, harm: &Harm) -> Vec<Gone> {
    let mut placed = |gone: &Gone| {
        let place = rooted(outside, globals, &call.cwd, &gone.name);
        Gone { name: place.display().to_string(), is_deep: gone.is_deep }
    };
    harm.gone.iter().map(&mut placed).collect()
}

/// The checkout in which what a command destroyed can be brought back: the same, or another one of the repository, if it goes
/// as a whole.
fn place_after(
    outside: &mut dyn Outside,
    globals: &Globals,
    call: &HookCall,
    threat: &Threat<'_>,
    root: PathBuf,
) -> PathBuf {
    let goes = |path: &String| place_of(outside, globals, &call.cwd, path).as_ref() == Some(&root);
    if !threat.harm.removed.iter().any(goes) {
        return root;
    }
    let others = outside.checkouts(&root).unwrap_or_default().into_iter().map(|other| other.root);
    let others: Vec<PathBuf> = others.filter(|other| *other != root).collect();
    let here = others.iter().find(|other| call.cwd.starts_with(other)).or(others.first());
    here.cloned().unwrap_or(root)
}

/// Whether a snapshot that somebody took a moment ago can stand for one that failed so: git was too slow or refused, or a
/// disk is full, which says nothing of what there is to keep.
fn may_be_kept_already(failure: &Failure) -> bool {
    matches!(failure.slug, Slug::GitFailed | Slug::StoreFull)
}

/// Whoever finds no room names the disk, and what helps there; git may only have lacked time.
fn with_advice(failure: Failure) -> Failure {
    match failure.slug {
        // What git itself is stopped by, it is stopped by without haste too.
        Slug::GitFailed if failure.hints.contains(&Hint::from(ASK_GIT)) => {
            Failure::new(failure.slug, failure.message)
                .hint("keep it first, without haste: clearway snapshot")
        }
        _ => failure,
    }
}

/// Notes for the end of the command what is kept of it. Without that `undo` is more careful.
fn note_kept(outside: &mut dyn Outside, call: &HookCall, number: Seq, root: &Path, paths: &[String]) {
    if let Some(note) = note_of(outside, call) {
        let text = format!("{}\n{}\n{}", number.0, root.display(), paths.join("\n"));
        drop(outside.write_private(&note, &text));
    }
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

/// Where a command reaches.
#[derive(Default)]
struct Reached<'p> {
    checkouts: Vec<Checkout<'p>>,
    unkept: Vec<Unkept>,
}

/// A checkout where anybody invited us, and what is destroyed in it; `None` is its root.
struct Checkout<'p> {
    ground: Ground,
    paths: Vec<Option<String>>,
    /// The first of them, as the command has it.
    first: &'p str,
}

/// The paths by the checkouts that they are of.
fn by_checkout<'p>(
    outside: &mut dyn Outside,
    globals: &Globals,
    cwd: &Path,
    paths: &'p [String],
    failing: Option<&Failing>,
) -> Reached<'p> {
    let mut reached = Reached::default();
    for first in paths {
        let Some(directory) = nearest(outside, cwd, first) else { continue };
        let ground = match welcome_beside(outside, globals, &directory, failing) {
            Ok(ground) => ground,
            Err(failure) => {
                reached.unkept.push(Unkept { file: seen_from(first), failure });
                continue;
            }
        };
        let Some(ground) = ground.filter(|ground| ground.site.kind == SiteKind::Git) else { continue };
        let is_root = first.ends_with(ROOT);
        let path = (!is_root).then(|| cwd.join(first).display().to_string());
        let known = reached.checkouts.iter_mut().find(|known| known.ground.site.root == ground.site.root);
        match known {
            Some(known) => known.paths.push(path),
            None if ground.site.root.is_some() => {
                reached.checkouts.push(Checkout { ground, paths: vec![path], first });
            }
            None => {}
        }
    }
    reached
}

/// The directory that something lies in which a command destroys, or the nearest above that is there.
fn nearest(outside: &dyn Outside, cwd: &Path, path: &str) -> Option<PathBuf> {
    let place = cwd.join(path.strip_suffix(ROOT).unwrap_or(path));
    place.ancestors().find(|place| outside.is_directory(place)).map(Path::to_owned)
}

/// Refuses what would remove the repository itself: with it goes everything that is kept, and what was committed too.
fn refuse_removal(outside: &mut dyn Outside, globals: &Globals, cwd: &Path, harm: &Harm) -> Option<Refusal> {
    let sure = harm.removed.iter().map(|path| (path, true));
    for (path, is_sure) in sure.chain(harm.guessed.iter().map(|path| (path, false))) {
        let Some(place) = place_of(outside, globals, cwd, path) else { continue };
        let around = [Some(place.as_path()), place.parent(), Some(cwd)];
        let around = around.into_iter().flatten().filter(|start| outside.is_directory(start));
        for start in around.map(Path::to_owned).collect::<Vec<_>>() {
            let Ok(Some(ground)) = welcome(outside, globals, &start) else { continue };
            let repository = &ground.site.place;
            let is_lost = removes_repository(&place.to_string_lossy(), repository);
            let is_here = || ground.site.root.as_ref().is_some_and(|root| place.starts_with(root));
            if ground.site.kind == SiteKind::Git && is_lost && (is_sure || is_here()) {
                let failure = removal(repository, is_sure);
                return Some(Refusal { failure, mode: ground.config.mode() });
            }
        }
        if !is_sure {
            continue;
        }
        let nested = refuse_nested(outside, globals, cwd, &place);
        if nested.is_some() {
            return nested;
        }
    }
    None
}

fn removal(repository: &str, is_sure: bool) -> Failure {
    let (repository, slug) = (shown(repository), Slug::RemovesRepository);
    match is_sure {
        true => Failure::new(slug, format!("it would remove what is kept and committed in {repository}"))
            .hint("a person removes a repository, in a terminal of their own"),
        false => Failure::new(slug, format!("it may remove what is kept and committed in {repository}"))
            .hint("name what is to go as it is, without what only a shell can read"),
    }
}

/// Where something is that a command removes, without links.
fn place_of(outside: &mut dyn Outside, globals: &Globals, cwd: &Path, path: &str) -> Option<PathBuf> {
    let place = rooted(outside, globals, cwd, path);
    outside.destination(cwd, &place.to_string_lossy()).map(|found| found.file).ok()
}

/// A repository inside the checkout is its own, and nothing of it is kept with the rest: one with uncommitted changes stays.
fn refuse_nested(
    outside: &mut dyn Outside,
    globals: &Globals,
    cwd: &Path,
    removed: &Path,
) -> Option<Refusal> {
    let Ok(Some(ground)) = welcome(outside, globals, cwd) else { return None };
    if !ground.site.root.as_ref().is_some_and(|root| removed.starts_with(root)) {
        return None;
    }
    let is_kept = |outside: &mut dyn Outside, nested: &Path| {
        nested == removed && matches!(welcome(outside, globals, nested), Ok(Some(_)))
    };
    let nested = outside.repositories_in(removed);
    let nested: Vec<PathBuf> = nested.into_iter().filter(|nested| !is_kept(outside, nested)).collect();
    let failure = with_changes(outside, &nested)?.hint("move it elsewhere first, or let a person remove it");
    Some(Refusal { failure, mode: ground.config.mode() })
}

/// The same for what `git clean` takes along when it is told twice to use force.
fn refuse_clean(
    outside: &mut dyn Outside,
    globals: &Globals,
    cwd: &Path,
    cleaned: &[Cleaned],
) -> Option<Refusal> {
    for Cleaned { directory, path, with_ignored } in cleaned {
        let from = rooted(outside, globals, cwd, directory);
        let Ok(Some(ground)) = welcome(outside, globals, &from) else { continue };
        let Some(root) = ground.site.root.clone().filter(|_| ground.site.kind == SiteKind::Git) else {
            continue;
        };
        let place = match path.as_str() {
            ROOT => root.clone(),
            path => match outside.destination(&from, path) {
                Ok(found) => found.file,
                Err(_) => continue,
            },
        };
        let nested = outside.untracked_repositories_in(&root, &place, *with_ignored);
        if let Some(failure) = with_changes(outside, &nested) {
            let failure =
                failure.hint("name what to clean: git clean -ffd -- PATH; or let a person remove it");
            return Some(Refusal { failure, mode: ground.config.mode() });
        }
    }
    None
}

/// Why repositories inside another one do not go: one of them has changes, or may have.
fn with_changes(outside: &mut dyn Outside, nested: &[PathBuf]) -> Option<Failure> {
    let looked_at = nested.iter().take(NESTED_MAX);
    let changed = looked_at.into_iter().find(|nested| !outside.changed_files(nested).is_empty());
    let why = |nested: &PathBuf, what: &str| {
        let place = shown(&nested.display().to_string());
        Failure::new(Slug::RemovesRepository, format!("{place} is {what}"))
    };
    let beyond =
        || nested.get(NESTED_MAX).map(|nested| why(nested, "one of too many repositories to look at"));
    changed.map(|nested| why(nested, "a repository of its own, with changes of its own")).or_else(beyond)
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

    /// The same of what goes, whose name may have wildcards.
    fn gone(&mut self, gone: Gone) -> Option<Gone> {
        let name = self.reached(&[Some(gone.name)]).pop()?;
        Some(Gone { name, ..gone })
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
        Some(Sheltered { number, files, elsewhere: Some(root), left_out: Vec::new(), may_go: false })
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
        let beside = self.shelf()?.changed_beside(reached).unwrap_or_default();
        let held = files.iter().map(|file| file.path.as_str());
        self.note_after(number, held.chain(beside.iter().map(String::as_str)))
    }
}
