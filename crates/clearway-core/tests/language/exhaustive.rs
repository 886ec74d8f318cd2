//! Every small pattern against every small path: overlap, cover, containment and anchors by brute force.

use std::collections::BTreeMap;

use clearway_core::path::{CanonicalPath, Fold};
use clearway_core::pattern::Pattern;

use crate::reference;

const TOKENS: [&str; 7] = ["a", "b", "/", "?", "*", "**", "{a,b}"];
const TOKENS_MAX: usize = 4;
/// `c` stands for every character no pattern names.
const ALPHABET: [char; 4] = ['a', 'b', 'c', '/'];
const PATH_SCALARS_MAX: usize = 6;

struct Sample {
    pattern: Pattern,
    /// Which paths it matches, one bit each, by the reference.
    matched: Vec<u64>,
}

fn texts(tokens_max: usize) -> Vec<String> {
    let mut all = Vec::new();
    let mut last = vec![String::new()];
    for _ in 0..tokens_max {
        last =
            last.iter().flat_map(|text| TOKENS.iter().map(move |token| format!("{text}{token}"))).collect();
        all.extend(last.iter().cloned());
    }
    all
}

fn matched_paths(text: &str, paths: &[String]) -> Option<Vec<u64>> {
    let alternatives = reference::alternatives(text)?;
    let word = |paths: &[String]| {
        let bits = paths.iter().enumerate().filter(|(_, path)| reference::matches(&alternatives, path));
        bits.fold(0u64, |word, (bit, _)| word | 1 << bit)
    };
    Some(paths.chunks(64).map(word).collect())
}

/// The distinct patterns, each with what the reference says it matches; equal canonical texts must agree.
fn samples(tokens_max: usize, paths: &[String]) -> Vec<Sample> {
    let mut samples: BTreeMap<String, Sample> = BTreeMap::new();
    for text in texts(tokens_max) {
        let parsed = Pattern::parse(&text, Fold::Exact);
        let matched = matched_paths(&text, paths);
        assert_eq!(parsed.is_ok(), matched.is_some(), "{text:?}: {parsed:?}");
        let (Ok(pattern), Some(matched)) = (parsed, matched) else { continue };
        let known = samples
            .entry(pattern.canonical().to_owned())
            .or_insert_with(|| Sample { pattern, matched: matched.clone() });
        assert_eq!(known.matched, matched, "{text:?} and {} differ", known.pattern);
    }
    samples.into_values().collect()
}

fn intersect(left: &Sample, right: &Sample) -> bool {
    left.matched.iter().zip(&right.matched).any(|(left, right)| left & right != 0)
}

fn is_subset(inner: &Sample, outer: &Sample) -> bool {
    inner.matched.iter().zip(&outer.matched).all(|(inner, outer)| inner & !outer == 0)
}

#[test]
fn small_patterns_overlap_exactly_where_a_small_path_matches_both() {
    let paths = reference::paths(&ALPHABET, PATH_SCALARS_MAX);
    let samples = samples(TOKENS_MAX, &paths);
    for (index, left) in samples.iter().enumerate() {
        for right in &samples[index..] {
            let expect = intersect(left, right);
            assert_eq!(
                left.pattern.overlaps(&right.pattern),
                expect,
                "{} and {}",
                left.pattern,
                right.pattern
            );
            assert_eq!(
                right.pattern.overlaps(&left.pattern),
                expect,
                "{} and {}",
                right.pattern,
                left.pattern
            );
        }
    }
}

#[test]
fn small_patterns_match_exactly_what_the_reference_says_below_their_anchor() {
    let paths = reference::paths(&ALPHABET, PATH_SCALARS_MAX - 1);
    let canonical: Vec<CanonicalPath> =
        paths.iter().map(|text| CanonicalPath::parse(text, Fold::Exact).expect("a valid path")).collect();
    for sample in samples(TOKENS_MAX - 1, &paths) {
        let anchor =
            CanonicalPath::parse(&format!("./{}", sample.pattern.anchor()), Fold::Exact).expect("a path");
        for (index, path) in canonical.iter().enumerate() {
            let expect = sample.matched[index / 64] & (1 << (index % 64)) != 0;
            assert_eq!(sample.pattern.matches(path), expect, "{} and {path}", sample.pattern);
            assert!(!expect || path.starts_with(&anchor), "{} matches {path}", sample.pattern);
        }
    }
}

#[test]
fn small_patterns_cover_only_what_they_contain_and_contain_exactly_what_lies_inside() {
    let paths = reference::paths(&ALPHABET, PATH_SCALARS_MAX - 1);
    let samples = samples(TOKENS_MAX - 1, &paths);
    for outer in &samples {
        for inner in &samples {
            let inside = is_subset(inner, outer);
            assert_eq!(
                outer.pattern.contains(&inner.pattern),
                inside,
                "{} in {}",
                inner.pattern,
                outer.pattern
            );
            assert!(
                !outer.pattern.covers(&inner.pattern) || inside,
                "{} over {}",
                outer.pattern,
                inner.pattern
            );
        }
    }
}
