//! What is told beside an answer.

use super::place::{command, named};
use super::said::{REASON_COLUMNS, Said, TEXT_BYTES_MAX, clipped};
use clearway_core::decide::Notice;
use clearway_core::hint::Hint;
use clearway_core::lease::Grade;
use clearway_core::mail::Importance;
use clearway_core::slice::Announced;
use clearway_core::target::Target;
use clearway_kernel::{Answers, ScopeAnswer};

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
    let path = |target: &str| named(target, answer, &answer.checkout);
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
        Notice::WaitedFor { target, held, worktree, grade, by, reason } => {
            let reason = reason.as_deref().map(|reason| clipped(reason, REASON_COLUMNS));
            let reason = reason.map(|reason| format!(" (\"{reason}\")")).unwrap_or_default();
            let release = command("release", held, answer, worktree);
            let what = named(target, answer, worktree);
            let waits = format!("{by} waits for {what}{reason}. It passes on when you");
            return Some(match grade {
                Grade::Auto => Said::then(format!("{waits} commit it"), ", or: ", &release),
                Grade::Claimed => Said::then(format!("{waits} release it"), ": ", &release),
            });
        }
        Notice::YourTurn { target, worktree, left_ms } => {
            let left = clearway_core::time::rounded(*left_ms);
            let what = named(&target.display(), answer, worktree);
            let free = format!("{what} is free, and kept for you for {left}.");
            return Some(match target {
                Target::Path(_) => Said::plain(format!("{free} It may have changed since you read it.")),
                Target::Name(_) => {
                    Said::then(free, " Take it: ", &command("reserve", target, answer, worktree))
                }
            });
        }
        Notice::PlaceOver { target } => format!(
            "{} was kept for you while you were away; you wait for it no more. Edit it if you still need to.",
            path(target)
        ),
        Notice::Kept { from, number, .. } => format!(
            "What {from} had not committed there is also kept as snapshot s{0}: clearway show s{0}.",
            number.0
        ),
        Notice::PassedOn { target, to, kept: Some(number) } => format!(
            "{} went to {to} while you were gone. What you had not committed is kept as s{1}: clearway restore s{1}.",
            path(target),
            number.0
        ),
        Notice::PassedOn { target, to, kept: None } => {
            format!("{} made way for {to}. Read it again before you edit it.", path(target))
        }
        Notice::WrittenOver { target, by } => {
            let who = match by {
                Some(by) => format!("while a command of {by} ran"),
                None => "by something that no tool call explains".to_owned(),
            };
            format!("{} is yours and was written {who}. Read it again before you edit it.", path(target))
        }
        Notice::CommittedUnchecked { target, commit, by } => {
            let by = by.as_ref().map(|by| format!(" by {by}")).unwrap_or_default();
            format!(
                "{} is yours and was committed{by} as {} past the check. See what went along: git show {0}",
                path(target),
                commit.get(..12).unwrap_or(commit)
            )
        }
        Notice::WroteOver { target, holder } => format!(
            "{} is with {holder} and was written while your command ran; {holder} is told. Undo it unless it was meant.",
            path(target)
        ),
        Notice::Mail(announced) => return Some(mail(announced)),
        _ => return None,
    };
    Some(Said::plain(said))
}

/// Who wrote and about what, and where it can be read. What somebody else wrote stands in quotes.
fn mail(announced: &Announced) -> Said {
    let about = clipped(&announced.about.replace('"', "'"), MAIL_COLUMNS);
    let how = if announced.importance == Importance::Urgent { " urgently" } else { "" };
    let more = match announced.count {
        1 => String::new(),
        count => format!(", and {} more", count - 1),
    };
    let asks = if announced.wants_ack { " It is to be acknowledged." } else { "" };
    let text = format!("{} wrote to you{how}: \"{about}\"{more}.{asks}", announced.from);
    Said::then(text, " Read: ", &Hint::command("", "inbox", &[]))
}

/// Columns given to what a message is about.
const MAIL_COLUMNS: usize = 80;
