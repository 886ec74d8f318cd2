//! Which file holds a scope: one function for every reader and writer.

use crate::errors;
use clearway_core::ids::ScopeKey;
use clearway_platform::files::{self, with_suffix};
use clearway_store::contract::StoreError;
use std::path::{Path, PathBuf};

/// Where the scopes of a user live.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// A directory per scope below this state directory.
    PerScope(PathBuf),
    /// Every scope in this one file.
    OneFile(PathBuf),
}

/// How many directories of clearway's own a scope's database lies in: of the scope, of all scopes, of the state.
const PER_SCOPE_DEPTH: usize = 3;

impl Place {
    /// The database of a scope.
    pub fn file(&self, scope: &ScopeKey) -> PathBuf {
        match self {
            Self::PerScope(state) => state.join("scopes").join(scope.as_str()).join("store.db"),
            Self::OneFile(file) => file.clone(),
        }
    }

    /// The scopes that have a file of their own.
    pub(crate) fn scopes_with_files(&self) -> Vec<ScopeKey> {
        let Self::PerScope(state) = self else { return Vec::new() };
        let names = files::names_in(&state.join("scopes"));
        let keys = names.iter().filter_map(|name| ScopeKey::parse(name));
        keys.filter(|key| files::exists(&self.file(key))).collect()
    }

    /// The directories that must be their owner's alone to change, for a database of this place: the one it lies in,
    /// and those above it that are clearway's own.
    pub(crate) fn directories<'a>(&self, file: &'a Path) -> Vec<&'a Path> {
        let own = match self {
            Self::PerScope(_) => PER_SCOPE_DEPTH,
            Self::OneFile(_) => 1,
        };
        let above = file.ancestors().skip(1).take(own);
        above.filter(|directory| !directory.as_os_str().is_empty()).collect()
    }

    /// Refuses to begin a store that somebody named in a directory that is not there: that is a slip more often than a
    /// wish, and a store nobody else uses keeps nobody out of anybody's way.
    pub(crate) fn refuse_nowhere(&self) -> Result<(), StoreError> {
        let Self::OneFile(file) = self else { return Ok(()) };
        let directory = file.parent().unwrap_or(file);
        if files::exists(directory) {
            return Ok(());
        }
        files::entry(directory).map_err(|error| errors::looking(file, &error))?;
        Err(StoreError::Nowhere { directory: directory.display().to_string() })
    }

    /// A file that belongs to the scope and lies beside its database.
    pub fn beside(&self, scope: &ScopeKey, suffix: &str) -> PathBuf {
        match self {
            Self::PerScope(_) => with_suffix(&self.file(scope), suffix),
            Self::OneFile(file) => with_suffix(file, &format!("-{scope}{suffix}")),
        }
    }
}
