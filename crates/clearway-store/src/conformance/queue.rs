//! Waiting: first come, first served, nobody barges, nobody waits for ever.

use super::Story;
use super::stage::*;
use clearway_core::agent::Caller;
use clearway_core::command::{Await, Command, Leave, Stay};
use clearway_core::decide::Success;
use clearway_core::event::Body;
use clearway_core::facts::ProcessLife;
use clearway_core::failure::{Circle, Details, Failure};
use clearway_core::ids::WaitId;
use clearway_core::limits::{FREEZE_MS, OFFER_MS, WAIT_MS_MAX, WAITER_SILENCE_MS, WAITS_PER_AGENT_MAX};
use clearway_core::slug::Slug;
use clearway_core::target::Target;
use clearway_core::wait::{Wait, WaitEnd};

pub(super) const STORIES: &[Story] = &[
    ("whoever came first is served first, and nobody barges in between", first_come),
    ("a reader that comes after a waiting writer waits behind it", readers_cannot_starve_a_writer),
    ("a place is kept, not taken anew, when the same is asked again", same_place),
    ("an agent without a process is offered its turn and takes it by asking", offer_taken),
    ("what is offered is free: what would have made way for it makes way", offer_makes_room),
    ("what a tool call is about to write makes way for no turn", in_hand_at_the_offer),
    ("an offer that is not taken passes on, and twice is enough", offer_passes_on),
    ("a killed waiter leaves nothing that blocks others", killed_waiter),
    ("a silent waiter leaves nothing that blocks others", silent_waiter),
    ("a place kept without a process outlives one that came to wait at it", kept_again),
    ("whoever asks again for a place whose waiter was killed has that place", found_again),
    ("who is turned away is told of others that wait, and of living ones alone", living_waiters),
    ("a wait that ends in time is a wait no more", last_try),
    ("who holds something may add to it before those who wait for it", extending_a_set),
    ("two that wait for each other: the second is refused with the circle", two_way_circle),
    ("three that wait for each other: the third is refused with the circle", three_way_circle),
    ("a child that waits for somebody who waits for its parent closes a circle", circle_through_a_parent),
    ("an upgrade goes before those who wait, and a second one is refused", upgrades),
    ("units of a resource are given out in order", units),
    ("leaving the queue lets the next one through, and only the waiter may leave", leaving),
    ("a person may end a wait of somebody else, with a reason", ended_by_a_person),
    ("a new boot empties the queue", reboot),
    ("what was over long ago brings nobody's turn", the_past_brings_no_turn),
    ("an agent has so many places and no more", quota),
    ("making the rows anew forgets no sign of a waiter's life", rebuilt),
];

pub(super) fn asks(
    stage: &mut Stage,
    caller: &Caller,
    targets: &[Target],
    how: &How,
    stay: Stay,
) -> Result<Success, Failure> {
    let reserve = reservation(targets, how);
    let request = Await { reserve, stay, wait_ms: WAIT_MS_MAX, wait: None };
    stage.execute(caller, Command::Await(request), None).outcome
}

pub(super) fn again(stage: &mut Stage, agent: &str, wait: &Wait, stay: Stay) -> Result<Success, Failure> {
    let request = Await { reserve: wait.wanted.clone(), stay, wait_ms: WAIT_MS_MAX, wait: Some(wait.id) };
    stage.execute(&named(agent), Command::Await(request), None).outcome
}

/// Takes a place without a process.
pub(super) fn queue(stage: &mut Stage, agent: &str, pattern: &str) -> Wait {
    placed(asks(stage, &named(agent), &[path(pattern)], &How::default(), Stay::Durable)).0
}

/// Takes a place at which the process with this number waits.
fn attach(stage: &mut Stage, agent: &str, pattern: &str, pid: u32) -> Wait {
    placed(asks(stage, &named(agent), &[path(pattern)], &How::default(), Stay::Attached(process(pid)))).0
}

pub(super) fn placed(outcome: Result<Success, Failure>) -> (Wait, u64) {
    match outcome {
        Ok(Success::Queued { queued, .. }) => (queued.wait, queued.position),
        other => panic!("not queued: {other:?}"),
    }
}

pub(super) fn granted(outcome: &Result<Success, Failure>) -> bool {
    matches!(outcome, Ok(Success::Reserved { .. }))
}

pub(super) fn circle(outcome: Result<Success, Failure>) -> Circle {
    match outcome {
        Err(Failure { slug: Slug::WouldDeadlock, details: Details::Circle(circle), .. }) => *circle,
        other => panic!("no circle: {other:?}"),
    }
}

/// How the waits ended, in order.
pub(super) fn ends(stage: &mut Stage) -> Vec<(WaitId, WaitEnd)> {
    let ended = |body: Body| match body {
        Body::WaitEnded { wait, cause, .. } => Some((wait, cause)),
        _ => None,
    };
    stage.events().into_iter().filter_map(|event| ended(event.body)).collect()
}

fn first_come(stage: &mut Stage) {
    let held = stage.take("a", "f");
    let first = attach(stage, "b", "f", 11);
    let second = attach(stage, "c", "f", 12);
    released(stage.release(&named("a"), by_id(&held)));
    assert_eq!(stage.refused("d", "f", How::default()).len(), 0, "nobody holds it, yet it is not for d");
    assert_eq!(placed(again(stage, "c", &second, Stay::Attached(process(12)))).1, 2);
    assert!(granted(&again(stage, "b", &first, Stay::Attached(process(11)))));
    assert_eq!(ends(stage), [(first.id, WaitEnd::Granted)]);
    assert_eq!(placed(again(stage, "c", &second, Stay::Attached(process(12)))).1, 1);
}

fn readers_cannot_starve_a_writer(stage: &mut Stage) {
    let reader = stage.grant("r1", "f", shared());
    let writer = queue(stage, "w", "f");
    assert_eq!(stage.refused("r2", "f", shared()).len(), 0, "the reader stands behind the writer");
    released(stage.release(&named("r1"), by_id(&reader)));
    refusal(stage.reserve(&named("r2"), &[path("f")], shared()), Slug::ReservationHeld);
    assert!(granted(&again(stage, "w", &writer, Stay::Durable)));
}

fn same_place(stage: &mut Stage) {
    stage.take("a", "f");
    let first = queue(stage, "b", "f");
    let before = stage.stored_events().len();
    assert_eq!(queue(stage, "b", "f").id, first.id);
    assert_eq!(stage.stored_events().len(), before, "asking again is no event");
    let attached = attach(stage, "b", "f", 11);
    assert_eq!((attached.id, attached.place), (first.id, first.place));
}

fn offer_taken(stage: &mut Stage) {
    let held = stage.take("a", "src/**");
    let wait = queue(stage, "b", "src/f");
    released(stage.release(&named("a"), by_id(&held)));
    assert!(stage.kinds().contains(&"wait.offered"), "{:?}", stage.kinds());
    refusal(stage.reserve(&named("c"), &[path("src/f")], How::default()), Slug::ReservationHeld);
    stage.take("c", "src/g");
    stage.take("b", "src/f");
    assert_eq!(ends(stage), [(wait.id, WaitEnd::Granted)]);
}

fn offer_makes_room(stage: &mut Stage) {
    stage.grant("ann", "f", auto());
    stage.world.dirty.insert("f".to_owned());
    queue(stage, "bob", "f");
    stage.world.dirty.clear();
    stage.sweep();
    assert!(stage.kinds().ends_with(&["lease.yielded", "wait.offered"]), "{:?}", stage.kinds());
    assert!(stage.refused("ann", "f", auto()).is_empty(), "nobody holds it, and it is kept for bob");
}

/// However much of the past of a path an engine brings along.
fn the_past_brings_no_turn(stage: &mut Stage) {
    let over = [("z", "src/**"), ("y", "src/notes.md")].map(|(agent, pattern)| {
        let held = stage.take(agent, pattern);
        released(stage.release(&named(agent), by_id(&held)));
        held
    });
    let held = stage.take("a", "src/one.rs");
    queue(stage, "b", "src/*.rs");
    stage.execute(&operator(77, "release day"), Command::Freeze { for_ms: FREEZE_MS }, None);
    released(stage.release(&named("a"), by_id(&held)));
    stage.pass(FREEZE_MS);
    stage.release(&named("y"), by_id(&over[1]));
    assert!(!stage.kinds().contains(&"wait.offered"), "it ended nothing that b waits for");
    stage.sweep();
    assert_eq!(stage.kinds().last(), Some(&"wait.offered"));
}

fn in_hand_at_the_offer(stage: &mut Stage) {
    stage.grant("ann", "f", auto());
    stage.world.dirty.insert("f".to_owned());
    queue(stage, "bob", "f");
    queue(stage, "cyd", "f");
    stage.world.dirty.clear();
    let bob = Caller { hook: true, ..named("bob") };
    let granted = stage.reserve(&bob, &[path("f")], auto()).outcome;
    assert!(matches!(granted, Ok(Success::Reserved { .. })), "{granted:?}");
    assert!(offers(stage).is_empty(), "the call has not written yet");
    let holders = stage.check(&named("dan"), &[path("f")], &How::default());
    assert_eq!(holders.iter().map(|held| held.agent.as_str()).collect::<Vec<_>>(), ["bob"]);
}

fn offer_passes_on(stage: &mut Stage) {
    let held = stage.take("a", "f");
    let absent = queue(stage, "b", "f");
    released(stage.release(&named("a"), by_id(&held)));
    let other = placed(asks(stage, &named("c"), &[path("f")], &How::default(), Stay::Durable)).0;
    stage.pass(OFFER_MS);
    stage.sweep();
    let offered: Vec<WaitId> = offers(stage);
    assert_eq!(offered, [absent.id, other.id], "the next one has the turn");
    stage.pass(OFFER_MS);
    stage.sweep();
    assert_eq!(offers(stage), [absent.id, other.id, absent.id]);
    stage.pass(OFFER_MS);
    stage.sweep();
    assert_eq!(ends(stage), [(absent.id, WaitEnd::Lapsed)]);
    stage.pass(OFFER_MS);
    stage.take("d", "f");
}

pub(super) fn offers(stage: &mut Stage) -> Vec<WaitId> {
    let offered = |body: Body| match body {
        Body::WaitOffered { wait, .. } => Some(wait),
        _ => None,
    };
    stage.events().into_iter().filter_map(|event| offered(event.body)).collect()
}

fn killed_waiter(stage: &mut Stage) {
    let held = stage.take("a", "f");
    let wait = attach(stage, "b", "f", 11);
    released(stage.release(&named("a"), by_id(&held)));
    refusal(stage.reserve(&named("c"), &[path("f")], How::default()), Slug::ReservationHeld);
    stage.world.processes.insert(11, ProcessLife::Dead);
    stage.take("c", "f");
    assert_eq!(ends(stage), [(wait.id, WaitEnd::Gone)]);
}

fn silent_waiter(stage: &mut Stage) {
    let held = stage.take("a", "f");
    let wait = attach(stage, "b", "f", 11);
    stage.pass(WAITER_SILENCE_MS - 1);
    placed(again(stage, "b", &wait, Stay::Attached(process(11))));
    released(stage.release(&named("a"), by_id(&held)));
    stage.pass(WAITER_SILENCE_MS - 1);
    refusal(stage.reserve(&named("c"), &[path("f")], How::default()), Slug::ReservationHeld);
    stage.pass(1);
    stage.take("c", "f");
    assert_eq!(ends(stage), [(wait.id, WaitEnd::Silent)]);
    assert_eq!(again(stage, "b", &wait, Stay::Attached(process(11))).unwrap_err().slug, Slug::NotFound);
    let late = attach(stage, "b", "f", 11);
    assert!(late.id != wait.id && late.place > wait.place, "whoever comes back stands at the end");
}

fn kept_again(stage: &mut Stage) {
    for (how, pid) in [("killed", 21), ("silent", 22)] {
        let held = stage.take("a", "f");
        let place = queue(stage, "b", "f");
        assert_eq!(placed(again(stage, "b", &place, Stay::Attached(process(pid)))).0.place, place.place);
        match how {
            "killed" => drop(stage.world.processes.insert(pid, ProcessLife::Dead)),
            _ => stage.pass(WAITER_SILENCE_MS),
        }
        refusal(stage.reserve(&named("c"), &[path("f")], How::default()), Slug::ReservationHeld);
        let kept = stage.waits();
        assert_eq!((kept[0].wait.id, kept[0].wait.place), (place.id, place.place), "{how}");
        assert_eq!((&kept[0].wait.attached, kept[0].wait.until), (&None, place.until), "{how}");
        released(stage.release(&named("a"), by_id(&held)));
        assert!(stage.waits()[0].wait.offered_until.is_some(), "{how}: it is offered its turn");
        refusal(stage.reserve(&named("c"), &[path("f")], How::default()), Slug::ReservationHeld);
        let own = stage.take("b", "f");
        assert_eq!(ends(stage).last(), Some(&(place.id, WaitEnd::Granted)), "{how}");
        released(stage.release(&named("b"), by_id(&own)));
        stage.must_be_whole();
    }
}

fn found_again(stage: &mut Stage) {
    stage.take("a", "f");
    let place = queue(stage, "b", "f");
    placed(again(stage, "b", &place, Stay::Attached(process(41))));
    stage.world.processes.insert(41, ProcessLife::Dead);
    assert_eq!(queue(stage, "b", "f").id, place.id);
    assert_eq!(stage.waits().len(), 1);
}

fn living_waiters(stage: &mut Stage) {
    let waiters = |stage: &mut Stage, agent: &str| stage.refused(agent, "f", How::default())[0].waiters;
    stage.take("a", "f");
    queue(stage, "b", "f");
    assert_eq!(waiters(stage, "b"), 0, "it is the caller that waits");
    attach(stage, "c", "f", 31);
    assert_eq!(waiters(stage, "d"), 2);
    stage.world.processes.insert(31, ProcessLife::Dead);
    assert_eq!(waiters(stage, "d"), 1, "c is dead");
    attach(stage, "e", "f", 32);
    let last = attach(stage, "d", "f", 33);
    stage.world.processes.insert(32, ProcessLife::Dead);
    let failure = again(stage, "d", &last, Stay::Last).unwrap_err();
    assert_eq!(blockers(&failure)[0].waiters, 1, "e is dead too");
}

fn last_try(stage: &mut Stage) {
    let held = stage.take("a", "f");
    let wait = attach(stage, "b", "f", 11);
    let failure = again(stage, "b", &wait, Stay::Last).unwrap_err();
    assert_eq!(failure.slug, Slug::ReservationHeld);
    assert_eq!(ends(stage), [(wait.id, WaitEnd::TimedOut)]);
    let wait = attach(stage, "b", "f", 11);
    released(stage.release(&named("a"), by_id(&held)));
    assert!(granted(&again(stage, "b", &wait, Stay::Last)), "the last try is a try");
    let queued = attach(stage, "c", "f", 12);
    let kept = placed(again(stage, "c", &queued, Stay::Durable)).0;
    assert_eq!((kept.id, kept.attached), (queued.id, None), "whoever stops waiting may keep its place");
}

fn extending_a_set(stage: &mut Stage) {
    stage.take("a", "src/one");
    queue(stage, "b", "src/**");
    stage.take("a", "src/two");
    assert_eq!(stage.refused("c", "src/three", How::default()).len(), 0);
}

fn two_way_circle(stage: &mut Stage) {
    stage.take("a", "x");
    let young = stage.take("b", "y");
    queue(stage, "a", "y");
    let found = circle(asks(stage, &named("b"), &[path("x")], &How::default(), Stay::Durable));
    let agents: Vec<&str> = found.steps.iter().map(|step| step.agent.as_str()).collect();
    assert_eq!(agents, ["b", "a"]);
    assert_eq!(found.yielder.map(|(_, lease, _)| lease), Some(young.lease.id), "the youngest lease yields");
    refusal(stage.reserve(&named("b"), &[path("x")], How::default()), Slug::ReservationHeld);
}

fn three_way_circle(stage: &mut Stage) {
    for (agent, held) in [("a", "x"), ("b", "y"), ("c", "z")] {
        stage.take(agent, held);
    }
    queue(stage, "a", "y");
    queue(stage, "b", "z");
    let found = circle(asks(stage, &named("c"), &[path("x")], &How::default(), Stay::Durable));
    let agents: Vec<&str> = found.steps.iter().map(|step| step.agent.as_str()).collect();
    assert_eq!(agents, ["c", "a", "b"]);
    queue(stage, "d", "x");
}

fn circle_through_a_parent(stage: &mut Stage) {
    let root = stage.reserve(&in_session("s"), &[path("x")], How::default()).agent.unwrap().0;
    stage.register_child(&in_session("s/1"), root, "child001");
    stage.take("g", "y");
    queue(stage, "g", "x");
    circle(asks(stage, &in_session("s/1"), &[path("y")], &How::default(), Stay::Durable));
    placed(asks(stage, &named("h"), &[path("y")], &How::default(), Stay::Durable));
}

fn upgrades(stage: &mut Stage) {
    let other = stage.grant("a", "f", shared());
    stage.grant("b", "f", shared());
    queue(stage, "w", "f");
    let first = placed(asks(stage, &named("b"), &[path("f")], &How::default(), Stay::Durable)).0;
    circle(asks(stage, &named("a"), &[path("f")], &How::default(), Stay::Durable));
    released(stage.release(&named("a"), by_id(&other)));
    assert!(granted(&again(stage, "b", &first, Stay::Durable)), "before the one who waited longer");
}

fn units(stage: &mut Stage) {
    let two = How { capacity: 2, ..How::default() };
    let unit = |stage: &mut Stage, agent: &str| {
        asks(stage, &named(agent), &[name("build")], &How { capacity: 2, ..How::default() }, Stay::Durable)
    };
    let first = only(leases(stage.reserve(&named("a"), &[name("build")], two.clone())));
    let second = only(leases(stage.reserve(&named("b"), &[name("build")], two.clone())));
    let early = placed(unit(stage, "c")).0;
    let late = placed(unit(stage, "d")).0;
    released(stage.release(&named("a"), by_id(&first)));
    refusal(stage.reserve(&named("e"), &[name("build")], two.clone()), Slug::ReservationHeld);
    released(stage.release(&named("b"), by_id(&second)));
    assert!(granted(&again(stage, "d", &late, Stay::Durable)), "two are free and one goes before it");
    refusal(stage.reserve(&named("e"), &[name("build")], two), Slug::ReservationHeld);
    assert!(granted(&again(stage, "c", &early, Stay::Durable)));
}

pub(super) fn leave(waits: Option<Vec<WaitId>>) -> Command {
    Command::Leave(Leave { waits })
}

fn leaving(stage: &mut Stage) {
    let held = stage.take("a", "f");
    let wait = queue(stage, "b", "f");
    let next = queue(stage, "c", "f");
    refusal(stage.command("c", leave(Some(vec![wait.id]))), Slug::NotHolder);
    released(stage.release(&named("a"), by_id(&held)));
    assert!(
        matches!(stage.command("b", leave(None)).outcome, Ok(Success::Left { waits }) if waits == [wait.id])
    );
    assert_eq!(offers(stage), [wait.id, next.id], "leaving hands the turn on");
    assert!(
        matches!(stage.command("b", leave(None)).outcome, Ok(Success::Left { waits }) if waits.is_empty())
    );
}

fn ended_by_a_person(stage: &mut Stage) {
    stage.take("a", "f");
    let wait = queue(stage, "b", "f");
    let reply = stage.execute(&operator(77, "b hangs"), leave(Some(vec![wait.id])), None);
    assert!(matches!(reply.outcome, Ok(Success::Left { waits }) if waits == [wait.id]));
    let told = stage.events().into_iter().any(|event| {
        matches!(event.body, Body::WaitEnded { operator_reason: Some(reason), .. } if reason == "b hangs")
    });
    assert!(told, "the reason is recorded");
}

fn reboot(stage: &mut Stage) {
    stage.take("a", "f");
    let wait = queue(stage, "b", "f");
    stage.reboot("boot-2");
    stage.take("c", "f");
    assert_eq!(ends(stage), [(wait.id, WaitEnd::Reboot)]);
}

fn quota(stage: &mut Stage) {
    stage.take("a", "d/**");
    for n in 0..WAITS_PER_AGENT_MAX {
        queue(stage, "b", &format!("d/{n}"));
    }
    let failure = asks(stage, &named("b"), &[path("d/more")], &How::default(), Stay::Durable).unwrap_err();
    assert_eq!(failure.slug, Slug::QuotaExceeded);
    assert_eq!(stage.denials(), ["quota-exceeded"]);
    queue(stage, "c", "d/more");
}

fn rebuilt(stage: &mut Stage) {
    let held = stage.take("a", "f");
    let wait = attach(stage, "b", "f", 11);
    stage.pass(WAITER_SILENCE_MS - 1);
    placed(again(stage, "b", &wait, Stay::Attached(process(11))));
    stage.rebuild();
    stage.pass(WAITER_SILENCE_MS - 1);
    released(stage.release(&named("a"), by_id(&held)));
    refusal(stage.reserve(&named("c"), &[path("f")], How::default()), Slug::ReservationHeld);
    assert!(granted(&again(stage, "b", &wait, Stay::Attached(process(11)))));
}
