//! What agents are told: facts, not orders; whose it is, what happens next, one command. Every text fits its budget.

use clearway_core::agent::Liveness;
use clearway_core::decide::{Notice, Success};
use clearway_core::failure::{Ahead, Details, Failure, LeaseView};
use clearway_core::hint::Hint;
use clearway_core::lease::Grade;
use clearway_core::slug::Slug;
use clearway_core::target::{Target, Worktree};
use clearway_core::text::{printable, truncate_columns};
use clearway_core::wait::Queued;
use clearway_kernel::config::Mode;
use clearway_kernel::{AgentSeen, Answers, Gate, Reply, ScopeAnswer, Status};

/// Bytes of one text.
pub(crate) const TEXT_BYTES_MAX: usize = 400;
/// Columns given to a path, a reason and a name of somebody else.
const PATH_COLUMNS: usize = 72;
const REASON_COLUMNS: usize = 48;
const FAILURE_COLUMNS: usize = 160;

/// Something to say. A command in it is said whole or not at all: one that was cut means something else.
struct Said {
    text: String,
    /// The same without the command, if it has one.
    without_command: Option<String>,
}

impl Said {
    fn plain(text: String) -> Self {
        Self { text, without_command: None }
    }

    /// The text, then what leads to a command and the command.
    fn then(text: String, lead: &str, command: &Hint) -> Self {
        let line = command.line().unwrap_or_default();
        Self { text: format!("{text}{lead}{line}"), without_command: Some(text) }
    }

    fn within(self, bytes_max: usize) -> String {
        match self.without_command {
            Some(shorter) if self.text.len() > bytes_max => cut(shorter, bytes_max),
            _ => cut(self.text, bytes_max),
        }
    }
}

/// Why files are not written; `None` if they may be.
pub(crate) fn refusal(gate: &Gate) -> Option<String> {
    let answer = gate.answers.of_scopes.get(gate.refused?)?;
    let said = match &answer.reply.outcome {
        Ok(Success::Queued { queued, blockers, ahead }) => waits(answer, queued, blockers, ahead),
        Err(failure) if gate.mode == Mode::Warn => {
            Said::plain(format!("{}. It may be edited all the same.", failure.message))
        }
        Err(failure) => in_use(failure).unwrap_or_else(|| refused(failure)),
        Ok(_) => return None,
    };
    let beside = beside(&gate.answers).map(|beside| format!("\n{beside}")).unwrap_or_default();
    Some(said.within(TEXT_BYTES_MAX) + &beside)
}

/// What to know beside an answer, if there is anything.
pub(crate) fn beside(answers: &Answers) -> Option<String> {
    let mut text = if answers.recovered { RECOVERED.to_owned() } else { String::new() };
    for answer in &answers.of_scopes {
        for said in answer.reply.notices.iter().filter_map(|notice| line(notice, answer)) {
            let gap = if text.is_empty() { "" } else { "\n" };
            match TEXT_BYTES_MAX.checked_sub(text.len() + gap.len()) {
                Some(left) if left >= LINE_BYTES_MIN => text = format!("{text}{gap}{}", said.within(left)),
                _ => break,
            }
        }
    }
    (!text.is_empty()).then_some(text)
}

const RECOVERED: &str = "Clearway works again; edits are checked.";
/// Bytes below which the beginning of a line says nothing.
const LINE_BYTES_MIN: usize = 80;

fn line(notice: &Notice, answer: &ScopeAnswer) -> Option<Said> {
    let said = match notice {
        Notice::TookOver { target, from } => format!(
            "{} is yours; {from} held it and is gone. Changes of {from} that were not committed may be in it.",
            path(target)
        ),
        Notice::ChangedHands { target, by } => {
            format!(
                "{} is yours again; {by} had it in between. Read it again before you edit it.",
                path(target)
            )
        }
        Notice::LeftBehind { target, from } => format!(
            "{} is yours; {from} ended and left changes in it that are not committed. Keep them or undo them.",
            path(target)
        ),
        Notice::WaitedFor { target, held, grade, by, reason } => {
            let reason = reason.as_deref().map(|reason| clipped(reason, REASON_COLUMNS));
            let reason = reason.map(|reason| format!(" (\"{reason}\")")).unwrap_or_default();
            let release = command("release", held, answer);
            let waits = format!("{by} waits for {}{reason}. It passes on when you", path(target));
            return Some(match grade {
                Grade::Auto => Said::then(format!("{waits} commit it"), ", or: ", &release),
                Grade::Claimed => Said::then(format!("{waits} release it"), ": ", &release),
            });
        }
        Notice::YourTurn { target, left_ms } => {
            let left = clearway_core::time::rounded(*left_ms);
            let free = format!("{} is free, and kept for you for {left}.", path(&target.display()));
            return Some(match target {
                Target::Path(_) => Said::plain(format!("{free} It may have changed since you read it.")),
                Target::Name(_) => Said::then(free, " Take it: ", &command("reserve", target, answer)),
            });
        }
        Notice::PlaceOver { target } => format!(
            "{} was kept for you while you were away; you wait for it no more. Edit it if you still need to.",
            path(target)
        ),
        Notice::PassedOn { target, to } => {
            format!("{} made way for {to}. Read it again before you edit it.", path(target))
        }
        Notice::WrittenOver { target, by } => {
            let who = match by {
                Some(by) => format!("while a command of {by} ran"),
                None => "by something that no tool call explains".to_owned(),
            };
            format!("{} is yours and was written {who}. Read it again before you edit it.", path(target))
        }
        Notice::WroteOver { target, holder } => format!(
            "{} is with {holder} and was written while your command ran; {holder} is told. Undo it unless it was meant.",
            path(target)
        ),
        _ => return None,
    };
    Some(Said::plain(said))
}

/// A command about something of a scope, as it has to be typed where the agent stands.
fn command(verb: &str, target: &Target, answer: &ScopeAnswer) -> Hint {
    let mut hint = match target {
        Target::Path(pattern) => Hint::command("", verb, &[pattern.canonical()]),
        Target::Name(name) => Hint::about_name("", verb, name.as_str()),
    };
    // A root is told only where the agent stands elsewhere.
    answer.root.iter().for_each(|root| hint.run_from("", &Worktree(root.clone())));
    hint
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
    look(format!("Edits are not checked by Clearway for now: {why}."), "doctor")
}

/// What is said of a call that is refused for itself.
pub(crate) fn unfit(failure: &Failure) -> String {
    let how = failure.hints.first().map(|hint| format!(": {hint}")).unwrap_or_default();
    cut(format!("Not edited: {}{how}", failure.message), TEXT_BYTES_MAX)
}

/// What is said where nobody watches.
pub(crate) fn refused_unchecked(failure: &Failure) -> String {
    let why = clipped(&failure.message, FAILURE_COLUMNS);
    let text = format!(
        "Not edited: Clearway cannot check it: {why}. Trying again does not help; a person has to look"
    );
    Said::then(text, ": ", &Hint::command("", "doctor", &[])).within(TEXT_BYTES_MAX)
}

/// A text with the command that tells more.
fn look(text: String, verb: &str) -> String {
    Said::then(text, " Look: ", &Hint::command("", verb, &[])).within(TEXT_BYTES_MAX)
}

/// The same refusal again is one line.
fn waits(answer: &ScopeAnswer, queued: &Queued, blockers: &[LeaseView], ahead: &[Ahead]) -> Said {
    let (reply, place) = (&answer.reply, ordinal(queued.position));
    let Some(Obstacle { what, whose, command }) = obstacle(answer, queued, blockers, ahead) else {
        return Said::plain(frozen(reply, &place));
    };
    if queued.wait.since < reply.now.mono && !reply.replayed {
        let still = match blockers {
            [] => format!("{whose} still has the turn at {what}"),
            _ => format!("{what} is still with {whose}"),
        };
        return Said::plain(format!("Not edited: {still}. You are {place} in the queue; you will be told."));
    }
    let first = match blockers.first() {
        Some(blocker) => format!("{what} is with {whose}{}.{}", stated(blocker), unfinished(blocker)),
        None => format!("{whose} has the turn at {what} before you."),
    };
    let (more, when) = (others(blockers.len() + ahead.len()), passes(blockers));
    let text = format!(
        "Not edited: {first}{more} You are queued, {place}; it passes to you {when}, and you will be told here. \
         Nothing to poll. Other files are free."
    );
    Said::then(text, "\nLook: ", &command)
}

/// When whoever is refused gets it: a commit ends what a hook took, and nothing that somebody reserved.
fn passes(blockers: &[LeaseView]) -> String {
    let claimed = blockers.iter().find(|blocker| blocker.lease.grade == Grade::Claimed);
    match (claimed, blockers.first()) {
        (Some(blocker), _) => format!("when {} releases it", blocker.agent),
        (None, Some(blocker)) => format!("when {} commits or releases it", blocker.agent),
        (None, None) => "after that".to_owned(),
    }
}

/// What is in the way.
struct Obstacle {
    what: String,
    whose: String,
    /// What tells more of it.
    command: Hint,
}

fn obstacle(
    answer: &ScopeAnswer,
    queued: &Queued,
    blockers: &[LeaseView],
    ahead: &[Ahead],
) -> Option<Obstacle> {
    let mut wanted = queued.wait.wanted.wants.iter().map(|want| &want.target);
    let first = wanted.clone().next()?;
    let (hit, whose) = match (blockers.first(), ahead.first()) {
        (Some(blocker), _) => {
            let hit = wanted.find(|target| blocker.lease.is_on(target));
            (hit, format!("{} ({})", blocker.agent, blocker.liveness.word()))
        }
        (None, Some(ahead)) => {
            (wanted.find(|target| target.display() == ahead.target), ahead.agent.to_string())
        }
        (None, None) => return None,
    };
    let target = hit.unwrap_or(first);
    Some(Obstacle { what: path(&target.display()), whose, command: command("who", target, answer) })
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
    match count {
        0 | 1 => String::new(),
        2 => " 1 more stands in the way.".to_owned(),
        _ => format!(" {} more stand in the way.", count - 1),
    }
}

/// A refusal over what is held for the length of one call: whoever tries again after its next step gets it.
fn in_use(failure: &Failure) -> Option<Said> {
    let Details::Blockers { leases, .. } = &failure.details else { return None };
    let is_brief = failure.slug == Slug::ReservationHeld
        && leases.iter().all(|blocker| blocker.lease.grade == Grade::Auto);
    let blocker = leases.first().filter(|_| is_brief)?;
    let text = format!(
        "Not edited: {} is changing {} this moment. It is free when that call is over: read it and edit it again.",
        blocker.agent,
        path(&blocker.lease.target.display())
    );
    Some(Said::plain(text))
}

/// A refusal that keeps no place, with the first command that helps.
fn refused(failure: &Failure) -> Said {
    let text = format!("Not edited: {}.", failure.message);
    match failure.hints.iter().find(|hint| matches!(hint, Hint::Command { .. })) {
        Some(hint) => Said { text: format!("{text}\n{hint}"), without_command: Some(text) },
        None => Said::plain(text),
    }
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
fn cut(mut text: String, bytes_max: usize) -> String {
    if text.len() > bytes_max {
        let room = bytes_max.saturating_sub('…'.len_utf8());
        let end = (0..=room).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
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
        let text = cut("ä".repeat(300), TEXT_BYTES_MAX);
        assert!(text.len() <= TEXT_BYTES_MAX && text.ends_with('…'), "{}", text.len());
        assert_eq!(cut("short".to_owned(), TEXT_BYTES_MAX), "short");
    }

    #[test]
    fn a_command_is_said_whole_or_not_at_all() {
        let said = |path: &str| {
            let command = Hint::command("", "who", &[path]);
            Said::then("Not edited.".to_owned(), " Look: ", &command).within(40)
        };
        assert_eq!(said("a: b.rs"), "Not edited. Look: clearway who 'a: b.rs'");
        assert_eq!(said("src/session.rs"), "Not edited.");
    }
}
