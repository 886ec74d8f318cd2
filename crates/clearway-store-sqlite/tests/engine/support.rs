//! What the tests of this directory share: engines in fresh places, a world they control, short words for long
//! commands.

use clearway_core::agent::{AgentName, Caller};
use clearway_core::command::{Command, Release, Request, Reserve, ScopeBirth, Selection, Want};
use clearway_core::decide::Success;
use clearway_core::facts::{FactQuery, Facts, Process, ProcessLife, StartedBy};
use clearway_core::failure::LeaseView;
use clearway_core::ids::ScopeKey;
use clearway_core::lease::{Grade, Mode};
use clearway_core::pattern::{Fold, Pattern};
use clearway_core::snapshot::Keeping;
use clearway_core::target::{Target, Worktree};
use clearway_core::time::{BootKey, Mono, Now, Wall};
use clearway_store::contract::{About, Engine, Severity, StoreError};
use clearway_store::verify::{Mark, Report, verify};
use clearway_store::{Reply, Rules, World, execute};
use clearway_store_sqlite::{Place, Schema, Settings, SqliteEngine};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tempfile::TempDir;

/// Longer than any wait a passing test makes.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// A directory in memory where there is one, so that thousands of commits do not wait for a disk.
pub(crate) fn fast_dir() -> TempDir {
    let memory = Path::new("/dev/shm");
    if memory.is_dir() { tempfile::tempdir_in(memory).unwrap() } else { tempfile::tempdir().unwrap() }
}

/// The scope of every test that needs only one.
pub(crate) fn scope() -> ScopeKey {
    ScopeKey::parse("test-00000000").unwrap()
}

/// The store of [`scope`] below a state directory.
pub(crate) fn store_file(state: &Path) -> PathBuf {
    Place::PerScope(state.to_owned()).file(&scope())
}

/// The store's file with something added to its name.
pub(crate) fn beside(file: &Path, suffix: &str) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

/// The usual settings below a state directory.
pub(crate) fn settings(state: &Path) -> Settings {
    Settings {
        place: Place::PerScope(state.to_owned()),
        runtime_dir: state.join("run"),
        timeout: PATIENCE,
        network: |_| None,
        schema: Schema::CURRENT,
        leave_open: false,
    }
}

/// An engine that has opened nothing yet.
pub(crate) fn engine(state: &Path) -> SqliteEngine {
    SqliteEngine::new(settings(state))
}

/// Numbers that a seed determines.
#[derive(Clone, Debug)]
pub(crate) struct Rng(pub(crate) u64);

impl Rng {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub(crate) fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.next() % bound.max(1) as u64).unwrap()
    }

    pub(crate) fn one_in(&mut self, chances: usize) -> bool {
        self.below(chances) == 0
    }

    pub(crate) fn pick<T: Clone>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())].clone()
    }
}

/// A world whose clock, randomness and facts are what the test says.
#[derive(Clone, Debug)]
pub(crate) struct TestWorld {
    pub(crate) now: Now,
    pub(crate) processes: BTreeMap<u32, ProcessLife>,
    pub(crate) dirty: BTreeSet<String>,
    pub(crate) entropy: Rng,
}

impl TestWorld {
    pub(crate) fn new(seed: u64) -> Self {
        let now =
            Now { boot: BootKey("boot-1".to_owned()), mono: Mono(1_000_000), wall: Wall(1_700_000_000_000) };
        Self { now, processes: BTreeMap::new(), dirty: BTreeSet::new(), entropy: Rng(seed) }
    }

    pub(crate) fn pass(&mut self, ms: u64) {
        self.now.mono = self.now.mono.plus_ms(ms);
        self.now.wall.0 += i64::try_from(ms).unwrap();
    }

    pub(crate) fn reboot(&mut self, number: usize) {
        self.now.boot = BootKey(format!("boot-{number}"));
        self.now.mono = Mono(5_000);
    }
}

impl World for TestWorld {
    fn now(&mut self) -> Result<Now, StoreError> {
        Ok(self.now.clone())
    }

    fn draw(&mut self, bytes: &mut [u8]) {
        bytes.fill_with(|| (self.entropy.next() >> 40) as u8);
    }

    fn gather(&mut self, queries: &BTreeSet<FactQuery>, facts: &mut Facts) {
        for query in queries {
            match query {
                FactQuery::Process(process) => {
                    let liveness = self.processes.get(&process.pid).copied().unwrap_or(ProcessLife::Alive);
                    facts.learn_process(process.clone(), liveness);
                }
                FactQuery::Above => facts.learn_above(BTreeSet::new()),
                FactQuery::AboveOf(process) => facts.learn_above_of(process.clone(), StartedBy::Unseen),
                FactQuery::Ignored(worktree, path) => {
                    facts.learn_ignored(worktree.clone(), path.clone(), false);
                }
                FactQuery::Keep(worktree, path, cause) => {
                    let kept = Keeping {
                        commit: format!("commit of {path}"),
                        worktree: worktree.clone(),
                        cause: *cause,
                        reason: None,
                        files: 1,
                        bytes: 1,
                    };
                    facts.learn_kept(worktree.clone(), path.clone(), Some(kept));
                }
                FactQuery::Dirty(worktree, path) => {
                    facts.learn_dirty(worktree.clone(), path.clone(), self.dirty.contains(path));
                }
            }
        }
    }
}

/// The caller that names itself.
pub(crate) fn named(name: &str) -> Caller {
    Caller { claim: Some(AgentName::parse(name).unwrap()), ..Caller::default() }
}

/// The process with this number.
pub(crate) fn process(pid: u32) -> Process {
    Process { host: "h".to_owned(), boot: "b".to_owned(), pid_namespace: "p".to_owned(), pid, start: 1 }
}

/// A path target.
pub(crate) fn path(text: &str) -> Target {
    Target::Path(Pattern::parse(text, Fold::Exact).unwrap())
}

/// An exclusive claim of half an hour.
pub(crate) fn claim(targets: &[Target]) -> Reserve {
    Reserve {
        wants: targets.iter().map(|target| Want { target: target.clone(), capacity: 1 }).collect(),
        worktree: Worktree("/w".to_owned()),
        mode: Mode::Exclusive,
        grade: Grade::Claimed,
        as_set: false,
        ttl_ms: 1_800_000,
        max_ms: None,
        reason: None,
        best_effort: false,
        bound: None,
        makes_way: false,
    }
}

/// Everything the caller holds.
pub(crate) fn release_all() -> Command {
    Command::Release(Release { selection: Selection::All, keep: Vec::new() })
}

/// A request in a scope that does not fold case.
pub(crate) fn request(caller: Caller, command: Command, key: Option<&str>) -> Request {
    let birth = ScopeBirth { place: "/w/.git".to_owned(), fold: Fold::Exact };
    Request { caller, command, idempotency_key: key.map(str::to_owned), birth }
}

/// Executes in [`scope`].
pub(crate) fn run(
    engine: &mut dyn Engine,
    world: &mut TestWorld,
    request: &Request,
) -> Result<Reply, StoreError> {
    execute(engine, world, Rules::default(), &scope(), request)
}

/// Tries to reserve one path exclusively.
pub(crate) fn try_reserve(
    engine: &mut dyn Engine,
    world: &mut TestWorld,
    agent: &str,
    pattern: &str,
) -> Result<Reply, StoreError> {
    run(engine, world, &request(named(agent), Command::Reserve(claim(&[path(pattern)])), None))
}

/// Reserves one path exclusively and expects to get it.
pub(crate) fn grant(engine: &mut dyn Engine, world: &mut TestWorld, agent: &str, pattern: &str) -> LeaseView {
    let reply = try_reserve(engine, world, agent, pattern).unwrap();
    match reply.outcome {
        Ok(Success::Reserved { mut leases, .. }) if leases.len() == 1 => leases.remove(0),
        other => panic!("{agent} did not get {pattern}: {other:?}"),
    }
}

/// Verifies [`scope`] as an audit does: the log, the witness beside it, the projections.
pub(crate) fn audit(engine: &mut dyn Engine, marks: &[Mark]) -> Result<Option<Report>, StoreError> {
    let witness = engine.witness(&scope())?.map(|head| Mark { head, by: "the witness".to_owned() });
    let marks: Vec<Mark> = marks.iter().cloned().chain(witness).collect();
    let Some(mut snapshot) = engine.snapshot(&scope())? else { return Ok(None) };
    verify(&mut *snapshot, &scope(), &marks).map(Some)
}

/// Everything an audit or a doctor would complain about, in words; nothing if the store is whole.
pub(crate) fn complaints(engine: &mut dyn Engine, marks: &[Mark]) -> Vec<String> {
    let mut found = Vec::new();
    match audit(engine, marks) {
        Err(error) => found.push(error.to_string()),
        Ok(None) => found.push("there is no store".to_owned()),
        Ok(Some(report)) => {
            found.extend(report.broken.map(|broken| format!("event {}: {}", broken.seq, broken.what)));
            found.extend(report.stale_projections);
            found.extend(report.lost_texts.iter().map(|id| format!("the text of {id} is gone")));
        }
    }
    match engine.examine(&scope()) {
        Err(error) => found.push(error.to_string()),
        Ok(examination) => {
            // A disk without room is no damage of what is on it.
            let errors = examination
                .findings
                .into_iter()
                .filter(|finding| finding.severity == Severity::Error && finding.about != About::Disk);
            found.extend(errors.map(|finding| format!("{}: {}", finding.about.word(), finding.text)));
        }
    }
    found
}

/// The store is whole in every way there is to look at it.
pub(crate) fn must_be_whole(engine: &mut dyn Engine) {
    assert_eq!(complaints(engine, &[]), Vec::<String>::new());
}
