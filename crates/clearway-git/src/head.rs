//! What is checked out, read from the head of a worktree.

use std::path::Path;

/// Digits of a commit that people are shown.
const COMMIT_DIGITS: usize = 9;

/// The branch that a git directory has checked out, or the beginning of the commit where there is none.
pub fn head_name(git_dir: &Path) -> Option<String> {
    let head = std::fs::read_to_string(git_dir.join("HEAD")).ok()?;
    match head.trim().strip_prefix("ref: ") {
        Some(reference) => Some(reference.strip_prefix("refs/heads/").unwrap_or(reference).to_owned()),
        None => head.get(..COMMIT_DIGITS).map(str::to_owned),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_names_a_branch_or_a_commit() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(head_name(dir.path()), None);
        for (head, name) in [
            ("ref: refs/heads/topic/a\n", "topic/a"),
            ("ref: refs/remotes/x\n", "refs/remotes/x"),
            ("0123456789abcdef0123456789abcdef01234567\n", "012345678"),
        ] {
            std::fs::write(dir.path().join("HEAD"), head).unwrap();
            assert_eq!(head_name(dir.path()).as_deref(), Some(name));
        }
    }
}
