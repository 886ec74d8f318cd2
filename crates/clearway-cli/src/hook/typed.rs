//! A plain `clearway VERB …` in a command that an agent is about to run. A sandboxed shell cannot reach the store, so the
//! hook carries it out and the shell only prints the answer.
//!
//! Nothing here is a shell: whatever is more than one command of plain words is left to one.

/// The words of such a command, the program's name first; `None` for anything else.
pub(crate) fn words(command: &str) -> Option<Vec<String>> {
    let words = plain_words(command.trim())?;
    let [program, verb, rest @ ..] = words.as_slice() else { return None };
    let waits =
        |word: &String| WAITING.iter().any(|flag| word == flag || word.starts_with(&format!("{flag}=")));
    (program == "clearway" && VERBS.contains(&verb.as_str()) && !rest.iter().any(waits)).then_some(words)
}

/// Verbs that answer at once and need nothing but the store.
const VERBS: [&str; 13] = [
    "reserve", "check", "release", "renew", "transfer", "who", "where", "leases", "waits", "agents",
    "status", "mine", "explain",
];

/// Flags that take their time.
const WAITING: [&str; 1] = ["--wait"];

/// A text as words, if it has no character that a shell would do something with.
fn plain_words(text: &str) -> Option<Vec<String>> {
    let (mut words, mut word, mut quote): (Vec<String>, Option<String>, Option<char>) =
        (Vec::new(), None, None);
    for c in text.chars() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (Some('\''), c) => word.get_or_insert_default().push(c),
            (Some(_), c) if "$`\\!".contains(c) => return None,
            (Some(_), c) => word.get_or_insert_default().push(c),
            (None, '\'' | '"') => {
                word.get_or_insert_default();
                quote = Some(c);
            }
            (None, ' ') => words.extend(word.take()),
            (None, c) if c.is_alphanumeric() || "_-./:=@,+%".contains(c) => {
                word.get_or_insert_default().push(c)
            }
            (None, _) => return None,
        }
    }
    words.extend(word);
    quote.is_none().then_some(words)
}

/// A command that prints an answer and ends like the one it stands for.
pub(crate) fn printing(stdout: &str, stderr: &str, code: u8) -> String {
    let quoted = |text: &str| format!("'{}'", text.replace('\'', r"'\''"));
    let out = format!("printf %s {}", quoted(stdout));
    let err = if stderr.is_empty() { String::new() } else { format!("; printf %s {} >&2", quoted(stderr)) };
    let end = if code == 0 { String::new() } else { format!("; exit {code}") };
    format!("{out}{err}{end}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_command_of_plain_words_is_understood() {
        for (command, expect) in [
            ("clearway who src/a.rs", vec!["clearway", "who", "src/a.rs"]),
            (" clearway  release --all ", vec!["clearway", "release", "--all"]),
            (
                "clearway reserve 'app/[id]/*.ts' --reason \"two words\"",
                vec!["clearway", "reserve", "app/[id]/*.ts", "--reason", "two words"],
            ),
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
            "clearway reserve a --wait 5m",
            "clearway reserve a --wait=5m",
            "clearway demo",
            "clearway hook claude",
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
        assert_eq!(printing("", "no", 3), "printf %s ''; printf %s 'no' >&2; exit 3");
    }
}
