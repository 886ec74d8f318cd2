//! Secrets taken out of free text before it is digested, stored, logged or sent.
//!
//! One versioned rule list for every field. It errs towards redacting: a lost word costs a question, a stored secret
//! costs a rotation. A placeholder names the rule and carries nothing of the secret, neither prefix nor length nor
//! hash. The scanners are written by hand, read the text once each and never fail. This module does not try to find
//! secrets without a recognisable shape, such as a bare random string; hashes and ids look the same.
//!
//! Start at [`redact`]; each submodule is one family of shapes.

mod assignments;
mod basic;
mod commands;
mod cookies;
mod private_keys;
mod shapes;
#[cfg(test)]
mod tests;
mod tokens;
mod urls;
mod variables;

use std::borrow::Cow;

/// Raised whenever a rule is added or changed, and recorded beside what was redacted with it.
pub const RULES_VERSION: u32 = 4;

/// A placeholder can uncover a word boundary that a second look then recognises. Every text seen so far is stable
/// after two passes; the bound keeps the work linear whatever comes.
const PASSES_MAX: usize = 4;

/// Replaces every recognised secret by `[redacted:<rule>]`; borrows the text where there is none.
///
/// Characters that nobody sees do not hide a secret: a text with one inside loses all of them.
pub fn redact(text: &str) -> Cow<'_, str> {
    let visible = replaced(text);
    if !visible.contains(is_invisible) {
        return visible;
    }
    let joined: String = visible.chars().filter(|c| !is_invisible(*c)).collect();
    match replaced(&joined) {
        Cow::Borrowed(_) => visible,
        Cow::Owned(redacted) => Cow::Owned(redacted),
    }
}

fn is_invisible(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2060}'..='\u{2064}' | '\u{feff}')
}

fn replaced(text: &str) -> Cow<'_, str> {
    let mut current = Cow::Borrowed(text);
    for _ in 0..PASSES_MAX {
        let spans = merged(find_spans(&current));
        if spans.is_empty() {
            break;
        }
        current = Cow::Owned(replace_spans(&current, &spans));
    }
    current
}

/// The shapes of secrets; the name is what the placeholder shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rule {
    AwsAccessKey,
    GithubToken,
    GitlabToken,
    SlackToken,
    ApiKey,
    GoogleKey,
    NpmToken,
    PypiToken,
    StripeKey,
    Jwt,
    PrivateKey,
    Authorization,
    UrlPassword,
    WebhookUrl,
    Cookie,
    Password,
    Assignment,
}

impl Rule {
    const ALL: [Rule; 17] = [
        Rule::AwsAccessKey,
        Rule::GithubToken,
        Rule::GitlabToken,
        Rule::SlackToken,
        Rule::ApiKey,
        Rule::GoogleKey,
        Rule::NpmToken,
        Rule::PypiToken,
        Rule::StripeKey,
        Rule::Jwt,
        Rule::PrivateKey,
        Rule::Authorization,
        Rule::UrlPassword,
        Rule::WebhookUrl,
        Rule::Cookie,
        Rule::Password,
        Rule::Assignment,
    ];

    fn name(self) -> &'static str {
        match self {
            Rule::AwsAccessKey => "aws-access-key",
            Rule::GithubToken => "github-token",
            Rule::GitlabToken => "gitlab-token",
            Rule::SlackToken => "slack-token",
            Rule::ApiKey => "api-key",
            Rule::GoogleKey => "google-key",
            Rule::NpmToken => "npm-token",
            Rule::PypiToken => "pypi-token",
            Rule::StripeKey => "stripe-key",
            Rule::Jwt => "jwt",
            Rule::PrivateKey => "private-key",
            Rule::Authorization => "authorization",
            Rule::UrlPassword => "url-password",
            Rule::WebhookUrl => "webhook-url",
            Rule::Cookie => "cookie",
            Rule::Password => "password",
            Rule::Assignment => "assignment",
        }
    }
}

/// Bytes `start..end` of the text are a secret. Both ends lie on character boundaries because every scanner stops
/// only at ASCII bytes or at the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Span {
    start: usize,
    end: usize,
    rule: Rule,
}

fn find_spans(text: &str) -> Vec<Span> {
    let mut spans = Vec::new();
    tokens::find(text, &mut spans);
    private_keys::find(text, &mut spans);
    urls::find(text, &mut spans);
    assignments::find(text, &mut spans);
    basic::find(text, &mut spans);
    variables::find(text, &mut spans);
    cookies::find(text, &mut spans);
    commands::find(text, &mut spans);
    spans
}

/// Joins overlapping spans, which keep the rule of the one that starts first.
///
/// Inside the password of a URL an assignment does not count: it runs to the next blank and would take host and path
/// along, as in `https://x-access-token:…@host/path`.
fn merged(mut spans: Vec<Span>) -> Vec<Span> {
    spans.sort_by_key(|span| (span.start, span.rule != Rule::UrlPassword, std::cmp::Reverse(span.end)));
    let mut joined: Vec<Span> = Vec::with_capacity(spans.len());
    for span in spans {
        match joined.last_mut() {
            Some(last) if span.start < last.end => {
                if (last.rule, span.rule) != (Rule::UrlPassword, Rule::Assignment) {
                    last.end = last.end.max(span.end);
                }
            }
            _ => joined.push(span),
        }
    }
    joined
}

fn replace_spans(text: &str, spans: &[Span]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut copied_to = 0;
    for span in spans {
        out.push_str(text.get(copied_to..span.start).unwrap_or_default());
        out.push_str("[redacted:");
        out.push_str(span.rule.name());
        out.push(']');
        copied_to = span.end;
    }
    out.push_str(text.get(copied_to..).unwrap_or_default());
    out
}
