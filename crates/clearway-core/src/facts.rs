//! Facts of the outside that a decision may rely on: which processes are dead, which paths have uncommitted
//! changes or are ignored. Gathered by an adapter outside any transaction; a decision that lacks one asks for it by name.

use crate::snapshot::{Keeping, SnapshotCause};
use crate::target::Worktree;
use crate::time::Mono;
use std::collections::{BTreeMap, BTreeSet};

/// One process, told apart from any other that ever had its number.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Process {
    /// The machine.
    pub host: String,
    /// The boot of that machine.
    pub boot: String,
    /// The pid namespace.
    pub pid_namespace: String,
    /// The number.
    pub pid: u32,
    /// When it started, in the kernel's own unit.
    pub start: u64,
}

impl Process {
    /// One text that is equal only for the same process.
    pub fn key(&self) -> String {
        format!("{}/{}/{}/{}/{}", self.host, self.boot, self.pid_namespace, self.pid, self.start)
    }

    /// Reads the text back.
    pub fn from_key(key: &str) -> Option<Self> {
        let mut parts = key.rsplitn(5, '/');
        let start = parts.next()?.parse().ok()?;
        let pid = parts.next()?.parse().ok()?;
        let (pid_namespace, boot, host) = (parts.next()?, parts.next()?, parts.next()?);
        Some(Self {
            host: host.to_owned(),
            boot: boot.to_owned(),
            pid_namespace: pid_namespace.to_owned(),
            pid,
            start,
        })
    }
}

/// What the machine says of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProcessLife {
    /// It runs.
    Alive,
    /// It is proven gone.
    Dead,
    /// Nobody here can tell (another host, another namespace).
    Unknown,
}

/// What a decision needs to know before it can answer.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FactQuery {
    /// Is this process dead?
    Process(Process),
    /// Is there an uncommitted change at this path of this worktree?
    Dirty(Worktree, String),
    /// Does git ignore this path of this worktree?
    Ignored(Worktree, String),
    /// What is not committed at this path and below it is to be kept, for this reason: which snapshot holds it?
    Keep(Worktree, String, SnapshotCause),
    /// By which processes was the caller started, near or far?
    Above,
    /// By which was this one?
    AboveOf(Process),
}

impl FactQuery {
    /// Whether somebody may change what was seen before anything is decided by it.
    pub fn is_of_a_moment(&self) -> bool {
        matches!(self, Self::Dirty(..))
    }
}

/// What the machine says of what started a process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StartedBy {
    /// These did, near or far.
    These(BTreeSet<Process>),
    /// Nobody here can tell.
    Unseen,
}

/// The facts gathered so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    processes: BTreeMap<Process, ProcessLife>,
    dirty: BTreeMap<(Worktree, String), Look>,
    ignored: BTreeMap<(Worktree, String), bool>,
    above: Option<BTreeSet<Process>>,
    kept: BTreeMap<(Worktree, String), Option<Keeping>>,
    unkept: BTreeMap<(Worktree, String), String>,
    above_of: BTreeMap<Process, StartedBy>,
    /// No look that is learned from now on began before this.
    looked_from: Option<Mono>,
}

/// What somebody saw who looked at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Look {
    is_dirty: bool,
    /// The look began no earlier; of one that began in the very decision it is not said.
    from: Option<Mono>,
}

impl Facts {
    /// Tells when those who are about to look began to.
    pub fn look_from(&mut self, now: Mono) {
        self.looked_from = Some(now);
    }

    /// Records what the machine said of a process.
    pub fn learn_process(&mut self, process: Process, liveness: ProcessLife) {
        self.processes.insert(process, liveness);
    }

    /// Records whether a path has an uncommitted change.
    pub fn learn_dirty(&mut self, worktree: Worktree, path: String, dirty: bool) {
        self.dirty.insert((worktree, path), Look { is_dirty: dirty, from: self.looked_from });
    }

    /// Records whether git ignores a path.
    pub fn learn_ignored(&mut self, worktree: Worktree, path: String, ignored: bool) {
        self.ignored.insert((worktree, path), ignored);
    }

    /// Records that what is not committed at a path cannot be kept, and why.
    pub fn learn_unkept(&mut self, worktree: Worktree, path: String, why: String) {
        self.unkept.insert((worktree.clone(), path.clone()), why);
        self.learn_kept(worktree, path, None);
    }

    /// Records which snapshot holds what is not committed at a path; `None` if nothing is, or it cannot be kept.
    pub fn learn_kept(&mut self, worktree: Worktree, path: String, kept: Option<Keeping>) {
        self.kept.insert((worktree, path), kept);
    }

    /// Records which processes the caller was started by.
    pub fn learn_above(&mut self, processes: BTreeSet<Process>) {
        self.above = Some(processes);
    }

    /// Records which processes another one was started by.
    pub fn learn_above_of(&mut self, process: Process, above: StartedBy) {
        self.above_of.insert(process, above);
    }

    /// Takes it that nothing asked here would be to the asker's advantage: every process lives, every path has changed
    /// and none is ignored, and nothing above the asker ends its waiting.
    pub fn assume_the_worst(&mut self, queries: &BTreeSet<FactQuery>) {
        for query in queries {
            match query.clone() {
                FactQuery::Process(process) => self.learn_process(process, ProcessLife::Alive),
                FactQuery::Dirty(worktree, path) => self.learn_dirty(worktree, path, true),
                FactQuery::Ignored(worktree, path) => self.learn_ignored(worktree, path, false),
                FactQuery::Above => self.learn_above(BTreeSet::new()),
                FactQuery::Keep(worktree, path, _) => self.learn_kept(worktree, path, None),
                FactQuery::AboveOf(process) => self.learn_above_of(process, StartedBy::Unseen),
            }
        }
    }

    /// What is known of a process; `None` if nobody asked yet.
    pub fn process(&self, process: &Process) -> Option<ProcessLife> {
        self.processes.get(process).copied()
    }

    /// The processes that the caller was started by; `None` if nobody asked yet.
    pub fn above(&self) -> Option<&BTreeSet<Process>> {
        self.above.as_ref()
    }

    /// Which snapshot holds what is not committed at a path; `None` if nobody asked yet.
    pub fn kept(&self, worktree: &Worktree, path: &str) -> Option<Option<&Keeping>> {
        self.kept.get(&(worktree.clone(), path.to_owned())).map(Option::as_ref)
    }

    /// Why what is not committed at a path cannot be kept; `None` if it is, or nobody asked yet.
    pub fn unkept(&self, worktree: &Worktree, path: &str) -> Option<&str> {
        self.unkept.get(&(worktree.clone(), path.to_owned())).map(String::as_str)
    }

    /// What is known of what started a process; `None` if nobody asked yet.
    pub fn above_of(&self, process: &Process) -> Option<&StartedBy> {
        self.above_of.get(process)
    }

    /// What is known of a path; `None` if nobody asked yet.
    pub fn dirty(&self, worktree: &Worktree, path: &str) -> Option<bool> {
        self.dirty.get(&(worktree.clone(), path.to_owned())).map(|look| look.is_dirty)
    }

    /// Paths that were seen without a change, by a look that began then.
    pub(crate) fn seen_clean(&self) -> impl Iterator<Item = (&Worktree, &str, Mono)> {
        let clean = self.dirty.iter().filter(|(_, look)| !look.is_dirty);
        clean.filter_map(|((worktree, path), look)| Some((worktree, path.as_str(), look.from?)))
    }

    /// The same without what was seen at these paths.
    #[must_use]
    pub(crate) fn without_looks_at(&self, paths: &BTreeSet<(Worktree, String)>) -> Self {
        let mut rest = self.clone();
        rest.dirty.retain(|path, _| !paths.contains(path));
        rest
    }

    /// Whether git ignores a path; `None` if nobody asked yet.
    pub fn ignored(&self, worktree: &Worktree, path: &str) -> Option<bool> {
        self.ignored.get(&(worktree.clone(), path.to_owned())).copied()
    }
}
