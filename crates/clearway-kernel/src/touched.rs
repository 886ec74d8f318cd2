//! In which scopes a client's session took leases or waits: it may edit and leave from other directories than it works in,
//! and nothing else tells where it has been. Forgotten with the boot, as leases are.

use crate::outside::Outside;
use crate::passing::{name_after, note_down};
use clearway_core::agent::ClientSession;
use std::path::{Path, PathBuf};

/// Scopes of one session that are remembered.
const SCOPES_MAX: usize = 64;
const BYTES_MAX: u64 = 64 * 1_024;

/// Remembers a directory of a scope in which a session took a lease, or has to wait for one; whether that is new.
pub(crate) fn remember(outside: &mut dyn Outside, session: &ClientSession, directory: &Path) -> bool {
    let Some((path, text)) = memory(outside, session).zip(directory.to_str()) else { return false };
    let known = read(outside, &path);
    let is_line = !text.contains('\n');
    if !is_line || known.len() >= SCOPES_MAX || known.iter().any(|known| known == directory) {
        return false;
    }
    note_down(outside, &path, text, BYTES_MAX);
    true
}

/// The directories that are remembered of a session.
pub(crate) fn directories(outside: &mut dyn Outside, session: &ClientSession) -> Vec<PathBuf> {
    memory(outside, session).map(|path| read(outside, &path)).unwrap_or_default()
}

/// Forgets a session that is over.
pub(crate) fn forget(outside: &mut dyn Outside, session: &ClientSession) {
    if let Some(path) = memory(outside, session) {
        drop(outside.remove_file(&path));
    }
}

fn read(outside: &mut dyn Outside, path: &Path) -> Vec<PathBuf> {
    let text = outside.read_text(path).ok().flatten().unwrap_or_default();
    text.lines().map(PathBuf::from).collect()
}

/// One for each process of a client, because its session goes on under other ids; without one, for each session.
fn memory(outside: &dyn Outside, session: &ClientSession) -> Option<PathBuf> {
    let key = session.process.as_ref().map_or_else(|| session.root_key().0, |process| process.key());
    outside.passing_file(&format!("session-{}", name_after(&key))).ok()
}
