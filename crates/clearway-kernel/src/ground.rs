//! What a session stands on: the scope, the settings and the store. Which scope a directory belongs to is for the
//! store to say, and no repository says which store: so the store comes first.

use crate::attribution::{left_trace, was_here};
use crate::config::{Config, ConfigText, FlagValue, Inputs, KeyId, Layer, REPOSITORY_FILE};
use crate::failures::{config_failure, store_failure};
use crate::listings::show;
use crate::outside::{NoSite, Outside, StoreAt};
use crate::placing::{Record, record_of};
use crate::session::Globals;
use crate::site::{Site, SiteKind, directory_key, scope_key};
use crate::{identity, outage};
use clearway_core::facts::Facts;
use clearway_core::failure::{Details, Failure};
use clearway_core::ids::ScopeKey;
use clearway_core::pattern::Fold;
use clearway_core::shell;
use clearway_core::slice::ReadSet;
use clearway_core::slug::Slug;
use clearway_core::text::{quoted, shown};
use clearway_core::time::Now;
use clearway_store::contract::{Engine, LeaseListing, StoreError};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

mod lost;

/// How many scopes are named to somebody who named one that is not there.
const SCOPES_NAMED: usize = 8;

/// Where a session acts, and with what.
pub(crate) struct Ground {
    pub(crate) start: PathBuf,
    /// The key of the place itself; the site's is another one if it adopted a scope.
    pub(crate) own_key: ScopeKey,
    pub(crate) site: Site,
    /// What is remembered of the scope's directory.
    pub(crate) record: Option<Record>,
    pub(crate) config: Config,
    pub(crate) engine: Box<dyn Engine>,
}

impl Ground {
    /// Under which names the trouble of it is remembered.
    pub(crate) fn outages(&self) -> outage::Names {
        outage::Names::of(&self.site.key, &self.config, &self.start)
    }
}

/// Finds all of it. Every mistake of every layer is reported at once, so one above the repository's waits for it.
pub(crate) fn ground(outside: &mut dyn Outside, globals: &Globals) -> Result<Ground, Failure> {
    let start = start_of(outside, globals)?;
    let files = Files::of_user(outside)?;
    let above = resolve(outside, &files, globals);
    let mut engine = above.as_ref().ok().map(|config| open(outside, config, &start)).transpose()?;
    let known = Asked::new(engine.as_deref_mut(), above.as_ref().ok(), &start);
    let found = find_site(outside, known, globals)?;
    complete(outside, globals, Begun { start, files, above, engine }, found, Mistakes::AreTold)
}

/// The same for a directory of a scope that exists; `None` if there is none, which is found out before anything else.
pub(crate) fn invited(
    outside: &mut dyn Outside,
    globals: &Globals,
    start: &Path,
) -> Result<Option<Ground>, Failure> {
    let files = Files::of_user(outside);
    let config = files.as_ref().map_err(Clone::clone).and_then(|files| resolve(outside, files, globals));
    let (files, config) = match (files, config) {
        (Ok(files), Ok(config)) => (files, config),
        (_, Err(mistake)) | (Err(mistake), _) => return unreadable(outside, start, mistake),
    };
    let mut engine = match open(outside, &config, start) {
        Ok(engine) => engine,
        Err(failure) if has_no_place(outside, &config) => return without_a_place(outside, start, failure),
        Err(failure) => return Err(failure),
    };
    let mut store = Asked::new(Some(&mut *engine), Some(&config), start);
    let mut missing = None;
    let found = match here(outside, &mut store, start, false) {
        Ok(found) if store.knows(&found.own_key) => Some(found),
        Ok(Found { site, .. }) => {
            missing = is_missing(outside, &config, start, &site);
            None
        }
        // Somebody invited us, and the repository is damaged: its edits cannot be checked.
        Err(NoSite { failure, site: Some(site) }) if is_invited(&mut store, &site) => return Err(failure),
        Err(NoSite { failure, .. }) if failure.slug == Slug::NoScope => None,
        Err(NoSite { failure, .. }) => return Err(failure),
    };
    if let Some(trouble) = store.trouble {
        return Err(trouble);
    }
    let Some(found) = found else { return missing.map_or(Ok(None), Err) };
    let begun = Begun { start: start.to_owned(), files, above: Ok(config), engine: Some(engine) };
    complete(outside, globals, begun, found, Mistakes::LeaveRepositoryOut).map(Some)
}

/// Whether a repository that cannot be used has a scope, or lies in one: what is edited in it may be held there.
fn is_invited(store: &mut Asked<'_>, site: &Site) -> bool {
    let mut above =
        site.cwd.ancestors().flat_map(|above| [scope_key(above, &above.join(".git")), directory_key(above)]);
    store.has_scope(&site.key) || above.any(|key| store.has_scope(&key))
}

/// Settings that cannot be read are told only where somebody invited us, as far as the store says that is used when
/// nothing is set.
fn unreadable(outside: &mut dyn Outside, start: &Path, mistake: Failure) -> Result<Option<Ground>, Failure> {
    let config = unset(outside)?;
    if has_no_place(outside, &config) {
        return without_a_place(outside, start, mistake);
    }
    let mut engine = open(outside, &config, start)?;
    let mut store = Asked::new(Some(&mut *engine), Some(&config), start);
    match here(outside, &mut store, start, false) {
        Ok(found) if store.knows(&found.own_key) => Err(mistake),
        _ => Ok(None),
    }
}

/// Whether nothing tells where a store would lie, as without a home.
fn has_no_place(outside: &dyn Outside, config: &Config) -> bool {
    config.store_url().is_none() && outside.operator_key_path().is_err()
}

/// Nobody can have invited us from such surroundings; where a hook was answered from others since the machine started,
/// somebody did.
fn without_a_place(
    outside: &mut dyn Outside,
    start: &Path,
    trouble: Failure,
) -> Result<Option<Ground>, Failure> {
    let Ok(Found { site, .. }) = here(outside, &mut Asked::new(None, None, start), start, false) else {
        return Ok(None);
    };
    if left_trace(outside, &site.key) { Err(trouble) } else { Ok(None) }
}

/// What counts where nothing is set.
fn unset(outside: &dyn Outside) -> Result<Config, Failure> {
    // It is only where a mistake in the file would be found.
    let user_path = outside.user_config_path().unwrap_or_default();
    let inputs = Inputs {
        user_path: &user_path,
        user: None,
        repository: None,
        variables: &BTreeMap::new(),
        cwd: None,
        flags: &[],
        inside_agent_session: true,
    };
    Config::resolve(&inputs).map_err(|errors| config_failure(&errors))
}

/// What the user's file says by itself: a variable that cannot be read is no way out of it.
fn of_file(files: &Files) -> Result<Config, Failure> {
    let inputs = Inputs {
        user_path: &files.user_path,
        user: files.user.as_deref().map(|text| ConfigText { path: &files.user_path, text }),
        repository: None,
        variables: &BTreeMap::new(),
        cwd: None,
        flags: &[],
        inside_agent_session: true,
    };
    Config::resolve(&inputs).map_err(|errors| config_failure(&errors))
}

/// The settings and the scope of a directory, as far as they can be told without a store: without the repository's file
/// if that is what cannot be read, and as if nothing were set if it is the user's.
pub(crate) fn without_store(
    outside: &mut dyn Outside,
    globals: &Globals,
    start: &Path,
) -> Result<(Config, Site), Failure> {
    let site = match here(outside, &mut Asked::new(None, None, start), start, false) {
        Ok(Found { site, .. }) => site,
        Err(NoSite { site: Some(site), .. }) => *site,
        Err(NoSite { failure, site: None }) => return Err(failure),
    };
    let Ok(mut files) = Files::of_user(outside) else { return Ok((unset(outside)?, site)) };
    let of_user = resolve(outside, &files, globals);
    let whole = files.add_repository(outside, &site).and_then(|()| resolve(outside, &files, globals));
    let config = whole.or(of_user).or_else(|_| of_file(&files)).or_else(|_| unset(outside))?;
    Ok((config, site))
}

/// A scope without its store: somebody invited us, and what we knew is gone. A store of its own leaves its directory;
/// of one whose directory is gone too, and of one that somebody named, what hooks left behind tells.
fn is_missing(outside: &mut dyn Outside, config: &Config, start: &Path, site: &Site) -> Option<Failure> {
    let store = StoreAt { url: config.store_url(), from: start };
    let file = outside.file_beside_store(store, &site.key, "").ok()?;
    let is_invited = match store.url {
        None => {
            let has_directory = file.parent().is_some_and(|directory| outside.is_directory(directory));
            has_directory || left_trace(outside, &site.key)
        }
        Some(_) => was_here(outside, &site.key),
    };
    is_invited.then(|| {
        let name = store.url.map_or_else(|| file.display().to_string(), str::to_owned);
        gone(&name)
    })
}

/// A store that was there.
pub(crate) fn gone(name: &str) -> Failure {
    Failure::new(Slug::StoreUnavailable, format!("{} is not there any more", shown(name)))
        .hint("see what is wrong: clearway doctor")
}

/// What is known before the repository has its say.
struct Begun {
    start: PathBuf,
    files: Files,
    above: Result<Config, Failure>,
    engine: Option<Box<dyn Engine>>,
}

/// What becomes of a repository's file that cannot be read or asks for too much.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mistakes {
    /// Nothing is done.
    AreTold,
    /// The file counts for nothing. A hook goes on by what the user says: whoever can write that file could otherwise turn
    /// off what keeps it from writing others.
    LeaveRepositoryOut,
}

fn complete(
    outside: &mut dyn Outside,
    globals: &Globals,
    begun: Begun,
    found: Found,
    mistakes: Mistakes,
) -> Result<Ground, Failure> {
    let Begun { start, mut files, above, engine } = begun;
    let Found { own_key, site, record } = found;
    let added = files.add_repository(outside, &site);
    let whole = added
        .and_then(|()| files.repository.is_some().then(|| resolve(outside, &files, globals)).transpose());
    let whole = if mistakes == Mistakes::AreTold { whole? } else { whole.unwrap_or_default() };
    let (config, mut engine) = match (whole, above, engine) {
        (None, Ok(config), Some(engine)) => (config, engine),
        (whole, above, engine) => {
            drop(engine);
            let config = whole.map_or(above, Ok)?;
            let engine = open(outside, &config, &start)?;
            (config, engine)
        }
    };
    let fold = match &record {
        Some(record) => record.fold,
        None => fold_of(outside, &mut *engine, &site)?,
    };
    Ok(Ground { start, own_key, site: Site { fold, ..site }, record, config, engine })
}

/// Whether a scope folds case: as it began, or, should it begin now, as the file system does.
fn fold_of(outside: &mut dyn Outside, engine: &mut dyn Engine, site: &Site) -> Result<Fold, Failure> {
    let now = engine.now(&mut || outside.now());
    let read = |now: Now| match engine.snapshot(&site.key)? {
        Some(mut snapshot) => snapshot.load(&ReadSet::default(), &now).map(|slice| Some(slice.scope)),
        None => Ok(None),
    };
    match now.and_then(read) {
        Ok(Some(scope)) if scope.rev.0 > 0 => Ok(scope.fold),
        Err(error @ StoreError::Busy { .. }) => Err(store_failure(&error)),
        _ if site.kind == SiteKind::Machine => Ok(site.fold),
        _ => Ok(outside.fold_of(site)),
    }
}

/// A configuration file that is read, whether or not it is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigPlace {
    /// The layer it is.
    pub layer: Layer,
    /// Where.
    pub path: PathBuf,
    /// Whether something is there. What cannot be read is.
    pub present: bool,
}

/// The configuration files, weakest first, as far as they can be told: it is asked when one of them is broken, so it asks
/// for no session. Where there is no scope there is the user's file alone.
pub fn config_places(outside: &mut dyn Outside, globals: &Globals) -> Result<Vec<ConfigPlace>, Failure> {
    let mut places = vec![(Layer::User, outside.user_config_path()?)];
    let start = start_of(outside, globals)?;
    let config = Files::of_user(outside).and_then(|files| resolve(outside, &files, globals)).ok();
    let mut engine = config.as_ref().and_then(|config| open(outside, config, &start).ok());
    let known = Asked::new(engine.as_deref_mut(), config.as_ref(), &start);
    match find_site(outside, known, globals) {
        Ok(Found { site, .. }) => places.extend(repository_file(&site).map(|path| (Layer::Repository, path))),
        Err(failure) if failure.slug == Slug::NoScope => {}
        Err(failure) => return Err(failure),
    }
    let place = |(layer, path): (Layer, PathBuf)| {
        let present = !matches!(outside.read_text(&path), Ok(None));
        ConfigPlace { layer, path, present }
    };
    Ok(places.into_iter().map(place).collect())
}

fn repository_file(site: &Site) -> Option<PathBuf> {
    site.root.as_ref().map(|root| root.join(REPOSITORY_FILE))
}

/// The directory to act in.
fn start_of(outside: &dyn Outside, globals: &Globals) -> Result<PathBuf, Failure> {
    match (&globals.directory, outside.surroundings().cwd.clone()) {
        (Some(directory), Some(cwd)) => Ok(cwd.join(directory)),
        (Some(directory), None) if directory.is_absolute() => Ok(directory.clone()),
        (None, Some(cwd)) => Ok(cwd),
        _ => Err(Failure::new(Slug::NoScope, "the working directory no longer exists")
            .hint("go to a directory that does, or name one: clearway -C DIR …")),
    }
}

fn open(outside: &mut dyn Outside, config: &Config, start: &Path) -> Result<Box<dyn Engine>, Failure> {
    outside.open_store(StoreAt { url: config.store_url(), from: start }, config.store_timeout())
}

/// A scope that was found.
struct Found {
    own_key: ScopeKey,
    site: Site,
    record: Option<Record>,
}

fn find_site(outside: &mut dyn Outside, mut store: Asked<'_>, globals: &Globals) -> Result<Found, Failure> {
    let start = store.start;
    let found = match globals.scope.as_deref() {
        None => here(outside, &mut store, start, globals.directory.is_some()).map_err(|error| error.failure),
        Some("machine") => {
            Ok(Found { own_key: ScopeKey::machine(), site: Site::machine(start.to_owned()), record: None })
        }
        Some(key) => by_key(outside, &mut store, key),
    };
    store.trouble.map_or(found, Err)
}

/// The scope of a directory: the one it adopted, if it did. With it the key it has by itself.
fn here(
    outside: &mut dyn Outside,
    store: &mut Asked<'_>,
    directory: &Path,
    named: bool,
) -> Result<Found, NoSite> {
    let site = outside.find_site(directory, named, &mut |key| store.knows(key));
    let site = site.and_then(|site| lost::refuse(outside, store, &site).map(|()| site));
    let site = site.map_err(|unusable| still_held(store, unusable))?;
    let adopted = store.alias(&site.key);
    let own_key = site.key.clone();
    let site = Site { key: adopted.unwrap_or(site.key), ..site };
    Ok(settle(outside, store, own_key, site))
}

/// What is held in a repository that cannot be used stays held, and can be looked at.
fn still_held(store: &mut Asked<'_>, unusable: NoSite) -> NoSite {
    let NoSite { mut failure, site } = unusable;
    if let Some(Site { key, place, .. }) = site.as_deref() {
        failure = failure.details(Details::field("repository", place.clone()));
        if store.has_scope(key) {
            failure = failure.hint(format!("what is held there stays held: clearway --scope {key} leases"));
        }
    }
    NoSite { failure, site }
}

/// A scope that another directory adopted is no longer that of the path it began at: what lies there now has one of its
/// own, under a key of its own.
fn settle(outside: &mut dyn Outside, store: &Asked<'_>, own_key: ScopeKey, site: Site) -> Found {
    let mut record = store.record(outside, &site.key);
    let (mut key, mut generation) = (site.key.clone(), 1);
    while let Some(known) = &record {
        if !known.is_of_another(&site.place, outside.file_id(Path::new(&site.place))) {
            break;
        }
        generation += 1;
        key = site.key.successor(generation);
        record = store.record(outside, &key);
    }
    match generation {
        1 => Found { own_key, site, record },
        _ => Found { own_key: key.clone(), site: Site { key, ..site }, record },
    }
}

/// What of a store lies around a scope.
pub(crate) struct Around {
    /// The scope that its root was before it became a repository.
    pub(crate) former: Option<ScopeKey>,
    /// Those in directories above, the nearest first.
    pub(crate) outer: Vec<Site>,
}

/// What lies around the scope whose root this is.
pub(crate) fn around(
    outside: &mut dyn Outside,
    engine: &mut (dyn Engine + 'static),
    config: &Config,
    start: &Path,
    root: &Path,
) -> Around {
    let mut store = Asked::new(Some(engine), Some(config), start);
    let former = Some(directory_key(root)).filter(|scope| store.knows(scope));
    let found = scopes_around(outside, &mut store, root);
    let folded = |Found { site, record, .. }: Found| {
        let fold = record.map_or_else(|| fold_of(outside, engine, &site), |record| Ok(record.fold)).ok()?;
        Some(Site { fold, ..site })
    };
    Around { former, outer: found.into_iter().filter_map(folded).collect() }
}

fn scopes_around(outside: &mut dyn Outside, store: &mut Asked<'_>, root: &Path) -> Vec<Found> {
    let (mut all, mut inner) = (Vec::new(), Some(root.to_owned()));
    while let Some(above) = inner.as_deref().and_then(Path::parent)
        && let Ok(found) = here(outside, store, above, false)
    {
        let Some(root) = found.site.root.clone().filter(|root| above.starts_with(root)) else { break };
        // A repository hides from nobody what lies around it; a directory that is no scope yet has none above.
        let is_known = store.knows(&found.site.key);
        inner = Some(root).filter(|_| is_known || found.site.kind == SiteKind::Git);
        all.extend(is_known.then_some(found));
    }
    all
}

/// A scope named by its key: the one here or one around it, if it is that, otherwise one that has a store, without paths.
fn by_key(outside: &mut dyn Outside, store: &mut Asked<'_>, key: &str) -> Result<Found, Failure> {
    let wanted = ScopeKey::parse(key);
    if let Ok(found) = here(outside, store, store.start, true) {
        let is_it = |found: &Found| Some(&found.site.key) == wanted.as_ref();
        if is_it(&found) {
            return Ok(found);
        }
        let Found { site: Site { root, cwd, .. }, .. } = found;
        let around = root.map(|root| scopes_around(outside, store, &root)).unwrap_or_default();
        if let Some(outer) = around.into_iter().find(is_it) {
            return Ok(Found { site: Site { cwd, ..outer.site }, ..outer });
        }
    }
    let known = store.scopes();
    match wanted.filter(|wanted| known.contains(wanted)) {
        Some(key) => {
            let machine = Site::machine(store.start.to_owned());
            let site = Site { place: key.to_string(), key: key.clone(), ..machine };
            let record = store.record(outside, &key);
            Ok(Found { own_key: key, site, record })
        }
        None => {
            let failure = Failure::new(Slug::NotFound, format!("no scope has the key {}", quoted(key)));
            Err(known
                .iter()
                .take(SCOPES_NAMED)
                .fold(failure, |failure, key| failure.hint(format!("a known scope: {key}"))))
        }
    }
}

/// A store that is asked which scopes it has, and what is remembered of them. Without one there are none.
struct Asked<'a> {
    engine: Option<&'a mut (dyn Engine + 'static)>,
    url: Option<&'a str>,
    start: &'a Path,
    /// The scopes of a store of one file, which lists them to tell whether it has one.
    listed: Option<Vec<ScopeKey>>,
    trouble: Option<Failure>,
}

impl<'a> Asked<'a> {
    fn new(
        engine: Option<&'a mut (dyn Engine + 'static)>,
        config: Option<&'a Config>,
        start: &'a Path,
    ) -> Self {
        Self { engine, url: config.and_then(Config::store_url), start, listed: None, trouble: None }
    }

    /// What is remembered of a scope's directory.
    fn record(&self, outside: &mut dyn Outside, scope: &ScopeKey) -> Option<Record> {
        self.engine.as_ref()?;
        record_of(outside, StoreAt { url: self.url, from: self.start }, scope)
    }

    fn knows(&mut self, scope: &ScopeKey) -> bool {
        if self.url.is_some() {
            let listed = self.listed.take().unwrap_or_else(|| self.scopes());
            return self.listed.insert(listed).contains(scope);
        }
        let answer = self.engine.as_mut().map(|engine| engine.has(scope));
        self.settled(answer)
    }

    /// Whether a place with this key has a scope, its own or one that it adopted.
    fn has_scope(&mut self, key: &ScopeKey) -> bool {
        self.knows(key) || self.alias(key).is_some()
    }

    /// Whether leases of a scope are in force.
    fn is_held(&mut self, outside: &mut dyn Outside, scope: &ScopeKey) -> bool {
        let held = self.engine.as_mut().map(|engine| {
            let now = engine.now(&mut || outside.now())?;
            let Some(mut snapshot) = engine.snapshot(scope)? else { return Ok(false) };
            let (listed, agents) = (snapshot.leases(LeaseListing::Live, &now)?, snapshot.agents(&now)?);
            let same_boot = snapshot.load(&ReadSet::default(), &now)?.scope.is_of(&now.boot);
            let seen = show(&listed.leases, &agents, &Facts::default(), &now, same_boot);
            Ok(seen.iter().any(|view| view.lease.ended.is_none()))
        });
        self.settled(held)
    }

    fn alias(&mut self, key: &ScopeKey) -> Option<ScopeKey> {
        let answer = self.engine.as_mut().map(|engine| engine.alias(key));
        self.settled(answer)
    }

    fn scopes(&mut self) -> Vec<ScopeKey> {
        let answer = self.engine.as_mut().map(|engine| engine.scopes());
        self.settled(answer)
    }

    /// A moment that passes must not lead to another scope. What stays wrong with a store is said by whoever uses it.
    fn settled<T: Default>(&mut self, answer: Option<Result<T, StoreError>>) -> T {
        match answer {
            Some(Ok(answer)) => answer,
            Some(Err(error @ StoreError::Busy { .. })) => {
                self.trouble = Some(store_failure(&error));
                T::default()
            }
            _ => T::default(),
        }
    }
}

/// The texts of the configuration files.
struct Files {
    user_path: PathBuf,
    user: Option<String>,
    repository: Option<(PathBuf, String)>,
}

impl Files {
    fn of_user(outside: &mut dyn Outside) -> Result<Self, Failure> {
        let user_path = outside.user_config_path()?;
        let user = user_text(outside, &user_path)?;
        Ok(Self { user_path, user, repository: None })
    }

    fn add_repository(&mut self, outside: &mut dyn Outside, site: &Site) -> Result<(), Failure> {
        let Some(path) = repository_file(site) else { return Ok(()) };
        self.repository = config_text(outside, &path)?.map(|text| (path, text));
        Ok(())
    }
}

/// The text of a configuration file. One that cannot be read is a mistake in the configuration, not in the store.
fn config_text(outside: &mut dyn Outside, path: &Path) -> Result<Option<String>, Failure> {
    outside.read_text(path).map_err(|failure| {
        Failure::new(Slug::ConfigSyntax, failure.message)
            .hint("a configuration is a regular file of UTF-8 text that you can read")
            .hint("see which files are read: clearway config path")
    })
}

/// The user file can lower safety, so it counts only if nobody else can write it.
fn user_text(outside: &mut dyn Outside, path: &Path) -> Result<Option<String>, Failure> {
    let text = config_text(outside, path)?;
    if text.is_none() || !outside.everybody_can_write(path) {
        return Ok(text);
    }
    let path = path.display().to_string();
    let message = format!("{} can be written by everybody, so it is not yours alone to say", shown(&path));
    Err(Failure::new(Slug::ConfigUnsafe, message)
        .hint(format!("make it yours alone: chmod go-w {}", shell::word(&path))))
}

/// Resolves the configuration that the files, the environment and the flags make.
fn resolve(outside: &dyn Outside, files: &Files, globals: &Globals) -> Result<Config, Failure> {
    let variables = &outside.surroundings().variables;
    let given = [
        (KeyId::StoreUrl, "--store", &globals.store),
        (KeyId::Agent, "--agent", &globals.agent),
        (KeyId::StoreTimeout, "--timeout", &globals.timeout),
    ];
    let flags: Vec<FlagValue<'_>> = given
        .into_iter()
        .filter_map(|(key, flag, value)| value.as_deref().map(|value| FlagValue { key, flag, value }))
        .collect();
    let inputs = Inputs {
        user_path: &files.user_path,
        user: files.user.as_deref().map(|text| ConfigText { path: &files.user_path, text }),
        repository: files.repository.as_ref().map(|(path, text)| ConfigText { path, text }),
        variables,
        cwd: outside.surroundings().cwd.as_deref(),
        flags: &flags,
        inside_agent_session: globals.hook.is_some() || identity::inside_session(variables),
    };
    Config::resolve(&inputs).map_err(|errors| config_failure(&errors))
}
