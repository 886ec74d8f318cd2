//! What lies at a path of a checkout, exactly: bytes, permission bits, where a link leads. Nothing is followed.

use super::aside::{Aside, Onto};
use super::directories::Maker;
use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Read, Write};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// The permission bits of a mode.
const PERMISSIONS: u32 = 0o7777;

/// The mode of a link, as git writes it. Its own permission bits mean nothing.
pub(super) const LINK_MODE: u32 = 0o120_000;

/// What is at a path.
#[derive(Clone, PartialEq, Eq)]
pub(super) enum Content {
    /// Nothing, or a directory.
    Nothing,
    /// A file.
    File {
        /// Its permission bits.
        mode: u32,
        /// What is in it.
        bytes: Vec<u8>,
    },
    /// A symbolic link, which leads here.
    Link(Vec<u8>),
    /// A directory that is to be there. None is ever read as one.
    Directory,
}

/// What is at a path, without its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sort {
    Nothing,
    File {
        bytes: u64,
    },
    Link {
        bytes: u64,
    },
    Directory,
    /// A socket, a pipe, a device: nothing that could be kept.
    Special,
}

/// Looks without reading.
pub(super) fn sort_of(path: &Path) -> io::Result<Sort> {
    let found = match fs::symlink_metadata(path) {
        Ok(found) => found,
        Err(error) if is_absence(&error) => return Ok(Sort::Nothing),
        Err(error) => return Err(error),
    };
    let (kind, bytes) = (found.file_type(), found.len());
    Ok(if kind.is_symlink() {
        Sort::Link { bytes }
    } else if kind.is_file() {
        Sort::File { bytes }
    } else if kind.is_dir() {
        Sort::Directory
    } else {
        Sort::Special
    })
}

/// Reads it, at most so much of it. What is no file and no link is nothing.
pub(super) fn read(path: &Path, bytes_max: u64) -> io::Result<Content> {
    match sort_of(path)? {
        Sort::Nothing | Sort::Directory | Sort::Special => Ok(Content::Nothing),
        Sort::Link { .. } => Ok(Content::Link(fs::read_link(path)?.into_os_string().into_vec())),
        Sort::File { .. } => {
            let file = match fs::File::open(path) {
                Err(error) if is_absence(&error) => return Ok(Content::Nothing),
                file => file?,
            };
            let mode = file.metadata()?.permissions().mode() & PERMISSIONS;
            let mut bytes = Vec::new();
            file.take(bytes_max.saturating_add(1)).read_to_end(&mut bytes)?;
            if bytes.len() as u64 > bytes_max {
                return Err(io::ErrorKind::FileTooLarge.into());
            }
            Ok(Content::File { mode, bytes })
        }
    }
}

/// Puts it there: whole or not at all. Directories on the way are made; a link on the way is not followed.
pub(super) fn write(
    aside: &Aside,
    root: &Path,
    path: &Path,
    content: &Content,
    maker: &mut Maker<'_>,
) -> io::Result<()> {
    let place = root.join(path);
    if !matches!(content, Content::Nothing | Content::Directory) {
        maker.make(path.parent().unwrap_or(Path::new("")))?;
        if sort_of(&place)? == Sort::Directory {
            remove_empty(&place)?;
        }
    }
    match content {
        Content::Nothing => gone(fs::remove_file(&place)),
        Content::Directory => maker.make(path),
        Content::Link(target) => {
            let target = std::ffi::OsStr::from_bytes(target);
            aside.put(&place, Onto::Whatever, |made| std::os::unix::fs::symlink(target, made))
        }
        Content::File { mode, bytes } => aside.put(&place, Onto::Whatever, |made| {
            let mut file = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(made)?;
            file.write_all(bytes)?;
            file.set_permissions(fs::Permissions::from_mode(*mode))?;
            file.sync_all()
        }),
    }
}

/// Whether a path can be written once these files are gone: every directory on the way to it is one or can be made, and
/// nothing but empty directories is in its place.
pub(super) fn way_is_clear(root: &Path, path: &Path, going: &BTreeSet<PathBuf>) -> bool {
    let above = path.ancestors().skip(1).filter(|part| !part.as_os_str().is_empty());
    let is_clear = |part: &Path| {
        going.contains(part) || matches!(sort_of(&root.join(part)), Ok(Sort::Nothing | Sort::Directory))
    };
    above.into_iter().all(is_clear)
        && match sort_of(&root.join(path)) {
            Ok(Sort::Directory) => is_going(root, path, going),
            Ok(sort) => sort != Sort::Special,
            Err(_) => false,
        }
}

/// Whether everything below a directory goes.
fn is_going(root: &Path, directory: &Path, going: &BTreeSet<PathBuf>) -> bool {
    let Ok(entries) = fs::read_dir(root.join(directory)) else { return false };
    entries.into_iter().all(|entry| {
        let Ok(entry) = entry else { return false };
        let path = directory.join(entry.file_name());
        match sort_of(&entry.path()) {
            Ok(Sort::Directory) => is_going(root, &path, going),
            _ => going.contains(&path),
        }
    })
}

/// Removes a directory in which there is nothing but directories.
fn remove_empty(directory: &Path) -> io::Result<()> {
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        if sort_of(&path)? == Sort::Directory {
            remove_empty(&path)?;
        }
    }
    gone(fs::remove_dir(directory))
}

/// What was to go and is gone already, by somebody who does the same at this moment, is gone.
fn gone(removed: io::Result<()>) -> io::Result<()> {
    match removed {
        Err(error) if is_absence(&error) => Ok(()),
        removed => removed,
    }
}

fn is_absence(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}
