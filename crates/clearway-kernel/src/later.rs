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

fn memory(outside: &dyn Outside, call: &HookCall) -> Option<PathBuf> {
    outside.passing_file(&format!("later-{}", name_after(&call.session.key().0))).ok()
}
