//! Where a value came from, what it replaced, and what was left aside.

use std::fmt;
use std::path::PathBuf;

use super::value::Value;
use clearway_core::text::printable;

/// The layers, weakest first: a value of a later layer replaces one of an earlier.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Layer {
    Default,
    User,
    Repository,
    Environment,
    Flags,
}

/// The name of a layer.
pub fn layer_word(layer: Layer) -> &'static str {
    match layer {
        Layer::Default => "default",
        Layer::User => "user",
        Layer::Repository => "repository",
        Layer::Environment => "environment",
        Layer::Flags => "flags",
    }
}

/// The origin of one value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    Default,
    File {
        path: PathBuf,
        line: usize,
    },
    /// Not written out: a posture stands for it, and `via` is where the posture was named.
    Posture {
        name: &'static str,
        via: Box<Source>,
    },
    Variable(String),
    Flag(String),
}

/// A value that a stronger one replaced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Overridden {
    pub value: Value,
    pub source: Source,
}

/// A value that was given but does not count, because it would lower safety from where it may not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ignored {
    pub value: Value,
    pub source: Source,
    /// The safer value that it would have replaced.
    pub kept: Value,
}

impl Source {
    /// Whether the caller itself said it, in a variable or on the line.
    pub(super) fn is_of_caller(&self) -> bool {
        match self {
            Source::Variable(_) | Source::Flag(_) => true,
            Source::Posture { via, .. } => via.is_of_caller(),
            Source::Default | Source::File { .. } => false,
        }
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Source::Default => f.write_str("default"),
            Source::File { path, line } => write!(f, "{}:{line}", printable(&path.to_string_lossy())),
            Source::Posture { name, via } => write!(f, "posture {name} ({via})"),
            Source::Variable(name) => write!(f, "variable {}", printable(name)),
            Source::Flag(name) => write!(f, "flag {}", printable(name)),
        }
    }
}

impl fmt::Display for Overridden {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} from {}", self.value, self.source)
    }
}

impl fmt::Display for Ignored {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} from {} ignored: less safe than {}", self.value, self.source, self.kept)
    }
}
