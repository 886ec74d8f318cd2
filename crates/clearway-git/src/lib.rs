//! Facts about git repositories: which one a path belongs to, what it tracks, what is dirty.
//!
//! Finding a repository and resolving a path only read files, because hooks do both on every
//! call; `git` itself is asked only for what its index and ignore rules alone can tell. Nothing
//! here changes a repository, and no `GIT_*` variable is obeyed.
//!
//! Start with [`discover`], then [`resolve`].

mod discover;
mod git;
mod head;
mod index;
mod layout;
mod nested;
mod resolve;

pub use discover::{DiscoverError, Repository, discover, discover_from};
pub use git::{FileChange, GIT_WAIT_MS, Git, GitError, LineRun};
pub use head::head_name;
pub use index::index_entry_count;
pub use nested::{is_repository_root, nested_repository};
pub use resolve::{Located, PathKind, ResolveError, destination, resolve, resolve_from};
