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

    /// Milliseconds since the start.
    pub fn elapsed_ms(&self) -> u64 {
        u64::try_from(self.0.elapsed().as_millis()).unwrap_or(u64::MAX)
    }
}

/// Does nothing for a while.
pub fn pause(span: Duration) {
    std::thread::sleep(span);
}
