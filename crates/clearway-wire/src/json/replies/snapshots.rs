//! Snapshots.

use schemars::JsonSchema;
use serde::Serialize;

/// `snapshot`
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct SnapshotReply {
    /// The number it is kept under, counted as events are; null if there was nothing to keep.
    pub snapshot: Option<u64>,
    /// The commit that holds it; null in an answer that is given once more.
    pub commit: Option<String>,
    /// What it holds.
    pub files: Vec<SnapshotFileJson>,
    /// Ignored files that are not in it: too large, too many, or not to be read.
    pub left_out: Vec<String>,
}

/// `snapshots`
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct SnapshotsReply {
    /// The latest first.
    pub snapshots: Vec<SnapshotJson>,
}

/// `show`
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ShowReply {
    /// The snapshot.
    #[serde(flatten)]
    pub snapshot: SnapshotJson,
    /// What it holds.
    pub contents: Vec<SnapshotFileJson>,
}

/// `restore` and `undo`
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct BackReply {
    /// The number of the snapshot.
    pub snapshot: u64,
    /// Whether it was done; false if this only tells what would be.
    pub done: bool,
    /// The snapshot of what was written over and nowhere else; null if there was nothing of the kind.
    pub before: Option<u64>,
    /// The checkout that was made again because it was gone, or would be; null if it is there.
    pub remade: Option<String>,
    /// What git is in the middle of again: `merge`, `cherry-pick` or `revert`; null if nothing was to be done for that.
    pub resumes: Option<String>,
    /// Every file of it that was meant, and every empty directory that was not there.
    pub files: Vec<BackFileJson>,
}

/// A snapshot.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Snapshot")]
pub struct SnapshotJson {
    /// Its number.
    pub number: u64,
    /// The commit that holds it.
    pub commit: String,
    /// The name of who took it; null if nobody here remembers it.
    pub agent: Option<String>,
    /// Its id.
    pub agent_id: String,
    /// `asked`, `command`, `take-over`, `session-end`, `halt` or `restore`.
    pub cause: String,
    /// Why, in somebody's words.
    pub reason: Option<String>,
    /// When.
    pub taken_at: String,
    /// The checkout it is of.
    pub worktree: String,
    /// How many files it holds.
    pub files: u64,
    /// How many bytes they have.
    pub bytes: u64,
}

/// A file of a snapshot.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "SnapshotFile")]
pub struct SnapshotFileJson {
    /// Its path, relative to the root of the worktree.
    pub path: String,
    /// `modified`, `new`, `deleted`, `conflict` or `ignored`.
    pub state: String,
    /// Whether the index had something else of it than the last commit.
    pub staged: bool,
    /// Its permission bits in octal digits, `link` for a symbolic link; null if it was not there.
    pub mode: Option<String>,
    /// Its size.
    pub bytes: u64,
    /// Who held it then; empty where that was not asked.
    pub held_by: Vec<String>,
}

/// What becomes of a file.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct BackFileJson {
    /// Its path, relative to the root of the worktree.
    pub path: String,
    /// `same`, `restored`, `removed`, `changed-since`, `with-others`, `in-the-way` or `lost` (these stay as they are).
    pub state: String,
    /// Whose a file is that is `with-others`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub held_by: Option<String>,
    /// Whether the index gets back what was staged of it.
    pub restaged: bool,
}
