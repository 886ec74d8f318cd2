//! From what a user or client wrote to a path below a worktree's root.
//!
//! The argument may be relative, absolute, lead through links, end in a slash, contain `..` or
//! name something that does not exist yet. Links are walked one by one as the kernel does, so
//! every spelling of a place ends at the same text. A link in last position that leads to no
//! directory stays itself, because the link is what git tracks; one that leads to a directory is
//! that directory, because what is reserved by it is what lies there. Nothing is interpreted: a `*` is a character.

mod walk;

use std::io;
use std::path::{Component, Path, PathBuf};

use crate::nested::{is_repository_root, nested_repository};
use walk::{LastLink, Walked, walk};

/// Where an argument leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Located {
    /// The path from the root with `/` between its parts; empty for the root itself.
    pub path: String,
    /// What is there now.
    pub kind: PathKind,
    /// The root of the repository inside this worktree that the path belongs to instead.
    pub nested: Option<PathBuf>,
    /// Whether the path itself is the root of such a repository: its name belongs to this
    /// worktree, its content does not.
    pub is_nested_root: bool,
}

/// What is found at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PathKind {
    /// A file, or a symbolic link to anything but a directory.
    ExistingFile,
    /// A directory.
    ExistingDirectory,
    /// Nothing yet.
    Missing,
}

/// Why an argument names no path of the worktree.
#[derive(Debug, thiserror::Error)]
pub enum ResolveError {
    /// It leads elsewhere.
    #[error("{} is outside of {}", path.display(), root.display())]
    Outside {
        /// Where the argument leads.
        path: PathBuf,
        /// The worktree's root.
        root: PathBuf,
    },
    /// Such names cannot be reserved.
    #[error("{} is not UTF-8, so it cannot be named here", path.display())]
    NotUtf8 {
        /// Where the argument leads.
        path: PathBuf,
    },
    /// Nothing was written, or spaces alone, which is hardly meant: such a file is had by `./ `.
    #[error("an argument of nothing, or of spaces alone, names no path")]
    Empty,
    /// No path contains a zero byte.
    #[error("the argument contains a zero byte")]
    ZeroByte,
    /// Something with a slash behind it is a file.
    #[error("{} is not a directory", path.display())]
    NotADirectory {
        /// The file used like a directory.
        path: PathBuf,
    },
    /// Links lead to links without end.
    #[error("too many symbolic links on the way to {}", path.display())]
    TooManyLinks {
        /// The link at which the walk ended.
        path: PathBuf,
    },
    /// Something on the way cannot be looked at.
    #[error("cannot look at {}", path.display())]
    Unreadable {
        /// What could not be looked at.
        path: PathBuf,
        /// What the system answered.
        source: io::Error,
    },
}

/// Resolves an argument, written by someone working in `cwd`, to a path below `root`.
pub fn resolve(root: &Path, cwd: &Path, argument: &Path) -> Result<Located, ResolveError> {
    let root = walk(Path::new("/"), root, LastLink::Follow)?.path;
    let cwd = walk(Path::new("/"), cwd, LastLink::Follow)?.path;
    resolve_from(&root, &cwd, argument)
}

/// The same for a `root` and a `cwd` that exist and are canonical, which is not found out again.
pub fn resolve_from(root: &Path, cwd: &Path, argument: &Path) -> Result<Located, ResolveError> {
    let kept = walk(cwd, argument, LastLink::Keep)?;
    let walked = if kept.path.starts_with(root) {
        kept
    } else {
        // A link outside is not ours to track, but it may lead in.
        walk(cwd, argument, LastLink::Follow)?
    };
    locate(root, walked)
}

/// Where something written to `argument` by someone working in `cwd` ends up: every link is followed.
pub fn destination(cwd: &Path, argument: &Path) -> Result<PathBuf, ResolveError> {
    let from = if argument.is_absolute() { PathBuf::from("/") } else { cwd.to_owned() };
    let from = walk(Path::new("/"), &from, LastLink::Follow)?.path;
    let walked = match walk(&from, argument, LastLink::Follow) {
        // The kernel goes through no file, but a program that tidies a path before it opens it does.
        Err(ResolveError::NotADirectory { .. }) => walk(&from, &tidied(argument), LastLink::Follow),
        walked => walked,
    };
    walked.map(|walked| walked.path)
}

/// A path without `.`, without `..` where something stands in front of it, and without a slash at its end, by its letters
/// alone.
fn tidied(path: &Path) -> PathBuf {
    let mut tidied = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir if tidied.file_name().is_some() => drop(tidied.pop()),
            part => tidied.push(part),
        }
    }
    tidied
}

fn locate(root: &Path, walked: Walked) -> Result<Located, ResolveError> {
    let Ok(relative) = walked.path.strip_prefix(root) else {
        return Err(ResolveError::Outside { path: walked.path, root: root.to_owned() });
    };
    let Some(path) = relative.to_str().map(str::to_owned) else {
        return Err(ResolveError::NotUtf8 { path: walked.path });
    };
    let nested = nested_repository(root, &path);
    let is_nested_root =
        !path.is_empty() && walked.kind == PathKind::ExistingDirectory && is_repository_root(&walked.path);
    Ok(Located { path, kind: walked.kind, nested, is_nested_root })
}
