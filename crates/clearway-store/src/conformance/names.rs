//! Named resources.

use super::Story;
use super::stage::*;
use clearway_core::lease::Mode;
use clearway_core::slug::Slug;

pub(super) const STORIES: &[Story] = &[
    ("a name and a path of the same text do not meet", two_spaces),
    ("a name is literal, never a pattern", literal),
    ("a resource has as many holders as it has units, each with its own slot", capacity),
    ("a freed slot is handed out again", slots),
    ("a unit stays the same one through an upgrade and a downgrade", one_unit),
    ("nobody shares a resource beside somebody who holds a unit of it alone", no_sharing_beside),
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

fn one_unit(stage: &mut Stage) {
    let two = How { capacity: 2, ..How::default() };
    let take = |stage: &mut Stage, agent: &str, mode: Mode| {
        only(leases(stage.reserve(&named(agent), &[name("n")], How { mode, ..two.clone() })))
    };
    let first = take(stage, "a", Mode::Exclusive);
    let mine = take(stage, "b", Mode::Exclusive);
    stage.release(&named("a"), by_id(&first));
    for mode in [Mode::Shared, Mode::Exclusive] {
        let now = take(stage, "b", mode);
        assert_eq!((now.lease.id, now.lease.slot, now.lease.mode), (mine.lease.id, Some(1), mode));
    }
    stage.release(&named("b"), by_id(&mine));
    assert_eq!(take(stage, "c", Mode::Shared).lease.slot, None, "sharing takes no unit");
    assert_eq!(take(stage, "c", Mode::Exclusive).lease.slot, Some(0), "an exclusive holder has one");
}

fn no_sharing_beside(stage: &mut Stage) {
    let two = How { capacity: 2, ..How::default() };
    for agent in ["a", "b"] {
        leases(stage.reserve(&named(agent), &[name("n")], two.clone()));
    }
    let share = How { mode: Mode::Shared, ..two.clone() };
    let failure = refusal(stage.reserve(&named("a"), &[name("n")], share), Slug::ReservationHeld);
    assert_eq!(blockers(&failure)[0].agent.as_str(), "b");
    let kept = only(leases(stage.reserve(&named("a"), &[name("n")], two)));
    assert_eq!((kept.lease.mode, kept.lease.slot), (Mode::Exclusive, Some(0)), "and a keeps its unit");
}

fn across_worktrees(stage: &mut Stage) {
    use clearway_core::target::Worktree;
    leases(stage.reserve(&named("a"), &[name("db")], How::default()));
    let elsewhere = How { worktree: Worktree("/other".to_owned()), ..How::default() };
    refusal(stage.reserve(&named("b"), &[name("db")], elsewhere), Slug::ReservationHeld);
}
