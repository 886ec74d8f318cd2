//! Facts are gathered while nothing is locked, so the world moves on between two tries.

use clearway_core::agent::{AgentName, Caller};
use clearway_core::command::{Command, Request, ScopeBirth};
use clearway_core::decide::{Decide, Decision, decide};
use clearway_core::facts::{FactQuery, Facts, Process};
use clearway_core::ids::Entropy;
use clearway_core::pattern::Fold;
use clearway_core::slice::Slice;
use clearway_core::target::Worktree;
use clearway_core::time::Now;
use clearway_store::conformance::Stage;
use clearway_store::contract::StoreError;
use clearway_store::memory::MemoryEngine;
use clearway_store::{Reply, Rules, execute};

/// More than anybody would think of as a number of tries.
const NEWCOMERS: u32 = 100;

fn one_more_each_time(
    slice: &Slice,
    request: &Request,
    facts: &Facts,
    now: &Now,
    entropy: &mut Entropy<'_>,
) -> Decision {
    match (1..=NEWCOMERS).map(process).find(|process| facts.process(process).is_none()) {
        Some(unknown) => Decision::NeedsFacts([FactQuery::Process(unknown)].into()),
        None => decide(slice, request, facts, now, entropy),
    }
}

fn always_the_same(_: &Slice, _: &Request, _: &Facts, _: &Now, _: &mut Entropy<'_>) -> Decision {
    Decision::NeedsFacts([FactQuery::Process(process(1))].into())
}

/// As if whoever holds the file edited it between every look and the decision by it.
fn always_overtaken(
    slice: &Slice,
    request: &Request,
    facts: &Facts,
    now: &Now,
    entropy: &mut Entropy<'_>,
) -> Decision {
    let (here, path) = (Worktree::default(), "a");
    match facts.dirty(&here, path) {
        Some(true) => decide(slice, request, facts, now, entropy),
        _ => Decision::NeedsFacts([FactQuery::Dirty(here, path.to_owned())].into()),
    }
}

fn process(pid: u32) -> Process {
    Process { host: "h".to_owned(), boot: "b".to_owned(), pid_namespace: "p".to_owned(), pid, start: 1 }
}

fn sweep(decide: Decide) -> (Result<Reply, StoreError>, usize) {
    let mut stage = Stage::new(Box::new(MemoryEngine::default()));
    let request = Request {
        caller: Caller { claim: AgentName::parse("a"), ..Caller::default() },
        command: Command::Sweep,
        idempotency_key: None,
        birth: ScopeBirth { place: "/w/.git".to_owned(), fold: Fold::Exact },
    };
    let rules = Rules { decide, ..Rules::default() };
    let reply = execute(&mut *stage.engine, &mut stage.world, rules, &stage.scope, &request);
    (reply, stage.world.gathered)
}

#[test]
fn however_much_comes_to_be_asked_about_meanwhile_there_is_an_answer() {
    let (reply, gathered) = sweep(one_more_each_time);
    assert_eq!((reply.map(|reply| reply.outcome.is_ok()), gathered), (Ok(true), NEWCOMERS as usize));
}

#[test]
fn a_file_that_changes_faster_than_anybody_looks_counts_as_changed() {
    let (reply, gathered) = sweep(always_overtaken);
    assert_eq!(reply.map(|reply| reply.outcome.is_ok()), Ok(true));
    assert!(gathered > 1, "it was looked at again before that");
}

#[test]
fn a_decision_that_asks_for_what_it_was_told_is_a_defect() {
    let (reply, gathered) = sweep(always_the_same);
    assert!(matches!(reply, Err(StoreError::Internal(_))), "{reply:?}");
    assert_eq!(gathered, 1);
}
