//! Tree to alternatives: braces expanded as if each alternative had been written alone, then each one
//! brought to normal form.
//!
//! Because every alternative is resolved by itself, `{,x}/y` is refused (its first alternative is the
//! absolute `/y`), `a/{,b}/c` is `a/c` and `a/b/c`, and `src{,/}` is `src` and `src/**`.

use super::error::{ALTERNATIVES_MAX, EXPANDED_TOKENS_MAX, PatternError, PatternErrorKind, WILDCARDS_MAX};
use super::lex::{Located, Node};
use super::token::{Alternative, Segment, Token, is_reserved_name, reserved_of_length};
use crate::path::compose;

/// Every alternative of a tree in normal form; at least one, duplicates not removed.
pub(super) fn expand(nodes: &[Node]) -> Result<Vec<Alternative>, PatternError> {
    if count(nodes) > ALTERNATIVES_MAX {
        let kind = PatternErrorKind::TooManyAlternatives { alternatives_max: ALTERNATIVES_MAX };
        return Err(kind.at(first_brace(nodes)));
    }
    let mut flat = vec![Vec::new()];
    append(&mut flat, nodes);
    let alternatives: Vec<Alternative> = flat.into_iter().map(normal_form).collect::<Result<_, _>>()?;
    if alternatives.iter().map(cost).sum::<usize>() > EXPANDED_TOKENS_MAX {
        return Err(PatternErrorKind::TooManyTokens { tokens_max: EXPANDED_TOKENS_MAX }.at(0));
    }
    Ok(alternatives)
}

fn count(nodes: &[Node]) -> usize {
    let of = |node: &Node| match node {
        Node::Leaf(_) => 1,
        Node::Branch(branches) => branches.iter().fold(0usize, |sum, nodes| sum.saturating_add(count(nodes))),
    };
    nodes.iter().fold(1usize, |product, node| product.saturating_mul(of(node)))
}

/// The byte position of the first brace: one before the first thing written inside it, or the start.
fn first_brace(nodes: &[Node]) -> usize {
    let mut end = 0;
    for node in nodes {
        match node {
            Node::Leaf(located) => end = located.position + 1,
            Node::Branch(_) => return end,
        }
    }
    end
}

/// Appends what the nodes stand for to every alternative so far.
fn append(alternatives: &mut Vec<Vec<Located>>, nodes: &[Node]) {
    for node in nodes {
        match node {
            Node::Leaf(located) => {
                for alternative in alternatives.iter_mut() {
                    alternative.push(located.clone());
                }
            }
            Node::Branch(branches) => *alternatives = fork(alternatives, branches),
        }
    }
}

fn fork(alternatives: &[Vec<Located>], branches: &[Vec<Node>]) -> Vec<Vec<Located>> {
    let mut forked = Vec::new();
    for branch in branches {
        let mut copies = alternatives.to_vec();
        append(&mut copies, branch);
        forked.append(&mut copies);
    }
    forked
}

fn normal_form(mut flat: Vec<Located>) -> Result<Alternative, PatternError> {
    if let Some(first) = flat.first()
        && first.token == Token::Slash
    {
        return Err(PatternErrorKind::Absolute.at(first.position));
    }
    let end = flat.last().map_or(0, |located| located.position);
    if flat.last().is_some_and(|located| located.token == Token::Slash) {
        flat.push(Located { token: Token::DoubleStar, position: end });
    }
    check_wildcards(&flat)?;
    let mut segments = resolve(&flat)?;
    if segments.is_empty() {
        return Err(PatternErrorKind::Empty.at(end));
    }
    order_globstars(&mut segments);
    Ok(segments.into_boxed_slice())
}

fn check_wildcards(flat: &[Located]) -> Result<(), PatternError> {
    match flat.iter().filter(|located| located.token.is_wildcard()).nth(WILDCARDS_MAX) {
        Some(excess) => {
            Err(PatternErrorKind::TooManyWildcards { wildcards_max: WILDCARDS_MAX }.at(excess.position))
        }
        None => Ok(()),
    }
}

/// Splits at separators and resolves empty, `.` and `..` segments lexically.
fn resolve(flat: &[Located]) -> Result<Vec<Segment>, PatternError> {
    let mut segments: Vec<(Segment, usize)> = Vec::new();
    for piece in flat.split(|located| located.token == Token::Slash) {
        let Some(position) = piece.first().map(|located| located.position) else { continue };
        match segment(piece) {
            Segment::Literal(name) if &*name == "." => {}
            Segment::Literal(name) if &*name == ".." => match segments.pop() {
                Some((Segment::Literal(_), _)) => {}
                Some(_) => return Err(PatternErrorKind::ParentOfWildcard.at(position)),
                None => return Err(PatternErrorKind::Escapes.at(position)),
            },
            segment => segments.push((segment, position)),
        }
    }
    match segments.iter().find(|(segment, _)| names_only_reserved(segment)) {
        Some((_, position)) => Err(PatternErrorKind::GitDirectory.at(*position)),
        None => Ok(segments.into_iter().map(|(segment, _)| segment).collect()),
    }
}

fn segment(piece: &[Located]) -> Segment {
    if let [Located { token: Token::DoubleStar, .. }] = piece {
        return Segment::Globstar;
    }
    let mut tokens: Vec<Token> = Vec::with_capacity(piece.len());
    for located in piece {
        push_in_order(&mut tokens, located.token.clone());
    }
    compose_literals(&mut tokens);
    let name: Option<String> = tokens.iter().map(literal).collect();
    match name {
        Some(name) => Segment::Literal(name.into_boxed_str()),
        None => Segment::Glob(tokens.into_boxed_slice()),
    }
}

fn literal(token: &Token) -> Option<char> {
    match token {
        Token::Literal(scalar) => Some(*scalar),
        _ => None,
    }
}

/// Appends a token so that each run of `*` and `?` ends up as its `?`s followed by at most one `*`.
fn push_in_order(tokens: &mut Vec<Token>, token: Token) {
    let token = if token == Token::DoubleStar { Token::Star } else { token };
    let after_star = tokens.last().is_some_and(Token::is_star);
    match token {
        Token::Star if after_star => {}
        Token::Any if after_star => tokens.insert(tokens.len() - 1, Token::Any),
        _ => tokens.push(token),
    }
}

/// Expansion may join a letter and a mark that were apart in the text: composes them as a path would.
fn compose_literals(tokens: &mut Vec<Token>) {
    if tokens.iter().filter_map(literal).all(|scalar| scalar.is_ascii()) {
        return;
    }
    let mut composed = Vec::with_capacity(tokens.len());
    for run in tokens.chunk_by(|left, right| literal(left).is_some() && literal(right).is_some()) {
        let text: String = run.iter().filter_map(literal).collect();
        if text.is_empty() {
            composed.extend_from_slice(run);
        } else {
            composed.extend(compose(&text).chars().map(Token::Literal));
        }
    }
    *tokens = composed;
}

/// Whether every name a segment matches is one that no canonical path has.
fn names_only_reserved(segment: &Segment) -> bool {
    match segment {
        Segment::Literal(name) => is_reserved_name(name),
        Segment::Globstar => false,
        Segment::Glob(tokens) if tokens.iter().any(Token::is_star) => false,
        Segment::Glob(tokens) => reserved_of_length(tokens.len()).is_some_and(|reserved| {
            tokens.iter().zip(reserved).all(|(token, avoid)| token.common(&Token::Any, avoid).is_none())
        }),
    }
}

/// Rewrites each run of `**` and `*` segments that holds a `**` as one `**` followed by its `*`s, because
/// `*/**` and `**/*` are the same paths.
fn order_globstars(segments: &mut Vec<Segment>) {
    let is_wide = |segment: &Segment| segment.is_globstar() || segment.is_lone_star();
    let mut ordered = Vec::with_capacity(segments.len());
    for run in segments.chunk_by(|left, right| is_wide(left) && is_wide(right)) {
        if run.iter().any(Segment::is_globstar) {
            ordered.push(Segment::Globstar);
        }
        ordered.extend(run.iter().filter(|segment| !segment.is_globstar()).cloned());
    }
    *segments = ordered;
}

/// What comparing an alternative may cost, in tokens.
fn cost(alternative: &Alternative) -> usize {
    let of_token = |token: &Token| match token {
        Token::Class(class) => class.effective.ranges().len(),
        _ => 1,
    };
    let of_segment = |segment: &Segment| match segment {
        Segment::Glob(tokens) => tokens.iter().map(of_token).sum(),
        Segment::Literal(_) | Segment::Globstar => 1,
    };
    alternative.iter().map(of_segment).sum()
}
