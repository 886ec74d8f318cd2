//! A machine that exists in memory: its clock stands still until it is moved, and its dice are loaded.

use crate::{Backstage, ClientFiles, Host, Spent, Streams, run};
use clearway_core::agent::{Above, Client, Established};
use clearway_core::event::{Actor, Body, Durability, Event};
use clearway_core::facts::{FactQuery, Facts, Liveness, Process};
use clearway_core::failure::Failure;
use clearway_core::ids::{ScopeKey, Seq};
use clearway_core::pattern::{Fold, Pattern};
use clearway_core::slug::Slug;
use clearway_core::time::{BootKey, Mono, Now, Wall};
use clearway_core::wait::WaitEnd;
use clearway_kernel::{
    BuildFacts, Changed, Destination, FileId, Found, Knows, Located, Order, Outside, ProcessPlace, Running,
    Site, SiteKind, StoreAt, Surroundings,
};
use clearway_store::World;
use clearway_store::contract::{
    Capabilities, Engine, Examination, Head, Snapshot, StoreError, StoredEvent, Transaction,
};
use clearway_store::memory::MemoryEngine;
use clearway_wire::canonical;
use clearway_wire::json::Zone;
use serde_json::Value;
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

/// The machine.
#[derive(Debug)]
pub(super) struct Stage {
    pub(super) surroundings: Surroundings,
    pub(super) files: BTreeMap<PathBuf, String>,
    /// Somebody else writes whenever the store is examined.
    pub(super) is_busy: bool,
    /// Before the next command writes, somebody else leaves the queue for everybody in it.
    pub(super) empties_queue: Rc<Cell<bool>>,
    /// The store is defective: whoever opens it panics.
    pub(super) breaks: bool,
    /// What is on standard input.
    pub(super) input: String,
    /// How long a call takes.
    pub(super) spent: Spent,
    /// How often a view of the store was opened.
    pub(super) looks: Rc<Cell<usize>>,
    now_ms: u64,
    dice: u64,
    shelf: Shelf,
}

type Shelf = Rc<RefCell<MemoryEngine>>;

/// What a command left behind.
#[derive(Debug)]
pub(super) struct Ran {
    pub(super) code: u8,
    pub(super) stdout: String,
    pub(super) stderr: String,
}

impl Ran {
    #[track_caller]
    pub(super) fn expect(self, code: u8) -> Self {
        assert_eq!(self.code, code, "{self:#?}");
        self
    }

    /// The one document on standard output.
    #[track_caller]
    pub(super) fn json(&self) -> Value {
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
    pub(super) fn run(&mut self, line: &str) -> Ran {
        self.run_words(line.split(' ').map(OsString::from).collect())
    }

    pub(super) fn run_words(&mut self, words: Vec<OsString>) -> Ran {
        let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
        let words = std::iter::once(OsString::from("clearway")).chain(words).collect();
        let code = run(words, self, &mut Streams { stdout: &mut stdout, stderr: &mut stderr });
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        Ran { code, stdout: text(stdout), stderr: text(stderr) }
    }

    pub(super) fn pass_ms(&mut self, ms: u64) {
        self.now_ms += ms;
    }

    /// From now on a person types and reads.
    pub(super) fn seat_person(&mut self) {
        self.surroundings.stdin_is_terminal = true;
        self.surroundings.stderr_is_terminal = true;
    }

    pub(super) fn set(&mut self, name: &str, value: &str) {
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
                FactQuery::Process(process) => facts.learn_process(process, Liveness::Unknown),
                FactQuery::Dirty(worktree, path) => facts.learn_dirty(worktree, path, true),
                FactQuery::Above => facts.learn_above(BTreeSet::new()),
            }
        }
    }
}

impl Outside for Stage {
    fn surroundings(&self) -> &Surroundings {
        &self.surroundings
    }

    fn find_site(&mut self, start: &Path, _named: bool, _: &mut Knows<'_>) -> Result<Site, Failure> {
        Ok(Site {
            key: clearway_kernel::scope_key("app", "/app"),
            place: "/app".to_owned(),
            kind: SiteKind::Directory,
            root: Some(PathBuf::from("/app")),
            outer: None,
            cwd: start.to_owned(),
            fold: Fold::Exact,
        })
    }

    fn resolve(&mut self, _site: &Site, argument: &str, _: &mut Knows<'_>) -> Result<Located, Failure> {
        Ok(Located {
            path: argument.trim_end_matches('/').to_owned(),
            found: Found::Nothing,
            nested: None,
            is_nested_root: false,
        })
    }

    fn destination(&mut self, from: &Path, file: &str) -> Result<Destination, Failure> {
        Ok(Destination { file: from.join(file), directory: PathBuf::from("/app") })
    }

    fn reached_scope(&mut self, _: &Site, _: &Pattern, _: &mut Knows<'_>) -> Option<PathBuf> {
        None
    }

    fn fold_of(&self, _: &Site) -> Fold {
        Fold::Exact
    }

    fn tracked_count(&mut self, _site: &Site) -> Option<u64> {
        None
    }

    fn tracked_files(&mut self, _site: &Site) -> Result<Vec<String>, Failure> {
        Ok(Vec::new())
    }

    fn is_heard(&self) -> bool {
        true
    }

    fn own_process(&mut self) -> Option<Process> {
        let text = |text: &str| text.to_owned();
        Some(Process { host: text("h"), boot: text("boot"), pid_namespace: text("p"), pid: 7, start: 7 })
    }

    fn look_for(&mut self, _: &Order) -> Result<(), Failure> {
        Ok(())
    }

    fn start(&mut self, _: &Order) -> Result<Box<dyn Running>, Failure> {
        Err(Failure::new(Slug::Internal, "nothing is run on a stage"))
    }

    fn ancestors(&mut self) -> Vec<Process> {
        Vec::new()
    }

    fn commands_above(&mut self, _: usize, _: &dyn Fn(&[Above]) -> bool) -> Vec<Above> {
        Vec::new()
    }

    fn started_with(&mut self, _variables: &BTreeMap<&'static str, String>) -> Vec<Vec<&'static str>> {
        Vec::new()
    }

    fn set_above(&mut self, _variables: &[&'static str]) -> Vec<&'static str> {
        Vec::new()
    }

    fn place_of(&mut self, _: &Process) -> Option<ProcessPlace> {
        None
    }

    fn branch_of(&mut self, _: &Path) -> Option<String> {
        None
    }

    fn clients_in(&mut self, _: &Path) -> Vec<(Process, Client)> {
        Vec::new()
    }

    fn changed_files(&mut self, _: &Path) -> Vec<String> {
        Vec::new()
    }

    fn commits_since(&mut self, _: &Site, _: Wall) -> Option<Vec<(String, u64)>> {
        None
    }

    fn uncommitted(&mut self, _: &Site) -> Result<Vec<clearway_kernel::Uncommitted>, Failure> {
        Ok(Vec::new())
    }

    fn committed_since(&mut self, _: &Site, _: &[&str], _: Wall) -> Result<BTreeMap<String, Wall>, Failure> {
        Ok(BTreeMap::new())
    }

    fn terminal_session(&mut self) -> Option<Process> {
        None
    }

    fn open_store(&mut self, _: StoreAt<'_>, _timeout: Duration) -> Result<Box<dyn Engine>, Failure> {
        assert!(!self.breaks, "a defect");
        let engine = self.shelf.take();
        Ok(Box::new(Lent {
            engine,
            is_busy: self.is_busy,
            empties_queue: Rc::clone(&self.empties_queue),
            looks: Rc::clone(&self.looks),
            shelf: Rc::clone(&self.shelf),
        }))
    }

    fn file_beside_store(
        &mut self,
        _: StoreAt<'_>,
        scope: &ScopeKey,
        suffix: &str,
    ) -> Result<PathBuf, Failure> {
        Ok(PathBuf::from(format!("/state/{scope}{suffix}")))
    }

    fn leftovers(&mut self, _: &Path) -> Vec<PathBuf> {
        Vec::new()
    }

    fn remove_leftover(&mut self, _: &Path) -> Result<bool, Failure> {
        Ok(false)
    }

    fn read_text(&mut self, path: &Path) -> Result<Option<String>, Failure> {
        Ok(self.files.get(path).cloned())
    }

    fn everybody_can_write(&self, _path: &Path) -> bool {
        false
    }

    fn file_id(&self, _: &Path) -> Option<FileId> {
        Some(FileId { device: 1, inode: 1, born: 1 })
    }

    fn is_directory(&self, _: &Path) -> bool {
        true
    }

    fn write_private(&mut self, path: &Path, text: &str) -> Result<(), Failure> {
        self.files.insert(path.to_owned(), text.to_owned());
        Ok(())
    }

    fn append_private(&mut self, path: &Path, line: &str, _timeout: Duration) -> Result<(), Failure> {
        let text = self.files.entry(path.to_owned()).or_default();
        text.push_str(line);
        text.push('\n');
        Ok(())
    }

    fn jot(&mut self, path: &Path, line: &str, _: u64) -> Result<(), Failure> {
        self.append_private(path, line, Duration::ZERO)
    }

    fn create_private(&mut self, path: &Path, text: &str) -> Result<bool, Failure> {
        let absent = !self.files.contains_key(path);
        self.files.entry(path.to_owned()).or_insert_with(|| text.to_owned());
        Ok(absent)
    }

    fn passing_file(&self, name: &str) -> Result<PathBuf, Failure> {
        Ok(Path::new("/run").join(name))
    }

    fn passing_files(&self, _: &str) -> Vec<PathBuf> {
        Vec::new()
    }

    fn changed_at(&self, _: &Path) -> Option<i64> {
        None
    }

    fn changed_since(&self, _: &Path, _: &[&str], _: i64, _: Duration) -> Vec<Changed> {
        Vec::new()
    }

    fn remove_file(&mut self, path: &Path) -> Result<(), Failure> {
        self.files.remove(path);
        Ok(())
    }

    fn user_config_path(&self) -> Result<PathBuf, Failure> {
        Ok(PathBuf::from("/home/you/.config/clearway/config.toml"))
    }

    fn operator_key_path(&self) -> Result<PathBuf, Failure> {
        Ok(PathBuf::from("/home/you/.config/clearway/operator.key"))
    }

    fn build(&self) -> BuildFacts {
        BuildFacts { version: "0.1.0", target: "test", is_static: true }
    }
}

impl ClientFiles for Stage {
    fn own_binary(&self) -> Option<PathBuf> {
        Some(PathBuf::from("/usr/bin/clearway"))
    }

    fn can_run(&self, path: &Path) -> bool {
        path == Path::new("/usr/bin/clearway")
    }

    fn journal_path(&self) -> Result<PathBuf, Failure> {
        Ok(PathBuf::from("/state/init.json"))
    }

    fn take_turn(&mut self, _: &Path, _: Duration) -> Result<Box<dyn std::fmt::Debug>, Failure> {
        Ok(Box::new(()))
    }

    fn replace_text(&mut self, path: &Path, text: &str) -> Result<Vec<PathBuf>, Failure> {
        self.files.insert(path.to_owned(), text.to_owned());
        Ok(Vec::new())
    }

    fn remove_text(&mut self, path: &Path) -> Result<(), Failure> {
        self.files.remove(path);
        Ok(())
    }

    fn remove_empty_directory(&mut self, _: &Path) {}

    fn typed_line(&mut self) -> Result<String, Failure> {
        Ok(self.input.clone())
    }
}

impl Host for Stage {
    fn zone(&self) -> Zone {
        Zone::read(None, None)
    }

    fn spent(&self) -> Spent {
        self.spent
    }

    fn input(&mut self, _: usize, _: Duration) -> Result<Vec<u8>, Failure> {
        Ok(self.input.clone().into_bytes())
    }

    fn backstage(&mut self) -> Result<Box<dyn Backstage>, Failure> {
        Err(Failure::new(clearway_core::slug::Slug::GitMissing, "this machine has no programs"))
    }
}

/// An engine that goes back to its shelf when a command is done with it.
struct Lent {
    engine: MemoryEngine,
    is_busy: bool,
    empties_queue: Rc<Cell<bool>>,
    looks: Rc<Cell<usize>>,
    shelf: Shelf,
}

impl Drop for Lent {
    fn drop(&mut self) {
        self.shelf.replace(std::mem::take(&mut self.engine));
    }
}

impl Lent {
    /// Everybody's place in the queue is given up, as another process might do it.
    fn empty_queue(&mut self, scope: &ScopeKey) -> Result<(), StoreError> {
        let Some(mut transaction) = self.engine.begin(scope, false)? else { return Ok(()) };
        for wait in transaction.projection()?.waits.into_values() {
            let (cause, last_heard, operator_reason) = (WaitEnd::Cancelled, None, None);
            let body =
                Body::WaitEnded { wait: wait.id, agent: wait.agent, cause, last_heard, operator_reason };
            let head = transaction.head()?;
            let actor = Actor { agent: Some(wait.agent), how: Established::Claim };
            let event = Event { seq: head.rev.next(), at: wait.created_at, actor, body };
            let bytes = canonical::encode(&event);
            let hash = head.hash.next(scope, event.seq, &bytes);
            transaction.append(&StoredEvent { seq: event.seq, bytes, hash })?;
            transaction.apply(&event)?;
        }
        transaction.commit(Durability::Normal)
    }

    /// One more event, as another process might have written it.
    fn grow(&mut self, scope: &ScopeKey) -> Result<(), StoreError> {
        let Some(mut transaction) = self.engine.begin(scope, false)? else { return Ok(()) };
        let head = transaction.head()?;
        let (seq, bytes) = (head.rev.next(), b"later".to_vec());
        let hash = head.hash.next(scope, seq, &bytes);
        transaction.append(&StoredEvent { seq, bytes, hash })?;
        transaction.commit(Durability::Normal)
    }
}

impl Engine for Lent {
    fn capabilities(&self) -> Capabilities {
        self.engine.capabilities()
    }

    fn begin(
        &mut self,
        scope: &ScopeKey,
        create: bool,
    ) -> Result<Option<Box<dyn Transaction + '_>>, StoreError> {
        if self.empties_queue.take() {
            self.empty_queue(scope)?;
        }
        self.engine.begin(scope, create)
    }

    fn snapshot(&mut self, scope: &ScopeKey) -> Result<Option<Box<dyn Snapshot + '_>>, StoreError> {
        let is_own = *scope != ScopeKey::machine();
        self.looks.set(self.looks.get() + usize::from(is_own));
        self.engine.snapshot(scope)
    }

    fn scopes(&mut self) -> Result<Vec<ScopeKey>, StoreError> {
        self.engine.scopes()
    }

    fn changed(&mut self, scope: &ScopeKey, after: Seq, wait_ms: u64) -> Result<bool, StoreError> {
        self.engine.changed(scope, after, wait_ms)
    }

    fn examine(&mut self, scope: &ScopeKey) -> Result<Examination, StoreError> {
        if self.is_busy {
            self.grow(scope)?;
        }
        self.engine.examine(scope)
    }

    fn witness(&mut self, scope: &ScopeKey) -> Result<Option<Head>, StoreError> {
        self.engine.witness(scope)
    }

    fn make_room(&mut self, scope: &ScopeKey) -> Result<bool, StoreError> {
        self.engine.make_room(scope)
    }

    fn flush(&mut self, scope: &ScopeKey) -> Result<(), StoreError> {
        self.engine.flush(scope)
    }

    fn rebuild(&mut self, scope: &ScopeKey, state: &clearway_core::fold::State) -> Result<(), StoreError> {
        self.engine.rebuild(scope, state)
    }
}
