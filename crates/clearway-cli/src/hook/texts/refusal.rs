//! Why an edit is refused, and what becomes of it.

use super::place::{command, named};
use super::said::{REASON_COLUMNS, Said, TEXT_BYTES_MAX, foreign};
use super::{beside, beside_refusal};
use clearway_core::decide::{Notice, Success};
use clearway_core::failure::{Ahead, Details, Failure, LeaseView};
use clearway_core::hint::Hint;
use clearway_core::lease::Grade;
use clearway_core::slug::Slug;
use clearway_core::wait::Queued;
use clearway_kernel::config::Enforcement;
use clearway_kernel::{Overwrite, Ruling, ScopeAnswer, Stands};

/// Why files are not written; `None` if they may be.
pub(crate) fn refusal(ruling: &Ruling) -> Option<String> {
    let answer = ruling.answers.of_scopes.get(ruling.refused?)?;
    let said = match &answer.reply.outcome {
        Ok(Success::Reserved { .. }) => overwrites(answer, answer.overwrite.as_ref()?, ruling.mode),
        Ok(Success::Queued { queued, blockers, ahead }) => waits(answer, queued, blockers, ahead),
        Err(failure) if ruling.mode == Enforcement::Warn => {
            let what = named("It", answer, &answer.checkout);
            Said::plain(format!("{}. {what} may be edited all the same.", failure.message))
        }
        Err(failure) => in_use(answer, failure).unwrap_or_else(|| refused(answer, failure)),
        Ok(_) => return None,
    };
    let beside = match ruling.mode {
        Enforcement::Enforce => beside_refusal(&ruling.answers),
        Enforcement::Warn | Enforcement::Observe => beside(&ruling.answers),
    };
    let beside = beside.map(|beside| format!("\n{beside}")).unwrap_or_default();
    Some(said.within(TEXT_BYTES_MAX) + &beside)
}

/// The same refusal again is one line.
fn waits(answer: &ScopeAnswer, queued: &Queued, blockers: &[LeaseView], ahead: &[Ahead]) -> Said {
    let (reply, place) = (&answer.reply, ordinal(queued.position));
    let Some(Obstacle { what, whose, command, ask }) = obstacle(answer, queued, blockers, ahead) else {
        return Said::plain(frozen(answer, &place));
    };
    if queued.wait.since < reply.now.mono && !reply.replayed {
        let still = match (blockers, has_turn(ahead)) {
            ([], true) => format!("{whose} still has the turn at {what}"),
            ([], false) => format!("{whose} still waits for {what} before you"),
            _ => format!("{what} is still with {whose}"),
        };
        return Said::plain(format!("Not edited: {still}. You are {place} in the queue; you will be told."));
    }
    let first = match blockers.first() {
        Some(blocker) => format!("{what} is with {whose}{}.{}", stated(blocker), unfinished(blocker)),
        None if has_turn(ahead) => format!("{whose} has the turn at {what} before you."),
        None => format!("{whose} waits for {what} before you."),
    };
    let (more, when) = (others(blockers.len() + ahead.len()), passes(blockers));
    let text = format!(
        "Not edited: {first}{more} You are queued, {place}; it passes to you {when}, and you will be told here. \
         Nothing to poll. Other files are free."
    );
    match blockers.is_empty() {
        true => Said::then(text, "\nLook: ", &command),
        false => urgent(text, &ask),
    }
}

/// Whether the turn of the one who is named has come.
fn has_turn(ahead: &[Ahead]) -> bool {
    ahead.first().is_some_and(|first| first.offered)
}

/// The text, then how to ask for it. The reason is for who asks to write; as it stands it is one too.
fn urgent(text: String, ask: &Hint) -> Said {
    let line = ask.line().unwrap_or_default();
    Said { text: format!("{text}\nUrgent: {line} \"<why>\""), without_command: Some(text) }
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
    /// What asks its holder for it.
    ask: Hint,
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
            (hit, format!("{} ({})", blocker.agent, blocker.holder_word()))
        }
        (None, Some(ahead)) => {
            (wanted.find(|target| target.display() == ahead.target), ahead.agent.to_string())
        }
        (None, None) => return None,
    };
    let target = hit.unwrap_or(first);
    let (here, what) = (&answer.checkout, target.display());
    let [command, ask] = ["who", "ask"].map(|verb| command(verb, target, answer, here));
    Some(Obstacle { what: named(&what, answer, here), whose, command, ask })
}

fn frozen(answer: &ScopeAnswer, place: &str) -> String {
    let freeze = answer.reply.notices.iter().find_map(|notice| match notice {
        Notice::Frozen { left_ms, reason } => Some((left_ms, reason)),
        _ => None,
    });
    match freeze {
        Some((left_ms, reason)) => format!(
            "Not edited: a person paused {} for {}: {}. You are queued, {place}; nothing to poll.",
            named("new edits", answer, &answer.checkout),
            clearway_core::time::rounded(*left_ms),
            foreign(reason, REASON_COLUMNS),
        ),
        None => format!("Not edited: you are queued, {place}; nothing to poll."),
    }
}

fn stated(blocker: &LeaseView) -> String {
    let reason = blocker.lease.reason.as_deref().map(|reason| foreign(reason, REASON_COLUMNS));
    reason.map(|reason| format!(": \"{reason}\"")).unwrap_or_default()
}

/// A lease that a hook took stands while there is something in the file that is not committed, or about to be.
fn unfinished(blocker: &LeaseView) -> String {
    match blocker.lease.grade {
        Grade::Auto if blocker.in_hand => format!(" {} is changing it.", blocker.agent),
        Grade::Auto => format!(" {} has uncommitted changes in it.", blocker.agent),
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
fn in_use(answer: &ScopeAnswer, failure: &Failure) -> Option<Said> {
    let Details::Blockers { leases, .. } = &failure.details else { return None };
    let is_brief =
        failure.slug == Slug::ReservationHeld && leases.iter().all(|blocker| blocker.lease.lasts_one_call());
    let blocker = leases.first().filter(|_| is_brief)?;
    let text = format!(
        "Not edited: {} is changing {} this moment. It is free when that call is over: read it and edit it again.",
        blocker.agent,
        named(&blocker.lease.target.display(), answer, &answer.checkout)
    );
    Some(Said::plain(text))
}

/// A refusal over lines of others in a file that is free.
fn overwrites(answer: &ScopeAnswer, overwrite: &Overwrite, mode: Enforcement) -> Said {
    let Overwrite { file, lines } = overwrite;
    let count = match lines.iter().map(|(_, count)| count).sum() {
        1 => "an uncommitted line".to_owned(),
        count => format!("{count} uncommitted lines"),
    };
    let names: Vec<&str> = lines.iter().map(|(name, _)| name.as_str()).collect();
    let has = format!(
        "{} has {count} of {} that this call would remove.",
        named(&file.display(), answer, &answer.checkout),
        names.join(" and ")
    );
    if mode == Enforcement::Warn {
        return Said::plain(format!("{has} It may be edited all the same."));
    }
    let text = format!(
        "Not edited: {has} It is free: read it again and edit it in place, or keep what others wrote."
    );
    Said::then(text, "\nLook: ", &command("diff", file, answer, &answer.checkout))
}

/// A refusal that keeps no place, with the first command that helps.
fn refused(answer: &ScopeAnswer, failure: &Failure) -> Said {
    let again = if failure.slug == Slug::ReservationHeld { " Try again." } else { "" };
    let text = format!("{}: {}.{again}", named("Not edited", answer, &answer.checkout), failure.message);
    match failure.hints.iter().find(|hint| matches!(hint, Hint::Command { .. })) {
        Some(hint) => {
            let mut hint = hint.clone();
            if answer.stands != Stands::AtRoot {
                hint.run_with("-C", &answer.checkout.0);
            }
            Said { text: format!("{text}\n{hint}"), without_command: Some(text) }
        }
        None => Said::plain(text),
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_counted_as_people_count() {
        let said: Vec<String> = [1, 2, 3, 4, 11, 12, 13, 21, 112].map(ordinal).into();
        assert_eq!(said, ["1st", "2nd", "3rd", "4th", "11th", "12th", "13th", "21st", "112th"]);
    }
}
