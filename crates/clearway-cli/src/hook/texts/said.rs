//! A text within its budget, whole where it holds a command.

use clearway_core::hint::Hint;
use clearway_core::text::{columns, printable, truncate_columns};

/// Bytes of one text.
pub(crate) const TEXT_BYTES_MAX: usize = 400;
/// Columns given to a path, a reason and a name of somebody else.
const PATH_COLUMNS: usize = 72;
pub(super) const REASON_COLUMNS: usize = 48;
pub(super) const FAILURE_COLUMNS: usize = 160;
/// Columns given to what each of several others holds, and to where.
pub(super) const HELD_COLUMNS: usize = 40;

/// Something to say. A command in it is said whole or not at all: one that was cut means something else.
pub(super) struct Said {
    pub(super) text: String,
    /// The same without the command, if it has one.
    pub(super) without_command: Option<String>,
}

impl Said {
    pub(super) fn plain(text: String) -> Self {
        Self { text, without_command: None }
    }

    /// The text, then what leads to a command and the command.
    pub(super) fn then(text: String, lead: &str, command: &Hint) -> Self {
        let line = command.line().unwrap_or_default();
        Self { text: format!("{text}{lead}{line}"), without_command: Some(text) }
    }

    pub(super) fn within(self, bytes_max: usize) -> String {
        match self.without_command {
            Some(shorter) if self.text.len() > bytes_max => cut(shorter, bytes_max),
            _ => cut(self.text, bytes_max),
        }
    }
}

/// Of a path that is too long the end tells which file it is.
pub(super) fn path(text: &str) -> String {
    let text = printable(text);
    if columns(&text) <= PATH_COLUMNS {
        return text.into_owned();
    }
    let mut room = PATH_COLUMNS - 1;
    let end = text.char_indices().rev().map_while(|(at, letter)| {
        room = room.checked_sub(columns(letter.encode_utf8(&mut [0; 4])))?;
        Some(at)
    });
    format!("…{}", &text[end.last().unwrap_or(text.len())..])
}

pub(super) fn clipped(text: &str, columns: usize) -> String {
    truncate_columns(&printable(text), columns).into_owned()
}

/// What somebody else wrote, to stand in quotes of ours: it can neither end them nor look like a mark of the client's frame.
pub(super) fn foreign(text: &str, columns: usize) -> String {
    let tame = |c: char| match c {
        '"' | '\u{201c}' | '\u{201d}' => '\'',
        '<' => '\u{2039}',
        '>' => '\u{203a}',
        c => c,
    };
    clipped(&text.chars().map(tame).collect::<String>(), columns)
}

/// Cut where a word ends, or at least a character.
pub(super) fn cut(mut text: String, bytes_max: usize) -> String {
    if text.len() > bytes_max {
        let room = text.floor_char_boundary(bytes_max.saturating_sub('…'.len_utf8()));
        let is_whole = text[room..].starts_with(' ');
        let word = text[..room].rfind(' ').filter(|at| !is_whole && *at > 0);
        text.truncate(word.unwrap_or(room));
        text.push('…');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_long_path_the_name_of_the_file_stays() {
        assert_eq!(path("src/a.rs"), "src/a.rs");
        let cut = path(&format!("{}session.rs", "very/deep/".repeat(20)));
        assert!(cut.starts_with('…') && cut.ends_with("/deep/session.rs"), "{cut}");
        assert_eq!(columns(&cut), PATH_COLUMNS);
    }

    #[test]
    fn a_text_ends_within_its_budget_and_at_a_character() {
        let text = cut("ä".repeat(300), TEXT_BYTES_MAX);
        assert!(text.len() <= TEXT_BYTES_MAX && text.ends_with('…'), "{}", text.len());
        assert_eq!(cut("short".to_owned(), TEXT_BYTES_MAX), "short");
        assert_eq!(cut("whole words only".to_owned(), 14), "whole words…");
        assert_eq!(cut("whole words only".to_owned(), 15), "whole words…");
    }

    #[test]
    fn a_command_is_said_whole_or_not_at_all() {
        let said = |path: &str| {
            let command = Hint::command("", "who", &[path]);
            Said::then("Not edited.".to_owned(), " Look: ", &command).within(40)
        };
        assert_eq!(said("a: b.rs"), "Not edited. Look: clearway who 'a: b.rs'");
        assert_eq!(said("src/session.rs"), "Not edited.");
    }
}
