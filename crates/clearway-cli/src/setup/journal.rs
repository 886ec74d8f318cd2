//! What was in a file before we came, and what we made of it: enough to give the very bytes back.

use super::text::Removed;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The files that were changed, by their paths.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub(super) struct Journal {
    #[serde(default)]
    files: BTreeMap<PathBuf, Record>,
}

/// One of them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub(super) struct Record {
    /// What it held; `None` if it was not there.
    pub(super) original: Option<String>,
    /// A digest of what was written last.
    written: String,
    /// The directories that were made for it, outermost first.
    #[serde(default)]
    pub(super) directories: Vec<PathBuf>,
}

/// How a file is given back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Restored {
    /// As it was: with these bytes.
    Bytes(String),
    /// As it was: not there.
    Absent,
    /// Somebody else changed it since: this is left.
    Less(String),
    /// Nothing of ours is in it.
    Untouched,
}

impl Journal {
    /// Reads a journal. One that cannot be read remembers nothing; entries of ours are found without it.
    /// What was remembered, if anything was. `Err` for a text that is none of ours, or of a newer build.
    pub(super) fn read(text: Option<&str>) -> Result<Self, String> {
        text.map_or_else(
            || Ok(Self::default()),
            |text| serde_json::from_str(text).map_err(|why| why.to_string()),
        )
    }

    pub(super) fn text(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default() + "\n"
    }

    /// Every file that was changed.
    pub(super) fn paths(&self) -> impl Iterator<Item = &Path> {
        self.files.keys().map(PathBuf::as_path)
    }

    /// Whether a file is remembered as one that was not there before us.
    pub(super) fn was_absent(&self, path: &Path) -> bool {
        self.files.get(path).is_some_and(|record| record.original.is_none())
    }

    /// Whether anything is remembered of a file.
    pub(super) fn knows(&self, path: &Path) -> bool {
        self.files.contains_key(path)
    }

    pub(super) fn original(&self, path: &Path) -> Option<&str> {
        self.files.get(path).and_then(|record| record.original.as_deref())
    }

    /// Remembers that a file with this text, or none, is about to become another. `bare` is what it is without us.
    pub(super) fn note(&mut self, path: &Path, before: Option<&str>, bare: Option<String>, after: &str) {
        let is_our_last = |record: &&Record| before.is_some_and(|before| record.written == digest(before));
        let kept = self.files.get(path).filter(is_our_last).cloned();
        let record = kept.unwrap_or_else(|| {
            let directories =
                self.files.get(path).map(|record| record.directories.clone()).unwrap_or_default();
            Record { original: bare, written: String::new(), directories }
        });
        self.files.insert(path.to_owned(), Record { written: digest(after), ..record });
    }

    pub(super) fn note_directories(&mut self, path: &Path, made: Vec<PathBuf>) {
        if let Some(record) = self.files.get_mut(path) {
            record.directories.extend(made);
        }
    }

    pub(super) fn forget(&mut self, path: &Path) -> Option<Record> {
        self.files.remove(path)
    }

    /// What becomes of a file with this text that is given back. `removed` is the text without our entries.
    pub(super) fn restored(&self, path: &Path, text: &str, removed: Removed) -> Restored {
        let record = self.files.get(path);
        if let Some(record) = record.filter(|record| record.written == digest(text)) {
            return record.original.clone().map_or(Restored::Absent, Restored::Bytes);
        }
        match removed {
            Removed { text: less, .. } if less == text => Restored::Untouched,
            Removed { is_hollow: true, .. } if self.was_absent(path) => Restored::Absent,
            Removed { text: less, .. } => Restored::Less(less),
        }
    }
}

fn digest(text: &str) -> String {
    hex(&Sha256::digest(text.as_bytes()))
}

/// Bytes as lower-case digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
