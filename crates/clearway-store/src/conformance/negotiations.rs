//! Asking who holds something: what becomes of it by answers, by what holders do, by time and by force.

use super::Story;
use super::stage::{How, Stage, auto, in_session, leases, named, operator, path, process};
use crate::execute::Reply;
use clearway_core::agent::{AgentName, Caller, ClientSession};
use clearway_core::command::{
    Answer, Ask, Attend, Care, Command, Force, Release, Reserve, Says, Selection, Transfer, Want,
};
use clearway_core::decide::{Notice, Said, Success};
use clearway_core::event::Body;
use clearway_core::facts::ProcessLife;
use clearway_core::failure::Failure;
use clearway_core::ids::NegotiationId;
use clearway_core::lease::{Grade, Lease, Mode};
use clearway_core::negotiation::{Negotiated, NegotiationEnd, Status, Urgency};
use clearway_core::slug::Slug;
use clearway_core::target::Worktree;

pub(super) const STORIES: &[Story] = &[
    ("negotiations: ask again", ask_again),
    ("negotiations: free and own", free_and_own),
    ("negotiations: answers", answers),
    ("negotiations: a part of a pattern", part_of_pattern),
    ("negotiations: a commit answers", commit_answers),
    ("negotiations: granted when let go", granted_when_let_go),
    ("negotiations: the old holder does not barge in", no_barging),
    ("negotiations: deadline", deadline),
    ("negotiations: deadline is a signal", only_a_signal),
    ("negotiations: force", force_story),
    ("negotiations: force again", force_again),
    ("negotiations: force the dead", force_the_dead),
    ("negotiations: a family at work", family_at_work),
    ("negotiations: later keeps force away", later_keeps_force_away),
    ("negotiations: third parties", third_parties),
    ("negotiations: withdraw", withdraw_story),
    ("negotiations: circle", circle),
    ("negotiations: lapse", lapse),
    ("negotiations: handed on", handed_on),
    ("negotiations: the requester died", requester_died),
    ("negotiations: halt", halt_story),
    ("negotiations: boot", boot),
    ("negotiations: looping", looping),
    ("negotiations: end of turn", end_of_turn),
];

const MINUTE: u64 = 60_000;

fn run(stage: &mut Stage, caller: Caller, command: Command) -> Reply {
    stage.execute(&caller, command, None)
}

fn take(stage: &mut Stage, caller: Caller, file: &str, how: How) -> Result<Lease, Failure> {
    let reply = stage.reserve(&caller, &[path(file)], how);
    reply.outcome.clone()?;
    Ok(leases(reply).remove(0).lease)
}

fn pid_of(session: &str) -> u32 {
    if session == "ada" { 71 } else { 72 }
}

/// A client's hook.
fn hook_of(session: &str) -> Caller {
    let mut caller = in_session(session);
    let process = Some(process(pid_of(session)));
    caller.session = caller.session.map(|session| ClientSession { process, ..session });
    Caller { hook: true, hears: true, ..caller }
}

fn name_of(stage: &mut Stage, caller: Caller) -> AgentName {
    run(stage, Caller { hears: false, ..caller }, Command::Attend(Attend::Call)).agent.expect("somebody").1
}

fn wish(file: &str) -> Reserve {
    Reserve {
        wants: vec![Want { target: path(file), capacity: 1 }],
        worktree: Worktree("/w".to_owned()),
        mode: Mode::Exclusive,
        grade: Grade::Claimed,
        as_set: false,
        ttl_ms: 30 * MINUTE,
        max_ms: None,
        reason: None,
        best_effort: false,
        bound: None,
        makes_way: false,
    }
}

fn asking(file: &str, urgency: Urgency, then_reserve: bool) -> Command {
    let why = "add logout".to_owned();
    Command::Ask(Ask {
        reserve: wish(file),
        why,
        urgency,
        then_reserve,
        tells_answer: false,
        tells_circle: false,
    })
}

fn negotiated(stage: &mut Stage, caller: Caller, command: Command) -> Negotiated {
    match run(stage, caller, command).outcome.expect("it is answered") {
        Success::Negotiated(outcome) => *outcome,
        other => panic!("{other:?}"),
    }
}

fn refused(stage: &mut Stage, caller: Caller, command: Command) -> Failure {
    run(stage, caller, command).outcome.expect_err("it is refused")
}

/// Asks as `who`, and the id under which that is answered.
fn asked(stage: &mut Stage, who: &str, file: &str) -> NegotiationId {
    let outcome = negotiated(stage, named(who), asking(file, Urgency::Normal, false));
    assert_eq!(outcome.status, Status::Requested);
    outcome.negotiations[0].negotiation.id
}

fn says(negotiation: NegotiationId, says: Says) -> Command {
    Command::Answer(Answer { negotiation, says })
}

fn force_of(negotiation: NegotiationId) -> Command {
    let reason = "the release is due".to_owned();
    Command::Force(Force { negotiation, reason, without_snapshot: false })
}

fn kinds(stage: &mut Stage) -> Vec<&'static str> {
    stage
        .events()
        .iter()
        .map(|event| event.body.kind())
        .filter(|kind| kind.starts_with("negotiation"))
        .collect()
}

fn notices(stage: &mut Stage, session: &str) -> Vec<Notice> {
    run(stage, hook_of(session), Command::Attend(Attend::Call)).notices
}

fn ask_again(stage: &mut Stage) {
    take(stage, named("ada"), "a.rs", How::default()).unwrap();
    let id = asked(stage, "bob", "a.rs");
    let rev = stage.stored_events().len();
    assert_eq!(asked(stage, "bob", "a.rs"), id);
    assert_eq!(stage.stored_events().len(), rev, "asking again sends nothing");
    let sooner = negotiated(stage, named("bob"), asking("a.rs", Urgency::Urgent, false));
    let open = &sooner.negotiations[0].negotiation;
    assert_eq!((open.id, open.urgency), (id, Urgency::Urgent));
    assert_eq!(open.deadline.since(stage.world.now.mono), 5 * MINUTE);
    assert_eq!(kinds(stage), ["negotiation.asked", "negotiation.raised"]);
    let other = asked(stage, "eve", "a.rs");
    assert_ne!(other, id);
}

fn free_and_own(stage: &mut Stage) {
    take(stage, named("ada"), "a.rs", How::default()).unwrap();
    let free = negotiated(stage, named("bob"), asking("b.rs", Urgency::Normal, false));
    assert_eq!((free.status, free.negotiations.len()), (Status::FreeNow, 0));
    let granted = run(stage, named("bob"), asking("b.rs", Urgency::Normal, true)).outcome;
    assert!(matches!(granted, Ok(Success::Reserved { leases, .. }) if leases.len() == 1));
    assert_eq!(refused(stage, named("ada"), asking("a.rs", Urgency::Normal, false)).slug, Slug::AskedOneself);
    assert!(kinds(stage).is_empty());
}

fn answers(stage: &mut Stage) {
    take(stage, named("ada"), "a.rs", How::default()).unwrap();
    let id = asked(stage, "bob", "a.rs");
    let later = negotiated(stage, named("ada"), says(id, Says::AfterCommit));
    assert_eq!(later.status, Status::Deferred);
    let rev = stage.stored_events().len();
    negotiated(stage, named("ada"), says(id, Says::AfterCommit));
    assert_eq!(stage.stored_events().len(), rev, "the same answer is no event");
    let no = negotiated(stage, named("ada"), says(id, Says::No("half done".to_owned())));
    assert_eq!((no.status, no.remaining.len()), (Status::Refused, 1));
    let twice = refused(stage, named("ada"), says(id, Says::Release(Vec::new())));
    assert_eq!(twice.slug, Slug::AlreadyAnswered);
    let again = asked(stage, "bob", "a.rs");
    assert_ne!(again, id, "what is over is not answered again");
    let put_off = negotiated(stage, named("ada"), says(again, Says::Later { for_ms: 60 * MINUTE }));
    assert_eq!(put_off.status, Status::Deferred);
    let freed = negotiated(stage, named("ada"), says(again, Says::Release(Vec::new())));
    assert_eq!((freed.status, freed.released.len(), freed.remaining.len()), (Status::Released, 1, 0));
    let settled = freed.negotiations[0].negotiation.settled().cloned().unwrap();
    assert_eq!((settled.how, settled.released), (NegotiationEnd::Released, 1));
    take(stage, named("bob"), "a.rs", How::default()).unwrap();
}

/// What is let go is what was asked for, under whatever leases it was, and nothing beside it.
fn part_of_pattern(stage: &mut Stage) {
    take(stage, named("ada"), "src/*.rs", How::default()).unwrap();
    let id = asked(stage, "bob", "src/main.rs");
    let freed = negotiated(stage, named("ada"), says(id, Says::Release(Vec::new())));
    assert_eq!((freed.status, freed.released.len()), (Status::Released, 0));
    assert_eq!(freed.split, ["src/main.rs"]);
    take(stage, named("bob"), "src/main.rs", How::default()).unwrap();
    let rest = take(stage, named("bob"), "src/lib.rs", How::default()).unwrap_err();
    assert_eq!(rest.slug, Slug::ReservationHeld);
}

fn commit_answers(stage: &mut Stage) {
    stage.world.dirty.insert("a.rs".to_owned());
    run(stage, hook_of("ada"), Command::Reserve(Reserve { grade: Grade::Auto, ..wish("a.rs") }))
        .outcome
        .unwrap();
    run(stage, hook_of("ada"), done("a.rs")).outcome.unwrap();
    let id = asked(stage, "bob", "a.rs");
    stage.world.dirty.clear();
    let lease = stage.held().into_iter().next().unwrap();
    let settle = clearway_core::command::Settle { leases: vec![lease.id], began: stage.world.now.mono };
    run(stage, hook_of("ada"), Command::Settle(settle)).outcome.unwrap();
    let over = stage.negotiation(id);
    assert_eq!(over.settled().map(|settled| settled.how), Some(NegotiationEnd::Released));
    assert!(stage.waits().iter().any(|view| view.wait.offered_until.is_some()), "its turn is kept for it");
}

fn done(file: &str) -> Command {
    let worktree = Worktree("/w".to_owned());
    Command::Attend(Attend::done(Care::Kept, [path(file)], worktree))
}

fn granted_when_let_go(stage: &mut Stage) {
    take(stage, named("ada"), "a.rs", How::default()).unwrap();
    let outcome = negotiated(stage, named("bob"), asking("a.rs", Urgency::Normal, true));
    let id = outcome.negotiations[0].negotiation.id;
    negotiated(stage, named("ada"), says(id, Says::Release(Vec::new())));
    let holder = stage.held().into_iter().next().expect("it is granted in the same transaction").holder;
    assert_eq!(stage.agent_of(&named("bob")), holder);
    assert!(stage.waits().is_empty());
}

fn no_barging(stage: &mut Stage) {
    stage.world.dirty.insert("a.rs".to_owned());
    take(stage, named("ada"), "a.rs", How::default()).unwrap();
    let id = asked(stage, "bob", "a.rs");
    negotiated(stage, named("ada"), says(id, Says::Release(Vec::new())));
    let barging = take(stage, named("ada"), "a.rs", auto()).unwrap_err();
    assert_eq!(barging.slug, Slug::ReservationHeld);
    take(stage, named("bob"), "a.rs", How::default()).unwrap();
}

/// Passing it is one event, and both sides hear of it once, whoever comes by first.
fn deadline(stage: &mut Stage) {
    stage.world.dirty.insert("a.rs".to_owned());
    take(stage, hook_of("ada"), "a.rs", How { ttl_ms: 60 * MINUTE, ..auto() }).unwrap();
    run(stage, hook_of("bob"), Command::Attend(Attend::Start)).outcome.unwrap();
    let outcome = negotiated(stage, hook_of("bob"), asking("a.rs", Urgency::Normal, false));
    let id = outcome.negotiations[0].negotiation.id;
    assert!(matches!(notices(stage, "ada")[..], [Notice::Asked { negotiation, .. }] if negotiation == id));
    stage.pass(10 * MINUTE - 1);
    stage.sweep();
    assert!(!stage.negotiation(id).overdue);
    stage.pass(1);
    stage.sweep();
    assert_eq!(stage.negotiation(id).word(), "escalatable");
    stage.sweep();
    assert_eq!(kinds(stage), ["negotiation.asked", "negotiation.overdue"]);
    for (session, is_mine) in [("ada", false), ("bob", true)] {
        let told = notices(stage, session);
        assert!(
            matches!(told[..], [Notice::Overdue { is_mine: own, .. }] if own == is_mine),
            "{session}: {told:?}"
        );
        assert!(notices(stage, session).is_empty(), "{session} hears of it once");
    }
}

/// A day of unanswered requests takes nothing from a holder that shows signs of life.
fn only_a_signal(stage: &mut Stage) {
    let lease = take(stage, named("ada"), "a.rs", How::default()).unwrap();
    let id = asked(stage, "bob", "a.rs");
    for _ in 0..24 * 6 - 1 {
        stage.pass(10 * MINUTE);
        run(stage, named("ada"), Command::Renew(renewal())).outcome.unwrap();
        let early = refused(stage, named("bob"), force_of(id));
        assert_eq!(early.slug, Slug::ForceTooEarly);
    }
    assert_eq!(stage.held().iter().map(|own| own.id).collect::<Vec<_>>(), [lease.id]);
    assert_eq!(stage.negotiation(id).word(), "escalatable");
}

fn renewal() -> clearway_core::command::Renew {
    clearway_core::command::Renew { selection: Selection::All, ttl_ms: None, reason: None }
}

fn force_story(stage: &mut Stage) {
    stage.world.dirty.insert("a.rs".to_owned());
    run(stage, hook_of("ada"), Command::Attend(Attend::Start)).outcome.unwrap();
    let held = take(stage, hook_of("ada"), "a.rs", How { ttl_ms: 120 * MINUTE, ..How::default() }).unwrap();
    let id = asked(stage, "bob", "a.rs");
    let early = refused(stage, named("bob"), force_of(id));
    assert_eq!(early.slug, Slug::ForceTooEarly);
    stage.pass(10 * MINUTE);
    assert_eq!(refused(stage, named("bob"), force_of(id)).slug, Slug::ForceTooEarly, "it was seen lately");
    stage.pass(10 * MINUTE + 1);
    let taken = negotiated(stage, named("bob"), force_of(id));
    assert_eq!((taken.status, taken.released), (Status::Forced, vec![held.id]));
    let events = stage.events();
    let forced = events.iter().find(|event| event.body.kind() == "negotiation.forced").unwrap();
    assert_eq!(forced.actor.agent, Some(stage.agent_of(&named("bob"))));
    assert!(matches!(&forced.body, Body::NegotiationForced { lease, holder, reason, .. }
        if *lease == held.id && *holder == held.holder && reason == "the release is due"));
    assert!(events.iter().any(|event| event.body.kind() == "snapshot.taken"), "what was dirty is kept first");
    let told = notices(stage, "ada");
    assert!(matches!(&told[..], [Notice::Forced { kept: Some(_), .. }]), "{told:?}");
    take(stage, named("bob"), "a.rs", How::default()).unwrap();
}

/// The second time is the first result again, without an event and without a notice.
fn force_again(stage: &mut Stage) {
    run(stage, hook_of("ada"), Command::Attend(Attend::Start)).outcome.unwrap();
    take(stage, hook_of("ada"), "a.rs", How { ttl_ms: 120 * MINUTE, ..How::default() }).unwrap();
    take(stage, hook_of("ada"), "b.rs", How { ttl_ms: 120 * MINUTE, ..How::default() }).unwrap();
    let (id, other) = (asked(stage, "bob", "a.rs"), asked(stage, "bob", "b.rs"));
    stage.pass(21 * MINUTE);
    let first = negotiated(stage, named("bob"), force_of(id));
    let rev = stage.stored_events().len();
    let second = negotiated(stage, named("bob"), force_of(id));
    assert_eq!((&second.status, &second.released), (&first.status, &first.released));
    assert_eq!(stage.stored_events().len(), rev);
    let told: Vec<Notice> = (0..3).flat_map(|_| notices(stage, "ada")).collect();
    assert_eq!(told.iter().filter(|told| matches!(told, Notice::Forced { .. })).count(), 1, "{told:?}");
    run(stage, hook_of("ada"), Command::Release(Release { selection: Selection::All, keep: Vec::new() }))
        .outcome
        .unwrap();
    let late = negotiated(stage, named("bob"), force_of(other));
    assert_eq!((late.status, late.released.len()), (Status::AlreadyReleased, 0));
}

fn force_the_dead(stage: &mut Stage) {
    take(stage, hook_of("ada"), "a.rs", How::default()).unwrap();
    let id = asked(stage, "bob", "a.rs");
    assert_eq!(refused(stage, named("bob"), force_of(id)).slug, Slug::ForceTooEarly);
    stage.world.processes.insert(process(pid_of("ada")).pid, ProcessLife::Dead);
    assert_eq!(negotiated(stage, named("bob"), force_of(id)).status, Status::Forced);
}

/// An agent that waits for its subagent is silent, and at work.
fn family_at_work(stage: &mut Stage) {
    let held = take(stage, hook_of("ada"), "a.rs", How { ttl_ms: 120 * MINUTE, ..How::default() }).unwrap();
    let id = asked(stage, "bob", "a.rs");
    stage.register_child(&in_session("child"), held.holder, "child123");
    stage.pass(21 * MINUTE);
    take(stage, in_session("child"), "b.rs", How::default()).unwrap();
    assert_eq!(refused(stage, named("bob"), force_of(id)).slug, Slug::ForceTooEarly);
    stage.pass(20 * MINUTE + 1);
    assert_eq!(negotiated(stage, named("bob"), force_of(id)).status, Status::Forced);
}

fn later_keeps_force_away(stage: &mut Stage) {
    take(stage, named("ada"), "a.rs", How { ttl_ms: 180 * MINUTE, ..How::default() }).unwrap();
    let id = asked(stage, "bob", "a.rs");
    negotiated(stage, named("ada"), says(id, Says::Later { for_ms: 60 * MINUTE }));
    stage.pass(60 * MINUTE - 1);
    let failure = refused(stage, named("bob"), force_of(id));
    assert_eq!(failure.slug, Slug::ForceTooEarly);
    assert!(failure.message.contains("another"), "{}", failure.message);
    stage.pass(1);
    assert_eq!(negotiated(stage, named("bob"), force_of(id)).status, Status::Forced);
}

fn third_parties(stage: &mut Stage) {
    take(stage, named("ada"), "a.rs", How { ttl_ms: 180 * MINUTE, ..How::default() }).unwrap();
    take(stage, named("eve"), "b.rs", How { ttl_ms: 180 * MINUTE, ..How::default() }).unwrap();
    let id = asked(stage, "bob", "a.rs");
    stage.pass(30 * MINUTE);
    for command in [says(id, Says::Release(Vec::new())), force_of(id), Command::Withdraw(id)] {
        assert_eq!(refused(stage, named("eve"), command).slug, Slug::NotParty);
    }
    assert_eq!(refused(stage, named("bob"), says(id, Says::Release(Vec::new()))).slug, Slug::NotParty);
    assert_eq!(refused(stage, named("ada"), force_of(id)).slug, Slug::NotParty);
    assert!(stage.negotiation(id).is_open());
    let unknown = NegotiationId::parse("zzzzzzzz").unwrap();
    assert_eq!(refused(stage, named("bob"), force_of(unknown)).slug, Slug::NotFound);
}

fn withdraw_story(stage: &mut Stage) {
    take(stage, named("ada"), "a.rs", How::default()).unwrap();
    let id = asked(stage, "bob", "a.rs");
    assert_eq!(negotiated(stage, named("bob"), Command::Withdraw(id)).status, Status::Withdrawn);
    assert!(stage.waits().is_empty(), "nobody waits who needs nothing");
    let rev = stage.stored_events().len();
    assert_eq!(negotiated(stage, named("bob"), Command::Withdraw(id)).status, Status::Withdrawn);
    assert_eq!(stage.stored_events().len(), rev);
    assert_eq!(refused(stage, named("bob"), force_of(id)).slug, Slug::AlreadyAnswered);
}

/// Who asks for what the other holds while that one asks for its own: both are told, with who had best give way.
fn circle(stage: &mut Stage) {
    for (session, file) in [("ada", "x.rs"), ("bob", "y.rs")] {
        stage.world.dirty.insert(file.to_owned());
        run(stage, hook_of(session), Command::Attend(Attend::Start)).outcome.unwrap();
        take(stage, hook_of(session), file, How::default()).unwrap();
    }
    negotiated(stage, hook_of("ada"), asking("y.rs", Urgency::Normal, false));
    let closed = refused(stage, hook_of("bob"), asking("x.rs", Urgency::Normal, false));
    assert_eq!(closed.slug, Slug::WouldDeadlock);
    let told = notices(stage, "ada");
    assert!(told.iter().any(|notice| matches!(notice, Notice::Circle { yielder: Some(_), .. })), "{told:?}");
}

/// A lease that ends without having been let go ends what was asked of it.
fn lapse(stage: &mut Stage) {
    take(stage, named("ada"), "a.rs", How::default()).unwrap();
    let id = asked(stage, "bob", "a.rs");
    stage.pass(30 * MINUTE);
    stage.sweep();
    assert_eq!(stage.negotiation(id).settled().map(|settled| settled.how), Some(NegotiationEnd::Lapsed));
    let late = negotiated(stage, named("bob"), force_of(id));
    assert_eq!(late.status, Status::AlreadyReleased);
}

/// What is handed on is asked for where it went.
fn handed_on(stage: &mut Stage) {
    take(stage, named("ada"), "a.rs", How::default()).unwrap();
    take(stage, named("eve"), "e.rs", How::default()).unwrap();
    let id = asked(stage, "bob", "a.rs");
    let to = AgentName::parse("eve").unwrap();
    run(stage, named("ada"), Command::Transfer(Transfer { to: to.clone(), selection: Selection::All }))
        .outcome
        .unwrap();
    let over = stage.negotiation(id).settled().cloned().unwrap();
    assert_eq!((over.how, over.reason.as_deref()), (NegotiationEnd::Lapsed, Some("ada handed it to eve")));
    let rev = stage.stored_events().len();
    let again = negotiated(stage, named("bob"), asking("a.rs", Urgency::Normal, false));
    assert_eq!(stage.stored_events().len(), rev, "it is asked already");
    assert_eq!(again.negotiations[0].holder, to);
    assert_eq!(kinds(stage), ["negotiation.asked", "negotiation.ended", "negotiation.asked"]);
}

/// Nobody lets go for somebody who is gone.
fn requester_died(stage: &mut Stage) {
    take(stage, named("ada"), "a.rs", How::default()).unwrap();
    let asked = negotiated(stage, hook_of("bob"), asking("a.rs", Urgency::Normal, false));
    let id = asked.negotiations[0].negotiation.id;
    stage.world.processes.insert(pid_of("bob"), ProcessLife::Dead);
    let late = refused(stage, named("ada"), says(id, Says::Release(Vec::new())));
    assert_eq!(late.slug, Slug::AlreadyAnswered);
    let over = stage.negotiation(id).settled().cloned().unwrap();
    assert_eq!((over.how, over.released), (NegotiationEnd::Lapsed, 0));
    assert!(over.reason.unwrap().ends_with("is gone"));
    assert!(take(stage, named("eve"), "a.rs", How::default()).is_err(), "it is held still");
}

fn halt_story(stage: &mut Stage) {
    stage.world.dirty.insert("a.rs".to_owned());
    run(stage, hook_of("ada"), Command::Attend(Attend::Start)).outcome.unwrap();
    take(stage, hook_of("ada"), "a.rs", auto()).unwrap();
    let name = name_of(stage, hook_of("ada"));
    assert_eq!(refused(stage, named("bob"), Command::Halt(name.clone())).slug, Slug::NotOperator);
    let person = operator(7, "runaway");
    let halted = run(stage, person.clone(), Command::Halt(name.clone())).outcome.unwrap();
    assert!(matches!(halted, Success::Halted { was_halted: false, ended, .. } if ended.len() == 1));
    assert!(stage.events().iter().any(|event| event.body.kind() == "lease.orphaned"));
    assert_eq!(take(stage, hook_of("ada"), "b.rs", auto()).unwrap_err().slug, Slug::Halted);
    assert!(matches!(&notices(stage, "ada")[..], [Notice::Halted { reason }] if reason == "runaway"));
    let again = run(stage, person.clone(), Command::Halt(name.clone())).outcome.unwrap();
    assert!(matches!(again, Success::Halted { was_halted: true, .. }));
    run(stage, person, Command::Continue(name)).outcome.unwrap();
    take(stage, hook_of("ada"), "b.rs", auto()).unwrap();
}

fn boot(stage: &mut Stage) {
    take(stage, named("ada"), "a.rs", How::default()).unwrap();
    let id = asked(stage, "bob", "a.rs");
    stage.reboot("another");
    take(stage, named("eve"), "b.rs", How::default()).unwrap();
    assert_eq!(stage.negotiation(id).settled().map(|settled| settled.how), Some(NegotiationEnd::Lapsed));
}

fn looping(stage: &mut Stage) {
    stage.world.dirty.insert("a.rs".to_owned());
    take(stage, hook_of("ada"), "a.rs", auto()).unwrap();
    let edit = || {
        let reserve = Reserve { grade: Grade::Auto, ..wish("a.rs") };
        let stay = clearway_core::command::Stay::Durable;
        Command::Await(clearway_core::command::Await { reserve, stay, wait_ms: 60 * MINUTE, wait: None })
    };
    let count = |told: Vec<Notice>| told.iter().filter(|told| matches!(told, Notice::Looping { .. })).count();
    for time in 1..=10 {
        let told = run(stage, hook_of("bob"), edit()).notices;
        assert_eq!(count(told), usize::from(time == 10), "{time}");
    }
    stage.pass(5 * MINUTE);
    assert_eq!(count(run(stage, hook_of("bob"), edit()).notices), 0, "a while ago counts for nothing");
}

/// Whoever ends its turn while somebody waits for its file is reminded once, and rests the second time.
fn end_of_turn(stage: &mut Stage) {
    stage.world.dirty.insert("a.rs".to_owned());
    take(stage, hook_of("ada"), "a.rs", auto()).unwrap();
    let rest = |stage: &mut Stage| run(stage, hook_of("ada"), Command::Attend(Attend::Rest)).notices;
    assert!(rest(stage).is_empty());
    let id = asked(stage, "bob", "a.rs");
    assert!(matches!(&rest(stage)[..], [Notice::StillWaitedFor { .. }]));
    assert!(rest(stage).is_empty());
    negotiated(stage, hook_of("ada"), says(id, Says::Later { for_ms: MINUTE }));
    let later = Notice::Answered {
        target: "a.rs".to_owned(),
        holder: name_of(stage, hook_of("ada")),
        says: Said::Later { left_ms: MINUTE },
    };
    assert_ne!(rest(stage), [later]);
}
