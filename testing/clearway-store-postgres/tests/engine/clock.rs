//! The server keeps the time, and is asked twice per command.

use crate::support::{Actor, TTL_MS, granted, operator, server};
use clearway_core::command::{Command, LeaseRef, Release, Renew, Selection};

#[test]
fn deadlines_live_on_the_clock_of_the_server_however_wrong_the_callers_are() {
    let server = server();
    let (mut ada, mut eve) = (Actor::new(&server, "ada"), Actor::new(&server, "eve"));
    let reply = ada.reserve("f", None).unwrap();
    let now = reply.now.clone();
    assert!(now.boot.0.starts_with("postgres:"), "{now:?}");
    assert_eq!(granted(reply).unwrap().deadline, now.mono.plus_ms(TTL_MS));
    let refused = eve.reserve("f", None).unwrap();
    assert_eq!(refused.now.boot, now.boot);
    assert!(refused.now.mono >= now.mono && refused.outcome.is_err(), "{refused:?}");
    assert_eq!(ada.count("epoch.began"), 1, "two machines are not two boots");
}

#[test]
fn a_clock_that_went_back_takes_no_time_back() {
    let server = server();
    let (mut ada, mut eve) = (Actor::new(&server, "ada"), Actor::new(&server, "eve"));
    let first = ada.grant("f");
    // As a server leaves it whose clock was ahead until a moment ago.
    let ahead = format!("UPDATE scopes SET clock_ms = clock_ms + {TTL_MS}");
    operator(&server).batch(&ahead).unwrap();
    let second = eve.grant("f");
    assert!(second.lease.granted.0 >= first.lease.deadline.0);
    assert_eq!(eve.count("lease.expired"), 1);
}

#[test]
fn a_command_is_two_round_trips_one_with_the_lock_and_one_with_the_commit() {
    let server = server();
    let (mut ada, mut eve) = (Actor::new(&server, "ada"), Actor::new(&server, "eve"));
    let trips = |actor: &mut Actor, command: Command, key: Option<&str>| {
        let before = actor.engine.round_trips();
        let reply = actor.run(command, key).unwrap();
        (actor.engine.round_trips() - before, reply)
    };
    let reservation = crate::support::reservation;
    let (opening, reply) = trips(&mut ada, reservation("f"), None);
    assert_eq!(opening, 2, "the first command of a scope and of an agent");
    let lease = granted(reply).unwrap();
    assert_eq!(trips(&mut ada, reservation("src/**"), None).0, 2, "a known agent");
    assert_eq!(trips(&mut ada, reservation("g"), Some("k")).0, 2, "under a key");
    let (repeated, reply) = trips(&mut ada, reservation("g"), Some("k"));
    assert!(reply.replayed && repeated == 2, "a repetition");
    let (refused, reply) = trips(&mut eve, reservation("f"), None);
    assert!(reply.outcome.is_err() && refused == 2, "a refusal");
    let selection = Selection::of(vec![LeaseRef { id: lease.lease.id, fence: None }]);
    let renew = Command::Renew(Renew { selection, ttl_ms: None, reason: None });
    assert_eq!(trips(&mut ada, renew, None).0, 2, "a renewal");
    let everything = Command::Release(Release { selection: Selection::All, keep: Vec::new() });
    assert_eq!(
        trips(&mut ada, everything, None).0,
        3,
        "whose leases are asked for, the first journey has to tell"
    );
}
