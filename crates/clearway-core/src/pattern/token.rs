//! The pieces of a pattern: tokens, the segments made of them, and one alternative as a list of segments.

use std::sync::Arc;

use super::scalars::{Class, ScalarSet};

/// One symbol of a pattern after escapes are resolved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token {
    /// The separator. Never inside a [`Segment`].
    Slash,
    /// `**` written on its own. Inside a segment with other symbols it is read as [`Token::Star`].
    DoubleStar,
    /// Any run of scalars, also none.
    Star,
    /// Any one scalar.
    Any,
    Class(Arc<Class>),
    Literal(char),
}

impl Token {
    pub(super) fn is_star(&self) -> bool {
        matches!(self, Token::Star)
    }

    pub(super) fn is_wildcard(&self) -> bool {
        !matches!(self, Token::Slash | Token::Literal(_))
    }

    /// Whether this token, standing for one scalar, accepts it.
    pub(super) fn accepts(&self, scalar: char) -> bool {
        match self {
            Token::Literal(own) => *own == scalar,
            Token::Any => true,
            Token::Class(class) => class.effective.contains(scalar),
            Token::Star | Token::DoubleStar | Token::Slash => false,
        }
    }

    /// Whether two tokens standing for one scalar each have a scalar in common.
    pub(super) fn meets(&self, other: &Token) -> bool {
        match (self, other) {
            (Token::Literal(scalar), token) | (token, Token::Literal(scalar)) => token.accepts(*scalar),
            (Token::Class(left), Token::Class(right)) => left.effective.meets(&right.effective),
            _ => true,
        }
    }

    /// The scalars this token accepts; a literal never leaves its own.
    pub(super) fn scalars(&self) -> ScalarSet {
        match self {
            Token::Literal(scalar) => ScalarSet::from_ranges(vec![(u32::from(*scalar), u32::from(*scalar))]),
            Token::Class(class) => class.effective.clone(),
            Token::Any | Token::Star | Token::DoubleStar => ScalarSet::universe(),
            Token::Slash => ScalarSet::default(),
        }
    }

    /// A scalar both tokens accept, outside `avoid`.
    pub(super) fn common(&self, other: &Token, avoid: &[char]) -> Option<char> {
        self.scalars().intersection(&other.scalars()).example(avoid)
    }
}

/// What stands between two separators.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Segment {
    /// A plain name.
    Literal(Box<str>),
    /// A name with wildcards in it; holds only literals, `?`, `*` and classes.
    Glob(Box<[Token]>),
    /// `**`: any number of segments, also none.
    Globstar,
}

impl Segment {
    pub(super) fn is_globstar(&self) -> bool {
        matches!(self, Segment::Globstar)
    }

    pub(super) fn is_lone_star(&self) -> bool {
        matches!(self, Segment::Glob(tokens) if **tokens == [Token::Star])
    }
}

/// One path shape without braces, in normal form.
pub(super) type Alternative = Box<[Segment]>;

/// The names no canonical path has as a segment, with the spellings each position allows.
const RESERVED: [&[&[char]]; 3] =
    [&[&['.']], &[&['.'], &['.']], &[&['.'], &['g', 'G'], &['i', 'I'], &['t', 'T']]];

/// The longest reserved name, in scalars.
pub(super) const RESERVED_SCALARS_MAX: usize = 4;

/// For each position of a name of this length, the scalars that would make it a reserved name.
pub(super) fn reserved_of_length(scalars: usize) -> Option<&'static [&'static [char]]> {
    RESERVED.iter().find(|name| name.len() == scalars).copied()
}

/// Whether a segment is one that no canonical path has.
pub(super) fn is_reserved_name(name: &str) -> bool {
    matches!(name, "." | "..") || crate::path::is_git_directory(name)
}
