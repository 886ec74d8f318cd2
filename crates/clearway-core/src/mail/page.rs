//! How much of a mailbox fits into one answer.

use super::limits::SHOWN_BYTES_MAX;
use crate::text::printable;

/// What a list shows of a text, and how many bytes of it are left out.
pub fn excerpt(text: &str) -> (&str, u64) {
    if text.len() <= SHOWN_BYTES_MAX {
        return (text, 0);
    }
    let mut end = SHOWN_BYTES_MAX;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    (&text[..end], (text.len() - end) as u64)
}

/// The most bytes that a text takes in an answer, as JSON or as framed lines, each of which a name of so many bytes is
/// put before.
pub fn cost(text: &str, name_bytes: usize) -> usize {
    let escaped: usize = text.chars().map(escaped_bytes).sum();
    let framed: usize = text.split('\n').map(|line| printable(line).len() + name_bytes + FRAME_BYTES).sum();
    escaped.max(framed)
}

/// What stands around a name in front of a line, and the end of the line.
const FRAME_BYTES: usize = 8;

fn escaped_bytes(c: char) -> usize {
    match c {
        '"' | '\\' | '\n' | '\r' | '\t' => 2,
        c if c.is_ascii_control() => 6,
        c => c.len_utf8(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_excerpt_ends_at_a_character() {
        assert_eq!(excerpt("short"), ("short", 0));
        let long = "ä".repeat(SHOWN_BYTES_MAX);
        let (shown, left) = excerpt(&long);
        assert!(shown.len() <= SHOWN_BYTES_MAX && shown.len() as u64 + left == long.len() as u64);
    }

    #[test]
    fn what_has_to_be_escaped_costs_more() {
        assert!(cost("\u{1b}\u{1b}", 3) >= 12);
        assert!(cost("a\nb\nc", 10) >= 3 * 11);
        assert!(cost("\"\"", 0) >= 4);
    }
}
