//! What will not merge, told by a merge that is never made: no checkout, index or reference is touched.

use super::{Git, GitError, Question};
use std::path::{Path, PathBuf};

/// The first git that can merge without a checkout.
pub const MERGES_WITHOUT_CHECKOUT: (u32, u32) = (2, 38);

/// A checkout of a repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checkout {
    /// Its root.
    pub root: PathBuf,
    /// The commit that is checked out.
    pub commit: String,
    /// The branch; `None` for a detached head.
    pub branch: Option<String>,
}

impl Git {
    /// The checkouts of a repository that are there and have a commit.
    pub fn checkouts(&self, worktree: &Path) -> Result<Vec<Checkout>, GitError> {
        let options = ["list", "--porcelain", "-z"];
        let answer = self.ask(worktree, &Question { command: "worktree", options: &options, paths: &[] })?;
        Ok(checkouts_in(&String::from_utf8_lossy(&answer)))
    }

    /// The commit that a name leads to; `None` if it leads to none.
    pub fn commit_of(&self, worktree: &Path, name: &str) -> Result<Option<String>, GitError> {
        let commit = format!("{name}^{{commit}}");
        let options = ["--quiet", "--verify", "--end-of-options", &commit];
        let answer = self.run(worktree, &Question { command: "rev-parse", options: &options, paths: &[] })?;
        let text = String::from_utf8_lossy(&answer.output).trim().to_owned();
        Ok((answer.code == Some(0) && !text.is_empty()).then_some(text))
    }

    /// The paths that a merge of two commits could not decide; none if it would be clean, or if the two have nothing in
    /// common.
    pub fn merge_conflicts(&self, worktree: &Path, one: &str, other: &str) -> Result<Vec<String>, GitError> {
        match self.merge_tree(worktree, None, one, other) {
            Ok((_, conflicts)) => Ok(conflicts),
            Err(failure) if failure.to_string().contains("unrelated histories") => Ok(Vec::new()),
            Err(failure) => Err(failure),
        }
    }

    /// The tree that a merge of two commits comes to, and the paths that it could not decide.
    pub(super) fn merge_tree(
        &self,
        worktree: &Path,
        option: Option<&str>,
        one: &str,
        other: &str,
    ) -> Result<(String, Vec<String>), GitError> {
        let mut options = vec!["--write-tree", "--name-only", "--no-messages", "-z"];
        options.extend(option);
        options.extend([one, other]);
        let question = Question { command: "merge-tree", options: &options, paths: &[] };
        let answer = self.run(worktree, &question)?;
        let tree = answer.output.split(|byte| *byte == 0).next().unwrap_or_default();
        let tree = String::from_utf8_lossy(tree).into_owned();
        match answer.code {
            Some(0) => Ok((tree, Vec::new())),
            Some(1) => Ok((tree, conflicts_in(&answer.output))),
            _ => Err(answer.failure("merge-tree")),
        }
    }
}

/// The tree comes first.
fn conflicts_in(output: &[u8]) -> Vec<String> {
    let names = output.split(|byte| *byte == 0).skip(1).filter(|name| !name.is_empty());
    let mut names: Vec<String> = names.map(|name| String::from_utf8_lossy(name).into_owned()).collect();
    names.sort();
    names.dedup();
    names
}

/// Each checkout is lines that end with zeros, and an empty one. One whose directory is gone, or that has no checkout at
/// all, is none.
fn checkouts_in(text: &str) -> Vec<Checkout> {
    let mut found = Vec::new();
    for record in text.split("\0\0") {
        let lines: Vec<&str> = record.split('\0').collect();
        let value = |key: &str| lines.iter().find_map(|line| line.strip_prefix(key)?.strip_prefix(' '));
        let is_there = !lines.iter().any(|line| *line == "bare" || line.starts_with("prunable"));
        let commit = value("HEAD").filter(|commit| commit.bytes().any(|byte| byte != b'0'));
        if let (Some(root), Some(commit), true) = (value("worktree"), commit, is_there) {
            let branch = value("branch").map(|name| name.trim_start_matches("refs/heads/").to_owned());
            found.push(Checkout { root: PathBuf::from(root), commit: commit.to_owned(), branch });
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checkouts_are_read_and_those_that_are_gone_are_not() {
        let text = "worktree /a\0HEAD 1f\0branch refs/heads/x/y\0\0worktree /b\0HEAD 2f\0detached\0\0\
                    worktree /bare\0bare\0\0worktree /gone\0HEAD 3f\0detached\0prunable gone\0\0\
                    worktree /young\0HEAD 00\0branch refs/heads/main\0\0";
        let found: Vec<(String, Option<String>)> = checkouts_in(text)
            .into_iter()
            .map(|checkout| (checkout.root.display().to_string(), checkout.branch))
            .collect();
        assert_eq!(found, [("/a".to_owned(), Some("x/y".to_owned())), ("/b".to_owned(), None)]);
        assert_eq!(conflicts_in(b"1f2e\0b\0a\0a\0"), ["a", "b"]);
    }
}
