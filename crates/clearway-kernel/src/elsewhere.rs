//! Where a session edits files beside the repository it works in. What its client tells of it concerns those scopes too:
//! that is where it waits for files, holds them, and leaves them when it ends. Forgotten with the session and the boot.

use crate::hooking::HookCall;
use crate::outside::Outside;
use clearway_wire::chain;
use std::path::{Path, PathBuf};

/// How many directories are remembered of one session; each costs every tool call of it another look.
const DIRECTORIES_MAX: usize = 8;

/// Remembers a directory of another scope.
pub(crate) fn note(outside: &mut dyn Outside, call: &HookCall, root: &Path) {
    let mut known = directories(outside, call);
    let (Some(path), Some(_)) = (path(outside, call), root.to_str()) else { return };
    if known.len() >= DIRECTORIES_MAX || known.iter().any(|directory| directory == root) {
        return;
    }
    known.push(root.to_owned());
    let text: String = known.iter().map(|directory| format!("{}\n", directory.display())).collect();
    // Where nothing can be written, such a scope hears of the agent by its edits alone.
    drop(outside.write_private(&path, &text));
}

/// The directories that were remembered.
pub(crate) fn directories(outside: &mut dyn Outside, call: &HookCall) -> Vec<PathBuf> {
    let text = path(outside, call).and_then(|path| outside.read_text(&path).ok().flatten());
    text.unwrap_or_default().lines().map(PathBuf::from).collect()
}

/// The session is over.
pub(crate) fn forget(outside: &mut dyn Outside, call: &HookCall) {
    if let Some(path) = path(outside, call) {
        // One that stays is of a session that nobody will name again.
        drop(outside.remove_file(&path));
    }
}

/// A session's id may hold what no file is to be called.
fn path(outside: &dyn Outside, call: &HookCall) -> Option<PathBuf> {
    let [a, b, c, d, e, f, ..] = chain::digest(&call.session.session);
    let digest: String = [a, b, c, d, e, f].iter().map(|byte| format!("{byte:02x}")).collect();
    outside.passing_file(&format!("elsewhere-{}-{digest}", call.session.client.word())).ok()
}
