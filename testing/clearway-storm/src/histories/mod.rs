//! Histories: what many processes asked of one store and were answered, judged by the log they left.
//!
//! Start at [`run`]. [`record`] makes a history of the real binary, [`judge`] is the witness check that any length can
//! afford, [`is_linearizable`] the search that small ones are also put to, and both have to agree.

mod answers;
mod breach;
mod ledger;
mod model;
mod operation;
mod plan;
mod recorder;
mod refusals;
mod search;
mod windows;
mod witness;

#[cfg(test)]
mod specimens;

pub use breach::{Breach, Rule};
pub use ledger::Ledger;
pub use operation::{Ask, Ended, How, Operation, Which};
pub use plan::Size;
pub use recorder::{Script, record};
pub use search::is_linearizable;
pub use witness::judge;

use crate::stage::{Outcome, Programs, Stage, on_stage};
use search::OPERATIONS_MAX;
use std::path::Path;
use std::time::Instant;

/// Clients of a small history.
const CLIENTS_SMALL: usize = 4;
/// Processes of a history of twins: half as many agents.
const CLIENTS_TWINS: usize = 8;
/// The files that a failed run leaves.
const HISTORY: &str = "history.jsonl";
const LOG: &str = "log.jsonl";

/// How much is recorded.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// The first seed; every history has one of its own.
    pub seed: u64,
    /// Calls in one history.
    pub operations: u64,
    /// Such histories, each in a fresh scope.
    pub histories: u64,
    /// Processes at once.
    pub clients: usize,
    /// Small histories that are also searched.
    pub small: u64,
    /// Calls in a history in which every agent is two processes.
    pub twins: u64,
    /// How many of a hundred calls of the longer histories start the binary. The others are made by processes that live
    /// from one death to the next and call the same command line.
    pub started_percent: usize,
}

/// Records and judges. Each of the longer histories is told as soon as it is judged, because many of them take hours.
pub fn run(programs: &Programs, effort: Effort, tell: &mut dyn FnMut(&str)) -> Outcome<String> {
    for number in 0..effort.histories {
        let (seed, clients, started_percent) = (effort.seed + number, effort.clients, effort.started_percent);
        let script =
            Script { seed, clients, operations: effort.operations, size: Size::Large, started_percent };
        tell(&format!("{} of {}, {}", number + 1, effort.histories, one(programs, script)?));
    }
    if effort.twins > 0 {
        let (seed, operations, started_percent) = (effort.seed, effort.twins, effort.started_percent);
        let script = Script { seed, clients: CLIENTS_TWINS, operations, size: Size::Twins, started_percent };
        tell(&format!("two processes for each agent, {}", one(programs, script)?));
    }
    for number in 0..effort.small {
        let seed = effort.seed + number;
        let operations = OPERATIONS_MAX as u64;
        let (clients, size) = (CLIENTS_SMALL, Size::Small);
        one(programs, Script { seed, clients, operations, size, started_percent: 100 })?;
    }
    Ok(format!("{} small histories: witness and search agree that all are linearizable\n", effort.small))
}

/// Judges once more what a failed run left in a directory.
pub fn judge_again(directory: &Path) -> Outcome<String> {
    let read = |name: &str| {
        let path = directory.join(name);
        std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))
    };
    let history: Vec<Operation> = read(HISTORY)?.lines().map(Operation::read).collect::<Outcome<_>>()?;
    verdict(&history, &read(LOG)?)?;
    Ok(format!("{} operations: nothing is wrong\n", history.len()))
}

fn one(programs: &Programs, script: Script) -> Outcome<String> {
    on_stage(programs, |stage| recorded_and_judged(programs, stage, script)).map_err(|why| {
        let Script { seed, clients, operations, size, started_percent } = script;
        let like_it = match size {
            Size::Large => format!(
                "--operations {operations} --clients {clients} --small 0 --twins 0 --started {started_percent}"
            ),
            Size::Small => "--histories 0 --small 1 --twins 0".to_owned(),
            Size::Twins => format!("--histories 0 --small 0 --twins {operations} --started {started_percent}"),
        };
        format!("{why}\nrecord one like it: clearway-storm histories --seed {seed} {like_it}")
    })
}

fn recorded_and_judged(programs: &Programs, stage: &Stage, script: Script) -> Outcome<String> {
    let started = Instant::now();
    let history = record(programs, stage, script)?;
    let recorded_s = started.elapsed().as_secs_f64();
    let keep = |name: &str, text: &str| {
        std::fs::write(stage.path().join(name), text).map_err(|error| format!("{name}: {error}"))
    };
    let judged = stage.audited().and_then(|log| keep(LOG, &log).and_then(|()| verdict(&history, &log)));
    match judged {
        Ok(events) => Ok(told(&history, script, events, recorded_s, started.elapsed().as_secs_f64())),
        Err(why) => {
            let lines: Vec<String> = history.iter().map(Operation::line).collect();
            keep(HISTORY, &lines.join("\n"))?;
            Err(format!("{why}\n\njudge it again: clearway-storm judge {}", stage.path().display()))
        }
    }
}

/// Both judges; how many events there are.
fn verdict(history: &[Operation], log: &str) -> Outcome<u64> {
    let ledger = Ledger::read(log).map_err(|breach| breach.to_string())?;
    let breaches = judge(history, &ledger);
    if !breaches.is_empty() {
        return Err(breaches.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"));
    }
    if history.len() <= OPERATIONS_MAX && !is_linearizable(history, &ledger) {
        return Err("the witness finds nothing wrong, but the search finds no order".to_owned());
    }
    Ok(ledger.rev())
}

fn told(history: &[Operation], script: Script, events: u64, recorded_s: f64, whole_s: f64) -> String {
    let killed = history.iter().filter(|one| matches!(one.ended, Ended::Killed)).count();
    let refused = history.iter().filter(|one| one.failure().is_some()).count();
    let busy = history.iter().filter(|one| one.was_busy()).count();
    let waited =
        history.iter().filter(|one| matches!(one.ask, Ask::Reserve { how: How::Wait(_), .. })).count();
    format!(
        "seed {}: {} operations by {} processes at once ({refused} refused, {busy} of \
         them by a busy store, {waited} waiting, {killed} killed, {}% by the binary anew), \
         {events} events; recorded in {recorded_s:.1} s, judged in {:.1} s: linearizable\n",
        script.seed,
        history.len(),
        script.clients,
        script.started_percent,
        whole_s - recorded_s
    )
}
