//! Where something is, for an agent that may stand elsewhere.

use super::said::path;
use clearway_core::hint::Hint;
use clearway_core::target::{Target, Worktree};
use clearway_kernel::{ScopeAnswer, Stands};

/// A command about something of a scope, as it has to be typed where the agent stands.
pub(super) fn command(verb: &str, target: &Target, answer: &ScopeAnswer, of: &Worktree) -> Hint {
    let (mut hint, is_path) = match target {
        Target::Path(pattern) => (Hint::command("", verb, &[pattern.canonical()]), true),
        Target::Name(name) => (Hint::about_name("", verb, name.as_str()), false),
    };
    let is_found = is_own(answer, of) && (answer.stands == Stands::AtRoot || !is_path);
    if !is_found {
        hint.run_with("-C", &checkout(answer, of).0);
    }
    hint
}

/// A command about something that has an id in a scope.
pub(super) fn about_id(verb: &str, id: &str, word: &str, answer: &ScopeAnswer) -> Hint {
    let mut hint = Hint::command("", verb, &[id, word]);
    if answer.stands == Stands::Elsewhere {
        hint.run_with("-C", &answer.checkout.0);
    }
    hint
}

/// A path or a name, with where it is unless the agent works there: the same path is another file elsewhere.
pub(super) fn named(what: &str, answer: &ScopeAnswer, of: &Worktree) -> String {
    let what = path(what);
    match is_own(answer, of) {
        true => what,
        false => format!("{what} in {}", path(&checkout(answer, of).0)),
    }
}

/// Whether an agent works in the checkout that something is in. What says nothing of that is where the answer is from.
fn is_own(answer: &ScopeAnswer, of: &Worktree) -> bool {
    *checkout(answer, of) == answer.checkout && answer.stands != Stands::Elsewhere
}

fn checkout<'a>(answer: &'a ScopeAnswer, of: &'a Worktree) -> &'a Worktree {
    if of.0.is_empty() { &answer.checkout } else { of }
}
