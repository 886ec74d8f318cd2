//! Overlap against an independent opinion: both patterns as regular expressions, compiled by another
//! library to deterministic automata, and the product of the two searched for a path.

use std::collections::HashSet;

use clearway_core::path::Fold;
use clearway_core::pattern::Pattern;
use proptest::prelude::*;
use regex_automata::dfa::{Automaton, StartKind, dense};
use regex_automata::util::primitives::StateID;
use regex_automata::{Anchored, Input, MatchKind};

/// One symbol of a generated pattern with its own idea of what it means.
#[derive(Clone, Debug)]
enum Piece {
    /// A symbol that stays inside a segment: how it is written, and the expression for it.
    Inside(&'static str, &'static str),
    Slash,
    Globstar,
    Either(Vec<Vec<Piece>>),
}

const INSIDE: [(&str, &str); 14] = [
    ("a", "a"),
    ("b", "b"),
    (".", r"\."),
    ("g", "g"),
    ("it", "it"),
    ("é", "é"),
    ("*", "[^/]*"),
    ("?", "[^/]"),
    ("[ab]", "[ab]"),
    ("[!ab]", "[^ab/]"),
    ("[^g.]", "[^g./]"),
    ("[a-h]", "[a-h]"),
    (r"\*", r"\*"),
    (r"[.-0]", r"[.0]"),
];

fn inside() -> impl Strategy<Value = Piece> {
    prop::sample::select(&INSIDE[..]).prop_map(|(text, regex)| Piece::Inside(text, regex))
}

fn pieces() -> impl Strategy<Value = Vec<Piece>> {
    let branch = || prop::collection::vec(prop_oneof![4 => inside(), 1 => Just(Piece::Slash)], 0..3);
    let piece = prop_oneof![
        12 => inside(),
        4 => Just(Piece::Slash),
        3 => Just(Piece::Globstar),
        1 => prop::collection::vec(branch(), 1..4).prop_map(Piece::Either),
    ];
    prop::collection::vec(piece, 1..8).prop_map(keep_globstars_apart)
}

/// `**` is a globstar only between separators: puts separators around it, so that both sides agree.
fn keep_globstars_apart(pieces: Vec<Piece>) -> Vec<Piece> {
    let mut apart: Vec<Piece> = Vec::new();
    for piece in pieces {
        let after_globstar = matches!(apart.last(), Some(Piece::Globstar));
        let is_slash = matches!(piece, Piece::Slash);
        let starts = apart.is_empty() || matches!(apart.last(), Some(Piece::Slash));
        if !is_slash && (after_globstar || (matches!(piece, Piece::Globstar) && !starts)) {
            apart.push(Piece::Slash);
        }
        apart.push(piece);
    }
    apart
}

fn text(pieces: &[Piece]) -> String {
    let of = |piece: &Piece| match piece {
        Piece::Inside(text, _) => (*text).to_owned(),
        Piece::Slash => "/".to_owned(),
        Piece::Globstar => "**".to_owned(),
        Piece::Either(branches) => {
            format!("{{{}}}", branches.iter().map(|branch| text(branch)).collect::<Vec<_>>().join(","))
        }
    };
    pieces.iter().map(of).collect::<String>()
}

/// Every way through the braces.
fn expand(pieces: &[Piece]) -> Vec<Vec<Piece>> {
    let mut ways: Vec<Vec<Piece>> = vec![Vec::new()];
    for piece in pieces {
        let branches = match piece {
            Piece::Either(branches) => branches.clone(),
            other => vec![vec![other.clone()]],
        };
        ways = ways
            .iter()
            .flat_map(|way| branches.iter().map(move |branch| [way.as_slice(), branch.as_slice()].concat()))
            .collect();
    }
    ways
}

/// An expression for a path followed by `/`, so that a globstar is simply any number of "name and slash".
fn expression(way: &[Piece]) -> String {
    let mut expression = String::new();
    let segments: Vec<&[Piece]> = way.split(|piece| matches!(piece, Piece::Slash)).collect();
    let names_subtree = segments.last().is_some_and(|segment| segment.is_empty());
    for segment in segments.iter().filter(|segment| !segment.is_empty()) {
        if let [Piece::Globstar] = segment {
            expression.push_str("([^/]+/)*");
            continue;
        }
        for piece in *segment {
            let Piece::Inside(_, regex) = piece else { panic!("{piece:?} inside a segment") };
            expression.push_str(regex);
        }
        expression.push('/');
    }
    if names_subtree { expression + "([^/]+/)*" } else { expression }
}

fn automaton(pieces: &[Piece]) -> dense::DFA<Vec<u32>> {
    let ways: Vec<String> = expand(pieces).iter().map(|way| format!("({})", expression(way))).collect();
    // A search that prefers the first alternative would forget the longer matches of the others.
    let config = dense::Config::new().start_kind(StartKind::Anchored).match_kind(MatchKind::All);
    dense::Builder::new().configure(config).build(&ways.join("|")).expect("a small expression")
}

/// Whether some canonical path, followed by `/`, is accepted by both.
fn automata_meet(left: &dense::DFA<Vec<u32>>, right: &dense::DFA<Vec<u32>>) -> bool {
    let begin = |dfa: &dense::DFA<Vec<u32>>| {
        dfa.start_state_forward(&Input::new("").anchored(Anchored::Yes)).expect("a start state")
    };
    let start = (begin(left), begin(right), Name::default());
    let mut seen: HashSet<(StateID, StateID, Name)> = HashSet::from([start.clone()]);
    let mut pending = vec![start];
    while let Some((l, r, name)) = pending.pop() {
        for byte in (0x20..=0x7E).chain(0x80..=0xFF) {
            let Some(next_name) = name.then(byte) else { continue };
            let (l, r) = (left.next_state(l, byte), right.next_state(r, byte));
            if left.is_dead_state(l) || right.is_dead_state(r) {
                continue;
            }
            let ends = |dfa: &dense::DFA<Vec<u32>>, state| dfa.is_match_state(dfa.next_eoi_state(state));
            if byte == b'/' && ends(left, l) && ends(right, r) {
                return true;
            }
            let next = (l, r, next_name);
            if seen.insert(next.clone()) {
                pending.push(next);
            }
        }
    }
    false
}

/// The name read so far, up to the length at which it can no longer be a reserved one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Name(Vec<u8>);

impl Name {
    /// The name after one more byte; nothing when a path may not go on so.
    fn then(&self, byte: u8) -> Option<Name> {
        let reserved: [&[u8]; 4] = [b"", b".", b"..", b".git"];
        if byte == b'/' {
            return (!reserved.contains(&self.0.to_ascii_lowercase().as_slice())).then(Name::default);
        }
        let mut longer = self.0.clone();
        longer.push(byte);
        let may_be_reserved = reserved.iter().any(|name| name.starts_with(&longer.to_ascii_lowercase()));
        Some(if may_be_reserved { Name(longer) } else { Name(b"long".to_vec()) })
    }
}

/// The pattern of generated pieces, if it is one and the expression speaks of it: dots may leave the scope
/// or be resolved away, and two stars that happen to make up a segment read as a globstar.
fn readable(pieces: &[Piece]) -> Option<Pattern> {
    let is_beyond = |segment: &[Piece]| {
        !matches!(segment, [Piece::Globstar]) && matches!(text(segment).as_str(), "." | ".." | "**")
    };
    let ways = expand(pieces);
    if ways.iter().any(|way| way.split(|piece| matches!(piece, Piece::Slash)).any(is_beyond)) {
        return None;
    }
    Pattern::parse(&text(pieces), Fold::Exact).ok()
}

fn generated() -> impl Strategy<Value = (Vec<Piece>, Pattern)> {
    pieces().prop_filter_map("a pattern", |pieces| readable(&pieces).map(|pattern| (pieces, pattern)))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn overlap_agrees_with_the_product_of_two_automata(
        (left_pieces, left) in generated(), (right_pieces, right) in generated()
    ) {
        let expect = automata_meet(&automaton(&left_pieces), &automaton(&right_pieces));
        prop_assert_eq!(left.overlaps(&right), expect, "{} and {}", left, right);
    }
}
