//! `Cookie` and `Set-Cookie` headers, whose pairs are sessions as often as not.
//!
//! A header is told from prose (`cookie: the banner`) by its first pair: a name, `=`, a value.

use super::assignments::{after_separator, match_name, quote_at};
use super::{Rule, Span};

const COOKIE: &str = "cookie";
/// The longest name of a first cookie that is looked at, in bytes; it keeps a scan in vain short.
const NAME_BYTES_MAX: usize = 128;

pub(super) fn find(text: &str, spans: &mut Vec<Span>) {
    let mut at = 0;
    while at < text.len() {
        match cookies_at(text, at) {
            Some(span) => {
                at = span.end;
                spans.push(span);
            }
            None => at += 1,
        }
    }
}

fn cookies_at(text: &str, at: usize) -> Option<Span> {
    let bytes = text.as_bytes();
    let given = after_separator(bytes, match_name(bytes, at, COOKIE)?).filter(|given| !given.by_equals)?;
    let start = quote_at(bytes, given.start).map_or(given.start, |(_, after)| after);
    let rest = bytes.get(start..)?;
    let name_bytes = rest.iter().take(NAME_BYTES_MAX).take_while(|b| is_name(**b)).count();
    let has_value =
        rest.get(name_bytes) == Some(&b'=') && rest.get(name_bytes + 1).is_some_and(|b| !ends(*b));
    (name_bytes > 0 && has_value).then(|| Span { start, end: start + pairs_bytes(rest), rule: Rule::Cookie })
}

/// Pairs follow each other after a semicolon and a blank; a blank after anything else ends the header.
fn pairs_bytes(rest: &[u8]) -> usize {
    let mut previous = b';';
    for (at, byte) in rest.iter().copied().enumerate() {
        let blank = matches!(byte, b' ' | b'\t');
        if (ends(byte) && !blank) || (blank && !matches!(previous, b';' | b' ' | b'\t')) {
            return at;
        }
        previous = byte;
    }
    rest.len()
}

fn ends(byte: u8) -> bool {
    byte.is_ascii_whitespace() || matches!(byte, b'"' | b'\'' | b'`' | b'\\')
}

fn is_name(byte: u8) -> bool {
    byte.is_ascii_graphic() && !ends(byte) && !matches!(byte, b'=' | b';' | b',' | b'[' | b']' | b'<' | b'{')
}
