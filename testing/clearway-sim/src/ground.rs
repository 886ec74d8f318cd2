//! What there is to reserve, with the truth about what overlaps what, written down by hand.
//!
//! The invariants must not be judged with the pattern code that the decisions use, so every pattern of a life comes
//! from this table and stands for the set of files beside it.

use crate::rng::Rng;
use clearway_core::command::{Reserve, Want};
use clearway_core::lease::Lease;
use clearway_core::pattern::{Fold, Pattern};
use clearway_core::target::{ResourceName, Target, Worktree};

/// Files of the imagined repository, one bit each.
const A: u16 = 1;
const B: u16 = 2;
const LIB: u16 = 4;
const LIB_DIRECTORY: u16 = 8;
const SRC_DIRECTORY: u16 = 16;
const DOC: u16 = 32;
const DOCS_DIRECTORY: u16 = 64;
const TOP: u16 = 128;
const OTHER: u16 = 256;

/// Every pattern of a life and the files it matches.
const PATHS: [(&str, u16); 9] = [
    ("src/a.rs", A),
    ("src/b.rs", B),
    ("src/*.rs", A | B | OTHER),
    ("src/lib/x.rs", LIB),
    ("src/lib/**", LIB | LIB_DIRECTORY),
    ("src/**", A | B | OTHER | LIB | LIB_DIRECTORY | SRC_DIRECTORY),
    ("docs/d.md", DOC),
    ("docs/**", DOC | DOCS_DIRECTORY),
    ("**", A | B | OTHER | LIB | LIB_DIRECTORY | SRC_DIRECTORY | DOC | DOCS_DIRECTORY | TOP),
];

/// Every name of a life and how many may hold it.
const NAMES: [(&str, u32); 3] = [("build", 1), ("pool", 2), ("trio", 3)];

/// How many different paths there are.
pub(crate) const PATH_COUNT: usize = PATHS.len();
const NAME_COUNT: usize = NAMES.len();

/// The path with this number.
pub(crate) fn path(number: usize) -> Want {
    let pattern = Pattern::parse(PATHS[number].0, Fold::Exact).expect("the table holds patterns");
    Want { target: Target::Path(pattern), capacity: 1 }
}

fn name(number: usize) -> Want {
    let (text, capacity) = NAMES[number];
    Want { target: Target::Name(ResourceName::parse(text).expect("the table holds names")), capacity }
}

/// What there is to reserve in one life: all of it, or so little that everybody meets.
pub(crate) fn field(rng: &mut Rng) -> Vec<Want> {
    let all: Vec<Want> = (0..PATH_COUNT).map(path).chain((0..NAME_COUNT).map(name)).collect();
    let few = 2 + rng.below(4);
    if rng.one_in(3) { all } else { (0..few).map(|_| rng.pick(&all)).collect() }
}

/// How many may hold a target at once.
pub(crate) fn capacity(target: &Target) -> usize {
    match target {
        Target::Path(_) => 1,
        Target::Name(name) => {
            NAMES.iter().find(|(text, _)| *text == name.as_str()).map_or(1, |(_, count)| *count as usize)
        }
    }
}

/// Where a target is: names are everywhere, paths in one checkout.
fn files(target: &Target) -> u16 {
    PATHS.iter().find(|(text, _)| *text == target.canonical()).map_or(u16::MAX, |(_, files)| *files)
}

/// Whether two targets share something.
pub(crate) fn overlap(one: &Target, here: &Worktree, other: &Target, there: &Worktree) -> bool {
    match (one, other) {
        (Target::Path(_), Target::Path(_)) => here == there && files(one) & files(other) != 0,
        (Target::Name(one), Target::Name(other)) => one == other,
        _ => false,
    }
}

/// Whether all of `inner` is part of `outer`.
pub(crate) fn within(inner: &Target, here: &Worktree, outer: &Target, there: &Worktree) -> bool {
    match (inner, outer) {
        (Target::Path(_), Target::Path(_)) => here == there && files(inner) & !files(outer) == 0,
        (Target::Name(one), Target::Name(other)) => one == other,
        _ => false,
    }
}

/// What a lease is on: its target, without what was taken out of it.
fn held(lease: &Lease) -> u16 {
    lease.ceded.iter().fold(files(&lease.target), |held, ceded| held & !files(ceded))
}

/// Whether a lease is on some of a target.
pub(crate) fn meets(lease: &Lease, target: &Target, worktree: &Worktree) -> bool {
    overlap(target, worktree, &lease.target, &lease.worktree)
        && (!matches!(target, Target::Path(_)) || files(target) & held(lease) != 0)
}

/// Whether two leases have something in common.
pub(crate) fn meet(one: &Lease, other: &Lease) -> bool {
    meets(one, &other.target, &other.worktree)
        && (!matches!(one.target, Target::Path(_)) || held(one) & held(other) != 0)
}

/// Whether all of a target is under a lease.
pub(crate) fn covers(lease: &Lease, target: &Target, worktree: &Worktree) -> bool {
    within(target, worktree, &lease.target, &lease.worktree)
        && (!matches!(target, Target::Path(_)) || files(target) & !held(lease) == 0)
}

/// Whether a request is for something that a lease is on.
pub(crate) fn asks_for(reserve: &Reserve, lease: &Lease) -> bool {
    reserve.wants.iter().any(|want| meets(lease, &want.target, &reserve.worktree))
}

/// Whether a request is for something that shares something with a target.
pub(crate) fn touches(reserve: &Reserve, target: &Target, worktree: &Worktree) -> bool {
    reserve.wants.iter().any(|want| overlap(&want.target, &reserve.worktree, target, worktree))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_agrees_with_the_pattern_language() {
        let here = Worktree("/w".to_owned());
        for one in (0..PATH_COUNT).map(path) {
            assert_ne!(files(&one.target), u16::MAX, "{} is canonical", one.target.canonical());
            for other in (0..PATH_COUNT).map(path) {
                let told = one.target.overlaps(&other.target);
                assert_eq!(overlap(&one.target, &here, &other.target, &here), told, "{one:?} {other:?}");
                let told = other.target.contains(&one.target);
                assert_eq!(within(&one.target, &here, &other.target, &here), told, "{one:?} {other:?}");
            }
        }
    }
}
