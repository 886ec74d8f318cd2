//! The turnstile in front of a store's write lock.
//!
//! One lock file alone starves the occasional caller beside busy ones. Two make a turnstile: a
//! writer stands in line in `next`, and the first in line waits for `gate` before it lets the one
//! behind it move up; the guard holds `gate`. `line.rs` is the line, `passage.rs` the way through.
//!
//! Every wait is bounded. A holder that dies frees its lock by dying; one that stands still is
//! named in the error. The gate orders writers and makes them wait fairly; it does not replace the
//! database's own lock.

mod holders;
mod line;
mod passage;

use std::fmt;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::files::{FileError, with_suffix};
use crate::lock::LockedFile;
use line::Line;

/// The size of one witness.
pub const WITNESS_BYTES: usize = 64;

/// Slots for witnesses, so that no slot number makes the gate file enormous.
pub const WITNESS_SLOTS_MAX: u64 = 1 << 20;

/// The two lock files of one store. Opening them is left to [`Gate::acquire`].
#[derive(Debug, Clone)]
pub struct Gate {
    next: PathBuf,
    gate: PathBuf,
}

impl Gate {
    /// The gate of a store: its files are called like the store with `-next` and `-gate` added.
    pub fn beside(store: &Path) -> Self {
        Self { next: with_suffix(store, "-next"), gate: with_suffix(store, "-gate") }
    }

    /// Waits for the gate, in order of arrival, for at most `timeout`.
    pub fn acquire(&self, timeout: Duration) -> Result<GateGuard, GateError> {
        let started = Instant::now();
        let left = || timeout.saturating_sub(started.elapsed());
        let line = Line::open(&self.next)?;
        match passage::pass(&line, &self.gate, left)? {
            Some(gate) => Ok(GateGuard { gate, path: self.gate.clone(), line }),
            None => Err(self.busy(started.elapsed())),
        }
    }

    /// The record last written into a slot; `None` if none ever was. Takes no lock, so a record
    /// being written may be read torn: whoever needs certainty puts a checksum into it.
    pub fn read_witness(&self, slot: u64) -> Result<Option<[u8; WITNESS_BYTES]>, GateError> {
        match File::open(&self.gate) {
            Ok(file) => read_slot(&file, &self.gate, slot),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(source) => Err(FileError::system("open", &self.gate)(source).into()),
        }
    }

    fn busy(&self, waited: Duration) -> GateError {
        let waited_ms = u64::try_from(waited.as_millis()).unwrap_or(u64::MAX);
        GateError::Busy { waited_ms, holders: holders(self) }
    }
}

/// The right to write, until dropped.
#[derive(Debug)]
pub struct GateGuard {
    gate: LockedFile,
    path: PathBuf,
    line: Line,
}

impl GateGuard {
    /// Whether somebody stands in line behind. For what can be done later; no decision rests on it.
    pub fn is_awaited(&self) -> bool {
        !self.line.is_empty()
    }

    /// Remembers a record outside the database, for instance a scope's last head.
    ///
    /// It is not flushed: it serves to notice a database that went back, not to survive a power
    /// cut.
    pub fn write_witness(&self, slot: u64, witness: &[u8; WITNESS_BYTES]) -> Result<(), GateError> {
        let offset = offset_of(slot)?;
        let written = self.gate.file().write_all_at(witness, offset);
        Ok(written.map_err(FileError::system("write", &self.path))?)
    }

    /// The record last written into a slot, read under the lock and therefore whole.
    pub fn read_witness(&self, slot: u64) -> Result<Option<[u8; WITNESS_BYTES]>, GateError> {
        read_slot(self.gate.file(), &self.path, slot)
    }
}

/// Who holds a record lock for writing on one byte of a file, in words. For people, and for whoever is in no hurry to
/// try in vain; whether something may be done is never decided by it.
pub fn byte_lock_holders(path: &Path, byte: u64) -> Vec<GateHolder> {
    holders::of_byte(path, byte).into_iter().map(|found| found.standing_in(GateFile::Database)).collect()
}

/// Who holds either file of the gate right now. For people; no decision rests on it.
pub fn holders(gate: &Gate) -> Vec<GateHolder> {
    let in_gate = holders::of(&gate.gate).into_iter().map(|found| found.standing_in(GateFile::Gate));
    let in_next =
        holders::first_in_line(&gate.next).into_iter().map(|found| found.standing_in(GateFile::Next));
    in_gate.chain(in_next).collect()
}

/// Which file a process holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GateFile {
    /// The database's own write lock.
    Database,
    /// The place of whoever is let in next.
    Next,
    /// The place of whoever writes.
    Gate,
}

impl fmt::Display for GateFile {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Database => "the database",
            Self::Next => "next",
            Self::Gate => "gate",
        })
    }
}

/// A process that was in the way when the wait ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GateHolder {
    /// The file it holds.
    pub file: GateFile,
    /// Its pid; 0 if it lives in a pid namespace we cannot see.
    pub pid: u32,
    /// What it is doing, in words such as `stopped (T)`.
    pub state: String,
    /// Whether it stands still until somebody lets it go on.
    pub is_stopped: bool,
    /// Its command's short name, empty if it cannot be seen.
    pub command: String,
}

impl fmt::Display for GateHolder {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, pid, state, command, .. } = self;
        match command.as_str() {
            "" => write!(out, "pid {pid}, {state}, holds {file}"),
            command => write!(out, "pid {pid} ({command}), {state}, holds {file}"),
        }
    }
}

/// Why the gate was not passed.
#[derive(Debug, thiserror::Error)]
pub enum GateError {
    /// Someone else held it all the time.
    #[error("the store is busy: waited {waited_ms} ms{}", list(holders))]
    Busy {
        /// How long we waited.
        waited_ms: u64,
        /// Who held either file at the end; empty if they let go in that moment or the system does
        /// not tell.
        holders: Vec<GateHolder>,
    },
    /// A lock file cannot be used.
    #[error(transparent)]
    File(#[from] FileError),
    /// The slot lies beyond what the gate file may grow to.
    #[error("witness slot {slot} is beyond the last one, {}", WITNESS_SLOTS_MAX - 1)]
    WitnessSlot {
        /// The slot asked for.
        slot: u64,
    },
}

fn list(holders: &[GateHolder]) -> String {
    holders.iter().map(|holder| format!("; {holder}")).collect()
}

fn offset_of(slot: u64) -> Result<u64, GateError> {
    if slot >= WITNESS_SLOTS_MAX {
        return Err(GateError::WitnessSlot { slot });
    }
    Ok(slot * WITNESS_BYTES as u64)
}

/// A slot never written is beyond the end of the file or a hole of zeroes in it.
fn read_slot(file: &File, path: &Path, slot: u64) -> Result<Option<[u8; WITNESS_BYTES]>, GateError> {
    let mut witness = [0_u8; WITNESS_BYTES];
    match file.read_exact_at(&mut witness, offset_of(slot)?) {
        Ok(()) => Ok((witness != [0; WITNESS_BYTES]).then_some(witness)),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(None),
        Err(source) => Err(FileError::system("read", path)(source).into()),
    }
}
