//! Many writers at once: exactly one wins, nobody fails for being second, and who stands in the way is named.

use crate::child::{self, Child};
use crate::specimen::open_plainly;
use crate::support::{
    TestWorld, audit, engine, fast_dir, grant, must_be_whole, named, release_all, request, run, scope,
    settings, try_reserve,
};
use clearway_core::event::{Actor, Body, Durability, Event};
use clearway_core::ids::Seq;
use clearway_core::pattern::Fold;
use clearway_core::slug::Slug;
use clearway_store::contract::{Engine, Holder, StoreError, StoredEvent};
use clearway_store_sqlite::SqliteEngine;
use clearway_wire::canonical;
use std::path::Path;
use std::sync::Barrier;
use std::time::Duration;

const THREADS: usize = 8;
const PROCESSES: usize = 6;
const ROUNDS: usize = 10;
/// Shorter than any hold in these tests.
const SHORT: Duration = Duration::from_millis(200);

/// Who a contender is.
struct Contender {
    name: String,
    engine: SqliteEngine,
    world: TestWorld,
}

impl Contender {
    fn new(state: &Path, number: usize) -> Self {
        let world = TestWorld::new(1_000 + number as u64);
        Self { name: format!("agent-{number}"), engine: engine(state), world }
    }

    /// Whether the contested path was won. Losing is being told that it is held, and nothing else.
    fn tries(&mut self) -> bool {
        match try_reserve(&mut self.engine, &mut self.world, &self.name, "contested").unwrap().outcome {
            Ok(_) => true,
            Err(failure) => {
                assert_eq!(failure.slug, Slug::ReservationHeld, "{failure:?}");
                false
            }
        }
    }

    fn gives_back(&mut self) {
        let release = request(named(&self.name), release_all(), None);
        run(&mut self.engine, &mut self.world, &release).unwrap().outcome.unwrap();
    }
}

fn kinds(state: &Path, kind: &str) -> usize {
    let mut engine = engine(state);
    let mut snapshot = engine.snapshot(&scope()).unwrap().unwrap();
    let events = snapshot.events(Seq(0), usize::MAX).unwrap();
    let decoded = events.iter().map(|event| canonical::decode(event.seq, &event.bytes, Fold::Exact).unwrap());
    decoded.filter(|event| event.body.kind() == kind).count()
}

#[test]
fn of_many_threads_exactly_one_wins_each_round_and_every_outcome_is_in_the_log() {
    let directory = fast_dir();
    let barrier = Barrier::new(THREADS);
    let won: usize = std::thread::scope(|threads| {
        let handles: Vec<_> = (0..THREADS)
            .map(|number| {
                let (state, barrier) = (directory.path(), &barrier);
                threads.spawn(move || {
                    let mut contender = Contender::new(state, number);
                    (0..ROUNDS).filter(|_| one_round(&mut contender, barrier)).count()
                })
            })
            .collect();
        handles.into_iter().map(|handle| handle.join().unwrap()).sum()
    });
    assert_eq!(won, ROUNDS);
    assert_eq!(kinds(directory.path(), "lease.granted"), ROUNDS);
    assert_eq!(kinds(directory.path(), "reservation.refused"), ROUNDS * (THREADS - 1));
    must_be_whole(&mut engine(directory.path()));
}

fn one_round(contender: &mut Contender, barrier: &Barrier) -> bool {
    barrier.wait();
    let won = contender.tries();
    barrier.wait();
    if won {
        contender.gives_back();
    }
    won
}

#[test]
fn of_many_processes_exactly_one_wins_each_round() {
    if let Some((role, state)) = child::role() {
        return contend(&role, &state);
    }
    let directory = fast_dir();
    let test = "contention::of_many_processes_exactly_one_wins_each_round";
    let mut children: Vec<Child> =
        (0..PROCESSES).map(|number| Child::start(test, &number.to_string(), directory.path())).collect();
    for round in 0..ROUNDS {
        children.iter_mut().for_each(|child| child.tell("try"));
        let said: Vec<String> = children.iter_mut().map(Child::hear).collect();
        assert_eq!(said.iter().filter(|word| *word == "won").count(), 1, "round {round}: {said:?}");
        children.iter_mut().for_each(|child| child.tell("give back"));
        assert!(children.iter_mut().all(|child| child.hear() == "done"));
    }
    children.into_iter().for_each(Child::finish);
    assert_eq!(kinds(directory.path(), "reservation.refused"), ROUNDS * (PROCESSES - 1));
    must_be_whole(&mut engine(directory.path()));
}

fn contend(role: &str, state: &Path) {
    let mut contender = Contender::new(state, role.parse().unwrap());
    let mut won = false;
    while let Some(word) = child::hear() {
        match word.as_str() {
            "try" => {
                won = contender.tries();
                child::say(if won { "won" } else { "lost" });
            }
            _ => {
                if won {
                    contender.gives_back();
                }
                child::say("done");
            }
        }
    }
}

#[test]
fn disjoint_requests_of_many_threads_are_all_granted() {
    const EACH: usize = 25;
    let directory = fast_dir();
    std::thread::scope(|threads| {
        for number in 0..THREADS {
            let state = directory.path();
            threads.spawn(move || {
                let mut contender = Contender::new(state, number);
                let Contender { name, engine, world } = &mut contender;
                (0..EACH).for_each(|file| drop(grant(engine, world, name, &format!("{number}/{file}"))));
            });
        }
    });
    assert_eq!(kinds(directory.path(), "lease.granted"), THREADS * EACH);
    must_be_whole(&mut engine(directory.path()));
}

/// Holds the database's write lock past the gate until the parent says otherwise.
fn hold(state: &Path) {
    let connection = open_plainly(state).unwrap();
    connection.execute_batch("BEGIN IMMEDIATE").unwrap();
    child::say("held");
    child::hear();
    connection.execute_batch("ROLLBACK").unwrap();
}

/// Keeps the whole database to itself, readers included, until the parent says otherwise.
fn keep_everybody_out(state: &Path) {
    let connection = open_plainly(state).unwrap();
    connection.execute_batch("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; ROLLBACK").unwrap();
    child::say("held");
    child::hear();
}

#[test]
fn a_reader_too_says_how_long_it_waited_and_for_whom() {
    let test = "contention::a_reader_too_says_how_long_it_waited_and_for_whom";
    if let Some((_, state)) = child::role() {
        return keep_everybody_out(&state);
    }
    let directory = fast_dir();
    grant(&mut engine(directory.path()), &mut TestWorld::new(1), "a", "f");
    let mut holder = Child::start(test, "exclude", directory.path());
    assert_eq!(holder.hear(), "held");
    let hurried = clearway_store_sqlite::Settings { timeout: SHORT, ..settings(directory.path()) };
    match SqliteEngine::new(hurried).snapshot(&scope()).map(|_| ()) {
        Err(StoreError::Busy { waited_ms, holders }) => {
            assert!((100..5_000).contains(&waited_ms), "waited {waited_ms} ms");
            assert!(holders.len() == 1 && is_process(&holders[0], holder.pid()), "{holders:?}");
        }
        other => panic!("{other:?}"),
    }
    holder.tell("let go");
    holder.finish();
    must_be_whole(&mut engine(directory.path()));
}

#[test]
fn a_foreign_writer_delays_a_reservation_and_does_not_fail_it() {
    let test = "contention::a_foreign_writer_delays_a_reservation_and_does_not_fail_it";
    if let Some((_, state)) = child::role() {
        return hold(&state);
    }
    let directory = fast_dir();
    grant(&mut engine(directory.path()), &mut TestWorld::new(1), "a", "f");
    let mut holder = Child::start(test, "hold", directory.path());
    assert_eq!(holder.hear(), "held");
    std::thread::scope(|threads| {
        let state = directory.path();
        let waiting = threads
            .spawn(move || grant(&mut engine(state), &mut TestWorld::new(2), "b", "g").lease.fence.seq);
        wait_until_the_gate_is_held(state);
        assert!(!waiting.is_finished());
        holder.tell("let go");
        assert!(waiting.join().unwrap() > Seq(0));
    });
    holder.finish();
    must_be_whole(&mut engine(directory.path()));
}

fn is_process(holder: &Holder, wanted: u32) -> bool {
    matches!(holder, Holder::Process { pid, .. } if *pid == wanted)
}

/// Whoever holds the gate while somebody else holds the database waits for the database.
fn wait_until_the_gate_is_held(state: &Path) {
    let own = std::process::id();
    let mut engine = engine(state);
    while !engine.writers(&scope()).unwrap().iter().any(|writer| is_process(writer, own)) {
        std::thread::yield_now();
    }
}

#[test]
fn a_wait_is_as_long_as_was_said_and_names_who_was_in_the_way() {
    let test = "contention::a_wait_is_as_long_as_was_said_and_names_who_was_in_the_way";
    match child::role() {
        Some((role, state)) if role == "hold" => return hold(&state),
        Some((_, state)) => return write_and_wait(&state),
        None => {}
    }
    let directory = fast_dir();
    grant(&mut engine(directory.path()), &mut TestWorld::new(1), "a", "f");
    for role in ["hold", "write"] {
        let mut holder = Child::start(test, role, directory.path());
        assert_eq!(holder.hear(), "held");
        let mut hurried = SqliteEngine::new(clearway_store_sqlite::Settings {
            timeout: SHORT,
            ..settings(directory.path())
        });
        match try_reserve(&mut hurried, &mut TestWorld::new(2), "b", "g") {
            Err(StoreError::Busy { waited_ms, holders }) => {
                // Rounded down by two clocks; what matters is that it waited, and not for the default time.
                assert!((100..5_000).contains(&waited_ms), "{role}: waited {waited_ms} ms");
                assert_eq!(holders.len(), 1, "{role}: {holders:?}");
                assert!(is_process(&holders[0], holder.pid()), "{role}: {holders:?}");
            }
            other => panic!("{role}: {other:?}"),
        }
        holder.tell("let go");
        holder.finish();
        grant(&mut hurried, &mut TestWorld::new(3), "b", &format!("after-{role}"));
    }
}

/// Writes everything of a transaction but its end, and waits.
fn write_and_wait(state: &Path) {
    let mut engine = engine(state);
    let mut transaction = engine.begin(&scope(), true).unwrap().unwrap();
    let head = transaction.head().unwrap();
    let at = TestWorld::new(0).now.wall;
    let body = Body::ActionDenied {
        action: "a".to_owned(),
        subject: "b".to_owned(),
        reason: "c".to_owned(),
        repeats: 0,
    };
    let event = Event { seq: head.rev.next(), at, actor: Actor::KERNEL, body };
    let bytes = canonical::encode(&event);
    let hash = head.hash.next(&scope(), event.seq, &bytes);
    transaction.append(&StoredEvent { seq: event.seq, bytes, hash }).unwrap();
    transaction.apply(&event).unwrap();
    child::say("held");
    child::hear();
    if child::role().is_some_and(|(role, _)| role == "commit") {
        transaction.commit(Durability::Normal).unwrap();
    }
}

#[test]
fn a_writer_killed_in_its_transaction_leaves_nothing_and_stops_nobody() {
    let test = "contention::a_writer_killed_in_its_transaction_leaves_nothing_and_stops_nobody";
    if let Some((_, state)) = child::role() {
        return write_and_wait(&state);
    }
    let directory = fast_dir();
    let mut world = TestWorld::new(1);
    grant(&mut engine(directory.path()), &mut world, "a", "f");
    let before = audit(&mut engine(directory.path()), &[]).unwrap().unwrap().head;
    let mut victim = Child::start(test, "write", directory.path());
    assert_eq!(victim.hear(), "held");
    victim.kill();
    assert_eq!(audit(&mut engine(directory.path()), &[]).unwrap().unwrap().head, before);
    let next = grant(&mut engine(directory.path()), &mut world, "a", "g");
    assert_eq!(next.lease.fence.seq, before.rev.next());
    let mut finished = Child::start(test, "commit", directory.path());
    assert_eq!(finished.hear(), "held");
    finished.tell("go on");
    finished.finish();
    let after = audit(&mut engine(directory.path()), &[]).unwrap().unwrap().head.rev;
    assert_eq!(after, before.rev.next().next(), "what was committed is there");
    must_be_whole(&mut engine(directory.path()));
}

/// Folding the log must not leave the connection without patience.
#[test]
fn an_engine_that_lives_long_keeps_its_patience() {
    let test = "contention::an_engine_that_lives_long_keeps_its_patience";
    if let Some((_, state)) = child::role() {
        return hold(&state);
    }
    let directory = fast_dir();
    let (mut engine, mut world) = (engine(directory.path()), TestWorld::new(1));
    (0..100).for_each(|number| drop(grant(&mut engine, &mut world, "a", &format!("d/{number}"))));
    let mut holder = Child::start(test, "hold", directory.path());
    assert_eq!(holder.hear(), "held");
    std::thread::scope(|threads| {
        let waiting = threads.spawn(move || grant(&mut engine, &mut world, "a", "last").lease.fence.seq);
        wait_until_the_gate_is_held(directory.path());
        holder.tell("let go");
        assert!(waiting.join().unwrap() > Seq(100));
    });
    holder.finish();
}
