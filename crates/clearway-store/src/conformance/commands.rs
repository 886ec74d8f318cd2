//! What a running command holds: it is kept by a process, and by nothing else.

use super::Story;
use super::handover::hand;
use super::queue::{again, asks, circle, ends as wait_ends, granted, offers, placed};
use super::stage::*;
use clearway_core::agent::AgentName;
use clearway_core::command::{Command, Release, Selection, Stay, Transfer};
use clearway_core::decide::{Notice, Success};
use clearway_core::facts::ProcessLife;
use clearway_core::failure::Failure;
use clearway_core::ids::LeaseId;
use clearway_core::slug::Slug;
use clearway_core::target::Target;
use clearway_core::wait::WaitEnd;

pub(super) const STORIES: &[Story] = &[
    ("two processes of one agent have leases of their own", bound_leases),
    ("the lease of a command that was killed is free at once", bound_and_killed),
    ("a command has a lease of its own within what its agent holds", bound_within),
    ("what a command keeps is given back by its end alone", kept_from_others),
    ("a command takes the turn that is kept for its agent", turn_of_the_agent),
    ("who asks from inside a command for what it keeps is refused at once", asked_from_inside),
    ("what a command keeps outlives its agent", bound_and_left),
    ("two commands of one agent wait for each other in turn", bound_and_waiting),
    ("commands of two agents take turns, and none is taken for a circle", bound_in_turns),
    ("commands that each wait inside for what the other runs under would wait for ever", bound_crosswise),
    ("a command that is refused at its turn keeps nobody waiting any longer", refused_at_its_turn),
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
}

fn bound_within(stage: &mut Stage) {
    let unit = |how: How| How { capacity: 2, ..how };
    let own = only(leases(stage.reserve(&named("a"), &[name("unit")], unit(How::default()))));
    let kept = only(leases(stage.reserve(&named("a"), &[name("unit")], unit(bound(11)))));
    assert_ne!(kept.lease.id, own.lease.id);
    assert_eq!(kept.lease.slot, own.lease.slot, "on the unit that its agent has");
    leases(stage.reserve(&named("b"), &[name("unit")], unit(How::default())));
    refusal(stage.reserve(&named("a"), &[name("unit")], unit(bound(12))), Slug::ReservationHeld);
    refusal(hand(stage, "a", "b", Some(vec![by_id(&own)])), Slug::ReservationHeld);
    released(stage.release(&named("a"), by_id(&own)));
    refusal(stage.reserve(&named("c"), &[name("unit")], unit(How::default())), Slug::ReservationHeld);
    assert_eq!(ends(stage, "a", 11), [kept.lease.id]);
    leases(stage.reserve(&named("c"), &[name("unit")], unit(How::default())));
}

/// The command of this process gives back what it keeps.
fn ends(stage: &mut Stage, agent: &str, pid: u32) -> Vec<LeaseId> {
    released(stage.command(agent, Command::LetGo(process(pid)))).0
}

fn kept_from_others(stage: &mut Stage) {
    let kept = only(leases(stage.reserve(&named("a"), &[name("build")], bound(11))));
    leases(stage.reserve(&named("b"), &[path("f")], How::default()));
    let targets = vec![name("build")];
    let by_name = Selection::These { leases: Vec::new(), targets, worktree: How::default().worktree };
    for selection in [Selection::of(vec![by_id(&kept)]), by_name] {
        let release = Release { selection: selection.clone(), keep: Vec::new() };
        refusal(stage.command("a", Command::Release(release)), Slug::HeldByCommand);
        let to = AgentName::parse("b").expect("a name");
        refusal(stage.command("a", Command::Transfer(Transfer { to, selection })), Slug::HeldByCommand);
    }
    refusal(stage.release(&operator(20, "it hangs"), by_id(&kept)), Slug::HeldByCommand);
    let everything = Command::Release(Release { selection: Selection::All, keep: Vec::new() });
    let reply = stage.command("a", everything);
    assert!(
        matches!(reply.notices[..], [Notice::KeptByCommand { pid: Some(11), .. }]),
        "{:?}",
        reply.notices
    );
    assert_eq!(released(reply).0, []);
    assert_eq!(ends(stage, "b", 11), [], "nobody speaks for a process of somebody else");
    let unseen = only(leases(stage.reserve(&named("a"), &[name("far")], bound(12))));
    stage.world.processes.insert(12, ProcessLife::Unknown);
    refusal(stage.release(&named("a"), by_id(&unseen)), Slug::HeldByCommand);
    assert_eq!(released(stage.release(&operator(20, "it is over"), by_id(&unseen))).0, [unseen.lease.id]);
    stage.world.processes.insert(11, ProcessLife::Dead);
    let (_, already, _) = released(stage.release(&named("a"), by_id(&kept)));
    assert_eq!(already, [kept.lease.id]);
}

fn bound_and_killed(stage: &mut Stage) {
    let held = only(leases(stage.reserve(&named("a"), &[name("build")], bound(11))));
    refusal(stage.reserve(&named("b"), &[name("build")], bound(12)), Slug::ReservationHeld);
    stage.world.processes.insert(11, ProcessLife::Dead);
    let taken = only(leases(stage.reserve(&named("b"), &[name("build")], bound(12))));
    assert!(taken.lease.fence > held.lease.fence);
    let other = only(leases(stage.reserve(&named("b"), &[name("test")], bound(12))));
    stage.world.processes.insert(12, ProcessLife::Dead);
    refusal(stage.renew(&named("b"), by_id(&taken)), Slug::LeaseExpired);
    assert_eq!(stage.sweep(), [other.lease.id], "the one that nobody recorded yet");
    assert_eq!(stage.sweep(), [], "once");
}

fn bound_and_left(stage: &mut Stage) {
    let caller = at_terminal(10);
    leases(stage.reserve(&caller, &[name("build")], bound(11)));
    leases(stage.reserve(&caller, &[name("mine")], How::default()));
    stage.world.processes.insert(10, ProcessLife::Dead);
    refusal(stage.reserve(&named("b"), &[name("build")], bound(12)), Slug::ReservationHeld);
    leases(stage.reserve(&named("b"), &[name("mine")], How::default()));
}

fn turn_of_the_agent(stage: &mut Stage) {
    let held = only(leases(stage.reserve(&named("a"), &[name("build")], How::default())));
    let wait = |stage: &mut Stage, agent: &str| {
        placed(asks(stage, &named(agent), &[name("build")], &How::default(), Stay::Durable)).0
    };
    let (first, _) = (wait(stage, "b"), wait(stage, "c"));
    released(stage.release(&named("a"), by_id(&held)));
    assert_eq!(offers(stage), [first.id]);
    refusal(stage.reserve(&named("c"), &[name("build")], bound(12)), Slug::ReservationHeld);
    leases(stage.reserve(&named("b"), &[name("build")], bound(11)));
    assert_eq!(wait_ends(stage), [(first.id, WaitEnd::Granted)], "its turn is taken, and blocks nobody");
    ends(stage, "b", 11);
    leases(stage.reserve(&named("c"), &[name("build")], bound(12)));
}

fn asked_from_inside(stage: &mut Stage) {
    let unit = || How { capacity: 2, ..bound(11) };
    leases(stage.reserve(&named("a"), &[name("build")], bound(11)));
    leases(stage.reserve(&named("a"), &[name("unit")], unit()));
    let other = How { bound: Some(process(12)), ..unit() };
    leases(stage.reserve(&named("b"), &[name("unit")], other));
    stage.world.inside.insert(11);
    let refused = |outcome: Result<Success, Failure>| {
        let failure = outcome.expect_err("it would wait for ever");
        assert_eq!(failure.slug, Slug::WouldDeadlock, "{failure:?}");
    };
    for agent in ["a", "b"] {
        refused(stage.reserve(&named(agent), &[name("build")], How::default()).outcome);
        for stay in [Stay::Durable, Stay::Attached(process(13))] {
            let wanted = [name("build"), name("free")];
            refused(asks(stage, &named(agent), &wanted, &How::default(), stay));
        }
    }
    let waits_for_b = How { capacity: 2, ..How::default() };
    placed(asks(stage, &named("a"), &[name("unit")], &waits_for_b, Stay::Durable));
    stage.world.inside.insert(12);
    refused(asks(stage, &named("c"), &[name("unit")], &waits_for_b, Stay::Durable));
    leases(stage.reserve(&named("a"), &[path("f")], bound(11)));
    refused(asks(stage, &named("c"), &[path("f")], &How::default(), Stay::Durable));
    let yields = How { bound: Some(process(11)), ..auto() };
    leases(stage.reserve(&named("a"), &[path("g")], yields));
    leases(stage.reserve(&named("c"), &[path("g")], How::default()));
}

fn waits_bound(stage: &mut Stage, agent: &str, names: &[&str], pid: u32) -> Result<Success, Failure> {
    let targets: Vec<Target> = names.iter().map(|text| name(text)).collect();
    asks(stage, &named(agent), &targets, &bound(pid), Stay::Attached(process(pid)))
}

fn bound_and_waiting(stage: &mut Stage) {
    let first = only(leases(stage.reserve(&named("a"), &[name("build")], bound(11))));
    let (second, _) = placed(waits_bound(stage, "a", &["build"], 12));
    placed(waits_bound(stage, "a", &["build"], 13));
    assert_eq!(ends(stage, "a", 11), [first.lease.id]);
    refusal(stage.reserve(&named("a"), &[name("build")], bound(14)), Slug::ReservationHeld);
    assert!(granted(&again(stage, "a", &second, Stay::Attached(process(12)))), "it waited longest");
}

fn bound_in_turns(stage: &mut Stage) {
    leases(stage.reserve(&named("a"), &[name("build")], bound(11)));
    let line = [("b", 12), ("a", 13), ("b", 14), ("a", 15)];
    let waits = line.map(|(agent, pid)| placed(waits_bound(stage, agent, &["build"], pid)).0);
    ends(stage, "a", 11);
    for (wait, (agent, pid)) in waits.iter().zip(line) {
        assert!(granted(&again(stage, agent, wait, Stay::Attached(process(pid)))), "{agent} {pid}");
        ends(stage, agent, pid);
    }
}

fn refused_at_its_turn(stage: &mut Stage) {
    leases(stage.reserve(&named("b"), &[name("build")], bound(9)));
    let (outer, _) = placed(waits_bound(stage, "a", &["build"], 11));
    stage.world.started_by.insert(12, 11);
    let inside = Stay::Attached(process(12));
    let (inner, _) = placed(asks(stage, &named("a"), &[name("build")], &How::default(), inside.clone()));
    ends(stage, "b", 9);
    circle(again(stage, "a", &outer, Stay::Attached(process(11))));
    assert!(granted(&again(stage, "a", &inner, inside)), "nobody is before it any more");
}

fn bound_crosswise(stage: &mut Stage) {
    leases(stage.reserve(&named("a"), &[name("one")], bound(11)));
    leases(stage.reserve(&named("b"), &[name("two")], bound(12)));
    leases(stage.reserve(&named("b"), &[name("three")], bound(13)));
    stage.world.started_by.extend([(21, 20), (20, 11), (22, 12), (23, 13)]);
    placed(waits_bound(stage, "a", &["two"], 21));
    let found = circle(waits_bound(stage, "b", &["one"], 22));
    let agents: Vec<&str> = found.steps.iter().map(|step| step.agent.as_str()).collect();
    assert_eq!(agents, ["b", "a"]);
    placed(waits_bound(stage, "b", &["one"], 23));
    placed(waits_bound(stage, "b", &["two"], 24));
}

fn bound_and_nested(stage: &mut Stage) {
    leases(stage.reserve(&named("a"), &[name("outer")], bound(11)));
    placed(waits_bound(stage, "a", &["outer", "inner"], 12));
    assert!(granted(&waits_bound(stage, "a", &["inner"], 13)));
}
