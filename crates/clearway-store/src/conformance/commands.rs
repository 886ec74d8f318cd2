//! What a running command holds: it is kept by a process, and by nothing else.

use super::Story;
use super::queue::{again, asks, granted, placed};
use super::stage::*;
use clearway_core::command::Stay;
use clearway_core::decide::Success;
use clearway_core::facts::Liveness;
use clearway_core::failure::Failure;
use clearway_core::slug::Slug;
use clearway_core::target::Target;

pub(super) const STORIES: &[Story] = &[
    ("two processes of one agent have leases of their own", bound_leases),
    ("the lease of a command that was killed is free at once", bound_and_killed),
    ("what a command keeps outlives its agent", bound_and_left),
    ("two commands of one agent wait for each other in turn", bound_and_waiting),
    ("a command inside another one is not kept waiting by who waits for the outer one", bound_and_nested),
];

fn bound(pid: u32) -> How {
    How { bound: Some(process(pid)), ..How::default() }
}

fn bound_leases(stage: &mut Stage) {
    let first = only(leases(stage.reserve(&named("a"), &[name("build")], bound(11))));
    refusal(stage.reserve(&named("a"), &[name("build")], bound(12)), Slug::ReservationHeld);
    refusal(stage.reserve(&named("a"), &[name("build")], How::default()), Slug::ReservationHeld);
    let again = only(leases(stage.reserve(&named("a"), &[name("build")], bound(11))));
    assert_eq!(again.lease.id, first.lease.id);
    let unit = |pid| How { capacity: 2, ..bound(pid) };
    let one = only(leases(stage.reserve(&named("a"), &[name("unit")], unit(11))));
    let other = only(leases(stage.reserve(&named("a"), &[name("unit")], unit(12))));
    assert_ne!(one.lease.id, other.lease.id, "one each, where there is more than one");
    let own = only(leases(stage.reserve(&named("b"), &[name("test")], How::default())));
    let used = only(leases(stage.reserve(&named("b"), &[name("test")], bound(13))));
    assert_eq!(used.lease.id, own.lease.id, "a command may run under what its agent holds");
}

fn bound_and_killed(stage: &mut Stage) {
    let held = only(leases(stage.reserve(&named("a"), &[name("build")], bound(11))));
    refusal(stage.reserve(&named("b"), &[name("build")], bound(12)), Slug::ReservationHeld);
    stage.world.processes.insert(11, Liveness::Dead);
    let taken = only(leases(stage.reserve(&named("b"), &[name("build")], bound(12))));
    assert!(taken.lease.fence > held.lease.fence);
    stage.world.processes.insert(12, Liveness::Dead);
    assert_eq!(stage.sweep(), [taken.lease.id]);
    assert_eq!(stage.sweep(), [], "once");
}

fn bound_and_left(stage: &mut Stage) {
    let caller = at_terminal(10);
    leases(stage.reserve(&caller, &[name("build")], bound(11)));
    leases(stage.reserve(&caller, &[name("mine")], How::default()));
    stage.world.processes.insert(10, Liveness::Dead);
    refusal(stage.reserve(&named("b"), &[name("build")], bound(12)), Slug::ReservationHeld);
    leases(stage.reserve(&named("b"), &[name("mine")], How::default()));
}

fn waits_bound(stage: &mut Stage, agent: &str, names: &[&str], pid: u32) -> Result<Success, Failure> {
    let targets: Vec<Target> = names.iter().map(|text| name(text)).collect();
    asks(stage, &named(agent), &targets, &bound(pid), Stay::Attached(process(pid)))
}

fn bound_and_waiting(stage: &mut Stage) {
    let first = only(leases(stage.reserve(&named("a"), &[name("build")], bound(11))));
    let (second, _) = placed(waits_bound(stage, "a", &["build"], 12));
    placed(waits_bound(stage, "a", &["build"], 13));
    released(stage.release(&named("a"), by_id(&first)));
    refusal(stage.reserve(&named("a"), &[name("build")], bound(14)), Slug::ReservationHeld);
    assert!(granted(&again(stage, "a", &second, Stay::Attached(process(12)))), "it waited longest");
}

fn bound_and_nested(stage: &mut Stage) {
    leases(stage.reserve(&named("a"), &[name("outer")], bound(11)));
    placed(waits_bound(stage, "a", &["outer", "inner"], 12));
    assert!(granted(&waits_bound(stage, "a", &["inner"], 13)));
}
