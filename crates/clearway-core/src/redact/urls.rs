//! Passwords and tokens before the `@` of a URL.

use super::shapes::{is_placeholder, is_words};
use super::{Rule, Span};

const SCHEME_END: &str = "://";
/// A user name without password counts as a token from this length on, in bytes; `git@` stays.
const LONE_TOKEN_BYTES_MIN: usize = 16;

pub(super) fn find(text: &str, spans: &mut Vec<Span>) {
    let mut from = 0;
    while let Some(at) = text.get(from..).and_then(|rest| rest.find(SCHEME_END)) {
        let start = from + at + SCHEME_END.len();
        spans.extend(secret_of_authority(text, start));
        from = start;
    }
}

fn secret_of_authority(text: &str, start: usize) -> Option<Span> {
    let rest = text.get(start..)?;
    let authority = rest.get(..rest.find(ends_authority).unwrap_or(rest.len()))?;
    let user_info = authority.get(..authority.rfind('@')?)?;
    let secret = match user_info.find(':') {
        Some(colon) => user_info.get(colon + 1..)?,
        None => Some(user_info).filter(|user| user.len() >= LONE_TOKEN_BYTES_MIN && !is_words(user))?,
    };
    // A mark of our own holds a colon and must not be split at it.
    if secret.is_empty() || is_placeholder(secret) || is_placeholder(user_info) {
        return None;
    }
    let end = start + user_info.len();
    Some(Span { start: end - secret.len(), end, rule: Rule::UrlPassword })
}

fn ends_authority(c: char) -> bool {
    c.is_ascii_whitespace() || matches!(c, '/' | '?' | '#' | '"' | '<' | '>' | '`' | '\\')
}
