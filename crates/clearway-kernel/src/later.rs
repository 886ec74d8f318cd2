//! What belongs to a tool call and its client's model hears only after it: kept from the hook before the call to the one
//! after it, outside of the store, because it was decided and told by then. Forgotten with the boot.

use crate::hooking::HookCall;
use crate::outside::Outside;
use crate::passing::name_after;
use std::path::PathBuf;

/// Keeps a text for the end of the call. Where nothing can be kept, nobody is the worse for it.
pub fn keep_for_later(outside: &mut dyn Outside, call: &HookCall, text: &str) {
    if let Some(path) = memory(outside, call) {
        drop(outside.write_private(&path, text));
    }
}

/// What was kept, once.
pub fn kept_for_now(outside: &mut dyn Outside, call: &HookCall) -> Option<String> {
    let path = memory(outside, call)?;
    let text = outside.read_text(&path).ok()??;
    outside.remove_file(&path).is_ok().then_some(text)
}

/// Remembers that the agent was told something before a call: one thing is enough for it.
pub fn told_before(outside: &mut dyn Outside, call: &HookCall, tool_use: &str) {
    if let Some(path) = told(outside, call) {
        drop(outside.write_private(&path, tool_use));
    }
}

/// Whether the agent was told something before this very call, which is over now, or is to be told it now. A client that
/// uses the name of a call again means another one.
pub fn was_told_before(outside: &mut dyn Outside, call: &HookCall, tool_use: &str) -> bool {
    let (told, kept) = (told(outside, call), memory(outside, call));
    let text = |outside: &mut dyn Outside, path: &PathBuf| outside.read_text(path).ok().flatten();
    let was_told = told.filter(|path| text(outside, path).is_some_and(|told| told == tool_use));
    if let Some(path) = &was_told {
        drop(outside.remove_file(path));
    }
    was_told.is_some() || kept.is_some_and(|path| text(outside, &path).is_some())
}

/// Forgets a session that is over.
pub(crate) fn forget(outside: &mut dyn Outside, call: &HookCall) {
    for path in [told(outside, call), memory(outside, call)].into_iter().flatten() {
        drop(outside.remove_file(&path));
    }
}

fn told(outside: &dyn Outside, call: &HookCall) -> Option<PathBuf> {
    outside.passing_file(&format!("told-{}", name_after(&call.session.key().0))).ok()
}

fn memory(outside: &dyn Outside, call: &HookCall) -> Option<PathBuf> {
    outside.passing_file(&format!("later-{}", name_after(&call.session.key().0))).ok()
}
