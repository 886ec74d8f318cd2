//! The lines for agents in a repository's own page, between marks.

use super::text::{Removed, newline_of};

const OPEN: &str = "<!-- clearway -->";
const CLOSE: &str = "<!-- /clearway -->";
const LINES: [&str; 4] = [
    "- Other agents may be at work here. Your client's hooks reserve each file that you edit.",
    "- A refused edit has put you in the queue: go on with something else, you will be told. Urgent: `clearway ask PATH WHY`; its deadline only signals, silence for the TTL alone ends a lease.",
    "- Before a change over several files: `clearway reserve PATTERN --reason TEXT`. Never poll.",
    "- To write to another agent: `clearway send NAME TEXT`; you are told of mail: `clearway inbox`, `clearway ack ID`.",
];

/// The text with the lines in it.
pub(super) fn install(text: &str) -> String {
    let newline = newline_of(text);
    let block = [&[OPEN], &LINES[..], &[CLOSE]].concat().join(newline);
    if let Some(found) = found(text) {
        return format!("{}{block}{}", &text[..found.start], &text[found.end..]);
    }
    let gap = match text {
        "" => "",
        text if text.ends_with('\n') => newline,
        _ => &newline.repeat(2),
    };
    format!("{text}{gap}{block}{newline}")
}

/// The text without them.
pub(super) fn remove(text: &str) -> Removed {
    let Some(found) = found(text) else { return Removed { text: text.to_owned(), is_hollow: false } };
    let newline = newline_of(text);
    let after = &text[found.end..];
    let after = after.strip_prefix(newline).unwrap_or(after);
    let before = &text[..found.start];
    let before = before.strip_suffix(newline).filter(|before| before.ends_with('\n')).unwrap_or(before);
    let text = format!("{before}{after}");
    Removed { is_hollow: text.trim().is_empty(), text }
}

fn found(text: &str) -> Option<std::ops::Range<usize>> {
    let start = text.find(OPEN)?;
    let end = start + text[start..].find(CLOSE)? + CLOSE.len();
    Some(start..end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lines_are_added_once_and_taken_away_again() {
        for text in ["", "# App\n", "# App\r\n\r\nmore\r\n", "a\n\n\n"] {
            let with = install(text);
            assert_eq!(install(&with), with);
            assert_eq!(remove(&with).text, text);
            assert!(with.contains(LINES[0]));
        }
        assert_eq!(remove("# App\n").text, "# App\n");
    }

    #[test]
    fn older_lines_are_replaced_and_what_follows_them_stays() {
        let old = format!("# App\n\n{OPEN}\noutdated\n{CLOSE}\nmore\n");
        let new = install(&old);
        assert!(!new.contains("outdated") && new.ends_with("more\n"), "{new}");
        assert_eq!(remove(&new).text, "# App\nmore\n");
    }
}
