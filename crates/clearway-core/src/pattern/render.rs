//! Alternatives to canonical text, the one spelling under which a pattern is stored and compared.
//!
//! Several alternatives are written as what they begin with in common, one brace holding the rest in
//! order, and what they end with in common. Braces never nest.

use unicode_normalization::char::canonical_combining_class;
use unicode_normalization::{IsNormalized, is_nfc_quick};

use super::scalars::Class;
use super::token::{Alternative, Segment, Token};

/// The canonical text of a plain path: itself with every special character escaped.
pub(super) fn escape(path: &str) -> String {
    let mut text = String::with_capacity(path.len() + 2);
    for scalar in path.chars() {
        push_literal(&mut text, scalar, false);
    }
    text
}

/// Whether a plain text holds a character that canonical text escapes.
pub(super) fn needs_escape(text: &str) -> bool {
    text.bytes().any(|byte| matches!(byte, b'*' | b'?' | b'[' | b']' | b'{' | b'}' | b'\\'))
}

pub(super) fn canonical_text(alternatives: &[Alternative]) -> String {
    let mut flat: Vec<Vec<Token>> = Vec::with_capacity(alternatives.len());
    for tokens in alternatives.iter().map(flatten) {
        if !flat.contains(&tokens) {
            flat.push(tokens);
        }
    }
    let [first, rest @ ..] = flat.as_slice() else { return String::new() };
    let (prefix, suffix) = common_ends(first, rest);
    let mut text = render(&first[..prefix], false);
    if !rest.is_empty() {
        text.push_str(&brace(flat.iter().map(|tokens| &tokens[prefix..tokens.len() - suffix])));
    }
    text.push_str(&render(&first[first.len() - suffix..], false));
    text
}

/// How many tokens all alternatives begin and end with in common, never ending or beginning inside a word:
/// people read `{api,ui}/x`, not `{ap,u}i/x`.
fn common_ends(first: &[Token], rest: &[Vec<Token>]) -> (usize, usize) {
    if rest.is_empty() {
        return (first.len(), 0);
    }
    let all = || std::iter::once(first).chain(rest.iter().map(Vec::as_slice));
    let longest = all().fold(first.len(), |length, other| common_prefix(&first[..length], other));
    let cuts_no_word = |&prefix: &usize| !all().any(|tokens| cuts_word(tokens, prefix));
    let prefix = (0..=longest).rev().find(cuts_no_word).unwrap_or(0);
    let longest = all().fold(first.len() - prefix, |length, other| {
        common_suffix(&first[first.len() - length..], &other[prefix..])
    });
    let cuts_no_word = |&suffix: &usize| !all().any(|tokens| cuts_word(tokens, tokens.len() - suffix));
    (prefix, (0..=longest).rev().find(cuts_no_word).unwrap_or(0))
}

fn cuts_word(tokens: &[Token], at: usize) -> bool {
    let is_word =
        |token: Option<&Token>| matches!(token, Some(Token::Literal(scalar)) if scalar.is_alphanumeric());
    at > 0 && is_word(tokens.get(at - 1)) && is_word(tokens.get(at))
}

fn brace<'a>(middles: impl Iterator<Item = &'a [Token]>) -> String {
    let mut texts: Vec<String> = middles.map(|tokens| render(tokens, true)).collect();
    texts.sort_unstable();
    format!("{{{}}}", texts.join(","))
}

fn common_prefix(left: &[Token], right: &[Token]) -> usize {
    left.iter().zip(right).take_while(|(left, right)| left == right).count()
}

fn common_suffix(left: &[Token], right: &[Token]) -> usize {
    left.iter().rev().zip(right.iter().rev()).take_while(|(left, right)| left == right).count()
}

fn flatten(alternative: &Alternative) -> Vec<Token> {
    let mut tokens = Vec::new();
    for (index, segment) in alternative.iter().enumerate() {
        if index > 0 {
            tokens.push(Token::Slash);
        }
        match segment {
            Segment::Literal(name) => tokens.extend(name.chars().map(Token::Literal)),
            Segment::Glob(own) => tokens.extend_from_slice(own),
            Segment::Globstar => tokens.push(Token::DoubleStar),
        }
    }
    tokens
}

fn render(tokens: &[Token], in_brace: bool) -> String {
    let mut text = String::with_capacity(tokens.len());
    for token in tokens {
        match token {
            Token::Slash => text.push('/'),
            Token::DoubleStar => text.push_str("**"),
            Token::Star => text.push('*'),
            Token::Any => text.push('?'),
            Token::Class(class) => push_class(&mut text, class),
            Token::Literal(scalar) => push_literal(&mut text, *scalar, in_brace),
        }
    }
    text
}

fn push_literal(text: &mut String, scalar: char, in_brace: bool) {
    let special = matches!(scalar, '*' | '?' | '[' | ']' | '{' | '}' | '\\');
    if special || (in_brace && scalar == ',') {
        text.push('\\');
    }
    text.push(scalar);
}

fn push_class(text: &mut String, class: &Class) {
    text.push_str(if class.negated { "[!" } else { "[" });
    for &(low, high) in class.members.ranges() {
        push_member(text, low);
        if high > low + 1 {
            text.push('-');
        }
        if high > low {
            push_member(text, high);
        }
    }
    text.push(']');
}

fn push_member(text: &mut String, value: u32) {
    let Some(scalar) = char::from_u32(value) else { return };
    if matches!(scalar, '\\' | '[' | ']' | '^' | '!' | '-') || may_combine(scalar) {
        text.push('\\');
    }
    text.push(scalar);
}

/// Whether NFC may join a scalar to the one before it or reorder the two: the members of a class stand
/// side by side without belonging together.
fn may_combine(scalar: char) -> bool {
    !scalar.is_ascii()
        && (canonical_combining_class(scalar) != 0
            || is_nfc_quick(std::iter::once(scalar)) != IsNormalized::Yes)
}
