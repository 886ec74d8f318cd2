//! Whether `README` and `readme` are one file in a directory. Asked by looking only: a probe file
//! would show up in a user's worktree.

use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Entries looked at before giving up; nearly every directory has a letter in its first name.
const ENTRIES_MAX: usize = 256;

/// Whether the directory treats names that differ in case alone as the same.
///
/// Asks an existing entry under its name in swapped case; a directory without any entry that has
/// letters in its name is asked about through its own name instead, and `false` is the answer if
/// that does not help either.
pub fn folds_case(dir: &Path) -> bool {
    let Ok(entries) = fs::read_dir(dir) else { return false };
    let names = entries.take(ENTRIES_MAX).filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    names.filter_map(|name| answer(dir, &name)).next().unwrap_or_else(|| folds_own_name(dir))
}

/// The same, asked of one name that is known to be there: where nothing has that name in swapped case, one look
/// suffices.
pub fn folds_case_of(dir: &Path, name: &str) -> bool {
    let Some(swapped) = swap_case(name) else { return folds_case(dir) };
    match fs::symlink_metadata(dir.join(swapped)) {
        Ok(_) => answer(dir, name).unwrap_or_else(|| folds_case(dir)),
        Err(_) => false,
    }
}

fn folds_own_name(dir: &Path) -> bool {
    let Ok(dir) = fs::canonicalize(dir) else { return false };
    let name = dir.file_name().and_then(|name| name.to_str());
    dir.parent().zip(name).and_then(|(parent, name)| answer(parent, name)).unwrap_or(false)
}

/// `None` if this name proves nothing.
fn answer(dir: &Path, name: &str) -> Option<bool> {
    let swapped = swap_case(name)?;
    let found = fs::symlink_metadata(dir.join(name)).ok()?;
    // Two hard links may well be called `a` and `A` on a file system that tells them apart.
    if !found.is_dir() && found.nlink() > 1 {
        return None;
    }
    let Ok(other) = fs::symlink_metadata(dir.join(swapped)) else { return Some(false) };
    Some(same_file(&found, &other))
}

fn same_file(one: &Metadata, other: &Metadata) -> bool {
    (one.dev(), one.ino()) == (other.dev(), other.ino())
}

/// ASCII only: every file system that folds at all folds these, and each in the same way.
fn swap_case(name: &str) -> Option<String> {
    let swap = |letter: char| {
        if letter.is_ascii_lowercase() { letter.to_ascii_uppercase() } else { letter.to_ascii_lowercase() }
    };
    let swapped: String = name.chars().map(swap).collect();
    (swapped != name).then_some(swapped)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn swapping_keeps_what_has_no_case() {
        assert_eq!(swap_case("Read-Me.é1").as_deref(), Some("rEAD-mE.é1"));
        assert_eq!(swap_case("123.é"), None);
    }

    #[test]
    fn a_plain_directory_tells_case_apart_and_is_left_as_it_was() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("Name"), "").unwrap();
        assert!(!folds_case(dir.path()));
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn hard_links_that_differ_in_case_do_not_look_like_folding() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("a"), "").unwrap();
        fs::hard_link(dir.path().join("a"), dir.path().join("A")).unwrap();
        assert!(!folds_case(dir.path()));
    }

    #[test]
    fn one_name_tells_as_much_as_all_of_them() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join(".git")).unwrap();
        assert!(!folds_case_of(dir.path(), ".git"));
        fs::create_dir(dir.path().join(".GIT")).unwrap();
        assert!(!folds_case_of(dir.path(), ".git"), "another directory");
        fs::write(dir.path().join("a"), "").unwrap();
        fs::hard_link(dir.path().join("a"), dir.path().join("A")).unwrap();
        assert!(!folds_case_of(dir.path(), "a"), "another link");
        assert!(!folds_case_of(dir.path(), "123"));
    }

    #[test]
    fn symbolic_links_that_differ_in_case_do_not_look_like_folding() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("a"), "").unwrap();
        std::os::unix::fs::symlink("a", dir.path().join("A")).unwrap();
        assert!(!folds_case(dir.path()));
    }

    #[test]
    fn empty_and_missing_directories_are_answered_without_an_error() {
        let dir = tempfile::tempdir().unwrap();
        assert!(!folds_case(dir.path()));
        assert!(!folds_case(&dir.path().join("absent")));
        assert!(!folds_case(Path::new("/")));
    }
}
