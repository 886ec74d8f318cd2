//! Spans of time inside one process: how long something took, and waiting a little.

use std::time::{Duration, Instant};

/// Measures from its start.
#[derive(Clone, Copy, Debug)]
pub struct Stopwatch(Instant);

impl Stopwatch {
    /// Starts.
    pub fn start() -> Self {
        Self(Instant::now())
    }

    /// The instant at which it will show so many milliseconds.
    pub fn at_ms(&self, ms: u64) -> Instant {
        self.0.checked_add(Duration::from_millis(ms)).unwrap_or(self.0)
    }

    /// Milliseconds since the start.
    pub fn elapsed_ms(&self) -> u64 {
        u64::try_from(self.0.elapsed().as_millis()).unwrap_or(u64::MAX)
    }
}

/// Does nothing for a while.
pub fn pause(span: Duration) {
    std::thread::sleep(span);
}
