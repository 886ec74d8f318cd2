//! Sequences with gaps, the one piece of theory behind overlap.
//!
//! A segment is a sequence of scalars in which `*` is a gap; a path is a sequence of segments in which `**`
//! is a gap. A gap takes any run of elements. Two such sequences have a common instance iff
//! - without gaps: they are equally long and meet element by element;
//! - with a gap in one: the other, of fixed length, can be laid over it, each stretch between gaps as far
//!   to the left as it goes (moving a stretch left never hurts those after it);
//! - with gaps in both: what stands before the first gap and after the last gap meets as far as both reach.
//!   Everything between fits into the other's gap, one after the other.
//!
//! This needs neither an automaton nor a table, and it is exact as long as every single element has an
//! instance, which the parser guarantees.

/// How the elements of two sequences relate.
pub(super) trait Compare<L, R> {
    fn left_is_gap(&self, left: &L) -> bool;
    fn right_is_gap(&self, right: &R) -> bool;
    fn meets(&self, left: &L, right: &R) -> bool;
}

/// Whether some sequence without gaps is an instance of both.
pub(super) fn meet<L, R>(left: &[L], right: &[R], compare: &impl Compare<L, R>) -> bool {
    let left_span = gap_span(left, |element| compare.left_is_gap(element));
    let right_span = gap_span(right, |element| compare.right_is_gap(element));
    match (left_span, right_span) {
        (None, None) => left.len() == right.len() && left.iter().zip(right).all(|(l, r)| compare.meets(l, r)),
        (None, Some(_)) => lay_over(left, right, compare, |_, _| {}),
        (Some(_), None) => lay_over(right, left, &Flipped(compare), |_, _| {}),
        (Some(l), Some(r)) => {
            let heads = left[..l.0].iter().zip(&right[..r.0]).all(|(l, r)| compare.meets(l, r));
            let tails = || {
                let (left, right) = (left[l.1 + 1..].iter().rev(), right[r.1 + 1..].iter().rev());
                left.zip(right).all(|(l, r)| compare.meets(l, r))
            };
            heads && tails()
        }
    }
}

/// Lays a sequence of fixed length over one with a gap. Reports for each fixed position which element of
/// the other it came to lie on (`None`: in a gap); a later report for a position replaces an earlier one.
///
/// What stands after the last gap has only one place to lie, so it is compared first: most pairs end there.
pub(super) fn lay_over<F, G>(
    fixed: &[F],
    gapped: &[G],
    compare: &impl Compare<F, G>,
    mut report: impl FnMut(usize, Option<usize>),
) -> bool {
    let Some(last_gap) = gapped.iter().rposition(|other| compare.right_is_gap(other)) else { return false };
    let (rest, tail) = gapped.split_at(last_gap + 1);
    let Some(tail_start) = fixed.len().checked_sub(tail.len()) else { return false };
    for (offset, (element, other)) in fixed[tail_start..].iter().zip(tail).enumerate() {
        if !compare.meets(element, other) {
            return false;
        }
        report(tail_start + offset, Some(rest.len() + offset));
    }
    lay_before_last_gap(&fixed[..tail_start], rest, compare, report)
}

fn lay_before_last_gap<F, G>(
    fixed: &[F],
    gapped: &[G],
    compare: &impl Compare<F, G>,
    mut report: impl FnMut(usize, Option<usize>),
) -> bool {
    let (mut at, mut on) = (0, 0);
    let mut retry: Option<(usize, usize)> = None;
    while let Some(element) = fixed.get(at) {
        match gapped.get(on) {
            Some(other) if compare.right_is_gap(other) => {
                on += 1;
                retry = Some((at, on));
            }
            Some(other) if compare.meets(element, other) => {
                report(at, Some(on));
                (at, on) = (at + 1, on + 1);
            }
            _ => {
                let Some((start, after_gap)) = retry else { return false };
                report(start, None);
                (at, on) = (start + 1, after_gap);
                retry = Some((at, on));
            }
        }
    }
    gapped[on..].iter().all(|other| compare.right_is_gap(other))
}

/// The positions of the first and the last gap.
pub(super) fn gap_span<E>(sequence: &[E], is_gap: impl Fn(&E) -> bool) -> Option<(usize, usize)> {
    let first = sequence.iter().position(&is_gap)?;
    let last = sequence.iter().rposition(&is_gap)?;
    Some((first, last))
}

/// A comparison seen from the other side.
pub(super) struct Flipped<'a, C>(pub(super) &'a C);

impl<L, R, C: Compare<R, L>> Compare<L, R> for Flipped<'_, C> {
    fn left_is_gap(&self, left: &L) -> bool {
        self.0.right_is_gap(left)
    }

    fn right_is_gap(&self, right: &R) -> bool {
        self.0.left_is_gap(right)
    }

    fn meets(&self, left: &L, right: &R) -> bool {
        self.0.meets(right, left)
    }
}
