//! Clients that call the real binary at the same time, with every call written down. Some calls are killed, some are
//! made to stand still for a moment.

use super::operation::{Ask, Ended, Operation};
use super::plan::{Client, Size};
use crate::random::Random;
use crate::stage::{Outcome, Reply, Stage};
use clearway_testkit::process::{go_on, kill, stop};
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
}

/// So many of a hundred calls are killed, and as many stopped for a moment.
const FAULT_PERCENT: usize = 3;
/// Calls are struck within this time after their start, or not at all if they are over by then.
const STRIKE_US_MAX: usize = 6_000;
/// How long a stopped call stands still at most.
const STOP_US_MAX: usize = 15_000;

/// Records a history.
pub fn record(stage: &Stage, script: Script) -> Outcome<Vec<Operation>> {
    let clock = MonotonicClock::start()?;
    let numbers = AtomicU64::new(0);
    let processes = if script.size == Size::Twins { 2 } else { 1 };
    let names: Vec<String> =
        (0..script.clients).map(|number| format!("c{:02}", number / processes)).collect();
    let recorded: Vec<Outcome<Vec<Operation>>> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..script.clients)
            .map(|number| {
                let (names, clock, numbers) = (&names, &clock, &numbers);
                scope.spawn(move || Worker::new(stage, script, number, names).work(clock, numbers))
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

/// One client at work.
#[derive(Debug)]
struct Worker<'s> {
    stage: &'s Stage,
    agent: String,
    client: Client,
    faults: Random,
    is_killed: bool,
    limit: u64,
}

impl<'s> Worker<'s> {
    fn new(stage: &'s Stage, script: Script, number: usize, names: &[String]) -> Self {
        let agent = names.get(number).cloned().unwrap_or_default();
        let others = names.iter().filter(|name| **name != agent).cloned().collect();
        let client = Client::new(Random::for_one(script.seed, number), script.size, others);
        let faults = Random::for_one(!script.seed, number);
        let is_killed = script.size != Size::Twins;
        Self { stage, agent, client, faults, is_killed, limit: script.operations }
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
        let invoked_ns = clock.now_ns();
        let child = self.stage.start(&self.agent, &words)?;
        self.strike(child.id());
        let reply = Reply::wait(child)?;
        let completed_ns = clock.now_ns();
        let ended = match reply.code {
            Some(code) => Ended::Answered { code, reply: reply.value },
            None => Ended::Killed,
        };
        Ok(Operation { number, agent: self.agent.clone(), ask, invoked_ns, completed_ns, ended })
    }

    /// The child is not waited for yet, so its number is nobody else's even if it is over.
    fn strike(&mut self, pid: u32) {
        let fate = self.faults.below(100);
        let mut pause = |most_us: usize| {
            std::thread::sleep(Duration::from_micros(self.faults.below(most_us) as u64));
        };
        if fate < FAULT_PERCENT && self.is_killed {
            pause(STRIKE_US_MAX);
            kill(pid);
        } else if fate < 2 * FAULT_PERCENT {
            pause(STRIKE_US_MAX);
            stop(pid);
            pause(STOP_US_MAX);
            go_on(pid);
        }
    }
}
