//! What agents are told: facts, not orders; whose it is, what happens next, one command. Every text fits its budget.

mod notices;
mod place;
mod refusal;
mod said;
mod welcome;

pub(crate) use notices::{beside, halted, still_waited_for};
pub(crate) use refusal::refusal;
pub(crate) use said::TEXT_BYTES_MAX;
pub(crate) use welcome::welcome;

use clearway_core::failure::Failure;
use clearway_core::hint::Hint;
use clearway_core::text::{printable, truncate_columns};
use clearway_kernel::Sheltered;
use said::{FAILURE_COLUMNS, Said, clipped, cut};

/// What a command destroys is kept.
pub(crate) fn sheltered(kept: &Sheltered) -> String {
    let files = if kept.files == 1 { "1 file".to_owned() } else { format!("{} files", kept.files) };
    let number = kept.number.0;
    format!(
        "Clearway: {files} with uncommitted changes are kept as s{number}; clearway undo s{number} -y brings them back."
    )
}

/// A command would destroy what cannot be kept.
pub(crate) fn unsheltered(failure: &Failure) -> String {
    let text = format!(
        "Clearway: not run, because what is not committed could not be kept first: {}.",
        truncate_columns(&printable(&failure.message), FAILURE_COLUMNS)
    );
    let hint = failure.hints.first().map(|hint| format!(" {hint}")).unwrap_or_default();
    cut(format!("{text}{hint}"), TEXT_BYTES_MAX)
}

/// What is said once when edits pass unchecked.
pub(crate) fn unchecked(failure: &Failure) -> String {
    let why = clipped(&failure.message, FAILURE_COLUMNS);
    look(format!("Edits are not checked by Clearway for now: {why}."), "doctor")
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
