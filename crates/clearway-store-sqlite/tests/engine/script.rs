//! Random lives: commands of many callers, and what happens to the world between them.

use crate::support::{Rng, TestWorld, named, process};
use clearway_core::agent::{AgentName, Caller, Client, ClientSession, OperatorAct};
use clearway_core::command::{
    Answer, Ask, Attend, Await, Care, Command, Commit, Force, LeaseRef, Leave, Release, Renew, Request,
    Reserve, Says, ScopeBirth, Selection, Settle, Stay, Transfer, Unchecked, Upheaval, Used, Want,
};
use clearway_core::decide::Success;
use clearway_core::facts::ProcessLife;
use clearway_core::fold::State;
use clearway_core::ids::{AgentId, Fence, Seq, WaitId};
use clearway_core::lease::{Grade, Lease, Mode};
use clearway_core::limits::OFFER_MS;
use clearway_core::mail::{Act, Importance, MessageId, Policy, RulesChange, Send, Topic};
use clearway_core::negotiation::{Negotiation, Urgency};
use clearway_core::pattern::{Fold, Pattern};
use clearway_core::target::{ResourceName, Target, Worktree};
use clearway_core::time::{Mono, Wall};
use clearway_store::Reply;
use clearway_wire::chain;

/// A write pays for at most 64 overdue leases, and which ones is an engine's own choice. Lives stay below that
/// number, so that every answer is determined.
const LIVE_LEASES_MAX: u64 = 50;

const PATTERNS: [&str; 24] = [
    "src/a.rs",
    "src/b.rs",
    "SRC/a.rs",
    "src",
    "src/**",
    "src/*.rs",
    "src/[ab].rs",
    "src/lib/x.rs",
    "src/lib/**",
    "docs/**",
    "docs/a.md",
    "docs/{a,b}.md",
    "**",
    "**/lock.json",
    "lock.json",
    "a*/[bc]",
    "ab/b",
    "q?/**",
    "qq/z",
    "größe/ä.txt",
    "*/ä.txt",
    "\u{10fffd}/x",
    "app/\\[id\\]/page.tsx",
    "app/**/page.tsx",
];

/// Names with how many may hold them at once; every request for a name states the same number.
const NAMES: [(&str, u32); 3] = [("build", 1), ("pool", 3), ("port:3000", 1)];

const TTLS_MS: [u64; 5] = [1_000, 5_000, 60_000, 900_000, 86_400_000];

/// What happens next.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    /// Somebody asks for something.
    Ask(Box<Request>),
    /// A subagent of this agent appears, which no command does yet.
    Child(AgentId, String),
}

/// Makes steps. What it knows of the store it has from replies and from the fold, as a caller would.
#[derive(Debug)]
pub(crate) struct Script {
    rng: Rng,
    fold: Fold,
    /// Whether hooks of clients take part.
    hooks: bool,
    boots: usize,
    children: usize,
    refs: Vec<(Caller, LeaseRef)>,
    waits: Vec<(WaitId, Reserve)>,
    keyed: Vec<Request>,
    names: Vec<AgentName>,
}

impl Script {
    pub(crate) fn new(seed: u64) -> Self {
        let mut rng = Rng(seed);
        let fold = if rng.one_in(4) { Fold::Insensitive } else { Fold::Exact };
        Self {
            rng,
            fold,
            hooks: false,
            boots: 1,
            children: 0,
            refs: Vec::new(),
            waits: Vec::new(),
            keyed: Vec::new(),
            names: Vec::new(),
        }
    }

    /// The same with hooks of clients among those who ask.
    pub(crate) fn with_hooks(self) -> Self {
        Self { hooks: true, ..self }
    }

    pub(crate) fn fold(&self) -> Fold {
        self.fold
    }

    /// Whether the engine is opened anew before the next step.
    pub(crate) fn reopens(&mut self) -> bool {
        self.rng.one_in(12)
    }

    /// Somebody writes, reads or says from whom it takes mail.
    fn mail(&mut self, state: &State) -> Step {
        let names: Vec<AgentName> = state.agents.values().map(|agent| agent.name.clone()).collect();
        let known: Vec<(MessageId, AgentId)> = state
            .mail
            .entries
            .keys()
            .map(|(agent, seq)| (state.mail.messages[seq].id.clone(), *agent))
            .collect();
        if names.is_empty() {
            return self.ask(Command::Sweep);
        }
        let act = match self.rng.below(8) {
            0..=3 => {
                let text = format!("text {}", self.rng.below(1_000));
                Act::Send(Box::new(Send {
                    id: self.rng.one_in(4).then(|| MessageId::parse("chosen")).flatten(),
                    to: (0..=self.rng.below(2)).map(|_| self.rng.pick(&names)).collect(),
                    cc: Vec::new(),
                    bcc: if self.rng.one_in(3) { vec![self.rng.pick(&names)] } else { Vec::new() },
                    everyone: self.rng.one_in(5),
                    subject: None,
                    digest: chain::digest(&text),
                    text,
                    topic: Topic::parse("build"),
                    importance: self.rng.pick(&Importance::ALL),
                    wants_ack: self.rng.one_in(2),
                    thread: self.rng.one_in(3).then(|| known.first().cloned()).flatten().map(|(id, _)| id),
                }))
            }
            4 => {
                let add = if self.rng.one_in(2) { vec![self.rng.pick(&names)] } else { Vec::new() };
                Act::SetRules(RulesChange {
                    policy: Some(self.rng.pick(&Policy::ALL)),
                    add,
                    remove: Vec::new(),
                })
            }
            5 if self.rng.one_in(6) => Act::Forget(Seq(state.scope.rev.0 / 2)),
            _ if known.is_empty() => return self.ask(Command::Sweep),
            what => {
                let (id, agent) = self.rng.pick(&known);
                let act = if what == 7 { Act::Acknowledge(vec![id]) } else { Act::Read(vec![id]) };
                let name = state.agents.get(&agent).map(|agent| agent.name.clone());
                let caller = Caller { claim: name, ..Caller::default() };
                let birth = ScopeBirth { place: "/w/.git".to_owned(), fold: self.fold };
                let command = Command::Mail(act);
                return Step::Ask(Box::new(Request { caller, command, idempotency_key: None, birth }));
            }
        };
        self.ask(Command::Mail(act))
    }

    /// Lets the world change, then says what happens in it.
    pub(crate) fn next(&mut self, world: &mut TestWorld, state: &State) -> Step {
        self.disturb(world);
        let offered = state.waits.values().any(|wait| wait.offered_until.is_some());
        match (offered && self.rng.one_in(3), state.scope.frozen.is_some()) {
            // Left to chance, no turn would ever run out while its agent may not take it.
            (true, true) => world.pass(OFFER_MS),
            (true, false) => return self.operated(Command::Freeze { for_ms: 600_000 }),
            (false, _) => {}
        }
        if state.scope.live_leases > LIVE_LEASES_MAX {
            return self.ask(Command::Release(Release { selection: Selection::All, keep: Vec::new() }));
        }
        match self.rng.below(22) {
            0 => self.child(state),
            1 if !self.keyed.is_empty() => Step::Ask(Box::new(self.rng.pick(&self.keyed))),
            2 if self.rng.one_in(4) => self.ask(Command::Recover),
            2..=3 => self.ask(Command::Sweep),
            4..=5 => self.renew(),
            6..=8 => self.release(),
            9 => self.hand_over(),
            10 if self.rng.one_in(3) => self.pause(),
            14 if self.hooks && self.rng.one_in(4) => self.commit(),
            10..=14 => self.wait(),
            15 if self.hooks => self.attend(),
            16 if self.hooks => self.mail(state),
            17..=19 if self.hooks => self.negotiate(world, state),
            _ => {
                let reserve = self.reserve();
                self.ask(Command::Reserve(reserve))
            }
        }
    }

    /// Somebody asks for what another holds, or something becomes of what was asked: by the right side or by anybody.
    fn negotiate(&mut self, world: &mut TestWorld, state: &State) -> Step {
        let open: Vec<Negotiation> =
            state.negotiations.values().filter(|asked| asked.is_open()).cloned().collect();
        let halted =
            state.agents.values().find(|agent| agent.halted.is_some()).map(|agent| agent.name.clone());
        if let Some(halted) = halted.filter(|_| self.rng.one_in(2)) {
            return self.operated(Command::Continue(halted));
        }
        if open.is_empty() || self.rng.one_in(4) {
            return self.ask_for_what_is_held(state);
        }
        let asked = self.rng.pick(&open);
        let negotiation = asked.id;
        let says = |says: Says| Command::Answer(Answer { negotiation, says });
        let name = |agent: &AgentId| state.agents.get(agent).map(|agent| agent.name.clone());
        let (holder, requester) = (name(&asked.holder), name(&asked.requester));
        let (command, by) = match self.rng.below(10) {
            0 => (says(Says::Release(Vec::new())), holder),
            1 => (says(Says::AfterCommit), holder),
            2 => (says(Says::Later { for_ms: 60_000 * (1 + self.rng.below(60) as u64) }), holder),
            3 => (says(Says::No("half done".to_owned())), holder),
            4 => (Command::Withdraw(negotiation), requester),
            5 | 6 => {
                // Left to chance, hardly a holder would be silent for long enough and hold it still.
                world.pass(25 * 60_000);
                (
                    Command::Force(Force { negotiation, reason: "due".to_owned(), without_snapshot: false }),
                    requester,
                )
            }
            7 => return self.operated(holder.map_or(Command::Sweep, Command::Halt)),
            8 => (self.ask_again(&asked, state), requester),
            _ => return self.ask(says(Says::Release(Vec::new()))),
        };
        let mut step = self.ask(command);
        if let Step::Ask(request) = &mut step {
            request.caller = Caller { claim: by, ..Caller::default() };
        }
        step
    }

    /// What is asked for already, now with more urgency.
    fn ask_again(&mut self, asked: &Negotiation, state: &State) -> Command {
        let wanted = state.waits.values().find(|wait| wait.id == asked.wait).map(|wait| wait.wanted.clone());
        let reserve = wanted.unwrap_or_else(|| self.reserve());
        let (why, urgency, then_reserve) = (asked.why.clone(), Urgency::Urgent, asked.then_reserve);
        Command::Ask(Ask { reserve, why, urgency, then_reserve, tells_answer: false, tells_circle: false })
    }

    fn ask_for_what_is_held(&mut self, state: &State) -> Step {
        let held: Vec<Lease> = state.leases.values().filter(|lease| lease.ended.is_none()).cloned().collect();
        let mut reserve = Reserve { mode: Mode::Exclusive, as_set: false, ..self.reserve() };
        (reserve.best_effort, reserve.bound, reserve.makes_way) = (false, None, false);
        reserve.wants.truncate(1);
        if !held.is_empty() {
            let lease = self.rng.pick(&held);
            let capacity = NAMES.iter().find(|(name, _)| *name == lease.target.canonical());
            let capacity = capacity.map_or(1, |(_, capacity)| *capacity);
            reserve.wants = vec![Want { target: lease.target, capacity }];
            reserve.worktree = lease.worktree;
        }
        let urgency = if self.rng.one_in(3) { Urgency::Urgent } else { Urgency::Normal };
        let then_reserve = self.rng.one_in(2);
        let (why, tells_answer, tells_circle) = ("the release".to_owned(), then_reserve, self.rng.one_in(2));
        self.ask(Command::Ask(Ask { reserve, why, urgency, then_reserve, tells_answer, tells_circle }))
    }

    /// A hook tells of its agent: under its session or another one of the same process, as itself or a subagent.
    fn attend(&mut self) -> Step {
        let attend = match self.rng.below(8) {
            0..=1 => Attend::Start,
            2 => Attend::Call,
            3 => {
                let (brief, kept) = (self.path(), self.path());
                let files =
                    vec![Used { target: brief, how: Care::Brief }, Used { target: kept, how: Care::Kept }];
                Attend::Done { files, worktree: self.worktree(), failed: false }
            }
            4 => Attend::Rest,
            _ => Attend::End,
        };
        let number = self.rng.below(3);
        let session = ClientSession {
            client: Client::ClaudeCode,
            session: format!("s{}", if self.rng.one_in(3) { 9 } else { number }),
            subagent: self.rng.one_in(3).then(|| "sub".to_owned()),
            process: Some(process(200 + number as u32)),
        };
        let command = match self.rng.below(3) {
            0 => Command::Reserve(Reserve { grade: Grade::Auto, bound: None, ..self.reserve() }),
            _ => Command::Attend(attend),
        };
        let mut step = self.ask(command);
        if let Step::Ask(request) = &mut step {
            request.caller = Caller { session: Some(session), hook: true, hears: true, ..Caller::default() };
        }
        step
    }

    /// Remembers what a reply taught.
    pub(crate) fn learn(&mut self, request: &Request, reply: &Reply) {
        self.names.extend(reply.agent.clone().map(|(_, name)| name).filter(|_| self.names.len() < 20));
        if let Ok(Success::Reserved { leases, .. }) = &reply.outcome {
            for view in leases {
                let fence = Some(view.lease.fence);
                self.refs.push((request.caller.clone(), LeaseRef { id: view.lease.id, fence }));
            }
        }
        if let Ok(Success::Queued { queued, .. }) = &reply.outcome {
            self.waits.push((queued.wait.id, queued.wait.wanted.clone()));
        }
    }

    fn disturb(&mut self, world: &mut TestWorld) {
        match self.rng.below(40) {
            0..=7 => world.pass(self.rng.pick(&[1, 500, 999, 1_000])),
            8..=12 => world.pass(self.rng.pick(&[4_999, 5_000, 15_000, 60_000])),
            13 => world.pass(self.rng.pick(&[900_000, 86_400_000, 86_400_001])),
            14 => world.now.wall.0 += self.rng.pick(&[-3_600_000, 7_200_000, -1_500_000_000_000]),
            15 => {
                self.boots += 1;
                world.reboot(self.boots);
            }
            16..=17 => {
                let life = self.rng.pick(&[ProcessLife::Alive, ProcessLife::Dead, ProcessLife::Unknown]);
                world.processes.insert(self.pid(), life);
            }
            18..=20 => {
                let path = self.rng.pick(&PATTERNS).to_owned();
                if !world.dirty.remove(&path) {
                    world.dirty.insert(path);
                }
            }
            _ => {}
        }
    }

    fn child(&mut self, state: &State) -> Step {
        let parents: Vec<AgentId> = state.agents.keys().copied().collect();
        if parents.is_empty() {
            return self.wait();
        }
        self.children += 1;
        Step::Child(self.rng.pick(&parents), format!("child-{}", self.children))
    }

    /// Asks and waits: with a process, without one, for the last time, again from the place it has, or not at all.
    fn wait(&mut self) -> Step {
        if self.rng.one_in(10) {
            let waits =
                self.rng.one_in(2).then(|| self.waits.iter().rev().take(2).map(|(id, _)| *id).collect());
            return self.ask(Command::Leave(Leave { waits }));
        }
        let stay = match self.rng.below(5) {
            0..=1 => Stay::Durable,
            2..=3 => Stay::Attached(process(self.pid())),
            _ => Stay::Last,
        };
        let recent: Vec<_> = self.waits.iter().rev().take(6).cloned().collect();
        let (wait, reserve) = match recent.get(self.rng.below(recent.len().max(1))) {
            Some((id, wanted)) if self.rng.one_in(2) => {
                (Some(*id).filter(|_| self.rng.one_in(2)), wanted.clone())
            }
            _ => (None, Reserve { best_effort: false, ..self.reserve() }),
        };
        let wait_ms = self.rng.pick(&[1_000, 20_000, 600_000, 86_400_000]);
        self.ask(Command::Await(Await { reserve, stay, wait_ms, wait }))
    }

    fn hand_over(&mut self) -> Step {
        let selection = match self.rng.below(3) {
            0 => Selection::All,
            _ => Selection::These { leases: self.refs(), targets: Vec::new(), worktree: self.worktree() },
        };
        let stranger = || AgentName::parse("stranger").unwrap();
        let to = if self.names.is_empty() { stranger() } else { self.rng.pick(&self.names) };
        self.ask(Command::Transfer(Transfer { to, selection }))
    }

    fn pause(&mut self) -> Step {
        let command = if self.rng.one_in(2) { Command::Freeze { for_ms: 600_000 } } else { Command::Thaw };
        self.operated(command)
    }

    /// Git is about to commit or rebase, or committed.
    fn commit(&mut self) -> Step {
        let worktree = self.worktree();
        let command = match self.rng.below(5) {
            0 => Command::Rebase(worktree),
            4 => {
                Command::Upheave(Upheaval { worktree, what: "git switch".to_owned(), ..Upheaval::default() })
            }
            1 => {
                let leases = self.refs().into_iter().map(|lease| lease.id).collect();
                Command::Settle(Settle { leases, began: Mono(self.rng.pick(&[1, u64::from(u32::MAX)])) })
            }
            2 => Command::Unchecked(Unchecked {
                commit: "1f2e".to_owned(),
                paths: vec![self.path()],
                worktree,
                at: Wall(i64::MAX),
                explained: self.rng.one_in(2),
            }),
            _ => Command::Commit(Commit { paths: vec![self.path()], worktree, ..Commit::default() }),
        };
        if self.rng.one_in(2) { self.operated(command) } else { self.ask(command) }
    }

    fn operated(&mut self, command: Command) -> Step {
        let mut step = self.ask(command);
        if let Step::Ask(request) = &mut step {
            request.caller.operator =
                Some(OperatorAct { reason: "release day".to_owned(), at_terminal: true, holds_key: false });
        }
        step
    }

    fn reserve(&mut self) -> Reserve {
        let wants = (0..self.rng.pick(&[1, 1, 1, 2, 3, 5])).map(|_| self.want()).collect();
        let max_ms = self.rng.one_in(5).then(|| self.rng.pick(&[1_500, 90_000, 4_000_000]));
        Reserve {
            wants,
            worktree: self.worktree(),
            mode: if self.rng.one_in(3) { Mode::Shared } else { Mode::Exclusive },
            grade: if self.rng.one_in(3) { Grade::Auto } else { Grade::Claimed },
            as_set: self.rng.one_in(6),
            ttl_ms: self.rng.pick(&TTLS_MS),
            max_ms,
            reason: self.reason(),
            best_effort: self.rng.one_in(4),
            bound: self.rng.one_in(8).then(|| process(self.pid())),
            makes_way: max_ms.is_some(),
        }
    }

    fn want(&mut self) -> Want {
        if self.rng.one_in(5) {
            let (name, capacity) = self.rng.pick(&NAMES);
            return Want { target: Target::Name(ResourceName::parse(name).unwrap()), capacity };
        }
        Want { target: self.path(), capacity: 1 }
    }

    fn path(&mut self) -> Target {
        let text = self.rng.pick(&PATTERNS);
        Target::Path(Pattern::parse(text, self.fold).unwrap_or_else(|error| panic!("{text}: {error}")))
    }

    fn renew(&mut self) -> Step {
        let selection = if self.rng.one_in(4) { Selection::All } else { Selection::of(self.refs()) };
        let ttl_ms = self.rng.one_in(3).then(|| self.rng.pick(&TTLS_MS));
        let reason = self.reason();
        self.ask(Command::Renew(Renew { selection, ttl_ms, reason }))
    }

    fn release(&mut self) -> Step {
        let selection = match self.rng.below(8) {
            0 => Selection::All,
            1..=3 => {
                let targets = (0..1 + self.rng.below(2)).map(|_| self.path()).collect();
                Selection::These { leases: Vec::new(), targets, worktree: self.worktree() }
            }
            _ => Selection::These { leases: self.refs(), targets: Vec::new(), worktree: self.worktree() },
        };
        self.ask(Command::Release(Release { selection, keep: Vec::new() }))
    }

    /// Leases that were granted once, with their fence, without it, or with a wrong one.
    fn refs(&mut self) -> Vec<LeaseRef> {
        let count = self.rng.pick(&[1, 1, 2]);
        (0..count).filter_map(|_| self.reference()).collect()
    }

    fn reference(&mut self) -> Option<LeaseRef> {
        let recent: Vec<_> = self.refs.iter().rev().take(8).cloned().collect();
        let (_, mut wanted) = recent.get(self.rng.below(recent.len()))?.clone();
        match self.rng.below(4) {
            0 => wanted.fence = None,
            1 => wanted.fence = wanted.fence.map(|fence| Fence::from_integer(fence.to_integer() + 1)),
            _ => {}
        }
        Some(wanted)
    }

    /// Half of what is asked about a lease is asked by whoever was granted it.
    fn ask(&mut self, command: Command) -> Step {
        let holder = self.refs.last().map(|(caller, _)| caller.clone());
        let caller = match holder {
            Some(holder) if self.rng.one_in(3) => holder,
            _ => self.caller(),
        };
        let idempotency_key = self.rng.one_in(4).then(|| format!("key-{}", self.rng.below(4)));
        let birth = ScopeBirth { place: "/w/.git".to_owned(), fold: self.fold };
        let request = Request { caller, command, idempotency_key, birth };
        if request.idempotency_key.is_some() {
            self.keyed.push(request.clone());
        }
        Step::Ask(Box::new(request))
    }

    fn caller(&mut self) -> Caller {
        let number = self.rng.below(3);
        let session = |process| ClientSession {
            client: [Client::ClaudeCode, Client::Codex, Client::Gemini][number],
            session: format!("s{number}"),
            subagent: None,
            process,
        };
        let base = match self.rng.below(12) {
            0..=4 => named(["ann", "bob", "cyd"][number]),
            5..=6 => {
                Caller { session: Some(session(Some(process(200 + number as u32)))), ..Caller::default() }
            }
            7 => Caller { session: Some(session(None)), ..Caller::default() },
            8..=9 => Caller { terminal: Some(process(100 + number as u32)), ..Caller::default() },
            10 => {
                let ancestors = vec![process(999), process(200 + number as u32)];
                Caller { ancestors, terminal: Some(process(100)), ..Caller::default() }
            }
            _ if self.names.is_empty() => Caller::default(),
            _ => Caller { claim: Some(self.rng.pick(&self.names)), ..Caller::default() },
        };
        let act =
            || OperatorAct { reason: "tidying up".to_owned(), at_terminal: number > 0, holds_key: false };
        let operator = self.rng.one_in(10).then(act);
        Caller { operator, ..base }
    }

    fn pid(&mut self) -> u32 {
        self.rng.pick(&[100, 101, 102, 200, 201, 202])
    }

    fn worktree(&mut self) -> Worktree {
        Worktree(self.rng.pick(&["/w", "/w", "/w", "/other"]).to_owned())
    }

    fn reason(&mut self) -> Option<String> {
        self.rng.one_in(3).then(|| self.rng.pick(&["routes", "größere Änderung", ""]).to_owned())
    }
}
