//! What a hook that git started asks of the commit at hand. Here the variables count that git sets for its hooks: they
//! say which repository, and which index the commit is made from.

use super::diff::{FileChange, STAGED_PATCH, read};
use super::{Git, GitError, PATHS_BYTES_MAX, Question, batches};
use clearway_platform::environment::Environment;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What git is in the middle of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum UnderWay {
    /// Nothing that takes more than one step.
    #[default]
    Nothing,
    /// A merge of these commits.
    Merge(Vec<String>),
    /// A commit is applied again.
    CherryPick,
    /// A commit is undone.
    Revert,
    /// Commits are moved, or taken from a mailbox.
    Rebase,
}

/// What an operation would commit if nobody added anything to it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Brings {
    /// The tree.
    pub tree: String,
    /// Paths that somebody has to decide, which it has with the marks of a conflict.
    pub undecided: Vec<String>,
    /// Paths that it changes.
    pub changes: Vec<String>,
}

/// What a repository is in the middle of, as its git directory tells.
pub fn under_way(git_dir: &Path) -> UnderWay {
    let has = |name: &str| git_dir.join(name).exists();
    if has("rebase-merge") || has("rebase-apply") {
        return UnderWay::Rebase;
    }
    if let Ok(heads) = std::fs::read_to_string(git_dir.join("MERGE_HEAD")) {
        return UnderWay::Merge(heads.lines().map(str::to_owned).collect());
    }
    match (has("CHERRY_PICK_HEAD"), has("REVERT_HEAD")) {
        (true, _) => UnderWay::CherryPick,
        (_, true) => UnderWay::Revert,
        _ => UnderWay::Nothing,
    }
}

/// The commit in which git put aside what is not committed, for a rebase that may not have begun yet.
pub fn autostash(git_dir: &Path) -> Option<String> {
    let places = ["rebase-merge/autostash", "rebase-apply/autostash"];
    let text = places.iter().find_map(|place| std::fs::read_to_string(git_dir.join(place)).ok())?;
    let commit = text.trim().to_owned();
    (!commit.is_empty() && commit.bytes().all(|byte| byte.is_ascii_hexdigit())).then_some(commit)
}

/// The commits that were fetched last.
pub fn fetched(git_dir: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(git_dir.join("FETCH_HEAD")).unwrap_or_default();
    let names = text.lines().filter_map(|line| line.split_whitespace().next());
    names.filter(|name| name.bytes().all(|byte| byte.is_ascii_hexdigit())).map(str::to_owned).collect()
}

/// The git directory that a hook is about: the one git named, or that of the directory.
pub fn hooked_git_dir(environment: &Environment, directory: &Path) -> Option<PathBuf> {
    match environment.var("GIT_DIR") {
        Some(named) => Some(directory.join(named)),
        None => crate::discover(directory).ok().flatten().map(|repository| repository.git_dir),
    }
}

impl Git {
    /// Git with everything that git told its hook.
    pub fn for_hook(environment: &Environment) -> Result<Self, GitError> {
        let git = Self::locate(environment)?;
        let vars = environment.vars.iter().map(|(name, value)| (name.clone(), value.clone())).collect();
        Ok(Self { vars, ..git })
    }

    /// Paths in which the index differs from the last commit, or from this one; both names of a renamed file. Names that
    /// are not UTF-8 are shown with replacement characters.
    pub fn staged_paths(&self, directory: &Path, commit: Option<&str>) -> Result<Vec<String>, GitError> {
        let mut options = vec!["--cached", "--name-only", "--no-renames", "--no-ext-diff", "-z"];
        options.extend(commit);
        Ok(names(&self.ask(directory, &Question { command: "diff", options: &options, paths: &[] })?))
    }

    /// Whether what is staged takes back what a commit did, and touches nothing else. `back_to` is the parent that a merge
    /// is gone back to. Where a file changed since, nothing here tells a revert from anything else, so that is none.
    pub fn stages_reverse_of(
        &self,
        directory: &Path,
        commit: &str,
        back_to: Option<&str>,
    ) -> Result<bool, GitError> {
        let ask = |command, options: &[&str]| {
            Ok(raw_changes(&self.ask(directory, &Question { command, options, paths: &[] })?))
        };
        let raw = ["--raw", "--no-abbrev", "--no-renames", "-z"];
        let staged = ask("diff", &[&["--cached", "--no-ext-diff"], raw.as_slice()].concat())?;
        // An id that is none of a commit is answered with an error, which is no yes.
        let commit = format!("{commit}^{{commit}}");
        let of_commit = [&["-r", "--root", "--no-commit-id"], raw.as_slice(), back_to.as_slice(), &[&commit]];
        let done = ask("diff-tree", &of_commit.concat())?;
        Ok(!staged.is_empty() && staged.iter().all(|(path, change)| change.takes_back(done.get(path))))
    }

    /// What is under way would commit by itself, and where what is staged differs from that. `None` if this git cannot tell.
    pub fn brought(
        &self,
        directory: &Path,
        under_way: &UnderWay,
    ) -> Result<Option<(Brings, Vec<String>)>, GitError> {
        let mut nearest: Option<(Brings, Vec<String>)> = None;
        // Of a merge that is picked or undone nothing tells the side; it is the one that what is staged is nearest to.
        for (base, other) in self.merges_of(directory, under_way)? {
            let base = base.map(|base| format!("--merge-base={base}"));
            let Ok((tree, undecided)) = self.merge_tree(directory, base.as_deref(), "HEAD", &other) else {
                continue;
            };
            let differs = self.staged_paths(directory, Some(&tree))?;
            if nearest.as_ref().is_none_or(|(_, fewest)| differs.len() < fewest.len()) {
                let changes = self.paths_between(directory, "HEAD", &tree)?;
                nearest = Some((Brings { tree, undecided, changes }, differs));
            }
        }
        Ok(nearest)
    }

    /// The merges that what is under way comes to: from which commit, if that is not for git to find, and with which one.
    fn merges_of(
        &self,
        directory: &Path,
        under_way: &UnderWay,
    ) -> Result<Vec<(Option<String>, String)>, GitError> {
        let head = match under_way {
            UnderWay::Merge(heads) => {
                let one = heads.first().filter(|_| heads.len() == 1);
                return Ok(one.map(|head| (None, head.clone())).into_iter().collect());
            }
            UnderWay::CherryPick => "CHERRY_PICK_HEAD",
            UnderWay::Revert => "REVERT_HEAD",
            UnderWay::Nothing | UnderWay::Rebase => return Ok(Vec::new()),
        };
        let parents = format!("{head}^@");
        let question = Question { command: "rev-parse", options: &[&parents], paths: &[] };
        let parents = String::from_utf8_lossy(&self.ask(directory, &question)?).into_owned();
        let pair = |parent: &str| match under_way {
            UnderWay::Revert => (Some(head.to_owned()), parent.to_owned()),
            _ => (Some(parent.to_owned()), head.to_owned()),
        };
        Ok(parents.lines().map(pair).collect())
    }

    /// What the index holds beyond the last commit at these paths, line by line.
    pub fn staged_changes(&self, directory: &Path, paths: &[&str]) -> Result<Vec<FileChange>, GitError> {
        let mut changes = Vec::new();
        for batch in batches(paths, PATHS_BYTES_MAX) {
            let question = Question { command: "diff", options: &STAGED_PATCH, paths: &batch };
            changes.extend(read(&self.ask(directory, &question)?));
        }
        Ok(changes)
    }

    /// Paths that a move from one commit to another changes by commits that nothing in the repository led to yet, nor what
    /// was fetched last.
    pub fn new_paths(
        &self,
        directory: &Path,
        from: &str,
        to: &str,
        known: &[String],
    ) -> Result<Vec<String>, GitError> {
        let mut options = vec!["--format=", "-c", "--name-only", "--no-renames", "--no-ext-diff", "-z", to];
        options.extend(["--not", "--all", "--reflog"]);
        options.extend(known.iter().map(String::as_str));
        let question = Question { command: "log", options: &options, paths: &[] };
        let mut paths = names(&self.ask(directory, &question)?);
        if from.bytes().any(|byte| byte != b'0') && !paths.is_empty() {
            let changed = self.paths_between(directory, from, to)?;
            paths.retain(|path| changed.contains(path));
        }
        paths.sort();
        paths.dedup();
        Ok(paths)
    }

    /// Paths in which two commits differ.
    pub fn paths_between(&self, directory: &Path, from: &str, to: &str) -> Result<Vec<String>, GitError> {
        let options = ["--name-only", "--no-renames", "--no-ext-diff", "-z", from, to];
        Ok(names(&self.ask(directory, &Question { command: "diff", options: &options, paths: &[] })?))
    }

    /// Whether one commit is among those that lead to another.
    pub fn leads_to(&self, directory: &Path, commit: &str, head: &str) -> Result<bool, GitError> {
        let options = ["--is-ancestor", commit, head];
        self.says(directory, &Question { command: "merge-base", options: &options, paths: &[] })
    }

    /// Paths that the last commit changed; none of a merge.
    pub fn committed_paths(&self, directory: &Path) -> Result<Vec<String>, GitError> {
        let options = ["--root", "-r", "--no-commit-id", "--name-only", "--no-renames", "-z", "HEAD"];
        Ok(names(&self.ask(directory, &Question { command: "diff-tree", options: &options, paths: &[] })?))
    }
}

/// How a path was and how it is: its mode and the id of its content.
#[derive(Debug, PartialEq, Eq)]
struct RawChange {
    before: (String, String),
    after: (String, String),
}

impl RawChange {
    fn takes_back(&self, done: Option<&Self>) -> bool {
        done.is_some_and(|done| self.before == done.after && self.after == done.before)
    }
}

/// Records of `--raw -z`: a line of modes and ids, and a path.
fn raw_changes(output: &[u8]) -> BTreeMap<Vec<u8>, RawChange> {
    let mut records = output.split(|byte| *byte == 0);
    let mut found = BTreeMap::new();
    while let (Some(line), Some(path)) = (records.next(), records.next()) {
        let line = String::from_utf8_lossy(line);
        let words: Vec<&str> = line.trim_start_matches(':').split(' ').collect();
        if let [mode_before, mode_after, before, after, ..] = words.as_slice() {
            let side = |mode: &str, id: &str| (mode.to_owned(), id.to_owned());
            let change = RawChange { before: side(mode_before, before), after: side(mode_after, after) };
            found.insert(path.to_vec(), change);
        }
    }
    found
}

fn names(output: &[u8]) -> Vec<String> {
    let names = output.split(|byte| *byte == 0).filter(|name| !name.is_empty());
    names.map(|name| String::from_utf8_lossy(name).into_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_under_way_is_told_by_the_git_directory() {
        let dir = tempfile::tempdir().unwrap();
        let put = |name: &str, text: &str| std::fs::write(dir.path().join(name), text).unwrap();
        assert_eq!(under_way(dir.path()), UnderWay::Nothing);
        put("REVERT_HEAD", "1\n");
        assert_eq!(under_way(dir.path()), UnderWay::Revert);
        put("CHERRY_PICK_HEAD", "1\n");
        assert_eq!(under_way(dir.path()), UnderWay::CherryPick);
        put("MERGE_HEAD", "1\n2\n");
        assert_eq!(under_way(dir.path()), UnderWay::Merge(vec!["1".to_owned(), "2".to_owned()]));
        std::fs::create_dir(dir.path().join("rebase-merge")).unwrap();
        assert_eq!(under_way(dir.path()), UnderWay::Rebase);
    }
}
