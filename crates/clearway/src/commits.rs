//! What is changed in a checkout, and commits of some of it.

use crate::shelf::{unanswered, way_round};
use crate::uncommitted::checkout;
use clearway_core::commit::commits;
use clearway_core::failure::Failure;
use clearway_core::shell;
use clearway_core::slug::Slug;
use clearway_git::{Git, GitError, NewCommit};
use clearway_kernel::config::AGENT_VARIABLE;
use clearway_kernel::{ChangedPaths, CommitOrder, GitCommit, INSIDE_COMMIT, Site};
use clearway_platform::environment::Environment;
use clearway_platform::process;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

/// How long hooks of a repository may take over a commit.
const COMMIT_WAIT: Duration = Duration::from_secs(600);

/// How often it is looked whether the commit of somebody else is over.
const OTHERS_PAUSE: Duration = Duration::from_millis(10);

/// Everything that is changed.
pub(crate) fn changed(environment: &Environment, site: &Site) -> Result<ChangedPaths, Failure> {
    let root = checkout(site)?;
    let found = Git::locate(environment).and_then(|git| {
        let paths = git.dirty_paths(root, &[""])?;
        let renames = git.renames(root)?;
        let all = paths.len();
        let paths: Vec<String> = paths.into_iter().filter(|path| is_named(path)).collect();
        Ok(ChangedPaths { nameless: (all - paths.len()) as u64, paths, renames })
    });
    found.map_err(|error| unanswered(&error))
}

/// A name that is not UTF-8 is shown with replacement characters, and names nothing.
fn is_named(path: &str) -> bool {
    !path.contains(char::REPLACEMENT_CHARACTER)
}

/// Makes a commit.
pub(crate) fn make(
    environment: &Environment,
    site: &Site,
    order: &CommitOrder,
) -> Result<GitCommit, Failure> {
    let root = checkout(site)?;
    let paths: Vec<&str> = order.paths.iter().map(String::as_str).collect();
    let made = Git::for_commit(environment).and_then(|git| {
        let git = git.with_timeout(COMMIT_WAIT).with_var(INSIDE_COMMIT, "1");
        let git = match &order.agent {
            Some(agent) => git.with_var(AGENT_VARIABLE, agent),
            None => git,
        };
        git.commit_only(root, &order.messages, &paths, others_are_done)
    });
    let NewCommit { id, branch } = made.map_err(|error| not_made(&error, order))?;
    Ok(GitCommit { id, branch })
}

/// Waits until no other commit is made here. Git has the message of each in the same file of the checkout, and without
/// `--only` no lock while hooks run or somebody writes it: whoever began then may be given the message of whoever came later.
fn others_are_done(root: &Path, within: Duration) -> bool {
    let ends = Instant::now() + within;
    loop {
        match process::words_beside("git", root).iter().any(|words| commits(words)) {
            false => return true,
            true if Instant::now() >= ends => return false,
            true => thread::sleep(OTHERS_PAUSE),
        }
    }
}

/// The files are as they were committed, and staged otherwise, as a hook leaves them that formats what is committed.
fn nothing_to_commit(order: &CommitOrder) -> Failure {
    let paths: String = order.paths.iter().map(|path| format!(" {}", shell::word(path))).collect();
    let hint = format!("they are staged otherwise, which this takes back: git reset -q --{paths}");
    Failure::new(Slug::NothingToCommit, "what is changed here is as it was committed last").hint(hint)
}

fn not_made(error: &GitError, order: &CommitOrder) -> Failure {
    let hint = match error {
        GitError::Missing | GitError::NoRoom { .. } => return unanswered(error),
        GitError::NothingToCommit => return nothing_to_commit(order),
        GitError::Failed { message, .. } if message.contains("partial commit") => {
            "what is under way has to be finished or given up first; see: git status"
        }
        _ => way_round(&error.to_string()).unwrap_or("nothing was committed; see what git says: git status"),
    };
    Failure::new(Slug::GitFailed, error.to_string()).hint(hint)
}
