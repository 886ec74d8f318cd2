//! End to end: the real binary, real git, real SQLite, real processes.

mod reserving;

use clearway_testkit::Home;

fn home() -> Home {
    Home::new(env!("CARGO_BIN_EXE_clearway"))
}
