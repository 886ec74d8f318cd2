//! The outside of a life: one clock, processes that live, die or cannot be asked about, files that are changed or not.

use crate::rng::Rng;
use clearway_core::facts::{FactQuery, Facts, Process, ProcessLife, StartedBy};
use clearway_core::target::Worktree;
use clearway_core::time::{BootKey, Mono, Now, Wall};
use clearway_store::World;
use clearway_store::contract::StoreError;
use std::collections::{BTreeMap, BTreeSet};

/// The machine every process of a life can be asked about.
const HERE: &str = "here";
/// Another machine: nobody here can tell whether its processes live.
const FAR: &str = "far";

/// The truth, of which decisions are told what they ask for.
#[derive(Clone, Debug)]
pub(crate) struct SimWorld {
    pub(crate) now: Now,
    pub(crate) boots: u32,
    dead: BTreeSet<Process>,
    dirty: BTreeSet<(Worktree, String)>,
    /// Processes that whoever asks was started by.
    above: BTreeSet<Process>,
    /// By which process another one was started, where that matters.
    started_by: BTreeMap<Process, Process>,
    entropy: Rng,
    pids: u32,
    /// Facts gathered earlier, in whose light a request is decided now.
    pub(crate) held: Facts,
    /// What a request was told, in the order it asked.
    pub(crate) asked: BTreeSet<FactQuery>,
    held_queries: BTreeSet<FactQuery>,
}

impl SimWorld {
    pub(crate) fn new(seed: u64) -> Self {
        let now =
            Now { boot: BootKey("boot-1".to_owned()), mono: Mono(1_000_000), wall: Wall(1_700_000_000_000) };
        Self {
            now,
            boots: 1,
            dead: BTreeSet::new(),
            dirty: BTreeSet::new(),
            above: BTreeSet::new(),
            started_by: BTreeMap::new(),
            entropy: Rng(seed ^ 0x5eed_5eed),
            pids: 100,
            held: Facts::default(),
            asked: BTreeSet::new(),
            held_queries: BTreeSet::new(),
        }
    }

    pub(crate) fn pass(&mut self, ms: u64) {
        self.now.mono = self.now.mono.plus_ms(ms);
        self.now.wall.0 += i64::try_from(ms).unwrap_or(0);
    }

    /// Starts the machine anew: another clock, and every process is gone.
    pub(crate) fn reboot(&mut self, uptime_ms: u64) {
        self.boots += 1;
        self.now.boot = BootKey(format!("boot-{}", self.boots));
        self.now.mono = Mono(uptime_ms);
    }

    /// A process that just started, here or where nobody can ask about it.
    pub(crate) fn start(&mut self, far: bool, above: Option<&Process>) -> Process {
        self.pids += 1;
        let process = Process {
            host: if far { FAR } else { HERE }.to_owned(),
            boot: self.now.boot.0.clone(),
            pid_namespace: "p".to_owned(),
            pid: self.pids,
            start: u64::from(self.pids),
        };
        self.started_by.extend(above.map(|above| (process.clone(), above.clone())));
        process
    }

    pub(crate) fn kill(&mut self, process: &Process) {
        self.dead.insert(process.clone());
    }

    /// Changes a file, or brings it back to what is committed.
    pub(crate) fn toggle(&mut self, worktree: Worktree, path: String) {
        let file = (worktree, path);
        if !self.dirty.remove(&file) {
            self.dirty.insert(file);
        }
    }

    /// Whether a process is gone in truth, provable or not.
    pub(crate) fn is_gone(&self, process: &Process) -> bool {
        self.dead.contains(process) || process.boot != self.now.boot.0
    }

    /// What can be told of a process here.
    pub(crate) fn liveness(&self, process: &Process) -> ProcessLife {
        if process.host == FAR {
            ProcessLife::Unknown
        } else if self.is_gone(process) {
            ProcessLife::Dead
        } else {
            ProcessLife::Alive
        }
    }

    /// Whoever asks next was started by this process, or by none that matters.
    pub(crate) fn ask_below(&mut self, process: Option<&Process>) {
        self.above = process.into_iter().cloned().collect();
    }

    /// The processes above whoever asks that are still there.
    pub(crate) fn above(&self) -> BTreeSet<Process> {
        self.above.iter().filter(|process| !self.is_gone(process)).cloned().collect()
    }

    /// Whether a process was started by another one, near or far, in truth.
    pub(crate) fn is_below(&self, process: &Process, above: &Process) -> bool {
        std::iter::successors(Some(process), |below| self.started_by.get(below))
            .skip(1)
            .any(|found| found == above)
    }

    /// What can be told here of what started a process.
    fn above_of(&self, process: &Process) -> StartedBy {
        let above = std::iter::successors(Some(process), |below| self.started_by.get(below)).skip(1);
        match self.liveness(process) {
            ProcessLife::Alive => StartedBy::These(above.cloned().collect()),
            ProcessLife::Dead | ProcessLife::Unknown => StartedBy::Unseen,
        }
    }

    pub(crate) fn is_dirty(&self, worktree: &Worktree, path: &str) -> bool {
        self.dirty.contains(&(worktree.clone(), path.to_owned()))
    }

    /// Keeps what a request has asked about so far, to be presented again later.
    pub(crate) fn hold(&mut self) -> (Facts, BTreeSet<FactQuery>) {
        let mut facts = Facts::default();
        let asked = std::mem::take(&mut self.asked);
        asked.iter().for_each(|query| self.answer(query, &mut facts));
        (facts, asked)
    }

    /// Lets the next request be decided in the light of facts gathered earlier.
    pub(crate) fn present(&mut self, (facts, queries): (Facts, BTreeSet<FactQuery>)) {
        (self.held, self.held_queries) = (facts, queries);
    }

    /// Whether the truth has changed since a fact was gathered.
    pub(crate) fn is_outdated(&self, query: &FactQuery, held: &Facts) -> bool {
        match query {
            FactQuery::Process(process) => held.process(process) != Some(self.liveness(process)),
            FactQuery::Above | FactQuery::Ignored(..) | FactQuery::Keep(..) => false,
            FactQuery::AboveOf(process) => held.above_of(process) != Some(&self.above_of(process)),
            FactQuery::Dirty(worktree, path) => {
                held.dirty(worktree, path) != Some(self.is_dirty(worktree, path))
            }
        }
    }

    fn answer(&self, query: &FactQuery, facts: &mut Facts) {
        match query {
            FactQuery::Process(process) => {
                let held = self.held.process(process);
                facts.learn_process(process.clone(), held.unwrap_or_else(|| self.liveness(process)));
            }
            FactQuery::Above => facts.learn_above(self.above()),
            FactQuery::AboveOf(process) => {
                let held = self.held.above_of(process).cloned();
                facts.learn_above_of(process.clone(), held.unwrap_or_else(|| self.above_of(process)));
            }
            FactQuery::Ignored(worktree, path) => facts.learn_ignored(worktree.clone(), path.clone(), false),
            FactQuery::Keep(worktree, path, _) => facts.learn_kept(worktree.clone(), path.clone(), None),
            FactQuery::Dirty(worktree, path) => {
                let held = self.held.dirty(worktree, path);
                let dirty = held.unwrap_or_else(|| self.is_dirty(worktree, path));
                facts.learn_dirty(worktree.clone(), path.clone(), dirty);
            }
        }
    }
}

impl World for SimWorld {
    fn now(&mut self) -> Result<Now, StoreError> {
        Ok(self.now.clone())
    }

    fn draw(&mut self, bytes: &mut [u8]) {
        bytes.fill_with(|| (self.entropy.next() >> 40) as u8);
    }

    fn gather(&mut self, queries: &BTreeSet<FactQuery>, facts: &mut Facts) {
        self.asked.extend(queries.iter().chain(&self.held_queries).cloned());
        queries.iter().chain(&self.held_queries).for_each(|query| self.answer(query, facts));
    }
}
