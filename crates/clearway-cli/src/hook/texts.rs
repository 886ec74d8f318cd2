//! What agents are told: facts, not orders; whose it is, what happens next, one command. Every text fits its budget.

use clearway_core::agent::Liveness;
use clearway_core::decide::{Notice, Success};
use clearway_core::failure::{Ahead, Failure, LeaseView};
use clearway_core::hint::Hint;
use clearway_core::lease::Grade;
use clearway_core::text::{printable, truncate_columns};
use clearway_core::wait::Queued;
use clearway_kernel::config::Mode;
use clearway_kernel::{AgentSeen, Answers, Gate, Reply, Status};

/// Bytes of one text.
pub(crate) const TEXT_BYTES_MAX: usize = 400;
/// Columns given to a path, a reason and a name of somebody else.
const PATH_COLUMNS: usize = 72;
const REASON_COLUMNS: usize = 48;
const FAILURE_COLUMNS: usize = 160;

/// Why files are not written; `None` if they may be.
pub(crate) fn refusal(gate: &Gate) -> Option<String> {
    let reply = gate.answers.replies.get(gate.refused?)?;
    let text = match &reply.outcome {
        Ok(Success::Queued { queued, blockers, ahead }) => waits(reply, queued, blockers, ahead),
        Err(failure) if gate.mode == Mode::Warn => {
            format!("{}. It may be edited all the same.", failure.message)
        }
        Err(failure) => format!("Not edited: {}.{}", failure.message, first_command(&failure.hints)),
        Ok(_) => return None,
    };
    let beside = beside(&gate.answers).map(|beside| format!("\n{beside}")).unwrap_or_default();
    Some(within_budget(text) + &beside)
}

/// What to know beside an answer, if there is anything.
pub(crate) fn beside(answers: &Answers) -> Option<String> {
    let notices = answers.replies.iter().flat_map(|reply| &reply.notices);
    let recovered = answers.recovered.then(|| "Clearway works again; edits are checked.".to_owned());
    let lines: Vec<String> = recovered.into_iter().chain(notices.filter_map(line)).collect();
    (!lines.is_empty()).then(|| within_budget(lines.join("\n")))
}

fn line(notice: &Notice) -> Option<String> {
    match notice {
        Notice::TookOver { target, from } => Some(format!(
            "{} is yours; {from} held it and is gone. Changes of {from} that were not committed may be in it.",
            path(target)
        )),
        Notice::ChangedHands { target, by } => Some(format!(
            "{} is yours again; {by} had it in between. Read it again before you edit it.",
            path(target)
        )),
        Notice::LeftBehind { target, from } => Some(format!(
            "{} is yours; {from} ended and left changes in it that are not committed. Keep them or undo them.",
            path(target)
        )),
        Notice::WaitedFor { target, by, reason } => {
            let reason = reason.as_deref().map(|reason| clipped(reason, REASON_COLUMNS));
            let reason = reason.map(|reason| format!(" (\"{reason}\")")).unwrap_or_default();
            let target = path(target);
            let command = clearway_core::shell::word(&target);
            Some(format!(
                "{by} waits for {target}{reason}. It passes on when you commit it, or: clearway release {command}"
            ))
        }
        Notice::YourTurn { target, left_ms } => Some(format!(
            "{} is free, and kept for you for {}. It may have changed since you read it.",
            path(target),
            clearway_core::time::rounded(*left_ms)
        )),
        Notice::PassedOn { target, to } => Some(format!(
            "{} went to {to}; you had not changed it. Read it again before you edit it.",
            path(target)
        )),
        Notice::WrittenOver { target, by } => {
            let who = match by {
                Some(by) => format!("while a command of {by} ran"),
                None => "by something that no tool call explains".to_owned(),
            };
            Some(format!(
                "{} is yours and was written {who}. Read it again before you edit it.",
                path(target)
            ))
        }
        Notice::WroteOver { target, holder } => Some(format!(
            "{} is with {holder} and was written while your command ran; {holder} is told. Undo it unless it was meant.",
            path(target)
        )),
        _ => None,
    }
}

/// What an agent is told when it begins: who else is here and on what, and what a refusal means. Nothing if it is alone
/// and nothing waits.
pub(crate) fn welcome(status: &Status, mode: Mode) -> Option<String> {
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
        Mode::Enforce => None,
        Mode::Warn => {
            Some("Edits of files that are with somebody else are not refused here (mode = warn).".to_owned())
        }
        Mode::Observe => Some("Nothing is refused here (mode = observe).".to_owned()),
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
    Some(within_budget(format!("Also at work here: {list}{more}. {rule} Look: clearway status")))
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
        .map(|view| clipped(&view.lease.target.display(), 40))
        .collect();
    let on = match held.as_slice() {
        [] => String::new(),
        [one] => format!(" on {one}"),
        [one, rest @ ..] => format!(" on {one} and {} more", rest.len()),
    };
    format!("{} ({}){on}", agent.name, seen.liveness.word())
}

/// What is said once when edits pass unchecked.
pub(crate) fn unchecked(failure: &Failure) -> String {
    let why = clipped(&failure.message, FAILURE_COLUMNS);
    within_budget(format!("Edits are not checked by Clearway for now: {why}. Look: clearway doctor"))
}

/// What is said of a call that is refused for itself.
pub(crate) fn unfit(failure: &Failure) -> String {
    let how = failure.hints.first().map(|hint| format!(": {hint}")).unwrap_or_default();
    within_budget(format!("Not edited: {}{how}", failure.message))
}

/// What is said where nobody watches.
pub(crate) fn refused_unchecked(failure: &Failure) -> String {
    let why = clipped(&failure.message, FAILURE_COLUMNS);
    within_budget(format!(
        "Not edited: Clearway cannot check it: {why}. Trying again does not help; a person has to look: clearway doctor"
    ))
}

/// The same refusal again is one line.
fn waits(reply: &Reply, queued: &Queued, blockers: &[LeaseView], ahead: &[Ahead]) -> String {
    let place = ordinal(queued.position);
    let Some((what, whose)) = obstacle(queued, blockers, ahead) else {
        return frozen(reply, &place);
    };
    if queued.wait.since < reply.now.mono && !reply.replayed {
        return format!(
            "Not edited: {what} is still with {whose}. You are {place} in the queue; you will be told."
        );
    }
    let first = match blockers.first() {
        Some(blocker) => format!("{what} is with {whose}{}.{}", stated(blocker), unfinished(blocker)),
        None => format!("{whose} has the turn at {what} before you."),
    };
    let more = others(blockers.len() + ahead.len());
    format!(
        "Not edited: {first}{more} You are queued, {place}; it passes to you when it is committed or released, and \
         you will be told here. Nothing to poll. Other files are free.\nLook: clearway who {}",
        clearway_core::shell::word(&what)
    )
}

/// What is in the way, and whose it is.
fn obstacle(queued: &Queued, blockers: &[LeaseView], ahead: &[Ahead]) -> Option<(String, String)> {
    match (blockers.first(), ahead.first()) {
        (Some(blocker), _) => {
            let wanted = queued.wait.wanted.wants.iter().map(|want| &want.target);
            let hit = wanted.clone().find(|target| target.overlaps(&blocker.lease.target));
            let what =
                hit.or(wanted.clone().next()).map_or_else(String::new, |target| path(&target.display()));
            Some((what, format!("{} ({})", blocker.agent, blocker.liveness.word())))
        }
        (None, Some(ahead)) => Some((path(&ahead.target), ahead.agent.to_string())),
        (None, None) => None,
    }
}

fn frozen(reply: &Reply, place: &str) -> String {
    let freeze = reply.notices.iter().find_map(|notice| match notice {
        Notice::Frozen { left_ms, reason } => Some((left_ms, reason)),
        _ => None,
    });
    match freeze {
        Some((left_ms, reason)) => format!(
            "Not edited: a person paused new edits for {}: {}. You are queued, {place}; nothing to poll.",
            clearway_core::time::rounded(*left_ms),
            clipped(reason, REASON_COLUMNS),
        ),
        None => format!("Not edited: you are queued, {place}; nothing to poll."),
    }
}

fn stated(blocker: &LeaseView) -> String {
    let reason = blocker.lease.reason.as_deref().map(|reason| clipped(reason, REASON_COLUMNS));
    reason.map(|reason| format!(": \"{reason}\"")).unwrap_or_default()
}

/// A lease that a hook took stands while there is something in the file that is not committed, or about to be.
fn unfinished(blocker: &LeaseView) -> String {
    match blocker.lease.grade {
        Grade::Auto => format!(" {} is changing it.", blocker.agent),
        Grade::Claimed => String::new(),
    }
}

fn others(count: usize) -> String {
    if count > 1 { format!(" {} more stand in the way.", count - 1) } else { String::new() }
}

fn first_command(hints: &[Hint]) -> String {
    let command = hints.iter().map(ToString::to_string).find(|hint| hint.contains("clearway "));
    command.map(|hint| format!("\n{hint}")).unwrap_or_default()
}

fn path(text: &str) -> String {
    clipped(text, PATH_COLUMNS)
}

fn clipped(text: &str, columns: usize) -> String {
    truncate_columns(&printable(text), columns).into_owned()
}

fn ordinal(position: u64) -> String {
    let ending = match (position % 100, position % 10) {
        (11..=13, _) => "th",
        (_, 1) => "st",
        (_, 2) => "nd",
        (_, 3) => "rd",
        _ => "th",
    };
    format!("{position}{ending}")
}

/// Cut where a character ends.
fn within_budget(mut text: String) -> String {
    if text.len() > TEXT_BYTES_MAX {
        let end = (0..=TEXT_BYTES_MAX - 3).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
        text.truncate(end);
        text.push('…');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_counted_as_people_count() {
        let said: Vec<String> = [1, 2, 3, 4, 11, 12, 13, 21, 112].map(ordinal).into();
        assert_eq!(said, ["1st", "2nd", "3rd", "4th", "11th", "12th", "13th", "21st", "112th"]);
    }

    #[test]
    fn a_text_ends_within_its_budget_and_at_a_character() {
        let text = within_budget("ä".repeat(300));
        assert!(text.len() <= TEXT_BYTES_MAX && text.ends_with('…'), "{}", text.len());
        assert_eq!(within_budget("short".to_owned()), "short");
    }
}
