//! Which file holds a scope: one function for every reader and writer.

use clearway_core::ids::ScopeKey;
use clearway_platform::files::with_suffix;
use std::path::PathBuf;

/// Where the scopes of a user live.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// A directory per scope below this state directory.
    PerScope(PathBuf),
    /// Every scope in this one file.
    OneFile(PathBuf),
}

impl Place {
    /// The database of a scope.
    pub fn file(&self, scope: &ScopeKey) -> PathBuf {
        match self {
            Self::PerScope(state) => state.join("scopes").join(scope.as_str()).join("store.db"),
            Self::OneFile(file) => file.clone(),
        }
    }

    /// A file that belongs to the scope and lies beside its database.
    pub fn beside(&self, scope: &ScopeKey, suffix: &str) -> PathBuf {
        match self {
            Self::PerScope(_) => with_suffix(&self.file(scope), suffix),
            Self::OneFile(file) => with_suffix(file, &format!("-{scope}{suffix}")),
        }
    }
}
