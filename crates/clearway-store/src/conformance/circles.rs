//! Circles of waiting that something other than joining the queue would close, and how far one is looked for.

use super::Story;
use super::queue::{asks, circle, placed, queue};
use super::stage::*;
use clearway_core::command::Stay;
use clearway_core::facts::ProcessLife;
use clearway_core::ids::LeaseId;
use clearway_core::lease::Mode;
use clearway_core::slug::Slug;

pub(super) const STORIES: &[Story] = &[
    ("an upgrade that would make a circle of waiting is refused", closed_by_an_upgrade),
    ("a grant before somebody's upgrade that would make a circle of waiting is refused", closed_by_a_grant),
    ("an upgrade of somebody who waits is granted where it makes no circle", upgrade_while_waiting),
    ("a long chain of agents is followed to its end in one go", long_chain),
    ("a chain that a dead agent is part of is no circle", broken_chain),
];

fn closed_by_an_upgrade(stage: &mut Stage) {
    let shared_x = stage.grant("a", "x", shared());
    stage.take("w", "z");
    stage.take("b", "y");
    placed(asks(stage, &named("w"), &[path("x"), path("y")], &shared(), Stay::Durable));
    queue(stage, "a", "z");
    let found = circle(stage.reserve(&named("a"), &[path("x")], How::default()).outcome);
    let agents: Vec<&str> = found.steps.iter().map(|step| step.agent.as_str()).collect();
    assert_eq!(agents, ["a", "w"]);
    assert_eq!(modes(stage, shared_x.lease.id), [Mode::Shared], "nothing half-done");
    assert!(stage.kinds().contains(&"reservation.refused"), "the refusal is recorded");
}

fn closed_by_a_grant(stage: &mut Stage) {
    stage.grant("a", "src/**", shared());
    stage.grant("b", "src/g", shared());
    queue(stage, "p", "src/**");
    placed(asks(stage, &named("a"), &[path("src/**")], &How::default(), Stay::Durable));
    circle(stage.reserve(&named("p"), &[path("src/f")], shared()).outcome);
    stage.grant("p", "elsewhere", shared());
}

fn modes(stage: &mut Stage, lease: LeaseId) -> Vec<Mode> {
    let seen =
        refusal(stage.reserve(&named("onlooker"), &[path("x")], How::default()), Slug::ReservationHeld);
    blockers(&seen).iter().filter(|view| view.lease.id == lease).map(|view| view.lease.mode).collect()
}

fn upgrade_while_waiting(stage: &mut Stage) {
    stage.grant("a", "x", shared());
    stage.take("b", "y");
    queue(stage, "a", "y");
    stage.take("a", "x");
}

fn terminals(stage: &mut Stage, count: u32) {
    for pid in 1..=count {
        leases(stage.reserve(&at_terminal(pid), &[path(&format!("f{pid}"))], How::default()));
    }
    for pid in 2..=count {
        let before = [path(&format!("f{}", pid - 1))];
        placed(asks(stage, &at_terminal(pid), &before, &How::default(), Stay::Durable));
    }
}

fn long_chain(stage: &mut Stage) {
    terminals(stage, 20);
    let asked = stage.world.gathered;
    let found = circle(asks(stage, &at_terminal(1), &[path("f20")], &How::default(), Stay::Durable));
    assert_eq!(found.steps.len(), 20);
    assert!(stage.world.gathered - asked <= 2, "who holds it, and everyone behind: {asked}");
}

fn broken_chain(stage: &mut Stage) {
    terminals(stage, 3);
    stage.world.processes.insert(2, ProcessLife::Dead);
    placed(asks(stage, &at_terminal(1), &[path("f3")], &How::default(), Stay::Durable));
}
