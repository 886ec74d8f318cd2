//! A path that two overlapping alternatives both match, built along the proof in `gaps`.

use super::gaps::{Compare, Flipped, gap_span, lay_over};
use super::overlap::{Segments, Tokens, may_be_reserved, short_name};
use super::token::{Segment, Token, is_reserved_name};

/// A path matched by both, if there is one.
pub(super) fn common_path(left: &[Segment], right: &[Segment]) -> Option<String> {
    let names = weave(left, right, &Segments, &common_name, None)?;
    if names.is_empty() { Some(FILLER.to_string()) } else { Some(names.join("/")) }
}

/// What stands in a gap where something must.
const FILLER: char = 'a';

/// A name matched by both segments, neither a globstar unless both are the same element.
fn common_name(left: &Segment, right: &Segment) -> Option<String> {
    match (left, right) {
        (Segment::Literal(name), other) | (other, Segment::Literal(name)) => {
            Segments.meets(&Segment::Literal(name.clone()), other).then(|| name.to_string())
        }
        (Segment::Glob(left), Segment::Glob(right)) if may_be_reserved(left) => short_name(left, right),
        (Segment::Glob(left), Segment::Glob(right)) if may_be_reserved(right) => short_name(right, left),
        (Segment::Glob(left), Segment::Glob(right)) => common_glob_name(left, right),
        (Segment::Globstar, _) | (_, Segment::Globstar) => None,
    }
}

fn common_glob_name(left: &[Token], right: &[Token]) -> Option<String> {
    let common = |left: &Token, right: &Token| left.common(right, &[]);
    let name: String = weave(left, right, &Tokens, &common, None)?.iter().collect();
    if !name.is_empty() && !is_reserved_name(&name) {
        return Some(name);
    }
    Some(weave(left, right, &Tokens, &common, Some(FILLER))?.iter().collect())
}

/// An instance of both sequences, element by element. An element that lies in the other's gap is paired
/// with itself. `filler` goes where both have a gap, if they do.
fn weave<E, O>(
    left: &[E],
    right: &[E],
    compare: &impl Compare<E, E>,
    common: &impl Fn(&E, &E) -> Option<O>,
    filler: Option<O>,
) -> Option<Vec<O>> {
    let left_span = gap_span(left, |element| compare.left_is_gap(element));
    let right_span = gap_span(right, |element| compare.right_is_gap(element));
    match (left_span, right_span) {
        (None, None) if left.len() != right.len() => None,
        (None, None) => left.iter().zip(right).map(|(l, r)| common(l, r)).collect(),
        (None, Some(_)) => weave_over(left, right, compare, common),
        (Some(_), None) => weave_over(right, left, &Flipped(compare), common),
        (Some(l), Some(r)) => {
            let between = |sequence: &[E], span: (usize, usize)| -> Option<Vec<O>> {
                let middle = sequence[span.0..span.1].iter();
                middle.filter(|e| !compare.left_is_gap(e)).map(|e| common(e, e)).collect()
            };
            let mut woven = pair_up(left[..l.0].iter(), right[..r.0].iter(), common)?;
            woven.extend(filler);
            woven.extend(between(left, l)?);
            woven.extend(between(right, r)?);
            let tails = pair_up(left[l.1 + 1..].iter().rev(), right[r.1 + 1..].iter().rev(), common)?;
            woven.extend(tails.into_iter().rev());
            Some(woven)
        }
    }
}

/// Instances of two runs side by side; where one ends, the other goes on alone.
fn pair_up<'e, E: 'e, O>(
    mut left: impl Iterator<Item = &'e E>,
    mut right: impl Iterator<Item = &'e E>,
    common: &impl Fn(&E, &E) -> Option<O>,
) -> Option<Vec<O>> {
    let mut paired = Vec::new();
    loop {
        match (left.next(), right.next()) {
            (Some(left), Some(right)) => paired.push(common(left, right)?),
            (Some(alone), None) | (None, Some(alone)) => paired.push(common(alone, alone)?),
            (None, None) => return Some(paired),
        }
    }
}

fn weave_over<E, O>(
    fixed: &[E],
    gapped: &[E],
    compare: &impl Compare<E, E>,
    common: &impl Fn(&E, &E) -> Option<O>,
) -> Option<Vec<O>> {
    let mut places = vec![None; fixed.len()];
    if !lay_over(fixed, gapped, compare, |at, on| places[at] = on) {
        return None;
    }
    let laid = fixed.iter().zip(places);
    laid.map(|(element, on)| common(element, on.and_then(|on| gapped.get(on)).unwrap_or(element))).collect()
}
