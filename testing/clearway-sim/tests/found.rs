//! Every defect that the simulation found, as the shortest story that shows it.

use clearway_core::agent::{AgentName, Caller, Client, ClientSession, OperatorAct};
use clearway_core::command::{
    Answer, Ask, Await, Command, LeaseRef, Release, Reserve, Says, Selection, Stay, Transfer, Want,
};
use clearway_core::decide::Success;
use clearway_core::facts::{Process, ProcessLife};
use clearway_core::failure::{Failure, LeaseView};
use clearway_core::lease::{Grade, Mode};
use clearway_core::limits::OFFER_MS;
use clearway_core::negotiation::{NegotiationView, Urgency};
use clearway_core::pattern::{Fold, Pattern};
use clearway_core::slug::Slug;
use clearway_core::target::{ResourceName, Target, Worktree};
use clearway_core::wait::Wait;
use clearway_store::conformance::Stage;
use clearway_store::memory::MemoryEngine;

const WAIT_MS: u64 = 3_600_000;

fn stage() -> Stage {
    Stage::new(Box::new(MemoryEngine::default()))
}

fn path(text: &str) -> Want {
    Want { target: Target::Path(Pattern::parse(text, Fold::Exact).unwrap()), capacity: 1 }
}

fn unit(name: &str, capacity: u32) -> Want {
    Want { target: Target::Name(ResourceName::parse(name).unwrap()), capacity }
}

fn wanting(mode: Mode, wants: &[Want]) -> Reserve {
    Reserve {
        wants: wants.to_vec(),
        worktree: Worktree("/w".to_owned()),
        mode,
        grade: Grade::Claimed,
        as_set: false,
        ttl_ms: 1_800_000,
        max_ms: None,
        reason: None,
        best_effort: false,
        bound: None,
        makes_way: false,
    }
}

fn reserve(stage: &mut Stage, agent: &str, mode: Mode, wants: &[Want]) -> Result<Vec<LeaseView>, Failure> {
    match stage.command(agent, Command::Reserve(wanting(mode, wants))).outcome? {
        Success::Reserved { leases, .. } => Ok(leases),
        other => panic!("not a reservation: {other:?}"),
    }
}

fn wait(stage: &mut Stage, agent: &str, want: Want, place: Option<&Wait>) -> Result<Wait, Failure> {
    wait_for(stage, agent, wanting(Mode::Exclusive, &[want]), place)
}

fn wait_for(stage: &mut Stage, agent: &str, reserve: Reserve, place: Option<&Wait>) -> Result<Wait, Failure> {
    let wait = place.map(|place| place.id);
    let request = Await { reserve, stay: Stay::Durable, wait_ms: WAIT_MS, wait };
    match stage.command(agent, Command::Await(request)).outcome? {
        Success::Queued { queued, .. } => Ok(queued.wait),
        other => panic!("not queued: {other:?}"),
    }
}

fn these(lease: &LeaseView) -> Selection {
    let leases = vec![LeaseRef { id: lease.lease.id, fence: None }];
    Selection::These { leases, targets: Vec::new(), worktree: Worktree("/w".to_owned()) }
}

fn operate(stage: &mut Stage, command: Command) {
    let operator =
        Some(OperatorAct { reason: "release day".to_owned(), at_terminal: true, holds_key: false });
    let caller = Caller { claim: AgentName::parse("person"), operator, ..Caller::default() };
    assert!(stage.execute(&caller, command, None).outcome.is_ok());
}

fn offers(stage: &mut Stage) -> usize {
    stage.kinds().iter().filter(|kind| **kind == "wait.offered").count()
}

#[test]
fn a_place_that_ran_out_is_not_taken_anew_into_a_circle() {
    let mut stage = stage();
    let day = |wants: &[Want]| Reserve { ttl_ms: 86_400_000, ..wanting(Mode::Exclusive, wants) };
    for (agent, held) in [("a", "x"), ("b", "y")] {
        assert!(stage.command(agent, Command::Reserve(day(&[path(held)]))).outcome.is_ok());
    }
    let place = wait(&mut stage, "b", path("x"), None).unwrap();
    stage.pass(WAIT_MS);
    wait(&mut stage, "a", path("y"), None).unwrap();
    let gone = wait(&mut stage, "b", path("x"), Some(&place)).unwrap_err();
    assert_eq!(gone.slug, Slug::NotFound);
    let refused = wait(&mut stage, "b", path("x"), None).unwrap_err();
    assert_eq!(refused.slug, Slug::WouldDeadlock);
}

#[test]
fn a_lease_is_not_handed_over_without_the_one_inside_it() {
    let mut stage = stage();
    stage.take("b", "other");
    let inner = stage.take("a", "src/x");
    let outer = stage.take("a", "src/**");
    let hand = |selection| Command::Transfer(Transfer { to: AgentName::parse("b").unwrap(), selection });
    for lease in [&inner, &outer] {
        let failure = stage.command("a", hand(these(lease))).outcome.unwrap_err();
        assert_eq!(failure.slug, Slug::ReservationHeld, "{}", failure.message);
    }
    let moved = stage.command("a", hand(Selection::All)).outcome;
    assert!(matches!(moved, Ok(Success::Transferred(leases)) if leases.len() == 2));
}

#[test]
fn a_unit_is_not_made_shared_beside_exclusive_units() {
    let mut stage = stage();
    reserve(&mut stage, "a", Mode::Exclusive, &[unit("pool", 2)]).unwrap();
    let other = reserve(&mut stage, "b", Mode::Exclusive, &[unit("pool", 2)]).unwrap();
    let refused = reserve(&mut stage, "a", Mode::Shared, &[unit("pool", 2)]).unwrap_err();
    assert_eq!(refused.slug, Slug::ReservationHeld);
    let release = Release { selection: these(&other[0]), keep: Vec::new() };
    assert!(stage.command("b", Command::Release(release)).outcome.is_ok());
    let shared = reserve(&mut stage, "a", Mode::Shared, &[unit("pool", 2)]).unwrap();
    assert_eq!(shared[0].lease.mode, Mode::Shared);
}

#[test]
fn one_lease_met_twice_is_answered_once_and_as_it_is() {
    let mut stage = stage();
    let held = stage.take("a", "docs/**");
    stage.pass(1_000);
    let answered = reserve(&mut stage, "a", Mode::Shared, &[path("docs/d"), path("docs/**")]).unwrap();
    let [view] = answered.as_slice() else { panic!("{} leases", answered.len()) };
    assert_eq!((view.lease.id, view.lease.mode), (held.lease.id, Mode::Shared));
    assert_eq!(view.deadline, stage.world.now.mono.plus_ms(1_800_000), "renewed as well");
}

#[test]
fn a_thaw_offers_the_turn_that_came_during_the_freeze() {
    let mut stage = stage();
    let held = stage.take("a", "f");
    wait(&mut stage, "b", path("f"), None).unwrap();
    operate(&mut stage, Command::Freeze { for_ms: 10_000 });
    let release = Release { selection: these(&held), keep: Vec::new() };
    assert!(stage.command("a", Command::Release(release)).outcome.is_ok());
    assert_eq!(offers(&mut stage), 0, "nobody may take a turn now");
    operate(&mut stage, Command::Thaw);
    assert_eq!(offers(&mut stage), 1);
}

#[test]
fn a_freeze_offers_no_turn_that_comes_with_it() {
    let mut stage = stage();
    let reserve = Reserve { ttl_ms: 1_000, ..wanting(Mode::Exclusive, &[path("f")]) };
    assert!(stage.command("a", Command::Reserve(reserve)).outcome.is_ok());
    wait(&mut stage, "b", path("f"), None).unwrap();
    stage.pass(1_000);
    operate(&mut stage, Command::Freeze { for_ms: 10_000 });
    assert_eq!(offers(&mut stage), 0, "the lease ran out, but nobody may take it now");
}

#[test]
fn a_reader_that_let_its_turn_pass_is_offered_it_again() {
    let mut stage = stage();
    let held = stage.take("a", "f");
    wait_for(&mut stage, "b", wanting(Mode::Shared, &[path("f")]), None).unwrap();
    let release = Release { selection: these(&held), keep: Vec::new() };
    assert!(stage.command("a", Command::Release(release)).outcome.is_ok());
    assert_eq!(offers(&mut stage), 1);
    stage.pass(OFFER_MS);
    stage.take("c", "other");
    assert_eq!(offers(&mut stage), 2, "nobody else waits for it");
}

#[test]
fn a_hand_over_that_closes_a_circle_is_refused_beside_another_that_was_there() {
    let mut stage = stage();
    for (agent, held) in [("r", "z"), ("b", "y"), ("d", "v")] {
        stage.take(agent, held);
    }
    let auto = Reserve { grade: Grade::Auto, ..wanting(Mode::Exclusive, &[path("x")]) };
    assert!(stage.command("a", Command::Reserve(auto)).outcome.is_ok());
    let wanted = stage.take("b", "w");
    wait_for(&mut stage, "r", wanting(Mode::Exclusive, &[path("x"), path("y"), path("v")]), None).unwrap();
    // What `a` holds is clean and would yield, so `r` does not wait for it yet.
    wait(&mut stage, "a", path("z"), None).unwrap();
    stage.world.dirty.insert("x".to_owned());
    wait(&mut stage, "d", path("w"), None).unwrap();
    let to = AgentName::parse("r").unwrap();
    let hand = Command::Transfer(Transfer { to, selection: these(&wanted) });
    let refused = stage.command("b", hand).outcome.unwrap_err();
    assert_eq!(refused.slug, Slug::WouldDeadlock, "{}", refused.message);
}

#[test]
fn whoever_is_told_that_it_has_a_lease_still_has_it() {
    let mut stage = stage();
    let auto = Reserve { grade: Grade::Auto, ..wanting(Mode::Exclusive, &[path("x")]) };
    stage.world.dirty.insert("x".to_owned());
    assert!(stage.command("a", Command::Reserve(auto.clone())).outcome.is_ok());
    wait(&mut stage, "b", path("x"), None).unwrap();
    stage.world.dirty.clear();
    assert!(stage.command("a", Command::Reserve(auto)).outcome.is_ok());
    assert_eq!((offers(&mut stage), stage.held().len()), (0, 1), "it makes way in the next decision");
    stage.command("c", Command::Sweep);
    assert_eq!((offers(&mut stage), stage.held().len()), (1, 0));
}

#[test]
fn what_comes_along_with_an_upgrade_is_no_circle_by_itself() {
    let mut stage = stage();
    for reader in ["b", "c"] {
        assert!(reserve(&mut stage, reader, Mode::Shared, &[path("d/**")]).is_ok());
    }
    stage.take("b", "y");
    for wanted in ["d/x", "y"] {
        wait(&mut stage, "j", path(wanted), None).unwrap();
    }
    let both = wanting(Mode::Exclusive, &[path("d/**"), path("d/x")]);
    let waits = wait_for(&mut stage, "b", both, None);
    assert!(waits.is_ok(), "it waits for the other reader alone: {waits:?}");
}

#[test]
fn going_on_without_a_lost_tail_begins_no_log() {
    let mut stage = stage();
    operate(&mut stage, Command::Recover);
    assert_eq!(stage.kinds(), Vec::<&str>::new());
}

fn process(pid: u32) -> Process {
    Process { host: "h".to_owned(), boot: "b".to_owned(), pid_namespace: "p".to_owned(), pid, start: 1 }
}

fn asking(want: Want) -> Command {
    let (why, urgency) = ("add logout".to_owned(), Urgency::Normal);
    Command::Ask(Ask {
        reserve: wanting(Mode::Exclusive, &[want]),
        why,
        urgency,
        then_reserve: true,
        tells_answer: false,
        tells_circle: false,
    })
}

#[test]
fn who_is_promised_what_a_dead_agent_holds_is_granted_it_at_its_turn() {
    let mut stage = stage();
    let process = process(71);
    let session = ClientSession {
        client: Client::ClaudeCode,
        session: "s".to_owned(),
        subagent: None,
        process: Some(process),
    };
    let caller = Caller { session: Some(session), ..Caller::default() };
    let held = Command::Reserve(wanting(Mode::Exclusive, &[path("src/**")]));
    assert!(stage.execute(&caller, held, None).outcome.is_ok());
    assert!(stage.command("b", asking(path("src/x"))).outcome.is_ok());
    stage.world.processes.insert(71, ProcessLife::Dead);
    stage.sweep();
    let kinds = stage.kinds();
    let last = &kinds[kinds.len() - 4..];
    assert_eq!(last, ["lease.taken-over", "lease.granted", "wait.ended", "negotiation.ended"]);
}

#[test]
fn what_is_shared_is_answered_as_it_is_after_a_turn_that_was_promised() {
    let mut stage = stage();
    let short = Reserve { ttl_ms: 1_000, ..wanting(Mode::Exclusive, &[path("f")]) };
    assert!(stage.command("a", Command::Reserve(short)).outcome.is_ok());
    assert!(stage.command("b", asking(path("f"))).outcome.is_ok());
    stage.pass(1_000);
    let answered = reserve(&mut stage, "b", Mode::Shared, &[path("f")]).unwrap();
    let held = stage.held();
    assert_eq!((answered[0].lease.mode, answered[0].lease.fence), (held[0].mode, held[0].fence));
}

/// `b` waits for everything, of which `x` keeps a part, and `c` stands behind it for another part.
fn behind_a_wide_wait(stage: &mut Stage) -> Vec<NegotiationView> {
    let docs = stage.take("a", "docs/**");
    stage.take("x", "src/**");
    let asked = match stage.command("b", asking(path("**"))).outcome {
        Ok(Success::Negotiated(outcome)) => outcome.negotiations,
        other => panic!("nobody was asked: {other:?}"),
    };
    wait(stage, "c", path("docs/d"), None).unwrap();
    let release = Release { selection: these(&docs), keep: Vec::new() };
    assert!(stage.command("a", Command::Release(release)).outcome.is_ok());
    assert_eq!(offers(stage), 0, "it is somebody else's turn");
    asked
}

#[test]
fn a_wide_request_that_is_taken_back_brings_the_turn_of_who_stood_behind_it() {
    let mut stage = stage();
    for asked in behind_a_wide_wait(&mut stage) {
        assert!(stage.command("b", Command::Withdraw(asked.negotiation.id)).outcome.is_ok());
    }
    assert_eq!(offers(&mut stage), 1);
}

#[test]
fn an_agent_that_is_stopped_brings_the_turn_of_who_stood_behind_it() {
    let mut stage = stage();
    behind_a_wide_wait(&mut stage);
    operate(&mut stage, Command::Halt(AgentName::parse("b").unwrap()));
    assert_eq!(offers(&mut stage), 1);
}

#[test]
fn who_shares_what_others_have_alone_does_not_wait_at_a_place_whose_turn_has_come() {
    let mut stage = stage();
    let held = stage.take("a", "docs/d");
    reserve(&mut stage, "c", Mode::Exclusive, &[unit("pool", 2)]).unwrap();
    let auto = |mode, wants: &[Want]| Reserve { grade: Grade::Auto, ..wanting(mode, wants) };
    let wide = auto(Mode::Exclusive, &[path("docs/d"), unit("pool", 2)]);
    let place = wait_for(&mut stage, "b", wide, None).unwrap();
    let release = Release { selection: these(&held), keep: Vec::new() };
    assert!(stage.command("a", Command::Release(release)).outcome.is_ok());
    let other = wait_for(&mut stage, "b", auto(Mode::Shared, &[unit("pool", 2)]), None).unwrap();
    assert_ne!(other.id, place.id, "one unit is free, and nobody shares them");
}

#[test]
fn what_a_dead_command_kept_is_over_before_who_was_promised_it_is_granted_it() {
    let mut stage = stage();
    let bound = Reserve { bound: Some(process(9)), ..wanting(Mode::Exclusive, &[path("f")]) };
    assert!(stage.command("a", Command::Reserve(bound)).outcome.is_ok());
    let asked = match stage.command("b", asking(path("f"))).outcome {
        Ok(Success::Negotiated(outcome)) => outcome.negotiations[0].negotiation.id,
        other => panic!("nobody was asked: {other:?}"),
    };
    stage.world.processes.insert(9, ProcessLife::Dead);
    let says = Says::Release(Vec::new());
    stage.command("a", Command::Answer(Answer { negotiation: asked, says }));
    let holders: Vec<&str> =
        stage.kinds().into_iter().filter(|kind| ["lease.granted", "lease.expired"].contains(kind)).collect();
    assert_eq!(holders, ["lease.granted", "lease.expired", "lease.granted"]);
}
