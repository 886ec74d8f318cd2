//! Whether two alternatives have a path in common, and whether one matches a given path.
//!
//! Exact over canonical paths: segments are never empty, `.`, `..` or `.git`, and hold no refused scalar.
//! One over-approximation remains: a wildcard beside a combining mark may be credited with a text that NFC
//! would have composed. It can only report an overlap too many, never one too few.

use super::gaps::{Compare, meet};
use super::token::{RESERVED_SCALARS_MAX, Segment, Token, reserved_of_length};

/// Whether some canonical path is matched by both.
pub(super) fn alternatives_meet(left: &[Segment], right: &[Segment]) -> bool {
    meet(left, right, &Segments)
}

/// Whether a canonical path, given by its segments, is matched.
pub(super) fn path_matches(path: &[&str], alternative: &[Segment]) -> bool {
    meet(path, alternative, &Names)
}

/// Segments against segments.
pub(super) struct Segments;

impl Compare<Segment, Segment> for Segments {
    fn left_is_gap(&self, left: &Segment) -> bool {
        left.is_globstar()
    }

    fn right_is_gap(&self, right: &Segment) -> bool {
        right.is_globstar()
    }

    fn meets(&self, left: &Segment, right: &Segment) -> bool {
        match (left, right) {
            (Segment::Globstar, _) | (_, Segment::Globstar) => true,
            (Segment::Literal(name), segment) | (segment, Segment::Literal(name)) => {
                name_matches(name, segment)
            }
            (Segment::Glob(left), Segment::Glob(right)) => globs_meet(left, right),
        }
    }
}

/// The names of a path against segments.
struct Names;

impl Compare<&str, Segment> for Names {
    fn left_is_gap(&self, _: &&str) -> bool {
        false
    }

    fn right_is_gap(&self, right: &Segment) -> bool {
        right.is_globstar()
    }

    fn meets(&self, left: &&str, right: &Segment) -> bool {
        name_matches(left, right)
    }
}

/// Tokens against tokens; only `*` is a gap.
pub(super) struct Tokens;

impl Compare<Token, Token> for Tokens {
    fn left_is_gap(&self, left: &Token) -> bool {
        left.is_star()
    }

    fn right_is_gap(&self, right: &Token) -> bool {
        right.is_star()
    }

    fn meets(&self, left: &Token, right: &Token) -> bool {
        left.meets(right)
    }
}

/// The scalars of a name against tokens.
struct Scalars;

impl<S: Copy + Into<char>> Compare<S, Token> for Scalars {
    fn left_is_gap(&self, _: &S) -> bool {
        false
    }

    fn right_is_gap(&self, right: &Token) -> bool {
        right.is_star()
    }

    fn meets(&self, left: &S, right: &Token) -> bool {
        right.accepts((*left).into())
    }
}

fn name_matches(name: &str, segment: &Segment) -> bool {
    match segment {
        Segment::Literal(own) => **own == *name,
        Segment::Globstar => true,
        Segment::Glob(tokens) if name.is_ascii() => meet(name.as_bytes(), tokens, &Scalars),
        Segment::Glob(tokens) => meet(&name.chars().collect::<Vec<char>>(), tokens, &Scalars),
    }
}

/// Whether two globs match a name in common that a canonical path may have. Two globs with a `*` each
/// always find a name too long to be reserved; only a short glob of fixed length needs a closer look.
fn globs_meet(left: &[Token], right: &[Token]) -> bool {
    match (may_be_reserved(left), may_be_reserved(right)) {
        (true, _) => short_name(left, right).is_some(),
        (_, true) => short_name(right, left).is_some(),
        _ => meet(left, right, &Tokens),
    }
}

/// Whether a glob has a fixed length at which, with its first scalar, a reserved name is possible.
pub(super) fn may_be_reserved(tokens: &[Token]) -> bool {
    tokens.len() <= RESERVED_SCALARS_MAX
        && !tokens.iter().any(Token::is_star)
        && tokens.first().is_some_and(|token| token.accepts('.'))
}

/// A name matched by a glob of fixed length and another glob that is not reserved, found by trying every
/// way of laying the one over the other; there are few, as the name has at most four scalars.
pub(super) fn short_name(fixed: &[Token], other: &[Token]) -> Option<String> {
    let mut laid: Vec<&Token> = Vec::with_capacity(fixed.len());
    lay_every_way(fixed, other, &mut laid)
}

fn lay_every_way<'a>(fixed: &[Token], other: &'a [Token], laid: &mut Vec<&'a Token>) -> Option<String> {
    let Some(token) = fixed.get(laid.len()) else {
        return if other.iter().all(Token::is_star) { unreserved_name(fixed, laid) } else { None };
    };
    let (first, rest) = other.split_first()?;
    if first.is_star()
        && let Some(name) = lay_every_way(fixed, rest, laid)
    {
        return Some(name);
    }
    if !first.is_star() && !token.meets(first) {
        return None;
    }
    laid.push(first);
    let name = lay_every_way(fixed, if first.is_star() { other } else { rest }, laid);
    laid.pop();
    name
}

/// A name whose every scalar lies in both tokens at its position, that is not reserved.
fn unreserved_name(fixed: &[Token], laid: &[&Token]) -> Option<String> {
    let pick = |index: usize, avoid: &[char]| fixed[index].common(laid[index], avoid);
    let mut name: Vec<char> = (0..fixed.len()).map(|index| pick(index, &[])).collect::<Option<_>>()?;
    let Some(reserved) = reserved_of_length(fixed.len()) else { return Some(name.iter().collect()) };
    let (index, scalar) =
        reserved.iter().enumerate().find_map(|(index, avoid)| Some((index, pick(index, avoid)?)))?;
    name[index] = scalar;
    Some(name.iter().collect())
}
