//! `mine` and `statusline`: what is the caller's own, in a form for other programs.

use super::status::awaiting;
use crate::arguments::MineFlags;
use crate::console::{Answer, Problem, document};
use crate::given::Given;
use crate::render::{Page, count};
use clearway_core::agent::Liveness;
use clearway_kernel::{AgentSeen, Mine, Session, Status};
use clearway_wire::json::{Looked, MineReply, StatuslineReply};

pub(super) fn mine(session: &mut Session<'_>, flags: &MineFlags) -> Result<Paths, Problem> {
    Ok(Paths { found: session.mine(flags.dirty)?, end: if flags.zero { '\0' } else { '\n' } })
}

pub(super) fn statusline(session: &mut Session<'_>) -> Result<Line, Problem> {
    let status = session.status()?;
    Ok(Line { line: line(&status), rev: status.rev })
}

/// The answer of `mine`.
#[derive(Debug)]
pub(super) struct Paths {
    found: Mine,
    end: char,
}

impl Answer for Paths {
    fn json(&self, _: &Given) -> String {
        document(&Looked::new(self.found.rev, MineReply { paths: self.found.paths.clone() }))
    }

    fn text(&self, _: &Page) -> String {
        self.found.paths.iter().map(|path| format!("{}{path}{}", before(path), self.end)).collect()
    }
}

/// No program takes a path for a flag.
fn before(path: &str) -> &'static str {
    if path.starts_with('-') { "./" } else { "" }
}

/// The answer of `statusline`.
#[derive(Debug)]
pub(super) struct Line {
    line: String,
    rev: clearway_core::ids::Seq,
}

impl Answer for Line {
    fn json(&self, _: &Given) -> String {
        document(&Looked::new(self.rev, StatuslineReply { line: self.line.clone() }))
    }

    fn text(&self, _: &Page) -> String {
        if self.line.is_empty() { String::new() } else { format!("{}\n", self.line) }
    }
}

/// What matters most comes first: a bar may be cut at its end.
fn line(status: &Status) -> String {
    let me = status.me.as_ref().map(|(id, _)| *id);
    let mine: Vec<_> = status.leases.iter().filter(|view| Some(view.lease.holder) == me).collect();
    let waited = me.map_or(0, |me| awaiting(status, me).count() as u64);
    let waiting = status.waits.iter().filter(|queued| Some(queued.wait.agent) == me);
    let (turns, waiting): (Vec<_>, Vec<_>) = waiting.partition(|queued| queued.wait.offered_until.is_some());
    let is_here = |seen: &&AgentSeen| {
        Some(seen.view.agent.id) != me && (seen.liveness == Liveness::Active || seen.view.live_leases > 0)
    };
    let others = status.agents.iter().filter(|seen| seen.liveness != Liveness::Gone).filter(is_here).count();
    let frozen = status.frozen.as_ref().map(|_| "frozen".to_owned());
    let parts = [
        (status.warnings.len() as u64, "warning", "warnings"),
        (turns.len() as u64, "turn is yours", "turns are yours"),
        (waited, "waits for you", "wait for you"),
        (waiting.len() as u64, "wait of yours", "waits of yours"),
        (mine.len() as u64, "lease", "leases"),
        (others as u64, "other agent", "other agents"),
    ];
    let said = parts.into_iter().filter(|(number, ..)| *number > 0);
    let said = said.map(|(number, one, many)| count(number, one, many));
    frozen.into_iter().chain(said).collect::<Vec<_>>().join(", ")
}
