//! What an agent was warned of where nothing is enforced: kept outside of the store, so that it hears of the same holder of
//! the same file once. Forgotten with its session, and with the boot.

use crate::hooking::HookCall;
use crate::outside::Outside;
use crate::passing::{name_after, note_down};
use clearway_core::failure::Details;
use clearway_core::ids::ScopeKey;
use clearway_store::Reply;
use std::path::PathBuf;

/// Bytes of what is kept of a session; beyond, the older half may be said again.
const BYTES_MAX: u64 = 16 * 1_024;

/// Whether an agent hears of it for the first time. Where nothing can be kept, everything is news.
pub(crate) fn is_news(outside: &mut dyn Outside, call: &HookCall, scope: &ScopeKey, what: &str) -> bool {
    let Some(path) = memory(outside, call) else { return true };
    let line = name_after(&format!("{scope} {what}"));
    let known = outside.read_text(&path).ok().flatten().unwrap_or_default();
    if known.lines().any(|known| known == line) {
        return false;
    }
    note_down(outside, &path, &line, BYTES_MAX);
    true
}

/// Forgets a session that is over.
pub(crate) fn forget(outside: &mut dyn Outside, call: &HookCall) {
    if let Some(path) = memory(outside, call) {
        drop(outside.remove_file(&path));
    }
}

/// What a refusal is about: a lease is another one whenever somebody takes the file anew.
pub(crate) fn subject(reply: &Reply) -> String {
    let Err(failure) = &reply.outcome else { return String::new() };
    let leases = match &failure.details {
        Details::Blockers { leases, .. } => leases.as_slice(),
        _ => &[],
    };
    let held: Vec<String> =
        leases.iter().map(|view| format!("{} {}", view.lease.id, view.lease.target.canonical())).collect();
    format!("{} {}", failure.slug, held.join(" "))
}

fn memory(outside: &dyn Outside, call: &HookCall) -> Option<PathBuf> {
    outside.passing_file(&format!("warned-{}", name_after(&call.session.key().0))).ok()
}
