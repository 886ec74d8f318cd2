//! Two pattern texts, one per line: reading never panics, what was read survives storage, and overlap is
//! symmetric and proven by a path that both match.

#![no_main]

use clearway_core::path::{CanonicalPath, Fold, PATH_BYTES_MAX};
use clearway_core::pattern::Pattern;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let (left, right) = text.split_once('\n').unwrap_or((text, text));
    for fold in [Fold::Exact, Fold::Insensitive] {
        let _ = Pattern::from_canonical(left, fold);
        if let (Ok(left), Ok(right)) = (Pattern::parse(left, fold), Pattern::parse(right, fold)) {
            check_storage(&left, fold);
            check_pair(&left, &right, fold);
        }
    }
});

fn check_storage(pattern: &Pattern, fold: Fold) {
    let stored = Pattern::from_canonical(pattern.canonical(), fold).expect("a stored pattern reads back");
    assert_eq!(&stored, pattern);
    assert_eq!(stored.anchor(), pattern.anchor());
    assert!(pattern.overlaps(&stored) && pattern.covers(&stored) && pattern.contains(&stored));
}

fn check_pair(left: &Pattern, right: &Pattern, fold: Fold) {
    assert_eq!(left.overlaps(right), right.overlaps(left));
    match left.overlap_witness(right) {
        Some(witness) => check_witness(left, right, &witness, fold),
        None => assert!(!left.overlaps(right) && !left.contains(right)),
    }
}

/// A wildcard beside a combining mark may be credited with a text that NFC composes; such a witness is not
/// canonical and proves nothing either way.
fn check_witness(left: &Pattern, right: &Pattern, witness: &str, fold: Fold) {
    let Ok(path) = CanonicalPath::parse(witness, fold) else {
        assert!(witness.len() > PATH_BYTES_MAX, "{witness:?} is no path");
        return;
    };
    if path.as_str() == witness {
        assert!(left.matches(&path) && right.matches(&path), "{witness:?}");
    }
}
