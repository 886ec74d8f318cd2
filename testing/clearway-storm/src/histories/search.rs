//! The search: is there any order of a small history that a plain model of leases and queue explains? It believes
//! nothing of the log but the names of what killed operations did, and shares no rule with the product.
//!
//! Wing and Gong's search with memory of what was tried: an operation may come next if none that is left was over
//! before it began.

use super::breach::Breach;
use super::ledger::Ledger;
use super::model::{Act, Model, Next};
use super::operation::Operation;
use super::witness::{Judged, attributed};
use std::collections::BTreeSet;

/// Longest history that is searched.
pub(super) const OPERATIONS_MAX: usize = 12;

/// Whether an order exists.
pub fn is_linearizable(history: &[Operation], ledger: &Ledger) -> bool {
    let mut ignored: Vec<Breach> = Vec::new();
    let judged = attributed(history, ledger, &mut ignored);
    let steps: Vec<Step> = judged.iter().flat_map(Step::of).collect();
    let mut search = Search { steps: &steps, tried: BTreeSet::new() };
    search.from(&vec![Stage::Ahead; steps.len()], &Model::default())
}

/// One thing to be put in order.
#[derive(Clone, Debug)]
struct Step {
    agent: String,
    invoked_ns: u64,
    completed_ns: u64,
    act: Act,
    /// Whether it may also never happen.
    optional: bool,
}

impl Step {
    /// An operation, and the moment at which others find a killed one gone from the queue.
    fn of(judged: &Judged<'_>) -> Vec<Self> {
        let operation = judged.operation;
        if operation.was_busy() {
            return Vec::new();
        }
        let (agent, invoked_ns, completed_ns) =
            (operation.agent.clone(), operation.invoked_ns, operation.completed_ns);
        let step = |act: Act, optional: bool, completed_ns: u64| Self {
            agent: agent.clone(),
            invoked_ns,
            completed_ns,
            act,
            optional,
        };
        let mut steps = vec![step(Act::of(judged), false, completed_ns)];
        steps.extend(Act::found_gone(judged).map(|act| step(act, true, u64::MAX)));
        steps
    }
}

/// How far a step has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    Ahead,
    Waiting,
    Done,
}

struct Search<'a> {
    steps: &'a [Step],
    tried: BTreeSet<(Vec<Stage>, Model)>,
}

impl Search<'_> {
    fn from(&mut self, stages: &[Stage], model: &Model) -> bool {
        let left = |index: &usize| stages[*index] != Stage::Done;
        let open: Vec<usize> = (0..self.steps.len()).filter(left).collect();
        if open.iter().all(|index| self.steps[*index].optional) {
            return true;
        }
        if !self.tried.insert((stages.to_vec(), model.clone())) {
            return false;
        }
        let soonest = open.iter().map(|index| self.steps[*index].completed_ns).min().unwrap_or(u64::MAX);
        open.iter().filter(|index| self.steps[**index].invoked_ns <= soonest).any(|index| {
            let step = &self.steps[*index];
            model.after(&step.agent, &step.act, stages[*index] == Stage::Waiting).is_some_and(|next| {
                let (stage, model) = match next {
                    Next::Done(model) => (Stage::Done, model),
                    Next::Waits(model) => (Stage::Waiting, model),
                };
                let mut stages = stages.to_vec();
                stages[*index] = stage;
                self.from(&stages, &model)
            })
        })
    }
}
