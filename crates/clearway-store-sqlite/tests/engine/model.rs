//! The engine beside the model: the same life, the same answers, the same bytes.

use crate::script::{Script, Step};
use crate::support::{TestWorld, engine, fast_dir, scope};
use clearway_core::agent::{Agent, AgentName, Client, Established, IdentityKey, can_block};
use clearway_core::command::Request;
use clearway_core::decide::Success;
use clearway_core::event::{Actor, Body, Durability, Event};
use clearway_core::facts::ProcessLife;
use clearway_core::fold::State;
use clearway_core::ids::{AgentId, Fence, LeaseId, Seq};
use clearway_core::lease::{ExpiryCause, Lease, Mode};
use clearway_core::pattern::Fold;
use clearway_core::target::Target;
use clearway_store::contract::{Engine, LeaseListing, StoredEvent};
use clearway_store::memory::MemoryEngine;
use clearway_store::verify::verify;
use clearway_store::{Reply, Rules, execute};
use clearway_store_sqlite::SqliteEngine;
use clearway_wire::{canonical, outcome};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Lives lived in one run of the tests.
const LIVES: u64 = 400;
/// Steps of one life.
const STEPS: usize = 50;
/// Runs one life alone, by its seed.
const SEED_VARIABLE: &str = "CLEARWAY_MODEL_SEED";
/// Lives more or fewer lives than [`LIVES`].
const LIVES_VARIABLE: &str = "CLEARWAY_MODEL_LIVES";

#[test]
fn sqlite_answers_and_writes_what_the_model_does() {
    let seeds = match std::env::var(SEED_VARIABLE) {
        Ok(seed) => vec![seed.parse().expect("a seed is a number")],
        Err(_) => (0..lives()).collect::<Vec<u64>>(),
    };
    let mut kinds = BTreeMap::<&'static str, usize>::new();
    for seed in seeds {
        let directory = fast_dir();
        let lived = std::panic::catch_unwind(|| live(seed, directory.path()));
        match lived {
            Ok(state) => state.into_iter().for_each(|kind| *kinds.entry(kind).or_default() += 1),
            Err(_) => panic!(
                "failed with seed={seed}; again: {SEED_VARIABLE}={seed} cargo test -p clearway-store-sqlite \
                 --test engine sqlite_answers -- --nocapture"
            ),
        }
    }
    println!("events by kind: {kinds:?}");
    if std::env::var(SEED_VARIABLE).is_err() {
        let missing: Vec<_> = Body::KINDS.iter().filter(|kind| !kinds.contains_key(*kind)).collect();
        assert!(missing.is_empty(), "the lives never saw {missing:?}");
    }
}

fn lives() -> u64 {
    std::env::var(LIVES_VARIABLE).map_or(LIVES, |count| count.parse().expect("a number of lives"))
}

/// Lives one life on both engines and answers the kinds of its events.
fn live(seed: u64, directory: &Path) -> Vec<&'static str> {
    let mut twins = Twins::new(seed, directory);
    let mut script = Script::new(seed).with_hooks();
    let mut watch = Watch::default();
    for number in 0..STEPS {
        if script.reopens() {
            twins.sqlite = engine(directory);
        }
        let mut world = twins.world.clone();
        let step = script.next(&mut world, &watch.state);
        twins.world = world;
        match step {
            Step::Ask(request) => {
                let reply = twins.ask(&request, number);
                let before = watch.state.scope.rev;
                watch.observe(&mut twins, &script);
                watch.answered(&request, &reply, before);
                script.learn(&request, &reply);
            }
            Step::Child(parent, name) => {
                twins.register_child(&watch.state, parent, &name);
                watch.observe(&mut twins, &script);
            }
        }
    }
    twins.must_agree(&watch.state);
    watch.kinds
}

/// The model and the engine, in one world.
struct Twins {
    model: MemoryEngine,
    sqlite: SqliteEngine,
    world: TestWorld,
}

impl Twins {
    fn new(seed: u64, directory: &Path) -> Self {
        Self { model: MemoryEngine::default(), sqlite: engine(directory), world: TestWorld::new(seed) }
    }

    fn ask(&mut self, request: &Request, number: usize) -> Reply {
        let mut second_world = self.world.clone();
        let rules = Rules::default();
        let expected = execute(&mut self.model, &mut self.world, rules, &scope(), request).unwrap();
        let found = execute(&mut self.sqlite, &mut second_world, rules, &scope(), request)
            .unwrap_or_else(|error| panic!("step {number}: {error}\n{request:#?}"));
        let told = |reply: &Reply| format!("{reply:#?}");
        assert_eq!(told(&expected), told(&found), "step {number}: {request:#?}");
        assert_eq!(self.world.entropy.0, second_world.entropy.0, "step {number} drew the same ids");
        expected
    }

    fn engines(&mut self) -> [&mut dyn Engine; 2] {
        [&mut self.model, &mut self.sqlite]
    }

    fn register_child(&mut self, state: &State, parent: AgentId, name: &str) {
        let now = self.world.now.clone();
        let id = AgentId::draw(&mut |bytes: &mut [u8]| {
            bytes.fill_with(|| (self.world.entropy.next() >> 40) as u8);
        });
        let agent = Agent {
            id,
            name: AgentName::parse(name).unwrap(),
            client: Client::Manual,
            key: IdentityKey(format!("manual:{name}")),
            parent: Some(parent),
            root: state.agents[&parent].root,
            process: None,
            registered_at: now.wall,
            ended_at: None,
            halted: None,
        };
        let actor = Actor { agent: Some(id), how: Established::Session };
        for engine in self.engines() {
            let mut transaction = engine.begin(&scope(), true).unwrap().unwrap();
            let head = transaction.head().unwrap();
            let body = Body::AgentRegistered(agent.clone());
            let event = Event { seq: head.rev.next(), at: now.wall, actor, body };
            let bytes = canonical::encode(&event);
            let hash = head.hash.next(&scope(), event.seq, &bytes);
            transaction.append(&StoredEvent { seq: event.seq, bytes, hash }).unwrap();
            transaction.apply(&event).unwrap();
            transaction.commit(Durability::Normal).unwrap();
        }
    }

    fn events_after(&mut self, after: Seq) -> Vec<StoredEvent> {
        let [model, sqlite] = self.engines().map(|engine| match engine.snapshot(&scope()).unwrap() {
            Some(mut snapshot) => snapshot.events(after, usize::MAX).unwrap(),
            None => Vec::new(),
        });
        assert_eq!(model, sqlite, "the same bytes under the same hashes");
        sqlite
    }

    /// Both logs are whole, and every projection is the fold that was watched.
    fn must_agree(&mut self, state: &State) {
        self.events_after(Seq(0));
        let now = self.world.now.clone();
        let told = self.engines().map(|engine| {
            let Some(mut snapshot) = engine.snapshot(&scope()).unwrap() else { return String::new() };
            let report = verify(&mut *snapshot, &scope(), &[]).unwrap();
            assert_eq!(report.broken, None);
            assert_eq!(report.stale_projections, Vec::<String>::new());
            assert_eq!(snapshot.projection().unwrap(), *state);
            assert_eq!(snapshot.head().unwrap(), report.head);
            let mut agents = snapshot.agents(&now).unwrap();
            agents.sort_by_key(|view| view.agent.id);
            let listed = snapshot.leases(LeaseListing::WithEnded(20), &now).unwrap();
            format!("{agents:#?}\n{listed:#?}")
        });
        assert_eq!(told[0], told[1], "the same listings");
    }
}

/// Watches a log grow and holds it to the invariants.
#[derive(Default)]
struct Watch {
    state: State,
    last_fence: Option<Fence>,
    kinds: Vec<&'static str>,
    remembered: BTreeMap<(AgentId, String), (Seq, Success)>,
}

impl Watch {
    fn observe(&mut self, twins: &mut Twins, script: &Script) {
        for stored in twins.events_after(self.state.scope.rev) {
            let event = canonical::decode(stored.seq, &stored.bytes, script.fold()).unwrap();
            if let Body::LeaseExpired { lease, cause, last_seen, .. } = &event.body {
                self.not_early(*lease, *cause, *last_seen, twins);
            }
            self.state.apply(&event).unwrap_or_else(|error| panic!("each lease ends once: {error}"));
            self.kinds.push(event.body.kind());
            if matches!(event.body, Body::LeaseGranted(_) | Body::LeaseUpgraded { .. })
                && let Some(lease) = event.body.lease().and_then(|id| self.state.leases.get(&id).cloned())
            {
                self.rises(&event, &lease);
                self.is_alone(&lease);
            }
        }
    }

    /// No lease expires before its time.
    fn not_early(
        &self,
        id: LeaseId,
        cause: ExpiryCause,
        seen: Option<clearway_core::time::Mono>,
        twins: &Twins,
    ) {
        let lease = &self.state.leases[&id];
        let now = &twins.world.now;
        match cause {
            ExpiryCause::Reboot | ExpiryCause::Recovery => {
                assert!(lease.fence.epoch < self.state.scope.epoch, "{lease:?}")
            }
            ExpiryCause::ProcessGone => {
                let pid = lease.bound.as_ref().map_or(0, |process| process.pid);
                assert_eq!(twins.world.processes.get(&pid), Some(&ProcessLife::Dead), "{lease:?}")
            }
            ExpiryCause::Silence => assert!(now.mono >= lease.deadline_given(seen), "{lease:?}"),
            ExpiryCause::Maximum => assert!(lease.end_max.is_some_and(|end| now.mono >= end), "{lease:?}"),
        }
    }

    /// Every grant has a higher fence than any before it.
    fn rises(&mut self, event: &Event, lease: &Lease) {
        assert_eq!(lease.fence, Fence { epoch: self.state.scope.epoch, seq: event.seq });
        assert!(self.last_fence < Some(lease.fence), "{:?} then {:?}", self.last_fence, lease.fence);
        self.last_fence = Some(lease.fence);
    }

    /// Nobody who could block the holder holds what it was just granted.
    fn is_alone(&self, lease: &Lease) {
        let parent_of = |id: AgentId| self.state.agents.get(&id).and_then(|agent| agent.parent);
        let others: Vec<&Lease> = self
            .state
            .leases
            .values()
            .filter(|other| other.ended.is_none() && other.id != lease.id)
            .filter(|other| other.worktree == lease.worktree && other.overlaps(lease))
            .filter(|other| other.mode.conflicts_with(lease.mode))
            .filter(|other| can_block(other.holder, lease.holder, parent_of))
            .collect();
        let room = match &lease.target {
            Target::Name(name) if name.as_str() == "pool" && lease.mode == Mode::Exclusive => 2,
            _ => 0,
        };
        // Of a unit that somebody has, another lease of its own takes none.
        let units: BTreeSet<Option<u32>> = others.iter().map(|other| other.slot).collect();
        assert!(units.len() <= room, "{lease:#?} beside {others:#?}");
    }

    /// A grant is never older than its own lease, and a repetition answers what the first time was answered.
    fn answered(&mut self, request: &Request, reply: &Reply, before: Seq) {
        if let (Ok(Success::Reserved { leases, .. }), false) = (&reply.outcome, reply.replayed) {
            assert!(leases.iter().all(|view| view.deadline > reply.now.mono), "{leases:?}");
        }
        let (Some(key), Some((agent, _)), Ok(success)) =
            (&request.idempotency_key, &reply.agent, &reply.outcome)
        else {
            return;
        };
        // Whoever waits is told anew each time; what was answered under the key before may be told again after a boot.
        if matches!(success, Success::Queued { .. }) && !request.command.keeps_a_place() {
            return;
        }
        let place = (*agent, key.clone());
        if reply.replayed {
            assert_eq!(self.remembered.get(&place), Some(&(reply.rev, as_remembered(success))));
        } else if reply.rev > before {
            self.remembered.insert(place, (reply.rev, as_remembered(success)));
        }
    }
}

/// An answer as it is kept: without what was so a moment long.
fn as_remembered(success: &Success) -> Success {
    outcome::decode(&outcome::encode(success), Fold::Exact).expect("what was just encoded")
}
