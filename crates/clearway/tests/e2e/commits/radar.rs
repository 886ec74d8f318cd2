//! `radar`: what will not merge, before anybody merges it.

use super::stage::{Stage, Who, said};
use crate::{home, list, text};
use clearway_testkit::Home;
use serde_json::{Value, json};
use std::path::PathBuf;

const BEFORE: [(&str, &str); 2] = [("held.txt", "1\n2\n3\n"), ("own.txt", "1\n")];

/// Two checkouts of one repository.
fn two<'h>(home: &'h Home) -> (Stage<'h>, Stage<'h>) {
    let stage = Stage::new(home, &BEFORE);
    let linked = home.path().join("home/linked");
    stage.git(&format!("git worktree add -q -b topic {}", linked.display()));
    let linked = stage.at(&linked);
    (stage, linked)
}

fn conflicts(stage: &Stage<'_>, words: &[&str]) -> Vec<Value> {
    let seen = stage.home.clearway(&stage.root).ok(&[&["radar"], words].concat());
    list(&seen, "conflicts").to_vec()
}

#[test]
fn what_is_committed_and_what_is_not_is_compared_and_nothing_is_touched() {
    let home = home();
    let (stage, linked) = two(&home);
    assert_eq!(conflicts(&stage, &[]), Vec::<Value>::new());
    assert!(home.clearway(&stage.root).text(&["radar"]).contains("everything merges: 2 lines of work"));
    stage.write("held.txt", "one\n2\n3\n");
    linked.write("held.txt", "1\n2\nthree\n");
    stage.write("new.txt", "here\n");
    assert_eq!(conflicts(&stage, &[]), Vec::<Value>::new(), "other lines merge");
    linked.write("new.txt", "there\n");
    linked.write("held.txt", "uno\n2\n3\n");
    linked.git("git add new.txt && git commit -q -m new");
    let state = || {
        stage.git("git for-each-ref; git status --porcelain=v2; git ls-files --stage; cat held.txt new.txt")
    };
    let before = state();
    let found = conflicts(&linked, &[]);
    assert_eq!(found, [json!({"one": "main", "other": "topic", "paths": ["held.txt", "new.txt"]})]);
    assert_eq!(state(), before);
    let told = home.clearway(&stage.root).text(&["radar"]);
    assert!(told.contains("will not merge: main in ") && told.contains("  held.txt\n  new.txt\n"), "{told}");
}

#[test]
fn branches_are_compared_when_they_are_named_and_what_is_wrong_is_said() {
    let home = home();
    let stage = Stage::new(&home, &BEFORE);
    stage.git("git checkout -q -b topic; echo 9 > own.txt; git commit -q -a -m t; git checkout -q main; echo 8 > own.txt");
    assert_eq!(conflicts(&stage, &[]), Vec::<Value>::new());
    assert_eq!(
        conflicts(&stage, &["topic"]),
        [json!({"one": "main", "other": "topic", "paths": ["own.txt"]})]
    );
    home.clearway(&stage.root).fails("not-found", 5, &["radar", "tpoic"]);
    home.clearway(&stage.root).fails("not-found", 5, &["radar", "--", "--all"]);
    let error = stage.beside_git("2.37.1").fails("git-failed", 69, &["radar"]);
    assert!(
        text(&error, "message").contains("git 2.37 cannot predict a merge; it takes 2.38 or newer"),
        "{error}"
    );
    let plain = home.directory("plain");
    home.clearway(&plain).fails("no-checkout", 2, &["radar"]);
}

#[test]
fn whoever_commits_later_is_told_once_and_never_at_an_edit() {
    let home = home();
    let (stage, linked) = two(&home);
    stage.edits("one", None, "held.txt", Some("one\n2\n3\n"));
    linked.edits("two", None, "held.txt", Some("two\n2\n3\n"));
    let commit = |text: &str| {
        linked.write("held.txt", text);
        let made = linked.types(Who::Session("two"), "git commit -q -a -m x");
        assert!(made.status.success(), "{}", said(&made));
        said(&made)
    };
    let told = commit("zwei\n2\n3\n");
    assert!(told.starts_with("clearway: held.txt will not merge with main (claude-"), "{told}");
    assert!(told.ends_with("see all of it: clearway radar\n"), "{told}");
    assert_eq!(commit("deux\n2\n3\n"), "", "once for each pair and set of files");
    stage.edits("one", None, "own.txt", Some("one\n"));
    linked.write("own.txt", "two\n");
    let made = home.clearway(&linked.root).session("two").ok(&["commit", "-m", "x", "own.txt"]);
    assert!(text(&made, "clash").starts_with("held.txt, own.txt will not merge with main"), "{made}");
    // What merges is not worth a word, and neither is a checkout in which nobody is at work.
    home.clearway(&stage.root).session("one").ok(&["release", "--all"]);
    linked.write("held.txt", "trois\n2\n3\n");
    let made = home.clearway(&linked.root).session("two").ok(&["commit", "-m", "x", "held.txt"]);
    assert_eq!(made["clash"], Value::Null);
}

/// The end of a session's turn, as its client tells it.
fn rests(stage: &Stage<'_>, session: &str, was_held: bool) -> String {
    let payload = json!({"session_id": session, "cwd": stage.root, "hook_event_name": "Stop", "stop_hook_active": was_held});
    stage.hook(&payload).expect(0).stdout()
}

/// Lets the note of the last turn that was held be one that outlived its boot.
fn be_of_another_boot(home: &Home) {
    let entries = std::fs::read_dir(home.path().join("run/clearway")).expect("a directory");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    let is_note = |path: &PathBuf| {
        path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("radar-rest-"))
    };
    let path = paths.into_iter().find(is_note).expect("a note");
    let text = std::fs::read_to_string(&path).expect("text");
    let (_, instant) = text.rsplit_once(' ').expect("a boot and an instant");
    std::fs::write(&path, format!("another {instant}")).expect("a file");
}

#[test]
fn whoever_ends_its_turn_over_work_that_will_not_merge_is_told_once_and_the_earlier_one_is_not() {
    let home = home();
    let (stage, linked) = two(&home);
    linked.edits("two", None, "held.txt", Some("two\n2\n3\n"));
    assert_eq!(rests(&linked, "two", false), "", "nobody else is at it");
    stage.edits("one", None, "own.txt", Some("one\n"));
    assert_eq!(rests(&linked, "two", false), "", "it merges");
    stage.edits("one", None, "held.txt", Some("one\n2\n3\n"));
    assert_eq!(rests(&linked, "two", false), "", "the other one came later");
    assert_eq!(rests(&stage, "one", true), "", "a turn that was held is not held again");
    let told = rests(&stage, "one", false);
    let document: Value = serde_json::from_str(&told).expect("one document");
    assert_eq!(document["decision"], "block");
    let reason = text(&document, "reason");
    assert!(reason.starts_with("Clearway: held.txt will not merge with topic (claude-"), "{reason}");
    assert!(reason.ends_with("Look: clearway radar") && reason.len() <= 400, "{reason}");
    assert_eq!(rests(&stage, "one", false), "", "once");
    // What was told is told to nobody else, and what is new not at the end of every turn.
    linked.write("held.txt", "zwei\n2\n3\n");
    let made = linked.types(Who::Session("two"), "git commit -q -a -m x");
    assert_eq!((made.status.success(), said(&made)), (true, String::new()));
    linked.edits("two", None, "new.txt", Some("two\n"));
    stage.edits("one", None, "new.txt", Some("one\n"));
    assert_eq!(rests(&stage, "one", false), "", "not so soon again");
    let made = stage.types(Who::Session("one"), "git add new.txt; git commit -q -m x new.txt");
    assert!(said(&made).contains("will not merge with topic"), "{}", said(&made));
    // An instant of another boot says nothing of this one.
    be_of_another_boot(&home);
    linked.edits("two", None, "newer.txt", Some("two\n"));
    stage.edits("one", None, "newer.txt", Some("one\n"));
    assert!(rests(&stage, "one", false).contains("newer.txt"));
}
