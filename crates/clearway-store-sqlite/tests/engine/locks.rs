//! POSIX drops every lock a process has on a file when it closes any descriptor of it. Whatever the engine looks at
//! must therefore leave the locks of other connections in the process alone.

use crate::child::{self, Child};
use crate::specimen::open_plainly;
use crate::support::{TestWorld, engine, fast_dir, grant, must_be_whole};
use std::path::Path;
use std::time::Duration;

/// Another process tries to do without the log, which only the absence of locks allows, and says what it was told.
fn intrude(state: &Path) {
    let connection = open_plainly(state).unwrap();
    connection.busy_timeout(Duration::ZERO).unwrap();
    let mode: rusqlite::Result<String> =
        connection.query_row("PRAGMA journal_mode = DELETE", [], |row| row.get(0));
    child::say(if mode.is_ok_and(|mode| mode == "delete") { "done" } else { "locked" });
}

fn intruder(test: &str, state: &Path) -> String {
    let mut child = Child::start(test, "intrude", state);
    let said = child.hear();
    child.finish();
    said
}

#[test]
fn opening_a_store_again_leaves_the_locks_of_this_process_alone() {
    let test = "locks::opening_a_store_again_leaves_the_locks_of_this_process_alone";
    if let Some((_, state)) = child::role() {
        return intrude(&state);
    }
    let directory = fast_dir();
    let state = directory.path();
    let mut resident = engine(state);
    grant(&mut resident, &mut TestWorld::new(1), "a", "f");
    let mut second = engine(state);
    grant(&mut second, &mut TestWorld::new(2), "a", "g");
    drop(second);
    assert_eq!(intruder(test, state), "locked");
    grant(&mut resident, &mut TestWorld::new(3), "a", "h");
    must_be_whole(&mut resident);
}
