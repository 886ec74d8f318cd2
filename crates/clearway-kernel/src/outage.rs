//! What hooks remember of a store that fails: outside of it, so that no hook pays for the same trouble twice and nobody is
//! told of it twice. Forgotten with the boot, and with the first answer the store gives again.

use crate::ground::without_store;
use crate::hooking::HookCall;
use crate::notifying::notify;
use crate::outside::Outside;
use clearway_core::alert::Alert;
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

/// Remembers that the store failed, and says how to answer. `is_heard` is whether anybody hears what is said now, and a
/// refusal, which is for what `is_before`, everybody hears: until then nobody was told. Where not even that can be
/// remembered, everybody is told.
pub fn outage(
    outside: &mut dyn Outside,
    call: &HookCall,
    files: &[String],
    failure: &Failure,
    is_before: bool,
    is_heard: bool,
) -> Outage {
    let globals = call.globals();
    // It is the store of what was to be edited that failed, wherever the agent stands.
    let edited = files.first().and_then(|file| outside.destination(&call.cwd, file).ok());
    let start = edited.map_or_else(|| call.cwd.clone(), |edited| edited.directory);
    let Ok((config, site)) = without_store(outside, &globals, &start) else {
        return Outage { unattended: false, is_new: true };
    };
    let unattended = config.is_unattended();
    let is_heard = is_heard || (is_before && unattended);
    let known = memory(outside, &site.key);
    let is_unknown = known.is_none();
    let was_told = known.as_ref().is_some_and(|known| known.standing != Standing::Untold);
    let is_new = is_heard && !was_told;
    let in_way = known.filter(Known::is_in_way);
    if is_new || in_way.is_none() {
        let standing = if is_heard || was_told { Standing::Told } else { Standing::Untold };
        // What is in the way is what failed; the failure at hand only says so.
        let (slug, message) =
            in_way.map_or((failure.slug, failure.message.clone()), |known| (known.slug, known.message));
        let is_kept = remember(outside, &site.key, slug, &message, standing);
        // Where nothing is kept, it would be told with every call.
        if let (true, true, Ok(now)) = (is_unknown, is_kept, outside.now()) {
            notify(outside, &config, &site, now.wall, &Alert::Outage { message });
        }
    }
    Outage { unattended, is_new }
}

/// The trouble of a moment ago, for a hook that is about to ask the same store.
pub(crate) fn trouble(outside: &mut dyn Outside, scope: &ScopeKey) -> Option<Failure> {
    let known = memory(outside, scope).filter(Known::is_in_way)?;
    Some(Failure::new(known.slug, format!("{} (so it was a moment ago)", known.message)))
}

/// The store answered, and wrote for it or not; whether an outage is over that the agent is to be told of. Where nobody
/// hears it now, that is kept for the next call.
pub(crate) fn is_over(outside: &mut dyn Outside, scope: &ScopeKey, wrote: bool, is_heard: bool) -> bool {
    let Some(known) = memory(outside, scope) else { return false };
    let could_only_read = matches!(known.slug, Slug::StoreFull | Slug::StoreReadOnly);
    if could_only_read && !wrote && known.standing != Standing::Over {
        return false;
    }
    let was_told = known.standing != Standing::Untold;
    if was_told && !is_heard {
        remember(outside, scope, known.slug, &known.message, Standing::Over);
        return false;
    }
    path(outside, scope).is_some_and(|path| outside.remove_file(&path).is_ok()) && was_told
}

struct Known {
    slug: Slug,
    message: String,
    standing: Standing,
    is_fresh: bool,
}

impl Known {
    fn is_in_way(&self) -> bool {
        self.is_fresh && self.standing != Standing::Over
    }
}

/// Who knows what of an outage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Standing {
    /// Nobody was told, for nobody would have heard it.
    Untold,
    /// Somebody was told.
    Told,
    /// It is over, and nobody was told so yet.
    Over,
}

impl Standing {
    const ALL: [(Self, &'static str); 3] =
        [(Self::Untold, "untold"), (Self::Told, "told"), (Self::Over, "over")];

    fn word(self) -> &'static str {
        Self::ALL.iter().find(|(standing, _)| *standing == self).map_or("", |(_, word)| word)
    }

    fn parse(text: &str) -> Option<Self> {
        Self::ALL.iter().find(|(_, word)| *word == text).map(|(standing, _)| *standing)
    }
}

fn path(outside: &dyn Outside, scope: &ScopeKey) -> Option<PathBuf> {
    outside.passing_file(&format!("outage-{scope}")).ok()
}

/// Boot, instant, slug, standing, message, each on a line.
fn memory(outside: &mut dyn Outside, scope: &ScopeKey) -> Option<Known> {
    let path = path(outside, scope)?;
    let text = outside.read_text(&path).ok()??;
    let now = outside.now().ok()?;
    let mut lines = text.lines();
    let (boot, at) = (lines.next()?, Mono(lines.next()?.parse().ok()?));
    let (slug, standing) = (Slug::parse(lines.next()?)?, Standing::parse(lines.next()?)?);
    let is_fresh = boot == now.boot.0 && now.mono.since(at) < SPARED_MS;
    Some(Known { slug, message: lines.next().unwrap_or_default().to_owned(), standing, is_fresh })
}

fn remember(
    outside: &mut dyn Outside,
    scope: &ScopeKey,
    slug: Slug,
    message: &str,
    standing: Standing,
) -> bool {
    let (Some(path), Ok(now)) = (path(outside, scope), outside.now()) else { return false };
    let (slug, standing, message) = (slug.as_str(), standing.word(), message.replace('\n', " "));
    let text = format!("{}\n{}\n{slug}\n{standing}\n{message}\n", now.boot.0, now.mono.0);
    // Where nothing can be written, the next hook pays for itself.
    outside.write_private(&path, &text).is_ok()
}
