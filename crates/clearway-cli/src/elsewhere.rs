//! The line that was typed, as it has to be typed for a path that another directory's scope owns.

use crate::arguments;
use clap::{Arg, Command};
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

/// The verb with its own flags and the path alone: what else was named may belong to other scopes. Flags of every verb are
/// left out, since whoever shows a hint adds those that it needs.
fn words_there(line: &[String], there: &Elsewhere) -> Option<String> {
    let command = arguments::command();
    let mut words = line.iter().skip(1).map(String::as_str);
    let (mut verb, mut kept, mut is_named) = (None, Vec::new(), false);
    let path = || shell::word(&there.path);
    let value = |word: &str| if word == there.argument { path() } else { shell::as_it_is(word) };
    while let Some(word) = words.next() {
        if word == "--" {
            is_named |= words.any(|word| word == there.argument);
        } else if let Some(flag) = flag_of(&command, verb, word) {
            let next = (flag.takes_value && !word.contains('=')).then(|| words.next()).flatten();
            if flag.is_own {
                kept.push(shell::as_it_is(word));
                kept.extend(next.map(value));
            }
        } else if verb.is_none() {
            verb = Some(command.find_subcommand(word)?);
        } else {
            is_named |= word == there.argument;
        }
    }
    let words = std::iter::once(verb?.get_name().to_owned()).chain(kept).chain(is_named.then(path));
    Some(words.collect::<Vec<_>>().join(" "))
}

/// What a word that begins with a dash is.
struct Flag {
    /// Whether it is one of the verb's alone.
    is_own: bool,
    takes_value: bool,
}

fn flag_of(command: &Command, verb: Option<&Command>, word: &str) -> Option<Flag> {
    let name = word.split('=').next().unwrap_or(word);
    let is_it = |flag: &&Arg| {
        let long = flag.get_long().is_some_and(|long| name.strip_prefix("--") == Some(long));
        let short = flag.get_short().is_some_and(|short| {
            let rest = name.strip_prefix('-').and_then(|rest| rest.strip_prefix(short));
            rest.is_some_and(|rest| rest.is_empty() || flag.get_action().takes_values())
        });
        long || short
    };
    let found = |of: &Command, is_own| {
        let flag = of.get_arguments().find(is_it)?;
        let is_joined = !name.starts_with("--") && name.len() > 2;
        Some(Flag { is_own, takes_value: flag.get_action().takes_values() && !is_joined })
    };
    found(command, false).or_else(|| found(verb?, true))
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
            "clearway --agent ada -C a -Cb reserve a.rs ../o/x --reason=why --ttl 5m --shared --json",
            "../o/x",
            "x",
            "act there: clearway -C /o reserve --reason=why --ttl 5m --shared x",
        );
        check(
            "clearway reserve --reason ../o/x -- ../o/x",
            "../o/x",
            "-x",
            "act there: clearway -C /o reserve --reason ./-x ./-x",
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
