//! Named resources.

use super::Story;
use super::stage::*;
use clearway_core::slug::Slug;

pub(super) const STORIES: &[Story] = &[
    ("a name and a path of the same text do not meet", two_spaces),
    ("a name is literal, never a pattern", literal),
    ("a resource has as many holders as it has units, each with its own slot", capacity),
    ("a freed slot is handed out again", slots),
    ("names are shared by every worktree of a scope", across_worktrees),
];

fn two_spaces(stage: &mut Stage) {
    leases(stage.reserve(&named("a"), &[name("build")], How::default()));
    stage.grant("b", "build", How::default());
    stage.grant("c", "*x*", How::default());
    refusal(stage.reserve(&named("b"), &[name("build")], How::default()), Slug::ReservationHeld);
}

fn literal(stage: &mut Stage) {
    leases(stage.reserve(&named("a"), &[name("a[*")], How::default()));
    leases(stage.reserve(&named("b"), &[name("build:*")], How::default()));
    leases(stage.reserve(&named("c"), &[name("build:ci")], How::default()));
    refusal(stage.reserve(&named("b"), &[name("a[*")], How::default()), Slug::ReservationHeld);
}

fn capacity(stage: &mut Stage) {
    let two = How { capacity: 2, ..How::default() };
    let first = only(leases(stage.reserve(&named("a"), &[name("gpu")], two.clone())));
    let second = only(leases(stage.reserve(&named("b"), &[name("gpu")], two.clone())));
    assert_eq!((first.lease.slot, second.lease.slot), (Some(0), Some(1)));
    let failure = refusal(stage.reserve(&named("c"), &[name("gpu")], two.clone()), Slug::ReservationHeld);
    assert_eq!(blockers(&failure).len(), 2);
    let again = only(leases(stage.reserve(&named("a"), &[name("gpu")], two)));
    assert_eq!(again.lease.id, first.lease.id, "a holder holds a resource once");
}

fn slots(stage: &mut Stage) {
    let three = How { capacity: 3, ..How::default() };
    let held: Vec<_> = ["a", "b", "c"]
        .map(|agent| only(leases(stage.reserve(&named(agent), &[name("n")], three.clone()))))
        .into();
    stage.release(&named("b"), by_id(&held[1]));
    let next = only(leases(stage.reserve(&named("d"), &[name("n")], three)));
    assert_eq!(next.lease.slot, Some(1));
}

fn across_worktrees(stage: &mut Stage) {
    use clearway_core::target::Worktree;
    leases(stage.reserve(&named("a"), &[name("db")], How::default()));
    let elsewhere = How { worktree: Worktree("/other".to_owned()), ..How::default() };
    refusal(stage.reserve(&named("b"), &[name("db")], elsewhere), Slug::ReservationHeld);
}
