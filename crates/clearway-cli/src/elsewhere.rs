//! The line that was typed, as it has to be typed for a path that another directory's scope owns.

use crate::arguments;
use clap::parser::ValueSource;
use clap::{Arg, ArgAction};
use clearway_core::failure::{Details, Elsewhere, Failure};
use clearway_core::hint::{Hint, Paths, Runner};
use clearway_core::shell;

/// Verbs about something that has its number in this scope and in no other.
const OF_THIS_SCOPE: [&str; 2] = ["answer", "restore"];

/// A failure over such a path, with the whole command that works there, or a word where none does, in the place of its first
/// hint.
pub(crate) fn with_command(mut failure: Failure, line: &[String]) -> Failure {
    let Details::Elsewhere(there) = &failure.details else { return failure };
    let Some(typed) = Typed::read(line) else { return failure };
    let in_its_place = match typed.words_there(there) {
        None => Hint::from("name only what lies in this one"),
        Some(words) => Hint::Command {
            purpose: "act there".to_owned(),
            flags: vec![format!("-C {}", shell::word(&there.directory))],
            words,
            paths: Paths::None,
            runner: Runner::Caller,
        },
    };
    failure.hints = std::iter::once(in_its_place).chain(failure.hints.into_iter().skip(1)).collect();
    failure
}

/// A line as it was typed.
struct Typed {
    verb: String,
    /// What stands by its place, in order.
    words: Vec<Value>,
    flags: Vec<Value>,
}

/// An argument that was typed, with its values; without one it is a switch.
struct Value {
    flag: Option<String>,
    is_list: bool,
    values: Vec<String>,
}

impl Typed {
    fn read(line: &[String]) -> Option<Self> {
        let command = arguments::command();
        let (verb, given) = command.clone().try_get_matches_from(line).ok()?.remove_subcommand()?;
        let was_typed =
            |word: &&Arg| given.value_source(word.get_id().as_str()) == Some(ValueSource::CommandLine);
        let value = |word: &Arg| {
            let raw = given.get_raw(word.get_id().as_str()).into_iter().flatten();
            let values = raw.map(|value| value.to_string_lossy().into_owned());
            let values = if word.get_action().takes_values() { values.collect() } else { Vec::new() };
            let is_list = matches!(word.get_action(), ArgAction::Append);
            Value { flag: word.get_long().map(|flag| format!("--{flag}")), is_list, values }
        };
        let typed = command.find_subcommand(&verb)?.get_arguments().filter(was_typed);
        let (words, flags): (Vec<&Arg>, Vec<&Arg>) = typed.partition(|word| word.is_positional());
        let [words, flags] = [words, flags].map(|list| list.into_iter().map(value).collect());
        Some(Self { verb, words, flags })
    }

    /// The verb with its own flags and the path: what else was named in a list may belong to other scopes. Flags of every
    /// verb are left out, since whoever shows a hint adds those that it needs. Nothing, if what is left would mean
    /// something else.
    fn words_there(&self, there: &Elsewhere) -> Option<String> {
        let is_it = |value: &&Value| value.values.contains(&there.argument);
        let is_word = self.words.iter().any(|word| is_it(&word));
        let is_flag = self.flags.iter().any(|flag| is_it(&flag));
        // Of what is left of a list nobody knows what the flag that has the path is about.
        let lacks_words = is_flag && !is_word && self.words.iter().any(|word| word.is_list);
        if OF_THIS_SCOPE.contains(&self.verb.as_str()) || lacks_words {
            return None;
        }
        let path = shell::word(&there.path);
        let spelled = |value: &String| match *value == there.argument {
            true => path.clone(),
            false => shell::as_it_is(value),
        };
        let mut kept = vec![self.verb.clone()];
        for Value { flag, values, .. } in &self.flags {
            let flag = flag.clone()?;
            if values.is_empty() {
                kept.push(flag);
                continue;
            }
            values.iter().for_each(|value| kept.extend([flag.clone(), spelled(value)]));
        }
        for word in &self.words {
            match word.is_list {
                true => kept.extend(is_it(&word).then(|| path.clone())),
                false => kept.extend(word.values.iter().map(spelled)),
            }
        }
        Some(kept.join(" "))
    }
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
    fn what_is_said_beside_the_path_stays_and_what_is_of_this_scope_stays_here() {
        check(
            "clearway ask ../o/x why --urgent",
            "../o/x",
            "x",
            "act there: clearway -C /o ask --urgent x why",
        );
        let here = "name only what lies in this one";
        check("clearway restore s4 ../o/x", "../o/x", "x", here);
        check("clearway answer abcdefgh release ../o/x", "../o/x", "x", here);
        check("clearway release src/ --keep ../o/x", "../o/x", "x", here);
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
