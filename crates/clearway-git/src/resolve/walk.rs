//! Walking a path part by part, as the kernel does, but past the point where it would give up:
//! what does not exist yet is kept as written.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

use super::{PathKind, ResolveError};

/// As many links as Linux follows.
const LINKS_MAX: usize = 40;

/// What to do with a symbolic link in last position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LastLink {
    /// Stay at the link itself, unless it leads to a directory or a slash behind it asks for one.
    Keep,
    /// Go where it leads.
    Follow,
}

/// Where a walk ended.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Walked {
    /// Absolute, without links (but for the last), `.` or `..`.
    pub(super) path: PathBuf,
    pub(super) kind: PathKind,
}

/// Walks an argument from a directory that was itself walked before.
pub(super) fn walk(from: &Path, argument: &Path, last: LastLink) -> Result<Walked, ResolveError> {
    let bytes = argument.as_os_str().as_bytes();
    if bytes.trim_ascii().is_empty() {
        return Err(ResolveError::Empty);
    }
    if bytes.contains(&0) {
        return Err(ResolveError::ZeroByte);
    }
    let wants_directory = bytes.ends_with(b"/") || bytes.ends_with(b"/.") || bytes == b".";
    let last = if wants_directory { LastLink::Follow } else { last };
    let mut walker = Walker { from, here: from.to_owned(), kind: PathKind::ExistingDirectory, missing: 0 };
    walker.run(argument, last)?;
    if wants_directory {
        walker.demand_directory()?;
    }
    Ok(Walked { path: walker.here, kind: walker.kind })
}

struct Walker<'a> {
    /// Where it began: this and everything above it are directories and no links.
    from: &'a Path,
    here: PathBuf,
    kind: PathKind,
    /// How many parts at the end of `here` do not exist.
    missing: usize,
}

impl Walker<'_> {
    fn run(&mut self, argument: &Path, last: LastLink) -> Result<(), ResolveError> {
        let mut ahead = Ahead::default();
        ahead.put(argument);
        let mut links = 0;
        while let Some(step) = ahead.take() {
            let Some(link) = self.step(step, ahead.is_empty() && last == LastLink::Keep)? else { continue };
            links += 1;
            if links > LINKS_MAX {
                return Err(ResolveError::TooManyLinks { path: link.at });
            }
            ahead.put(&link.to);
        }
        Ok(())
    }

    /// Takes one step and answers the link to follow, if it led to one.
    fn step(&mut self, step: Step, keep_link: bool) -> Result<Option<Link>, ResolveError> {
        match step {
            Step::Root => self.arrive("/".into(), PathKind::ExistingDirectory),
            Step::Up => self.up()?,
            Step::Down(name) => return self.down(&name, keep_link),
        }
        Ok(None)
    }

    fn down(&mut self, name: &OsStr, keep_link: bool) -> Result<Option<Link>, ResolveError> {
        self.demand_directory()?;
        let next = self.here.join(name);
        if self.missing > 0 {
            self.miss(next);
            return Ok(None);
        }
        if self.from.starts_with(&next) {
            self.arrive(next, PathKind::ExistingDirectory);
            return Ok(None);
        }
        match fs::symlink_metadata(&next) {
            Ok(found) if found.is_symlink() && (!keep_link || next.is_dir()) => {
                return follow(next).map(Some);
            }
            Ok(found) if found.is_dir() => self.arrive(next, PathKind::ExistingDirectory),
            Ok(_) => self.arrive(next, PathKind::ExistingFile),
            // What the file system has no room to name cannot be there.
            Err(error)
                if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::InvalidFilename) =>
            {
                self.miss(next);
            }
            Err(source) => return Err(ResolveError::Unreadable { path: next, source }),
        }
        Ok(None)
    }

    /// `..` of what does not exist yet leads to where it would be created; at the top it stays.
    fn up(&mut self) -> Result<(), ResolveError> {
        self.demand_directory()?;
        self.here.pop();
        self.missing = self.missing.saturating_sub(1);
        self.kind = if self.missing > 0 { PathKind::Missing } else { PathKind::ExistingDirectory };
        Ok(())
    }

    fn arrive(&mut self, path: PathBuf, kind: PathKind) {
        self.here = path;
        self.kind = kind;
        self.missing = 0;
    }

    fn miss(&mut self, path: PathBuf) {
        self.here = path;
        self.kind = PathKind::Missing;
        self.missing += 1;
    }

    /// Only a file cannot be entered; what is missing may become a directory.
    fn demand_directory(&self) -> Result<(), ResolveError> {
        match self.kind {
            PathKind::ExistingFile => Err(ResolveError::NotADirectory { path: self.here.clone() }),
            PathKind::ExistingDirectory | PathKind::Missing => Ok(()),
        }
    }
}

struct Link {
    at: PathBuf,
    to: PathBuf,
}

fn follow(at: PathBuf) -> Result<Link, ResolveError> {
    match fs::read_link(&at) {
        Ok(to) => Ok(Link { at, to }),
        Err(source) => Err(ResolveError::Unreadable { path: at, source }),
    }
}

enum Step {
    Root,
    Up,
    Down(OsString),
}

/// The steps still to take, the next one last.
#[derive(Default)]
struct Ahead(Vec<Step>);

impl Ahead {
    fn put(&mut self, path: &Path) {
        let steps = path.components().rev().filter_map(|part| match part {
            Component::RootDir | Component::Prefix(_) => Some(Step::Root),
            Component::CurDir => None,
            Component::ParentDir => Some(Step::Up),
            Component::Normal(name) => Some(Step::Down(name.to_owned())),
        });
        self.0.extend(steps);
    }

    fn take(&mut self) -> Option<Step> {
        self.0.pop()
    }

    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
