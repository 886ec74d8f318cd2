//! Laws that hold for every pattern and path.

use clearway_core::path::{CanonicalPath, Fold};
use clearway_core::pattern::Pattern;
use proptest::prelude::*;

/// Pattern texts dense in specials, few enough letters that pairs often meet, and some decomposed marks.
fn pattern_text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        6 => "[ab.]",
        2 => Just("/".to_owned()),
        2 => Just("*".to_owned()),
        1 => Just("**".to_owned()),
        1 => Just("/**/".to_owned()),
        1 => Just("?".to_owned()),
        1 => "\\[[!^]?[a-c]{1,2}(-[c-e])?\\]",
        1 => "\\{[ab/*?]{0,3}(,[ab/*.]{0,3}){0,2}\\}",
        1 => "\\\\[ab*?{}\\[\\],]",
        1 => prop_oneof![Just("é"), Just("e\u{301}"), Just("\u{301}"), Just("É"), Just("J\u{30C}"), Just("K")]
            .prop_map(str::to_owned),
    ];
    prop::collection::vec(piece, 1..9).prop_map(|pieces| pieces.concat())
}

fn fold() -> impl Strategy<Value = Fold> {
    prop_oneof![Just(Fold::Exact), Just(Fold::Insensitive)]
}

fn pattern(fold: Fold) -> impl Strategy<Value = Pattern> {
    pattern_text().prop_filter_map("a readable pattern", move |text| Pattern::parse(&text, fold).ok())
}

fn pair() -> impl Strategy<Value = (Fold, Pattern, Pattern)> {
    fold().prop_flat_map(|fold| (Just(fold), pattern(fold), pattern(fold)))
}

fn path(fold: Fold) -> impl Strategy<Value = CanonicalPath> {
    "[abé.]{1,3}(/[abe.]{1,3}){0,3}"
        .prop_filter_map("a valid path", move |text| CanonicalPath::parse(&text, fold).ok())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn reading_any_text_never_panics(text in any::<String>(), fold in fold()) {
        let _ = Pattern::parse(&text, fold);
        let _ = Pattern::from_canonical(&text, fold);
        let _ = CanonicalPath::parse(&text, fold);
    }

    #[test]
    fn an_error_points_into_the_text(text in pattern_text()) {
        if let Err(error) = Pattern::parse(&text, Fold::Exact) {
            prop_assert!(error.position <= text.len());
            prop_assert!(!error.to_string().is_empty());
        }
    }

    #[test]
    fn the_canonical_text_reads_back_as_the_same_pattern((fold, left, right) in pair()) {
        for pattern in [left, right] {
            let stored = Pattern::from_canonical(pattern.canonical(), fold);
            prop_assert_eq!(stored.as_ref(), Ok(&pattern));
            let stored = stored.expect("checked above");
            prop_assert_eq!(stored.anchor(), pattern.anchor());
            prop_assert_eq!(stored.as_literal(), pattern.as_literal());
            prop_assert_eq!(Pattern::parse(pattern.canonical(), fold), Ok(pattern));
        }
    }

    #[test]
    fn overlap_is_symmetric((_, left, right) in pair()) {
        prop_assert_eq!(left.overlaps(&right), right.overlaps(&left));
    }

    #[test]
    fn every_pattern_overlaps_covers_and_contains_itself((_, left, _) in pair()) {
        prop_assert!(left.overlaps(&left) && left.covers(&left) && left.contains(&left));
    }

    #[test]
    fn a_witness_exists_iff_the_patterns_overlap_and_both_match_it((fold, left, right) in pair()) {
        let witness = left.overlap_witness(&right);
        prop_assert_eq!(witness.is_some(), left.overlaps(&right));
        let Some(witness) = witness else { return Ok(()) };
        let path = CanonicalPath::parse(&witness, fold);
        prop_assert!(path.is_ok(), "{:?}: {:?}", witness, path);
        let path = path.expect("checked above");
        if path.as_str() == witness {
            prop_assert!(left.matches(&path) && right.matches(&path), "{}", witness);
        }
    }

    #[test]
    fn patterns_that_match_one_path_overlap(
        ((fold, left, right), path) in pair().prop_flat_map(|pair| { let fold = pair.0; (Just(pair), path(fold)) })
    ) {
        if left.matches(&path) && right.matches(&path) {
            prop_assert!(left.overlaps(&right), "{:?} {}", fold, path);
        }
    }

    #[test]
    fn every_matched_path_lies_at_or_below_the_anchor(
        (pattern, path) in fold().prop_flat_map(|fold| (pattern(fold), path(fold)))
    ) {
        let below = format!("{}/", pattern.anchor());
        let is_below = pattern.is_root_level() || format!("{path}/").starts_with(&below);
        prop_assert!(is_below || !pattern.matches(&path));
    }

    #[test]
    fn covering_means_containing_and_containing_means_matching(
        ((_, left, right), path) in pair().prop_flat_map(|pair| { let fold = pair.0; (Just(pair), path(fold)) })
    ) {
        prop_assert!(!left.covers(&right) || left.contains(&right));
        if left.contains(&right) {
            prop_assert!(left.overlaps(&right));
            // The root itself is no file: `**` reaches it, `**/*` does not, and both hold the same files.
            prop_assert!(path.is_root() || !right.matches(&path) || left.matches(&path), "{}", path);
        }
    }

    #[test]
    fn a_literal_overlaps_exactly_what_matches_it(
        (pattern, path) in fold().prop_flat_map(|fold| (pattern(fold), path(fold)))
    ) {
        let literal = Pattern::literal(&path);
        if !path.is_root() {
            prop_assert_eq!(pattern.overlaps(&literal), pattern.matches(&path));
            prop_assert_eq!(pattern.covers(&literal), pattern.matches(&path));
        }
    }
}
