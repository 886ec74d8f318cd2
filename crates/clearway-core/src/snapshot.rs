//! Snapshots: what was not committed at an instant, kept where nothing overwrites it. Here is what the log says of one.

use crate::ids::{AgentId, Seq};
use crate::limits::{SNAPSHOT_KEPT_MS, SNAPSHOTS_KEPT_ALWAYS, SNAPSHOTS_PER_SCOPE_MAX};
use crate::target::Worktree;
use crate::time::Wall;

/// A snapshot as it is recorded. Its number is that of its event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Keeping {
    /// The commit that holds it.
    pub commit: String,
    /// Of which checkout.
    pub worktree: Worktree,
    /// Why it was taken.
    pub cause: SnapshotCause,
    /// Why, in somebody's words.
    pub reason: Option<String>,
    /// How many files it holds.
    pub files: u64,
    /// How many bytes they have.
    pub bytes: u64,
}

/// A snapshot that a decision gave its number, and that has yet to be named after it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept {
    /// The number.
    pub number: Seq,
    /// The commit that holds it.
    pub commit: String,
    /// Among whose snapshots: of whoever acted, or else of whoever left it.
    pub agent: AgentId,
}

/// Directories that git ignores and whose content is made anew by a build or an installation: nothing of it is kept.
pub const BUILD_DIRECTORIES: [&str; 20] = [
    "target",
    "node_modules",
    "dist",
    "build",
    "out",
    "bin",
    "obj",
    ".venv",
    "venv",
    "__pycache__",
    ".mypy_cache",
    ".pytest_cache",
    ".ruff_cache",
    ".tox",
    ".gradle",
    ".next",
    ".nuxt",
    ".turbo",
    ".cache",
    "coverage",
];

/// Why a snapshot was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SnapshotCause {
    /// Somebody asked for it.
    Asked,
    /// A command was about to destroy what it holds.
    Command,
    /// Somebody else was about to take it over.
    TakeOver,
    /// Its writer ended without committing it.
    Left,
    /// A person stopped its writer, which had not committed it.
    Halt,
    /// Another snapshot was about to be brought back over it.
    Restore,
}

impl SnapshotCause {
    /// Every one.
    pub const ALL: [Self; 6] =
        [Self::Asked, Self::Command, Self::TakeOver, Self::Left, Self::Halt, Self::Restore];

    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Asked => "asked",
            Self::Command => "command",
            Self::TakeOver => "take-over",
            Self::Left => "session-end",
            Self::Halt => "halt",
            Self::Restore => "restore",
        }
    }

    /// The same the other way round.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|cause| cause.word() == word)
    }

    /// Whether `undo` means it when no other is named: something was about to be written over what it holds.
    pub fn is_undone(self) -> bool {
        matches!(self, Self::Command | Self::Restore)
    }
}

/// Whether a snapshot has been kept for long enough: `after` are the later ones. The newest stay however old they are: a
/// clock that was set forward must not be what they are lost to.
pub fn is_outlived(after: usize, taken: Wall, now: Wall) -> bool {
    let age_ms = u64::try_from(now.0.saturating_sub(taken.0)).unwrap_or(0);
    let is_old = age_ms > SNAPSHOT_KEPT_MS && after >= SNAPSHOTS_KEPT_ALWAYS;
    is_old || after >= SNAPSHOTS_PER_SCOPE_MAX
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_snapshot_lasts_a_week_and_as_long_as_there_are_few_whatever_a_clock_says() {
        let week = i64::try_from(SNAPSHOT_KEPT_MS).unwrap();
        let few = SNAPSHOTS_KEPT_ALWAYS;
        assert!(!is_outlived(few, Wall(0), Wall(week)) && is_outlived(few, Wall(0), Wall(week + 1)));
        assert!(!is_outlived(few - 1, Wall(0), Wall(i64::MAX)));
        assert!(!is_outlived(199, Wall(5), Wall(5)) && is_outlived(200, Wall(5), Wall(5)));
        assert!(!is_outlived(0, Wall(week * 9), Wall(0)));
    }
}
