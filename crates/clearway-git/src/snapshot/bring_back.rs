//! Bringing files of a snapshot back into a checkout: what would be done, and doing it.

use super::SnapshotError;
use super::aside::Aside;
use super::content::{self, Content};
use super::directories::{self, Maker};
use super::ignored::unpacked;
use super::manifest::{KeptFile, KeptState, Manifest};
use super::survey::{Change, Ignored, Staged, Survey, survey};
use super::under_way::{self, StateFile};
use crate::git::{Git, GitError, Question};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// What to bring back.
#[derive(Clone, Debug)]
pub struct BackOrder<'o> {
    /// The root of the checkout.
    pub worktree: &'o Path,
    /// The snapshot.
    pub commit: &'o str,
    /// Only these paths and what lies below them; the empty path is everything.
    pub paths: &'o [&'o str],
    /// Over what.
    pub manner: Manner,
    /// Paths that are known not to have changed since, whatever git says of them.
    pub unchanged: BTreeSet<PathBuf>,
    /// Files that are somebody else's by now, and stay as they are.
    pub others: BTreeSet<PathBuf>,
    /// What was kept of ignored files beside it.
    pub pack: &'o [u8],
}

/// Over what a file may be brought back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Manner {
    /// Over anything.
    Whatever,
    /// Only over what git has, or over nothing: what was changed since stays as it is.
    OnlyUnchanged,
}

/// What is to become of a checkout.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BackPlan {
    /// Its files.
    pub files: Vec<Back>,
    /// What git is in the middle of again; `None` if nothing is to be done for that.
    pub resumes: Option<&'static str>,
}

/// What is to become of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Back {
    /// The file.
    pub file: KeptFile,
    /// What would be done to it.
    pub state: BackState,
    /// Whether the index gets back what was staged of it.
    pub restages: bool,
    /// Whether what lies there now is nowhere else.
    pub is_dirty: bool,
}

/// What is to become of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BackState {
    /// Nothing: it is as it was.
    Same,
    /// It is written.
    Written,
    /// It is removed, as it was.
    Removed,
    /// It stays: it was changed since.
    ChangedSince,
    /// It stays: it is with somebody else.
    WithOthers,
    /// It stays: something is in its way.
    InTheWay,
    /// It stays: what was kept of it beside git is gone.
    Lost,
}

impl BackState {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Same => "same",
            Self::Written => "restored",
            Self::Removed => "removed",
            Self::ChangedSince => "changed-since",
            Self::WithOthers => "with-others",
            Self::InTheWay => "in-the-way",
            Self::Lost => "lost",
        }
    }
}

impl Git {
    /// What bringing a snapshot back would do.
    pub fn plan_back(&self, order: &BackOrder<'_>) -> Result<BackPlan, SnapshotError> {
        let manifest = self.snapshot_manifest(order.worktree, order.commit)?;
        Ok(self.prepare(order, &manifest)?.plan())
    }

    /// Brings it back: the index first, so that one that is locked leaves everything as it was, and last of all what git was
    /// in the middle of, so that it never takes half of it for the whole.
    pub fn bring_back(&self, order: &BackOrder<'_>) -> Result<BackPlan, SnapshotError> {
        let manifest = self.snapshot_manifest(order.worktree, order.commit)?;
        let prepared = self.prepare(order, &manifest)?;
        self.persisting(|| self.restage(order, prepared.files.iter().map(|(back, _)| back)))?;
        let aside = Aside::of(order.worktree);
        // What goes makes room for what comes: a directory may be where a file was, and the other way round.
        let mut maker = Maker::new(order.worktree, &manifest.directories);
        for state in [BackState::Removed, BackState::Written] {
            for (back, content) in prepared.files.iter().filter(|(back, _)| back.state == state) {
                let path = &back.file.path;
                let written = content::write(&aside, order.worktree, path, content, &mut maker);
                written.map_err(|source| SnapshotError::Unwritable { path: path.clone(), source })?;
            }
        }
        let finished = maker.finish();
        finished.map_err(|source| SnapshotError::Unwritable { path: order.worktree.to_owned(), source })?;
        self.persisting(|| self.announce(order, prepared.files.iter().map(|(back, _)| back)))?;
        under_way::write(&aside, order.worktree, &prepared.resumed)?;
        Ok(prepared.plan())
    }

    fn prepare<'m>(
        &self,
        order: &BackOrder<'_>,
        manifest: &'m Manifest,
    ) -> Result<Prepared<'m>, SnapshotError> {
        let mut wanted = manifest.files.clone();
        wanted.retain(|file| order.paths.iter().any(|path| is_at_or_below(&file.path, Path::new(path))));
        let mut contents = self.contents(order, manifest, &wanted)?;
        let now = survey(self, order.worktree, &[""], Ignored::PassedOver)?;
        let committed = self.committed(order, manifest, &now)?;
        for file in &mut wanted {
            let is_restaged = is_written_over(order, &now, &file.path) || was_removed(&now, &file.path);
            let is_unstaged = file.staged == Staged::Same && is_restaged;
            if let Some((mode, id)) = committed.get(&file.path).filter(|_| is_unstaged) {
                file.staged = Staged::Entry { mode: mode.clone(), id: id.clone() };
            }
        }
        let (beside, of_beside) = self.beside(order, manifest, &committed, &now)?;
        wanted.extend(beside);
        contents.extend(of_beside);
        let moved = self.moved(order.worktree, manifest, &now)?;
        let left_over = under_way::left_over(order.worktree, manifest, now.head.as_ref());
        let may_conflict = left_over.is_some();
        let mut judge = Judge { order, now: &now, moved: &moved, may_conflict, going: BTreeSet::new() };
        let is_gone = |(_, content): &(&KeptFile, &Content)| **content == Content::Nothing;
        let gone = wanted.iter().zip(&contents).filter(is_gone);
        let judged = gone.map(|(file, content)| judge.judge(file.clone(), content.clone()).0);
        let going = judged.filter(|back| back.state == BackState::Removed).map(|back| back.file.path);
        judge.going = going.collect();
        let files = wanted.into_iter().zip(contents).map(|(file, content)| judge.judge(file, content));
        let files = files.chain(judge.empty_directories(manifest)).collect();
        let is_whole = order.paths.contains(&"");
        let resumed = left_over.filter(|_| is_whole).unwrap_or_default();
        Ok(Prepared { files, resumed })
    }

    /// What the commit beneath a snapshot has, with its mode, of paths that are gone from the checkout or from the index, or
    /// were written over, and that nobody touched since: the snapshot holds nothing of a file that was as committed, or of an index that was.
    fn committed(
        &self,
        order: &BackOrder<'_>,
        manifest: &Manifest,
        now: &Survey,
    ) -> Result<BTreeMap<PathBuf, (String, String)>, SnapshotError> {
        let held: BTreeSet<&PathBuf> = manifest.files.iter().map(|file| &file.path).collect();
        let is_gone = |path: &&PathBuf| {
            let place = order.worktree.join(path);
            let is_known = || order.unchanged.contains(*path);
            let is_changed = || is_of_commit(now, path) && !held.contains(path);
            let is_there = || !matches!(content::sort_of(&place), Ok(content::Sort::Nothing));
            order.manner == Manner::OnlyUnchanged
                && (was_removed(now, path)
                    || is_written_over(order, now, path)
                    || (is_known() && (!is_there() || is_changed())))
        };
        let gone: Vec<&PathBuf> = now.files.keys().filter(is_gone).collect();
        let paths: Vec<&str> = gone.iter().filter_map(|path| path.to_str()).collect();
        let (Some(base), false) = (&manifest.base, paths.is_empty()) else { return Ok(BTreeMap::new()) };
        let options = ["-r", "-z", "--full-tree", base.as_str()];
        let tree =
            self.ask(order.worktree, &Question { command: "ls-tree", options: &options, paths: &[] })?;
        let mut found = entries(&tree);
        found.retain(|path, _| gone.contains(&path));
        Ok(found.into_iter().map(|(path, entry)| (path, (entry.mode, entry.id))).collect())
    }

    /// Files that were as committed and went with those that a snapshot holds, or were written over with them.
    fn beside(
        &self,
        order: &BackOrder<'_>,
        manifest: &Manifest,
        committed: &BTreeMap<PathBuf, (String, String)>,
        now: &Survey,
    ) -> Result<(Vec<KeptFile>, Vec<Content>), SnapshotError> {
        let known: BTreeSet<&PathBuf> = manifest.files.iter().map(|file| &file.path).collect();
        let is_beside = |(path, _): &(&PathBuf, &(String, String))| {
            order.unchanged.contains(*path)
                && !known.contains(path)
                && order.paths.iter().any(|above| is_at_or_below(path, Path::new(above)))
        };
        let wanted: Vec<_> = committed.iter().filter(is_beside).collect();
        let blobs = self.blobs(order.worktree, wanted.iter().map(|(_, (_, id))| id))?;
        let one = |((path, (mode, id)), bytes): (&(&PathBuf, &(String, String)), Vec<u8>)| {
            let is_staged = now.files.get(*path).is_some_and(|change| change.staged != Staged::Same);
            let entry = || Staged::Entry { mode: mode.clone(), id: id.clone() };
            let is_link = mode == LINK;
            let permissions = if mode == "100755" { 0o755 } else { 0o644 };
            let file = KeptFile {
                path: (*path).clone(),
                state: KeptState::Unchanged,
                mode: if is_link { content::LINK_MODE } else { permissions },
                bytes: bytes.len() as u64,
                staged: if is_staged { entry() } else { Staged::Same },
            };
            let content = match is_link {
                true => Content::Link(bytes),
                false => Content::File { mode: permissions, bytes },
            };
            (file, content)
        };
        Ok(wanted.iter().zip(blobs).map(one).unzip())
    }

    /// What a snapshot holds at these paths.
    fn contents(
        &self,
        order: &BackOrder<'_>,
        manifest: &Manifest,
        files: &[KeptFile],
    ) -> Result<Vec<Content>, SnapshotError> {
        let options = ["-r", "-z", "--full-tree", order.commit];
        let tree =
            self.ask(order.worktree, &Question { command: "ls-tree", options: &options, paths: &[] })?;
        let ids = entries(&tree);
        let id_of = |file: &KeptFile| match file.state {
            KeptState::Deleted | KeptState::Ignored => None,
            _ => ids.get(&file.path).cloned(),
        };
        let wanted: Vec<Option<Entry>> = files.iter().map(id_of).collect();
        let mut blobs =
            self.blobs(order.worktree, wanted.iter().flatten().map(|entry| &entry.id))?.into_iter();
        let mut ignored = unpacked(manifest, order.pack);
        let content = |(file, wanted): (&KeptFile, &Option<Entry>)| match wanted {
            None => ignored.remove(&file.path).unwrap_or(Content::Nothing),
            Some(entry) if entry.mode == LINK => Content::Link(blobs.next().unwrap_or_default()),
            Some(_) => Content::File { mode: file.mode, bytes: blobs.next().unwrap_or_default() },
        };
        Ok(files.iter().zip(&wanted).map(content).collect())
    }

    fn blobs<'i>(
        &self,
        worktree: &Path,
        ids: impl Iterator<Item = &'i String>,
    ) -> Result<Vec<Vec<u8>>, SnapshotError> {
        let ids: String = ids.map(|id| format!("{id}\n")).collect();
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let question = Question { command: "cat-file", options: &["--batch"], paths: &[] };
        let feed = Box::new(move |out: &mut dyn Write| out.write_all(ids.as_bytes()));
        let output = self.ask_fed(worktree, &question, feed)?;
        batch(&output).ok_or_else(|| {
            let record = String::from_utf8_lossy(output.get(..80).unwrap_or(&output)).into_owned();
            GitError::Format { command: "cat-file", record }.into()
        })
    }

    /// Paths that commits since the snapshot changed. One that went back to before it, as `reset --hard` does, changed none.
    fn moved(
        &self,
        worktree: &Path,
        manifest: &Manifest,
        now: &Survey,
    ) -> Result<BTreeSet<PathBuf>, SnapshotError> {
        let (Some(base), Some(head)) = (&manifest.base, &now.head) else { return Ok(BTreeSet::new()) };
        if base == head || self.is_ancestor(worktree, head, base)? {
            return Ok(BTreeSet::new());
        }
        let options = ["-r", "-z", "--no-renames", "--name-only", base, head];
        let output = self.ask(worktree, &Question { command: "diff-tree", options: &options, paths: &[] })?;
        let names = output.split(|byte| *byte == 0).filter(|name| !name.is_empty());
        Ok(names.map(|name| PathBuf::from(OsStr::from_bytes(name))).collect())
    }

    fn is_ancestor(&self, worktree: &Path, one: &str, of: &str) -> Result<bool, SnapshotError> {
        let options = ["--is-ancestor", one, of];
        let question = Question { command: "merge-base", options: &options, paths: &[] };
        Ok(self.says(worktree, &question)?)
    }

    /// Tells the index of files that are to come.
    fn announce<'b>(
        &self,
        order: &BackOrder<'_>,
        backs: impl Iterator<Item = &'b Back>,
    ) -> Result<(), GitError> {
        let announced = backs.filter(|back| back.restages && back.file.staged == Staged::Announced);
        let paths: Vec<&[u8]> = announced.map(|back| back.file.path.as_os_str().as_bytes()).collect();
        if paths.is_empty() {
            return Ok(());
        }
        let names = paths.join(&0);
        let options = ["--intent-to-add", "--force", "--pathspec-from-file=-", "--pathspec-file-nul"];
        let question = Question { command: "add", options: &options, paths: &[] };
        self.ask_fed(order.worktree, &question, Box::new(move |out: &mut dyn Write| out.write_all(&names)))?;
        Ok(())
    }

    fn restage<'b>(
        &self,
        order: &BackOrder<'_>,
        backs: impl Iterator<Item = &'b Back>,
    ) -> Result<(), GitError> {
        let mut lines = Vec::new();
        // As long as any id of the repository, of which there are two kinds.
        let no_id = "0".repeat(order.commit.len());
        for back in backs.filter(|back| back.restages) {
            for entry in index_entries(&back.file.staged, &no_id) {
                lines.extend(entry.as_bytes());
                lines.push(b'\t');
                lines.extend(back.file.path.as_os_str().as_bytes());
                lines.push(0);
            }
        }
        if lines.is_empty() {
            return Ok(());
        }
        let question = Question { command: "update-index", options: &["-z", "--index-info"], paths: &[] };
        self.ask_fed(order.worktree, &question, Box::new(move |out: &mut dyn Write| out.write_all(&lines)))?;
        Ok(())
    }
}

/// What the index is told of a path.
fn index_entries(staged: &Staged, no_id: &str) -> Vec<String> {
    let gone = format!("0 {no_id}");
    match staged {
        Staged::Same | Staged::Announced => Vec::new(),
        Staged::Deleted => vec![gone],
        Staged::Entry { mode, id } => vec![format!("{mode} {id}")],
        Staged::Unmerged(stages) => {
            let sides = (1..).zip(stages).filter_map(|(stage, side)| Some((stage, side.as_ref()?)));
            let sides = sides.map(|(stage, (mode, id)): (u8, _)| format!("{mode} {id} {stage}"));
            std::iter::once(gone).chain(sides).collect()
        }
    }
}

/// What is about to be done.
struct Prepared<'m> {
    files: Vec<(Back, Content)>,
    /// Files of git that say what it is in the middle of.
    resumed: Vec<&'m StateFile>,
}

impl Prepared<'_> {
    fn plan(self) -> BackPlan {
        let files = self.files.into_iter().map(|(back, _)| back).collect();
        BackPlan { files, resumes: under_way::word(self.resumed.into_iter()) }
    }
}

/// What decides about one file.
struct Judge<'j> {
    order: &'j BackOrder<'j>,
    now: &'j Survey,
    moved: &'j BTreeSet<PathBuf>,
    /// Whether the checkout may be left with conflicts again.
    may_conflict: bool,
    /// Files that are removed before anything is written.
    going: BTreeSet<PathBuf>,
}

impl Judge<'_> {
    /// Empty directories that are not there any more.
    fn empty_directories(&self, manifest: &Manifest) -> Vec<(Back, Content)> {
        let root = self.order.worktree;
        let is_meant = |(path, _): &(&PathBuf, &u32)| {
            self.order.paths.iter().any(|above| is_at_or_below(path, Path::new(above)))
                && !matches!(content::sort_of(&root.join(path)), Ok(content::Sort::Directory))
        };
        let one = |(path, mode): (&PathBuf, &u32)| {
            let is_free = directories::is_free(root, path, &self.going);
            let state = if is_free { BackState::Written } else { BackState::InTheWay };
            let (path, kind, staged) = (path.clone(), KeptState::Directory, Staged::Same);
            let file = KeptFile { path, state: kind, mode: *mode, bytes: 0, staged };
            (Back { file, state, restages: false, is_dirty: false }, Content::Directory)
        };
        manifest.directories.empty.iter().filter(is_meant).map(one).collect()
    }

    fn judge(&self, file: KeptFile, kept: Content) -> (Back, Content) {
        let root = self.order.worktree;
        let change = self.now.files.get(&file.path);
        let there = content::read(&root.join(&file.path), u64::MAX - 1);
        let is_same = there.as_ref().is_ok_and(|there| *there == kept);
        let is_there = !matches!(there, Ok(Content::Nothing));
        let is_dirty = is_there && !is_same && (change.is_some() || file.state == KeptState::Ignored);
        let is_known = self.order.unchanged.contains(&file.path);
        let is_changed = !is_known && (is_dirty || self.moved.contains(&file.path));
        let state = if file.state == KeptState::Ignored && kept == Content::Nothing {
            BackState::Lost
        } else if is_same {
            BackState::Same
        } else if self.order.others.contains(&file.path) {
            BackState::WithOthers
        } else if !content::way_is_clear(root, &file.path, &self.going) {
            BackState::InTheWay
        } else if self.order.manner == Manner::OnlyUnchanged && is_changed {
            BackState::ChangedSince
        } else if kept == Content::Nothing {
            BackState::Removed
        } else {
            BackState::Written
        };
        let staged_now = change.map(|change| change.staged.clone()).unwrap_or_default();
        // A command that removed a file from the index too is undone there as well.
        let is_removed = staged_now == Staged::Deleted && !is_there;
        // So is one that staged something else over it.
        let is_written_over = is_written_over(self.order, self.now, &file.path);
        let is_free = staged_now == Staged::Same
            || is_removed
            || is_written_over
            || self.order.manner == Manner::Whatever;
        let stays = self.order.others.contains(&file.path)
            || matches!(state, BackState::ChangedSince | BackState::InTheWay | BackState::Lost);
        let restages = file.staged != Staged::Same
            && file.staged != staged_now
            && is_free
            && !stays
            && (self.may_conflict || !matches!(file.staged, Staged::Unmerged(_)))
            && !change.is_some_and(Change::is_conflict);
        (Back { file, state, restages, is_dirty }, kept)
    }
}

fn is_at_or_below(path: &Path, above: &Path) -> bool {
    path.starts_with(above)
}

/// Whether the index says that a file of the last commit is gone, and it is.
fn was_removed(now: &Survey, path: &PathBuf) -> bool {
    now.files.get(path).is_some_and(|change| change.in_head && change.staged == Staged::Deleted)
}

/// Whether a file of the last commit lies there as the command left it, and something else is staged over it.
fn is_written_over(order: &BackOrder<'_>, now: &Survey, path: &PathBuf) -> bool {
    let staged = now.files.get(path).filter(|change| change.in_head).map(|change| &change.staged);
    order.manner == Manner::OnlyUnchanged
        && order.unchanged.contains(path)
        && matches!(staged, Some(Staged::Entry { .. }))
}

/// Whether the last commit has a file.
fn is_of_commit(now: &Survey, path: &PathBuf) -> bool {
    now.files.get(path).is_some_and(|change| change.in_head)
}

/// The mode of a link in a tree.
const LINK: &str = "120000";

/// A blob of a tree.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Entry {
    mode: String,
    id: String,
}

/// The blobs of a tree.
fn entries(tree: &[u8]) -> BTreeMap<PathBuf, Entry> {
    let entry = |record: &[u8]| {
        let tab = record.iter().position(|byte| *byte == b'\t')?;
        let (front, path) = (std::str::from_utf8(&record[..tab]).ok()?, &record[tab + 1..]);
        let mut words = front.split(' ');
        let (mode, kind, id) = (words.next()?, words.next()?, words.next()?);
        let path = PathBuf::from(OsStr::from_bytes(path));
        (kind == "blob").then(|| (path, Entry { mode: mode.to_owned(), id: id.to_owned() }))
    };
    tree.split(|byte| *byte == 0).filter_map(entry).collect()
}

/// What `cat-file --batch` answered.
fn batch(output: &[u8]) -> Option<Vec<Vec<u8>>> {
    let (mut blobs, mut rest) = (Vec::new(), output);
    while !rest.is_empty() {
        let end = rest.iter().position(|byte| *byte == b'\n')?;
        let head = std::str::from_utf8(&rest[..end]).ok()?;
        let bytes: usize = head.rsplit(' ').next()?.parse().ok()?;
        let start = end + 1;
        blobs.push(rest.get(start..start + bytes)?.to_vec());
        rest = rest.get(start + bytes + 1..)?;
    }
    Some(blobs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blobs_are_read_whatever_is_in_them() {
        assert_eq!(batch(b"aa blob 3\na\nb\nbb blob 0\n\n"), Some(vec![b"a\nb".to_vec(), Vec::new()]));
        assert_eq!(batch(b"aa missing\n"), None);
        assert_eq!(batch(b"aa blob 9\nshort\n"), None);
    }

    #[test]
    fn links_and_files_of_a_tree_are_told_apart_and_submodules_are_none() {
        let tree = b"100644 blob aa\tx y\x00120000 blob bb\tl\n\x00160000 commit cc\tsub\0";
        let found = entries(tree);
        let entry = |mode: &str, id: &str| Some(Entry { mode: mode.to_owned(), id: id.to_owned() });
        assert_eq!(found.get(Path::new("x y")).cloned(), entry("100644", "aa"));
        assert_eq!(found.get(Path::new("l\n")).cloned(), entry(LINK, "bb"));
        assert_eq!(found.len(), 2);
    }
}
