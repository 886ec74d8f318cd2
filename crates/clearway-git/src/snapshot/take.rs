//! Taking a snapshot: one look, one `git fast-import`, and a reference that keeps it.

use super::content::{self, Content, LINK_MODE, Sort};
use super::directories;
use super::ignored::{self, Gone, IgnoredRules};
use super::manifest::{KeptFile, KeptState, Label, Manifest};
use super::spared::Spared;
use super::survey::{Change, Ignored, Staged, Survey, survey};
use super::{SnapshotError, own_refs, remake, under_way};
use crate::git::{Git, GitError, Question};
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// What git calls the commit while it is made. Nothing of that name is left: until a snapshot has its number nothing leads
/// to it, so that one that never gets it leaves nothing behind but what `git gc` takes.
const IN_THE_MAKING: &str = own_refs!("in-the-making");

/// How many of the largest files are named.
const NAMED_MAX: usize = 5;

/// What to keep.
#[derive(Clone, Debug)]
pub struct SnapshotOrder<'o> {
    /// The root of the checkout.
    pub worktree: &'o Path,
    /// Paths in it, each with everything below; the empty path is everything.
    pub paths: &'o [&'o str],
    /// What of it is not about to be lost.
    pub spared: Spared<'o>,
    /// What of it is about to be lost for sure, what git ignores included.
    pub gone: &'o [Gone],
    /// What it is.
    pub label: Label,
    /// A word that no other snapshot has.
    pub nonce: String,
    /// How many bytes it may have.
    pub bytes_max: u64,
    /// Which ignored files are kept beside it; `None` if none are, nor what git is in the middle of, because nothing is about
    /// to be lost.
    pub ignored: Option<IgnoredRules<'o>>,
}

/// What there is to keep.
struct Found {
    kept: Vec<KeptFile>,
    /// What cannot be read and is not about to be lost.
    passed_over: Vec<PathBuf>,
}

/// A snapshot that has no number yet.
#[derive(Debug)]
pub struct Draft {
    git: Git,
    worktree: PathBuf,
    /// The commit.
    pub commit: String,
    /// What it holds.
    pub manifest: Manifest,
    /// What is in the ignored files of it, one behind the other: for somebody else to keep.
    pub pack: Vec<u8>,
    /// Files that are not in it: ignored ones that are too large, too many or not to be read, and what is spared and cannot
    /// be read.
    pub left_out: Vec<PathBuf>,
}

impl Git {
    /// Keeps what is not committed; `None` if there is nothing of the kind.
    pub fn snapshot(&self, order: SnapshotOrder<'_>) -> Result<Option<Draft>, SnapshotError> {
        let listed = if order.ignored.is_some() { Ignored::Listed } else { Ignored::PassedOver };
        let survey = survey(self, order.worktree, order.paths, listed)?;
        let Found { mut kept, passed_over } = self.files(&order, &survey)?;
        let gathered = order
            .ignored
            .map(|rules| ignored::gather(order.worktree, &survey.ignored, order.paths, rules))
            .unwrap_or_default();
        let lost = order.ignored.map(|rules| gathered.lost(order.gone, rules)).unwrap_or_default();
        if !lost.is_empty() {
            return Err(SnapshotError::LostIgnored { paths: lost });
        }
        let (ignored, packed): (Vec<KeptFile>, Vec<Vec<u8>>) = gathered.files.into_iter().unzip();
        kept.extend(ignored);
        if kept.is_empty() {
            return Ok(None);
        }
        let is_whole = order.ignored.is_some();
        let manifest = Manifest {
            label: order.label.clone(),
            base: survey.head.clone(),
            file_count: kept.len() as u64,
            bytes: kept.iter().map(|file| file.bytes).sum(),
            directories: directories::gather(&order, &survey, &kept),
            linked: remake::linked(order.worktree, &survey),
            under_way: if is_whole { under_way::gather(order.worktree) } else { Vec::new() },
            files: kept,
        };
        let commit = self.import(&order, &manifest)?;
        let worktree = order.worktree.to_owned();
        let (pack, left_out) = (packed.concat(), [gathered.left_out, passed_over].concat());
        Ok(Some(Draft { git: self.clone(), worktree, commit, manifest, pack, left_out }))
    }

    /// The files to keep, each looked at; refused if they are too large together or one cannot be read that is about to be
    /// lost.
    fn files(&self, order: &SnapshotOrder<'_>, survey: &Survey) -> Result<Found, SnapshotError> {
        let (mut kept, mut unreadable) = (Vec::new(), Vec::new());
        for (path, change) in &survey.files {
            match kept_file(path, &order.worktree.join(path), change) {
                Ok(file) => kept.extend(file),
                Err(_) => unreadable.push(path.clone()),
            }
        }
        let (passed_over, lost) = self.spared(order, survey, unreadable)?;
        if !lost.is_empty() {
            return Err(SnapshotError::Unreadable { paths: lost });
        }
        let bytes: u64 = kept.iter().map(|file| file.bytes).sum();
        if bytes > order.bytes_max {
            kept.sort_by_key(|file| std::cmp::Reverse(file.bytes));
            let largest = kept.iter().take(NAMED_MAX).map(|file| (file.path.clone(), file.bytes)).collect();
            return Err(SnapshotError::TooLarge { bytes, bytes_max: order.bytes_max, largest });
        }
        Ok(Found { kept, passed_over })
    }

    fn import(&self, order: &SnapshotOrder<'_>, manifest: &Manifest) -> Result<String, SnapshotError> {
        let heads = self.known_commits(order.worktree, under_way::commits(&manifest.under_way))?;
        let stream = Stream {
            worktree: order.worktree.to_owned(),
            heads,
            keeps_unmerged: order.ignored.is_some(),
            nonce: order.nonce.clone(),
            manifest: manifest.clone(),
        };
        let options = ["--quiet", "--done", "--date-format=raw"];
        let question = Question { command: "fast-import", options: &options, paths: &[] };
        let answer = self.ask_fed(order.worktree, &question, Box::new(move |out| stream.write(out)));
        let output = answer.map_err(|error| without_crash_report(order.worktree, error))?;
        let commit = String::from_utf8_lossy(&output).trim().to_owned();
        let is_name = commit.len() >= 40 && commit.bytes().all(|byte| byte.is_ascii_hexdigit());
        let unread = || GitError::Format { command: "fast-import", record: commit.clone() };
        if is_name { Ok(commit) } else { Err(unread().into()) }
    }
}

impl Draft {
    /// Gives it its name for good.
    pub fn keep(self, reference: &str) -> Result<(), SnapshotError> {
        let options = [reference, &self.commit, ""];
        let question = Question { command: "update-ref", options: &options, paths: &[] };
        self.git.ask(&self.worktree, &question)?;
        Ok(())
    }
}

/// What is kept of a path; `None` if it is nothing that could be.
fn kept_file(path: &Path, place: &Path, change: &Change) -> io::Result<Option<KeptFile>> {
    let sort = content::sort_of(place)?;
    let (mode, bytes) = match sort {
        Sort::Special => return Ok(None),
        Sort::Nothing | Sort::Directory => (0, 0),
        Sort::Link { bytes } => (LINK_MODE, bytes),
        Sort::File { bytes } => {
            use std::os::unix::fs::PermissionsExt;
            // Whether it can be read is found out now, before anything is written.
            let file = std::fs::File::open(place)?;
            (file.metadata()?.permissions().mode() & 0o7777, bytes)
        }
    };
    let state = match change {
        _ if mode == 0 && bytes == 0 && matches!(sort, Sort::Nothing | Sort::Directory) => KeptState::Deleted,
        _ if change.is_conflict() => KeptState::Conflict,
        Change { in_head: true, .. } => KeptState::Modified,
        Change { in_head: false, .. } => KeptState::New,
    };
    let staged = change.staged.clone();
    Ok(Some(KeptFile { path: path.to_owned(), state, mode, bytes, staged }))
}

/// What git is told to import.
struct Stream {
    worktree: PathBuf,
    /// Commits that git was about to bring in.
    heads: Vec<String>,
    /// Whether what was unmerged is held too.
    keeps_unmerged: bool,
    nonce: String,
    manifest: Manifest,
}

impl Stream {
    fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let out = &mut io::BufWriter::with_capacity(64 * 1_024, out);
        let files = &self.manifest.files;
        let (base, mut beside) = (self.manifest.base.as_deref(), Vec::new());
        if self.put_staged(out)? {
            beside.push(":1");
        }
        if self.put_unmerged(out)? {
            beside.push(":3");
        }
        beside.extend(self.heads.iter().map(String::as_str));
        self.begin(out, ":2", &self.manifest.message(&self.nonce), base, &beside)?;
        // What goes makes room for what comes: a directory may be where a file was, and the other way round.
        for file in files.iter().filter(|file| file.state == KeptState::Deleted) {
            write!(out, "D ")?;
            write_path(out, &file.path)?;
        }
        let is_put = |file: &&KeptFile| !matches!(file.state, KeptState::Deleted | KeptState::Ignored);
        for file in files.iter().filter(is_put) {
            self.put(out, file)?;
        }
        write!(out, "\nget-mark :2\nreset {IN_THE_MAKING}\n\ndone\n")?;
        out.flush()
    }

    /// What was staged of files, on the last commit; false if that is nothing.
    fn put_staged(&self, out: &mut dyn Write) -> io::Result<bool> {
        let files = &self.manifest.files;
        if !files.iter().any(|file| matches!(file.staged, Staged::Deleted | Staged::Entry { .. })) {
            return Ok(false);
        }
        let base = self.manifest.base.as_deref();
        self.begin(out, ":1", "what was staged beside a clearway snapshot\n", base, &[])?;
        for file in files.iter().filter(|file| file.staged == Staged::Deleted) {
            write!(out, "D ")?;
            write_path(out, &file.path)?;
        }
        for file in files {
            if let Staged::Entry { mode, id } = &file.staged {
                write!(out, "M {mode} {id} ")?;
                write_path(out, &file.path)?;
            }
        }
        write!(out, "\nreset {IN_THE_MAKING}\n\n")?;
        Ok(true)
    }

    /// What was unmerged, each side in a directory of its own; false if that is nothing. No commit has what git makes of several
    /// common ones.
    fn put_unmerged(&self, out: &mut dyn Write) -> io::Result<bool> {
        let files = &self.manifest.files;
        if !self.keeps_unmerged || !files.iter().any(|file| matches!(file.staged, Staged::Unmerged(_))) {
            return Ok(false);
        }
        self.begin(out, ":3", "what was unmerged beside a clearway snapshot\n", None, &[])?;
        for file in files {
            let Staged::Unmerged(stages) = &file.staged else { continue };
            for (stage, side) in (1..).zip(stages) {
                if let Some((mode, id)) = side {
                    write!(out, "M {mode} {id} ")?;
                    write_path(out, &Path::new(&format!("{stage}")).join(&file.path))?;
                }
            }
        }
        write!(out, "\nreset {IN_THE_MAKING}\n\n")?;
        Ok(true)
    }

    fn begin(
        &self,
        out: &mut dyn Write,
        mark: &str,
        message: &str,
        base: Option<&str>,
        merged: &[&str],
    ) -> io::Result<()> {
        let seconds = self.manifest.label.at_ms.div_euclid(1_000).max(0);
        writeln!(out, "commit {IN_THE_MAKING}\nmark {mark}")?;
        writeln!(out, "committer Clearway <snapshot@clearway.invalid> {seconds} +0000")?;
        writeln!(out, "data {}\n{message}", message.len())?;
        if let Some(base) = base {
            writeln!(out, "from {base}")?;
        }
        merged.iter().try_for_each(|mark| writeln!(out, "merge {mark}"))
    }

    /// A file that changed its size since it was looked at is kept as it is by now; one that went is kept as gone.
    fn put(&self, out: &mut dyn Write, file: &KeptFile) -> io::Result<()> {
        let (mode, bytes) = match content::read(&self.worktree.join(&file.path), u64::MAX - 1)? {
            Content::Nothing | Content::Directory => return Ok(()),
            Content::Link(target) => ("120000", target),
            Content::File { mode, bytes } => (if mode & 0o100 == 0 { "100644" } else { "100755" }, bytes),
        };
        write!(out, "M {mode} inline ")?;
        write_path(out, &file.path)?;
        writeln!(out, "data {}", bytes.len())?;
        out.write_all(&bytes)?;
        out.write_all(b"\n")
    }
}

/// A path and the end of its line, as `fast-import` reads it.
fn write_path(out: &mut dyn Write, path: &Path) -> io::Result<()> {
    let mut quoted = vec![b'"'];
    for byte in path.as_os_str().as_bytes() {
        match byte {
            b'"' | b'\\' => quoted.extend([b'\\', *byte]),
            b'\n' => quoted.extend(b"\\n"),
            other => quoted.push(*other),
        }
    }
    quoted.extend(b"\"\n");
    out.write_all(&quoted)
}

/// An import that fails leaves a report in the repository and says where. It is of no use to anybody there.
fn without_crash_report(worktree: &Path, mut error: GitError) -> GitError {
    const SAID: &str = "fast-import: dumping crash report to ";
    if let GitError::Failed { message, .. } | GitError::NoRoom { message, .. } = &mut error {
        let (reports, said): (Vec<&str>, Vec<&str>) =
            message.lines().partition(|line| line.starts_with(SAID));
        for report in reports.iter().filter_map(|line| line.strip_prefix(SAID)) {
            drop(std::fs::remove_file(worktree.join(report)));
        }
        *message = said.join("\n");
    }
    error
}
