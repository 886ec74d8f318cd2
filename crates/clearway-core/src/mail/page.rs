//! How much of a mailbox fits into one answer.

use super::limits::{SHOWN_BYTES_MAX, SHOWN_COST_MAX};
use crate::text::{is_disturbing, printable};

/// What a list shows of a text, and how many bytes of it are left out. What is shown costs little enough for every message
/// to fit an answer by itself, with a name of so many bytes before each line.
pub fn excerpt(text: &str, name_bytes: usize) -> (&str, u64) {
    let (mut escaped, mut framed) = (0, name_bytes + FRAME_BYTES);
    for (at, c) in text.char_indices() {
        escaped += escaped_bytes(c);
        framed += match c {
            '\n' => name_bytes + FRAME_BYTES,
            c => printable(c.encode_utf8(&mut [0; 4])).len(),
        };
        if at + c.len_utf8() > SHOWN_BYTES_MAX || escaped.max(framed) > SHOWN_COST_MAX {
            return (&text[..at], (text.len() - at) as u64);
        }
    }
    (text, 0)
}

/// What stands around a name in front of a line, and the end of the line.
const FRAME_BYTES: usize = 8;

fn escaped_bytes(c: char) -> usize {
    match c {
        '"' | '\\' | '\n' | '\r' | '\t' => 2,
        c if is_disturbing(c) => 6 * c.len_utf16(),
        c => c.len_utf8(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The most bytes that a text takes in an answer, as JSON or as framed lines, each of which a name of so many bytes is
    /// put before.
    fn cost(text: &str, name_bytes: usize) -> usize {
        let escaped: usize = text.chars().map(escaped_bytes).sum();
        let framed: usize =
            text.split('\n').map(|line| printable(line).len() + name_bytes + FRAME_BYTES).sum();
        escaped.max(framed)
    }

    #[test]
    fn an_excerpt_ends_at_a_character() {
        assert_eq!(excerpt("short", 64), ("short", 0));
        let long = "ä".repeat(SHOWN_BYTES_MAX);
        let (shown, left) = excerpt(&long, 4);
        assert!(shown.len() <= SHOWN_BYTES_MAX && shown.len() as u64 + left == long.len() as u64);
    }

    #[test]
    fn whatever_it_is_made_of_an_excerpt_costs_little() {
        for part in ["\n", "1\n", "{\n}\n", "\u{1b}", "\u{9b}", "\u{202e}", "\u{e0001}", "\"", "a"] {
            let text = part.repeat(2 * SHOWN_BYTES_MAX);
            for name_bytes in [1, 24, 64] {
                let (shown, left) = excerpt(&text, name_bytes);
                assert!(!shown.is_empty() && left > 0, "{part:?}");
                assert!(cost(shown, name_bytes) <= SHOWN_COST_MAX, "{part:?} {name_bytes}");
            }
        }
    }

    #[test]
    fn what_has_to_be_escaped_costs_more() {
        assert!(cost("\u{1b}\u{1b}", 3) >= 12);
        assert!(cost("a\nb\nc", 10) >= 3 * 11);
        assert!(cost("\"\"", 0) >= 4);
    }
}
