//! Ballast: a file beside the store that takes up room, so that on a full disk there is something to throw overboard.
//!
//! Leases are taken only with ballast on board, and given back without it if need be: whoever reserved can release. Who
//! may throw it overboard, and who has to see it on board, is decided by the executor, not here.

use crate::errors;
use clearway_core::limits::BALLAST_BYTES;
use clearway_platform::files::{self, with_suffix};
use clearway_store::contract::StoreError;
use std::path::{Path, PathBuf};

/// Takes the ballast on board unless it is there. Too little room for it is a full disk; anything else that keeps it
/// from being made is no reason to refuse a write that has room. The caller holds the gate.
pub(crate) fn keep(store: &Path) -> Result<(), StoreError> {
    if is_kept(store) {
        return Ok(());
    }
    let ballast = beside(store);
    let Err(error) = files::allocate(&ballast, BALLAST_BYTES) else { return Ok(()) };
    let _ = files::remove_if_present(&ballast);
    match errors::file(store, &error) {
        full @ StoreError::Full { .. } => Err(full),
        _ => Ok(()),
    }
}

/// Throws it overboard. False if there was none.
pub(crate) fn give_up(store: &Path) -> Result<bool, StoreError> {
    let ballast = beside(store);
    if !files::exists(&ballast) {
        return Ok(false);
    }
    files::remove_if_present(&ballast).map_err(|error| errors::file(&ballast, &error))?;
    Ok(true)
}

/// Whether it is there in its full size.
pub(crate) fn is_kept(store: &Path) -> bool {
    files::length(&beside(store)) == Some(BALLAST_BYTES)
}

fn beside(store: &Path) -> PathBuf {
    with_suffix(store, "-ballast")
}
