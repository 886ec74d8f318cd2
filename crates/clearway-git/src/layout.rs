//! How git lays out its directories on disk, as far as we rely on it.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use clearway_platform::files::read_small;

use crate::config;

/// Git's small pointer files hold one path; whatever is longer is not one.
const POINTER_BYTES_MAX: u64 = 8 * 1_024;

/// Why a `.git` file names no directory.
#[derive(Debug)]
pub(crate) enum GitfileError {
    Unreadable(io::Error),
    Malformed(&'static str),
}

/// The directory a `.git` file points to, relative ones taken from where the file lies.
pub(crate) fn read_gitfile(file: &Path) -> Result<PathBuf, GitfileError> {
    let bytes = read_small(file, POINTER_BYTES_MAX).map_err(GitfileError::Unreadable)?;
    let target = bytes
        .strip_prefix(b"gitdir:")
        .ok_or(GitfileError::Malformed("it does not start with \"gitdir:\""))?
        .trim_ascii();
    if target.is_empty() {
        return Err(GitfileError::Malformed("it names no directory"));
    }
    if target.contains(&0) {
        return Err(GitfileError::Malformed("the directory it names contains a zero byte"));
    }
    Ok(beside(file, target))
}

/// The common directory of a git directory; `None` if this is no git directory at all.
///
/// A git directory has a HEAD that reads like one, and objects and refs of its own or of the
/// common directory it names: a directory that is merely called `.git` is not trusted. An error
/// means that this may be a git directory and we are not able to know.
pub(crate) fn common_dir_of(git_dir: &Path) -> io::Result<Option<PathBuf>> {
    if !is_head(&git_dir.join("HEAD"))? {
        return Ok(None);
    }
    let pointer = git_dir.join("commondir");
    let common_dir = match read_small(&pointer, POINTER_BYTES_MAX) {
        Ok(bytes) => beside(&pointer, bytes.trim_ascii()),
        Err(error) if is_absence(error.kind()) => git_dir.to_owned(),
        Err(error) => return Err(error),
    };
    let complete = is_directory(&common_dir.join("objects"))? && is_directory(&common_dir.join("refs"))?;
    Ok(complete.then_some(common_dir))
}

/// What keeps a directory called `.git`, which is no git directory, from being one; `None` if nothing in it says that it
/// ever was, such as in an empty one.
pub(crate) fn damage_of(git_dir: &Path) -> Option<&'static str> {
    let has = |part: &str| fs::symlink_metadata(git_dir.join(part)).is_ok();
    if !["HEAD", "objects", "refs"].into_iter().any(has) {
        return None;
    }
    let lacks = ["HEAD", "objects", "refs"].into_iter().find(|part| !has(part));
    Some(match lacks {
        Some("HEAD") => "its HEAD is missing",
        Some("objects") => "its objects are missing",
        Some(_) => "its refs are missing",
        None if !is_head(&git_dir.join("HEAD")).unwrap_or_default() => {
            "its HEAD names no branch and no commit"
        }
        None => "its objects or refs are not there any more",
    })
}

fn is_directory(path: &Path) -> io::Result<bool> {
    match fs::metadata(path) {
        Ok(found) => Ok(found.is_dir()),
        Err(error) if is_absence(error.kind()) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Whether an error says that nothing is there. A start that is a file has `file/.git` asked of it, and what is there may
/// be a directory where a file was to be read. Every other error may pass, and must not lead to another repository.
pub(crate) fn is_absence(kind: io::ErrorKind) -> bool {
    use io::ErrorKind::{InvalidFilename, IsADirectory, NotADirectory, NotFound};
    matches!(kind, NotFound | NotADirectory | IsADirectory | InvalidFilename)
}

/// Whether the repository's own configuration says that it has no main worktree.
pub(crate) fn is_configured_bare(common_dir: &Path) -> bool {
    config::value_in(&common_dir.join("config"), "core", "bare").is_some_and(|value| config::is_true(&value))
}

/// A symbolic ref or the full name of a commit; git also accepts a link into `refs`.
fn is_head(path: &Path) -> io::Result<bool> {
    match head_text(path) {
        Ok(bytes) => Ok(reads_like_head(&bytes)),
        Err(error) if is_absence(error.kind()) => Ok(false),
        Err(error) => Err(error),
    }
}

/// What HEAD says; a link says where it leads.
fn head_text(path: &Path) -> io::Result<Vec<u8>> {
    if fs::symlink_metadata(path)?.is_symlink() {
        let target = fs::read_link(path)?;
        return Ok([b"ref:", target.as_os_str().as_bytes()].concat());
    }
    read_small(path, POINTER_BYTES_MAX)
}

fn reads_like_head(bytes: &[u8]) -> bool {
    const NAME_DIGITS_MIN: usize = 40;
    let name = bytes.trim_ascii();
    match name.strip_prefix(b"ref:") {
        Some(target) => target.trim_ascii().starts_with(b"refs/"),
        None => name.len() >= NAME_DIGITS_MIN && name.iter().all(u8::is_ascii_hexdigit),
    }
}

fn beside(file: &Path, target: &[u8]) -> PathBuf {
    let target = Path::new(OsStr::from_bytes(target));
    file.parent().map_or_else(|| target.to_owned(), |parent| parent.join(target))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_are_symbolic_refs_or_full_commit_names() {
        let check = |bytes: &[u8], expect| assert_eq!(reads_like_head(bytes), expect, "{bytes:?}");
        check(b"ref: refs/heads/main\n", true);
        check(b"ref:refs/heads/main", true);
        check(b"0123456789abcdef0123456789abcdef01234567\n", true);
        check(b"", false);
        check(b"ref: elsewhere", false);
        check(b"0123456789abcdef", false);
        check(b"<html>", false);
    }
}
