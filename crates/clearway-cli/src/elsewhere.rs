//! The line that was typed, as it has to be typed for a path that another directory's scope owns.

use crate::arguments;
use clap::Arg;
use clap::parser::ValueSource;
use clearway_core::failure::{Details, Elsewhere, Failure};
use clearway_core::hint::{Hint, Paths, Runner};
use clearway_core::shell;

/// A failure over such a path, with the whole command that works there.
pub(crate) fn with_command(failure: Failure, line: &[String]) -> Failure {
    let Details::Elsewhere(there) = &failure.details else { return failure };
    let Some(words) = words_there(line, there) else { return failure };
    let hint = Hint::Command {
        purpose: "act there".to_owned(),
        flags: vec![format!("-C {}", shell::word(&there.directory))],
        words,
        paths: Paths::None,
        runner: Runner::Caller,
    };
    Failure { hints: vec![hint], ..failure }
}

/// The verb with its own flags and the path alone: what else was named may belong to other scopes. Flags of every verb
/// are left out, since whoever shows a hint adds those that it needs.
fn words_there(line: &[String], there: &Elsewhere) -> Option<String> {
    let command = arguments::command();
    let (name, given) = command.clone().try_get_matches_from(line).ok()?.remove_subcommand()?;
    let was_typed =
        |word: &&Arg| given.value_source(word.get_id().as_str()) == Some(ValueSource::CommandLine);
    let (words, flags): (Vec<&Arg>, Vec<&Arg>) = command
        .find_subcommand(&name)?
        .get_arguments()
        .filter(was_typed)
        .partition(|word| word.is_positional());
    let values = |word: &Arg| -> Vec<String> {
        let raw = given.get_raw(word.get_id().as_str()).into_iter().flatten();
        raw.map(|value| value.to_string_lossy().into_owned()).collect()
    };
    let path = shell::word(&there.path);
    let is_named = words.into_iter().any(|word| values(word).contains(&there.argument));
    let mut kept = vec![name.clone()];
    for flag in flags {
        let spelled = format!("--{}", flag.get_long()?);
        if !flag.get_action().takes_values() {
            kept.push(spelled);
            continue;
        }
        for value in values(flag) {
            let value = if value == there.argument { path.clone() } else { shell::as_it_is(&value) };
            kept.extend([spelled.clone(), value]);
        }
    }
    kept.extend(is_named.then_some(path));
    Some(kept.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, argument: &str, path: &str, expect: &str) {
        let there = Elsewhere::new(argument, "/o", path);
        let line: Vec<String> = line.split(' ').map(str::to_owned).collect();
        let failure = with_command(there.failure("elsewhere".to_owned()), &line);
        assert_eq!(failure.hints.iter().map(ToString::to_string).collect::<Vec<_>>(), [expect]);
    }

    #[test]
    fn the_path_is_rewritten_and_the_flags_of_the_verb_stay() {
        check("clearway reserve ../o/x", "../o/x", "x", "act there: clearway -C /o reserve x");
        check(
            "clearway --agent ada -Ca reserve a.rs ../o/x --reason=why --ttl 5m --shared --json",
            "../o/x",
            "x",
            "act there: clearway -C /o reserve --shared --ttl 5m --reason why x",
        );
        check(
            "clearway reserve --reason ../o/x -- ../o/x",
            "../o/x",
            "-x",
            "act there: clearway -C /o reserve --reason ./-x ./-x",
        );
        check(
            "clearway reserve ../o/x --wait",
            "../o/x",
            "x",
            "act there: clearway -C /o reserve --wait auto x",
        );
    }

    #[test]
    fn the_value_of_a_flag_is_a_path_too() {
        check(
            "clearway leases --pattern ../o/ --history",
            "../o/",
            "",
            "act there: clearway -C /o leases --pattern . --history",
        );
    }
}
