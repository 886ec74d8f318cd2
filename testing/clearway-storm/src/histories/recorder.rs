//! Clients that call at the same time, with every call written down: by the real binary, started for the call, or by a
//! process that makes one call after the other. Some calls are killed, some are made to stand still for a moment.

use super::operation::{Ask, Ended, Operation};
use super::plan::{Client, Size};
use crate::random::Random;
use crate::resident::Resident;
use crate::stage::{Outcome, Programs, Reply, Stage};
use clearway_testkit::process::{go_on, kill, stop};
use serde_json::Value;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// What is recorded.
#[derive(Clone, Copy, Debug)]
pub struct Script {
    /// Where every choice comes from.
    pub seed: u64,
    /// How many call at once.
    pub clients: usize,
    /// How many calls in all.
    pub operations: u64,
    /// What they are about.
    pub size: Size,
    /// How many of a hundred calls start the binary; the others are made by a process that is there.
    pub started_percent: usize,
}

/// So many of a hundred calls are killed, and as many stopped for a moment.
const FAULT_PERCENT: usize = 3;
/// Calls are struck within this time after their start, or not at all if they are over by then.
const STRIKE_US_MAX: usize = 6_000;
/// The same for calls that do not start anything.
const STRIKE_US_MAX_RESIDENT: usize = 1_500;
/// How long a stopped call stands still at most.
const STOP_US_MAX: usize = 15_000;

/// Records a history.
pub fn record(programs: &Programs, stage: &Stage, script: Script) -> Outcome<Vec<Operation>> {
    let clock = MonotonicClock::start()?;
    let numbers = AtomicU64::new(0);
    let processes = if script.size == Size::Twins { 2 } else { 1 };
    let names: Vec<String> =
        (0..script.clients).map(|number| format!("c{:02}", number / processes)).collect();
    let recorded: Vec<Outcome<Vec<Operation>>> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..script.clients)
            .map(|number| {
                let (names, clock, numbers) = (&names, &clock, &numbers);
                let place = Place { programs, stage };
                scope.spawn(move || Worker::new(place, script, number, names).work(clock, numbers))
            })
            .collect();
        workers.into_iter().map(|worker| worker.join().unwrap_or(Err("a client failed".to_owned()))).collect()
    });
    let mut all: Vec<Operation> = recorded.into_iter().collect::<Outcome<Vec<_>>>()?.concat();
    all.sort_by_key(|operation| operation.invoked_ns);
    Ok(all)
}

/// Nanoseconds on the clock that leases are kept on.
#[derive(Debug)]
struct MonotonicClock {
    origin: Instant,
    origin_ms: u64,
}

impl MonotonicClock {
    fn start() -> Outcome<Self> {
        let clock = clearway_platform::clock::SystemClock::new();
        let now = crate::stage::now(&clock).map_err(|error| error.to_string())?;
        Ok(Self { origin: Instant::now(), origin_ms: now.mono.0 })
    }

    fn now_ns(&self) -> u64 {
        self.origin_ms * 1_000_000 + u64::try_from(self.origin.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }
}

/// Where a client works, and with what.
#[derive(Clone, Copy, Debug)]
struct Place<'s> {
    programs: &'s Programs,
    stage: &'s Stage,
}

/// One client at work.
#[derive(Debug)]
struct Worker<'s> {
    place: Place<'s>,
    /// The process that makes its calls, if there is one.
    resident: Option<Resident>,
    started_percent: usize,
    agent: String,
    client: Client,
    faults: Random,
    is_killed: bool,
    limit: u64,
}

impl<'s> Worker<'s> {
    fn new(place: Place<'s>, script: Script, number: usize, names: &[String]) -> Self {
        let agent = names.get(number).cloned().unwrap_or_default();
        let others = names.iter().filter(|name| **name != agent).cloned().collect();
        let client = Client::new(Random::for_one(script.seed, number), script.size, others);
        let faults = Random::for_one(!script.seed, number);
        let is_killed = script.size != Size::Twins;
        let (limit, started_percent) = (script.operations, script.started_percent);
        Self { place, resident: None, started_percent, agent, client, faults, is_killed, limit }
    }

    fn work(mut self, clock: &MonotonicClock, numbers: &AtomicU64) -> Outcome<Vec<Operation>> {
        let mut done = Vec::new();
        loop {
            let number = numbers.fetch_add(1, Ordering::Relaxed);
            if number >= self.limit {
                return Ok(done);
            }
            let ask = self.client.next();
            let operation = self.call(number, ask, clock)?;
            self.client.learn(&operation);
            done.push(operation);
        }
    }

    fn call(&mut self, number: u64, ask: Ask, clock: &MonotonicClock) -> Outcome<Operation> {
        let words = ask.words(number);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let (invoked_ns, answer) = match self.faults.chance(self.started_percent) {
            true => (clock.now_ns(), self.call_binary(&words)?),
            false => {
                self.resident()?;
                (clock.now_ns(), self.call_resident(&words)?)
            }
        };
        let completed_ns = clock.now_ns();
        let ended = answer.map_or(Ended::Killed, |(code, reply)| Ended::Answered { code, reply });
        Ok(Operation { number, agent: self.agent.clone(), ask, invoked_ns, completed_ns, ended })
    }

    fn call_binary(&mut self, words: &[&str]) -> Outcome<Option<(i32, Value)>> {
        let child = self.place.stage.start(&self.agent, words)?;
        self.strike(child.id(), STRIKE_US_MAX);
        let reply = Reply::wait(child)?;
        Ok(reply.code.map(|code| (code, reply.value)))
    }

    fn call_resident(&mut self, words: &[&str]) -> Outcome<Option<(i32, Value)>> {
        let agent = self.agent.clone();
        let words = [&["--agent", agent.as_str(), "--json"], words].concat();
        let resident = self.resident()?;
        resident.ask(&words)?;
        let pid = resident.pid();
        let is_killed = self.strike(pid, STRIKE_US_MAX_RESIDENT);
        let answer = self.resident()?.hear()?;
        if is_killed {
            self.resident = None;
        }
        match answer {
            None if !is_killed => Err(format!("a resident ended by itself over {words:?}")),
            answer => Ok(answer),
        }
    }

    /// The process that makes calls, started anew where it was killed.
    fn resident(&mut self) -> Outcome<&mut Resident> {
        let resident = match self.resident.take() {
            Some(resident) => resident,
            None => Resident::start(self.place.stage, &self.place.programs.storm)?,
        };
        Ok(self.resident.insert(resident))
    }

    /// Whether it was killed. The child is not waited for yet, so its number is nobody else's even if it is over.
    fn strike(&mut self, pid: u32, within_us: usize) -> bool {
        let fate = self.faults.below(100);
        let mut pause = |most_us: usize| {
            std::thread::sleep(Duration::from_micros(self.faults.below(most_us) as u64));
        };
        let is_killed = fate < FAULT_PERCENT && self.is_killed;
        if is_killed {
            pause(within_us);
            kill(pid);
        } else if fate < 2 * FAULT_PERCENT {
            pause(within_us);
            stop(pid);
            pause(STOP_US_MAX);
            go_on(pid);
        }
        is_killed
    }
}
