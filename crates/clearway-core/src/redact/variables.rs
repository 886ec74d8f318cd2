//! Values of variables whose names end like those of secrets: `DB_PASS=…`, `OPENAI_KEY=…`, and of the short names
//! `pwd` and `pw`.
//!
//! Such endings also name plain things (`SORT_KEY=created_at`, `first_pass=done`, `PWD=/srv/app`), so words, paths
//! and small numbers stay.

use super::assignments::{after_separator, bare_value, match_name, quote_at};
use super::shapes::{is_placeholder, is_plain_word, is_prose};
use super::{Rule, Span};

/// Endings after an underscore.
const ENDINGS: [&str; 2] = ["pass", "key"];
/// Names that stand alone or after an underscore.
const SHORT_NAMES: [&str; 2] = ["pwd", "pw"];
/// Longer values are never ordinary. The bound also keeps the scan linear: a value that is looked at in vain is short.
const ORDINARY_BYTES_MAX: usize = 128;
/// A number up to this length counts or numbers something, in bytes.
const NUMBER_BYTES_MAX: usize = 4;

pub(super) fn find(text: &str, spans: &mut Vec<Span>) {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let found = name_end(bytes, at).and_then(|end| value_after(text, at, end));
        at = found.map_or(at + 1, |span| span.end);
        spans.extend(found);
    }
}

fn name_end(bytes: &[u8], at: usize) -> Option<usize> {
    let before = at.checked_sub(1).and_then(|before| bytes.get(before)).copied();
    let after_underscore = before == Some(b'_') && at > 1;
    let starts_word = before.is_none_or(|b| !b.is_ascii_alphanumeric() && !matches!(b, b'-' | b'$' | b'/'));
    let ending = || ENDINGS.iter().filter(|_| after_underscore).find_map(|name| match_name(bytes, at, name));
    let short = || SHORT_NAMES.iter().filter(|_| starts_word).find_map(|name| match_name(bytes, at, name));
    ending().or_else(short)
}

fn value_after(text: &str, name_start: usize, name_end: usize) -> Option<Span> {
    let bytes = text.as_bytes();
    let given = after_separator(bytes, name_end)?;
    let quoted = quote_at(bytes, given.start).map(|(_, start)| start);
    let start = quoted.unwrap_or(given.start);
    let value = bare_value(text.get(start..)?);
    let secret =
        value.len() > ORDINARY_BYTES_MAX || (is_telling(bytes, name_start, value) && !is_ordinary(value));
    let secret = secret && (given.by_equals || !is_plain_word(value));
    secret.then_some(Span { start, end: start + value.len(), rule: Rule::Assignment })
}

/// In code a lower-case name is given an expression: `sort_key = by_name(x)`.
fn is_telling(bytes: &[u8], name_start: usize, value: &str) -> bool {
    let is_shouted = bytes.get(name_start).is_some_and(u8::is_ascii_uppercase);
    is_shouted || value.bytes().any(|b| b.is_ascii_digit())
}

fn is_ordinary(value: &str) -> bool {
    let is_number = value.len() <= NUMBER_BYTES_MAX && value.bytes().all(|b| b.is_ascii_digit());
    value.is_empty()
        || is_number
        || is_placeholder(value)
        || is_prose(value)
        || value.starts_with(['/', '~', '.', '$', '('])
}
