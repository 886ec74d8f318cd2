//! Recorded cases.

use clearway_core::path::{CanonicalPath, Fold};
use clearway_core::pattern::{Pattern, PatternError};

use crate::support;

fn pattern(text: &str, fold: Fold) -> Pattern {
    Pattern::parse(text, fold).unwrap_or_else(|error| panic!("{text:?}: {error}"))
}

fn report(wrong: Vec<String>) {
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_pair_overlaps_as_recorded_in_both_orders() {
    let cases = support::cases(include_str!("../corpus/overlap.txt"));
    assert!(cases.len() >= 250, "the corpus has shrunk to {}", cases.len());
    let mut wrong = Vec::new();
    for (line, columns) in cases {
        let [left, right, expect, _] = columns.as_slice() else { panic!("line {line}: four columns") };
        let (left, right) = (pattern(left, Fold::Exact), pattern(right, Fold::Exact));
        let found = (left.overlaps(&right), right.overlaps(&left), left.overlap_witness(&right).is_some());
        let expect = support::yes(expect);
        if found != (expect, expect, expect) {
            wrong.push(format!("line {line}: {left} and {right}: {found:?}"));
        }
    }
    report(wrong);
}

#[test]
fn every_witness_of_the_corpus_is_matched_by_both() {
    for (line, columns) in support::cases(include_str!("../corpus/overlap.txt")) {
        let (left, right) = (pattern(&columns[0], Fold::Exact), pattern(&columns[1], Fold::Exact));
        let Some(witness) = left.overlap_witness(&right) else { continue };
        let path = CanonicalPath::parse(&witness, Fold::Exact).expect("a witness is a path");
        assert_eq!(path.as_str(), witness, "line {line}");
        assert!(left.matches(&path) && right.matches(&path), "line {line}: {witness:?}");
    }
}

#[test]
fn every_pattern_reads_as_recorded() {
    let mut wrong = Vec::new();
    for (line, columns) in support::cases(include_str!("../corpus/patterns.txt")) {
        let [fold, text, expect] = columns.as_slice() else { panic!("line {line}: three columns") };
        let found = describe(Pattern::parse(text, support::fold(fold)));
        if &found != expect {
            wrong.push(format!("line {line}: {text:?} gave {found:?}, recorded {expect:?}"));
        }
    }
    report(wrong);
}

fn describe(found: Result<Pattern, PatternError>) -> String {
    match found {
        Ok(pattern) => format!("= {}", pattern.canonical()),
        Err(error) => format!("! {} {}", error.kind.code(), error.position),
    }
}

#[test]
fn every_pattern_of_the_corpus_survives_storage() {
    for (line, columns) in support::cases(include_str!("../corpus/patterns.txt")) {
        let fold = support::fold(&columns[0]);
        let Ok(pattern) = Pattern::parse(&columns[1], fold) else { continue };
        assert_eq!(Pattern::from_canonical(pattern.canonical(), fold), Ok(pattern), "line {line}");
    }
}

#[test]
fn every_path_matches_as_recorded() {
    let mut wrong = Vec::new();
    for (line, columns) in support::cases(include_str!("../corpus/matches.txt")) {
        let [fold, text, path, expect] = columns.as_slice() else { panic!("line {line}: four columns") };
        let fold = support::fold(fold);
        let path = CanonicalPath::parse(path, fold).expect("a valid path");
        if pattern(text, fold).matches(&path) != support::yes(expect) {
            wrong.push(format!("line {line}: {text:?} and {path}"));
        }
    }
    report(wrong);
}

#[test]
fn the_anchor_is_the_longest_plain_directory() {
    let check = |text: &str, anchor: &str| assert_eq!(pattern(text, Fold::Exact).anchor(), anchor, "{text}");
    check("src/a/b.rs", "src/a/b.rs");
    check("src/a/*.rs", "src/a");
    check("src/**", "src");
    check("src/", "src");
    check("**/x", "");
    check("*", "");
    check("src/a?/b", "src");
    check("src/{a,b}/c", "src");
    check("{src/a/x,src/a/y}", "src/a");
    check("{src/a,src/a/y}", "src/a");
    check("{a,b}", "");
    check("src/\\[id\\]/*", "src/[id]");
    check("src/\\[id\\]/", "src/[id]");
}

#[test]
fn people_see_plain_paths() {
    let check = |text: &str, display: &str, literal: Option<&str>| {
        let pattern = pattern(text, Fold::Exact);
        assert_eq!((pattern.display().as_str(), pattern.as_literal()), (display, literal), "{text}");
    };
    check("./src/a.rs", "src/a.rs", Some("src/a.rs"));
    check("app/\\[id\\]/page.tsx", "app/[id]/page.tsx", Some("app/[id]/page.tsx"));
    check("app/\\[id\\]/", "app/[id]/**", None);
    check("src/", "src/**", None);
    check("./", "**", None);
    check("src/\\[*", "src/\\[*", None);
}

#[test]
fn literals_and_subtrees_of_any_path_are_never_parsed() {
    for text in ["app/[id]/page.tsx", "a*b", "{a,b}", "a\\b", "**", "[", "a/{", "é/?", "x,y"] {
        let path = CanonicalPath::parse(text, Fold::Exact).expect("a valid path");
        let (literal, subtree) = (Pattern::literal(&path), Pattern::subtree(&path));
        assert_eq!(literal.as_literal(), Some(text));
        // What would read as a wildcard is shown escaped; brackets are left to names such as `[id]`.
        let plain = !text.contains(['*', '?', '{', '}', '\\']);
        let shown =
            |plain_text: String, canonical: &str| if plain { plain_text } else { canonical.to_owned() };
        assert_eq!(literal.display(), shown(text.to_owned(), literal.canonical()));
        assert_eq!(subtree.display(), shown(format!("{text}/**"), subtree.canonical()));
        assert_eq!(Pattern::parse(literal.canonical(), Fold::Exact).as_ref(), Ok(&literal));
        assert_eq!(Pattern::parse(subtree.canonical(), Fold::Exact).as_ref(), Ok(&subtree));
        assert!(subtree.covers(&literal) && !literal.covers(&subtree) && subtree.overlaps(&literal));
    }
}

#[test]
fn the_subtree_of_the_root_is_everything() {
    let everything = Pattern::subtree(&CanonicalPath::root());
    assert_eq!(everything.canonical(), "**");
    assert!(everything.is_root_level() && everything.covers(&pattern("a/{b,*}/c", Fold::Exact)));
    assert_eq!(Pattern::literal(&CanonicalPath::root()), everything);
}

#[test]
fn a_literal_longer_than_a_person_may_write_survives_storage() {
    let path = CanonicalPath::parse(&"[".repeat(4_096), Fold::Exact).expect("a valid path");
    let literal = Pattern::literal(&path);
    assert_eq!(Pattern::from_canonical(literal.canonical(), Fold::Exact), Ok(literal.clone()));
    let subtree = Pattern::subtree(&path);
    assert_eq!(Pattern::from_canonical(subtree.canonical(), Fold::Exact), Ok(subtree));
}

#[test]
fn a_stored_text_that_is_not_canonical_is_refused() {
    for text in ["./a", "a//b", "src/", "{b,a}", "[cba]", "e\u{301}", "*?", "\\a", "a}", "", "a[", "{a"] {
        assert!(Pattern::from_canonical(text, Fold::Exact).is_err(), "{text:?}");
    }
    assert!(Pattern::from_canonical("A", Fold::Exact).is_ok());
    assert!(Pattern::from_canonical("A", Fold::Insensitive).is_err());
}

#[test]
fn covering_is_exact_for_literals_and_careful_for_patterns() {
    let check = |own: &str, other: &str, covers: bool, contains: bool| {
        let (own, other) = (pattern(own, Fold::Exact), pattern(other, Fold::Exact));
        assert_eq!((own.covers(&other), own.contains(&other)), (covers, contains), "{own} over {other}");
    };
    check("src/*.rs", "src/a.rs", true, true);
    check("src/*.rs", "src/a.py", false, false);
    check("src/**", "src", true, true);
    check("src/**", "src/**", true, true);
    check("src/**", "src/*.rs", true, true);
    check("src/**", "{src/a,src/b/*}", true, true);
    check("src/**", "{src/a,lib/*}", false, false);
    check("src/a/**", "src/**", false, false);
    check("**", "**/*.rs", true, true);
    check("src/*", "src/*.rs", false, true);
    check("src/*.rs", "src/*", false, false);
    check("**/*.rs", "src/*.rs", false, true);
    check("**/*.rs", "src/**/*.rs", false, true);
    check("src/**/*.rs", "**/*.rs", false, false);
    check("{a,b,c}", "{a,c}", false, true);
    check("{a*,*b}", "a*b", false, true);
    check("[a-z]*", "{a,b}*", false, true);
    check("?", "[ab]", false, true);
    check("[ab]", "?", false, false);
    check("[ -m]", "?", false, false);
    check("{[a-m],[!a-m]}", "?", false, true);
    check("a/**", "a/**/b", true, true);
    check("{a,a/*/**}", "a/**", false, true);
    check("**/*", "**", false, true);
    check("x*", "y*", false, false);
}

#[test]
fn a_containment_too_large_to_decide_is_answered_carefully() {
    let last_but = |count: usize| format!("*a{}", "?".repeat(count));
    let inside = |count: usize| {
        let (own, other) = (last_but(count), format!("*a{}", last_but(count).trim_start_matches('*')));
        pattern(&own, Fold::Exact).contains(&pattern(&other, Fold::Exact))
    };
    assert!(inside(4));
    assert!(!inside(24));
}

#[test]
fn what_lies_in_a_directory_is_not_the_directory() {
    for directory in ["sub", "a/[id]", "größe"] {
        let path = CanonicalPath::parse(directory, Fold::Exact).expect("a path");
        let (name, tree) = (Pattern::literal(&path), Pattern::subtree(&path));
        let below = Pattern::below(&path).expect("a pattern");
        let text = name.canonical();
        let read = |rest: &str| pattern(&format!("{text}{rest}"), Fold::Exact);
        assert!(tree.contains(&below) && !below.overlaps(&name), "{below}");
        for inside in [tree, below.clone(), read("/x"), read("/x/**"), read("/*.rs"), read("/{x,y}/z")] {
            assert!(inside.is_inside(&path) && inside.overlaps(&below), "{inside}");
        }
        for around in
            [pattern("**/x", Fold::Exact), pattern("*/{,**/}x", Fold::Exact), pattern("**", Fold::Exact)]
        {
            assert!(!around.is_inside(&path) && around.overlaps(&below), "{around}");
        }
        for beside in [name.clone(), read("x"), read("x/**"), pattern("other/**", Fold::Exact)] {
            assert!(!beside.is_inside(&path) && !beside.overlaps(&below), "{beside}");
        }
    }
}
