//! `leases`, `who` and `agents`.

use super::queueing::wait_table;
use crate::arguments::{LeasesFlags, WhoFlags};
use crate::console::{Answer, Problem, document};
use crate::given::Given;
use crate::render::{
    Cell, Fit, Page, Table, Tone, ago, count, holder_tone, holding, left, machine_wide_name, notices,
    placed_pattern, seen_tone,
};
use clearway_core::agent::AgentName;
use clearway_core::failure::LeaseView;
use clearway_core::ids::AgentId;
use clearway_core::text::printable;
use clearway_core::time::Now;
use clearway_kernel::{AgentSeen, Agents, LeaseFilter, Leases, Session, Who};
use clearway_wire::json::{AgentJson, AgentsReply, Blocker, LeasesReply, Looked, WaitJson, WhoReply};

pub(super) fn leases(session: &mut Session<'_>, flags: LeasesFlags) -> Result<LeaseList, Problem> {
    let history = flags.history;
    let filter = LeaseFilter { agent: flags.agent_name, pattern: flags.pattern, history };
    Ok(LeaseList { found: session.leases(&filter)?, history })
}

pub(super) fn who(session: &mut Session<'_>, flags: &WhoFlags) -> Result<Holders, Problem> {
    Ok(Holders(session.who(flags.kind.kind(), &flags.path)?))
}

pub(super) fn agents(session: &mut Session<'_>) -> Result<AgentList, Problem> {
    let me = session.me()?;
    Ok(AgentList { found: session.agents()?, me })
}

/// The answer of `leases`.
#[derive(Debug)]
pub(super) struct LeaseList {
    found: Leases,
    history: bool,
}

impl Answer for LeaseList {
    fn json(&self, given: &Given) -> String {
        let Leases { rev, now, leases, machine_wide, unreadable, notices, .. } = &self.found;
        let body = LeasesReply {
            leases: Blocker::list(leases.iter().chain(machine_wide), now),
            machine_wide: machine_wide.iter().map(|view| view.lease.id.to_string()).collect(),
            unreadable: unreadable.clone(),
            notices: given.notices(notices),
        };
        document(&Looked::new(*rev, body))
    }

    fn text(&self, page: &Page) -> String {
        let Leases { leases, machine_wide, elsewhere, unreadable, .. } = &self.found;
        let mut text = match leases.is_empty() && machine_wide.is_empty() {
            true if *elsewhere > 0 => {
                let there = format!("no leases here; machine-wide {}", count(*elsewhere, "lease", "leases"));
                page.given.advice(&format!("{there}: clearway --scope machine leases\n"))
            }
            true => "no leases\n".to_owned(),
            false => self.table(page).render(page, ""),
        };
        for id in unreadable {
            let note = format!("note: the row of lease {} cannot be read: clearway doctor", printable(id));
            text.push_str(&page.given.advice(&note));
            text.push('\n');
        }
        text
    }

    fn aside(&self, page: &Page) -> String {
        notices(&self.found.notices, page)
    }
}

impl LeaseList {
    fn table(&self, page: &Page) -> Table {
        let fits = [Fit::Whole, Fit::Start, Fit::Last, Fit::Whole, Fit::Whole, Fit::End];
        let mut table = Table::new(&fits);
        let ends = if self.history { "state" } else { "left" };
        table.head(&["id", "pattern", "holder", "mode", ends, "why"]);
        let here = self.found.leases.iter().map(|view| (view, placed_pattern(view, page)));
        let there = self.found.machine_wide.iter().map(|view| (view, machine_wide_name(view)));
        here.chain(there).for_each(|(view, name)| table.row(self.row(view, &name)));
        table
    }

    fn row(&self, view: &LeaseView, name: &str) -> Vec<Cell> {
        vec![
            Cell::new(view.lease.id.as_str()),
            Cell::new(name).tone(Tone::Strong),
            Cell::new(view.agent.as_str()).tone(holder_tone(view)),
            Cell::new(view.lease.mode.word()),
            ending(view, &self.found.now, self.history),
            Cell::new(view.lease.reason.as_deref().unwrap_or_default()),
        ]
    }
}

fn ending(view: &LeaseView, now: &Now, history: bool) -> Cell {
    let state = if history { "active " } else { "" };
    let waiting = match view.waiters {
        0 => String::new(),
        waiters => format!(", {}", count(waiters, "waits", "wait")),
    };
    match view.lease.ended {
        Some(ended) => Cell::new(ended.how.word()).tone(Tone::Faint),
        None => Cell::new(format!("{state}{}{waiting}", left(view, now))),
    }
}

/// The answer of `who`.
#[derive(Debug)]
pub(super) struct Holders(Who);

impl Answer for Holders {
    fn json(&self, given: &Given) -> String {
        let Who { rev, now, path, holders, waiters, notices } = &self.0;
        let body = WhoReply {
            path: path.clone(),
            holders: Blocker::list(holders, now),
            waiters: WaitJson::list(waiters, now),
            notices: given.notices(notices),
        };
        document(&Looked::new(*rev, body))
    }

    fn text(&self, page: &Page) -> String {
        let Who { now, path, holders, waiters, .. } = &self.0;
        let mut text = match holders.is_empty() {
            true => format!("nobody holds {}\n", printable(path)),
            false => holders.iter().map(|view| holding(view, now, page, "")).collect(),
        };
        if !waiters.is_empty() {
            text.push_str(&wait_table(waiters, &[], now, page).render(page, ""));
        }
        text
    }

    fn aside(&self, page: &Page) -> String {
        notices(&self.0.notices, page)
    }
}

/// The answer of `agents`.
#[derive(Debug)]
pub(super) struct AgentList {
    found: Agents,
    me: Option<(AgentId, AgentName)>,
}

impl Answer for AgentList {
    fn json(&self, _: &Given) -> String {
        let Agents { rev, now, agents } = &self.found;
        let one = |seen: &AgentSeen| AgentJson::new(&seen.view, seen.liveness, seen.waiting, now);
        document(&Looked::new(*rev, AgentsReply { agents: agents.iter().map(one).collect() }))
    }

    fn text(&self, page: &Page) -> String {
        let Agents { now, agents, .. } = &self.found;
        if agents.is_empty() {
            return "no agents\n".to_owned();
        }
        let mut table = Table::new(&[Fit::End, Fit::Whole, Fit::Whole, Fit::Whole, Fit::Whole]);
        table.head(&["agent", "client", "state", "seen", "holds"]);
        for seen in agents {
            let AgentSeen { view, waiting, .. } = seen;
            let you =
                if self.me.as_ref().is_some_and(|(id, _)| *id == view.agent.id) { " (you)" } else { "" };
            table.row(vec![
                Cell::new(format!("{}{you}", view.agent.name)).tone(Tone::Strong),
                Cell::new(view.agent.client.word()),
                Cell::new(seen.word()).tone(seen_tone(seen)),
                Cell::new(view.last_seen().map_or("-".to_owned(), |seen| ago(now.mono.since(seen)))),
                Cell::new(held_and_awaited(view.live_leases, *waiting)),
            ]);
        }
        table.render(page, "")
    }
}

fn held_and_awaited(leases: u64, waiting: u64) -> String {
    let held = count(leases, "lease", "leases");
    if waiting == 0 { held } else { format!("{held}, waits for {waiting}") }
}
