//! Processes that stand still in the worst places: others are told who it is, nobody is shut out for ever, and both
//! going on and dying mend it.

use crate::arena::{Arena, Reply, home, started};
use clearway_testkit::faults::{points, stopped, stopping};
use clearway_testkit::process::{go_on, holds_lock, kill, state, stop};
use clearway_testkit::until;
use std::process::Child;

/// Where whoever is the first to open the store stands still: as it empties the index of the log, and as it makes room
/// in it.
const FIRST: [(StopAt, [&str; 2]); 6] = [
    (StopAt::First("ftruncate"), ["reserve", "b.rs"]),
    (StopAt::First("ftruncate"), ["check", "b.rs"]),
    (StopAt::First("pwrite64"), ["reserve", "b.rs"]),
    (StopAt::First("pwrite64"), ["check", "b.rs"]),
    (StopAt::Last("pwrite64"), ["reserve", "b.rs"]),
    (StopAt::Last("pwrite64"), ["check", "b.rs"]),
];

/// Which of the calls by one name a command stops behind.
#[derive(Clone, Copy, Debug)]
pub(crate) enum StopAt {
    First(&'static str),
    Last(&'static str),
}

/// A command that stands still, with the process it is.
pub(crate) struct Stopped {
    tracer: Child,
    pub(crate) pid: u32,
}

impl Stopped {
    /// Stops a command right after a call that looks like this one.
    pub(crate) fn after(arena: &Arena<'_>, arguments: &[&str], at: StopAt, shown: &str) -> Self {
        let log = arena.state().join("trace");
        let (found, _) = points(arena.copy("counted").command("stuck", arguments), &log);
        let (StopAt::First(call) | StopAt::Last(call)) = at;
        let mut alike = found.iter().filter(|point| point.call == call && point.shown.contains(shown));
        let point = match at {
            StopAt::First(_) => alike.next(),
            StopAt::Last(_) => alike.next_back(),
        };
        let point = point.expect("the command makes such a call");
        std::fs::remove_file(&log).expect("the log of the count");
        let tracer = started(stopping(arena.command("stuck", arguments), point, &log));
        until("it stands still", || stopped(&log).is_some());
        Self { tracer, pid: stopped(&log).unwrap_or_default() }
    }

    /// Stops a reservation at its first write to the log: it holds the gate and the database's lock.
    fn in_transaction(arena: &Arena<'_>, path: &str) -> Self {
        Self::after(arena, &["reserve", path], StopAt::First("pwrite64"), "-wal>")
    }

    pub(crate) fn go_on(self) -> Reply {
        go_on(self.pid);
        Reply::wait(self.tracer)
    }
}

#[test]
fn a_writer_stopped_in_its_transaction_is_named_to_whoever_waits_and_both_finish_when_it_goes_on() {
    let home = home();
    let arena = Arena::new(&home, "stopped");
    arena.run("ada", &["reserve", "a.rs"]).expect(0);
    let stuck = Stopped::in_transaction(&arena, "b.rs");
    let busy = arena.run("eve", &["reserve", "c.rs", "--timeout", "1s"]).refused(75, "store-busy");
    let message = busy.value["error"]["message"].as_str().unwrap();
    assert!(message.contains(&format!("pid {}", stuck.pid)) && message.contains("stopped"), "{message}");
    assert_eq!(busy.value["error"]["retry"]["when"], "now");
    assert_eq!(arena.run("eve", &["check", "a.rs"]).expect(1).value["clear"], false);
    arena.run("eve", &["status"]).expect(0);
    let doctor = arena.run("eve", &["doctor"]).refused(1, "unhealthy");
    assert!(doctor.stdout.contains(&format!("pid {}", stuck.pid)), "{doctor:?}");
    let waiting = arena.start("eve", &["reserve", "c.rs", "--timeout", "60s"]);
    stuck.go_on().expect(0);
    Reply::wait(waiting).expect(0);
    let history = arena.audited().unwrap();
    assert_eq!(history.live.len(), 3);
}

#[test]
fn killing_a_stopped_writer_frees_everyone_and_leaves_nothing_of_it() {
    let home = home();
    let arena = Arena::new(&home, "killed");
    arena.run("ada", &["reserve", "a.rs"]).expect(0);
    let stuck = Stopped::in_transaction(&arena, "b.rs");
    let waiting: Vec<Child> = (0..4)
        .map(|number| {
            arena.start(&format!("w-{number}"), &["reserve", &format!("w-{number}.rs"), "--timeout", "60s"])
        })
        .collect();
    kill(stuck.pid);
    assert_eq!(Reply::wait(stuck.tracer).code, -1);
    for child in waiting {
        Reply::wait(child).expect(0);
    }
    arena.run("eve", &["reserve", "b.rs"]).expect(0);
    let history = arena.audited().unwrap();
    assert_eq!(history.live.len(), 6);
    assert_eq!(history.count("agent.registered"), 6);
}

/// The one in the gate is stopped, and so is the one that waits at the turnstile behind it.
#[test]
fn a_writer_stopped_in_the_turnstile_shuts_nobody_out_and_is_named_too() {
    let home = home();
    let arena = Arena::new(&home, "turnstile");
    arena.run("ada", &["reserve", "a.rs"]).expect(0);
    let stuck = Stopped::in_transaction(&arena, "b.rs");
    let next = arena.store("-next");
    let second = arena.start("second", &["reserve", "second.rs", "--timeout", "60s"]);
    until("the second one stands in the turnstile", || holds_lock(second.id(), &next));
    stop(second.id());
    until("the second one stands still", || state(second.id()) == Some('T'));
    let busy = arena.run("eve", &["reserve", "c.rs", "--timeout", "1s"]).refused(75, "store-busy");
    let message = busy.value["error"]["message"].as_str().unwrap();
    for pid in [stuck.pid, second.id()] {
        assert!(message.contains(&format!("pid {pid}")), "{message}");
    }
    stuck.go_on().expect(0);
    arena.run("eve", &["reserve", "c.rs", "--timeout", "60s"]).expect(0);
    go_on(second.id());
    Reply::wait(second).expect(0);
    assert_eq!(arena.audited().unwrap().live.len(), 4);
}

/// Whoever is the first to open a store keeps everybody out of it for a moment.
#[test]
fn whoever_stands_still_while_it_is_the_first_to_open_the_store_is_named_too() {
    let home = home();
    let arena = Arena::new(&home, "first");
    arena.run("ada", &["reserve", "a.rs"]).expect(0);
    for (at, arguments) in FIRST {
        let stuck = Stopped::after(&arena, &arguments, at, "-shm>");
        let busy = arena.run("eve", &["reserve", "c.rs", "--timeout", "1s"]).refused(75, "store-busy");
        let message = busy.value["error"]["message"].as_str().unwrap();
        assert!(message.contains(&format!("pid {}", stuck.pid)) && message.contains("stopped"), "{message}");
        let hints = busy.value["error"]["hints"].to_string();
        assert!(hints.contains("kill -CONT") && !hints.contains("--timeout"), "{hints}");
        stuck.go_on().expect(0);
    }
    arena.run("eve", &["reserve", "c.rs"]).expect(0);
    assert_eq!(arena.audited().unwrap().live.len(), 3);
}

/// SQLite by itself tries for ten seconds; whoever said how long it waits is answered before that. Which of the two
/// gives up first is seen by running both.
#[test]
fn whoever_says_how_long_it_waits_is_not_kept_longer_by_the_first_to_open_the_store() {
    let home = home();
    let arena = Arena::new(&home, "patient");
    arena.run("ada", &["reserve", "a.rs"]).expect(0);
    let store = arena.store("");
    for (at, arguments) in FIRST {
        let stuck = Stopped::after(&arena, &arguments, at, "-shm>");
        let (path, (begun, begins)) = (store.clone(), std::sync::mpsc::channel());
        let tries = std::thread::spawn(move || {
            let flags = rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY;
            let plain = rusqlite::Connection::open_with_flags(path, flags).expect("a store");
            begun.send(()).expect("somebody waits");
            plain.query_row("SELECT count(*) FROM events", [], |row| row.get::<_, u64>(0)).is_ok()
        });
        begins.recv().expect("it begins");
        for words in [["check", "c.rs"], ["reserve", "c.rs"], ["leases", "--history"]] {
            let words = [words.as_slice(), &["--timeout", "100ms"]].concat();
            let busy = arena.run("eve", &words).refused(75, "store-busy");
            let message = busy.value["error"]["message"].as_str().unwrap();
            // A reservation that stands still holds the gate too.
            assert!(message.contains(&format!("pid {}", stuck.pid)), "{message}");
        }
        assert!(!tries.is_finished(), "whoever says nothing still tries");
        stuck.go_on().expect(0);
        assert!(tries.join().expect("a thread"), "it is let in at last");
    }
    assert_eq!(arena.audited().unwrap().live.len(), 2);
}

/// A doctor that may not look in says for whom, and what else it knows.
#[test]
fn a_doctor_that_is_kept_out_reports_all_the_same_and_says_how_long_it_waited() {
    let home = home();
    let arena = Arena::new(&home, "kept-out");
    arena.run("ada", &["reserve", "a.rs"]).expect(0);
    let stuck = Stopped::after(&arena, &["check", "b.rs"], StopAt::First("ftruncate"), "-shm>");
    let report = arena.run("eve", &["doctor", "--timeout", "1s"]).refused(1, "unhealthy");
    let checks = report.value["error"]["details"]["checks"].as_array().unwrap();
    assert!(checks.iter().any(|check| check["about"] == "build"), "{report:?}");
    let store = checks.iter().find(|check| check["about"] == "store").unwrap();
    let told = store["text"].as_str().unwrap();
    assert!(told.contains(&format!("pid {}", stuck.pid)) && !told.contains("waited 0 ms"), "{told}");
    assert_eq!(store["hint"], format!("a stopped process can go on with: kill -CONT {}", stuck.pid));
    stuck.go_on().expect(0);
    arena.audited().unwrap();
}

/// A holder that stood still past its deadline comes back with a fence that is no longer good.
#[test]
fn a_holder_that_slept_past_its_deadline_finds_its_fence_stale_and_is_told_who_holds_now() {
    let home = home();
    let arena = Arena::new(&home, "slept");
    let old = arena.run("old", &["reserve", "a.rs", "--ttl", "1s"]).expect(0);
    arena.wait_until_free("a.rs");
    arena.run("new", &["reserve", "a.rs"]).expect(0);
    let lease = &old.value["leases"][0];
    let named = format!("{}@{}", lease["id"].as_str().unwrap(), lease["fence"]);
    for verb in ["renew", "release"] {
        let reply = arena.run("old", &[verb, &named]);
        assert!(reply.code == 4 || (verb == "release" && reply.code == 0), "{reply:?}");
        assert_eq!(reply.value["released"].as_array().map_or(0, Vec::len), 0, "{reply:?}");
    }
    let renewed = arena.run("old", &["renew", &named]).refused(4, "lease-expired");
    assert_eq!(renewed.value["error"]["details"]["held_now"][0]["agent"], "new");
    assert_eq!(arena.run("eve", &["who", "a.rs"]).expect(0).value["holders"][0]["agent"], "new");
    arena.audited().unwrap();
}

/// Writing the exported anchor may take as long as its disk takes.
#[test]
fn writers_do_not_wait_for_an_anchor_that_is_being_exported() {
    let home = home();
    let arena = Arena::new(&home, "exporting");
    arena.run("ada", &["reserve", "a.rs"]).expect(0);
    arena.make_operator_key();
    arena.run("ada", &["audit", "anchor"]).expect(0);
    let export = home.directory("exported").join("anchors").display().to_string();
    let anchor = Stopped::after(
        &arena,
        &["audit", "anchor", "--export", &export],
        StopAt::First("openat"),
        "exported/",
    );
    arena.run("bob", &["reserve", "b.rs", "--timeout", "1s"]).expect(0);
    anchor.go_on().expect(0);
    arena.run("eve", &["audit", "verify", "--anchors", &export]).expect(0);
}

/// Stops a process where it keeps nobody from the store: it may be seen to wait before it has let go of the gate.
fn stop_outside_the_gate(arena: &Arena<'_>, pid: u32) {
    let files = ["-gate", "-next"].map(|suffix| arena.store(suffix));
    until("it stands still outside the gate", || {
        stop(pid);
        until("it stands still", || state(pid) == Some('T'));
        let is_outside = !files.iter().any(|file| holds_lock(pid, file));
        if !is_outside {
            go_on(pid);
        }
        is_outside
    });
}

/// A process that stands still cannot take its turn, and nobody can tell when it will go on: after ten seconds of
/// silence the next one gets it.
#[test]
fn a_waiting_process_that_stands_still_loses_its_place_and_joins_again_when_it_goes_on() {
    let home = home();
    let arena = Arena::new(&home, "asleep");
    arena.run("ada", &["reserve", "a.rs"]).expect(0);
    let asleep = arena.start("bob", &["reserve", "a.rs", "--wait", "10m"]);
    let waits = |agent: &str| {
        let found = arena.run("reader", &["waits", "--agent-name", agent]).expect(0);
        found.value["waits"].as_array().is_some_and(|waits| waits.iter().any(|wait| wait["pid"].is_u64()))
    };
    until("bob waits", || waits("bob"));
    stop_outside_the_gate(&arena, asleep.id());
    let next = arena.start("eve", &["reserve", "a.rs", "--wait", "10m"]);
    until("eve waits", || waits("eve"));
    arena.run("ada", &["release", "--all"]).expect(0);
    assert_eq!(Reply::wait(next).expect(0).value["leases"][0]["agent"], "eve");
    go_on(asleep.id());
    until("bob waits again", || waits("bob"));
    arena.run("eve", &["release", "--all"]).expect(0);
    assert_eq!(Reply::wait(asleep).expect(0).value["leases"][0]["agent"], "bob");
    let history = arena.audited().unwrap();
    assert_eq!((history.count("wait.began"), history.waits.len()), (3, 0));
}

#[test]
fn a_wait_outlives_a_store_that_is_busy_for_longer_than_one_try_may_take() {
    let home = home();
    let arena = Arena::new(&home, "jam");
    arena.run("ada", &["reserve", "a.rs"]).expect(0);
    let words = ["reserve", "a.rs", "--wait", "10m", "--timeout", "100ms"];
    let waiting = arena.start("bob", &words);
    let has_place = || {
        let found = arena.run("reader", &["waits"]).expect(0);
        found.value["waits"].as_array().is_some_and(|waits| !waits.is_empty())
    };
    until("bob waits", has_place);
    let stuck = Stopped::in_transaction(&arena, "b.rs");
    arena.run("eve", &["reserve", "c.rs", "--timeout", "4s"]).refused(75, "store-busy");
    stuck.go_on().expect(0);
    arena.run("ada", &["release", "--all"]).expect(0);
    assert_eq!(Reply::wait(waiting).expect(0).value["leases"][0]["agent"], "bob");
    arena.audited().unwrap();
}
