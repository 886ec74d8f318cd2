//! Wake-ups: a lease that is given back reaches whoever waits for it, soon, and also when the waiter's time is up at
//! that very moment. A waiter then has its lease or its place, never neither.

use crate::figures::{Goal, Goals, Times, judged};
use crate::random::Random;
use crate::stage::{Onlooker, Outcome, Programs, Reply, Stage, on_stage};
use std::process::Child;
use std::time::{Duration, Instant};

/// How much is done.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// Where the jitter of races comes from.
    pub seed: u64,
    /// Leases handed from one process to the next.
    pub hand_overs: usize,
    /// Releases at the instant at which the waiter gives up.
    pub races: usize,
    /// Whether missing a goal is an error.
    pub goals: Goals,
}

/// The longest that one wake-up of a hundred may take.
const WAKE_P99_MS: f64 = 50.0;
/// Races that run at once; they wait most of their time.
const RACES_AT_ONCE: usize = 8;
/// How long a racing waiter waits: the shortest there is.
const RACE_WAIT: Duration = Duration::from_millis(100);
/// How far from the instant a release may be aimed, either way.
const JITTER_US: usize = 15_000;

/// Hands over and races; what was seen. A wake-up that is lost is an error.
pub fn run(programs: &Programs, effort: Effort) -> Outcome<String> {
    on_stage(programs, |stage| play(stage, effort))
}

fn play(stage: &Stage, effort: Effort) -> Outcome<String> {
    let (after, since_start) = hand_overs(stage, effort.hand_overs)?;
    let (granted, queued) = races(stage, effort)?;
    stage.audited()?;
    let is_met = after.percentile_ms(99) <= WAKE_P99_MS;
    let goal = Goal::time(effort.goals, is_met, format!("release to wake-up p99 <= {WAKE_P99_MS} ms"));
    let seen = format!(
        "{} hand-overs, from the end of `release` to the end of the waiting `reserve`: {}; {}\n\
         from the start of `release`: {}\n\
         {} releases at the waiter's deadline (seed {}): {granted} granted, {queued} queued and offered, 0 lost\n",
        after.len(),
        after.told(),
        goal.told(),
        since_start.told(),
        granted + queued,
        effort.seed
    );
    judged(seen, &[goal])
}

/// Two agents hand one path to and fro. Times from the release's end and from its start.
fn hand_overs(stage: &Stage, count: usize) -> Outcome<(Times, Times)> {
    let (mut after, mut since_start) = (Times::default(), Times::default());
    stage.done("a", &["reserve", "baton"])?;
    let mut onlooker = Onlooker::new(stage)?;
    for number in 0..count {
        let (from, to) = if number % 2 == 0 { ("a", "b") } else { ("b", "a") };
        let waiter = stage.start(to, &["reserve", "baton", "--wait", "60s"])?;
        onlooker.until("somebody waits", |waits| !waits.is_empty())?;
        let started = Instant::now();
        let (released, woken) = std::thread::scope(|threads| {
            let woken = threads.spawn(move || woken(waiter));
            let released = stage.done(from, &["release", "baton"]).map(|_| Instant::now());
            (released, woken.join().unwrap_or(Err("the waiter failed".to_owned())))
        });
        let woken = woken?;
        since_start.add(woken - started);
        after.add(woken.saturating_duration_since(released?));
    }
    Ok((after, since_start))
}

/// When a waiter had what it waited for.
fn woken(waiter: Child) -> Outcome<Instant> {
    let reply = Reply::wait(waiter)?.expect(0)?;
    let at = Instant::now();
    match reply.value["leases"].as_array().map_or(0, Vec::len) {
        1 => Ok(at),
        _ => Err(format!("woken without the lease: {reply:?}")),
    }
}

/// How many waiters were granted their lease, and how many kept their place.
fn races(stage: &Stage, effort: Effort) -> Outcome<(usize, usize)> {
    let rounds = effort.races.div_ceil(RACES_AT_ONCE);
    let outcomes: Vec<Outcome<Vec<bool>>> = std::thread::scope(|threads| {
        let lanes: Vec<_> = (0..RACES_AT_ONCE)
            .map(|lane| {
                threads.spawn(move || {
                    let mut random = Random::for_one(effort.seed, lane);
                    let number = |round: usize| lane + round * RACES_AT_ONCE;
                    let own = (0..rounds).filter(|round| number(*round) < effort.races);
                    own.map(|round| race(stage, number(round), &mut random)).collect()
                })
            })
            .collect();
        lanes.into_iter().map(|lane| lane.join().unwrap_or(Err("a race failed".to_owned()))).collect()
    });
    let all: Vec<bool> = outcomes.into_iter().collect::<Outcome<Vec<_>>>()?.concat();
    let granted = all.iter().filter(|granted| **granted).count();
    Ok((granted, all.len() - granted))
}

/// One release aimed at a waiter's last moment: whether the waiter got the lease.
fn race(stage: &Stage, number: usize, random: &mut Random) -> Outcome<bool> {
    let (path, holder, waiter) = (format!("race-{number}"), format!("h-{number}"), format!("w-{number}"));
    stage.done(&holder, &["reserve", &path])?;
    let aimed = RACE_WAIT + Duration::from_micros(random.below(2 * JITTER_US) as u64)
        - Duration::from_micros(JITTER_US as u64);
    let child = stage.start(&waiter, &["reserve", &path, "--wait", "100ms"])?;
    std::thread::sleep(aimed);
    stage.done(&holder, &["release", &path])?;
    let reply = Reply::wait(child)?.expect(0)?;
    let held = stage.done("onlooker", &["who", &path])?;
    let holds = held.value["holders"][0]["agent"] == waiter.as_str();
    let place = &held.value["waiters"][0];
    let waits = place["agent"] == waiter.as_str() && place["state"] == "offered";
    let says_lease = reply.value["leases"].as_array().is_some_and(|leases| !leases.is_empty());
    match (says_lease, holds, waits) {
        (true, true, false) => Ok(true),
        (false, false, true) => taken_up(stage, &waiter, &path).map(|()| false),
        _ => Err(format!("race {number}: lost between {reply:?} and {held:?}")),
    }
}

/// A turn that is offered can be taken.
fn taken_up(stage: &Stage, waiter: &str, path: &str) -> Outcome<()> {
    let reply = stage.done(waiter, &["reserve", path])?;
    match reply.value["leases"].as_array().map_or(0, Vec::len) {
        1 => Ok(()),
        _ => Err(format!("the turn was offered and not given: {reply:?}")),
    }
}
