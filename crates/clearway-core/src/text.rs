//! Text made safe for one line of a terminal, and the shape of plain names.
//!
//! Names, reasons and paths come from agents and files. Shown raw they could move the cursor, forge a second line or
//! reverse the reading order of what follows. Nothing here decides what is a secret; that is [`crate::redact`].

use std::borrow::Cow;
use std::fmt::Write as _;

use unicode_normalization::char::is_combining_mark;

/// The longest agent name, in characters.
pub const PLAIN_NAME_CHARS_MAX: usize = 64;

/// The most columns that a message gives to one word or path from outside.
const SHOWN_COLUMNS_MAX: usize = 161;

/// The mark that shows where something was left out.
const ELLIPSIS: char = '…';

/// Replaces every character that could disturb a terminal line by a visible escape: `\n`, `\t`, `\u{1b}`.
///
/// A backslash stays as it is, so the result is for reading, not for undoing.
pub fn printable(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_disturbing) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        push_printable(&mut out, c);
    }
    Cow::Owned(out)
}

/// A word from outside, printable, marked off from ours and no longer than a message can bear.
pub fn quoted(text: &str) -> String {
    format!("\"{}\"", shown(text))
}

/// A path or word from outside as a message shows it: printable, and shortened in the middle where it is very long,
/// because both ends of a path tell more than its middle.
pub fn shown(text: &str) -> String {
    let text = printable(text);
    if columns(&text) <= SHOWN_COLUMNS_MAX {
        return text.into_owned();
    }
    let half = (SHOWN_COLUMNS_MAX - 1) / 2;
    let start: String = fitting(text.chars(), half).collect();
    let end: Vec<char> = fitting(text.chars().rev(), half).collect();
    start + &String::from(ELLIPSIS) + &end.into_iter().rev().collect::<String>()
}

/// The first characters that fit into so many columns.
fn fitting(chars: impl Iterator<Item = char>, columns_max: usize) -> impl Iterator<Item = char> {
    chars.scan(0, move |used, c| {
        *used += char_columns(c);
        (*used <= columns_max).then_some(c)
    })
}

/// Cuts a text to at most `columns_max` terminal columns, ending in `…` where something was left out.
pub fn truncate_columns(text: &str, columns_max: usize) -> Cow<'_, str> {
    if columns(text) <= columns_max {
        return Cow::Borrowed(text);
    }
    if columns_max == 0 {
        return Cow::Borrowed("");
    }
    let (mut out, mut used) = (String::new(), 0);
    for c in text.chars() {
        used += char_columns(c);
        if used >= columns_max {
            break;
        }
        out.push(c);
    }
    out.push(ELLIPSIS);
    Cow::Owned(out)
}

/// How many terminal columns a text takes: combining marks none, East Asian wide characters and emoji two.
pub fn columns(text: &str) -> usize {
    text.chars().map(char_columns).sum()
}

/// Whether a text may be an agent's name: it needs no quoting in a shell, in JSON or in a file name.
pub fn is_plain_name(text: &str) -> bool {
    let starts_well = text.starts_with(|c: char| c.is_ascii_alphanumeric());
    let chars_fit = text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-'));
    // Every accepted character is one byte, so bytes count characters.
    starts_well && chars_fit && text.len() <= PLAIN_NAME_CHARS_MAX
}

fn push_printable(out: &mut String, c: char) {
    match c {
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        c if is_disturbing(c) => {
            // Writing to a String cannot fail.
            let _ = write!(out, "\\u{{{:x}}}", u32::from(c));
        }
        c => out.push(c),
    }
}

pub fn is_disturbing(c: char) -> bool {
    c.is_control() || is_invisible_format(c)
}

/// Characters without a glyph that change how their neighbours are shown or compared.
fn is_invisible_format(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180e}'
        | '\u{200b}'..='\u{200f}' // zero width, joiners, direction marks
        | '\u{2028}'..='\u{202e}' // line and paragraph separators, direction embeddings and overrides
        | '\u{2060}'..='\u{206f}' // word joiner, invisible operators, direction isolates
        | '\u{3164}' | '\u{feff}' | '\u{ffa0}'
        | '\u{fff9}'..='\u{fffb}'
        | '\u{e0000}'..='\u{e007f}') // tags
}

fn char_columns(c: char) -> usize {
    if c < '\u{300}' {
        return usize::from(!c.is_control());
    }
    if is_combining_mark(c) || is_invisible_format(c) || ('\u{1160}'..='\u{11ff}').contains(&c) {
        0
    } else if is_wide(c) {
        2
    } else {
        1
    }
}

fn is_wide(c: char) -> bool {
    c >= '\u{1100}' && WIDE.iter().any(|&(first, last)| (first..=last).contains(&c))
}

/// East Asian wide characters and emoji with their own picture, joined into the few ranges that matter.
const WIDE: [(char, char); 34] = [
    ('\u{1100}', '\u{115f}'),
    ('\u{231a}', '\u{231b}'),
    ('\u{23e9}', '\u{23ec}'),
    ('\u{23f0}', '\u{23f0}'),
    ('\u{23f3}', '\u{23f3}'),
    ('\u{25fd}', '\u{25fe}'),
    ('\u{2614}', '\u{2615}'),
    ('\u{2648}', '\u{2653}'),
    ('\u{267f}', '\u{267f}'),
    ('\u{2693}', '\u{2693}'),
    ('\u{26a1}', '\u{26a1}'),
    ('\u{26aa}', '\u{26ab}'),
    ('\u{26bd}', '\u{26be}'),
    ('\u{26c4}', '\u{26c5}'),
    ('\u{26d4}', '\u{26d4}'),
    ('\u{26ea}', '\u{26ea}'),
    ('\u{2705}', '\u{2705}'),
    ('\u{270a}', '\u{270b}'),
    ('\u{2728}', '\u{2728}'),
    ('\u{274c}', '\u{274e}'),
    ('\u{2753}', '\u{2757}'),
    ('\u{2795}', '\u{2797}'),
    ('\u{2b1b}', '\u{2b1c}'),
    ('\u{2b50}', '\u{2b55}'),
    ('\u{2e80}', '\u{303e}'),
    ('\u{3041}', '\u{a4cf}'),
    ('\u{a960}', '\u{a97f}'),
    ('\u{ac00}', '\u{d7a3}'),
    ('\u{f900}', '\u{faff}'),
    ('\u{fe30}', '\u{fe6f}'),
    ('\u{ff01}', '\u{ff60}'),
    ('\u{ffe0}', '\u{ffe6}'),
    ('\u{1f300}', '\u{1faff}'),
    ('\u{20000}', '\u{3fffd}'),
];

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check_printable(text: &str, expect: &str) {
        assert_eq!(printable(text), expect);
    }

    #[test]
    fn ordinary_text_is_borrowed_unchanged() {
        for text in ["", "src/main.rs", "Größe 日本語 🦀", "C:\\temp", "e\u{301}"] {
            assert!(matches!(printable(text), Cow::Borrowed(same) if same == text), "{text:?}");
        }
    }

    #[test]
    fn control_characters_become_visible() {
        check_printable("a\nb\r\tc", "a\\nb\\r\\tc");
        check_printable("\u{1b}[31mred", "\\u{1b}[31mred");
        check_printable("\0\u{7f}\u{9b}\u{85}", "\\u{0}\\u{7f}\\u{9b}\\u{85}");
    }

    #[test]
    fn direction_and_width_tricks_become_visible() {
        check_printable("\u{202e}txt.exe", "\\u{202e}txt.exe");
        check_printable("a\u{2066}b\u{2069}", "a\\u{2066}b\\u{2069}");
        check_printable("ad\u{200b}min\u{feff}", "ad\\u{200b}min\\u{feff}");
        check_printable("x\u{2028}y\u{2029}", "x\\u{2028}y\\u{2029}");
        check_printable("\u{e0041}", "\\u{e0041}");
    }

    #[track_caller]
    fn check_truncated(text: &str, columns_max: usize, expect: &str) {
        assert_eq!(truncate_columns(text, columns_max), expect);
    }

    #[test]
    fn a_text_that_fits_is_left_alone() {
        check_truncated("reserve", 7, "reserve");
        check_truncated("", 0, "");
        check_truncated("日本", 4, "日本");
    }

    #[test]
    fn a_cut_text_ends_in_an_ellipsis_within_the_width() {
        check_truncated("reserve", 6, "reser…");
        check_truncated("日本語", 5, "日本…");
        check_truncated("日本語", 4, "日…");
        check_truncated("reserve", 1, "…");
        check_truncated("reserve", 0, "");
    }

    #[test]
    fn a_very_long_word_keeps_both_its_ends() {
        let path = format!("/start/{}/end.rs", "x".repeat(5_000));
        let short = shown(&path);
        assert!(short.starts_with("/start/xxx") && short.ends_with("xxx/end.rs"), "{short}");
        assert_eq!((columns(&short), short.matches(ELLIPSIS).count()), (SHOWN_COLUMNS_MAX, 1));
        assert_eq!(shown("src/a\n.rs"), "src/a\\n.rs");
        assert_eq!(quoted(&path).len(), short.len() + 2);
    }

    #[test]
    fn combining_marks_take_no_column_and_emoji_take_two() {
        assert_eq!(columns("e\u{301}"), 1);
        assert_eq!(columns("🦀"), 2);
        assert_eq!(columns("한글"), 4);
        assert_eq!(columns("a…b"), 3);
    }

    #[test]
    fn plain_names_need_no_quoting() {
        for name in ["a", "0", "calm-fox", "Codex_2.1", "x".repeat(64).as_str()] {
            assert!(is_plain_name(name), "{name:?}");
        }
        let too_long = "x".repeat(65);
        for name in
            ["", "-rf", ".hidden", "_x", "a b", "a/b", "a$b", "a\"b", "é", "a\n", "a;b", "a:b", &too_long]
        {
            assert!(!is_plain_name(name), "{name:?}");
        }
    }

    proptest! {
        #[test]
        fn printable_text_is_one_quiet_line_and_stays_as_it_is(text in any::<String>()) {
            let shown = printable(&text).into_owned();
            prop_assert!(!shown.chars().any(is_disturbing));
            prop_assert_eq!(printable(&shown), shown.as_str());
        }

        #[test]
        fn a_shown_text_never_exceeds_its_width(text in "\\PC{0,300}|[a-z日🦀]{150,400}") {
            prop_assert!(columns(&shown(&text)) <= SHOWN_COLUMNS_MAX);
        }

        #[test]
        fn a_truncated_text_never_exceeds_its_width(text in any::<String>(), columns_max in 0_usize..40) {
            prop_assert!(columns(&truncate_columns(&text, columns_max)) <= columns_max);
        }
    }
}
