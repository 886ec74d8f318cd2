//! A queue that several connections stand in.

use crate::support::{Actor, granted, operator, reservation, scope, server, waiting};
use clearway_core::command::{Command, Stay};
use clearway_core::facts::Process;
use clearway_core::ids::WaitId;
use clearway_core::limits::WAITER_SILENCE_MS;
use clearway_core::time::Mono;
use clearway_core::wait::Wait;
use clearway_store::contract::Engine;
use clearway_store::verify;
use clearway_store_postgres::Server;
use std::sync::{Barrier, Mutex};

const WAITERS: usize = 5;

#[test]
fn connections_that_queue_at_once_get_a_place_each_and_are_served_in_that_order() {
    let server = server();
    let mut holder = Actor::new(&server, "holder");
    let held = holder.grant("src/**");
    let (barrier, waiting) = (Barrier::new(WAITERS), Mutex::new(Vec::new()));
    std::thread::scope(|threads| {
        for number in 0..WAITERS {
            let (server, barrier, waiting) = (&server, &barrier, &waiting);
            threads.spawn(move || {
                let mut actor = Actor::new(server, &format!("waiter-{number}"));
                barrier.wait();
                let wait = actor.queue("src/f", Stay::Durable, None);
                waiting.lock().unwrap().push((wait, actor));
            });
        }
    });
    let mut queue: Vec<(Wait, Actor)> = waiting.into_inner().unwrap();
    queue.sort_by_key(|(wait, _)| wait.place);
    let places: Vec<WaitId> = queue.iter().map(|(wait, _)| wait.id).collect();
    assert_eq!(holder.waits().iter().map(|view| view.wait.id).collect::<Vec<_>>(), places);
    holder.release(&held).unwrap();
    for next in 0..WAITERS {
        for (_, later) in &mut queue[next + 1..] {
            assert!(granted(later.reserve("src/f", None).unwrap()).is_none(), "nobody overtakes");
        }
        let lease = queue[next].1.grant("src/f");
        queue[next].1.release(&lease).unwrap();
    }
    assert_eq!(holder.waits(), []);
    assert_eq!((holder.count("wait.began"), holder.count("wait.ended")), (WAITERS, WAITERS));
}

#[test]
fn a_queue_costs_a_journey_only_where_the_others_in_it_want_something_else() {
    let server = server();
    let (mut ada, mut eve) = (Actor::new(&server, "ada"), Actor::new(&server, "eve"));
    ada.grant("f");
    ada.grant("g");
    let wait = eve.queue("f", Stay::Durable, None);
    let trips = |actor: &mut Actor, command: Command| {
        let before = actor.engine.round_trips();
        actor.run(command, None).unwrap();
        actor.engine.round_trips() - before
    };
    assert_eq!(trips(&mut ada, reservation("h")), 2, "nobody waits for it");
    assert_eq!(trips(&mut eve, waiting("f", Stay::Durable, Some(wait.id))), 2, "asking again for the same");
    assert_eq!(trips(&mut eve, reservation("f")), 2, "what stands in the way came with the lock");
    assert_eq!(
        trips(&mut eve, waiting("g", Stay::Durable, None)),
        3,
        "joining looks at what others wait for"
    );
}

/// A process that waits, and said so a while after it began.
fn heard_waiter(server: &Server, eve: &mut Actor) -> (Wait, Mono) {
    let process =
        Process { host: "h".into(), boot: "b".into(), pid_namespace: "p".into(), pid: 11, start: 1 };
    let wait = eve.queue("f", Stay::Attached(process.clone()), None);
    later(server, WAITER_SILENCE_MS - 1_000);
    eve.queue("f", Stay::Attached(process), Some(wait.id));
    let heard = eve.waits()[0].heard.expect("it was heard");
    assert!(heard > wait.since);
    (wait, heard)
}

fn later(server: &Server, by_ms: u64) {
    operator(server).batch(&format!("UPDATE scopes SET clock_ms = clock_ms + {by_ms}")).unwrap();
}

#[test]
fn a_queue_that_lies_is_made_anew_from_the_log_and_nobody_in_it_falls_silent() {
    let server = server();
    let (mut ada, mut eve) = (Actor::new(&server, "ada"), Actor::new(&server, "eve"));
    ada.grant("f");
    let (wait, heard) = heard_waiter(&server, &mut eve);
    let lost = Actor::new(&server, "bob").queue("f", Stay::Durable, None);
    let whole = ada.waits();
    let harm = format!(
        "DELETE FROM waits WHERE id = '{}'; UPDATE waits SET place = {} WHERE id = '{}'",
        lost.id, lost.place.0, wait.id
    );
    operator(&server).batch(&harm).unwrap();
    let mut snapshot = ada.engine.snapshot(&scope()).unwrap().unwrap();
    let report = verify::verify(&mut *snapshot, &scope(), &[]).unwrap();
    drop(snapshot);
    let mut lies = vec![format!("wait {}", lost.id), format!("wait {}", wait.id)];
    lies.sort();
    assert_eq!((report.broken, report.stale_projections), (None, lies));
    ada.engine.rebuild(&scope(), &report.state).unwrap();
    assert_eq!(ada.waits(), whole);
    later(&server, WAITER_SILENCE_MS - 1_000);
    ada.grant("elsewhere");
    assert_eq!((ada.waits()[0].heard, ada.count("wait.ended")), (Some(heard), 0));
}

#[test]
fn what_another_boot_heard_of_a_waiter_does_not_count() {
    let server = server();
    let (mut ada, mut eve) = (Actor::new(&server, "ada"), Actor::new(&server, "eve"));
    ada.grant("f");
    heard_waiter(&server, &mut eve);
    operator(&server).batch("UPDATE waits SET heard_boot = 'another'").unwrap();
    assert_eq!(ada.waits()[0].heard, None);
}
