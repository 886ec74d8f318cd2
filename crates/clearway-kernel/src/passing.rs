//! Files that are kept until the next boot: what they are called, and how a line comes into one.

use crate::outside::Outside;
use clearway_wire::chain;
use std::path::Path;

/// Bytes of a digest that tell keys apart.
const BYTES: usize = 8;

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
