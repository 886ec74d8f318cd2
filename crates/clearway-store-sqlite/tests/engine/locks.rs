//! POSIX drops every lock a process has on a file when it closes any descriptor of it. Whatever the engine looks at
//! must therefore leave the locks of other connections in the process alone.

use crate::child::{self, Child};
use crate::specimen::open_plainly;
use crate::support::{TestWorld, engine, fast_dir, grant, must_be_whole, scope, settings, try_reserve};
use clearway_store::contract::{Engine, StoreError};
use clearway_store_sqlite::{Settings, SqliteEngine};
use std::path::Path;
use std::time::Duration;

/// Another process tries what only the absence of locks allows, and says what it was told.
fn intrude(role: &str, state: &Path) {
    let connection = open_plainly(state).unwrap();
    connection.busy_timeout(Duration::ZERO).unwrap();
    let done = match role {
        "leave the log" => connection
            .query_row("PRAGMA journal_mode = DELETE", [], |row| row.get::<_, String>(0))
            .map(|mode| mode == "delete"),
        _ => connection.execute_batch("BEGIN IMMEDIATE").map(|()| true),
    };
    child::say(if done.unwrap_or(false) { "done" } else { "locked" });
}

fn intruder(test: &str, role: &str, state: &Path) -> String {
    let mut child = Child::start(test, role, state);
    let said = child.hear();
    child.finish();
    said
}

#[test]
fn opening_a_store_again_leaves_the_locks_of_this_process_alone() {
    let test = "locks::opening_a_store_again_leaves_the_locks_of_this_process_alone";
    if let Some((role, state)) = child::role() {
        return intrude(&role, &state);
    }
    let directory = fast_dir();
    let state = directory.path();
    let mut resident = engine(state);
    grant(&mut resident, &mut TestWorld::new(1), "a", "f");
    let mut second = engine(state);
    grant(&mut second, &mut TestWorld::new(2), "a", "g");
    assert!(second.examine(&scope()).unwrap().exists);
    drop(second);
    assert_eq!(intruder(test, "leave the log", state), "locked");
    grant(&mut resident, &mut TestWorld::new(3), "a", "h");
    must_be_whole(&mut resident);
}

#[test]
fn looking_for_who_writes_leaves_the_writer_its_lock() {
    let test = "locks::looking_for_who_writes_leaves_the_writer_its_lock";
    if let Some((role, state)) = child::role() {
        return intrude(&role, &state);
    }
    let directory = fast_dir();
    let state = directory.path();
    grant(&mut engine(state), &mut TestWorld::new(1), "a", "f");
    let mut writer = engine(state);
    let transaction = writer.begin(&scope(), false).unwrap();
    assert_eq!(intruder(test, "write", state), "locked");
    assert!(!engine(state).writers(&scope()).unwrap().is_empty());
    let mut hurried = SqliteEngine::new(Settings { timeout: Duration::ZERO, ..settings(state) });
    let busy = try_reserve(&mut hurried, &mut TestWorld::new(2), "b", "g").err();
    assert!(matches!(busy, Some(StoreError::Busy { .. })), "{busy:?}");
    assert_eq!(intruder(test, "write", state), "locked", "still");
    drop(transaction);
    assert_eq!(intruder(test, "write", state), "done");
}
