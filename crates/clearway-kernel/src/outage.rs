//! What hooks remember of a store that fails: outside of it, so that no hook pays for the same trouble twice, and every
//! agent is told of it once, and once that it is over. Forgotten with the boot, and when everybody knows that it is over.
//!
//! A call may fail before it comes to ask a store, over a setting for example. That is told once as well, and keeps nobody
//! else from asking.

use crate::config::{Config, file_of};
use crate::ground::{Ground, without_store};
use crate::hooking::{HookCall, welcome};
use crate::notifying::notify;
use crate::outside::Outside;
use crate::passing::{Mark, name_after};
use crate::session::Globals;
use clearway_core::alert::Alert;
use clearway_core::failure::Failure;
use clearway_core::ids::ScopeKey;
use clearway_core::slug::Slug;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// How long a store that failed is not asked again.
const SPARED_MS: u64 = 10_000;

/// How many agents of a scope are remembered to have been told; whoever comes after them is told each time.
const TOLD_MAX: usize = 64;

/// How a hook is to answer while the store fails.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outage {
    /// Nobody watches, so what cannot be checked is refused.
    pub unattended: bool,
    /// The caller does not know of it: it has to be told.
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
    let names = Names::of(&site.key, &config, &start);
    let name = names.of_failure(failure);
    let known = memory(outside, name);
    // Who was told of the last one and never came back keeps it in memory; another begins all the same.
    let begins = known.as_ref().is_none_or(|known| known.standing == Standing::Over);
    let me = called(call);
    let mut told = known.as_ref().map(|known| known.told.clone()).unwrap_or_default();
    let is_new = is_heard && !told.contains(&me);
    let in_way = known.filter(Known::is_in_way);
    if is_new || in_way.is_none() {
        told.extend(Some(me).filter(|_| is_heard && told.len() < TOLD_MAX));
        // What is in the way is what failed; the failure at hand only says so.
        let (slug, message) =
            in_way.map_or((failure.slug, failure.message.clone()), |known| (known.slug, known.message));
        let is_kept = remember(outside, name, slug, &message, Standing::Fails, &told);
        // Where nothing is kept, it would be told with every call.
        if let (true, true, Ok(now)) = (begins, is_kept, outside.now()) {
            notify(outside, &config, &site, now.wall, &Alert::Outage { message });
        }
    }
    Outage { unattended, is_new }
}

/// Under which names the trouble of a scope is remembered.
#[derive(Clone, Debug)]
pub(crate) struct Names {
    /// That of its store, or of the one that somebody named instead: what fails there is no trouble of another.
    store: String,
    /// That of calls that did not come to ask it.
    calls: String,
}

impl Names {
    pub(crate) fn of(scope: &ScopeKey, config: &Config, start: &Path) -> Self {
        let named = |url: &str| {
            let file = file_of(url).map_or_else(|| PathBuf::from(url), |file| start.join(file));
            format!("outage-{scope}-{}", name_after(&file.display().to_string()))
        };
        let store = config.store_url().map_or_else(|| format!("outage-{scope}"), named);
        Self { store, calls: format!("outage-{scope}-calls") }
    }

    /// A defect of ours may be met by everybody who asks the same store. Calls around it that do not meet it would tell of
    /// its end each time.
    fn of_failure(&self, failure: &Failure) -> &str {
        let concerns_all = matches!(failure.slug, Slug::StoreFull | Slug::StoreReadOnly | Slug::Internal);
        if cannot_be_asked(failure) || concerns_all { &self.store } else { &self.calls }
    }

    fn both(&self) -> [&str; 2] {
        [&self.store, &self.calls]
    }
}

/// What stands for an agent in what is remembered.
fn called(call: &HookCall) -> String {
    name_after(&call.session.key().0)
}

/// The store of where an agent stands, which failed in this very call: nothing asks it again.
#[derive(Clone, Debug)]
pub struct Failing {
    scope: Option<ScopeKey>,
    failure: Failure,
}

impl Failing {
    /// Takes note of what the store of where an agent stands failed with.
    pub fn here(outside: &mut dyn Outside, call: &HookCall, failure: Failure) -> Self {
        let scope = scope_of(outside, &call.globals(), &call.cwd);
        Self { scope, failure }
    }

    /// What it failed with.
    pub fn failure(&self) -> &Failure {
        &self.failure
    }

    fn is_of(&self, scope: &ScopeKey) -> bool {
        self.scope.as_ref() == Some(scope)
    }
}

/// Whether a failure says that a store cannot be asked. One that only has no room for an answer can.
pub(crate) fn cannot_be_asked(failure: &Failure) -> bool {
    matches!(
        failure.slug,
        Slug::StoreUnavailable
            | Slug::StoreNewer
            | Slug::StoreCorrupt
            | Slug::StoreLost
            | Slug::StoreNotPrivate
            | Slug::NetworkFileSystem
            | Slug::StoreBusy
    )
}

/// The ground of a directory that invited us, unless its store failed a moment ago, or in this very call.
pub(crate) fn welcome_beside(
    outside: &mut dyn Outside,
    globals: &Globals,
    start: &Path,
    failing: Option<&Failing>,
) -> Result<Option<Ground>, Failure> {
    if let Some(failing) = failing
        && scope_of(outside, globals, start).is_some_and(|scope| failing.is_of(&scope))
    {
        return Err(failing.failure.clone());
    }
    welcome(outside, globals, start)
}

/// What is known of the store of a directory without asking it, if it fails.
pub(crate) fn known_trouble(
    outside: &mut dyn Outside,
    globals: &Globals,
    start: &Path,
    failing: Option<&Failing>,
) -> Option<Failure> {
    let (config, site) = without_store(outside, globals, start).ok()?;
    match failing.filter(|failing| failing.is_of(&site.key)) {
        Some(failing) => Some(failing.failure.clone()),
        None => trouble(outside, &Names::of(&site.key, &config, start)),
    }
}

fn scope_of(outside: &mut dyn Outside, globals: &Globals, start: &Path) -> Option<ScopeKey> {
    without_store(outside, globals, start).ok().map(|(_, site)| site.key)
}

/// The trouble of a moment ago, for a hook that is about to ask the same store.
pub(crate) fn trouble(outside: &mut dyn Outside, names: &Names) -> Option<Failure> {
    let known = memory(outside, &names.store).filter(Known::is_in_way)?;
    Some(Failure::new(known.slug, format!("{} (so it was a moment ago)", known.message)))
}

/// The store answered, and wrote for it or not; whether an outage is over that the caller was told of. Where it does not
/// hear that now, it is kept for its next call, and so it is for everybody else who was told.
pub(crate) fn is_over(outside: &mut dyn Outside, names: &Names, wrote: bool, call: &HookCall) -> bool {
    let over = names.both().map(|name| is_over_by_name(outside, name, wrote, call));
    over.contains(&true)
}

fn is_over_by_name(outside: &mut dyn Outside, name: &str, wrote: bool, call: &HookCall) -> bool {
    let Some(mut known) = memory(outside, name) else { return false };
    let could_only_read = matches!(known.slug, Slug::StoreFull | Slug::StoreReadOnly);
    if could_only_read && !wrote && known.standing != Standing::Over {
        return false;
    }
    let is_told = call.hears && known.told.remove(&called(call));
    let is_noted = (is_told || known.standing != Standing::Over) && settle(outside, name, &known);
    // Where that cannot be noted, it would be told with every call.
    is_told && is_noted
}

/// Somebody was granted something outside of any hook: a disk that was full or read-only is not any more, and whoever was
/// told that it is hears so at its next call, whatever that is.
pub(crate) fn was_written(outside: &mut dyn Outside, names: &Names) {
    let fails = |known: &Known| known.standing == Standing::Fails;
    if let Some(known) = memory(outside, &names.store).filter(fails) {
        settle(outside, &names.store, &known);
    }
}

/// Whoever is gone comes for no word of the end of an outage.
pub(crate) fn forget(outside: &mut dyn Outside, names: &Names, call: &HookCall) {
    for name in names.both() {
        let over = memory(outside, name).filter(|known| known.standing == Standing::Over);
        let Some(mut known) = over else { continue };
        if known.told.remove(&called(call)) {
            settle(outside, name, &known);
        }
    }
}

/// An outage that is over is remembered for those who do not know so; whether it is, or is forgotten.
fn settle(outside: &mut dyn Outside, name: &str, known: &Known) -> bool {
    if known.told.is_empty() {
        return outside.passing_file(name).is_ok_and(|path| outside.remove_file(&path).is_ok());
    }
    remember(outside, name, known.slug, &known.message, Standing::Over, &known.told)
}

struct Known {
    slug: Slug,
    message: String,
    standing: Standing,
    /// Who was told of it, and not yet that it is over.
    told: BTreeSet<String>,
    is_fresh: bool,
}

impl Known {
    fn is_in_way(&self) -> bool {
        self.is_fresh && self.standing != Standing::Over
    }
}

/// How things stand with an outage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Standing {
    /// The store fails.
    Fails,
    /// It is over, and somebody was not told so yet.
    Over,
}

impl Standing {
    const ALL: [(Self, &'static str); 2] = [(Self::Fails, "fails"), (Self::Over, "over")];

    fn word(self) -> &'static str {
        Self::ALL.iter().find(|(standing, _)| *standing == self).map_or("", |(_, word)| word)
    }

    fn parse(text: &str) -> Option<Self> {
        Self::ALL.iter().find(|(_, word)| *word == text).map(|(standing, _)| *standing)
    }
}

/// When it was, slug, standing, message, and who was told, each on a line.
fn memory(outside: &mut dyn Outside, name: &str) -> Option<Known> {
    let path = outside.passing_file(name).ok()?;
    let text = outside.read_text(&path).ok()??;
    let now = outside.now().ok()?;
    let mut lines = text.lines();
    let mark = Mark::parse(lines.next()?)?;
    mark.at(&now)?;
    let (slug, standing) = (Slug::parse(lines.next()?)?, Standing::parse(lines.next()?)?);
    let is_fresh = mark.is_recent(&now, SPARED_MS);
    let message = lines.next().unwrap_or_default().to_owned();
    Some(Known { slug, message, standing, told: lines.map(str::to_owned).collect(), is_fresh })
}

fn remember(
    outside: &mut dyn Outside,
    name: &str,
    slug: Slug,
    message: &str,
    standing: Standing,
    told: &BTreeSet<String>,
) -> bool {
    let (Ok(path), Ok(now)) = (outside.passing_file(name), outside.now()) else { return false };
    let (slug, standing, message) = (slug.as_str(), standing.word(), message.replace('\n', " "));
    let mut text = format!("{}\n{slug}\n{standing}\n{message}\n", Mark::of(&now));
    told.iter().for_each(|told| text.extend([told, "\n"]));
    // Where nothing can be written, the next hook pays for itself.
    outside.write_private(&path, &text).is_ok()
}
