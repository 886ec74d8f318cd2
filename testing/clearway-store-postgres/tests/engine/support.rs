//! A server with the tables in it, and short words for long requests.

use clearway_core::agent::{AgentName, Caller};
use clearway_core::command::{
    Await, Command, LeaseRef, Release, Request, Reserve, ScopeBirth, Selection, Stay, Want,
};
use clearway_core::decide::Success;
use clearway_core::facts::{FactQuery, Facts, ProcessLife, StartedBy};
use clearway_core::failure::LeaseView;
use clearway_core::ids::{ScopeKey, Seq, WaitId};
use clearway_core::lease::{Grade, Mode};
use clearway_core::limits::WAIT_MS_MAX;
use clearway_core::pattern::{Fold, Pattern};
use clearway_core::slice::ReadSet;
use clearway_core::target::{Target, Worktree};
use clearway_core::time::{BootKey, Mono, Now, Wall};
use clearway_core::wait::{Wait, WaitView};
use clearway_store::contract::{Engine, StoreError};
use clearway_store::{Reply, Rules, World, execute, verify};
use clearway_store_postgres::{Clock, Link, PostgresEngine, Server, Settings, install};
use clearway_wire::canonical;
use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

pub(crate) const TTL_MS: u64 = 1_800_000;

pub(crate) fn server() -> Server {
    let server = Server::start();
    install(server.directory()).unwrap();
    server
}

pub(crate) fn operator(server: &Server) -> Link {
    Link::open(server.directory()).unwrap()
}

pub(crate) fn scope() -> ScopeKey {
    ScopeKey::of("proof", [1, 2, 3, 4])
}

/// One caller with a connection of its own.
pub(crate) struct Actor {
    pub(crate) engine: PostgresEngine,
    world: Draws,
    name: String,
}

/// A machine whose clock is wrong by years: whoever asks it gets a wrong answer.
struct Draws(u64);

impl World for Draws {
    fn now(&mut self) -> Result<Now, StoreError> {
        Ok(Now { boot: BootKey("this machine".to_owned()), mono: Mono(self.0 >> 8), wall: Wall(0) })
    }

    fn draw(&mut self, bytes: &mut [u8]) {
        for byte in bytes {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            *byte = (self.0 >> 33) as u8;
        }
    }

    /// Every process is alive, as far as anybody can tell.
    fn gather(&mut self, queries: &BTreeSet<FactQuery>, facts: &mut Facts) {
        for query in queries {
            match query {
                FactQuery::Process(process) => facts.learn_process(process.clone(), ProcessLife::Alive),
                FactQuery::Above => facts.learn_above(BTreeSet::new()),
                FactQuery::AboveOf(process) => facts.learn_above_of(process.clone(), StartedBy::Unseen),
                FactQuery::Ignored(worktree, path) => {
                    facts.learn_ignored(worktree.clone(), path.clone(), false);
                }
                FactQuery::Keep(worktree, path, _) => facts.learn_kept(worktree.clone(), path.clone(), None),
                FactQuery::Dirty(worktree, path) => facts.learn_dirty(worktree.clone(), path.clone(), false),
            }
        }
    }
}

impl Actor {
    pub(crate) fn at(directory: &Path, name: &str, timeout: Duration) -> Self {
        let settings = Settings { directory: directory.to_owned(), timeout, clock: Clock::Server };
        let seed = name.bytes().fold(17, |seed, byte| seed * 31 + u64::from(byte));
        let engine = PostgresEngine::connect(settings).unwrap();
        Self { engine, world: Draws(seed), name: name.to_owned() }
    }

    pub(crate) fn new(server: &Server, name: &str) -> Self {
        Self::at(server.directory(), name, Duration::from_secs(60))
    }

    pub(crate) fn run(&mut self, command: Command, key: Option<&str>) -> Result<Reply, StoreError> {
        let request = Request {
            caller: Caller { claim: AgentName::parse(&self.name), ..Caller::default() },
            command,
            idempotency_key: key.map(str::to_owned),
            birth: ScopeBirth { place: "/w".to_owned(), fold: Fold::Exact },
        };
        execute(&mut self.engine, &mut self.world, Rules::default(), &scope(), &request)
    }

    pub(crate) fn reserve(&mut self, pattern: &str, key: Option<&str>) -> Result<Reply, StoreError> {
        self.run(reservation(pattern), key)
    }

    /// The lease, which must be granted.
    pub(crate) fn grant(&mut self, pattern: &str) -> LeaseView {
        granted(self.reserve(pattern, None).unwrap()).expect("granted")
    }

    /// The place in the queue, which must be the answer.
    pub(crate) fn queue(&mut self, pattern: &str, stay: Stay, wait: Option<WaitId>) -> Wait {
        match self.run(waiting(pattern, stay, wait), None).unwrap().outcome {
            Ok(Success::Queued { queued, .. }) => queued.wait,
            other => panic!("{other:?}"),
        }
    }

    /// The queue as an onlooker sees it.
    pub(crate) fn waits(&mut self) -> Vec<WaitView> {
        let now = self.engine.now(&mut || panic!("the machine has no say")).unwrap();
        let queue = ReadSet { waits: true, ..ReadSet::default() };
        self.engine.snapshot(&scope()).unwrap().unwrap().load(&queue, &now).unwrap().waits
    }

    pub(crate) fn release(&mut self, lease: &LeaseView) -> Result<(), String> {
        let leases = vec![LeaseRef { id: lease.lease.id, fence: Some(lease.lease.fence) }];
        let selection = Selection::These { leases, targets: Vec::new(), worktree: worktree() };
        let reply = self.run(Command::Release(Release { selection, keep: Vec::new() }), None);
        let outcome = reply.map_err(|error| error.to_string())?.outcome;
        outcome.map(|_| ()).map_err(|failure| failure.message)
    }

    /// The kinds of every event, from a log that must be whole and whose fold the projections must be.
    pub(crate) fn kinds(&mut self) -> Vec<&'static str> {
        let Some(mut snapshot) = self.engine.snapshot(&scope()).unwrap() else { return Vec::new() };
        let report = verify::verify(&mut *snapshot, &scope(), &[]).unwrap();
        assert_eq!(report.broken, None);
        assert_eq!(report.stale_projections, Vec::<String>::new());
        let stored = snapshot.events(Seq(0), usize::MAX).unwrap();
        let kind = |bytes: &[u8], seq| canonical::decode(seq, bytes, Fold::Exact).unwrap().body.kind();
        stored.iter().map(|event| kind(&event.bytes, event.seq)).collect()
    }

    pub(crate) fn count(&mut self, kind: &str) -> usize {
        self.kinds().into_iter().filter(|found| *found == kind).count()
    }
}

pub(crate) fn reservation(pattern: &str) -> Command {
    Command::Reserve(wanted(pattern))
}

/// A request that waits for its turn, at a place it has already or at a new one.
pub(crate) fn waiting(pattern: &str, stay: Stay, wait: Option<WaitId>) -> Command {
    Command::Await(Await { reserve: wanted(pattern), stay, wait_ms: WAIT_MS_MAX, wait })
}

fn wanted(pattern: &str) -> Reserve {
    let target = Target::Path(Pattern::parse(pattern, Fold::Exact).unwrap());
    Reserve {
        wants: vec![Want { target, capacity: 1 }],
        worktree: worktree(),
        mode: Mode::Exclusive,
        grade: Grade::Claimed,
        as_set: false,
        ttl_ms: TTL_MS,
        max_ms: None,
        reason: None,
        best_effort: false,
        bound: None,
        makes_way: false,
    }
}

/// The one lease of a granted reservation; `None` if it was refused.
pub(crate) fn granted(reply: Reply) -> Option<LeaseView> {
    match reply.outcome {
        Ok(Success::Reserved { mut leases, .. }) => leases.pop(),
        Ok(other) => panic!("{other:?}"),
        Err(_) => None,
    }
}

fn worktree() -> Worktree {
    Worktree("/w".to_owned())
}
