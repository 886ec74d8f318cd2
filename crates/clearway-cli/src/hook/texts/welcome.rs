//! What an agent is told when it begins.

use super::said::{HELD_COLUMNS, Said, TEXT_BYTES_MAX, clipped, foreign};
use crate::render::and_more;
use clearway_core::agent::Liveness;
use clearway_core::hint::Hint;
use clearway_core::lease::Lease;
use clearway_core::target::Worktree;
use clearway_kernel::config::Enforcement;
use clearway_kernel::{AgentSeen, Company, Status, Unread};

/// What an agent is told when it begins: who else is here and on what, what a refusal means, and what was written to it.
/// Nothing if it is alone and nothing waits. All of it has one budget.
pub(crate) fn welcome(company: &Company) -> Option<String> {
    let unread = company.unread.as_ref().map(unread);
    let room = TEXT_BYTES_MAX - unread.as_ref().map_or(0, |text| text.len() + 1);
    let others = others(&company.status, company.mode, room);
    let texts: Vec<String> = others.into_iter().chain(unread).collect();
    (!texts.is_empty()).then(|| texts.join("\n"))
}

/// How much was written to an agent while it was away.
fn unread(unread: &Unread) -> String {
    let (least, count) = (if unread.is_all { "" } else { "at least " }, unread.count);
    let messages = if count == 1 { "message" } else { "messages" };
    let about = unread.subject.as_ref().map(|subject| foreign(subject, SUBJECT_COLUMNS));
    let about = about.map(|about| format!(": \"{about}\"")).unwrap_or_default();
    let text = format!("{least}{count} unread {messages}, the first from {}{about}.", unread.from);
    Said::then(text, " Read: ", &Hint::command("", "inbox", &[])).within(UNREAD_BYTES_MAX)
}

/// Bytes given to what was written to an agent, and columns to what of it is about.
const UNREAD_BYTES_MAX: usize = 180;
const SUBJECT_COLUMNS: usize = 40;

fn others(status: &Status, mode: Enforcement, room: usize) -> Option<String> {
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
    let text = format!("Also at work here: {list}{more}. {rule}");
    Some(Said::then(text, " Look: ", &Hint::command("", "status", &[])).within(room))
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
    format!("{} ({}){on}", agent.name, seen.word())
}

/// What a lease is on, with its checkout unless the agent begins there.
fn held_somewhere(lease: &Lease, here: &Worktree) -> String {
    let (what, root) = (clipped(&lease.target.display(), HELD_COLUMNS), &lease.worktree);
    match root.0.is_empty() || root == here {
        true => what,
        false => format!("{what} in {}", clipped(&root.0, HELD_COLUMNS)),
    }
}
