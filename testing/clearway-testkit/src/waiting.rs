//! Waiting for a condition instead of for a time.

use std::time::{Duration, Instant};

/// How long a condition may take before the test gives up: far beyond any honest run on a loaded machine.
const PATIENCE: Duration = Duration::from_secs(60);
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

/// Looks until something is true.
///
/// # Panics
/// If it is not after a long while.
#[track_caller]
pub fn until(what: &str, mut is_true: impl FnMut() -> bool) {
    eventually(what, || is_true().then_some(()));
}

/// Looks until there is something to see, for as long as an honest run may take.
///
/// # Panics
/// If there is nothing after that.
#[track_caller]
pub fn within<T>(patience: Duration, what: &str, look: impl FnMut() -> Option<T>) -> T {
    seen_within(patience, look).unwrap_or_else(|| panic!("waited in vain: {what}"))
}

/// Looks until there is something to see, for whoever has an answer to `None`, which is that there was nothing.
pub fn seen<T>(look: impl FnMut() -> Option<T>) -> Option<T> {
    seen_within(PATIENCE, look)
}

fn seen_within<T>(patience: Duration, mut look: impl FnMut() -> Option<T>) -> Option<T> {
    let started = Instant::now();
    loop {
        let found = look();
        if found.is_some() || started.elapsed() >= patience {
            return found;
        }
        std::thread::sleep(PAUSE);
    }
}
