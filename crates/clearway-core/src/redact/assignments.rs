//! Values given to names such as `password` or `api_key`, and `Authorization` headers.
//!
//! The name decides, not the value: `password=…`, `"token": "…"`, `DB_PASSWORD: …`, `--secret …`. Where a name is also
//! an everyday word of programming (`token: handle expiry`), a single plain word after a colon is left alone, because no
//! issued token looks like one. In a sentence (`the password is …`) a word is left alone after any name.

use super::shapes::{is_placeholder, is_plain_word, is_prose, is_words};
use super::{Rule, Span};

/// Blanks allowed on either side of `=` or `:`, in bytes.
const BLANKS_MAX: usize = 8;
/// Backslashes allowed before a quote; a quote within quoted JSON within a shell string has three.
const BACKSLASHES_MAX: usize = 4;
/// What a sentence calls a password counts from this length on, in bytes: `the password is 12 characters`.
const SAID_BYTES_MIN: usize = 4;
/// A `Bearer` value outside a header counts from this length on, in bytes.
const BEARER_BYTES_MIN: usize = 16;

struct Name {
    /// An underscore stands for `_`, `-`, a blank or nothing.
    text: &'static str,
    /// Whether a plain word after a colon is prose rather than a secret.
    everyday: bool,
}

const NAMES: [Name; 14] = [
    Name { text: "password", everyday: false },
    Name { text: "passwd", everyday: false },
    Name { text: PASSPHRASE, everyday: false },
    Name { text: "passwort", everyday: false },
    Name { text: "kennwort", everyday: false },
    Name { text: "mot_de_passe", everyday: false },
    Name { text: "secret", everyday: false },
    Name { text: "secret_key", everyday: true },
    Name { text: "token", everyday: true },
    Name { text: "api_key", everyday: true },
    Name { text: "access_key", everyday: true },
    Name { text: "account_key", everyday: true },
    Name { text: "private_key", everyday: true },
    Name { text: "bearer", everyday: true },
];
/// The one secret that is several words.
const PASSPHRASE: &str = "passphrase";
const VERBS: [&str; 4] = ["is", "was", "ist", "lautet"];
const AUTHORIZATION: &str = "authorization";
const BEARER: &str = "bearer";
/// What the password of a URL became; the host behind it is no secret.
const URL_PASSWORD_MARK: &[u8] = b"[redacted:url-password]@";
const SCHEMES: [&str; 6] = ["bearer", "basic", "token", "digest", "apikey", "negotiate"];

pub(super) fn find(text: &str, spans: &mut Vec<Span>) {
    let mut at = 0;
    while at < text.len() {
        match span_at(text, at) {
            Some(span) => {
                at = span.end;
                spans.push(span);
            }
            None => at += 1,
        }
    }
}

fn span_at(text: &str, at: usize) -> Option<Span> {
    let first = text.as_bytes().get(at)?.to_ascii_lowercase();
    match first {
        b'a' => authorization_at(text, at).or_else(|| assignment_at(text, at)),
        b'b' => bearer_at(text, at).or_else(|| assignment_at(text, at)),
        b'k' | b'm' | b'p' | b's' | b't' => assignment_at(text, at),
        _ => None,
    }
}

fn assignment_at(text: &str, at: usize) -> Option<Span> {
    let bytes = text.as_bytes();
    NAMES.iter().find_map(|name| {
        let name_end = match_name(bytes, at, name.text)?;
        let given = after_separator(bytes, name_end)
            .or_else(|| after_flag(bytes, at, name_end))
            .or_else(|| after_verb(bytes, name_end))?;
        if bytes.get(given.start..)?.starts_with(URL_PASSWORD_MARK) {
            return None;
        }
        let mut value = value_at(text, given.start)?;
        if name.text == PASSPHRASE && !given.by_verb && !value.quoted {
            value.text = line_from(text, value.start);
        }
        let prose = match given.by_verb {
            true => value.text.len() < SAID_BYTES_MIN || is_prose(value.text),
            false => name.everyday && !given.by_equals && !value.quoted && is_plain_word(value.text),
        };
        (!prose && !is_placeholder(value.text)).then(|| value.span(Rule::Assignment))
    })
}

fn authorization_at(text: &str, at: usize) -> Option<Span> {
    let bytes = text.as_bytes();
    let given = after_separator(bytes, match_name(bytes, at, AUTHORIZATION)?)?;
    let value = match after_scheme(bytes, given.start) {
        Some((start, quote)) => value_within(text, start, quote)?,
        None => value_at(text, given.start).filter(|value| !is_plain_word(value.text))?,
    };
    (!is_placeholder(value.text)).then(|| value.span(Rule::Authorization))
}

/// `Bearer …` outside an `Authorization` header, as in a custom header or a log line.
fn bearer_at(text: &str, at: usize) -> Option<Span> {
    let bytes = text.as_bytes();
    let start = blanks_after(bytes, match_name(bytes, at, BEARER)?)?;
    let value = value_at(text, start)?;
    let secret = value.text.len() >= BEARER_BYTES_MIN && !is_words(value.text) && !is_plain_word(value.text);
    (secret && !is_placeholder(value.text)).then(|| value.span(Rule::Authorization))
}

pub(super) fn match_name(bytes: &[u8], at: usize, name: &str) -> Option<usize> {
    let mut end = at;
    for expected in name.bytes() {
        let actual = bytes.get(end).copied();
        if expected == b'_' {
            end += usize::from(matches!(actual, Some(b'_' | b'-' | b' ')));
        } else if actual.is_some_and(|b| b.eq_ignore_ascii_case(&expected)) {
            end += 1;
        } else {
            return None;
        }
    }
    Some(end)
}

pub(super) struct Given {
    pub(super) start: usize,
    pub(super) by_equals: bool,
    /// Whether a sentence gives the value: `the password is …`.
    by_verb: bool,
}

/// Reads `=`, `:`, `:=` or `=>` after a name and its closing quote; `==` compares and `::` is a path.
pub(super) fn after_separator(bytes: &[u8], name_end: usize) -> Option<Given> {
    let at = skip_blanks(bytes, after_closing(bytes, name_end));
    let (start, by_equals) = match (bytes.get(at)?, bytes.get(at + 1)) {
        (b'=', Some(b'=' | b'~')) | (b':', Some(b':')) => return None,
        (b'=', Some(b'>')) | (b':', Some(b'=')) => (at + 2, true),
        (b'=', _) => (at + 1, true),
        (b':', _) => (at + 1, false),
        _ => return None,
    };
    Some(Given { start: skip_blanks(bytes, start), by_equals, by_verb: false })
}

/// A command-line flag gives its value after a blank: `--password hunter2`.
fn after_flag(bytes: &[u8], name_start: usize, name_end: usize) -> Option<Given> {
    let before = bytes.get(..name_start)?;
    let is_flag_byte = |b: &&u8| b.is_ascii_alphanumeric() || matches!(**b, b'-' | b'_');
    // A flag is short, so looking back a bounded way is enough and keeps the scan linear.
    let lead = before.iter().rev().take(FLAG_BYTES_MAX).take_while(is_flag_byte).count();
    if !before.get(name_start - lead..)?.starts_with(b"--") {
        return None;
    }
    let start = blanks_after(bytes, name_end)?;
    (bytes.get(start) != Some(&b'-')).then_some(Given { start, by_equals: false, by_verb: false })
}

/// A sentence gives its value after a verb: `the password is hunter2`.
fn after_verb(bytes: &[u8], name_end: usize) -> Option<Given> {
    let verb_start = blanks_after(bytes, name_end)?;
    let start = VERBS.iter().find_map(|verb| blanks_after(bytes, match_name(bytes, verb_start, verb)?))?;
    Some(Given { start, by_equals: false, by_verb: true })
}

/// The longest part of a flag before the name that is looked at, in bytes.
const FLAG_BYTES_MAX: usize = 32;

/// Skips `"`, `\"`, `"]` after a name. A lone `]` is no closing: our own placeholders end in one.
fn after_closing(bytes: &[u8], at: usize) -> usize {
    match quote_at(bytes, at) {
        Some((_, after)) => after + usize::from(bytes.get(after) == Some(&b']')),
        None => at,
    }
}

/// A quote and the position after it, with the backslashes that escape it.
pub(super) fn quote_at(bytes: &[u8], at: usize) -> Option<(Quote, usize)> {
    let rest = bytes.get(at..)?;
    let backslashes = rest.iter().take(BACKSLASHES_MAX).take_while(|b| **b == b'\\').count();
    let mark = *rest.get(backslashes).filter(|b| matches!(b, b'"' | b'\'' | b'`'))?;
    Some((Quote { mark, escaped: backslashes > 0 }, at + backslashes + 1))
}

#[derive(Clone, Copy)]
pub(super) struct Quote {
    mark: u8,
    escaped: bool,
}

fn after_scheme(bytes: &[u8], at: usize) -> Option<(usize, Option<Quote>)> {
    let (quote, start) = quote_at(bytes, at).map_or((None, at), |(quote, after)| (Some(quote), after));
    let scheme_end = SCHEMES.iter().find_map(|scheme| match_name(bytes, start, scheme))?;
    Some((blanks_after(bytes, scheme_end)?, quote))
}

struct Value<'t> {
    text: &'t str,
    start: usize,
    quoted: bool,
}

impl Value<'_> {
    fn span(&self, rule: Rule) -> Span {
        Span { start: self.start, end: self.start + self.text.len(), rule }
    }
}

fn value_at(text: &str, at: usize) -> Option<Value<'_>> {
    match quote_at(text.as_bytes(), at) {
        Some((quote, start)) => value_within(text, start, Some(quote)),
        None => value_within(text, at, None),
    }
}

fn value_within(text: &str, start: usize, quote: Option<Quote>) -> Option<Value<'_>> {
    let rest = text.get(start..)?;
    let value = match quote {
        Some(quote) => rest.get(..quoted_bytes(rest.as_bytes(), quote))?,
        None => bare_value(rest),
    };
    (!value.is_empty()).then_some(Value { text: value, start, quoted: quote.is_some() })
}

/// To the closing quote, or to the end of the line where it is missing.
fn quoted_bytes(rest: &[u8], quote: Quote) -> usize {
    let mut escaping = false;
    for (at, byte) in rest.iter().copied().enumerate() {
        if byte == b'\n' || (byte == quote.mark && !escaping) {
            return at;
        }
        // Within escaped quotes the first backslash already belongs to the closing quote.
        if quote.escaped && byte == b'\\' {
            return at;
        }
        escaping = byte == b'\\' && !escaping;
    }
    rest.len()
}

/// To the end of the line.
fn line_from(text: &str, start: usize) -> &str {
    text.get(start..).and_then(|rest| rest.lines().next()).unwrap_or_default().trim_end()
}

/// To the next blank, whatever it holds: a password may contain commas, ampersands and quotes. Only closing
/// punctuation at its end stays readable.
pub(super) fn bare_value(rest: &str) -> &str {
    let end = rest.find(|c: char| c.is_ascii_whitespace()).unwrap_or(rest.len());
    rest.get(..end).unwrap_or_default().trim_end_matches(['"', '\'', '`', ',', ';', ')', '.'])
}

pub(super) fn blanks_after(bytes: &[u8], at: usize) -> Option<usize> {
    let after = skip_blanks(bytes, at);
    (after > at).then_some(after)
}

fn skip_blanks(bytes: &[u8], at: usize) -> usize {
    let rest = bytes.get(at..).unwrap_or_default();
    at + rest.iter().take(BLANKS_MAX).take_while(|b| matches!(b, b' ' | b'\t')).count()
}
