//! Fills a store through the executor: the same decisions, events and projections as through the binary.

use crate::Outcome;
use crate::repository::Repository;
use clearway_core::agent::{AgentName, Caller};
use clearway_core::command::{Command, Release, Request, Reserve, ScopeBirth, Selection, Want};
use clearway_core::facts::{FactQuery, Facts, ProcessLife, StartedBy};
use clearway_core::lease::{Grade, Mode};
use clearway_core::limits::{LEASES_PER_AGENT_MAX, TARGETS_PER_REQUEST_MAX, TTL_MS_MAX};
use clearway_core::pattern::{Fold, Pattern};
use clearway_core::target::{Target, Worktree};
use clearway_core::time::{BootKey, Mono, Now, Wall};
use clearway_platform::clock::{Clock, SystemClock};
use clearway_platform::random;
use clearway_store::contract::{Engine, StoreError};
use clearway_store::{Rules, World, execute};
use std::collections::BTreeSet;

/// Files in one directory of the made-up tree.
const FILES_PER_DIRECTORY: usize = 100;

/// The real clock and real randomness; other facts are whatever keeps a lease in place.
#[derive(Debug, Default)]
pub(crate) struct Machine {
    clock: SystemClock,
}

impl World for Machine {
    fn now(&mut self) -> Result<Now, StoreError> {
        let reading = self.clock.read().map_err(|error| StoreError::Internal(error.to_string()))?;
        Ok(Now {
            boot: BootKey(reading.boot.as_str().to_owned()),
            mono: Mono(reading.mono_ms),
            wall: Wall(reading.wall_ms),
        })
    }

    fn draw(&mut self, bytes: &mut [u8]) {
        random::fill(bytes).unwrap_or_else(|error| panic!("the system gives no random bytes: {error}"));
    }

    fn gather(&mut self, queries: &BTreeSet<FactQuery>, facts: &mut Facts) {
        for query in queries {
            match query {
                FactQuery::Process(process) => facts.learn_process(process.clone(), ProcessLife::Unknown),
                FactQuery::Above => facts.learn_above(BTreeSet::new()),
                FactQuery::AboveOf(process) => facts.learn_above_of(process.clone(), StartedBy::Unseen),
                FactQuery::Ignored(worktree, path) => {
                    facts.learn_ignored(worktree.clone(), path.clone(), false);
                }
                FactQuery::Keep(worktree, path, _) => facts.learn_kept(worktree.clone(), path.clone(), None),
                FactQuery::Dirty(worktree, path) => facts.learn_dirty(worktree.clone(), path.clone(), true),
            }
        }
    }
}

/// The file that the lease with this number is on.
pub(crate) fn file(number: usize) -> String {
    format!("src/module{:05}/file{number:06}.rs", number / FILES_PER_DIRECTORY)
}

/// Grants so many leases on single files, to as many agents as that takes.
pub(crate) fn seed(repository: &Repository, engine: &mut dyn Engine, count: usize) -> Outcome<()> {
    let requests_per_agent = usize::try_from(LEASES_PER_AGENT_MAX)? / TARGETS_PER_REQUEST_MAX;
    let mut machine = Machine::default();
    let numbers: Vec<usize> = (0..count).collect();
    for (index, chunk) in numbers.chunks(TARGETS_PER_REQUEST_MAX).enumerate() {
        let files: Vec<String> = chunk.iter().map(|number| file(*number)).collect();
        let agent = format!("seed{:04}", index / requests_per_agent);
        run(
            repository,
            engine,
            &mut machine,
            Rules::default(),
            &agent,
            reserve(&repository.worktree(), &files)?,
        )?;
    }
    Ok(())
}

/// Executes one command for an agent; anything but success is an error.
pub(crate) fn run(
    repository: &Repository,
    engine: &mut dyn Engine,
    machine: &mut Machine,
    rules: Rules,
    agent: &str,
    command: Command,
) -> Outcome<()> {
    let claim = AgentName::parse(agent);
    let request = Request {
        caller: Caller { claim, ..Caller::default() },
        command,
        idempotency_key: None,
        birth: ScopeBirth { place: repository.root().join(".git").display().to_string(), fold: Fold::Exact },
    };
    let reply = execute(engine, machine, rules, &repository.scope(), &request)?;
    reply.outcome.map(|_| ()).map_err(|failure| failure.message.into())
}

/// A request for single files.
pub(crate) fn reserve(worktree: &Worktree, files: &[String]) -> Outcome<Command> {
    let want = |file: &String| Ok(Want { target: target(file)?, capacity: 1 });
    Ok(Command::Reserve(Reserve {
        wants: files.iter().map(want).collect::<Outcome<_>>()?,
        worktree: worktree.clone(),
        mode: Mode::Exclusive,
        grade: Grade::Claimed,
        as_set: false,
        ttl_ms: TTL_MS_MAX,
        max_ms: None,
        reason: None,
        best_effort: false,
        bound: None,
        makes_way: false,
    }))
}

/// Giving back one file.
pub(crate) fn release(worktree: &Worktree, file: &str) -> Outcome<Command> {
    let selection =
        Selection::These { leases: Vec::new(), targets: vec![target(file)?], worktree: worktree.clone() };
    Ok(Command::Release(Release { selection, keep: Vec::new() }))
}

pub(crate) fn target(file: &str) -> Outcome<Target> {
    Ok(Target::Path(Pattern::parse(file, Fold::Exact)?))
}
