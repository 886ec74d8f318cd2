//! What only `git` itself can tell: what is tracked, dirty or ignored; and what it keeps for us.
//!
//! Questions are read-only and without side effects: no optional locks, no file system monitor, no pager, no shell.
//! Paths are literal; `GIT_*` variables that say which repository is meant do not reach the child, so the answer is
//! about the given worktree and nothing else.

pub(crate) mod child;
mod commit;
mod diff;
mod hooked;
mod persisting;
mod radar;
mod room;
mod spelling;
mod stash;
pub(crate) mod status;

pub use commit::{NewCommit, OthersAreDone};
pub use diff::{FileChange, LineRun};
pub use hooked::{Brings, UnderWay, autostash, fetched, hooked_git_dir, under_way};
pub use radar::{Checkout, MERGES_WITHOUT_CHECKOUT};
pub use room::{Lack, NoRoom};
pub use stash::Stashes;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::snapshot::OWN_REFS;
use child::{Answer, Feed};
use clearway_platform::environment::Environment;
pub(crate) use persisting::persisting;
use spelling::{Spellings, spelled_alike};

/// How long one `git` may take before it is ended, unless told otherwise.
pub const GIT_WAIT_MS: u64 = 30_000;

/// Bytes of paths handed to one `git`; more are asked in several calls.
const PATHS_BYTES_MAX: usize = 96 * 1_024;

/// The `git` program, with the environment it is run in.
#[derive(Debug, Clone)]
pub struct Git {
    program: PathBuf,
    vars: Vec<(OsString, OsString)>,
    timeout: Duration,
    /// When every call has to be over, however many there are.
    deadline: Option<Instant>,
}

/// Why git did not answer.
#[derive(Debug, thiserror::Error)]
pub enum GitError {
    /// There is no git to ask.
    #[error("there is no git program on PATH")]
    Missing,
    /// The program could not be run or read.
    #[error("cannot run {}", program.display())]
    Run {
        /// The program.
        program: PathBuf,
        /// What the system answered.
        source: io::Error,
    },
    /// Git refused.
    #[error("git {command} failed: {}", one_line(message))]
    Failed {
        /// The git command.
        command: &'static str,
        /// The first lines of what it said.
        message: String,
    },
    /// There is no room for what git writes.
    #[error("there is no room for what git {command} writes: {missing}")]
    NoRoom {
        /// The git command.
        command: &'static str,
        /// The first lines of what it said.
        message: String,
        /// Where.
        missing: NoRoom,
    },
    /// What was to be committed is as it was committed last.
    #[error("git found nothing to commit")]
    NothingToCommit,
    /// Git did not come back.
    #[error("git {command} did not finish within {waited_ms} ms")]
    TimedOut {
        /// The git command.
        command: &'static str,
        /// How long we waited.
        waited_ms: u64,
    },
    /// What the call is for had no time left.
    #[error("no time was left for git {command}")]
    NoTime {
        /// The git command.
        command: &'static str,
    },
    /// Git said more than any worktree of ours can make it say.
    #[error("git {command} answered more than {bytes_max} bytes")]
    TooMuchOutput {
        /// The git command.
        command: &'static str,
        /// The limit.
        bytes_max: usize,
    },
    /// The answer is in no format we know.
    #[error("git {command} answered in an unknown format: {record:?}")]
    Format {
        /// The git command.
        command: &'static str,
        /// The record that could not be read.
        record: String,
    },
}

impl Git {
    /// Finds `git` on the given environment's `PATH`.
    ///
    /// Relative entries are passed over, since they would run what lies in the working directory.
    pub fn locate(environment: &Environment) -> Result<Self, GitError> {
        let path = environment.var("PATH").unwrap_or_default();
        let dirs = path.as_bytes().split(|byte| *byte == b':').map(|dir| Path::new(OsStr::from_bytes(dir)));
        let mut programs = dirs.filter(|dir| dir.is_absolute()).map(|dir| dir.join("git"));
        let program = programs.find(|program| is_executable(program)).ok_or(GitError::Missing)?;
        let kept = environment.vars.iter().filter(|(name, _)| !name.as_bytes().starts_with(b"GIT_"));
        let vars = kept.map(|(name, value)| (name.clone(), value.clone())).collect();
        Ok(Self { program, vars, timeout: Duration::from_millis(GIT_WAIT_MS), deadline: None })
    }

    /// The same for a commit, which is made by whoever the environment says: only what names another repository, index or
    /// way to read a path is kept from it.
    pub fn for_commit(environment: &Environment) -> Result<Self, GitError> {
        let git = Self::locate(environment)?;
        let is_kept = |name: &OsStr| !ELSEWHERE.iter().any(|elsewhere| name == *elsewhere);
        let vars = environment.vars.iter().filter(|(name, _)| is_kept(name));
        Ok(Self { vars: vars.map(|(name, value)| (name.clone(), value.clone())).collect(), ..git })
    }

    /// With one more variable.
    #[must_use]
    pub fn with_var(mut self, name: &str, value: &str) -> Self {
        self.vars.push((name.into(), value.into()));
        self
    }

    /// The program that was found.
    pub fn program(&self) -> &Path {
        &self.program
    }

    /// Gives each call of git this long, for callers that someone waits for.
    #[must_use]
    pub fn with_timeout(self, timeout: Duration) -> Self {
        Self { timeout, ..self }
    }

    /// Has all calls of git together end at this instant, or at an earlier one that was set before.
    #[must_use]
    pub fn until(self, deadline: Instant) -> Self {
        let deadline = Some(self.deadline.map_or(deadline, |earlier| earlier.min(deadline)));
        Self { deadline, ..self }
    }

    /// How long a call that begins now may take; `None` if there is no time left.
    fn patience(&self) -> Option<Duration> {
        let left = self.deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        let patience = left.map_or(self.timeout, |left| left.min(self.timeout));
        (!patience.is_zero()).then_some(patience)
    }

    /// Every file in the index, in git's order, each once, submodules by their directory. Names that are not UTF-8, which
    /// nobody can reserve, are left out.
    pub fn tracked_files(&self, worktree: &Path) -> Result<Vec<String>, GitError> {
        let question = Question { command: "ls-files", options: &["-z"], paths: &[] };
        Ok(tracked(&self.ask(worktree, &question)?))
    }

    /// Whether the index has anything at a path.
    pub fn is_tracked(&self, worktree: &Path, path: &str) -> Result<bool, GitError> {
        let question = Question { command: "ls-files", options: &["-z"], paths: &[path] };
        Ok(!self.ask(worktree, &question)?.is_empty())
    }

    /// Files of the last commit below these paths that are not there, and those at one of them that are not as committed.
    pub fn changed_beside(&self, worktree: &Path, paths: &[&str]) -> Result<Vec<String>, GitError> {
        let options = ["-z", "--name-status", "--no-renames", "HEAD"];
        let mut changed = Vec::new();
        for batch in batches(paths, PATHS_BYTES_MAX) {
            let question = Question { command: "diff-index", options: &options, paths: &batch };
            let output = String::from_utf8_lossy(&self.ask(worktree, &question)?).into_owned();
            let fields: Vec<&str> = output.split('\0').collect();
            let of_commit = fields.chunks_exact(2).filter(|change| match change[0] {
                "D" => true,
                "A" => false,
                _ => paths.contains(&change[1]),
            });
            changed.extend(of_commit.map(|change| change[1].to_owned()));
        }
        Ok(changed)
    }

    /// Of each of these whether it, or anything below it, differs from HEAD, is untracked, or is not looked at by git because
    /// somebody told it so. What git spells otherwise, as a file system that folds case may, can be any of them.
    pub fn are_dirty(&self, worktree: &Path, paths: &[&str]) -> Result<Vec<bool>, GitError> {
        let asked: Vec<&str> = paths.iter().map(|path| spelled_alike(path)).collect();
        let mut dirty = self.dirty_paths(worktree, &asked)?;
        dirty.extend(self.unwatched_paths(worktree, &asked)?);
        let spellings = Spellings::new(paths, &asked);
        let all_known = dirty.iter().all(|found| spellings.knows(found));
        let is_dirty = |at| !all_known || dirty.iter().any(|found| spellings.is_at(found, at));
        Ok((0..paths.len()).map(is_dirty).collect())
    }

    /// The tracked files among the given paths and below them that git takes for unchanged without a look, as
    /// `git update-index --skip-worktree` and `--assume-unchanged` have it.
    fn unwatched_paths(&self, worktree: &Path, paths: &[&str]) -> Result<BTreeSet<String>, GitError> {
        let mut unwatched = BTreeSet::new();
        for batch in batches(paths, PATHS_BYTES_MAX) {
            let question = Question { command: "ls-files", options: &["-v", "-z"], paths: &batch };
            unwatched.extend(spelling::unwatched_in(&self.ask(worktree, &question)?));
        }
        Ok(unwatched)
    }

    /// The dirty and untracked files among the given paths and below them.
    ///
    /// A submodule is dirty if it is at another commit; what happens inside is its own affair.
    /// Names that are not UTF-8 are shown with replacement characters.
    pub fn dirty_paths(&self, worktree: &Path, paths: &[&str]) -> Result<BTreeSet<String>, GitError> {
        let options =
            ["--porcelain=v2", "-z", "--untracked-files=all", "--no-renames", "--ignore-submodules=dirty"];
        let mut dirty = BTreeSet::new();
        for batch in batches(paths, PATHS_BYTES_MAX) {
            let question = Question { command: "status", options: &options, paths: &batch };
            dirty.extend(status::dirty_in(&self.ask(worktree, &question)?)?);
        }
        Ok(dirty)
    }

    /// Which git it is, by the first two numbers of its version.
    pub fn version(&self, worktree: &Path) -> Result<(u32, u32), GitError> {
        let answer = self.ask(worktree, &Question { command: "version", options: &[], paths: &[] })?;
        let text = String::from_utf8_lossy(&answer).trim().to_owned();
        version_in(&text).ok_or(GitError::Format { command: "version", record: text })
    }

    /// Where git looks for hooks, whatever the settings say.
    pub fn hooks_directory(&self, worktree: &Path) -> Result<PathBuf, GitError> {
        let options = ["--path-format=absolute", "--git-path", "hooks"];
        let answer = self.ask(worktree, &Question { command: "rev-parse", options: &options, paths: &[] })?;
        let line = answer.split(|byte| *byte == b'\n').next().unwrap_or_default();
        Ok(PathBuf::from(OsStr::from_bytes(line)))
    }

    /// Names that files had and have, as far as that is staged.
    pub fn renames(&self, worktree: &Path) -> Result<Vec<(String, String)>, GitError> {
        let options = ["--porcelain=v2", "-z", "--untracked-files=no", "--renames"];
        let question = Question { command: "status", options: &options, paths: &[] };
        status::renamed_in(&self.ask(worktree, &question)?)
    }

    /// How many commits each author made on any branch since an instant, in seconds, the busiest first. What is put aside,
    /// noted or kept as a snapshot is no commit of anybody.
    pub fn commits_since(&self, worktree: &Path, seconds: i64) -> Result<Vec<(String, u64)>, GitError> {
        let since = format!("--since=@{seconds}");
        let own = format!("--exclude={OWN_REFS}*");
        let options =
            [&own, "--exclude=refs/stash", "--exclude=refs/notes/*", "--all", &since, "--format=%aN", "-z"];
        let output = self.ask(worktree, &Question { command: "log", options: &options, paths: &[] })?;
        Ok(counted(&output))
    }

    pub(crate) fn ask(&self, worktree: &Path, question: &Question<'_>) -> Result<Vec<u8>, GitError> {
        answered(self.run(worktree, question)?, question)
    }

    /// Whether git says yes: 0 is yes, 1 is no, anything else is no answer.
    pub(crate) fn says(&self, worktree: &Path, question: &Question<'_>) -> Result<bool, GitError> {
        let answer = self.run(worktree, question)?;
        match answer.code {
            Some(0) => Ok(true),
            Some(1) => Ok(false),
            _ => Err(answer.failure(question.command)),
        }
    }

    /// The same of a command that reads its standard input.
    pub(crate) fn ask_fed(
        &self,
        worktree: &Path,
        question: &Question<'_>,
        feed: Feed,
    ) -> Result<Vec<u8>, GitError> {
        answered(self.run_fed(worktree, question, feed)?, question)
    }
}

fn answered(answer: Answer, question: &Question<'_>) -> Result<Vec<u8>, GitError> {
    if answer.code == Some(0) { Ok(answer.output) } else { Err(answer.failure(question.command)) }
}

/// Variables by which git would read or write another repository, another index, or paths as patterns. They are what
/// `git rev-parse --local-env-vars` names, and the ways to read a path.
const ELSEWHERE: [&str; 18] = [
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_CEILING_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_CONFIG",
    "GIT_DIR",
    "GIT_GLOB_PATHSPECS",
    "GIT_GRAFT_FILE",
    "GIT_ICASE_PATHSPECS",
    "GIT_INDEX_FILE",
    "GIT_INTERNAL_SUPER_PREFIX",
    "GIT_LITERAL_PATHSPECS",
    "GIT_NAMESPACE",
    "GIT_NOGLOB_PATHSPECS",
    "GIT_OBJECT_DIRECTORY",
    "GIT_PREFIX",
    "GIT_REPLACE_REF_BASE",
    "GIT_SHALLOW_FILE",
    "GIT_WORK_TREE",
];

/// One call of git.
#[derive(Debug)]
pub(crate) struct Question<'q> {
    pub(crate) command: &'static str,
    pub(crate) options: &'q [&'q str],
    pub(crate) paths: &'q [&'q str],
}

fn is_executable(program: &Path) -> bool {
    let executable_by_anyone = 0o111;
    std::fs::metadata(program)
        .is_ok_and(|found| found.is_file() && found.permissions().mode() & executable_by_anyone != 0)
}

/// Unmerged paths are listed once per stage, one after the other.
fn tracked(output: &[u8]) -> Vec<String> {
    let records = output.split(|byte| *byte == 0).filter(|record| !record.is_empty());
    let mut paths: Vec<String> =
        records.filter_map(|record| std::str::from_utf8(record).ok()).map(str::to_owned).collect();
    paths.dedup();
    paths
}

/// What git said in several lines, in one.
fn one_line(message: &str) -> String {
    let lines = message.lines().map(str::trim).filter(|line| !line.is_empty());
    lines.collect::<Vec<_>>().join("; ")
}

fn version_in(text: &str) -> Option<(u32, u32)> {
    let mut numbers = text.strip_prefix("git version ")?.split('.');
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}

/// How often each name is there, the most frequent first.
fn counted(output: &[u8]) -> Vec<(String, u64)> {
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    for name in output.split(|byte| *byte == 0).filter(|name| !name.is_empty()) {
        *counts.entry(String::from_utf8_lossy(name).trim().to_owned()).or_default() += 1;
    }
    let mut counts: Vec<_> = counts.into_iter().collect();
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    counts
}

/// Git refuses an empty pathspec; the root is written as a dot.
fn or_root(path: &str) -> &str {
    if path.is_empty() { "." } else { path }
}

/// Splits the paths so that no command line gets longer than the system allows.
pub(crate) fn batches<'p>(paths: &[&'p str], bytes_max: usize) -> Vec<Vec<&'p str>> {
    let mut batches: Vec<Vec<&str>> = Vec::new();
    let mut bytes = 0;
    for path in paths.iter().map(|path| or_root(path)) {
        bytes += path.len() + 1;
        match batches.last_mut() {
            Some(batch) if bytes <= bytes_max => batch.push(path),
            _ => {
                bytes = path.len() + 1;
                batches.push(vec![path]);
            }
        }
    }
    batches
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn each_tracked_path_is_listed_once() {
        assert_eq!(tracked(b"a\0b\0b\0b\0\xff\0c\0"), ["a", "b", "c"]);
        assert_eq!(tracked(b""), Vec::<String>::new());
    }

    #[test]
    fn the_busiest_author_comes_first() {
        let counts = counted("bob\0ada\0ada\0\u{e9}\0".as_bytes());
        assert_eq!(counts, [("ada".to_owned(), 2), ("bob".to_owned(), 1), ("\u{e9}".to_owned(), 1)]);
        assert_eq!(counted(b""), []);
    }

    #[test]
    fn a_version_is_known_by_two_numbers() {
        for (text, expect) in [
            ("git version 2.47.3", Some((2, 47))),
            ("git version 2.55.0.windows.1", Some((2, 55))),
            ("git version 2.39.5 (Apple Git-154)", Some((2, 39))),
            ("git version next", None),
            ("hub version 2.14", None),
        ] {
            assert_eq!(version_in(text), expect, "{text}");
        }
    }

    proptest! {
        #[test]
        fn batches_keep_every_path_in_order_and_stay_within_the_limit(
            paths in proptest::collection::vec("[a-z]{1,12}", 0..40),
            bytes_max in 1_usize..60,
        ) {
            let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
            let batches = batches(&paths, bytes_max);
            prop_assert_eq!(batches.concat(), paths);
            for batch in batches {
                let bytes: usize = batch.iter().map(|path| path.len() + 1).sum();
                prop_assert!(bytes <= bytes_max || batch.len() == 1);
            }
        }
    }
}
