//! PEM private key blocks, whole or cut off at either end.

use super::{Rule, Span};

const BEGIN: &str = "-----BEGIN ";
const END: &str = "-----END ";
const DASHES: &str = "-----";
/// What makes a PEM label a private one; certificates and public keys stay.
const PRIVATE: &str = "PRIVATE KEY";
/// The longest PEM label that is looked at, in bytes.
const LABEL_BYTES_MAX: usize = 64;
/// A word of base64 before an orphaned end line counts as key material from this length on, in bytes.
const MATERIAL_BYTES_MIN: usize = 16;

pub(super) fn find(text: &str, spans: &mut Vec<Span>) {
    let mut from = 0;
    while let Some(mark) = next_mark(text, from) {
        let Some(label_end) = private_label_end(text, mark) else {
            from = mark.label_start;
            continue;
        };
        let span = if mark.begins {
            Span { start: mark.start, end: block_end(text, label_end), rule: Rule::PrivateKey }
        } else {
            let start = material_start(text, from, mark.start);
            Span { start, end: after_dashes(text, label_end), rule: Rule::PrivateKey }
        };
        from = span.end;
        spans.push(span);
    }
}

#[derive(Clone, Copy)]
struct Mark {
    start: usize,
    label_start: usize,
    begins: bool,
}

fn next_mark(text: &str, from: usize) -> Option<Mark> {
    let rest = text.get(from..)?;
    let mut searched = 0;
    while let Some(found) = rest.get(searched..)?.find(DASHES) {
        let start = from + searched + found;
        let here = text.get(start..)?;
        if here.starts_with(BEGIN) {
            return Some(Mark { start, label_start: start + BEGIN.len(), begins: true });
        }
        if here.starts_with(END) {
            return Some(Mark { start, label_start: start + END.len(), begins: false });
        }
        // One byte on, not five: six dashes may hide a mark behind the first.
        searched += found + 1;
    }
    None
}

fn private_label_end(text: &str, mark: Mark) -> Option<usize> {
    let rest = text.get(mark.label_start..)?;
    let is_label = |b: u8| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b' ';
    let label_bytes = rest.bytes().take(LABEL_BYTES_MAX).take_while(|b| is_label(*b)).count();
    let private = rest.get(..label_bytes)?.contains(PRIVATE);
    private.then_some(mark.label_start + label_bytes)
}

/// A block without its end line is a cut-off key: everything to the end of the text goes.
fn block_end(text: &str, label_end: usize) -> usize {
    let end_label =
        text.get(label_end..).and_then(|rest| rest.find(END)).map(|at| label_end + at + END.len());
    let Some(label_start) = end_label else { return text.len() };
    let rest = text.get(label_start..).unwrap_or_default();
    match rest.find(DASHES) {
        Some(at) if at <= LABEL_BYTES_MAX => label_start + at + DASHES.len(),
        _ => text.len(),
    }
}

fn after_dashes(text: &str, label_end: usize) -> usize {
    let closed = text.get(label_end..).is_some_and(|rest| rest.starts_with(DASHES));
    if closed { label_end + DASHES.len() } else { label_end }
}

/// Walks back from an end line without a begin line over the words of base64 before it. The last line of a key may
/// be short, so the nearest word always counts.
fn material_start(text: &str, floor: usize, end_mark: usize) -> usize {
    let before = text.get(floor..end_mark).unwrap_or_default();
    let (mut start, mut nearest) = (end_mark, true);
    let mut rest = before.trim_end();
    while let Some(word) = rest.rsplit(|c: char| c.is_ascii_whitespace()).next() {
        let material = word.bytes().all(is_base64) && (nearest || word.len() >= MATERIAL_BYTES_MIN);
        if word.is_empty() || !material {
            break;
        }
        let word_start = rest.len() - word.len();
        start = floor + word_start;
        rest = rest.get(..word_start).unwrap_or_default().trim_end();
        nearest = false;
    }
    start
}

/// A backslash belongs to keys quoted in JSON, where line ends are written `\n`.
fn is_base64(b: u8) -> bool {
    b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'=' | b'\\')
}
