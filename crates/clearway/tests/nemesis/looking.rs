//! A machine that fails for a moment while a path is looked up: whoever asks then is told so, or of who holds it, and
//! never that it is free.

use crate::arena::{Arena, home};
use clearway_testkit::faults;

/// A disk with a bad sector, a process or a machine with too many files open, and one without memory.
const ERRORS: [&str; 4] = ["EIO", "EMFILE", "ENFILE", "ENOMEM"];
/// How a file or directory is looked at.
const CALLS: [&str; 2] = ["openat", "statx"];
/// More than any command needs.
const CALLS_MAX: usize = 1_000;

#[test]
fn whatever_cannot_be_looked_at_for_a_moment_is_not_called_free() {
    let home = home();
    let arena = Arena::new(&home, "app");
    arena.run("ada", &["reserve", "f.rs"]).expect(0);
    for call in CALLS {
        for error in ERRORS {
            let struck = (1..CALLS_MAX).take_while(|nth| is_struck(&arena, call, error, *nth)).count();
            assert!(struck > 10, "{call} is called {struck} times");
        }
    }
}

/// Whether there was such a call to strike.
fn is_struck(arena: &Arena<'_>, call: &str, error: &str, nth: usize) -> bool {
    let log = arena.state().join("trace");
    let (trace, inject) = (format!("trace={call}"), format!("inject={call}:error={error}:when={nth}"));
    let words = ["strace", "-f", "-qq", "-o", &log.display().to_string(), "-e", &trace, "-e", &inject];
    let output =
        faults::behind(arena.command("bob", &["check", "f.rs"]), &words).output().expect("strace runs");
    let traced = std::fs::read_to_string(&log).expect("strace wrote its log");
    let struck = traced.lines().find(|line| line.contains("(INJECTED)"));
    let answer = String::from_utf8_lossy(&output.stdout);
    assert!(!answer.contains("\"clear\":true"), "{error} of {}: {answer}", struck.unwrap_or("nothing"));
    struck.is_some()
}
