//! What a lease is on: a path pattern inside one worktree, or a literal name.
//!
//! Paths and names are two spaces that never meet: the name `build` and the file `build` do not conflict.

use crate::limits::RESOURCE_NAME_BYTES_MAX;
use crate::pattern::Pattern;
use std::fmt;
use thiserror::Error;

/// One thing that can be reserved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// Paths of a worktree.
    Path(Pattern),
    /// A named resource; never parsed as a pattern.
    Name(ResourceName),
}

impl Target {
    /// The stored text: a canonical pattern, or the name as it is.
    pub fn canonical(&self) -> &str {
        match self {
            Self::Path(pattern) => pattern.canonical(),
            Self::Name(name) => name.as_str(),
        }
    }

    /// The text for people.
    pub fn display(&self) -> String {
        match self {
            Self::Path(pattern) => pattern.display(),
            Self::Name(name) => name.as_str().to_owned(),
        }
    }

    /// Whether both could mean the same thing, or things that cannot be there together.
    pub fn overlaps(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Path(a), Self::Path(b)) => a.collides_with(b),
            (Self::Name(a), Self::Name(b)) => a == b,
            _ => false,
        }
    }

    /// Whether holding this is holding all of `other`.
    pub fn covers(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Path(a), Self::Path(b)) => a.covers(b),
            (Self::Name(a), Self::Name(b)) => a == b,
            _ => false,
        }
    }

    /// Whether everything `other` names is named by this as well.
    pub fn contains(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Path(a), Self::Path(b)) => a.contains(b),
            (Self::Name(a), Self::Name(b)) => a == b,
            _ => false,
        }
    }

    /// The one path that this is, if it is one.
    pub fn literal(&self) -> Option<&str> {
        match self {
            Self::Path(pattern) => pattern.as_literal(),
            Self::Name(_) => None,
        }
    }

    /// Whether this pattern is a candidate of every request in its worktree.
    pub fn is_root_level(&self) -> bool {
        matches!(self, Self::Path(pattern) if pattern.is_root_level())
    }
}

/// The name of a resource: `build`, `db:migrate`, `port:3000`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ResourceName(String);

/// What the name of a checkout's index begins with, and the name of what `git stash` puts aside.
const GIT_INDEX: &str = "git-index:";
const GIT_STASH: &str = "git-stash";

/// Why a text is no resource name.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ResourceNameError {
    /// Nothing there.
    #[error("a resource name cannot be empty")]
    Empty,
    /// Too long.
    #[error("a resource name has at most {RESOURCE_NAME_BYTES_MAX} bytes; this one has {bytes}")]
    TooLong {
        /// How long it is.
        bytes: usize,
    },
    /// Something a terminal or a reader would not show.
    #[error("a resource name cannot hold the character at byte {position}: it does not print")]
    Unprintable {
        /// Where it stands.
        position: usize,
    },
    /// White space at an end would make two names look alike.
    #[error("a resource name cannot begin or end with white space")]
    Padded,
}

impl ResourceName {
    /// Checks a name. It is taken literally: `a[*` is a name like any other.
    pub fn parse(text: &str) -> Result<Self, ResourceNameError> {
        if text.is_empty() {
            return Err(ResourceNameError::Empty);
        }
        if text.len() > RESOURCE_NAME_BYTES_MAX {
            return Err(ResourceNameError::TooLong { bytes: text.len() });
        }
        if let Some(position) = first_unprintable(text) {
            return Err(ResourceNameError::Unprintable { position });
        }
        if text.trim() != text {
            return Err(ResourceNameError::Padded);
        }
        Ok(Self(text.to_owned()))
    }

    /// The index of a checkout, which those who write it take in turns. Of a long root the end tells; two that look alike
    /// only wait for each other once more.
    pub fn git_index(worktree: &Worktree) -> Self {
        let root = crate::text::printable(&worktree.0);
        let room = RESOURCE_NAME_BYTES_MAX - GIT_INDEX.len();
        let start = root.ceil_char_boundary(root.len().saturating_sub(room));
        Self(format!("{GIT_INDEX}{}", root[start..].trim_end()))
    }

    /// What is put aside, which all checkouts of a repository share: those who change it take turns.
    pub fn git_stash() -> Self {
        Self(GIT_STASH.to_owned())
    }

    /// Whether it is one that agents' commands of git take turns by, which nobody else takes or gives room to.
    pub fn is_of_git(&self) -> bool {
        self.0 == GIT_STASH || self.0.starts_with(GIT_INDEX)
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

fn first_unprintable(text: &str) -> Option<usize> {
    let shown = crate::text::printable(text);
    text.bytes().zip(shown.bytes()).position(|(a, b)| a != b)
}

impl fmt::Display for ResourceName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(&self.0)
    }
}

/// One checkout, named by machine and canonical root. Two checkouts of one repository never conflict on paths.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Worktree(pub String);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_literal_and_bounded() {
        for good in ["build", "db:migrate", "a[*", "git-index:/w/x", "größe"] {
            assert!(ResourceName::parse(good).is_ok(), "{good}");
        }
        for (bad, error) in [
            ("", ResourceNameError::Empty),
            (" x", ResourceNameError::Padded),
            ("a\nb", ResourceNameError::Unprintable { position: 1 }),
            ("a\u{202e}b", ResourceNameError::Unprintable { position: 1 }),
        ] {
            assert_eq!(ResourceName::parse(bad), Err(error));
        }
        assert_eq!(ResourceName::parse(&"x".repeat(129)), Err(ResourceNameError::TooLong { bytes: 129 }));
    }

    #[test]
    fn the_index_of_every_checkout_has_a_name() {
        let name = |root: &str| ResourceName::git_index(&Worktree(root.to_owned()));
        assert_eq!(name("/w/x").as_str(), "git-index:/w/x");
        assert!(name("/w/x").is_of_git() && ResourceName::git_stash().is_of_git());
        assert!(
            ["git", "git-stash-x", "git-index"]
                .iter()
                .all(|name| !ResourceName::parse(name).unwrap().is_of_git())
        );
        for root in ["", "/a\nb", "/ends in space ", &"/größe".repeat(99)] {
            assert_eq!(ResourceName::parse(name(root).as_str()), Ok(name(root)), "{root}");
        }
        assert!(name(&format!("/{}/one", "x".repeat(200))) != name(&format!("/{}/two", "x".repeat(200))));
    }

    #[test]
    fn a_single_path_collides_with_what_lies_wholly_below_it() {
        use crate::pattern::Fold;
        let path = |text: &str| Target::Path(Pattern::parse(text, Fold::Exact).unwrap());
        for (other, expected) in
            [("d", true), ("d/x", true), ("d/x/y", true), ("d/*.rs", true), ("dx", false), ("**/x", false)]
        {
            let (a, b) = (path("d"), path(other));
            assert_eq!((a.overlaps(&b), b.overlaps(&a)), (expected, expected), "{other}");
        }
        assert!(!path("d").contains(&path("d/x")) && !path("d").covers(&path("d/x")));
    }

    #[test]
    fn the_name_build_and_the_file_build_are_two_things() {
        use crate::pattern::Fold;
        let name = Target::Name(ResourceName::parse("build").unwrap());
        let file = Target::Path(Pattern::parse("build", Fold::Exact).unwrap());
        assert!(!name.overlaps(&file) && !file.overlaps(&name) && name.overlaps(&name));
    }
}
