//! Facts about git repositories: which one a path belongs to, what it tracks, what is dirty.
//!
//! Finding a repository, resolving a path and telling whether it is ignored only read files,
//! because hooks do that; `git` itself is asked only for what differs from its commits. Nothing
//! here changes a repository but [`Git::commit_only`], [`Git::snapshot`], which adds a reference of
//! its own, and [`Git::bring_back`], and no `GIT_*` variable leads to another one.
//!
//! Start with [`discover`], then [`resolve`].

mod config;
mod discover;
mod git;
mod glob;
mod head;
mod ignored;
mod index;
mod layout;
mod nested;
mod resolve;
mod snapshot;

pub use discover::{DiscoverError, Repository, discover, discover_from};
pub use git::{
    Brings, Checkout, FileChange, GIT_WAIT_MS, Git, GitError, Lack, LineRun, MERGES_WITHOUT_CHECKOUT,
    NewCommit, NoRoom, OthersAreDone, Stashes, UnderWay, autostash, fetched, hooked_git_dir, under_way,
};
pub use head::{Head, HeadMove, head, head_moves, head_name};
pub use ignored::is_ignored;
pub use index::index_entry_count;
pub use nested::{is_repository_root, nested_repository};
pub use resolve::{Located, PathKind, ResolveError, destination, resolve, resolve_from};
pub use snapshot::{
    Back, BackOrder, BackPlan, BackState, Directories, Draft, Gone, IgnoredRules, KeptFile, KeptState, Label,
    Listed, Manifest, Manner, OWN_REFS, SNAPSHOTS, SnapshotError, SnapshotOrder, Spared, Staged,
};
