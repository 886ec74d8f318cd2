//! Waiting for a condition instead of for a time.

use std::time::{Duration, Instant};

/// How long a condition may take before the test gives up: far beyond any honest run on a loaded machine.
const PATIENCE: Duration = Duration::from_secs(30);
/// How often it is looked at.
const PAUSE: Duration = Duration::from_millis(10);

/// Looks until there is something to see.
///
/// # Panics
/// If there is nothing after a long while.
#[track_caller]
pub fn eventually<T>(what: &str, look: impl FnMut() -> Option<T>) -> T {
    within(PATIENCE, what, look)
}

/// Looks until there is something to see, for as long as an honest run may take.
///
/// # Panics
/// If there is nothing after that.
#[track_caller]
pub fn within<T>(patience: Duration, what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let started = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(started.elapsed() < patience, "waited in vain: {what}");
        std::thread::sleep(PAUSE);
    }
}
