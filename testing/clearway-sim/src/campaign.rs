//! Many lives: what they reached, what they found, and the wrong decisions they have to find.

use crate::bugs::{self, Bug};
use crate::life::{Lived, live};
use crate::probes::Probes;
use crate::{Trace, Violation};
use clearway_core::decide::decide;

/// Every so manieth life is lived twice, and has to be the same.
const TWICE_EVERY: u64 = 100;

/// Which lives to live.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// The first seed.
    pub first: u64,
    /// How many.
    pub seeds: u64,
    /// Steps of each.
    pub steps: u64,
}

impl Plan {
    /// What a test lives, and what looking for a wrong decision may cost.
    pub const SHORT: Self = Self { first: 0, seeds: 500, steps: 150 };
    /// What a long run lives.
    pub const LONG: Self = Self { first: 0, seeds: 20_000, steps: 250 };
}

/// What many lives came to.
#[derive(Debug, Default)]
pub struct Outcome {
    /// Lives lived.
    pub lives: u64,
    /// Events written.
    pub events: u64,
    /// Lives lived a second time.
    pub twice: u64,
    /// How often each situation was reached.
    pub probes: Probes,
    /// The first life that went wrong.
    pub failure: Option<Failed>,
}

/// A life that went wrong.
#[derive(Debug)]
pub struct Failed {
    /// By which it can be lived again.
    pub seed: u64,
    /// The step at which it showed.
    pub step: u64,
    /// How it showed; `None` if a second life with the same seed differed.
    pub violation: Option<Violation>,
    /// What happened until then.
    pub trace: Trace,
}

/// Lives every life of a plan with the right decision, until one goes wrong.
pub fn campaign(plan: Plan) -> Outcome {
    let mut outcome = Outcome::default();
    for seed in plan.first..plan.first + plan.seeds {
        let lived = live(seed, plan.steps, decide);
        outcome.lives += 1;
        outcome.events += lived.events;
        outcome.probes.add(&lived.probes);
        if seed % TWICE_EVERY == 0 {
            outcome.twice += 1;
            outcome.failure = differs(seed, plan.steps, &lived);
        }
        if let Some((step, violation)) = lived.violation {
            outcome.failure = Some(Failed { seed, step, violation: Some(violation), trace: lived.trace });
        }
        if outcome.failure.is_some() {
            break;
        }
    }
    outcome
}

fn differs(seed: u64, steps: u64, first: &Lived) -> Option<Failed> {
    let second = live(seed, steps, decide);
    let mut lines = first.trace.lines.iter().zip(&second.trace.lines);
    let step = lines.position(|(one, other)| one != other);
    let same = first.trace == second.trace;
    let trace = second.trace;
    (!same).then_some(Failed { seed, step: step.unwrap_or_default() as u64, violation: None, trace })
}

/// What became of one wrong decision.
#[derive(Debug)]
pub struct Hunt {
    /// The wrong decision.
    pub bug: Bug,
    /// The first life that showed it, with the step and the invariant; `None` if none did.
    pub found: Option<(u64, u64, Violation)>,
}

/// Looks for every wrong decision within the seeds of a plan.
pub fn hunt(plan: Plan) -> Vec<Hunt> {
    bugs::all().into_iter().map(|bug| Hunt { bug, found: find(bug, plan) }).collect()
}

fn find(bug: Bug, plan: Plan) -> Option<(u64, u64, Violation)> {
    (plan.first..plan.first + plan.seeds).find_map(|seed| {
        let (step, violation) = live(seed, plan.steps, bug.decide).violation?;
        Some((seed, step, violation))
    })
}
