//! What can be wrong with a pattern, with the limits that bound its cost.

use crate::path::PATH_BYTES_MAX;

/// The longest pattern text a caller may give, in bytes.
pub const PATTERN_BYTES_MAX: usize = 1_024;
/// The longest canonical text a stored row may hold, in bytes: a literal of the greatest path length with
/// every character escaped, and `/**`.
pub const CANONICAL_BYTES_MAX: usize = 2 * PATH_BYTES_MAX + 3;
/// The most wildcards (`*`, `**`, `?`, classes) one alternative may hold.
pub const WILDCARDS_MAX: usize = 32;
/// The most alternatives a pattern may stand for once its braces are expanded.
pub const ALTERNATIVES_MAX: usize = 64;
/// The deepest nesting of braces.
pub const BRACE_DEPTH_MAX: usize = 4;
/// The most tokens all alternatives together may hold, where a plain segment counts as one token however
/// long it is and a class as many as it has ranges. This is the bound that keeps the worst accepted pair cheap to compare.
pub const EXPANDED_TOKENS_MAX: usize = 2_048;

/// A pattern that cannot be read: where and why.
///
/// The position is a byte offset into the NFC form of the text, which is the text itself unless it holds
/// decomposed characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{kind} (at byte {position})")]
pub struct PatternError {
    pub position: usize,
    pub kind: PatternErrorKind,
}

/// Why a pattern cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PatternErrorKind {
    #[error("the pattern names nothing; write `**` for the whole scope")]
    Empty,
    #[error("`[` is never closed")]
    UnclosedClass,
    #[error("`{{` is never closed")]
    UnclosedBrace,
    #[error("`\\` at the end escapes nothing")]
    TrailingBackslash,
    #[error("`\\` before `{0}` escapes nothing; between directories write `/`")]
    NeedlessEscape(char),
    #[error("the range runs backwards")]
    ReversedRange,
    #[error("the class matches no character")]
    EmptyClass,
    #[error("the pattern has {bytes} bytes; at most {bytes_max} are accepted")]
    TooManyBytes { bytes: usize, bytes_max: usize },
    #[error("more than {wildcards_max} wildcards")]
    TooManyWildcards { wildcards_max: usize },
    #[error("the braces stand for more than {alternatives_max} alternatives")]
    TooManyAlternatives { alternatives_max: usize },
    #[error("the alternatives together hold more than {tokens_max} characters and wildcards")]
    TooManyTokens { tokens_max: usize },
    #[error("braces nest deeper than {depth_max}")]
    BraceTooDeep { depth_max: usize },
    #[error("control character")]
    ControlCharacter,
    #[error("NUL byte")]
    Nul,
    #[error("text direction override")]
    DirectionOverride,
    #[error("the pattern is absolute; give it relative to the scope root")]
    Absolute,
    #[error("`..` leaves the scope")]
    Escapes,
    #[error("`..` after a wildcard has no single meaning")]
    ParentOfWildcard,
    #[error("the pattern names git's own directory")]
    GitDirectory,
    #[error("the stored text is not in canonical form")]
    NotCanonical,
}

impl PatternErrorKind {
    /// A short stable word for the reason.
    pub fn code(&self) -> &'static str {
        use PatternErrorKind::*;
        match self {
            Empty => "empty",
            UnclosedClass => "unclosed-class",
            UnclosedBrace => "unclosed-brace",
            TrailingBackslash => "trailing-backslash",
            NeedlessEscape(_) => "needless-escape",
            ReversedRange => "reversed-range",
            EmptyClass => "empty-class",
            TooManyBytes { .. } => "too-many-bytes",
            TooManyWildcards { .. } => "too-many-wildcards",
            TooManyAlternatives { .. } => "too-many-alternatives",
            TooManyTokens { .. } => "too-many-tokens",
            BraceTooDeep { .. } => "brace-too-deep",
            ControlCharacter => "control-character",
            Nul => "nul",
            DirectionOverride => "direction-override",
            Absolute => "absolute",
            Escapes => "escapes",
            ParentOfWildcard => "parent-of-wildcard",
            GitDirectory => "git-directory",
            NotCanonical => "not-canonical",
        }
    }

    /// Whether it would be a pattern if there were less of it.
    pub fn is_too_much(&self) -> bool {
        use PatternErrorKind::*;
        matches!(
            self,
            TooManyBytes { .. }
                | TooManyWildcards { .. }
                | TooManyAlternatives { .. }
                | TooManyTokens { .. }
                | BraceTooDeep { .. }
        )
    }

    /// Whether a character that has a meaning may have been meant as it is.
    pub fn is_of_meant_character(&self) -> bool {
        use PatternErrorKind::*;
        matches!(self, UnclosedClass | UnclosedBrace | TrailingBackslash | NeedlessEscape(_) | EmptyClass)
    }

    pub(super) fn at(self, position: usize) -> PatternError {
        PatternError { position, kind: self }
    }
}
