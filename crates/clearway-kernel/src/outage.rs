//! What hooks remember of a store that fails: outside of it, so that no hook pays for the same trouble twice and nobody is
//! told of it twice. Forgotten with the boot, and with the first answer the store gives again.

use crate::ground::without_store;
use crate::hooking::HookCall;
use crate::outside::Outside;
use clearway_core::failure::Failure;
use clearway_core::ids::ScopeKey;
use clearway_core::slug::Slug;
use clearway_core::time::Mono;
use std::path::PathBuf;

/// How long a store that failed is not asked again.
const SPARED_MS: u64 = 10_000;

/// How a hook is to answer while the store fails.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outage {
    /// Nobody watches, so what cannot be checked is refused.
    pub unattended: bool,
    /// It was not known before: somebody has to be told.
    pub is_new: bool,
}

/// Remembers that the store failed, and says how to answer. Where not even that can be remembered, everybody is told.
pub fn outage(outside: &mut dyn Outside, call: &HookCall, failure: &Failure) -> Outage {
    let globals = call.globals();
    let Ok((config, site)) = without_store(outside, &globals, &call.cwd) else {
        return Outage { unattended: false, is_new: true };
    };
    let known = memory(outside, &site.key);
    if known.as_ref().is_none_or(|known| !known.is_fresh) {
        remember(outside, &site.key, failure);
    }
    Outage { unattended: config.is_unattended(), is_new: known.is_none() }
}

/// The trouble of a moment ago, for a hook that is about to ask the same store.
pub(crate) fn trouble(outside: &mut dyn Outside, scope: &ScopeKey) -> Option<Failure> {
    let known = memory(outside, scope).filter(|known| known.is_fresh)?;
    Some(Failure::new(known.slug, format!("{} a moment ago", known.message)))
}

/// Forgets an outage, because the store answered; whether there was one.
pub(crate) fn over(outside: &mut dyn Outside, scope: &ScopeKey) -> bool {
    let Some(path) = path(outside, scope).filter(|_| memory(outside, scope).is_some()) else { return false };
    outside.remove_file(&path).is_ok()
}

struct Known {
    slug: Slug,
    message: String,
    is_fresh: bool,
}

fn path(outside: &dyn Outside, scope: &ScopeKey) -> Option<PathBuf> {
    outside.passing_file(&format!("outage-{scope}")).ok()
}

/// Boot, instant, slug, message, each on a line.
fn memory(outside: &mut dyn Outside, scope: &ScopeKey) -> Option<Known> {
    let path = path(outside, scope)?;
    let text = outside.read_text(&path).ok()??;
    let now = outside.now().ok()?;
    let mut lines = text.lines();
    let (boot, at) = (lines.next()?, Mono(lines.next()?.parse().ok()?));
    let slug = Slug::parse(lines.next()?)?;
    let is_fresh = boot == now.boot.0 && now.mono.since(at) < SPARED_MS;
    Some(Known { slug, message: lines.next().unwrap_or_default().to_owned(), is_fresh })
}

fn remember(outside: &mut dyn Outside, scope: &ScopeKey, failure: &Failure) {
    let (Some(path), Ok(now)) = (path(outside, scope), outside.now()) else { return };
    let message = failure.message.replace('\n', " ");
    let text = format!("{}\n{}\n{}\n{message}\n", now.boot.0, now.mono.0, failure.slug.as_str());
    // Where nothing can be written, the next hook pays for itself.
    drop(outside.write_private(&path, &text));
}
