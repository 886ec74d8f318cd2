//! The pattern language: which paths a lease speaks about, and whether two leases speak about one path.
//!
//! | written | matches |
//! |---|---|
//! | `*` | any run of characters of one segment, also none, also a leading dot |
//! | `**` as a whole segment | any number of segments, also none: `d/**` matches `d` and all below it |
//! | `?` | one character |
//! | `[abc]` `[a-z]` `[!a]` `[^a]` | one character of the class; `]` first and `-` last are themselves |
//! | `{a,b}` | either, as if each had been written alone; may nest, be empty and hold `/` |
//! | `\x` | `x` itself |
//! | `d/` | the subtree, `d/**` |
//!
//! Everything else is itself. `**` beside other characters of a segment is `*`. No wildcard matches `/`.
//! Characters are Unicode scalar values after NFC. `.`, `//` and `..` are resolved before anything else.
//!
//! This module does no I/O: symbolic links, existing files and the scope root are the adapter's matter.
//! Start with [`Pattern`]; the reasoning behind [`Pattern::overlaps`] is in `gaps`.

mod contain;
mod error;
mod expand;
mod gaps;
mod lex;
mod overlap;
mod render;
mod scalars;
mod token;
mod witness;

use std::borrow::Cow;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

pub use error::{
    ALTERNATIVES_MAX, BRACE_DEPTH_MAX, CANONICAL_BYTES_MAX, EXPANDED_TOKENS_MAX, PATTERN_BYTES_MAX,
    PatternError, PatternErrorKind, WILDCARDS_MAX,
};

pub use crate::path::Fold;
use crate::path::{CanonicalPath, Refused, compose, first_refused, is_at_or_below};
use token::{Alternative, Segment};

/// A set of paths of one scope, known by its canonical text.
#[derive(Clone, Debug)]
pub struct Pattern {
    canonical: Box<str>,
    shape: Shape,
}

/// The three shapes, cheapest first. Nearly every stored pattern is a literal and keeps nothing but its
/// text; plain text is kept apart only where escaping made it differ.
#[derive(Clone, Debug)]
enum Shape {
    Literal { plain: Option<Box<str>> },
    Subtree { plain_directory: Option<Box<str>> },
    General(Arc<General>),
}

#[derive(Debug)]
struct General {
    alternatives: Vec<Alternative>,
    anchor: Box<str>,
}

/// What follows the directory in the canonical text of a subtree.
const SUBTREE_SUFFIX: &str = "/**";
/// What a reader takes for a wildcard or its escape.
const READ_AS_WILDCARDS: [char; 5] = ['*', '?', '{', '}', '\\'];

impl Pattern {
    /// Reads what a person wrote. A backslash before a letter or digit means what follows it and is hardly ever meant:
    /// `src\a.rs` of another system would silently be `srca.rs`.
    pub fn parse_written(text: &str, fold: Fold) -> Result<Pattern, PatternError> {
        let mut scalars = text.char_indices();
        while let Some((position, scalar)) = scalars.next() {
            match (scalar == '\\').then(|| scalars.next()).flatten() {
                Some((_, escaped)) if escaped.is_ascii_alphanumeric() => {
                    return Err(PatternErrorKind::NeedlessEscape(escaped).at(position));
                }
                _ => {}
            }
        }
        Pattern::parse(text, fold)
    }

    /// Reads a pattern, every escape allowed: stored and canonical text.
    pub fn parse(text: &str, fold: Fold) -> Result<Pattern, PatternError> {
        Pattern::parse_within(text, fold, PATTERN_BYTES_MAX)
    }

    /// The pattern that matches exactly one path, whatever characters it holds. The scope root is not a
    /// path anything can hold alone; its literal is its subtree.
    pub fn literal(path: &CanonicalPath) -> Pattern {
        if path.is_root() {
            return Pattern::subtree(path);
        }
        let plain = path.as_str();
        let (canonical, plain) = escape(plain);
        Pattern { canonical, shape: Shape::Literal { plain } }
    }

    /// The pattern that matches a directory and everything below it; for the scope root, everything.
    pub fn subtree(path: &CanonicalPath) -> Pattern {
        if path.is_root() {
            return Pattern::general(vec![Box::from([Segment::Globstar])]);
        }
        let (directory, plain_directory) = escape(path.as_str());
        let canonical = format!("{directory}{SUBTREE_SUFFIX}").into_boxed_str();
        Pattern { canonical, shape: Shape::Subtree { plain_directory } }
    }

    /// The pattern that matches everything below a directory, and not the directory itself.
    pub fn below(path: &CanonicalPath) -> Result<Pattern, PatternError> {
        let directory = escape(path.as_str()).0;
        let slash = if path.is_root() { "" } else { "/" };
        Pattern::parse_within(&format!("{directory}{slash}*/**"), Fold::Exact, CANONICAL_BYTES_MAX)
    }

    /// Reads a stored row. Refuses a text that [`Pattern::canonical`] would not have given.
    pub fn from_canonical(text: &str, fold: Fold) -> Result<Pattern, PatternError> {
        let pattern = Pattern::parse_within(text, fold, CANONICAL_BYTES_MAX)?;
        if &*pattern.canonical == text { Ok(pattern) } else { Err(PatternErrorKind::NotCanonical.at(0)) }
    }

    /// The stored form, escaped: [`Pattern::from_canonical`] gives this pattern back, and so does
    /// [`Pattern::parse`] unless it is longer than a person may write.
    pub fn canonical(&self) -> &str {
        &self.canonical
    }

    /// The form for people to read, not to be pasted: a literal shows its plain path, a subtree `dir/**`, others their
    /// canonical text. A plain path that would read as a wildcard is shown escaped. Brackets are left as they are,
    /// because names such as `[id]` are common and classes are not.
    pub fn display(&self) -> String {
        match &self.shape {
            _ if self.is_plain() && self.anchor().contains(READ_AS_WILDCARDS) => self.canonical.to_string(),
            Shape::Literal { .. } => self.anchor().to_owned(),
            Shape::Subtree { .. } => format!("{}{SUBTREE_SUFFIX}", self.anchor()),
            Shape::General(_) => self.canonical.to_string(),
        }
    }

    fn is_plain(&self) -> bool {
        !matches!(self.shape, Shape::General(_))
    }

    /// The plain path, if the pattern names exactly one.
    pub fn as_literal(&self) -> Option<&str> {
        matches!(self.shape, Shape::Literal { .. }).then(|| self.anchor())
    }

    /// The plain path of the directory, if the pattern names one with everything below it.
    pub fn as_subtree(&self) -> Option<&str> {
        matches!(self.shape, Shape::Subtree { .. }).then(|| self.anchor())
    }

    /// The longest plain directory prefix in whole segments; of a literal, the whole path. Every path that
    /// matches lies at or below it.
    pub fn anchor(&self) -> &str {
        match &self.shape {
            Shape::Literal { plain } => plain.as_deref().unwrap_or(&self.canonical),
            Shape::Subtree { plain_directory: Some(directory) } => directory,
            Shape::Subtree { plain_directory: None } => {
                self.canonical.strip_suffix(SUBTREE_SUFFIX).unwrap_or(&self.canonical)
            }
            Shape::General(general) => &general.anchor,
        }
    }

    /// Whether it is anchored at a directory above what the other is anchored at.
    pub fn is_anchored_above(&self, other: &Self) -> bool {
        let below =
            |anchor: &str| other.anchor().strip_prefix(anchor).is_some_and(|rest| rest.starts_with('/'));
        match self.anchor() {
            "" => !other.anchor().is_empty(),
            anchor => below(anchor),
        }
    }

    /// Whether it names nothing but what lies in a directory. What names the directory alone does not; a subtree names it
    /// along with what lies in it.
    pub fn is_inside(&self, directory: &CanonicalPath) -> bool {
        let names_it_alone = self.as_literal() == Some(directory.as_str());
        is_at_or_below(self.anchor(), directory.as_str()) && !names_it_alone
    }

    /// Whether the pattern may match anywhere in the scope.
    pub fn is_root_level(&self) -> bool {
        self.anchor().is_empty()
    }

    /// Whether the pattern matches a path of the same scope.
    pub fn matches(&self, path: &CanonicalPath) -> bool {
        self.matches_text(path.as_str())
    }

    /// Whether two holders of these would get into each other's way: they overlap, or one is a single path and
    /// everything the other names lies below it, so that it would have to be a file and a directory at once.
    pub fn collides_with(&self, other: &Pattern) -> bool {
        self.overlaps(other) || self.is_path_above(other) || other.is_path_above(self)
    }

    fn is_path_above(&self, other: &Pattern) -> bool {
        self.as_literal().is_some_and(|path| is_at_or_below(other.anchor(), path))
    }

    /// Whether some canonical path matches both. Exact.
    pub fn overlaps(&self, other: &Pattern) -> bool {
        use Shape::{General, Literal, Subtree};
        let (own, theirs) = (self.anchor(), other.anchor());
        match (&self.shape, &other.shape) {
            (Literal { .. }, Literal { .. }) => own == theirs,
            (Literal { .. }, _) => other.matches_text(own),
            (_, Literal { .. }) => self.matches_text(theirs),
            (Subtree { .. }, Subtree { .. }) => are_in_line(own, theirs),
            (Subtree { .. }, General(_)) if is_at_or_below(theirs, own) => true,
            (General(_), Subtree { .. }) if is_at_or_below(own, theirs) => true,
            _ if !are_in_line(own, theirs) => false,
            _ => self
                .any_pair(other, |left, right| overlap::alternatives_meet(left, right).then_some(()))
                .is_some(),
        }
    }

    /// A path that matches both, if there is one.
    pub fn overlap_witness(&self, other: &Pattern) -> Option<String> {
        if !self.overlaps(other) {
            return None;
        }
        self.any_pair(other, witness::common_path)
    }

    /// Whether a lease on this pattern is enough for a request of the other: exact when the other names
    /// one path; otherwise only if both are the same or the other lies wholly inside this subtree.
    pub fn covers(&self, other: &Pattern) -> bool {
        if let Some(path) = other.as_literal() {
            return self.matches_text(path);
        }
        let is_subtree = matches!(self.shape, Shape::Subtree { .. }) || &*self.canonical == "**";
        self == other || (is_subtree && is_at_or_below(other.anchor(), self.anchor()))
    }

    /// Whether every path of the other is a path of this one. "Yes" is always right; "no" may be too
    /// careful about paths through reserved names and about patterns too large to compare, for which the
    /// answer is that of [`Pattern::covers`].
    pub fn contains(&self, other: &Pattern) -> bool {
        if self.covers(other) {
            return true;
        }
        if other.as_literal().is_some() || !self.overlaps(other) {
            return false;
        }
        contain::is_contained(&other.alternatives(), &self.alternatives()).unwrap_or(false)
    }

    fn parse_within(text: &str, fold: Fold, bytes_max: usize) -> Result<Pattern, PatternError> {
        if text.len() <= bytes_max
            && let Some(pattern) = Pattern::parse_plain(text, fold)
        {
            return Ok(pattern);
        }
        check_text(text, bytes_max)?;
        let nodes = lex::lex(&compose(text), fold)?;
        let pattern = Pattern::general(expand::expand(&nodes)?);
        check_bytes(&pattern.canonical, CANONICAL_BYTES_MAX)?;
        Ok(pattern)
    }

    /// The short way for what nearly every pattern is: a plain path, or one followed by `/**`.
    fn parse_plain(text: &str, fold: Fold) -> Option<Pattern> {
        let directory = text.strip_suffix(SUBTREE_SUFFIX);
        let plain = directory.unwrap_or(text);
        if render::needs_escape(plain) || plain.ends_with('/') {
            return None;
        }
        let path = CanonicalPath::parse(plain, fold).ok().filter(|path| !path.is_root())?;
        Some(if directory.is_some() { Pattern::subtree(&path) } else { Pattern::literal(&path) })
    }

    /// The pattern of some alternatives in normal form, in the cheapest shape that says the same.
    fn general(alternatives: Vec<Alternative>) -> Pattern {
        let canonical = render::canonical_text(&alternatives).into_boxed_str();
        let anchor = common_anchor(&alternatives);
        let is_one = alternatives.iter().all(|alternative| Some(alternative) == alternatives.first());
        let plain = || render::needs_escape(&anchor).then(|| anchor.clone());
        let shape = match alternatives.first().map(|alternative| &**alternative) {
            Some(segments) if is_one && is_plain(segments) => Shape::Literal { plain: plain() },
            Some([plain_part @ .., Segment::Globstar])
                if is_one && !plain_part.is_empty() && is_plain(plain_part) =>
            {
                Shape::Subtree { plain_directory: plain() }
            }
            _ => Shape::General(Arc::new(General { alternatives, anchor })),
        };
        Pattern { canonical, shape }
    }

    fn matches_text(&self, path: &str) -> bool {
        match &self.shape {
            Shape::Literal { .. } => self.anchor() == path,
            Shape::Subtree { .. } => is_at_or_below(path, self.anchor()),
            Shape::General(general) => is_at_or_below(path, &general.anchor) && general.matches(&split(path)),
        }
    }

    /// [`Pattern::matches`] for a caller that asks many patterns about one path.
    pub(crate) fn matches_split(&self, path: &CanonicalPath, segments: &[&str]) -> bool {
        match &self.shape {
            Shape::General(general) => general.matches(segments),
            _ => self.matches(path),
        }
    }

    fn any_pair<T>(&self, other: &Pattern, test: impl Fn(&[Segment], &[Segment]) -> Option<T>) -> Option<T> {
        let (own, theirs) = (self.alternatives(), other.alternatives());
        own.iter().find_map(|left| theirs.iter().find_map(|right| test(left, right)))
    }

    fn alternatives(&self) -> Cow<'_, [Alternative]> {
        let plain = || self.anchor().split('/').map(|name| Segment::Literal(Box::from(name)));
        match &self.shape {
            Shape::Literal { .. } => Cow::Owned(vec![plain().collect()]),
            Shape::Subtree { .. } => Cow::Owned(vec![plain().chain([Segment::Globstar]).collect()]),
            Shape::General(general) => Cow::Borrowed(&general.alternatives),
        }
    }
}

impl General {
    fn matches(&self, segments: &[&str]) -> bool {
        self.alternatives.iter().any(|alternative| overlap::path_matches(segments, alternative))
    }
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.canonical == other.canonical
    }
}

impl Eq for Pattern {}

impl Hash for Pattern {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.canonical.hash(state);
    }
}

impl std::fmt::Display for Pattern {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.display())
    }
}

/// The segments of a canonical path; of the scope root, none.
fn split(path: &str) -> Vec<&str> {
    path.split('/').filter(|segment| !segment.is_empty()).collect()
}

fn check_text(text: &str, bytes_max: usize) -> Result<(), PatternError> {
    if text.is_empty() {
        return Err(PatternErrorKind::Empty.at(0));
    }
    check_bytes(text, bytes_max)?;
    match first_refused(text) {
        Some((position, Refused::Nul)) => Err(PatternErrorKind::Nul.at(position)),
        Some((position, Refused::Control)) => Err(PatternErrorKind::ControlCharacter.at(position)),
        Some((position, Refused::DirectionOverride)) => Err(PatternErrorKind::DirectionOverride.at(position)),
        None => Ok(()),
    }
}

fn check_bytes(text: &str, bytes_max: usize) -> Result<(), PatternError> {
    if text.len() > bytes_max {
        return Err(PatternErrorKind::TooManyBytes { bytes: text.len(), bytes_max }.at(bytes_max));
    }
    Ok(())
}

/// The canonical text of a plain path, and the plain text where it differs.
fn escape(plain: &str) -> (Box<str>, Option<Box<str>>) {
    if render::needs_escape(plain) {
        (render::escape(plain).into_boxed_str(), Some(Box::from(plain)))
    } else {
        (Box::from(plain), None)
    }
}

fn is_plain(segments: &[Segment]) -> bool {
    segments.iter().all(|segment| matches!(segment, Segment::Literal(_)))
}

/// Whether one of two directories is the other or lies below it.
fn are_in_line(left: &str, right: &str) -> bool {
    is_at_or_below(left, right) || is_at_or_below(right, left)
}

/// The longest run of plain segments that every alternative begins with.
fn common_anchor(alternatives: &[Alternative]) -> Box<str> {
    let Some((first, rest)) = alternatives.split_first() else { return Box::default() };
    let shared = |length: usize, other: &Alternative| {
        first.iter().take(length).zip(other.iter()).take_while(|(left, right)| left == right).count()
    };
    let length = rest.iter().fold(first.len(), shared);
    let names = first.iter().take(length).map_while(|segment| match segment {
        Segment::Literal(name) => Some(&**name),
        _ => None,
    });
    names.collect::<Vec<&str>>().join("/").into_boxed_str()
}
