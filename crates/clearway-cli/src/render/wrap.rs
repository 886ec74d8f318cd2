//! Breaking long lines between words.

use clearway_core::agent::Client;
use clearway_core::text::columns;

/// Breaks a text into lines of at most `width` columns. The first begins with `first`, the others with `next`.
/// A single word that is too long stays whole: a broken path or command is of no use.
pub(crate) fn wrap(text: &str, width: usize, first: &str, next: &str) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = first.to_owned();
    let mut fresh = true;
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        if !fresh && columns(&line) + 1 + columns(word) > width {
            lines.push(std::mem::replace(&mut line, next.to_owned()));
            fresh = true;
        }
        if !fresh {
            line.push(' ');
        }
        line.push_str(word);
        fresh = false;
    }
    lines.push(line);
    lines
}

/// What the commands in hints begin with, beside those that go on with a client's session.
const COMMANDS: [&str; 11] =
    ["aside=$(mktemp", "cd", "chmod", "clearway", "find", "git", "kill", "ls", "mkdir", "mv", "readlink"];

/// Breaks a hint or a note like [`wrap`], but keeps the command at its end on a line of its own, so that it can be
/// copied.
pub(crate) fn wrap_hint(hint: &str, width: usize, first: &str, next: &str) -> Vec<String> {
    let marked = |mark| hint.strip_prefix(mark).map(|advice| (mark, advice));
    let (mark, advice) = ["hint: ", "note: "].into_iter().find_map(marked).unwrap_or(("", hint));
    let splits = advice.match_indices(": ").map(|(at, _)| (&advice[..at], &advice[at + 2..]));
    let command = splits.into_iter().find(|(_, command)| is_command(command));
    match command.filter(|_| columns(first) + columns(hint) > width) {
        Some((words, command)) => {
            let mut lines = wrap(&format!("{mark}{words}:"), width, first, next);
            lines.push(format!("{next}{command}"));
            lines
        }
        None => wrap(hint, width, first, next),
    }
}

fn is_command(text: &str) -> bool {
    let resumes = |client: &Client| client.resume_words().is_some_and(|words| text.starts_with(words));
    let is_loop = text.starts_with("for hook in ");
    is_loop
        || text.split(' ').next().is_some_and(|word| COMMANDS.contains(&word))
        || Client::ALL.iter().any(resumes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_break_between_words_and_long_words_stay_whole() {
        assert_eq!(wrap("one two three", 9, "", "  "), ["one two", "  three"]);
        assert_eq!(wrap("a verylongword b", 6, "- ", "  "), ["- a", "  verylongword", "  b"]);
        assert_eq!(wrap("", 9, "x", ""), ["x"]);
    }

    #[test]
    fn the_command_of_a_hint_stays_whole() {
        let hint = "see who holds it: clearway who src/a.rs";
        assert_eq!(wrap_hint(hint, 80, "- ", "  "), ["- see who holds it: clearway who src/a.rs"]);
        assert_eq!(wrap_hint(hint, 24, "- ", "  "), ["- see who holds it:", "  clearway who src/a.rs"]);
        let twice = "for a: b.rs: clearway wait abcdefgh";
        assert_eq!(wrap_hint(twice, 20, "- ", "  "), ["- for a: b.rs:", "  clearway wait abcdefgh"]);
        let note = "note: it moved; go on: clearway scope adopt a-1";
        assert_eq!(wrap_hint(note, 24, "", "  "), ["note: it moved; go on:", "  clearway scope adopt a-1"]);
    }
}
