//! Who is who.

use super::Story;
use super::stage::*;
use clearway_core::agent::{AgentName, Caller};
use clearway_core::command::{Command, Selection, Transfer};
use clearway_core::decide::Success;
use clearway_core::event::Body;
use clearway_core::slug::Slug;

pub(super) const STORIES: &[Story] = &[
    ("one session is one agent, whoever asks", one_session),
    ("a session's name cannot be claimed from outside", not_you),
    ("nobody is called by the id of another agent, and an id names its agent", called_by_an_id),
    ("inside its session an agent may say its own name", own_name),
    ("an unnamed agent gets a readable name of its own", readable),
    ("a caller nobody can tell apart is refused", nobody),
    ("a refused first command opens no scope", opens_nothing),
    ("an id that is taken is drawn again", collision),
    ("a refusal repeated within a minute is counted, not written", repeats),
    ("a key answers a repetition like the first time", replayed),
    ("a key used for something else is refused", mismatched),
    ("a refused request does not use up its key", refused_key),
    ("a key is forgotten after a day", forgotten),
];

fn one_session(stage: &mut Stage) {
    let first = stage.reserve(&in_session("s1"), &[path("f")], How::default());
    let again = stage.reserve(&in_session("s1"), &[path("g")], How::default());
    assert_eq!(first.agent, again.agent);
    let other = stage.reserve(&in_session("s2"), &[path("h")], How::default());
    assert_ne!(first.agent, other.agent);
    assert_eq!(stage.kinds().iter().filter(|kind| **kind == "agent.registered").count(), 2);
}

fn not_you(stage: &mut Stage) {
    let reply = stage.reserve(&in_session("s1"), &[path("f")], How::default());
    let name = reply.agent.unwrap().1;
    let claim = Caller { claim: Some(name.clone()), ..Caller::default() };
    refusal(stage.reserve(&claim, &[path("g")], How::default()), Slug::NotYou);
    let other = Caller { claim: Some(name), ..in_session("s2") };
    refusal(stage.reserve(&other, &[path("g")], How::default()), Slug::NotYou);
    assert_eq!(stage.stored().len(), 1);
    assert!(
        stage
            .events()
            .iter()
            .any(|event| { matches!(&event.body, Body::ActionDenied { reason, .. } if reason == "not-you") })
    );
}

fn called_by_an_id(stage: &mut Stage) {
    let reply = stage.reserve(&in_session("s1"), &[path("f")], How::default());
    let (id, name) = reply.agent.unwrap();
    refusal(stage.reserve(&named(id.as_str()), &[path("g")], How::default()), Slug::InvalidAgentName);
    stage.take("b", "g");
    let to = AgentName::parse(id.as_str()).unwrap();
    let reply = stage.command("b", Command::Transfer(Transfer { to, selection: Selection::All }));
    assert!(
        matches!(&reply.outcome, Ok(Success::Transferred(leases)) if leases[0].agent == name),
        "{reply:?}"
    );
}

fn own_name(stage: &mut Stage) {
    let reply = stage.reserve(&in_session("s1"), &[path("f")], How::default());
    let (id, name) = reply.agent.unwrap();
    let claim = Caller { claim: Some(name), ..in_session("s1") };
    assert_eq!(stage.reserve(&claim, &[path("g")], How::default()).agent.unwrap().0, id);
}

fn readable(stage: &mut Stage) {
    let reply = stage.reserve(&in_session("s1"), &[path("f")], How::default());
    let name = reply.agent.unwrap().1;
    assert!(name.as_str().starts_with("claude-"), "{name}");
    assert_eq!(AgentName::parse(name.as_str()), Some(name));
}

fn nobody(stage: &mut Stage) {
    refusal(stage.reserve(&Caller::default(), &[path("f")], How::default()), Slug::NoIdentity);
    assert!(stage.events().is_empty());
}

fn opens_nothing(stage: &mut Stage) {
    refusal(stage.reserve(&Caller::default(), &[path("f")], How::default()), Slug::NoIdentity);
    let agent_as_operator = Caller { session: in_session("s1").session, ..operator(7, "why not") };
    let freeze = Command::Freeze { for_ms: 60_000 };
    refusal(stage.execute(&agent_as_operator, freeze, None), Slug::NotOperator);
    assert!(stage.stored_events().is_empty());
    assert_eq!(stage.agents(), 0);
    stage.grant("a", "f", How::default());
}

fn collision(stage: &mut Stage) {
    let first = stage.grant("a", "f", How::default());
    // The next draw repeats the first lease's id; base36 digits are the bytes' remainders.
    let digits =
        first.lease.id.as_str().bytes().map(|c| if c.is_ascii_digit() { c - b'0' } else { c - b'a' + 10 });
    let mut forced: Vec<u8> = digits.collect();
    forced.resize(16, 255);
    stage.world.forced = forced;
    let second = stage.grant("a", "g", How::default());
    assert!(stage.world.forced.is_empty(), "the collision was drawn");
    assert_ne!(first.lease.id, second.lease.id);
    assert_eq!(stage.stored().len(), 2);
}

fn repeats(stage: &mut Stage) {
    stage.grant("a", "f", How::default());
    for _ in 0..5 {
        stage.refused("b", "f", How::default());
        stage.pass(1_000);
    }
    let refusals = |stage: &mut Stage| -> Vec<u64> {
        let repeats = |event: clearway_core::event::Event| match event.body {
            Body::ReservationRefused { repeats, .. } => Some(repeats),
            _ => None,
        };
        stage.events().into_iter().filter_map(repeats).collect()
    };
    assert_eq!(refusals(stage), [0]);
    stage.pass(60_000);
    stage.refused("b", "f", How::default());
    assert_eq!(refusals(stage), [0, 4]);
    stage.refused("c", "f", How::default());
    assert_eq!(refusals(stage), [0, 4, 0], "another agent's refusal is its own");
}

fn with_key(key: &str) -> How {
    How { key: Some(key.to_owned()), ..How::default() }
}

fn replayed(stage: &mut Stage) {
    stage.grant("a", "before", How::default());
    let first = stage.reserve(&named("a"), &[path("f")], with_key("k1"));
    stage.pass(60_000);
    let again = stage.reserve(&named("a"), &[path("f")], with_key("k1"));
    assert!(again.replayed && !first.replayed);
    assert_eq!(again.rev, first.rev);
    assert_eq!(only(leases(again)), only(leases(first)));
    assert_eq!(stage.stored().len(), 2);
}

fn mismatched(stage: &mut Stage) {
    stage.reserve(&named("a"), &[path("f")], with_key("k1"));
    refusal(stage.reserve(&named("a"), &[path("g")], with_key("k1")), Slug::IdempotencyMismatch);
    assert_eq!(stage.stored().len(), 1);
    stage.reserve(&named("b"), &[path("g")], with_key("k1"));
    assert_eq!(stage.stored().len(), 2, "a key belongs to its agent");
}

fn refused_key(stage: &mut Stage) {
    let held = stage.grant("a", "f", How::default());
    refusal(stage.reserve(&named("b"), &[path("f")], with_key("k1")), Slug::ReservationHeld);
    stage.release(&named("a"), by_id(&held));
    let granted = stage.reserve(&named("b"), &[path("f")], with_key("k1"));
    assert!(!granted.replayed);
    leases(granted);
}

fn forgotten(stage: &mut Stage) {
    let first = only(leases(stage.reserve(&named("a"), &[path("f")], with_key("k1"))));
    stage.release(&named("a"), by_id(&first));
    stage.pass(24 * 3_600_000);
    let later = stage.reserve(&named("a"), &[path("f")], with_key("k1"));
    assert!(!later.replayed);
    assert_ne!(only(leases(later)).lease.id, first.lease.id);
}
