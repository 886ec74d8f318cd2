//! Fairness: many processes loop through the turnstile without a pause, and newcomers come by one after the other.
//! Every one is served, nobody is told that the store is busy, and how long it took is printed.

use crate::figures::{Goal, Goals, Times, jain, judged};
use crate::random::Random;
use crate::stage::{Onlooker, Outcome, Programs, Stage, on_stage};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// How much is done.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// Where the moments of newcomers come from.
    pub seed: u64,
    /// Processes that loop.
    pub loopers: usize,
    /// Newcomers, each a call of the binary.
    pub newcomers: usize,
    /// In every such span one newcomer comes, at a random moment of it.
    pub every: Duration,
    /// Whether missing a goal is an error.
    pub goals: Goals,
}

/// The longest that one newcomer of a hundred may take.
const NEWCOMER_P99_MS: f64 = 150.0;
/// The least fair share among loopers.
const JAIN_MIN: f64 = 0.97;

/// Loops and comes by; what was seen. A newcomer that is not served is an error, and so is a busy store.
pub fn run(programs: &Programs, effort: Effort) -> Outcome<String> {
    on_stage(programs, |stage| play(programs, stage, effort))
}

fn play(programs: &Programs, stage: &Stage, effort: Effort) -> Outcome<String> {
    stage.done("first", &["reserve", "first.rs"])?;
    let alone = newcomers(stage, effort, effort.newcomers.div_ceil(10), "alone")?;
    let scope = stage.scope()?;
    let mut loopers: Vec<Looping> = (0..effort.loopers)
        .map(|number| Looping::start(programs, stage, scope.as_str(), number))
        .collect::<Outcome<_>>()?;
    loopers.iter_mut().try_for_each(Looping::go)?;
    let started = Instant::now();
    let beside = newcomers(stage, effort, effort.newcomers, "new")?;
    let seconds = started.elapsed().as_secs_f64();
    // All at once: whoever is told later would have had more time.
    loopers.iter_mut().for_each(Looping::stop);
    let told: Vec<(u64, u64)> = loopers.into_iter().map(Looping::end).collect::<Outcome<_>>()?;
    stage.audited()?;
    let shares: Vec<u64> = told.iter().map(|(done, _)| *done).collect();
    let busy: u64 = told.iter().map(|(_, busy)| *busy).sum();
    if busy > 0 || shares.contains(&0) {
        return Err(format!("{busy} times a looper was told that the store is busy; shares {shares:?}"));
    }
    table(effort, &alone, &beside, &shares, seconds)
}

/// What newcomers saw.
#[derive(Debug, Default)]
struct Seen {
    times: Times,
    /// How many events there were from just before each began until its own: whose turns it waited for, whatever the
    /// machine had to do beside.
    turns: Vec<u64>,
}

impl Seen {
    fn turns_told(&self) -> String {
        let mut turns = self.turns.clone();
        turns.sort_unstable();
        let at = |percent: usize| turns.get((turns.len() * percent / 100).min(turns.len().max(1) - 1));
        let [p50, p99, most] = [50, 99, 100].map(|percent| at(percent).copied().unwrap_or(0));
        format!("p50 {p50}, p99 {p99}, most {most}")
    }
}

fn table(effort: Effort, alone: &Seen, beside: &Seen, shares: &[u64], seconds: f64) -> Outcome<String> {
    let turns = beside.turns_told();
    let (alone, beside) = (&alone.times, &beside.times);
    let (p99, index) = (beside.percentile_ms(99), jain(shares));
    let all: u64 = shares.iter().sum();
    let goals = [
        Goal::time(effort.goals, p99 <= NEWCOMER_P99_MS, format!("newcomer p99 <= {NEWCOMER_P99_MS} ms")),
        Goal::share(effort.goals, index >= JAIN_MIN, format!("Jain's index >= {JAIN_MIN}")),
    ];
    let seen = format!(
        "{} loopers, a newcomer every {} ms, {seconds:.1} s: {:.0} transactions a second, 0 busy, {} newcomers served\n\
         newcomer alone: {}\n\
         newcomer beside the loopers: {} ({:.1}x of alone at p99); {}\n\
         events from its start until its own: {turns}\n\
         Jain's index among loopers: {index:.4} (from {} to {} transactions); {}\n",
        effort.loopers,
        effort.every.as_millis(),
        all as f64 / seconds,
        beside.len(),
        alone.told(),
        beside.told(),
        p99 / alone.percentile_ms(99),
        goals[0].told(),
        shares.iter().min().unwrap_or(&0),
        shares.iter().max().unwrap_or(&0),
        goals[1].told(),
    );
    judged(seen, &goals)
}

/// Newcomers inside at once. More would pile up without end where the machine itself cannot start so many processes,
/// and the store would be blamed for it; those few take longer than the goal allows long before.
const INSIDE_MAX: usize = 32;

/// Newcomers come at their times, whether or not those before are done, unless too many are inside.
fn newcomers(stage: &Stage, effort: Effort, count: usize, name: &str) -> Outcome<Seen> {
    let (started, mut random) = (Instant::now(), Random::new(effort.seed));
    let every_us = usize::try_from(effort.every.as_micros()).unwrap_or(usize::MAX);
    let (inside, onlooker) = (AtomicUsize::new(0), Mutex::new(Onlooker::new(stage)?));
    std::thread::scope(|threads| {
        let (inside, onlooker) = (&inside, &onlooker);
        let workers: Vec<_> = (0..count)
            .map(|number| {
                let jitter = Duration::from_micros(random.below(every_us) as u64);
                let due = effort.every * u32::try_from(number).unwrap_or(u32::MAX) + jitter;
                std::thread::sleep(due.saturating_sub(started.elapsed()));
                while inside.load(Ordering::Relaxed) >= INSIDE_MAX {
                    std::thread::sleep(Duration::from_millis(1));
                }
                inside.fetch_add(1, Ordering::Relaxed);
                threads.spawn(move || {
                    let served = come_by(stage, onlooker, &format!("{name}-{number}"));
                    inside.fetch_sub(1, Ordering::Relaxed);
                    served
                })
            })
            .collect();
        let mut seen = Seen::default();
        for worker in workers {
            let (time, turns) = worker.join().map_err(|_| "a newcomer failed")??;
            seen.times.add(time);
            seen.turns.push(turns);
        }
        Ok(seen)
    })
}

fn come_by(stage: &Stage, onlooker: &Mutex<Onlooker>, name: &str) -> Outcome<(Duration, u64)> {
    let before = onlooker.lock().map_err(|error| error.to_string())?.rev()?;
    let started = Instant::now();
    let reply = stage.done(name, &["reserve", &format!("{name}.rs")])?;
    let time = started.elapsed();
    let rev = reply.value["rev"].as_u64().ok_or("an answer without a revision")?;
    Ok((time, rev.saturating_sub(before)))
}

/// A looper in its process.
struct Looping {
    process: Child,
    answers: BufReader<std::process::ChildStdout>,
}

impl Looping {
    fn start(programs: &Programs, stage: &Stage, scope: &str, number: usize) -> Outcome<Self> {
        let mut command = Command::new(&programs.storm);
        command.arg("looper").arg(stage.path()).arg(scope).arg(format!("looper-{number}"));
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = command.spawn().map_err(|error| format!("a looper does not start: {error}"))?;
        let answers = process.stdout.take().map(BufReader::new).ok_or("a looper is not heard")?;
        let mut looping = Self { process, answers };
        match looping.hear()?.trim() {
            "ready" => Ok(looping),
            other => Err(format!("a looper says {other:?}")),
        }
    }

    fn hear(&mut self) -> Outcome<String> {
        let mut line = String::new();
        self.answers.read_line(&mut line).map_err(|error| error.to_string())?;
        Ok(line)
    }

    fn go(&mut self) -> Outcome<()> {
        let to = self.process.stdin.as_mut().ok_or("a looper does not listen")?;
        to.write_all(b"go\n").map_err(|error| error.to_string())
    }

    fn stop(&mut self) {
        drop(self.process.stdin.take());
    }

    /// How many transactions it made, and how often it was told that the store is busy.
    fn end(mut self) -> Outcome<(u64, u64)> {
        let line = self.hear()?;
        let status = self.process.wait().map_err(|error| error.to_string())?;
        let numbers: Vec<u64> = line.split_whitespace().filter_map(|word| word.parse().ok()).collect();
        match (status.success(), numbers.as_slice()) {
            (true, [done, busy]) => Ok((*done, *busy)),
            _ => Err(format!("a looper ended with {status} and said {line:?}")),
        }
    }
}

impl Drop for Looping {
    /// Nobody loops on when the storm is over, however it ended.
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
