//! The files of the working tree that git knows or would add.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Every file that is tracked or would be, relative to the root.
///
/// # Panics
/// If git cannot list them: a test on no files would pass for the wrong reason.
pub fn files() -> Vec<PathBuf> {
    let root = crate::root();
    let output = Command::new("git")
        .args(["-c", "safe.directory=*", "ls-files", "-z", "--cached", "--others", "--exclude-standard"])
        .current_dir(&root)
        .output()
        .expect("git runs");
    assert!(output.status.success(), "git ls-files: {}", String::from_utf8_lossy(&output.stderr));
    let names = String::from_utf8_lossy(&output.stdout).into_owned();
    let files: Vec<PathBuf> = names
        .split('\0')
        .filter(|name| !name.is_empty())
        .map(PathBuf::from)
        .filter(|file| root.join(file).is_file())
        .collect();
    assert!(!files.is_empty(), "git lists no files");
    files
}

/// Those with an extension.
pub fn with_extension(extension: &str) -> Vec<PathBuf> {
    files().into_iter().filter(|file| has_extension(file, extension)).collect()
}

fn has_extension(file: &Path, extension: &str) -> bool {
    file.extension().is_some_and(|found| found == extension)
}
