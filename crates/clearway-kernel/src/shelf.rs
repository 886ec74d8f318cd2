//! Where snapshots lie, as the kernel asks for them. The binary answers with git, a test with nothing.

use clearway_core::agent::AgentName;
use clearway_core::failure::Failure;
use clearway_core::grasp::Grasp;
use clearway_core::harm::Gone;
use clearway_core::ids::{AgentId, Seq};
use clearway_core::snapshot::{Keeping, SnapshotCause};
use clearway_core::target::Worktree;
use clearway_core::time::Wall;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The snapshots of one checkout.
pub trait Shelf {
    /// Keeps what is not committed; `None` if there is nothing of the kind. Nothing leads to it before it has a number.
    fn draft(&mut self, order: &DraftOrder) -> Result<Option<Drafted>, Failure>;

    /// Gives a draft its number for good.
    fn keep(&mut self, commit: &str, agent: AgentId, number: Seq) -> Result<(), Failure>;

    /// Every snapshot of the repository, the latest first.
    fn list(&mut self) -> Result<Vec<SnapshotSeen>, Failure>;

    /// Keeps these no longer.
    fn forget(&mut self, snapshots: &[SnapshotSeen]) -> Result<(), Failure>;

    /// The files of one.
    fn files(&mut self, commit: &str) -> Result<Vec<SnapshotFile>, Failure>;

    /// Files of the last commit at these paths and below them that are not there, and those at one of them that are not as
    /// committed.
    fn changed_beside(&mut self, paths: &[String]) -> Result<Vec<String>, Failure>;

    /// What bringing files back would do to each.
    fn plan(&mut self, order: &BackOrder) -> Result<BackPlan, Failure>;

    /// What bringing a snapshot back would do in its checkout made anew; `None` if that was no linked one.
    fn plan_anew(&mut self, commit: &str) -> Result<Option<BackPlan>, Failure>;

    /// Makes the checkout of a snapshot again; answers where it is.
    fn remake(&mut self, commit: &str) -> Result<PathBuf, Failure>;

    /// Brings them back.
    fn bring_back(&mut self, order: &BackOrder) -> Result<BackPlan, Failure>;
}

/// What to keep.
#[derive(Clone, Debug)]
pub struct DraftOrder {
    /// Paths from the root, each with everything below; the empty path is everything.
    pub paths: Vec<String>,
    /// Which files there are about to be destroyed: one that is not, and cannot be read, is left out.
    pub grasp: Grasp,
    /// What of it goes for sure, from the root, what git ignores included: such a file that is not kept is refused.
    pub gone: Vec<Gone>,
    /// Why.
    pub cause: SnapshotCause,
    /// Why, in somebody's words.
    pub reason: Option<String>,
    /// When.
    pub at: Wall,
    /// How long all calls of git for it may take.
    pub within_ms: u64,
    /// Where small ignored files are kept, with the commit behind it; `None` if none are.
    pub ignored_beside: Option<PathBuf>,
}

/// A snapshot without a number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Drafted {
    /// The commit.
    pub commit: String,
    /// Its files.
    pub files: Vec<SnapshotFile>,
    /// Files that are not in it: ignored ones that are too large, too many or not to be read, and what cannot be read and is
    /// not about to be destroyed.
    pub left_out: Vec<String>,
}

impl Drafted {
    /// Whether it holds anything at a path or below it; the empty path is everything.
    pub fn holds(&self, path: &str) -> bool {
        self.files.iter().any(|file| Path::new(&file.path).starts_with(path))
    }

    /// What the log says of it.
    pub fn keeping(&self, worktree: Worktree, cause: SnapshotCause, reason: Option<String>) -> Keeping {
        let (commit, files) = (self.commit.clone(), self.files.len() as u64);
        Keeping { commit, worktree, cause, reason, files, bytes: self.bytes() }
    }

    /// How many bytes it holds.
    pub fn bytes(&self) -> u64 {
        self.files.iter().map(|file| file.bytes).sum()
    }
}

/// A snapshot that is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SnapshotSeen {
    /// Its number.
    pub number: Seq,
    /// The commit.
    pub commit: String,
    /// Whose it is.
    pub agent: AgentId,
    /// The checkout it is of.
    pub worktree: String,
    /// The commit that was checked out there; `None` if there was none yet.
    pub base: Option<String>,
    /// Why it was taken; `None` for a reason that a later build knows.
    pub cause: Option<SnapshotCause>,
    /// Why, in somebody's words.
    pub reason: Option<String>,
    /// When.
    pub at: Wall,
    /// How many files it holds.
    pub files: u64,
    /// How many bytes they have.
    pub bytes: u64,
}

/// One file of a snapshot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SnapshotFile {
    /// Its path from the root. A name that is no text is shown with replacement characters.
    pub path: String,
    /// How it differed from the last commit, in a word.
    pub state: &'static str,
    /// Whether the index had something else of it than the commit.
    pub is_staged: bool,
    /// Whether it is a symbolic link.
    pub is_link: bool,
    /// Its permission bits, which mean nothing of a link.
    pub mode: u32,
    /// Its size.
    pub bytes: u64,
}

/// What to bring back.
#[derive(Clone, Debug)]
pub struct BackOrder {
    /// The snapshot.
    pub commit: String,
    /// Only these paths and what lies below them; the empty path is everything.
    pub paths: Vec<String>,
    /// Whether what was changed since is written over.
    pub over_changes: bool,
    /// Paths that are known not to have changed since, whatever git says of them.
    pub unchanged: BTreeSet<String>,
    /// Files that are somebody else's by now and stay as they are, and whose.
    pub others: BTreeMap<String, AgentName>,
    /// Where small ignored files are kept, with the commit behind it.
    pub ignored_beside: PathBuf,
}

/// What becomes of a checkout.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BackPlan {
    /// Its files.
    pub files: Vec<Back>,
    /// What git is in the middle of again: `merge`, `cherry-pick` or `revert`; `None` if nothing is done for that.
    pub resumes: Option<&'static str>,
}

/// What becomes of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Back {
    /// The file.
    pub file: SnapshotFile,
    /// What is done to it.
    pub state: BackState,
    /// Whether the index gets back what was staged of it.
    pub restages: bool,
    /// Whether what lies there now is nowhere else.
    pub is_dirty: bool,
}

/// What becomes of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BackState {
    /// Nothing: it is as it was.
    Same,
    /// It is written.
    Restored,
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
            Self::Restored => "restored",
            Self::Removed => "removed",
            Self::ChangedSince => "changed-since",
            Self::WithOthers => "with-others",
            Self::InTheWay => "in-the-way",
            Self::Lost => "lost",
        }
    }

    /// Whether the file is touched.
    pub fn is_touched(self) -> bool {
        matches!(self, Self::Restored | Self::Removed)
    }
}
