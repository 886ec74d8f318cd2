//! What somebody asks for next. Chosen by the seed, from what a caller would know: its replies and the listing.

use crate::cast::{Cast, Member, Role, ShellRef, Waiting};
use crate::ground;
use crate::ledger::Ledger;
use crate::rng::Rng;
use clearway_core::agent::{Agent, AgentName, Caller, OperatorAct};
use clearway_core::command::{
    Answer, Ask, Await, Command, Force, LeaseRef, Leave, Release, Renew, Request, Reserve, Says, ScopeBirth,
    Selection, Settle, Stay, Transfer, Want,
};
use clearway_core::facts::Process;
use clearway_core::ids::Fence;
use clearway_core::lease::{Grade, Lease, Mode};
use clearway_core::negotiation::{Negotiation, NegotiationEnd, NegotiationState, Urgency};
use clearway_core::target::{Target, Worktree};
use clearway_core::time::Mono;
use clearway_core::wait::Wait;

const TTLS_MS: [u64; 7] = [1_000, 5_000, 20_000, 60_000, 400_000, 1_800_000, 1_800_000];
const WAITS_MS: [u64; 6] = [100, 1_000, 20_000, 700_000, 3_600_000, 86_400_000];

/// Makes requests.
#[derive(Debug)]
pub(crate) struct Script<'a> {
    pub(crate) rng: &'a mut Rng,
    pub(crate) cast: &'a Cast,
    pub(crate) ledger: &'a Ledger,
    pub(crate) now: Mono,
    /// What there is to reserve in this life.
    pub(crate) field: &'a [Want],
}

impl Script<'_> {
    /// The next request of one process.
    pub(crate) fn next(&mut self, at: ShellRef) -> Request {
        let waiting = self.cast.members[at.member].shells[at.shell].waiting.clone();
        let command = match waiting {
            _ if self.has_to_talk(at) => self.talk(at),
            Some(waiting) if !self.rng.one_in(5) => self.again(at, &waiting),
            _ => self.anything(at),
        };
        let mut caller = self.member(at).caller.clone();
        let orders = matches!(
            command,
            Command::Freeze { .. } | Command::Thaw | Command::Halt(_) | Command::Continue(_)
        );
        if self.member(at).role == Role::Person && (orders || self.rng.one_in(3)) {
            caller.operator =
                Some(OperatorAct { reason: "tidying up".to_owned(), at_terminal: true, holds_key: false });
        }
        let key = self.rng.one_in(4).then(|| format!("key-{}", self.rng.below(3)));
        request(caller, command, key)
    }

    fn member(&self, at: ShellRef) -> &Member {
        &self.cast.members[at.member]
    }

    /// A waiting process tries again, for the last time, in another way, or leaves.
    fn again(&mut self, at: ShellRef, waiting: &Waiting) -> Command {
        let process = self.member(at).shells[at.shell].process.clone();
        let here = if waiting.attached { Stay::Attached(process.clone()) } else { Stay::Durable };
        let stay = match self.rng.below(12) {
            0 => Stay::Last,
            1 => kept(&waiting.wanted, process),
            2 => Stay::Attached(process),
            3 => return Command::Leave(Leave { waits: Some(vec![waiting.id]) }),
            4 if !waiting.attached => return Command::Reserve(waiting.wanted.clone()),
            _ => here,
        };
        let wait = (!self.rng.one_in(8)).then_some(waiting.id);
        let wait_ms = self.rng.pick(&WAITS_MS);
        Command::Await(Await { reserve: waiting.wanted.clone(), stay, wait_ms, wait })
    }

    fn anything(&mut self, at: ShellRef) -> Command {
        let person = self.member(at).role == Role::Person;
        match self.rng.below(46) {
            0..=10 => Command::Reserve(self.reserve(at)),
            11..=21 => self.wait(at),
            22..=24 => self.renew(at),
            25..=30 => self.release(at),
            31..=32 => self.transfer(at),
            33 if person || self.rng.one_in(8) => {
                Command::Freeze { for_ms: self.rng.pick(&[5_000, 60_000, 600_000]) }
            }
            34 if person || self.rng.one_in(8) => Command::Thaw,
            35 => Command::Leave(Leave { waits: None }),
            36 => self.leave_any(),
            37 if person && self.rng.one_in(6) => Command::Recover,
            38..=39 => Command::Sweep,
            40..=41 => self.ask(at),
            42 => self.talk(at),
            43 => self.settle(at),
            44 if person || self.rng.one_in(8) => self.stop(),
            _ => self.upgrade(at),
        }
    }

    fn wait(&mut self, at: ShellRef) -> Command {
        let mut reserve = Reserve { best_effort: false, ..self.reserve(at) };
        if self.rng.one_in(2) {
            self.want_what_is_held(&mut reserve);
        }
        let process = self.member(at).shells[at.shell].process.clone();
        let stay = match self.rng.below(8) {
            0..=3 => Stay::Attached(process),
            4..=6 => kept(&reserve, process),
            _ => Stay::Last,
        };
        Command::Await(Await { reserve, stay, wait_ms: self.rng.pick(&WAITS_MS), wait: None })
    }

    /// Turns a request to something that somebody holds, rather somebody who waits: so circles come about.
    fn want_what_is_held(&mut self, reserve: &mut Reserve) {
        let mut held: Vec<_> = self.ledger.open_leases().cloned().collect();
        let waits = |lease: &Lease| self.ledger.waits.values().any(|wait| wait.agent == lease.holder);
        if held.iter().any(waits) && !self.rng.one_in(3) {
            held.retain(waits);
        }
        if !held.is_empty() {
            let lease = self.rng.pick(&held);
            let capacity = u32::try_from(ground::capacity(&lease.target)).unwrap_or(1);
            reserve.wants = vec![Want { target: lease.target.clone(), capacity }];
            if matches!(lease.target, Target::Path(_)) {
                reserve.worktree = lease.worktree;
            }
        }
    }

    /// Asks for something, rather for what somebody holds, or for a part of it.
    fn ask(&mut self, at: ShellRef) -> Command {
        let mut reserve = Reserve {
            mode: Mode::Exclusive,
            as_set: false,
            best_effort: false,
            max_ms: None,
            bound: None,
            ..self.reserve(at)
        };
        if !self.rng.one_in(6) {
            self.want_what_is_held(&mut reserve);
        }
        reserve.wants.truncate(1);
        if self.rng.one_in(2) {
            let target = reserve.wants[0].target.clone();
            reserve.wants[0].target = self.part_in(&target);
        }
        let urgency = if self.rng.one_in(3) { Urgency::Urgent } else { Urgency::Normal };
        let (why, then_reserve) = ("add logout".to_owned(), self.rng.one_in(3));
        Command::Ask(Ask { reserve, why, urgency, then_reserve, tells_answer: false, tells_circle: false })
    }

    fn part_in(&mut self, whole: &Target) -> Target {
        let here = Worktree("/w".to_owned());
        let inside = (0..ground::PATH_COUNT).map(|number| ground::path(number).target);
        let parts: Vec<Target> = inside.filter(|part| ground::within(part, &here, whole, &here)).collect();
        if parts.is_empty() { whole.clone() } else { self.rng.pick(&parts) }
    }

    /// Whoever asks or is asked says something now and then.
    fn has_to_talk(&mut self, at: ShellRef) -> bool {
        let own = self.ledger.identified(&self.member(at).caller);
        let concerned = |asked: &Negotiation| Some(asked.holder) == own || Some(asked.requester) == own;
        let mut all = self.ledger.negotiations.values();
        all.any(|asked| concerned(asked) && (asked.is_open() || is_forced(asked))) && self.rng.one_in(3)
    }

    /// Answers, takes back or forces a request; rather one of its own than somebody else's, and rather an open one.
    fn talk(&mut self, at: ShellRef) -> Command {
        let own = self.ledger.identified(&self.member(at).caller);
        let over = self.rng.one_in(4);
        let all: Vec<Negotiation> =
            self.ledger.negotiations.values().filter(|asked| over || asked.is_open()).cloned().collect();
        let concerned = |asked: &&Negotiation| Some(asked.holder) == own || Some(asked.requester) == own;
        let mine: Vec<Negotiation> = all.iter().filter(concerned).cloned().collect();
        let pool = if mine.is_empty() || self.rng.one_in(8) { all } else { mine };
        if pool.is_empty() {
            return self.ask(at);
        }
        let asked = self.rng.pick(&pool);
        let is_holder = Some(asked.holder) == own;
        if is_holder && asked.state == NegotiationState::AfterCommit && self.rng.one_in(2) {
            return self.settle(at);
        }
        match self.rng.below(8) {
            0 if !is_holder => Command::Withdraw(asked.id),
            1..=6 if !is_holder => {
                let reason = "the release is due".to_owned();
                Command::Force(Force { negotiation: asked.id, reason, without_snapshot: false })
            }
            _ => Command::Answer(Answer { negotiation: asked.id, says: self.says(&asked) }),
        }
    }

    fn says(&mut self, asked: &Negotiation) -> Says {
        match self.rng.below(8) {
            0..=1 => Says::Release(Vec::new()),
            2 => Says::Release(vec![self.part_in(&asked.target)]),
            3 => Says::AfterCommit,
            4..=5 => Says::Later { for_ms: self.rng.pick(&[60_000, 900_000, 3_600_000]) },
            _ => Says::No("half done".to_owned()),
        }
    }

    /// What an agent holds is committed, as far as it is.
    fn settle(&mut self, at: ShellRef) -> Command {
        let leases = self.held(at).iter().map(|lease| lease.id).collect();
        Command::Settle(Settle { leases, began: self.now })
    }

    /// Stops somebody, or lets somebody who is stopped go on.
    fn stop(&mut self) -> Command {
        let stopped = |agent: &&Agent| agent.halted.is_some();
        let agents = self.ledger.agents.values();
        let halted: Vec<AgentName> = agents.clone().filter(stopped).map(|agent| agent.name.clone()).collect();
        let all: Vec<AgentName> = agents.map(|agent| agent.name.clone()).collect();
        match (halted.is_empty(), all.is_empty()) {
            (false, _) => Command::Continue(self.rng.pick(&halted)),
            (true, false) => Command::Halt(self.rng.pick(&all)),
            (true, true) => Command::Sweep,
        }
    }

    fn reserve(&mut self, at: ShellRef) -> Reserve {
        let count = self.rng.pick(&[1, 1, 1, 1, 2, 3]);
        let process = self.member(at).shells[at.shell].process.clone();
        Reserve {
            wants: (0..count).map(|_| self.want()).collect(),
            worktree: self.worktree(),
            mode: if self.rng.one_in(3) { Mode::Shared } else { Mode::Exclusive },
            grade: if self.rng.one_in(4) { Grade::Auto } else { Grade::Claimed },
            as_set: self.rng.one_in(5),
            ttl_ms: self.rng.pick(&TTLS_MS),
            max_ms: self.rng.one_in(6).then(|| self.rng.pick(&[1_500, 30_000, 4_000_000])),
            reason: self.rng.one_in(3).then(|| "routes".to_owned()),
            best_effort: self.rng.one_in(5),
            bound: self.rng.one_in(5).then_some(process),
            makes_way: false,
        }
    }

    fn want(&mut self) -> Want {
        self.rng.pick(self.field)
    }

    /// Asks for something that the agent holds, in the other mode.
    fn upgrade(&mut self, at: ShellRef) -> Command {
        let held = self.held(at);
        if held.is_empty() {
            return Command::Reserve(self.reserve(at));
        }
        let lease = self.rng.pick(&held);
        let mode = if lease.mode == Mode::Shared { Mode::Exclusive } else { Mode::Shared };
        let capacity = u32::try_from(ground::capacity(&lease.target)).unwrap_or(1);
        let reserve = Reserve {
            wants: vec![Want { target: lease.target, capacity }],
            worktree: lease.worktree,
            mode,
            bound: lease.bound,
            makes_way: false,
            best_effort: false,
            ..self.reserve(at)
        };
        let process = self.member(at).shells[at.shell].process.clone();
        let way = self.rng.below(3);
        if way == 0 {
            return Command::Reserve(reserve);
        }
        // A command waits for its own leases alone.
        let bound = reserve.bound.filter(|bound| *bound == process);
        let reserve = Reserve { bound, ..reserve };
        let stay = if way == 1 { kept(&reserve, process) } else { Stay::Attached(process) };
        Command::Await(Await { reserve, stay, wait_ms: 60_000, wait: None })
    }

    fn held(&self, at: ShellRef) -> Vec<Lease> {
        let own = self.ledger.identified(&self.member(at).caller);
        self.ledger.open_leases().filter(|lease| Some(lease.holder) == own).cloned().collect()
    }

    fn renew(&mut self, at: ShellRef) -> Command {
        let selection = if self.rng.one_in(4) { Selection::All } else { Selection::of(self.refs(at)) };
        let ttl_ms = self.rng.one_in(3).then(|| self.rng.pick(&TTLS_MS));
        Command::Renew(Renew { selection, ttl_ms, reason: None })
    }

    fn release(&mut self, at: ShellRef) -> Command {
        let selection = match self.rng.below(7) {
            0 => Selection::All,
            1..=2 => Selection::These {
                leases: Vec::new(),
                targets: vec![self.want().target],
                worktree: self.worktree(),
            },
            6 => return Command::LetGo(self.member(at).shells[at.shell].process.clone()),
            _ => Selection::These {
                leases: self.refs(at),
                targets: Vec::new(),
                worktree: Worktree("/w".to_owned()),
            },
        };
        let keep = if self.rng.one_in(3) { vec![self.part_of(at, &selection)] } else { Vec::new() };
        Command::Release(Release { selection, keep })
    }

    /// A part of something released, more often than not.
    fn part_of(&mut self, at: ShellRef, selection: &Selection) -> Target {
        let named = match selection {
            Selection::These { leases, .. } => leases.first().map(|lease| lease.id),
            Selection::All => None,
        };
        let held = self.held(at);
        let whole = held.iter().find(|lease| Some(lease.id) == named).or(held.first());
        let Some(whole) = whole.cloned() else { return self.want().target };
        let inside = (0..ground::PATH_COUNT).map(|number| ground::path(number).target);
        let here = &whole.worktree;
        let parts: Vec<Target> =
            inside.filter(|part| ground::within(part, here, &whole.target, here)).collect();
        if parts.is_empty() { whole.target } else { self.rng.pick(&parts) }
    }

    fn transfer(&mut self, at: ShellRef) -> Command {
        let selection = match self.rng.below(3) {
            0 => Selection::All,
            _ => Selection::These {
                leases: self.refs(at),
                targets: Vec::new(),
                worktree: Worktree("/w".to_owned()),
            },
        };
        let names = self.recipients(&selection);
        match names.is_empty() {
            true => Command::Sweep,
            false => Command::Transfer(Transfer { to: self.rng.pick(&names), selection }),
        }
    }

    /// Anybody, or more often somebody who holds or waits for the same.
    fn recipients(&mut self, selection: &Selection) -> Vec<AgentName> {
        let named = match selection {
            Selection::These { leases, .. } => {
                leases.first().and_then(|lease| self.ledger.leases.get(&lease.id))
            }
            Selection::All => None,
        };
        let concerned = named.filter(|_| !self.rng.one_in(3)).map(|lease| {
            let same = self.ledger.open_leases().filter(|other| other.target == lease.target);
            let touches = |wait: &&Wait| ground::asks_for(&wait.wanted, lease);
            let waiting = self.ledger.waits.values().filter(touches).map(|wait| wait.agent);
            let others = same.map(|other| other.holder).chain(waiting);
            others.filter(|agent| *agent != lease.holder).collect::<Vec<_>>()
        });
        let all = || self.ledger.agents.keys().copied().collect();
        let chosen = concerned.filter(|some| !some.is_empty()).unwrap_or_else(all);
        chosen.iter().filter_map(|id| self.ledger.agents.get(id)).map(|agent| agent.name.clone()).collect()
    }

    fn leave_any(&mut self) -> Command {
        let all: Vec<_> = self.ledger.waits.keys().copied().collect();
        match all.is_empty() {
            true => Command::Sweep,
            false => Command::Leave(Leave { waits: Some(vec![self.rng.pick(&all)]) }),
        }
    }

    /// Leases this process was granted once, somebody's, or none that exists; with a right fence or a wrong one.
    fn refs(&mut self, at: ShellRef) -> Vec<LeaseRef> {
        let own = self.member(at).shells[at.shell].refs.clone();
        let all: Vec<LeaseRef> = self
            .ledger
            .open_leases()
            .map(|lease| LeaseRef { id: lease.id, fence: Some(lease.fence) })
            .collect();
        let pool = if own.is_empty() || self.rng.one_in(6) { all } else { own };
        let count = self.rng.pick(&[1, 1, 1, 2]).min(pool.len());
        (0..count).map(|_| self.doubted(&pool)).collect()
    }

    fn doubted(&mut self, pool: &[LeaseRef]) -> LeaseRef {
        let newest = pool.len() - 1 - self.rng.below(pool.len().min(4));
        let mut wanted = pool[newest];
        match self.rng.below(8) {
            0..=1 => wanted.fence = None,
            2 => wanted.fence = wanted.fence.map(|fence| Fence::from_integer(fence.to_integer() + 1)),
            _ => {}
        }
        wanted
    }

    fn worktree(&mut self) -> Worktree {
        Worktree(self.rng.pick(&["/w", "/w", "/w", "/w", "/other"]).to_owned())
    }
}

/// A place that is kept without a process, unless it is for a command: that is run by the process that waits, or by nobody.
fn kept(wanted: &Reserve, process: Process) -> Stay {
    if wanted.bound.is_some() { Stay::Attached(process) } else { Stay::Durable }
}

fn is_forced(asked: &Negotiation) -> bool {
    asked.settled().is_some_and(|settled| settled.how == NegotiationEnd::Forced)
}

/// A request in the scope of every life.
pub(crate) fn request(caller: Caller, command: Command, idempotency_key: Option<String>) -> Request {
    let birth = ScopeBirth { place: "/w/.git".to_owned(), fold: clearway_core::pattern::Fold::Exact };
    Request { caller, command, idempotency_key, birth }
}
