//! Files that are not about to be lost, whatever becomes of those around them.

use super::SnapshotError;
use super::survey::Survey;
use super::take::SnapshotOrder;
use crate::git::child::Feed;
use crate::git::{Git, GitError, Question, batches};
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::ops::Bound;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Files that git is asked about; of more each counts as lost.
const ASKED_MAX: usize = 64;
/// Bytes of paths handed to one `git ls-tree`.
const PATHS_BYTES_MAX: usize = 96 * 1_024;

/// What is left alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spared<'o> {
    /// Files that git tracks.
    pub tracked: bool,
    /// Files that it does not track, and that lie in the place of none.
    pub untracked: bool,
    /// But for those in the place of one that a commit of such a name has. A name of none has no files.
    pub but_in: &'o [String],
}

impl Git {
    /// Tells files that are left alone from those that are not.
    pub(super) fn spared(
        &self,
        order: &SnapshotOrder<'_>,
        survey: &Survey,
        files: Vec<PathBuf>,
    ) -> Result<(Vec<PathBuf>, Vec<PathBuf>), SnapshotError> {
        let Spared { tracked, untracked, but_in } = order.spared;
        let (of_git, new): (Vec<_>, Vec<_>) = files.into_iter().partition(|path| survey.tracks(path));
        let (mut spared, mut lost) = if tracked { (of_git, Vec::new()) } else { (Vec::new(), of_git) };
        let is_asked = untracked && (1..=ASKED_MAX).contains(&new.len());
        let taken = if is_asked { self.taken(order.worktree, survey, but_in, &new)? } else { None };
        for path in new {
            let is_taken = |taken: &BTreeSet<PathBuf>| path.ancestors().any(|place| taken.contains(place));
            let is_lost = taken.as_ref().is_none_or(is_taken) || survey.has_in_place_of(&path);
            if is_lost { lost.push(path) } else { spared.push(path) }
        }
        Ok((spared, lost))
    }

    /// What the commit that is checked out, and those of these names, have where these files lie or would be directories above
    /// them; `None` if that cannot be told. For what it writes there git removes what it does not know.
    fn taken(
        &self,
        worktree: &Path,
        survey: &Survey,
        names: &[String],
        files: &[PathBuf],
    ) -> Result<Option<BTreeSet<PathBuf>>, GitError> {
        let Some(Named { mut trees, others }) = self.named(worktree, names)? else { return Ok(None) };
        if self.are_elsewhere(worktree, &others)? {
            return Ok(None);
        }
        trees.extend(survey.head.clone());
        // What no text names cannot be asked for.
        let Some(asked) = files.iter().map(|path| path.to_str()).collect::<Option<Vec<&str>>>() else {
            return Ok(None);
        };
        let above =
            |path| Path::new(path).ancestors().filter_map(Path::to_str).filter(|path| !path.is_empty());
        let places: BTreeSet<&str> = asked.into_iter().flat_map(above).collect();
        let places: Vec<&str> = places.into_iter().collect();
        let mut taken = BTreeSet::new();
        for tree in &trees {
            for batch in batches(&places, PATHS_BYTES_MAX) {
                let options = ["-z", "--full-tree", tree.as_str()];
                let question = Question { command: "ls-tree", options: &options, paths: &batch };
                taken.extend(entries(&self.ask(worktree, &question)?, files)?);
            }
        }
        Ok(Some(taken))
    }

    /// Tells names of what has files from others; `None` if git knows one of them, and not its files.
    fn named(&self, worktree: &Path, names: &[String]) -> Result<Option<Named>, GitError> {
        let names: BTreeSet<&String> = names.iter().filter(|name| !name.contains('\n')).collect();
        let mut named = Named::default();
        if names.is_empty() {
            return Ok(Some(named));
        }
        let lines: String = names.iter().map(|name| format!("{name}^{{tree}}\n{name}\n")).collect();
        let feed: Feed = Box::new(move |out| out.write_all(lines.as_bytes()));
        let options = ["--batch-check=%(objectname)"];
        let question = Question { command: "cat-file", options: &options, paths: &[] };
        let output = String::from_utf8_lossy(&self.ask_fed(worktree, &question, feed)?).into_owned();
        let is_id = |line: &str| line.len() >= 40 && line.bytes().all(|byte| byte.is_ascii_hexdigit());
        let lines: Vec<&str> = output.lines().collect();
        for (name, answers) in names.into_iter().zip(lines.chunks(2)) {
            match answers {
                [tree, _] if is_id(tree) => drop(named.trees.insert((*tree).to_owned())),
                [_, known] if !is_id(known) => named.others.push(name.clone()),
                _ => return Ok(None),
            }
        }
        Ok(Some(named))
    }

    /// Whether any of these is the name of a branch that was fetched, of which git makes one here when it is asked for it.
    fn are_elsewhere(&self, worktree: &Path, names: &[String]) -> Result<bool, GitError> {
        if names.is_empty() {
            return Ok(false);
        }
        let patterns: Vec<String> = names.iter().map(|name| format!("refs/remotes/**/{name}")).collect();
        let patterns: Vec<&str> = patterns.iter().map(String::as_str).collect();
        let options = ["--count=1", "--format=%(refname)"];
        let question = Question { command: "for-each-ref", options: &options, paths: &patterns };
        Ok(!self.ask(worktree, &question)?.is_empty())
    }
}

/// Names, told apart.
#[derive(Default)]
struct Named {
    /// The trees of commits.
    trees: BTreeSet<String>,
    /// Names of nothing.
    others: Vec<String>,
}

impl Survey {
    /// Whether git tracks this very file.
    fn tracks(&self, path: &Path) -> bool {
        self.files.get(path).is_some_and(|change| change.tracked)
    }

    /// Whether git tracks a file that would be a directory above this one, or lie below it.
    fn has_in_place_of(&self, path: &Path) -> bool {
        let behind = (Bound::Excluded(path), Bound::Unbounded);
        let mut below = self.files.range::<Path, _>(behind).take_while(|(other, _)| other.starts_with(path));
        path.ancestors().any(|place| self.tracks(place)) || below.any(|(_, change)| change.tracked)
    }
}

/// The entries of a tree that are in the way of files: a directory is only where one of them lies.
fn entries(output: &[u8], files: &[PathBuf]) -> Result<Vec<PathBuf>, GitError> {
    let mut found = Vec::new();
    for record in output.split(|byte| *byte == 0).filter(|record| !record.is_empty()) {
        let unread =
            || GitError::Format { command: "ls-tree", record: String::from_utf8_lossy(record).into_owned() };
        let tab = record.iter().position(|byte| *byte == b'\t').ok_or_else(unread)?;
        let path = PathBuf::from(OsStr::from_bytes(&record[tab + 1..]));
        let is_directory = record[..tab].split(|byte| *byte == b' ').nth(1) == Some(b"tree");
        if !is_directory || files.contains(&path) {
            found.push(path);
        }
    }
    Ok(found)
}
