//! Which repository a directory belongs to: the innermost one, found by walking up.
//!
//! Follows gitfiles, linked worktrees and submodules. Ignores `GIT_DIR` and its kin on purpose:
//! every agent in a directory must arrive at the same repository, whatever it inherited. Unlike
//! git it does not stop at mount points, since a mounted cache below a worktree is still in it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::layout::{self, GitfileError};

/// A repository, by the directories that make it up; all of them canonical.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repository {
    /// What all linked worktrees share: objects, refs, configuration.
    pub common_dir: PathBuf,
    /// The directory of this worktree's own HEAD and index.
    pub git_dir: PathBuf,
    /// The root of the worktree; `None` in a bare repository or inside a git directory.
    pub worktree: Option<PathBuf>,
}

/// Why it cannot be told which repository a directory belongs to.
#[derive(Debug, thiserror::Error)]
pub enum DiscoverError {
    /// The starting directory is gone, unreachable or a loop of links.
    #[error("cannot start looking for a repository at {}", path.display())]
    Start {
        /// Where the walk should have started.
        path: PathBuf,
        /// What the system answered.
        source: io::Error,
    },
    /// Something on the way up cannot be looked at, so an inner repository may be hidden there.
    #[error("cannot look at {}", path.display())]
    Unreadable {
        /// What could not be looked at.
        path: PathBuf,
        /// What the system answered.
        source: io::Error,
    },
    /// A `.git` directory that has parts of a repository, and is none.
    #[error("{} is damaged: {reason}", git_dir.display())]
    Damaged {
        /// The directory, or a link to it.
        git_dir: PathBuf,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// A `.git` file that leads nowhere.
    #[error("{} is a broken git file: {reason}", file.display())]
    BrokenGitfile {
        /// The `.git` file.
        file: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
}

/// Finds the repository a directory (or the directory of a file) belongs to; `None` without git.
///
/// A start that does not exist yet is taken for its nearest existing ancestor.
pub fn discover(start: &Path) -> Result<Option<Repository>, DiscoverError> {
    discover_from(&nearest_existing(start)?)
}

/// The same for a start that exists and is canonical, which is not found out again.
pub fn discover_from(start: &Path) -> Result<Option<Repository>, DiscoverError> {
    for dir in start.ancestors() {
        if let Some(repository) = repository_at(dir)? {
            return Ok(Some(repository));
        }
    }
    Ok(None)
}

fn nearest_existing(start: &Path) -> Result<PathBuf, DiscoverError> {
    let gone = |source| DiscoverError::Start { path: start.to_owned(), source };
    let mut candidate = start;
    loop {
        match fs::canonicalize(candidate) {
            Ok(found) => return Ok(found),
            Err(error) if error.kind() == io::ErrorKind::NotFound => match candidate.parent() {
                Some(parent) if start.is_absolute() => candidate = parent,
                _ => return Err(gone(error)),
            },
            Err(error) => return Err(gone(error)),
        }
    }
}

/// The repository whose worktree root or bare directory this canonical directory is.
fn repository_at(dir: &Path) -> Result<Option<Repository>, DiscoverError> {
    let dot_git = dir.join(".git");
    match look_at(&dot_git) {
        Ok((found, spelling)) if found.is_dir() => {
            if let Some(repository) = with_worktree(&dot_git, spelling, dir)? {
                return Ok(Some(repository));
            }
            // Git goes on to the directory above. Whoever holds something here would be overlooked there.
            if let Some(reason) = layout::damage_of(&dot_git) {
                return Err(DiscoverError::Damaged { git_dir: dot_git, reason });
            }
        }
        Ok((found, _)) if found.is_file() => return through_gitfile(&dot_git, dir).map(Some),
        Ok(_) => {}
        Err(error) if layout::is_absence(error.kind()) => {
            if dot_git.is_symlink() {
                let reason = "it is a link, and nothing is there";
                return Err(DiscoverError::Damaged { git_dir: dot_git, reason });
            }
        }
        Err(source) => return Err(DiscoverError::Unreadable { path: dot_git, source }),
    }
    bare(dir, Spelling::Canonical)
}

/// Whether a path may lead through links.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Spelling {
    Canonical,
    Any,
}

/// What lies at, or behind, a name in a canonical directory. What is no link is spelled as it should be.
fn look_at(name: &Path) -> io::Result<(fs::Metadata, Spelling)> {
    let found = fs::symlink_metadata(name)?;
    if found.is_symlink() {
        return Ok((fs::metadata(name)?, Spelling::Any));
    }
    Ok((found, Spelling::Canonical))
}

fn with_worktree(
    git_dir: &Path,
    spelling: Spelling,
    worktree: &Path,
) -> Result<Option<Repository>, DiscoverError> {
    let Some(mut repository) = bare(git_dir, spelling)? else { return Ok(None) };
    let is_main = repository.git_dir == repository.common_dir;
    let has_worktree = !is_main || !layout::is_configured_bare(&repository.common_dir);
    repository.worktree = has_worktree.then(|| worktree.to_owned());
    Ok(Some(repository))
}

fn through_gitfile(file: &Path, worktree: &Path) -> Result<Repository, DiscoverError> {
    let broken = |reason: String| DiscoverError::BrokenGitfile { file: file.to_owned(), reason };
    let git_dir = match layout::read_gitfile(file) {
        Ok(git_dir) => git_dir,
        Err(GitfileError::Unreadable(source)) => {
            return Err(DiscoverError::Unreadable { path: file.to_owned(), source });
        }
        Err(GitfileError::Malformed(reason)) => return Err(broken(reason.to_owned())),
    };
    let found = with_worktree(&git_dir, Spelling::Any, worktree)?;
    found.ok_or_else(|| broken(format!("{} is not a git directory", git_dir.display())))
}

/// The directory as a git directory of its own, if it is one.
fn bare(dir: &Path, spelling: Spelling) -> Result<Option<Repository>, DiscoverError> {
    let hidden = |path: &Path| {
        let path = path.to_owned();
        move |source| DiscoverError::Unreadable { path, source }
    };
    let Some(common_dir) = layout::common_dir_of(dir).map_err(hidden(dir))? else { return Ok(None) };
    let git_dir = match spelling {
        Spelling::Canonical => dir.to_owned(),
        Spelling::Any => fs::canonicalize(dir).map_err(hidden(dir))?,
    };
    let common_dir = match common_dir == dir {
        true => git_dir.clone(),
        false => fs::canonicalize(&common_dir).map_err(hidden(&common_dir))?,
    };
    Ok(Some(Repository { common_dir, git_dir, worktree: None }))
}
