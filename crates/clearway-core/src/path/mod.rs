//! Paths as Clearway compares them: relative to the scope root, NFC, folded when the scope folds, without
//! `.`, `..` or empty segments.
//!
//! This module never looks at a file system. Stripping the scope root, resolving symbolic links and
//! refusing names that are not UTF-8 are the adapter's matter. Start with [`CanonicalPath`].

mod class;
mod text;

pub use class::{ClassError, ClassLists, Classes, PathClass};
pub use text::Fold;
pub(crate) use text::{Refused, compose, first_refused, is_git_directory, normalise};

/// The longest path that is accepted, in bytes of its canonical form and of the text given.
pub const PATH_BYTES_MAX: usize = 4_096;

/// A path relative to the scope root in the one spelling under which it is stored and compared. The scope
/// root itself is the empty text.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CanonicalPath(Box<str>);

/// Why a text is not a path inside the scope. Positions are byte offsets into the text given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PathError {
    #[error("the path is empty")]
    Empty,
    #[error("the path is absolute; give it relative to the scope root")]
    Absolute,
    #[error("the path leaves the scope by `..`")]
    Escapes,
    #[error("the path names git's own directory")]
    GitDirectory,
    #[error("the path holds a NUL byte at byte {position}")]
    Nul { position: usize },
    #[error("the path holds a control character at byte {position}")]
    ControlCharacter { position: usize },
    #[error("the path holds a text direction override at byte {position}")]
    DirectionOverride { position: usize },
    #[error("the path has {bytes} bytes; at most {bytes_max} are accepted")]
    TooLong { bytes: usize, bytes_max: usize },
}

impl PathError {
    /// A short stable word for the reason.
    pub fn code(&self) -> &'static str {
        match self {
            PathError::Empty => "empty",
            PathError::Absolute => "absolute",
            PathError::Escapes => "escapes",
            PathError::GitDirectory => "git-directory",
            PathError::Nul { .. } => "nul",
            PathError::ControlCharacter { .. } => "control-character",
            PathError::DirectionOverride { .. } => "direction-override",
            PathError::TooLong { .. } => "too-long",
        }
    }
}

impl CanonicalPath {
    /// The scope root.
    pub fn root() -> Self {
        CanonicalPath(Box::from(""))
    }

    /// Reads a plain path: no character but `/` has a meaning. `.`, `//` and a trailing `/` vanish, `..`
    /// is resolved lexically.
    pub fn parse(text: &str, fold: Fold) -> Result<Self, PathError> {
        if is_plainly_canonical(text, fold) {
            return Ok(CanonicalPath(Box::from(text)));
        }
        check_text(text)?;
        let segments = resolve(text)?;
        let path = normalise(&segments.join("/"), fold);
        check_length(&path)?;
        if path.split('/').any(is_git_directory) {
            return Err(PathError::GitDirectory);
        }
        Ok(CanonicalPath(path.into_boxed_str()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub fn is_root(&self) -> bool {
        self.0.is_empty()
    }

    /// The directory holding this path; the scope root has none.
    pub fn parent(&self) -> Option<CanonicalPath> {
        if self.is_root() {
            return None;
        }
        let directory = self.0.rsplit_once('/').map_or("", |(directory, _)| directory);
        Some(CanonicalPath(Box::from(directory)))
    }

    /// The last segment; the scope root has none.
    pub fn file_name(&self) -> Option<&str> {
        self.segments().next_back()
    }

    /// The segments from the scope root down.
    pub fn segments(&self) -> impl DoubleEndedIterator<Item = &str> + Clone {
        self.0.split('/').filter(|segment| !segment.is_empty())
    }

    /// Whether this path is `directory` or lies below it, by whole segments.
    pub fn starts_with(&self, directory: &CanonicalPath) -> bool {
        is_at_or_below(&self.0, &directory.0)
    }
}

impl std::fmt::Display for CanonicalPath {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl AsRef<str> for CanonicalPath {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

/// Whether a canonical text is a directory's canonical text or continues it after a `/`.
pub(crate) fn is_at_or_below(path: &str, directory: &str) -> bool {
    match path.strip_prefix(directory) {
        Some(rest) => directory.is_empty() || rest.is_empty() || rest.starts_with('/'),
        None => false,
    }
}

/// Whether a text is visibly its own canonical form: the short way for nearly every path.
fn is_plainly_canonical(text: &str, fold: Fold) -> bool {
    let is_plain =
        |byte: &u8| matches!(byte, 0x20..=0x7E) && (fold == Fold::Exact || !byte.is_ascii_uppercase());
    text.len() <= PATH_BYTES_MAX
        && text.as_bytes().iter().all(is_plain)
        && text.split('/').all(|segment| !matches!(segment, "" | "." | "..") && !is_git_directory(segment))
}

fn check_text(text: &str) -> Result<(), PathError> {
    if text.is_empty() {
        return Err(PathError::Empty);
    }
    check_length(text)?;
    match first_refused(text) {
        Some((position, Refused::Nul)) => Err(PathError::Nul { position }),
        Some((position, Refused::Control)) => Err(PathError::ControlCharacter { position }),
        Some((position, Refused::DirectionOverride)) => Err(PathError::DirectionOverride { position }),
        None if text.starts_with('/') => Err(PathError::Absolute),
        None => Ok(()),
    }
}

fn check_length(text: &str) -> Result<(), PathError> {
    if text.len() > PATH_BYTES_MAX {
        return Err(PathError::TooLong { bytes: text.len(), bytes_max: PATH_BYTES_MAX });
    }
    Ok(())
}

fn resolve(text: &str) -> Result<Vec<&str>, PathError> {
    let mut segments = Vec::new();
    for segment in text.split('/') {
        match segment {
            "" | "." => {}
            ".." => {
                segments.pop().ok_or(PathError::Escapes)?;
            }
            _ => segments.push(segment),
        }
    }
    Ok(segments)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> CanonicalPath {
        CanonicalPath::parse(text, Fold::Exact).expect("a valid path")
    }

    #[test]
    fn knows_its_parent_and_name() {
        let check = |text: &str, parent: Option<&str>, name: Option<&str>| {
            let path = path(text);
            assert_eq!(path.parent().as_ref().map(CanonicalPath::as_str), parent);
            assert_eq!(path.file_name(), name);
        };
        check("src/a/b.rs", Some("src/a"), Some("b.rs"));
        check("b.rs", Some(""), Some("b.rs"));
        check(".", None, None);
    }

    #[test]
    fn lies_below_a_directory_by_whole_segments() {
        let check = |text: &str, directory: &str, expect: bool| {
            assert_eq!(path(text).starts_with(&path(directory)), expect, "{text} below {directory}");
        };
        check("src/a.rs", "src", true);
        check("src", "src", true);
        check("src2/a.rs", "src", false);
        check("src/a.rs", ".", true);
        check(".", "src", false);
    }

    #[test]
    fn folding_does_not_smuggle_in_the_git_directory() {
        assert_eq!(CanonicalPath::parse(".gİt/hooks", Fold::Insensitive), Err(PathError::GitDirectory));
    }

    #[test]
    fn a_path_left_and_entered_again_may_have_passed_through_the_git_directory() {
        assert_eq!(CanonicalPath::parse(".git/../src", Fold::Exact), Ok(path("src")));
    }
}
