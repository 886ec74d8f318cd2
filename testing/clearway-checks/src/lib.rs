//! What the tests on the workspace itself need: its root, its packages, its files.
//!
//! It reads the working tree and asks cargo; it knows nothing of leases and events.

pub mod licence;
pub mod markdown;
pub mod package;
pub mod tree;

use std::path::{Path, PathBuf};

/// The root of the workspace.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).map(Path::to_owned).unwrap_or_default()
}

/// The text of a file of the workspace.
///
/// # Panics
/// If it is not there: every test that asks for a file is about it.
pub fn text(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}
