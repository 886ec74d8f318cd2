//! Snapshots: what a checkout holds beyond its last commit, kept by git as a commit of its own.
//!
//! One `git status` says what there is and one `git fast-import` writes it, so no index is made and none is changed.
//! The commit stands on the one that is checked out and holds every changed file as it lies on disk, whatever git's
//! filters would make of it; what is staged is a second parent. Its message lists the files with what a tree cannot
//! say of them. A reference below `refs/clearway/snap/` keeps it; no ordinary push sends that, and no `git gc` takes it.
//!
//! Bringing files back is the only thing here that changes a checkout or its index.

mod aside;
mod bring_back;
mod content;
mod directories;
mod ignored;
mod listing;
mod manifest;
mod remake;
mod spared;
mod survey;
mod take;
mod under_way;

pub use bring_back::{Back, BackOrder, BackPlan, BackState, Manner};
pub use directories::Directories;
pub use ignored::{Gone, IgnoredRules};
pub use listing::Listed;
pub use manifest::{KeptFile, KeptState, Label, Manifest};
pub use spared::Spared;
pub use survey::Staged;
pub use take::{Draft, SnapshotOrder};

use crate::git::GitError;
use std::io;
use std::path::PathBuf;

/// References of ours; none of them ever leaves a repository.
macro_rules! own_refs {
    ($rest:literal) => {
        concat!("refs/clearway/", $rest)
    };
}
pub(crate) use own_refs;

/// What the names of all of them begin with.
pub const OWN_REFS: &str = own_refs!("");

/// Where snapshots lie, below it by agent and number.
pub const SNAPSHOTS: &str = own_refs!("snap/");

/// Why a snapshot cannot be taken or brought back.
#[derive(Debug, thiserror::Error)]
pub enum SnapshotError {
    /// Git did not answer.
    #[error(transparent)]
    Git(#[from] GitError),
    /// It would be larger than allowed.
    #[error("{bytes} bytes are not committed, more than {bytes_max}")]
    TooLarge {
        /// How large.
        bytes: u64,
        /// What is allowed.
        bytes_max: u64,
        /// The largest files.
        largest: Vec<(PathBuf, u64)>,
    },
    /// Files cannot be read, so they cannot be kept.
    #[error("{} files cannot be read", paths.len())]
    Unreadable {
        /// Which.
        paths: Vec<PathBuf>,
    },
    /// Files that git ignores, and that are too large or too many to be kept, are about to be lost.
    #[error("{} ignored files cannot be kept", paths.len())]
    LostIgnored {
        /// Which.
        paths: Vec<PathBuf>,
    },
    /// A file cannot be written.
    #[error("cannot write {}", path.display())]
    Unwritable {
        /// Which.
        path: PathBuf,
        /// What the system answered.
        source: io::Error,
    },
    /// A commit is no snapshot of ours.
    #[error("{commit} is no snapshot")]
    NoSnapshot {
        /// The commit.
        commit: String,
    },
}
