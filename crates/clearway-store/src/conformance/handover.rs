//! Handing over, and stopping for a while.

use super::Story;
use super::stage::*;
use crate::execute::Reply;
use clearway_core::agent::AgentName;
use clearway_core::command::{Command, LeaseRef, Selection, Transfer};
use clearway_core::decide::Success;
use clearway_core::facts::ProcessLife;
use clearway_core::failure::LeaseView;
use clearway_core::limits::{FREEZE_MS, LEASES_PER_AGENT_MAX, TARGETS_PER_REQUEST_MAX};
use clearway_core::slug::Slug;
use clearway_core::target::Target;
use clearway_core::wait::WaitEnd;

pub(super) const STORIES: &[Story] = &[
    ("a lease that is handed over keeps its id and silence and gets a new fence", keeps_its_id),
    ("everything is handed over at once, and what ended is not", everything),
    ("only the holder or an operator hands over", by_whom),
    ("nobody is handed what it cannot hold", to_whom),
    ("whoever waits keeps its place when the holder changes", waits_stay),
    ("whoever waits for what it is handed waits no more", handed_to_a_waiter),
    ("nothing is handed over that would make a circle of waiting", no_circle_by_hand),
    ("while a person stops the agents they get no new paths, and people do", frozen),
    ("while a person stops the agents nobody hands them paths, and a person does", handed_while_frozen),
    ("while a person stops the agents they go on with what they hold", own_while_frozen),
    ("the end of a pause is the turn of those who waited for it", thaw_offers),
    ("only a person stops and restarts the agents", by_a_person),
];

pub(super) fn hand(stage: &mut Stage, from: &str, to: &str, leases: Option<Vec<LeaseRef>>) -> Reply {
    let selection = match leases {
        None => Selection::All,
        Some(leases) => Selection::These { leases, targets: Vec::new(), worktree: How::default().worktree },
    };
    let to = AgentName::parse(to).unwrap();
    stage.command(from, Command::Transfer(Transfer { to, selection }))
}

/// As few requests as there can be: every one is a transaction.
pub(super) fn take_many(stage: &mut Stage, agent: &str, targets: impl Iterator<Item = Target>) {
    for some in targets.collect::<Vec<_>>().chunks(TARGETS_PER_REQUEST_MAX) {
        leases(stage.reserve(&named(agent), some, How::default()));
    }
}

pub(super) fn moved(reply: Reply) -> Vec<LeaseView> {
    match reply.outcome {
        Ok(Success::Transferred(leases)) => leases,
        other => panic!("not handed over: {other:?}"),
    }
}

fn keeps_its_id(stage: &mut Stage) {
    let held = stage.grant("a", "f", ttl(60_000));
    stage.take("b", "other");
    stage.pass(30_000);
    let now = only(moved(hand(stage, "a", "b", Some(vec![fenced(&held)]))));
    assert_eq!((now.lease.id, now.lease.ttl_ms, now.agent.as_str()), (held.lease.id, 60_000, "b"));
    assert!(now.lease.fence > held.lease.fence && now.deadline == stage.world.now.mono.plus_ms(60_000));
    refusal(stage.renew(&named("a"), by_id(&held)), Slug::NotHolder);
    refusal(stage.renew(&named("b"), fenced(&held)), Slug::StaleFence);
    leases(stage.renew(&named("b"), fenced(&now)));
    assert_eq!(stage.refused("a", "f", How::default()).len(), 1);
}

fn everything(stage: &mut Stage) {
    stage.take("b", "other");
    let over = stage.grant("a", "old", ttl(1_000));
    take_many(stage, "a", (0..500).map(|n| path(&format!("d/{n}"))));
    stage.pass(1_000);
    stage.renew(&named("b"), by_id(&over));
    assert_eq!(moved(hand(stage, "a", "b", None)).len(), 500);
    assert_eq!(moved(hand(stage, "a", "b", None)).len(), 0, "nothing is left to hand over");
    refusal(hand(stage, "a", "b", Some(vec![by_id(&over)])), Slug::LeaseExpired);
    let transferred = stage.kinds().iter().filter(|kind| **kind == "lease.transferred").count();
    assert_eq!(transferred, 500, "one event each");
}

fn by_whom(stage: &mut Stage) {
    let held = stage.take("a", "f");
    stage.take("b", "other");
    refusal(hand(stage, "b", "b", Some(vec![by_id(&held)])), Slug::NotHolder);
    let selection = Selection::These {
        leases: vec![by_id(&held)],
        targets: Vec::new(),
        worktree: How::default().worktree,
    };
    let command = Command::Transfer(Transfer { to: AgentName::parse("b").unwrap(), selection });
    let reply = stage.execute(&operator(77, "a is on holiday"), command, None);
    assert_eq!(only(moved(reply)).agent.as_str(), "b");
}

fn to_whom(stage: &mut Stage) {
    let held = stage.take("a", "f");
    refusal(hand(stage, "a", "stranger", None), Slug::NotFound);
    refusal(hand(stage, "a", "a", Some(vec![by_id(&held)])), Slug::Usage);
    let gone = stage.reserve(&at_terminal(9), &[path("t")], How::default()).agent.unwrap().1;
    stage.world.processes.insert(9, ProcessLife::Dead);
    refusal(hand(stage, "a", gone.as_str(), None), Slug::RecipientGone);
    take_many(stage, "b", (0..LEASES_PER_AGENT_MAX).map(|n| name(&format!("n{n}"))));
    refusal(hand(stage, "a", "b", None), Slug::QuotaExceeded);
    assert_eq!(stage.denials(), ["quota-exceeded"]);
    assert_eq!(stage.refused("c", "f", How::default())[0].agent.as_str(), "a", "nothing half-done");
}

fn waits_stay(stage: &mut Stage) {
    stage.take("a", "f");
    stage.take("b", "other");
    let wait = super::queue::queue(stage, "w", "f");
    let now = only(moved(hand(stage, "a", "b", None)));
    refusal(stage.reserve(&named("late"), &[path("f")], How::default()), Slug::ReservationHeld);
    released(stage.release(&named("b"), by_id(&now)));
    refusal(stage.reserve(&named("late"), &[path("f")], How::default()), Slug::ReservationHeld);
    stage.take("w", "f");
    assert!(stage.kinds().contains(&"wait.ended"), "{}", wait.id);
}

fn handed_to_a_waiter(stage: &mut Stage) {
    stage.take("a", "f");
    let wait = super::queue::queue(stage, "b", "f");
    let other = super::queue::queue(stage, "c", "f");
    moved(hand(stage, "a", "b", None));
    assert_eq!(super::queue::ends(stage), [(wait.id, WaitEnd::Granted)]);
    assert!(!stage.kinds().contains(&"wait.offered"), "{} still waits", other.id);
}

fn no_circle_by_hand(stage: &mut Stage) {
    let held = stage.take("a", "f");
    stage.take("b", "g");
    stage.take("c", "h");
    super::queue::queue(stage, "b", "h");
    super::queue::queue(stage, "c", "f");
    let before = stage.kinds();
    refusal(hand(stage, "a", "b", None), Slug::WouldDeadlock);
    assert_eq!(stage.kinds()[before.len()..], ["action.denied"], "nothing half-done");
    stage.take("d", "other");
    let now = only(moved(hand(stage, "a", "d", Some(vec![by_id(&held)]))));
    assert_eq!(now.agent.as_str(), "d");
}

pub(super) fn freeze(stage: &mut Stage) {
    let reply = stage.execute(&operator(77, "release day"), Command::Freeze { for_ms: FREEZE_MS }, None);
    assert!(matches!(reply.outcome, Ok(Success::Frozen(_))), "{:?}", reply.outcome);
}

fn own_while_frozen(stage: &mut Stage) {
    let held = stage.take("a", "src/f");
    stage.grant("a", "g", shared());
    freeze(stage);
    assert_eq!(stage.take("a", "src/f").lease.id, held.lease.id, "it has that already");
    stage.grant("a", "src/f", shared());
    refusal(stage.reserve(&named("a"), &[path("g")], How::default()), Slug::Frozen);
    refusal(stage.reserve(&named("a"), &[path("src/**")], How::default()), Slug::Frozen);
}

fn handed_while_frozen(stage: &mut Stage) {
    let held = stage.take("a", "f");
    let build = only(leases(stage.reserve(&named("a"), &[name("build")], How::default())));
    stage.take("b", "g");
    freeze(stage);
    refusal(hand(stage, "a", "b", Some(vec![by_id(&held)])), Slug::Frozen);
    moved(hand(stage, "a", "b", Some(vec![by_id(&build)])));
    let to = AgentName::parse("b").unwrap();
    let transfer = Transfer { to, selection: Selection::of(vec![by_id(&held)]) };
    moved(stage.execute(&operator(77, "ada is ill"), Command::Transfer(transfer), None));
}

fn thaw_offers(stage: &mut Stage) {
    stage.take("a", "f");
    freeze(stage);
    let wait = super::queue::queue(stage, "b", "g");
    stage.sweep();
    assert!(!stage.kinds().contains(&"wait.offered"), "not while it lasts");
    stage.execute(&operator(77, "done"), Command::Thaw, None);
    assert!(stage.kinds().contains(&"wait.offered"), "{:?}", stage.kinds());
    stage.take("b", "g");
    assert_eq!(super::queue::ends(stage), [(wait.id, WaitEnd::Granted)]);
}

fn frozen(stage: &mut Stage) {
    let held = stage.take("a", "f");
    freeze(stage);
    stage.must_be_whole();
    for _ in 0..3 {
        refusal(stage.reserve(&named("b"), &[path("g")], How::default()), Slug::Frozen);
    }
    assert_eq!(stage.denials(), ["frozen"], "told once, and counted");
    leases(stage.reserve(&named("b"), &[name("build")], How::default()));
    leases(stage.reserve(&at_terminal(5), &[path("h")], How::default()));
    leases(stage.renew(&named("a"), by_id(&held)));
    super::queue::queue(stage, "b", "g");
    stage.pass(FREEZE_MS);
    stage.take("b", "g");
    stage.execute(&operator(77, "again"), Command::Freeze { for_ms: FREEZE_MS }, None);
    let thawed = stage.execute(&operator(77, "done"), Command::Thaw, None);
    assert!(matches!(thawed.outcome, Ok(Success::Thawed { was_frozen: true })));
    stage.take("b", "i");
}

fn by_a_person(stage: &mut Stage) {
    stage.take("a", "f");
    refusal(stage.command("a", Command::Freeze { for_ms: FREEZE_MS }), Slug::NotOperator);
    refusal(stage.command("a", Command::Thaw), Slug::NotOperator);
    stage.take("b", "g");
    assert!(stage.kinds().contains(&"action.denied"));
}
