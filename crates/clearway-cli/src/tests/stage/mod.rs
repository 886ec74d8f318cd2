//! A machine that exists in memory: its clock stands still until it is moved, and its dice are loaded.

mod host;
mod lent;
mod outside;

use crate::{Spent, Streams, run};
use clearway_core::facts::{FactQuery, Facts, ProcessLife, StartedBy};
use clearway_core::time::{BootKey, Mono, Now, Wall};
use clearway_kernel::Surroundings;
use clearway_store::World;
use clearway_store::contract::StoreError;
use clearway_store::memory::MemoryEngine;
use serde_json::Value;
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::PathBuf;
use std::rc::Rc;

/// The machine.
#[derive(Debug)]
pub(in crate::tests) struct Stage {
    pub(in crate::tests) surroundings: Surroundings,
    pub(in crate::tests) files: BTreeMap<PathBuf, String>,
    /// Somebody else writes whenever the store is examined.
    pub(in crate::tests) is_busy: bool,
    /// Before the next command writes, somebody else leaves the queue for everybody in it.
    pub(in crate::tests) empties_queue: Rc<Cell<bool>>,
    /// The store is defective: whoever opens it panics.
    pub(in crate::tests) breaks: bool,
    /// What is on standard input.
    pub(in crate::tests) input: String,
    /// How long a call takes.
    pub(in crate::tests) spent: Spent,
    /// How often a view of the store was opened.
    pub(in crate::tests) looks: Rc<Cell<usize>>,
    now_ms: u64,
    dice: u64,
    shelf: Shelf,
}

type Shelf = Rc<RefCell<MemoryEngine>>;

/// What a command left behind.
#[derive(Debug)]
pub(in crate::tests) struct Ran {
    pub(in crate::tests) code: u8,
    pub(in crate::tests) stdout: String,
    pub(in crate::tests) stderr: String,
}

impl Ran {
    #[track_caller]
    pub(in crate::tests) fn expect(self, code: u8) -> Self {
        assert_eq!(self.code, code, "{self:#?}");
        self
    }

    /// The one document on standard output.
    #[track_caller]
    pub(in crate::tests) fn json(&self) -> Value {
        assert_eq!(self.stderr, "", "with --json nothing is written for people");
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self:#?}"))
    }
}

impl Default for Stage {
    fn default() -> Self {
        let surroundings = Surroundings { cwd: Some(PathBuf::from("/app")), ..Surroundings::default() };
        let shelf = Rc::new(RefCell::new(MemoryEngine::default()));
        Self {
            surroundings,
            files: BTreeMap::new(),
            is_busy: false,
            empties_queue: Rc::default(),
            looks: Rc::default(),
            breaks: false,
            input: String::new(),
            spent: Spent::default(),
            now_ms: 1_000_000,
            dice: 7,
            shelf,
        }
    }
}

impl Stage {
    /// Runs a line, split at blanks.
    pub(in crate::tests) fn run(&mut self, line: &str) -> Ran {
        self.run_words(line.split(' ').map(OsString::from).collect())
    }

    pub(in crate::tests) fn run_words(&mut self, words: Vec<OsString>) -> Ran {
        let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
        let words = std::iter::once(OsString::from("clearway")).chain(words).collect();
        let code = run(words, self, &mut Streams { stdout: &mut stdout, stderr: &mut stderr });
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        Ran { code, stdout: text(stdout), stderr: text(stderr) }
    }

    pub(in crate::tests) fn pass_ms(&mut self, ms: u64) {
        self.now_ms += ms;
    }

    /// From now on a person types and reads.
    pub(in crate::tests) fn seat_person(&mut self) {
        self.surroundings.stdin_is_terminal = true;
        self.surroundings.stderr_is_terminal = true;
    }

    pub(in crate::tests) fn set(&mut self, name: &str, value: &str) {
        self.surroundings.variables.insert(name.to_owned(), value.to_owned());
    }
}

impl World for Stage {
    fn now(&mut self) -> Result<Now, StoreError> {
        let wall = Wall(1_785_361_705_000 + i64::try_from(self.now_ms).unwrap_or_default());
        Ok(Now { boot: BootKey("boot".to_owned()), mono: Mono(self.now_ms), wall })
    }

    fn draw(&mut self, bytes: &mut [u8]) {
        for byte in bytes {
            self.dice =
                self.dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            *byte = (self.dice >> 33) as u8;
        }
    }

    fn gather(&mut self, queries: &BTreeSet<FactQuery>, facts: &mut Facts) {
        for query in queries {
            match query.clone() {
                FactQuery::Process(process) => facts.learn_process(process, ProcessLife::Unknown),
                FactQuery::Ignored(worktree, path) => facts.learn_ignored(worktree, path, false),
                FactQuery::Dirty(worktree, path) => facts.learn_dirty(worktree, path, true),
                FactQuery::Above => facts.learn_above(BTreeSet::new()),
                FactQuery::Keep(worktree, path, _) => facts.learn_kept(worktree.clone(), path.clone(), None),
                FactQuery::AboveOf(process) => facts.learn_above_of(process.clone(), StartedBy::Unseen),
            }
        }
    }
}
