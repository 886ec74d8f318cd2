//! A plain `clearway VERB …` in a command that an agent is about to run. A sandboxed shell cannot reach the store, so
//! the hook carries it out and the shell only prints the answer.
//!
//! Nothing here is a shell: whatever is more than one command of plain words is left to one.

use crate::arguments::{Cli, Verb};
use clap::Parser;
use clearway_core::shell;
use std::path::PathBuf;

/// Such a command.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Typed {
    /// Its words, the program's name first.
    pub(crate) words: Vec<String>,
    /// Where it acts, if not where it is typed.
    pub(crate) directory: Option<PathBuf>,
}

/// Reads a command; `None` for anything else.
pub(crate) fn read(command: &str) -> Option<Typed> {
    let line = shell::read(command.trim());
    let is_ours = line.is_plain && line.words.first().is_some_and(|program| program == "clearway");
    let said = is_ours.then(|| Cli::try_parse_from(&line.words).ok()).flatten()?;
    // What a sandbox does not let write is not written for it: of all that is carried out, only this names a file.
    let names_a_file = said.everywhere.store.is_some();
    let verb = said.verb.filter(|verb| !names_a_file && answers_at_once(verb))?;
    let words = if waits(&verb) { for_a_moment(line.words) } else { line.words };
    Some(Typed { words, directory: said.everywhere.directory })
}

/// How long a hook waits for a turn: its client waits for the hook. Whose turn has not come keeps its place and is told
/// when it has.
const MOMENT: [&str; 2] = [SPAN, "1s"];
const SPAN: &str = "--for";

fn waits(verb: &Verb) -> bool {
    matches!(verb, Verb::Wait(flags) if !flags.cancel)
}

/// The same words, however long they were to wait.
fn for_a_moment(words: Vec<String>) -> Vec<String> {
    let mut is_span = false;
    let is_kept = |word: &String| {
        let follows = std::mem::replace(&mut is_span, word == SPAN);
        !follows && word != SPAN && !word.starts_with("--for=")
    };
    words.into_iter().filter(is_kept).chain(MOMENT.map(str::to_owned)).collect()
}

/// Whether a verb takes no time, and runs nothing: what is committed has the hooks of a repository run, which an agent can
/// write in its sandbox.
fn answers_at_once(verb: &Verb) -> bool {
    match verb {
        Verb::Reserve(flags) => flags.wait.is_none(),
        // What comes from standard input is not there yet.
        Verb::Send(flags) => flags.said.text != "-",
        Verb::Broadcast(flags) => flags.said.text != "-",
        Verb::Ask(flags) => flags.wait.is_none(),
        Verb::Inbox(_)
        | Verb::Ack(_)
        | Verb::Read(_)
        | Verb::Thread(_)
        | Verb::Threads(_)
        | Verb::Search(_)
        | Verb::StaleAcks(_)
        | Verb::Policy(_)
        | Verb::Contacts(_)
        | Verb::Check(_)
        | Verb::Release(_)
        | Verb::Renew(_)
        | Verb::Transfer(_)
        | Verb::Who(_)
        | Verb::Where(_)
        | Verb::Leases(_)
        | Verb::Wait(_)
        | Verb::Waits(_)
        | Verb::Snapshot(_)
        | Verb::Restore(_)
        | Verb::Undo(_)
        | Verb::Answer(_)
        | Verb::Withdraw(_)
        | Verb::Negotiations
        | Verb::Force(_)
        | Verb::Agents
        | Verb::Status(_)
        | Verb::Mine(_)
        | Verb::Explain(_) => true,
        _ => false,
    }
}

/// A command that prints an answer and ends like the one it stands for.
pub(crate) fn printing(stdout: &str, stderr: &str, code: u8) -> String {
    let print = |text: &str| format!("printf %s {}", shell::literally(text));
    let err = if stderr.is_empty() { String::new() } else { format!("; {} >&2", print(stderr)) };
    let end = if code == 0 { String::new() } else { format!("; exit {code}") };
    format!("{}{err}{end}", print(stdout))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(command: &str) -> Option<Vec<String>> {
        read(command).map(|typed| typed.words)
    }

    #[test]
    fn one_command_of_plain_words_is_understood() {
        for (command, expect) in [
            ("clearway who src/a.rs", vec!["clearway", "who", "src/a.rs"]),
            (" clearway  release --all ", vec!["clearway", "release", "--all"]),
            ("clearway -C '/a b' who src/a.rs", vec!["clearway", "-C", "/a b", "who", "src/a.rs"]),
            (
                "clearway reserve 'app/[id]/*.ts' --reason \"two words\"",
                vec!["clearway", "reserve", "app/[id]/*.ts", "--reason", "two words"],
            ),
            (
                "clearway send otter 'it is yours; go on'",
                vec!["clearway", "send", "otter", "it is yours; go on"],
            ),
            ("clearway inbox", vec!["clearway", "inbox"]),
            ("clearway ack k3j9x2ab", vec!["clearway", "ack", "k3j9x2ab"]),
            (r"clearway who 'it'\''s.txt'", vec!["clearway", "who", "it's.txt"]),
            ("clearway wait f7p7pf40", vec!["clearway", "wait", "f7p7pf40", "--for", "1s"]),
            ("clearway wait --for 5m x", vec!["clearway", "wait", "x", "--for", "1s"]),
            ("clearway wait --for=5m", vec!["clearway", "wait", "--for", "1s"]),
            ("clearway wait --cancel", vec!["clearway", "wait", "--cancel"]),
        ] {
            assert_eq!(words(command), Some(expect.into_iter().map(str::to_owned).collect()), "{command}");
        }
    }

    #[test]
    fn anything_a_shell_would_do_more_with_is_left_to_it() {
        for command in [
            "",
            "clearway",
            "clearway with build -- make",
            "clearway send otter -",
            "clearway reserve a --wait 5m",
            "clearway reserve a --wait=5m",
            "clearway reserve --wait a",
            "clearway ask a why --wait 5m",
            "clearway reserve",
            "clearway demo",
            "clearway reserve a --store /x/s.db",
            "clearway --store=/x/s.db who a",
            "clearway audit anchor --export /x",
            "clearway man /x",
            "clearway hook claude",
            "clearway commit -m x",
            "cd x && clearway who a",
            "clearway who a; rm -rf b",
            "clearway who $(rm b)",
            "clearway who `rm b`",
            "clearway who \"$HOME\"",
            "clearway who a > b",
            "clearway who *.rs",
            "clearway who ~",
            "clearway who a\nrm b",
            "clearway who 'a",
            "CLEARWAY_AGENT=x clearway who a",
            "/tmp/clearway who a",
            "echo clearway who a",
        ] {
            assert_eq!(words(command), None, "{command}");
        }
    }

    #[test]
    fn an_answer_is_printed_whatever_is_in_it() {
        assert_eq!(printing("it's\n", "", 0), "printf %s 'it'\\''s\n'");
        assert_eq!(printing("-n $(id)", "", 0), "printf %s '-n $(id)'");
        assert_eq!(printing("", "no", 3), "printf %s ''; printf %s no >&2; exit 3");
    }
}
