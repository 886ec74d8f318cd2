//! Files that are kept until the next boot: what they are called, and how a line comes into one.

use crate::outside::Outside;
use clearway_core::time::{BootKey, Mono, Now};
use clearway_wire::chain;
use std::fmt;
use std::path::Path;

/// Bytes of a digest that tell keys apart.
const BYTES: usize = 8;

/// An instant in such a file, on one line, with the boot that it counts from: where no directory is cleared with the boot,
/// files outlive it, and instants of two boots cannot be compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mark {
    boot: BootKey,
    at: Mono,
}

impl Mark {
    pub(crate) fn of(now: &Now) -> Self {
        Self { boot: now.boot.clone(), at: now.mono }
    }

    pub(crate) fn parse(line: &str) -> Option<Self> {
        let (boot, at) = line.rsplit_once(' ')?;
        Some(Self { boot: BootKey(boot.to_owned()), at: Mono(at.parse().ok()?) })
    }

    /// When it was; `None` for an instant of another boot.
    pub(crate) fn at(&self, now: &Now) -> Option<Mono> {
        (self.boot == now.boot && self.at <= now.mono).then_some(self.at)
    }

    pub(crate) fn is_recent(&self, now: &Now, ms: u64) -> bool {
        self.at(now).is_some_and(|at| now.mono.since(at) < ms)
    }
}

impl fmt::Display for Mark {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} {}", self.boot, self.at.0)
    }
}

/// What a file is called after a key, which may hold what no file is to be called.
pub(crate) fn name_after(key: &str) -> String {
    chain::digest(key).iter().take(BYTES).map(|byte| format!("{byte:02x}")).collect()
}

/// Adds a line to a file of notes, in a directory that may not be there yet. Nobody waits for the disk: what is lost with
/// the power is forgotten with the boot. What cannot be written is not remembered, which everybody who reads it can bear.
pub(crate) fn note_down(outside: &mut dyn Outside, path: &Path, line: &str, bytes_max: u64) {
    if outside.jot(path, line, bytes_max).is_err() {
        drop(outside.write_private(path, &format!("{line}\n")));
    }
}
