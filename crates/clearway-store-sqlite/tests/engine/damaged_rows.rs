//! One bad row: made up for from its events, named where that fails, and no harm to anybody else.

use crate::specimen::{Specimen, live, open_plainly};
use crate::support::{
    TestWorld, audit, claim, complaints, engine, fast_dir, grant, must_be_whole, named, path, release_all,
    request, run, scope, try_reserve,
};
use clearway_core::command::{Await, Command, LeaseRef, Release, Renew, Selection, Stay};
use clearway_core::decide::{Notice, Success};
use clearway_core::failure::{Details, LeaseView};
use clearway_core::slug::Slug;
use clearway_core::wait::Wait;
use clearway_store::contract::{Engine, LeaseListing};
use std::path::Path;

/// Ways to make a stored lease senseless.
const DAMAGE: [&str; 6] = [
    "UPDATE leases SET pattern = 'a[' WHERE id = ?1",
    "UPDATE leases SET pattern = CAST(x'ff' AS TEXT) WHERE id = ?1",
    "UPDATE leases SET mode = 'shared', holder = 'nobody at all' WHERE id = ?1",
    "UPDATE leases SET write_set = '' WHERE id = ?1",
    "UPDATE leases SET worktree = worktree || CAST(x'ff' AS TEXT) WHERE id = ?1",
    "UPDATE leases SET reason = CAST(x'ff' AS TEXT) WHERE id = ?1",
];

fn tamper(state: &Path, act: &str, lease: &LeaseView) {
    let changed = open_plainly(state).unwrap().execute(act, [lease.lease.id.as_str()]).unwrap();
    assert_eq!(changed, 1, "{act}");
}

/// A store where one agent holds something, another something else.
fn held() -> (tempfile::TempDir, TestWorld, LeaseView) {
    let directory = fast_dir();
    let (mut engine, mut world) = (engine(directory.path()), TestWorld::new(1));
    let lease = grant(&mut engine, &mut world, "ann", "src/a.rs");
    grant(&mut engine, &mut world, "bob", "docs/b.md");
    (directory, world, lease)
}

fn blockers(reply: clearway_store::Reply) -> Vec<LeaseView> {
    match reply.outcome {
        Err(failure) => match failure.details {
            Details::Blockers { leases, .. } => leases,
            other => panic!("{other:?}"),
        },
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_damaged_row_is_taken_from_its_events() {
    for act in &DAMAGE[..2] {
        let (directory, mut world, lease) = held();
        tamper(directory.path(), act, &lease);
        let mut engine = engine(directory.path());
        grant(&mut engine, &mut world, "cyd", "elsewhere");
        let in_the_way = blockers(try_reserve(&mut engine, &mut world, "cyd", "src/**").unwrap());
        assert_eq!(in_the_way[0].lease, lease.lease, "{act}");
        let listed = engine.snapshot(&scope()).unwrap().unwrap();
        let listed = { listed }.leases(LeaseListing::Live, &world.now).unwrap();
        assert!(listed.unreadable.is_empty() && listed.leases.contains(&lease.lease), "{act}");
        let reply = run(&mut engine, &mut world, &request(named("ann"), release_all(), None)).unwrap();
        assert!(
            matches!(reply.outcome, Ok(Success::Released { released, .. }) if released == [lease.lease.id])
        );
        grant(&mut engine, &mut world, "cyd", "src/a.rs");
        must_be_whole(&mut engine);
    }
}

#[test]
fn no_damage_to_one_row_keeps_others_from_working_or_an_audit_from_seeing_it() {
    for act in DAMAGE {
        let (directory, mut world, lease) = held();
        tamper(directory.path(), act, &lease);
        let mut engine = engine(directory.path());
        grant(&mut engine, &mut world, "bob", "docs/c.md");
        grant(&mut engine, &mut world, "cyd", "elsewhere");
        let reply = run(&mut engine, &mut world, &request(named("bob"), release_all(), None)).unwrap();
        assert!(
            matches!(reply.outcome, Ok(Success::Released { released, .. }) if released.len() == 2),
            "{act}"
        );
        let found = complaints(&mut engine, &[]);
        assert!(found.iter().any(|text| text.contains(lease.lease.id.as_str())), "{act}: {found:?}");
    }
}

#[test]
fn a_row_lost_with_its_events_is_named_and_stops_only_what_includes_it() {
    for act in &DAMAGE[..2] {
        let (directory, mut world, lease) = held();
        let id = lease.lease.id;
        tamper(directory.path(), act, &lease);
        let granted = lease.lease.fence.seq.0;
        let events = open_plainly(directory.path()).unwrap();
        events.execute("UPDATE events SET bytes = x'01' WHERE seq = ?1", [granted]).unwrap();
        drop(events);
        let mut engine = engine(directory.path());
        let elsewhere = try_reserve(&mut engine, &mut world, "bob", "docs/c.md").unwrap();
        assert!(elsewhere.outcome.is_ok() && elsewhere.notices.is_empty(), "{:?}", elsewhere.notices);
        let near = try_reserve(&mut engine, &mut world, "bob", "src/**").unwrap();
        assert!(
            matches!(&near.notices[..], [Notice::UnreadableRows(rows)] if *rows == [id.as_str()]),
            "{near:?}"
        );
        let reply = run(&mut engine, &mut world, &request(named("ann"), release_all(), None)).unwrap();
        assert_eq!(reply.outcome.unwrap_err().slug, Slug::UnreadableRow);
        let reference = LeaseRef { id, fence: None };
        let renew =
            Command::Renew(Renew { selection: Selection::of(vec![reference]), ttl_ms: None, reason: None });
        let these = Selection::of(vec![reference]);
        let release = Command::Release(Release { selection: these, keep: Vec::new() });
        for command in [renew, release] {
            let reply = run(&mut engine, &mut world, &request(named("ann"), command, None)).unwrap();
            assert_eq!(reply.outcome.unwrap_err().slug, Slug::UnreadableRow);
        }
        let mut snapshot = engine.snapshot(&scope()).unwrap().unwrap();
        let listed = snapshot.leases(LeaseListing::Live, &world.now).unwrap();
        assert_eq!(listed.unreadable, [id.as_str()], "a listing names it");
    }
}

/// Ways to make a place in the queue senseless.
const QUEUE_DAMAGE: [&str; 5] = [
    "UPDATE waits SET wanted = x'00'",
    "UPDATE waits SET wanted = x''",
    "UPDATE waits SET agent = 'nobody at all'",
    "UPDATE waits SET attached = 'nothing'",
    "UPDATE waits SET created_at = -1, attached = CAST(x'ff' AS TEXT)",
];

/// [`held`], and a third agent waits for what the first one holds.
fn awaited() -> (tempfile::TempDir, TestWorld, Wait) {
    let (directory, mut world, _) = held();
    let wait =
        Await { reserve: claim(&[path("src/a.rs")]), stay: Stay::Durable, wait_ms: 60_000, wait: None };
    let request = request(named("cyd"), Command::Await(wait), None);
    let reply = run(&mut engine(directory.path()), &mut world, &request).unwrap();
    match reply.outcome {
        Ok(Success::Queued { queued, .. }) => (directory, world, queued.wait),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_damaged_place_in_the_queue_is_taken_from_its_events() {
    for act in QUEUE_DAMAGE {
        let (directory, mut world, wait) = awaited();
        open_plainly(directory.path()).unwrap().execute_batch(act).unwrap();
        let mut engine = engine(directory.path());
        let found = complaints(&mut engine, &[]);
        assert!(found.iter().any(|text| text.contains(wait.id.as_str())), "{act}: {found:?}");
        let reply = run(&mut engine, &mut world, &request(named("ann"), release_all(), None)).unwrap();
        assert!(reply.outcome.is_ok() && reply.notices.is_empty(), "{act}: {reply:?}");
        let late = try_reserve(&mut engine, &mut world, "bob", "src/a.rs").unwrap();
        assert!(late.outcome.is_err(), "{act}: it is the turn of whoever waited");
        grant(&mut engine, &mut world, "cyd", "src/a.rs");
        must_be_whole(&mut engine);
    }
}

#[test]
fn a_place_lost_with_its_events_is_named_and_stops_nobody() {
    for act in QUEUE_DAMAGE {
        let (directory, mut world, wait) = awaited();
        let connection = open_plainly(directory.path()).unwrap();
        connection.execute_batch(act).unwrap();
        connection.execute("UPDATE events SET bytes = x'01' WHERE seq = ?1", [wait.place.0]).unwrap();
        drop(connection);
        let mut engine = engine(directory.path());
        for agent in ["bob", "ann"] {
            let reply = run(&mut engine, &mut world, &request(named(agent), release_all(), None)).unwrap();
            assert!(matches!(reply.outcome, Ok(Success::Released { .. })), "{act}: {reply:?}");
            let named = [Notice::UnreadableRows(vec![wait.id.to_string()])];
            assert_eq!(reply.notices, named, "{act}");
        }
        grant(&mut engine, &mut world, "bob", "src/a.rs");
    }
}

#[test]
fn a_damaged_agent_is_still_itself() {
    let (directory, mut world, lease) = held();
    let connection = open_plainly(directory.path()).unwrap();
    connection.execute("UPDATE agents SET client = 'martian' WHERE name = 'ann'", []).unwrap();
    drop(connection);
    let mut engine = engine(directory.path());
    let again = grant(&mut engine, &mut world, "ann", "src/a.rs");
    assert_eq!((again.lease.id, again.lease.holder), (lease.lease.id, lease.lease.holder));
    let in_the_way = blockers(try_reserve(&mut engine, &mut world, "bob", "src/a.rs").unwrap());
    assert_eq!(in_the_way[0].agent.as_str(), "ann");
    assert!(complaints(&mut engine, &[]).iter().any(|text| text.starts_with("agent ")));
}

/// Everything that is kept of the log can be made anew from it, whatever became of it.
#[test]
fn projections_are_rebuilt_from_the_log() {
    let acts = [
        "DELETE FROM leases",
        "DELETE FROM ended_leases",
        "DELETE FROM waits",
        "UPDATE waits SET wanted = x'00', place = place + 1000000",
        "DELETE FROM agents",
        "UPDATE leases SET pattern = pattern || '[', deadline = deadline + 5",
        "UPDATE scopes SET live_leases = 77, root_patterns = 5, epoch = epoch + 1, boot = 'x', folds = 1 - folds",
        "UPDATE agents SET name = name || '-x', parent = root",
        "UPDATE ended_leases SET ended_how = 'maximum', ended_at = 0",
        "SELECT 1",
    ];
    let directory = fast_dir();
    live(directory.path(), 7, 150, 0);
    let specimen = Specimen::take(directory.path());
    let expected = audit(&mut engine(directory.path()), &[]).unwrap().unwrap();
    for act in acts {
        specimen.put(directory.path());
        open_plainly(directory.path()).unwrap().execute_batch(act).unwrap();
        let mut engine = engine(directory.path());
        let report = audit(&mut engine, &[]).unwrap().unwrap();
        assert_eq!(report.broken, None, "{act}");
        engine.rebuild(&scope(), &report.state).unwrap();
        let mut snapshot = engine.snapshot(&scope()).unwrap().unwrap();
        assert_eq!(snapshot.projection().unwrap(), expected.state, "{act}");
        assert_eq!(snapshot.head().unwrap(), expected.head, "{act}");
        drop(snapshot);
        must_be_whole(&mut engine);
    }
}

#[test]
fn what_was_written_while_a_rebuild_was_prepared_is_kept() {
    let (directory, mut world, _) = held();
    let mut engine = engine(directory.path());
    let report = audit(&mut engine, &[]).unwrap().unwrap();
    let later = grant(&mut engine, &mut world, "cyd", "later");
    engine.rebuild(&scope(), &report.state).unwrap();
    must_be_whole(&mut engine);
    let in_the_way = blockers(try_reserve(&mut engine, &mut world, "ann", "later").unwrap());
    assert_eq!(in_the_way[0].lease, later.lease);
}

#[test]
fn a_lost_index_or_constraint_is_named() {
    let (directory, ..) = held();
    let specimen = Specimen::take(directory.path());
    let indexes = [
        "agents_by_process",
        "leases_by_holder",
        "leases_by_check",
        "ended_leases_by_fence",
        "ended_leases_by_pattern",
        "ended_leases_by_holder",
        "ended_leases_by_giver",
        "ended_leases_wide",
        "idempotency_by_rev",
    ];
    let dropped = indexes.map(|index| (format!("DROP INDEX {index}"), format!("index {index} is missing")));
    let weaken = |table: &str, clause: &str| {
        let act = format!(
            "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = replace(sql, '{clause}', '') \
             WHERE name = '{table}'"
        );
        (act, format!("table {table} is missing or altered"))
    };
    let weakened = [
        weaken("leases", "CHECK (deadline >= granted)"),
        weaken("scopes", "CHECK (rev >= 0)"),
        weaken("events", "CHECK (seq > 0)"),
        weaken("agents", "NOT NULL"),
    ];
    let added = ("CREATE TABLE stranger (x)".to_owned(), "table stranger does not belong".to_owned());
    for (act, named) in dropped.into_iter().chain(weakened).chain([added]) {
        specimen.put(directory.path());
        open_plainly(directory.path()).unwrap().execute_batch(&act).unwrap();
        let found = engine(directory.path()).examine(&scope()).unwrap().findings;
        assert!(found.iter().any(|finding| finding.text.contains(&named)), "{act}: {found:?}");
    }
}
