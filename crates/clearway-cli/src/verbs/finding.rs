//! `where`: how a person gets to an agent.

use crate::arguments::WhereFlags;
use crate::console::{Answer, Problem, document};
use crate::given::Given;
use crate::render::{Page, Tone, ago};
use clearway_core::text::printable;
use clearway_core::time::Now;
use clearway_kernel::{AgentPlace, Session};
use clearway_wire::json::{AgentJson, Looked, WhereReply};

pub(super) fn where_is(session: &mut Session<'_>, flags: &WhereFlags) -> Result<Whereabouts, Problem> {
    let now = session.agents()?.now;
    Ok(Whereabouts { found: session.where_is(&flags.name)?, now })
}

/// The answer of `where`.
#[derive(Debug)]
pub(super) struct Whereabouts {
    found: AgentPlace,
    now: Now,
}

impl Answer for Whereabouts {
    fn json(&self, _: &Given) -> String {
        let AgentPlace { rev, seen, pid, place, branch, resume, .. } = &self.found;
        document(&Looked::new(
            *rev,
            WhereReply {
                agent: AgentJson::new(&seen.view, seen.liveness, seen.waiting, &self.now),
                pid: *pid,
                terminal: place.terminal.clone(),
                tmux_pane: place.tmux_pane.clone(),
                directory: place.directory.as_ref().map(|directory| directory.display().to_string()),
                branch: branch.clone(),
                resume: resume.clone(),
            },
        ))
    }

    fn text(&self, page: &Page) -> String {
        let AgentPlace { seen, silent_ms, pid, place, branch, resume, .. } = &self.found;
        let agent = &seen.view.agent;
        let name = page.paint(Tone::Strong, agent.name.as_str());
        let silent = silent_ms.map(|ms| format!(", seen {}", ago(ms))).unwrap_or_default();
        let mut text = format!("{name}: {}, {}{silent}\n", agent.client.word(), seen.word());
        let pane = place.tmux_pane.as_ref().map(|pane| format!("{pane} (tmux switch-client -t {pane})"));
        let lines = [
            ("process", pid.map(|pid| pid.to_string())),
            ("terminal", place.terminal.clone()),
            ("tmux", pane),
            ("directory", place.directory.as_ref().map(|directory| directory.display().to_string())),
            ("branch", branch.clone()),
            ("resume", resume.clone()),
        ];
        for (about, said) in lines {
            // A command is to be copied, so nothing breaks its line.
            text.extend(said.map(|said| format!("  {about:9}  {}\n", printable(&said))));
        }
        text
    }
}
