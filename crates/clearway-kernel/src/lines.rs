//! Whose uncommitted lines these are, from what hooks told of the calls that wrote them.
//!
//! After an edit the prints of its lines are noted beside the store, by path and agent; nothing is decided by them, and
//! what cannot be noted is forgotten. What a note is older than the last commit of its file is not about what is
//! uncommitted now; of what a commit leaves out of a file, it is noted once more whose it is. Who holds a file is another
//! question, which leases answer.

use crate::finding::meant;
use crate::ledger::Ledger;
use crate::outside::{Commits, Outside};
use crate::passing::name_after;
use crate::session::Session;
use crate::site::SiteKind;
use clearway_core::agent::AgentName;
use clearway_core::authorship::{LinePrint, Writing, authors, left_out, prints_of};
use clearway_core::failure::Failure;
use clearway_core::ids::{AgentId, Seq};
use clearway_core::lease::Kind;
use clearway_core::path::CanonicalPath;
use clearway_core::target::{Target, Worktree};
use clearway_core::time::Wall;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Bytes of notes of one scope: some hundred thousand lines.
const NOTES_BYTES_MAX: u64 = 4 * 1_024 * 1_024;
/// Lines of one call that are noted; of more nobody is the author.
const LINES_MAX: usize = 5_000;
/// Bytes of a file beyond which looking for lines in it would take too long.
const FILE_BYTES_MAX: usize = 1_024 * 1_024;
const SUFFIX: &str = "-lines";

/// What a tool call put into a file, as its client told.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wrote {
    /// The file, as the client named it.
    pub file: String,
    /// The texts it put there; none if the client did not say.
    pub put: Vec<String>,
}

/// What is not committed of one file, as git tells it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Uncommitted {
    /// Its path in the checkout.
    pub path: String,
    /// Whether it holds something else than text, of which no line can be told.
    pub is_binary: bool,
    /// Runs of changed lines, from the top.
    pub runs: Vec<ChangedRun>,
}

/// Lines that took the place of others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChangedRun {
    /// The number of the first line that is there now, from 1.
    pub first: u64,
    /// Lines that were there.
    pub removed: Vec<String>,
    /// Lines that are there now.
    pub added: Vec<String>,
}

/// Uncommitted lines, each with its author as far as that is known.
#[derive(Clone, Debug)]
pub struct Attributed {
    /// The revision at which the names are right.
    pub rev: Seq,
    /// Files in the order of their paths.
    pub files: Vec<AttributedFile>,
    /// Whose lines alone were asked for.
    pub only: Option<AgentName>,
}

/// The uncommitted lines of a file.
#[derive(Clone, Debug)]
pub struct AttributedFile {
    /// What git tells.
    pub change: Uncommitted,
    /// For each run the author of each added line; `None` if nobody's.
    pub authors: Vec<Vec<Option<Author>>>,
}

/// An agent that wrote lines.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Author {
    /// Its name; the id where the name is forgotten.
    pub name: String,
    /// Its id.
    pub id: AgentId,
}

impl AttributedFile {
    /// How many lines each author added, nobody's under `None`.
    pub fn counts(&self) -> BTreeMap<Option<Author>, u64> {
        let mut counts = BTreeMap::new();
        for author in self.authors.iter().flatten() {
            *counts.entry(author.clone()).or_default() += 1;
        }
        counts
    }

    fn has(&self, name: &AgentName) -> bool {
        self.authors.iter().flatten().flatten().any(|author| author.name == name.as_str())
    }
}

/// A call that wrote into a file, as it is noted. Without a line it tells that the file had no uncommitted change when its
/// author took it: what is noted before is not about what is there now.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Note {
    at: Wall,
    checkout: String,
    path: String,
    writing: Writing,
}

impl Note {
    fn line(&self) -> String {
        let Self { at, checkout, path, writing } = self;
        let prints: Vec<String> = writing.lines.iter().map(|print| format!("{:x}", print.0)).collect();
        format!("{}\t{}\t{checkout}\t{path}\t{}", at.0, writing.author, prints.join(","))
    }

    /// What cannot be read is passed over: a later build may write other lines.
    fn read(line: &str) -> Option<Self> {
        let mut fields = line.split('\t');
        let at = Wall(fields.next()?.parse().ok()?);
        let author = AgentId::parse(fields.next()?)?;
        let (checkout, path) = (fields.next()?.to_owned(), fields.next()?.to_owned());
        let print = |text: &str| u64::from_str_radix(text, 16).map(LinePrint).ok();
        let lines = match fields.next()? {
            "" => BTreeSet::new(),
            prints => prints.split(',').map(print).collect::<Option<_>>()?,
        };
        Some(Self { at, checkout, path, writing: Writing { author, lines } })
    }
}

/// Notes which lines of a file hold what a call put there.
pub(crate) fn note(
    outside: &mut dyn Outside,
    ledger: &Ledger,
    by: (AgentId, Wall),
    worktree: &Worktree,
    (path, put): (&str, &[String]),
) {
    let file = Path::new(&worktree.0).join(path);
    let text = outside.read_text(&file).ok().flatten().filter(|text| text.len() <= FILE_BYTES_MAX);
    let lines = text.map(|text| prints_of(&text, put)).unwrap_or_default();
    if lines.is_empty() || lines.len() > LINES_MAX {
        return;
    }
    let ((author, at), checkout) = (by, name_after(&worktree.0));
    let note = Note { at, checkout, path: path.to_owned(), writing: Writing { author, lines } };
    let Some(place) = ledger.beside(outside, SUFFIX) else { return };
    drop(outside.jot(&place, &note.line(), NOTES_BYTES_MAX));
}

/// Notes that a file had no uncommitted change when somebody took it.
pub(crate) fn note_clean(
    outside: &mut dyn Outside,
    ledger: &Ledger,
    (author, at): (AgentId, Wall),
    worktree: &Worktree,
    path: &str,
) {
    let (checkout, writing) = (name_after(&worktree.0), Writing { author, lines: BTreeSet::new() });
    let note = Note { at, checkout, path: path.to_owned(), writing };
    let Some(place) = ledger.beside(outside, SUFFIX) else { return };
    drop(outside.jot(&place, &note.line(), NOTES_BYTES_MAX));
}

impl Session<'_> {
    /// The uncommitted lines of this checkout, each with its author, at these paths or everywhere; those of one agent if
    /// one is named.
    pub fn attributed(&mut self, patterns: &[String], agent: Option<&str>) -> Result<Attributed, Failure> {
        let targets: Vec<Target> =
            patterns.iter().map(|text| self.target(Kind::Path, text)).collect::<Result<_, _>>()?;
        let seen = self.agents()?;
        let only = agent.map(|word| meant(word, &seen.agents, "diff --agent-name")).transpose()?;
        let only = only.map(|seen| seen.view.agent.name.clone());
        let mut changes = self.outside.uncommitted(&self.site, &[""])?;
        changes
            .retain(|change| targets.is_empty() || targets.iter().any(|target| self.is_at(target, change)));
        let notes = self.notes_on(&changes)?;
        let named = |id: AgentId| {
            let known = seen.agents.iter().find(|seen| seen.view.agent.id == id);
            let name = known.map_or_else(|| id.to_string(), |seen| seen.view.agent.name.to_string());
            Author { name, id }
        };
        let mut files: Vec<AttributedFile> = changes
            .into_iter()
            .map(|change| {
                let writings = notes.get(&change.path).map(Vec::as_slice).unwrap_or_default();
                let of_run = |run: &ChangedRun| authors(&run.added, writings);
                let ids = change.runs.iter().map(of_run);
                let authors = ids.map(|ids| ids.into_iter().map(|id| id.map(named)).collect()).collect();
                AttributedFile { change, authors }
            })
            .collect();
        files.retain(|file| only.as_ref().is_none_or(|name| file.has(name)));
        Ok(Attributed { rev: seen.rev, files, only })
    }

    /// Files of this checkout of which somebody whom `is_meant` means is noted to have written lines, committed by now or
    /// not.
    pub(crate) fn noted_by(
        &mut self,
        is_meant: &dyn Fn(AgentId) -> bool,
    ) -> Result<BTreeMap<String, BTreeSet<AgentId>>, Failure> {
        let place = self.file_beside_store(SUFFIX)?;
        let text = self.outside.read_text(&place)?.unwrap_or_default();
        let checkout = name_after(&self.site.worktree().0);
        let mut noted: BTreeMap<String, BTreeSet<AgentId>> = BTreeMap::new();
        for line in text.lines() {
            let mut fields = line.split('\t').skip(1);
            let author = fields.next().and_then(AgentId::parse).filter(|author| is_meant(*author));
            let (Some(author), Some(at), Some(path)) = (author, fields.next(), fields.next()) else {
                continue;
            };
            if at == checkout {
                noted.entry(path.to_owned()).or_default().insert(author);
            }
        }
        Ok(noted)
    }

    /// Who wrote lines of these changes, as far as hooks told.
    pub(crate) fn authors_of(
        &mut self,
        changes: &[Uncommitted],
    ) -> Result<BTreeMap<String, BTreeSet<AgentId>>, Failure> {
        let notes = self.notes_on(changes)?;
        let of_change = |change: &Uncommitted| {
            let writings = notes.get(&change.path).map(Vec::as_slice).unwrap_or_default();
            let by = change.runs.iter().flat_map(|run| authors(&run.added, writings)).flatten().collect();
            (change.path.clone(), by)
        };
        Ok(changes.iter().map(of_change).collect())
    }

    fn is_at(&self, target: &Target, change: &Uncommitted) -> bool {
        let Target::Path(pattern) = target else { return false };
        CanonicalPath::parse(&change.path, self.site.fold).is_ok_and(|path| pattern.matches(&path))
    }

    /// Notes once more whose lines a commit left out of the files that it is of: they are as uncommitted as before, and
    /// what was noted before the commit counts for committed.
    pub(crate) fn note_left_by_commit(&mut self) -> Result<(), Failure> {
        let noted = self.noted_by(&|_| true)?;
        if noted.is_empty() {
            return Ok(());
        }
        let committed = self.outside.committed_paths()?;
        let paths: Vec<&str> =
            committed.iter().map(String::as_str).filter(|path| noted.contains_key(*path)).collect();
        if paths.is_empty() {
            return Ok(());
        }
        let changes = self.outside.uncommitted(&self.site, &paths)?;
        let notes = self.notes_among(&changes, Commits::ButTheLast)?;
        if notes.is_empty() {
            return Ok(());
        }
        let now = self.now()?.wall;
        let last = self.outside.committed_since(&self.site, &paths, Wall(0), Commits::All)?;
        let (place, checkout) = (self.file_beside_store(SUFFIX)?, name_after(&self.site.worktree().0));
        for Uncommitted { path, runs, .. } in &changes {
            // A clock that is behind the one of whoever committed must not make it old again.
            let at = last.get(path).map_or(now, |last| now.max(*last));
            let writings = notes.get(path).map(Vec::as_slice).unwrap_or_default();
            for writing in left_of(runs, writings) {
                let note = Note { at, checkout: checkout.clone(), path: path.clone(), writing };
                drop(self.outside.jot(&place, &note.line(), NOTES_BYTES_MAX));
            }
        }
        Ok(())
    }

    /// What is noted of these files since their last commit, the oldest first.
    fn notes_on(&mut self, changes: &[Uncommitted]) -> Result<BTreeMap<String, Vec<Writing>>, Failure> {
        self.notes_among(changes, Commits::All)
    }

    fn notes_among(
        &mut self,
        changes: &[Uncommitted],
        counting: Commits,
    ) -> Result<BTreeMap<String, Vec<Writing>>, Failure> {
        let paths: Vec<&str> = changes.iter().map(|change| change.path.as_str()).collect();
        let notes = self.noted(&paths)?;
        let Some(oldest) = notes.iter().map(|note| note.at).min() else { return Ok(BTreeMap::new()) };
        let committed = self.outside.committed_since(&self.site, &paths, oldest, counting)?;
        let mut writings: BTreeMap<String, Vec<Writing>> = BTreeMap::new();
        for note in notes {
            let is_committed = committed.get(&note.path).is_some_and(|at| is_before(note.at, *at));
            if !is_committed {
                writings.entry(note.path).or_default().push(note.writing);
            }
        }
        Ok(writings)
    }

    /// What is noted of these files of this checkout, committed or not, the oldest first.
    fn noted(&mut self, paths: &[&str]) -> Result<Vec<Note>, Failure> {
        let place = self.file_beside_store(SUFFIX)?;
        let text = self.outside.read_text(&place)?.unwrap_or_default();
        let checkout = name_after(&self.site.worktree().0);
        let is_here = |note: &Note| note.checkout == checkout && paths.contains(&note.path.as_str());
        let mut notes: Vec<Note> = Vec::new();
        for note in text.lines().filter_map(Note::read).filter(is_here) {
            match note.writing.lines.is_empty() {
                true => notes.retain(|earlier| earlier.path != note.path),
                false => notes.push(note),
            }
        }
        Ok(notes)
    }

    /// How many lines of each other author a file has that are not committed and that a text leaves out. Git is asked only
    /// where the file as it stands, committed or not, has lines of others that the text does not; where git does not
    /// answer, none of them counts as committed.
    pub(crate) fn left_out(
        &mut self,
        path: &str,
        text: &str,
        is_other: impl Fn(AgentId) -> bool,
    ) -> Result<BTreeMap<AgentId, u64>, Failure> {
        if self.site.kind != SiteKind::Git {
            return Ok(BTreeMap::new());
        }
        let notes = self.noted(&[path])?;
        if !notes.iter().any(|note| is_other(note.writing.author)) {
            return Ok(BTreeMap::new());
        }
        let file = Path::new(&self.site.worktree().0).join(path);
        let there = self.outside.read_text(&file).ok().flatten().unwrap_or_default();
        let there: Vec<String> = there.lines().map(str::to_owned).collect();
        let writings: Vec<Writing> = notes.into_iter().map(|note| note.writing).collect();
        let of_others = |lines: &[String], writings: &[Writing]| {
            let mut counts = left_out(lines, &authors(lines, writings), text);
            counts.retain(|author, _| is_other(*author));
            counts
        };
        let counts = of_others(&there, &writings);
        if counts.is_empty() {
            return Ok(counts);
        }
        let Ok(changes) = self.outside.uncommitted(&self.site, &[path]) else { return Ok(counts) };
        let Ok(notes) = self.notes_on(&changes) else { return Ok(counts) };
        let writings = notes.get(path).map(Vec::as_slice).unwrap_or_default();
        let mut counts = BTreeMap::new();
        for run in changes.iter().filter(|change| change.path == path).flat_map(|change| &change.runs) {
            for (author, count) in of_others(&run.added, writings) {
                *counts.entry(author).or_default() += count;
            }
        }
        Ok(counts)
    }
}

/// What each author wrote of what is left.
fn left_of(runs: &[ChangedRun], writings: &[Writing]) -> Vec<Writing> {
    let mut left: Vec<Writing> = Vec::new();
    for run in runs {
        for (line, author) in run.added.iter().zip(authors(&run.added, writings)) {
            let (Some(author), print) = (author, LinePrint::of(line)) else { continue };
            match left.iter_mut().find(|writing| writing.author == author) {
                Some(writing) => drop(writing.lines.insert(print)),
                None => left.push(Writing { author, lines: [print].into() }),
            }
        }
    }
    left
}

/// Git counts in seconds: what was written in the second of a commit may be in it or not, and stays its author's.
fn is_before(note: Wall, committed: Wall) -> bool {
    note.0.div_euclid(1_000) < committed.0.div_euclid(1_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_is_read_as_it_was_written_and_rubbish_is_passed_over() {
        let writing = Writing {
            author: AgentId::parse("agent001").unwrap(),
            lines: [LinePrint(0), LinePrint(u64::MAX)].into(),
        };
        let note = Note { at: Wall(7), checkout: "c".to_owned(), path: "a b.rs".to_owned(), writing };
        assert_eq!(Note::read(&note.line()), Some(note));
        for rubbish in ["", "7\tagent001\tc\ta", "7\tagent001\tc\ta\tx", "x\tagent001\tc\ta\t1"] {
            assert_eq!(Note::read(rubbish), None, "{rubbish}");
        }
    }

    #[test]
    fn what_was_written_in_the_second_of_a_commit_stays() {
        assert!(is_before(Wall(1_999), Wall(2_000)));
        assert!(!is_before(Wall(2_000), Wall(2_000)) && !is_before(Wall(2_999), Wall(2_000)));
    }
}
