//! Sets of Unicode scalar values, and the character classes made of them.
//!
//! Every effective set lies inside [`UNIVERSE`], the scalars a path segment may hold, so that two sets
//! meet only where a real path can.

use std::sync::LazyLock;

use unicode_normalization::is_nfc;

use crate::path::Fold;

/// What a segment of a canonical path may hold: no controls, no `/`, no text direction overrides, no
/// surrogates.
const UNIVERSE: [(u32, u32); 6] =
    [(0x20, 0x2E), (0x30, 0x7E), (0xA0, 0x2029), (0x202F, 0x2065), (0x206A, 0xD7FF), (0xE000, 0x10_FFFF)];

/// Sorted, disjoint, non-adjacent inclusive ranges.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ScalarSet(Vec<(u32, u32)>);

impl ScalarSet {
    pub(super) fn universe() -> Self {
        ScalarSet(UNIVERSE.to_vec())
    }

    pub(super) fn from_ranges(mut ranges: Vec<(u32, u32)>) -> Self {
        ranges.sort_unstable();
        let mut merged: Vec<(u32, u32)> = Vec::with_capacity(ranges.len());
        for (low, high) in ranges {
            match merged.last_mut() {
                Some(last) if low <= last.1.saturating_add(1) => last.1 = last.1.max(high),
                _ => merged.push((low, high)),
            }
        }
        ScalarSet(merged)
    }

    pub(super) fn ranges(&self) -> &[(u32, u32)] {
        &self.0
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn contains(&self, scalar: char) -> bool {
        let value = u32::from(scalar);
        let index = self.0.partition_point(|&(_, high)| high < value);
        self.0.get(index).is_some_and(|&(low, _)| low <= value)
    }

    pub(super) fn intersection(&self, other: &ScalarSet) -> ScalarSet {
        ScalarSet(common_ranges(&self.0, &other.0).collect())
    }

    pub(super) fn meets(&self, other: &ScalarSet) -> bool {
        common_ranges(&self.0, &other.0).next().is_some()
    }

    /// The members of the universe that are not in this set.
    pub(super) fn complement(&self) -> ScalarSet {
        let mut gaps = Vec::with_capacity(self.0.len() + 1);
        let mut next = 0;
        for &(low, high) in &self.0 {
            if next < low {
                gaps.push((next, low - 1));
            }
            next = high.saturating_add(1);
        }
        gaps.push((next, u32::MAX));
        ScalarSet(gaps).intersection(&ScalarSet::universe())
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = char> + '_ {
        self.0.iter().flat_map(|&(low, high)| (low..=high).filter_map(char::from_u32))
    }

    /// The only member of a set of one.
    pub(super) fn single(&self) -> Option<char> {
        match self.0.as_slice() {
            [(low, high)] if low == high => char::from_u32(*low),
            _ => None,
        }
    }

    /// A member outside `avoid` that is pleasant to read and, in a folding scope, is its own folded form.
    pub(super) fn example(&self, avoid: &[char]) -> Option<char> {
        let allowed = |scalar: &char| !avoid.contains(scalar);
        ('a'..='z')
            .chain('0'..='9')
            .filter(|scalar| self.contains(*scalar))
            .find(allowed)
            .or_else(|| {
                self.iter().filter(allowed).find(|&scalar| Fold::Insensitive.scalar(scalar) == scalar)
            })
            .or_else(|| self.iter().find(allowed))
    }
}

fn common_ranges<'a>(
    left: &'a [(u32, u32)],
    right: &'a [(u32, u32)],
) -> impl Iterator<Item = (u32, u32)> + 'a {
    let (mut i, mut j) = (0, 0);
    std::iter::from_fn(move || {
        while let (Some(a), Some(b)) = (left.get(i), right.get(j)) {
            if a.1 <= b.1 {
                i += 1
            } else {
                j += 1
            }
            let (low, high) = (a.0.max(b.0), a.1.min(b.1));
            if low <= high {
                return Some((low, high));
            }
        }
        None
    })
}

/// A bracket expression: what was written, and what it matches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Class {
    pub(super) negated: bool,
    pub(super) members: ScalarSet,
    pub(super) effective: ScalarSet,
}

impl Class {
    pub(super) fn new(negated: bool, ranges: Vec<(u32, u32)>, fold: Fold) -> Self {
        let given = ScalarSet::from_ranges(ranges).intersection(&ScalarSet::universe());
        let members = match fold {
            Fold::Exact => given,
            Fold::Insensitive => fold_members(&given),
        };
        let effective = if negated { members.complement() } else { members.clone() };
        Class { negated, members, effective }
    }
}

/// Makes a set speak of folded names, in a way that folding again changes nothing.
///
/// A scalar whose folded form is ASCII is replaced by it. Every other scalar brings all its case variants
/// along instead, because dropping the upper-case letters out of a wide range would leave hundreds of
/// ranges. Either way two sets, negated or not, meet iff they share a folded scalar.
fn fold_members(given: &ScalarSet) -> ScalarSet {
    let mut ranges = given.ranges().to_vec();
    if given.ranges().last().is_some_and(|&(_, high)| high >= 0x80) {
        let variants = || CASE_PAIRS.iter().filter(|pair| given.contains(pair.0) || given.contains(pair.1));
        let mut lowers: Vec<char> = variants().map(|pair| pair.1).collect();
        lowers.sort_unstable();
        ranges.extend(lowers.iter().map(|&lower| single_range(lower)));
        let uppers = CASE_PAIRS.iter().filter(|pair| lowers.binary_search(&pair.1).is_ok());
        ranges.extend(uppers.map(|pair| single_range(pair.0)));
    }
    ranges.extend(
        ('A'..='Z')
            .filter(|&upper| given.contains(upper))
            .map(|upper| single_range(upper.to_ascii_lowercase())),
    );
    ScalarSet::from_ranges(ranges).intersection(&FOLD_TO_ASCII.complement())
}

fn single_range(scalar: char) -> (u32, u32) {
    (u32::from(scalar), u32::from(scalar))
}

/// Every non-ASCII scalar that folds to another one, with that other one. Scalars that NFC replaces (the
/// Kelvin, Ohm and Ångström signs) are left out: no path holds them.
static CASE_PAIRS: LazyLock<Vec<(char, char)>> = LazyLock::new(|| {
    /// No case mapping lies beyond the two planes that hold living and historic alphabets.
    const LAST_CASED: u32 = 0x1_FFFF;
    (0x80..=LAST_CASED)
        .filter_map(char::from_u32)
        .map(|scalar| (scalar, Fold::Insensitive.scalar(scalar)))
        .filter(|(scalar, folded)| scalar != folded && is_nfc(scalar.encode_utf8(&mut [0; 4])))
        .collect()
});

/// The scalars that fold to an ASCII letter: `A` to `Z` and `İ`.
static FOLD_TO_ASCII: LazyLock<ScalarSet> =
    LazyLock::new(|| ScalarSet::from_ranges(vec![(0x41, 0x5A), single_range('\u{130}')]));

#[cfg(test)]
mod tests {
    use super::*;

    fn set(text: &str) -> ScalarSet {
        ScalarSet::from_ranges(text.chars().map(single_range).collect())
    }

    #[test]
    fn complements_inside_the_universe() {
        assert_eq!(ScalarSet::default().complement(), ScalarSet::universe());
        assert!(ScalarSet::universe().complement().is_empty());
        let without = set("ab").complement();
        assert!(
            !without.contains('a')
                && !without.contains('/')
                && !without.contains('\n')
                && without.contains('c')
        );
        assert_eq!(without.complement(), set("ab"));
    }

    #[test]
    fn meets_exactly_where_a_scalar_is_shared() {
        assert!(set("abc").meets(&set("cx")));
        assert!(!set("abc").meets(&set("xyz")));
        assert_eq!(set("abcx").intersection(&set("bxz")), set("bx"));
    }

    #[test]
    fn a_folded_class_is_the_same_whichever_case_was_written() {
        let folded =
            |text: &str| Class::new(false, text.chars().map(single_range).collect(), Fold::Insensitive);
        assert_eq!(folded("AB"), folded("ab"));
        assert_eq!(folded("ÄΩ"), folded("äω"));
        assert_eq!(folded("İk"), folded("iK"));
        assert_eq!(folded("Dž"), folded("dž"));
    }

    #[test]
    fn a_folded_class_and_its_negation_never_meet() {
        for text in ["AB", "äX", "Σσς", "Džz", "İi", "Åk"] {
            let ranges: Vec<_> = text.chars().map(single_range).collect();
            let class = Class::new(false, ranges.clone(), Fold::Insensitive);
            let negated = Class::new(true, ranges, Fold::Insensitive);
            assert!(!class.effective.meets(&negated.effective), "{text}");
        }
    }

    #[test]
    fn examples_are_readable_and_avoid_what_they_must() {
        assert_eq!(ScalarSet::universe().example(&[]), Some('a'));
        assert_eq!(ScalarSet::universe().example(&['a']), Some('b'));
        assert_eq!(set("Z").example(&[]), Some('Z'));
        assert_eq!(set(".").example(&['.']), None);
    }
}
