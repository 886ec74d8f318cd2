//! `Basic …` outside an `Authorization` header: a user and a password in base64.
//!
//! The word alone says nothing (`basic troubleshooting`), so what follows has to decode to something with a colon.

use super::assignments::{blanks_after, match_name};
use super::{Rule, Span};

const BASIC: &str = "basic";

pub(super) fn find(text: &str, spans: &mut Vec<Span>) {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let found =
            match_name(bytes, at, BASIC).and_then(|end| credentials_at(bytes, blanks_after(bytes, end)?));
        at = found.map_or(at + 1, |span| span.end);
        spans.extend(found);
    }
}

fn credentials_at(bytes: &[u8], start: usize) -> Option<Span> {
    let rest = bytes.get(start..)?;
    let letters = rest.iter().take_while(|b| sextet(**b).is_some()).count();
    let padding = rest.iter().skip(letters).take_while(|b| **b == b'=').count();
    let hides_a_pair = names_a_user_and_a_password(rest.get(..letters)?);
    hides_a_pair.then_some(Span { start, end: start + letters + padding, rule: Rule::Authorization })
}

/// Printable throughout, with a colon that is not at the beginning. No word of a language decodes to that.
fn names_a_user_and_a_password(base64: &[u8]) -> bool {
    let sextets: Vec<u8> = base64.iter().filter_map(|b| sextet(*b)).collect();
    let decoded: Vec<u8> = sextets.chunks(4).flat_map(octets).collect();
    let printable = |b: &u8| *b >= b' ' && *b != 0x7f;
    decoded.iter().skip(1).any(|b| *b == b':') && decoded.iter().all(printable)
}

fn octets(chunk: &[u8]) -> Vec<u8> {
    let pair = |pair: &[u8], shift: u32| match pair {
        [high, low] => Some((high << shift) | (low >> (6 - shift))),
        _ => None,
    };
    chunk.windows(2).zip([2, 4, 6]).filter_map(|(two, shift)| pair(two, shift)).collect()
}

fn sextet(letter: u8) -> Option<u8> {
    match letter {
        b'A'..=b'Z' => Some(letter - b'A'),
        b'a'..=b'z' => Some(letter - b'a' + 26),
        b'0'..=b'9' => Some(letter - b'0' + 52),
        b'+' => Some(62),
        b'/' => Some(63),
        _ => None,
    }
}
