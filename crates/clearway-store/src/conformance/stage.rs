//! A stage for stories: an engine, a clock that moves when told, and short words for long commands.

use crate::contract::{Engine, LeaseListing, StoreError, StoredEvent};
use crate::execute::{Reply, Rules, World, execute, preview};
use crate::verify::verify;
use clearway_core::agent::{
    Agent, AgentName, Caller, Client, ClientSession, Established, IdentityKey, OperatorAct,
};
use clearway_core::command::{
    Command, LeaseRef, Release, Renew, Request, Reserve, ScopeBirth, Selection, Want,
};
use clearway_core::decide::Success;
use clearway_core::event::{Actor, Body, Durability, Event};
use clearway_core::facts::{FactQuery, Facts, Process, ProcessLife, StartedBy};
use clearway_core::failure::{Failure, LeaseView};
use clearway_core::ids::{AgentId, LeaseId, NegotiationId, ScopeKey, Seq};
use clearway_core::lease::{Grade, Lease, Mode};
use clearway_core::negotiation::Negotiation;
use clearway_core::pattern::{Fold, Pattern};
use clearway_core::slice::ReadSet;
use clearway_core::slug::Slug;
use clearway_core::snapshot::Keeping;
use clearway_core::target::{ResourceName, Target, Worktree};
use clearway_core::time::{BootKey, Mono, Now, Wall};
use clearway_core::wait::WaitView;
use clearway_wire::canonical;
use std::collections::{BTreeMap, BTreeSet};

/// Where stories take place.
pub struct Stage {
    /// The engine under test.
    pub engine: Box<dyn Engine>,
    /// Clock, randomness and facts.
    pub world: StageWorld,
    /// The scope.
    pub scope: ScopeKey,
}

impl std::fmt::Debug for Stage {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Stage").field("scope", &self.scope).field("world", &self.world).finish()
    }
}

/// A world that a story controls.
#[derive(Clone, Debug)]
pub struct StageWorld {
    /// What the clock shows.
    pub now: Now,
    /// What is known of processes; others are alive.
    pub processes: BTreeMap<u32, ProcessLife>,
    /// Processes that the caller runs inside of.
    pub inside: BTreeSet<u32>,
    /// Which processes were started by which; others by none that matters.
    pub started_by: BTreeMap<u32, u32>,
    /// Paths with uncommitted changes; others have none.
    pub dirty: BTreeSet<String>,
    /// Paths that git ignores; others it does not.
    pub ignored: BTreeSet<String>,
    /// How often facts were asked for.
    pub gathered: usize,
    /// Drawn before anything else, to force collisions.
    pub forced: Vec<u8>,
    state: u64,
}

impl World for StageWorld {
    fn now(&mut self) -> Result<Now, StoreError> {
        Ok(self.now.clone())
    }

    fn draw(&mut self, bytes: &mut [u8]) {
        for byte in bytes {
            if let Some(forced) = (!self.forced.is_empty()).then(|| self.forced.remove(0)) {
                *byte = forced;
                continue;
            }
            self.state =
                self.state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            *byte = (self.state >> 33) as u8;
        }
    }

    fn gather(&mut self, queries: &BTreeSet<FactQuery>, facts: &mut Facts) {
        self.gathered += 1;
        for query in queries {
            match query {
                FactQuery::Process(process) => {
                    let liveness = self.processes.get(&process.pid).copied().unwrap_or(ProcessLife::Alive);
                    facts.learn_process(process.clone(), liveness);
                }
                FactQuery::Keep(worktree, path, cause) => {
                    let kept = self.dirty.contains(path).then(|| Keeping {
                        commit: format!("commit of {path}"),
                        worktree: worktree.clone(),
                        cause: *cause,
                        reason: None,
                        files: 1,
                        bytes: 1,
                    });
                    facts.learn_kept(worktree.clone(), path.clone(), kept);
                }
                FactQuery::Above => facts.learn_above(self.inside.iter().copied().map(process).collect()),
                FactQuery::AboveOf(below) => {
                    let above =
                        std::iter::successors(Some(below.pid), |pid| self.started_by.get(pid).copied());
                    let above = StartedBy::These(above.skip(1).map(process).collect());
                    facts.learn_above_of(below.clone(), above);
                }
                FactQuery::Ignored(worktree, path) => {
                    facts.learn_ignored(worktree.clone(), path.clone(), self.ignored.contains(path));
                }
                FactQuery::Dirty(worktree, path) => {
                    facts.learn_dirty(worktree.clone(), path.clone(), self.dirty.contains(path));
                }
            }
        }
    }
}

/// How a reservation differs from the usual exclusive claim of half an hour.
#[derive(Clone, Debug)]
pub struct How {
    /// Shared or exclusive.
    pub mode: Mode,
    /// Auto or claimed.
    pub grade: Grade,
    /// The silence.
    pub ttl_ms: u64,
    /// The absolute end.
    pub max_ms: Option<u64>,
    /// The reason.
    pub reason: Option<String>,
    /// Best effort.
    pub best_effort: bool,
    /// The checkout.
    pub worktree: Worktree,
    /// Units of a named resource.
    pub capacity: u32,
    /// An idempotency key.
    pub key: Option<String>,
    /// The process the leases are for.
    pub bound: Option<Process>,
    /// Whether paths of it make way.
    pub makes_way: bool,
}

impl Default for How {
    fn default() -> Self {
        Self {
            mode: Mode::Exclusive,
            grade: Grade::Claimed,
            ttl_ms: 1_800_000,
            max_ms: None,
            reason: None,
            best_effort: false,
            worktree: Worktree("/w".to_owned()),
            capacity: 1,
            key: None,
            bound: None,
            makes_way: false,
        }
    }
}

/// A shared reservation.
pub(super) fn shared() -> How {
    How { mode: Mode::Shared, ..How::default() }
}

/// A reservation with this silence.
pub(super) fn ttl(ttl_ms: u64) -> How {
    How { ttl_ms, ..How::default() }
}

/// A reservation as a hook takes it.
pub(super) fn auto() -> How {
    How { grade: Grade::Auto, ttl_ms: 900_000, ..How::default() }
}

/// The caller that names itself.
pub(super) fn named(name: &str) -> Caller {
    Caller { claim: AgentName::parse(name), ..Caller::default() }
}

/// The caller inside a client session.
pub(super) fn in_session(session: &str) -> Caller {
    let session = ClientSession {
        client: Client::ClaudeCode,
        session: session.to_owned(),
        subagent: None,
        process: None,
    };
    Caller { session: Some(session), ..Caller::default() }
}

/// The caller in a terminal whose shell has this pid.
pub(super) fn at_terminal(pid: u32) -> Caller {
    Caller { terminal: Some(process(pid)), ..Caller::default() }
}

/// An operator at that terminal.
pub(super) fn operator(pid: u32, reason: &str) -> Caller {
    let act = OperatorAct { reason: reason.to_owned(), at_terminal: true, holds_key: false };
    Caller { operator: Some(act), ..at_terminal(pid) }
}

/// A process by number.
pub(super) fn process(pid: u32) -> Process {
    Process { host: "h".to_owned(), boot: "b".to_owned(), pid_namespace: "p".to_owned(), pid, start: 1 }
}

/// A path target.
pub(super) fn path(text: &str) -> Target {
    Target::Path(Pattern::parse(text, Fold::Exact).unwrap_or_else(|error| panic!("{text}: {error}")))
}

/// A name target.
pub(super) fn name(text: &str) -> Target {
    Target::Name(ResourceName::parse(text).unwrap_or_else(|error| panic!("{text}: {error}")))
}

fn asked(caller: &Caller, command: Command, idempotency_key: Option<String>) -> Request {
    let birth = ScopeBirth { place: "/w/.git".to_owned(), fold: Fold::Exact };
    Request { caller: caller.clone(), command, idempotency_key, birth }
}

impl Stage {
    /// A stage at the beginning of time.
    pub fn new(engine: Box<dyn Engine>) -> Self {
        let now =
            Now { boot: BootKey("boot-1".to_owned()), mono: Mono(1_000_000), wall: Wall(1_700_000_000_000) };
        let world = StageWorld {
            now,
            processes: BTreeMap::new(),
            inside: BTreeSet::new(),
            started_by: BTreeMap::new(),
            dirty: BTreeSet::new(),
            ignored: BTreeSet::new(),
            gathered: 0,
            forced: Vec::new(),
            state: 42,
        };
        Self { engine, world, scope: ScopeKey::parse("stage-00000000").unwrap_or_else(ScopeKey::machine) }
    }

    /// Lets time pass.
    pub fn pass(&mut self, ms: u64) {
        self.world.now.mono = self.world.now.mono.plus_ms(ms);
        self.world.now.wall.0 += i64::try_from(ms).unwrap_or(i64::MAX);
    }

    /// Starts the machine anew.
    pub fn reboot(&mut self, boot: &str) {
        self.world.now.boot = BootKey(boot.to_owned());
        self.world.now.mono = Mono(5_000);
    }

    /// Executes any command.
    pub fn execute(&mut self, caller: &Caller, command: Command, key: Option<String>) -> Reply {
        let request = asked(caller, command, key);
        let reply = execute(&mut *self.engine, &mut self.world, Rules::default(), &self.scope, &request);
        reply.unwrap_or_else(|error| panic!("the store failed: {error}"))
    }

    /// Reserves.
    pub fn reserve(&mut self, caller: &Caller, targets: &[Target], how: How) -> Reply {
        let command = Command::Reserve(reservation(targets, &how));
        self.execute(caller, command, how.key)
    }

    /// Reserves one path as a named agent.
    pub fn try_take(&mut self, agent: &str, pattern: &str) -> Result<LeaseView, Failure> {
        match self.reserve(&named(agent), &[path(pattern)], How::default()).outcome? {
            Success::Reserved { mut leases, .. } => Ok(leases.remove(0)),
            other => panic!("not a reservation: {other:?}"),
        }
    }

    /// Reserves one path as a named agent and gets it.
    pub fn take(&mut self, agent: &str, pattern: &str) -> LeaseView {
        self.try_take(agent, pattern).unwrap_or_else(|failure| panic!("refused: {failure:?}"))
    }

    /// Executes a command as a named agent.
    pub fn command(&mut self, agent: &str, command: Command) -> Reply {
        self.execute(&named(agent), command, None)
    }

    /// Reserves one path as a named agent and expects to get it.
    pub fn grant(&mut self, agent: &str, pattern: &str, how: How) -> LeaseView {
        only(leases(self.reserve(&named(agent), &[path(pattern)], how)))
    }

    /// Reserves one path as a named agent and expects a refusal.
    pub fn refused(&mut self, agent: &str, pattern: &str, how: How) -> Vec<LeaseView> {
        blockers(&refusal(self.reserve(&named(agent), &[path(pattern)], how), Slug::ReservationHeld))
    }

    /// Looks whether a reservation would be granted.
    pub fn check(&mut self, caller: &Caller, targets: &[Target], how: &How) -> Vec<LeaseView> {
        match self.preview(caller, targets, how).outcome {
            Ok(_) => Vec::new(),
            Err(failure) => blockers(&failure),
        }
    }

    /// What a named agent's reservation of one path would be answered.
    pub fn preview_of(&mut self, agent: &str, pattern: &str) -> Reply {
        self.preview(&named(agent), &[path(pattern)], &How::default())
    }

    /// What a reservation would be answered.
    pub(super) fn preview(&mut self, caller: &Caller, targets: &[Target], how: &How) -> Reply {
        let request = asked(caller, Command::Reserve(reservation(targets, how)), None);
        let reply = preview(&mut *self.engine, &mut self.world, Rules::default(), &self.scope, &request);
        reply.unwrap_or_else(|error| panic!("the store failed: {error}"))
    }

    /// Renews one lease.
    pub fn renew(&mut self, caller: &Caller, lease: LeaseRef) -> Reply {
        let selection = Selection::of(vec![lease]);
        self.execute(caller, Command::Renew(Renew { selection, ttl_ms: None, reason: None }), None)
    }

    /// Releases one lease.
    pub fn release(&mut self, caller: &Caller, lease: LeaseRef) -> Reply {
        let selection =
            Selection::These { leases: vec![lease], targets: Vec::new(), worktree: How::default().worktree };
        self.execute(caller, Command::Release(Release { selection, keep: Vec::new() }), None)
    }

    /// Renews whatever lies inside a pattern.
    pub fn renew_inside(&mut self, caller: &Caller, pattern: &str) -> Reply {
        let targets = vec![path(pattern)];
        let selection = Selection::These { leases: Vec::new(), targets, worktree: How::default().worktree };
        self.execute(caller, Command::Renew(Renew { selection, ttl_ms: None, reason: None }), None)
    }

    /// Releases whatever lies inside a pattern.
    pub fn release_inside(&mut self, caller: &Caller, pattern: &str) -> Reply {
        let targets = vec![path(pattern)];
        let selection = Selection::These { leases: Vec::new(), targets, worktree: How::default().worktree };
        self.execute(caller, Command::Release(Release { selection, keep: Vec::new() }), None)
    }

    /// Records every expiry, for nobody: a sweep is the kernel's own act.
    pub fn sweep(&mut self) -> Vec<LeaseId> {
        match self.execute(&Caller::default(), Command::Sweep, None).outcome {
            Ok(Success::Swept { expired }) => expired,
            other => panic!("not swept: {other:?}"),
        }
    }

    /// Leases nobody ended, whether or not their time is over.
    pub fn stored(&mut self) -> Vec<LeaseId> {
        self.held().iter().map(|lease| lease.id).collect()
    }

    /// The same, whole.
    pub fn held(&mut self) -> Vec<Lease> {
        let now = self.world.now.clone();
        self.snapshot(|snapshot| snapshot.leases(LeaseListing::Live, &now)).unwrap_or_default().leases
    }

    /// How many agents there are.
    pub fn agents(&mut self) -> usize {
        let now = self.world.now.clone();
        self.snapshot(|snapshot| snapshot.agents(&now)).unwrap_or_default().len()
    }

    /// Which agents are at work, in the order they came.
    pub fn at_work(&mut self) -> Vec<bool> {
        let now = self.world.now.clone();
        let agents = self.snapshot(|snapshot| snapshot.agents(&now)).unwrap_or_default();
        agents.iter().map(|view| view.at_work().is_some()).collect()
    }

    /// The queue.
    pub fn waits(&mut self) -> Vec<WaitView> {
        let now = self.world.now.clone();
        let read = ReadSet { waits: true, ..ReadSet::default() };
        self.snapshot(|snapshot| snapshot.load(&read, &now)).unwrap_or_default().waits
    }

    /// A request to a holder, which must have been made.
    pub fn negotiation(&mut self, id: NegotiationId) -> Negotiation {
        let now = self.world.now.clone();
        let read = ReadSet { negotiations: vec![id], ..ReadSet::default() };
        let slice = self.snapshot(|snapshot| snapshot.load(&read, &now)).unwrap_or_default();
        slice.negotiation(id).cloned().unwrap_or_else(|| panic!("nobody asked under {id}"))
    }

    /// Who a caller is here.
    pub fn agent_of(&mut self, caller: &Caller) -> AgentId {
        self.execute(
            caller,
            Command::Renew(Renew { selection: Selection::All, ttl_ms: None, reason: None }),
            None,
        )
        .agent
        .unwrap()
        .0
    }

    /// Every event.
    pub fn events(&mut self) -> Vec<Event> {
        let stored = self.stored_events();
        stored.iter().map(|event| canonical::decode(event.seq, &event.bytes, Fold::Exact).unwrap()).collect()
    }

    /// The kinds of every event, in order.
    pub fn kinds(&mut self) -> Vec<&'static str> {
        self.events().iter().map(|event| event.body.kind()).collect()
    }

    /// Why something was denied, each time it was recorded.
    pub fn denials(&mut self) -> Vec<String> {
        let denied = |body: Body| match body {
            Body::ActionDenied { reason, .. } => Some(reason),
            _ => None,
        };
        self.events().into_iter().filter_map(|event| denied(event.body)).collect()
    }

    /// Every event as it is stored.
    pub fn stored_events(&mut self) -> Vec<StoredEvent> {
        self.snapshot(|snapshot| snapshot.events(Seq(0), usize::MAX)).unwrap_or_default()
    }

    /// Writes an event that no command makes yet: a subagent with a parent.
    pub fn register_child(&mut self, caller: &Caller, parent: AgentId, id: &str) -> AgentId {
        let id = AgentId::parse(id).unwrap();
        let now = self.world.now.clone();
        let session = caller.session.as_ref().unwrap();
        let agent = Agent {
            id,
            name: AgentName::parse(&format!("child-{id}")).unwrap(),
            client: session.client,
            key: IdentityKey::session(session.client, &session.session),
            parent: Some(parent),
            root: parent,
            process: None,
            registered_at: now.wall,
            ended_at: None,
            halted: None,
        };
        let scope = self.scope.clone();
        let mut transaction = self.engine.begin(&scope, true).unwrap().unwrap();
        let head = transaction.head().unwrap();
        let actor = Actor { agent: Some(id), how: Established::Session };
        let event = Event { seq: head.rev.next(), at: now.wall, actor, body: Body::AgentRegistered(agent) };
        let bytes = canonical::encode(&event);
        let hash = head.hash.next(&scope, event.seq, &bytes);
        transaction.append(&StoredEvent { seq: event.seq, bytes, hash }).unwrap();
        transaction.apply(&event).unwrap();
        transaction.commit(Durability::Normal).unwrap();
        id
    }

    /// Makes every projection anew from the log.
    pub fn rebuild(&mut self) {
        let scope = self.scope.clone();
        let Some(report) = self.snapshot(|snapshot| verify(snapshot, &scope, &[])) else { return };
        let rebuilt = self.engine.rebuild(&scope, &report.state);
        rebuilt.unwrap_or_else(|error| panic!("not rebuilt: {error}"));
    }

    /// The log is whole and every projection is its fold.
    pub fn must_be_whole(&mut self) {
        let scope = self.scope.clone();
        let Some(report) = self.snapshot(|snapshot| verify(snapshot, &scope, &[])) else { return };
        assert_eq!(report.broken, None, "the log is whole");
        assert_eq!(report.stale_projections, Vec::<String>::new(), "projections are the fold");
        assert_eq!(report.lost_texts, Vec::<String>::new(), "every text is there");
    }

    pub(super) fn snapshot<T>(
        &mut self,
        read: impl FnOnce(&mut dyn crate::contract::Snapshot) -> Result<T, StoreError>,
    ) -> Option<T> {
        let snapshot =
            self.engine.snapshot(&self.scope).unwrap_or_else(|error| panic!("no snapshot: {error}"));
        snapshot
            .map(|mut snapshot| read(&mut *snapshot).unwrap_or_else(|error| panic!("cannot read: {error}")))
    }
}

pub(super) fn reservation(targets: &[Target], how: &How) -> Reserve {
    Reserve {
        wants: targets.iter().map(|target| Want { target: target.clone(), capacity: how.capacity }).collect(),
        worktree: how.worktree.clone(),
        mode: how.mode,
        grade: how.grade,
        as_set: false,
        ttl_ms: how.ttl_ms,
        max_ms: how.max_ms,
        reason: how.reason.clone(),
        best_effort: how.best_effort,
        bound: how.bound.clone(),
        makes_way: how.makes_way,
    }
}

/// The leases of a granted reservation.
pub(super) fn leases(reply: Reply) -> Vec<LeaseView> {
    match reply.outcome {
        Ok(Success::Reserved { leases, .. } | Success::Renewed(leases)) => leases,
        other => panic!("not granted: {other:?}"),
    }
}

/// The one lease there is.
pub(super) fn only(mut leases: Vec<LeaseView>) -> LeaseView {
    assert_eq!(leases.len(), 1, "{leases:?}");
    leases.remove(0)
}

/// What was released and what remains.
pub(super) fn released(reply: Reply) -> (Vec<LeaseId>, Vec<LeaseId>, Vec<LeaseId>) {
    match reply.outcome {
        Ok(Success::Released { released, already, remaining }) => {
            (released, already, remaining.iter().map(|view| view.lease.id).collect())
        }
        other => panic!("not released: {other:?}"),
    }
}

/// The failure of a reply, which must be this one.
pub(super) fn refusal(reply: Reply, slug: Slug) -> Failure {
    match reply.outcome {
        Err(failure) if failure.slug == slug => failure,
        other => panic!("expected {slug}, got {other:?}"),
    }
}

/// Who stood in the way.
pub(super) fn blockers(failure: &Failure) -> Vec<LeaseView> {
    match &failure.details {
        clearway_core::failure::Details::Blockers { leases, .. } => leases.clone(),
        other => panic!("no blockers: {other:?}"),
    }
}

/// A lease by id alone.
pub(super) fn by_id(view: &LeaseView) -> LeaseRef {
    LeaseRef { id: view.lease.id, fence: None }
}

/// A lease by id and fence.
pub(super) fn fenced(view: &LeaseView) -> LeaseRef {
    LeaseRef { id: view.lease.id, fence: Some(view.lease.fence) }
}
