//! Every byte below a directory, to prove that a command changed none of them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What lies below a directory: files with their bytes, directories without.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Files(BTreeMap<PathBuf, Option<Vec<u8>>>);

impl Files {
    /// Reads everything below `directory`; nothing at all if it is not there.
    ///
    /// # Panics
    /// If something cannot be read.
    pub fn below(directory: &Path) -> Self {
        let mut found = BTreeMap::new();
        collect(directory, &mut found);
        Self(found)
    }

    /// Leaves out files whose name ends like this.
    #[must_use]
    pub fn without(mut self, suffix: &str) -> Self {
        self.0.retain(|path, _| !path.display().to_string().ends_with(suffix));
        self
    }

    /// Whether any file holds these bytes.
    pub fn hold(&self, needle: &[u8]) -> bool {
        self.0.values().flatten().any(|bytes| bytes.windows(needle.len()).any(|window| window == needle))
    }

    /// Whether nothing is there.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The paths.
    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        self.0.keys().map(PathBuf::as_path)
    }

    /// Expects that nothing came, went or changed since.
    ///
    /// # Panics
    /// If something did, naming it.
    #[track_caller]
    pub fn assert_same(&self, after: &Self, what: &str) {
        let before_paths = self.0.keys().filter(|path| self.0.get(*path) != after.0.get(*path));
        let after_paths = after.0.keys().filter(|path| !self.0.contains_key(*path));
        let differ: Vec<&PathBuf> = before_paths.chain(after_paths).collect();
        assert!(differ.is_empty(), "{what} changed {differ:?}");
    }
}

fn collect(directory: &Path, found: &mut BTreeMap<PathBuf, Option<Vec<u8>>>) {
    let Ok(entries) = std::fs::read_dir(directory) else { return };
    for entry in entries {
        let path = entry.expect("an entry").path();
        let kind = std::fs::symlink_metadata(&path).expect("an entry has metadata").file_type();
        if kind.is_dir() {
            collect(&path, found);
            found.insert(path, None);
        } else if kind.is_file() {
            let bytes = std::fs::read(&path).expect("a readable file");
            found.insert(path, Some(bytes));
        } else {
            found.insert(path, None);
        }
    }
}
