//! Everything the kernel asks of the outside. The binary answers with the real machine, a test with another.

use crate::attribution::Changed;
use crate::finding::ProcessPlace;
use crate::lines::Uncommitted;
use crate::shelf::Shelf;
use crate::site::{Located, Site};
use clearway_core::agent::{Above, Client};
use clearway_core::commit::Reverts;
use clearway_core::facts::Process;
use clearway_core::failure::Failure;
use clearway_core::ids::ScopeKey;
use clearway_core::pattern::{Fold, Pattern};
use clearway_core::time::Wall;
use clearway_store::World;
use clearway_store::contract::Engine;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The outside.
pub trait Outside: World {
    /// The environment as it was when the process started.
    fn surroundings(&self) -> &Surroundings;

    /// The scope that owns a directory. `named` says that the user named it, which allows a home or root
    /// directory to become a scope. Whether it folds case is not looked at.
    fn find_site(&mut self, start: &Path, named: bool, knows: &mut Knows<'_>) -> Result<Site, NoSite>;

    /// Where an argument lies inside a site.
    fn resolve(&mut self, site: &Site, argument: &str, knows: &mut Knows<'_>) -> Result<Located, Failure>;

    /// Where a file that somebody in `from` writes to lies in the end: every link is followed, also the last, because
    /// what is written is what it leads to.
    fn destination(&mut self, from: &Path, file: &str) -> Result<Destination, Failure>;

    /// A scope inside the site that a pattern with wildcards names something of, as far as a short look tells.
    fn reached_scope(&mut self, site: &Site, pattern: &Pattern, knows: &mut Knows<'_>) -> Option<PathBuf>;

    /// Whether the file system of a site folds case. Asked when a scope begins, which keeps the answer.
    fn fold_of(&self, site: &Site) -> Fold;

    /// How many files git tracks at the site, as far as that can be told without asking git.
    fn tracked_count(&mut self, site: &Site) -> Option<u64>;

    /// The files git tracks at the site, relative to its root.
    fn tracked_files(&mut self, site: &Site) -> Result<Vec<String>, Failure>;

    /// Whether somebody may still read what this process writes.
    fn is_heard(&self) -> bool;

    /// This process.
    fn own_process(&mut self) -> Option<Process>;

    /// The processes above this one, nearest first.
    fn ancestors(&mut self) -> Vec<Process>;

    /// The nearest of them with the names of their commands, at most so many and as long as more are asked for.
    fn commands_above(&mut self, at_most: usize, more: &dyn Fn(&[Above]) -> bool) -> Vec<Above>;

    /// The words behind the nearest git above, asked by a hook that it started.
    fn git_words(&mut self) -> Option<Vec<String>>;

    /// Whether any process above is called like a client of agents.
    fn is_below_client(&mut self) -> bool;

    /// Which of these variables, with these values, the processes above were started with, nearest first. It ends
    /// with the first process that cannot be looked at.
    fn started_with(&mut self, variables: &BTreeMap<&'static str, String>) -> Vec<Vec<&'static str>>;

    /// Which of these variables any of the processes above was started with, whatever the value. A process that
    /// cannot be looked at is passed over.
    fn set_above(&mut self, variables: &[&'static str]) -> Vec<&'static str>;

    /// Where a process is, if it lives and we may look.
    fn place_of(&mut self, process: &Process) -> Option<ProcessPlace>;

    /// The branch that is checked out in a directory; a commit where there is none.
    fn branch_of(&mut self, directory: &Path) -> Option<String>;

    /// The clients of agents that run in a directory or below it.
    fn clients_in(&mut self, root: &Path) -> Vec<(Process, Client)>;

    /// Files of a checkout with an uncommitted change, as far as git can tell.
    fn changed_files(&mut self, root: &Path) -> Vec<String>;

    /// Who committed how often at the site since an instant, on any branch, the busiest first.
    fn commits_since(&mut self, site: &Site, since: Wall) -> Option<Vec<(String, u64)>>;

    /// What is not committed at these paths of the checkout of a site, line by line, untracked files included. The empty
    /// path is everything.
    fn uncommitted(&mut self, site: &Site, paths: &[&str]) -> Result<Vec<Uncommitted>, Failure>;

    /// When each of these files was last committed on the branch that is checked out, as far back as asked.
    fn committed_since(
        &mut self,
        site: &Site,
        paths: &[&str],
        since: Wall,
        counting: Commits,
    ) -> Result<BTreeMap<String, Wall>, Failure>;

    /// The paths of the checkout of a site with a change that is not committed, untracked files included.
    fn changed_paths(&mut self, site: &Site) -> Result<ChangedPaths, Failure>;

    /// Commits paths of the checkout of a site as they are there, and nothing else.
    fn commit(&mut self, site: &Site, order: &CommitOrder) -> Result<GitCommit, Failure>;

    /// What git is in the middle of, asked by a hook that git started.
    fn under_way(&mut self) -> UnderWay;

    /// What the commit is about that git makes now, asked by such a hook.
    fn staged(&mut self, under_way: &UnderWay) -> Result<Staged, Failure>;

    /// What is staged of these paths, line by line, asked by such a hook.
    fn staged_lines(&mut self, paths: &[&str]) -> Result<Vec<Uncommitted>, Failure>;

    /// Whether what is staged takes back what a commit did, and nothing else, in files that nobody changed since; asked by
    /// such a hook.
    fn is_reverse(&mut self, reverts: &Reverts) -> bool;

    /// The paths of the last commit, asked by such a hook; none of a merge.
    fn committed_paths(&mut self) -> Result<Vec<String>, Failure>;

    /// What is checked out where git runs its hooks, asked by such a hook; `None` if that takes git to tell.
    fn hooked_head(&mut self) -> Option<Head>;

    /// Paths that a branch would change by going from one commit to another, through commits that nothing led to before,
    /// asked by such a hook.
    fn new_paths(&mut self, from: &str, to: &str) -> Result<Vec<String>, Failure>;

    /// The steps of the head of a checkout that its log holds beyond so many bytes, and how many it has.
    fn head_moves(&mut self, root: &Path, after: u64) -> Option<(u64, Vec<HeadMove>)>;

    /// Paths in which two commits of a checkout differ.
    fn paths_between(&mut self, root: &Path, from: &str, to: &str) -> Result<Vec<String>, Failure>;

    /// Whether one commit of a checkout is among those that lead to another.
    fn leads_to(&mut self, root: &Path, commit: &str, head: &str) -> bool;

    /// The checkouts of the repository of a checkout, asked before merges are predicted.
    fn checkouts(&mut self, root: &Path) -> Result<Vec<CheckedOut>, Failure>;

    /// The commit that a name leads to.
    fn commit_of(&mut self, root: &Path, name: &str) -> Result<Option<String>, Failure>;

    /// The paths that a merge of two commits could not decide. Nothing is merged.
    fn merge_conflicts(&mut self, root: &Path, one: &str, other: &str) -> Result<Vec<String>, Failure>;

    /// What `git stash` put aside in the repository of a site, and what it would find in the checkout.
    fn put_aside(&mut self, site: &Site) -> Result<PutAside, Failure>;

    /// Whether hooks that run before a commit at a site put aside what is not committed, as far as their files tell.
    fn hooks_put_aside(&mut self, site: &Site) -> bool;

    /// What the names of references begin with that are ours alone and never leave a repository.
    fn own_refs(&self) -> &'static str;

    /// Somebody waits: from now on git has so long for all that snapshots and predictions of merges ask of it.
    fn hurry(&mut self, within_ms: u64);

    /// Repositories in a directory, itself included, as far as they are found soon; none in another one, and none in what a
    /// build makes.
    fn repositories_in(&mut self, directory: &Path) -> Vec<PathBuf>;

    /// Those at a place in a checkout, or below it, that the repository around them does not track; with those in what it
    /// ignores, if that is asked for.
    fn untracked_repositories_in(&mut self, root: &Path, place: &Path, with_ignored: bool) -> Vec<PathBuf>;

    /// Whether any file of a checkout at these paths or below them, but for what a build makes, was changed since an
    /// instant, or may have been: what cannot be looked at soon counts as changed. The empty path is everything.
    fn is_changed_since(&mut self, root: &Path, paths: &[String], since: Wall) -> bool;

    /// Where snapshots of a checkout lie.
    fn shelf(&mut self, root: &Path) -> Result<Box<dyn Shelf + '_>, Failure>;

    /// The terminal session this process runs in.
    fn terminal_session(&mut self) -> Option<Process>;

    /// Whether a command is there and can be run.
    fn look_for(&mut self, order: &Order) -> Result<(), Failure>;

    /// Starts a command that does not outlive this process.
    fn start(&mut self, order: &Order) -> Result<Box<dyn Running>, Failure>;

    /// Runs a line of shell beside everything else, and waits for nothing of it.
    fn run_aside(&mut self, errand: &Errand) -> Result<(), Failure>;

    /// Opens the store for reading and writing; nothing is created before the first write.
    fn open_store(&mut self, store: StoreAt<'_>, timeout: Duration) -> Result<Box<dyn Engine>, Failure>;

    /// A file that belongs to a scope and lies beside its store.
    fn file_beside_store(
        &mut self,
        store: StoreAt<'_>,
        scope: &ScopeKey,
        suffix: &str,
    ) -> Result<PathBuf, Failure>;

    /// What killed processes left in the directory of a file and in the place for temporary files.
    fn leftovers(&mut self, beside: &Path) -> Vec<PathBuf>;

    /// Removes one of them; false if it is in use after all.
    fn remove_leftover(&mut self, path: &Path) -> Result<bool, Failure>;

    /// The text of a file; `None` if it is not there.
    fn read_text(&mut self, path: &Path) -> Result<Option<String>, Failure>;

    /// Whether every user of the machine can write a file.
    fn everybody_can_write(&self, path: &Path) -> bool;

    /// Whether anybody but its owner can read or write a file.
    fn others_can_use(&self, path: &Path) -> bool;

    /// Whether a directory is there.
    fn is_directory(&self, path: &Path) -> bool;

    /// What a directory is, whatever it is called.
    fn file_id(&self, path: &Path) -> Option<FileId>;

    /// Replaces a file whole, readable by its owner alone, flushed before this returns.
    fn write_private(&mut self, path: &Path, text: &str) -> Result<(), Failure>;

    /// Adds a line to such a file, which stays whole. Those who add to one file take turns, for at most `timeout`;
    /// no store is kept waiting meanwhile.
    fn append_private(&mut self, path: &Path, line: &str, timeout: Duration) -> Result<(), Failure>;

    /// Adds a line to a file of notes without waiting for anybody or for the disk, in a directory that is there. Of one
    /// longer than `bytes_max` the older half goes.
    fn jot(&mut self, path: &Path, line: &str, bytes_max: u64) -> Result<(), Failure>;

    /// Makes such a file where there is none. False if there is one, which stays as it is: of several that try
    /// at once exactly one succeeds.
    fn create_private(&mut self, path: &Path, text: &str) -> Result<bool, Failure>;

    /// A file in the place for what is forgotten with the boot. It is no part of any store, and works without one.
    fn passing_file(&self, name: &str) -> Result<PathBuf, Failure>;

    /// The files there whose names begin so.
    fn passing_files(&self, front: &str) -> Vec<PathBuf>;

    /// When a file or what is known of it last changed, in nanoseconds of the file system's own time.
    fn changed_at(&self, path: &Path) -> Option<i64>;

    /// Which of the paths below a directory changed after an instant of that time, as far as can be told in a while. Of
    /// one that is not there its nearest directory tells.
    fn changed_since(&self, root: &Path, paths: &[&str], since_ns: i64, within: Duration) -> Vec<Changed>;

    /// Removes a file; none is no error.
    fn remove_file(&mut self, path: &Path) -> Result<(), Failure>;

    /// The user's configuration file.
    fn user_config_path(&self) -> Result<PathBuf, Failure>;

    /// Where an operator's key lies.
    fn operator_key_path(&self) -> Result<PathBuf, Failure>;

    /// Which build this is.
    fn build(&self) -> BuildFacts;
}

/// Which commits of a branch count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Commits {
    /// Every one.
    All,
    /// All but the last.
    ButTheLast,
}

/// What is changed in a checkout.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChangedPaths {
    /// Every path, in order. Names that are not UTF-8, which nobody can reserve, are left out.
    pub paths: Vec<String>,
    /// Names that files had and have, both among the paths.
    pub renames: Vec<(String, String)>,
    /// How many were left out.
    pub nameless: u64,
}

/// What is put aside.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PutAside {
    /// The commits of its entries, the first one first.
    pub entries: Vec<String>,
    /// Paths with a change that is not committed and that git tracks.
    pub changed: Vec<String>,
    /// Paths that git does not know.
    pub untracked: Vec<String>,
}

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
    /// Commits are moved.
    Rebase,
}

/// A checkout of a repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckedOut {
    /// Its root.
    pub root: PathBuf,
    /// The commit that is checked out.
    pub commit: String,
    /// The branch; `None` for a detached head.
    pub branch: Option<String>,
}

/// What a checkout has its head at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Head {
    /// The full name of the branch; `None` if it is detached.
    pub branch: Option<String>,
    /// The commit; zeros before the first.
    pub commit: String,
}

/// One step of the head of a checkout.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeadMove {
    /// The commit it led to before; zeros before the first.
    pub from: String,
    /// The commit it led to then.
    pub to: String,
    /// When, to the second.
    pub at: Wall,
    /// What git said of it.
    pub action: String,
}

/// What a commit is about.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Staged {
    /// Its paths; of a merge those that no side of it has so.
    pub paths: Vec<String>,
    /// Those that are staged otherwise than what is under way brings them; none where nothing is.
    pub beyond: Vec<String>,
    /// What is under way would commit by itself, where that can be told.
    pub brings: Option<Brings>,
    /// Whether it is one of several picks or reverts that git makes one after the other.
    pub is_of_several: bool,
    /// Whether they are taken from the checkout for this commit alone, and git forgets them if it is refused.
    pub is_passing: bool,
}

impl Staged {
    /// Whether a path has nothing to do with what is under way: it is staged otherwise, and would stay as it is.
    pub(crate) fn is_apart(&self, path: &str) -> bool {
        let is_path = |other: &String| other == path;
        let leaves = |brings: &Brings| !brings.changes.iter().any(is_path);
        self.beyond.iter().any(is_path) && self.brings.as_ref().is_some_and(leaves)
    }
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

/// A commit to make.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommitOrder {
    /// Its message, each a paragraph.
    pub messages: Vec<String>,
    /// What goes into it.
    pub paths: Vec<String>,
    /// Who commits, where that was said in words: what git starts has to know.
    pub agent: Option<String>,
}

/// A commit that git made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GitCommit {
    /// Its name.
    pub id: String,
    /// The branch it is on; `None` for a detached head.
    pub branch: Option<String>,
}

/// A directory that no scope can be told for.
#[derive(Clone, Debug)]
pub struct NoSite {
    /// Why.
    pub failure: Failure,
    /// The scope that it has, if that is known: its repository cannot be used as it is.
    pub site: Option<Box<Site>>,
}

impl From<Failure> for NoSite {
    fn from(failure: Failure) -> Self {
        Self { failure, site: None }
    }
}

/// Where a file is that is to be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Destination {
    /// The file.
    pub file: PathBuf,
    /// The nearest directory above it that exists.
    pub directory: PathBuf,
}

/// What a file is, whatever it is called. A number that is free again is given to another file, so when it came into
/// being belongs to it, where the file system tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileId {
    /// The device it lies on.
    pub device: u64,
    /// Its number there.
    pub inode: u64,
    /// When it came into being, in nanoseconds; 0 if that cannot be told.
    pub born: u64,
}

/// Tells whether the store in use has a scope.
pub type Knows<'a> = dyn FnMut(&ScopeKey) -> bool + 'a;

/// Which store is meant.
#[derive(Clone, Copy, Debug)]
pub struct StoreAt<'a> {
    /// What the configuration says; `None` for the default.
    pub url: Option<&'a str>,
    /// The directory that a relative file is meant from.
    pub from: &'a Path,
}

/// A command to run.
#[derive(Clone, Debug, Default)]
pub struct Order {
    /// The program and its arguments.
    pub words: Vec<OsString>,
    /// Variables beside those of this process.
    pub variables: Vec<(String, String)>,
    /// Where, if not where this process is.
    pub directory: Option<PathBuf>,
}

/// A line of shell that nobody waits for.
#[derive(Clone, Debug)]
pub struct Errand {
    /// The line.
    pub line: String,
    /// What it reads on its standard input.
    pub input: String,
    /// Variables that it does not get.
    pub without: Vec<&'static str>,
    /// How long it may take.
    pub ms_max: u64,
    /// The file that says how it ended: nothing if well.
    pub note: PathBuf,
}

/// A command that runs. It gets the signals that are sent to this process.
pub trait Running {
    /// Waits for its end, at most so long: its exit code.
    fn wait(&mut self, at_most_ms: u64) -> Result<Option<u8>, Failure>;

    /// Asks it to end.
    fn ask_to_end(&mut self);

    /// Ends it.
    fn kill(&mut self);
}

/// The environment of the process.
#[derive(Clone, Debug, Default)]
pub struct Surroundings {
    /// Variables that are text.
    pub variables: BTreeMap<String, String>,
    /// The working directory, unless it is gone.
    pub cwd: Option<PathBuf>,
    /// Whether a person may be typing.
    pub stdin_is_terminal: bool,
    /// Whether a person may be reading.
    pub stdout_is_terminal: bool,
    /// Whether a person may be reading the errors.
    pub stderr_is_terminal: bool,
    /// How wide the terminal is.
    pub terminal_columns: Option<u16>,
}

/// Which build this is, for `doctor`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BuildFacts {
    /// The version.
    pub version: &'static str,
    /// What it was built for.
    pub target: &'static str,
    /// Whether it starts without a dynamic linker.
    pub is_static: bool,
}
