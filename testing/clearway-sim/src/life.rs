//! One life: agents, faults and time, step by step as the seed says, judged after every step.

use crate::cast::{Cast, Role, ShellRef, Waiting};
use crate::checks::{self, Checked, Invariant, Keys, Scene, Signs, Violation};
use crate::engine::{FaultyEngine, is_cut};
use crate::ground;
use crate::ledger::Ledger;
use crate::probes::{Probe, Probes};
use crate::rng::Rng;
use crate::script::{Script, request};
use crate::trace::{self, Trace};
use crate::world::SimWorld;
use clearway_core::agent::{Agent, AgentName, Caller, Established, IdentityKey, OperatorAct};
use clearway_core::command::{Await, Command, LeaseRef, Leave, Release, Request, Selection, Stay, Want};
use clearway_core::decide::{Decide, Success};
use clearway_core::event::{Actor, Body, Durability, Event};
use clearway_core::facts::{FactQuery, Facts, ProcessLife};
use clearway_core::ids::{AgentId, ScopeKey, Seq};
use clearway_core::lease::Lease;
use clearway_core::pattern::Fold;
use clearway_core::slice::ReadSet;
use clearway_core::slug::Slug;
use clearway_core::target::Worktree;
use clearway_store::contract::{Engine, Head, StoredEvent};
use clearway_store::{Reply, Rules, execute, preview};
use clearway_wire::canonical;
use std::collections::BTreeSet;

/// How a life went.
#[derive(Debug)]
pub struct Lived {
    /// What happened, line by line; equal for equal seeds.
    pub trace: Trace,
    /// Which situations it was in.
    pub probes: Probes,
    /// Events written.
    pub events: u64,
    /// The step at which an invariant did not hold, and which.
    pub violation: Option<(u64, Violation)>,
}

/// Lives one life with a decision, right or wrong.
pub fn live(seed: u64, steps: u64, decide: Decide) -> Lived {
    let mut life = Life::new(seed, decide);
    let violation = life.run(steps);
    Lived { trace: life.trace, probes: life.probes, events: life.ledger.rev, violation }
}

/// A request whose facts were gathered, to be decided later.
#[derive(Debug)]
struct InFlight {
    at: ShellRef,
    request: Request,
    facts: (Facts, BTreeSet<FactQuery>),
    rev: u64,
}

#[derive(Debug)]
struct Life {
    rng: Rng,
    /// A life in which little goes wrong, so that many hold and wait at once.
    calm: bool,
    field: Vec<Want>,
    world: SimWorld,
    engine: FaultyEngine,
    cast: Cast,
    ledger: Ledger,
    head: Head,
    keys: Keys,
    signs: Signs,
    in_flight: Option<InFlight>,
    /// The last keyed request, to be delivered a second time.
    delivered: Option<(ShellRef, Request)>,
    /// A keyed request whose commit was lost.
    lost: Option<(ShellRef, Request)>,
    probes: Probes,
    trace: Trace,
    rules: Rules,
}

impl Life {
    fn new(seed: u64, decide: Decide) -> Self {
        let mut world = SimWorld::new(seed);
        let cast = Cast::new(&mut world);
        let mut rng = Rng(seed);
        Self {
            calm: rng.one_in(3),
            field: ground::field(&mut rng),
            rng,
            world,
            engine: FaultyEngine::default(),
            cast,
            ledger: Ledger::default(),
            head: Head::EMPTY,
            keys: Keys::default(),
            signs: Signs::default(),
            in_flight: None,
            delivered: None,
            lost: None,
            probes: Probes::default(),
            trace: Trace::default(),
            rules: Rules { decide, durability: Durability::Normal },
        }
    }

    fn run(&mut self, steps: u64) -> Option<(u64, Violation)> {
        for step in 0..steps {
            self.trace.step = step;
            if let Err(violation) = self.guarded(Self::step) {
                return Some((step, violation));
            }
        }
        self.trace.step = steps;
        self.guarded(Self::drain).err().map(|violation| (steps, violation))
    }

    /// A decision that panics is as wrong as one that answers nonsense.
    fn guarded(&mut self, act: fn(&mut Self) -> Checked) -> Checked {
        let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| act(self)));
        let done = done.unwrap_or_else(|_| Err(Violation::new(Invariant::Answer, "it panicked")));
        if let Err(violation) = &done {
            self.trace.say(&format!("VIOLATION {}: {}", violation.invariant, violation.what));
        }
        done
    }

    fn step(&mut self) -> Checked {
        self.disturb();
        self.fill_families()?;
        match self.rng.below(24) {
            0 if self.delivered.is_some() => self.deliver_again(),
            1..=2 if self.lost.is_some() => self.repeat_lost(),
            3..=5 if self.in_flight.is_some() => self.land(),
            _ => self.somebody_asks(),
        }
    }

    fn somebody_asks(&mut self) -> Checked {
        let running = self.cast.running();
        let busy = self.in_flight.as_ref().map(|flight| flight.at);
        let idle: Vec<ShellRef> = running.into_iter().filter(|at| Some(*at) != busy).collect();
        if idle.is_empty() {
            return Ok(());
        }
        let waiting: Vec<ShellRef> =
            idle.iter().copied().filter(|at| self.cast.shell(*at).waiting.is_some()).collect();
        let at = if waiting.is_empty() || self.rng.one_in(3) {
            self.rng.pick(&idle)
        } else {
            self.rng.pick(&waiting)
        };
        let request = self.script().next(at);
        if request.idempotency_key.is_some() {
            self.delivered = Some((at, request.clone()));
        }
        match self.rng.below(14) {
            0 if self.in_flight.is_none() => self.take_off(at, request),
            1 => self.cut(at, request),
            _ => self.ask(at, &request).map(|_| ()),
        }
    }

    fn script(&mut self) -> Script<'_> {
        let now = self.world.now.mono;
        Script { rng: &mut self.rng, cast: &self.cast, ledger: &self.ledger, now, field: &self.field }
    }

    /// Gathers the facts a request asks for, and lets others go first.
    fn take_off(&mut self, at: ShellRef, request: Request) -> Checked {
        self.world.asked.clear();
        self.world.ask_below(self.cast.shell(at).above.as_ref());
        let seen = preview(&mut self.engine, &mut self.world, self.rules, &scope(), &request);
        seen.map_err(|error| Violation::new(Invariant::I8Fold, error.to_string()))?;
        let facts = self.world.hold();
        self.trace.say(&format!("{} gathers facts for {}", trace::who(at), trace::request(&request)));
        self.in_flight = Some(InFlight { at, request, facts, rev: self.ledger.rev });
        Ok(())
    }

    fn land(&mut self) -> Checked {
        let Some(InFlight { at, request, facts, rev }) = self.in_flight.take() else { return Ok(()) };
        if rev < self.ledger.rev {
            self.probes.hit(Probe::MovedMeanwhile);
        }
        if facts.1.iter().any(|query| self.world.is_outdated(query, &facts.0)) {
            self.probes.hit(Probe::OldFacts);
        }
        self.world.present(facts);
        let done = self.ask(at, &request);
        self.world.present((Facts::default(), BTreeSet::new()));
        done.map(|_| ())
    }

    fn deliver_again(&mut self) -> Checked {
        let Some((at, request)) = self.delivered.take() else { return Ok(()) };
        self.ask(at, &request).map(|_| ())
    }

    /// The process dies after its decision and before its commit; or only its connection does, and it asks again.
    fn cut(&mut self, at: ShellRef, request: Request) -> Checked {
        self.engine.cuts_next_commit = true;
        let done = self.ask(at, &request);
        self.engine.cuts_next_commit = false;
        if done?.is_some() {
            return Ok(());
        }
        self.probes.hit(Probe::CommitLost);
        if request.idempotency_key.is_some() {
            self.lost = Some((at, request));
        } else if self.rng.one_in(2) {
            self.crash(at);
        }
        Ok(())
    }

    fn repeat_lost(&mut self) -> Checked {
        let Some((at, request)) = self.lost.take() else { return Ok(()) };
        let done = self.ask(at, &request)?;
        if done.is_some_and(|reply| reply.outcome.is_ok() && !reply.replayed) {
            self.probes.hit(Probe::CommitLostThenRepeated);
        }
        Ok(())
    }

    /// Executes a request and judges everything about it. `None` if its commit was cut.
    fn ask(&mut self, at: ShellRef, request: &Request) -> Result<Option<Reply>, Violation> {
        self.world.asked.clear();
        self.world.ask_below(self.cast.shell(at).above.as_ref());
        let reply = match execute(&mut self.engine, &mut self.world, self.rules, &scope(), request) {
            Ok(reply) => reply,
            Err(error) if is_cut(&error) => {
                self.trace.say(&format!("{} is cut: {}", trace::who(at), trace::request(request)));
                return Ok(None);
            }
            Err(error) => return Err(Violation::new(Invariant::I8Fold, error.to_string())),
        };
        let fresh = !self.world.asked.iter().any(|query| self.world.is_outdated(query, &self.world.held))
            || self.world.held == Facts::default();
        let events = self.read()?;
        self.trace.say(&trace::step(at, &self.world.now, request, &reply, &events));
        self.judge(at, request, &reply, &events, fresh)?;
        self.learn(at, request, &reply);
        Ok(Some(reply))
    }

    fn judge(
        &mut self,
        at: ShellRef,
        request: &Request,
        reply: &Reply,
        events: &[Event],
        fresh: bool,
    ) -> Checked {
        let now = self.world.now.clone();
        let world = self.world.clone();
        let then = self.ledger.clone();
        let resumed = self.cast.shell(at).resumed;
        let registered = events.iter().find_map(|event| match &event.body {
            Body::AgentRegistered(agent) => Some(agent.id),
            _ => None,
        });
        let me = then.identified(&request.caller).or(registered);
        let scene = Scene { request, world: &world, now: &now, me, fresh };
        for event in events {
            checks::before(&scene, &self.ledger, event, &self.signs)?;
            self.probes.of_event(&scene, &self.ledger, event);
            self.apply(event)?;
        }
        self.compare()?;
        checks::after(&scene, &then, &self.ledger, events, reply)?;
        self.keys.check(&scene, &then, events, reply)?;
        self.probes.of_reply(&scene, &self.ledger, resumed, reply);
        // A repetition is answered from memory and notes nothing.
        let repeated = reply.replayed || checks::is_mismatch(reply);
        let acted = !repeated && !matches!(request.command, Command::Sweep | Command::Recover);
        if let Some(me) = me.filter(|_| acted && reply.agent.is_some()) {
            self.signs.note(me, &now);
        }
        Ok(())
    }

    fn apply(&mut self, event: &Event) -> Checked {
        self.ledger.apply(event).map_err(|what| Violation::new(Invariant::I8Fold, what))
    }

    /// Reads what was added to the log, and follows its chain.
    fn read(&mut self) -> Result<Vec<Event>, Violation> {
        let internal = |what: String| Violation::new(Invariant::I7Sequence, what);
        let Some(mut snapshot) =
            self.engine.snapshot(&scope()).map_err(|error| internal(error.to_string()))?
        else {
            return Ok(Vec::new());
        };
        let stored =
            snapshot.events(self.head.rev, usize::MAX).map_err(|error| internal(error.to_string()))?;
        let mut events = Vec::new();
        for StoredEvent { seq, bytes, hash } in stored {
            let follows = seq == self.head.rev.next() && self.head.hash.next(&scope(), seq, &bytes) == hash;
            checks::hold(follows, Invariant::I7Sequence, || {
                format!("event {seq} follows {}", self.head.rev)
            })?;
            self.head = Head { rev: seq, hash };
            let event = canonical::decode(seq, &bytes, Fold::Exact);
            events.push(event.map_err(|error| internal(error.to_string()))?);
        }
        Ok(events)
    }

    /// Compares what is stored with the books, and reads the soft state.
    fn compare(&mut self) -> Checked {
        let now = self.world.now.clone();
        let internal = |error: clearway_store::contract::StoreError| {
            Violation::new(Invariant::I8Fold, error.to_string())
        };
        let Some(mut snapshot) = self.engine.snapshot(&scope()).map_err(internal)? else { return Ok(()) };
        let stored = snapshot.projection().map_err(internal)?;
        if let Some(what) = self.ledger.differs_from(&stored) {
            return Err(Violation::new(Invariant::I8Fold, what));
        }
        let agents = snapshot.agents(&now).map_err(internal)?;
        let queue = ReadSet { waits: true, ..ReadSet::default() };
        let waits = snapshot.load(&queue, &now).map_err(internal)?.waits;
        self.ledger.seen =
            agents.into_iter().filter_map(|view| Some((view.agent.id, view.last_seen()?))).collect();
        self.ledger.heard = waits.into_iter().filter_map(|view| Some((view.wait.id, view.heard?))).collect();
        self.ledger.soft_boot = Some(now.boot);
        Ok(())
    }

    /// What a process remembers of an answer.
    fn learn(&mut self, at: ShellRef, request: &Request, reply: &Reply) {
        let shell = self.cast.shell(at);
        let waited = matches!(&request.command, Command::Await(_) | Command::Leave(_));
        match &reply.outcome {
            Ok(Success::Reserved { leases, .. }) => {
                let got =
                    leases.iter().map(|view| LeaseRef { id: view.lease.id, fence: Some(view.lease.fence) });
                shell.refs.extend(got);
                if waited {
                    shell.waiting = None;
                }
            }
            Ok(Success::Queued { queued, .. }) => {
                let wait = &queued.wait;
                let attached = wait.attached.is_some();
                shell.waiting = Some(Waiting { id: wait.id, wanted: wait.wanted.clone(), attached });
            }
            _ if waited => shell.waiting = None,
            _ => {}
        }
    }

    /// Lets time pass and things go wrong.
    fn disturb(&mut self) {
        if self.calm && !self.rng.one_in(8) {
            return;
        }
        match self.rng.below(60) {
            0..=9 => self.go_to_an_instant(),
            10..=29 => {
                let ms = self.rng.pick(&[0, 1, 40, 700, 1_000, 2_500]);
                self.world.pass(ms);
            }
            30 => {
                let ms = self.rng.pick(&[9_999, 15_000, 60_000, 300_000, 3_600_000]);
                self.world.pass(ms);
            }
            31..=33 => {
                let running = self.cast.running();
                let at = self.rng.pick(&running);
                self.crash(at);
            }
            34 | 50 => self.crash_client(),
            35..=37 => {
                let running = self.cast.running();
                let at = self.rng.pick(&running);
                self.cast.shell(at).paused = true;
                self.trace.say(&format!("{} is stopped", trace::who(at)));
            }
            38..=41 => self.resume(),
            42..=45 => {
                let worktree = Worktree(self.rng.pick(&["/w", "/other"]).to_owned());
                let path = self.rng.pick(&["src/a.rs", "src/b.rs", "src/lib/x.rs", "docs/d.md"]);
                self.world.toggle(worktree, path.to_owned());
            }
            46 => self.world.now.wall.0 += self.rng.pick(&[3_600_000, 86_400_000]),
            47 => {
                self.world.now.wall.0 -= self.rng.pick(&[3_600_000, 1_500_000_000_000]);
                self.probes.hit(Probe::WallClockWentBack);
            }
            48 if self.rng.one_in(4) => self.reboot(),
            49 => self.world.pass(1_200_001),
            _ => {}
        }
        if self.ledger.frozen_until.is_some_and(|until| self.world.now.mono >= until) {
            self.probes.hit(Probe::FreezeRanOut);
        }
    }

    /// Goes to an instant at which something is due, a millisecond before, or a millisecond after.
    fn go_to_an_instant(&mut self) {
        let now = &self.world.now;
        let leases = self.ledger.open_leases().map(|lease| self.ledger.ends_at(lease, now).0);
        let waits = self.ledger.waits.values().flat_map(|wait| {
            let silent = self.ledger.heard(wait, now).0 + checks::way::SILENCE_MS;
            [wait.until.0, silent, wait.offered_until.map_or(0, |until| until.0)]
        });
        let asked = self.ledger.asked().flat_map(|asked| {
            let silent = checks::talk::silence_ms(asked.urgency);
            let forced = self.ledger.seen(asked.holder, now).map_or(0, |seen| seen.0 + silent + 1);
            [asked.deadline.0, asked.later().map_or(0, |until| until.0), forced]
        });
        let mut due: Vec<u64> =
            leases.chain(waits).chain(asked).chain(self.ledger.frozen_until.map(|until| until.0)).collect();
        due.retain(|instant| *instant > now.mono.0 + 1);
        due.sort_unstable();
        due.truncate(4);
        if !due.is_empty() {
            let instant = self.rng.pick(&due) - self.rng.pick(&[0, 0, 0, 1]);
            self.world.pass(instant - self.world.now.mono.0);
        }
    }

    fn crash(&mut self, at: ShellRef) {
        let process = self.cast.shell(at).process.clone();
        self.world.kill(&process);
        self.cast.restart(at, &mut self.world);
        self.forget(|other| other == at);
        let next = self.cast.shell(at).process.pid;
        let killed = format!("process {} of {} is killed", process.pid, trace::who(at));
        self.trace.say(&format!("{killed}; process {next} runs its commands from now on"));
    }

    /// A client program dies, with everything it runs; another one takes its place.
    fn crash_client(&mut self) {
        let members = &self.cast.members;
        let with_client = |index: &usize| members[*index].client.is_some();
        let clients: Vec<usize> = (0..members.len()).filter(with_client).collect();
        let asked: Vec<usize> =
            self.ledger.asked().filter_map(|asked| self.member_of(asked.holder)).collect();
        let asked: Vec<usize> = asked.into_iter().filter(with_client).collect();
        let index = self.rng.pick(if asked.is_empty() { &clients } else { &asked });
        self.trace.say(&format!("agent {index} dies, with its subagents and all that they run; others come"));
        let family = [Role::Child(index)];
        for member in 0..self.cast.members.len() {
            let dies = member == index || family.contains(&self.cast.members[member].role);
            if dies {
                let processes = self.cast.members[member].shells.iter().map(|shell| shell.process.clone());
                let all: Vec<_> = processes.chain(self.cast.members[member].client.clone()).collect();
                all.iter().for_each(|process| self.world.kill(process));
                self.forget(|at| at.member == member);
            }
        }
        self.cast.replace(index, &mut self.world);
    }

    /// A dead process delivers nothing more.
    fn forget(&mut self, dead: impl Fn(ShellRef) -> bool) {
        if self.in_flight.as_ref().is_some_and(|flight| dead(flight.at)) {
            self.in_flight = None;
        }
        self.delivered.take_if(|(at, _)| dead(*at));
        self.lost.take_if(|(at, _)| dead(*at));
    }

    fn resume(&mut self) {
        let paused = self.cast.paused();
        if !paused.is_empty() {
            let at = self.rng.pick(&paused);
            let shell = self.cast.shell(at);
            (shell.paused, shell.resumed) = (false, true);
            self.trace.say(&format!("{} goes on", trace::who(at)));
        }
    }

    fn reboot(&mut self) {
        let uptime_ms = self.rng.pick(&[5_000, 1_000_000, 90_000_000]);
        self.world.reboot(uptime_ms);
        self.trace.say(&format!("the machine starts anew: {}", self.world.now.boot));
        self.forget(|_| true);
        for index in 0..self.cast.members.len() {
            self.cast.replace(index, &mut self.world);
        }
    }

    /// Registers the subagents of agents that are here, as no command does yet.
    fn fill_families(&mut self) -> Checked {
        for index in 0..self.cast.members.len() {
            let Role::Child(parent) = self.cast.members[index].role else { continue };
            let parent = self.ledger.identified(&self.cast.members[parent].caller);
            if let (Some(parent), false) = (parent, self.cast.members[index].is_here) {
                self.register(index, parent)?;
                self.cast.members[index].is_here = true;
            }
        }
        Ok(())
    }

    fn register(&mut self, index: usize, parent: AgentId) -> Checked {
        let Some(session) = self.cast.members[index].caller.session.clone() else { return Ok(()) };
        let mut entropy = |bytes: &mut [u8]| bytes.fill_with(|| (self.rng.next() >> 40) as u8);
        let id = AgentId::draw(&mut entropy);
        let now = self.world.now.clone();
        let agent = Agent {
            id,
            name: AgentName::parse(&format!("child-{id}")).expect("an id is a plain name"),
            client: session.client,
            key: IdentityKey::session(session.client, &session.session),
            parent: Some(parent),
            root: self.ledger.family(parent),
            process: None,
            registered_at: now.wall,
            ended_at: None,
            halted: None,
        };
        let actor = Actor { agent: Some(id), how: Established::Session };
        let body = Body::AgentRegistered(agent);
        let event = Event { seq: Seq(self.ledger.rev + 1), at: now.wall, actor, body };
        self.append(&event).map_err(|error| Violation::new(Invariant::I8Fold, error.to_string()))?;
        for event in self.read()? {
            self.apply(&event)?;
        }
        self.compare()
    }

    fn append(&mut self, event: &Event) -> Result<(), clearway_store::contract::StoreError> {
        let Some(mut transaction) = self.engine.begin(&scope(), true)? else { return Ok(()) };
        let bytes = canonical::encode(event);
        let hash = transaction.head()?.hash.next(&scope(), event.seq, &bytes);
        transaction.append(&StoredEvent { seq: event.seq, bytes, hash })?;
        transaction.apply(event)?;
        transaction.commit(Durability::Normal)
    }

    /// Everybody gives back and tries again: whoever waits gets its turn, and in the end nothing is left.
    fn drain(&mut self) -> Checked {
        while !self.cast.paused().is_empty() {
            self.resume();
        }
        self.in_flight = None;
        self.everybody_goes_on()?;
        let until = self.ledger.frozen_until.map_or(0, |until| until.0);
        self.world.pass(until.saturating_sub(self.world.now.mono.0));
        for _ in 0..=2 * self.ledger.waits.len() {
            let then = self.ledger.waits.len();
            self.give_back_everything()?;
            self.everybody_tries_again()?;
            if then == self.ledger.waits.len() {
                self.let_turns_pass()?;
            }
        }
        checks::hold(self.ledger.waits.is_empty(), Invariant::I12Queue, || {
            format!("{} waits never get their turn although everybody gives back", self.ledger.waits.len())
        })?;
        let asked = self.ledger.asked().count();
        checks::hold(asked == 0, Invariant::Asking, || {
            format!("{asked} requests outlive what they are for")
        })?;
        self.world.pass(25 * 60 * 60 * 1_000);
        let at = ShellRef { member: 0, shell: 0 };
        self.ask(at, &request(self.cast.members[0].caller.clone(), Command::Sweep, None))?;
        let over = self.ledger.waits.is_empty() && self.ledger.live(&self.world.now).is_empty();
        checks::hold(over, Invariant::I12Queue, || "something outlives its time".to_owned())?;
        self.trace.say(&format!("the log ends at {} with {:?}", self.head.rev, self.head.hash));
        Ok(())
    }

    /// Who cannot take its turn, because that would close a circle, loses it in time. Those who wait are heard of meanwhile.
    fn let_turns_pass(&mut self) -> Checked {
        let until = self.ledger.waits.values().filter_map(|wait| wait.offered_until).max();
        while until.is_some_and(|until| self.world.now.mono < until) {
            self.world.pass(checks::way::SILENCE_MS / 2);
            self.everybody_tries_again()?;
        }
        Ok(())
    }

    fn member_of(&self, agent: AgentId) -> Option<usize> {
        let is = |index: &usize| self.ledger.identified(&self.cast.members[*index].caller) == Some(agent);
        (0..self.cast.members.len()).find(is)
    }

    /// The person of the cast, who may act for agents that are gone but not provably so.
    fn as_operator(&mut self, command: Command) -> Checked {
        let member = self.cast.members.len() - 1;
        let operator =
            Some(OperatorAct { reason: "closing time".to_owned(), at_terminal: true, holds_key: false });
        let caller = Caller { operator, ..self.cast.members[member].caller.clone() };
        self.ask(ShellRef { member, shell: 0 }, &request(caller, command, None)).map(|_| ())
    }

    fn everybody_goes_on(&mut self) -> Checked {
        let stopped = self.ledger.agents.values().filter(|agent| agent.halted.is_some());
        let stopped: Vec<AgentName> = stopped.map(|agent| agent.name.clone()).collect();
        stopped.into_iter().try_for_each(|agent| self.as_operator(Command::Continue(agent)))
    }

    fn give_back_everything(&mut self) -> Checked {
        let held: Vec<Lease> = self.ledger.open_leases().cloned().collect();
        for lease in held {
            let release = |selection| Command::Release(Release { selection, keep: Vec::new() });
            match (lease.bound, self.member_of(lease.holder)) {
                (Some(process), Some(member)) if self.world.liveness(&process) != ProcessLife::Dead => {
                    let caller = self.cast.members[member].caller.clone();
                    let ended = request(caller, Command::LetGo(process), None);
                    self.ask(ShellRef { member, shell: 0 }, &ended)?;
                }
                _ => {
                    let named = LeaseRef { id: lease.id, fence: None };
                    self.as_operator(release(Selection::of(vec![named])))?;
                }
            }
        }
        Ok(())
    }

    fn everybody_tries_again(&mut self) -> Checked {
        let mut queue: Vec<_> = self.ledger.waits.values().cloned().collect();
        queue.sort_by_key(|wait| wait.place);
        for wait in queue {
            let Some(member) = self.member_of(wait.agent) else {
                self.as_operator(Command::Leave(Leave { waits: Some(vec![wait.id]) }))?;
                continue;
            };
            let stay = wait.attached.clone().map_or(Stay::Durable, Stay::Attached);
            let again = Await { reserve: wait.wanted, stay, wait_ms: 1_000, wait: Some(wait.id) };
            let (caller, at) = (self.cast.members[member].caller.clone(), ShellRef { member, shell: 0 });
            let tried = self.ask(at, &request(caller.clone(), Command::Await(again), None))?;
            // Whoever would wait for ever leaves, as it is told to.
            if tried.is_some_and(|reply| is_circle(&reply)) {
                let leave = Command::Leave(Leave { waits: Some(vec![wait.id]) });
                self.ask(at, &request(caller, leave, None))?;
            }
        }
        Ok(())
    }
}

fn is_circle(reply: &Reply) -> bool {
    matches!(&reply.outcome, Err(failure) if failure.slug == Slug::WouldDeadlock)
}

fn scope() -> ScopeKey {
    ScopeKey::parse("sim-00000000").unwrap_or_else(ScopeKey::machine)
}
