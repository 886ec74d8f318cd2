//! Repositories inside repositories. A path belongs to the innermost one, so an outer repository
//! must know where its reach ends.

use std::path::{Component, Path, PathBuf};

use crate::layout;

/// The innermost repository below the worktree's root that contains the path; `None` if the path
/// belongs to the worktree itself.
///
/// The directory of a submodule belongs to the outer repository, what is inside it does not. The
/// path is taken as it is: symbolic links and `..` were resolved before.
pub fn nested_repository(worktree: &Path, relative_path: &str) -> Option<PathBuf> {
    let path = Path::new(relative_path);
    if !path.components().all(|part| matches!(part, Component::Normal(_))) {
        return None;
    }
    let between = path.ancestors().skip(1).filter(|dir| !dir.as_os_str().is_empty());
    between.map(|dir| worktree.join(dir)).find(|dir| is_repository_root(dir))
}

/// Whether a directory is the root of a worktree of its own.
///
/// A `.git` file counts even if it leads nowhere: git refuses to look past it too. So does a damaged repository, and one
/// that cannot be read for a moment: what it holds would otherwise become the outer one's.
pub fn is_repository_root(dir: &Path) -> bool {
    let dot_git = dir.join(".git");
    // Most directories have none, and one look tells.
    if std::fs::symlink_metadata(&dot_git).is_err_and(|error| error.kind() == std::io::ErrorKind::NotFound) {
        return false;
    }
    match layout::common_dir_of(&dot_git) {
        Ok(None) => {
            let is_dangling = dot_git.is_symlink() && !dot_git.exists();
            is_dangling || layout::read_gitfile(&dot_git).is_ok() || layout::damage_of(&dot_git).is_some()
        }
        Ok(Some(_)) => true,
        Err(error) => error.kind() != std::io::ErrorKind::PermissionDenied,
    }
}
