//! Any text as a path: reading never panics, is idempotent, keeps the promises of a canonical path, and the
//! literal and subtree patterns of the path survive storage and match it.

#![no_main]

use std::sync::LazyLock;

use clearway_core::path::{CanonicalPath, ClassLists, Classes, Fold};
use clearway_core::pattern::Pattern;
use libfuzzer_sys::fuzz_target;

static CLASSES: LazyLock<Classes> =
    LazyLock::new(|| Classes::new(ClassLists::default(), Fold::Exact).expect("readable defaults"));

fuzz_target!(|text: &str| {
    for fold in [Fold::Exact, Fold::Insensitive] {
        if let Ok(path) = CanonicalPath::parse(text, fold) {
            CLASSES.classify(&path);
            check_path(&path, fold);
        }
    }
});

fn check_path(path: &CanonicalPath, fold: Fold) {
    if path.is_root() {
        return;
    }
    assert_eq!(CanonicalPath::parse(path.as_str(), fold).as_ref(), Ok(path));
    for segment in path.as_str().split('/') {
        assert!(!matches!(segment, "" | "." | "..") && !segment.eq_ignore_ascii_case(".git"));
    }
    for pattern in [Pattern::literal(path), Pattern::subtree(path)] {
        assert!(pattern.matches(path));
        assert_eq!(pattern.anchor(), path.as_str());
        assert_eq!(Pattern::from_canonical(pattern.canonical(), fold).as_ref(), Ok(&pattern));
    }
}
