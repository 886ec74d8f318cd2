//! Two pattern texts and a folding: reading never panics, what was read survives storage, and overlap is
//! symmetric and proven by a path that both match.

#![no_main]

use clearway_core::path::{CanonicalPath, Fold};
use clearway_core::pattern::Pattern;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (bool, &str, &str)| {
    let (folds, left, right) = input;
    let fold = if folds { Fold::Insensitive } else { Fold::Exact };
    let _ = Pattern::from_canonical(left, fold);
    let (Ok(left), Ok(right)) = (Pattern::parse(left, fold), Pattern::parse(right, fold)) else { return };
    for pattern in [&left, &right] {
        let stored = Pattern::from_canonical(pattern.canonical(), fold).expect("a stored pattern reads back");
        assert_eq!(&stored, pattern);
        assert_eq!(stored.anchor(), pattern.anchor());
        assert!(pattern.overlaps(&stored) && pattern.covers(&stored));
    }
    assert_eq!(left.overlaps(&right), right.overlaps(&left));
    match left.overlap_witness(&right) {
        Some(witness) => check_witness(&left, &right, &witness, fold),
        None => assert!(!left.overlaps(&right) && !left.contains(&right)),
    }
});

/// A wildcard beside a combining mark may be credited with a text that NFC composes, or that folding
/// changes; such a witness is not canonical and proves nothing either way.
fn check_witness(left: &Pattern, right: &Pattern, witness: &str, fold: Fold) {
    let Ok(path) = CanonicalPath::parse(witness, fold) else {
        assert!(witness.len() > clearway_core::path::PATH_BYTES_MAX, "{witness:?} is no path");
        return;
    };
    if path.as_str() == witness {
        assert!(left.matches(&path) && right.matches(&path), "{witness:?}");
    }
}
