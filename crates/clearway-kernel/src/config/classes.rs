//! Path classes: files that need no automatic lease, or only a brief one. Layers add to them; none takes away. What
//! somebody claims by name is granted whatever its class.

use super::source::{Layer, Source};
use clearway_core::path::PathClass;

/// How the files matching a pattern are treated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// Never leased automatically, reported or checked.
    Ignored,
    /// Written by everybody: no lease, one writer at a time for the length of a call.
    Common,
    /// Edited briefly by many: the lease ends with the tool call.
    Hot,
}

/// A pattern that some layer added to a class. The layer tells what the repository brought along.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClassPattern {
    pub class: Class,
    pub pattern: String,
    pub source: Source,
    pub layer: Layer,
}

/// A list that some layer gives for a class and that adds nothing to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EmptyClass {
    pub class: Class,
    pub source: Source,
    pub layer: Layer,
}

impl Class {
    /// The built-in patterns. What git ignores is ignored besides; that is known only at run time.
    pub fn defaults(self) -> impl Iterator<Item = &'static str> {
        self.path_class().defaults()
    }

    /// The class as the core knows it.
    pub fn path_class(self) -> PathClass {
        match self {
            Class::Ignored => PathClass::Ignored,
            Class::Common => PathClass::Common,
            Class::Hot => PathClass::Hot,
        }
    }
}
