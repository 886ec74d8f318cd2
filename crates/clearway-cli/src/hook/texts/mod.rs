//! What agents are told: facts, not orders; whose it is, what happens next, one command. Every text fits its budget.

mod notices;
mod place;
mod refusal;
mod said;
mod welcome;

pub(crate) use notices::{beside, beside_refusal, halted, still_waited_for};
pub(crate) use refusal::refusal;
pub(crate) use said::TEXT_BYTES_MAX;
pub(crate) use welcome::welcome;

use clearway_core::failure::Failure;
use clearway_core::hint::Hint;
use clearway_core::shell;
use clearway_core::text::{printable, shown, truncate_columns};
use clearway_kernel::config::Enforcement;
use clearway_kernel::{Foreseen, Sheltered};
use said::{FAILURE_COLUMNS, Said, clipped, cut};

/// What a command destroys is kept.
pub(crate) fn sheltered(kept: &Sheltered) -> String {
    let number = kept.number.0;
    let (files, them) = match kept.files {
        1 => ("1 file with uncommitted changes is".to_owned(), "it"),
        count => (format!("{count} files with uncommitted changes are"), "them"),
    };
    let place =
        kept.elsewhere.as_ref().map(|root| format!(" -C {}", shell::word(&root.display().to_string())));
    let place = place.unwrap_or_default();
    let unless = if kept.may_go { ", unless the repository itself goes" } else { "" };
    let text = format!(
        "Clearway: {files} kept as s{number}; clearway{place} undo s{number} -y brings {them} back{unless}."
    );
    let Some(first) = kept.left_out.first() else { return text };
    let more = match kept.left_out.len() {
        1 => String::new(),
        count => format!(" and {} more", count - 1),
    };
    Said {
        text: format!("{text} Not kept: {}{more}, which git ignores.", shown(first)),
        without_command: Some(text),
    }
    .within(TEXT_BYTES_MAX)
}

/// Uncommitted work will not merge with that of somebody else.
pub(crate) fn will_not_merge(foreseen: &Foreseen) -> String {
    let text = format!("Clearway: {}.", printable(&foreseen.text));
    Said::then(text, " Look: ", &Foreseen::look()).within(TEXT_BYTES_MAX)
}

/// A command of git that others are in the way of, with the one that is free.
pub(crate) fn not_run(failure: &Failure, mode: Enforcement) -> String {
    let why = truncate_columns(&printable(&failure.message), FAILURE_COLUMNS).into_owned();
    if mode == Enforcement::Warn {
        return Said::plain(format!("Clearway: {why}. It runs all the same.")).within(TEXT_BYTES_MAX);
    }
    let text = format!("Clearway: not run: {why}.");
    match failure.hints.first() {
        Some(hint) => Said { text: format!("{text}\n{hint}"), without_command: Some(text) },
        None => Said::plain(text),
    }
    .within(TEXT_BYTES_MAX)
}

/// A command would destroy what cannot be kept.
pub(crate) fn unsheltered(failure: &Failure, mode: Enforcement) -> String {
    if mode == Enforcement::Warn {
        let why = truncate_columns(&printable(&failure.message), FAILURE_COLUMNS).into_owned();
        let text = format!("Clearway: what is not committed could not be kept: {why}. It runs all the same.");
        return cut(text, TEXT_BYTES_MAX);
    }
    let text = format!(
        "Clearway: not run, because what is not committed could not be kept first: {}.",
        truncate_columns(&printable(&failure.message), FAILURE_COLUMNS)
    );
    let hint = failure.hints.first().map(|hint| format!(" {hint}")).unwrap_or_default();
    cut(format!("{text}{hint}"), TEXT_BYTES_MAX)
}

/// Hooks of git were installed, and git does not call them any more.
pub(crate) fn lapsed(why: String) -> String {
    let text = format!("Commits may pass unchecked: {}.", clipped(&why, FAILURE_COLUMNS));
    Said::then(text, " Mend it: ", &Hint::command("", "init --git-hooks --yes", &[])).within(TEXT_BYTES_MAX)
}

/// What is said once when edits pass unchecked.
pub(crate) fn unchecked(failure: &Failure) -> String {
    let why = clipped(&failure.message, FAILURE_COLUMNS);
    look(format!("Edits are not checked by Clearway for now: {why}."), "doctor")
}

/// What is said once when what a command destroys is not kept.
pub(crate) fn unkept(failure: &Failure) -> String {
    let why = clipped(&failure.message, FAILURE_COLUMNS);
    let text = "Edits are not checked by Clearway for now, and what a command destroys is not kept";
    look(format!("{text}: {why}."), "doctor")
}

/// What is said of a call that is refused for itself.
pub(crate) fn unfit(failure: &Failure) -> String {
    let text = format!("Not edited: {}", failure.message);
    let said = match failure.hints.first() {
        Some(hint) => Said { text: format!("{text}: {hint}"), without_command: hint.line().map(|_| text) },
        None => Said::plain(text),
    };
    said.within(TEXT_BYTES_MAX)
}

/// What is said where nobody watches.
pub(crate) fn refused_unchecked(failure: &Failure) -> String {
    given_up("Not edited: Clearway cannot check it", failure)
}

/// The same of a command.
pub(crate) fn refused_unkept(failure: &Failure) -> String {
    given_up("Not run: Clearway cannot keep what it destroys", failure)
}

/// Nobody watches, and nobody can tell whether others are in the way of a command of git.
pub(crate) fn refused_unjudged(failure: &Failure) -> String {
    given_up("Not run: Clearway cannot tell whether it takes along what is with others", failure)
}

/// A command of git was not judged, for a reason that is not the store's.
pub(crate) fn unsure(failure: &Failure) -> String {
    let why = clipped(&failure.message, FAILURE_COLUMNS);
    look(format!("Clearway could not tell whether this takes along what is with others: {why}."), "status")
}

fn given_up(what: &str, failure: &Failure) -> String {
    let why = clipped(&failure.message, FAILURE_COLUMNS);
    let text = format!("{what}: {why}. Trying again does not help; a person has to look");
    Said::then(text, ": ", &Hint::command("", "doctor", &[])).within(TEXT_BYTES_MAX)
}

/// A text with the command that tells more.
fn look(text: String, verb: &str) -> String {
    Said::then(text, " Look: ", &Hint::command("", verb, &[])).within(TEXT_BYTES_MAX)
}
