//! What is told beside an answer.

use super::place::{about_id, command, named};
use super::said::{FAILURE_COLUMNS, REASON_COLUMNS, Said, TEXT_BYTES_MAX, foreign};
use crate::render::and_more;
use clearway_core::agent::AgentName;
use clearway_core::decide::{Left, Notice, Said as SaidOf, Yielder};
use clearway_core::hint::Hint;
use clearway_core::lease::Grade;
use clearway_core::limits::WAIT_MS_MAX;
use clearway_core::mail::Importance;
use clearway_core::slice::Announced;
use clearway_core::target::Target;
use clearway_kernel::{Answers, ScopeAnswer};
use std::collections::BTreeSet;

/// What to know beside an answer, if there is anything.
pub(crate) fn beside(answers: &Answers) -> Option<String> {
    told(answers, true)
}

/// The same beside a refusal: nothing of what the call asked for is the agent's.
pub(crate) fn beside_refusal(answers: &Answers) -> Option<String> {
    told(answers, false)
}

fn told(answers: &Answers, is_granted: bool) -> Option<String> {
    let mut text = if answers.recovered { RECOVERED.to_owned() } else { String::new() };
    for answer in &answers.of_scopes {
        for said in lines(answer, is_granted) {
            let gap = if text.is_empty() { "" } else { "\n" };
            match TEXT_BYTES_MAX.checked_sub(text.len() + gap.len()) {
                Some(left) if left >= LINE_BYTES_MIN => text = format!("{text}{gap}{}", said.within(left)),
                _ => break,
            }
        }
    }
    (!text.is_empty()).then_some(text)
}

/// What a scope has to say, once of each who had some of the files before.
fn lines(answer: &ScopeAnswer, is_granted: bool) -> Vec<Said> {
    let notices = &answer.reply.notices;
    let mut said_of: Vec<(Before, &AgentName)> = Vec::new();
    let mut said = Vec::new();
    for notice in notices {
        let Some((how, who, _)) = Before::of(notice) else {
            said.extend(line(notice, answer, is_granted));
            continue;
        };
        if said_of.contains(&(how, who)) {
            continue;
        }
        said_of.push((how, who));
        let same = notices.iter().filter_map(Before::of).filter(|of| (of.0, of.1) == (how, who));
        let targets: Vec<&str> = same.map(|(_, _, target)| target).collect();
        said.extend(how.said(&Files::of(&targets, answer), who, is_granted).map(Said::plain));
    }
    said.extend(kept(notices));
    said
}

/// How somebody had files before whoever is about to write them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Before {
    TookOver { is_gone: bool },
    ChangedHands,
    LeftBehind(Left),
}

impl Before {
    /// How, who, and which file.
    fn of(notice: &Notice) -> Option<(Self, &AgentName, &str)> {
        match notice {
            Notice::TookOver { target, from, is_gone } => {
                Some((Self::TookOver { is_gone: *is_gone }, from, target))
            }
            Notice::ChangedHands { target, by } => Some((Self::ChangedHands, by, target)),
            Notice::LeftBehind { target, from, left } => Some((Self::LeftBehind(*left), from, target)),
            _ => None,
        }
    }

    fn said(self, files: &Files, who: &AgentName, is_granted: bool) -> Option<String> {
        let Files { names, are, them } = files;
        let was = if *are == "is" { "was" } else { "were" };
        Some(match (self, is_granted) {
            (Self::TookOver { is_gone: false }, true) => format!(
                "{names} {are} yours, taken from {who}. Changes of {who} that were not committed may be in {them}."
            ),
            (Self::TookOver { is_gone: false }, false) => format!(
                "{names} {was} taken from {who}. Changes of {who} that were not committed may be in {them}."
            ),
            (Self::TookOver { is_gone: true }, true) => format!(
                "{names} {are} yours; {who} held {them} and is gone. Changes of {who} that were not committed may be in \
                 {them}."
            ),
            (Self::TookOver { is_gone: true }, false) => format!(
                "{who} held {names} and is gone. Changes of {who} that were not committed may be in {them}."
            ),
            (Self::ChangedHands, true) => format!(
                "{names} {are} yours again; {who} had {them} in between. Read {them} again before you edit {them}."
            ),
            (Self::ChangedHands, false) => return None,
            (Self::LeftBehind(left), true) => format!(
                "{names} {are} yours; {} changes in {them} that are not committed. Keep them or undo them.",
                left_by(who, left)
            ),
            (Self::LeftBehind(left), false) => {
                format!("{} changes in {names} that are not committed.", left_by(who, left))
            }
        })
    }
}

fn left_by(who: &AgentName, left: Left) -> String {
    match left {
        Left::Ended => format!("{who} ended and left"),
        Left::Halted => format!("a person stopped {who}, which left"),
        Left::Earlier => format!("{who} left"),
    }
}

/// Files in a sentence.
struct Files {
    names: String,
    are: &'static str,
    them: &'static str,
}

impl Files {
    fn of(targets: &[&str], answer: &ScopeAnswer) -> Self {
        let name = |target: &&str| named(target, answer, &answer.checkout);
        if let [target] = targets {
            return Self { names: name(target), are: "is", them: "it" };
        }
        let shown: Vec<String> = targets.iter().take(FILES_NAMED).map(name).collect();
        let more = and_more(targets.len(), shown.len()).map(|more| format!(" {more}")).unwrap_or_default();
        let names = format!("{} files ({}{more})", targets.len(), shown.join(", "));
        Self { names, are: "are", them: "them" }
    }
}

/// How many of several files are named.
const FILES_NAMED: usize = 2;

/// Where what others had not committed is kept.
fn kept(notices: &[Notice]) -> Option<Said> {
    let of = |notice: &Notice| match notice {
        Notice::Kept { from, number, .. } => Some((from.clone(), number.0)),
        _ => None,
    };
    let kept: BTreeSet<(AgentName, u64)> = notices.iter().filter_map(of).collect();
    let mut from: Vec<&str> = kept.iter().map(|(from, _)| from.as_str()).collect();
    from.dedup();
    let numbers: BTreeSet<u64> = kept.iter().map(|(_, number)| *number).collect();
    let (who, first) = (from.join(" and "), numbers.first()?);
    let where_ = match numbers.len() {
        1 => format!("snapshot s{first}: clearway show s{first}."),
        count => format!("{count} snapshots, s{first} first: clearway snapshots."),
    };
    Some(Said::plain(format!("What {who} had not committed there is also kept as {where_}")))
}

/// What an agent hears that a person stopped.
pub(crate) fn halted(answers: &Answers) -> Option<String> {
    let mut notices = answers.of_scopes.iter().flat_map(|answer| &answer.reply.notices);
    let reason = notices.find_map(|notice| match notice {
        Notice::Halted { reason } => Some(reason),
        _ => None,
    })?;
    Some(Said::plain(stopped(reason)).within(TEXT_BYTES_MAX))
}

fn stopped(reason: &str) -> String {
    format!(
        "Not done: a person stopped you: \"{}\". Your changes stay in the files. End your turn and say what is left to do.",
        foreign(reason, FAILURE_COLUMNS)
    )
}

/// What an agent is reminded of when its turn ends.
pub(crate) fn still_waited_for(answers: &Answers) -> Option<String> {
    let mut said = answers.of_scopes.iter().flat_map(|answer| {
        answer.reply.notices.iter().filter_map(move |notice| {
            let Notice::StillWaitedFor { target, held, worktree, grade, by } = notice else { return None };
            let what = named(target, answer, worktree);
            let release = command("release", held, answer, worktree);
            let waits = format!("{by} waits for {what}. If you are done with it,");
            Some(match grade {
                Grade::Auto => Said::then(format!("{waits} commit it"), ", or: ", &release),
                Grade::Claimed => Said::then(format!("{waits} release it"), ": ", &release),
            })
        })
    });
    said.next().map(|said| said.within(TEXT_BYTES_MAX))
}

const RECOVERED: &str = "Clearway works again; edits are checked.";
/// Bytes below which the beginning of a line says nothing.
const LINE_BYTES_MIN: usize = 80;

fn line(notice: &Notice, answer: &ScopeAnswer, is_granted: bool) -> Option<Said> {
    let path = |target: &str| named(target, answer, &answer.checkout);
    let said = match notice {
        Notice::WaitedFor { target, held, worktree, grade, by, reason } => {
            let reason = reason.as_deref().map(|reason| foreign(reason, REASON_COLUMNS));
            let reason = reason.map(|reason| format!(" (\"{reason}\")")).unwrap_or_default();
            let release = command("release", held, answer, worktree);
            let what = named(target, answer, worktree);
            let waits = format!("{by} waits for {what}{reason}. It passes on when you");
            return Some(match grade {
                Grade::Auto => Said::then(format!("{waits} commit it"), ", or: ", &release),
                Grade::Claimed => Said::then(format!("{waits} release it"), ": ", &release),
            });
        }
        Notice::Asked { negotiation, target, worktree, grade, by, why, left_ms } => {
            let what = named(target, answer, worktree);
            let passes = match grade {
                Grade::Auto => "It passes on when you commit it",
                Grade::Claimed => "It passes on when you release it",
            };
            let asks = format!(
                "{by} asks for {what} (\"{}\"), within {}. {passes}",
                foreign(why, REASON_COLUMNS),
                clearway_core::time::rounded(*left_ms)
            );
            return Some(Said::then(
                asks,
                ", or: ",
                &about_id("answer", negotiation.as_str(), "release", answer),
            ));
        }
        Notice::Answered { target, holder, says } => {
            let what = path(target);
            match says {
                SaidOf::AfterCommit => {
                    format!("{what}: {holder} passes it on with its next commit. You keep your place.")
                }
                SaidOf::Later { left_ms } => format!(
                    "{what}: {holder} needs it for another {}. You keep your place.",
                    clearway_core::time::rounded(*left_ms)
                ),
                SaidOf::No(reason) => format!(
                    "{what}: {holder} does not let go of it (\"{}\"). You keep your place in the queue.",
                    foreign(reason, REASON_COLUMNS)
                ),
                SaidOf::HandedTo(to) => {
                    format!("{what}: {holder} handed it to {to}, who is asked now. You keep your place.")
                }
                SaidOf::Outlasted => format!(
                    "{what}: {holder} did not let go of it in {}. Your place in the queue is kept no longer; ask again if \
                     you still need it.",
                    clearway_core::time::rounded(WAIT_MS_MAX)
                ),
            }
        }
        Notice::Overdue { negotiation, target, worktree, other, is_mine, said } => {
            let what = named(target, answer, worktree);
            return Some(match is_mine {
                true => {
                    let late = match said {
                        None => format!("{other} did not answer for {what} in time"),
                        Some(SaidOf::Later { .. }) => {
                            format!(
                                "{other} said that it takes longer with {what}, and that time is over too"
                            )
                        }
                        Some(_) => format!("{other} has not committed {what} in time, as it said it would"),
                    };
                    Said::plain(format!("{late}. Nothing is taken; you keep your place in the queue."))
                }
                false => Said::then(
                    format!("{other} still waits for your answer on {what}; the time for it is over"),
                    ". Say so: ",
                    &about_id("answer", negotiation.as_str(), "release", answer),
                ),
            });
        }
        Notice::Forced { target, by, to, reason, kept } => {
            let whom = if by == to { String::new() } else { format!(" for {to}") };
            let kept = kept.map(|number| {
                format!(" What you had not committed is kept as s{0}: clearway show s{0}.", number.0)
            });
            format!(
                "{by} took {} from you{whom} (\"{}\").{}",
                path(target),
                foreign(reason, REASON_COLUMNS),
                kept.unwrap_or_default()
            )
        }
        Notice::Taken { target, from, kept, is_held } => {
            let how = if *is_held { "is yours" } else { "is kept for you" };
            let kept = kept.map(|number| format!(", also kept as s{0}: clearway show s{0}", number.0));
            format!(
                "{} {how}: it was taken from {from}, whose changes that were not committed may be in it{}.",
                path(target),
                kept.unwrap_or_default()
            )
        }
        Notice::Unkept { target, from, .. } => {
            format!("What {from} had not committed in {} could not be kept elsewhere.", path(target))
        }
        Notice::Continued { reason } => {
            format!("A person lets you go on: \"{}\".", foreign(reason, REASON_COLUMNS))
        }
        Notice::Granted { target, from } => {
            format!("{} is yours: {from} let go of it. It may have changed since you read it.", path(target))
        }
        Notice::Circle { target, worktree, by, yielder } => {
            let what = named(target, answer, worktree);
            return Some(circle(&what, by, yielder.as_ref(), answer));
        }
        Notice::WithSubagent { held, worktree, by } => {
            let release = command("release", held, answer, worktree);
            return Some(Said::then(
                format!("{by} is a subagent of yours"),
                ". If it is over, take what it has: ",
                &release,
            ));
        }
        Notice::Halted { reason } => stopped(reason),
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
        Notice::PassedOn { target, to, kept: Some(number) } => format!(
            "{} went to {to} while you were gone. What you had not committed is kept as s{1}: clearway show s{1}.",
            path(target),
            number.0
        ),
        Notice::PassedOn { target, to, kept: None } => {
            format!("{} made way for {to}. Read it again before you edit it.", path(target))
        }
        Notice::WrittenOver { target, by } => {
            let who = match by {
                Some(by) => format!("in a tool call of {by}"),
                None => "by something that no tool call explains".to_owned(),
            };
            match is_granted {
                true => format!(
                    "{} is yours and was written {who}. Read it again before you edit it.",
                    path(target)
                ),
                false => format!("{} was written {who}.", path(target)),
            }
        }
        Notice::CommittedUnchecked { target, commit, by } => {
            let by = by.as_ref().map(|by| format!(" by {by}")).unwrap_or_default();
            format!(
                "{} is yours and was committed{by} as {} past the check. See what went along: git show {1}",
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

/// Why waiting alone ends nothing, and who had best do what.
fn circle(what: &str, by: &AgentName, yielder: Option<&Yielder>, answer: &ScopeAnswer) -> Said {
    let text = format!(
        "{by} wants {what}, which you hold, and your own turn hangs on {by}: neither comes by waiting."
    );
    match yielder {
        Some(Yielder::You { held, worktree, grade }) => {
            let release = command("release", held, answer, worktree);
            let held = named(&held.display(), answer, worktree);
            let least = format!("{text} The least work is lost if you give back {held}");
            match grade {
                Grade::Auto => Said::then(format!("{least}: commit it"), ", or: ", &release),
                Grade::Claimed => Said::then(least, ": ", &release),
            }
        }
        Some(Yielder::Other { agent, target }) => {
            let target = named(target, answer, &answer.checkout);
            Said::plain(format!("{text} The least work is lost if {agent} gives back {target}."))
        }
        None => Said::plain(text),
    }
}

/// Who wrote and about what, and where it can be read. What somebody else wrote stands in quotes.
fn mail(announced: &Announced) -> Said {
    let about = foreign(&announced.about, MAIL_COLUMNS);
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
