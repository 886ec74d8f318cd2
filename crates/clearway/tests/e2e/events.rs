//! The log as people and programs read it.

use crate::{app, home, list, number, text};
use clearway_testkit::{Repository, eventually};
use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::process::Child;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

fn read(repository: &Repository<'_>, words: &[&str]) -> Vec<Value> {
    repository.clearway().json(&[&["events"], words].concat()).expect(0).lines()
}

fn seqs(events: &[Value]) -> Vec<u64> {
    events.iter().map(|event| number(event, "seq")).collect()
}

#[test]
fn no_event_is_of_a_run_before_there_are_runs() {
    let home = home();
    let repository = app(&home);
    repository.grant("alice", &["a.rs"]);
    assert_eq!(read(&repository, &["--run", "k3j9x2ab"]), Vec::<Value>::new());
    assert_eq!(read(&repository, &["--run", "k3j9x2ab", "--last", "5"]), Vec::<Value>::new());
}

#[test]
fn everything_that_happened_is_there_once_and_in_order() {
    let home = home();
    let repository = app(&home);
    let lease = repository.grant("alice", &["a.rs", "--reason", "refactoring"]);
    repository.blockers("bob", &["a.rs"]);
    repository.agent("alice").ok(&["renew"]);
    repository.agent("alice").ok(&["release", "--all"]);
    assert_eq!(
        repository.kinds(),
        [
            "scope.opened",
            "epoch.began",
            "agent.registered",
            "lease.granted",
            "agent.registered",
            "reservation.refused",
            "lease.renewed",
            "lease.released"
        ]
    );
    let events = repository.events();
    assert_eq!(seqs(&events), (1..=8).collect::<Vec<u64>>());
    let granted = &events[3];
    assert_eq!((text(granted, "agent"), text(granted, "how")), ("alice", "claim"));
    for field in ["pattern", "mode", "grade", "fence", "reason", "worktree", "kind"] {
        assert_eq!(granted["data"][field], lease[field], "{field}");
    }
    assert_eq!(granted["data"]["lease"], lease["id"]);
    assert_eq!(events[5]["data"]["blockers"][0], lease["id"]);
    assert!(events.iter().all(|event| text(event, "hash").len() == 64));
}

#[test]
fn a_command_that_changes_nothing_adds_nothing() {
    let home = home();
    let repository = app(&home);
    let lease = repository.grant("alice", &["a.rs"]);
    repository.agent("alice").ok(&["release", "--all"]);
    let before = repository.events().len();
    repository.agent("alice").ok(&["release", text(&lease, "id")]);
    repository.agent("alice").ok(&["renew"]);
    repository.agent("alice").ok(&["sweep"]);
    repository.agent("alice").fails("invalid-pattern", 2, &["reserve", "a["]);
    repository.agent("alice").fails("not-found", 5, &["renew", "00000000"]);
    assert_eq!(repository.events().len(), before);
}

#[test]
fn a_reply_carries_the_revision_of_its_last_event() {
    let home = home();
    let repository = app(&home);
    let reply = repository.agent("alice").ok(&["reserve", "a.rs", "b.rs"]);
    let events = repository.events();
    assert_eq!(reply["rev"], events.last().expect("an event")["seq"]);
    assert_eq!(repository.clearway().ok(&["leases"])["rev"], reply["rev"]);
}

#[test]
fn the_log_is_read_from_anywhere_and_in_parts() {
    let home = home();
    let repository = app(&home);
    for number in 0..40 {
        repository.grant("alice", &["--kind", "name", &format!("n{number}")]);
    }
    repository.grant("bob", &["--kind", "name", "bob"]);
    let all = repository.events();
    assert_eq!(all.len(), 45);
    assert_eq!(read(&repository, &["--limit", "100"]).len(), 45);
    assert_eq!(seqs(&read(&repository, &["--limit", "3"])), [1, 2, 3]);
    assert_eq!(seqs(&read(&repository, &["--from", "40", "--limit", "2"])), [40, 41]);
    assert_eq!(read(&repository, &["--from", "46"]).len(), 0);
    assert_eq!(read(&repository, &["--kind", "lease.granted"]).len(), 41);
    assert_eq!(seqs(&read(&repository, &["--agent-name", "bob"])), [44, 45]);
    assert_eq!(
        seqs(&read(&repository, &["--kind", "lease.granted", "--from", "43", "--limit", "2"])),
        [43, 45]
    );
}

#[test]
fn a_cursor_goes_on_after_its_event_and_notices_another_log() {
    let home = home();
    let repository = app(&home);
    for number in 0..3 {
        repository.grant("alice", &["--kind", "name", &format!("n{number}")]);
    }
    let events = repository.events();
    let (seq, hash) = (number(&events[3], "seq"), text(&events[3], "hash"));
    assert_eq!(seqs(&read(&repository, &["--from", &format!("{seq}@{hash}")])), [5, 6]);
    let last = events.last().expect("an event");
    let end = format!("{}@{}", number(last, "seq"), text(last, "hash"));
    assert_eq!(read(&repository, &["--from", &end]).len(), 0);
    let other = text(&events[2], "hash");
    for cursor in [format!("{seq}@{other}"), format!("999@{hash}"), format!("0@{hash}")] {
        let error = repository.clearway().fails("cursor-diverged", 4, &["events", "--from", &cursor]);
        assert_eq!(error["details"]["restart_from"], "1", "{error}");
        assert!(error["hints"][0].as_str().is_some_and(|hint| hint.ends_with("--from 1")), "{error}");
    }
    for cursor in ["x", "-1", "4@", "4@xyz", "@", ""] {
        repository.clearway().fails("usage", 2, &["events", &format!("--from={cursor}")]);
    }
}

#[test]
fn only_the_kernel_writes_events() {
    let home = home();
    let repository = app(&home);
    repository.grant("alice", &["a.rs"]);
    let before = home.state_files();
    for words in [["events", "record", "lease.granted"].as_slice(), &["events", "add"], &["record"]] {
        repository.clearway().fails("usage", 2, words);
    }
    let error = repository.clearway().fails("usage", 2, &["events", "--kind", "lease.graned"]);
    assert!(
        list(&error, "hints")
            .iter()
            .any(|hint| hint.as_str().is_some_and(|hint| hint.contains("lease.granted")))
    );
    before.assert_same(&home.state_files(), "a forgery");
}

#[test]
fn a_noun_stands_for_all_kinds_of_its_events() {
    let home = home();
    let repository = app(&home);
    repository.grant("alice", &["a.rs"]);
    repository.agent("alice").ok(&["release", "a.rs"]);
    let told = |kind: &str| repository.clearway().text(&["events", "--kind", kind]);
    assert_eq!(told("lease").lines().count(), 2, "{}", told("lease"));
    assert_eq!(told("lease.released").lines().count(), 1, "{}", told("lease.released"));
    for (kind, hint) in [
        ("lease.graned", "did you mean lease.granted?"),
        ("lease.fell-off", "kinds of lease: lease.granted, "),
        ("leas", "did you mean lease?"),
        ("frobnicated", "such as lease.granted, or lease for all of its kinds"),
    ] {
        let error = repository.clearway().fails("usage", 2, &["events", "--kind", kind]);
        assert!(error["hints"][0].as_str().is_some_and(|told| told.contains(hint)), "{kind}: {error}");
    }
}

/// A follower whose lines arrive as they are printed.
struct Follower {
    child: Child,
    lines: Receiver<String>,
}

impl Follower {
    fn start(repository: &Repository<'_>, words: &[&str]) -> Self {
        let mut child = repository.clearway().spawn(&[&["events", "-f", "--json"], words].concat());
        let stdout = child.stdout.take().expect("stdout");
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        Self { child, lines }
    }

    #[track_caller]
    fn next(&self) -> Value {
        let line = self.lines.recv_timeout(Duration::from_secs(20)).expect("a line in time");
        serde_json::from_str(&line).expect("JSON")
    }
}

impl Drop for Follower {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_follower_sees_every_event_of_every_writer_as_it_happens() {
    let home = home();
    let repository = app(&home);
    repository.grant("alice", &["a.rs"]);
    let follower = Follower::start(&repository, &[]);
    let old: Vec<u64> = (0..4).map(|_| number(&follower.next(), "seq")).collect();
    assert_eq!(old, [1, 2, 3, 4]);
    for round in 0..5 {
        repository.grant("bob", &["--kind", "name", &format!("n{round}")]);
    }
    let new: Vec<u64> = (0..6).map(|_| number(&follower.next(), "seq")).collect();
    assert_eq!(new, [5, 6, 7, 8, 9, 10]);
}

#[test]
fn a_follower_may_come_before_the_first_event() {
    let home = home();
    let repository = app(&home);
    let follower = Follower::start(&repository, &["--kind", "lease.granted"]);
    repository.grant("alice", &["a.rs"]);
    let seen = follower.next();
    assert_eq!((&seen["kind"], &seen["data"]["pattern"]), (&"lease.granted".into(), &"a.rs".into()));
    repository.agent("alice").ok(&["release", "--all"]);
    repository.grant("alice", &["b.rs"]);
    assert_eq!(follower.next()["data"]["pattern"], "b.rs");
}

#[test]
fn a_follower_stops_after_the_limit() {
    let home = home();
    let repository = app(&home);
    repository.grant("alice", &["a.rs"]);
    let mut follower = Follower::start(&repository, &["--limit", "2"]);
    let old = [number(&follower.next(), "seq"), number(&follower.next(), "seq")];
    assert_eq!(old, [3, 4], "what was before does not count");
    for path in ["b.rs", "c.rs", "d.rs"] {
        repository.grant("alice", &[path]);
    }
    let new = [number(&follower.next(), "seq"), number(&follower.next(), "seq")];
    assert!(follower.child.wait().expect("it ends").success());
    assert_eq!((new, follower.lines.iter().count()), ([5, 6], 0));
}

#[test]
fn a_follower_whose_reader_left_ends() {
    let home = home();
    let repository = app(&home);
    repository.grant("alice", &["a.rs"]);
    let mut child = repository.clearway().spawn(&["events", "-f", "--json"]);
    drop(child.stdout.take());
    let mut round = 0;
    let status = eventually("it notices", || {
        round += 1;
        repository.grant("alice", &["--kind", "name", &format!("n{round}")]);
        child.try_wait().expect("a child")
    });
    assert_eq!(status.code(), Some(0), "somebody who stops reading is no failure");
}

#[test]
fn a_follower_whose_log_was_replaced_is_told_so_and_where_to_begin_again() {
    let home = home();
    let repository = app(&home);
    repository.grant("alice", &["a.rs"]);
    let directory = home.only_store().parent().expect("a directory").to_owned();
    let kept = directory.with_extension("kept");
    let mut follower = repository.clearway().spawn(&["events", "-f", "--json"]);
    let mut lines = BufReader::new(follower.stdout.take().expect("stdout")).lines();
    for _ in 0..4 {
        lines.next().expect("a line").expect("text");
    }
    std::fs::rename(&directory, &kept).expect("the store goes");
    repository.grant("bob", &["b.rs"]);
    let last = lines.next().expect("an answer").expect("text");
    let error: Value = serde_json::from_str(&last).expect("JSON");
    assert_eq!(error["error"]["slug"], "cursor-diverged");
    assert_eq!(error["error"]["details"]["restart_from"], "1");
    assert_eq!(follower.wait().expect("it ends").code(), Some(4));
}

#[test]
fn an_event_is_told_in_the_same_words_wherever_the_reading_begins() {
    let home = home();
    let repository = app(&home);
    repository.grant("alice", &["a.rs"]);
    repository.blockers("bob", &["a.rs"]);
    repository.agent("alice").ok(&["renew"]);
    repository.agent("alice").ok(&["release", "--all"]);
    let whole = repository.clearway().text(&["events"]);
    let lines: Vec<&str> = whole.lines().collect();
    assert!(lines[5].contains("met a.rs"), "{whole}");
    for first in 1..=lines.len() {
        let rest = repository.clearway().text(&["events", "--from", &first.to_string()]);
        assert_eq!(rest.lines().collect::<Vec<_>>(), lines[first - 1..]);
    }
    let released = repository.clearway().text(&["events", "--kind", "lease.released"]);
    assert_eq!(released.trim_end(), lines[7]);
}

#[test]
fn the_latest_events_are_shown_alone_or_before_what_follows() {
    let home = home();
    let repository = app(&home);
    repository.grant("alice", &["a.rs"]);
    repository.grant("alice", &["b.rs"]);
    assert_eq!(seqs(&read(&repository, &["--last", "2"])), [4, 5]);
    assert_eq!(seqs(&read(&repository, &["--last", "1", "--kind", "agent.registered"])), [3]);
    assert_eq!(read(&repository, &["--last", "0"]).len(), 0);
    assert_eq!(read(&repository, &["--last", "100"]).len(), 5);
    repository.clearway().fails("usage", 2, &["events", "--last", "2", "--from", "1"]);
    let follower = Follower::start(&repository, &["--last", "1"]);
    assert_eq!(number(&follower.next(), "seq"), 5);
    repository.grant("alice", &["c.rs"]);
    assert_eq!(number(&follower.next(), "seq"), 6);
}

#[test]
fn a_follower_begins_with_the_last_ten_unless_told_where() {
    let home = home();
    let repository = app(&home);
    for round in 0..12 {
        repository.grant("alice", &["--kind", "name", &format!("n{round}")]);
    }
    let before = repository.events().len() as u64;
    assert_eq!(number(&Follower::start(&repository, &[]).next(), "seq"), before - 9);
    assert_eq!(number(&Follower::start(&repository, &["--last", "2"]).next(), "seq"), before - 1);
    assert_eq!(number(&Follower::start(&repository, &["--from", "1"]).next(), "seq"), 1);
    assert_eq!(number(&Follower::start(&repository, &["--limit", "3"]).next(), "seq"), before - 2);
}

#[test]
fn an_agent_that_is_not_known_is_told_beside_the_events() {
    let home = home();
    let repository = app(&home);
    repository.grant("alice", &["a.rs"]);
    let ran = repository.clearway().run(&["events", "--agent-name", "alcie"]).expect(0);
    assert_eq!(ran.stdout(), "");
    assert!(ran.stderr().contains("no agent here is called alcie; did you mean alice?"), "{}", ran.stderr());
    let known = repository.clearway().run(&["events", "--agent-name", "alice"]).expect(0);
    assert_eq!(known.stderr(), "");
}

/// Nothing happens after the first line, so only its reader's end can end it.
#[test]
fn a_follower_ends_when_nobody_reads_any_more() {
    let home = home();
    let repository = app(&home);
    repository.grant("alice", &["a.rs"]);
    let output = home.shell(repository.path(), "clearway events -f | head -1").output().expect("a shell");
    assert_eq!(String::from_utf8_lossy(&output.stdout).lines().count(), 1);
}
