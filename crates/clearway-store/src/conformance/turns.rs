//! Turns: who is offered one, who keeps one, and whose was never its own.

use super::Story;
use super::handover::freeze;
use super::queue::{again, asks, ends, granted, offers, placed, queue};
use super::stage::*;
use clearway_core::command::{Await, Command, Stay};
use clearway_core::decide::Success;
use clearway_core::event::Body;
use clearway_core::facts::Liveness;
use clearway_core::ids::WaitId;
use clearway_core::limits::{FREEZE_MS, OFFER_MS, WAIT_MS_MAX};
use clearway_core::slug::Slug;
use clearway_core::wait::WaitEnd;

pub(super) const STORIES: &[Story] = &[
    ("whoever blocks a wait already may widen what it holds", widening),
    ("a subagent does not share before those who wait for what its family shares", more_of_the_same),
    ("a subagent that finds no free unit works on that of its parent", unit_of_the_parent),
    ("a unit that two of one family work on is one unit to others", one_unit_of_two),
    ("a place that was kept under a key is the same place when asked again", keyed_place),
];

fn widening(stage: &mut Stage) {
    stage.take("a", "src/a.rs");
    let wait = queue(stage, "w", "src/a.rs");
    stage.take("a", "src/**");
    assert_eq!(stage.refused("b", "src/a.rs", How::default()).len(), 2, "both are in its way");
    released(stage.release_inside(&named("a"), "src/**"));
    assert!(granted(&again(stage, "w", &wait, Stay::Durable)));
}

fn more_of_the_same(stage: &mut Stage) {
    let root = stage.reserve(&in_session("s"), &[path("f")], shared()).agent.unwrap().0;
    stage.register_child(&in_session("s/1"), root, "child001");
    queue(stage, "w", "f");
    refusal(stage.reserve(&in_session("s/1"), &[path("f")], shared()), Slug::ReservationHeld);
    leases(stage.reserve(&in_session("s/1"), &[path("g")], shared()));
}

fn slot(stage: &mut Stage, session: &str, capacity: u32) -> Option<u32> {
    let how = How { capacity, ..How::default() };
    only(leases(stage.reserve(&in_session(session), &[name("port")], how))).lease.slot
}

fn unit_of_the_parent(stage: &mut Stage) {
    assert_eq!(slot(stage, "s", 2), Some(0));
    let root = stage.agent_of(&in_session("s"));
    stage.register_child(&in_session("s/1"), root, "child001");
    assert_eq!(slot(stage, "x", 2), Some(1));
    assert_eq!(slot(stage, "s/1", 2), Some(0), "there are two, and the other is somebody else's");
    let full = How { capacity: 2, ..How::default() };
    refusal(stage.reserve(&in_session("y"), &[name("port")], full), Slug::ReservationHeld);
}

fn one_unit_of_two(stage: &mut Stage) {
    assert_eq!(slot(stage, "s", 1), Some(0));
    let root = stage.agent_of(&in_session("s"));
    stage.register_child(&in_session("s/1"), root, "child001");
    assert_eq!(slot(stage, "s/1", 1), Some(0));
    assert_eq!(slot(stage, "x", 2), Some(1), "another unit is free");
}

fn keyed_place(stage: &mut Stage) {
    stage.take("a", "f");
    stage.take("a", "g");
    let keyed = |stage: &mut Stage, target: &str| {
        let reserve = reservation(&[path(target)], &How::default());
        let request = Await { reserve, stay: Stay::Durable, wait_ms: WAIT_MS_MAX, wait: None };
        stage.execute(&named("b"), Command::Await(request), Some("key".to_owned()))
    };
    let first = keyed(stage, "f");
    let wait = placed(first.outcome.clone()).0;
    refusal(keyed(stage, "g"), Slug::IdempotencyMismatch);
    stage.command("b", super::queue::leave(Some(vec![wait.id])));
    let again = keyed(stage, "f");
    assert!(again.replayed && again.rev == first.rev, "{again:?}");
    assert!(matches!(again.outcome, Ok(Success::Queued { queued, .. }) if queued.wait.id == wait.id));
}
