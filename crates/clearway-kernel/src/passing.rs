//! Names of files that are kept until the next boot.

use clearway_wire::chain;

/// Bytes of a digest that tell keys apart.
const BYTES: usize = 8;

/// What a file is called after a key, which may hold what no file is to be called.
pub(crate) fn name_after(key: &str) -> String {
    chain::digest(key).iter().take(BYTES).map(|byte| format!("{byte:02x}")).collect()
}
