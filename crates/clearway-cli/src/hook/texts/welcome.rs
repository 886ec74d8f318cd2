//! What an agent is told when it begins.

use super::look;
use super::said::{HELD_COLUMNS, clipped};
use crate::render::and_more;
use clearway_core::agent::Liveness;
use clearway_core::lease::Lease;
use clearway_core::target::Worktree;
use clearway_kernel::config::Enforcement;
use clearway_kernel::{AgentSeen, Status};

/// What an agent is told when it begins: who else is here and on what, and what a refusal means. Nothing if it is alone
/// and nothing waits.
pub(crate) fn welcome(status: &Status, mode: Enforcement) -> Option<String> {
    let me = status.me.as_ref().map(|(id, _)| *id);
    let own = status.agents.iter().map(|seen| &seen.view.agent).find(|agent| Some(agent.id) == me);
    let family = own.map(|agent| agent.root);
    let others: Vec<String> = status
        .agents
        .iter()
        .filter(|seen| Some(seen.view.agent.root) != family && seen.liveness != Liveness::Gone)
        .filter(|seen| seen.view.live_leases > 0 || is_at_work(seen))
        .map(|seen| whereabouts(status, seen))
        .collect();
    let lenient = match mode {
        Enforcement::Enforce => None,
        Enforcement::Warn => {
            Some("Edits of files that are with somebody else are not refused here (mode = warn).".to_owned())
        }
        Enforcement::Observe => Some("Nothing is refused here (mode = observe).".to_owned()),
    };
    if others.is_empty() {
        return lenient;
    }
    let (shown, more) = (others.len().min(OTHERS_SHOWN), others.len().saturating_sub(OTHERS_SHOWN));
    let more = if more > 0 { format!("; {more} more") } else { String::new() };
    let list = others[..shown].join("; ");
    let rule = lenient.unwrap_or_else(|| {
        "Edits reserve themselves; an edit of a file that is with somebody else is refused and queues you, and you are \
         told when it is yours."
            .to_owned()
    });
    Some(look(format!("Also at work here: {list}{more}. {rule}"), "status"))
}

/// Whoever has no hooks is seen by what it holds alone.
fn is_at_work(seen: &AgentSeen) -> bool {
    seen.liveness == Liveness::Active && seen.view.agent.client.has_hooks()
}

/// How many others an agent is told of by name.
const OTHERS_SHOWN: usize = 3;

fn whereabouts(status: &Status, seen: &AgentSeen) -> String {
    let agent = &seen.view.agent;
    let held: Vec<String> = status
        .leases
        .iter()
        .filter(|view| view.lease.holder == agent.id && view.lease.ended.is_none())
        .map(|view| held_somewhere(&view.lease, &status.here))
        .collect();
    let on = match held.as_slice() {
        [] => String::new(),
        [one] => format!(" on {one}"),
        [one, ..] => format!(" on {one} {}", and_more(held.len(), 1).unwrap_or_default()),
    };
    format!("{} ({}){on}", agent.name, seen.liveness.word())
}

/// What a lease is on, with its checkout unless the agent begins there.
fn held_somewhere(lease: &Lease, here: &Worktree) -> String {
    let (what, root) = (clipped(&lease.target.display(), HELD_COLUMNS), &lease.worktree);
    match root.0.is_empty() || root == here {
        true => what,
        false => format!("{what} in {}", clipped(&root.0, HELD_COLUMNS)),
    }
}
