//! Passwords and tokens before the `@` of a URL, and addresses that are secrets themselves: whoever knows a webhook may
//! post to it.

use super::shapes::{is_placeholder, is_plain_word, is_words};
use super::{Rule, Span};

/// What stands before the secret part of a webhook's address.
const WEBHOOKS: [&str; 9] = [
    "hooks.slack.com/services/",
    "hooks.slack.com/workflows/",
    "hooks.slack.com/triggers/",
    "discord.com/api/webhooks/",
    "discordapp.com/api/webhooks/",
    ".webhook.office.com/webhookb2/",
    "outlook.office.com/webhook/",
    "hooks.zapier.com/hooks/catch/",
    "api.telegram.org/bot",
];
/// A part of a webhook's address counts as secret from this length on, in bytes.
const WEBHOOK_PART_BYTES_MIN: usize = 8;
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
    for webhook in WEBHOOKS {
        find_webhooks(text, webhook, spans);
    }
}

fn find_webhooks(text: &str, webhook: &str, spans: &mut Vec<Span>) {
    let mut from = 0;
    while let Some(at) = text.get(from..).and_then(|rest| rest.find(webhook)) {
        let start = from + at + webhook.len();
        let rest = text.get(start..).unwrap_or_default();
        let path = rest.get(..rest.bytes().take_while(|b| is_path_byte(*b)).count()).unwrap_or_default();
        let path = path.trim_end_matches(['.', ',', ':']);
        let telling =
            |part: &str| part.len() >= WEBHOOK_PART_BYTES_MIN && !is_words(part) && !is_plain_word(part);
        if path.split('/').any(telling) {
            spans.push(Span { start, end: start + path.len(), rule: Rule::WebhookUrl });
        }
        from = start + path.len();
    }
}

fn is_path_byte(b: u8) -> bool {
    b.is_ascii_alphanumeric()
        || matches!(b, b'/' | b'-' | b'_' | b'.' | b'~' | b'%' | b'@' | b':' | b'+' | b'=')
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
