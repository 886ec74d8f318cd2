//! Turns: who is offered one, who keeps one, and whose was never its own.

use super::Story;
use super::handover::freeze;
use super::queue::{again, asks, ends, granted, offers, placed, queue};
use super::stage::*;
use clearway_core::command::{Await, Command, Stay};
use clearway_core::decide::Success;
use clearway_core::event::Body;
use clearway_core::facts::ProcessLife;
use clearway_core::ids::WaitId;
use clearway_core::limits::{FREEZE_MS, OFFER_MS, WAIT_MS_MAX};
use clearway_core::slug::Slug;
use clearway_core::wait::WaitEnd;

pub(super) const STORIES: &[Story] = &[
    ("whoever blocks a wait already may widen what it holds", widening),
    ("a subagent does not share before those who wait for what its family shares", more_of_the_same),
    ("a caller that is turned away still brings others their turn", denied),
    ("a turn that a pause kept from being taken is not held against its waiter", offered_then_frozen),
    ("a turn that ran out with the pause is not held against its waiter", offered_until_the_thaw),
    ("a turn that an upgrade took away is not held against its waiter", offered_then_overtaken),
    ("a wait to share is over when its agent shares all of it", shared_and_fulfilled),
    ("a place that was given up is not taken anew by its name", not_rejoined),
    ("a sweep offers the turn of those who wait for somebody dead", behind_the_dead),
    ("a sweep forgets the places of agents that died", dead_waiter_swept),
    ("an operator that ends a wait is named", named_operator),
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

fn denied(stage: &mut Stage) {
    leases(stage.reserve(&in_session("s"), &[path("other")], How::default()));
    let taken = stage.events().into_iter().find_map(|event| match event.body {
        Body::AgentRegistered(agent) => Some(agent.name),
        _ => None,
    });
    stage.grant("a", "f", ttl(60_000));
    let wait = queue(stage, "w", "f");
    stage.pass(60_000);
    let name = taken.unwrap();
    refusal(stage.reserve(&named(name.as_str()), &[path("f")], How::default()), Slug::NotYou);
    assert_eq!(offers(stage), [wait.id], "the lease in its way is over");
}

fn place(stage: &mut Stage, wait: WaitId) -> (u64, u32) {
    let kept = stage.waits().into_iter().find(|view| view.wait.id == wait).unwrap().wait;
    (kept.place.0, kept.offers)
}

fn offered(stage: &mut Stage) -> WaitId {
    let held = stage.take("a", "f");
    let wait = queue(stage, "b", "f");
    released(stage.release(&named("a"), by_id(&held)));
    assert_eq!(offers(stage), [wait.id]);
    wait.id
}

fn offered_then_frozen(stage: &mut Stage) {
    let wait = offered(stage);
    let (before, _) = place(stage, wait);
    freeze(stage);
    stage.pass(OFFER_MS);
    stage.sweep();
    assert_eq!(place(stage, wait), (before, 0));
    stage.execute(&operator(77, "done"), Command::Thaw, None);
    assert_eq!(offers(stage), [wait, wait]);
    assert_eq!(place(stage, wait), (before, 1));
}

fn offered_until_the_thaw(stage: &mut Stage) {
    let wait = offered(stage);
    let (before, _) = place(stage, wait);
    freeze(stage);
    stage.pass(FREEZE_MS.max(OFFER_MS));
    stage.sweep();
    assert_eq!(place(stage, wait), (before, 1), "the turn is offered anew, for the first time");
}

fn offered_then_overtaken(stage: &mut Stage) {
    let own = stage.grant("a", "x", shared());
    let other = stage.take("b", "y");
    let wait = placed(asks(stage, &named("w"), &[path("x"), path("y")], &shared(), Stay::Durable)).0;
    released(stage.release(&named("b"), by_id(&other)));
    assert_eq!(offers(stage), [wait.id]);
    stage.take("a", "x");
    stage.pass(OFFER_MS);
    stage.sweep();
    assert_eq!(place(stage, wait.id), (wait.place.0, 0));
    released(stage.release(&named("a"), by_id(&own)));
    assert_eq!(offers(stage), [wait.id, wait.id]);
}

fn shared_and_fulfilled(stage: &mut Stage) {
    let held = stage.take("a", "g");
    let wait = placed(asks(stage, &named("b"), &[path("f"), path("g")], &shared(), Stay::Durable)).0;
    stage.grant("b", "f", shared());
    released(stage.release(&named("a"), by_id(&held)));
    stage.grant("b", "g", shared());
    assert_eq!(ends(stage), [(wait.id, WaitEnd::Granted)]);
}

fn not_rejoined(stage: &mut Stage) {
    stage.take("a", "f");
    let wait = queue(stage, "b", "f");
    stage.command("b", super::queue::leave(Some(vec![wait.id])));
    let before = stage.stored_events().len();
    for stay in [Stay::Attached(process(11)), Stay::Durable] {
        assert_eq!(again(stage, "b", &wait, stay).unwrap_err().slug, Slug::NotFound);
    }
    assert_eq!(stage.stored_events().len(), before, "nobody waits, and nothing is written");
    assert_eq!(again(stage, "b", &wait, Stay::Last).unwrap_err().slug, Slug::ReservationHeld);
}

fn behind_the_dead(stage: &mut Stage) {
    leases(stage.reserve(&at_terminal(9), &[path("f")], How::default()));
    let wait = queue(stage, "b", "f");
    stage.world.processes.insert(9, ProcessLife::Dead);
    stage.sweep();
    assert_eq!(offers(stage), [wait.id]);
    stage.take("b", "f");
}

fn dead_waiter_swept(stage: &mut Stage) {
    let held = stage.take("a", "f");
    let dead = placed(asks(stage, &at_terminal(9), &[path("f")], &How::default(), Stay::Durable)).0;
    let next = queue(stage, "b", "f");
    released(stage.release(&named("a"), by_id(&held)));
    stage.world.processes.insert(9, ProcessLife::Dead);
    stage.sweep();
    assert_eq!(ends(stage), [(dead.id, WaitEnd::Gone)]);
    assert_eq!(offers(stage), [dead.id, next.id]);
}

fn named_operator(stage: &mut Stage) {
    stage.take("a", "f");
    let wait = queue(stage, "b", "f");
    stage.execute(&operator(77, "b hangs"), super::queue::leave(Some(vec![wait.id])), None);
    let ended = stage.events().into_iter().find(|event| matches!(event.body, Body::WaitEnded { .. }));
    assert!(ended.unwrap().actor.agent.is_some(), "somebody did it");
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
