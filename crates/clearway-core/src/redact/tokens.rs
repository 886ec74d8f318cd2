//! Tokens that announce themselves by a prefix, and JSON web tokens.
//!
//! A token runs as far as its alphabet goes, so nothing of a longer secret is left behind. Prefixes that also occur
//! inside words (`task-…`) or encoded data count only where a word starts.

use super::shapes::is_words;
use super::{Rule, Span};

/// Longer bodies are never ordinary words. The bound also keeps the scan linear: a body that is looked at in vain is
/// short, and a longer one is redacted and passed over.
const WORDS_BYTES_MAX: usize = 128;
/// How far back the start of a terminal colour sequence is looked for, in bytes.
const COLOUR_BYTES_MAX: usize = 16;
/// The shortest first or second part of a JSON web token, in bytes; `{"a":1}` encodes to ten.
const JWT_PART_BYTES_MIN: usize = 8;

struct Prefix {
    text: &'static str,
    body: fn(u8) -> bool,
    body_bytes_min: usize,
    /// Whether the prefix counts only at the start of a word.
    at_word_start: bool,
    rule: Rule,
}

/// A prefix found nowhere else.
const fn telling(text: &'static str, body: fn(u8) -> bool, body_bytes_min: usize, rule: Rule) -> Prefix {
    Prefix { text, body, body_bytes_min, at_word_start: false, rule }
}

/// A prefix that other words and data contain too.
const fn common(text: &'static str, body: fn(u8) -> bool, body_bytes_min: usize, rule: Rule) -> Prefix {
    Prefix { text, body, body_bytes_min, at_word_start: true, rule }
}

const PREFIXES: [Prefix; 75] = [
    common("AKIA", is_upper_alphanumeric, 16, Rule::AwsAccessKey),
    common("ASIA", is_upper_alphanumeric, 16, Rule::AwsAccessKey),
    telling("ghp_", is_word_byte, 16, Rule::GithubToken),
    telling("gho_", is_word_byte, 16, Rule::GithubToken),
    telling("ghu_", is_word_byte, 16, Rule::GithubToken),
    telling("ghs_", is_word_byte, 16, Rule::GithubToken),
    telling("ghr_", is_word_byte, 16, Rule::GithubToken),
    telling("github_pat_", is_word_byte, 16, Rule::GithubToken),
    telling("glpat-", is_base64url_or_dot, 16, Rule::GitlabToken),
    telling("xoxa-", is_base64url, 10, Rule::SlackToken),
    telling("xoxb-", is_base64url, 10, Rule::SlackToken),
    telling("xoxe-", is_base64url, 10, Rule::SlackToken),
    telling("xoxp-", is_base64url, 10, Rule::SlackToken),
    telling("xoxr-", is_base64url, 10, Rule::SlackToken),
    telling("xoxs-", is_base64url, 10, Rule::SlackToken),
    common("sk-", is_base64url, 20, Rule::ApiKey),
    common("AIza", is_base64url, 30, Rule::GoogleKey),
    // Without underscore, so that `npm_config_…` and `npm_lifecycle_…` stay readable.
    telling("npm_", is_alphanumeric, 30, Rule::NpmToken),
    telling("pypi-", is_base64url, 16, Rule::PypiToken),
    telling("sk_live_", is_word_byte, 16, Rule::StripeKey),
    telling("rk_live_", is_word_byte, 16, Rule::StripeKey),
    telling("sk_test_", is_word_byte, 16, Rule::StripeKey),
    telling("rk_test_", is_word_byte, 16, Rule::StripeKey),
    telling("whsec_", is_word_byte, 16, Rule::StripeKey),
    common("hf_", is_alphanumeric, 30, Rule::ApiKey),
    common("SG.", is_base64url_or_dot, 30, Rule::ApiKey),
    telling("ya29.", is_base64url_or_dot, 20, Rule::ApiKey),
    telling("dop_v1_", is_alphanumeric, 32, Rule::ApiKey),
    telling("glptt-", is_base64url, 16, Rule::GitlabToken),
    telling("gldt-", is_base64url, 16, Rule::GitlabToken),
    telling("glrt-", is_base64url_or_dot, 16, Rule::GitlabToken),
    telling("glcbt-", is_base64url, 16, Rule::GitlabToken),
    telling("glsoat-", is_base64url, 16, Rule::GitlabToken),
    telling("gloas-", is_base64url, 16, Rule::GitlabToken),
    telling("glagent-", is_base64url, 16, Rule::GitlabToken),
    telling("xapp-", is_base64url, 10, Rule::SlackToken),
    telling("xoxc-", is_base64url, 10, Rule::SlackToken),
    telling("xoxd-", is_base64url, 10, Rule::SlackToken),
    telling("dckr_pat_", is_base64url, 16, Rule::ApiKey),
    telling("dckr_oat_", is_base64url, 16, Rule::ApiKey),
    common("dapi", is_lower_hex, 32, Rule::ApiKey),
    telling("doo_v1_", is_alphanumeric, 32, Rule::ApiKey),
    telling("dor_v1_", is_alphanumeric, 32, Rule::ApiKey),
    common("hvs.", is_base64url, 20, Rule::ApiKey),
    common("hvb.", is_base64url, 20, Rule::ApiKey),
    telling("lin_api_", is_alphanumeric, 20, Rule::ApiKey),
    common("ntn_", is_alphanumeric, 30, Rule::ApiKey),
    telling("PMAK-", is_base64url, 20, Rule::ApiKey),
    telling("shpat_", is_alphanumeric, 20, Rule::ApiKey),
    telling("shpss_", is_alphanumeric, 20, Rule::ApiKey),
    telling("shpca_", is_alphanumeric, 20, Rule::ApiKey),
    telling("sq0atp-", is_base64url, 16, Rule::ApiKey),
    telling("sq0csp-", is_base64url, 16, Rule::ApiKey),
    common("SK", is_lower_hex, 32, Rule::ApiKey),
    common("key-", is_lower_hex, 32, Rule::ApiKey),
    common("cio", is_alphanumeric, 32, Rule::ApiKey),
    telling("rubygems_", is_lower_hex, 32, Rule::ApiKey),
    telling("GOCSPX-", is_base64url, 16, Rule::GoogleKey),
    common("sbp_", is_lower_hex, 32, Rule::ApiKey),
    telling("pscale_tkn_", is_base64url_or_dot, 16, Rule::ApiKey),
    telling("pscale_pw_", is_base64url_or_dot, 16, Rule::ApiKey),
    common("glsa_", is_word_byte, 30, Rule::ApiKey),
    common("glc_", is_base64url, 30, Rule::ApiKey),
    telling("NRAK-", is_alphanumeric, 20, Rule::ApiKey),
    telling("sntrys_", is_base64url, 20, Rule::ApiKey),
    telling("sntryu_", is_lower_hex, 32, Rule::ApiKey),
    common("gsk_", is_alphanumeric, 30, Rule::ApiKey),
    common("xai-", is_alphanumeric, 30, Rule::ApiKey),
    common("r8_", is_alphanumeric, 30, Rule::ApiKey),
    common("pplx-", is_alphanumeric, 30, Rule::ApiKey),
    telling("figd_", is_base64url, 20, Rule::ApiKey),
    common("nfp_", is_alphanumeric, 30, Rule::ApiKey),
    telling("AGE-SECRET-KEY-1", is_upper_alphanumeric, 40, Rule::PrivateKey),
    telling("ATATT3x", is_base64url, 30, Rule::ApiKey),
    common("ATBB", is_alphanumeric, 28, Rule::ApiKey),
];

/// Which bytes a prefix starts with.
const STARTS: [bool; 256] = {
    let mut starts = [false; 256];
    let mut at = 0;
    while at < PREFIXES.len() {
        starts[PREFIXES[at].text.as_bytes()[0] as usize] = true;
        at += 1;
    }
    starts
};

pub(super) fn find(text: &str, spans: &mut Vec<Span>) {
    let bytes = text.as_bytes();
    // A run that holds no web token from its first start holds none from a later one; skipping it keeps the scan
    // linear on `eyJ-eyJ-eyJ-…`.
    let (mut at, mut last_end, mut jwt_from) = (0, 0, 0);
    while at < bytes.len() {
        let starts_word = at == last_end || starts_word(bytes, at);
        let mut found = prefixed_at(text, at, starts_word);
        if found.is_none() && starts_word && at >= jwt_from && bytes_from(bytes, at).starts_with(b"eyJ") {
            found = jwt_at(bytes, at);
            jwt_from = run_end(bytes, at, is_base64url);
        }
        match found {
            Some(span) => {
                spans.push(span);
                last_end = span.end;
                at = span.end;
            }
            None => at += 1,
        }
    }
}

fn prefixed_at(text: &str, start: usize, starts_word: bool) -> Option<Span> {
    let bytes = text.as_bytes();
    let here = bytes_from(bytes, start);
    // Most bytes start no prefix; one look spares the comparisons.
    if !here.first().is_some_and(|first| STARTS[usize::from(*first)]) {
        return None;
    }
    let prefix = PREFIXES.iter().find(|prefix| here.starts_with(prefix.text.as_bytes()))?;
    if prefix.at_word_start && !starts_word {
        return None;
    }
    let body_start = start + prefix.text.len();
    let end = run_end(bytes, body_start, prefix.body);
    let body = text.get(body_start..end)?;
    let words = body.len() <= WORDS_BYTES_MAX && is_words(body);
    let secret = body.len() >= prefix.body_bytes_min && !words;
    secret.then_some(Span { start, end, rule: prefix.rule })
}

/// Two parts are enough: a token cut before its signature still shows its claims. Five occur when encrypted.
fn jwt_at(bytes: &[u8], start: usize) -> Option<Span> {
    let first_end = part_end(bytes, start)?;
    let second_start = dot(bytes, first_end)?;
    let mut end = part_end(bytes, second_start)?;
    while let Some(next) = dot(bytes, end) {
        let next_end = run_end(bytes, next, is_base64url);
        if next_end == next {
            break;
        }
        end = next_end;
    }
    Some(Span { start, end, rule: Rule::Jwt })
}

fn part_end(bytes: &[u8], start: usize) -> Option<usize> {
    let end = run_end(bytes, start, is_base64url);
    (end - start >= JWT_PART_BYTES_MIN).then_some(end)
}

fn dot(bytes: &[u8], at: usize) -> Option<usize> {
    (bytes.get(at) == Some(&b'.')).then_some(at + 1)
}

/// Whether no letter or digit precedes, or only one that belongs to an escape: `\n` in quoted text, `%3D` in a URL,
/// the end of a terminal colour.
fn starts_word(bytes: &[u8], at: usize) -> bool {
    match bytes.get(..at).unwrap_or_default() {
        [.., b'\\', b'n' | b'r' | b't'] => true,
        [.., b'%', high, low] if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => true,
        [before @ .., b'm'] => ends_in_colour(before),
        [.., last] => !last.is_ascii_alphanumeric(),
        [] => true,
    }
}

/// `[31` or `[1;38;5;9` of a colour sequence, whose final `m` is already gone.
fn ends_in_colour(before: &[u8]) -> bool {
    let numbers = |b: &&u8| b.is_ascii_digit() || **b == b';';
    before.iter().rev().take(COLOUR_BYTES_MAX).find(|b| !numbers(b)) == Some(&b'[')
}

fn run_end(bytes: &[u8], start: usize, belongs: fn(u8) -> bool) -> usize {
    start + bytes_from(bytes, start).iter().take_while(|b| belongs(**b)).count()
}

fn bytes_from(bytes: &[u8], start: usize) -> &[u8] {
    bytes.get(start..).unwrap_or_default()
}

fn is_alphanumeric(b: u8) -> bool {
    b.is_ascii_alphanumeric()
}

fn is_upper_alphanumeric(b: u8) -> bool {
    b.is_ascii_uppercase() || b.is_ascii_digit()
}

fn is_lower_hex(b: u8) -> bool {
    matches!(b, b'0'..=b'9' | b'a'..=b'f')
}

fn is_word_byte(b: u8) -> bool {
    b.is_ascii_alphanumeric() || b == b'_'
}

fn is_base64url(b: u8) -> bool {
    b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-')
}

fn is_base64url_or_dot(b: u8) -> bool {
    is_base64url(b) || b == b'.'
}
