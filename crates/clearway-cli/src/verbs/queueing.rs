//! `wait`, `waits`, `transfer`, `freeze` and `thaw`, and the line that is shown while somebody waits.

use super::changed::Changed;
use crate::arguments::{FreezeFlags, ThawFlags, TransferFlags, WaitFlags, WaitsFlags};
use crate::console::{Answer, Console, Problem, document};
use crate::given::Given;
use crate::render::{Cell, Fit, Page, Table, Tone, ago, count, placed_wants};
use clearway_core::failure::Failure;
use clearway_core::slug::Slug;
use clearway_core::text::printable;
use clearway_core::time::{Now, elapsed, rounded};
use clearway_core::wait::Queued;
use clearway_kernel::{ChosenWords, Session, Standing, Waits};
use clearway_wire::json::{Looked, WaitJson, WaitsReply};

pub(super) fn wait(
    session: &mut Session<'_>,
    flags: &WaitFlags,
    console: &mut Console<'_, '_>,
) -> Result<Changed, Problem> {
    if let Some(reason) = &flags.reason {
        session.act_as_operator(reason)?;
    }
    if flags.cancel {
        return Changed::new(session.leave(&flags.waits)?);
    }
    let id = match flags.waits.as_slice() {
        [] => None,
        [id] => Some(id.as_str()),
        _ => return Err(one_at_a_time().into()),
    };
    let reply = watched(console, |watch| session.wait(id, flags.span.as_deref(), watch));
    Changed::new(reply?)
}

fn one_at_a_time() -> Failure {
    Failure::new(Slug::Usage, "one can wait at one place at a time")
        .hint("what is wanted together is waited for together: clearway reserve --wait 5m PATTERN…")
}

pub(super) fn waits(
    session: &mut Session<'_>,
    flags: &WaitsFlags,
    console: &mut Console<'_, '_>,
) -> Result<Queue, Problem> {
    let mut found = session.waits()?;
    if let Some(name) = &flags.agent_name {
        found.waits.retain(|queued| queued.agent.as_str() == name);
        found.machine_wide.retain(|queued| queued.agent.as_str() == name);
        if found.waits.is_empty() && found.machine_wide.is_empty() {
            console.note(&session.unknown_agent(name)?);
        }
    }
    Ok(Queue(found))
}

/// Somebody else's lease is an operator's matter: a stated reason claims that role.
pub(super) fn transfer(session: &mut Session<'_>, flags: TransferFlags) -> Result<Changed, Problem> {
    if let Some(reason) = &flags.reason {
        session.act_as_operator(reason)?;
    }
    let words = ChosenWords { targets: flags.targets, kind: flags.kind.kind(), all: flags.all };
    Changed::new(session.transfer(&flags.to, &words)?)
}

pub(super) fn freeze(session: &mut Session<'_>, flags: &FreezeFlags) -> Result<Changed, Problem> {
    session.act_as_operator(&flags.reason)?;
    Changed::new(session.freeze(flags.span.as_deref())?)
}

pub(super) fn thaw(session: &mut Session<'_>, flags: &ThawFlags) -> Result<Changed, Problem> {
    session.act_as_operator(&flags.reason)?;
    Changed::new(session.thaw()?)
}

/// Does something that waits. A person at a terminal sees how things stand; nobody else is shown anything.
pub(super) fn watched<T>(
    console: &mut Console<'_, '_>,
    wait: impl FnOnce(&mut clearway_kernel::Watcher<'_>) -> T,
) -> T {
    let mut shown_at = None;
    let done = wait(&mut |standing: &Standing<'_>| {
        let second = standing.waited_ms / 1_000;
        if shown_at != Some(second) {
            shown_at = Some(second);
            console.live(&live_line(standing));
        }
    });
    console.live("");
    done
}

fn live_line(standing: &Standing<'_>) -> String {
    let holder = standing.blockers.first().map(|view| {
        format!("{} is with {} ({})", view.lease.target.display(), view.agent, view.holder_word())
    });
    let earlier = standing.ahead.first().map(|ahead| format!("{} is before you", ahead.agent));
    let why = holder.or(earlier).unwrap_or_else(|| "your turn".to_owned());
    let since =
        if standing.waited_ms < 1_000 { String::new() } else { format!(" {}", elapsed(standing.waited_ms)) };
    format!(
        "waiting{since}: {}; place {}, at most {} more",
        printable(&why),
        standing.position,
        rounded(standing.left_ms)
    )
}

/// The answer of `waits`.
#[derive(Debug)]
pub(super) struct Queue(Waits);

impl Answer for Queue {
    fn json(&self, _: &Given) -> String {
        let Waits { rev, now, waits, machine_wide, .. } = &self.0;
        let body = WaitsReply {
            waits: WaitJson::list(waits.iter().chain(machine_wide), now),
            machine_wide: machine_wide.iter().map(|queued| queued.wait.id.to_string()).collect(),
        };
        document(&Looked::new(*rev, body))
    }

    fn text(&self, page: &Page) -> String {
        let Waits { now, waits, machine_wide, elsewhere, .. } = &self.0;
        match waits.is_empty() && machine_wide.is_empty() {
            true if *elsewhere > 0 => {
                let there = format!("nobody waits here; machine-wide {}", count(*elsewhere, "waits", "wait"));
                page.given.advice(&format!("{there}: clearway --scope machine waits\n"))
            }
            true => "nobody waits\n".to_owned(),
            false => wait_table(waits, machine_wide, now, page).render(page, ""),
        }
    }
}

/// Places in the queue, one a line, and after them those in the queue of the machine.
pub(super) fn wait_table(waits: &[Queued], machine_wide: &[Queued], now: &Now, page: &Page) -> Table {
    let mut table = Table::new(&[Fit::Whole, Fit::Start, Fit::Last, Fit::Whole, Fit::Whole, Fit::End]);
    table.head(&["id", "waits for", "who", "place", "since", "how"]);
    waits.iter().for_each(|queued| table.row(wait_row(queued, "", now, page)));
    machine_wide.iter().for_each(|queued| table.row(wait_row(queued, " (machine-wide)", now, page)));
    table
}

fn wait_row(queued: &Queued, whereabouts: &str, now: &Now, page: &Page) -> Vec<Cell> {
    let wait = &queued.wait;
    vec![
        Cell::new(wait.id.as_str()),
        Cell::new(placed_wants(&wait.wanted.wants, &wait.wanted.worktree, page) + whereabouts)
            .tone(Tone::Strong),
        Cell::new(queued.agent.as_str()),
        Cell::new(queued.position.to_string()),
        Cell::new(ago(now.mono.since(wait.since))),
        Cell::new(how(queued, now)),
    ]
}

fn how(queued: &Queued, now: &Now) -> String {
    let wait = &queued.wait;
    match (wait.offered_until, &wait.attached) {
        (Some(until), _) => format!("has the turn for {}", rounded(until.since(now.mono))),
        (None, Some(process)) => format!("process {} waits", process.pid),
        (None, None) => "keeps a place".to_owned(),
    }
}
