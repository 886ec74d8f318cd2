//! Whether every path of one pattern is a path of another, by following both on the fly.
//!
//! Both patterns become sets of places, one per token; a step on a scalar moves every place at once, which
//! determinises both without building either automaton. The answer "contained" is always right. The answer
//! "not contained" may be wrong only about paths that would pass through a reserved name, and when the work
//! runs into [`MOVES_MAX`] there is no answer.

use std::collections::HashSet;

use super::scalars::ScalarSet;
use super::token::{Alternative, Segment, Token};

/// The most moves of single places one question may take, a few milliseconds of work.
const MOVES_MAX: usize = 500_000;

/// Whether every path matched by `inner` is matched by `outer`; `None` when that takes too long to tell.
pub(super) fn is_contained(inner: &[Alternative], outer: &[Alternative]) -> Option<bool> {
    let (inner, outer) = (Machine::new(inner), Machine::new(outer));
    let symbols = symbols(&inner, &outer);
    let start = Joint { inner: inner.start(), outer: outer.start(), at_segment_start: true };
    let mut seen = HashSet::from([start.clone()]);
    let mut pending = vec![start];
    let mut moves = 0;
    while let Some(joint) = pending.pop() {
        if joint.is_counterexample(&inner, &outer) {
            return Some(false);
        }
        moves += symbols.len() * joint.places();
        if moves > MOVES_MAX {
            return None;
        }
        for &symbol in &symbols {
            let Some(next) = joint.step(symbol, &inner, &outer) else { continue };
            if seen.insert(next.clone()) {
                pending.push(next);
            }
        }
    }
    Some(true)
}

/// What a path is made of, up to scalars that neither pattern tells apart.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Symbol {
    Slash,
    Scalar(char),
}

/// Where both machines are after some text.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Joint {
    inner: Places,
    outer: Places,
    at_segment_start: bool,
}

impl Joint {
    /// The next joint place, unless the text so far can no longer become a path of the inner pattern.
    fn step(&self, symbol: Symbol, inner: &Machine, outer: &Machine) -> Option<Joint> {
        if self.at_segment_start && symbol == Symbol::Slash {
            return None;
        }
        let next = inner.step(&self.inner, symbol);
        if next.is_empty() {
            return None;
        }
        let at_segment_start = symbol == Symbol::Slash;
        Some(Joint { inner: next, outer: outer.step(&self.outer, symbol), at_segment_start })
    }

    /// How many places a step from here moves, at least one.
    fn places(&self) -> usize {
        1 + self.inner.iter().count() + self.outer.iter().count()
    }

    fn is_counterexample(&self, inner: &Machine, outer: &Machine) -> bool {
        !self.at_segment_start && inner.accepts(&self.inner) && !outer.accepts(&self.outer)
    }
}

/// A set of places of a machine.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Places(Vec<u64>);

impl Places {
    fn none(machine: &Machine) -> Self {
        Places(vec![0; machine.places.len().div_ceil(64)])
    }

    fn is_empty(&self) -> bool {
        self.0.iter().all(|word| *word == 0)
    }

    fn insert(&mut self, place: usize) -> bool {
        let Some(word) = self.0.get_mut(place / 64) else { return false };
        let bit = 1 << (place % 64);
        let is_new = *word & bit == 0;
        *word |= bit;
        is_new
    }

    fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.0.iter().enumerate().flat_map(|(index, &word)| {
            let mut left = word;
            std::iter::from_fn(move || {
                let bit = (left != 0).then(|| left.trailing_zeros() as usize)?;
                left &= left - 1;
                Some(index * 64 + bit)
            })
        })
    }
}

/// A place in a pattern and what may happen there. The place after it in order is the one it leads to.
enum Place {
    /// A scalar that the token accepts leads on.
    One(Token),
    /// Any scalar stays; nothing leads on.
    Run,
    /// A `/` leads on; a path may end here if the pattern does, or only `**` is left.
    SegmentEnd { path_may_end: bool },
    /// Before a segment taken by `**`: a scalar leads inside, nothing leads past it.
    GlobstarStart,
    /// In a segment taken by `**`: any scalar stays, a `/` leads back to its start.
    GlobstarInside { path_may_end: bool },
}

struct Machine {
    places: Vec<Place>,
    starts: Vec<usize>,
    /// The first place of the alternative after the one a place belongs to: `**` at the end leads nowhere.
    ends: Vec<usize>,
}

impl Machine {
    fn new(alternatives: &[Alternative]) -> Self {
        let mut machine = Machine { places: Vec::new(), starts: Vec::new(), ends: Vec::new() };
        for alternative in alternatives {
            machine.starts.push(machine.places.len());
            for (index, segment) in alternative.iter().enumerate() {
                machine.push(segment, &alternative[index + 1..]);
            }
            let end = machine.places.len();
            machine.ends.resize(end, end);
        }
        machine
    }

    fn push(&mut self, segment: &Segment, rest: &[Segment]) {
        let path_may_end = rest.iter().all(Segment::is_globstar);
        match segment {
            Segment::Globstar => {
                self.places.extend([Place::GlobstarStart, Place::GlobstarInside { path_may_end }]);
                return;
            }
            Segment::Literal(name) => {
                self.places.extend(name.chars().map(|scalar| Place::One(Token::Literal(scalar))));
            }
            Segment::Glob(tokens) => self.places.extend(tokens.iter().map(|token| match token {
                Token::Star => Place::Run,
                token => Place::One(token.clone()),
            })),
        }
        self.places.push(Place::SegmentEnd { path_may_end });
    }

    fn start(&self) -> Places {
        let mut places = Places::none(self);
        for &start in &self.starts {
            self.enter(&mut places, start);
        }
        places
    }

    /// Adds a place and those that nothing separates from it.
    fn enter(&self, places: &mut Places, mut place: usize) {
        while places.insert(place) {
            let beyond = match self.places.get(place) {
                Some(Place::Run) => place + 1,
                Some(Place::GlobstarStart) => place + 2,
                _ => return,
            };
            if self.ends.get(place).is_none_or(|end| beyond >= *end) {
                return;
            }
            place = beyond;
        }
    }

    fn step(&self, places: &Places, symbol: Symbol) -> Places {
        let mut next = Places::none(self);
        for place in places.iter() {
            if let Some(target) = self.target(place, symbol) {
                self.enter(&mut next, target);
            }
        }
        next
    }

    fn target(&self, place: usize, symbol: Symbol) -> Option<usize> {
        match (self.places.get(place)?, symbol) {
            (Place::One(token), Symbol::Scalar(scalar)) => token.accepts(scalar).then_some(place + 1),
            (Place::Run | Place::GlobstarInside { .. }, Symbol::Scalar(_)) => Some(place),
            (Place::GlobstarStart, Symbol::Scalar(_)) => Some(place + 1),
            (Place::GlobstarInside { .. }, Symbol::Slash) => Some(place - 1),
            (Place::SegmentEnd { .. }, Symbol::Slash) => {
                self.ends.get(place).is_some_and(|end| place + 1 < *end).then_some(place + 1)
            }
            _ => None,
        }
    }

    fn accepts(&self, places: &Places) -> bool {
        places.iter().any(|place| {
            matches!(
                self.places.get(place),
                Some(Place::SegmentEnd { path_may_end: true } | Place::GlobstarInside { path_may_end: true })
            )
        })
    }

    fn tokens(&self) -> impl Iterator<Item = &Token> {
        self.places.iter().filter_map(|place| match place {
            Place::One(token) => Some(token),
            _ => None,
        })
    }
}

/// The separator and one scalar of every stretch inside which no token of either pattern changes its mind.
fn symbols(inner: &Machine, outer: &Machine) -> Vec<Symbol> {
    let mut borders = vec![0];
    for token in inner.tokens().chain(outer.tokens()).filter(|token| **token != Token::Any) {
        for &(low, high) in token.scalars().ranges() {
            borders.extend([low, high.saturating_add(1)]);
        }
    }
    borders.sort_unstable();
    borders.dedup();
    let ends = borders.iter().skip(1).map(|border| border - 1).chain([u32::MAX]);
    let universe = ScalarSet::universe();
    let stretches = borders.iter().zip(ends).filter_map(|(&low, high)| {
        let stretch = ScalarSet::from_ranges(vec![(low, high)]).intersection(&universe);
        stretch.iter().next().map(Symbol::Scalar)
    });
    std::iter::once(Symbol::Slash).chain(stretches).collect()
}
