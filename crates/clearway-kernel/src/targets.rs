//! From what a user typed to what the kernel reserves.

use crate::config::Config;
use crate::outside::Outside;
use crate::site::{Found, Located, Site, SiteKind};
use clearway_core::command::LeaseRef;
use clearway_core::decide::Notice;
use clearway_core::failure::{Details, Elsewhere, Failure};
use clearway_core::ids::{Fence, LeaseId, ScopeKey};
use clearway_core::path::{CanonicalPath, PathError};
use clearway_core::pattern::{PATTERN_BYTES_MAX, Pattern, PatternError, PatternErrorKind};
use clearway_core::shell;
use clearway_core::slug::Slug;
use clearway_core::target::{ResourceName, Target};
use clearway_core::text::{printable, quoted};
use clearway_store::contract::Engine;
use std::path::{Path, PathBuf};

/// A look at the files of a site, and at the store, which says where the scopes inside it begin.
pub(crate) struct Look<'a> {
    pub(crate) outside: &'a mut dyn Outside,
    pub(crate) engine: &'a mut dyn Engine,
}

impl Look<'_> {
    /// A store that cannot be asked now is asked again by the command, which then fails.
    pub(crate) fn resolve(&mut self, site: &Site, argument: &str) -> Result<Located, Failure> {
        self.outside.resolve(site, argument, &mut |key| self.engine.has(key).unwrap_or(false))
    }

    fn reached_scope(&mut self, site: &Site, pattern: &Pattern) -> Option<PathBuf> {
        self.outside.reached_scope(site, pattern, &mut |key| self.engine.has(key).unwrap_or(false))
    }
}

/// What a word names.
#[derive(Debug)]
pub(crate) struct Placed {
    pub(crate) target: Target,
    /// The scope inside this one that the path is the root of.
    inner: Option<PathBuf>,
    /// What it lies in, if that is a scope inside this one: nothing of it is to be had here.
    pub(crate) beyond: Option<Box<Beyond>>,
}

/// A scope inside this one that a word reaches into.
#[derive(Debug)]
pub(crate) struct Beyond {
    pub(crate) root: PathBuf,
    /// What to say to whoever wants something there.
    pub(crate) failure: Failure,
}

impl From<Target> for Placed {
    fn from(target: Target) -> Self {
        Self { target, inner: None, beyond: None }
    }
}

impl Placed {
    /// Puts together what a word names and whose that is, which is said before anything that may be wrong with it.
    fn of(target: Result<Target, Failure>, beyond: Option<Beyond>) -> Result<Self, Failure> {
        match (target, beyond) {
            (Ok(target), beyond) => Ok(Self { beyond: beyond.map(Box::new), ..Self::from(target) }),
            (Err(_), Some(beyond)) => Err(beyond.failure),
            (Err(failure), None) => Err(failure),
        }
    }
}

/// Characters that make an argument a pattern rather than a path.
const PATTERN_CHARACTERS: [char; 5] = ['*', '?', '[', '{', '\\'];

/// What a path argument means: an existing file is that file, an existing directory its subtree, anything else a
/// pattern, in which directories that exist mean themselves. Patterns are relative to where the caller stands, like paths.
pub(crate) fn path_target(look: &mut Look<'_>, site: &Site, argument: &str) -> Result<Placed, Failure> {
    if site.root.is_none() {
        return Err(no_paths(site));
    }
    let special = argument.find(PATTERN_CHARACTERS);
    if let Some(special) = special.filter(|special| goes_up(&argument[*special..])) {
        return pattern(look, site, argument, before(argument, special));
    }
    let located = look.resolve(site, argument);
    let Some(special) = special else {
        let located = located?;
        return match located.found {
            Found::Nothing => named(site, argument, &located),
            _ => existing(site, argument, &located),
        };
    };
    let split = literal_end(look, site, argument, special);
    match located {
        Ok(located) if located.found != Found::Nothing => existing(site, argument, &located),
        // A new file in a directory called `[id]` is a path like any other.
        Ok(located) if !argument[split..].contains(PATTERN_CHARACTERS) => named(site, argument, &located),
        _ => pattern(look, site, argument, split),
    }
}

/// Where the part of an argument begins that holds a wildcard.
fn before(argument: &str, special: usize) -> usize {
    argument[..special].rfind('/').map_or(0, |slash| slash + 1)
}

/// Where the part of an argument begins that is no directory which exists by that very name.
fn literal_end(look: &mut Look<'_>, site: &Site, argument: &str, special: usize) -> usize {
    let slashes = argument.match_indices('/').map(|(at, _)| at).filter(|at| *at > special);
    let mut ends: Vec<usize> = slashes.collect();
    ends.reverse();
    let mut is_directory = |end: &usize| {
        look.resolve(site, &argument[..*end]).is_ok_and(|found| found.found == Found::Directory)
    };
    ends.into_iter().find(|end| is_directory(end)).map_or_else(|| before(argument, special), |end| end + 1)
}

/// Why a site has no paths: it is none that could have them, or it was named by its key alone.
fn no_paths(site: &Site) -> Failure {
    if site.kind == SiteKind::Machine && site.key != ScopeKey::machine() {
        let message = format!(
            "paths of {} cannot be named through --scope, which says nothing of where they are",
            site.key
        );
        return Failure::new(Slug::OutsideScope, message)
            .hint("go to where they are, or add -C DIR")
            .hint("names can be: --kind name");
    }
    let message = format!("{} has no working tree, so no paths can be named here", site.place);
    Failure::new(Slug::OutsideScope, message).hint("use --kind name, or run it inside a checkout")
}

/// Whether a text behind a wildcard leads up, which no pattern can: what a wildcard stands for has no one parent.
fn goes_up(text: &str) -> bool {
    text.split('/').any(|segment| segment == "..")
}

/// Whether what was written can only mean a directory.
fn means_directory(argument: &str) -> bool {
    argument.ends_with('/') || argument.ends_with("/.") || argument == "."
}

/// The name of a repository inside this one belongs to this one, so it is taken as a file would be. What lies in it
/// does not.
fn existing(site: &Site, argument: &str, located: &Located) -> Result<Placed, Failure> {
    let is_name = located.is_nested_root && !means_directory(argument);
    let is_directory = located.found == Found::Directory && !is_name;
    let beyond = if is_name { None } else { beyond(site, argument, located) };
    let inner = located.nested.clone().filter(|_| is_name);
    Ok(Placed { inner, ..Placed::of(path(site, argument, located, is_directory), beyond)? })
}

fn named(site: &Site, argument: &str, located: &Located) -> Result<Placed, Failure> {
    let is_directory = means_directory(argument) || located.path.is_empty();
    Placed::of(path(site, argument, located, is_directory), beyond(site, argument, located))
}

/// A path, or as a directory everything below it too.
fn path(site: &Site, argument: &str, located: &Located, is_directory: bool) -> Result<Target, Failure> {
    let path = canonical(site, argument, &located.path)?;
    Ok(Target::Path(if is_directory { subtree(argument, &path)? } else { Pattern::literal(&path) }))
}

/// A directory stands for a pattern, which has to be one that can be written: whoever is shown it may name it again.
fn subtree(argument: &str, path: &CanonicalPath) -> Result<Pattern, Failure> {
    let pattern = Pattern::subtree(path);
    let bytes = pattern.canonical().len();
    if bytes <= PATTERN_BYTES_MAX {
        return Ok(pattern);
    }
    let kind = PatternErrorKind::TooManyBytes { bytes, bytes_max: PATTERN_BYTES_MAX };
    Err(invalid_pattern(argument, &PatternError { position: 0, kind }))
}

/// The directory in front of the first wildcard is a path like any other; what follows, from `split` on, is the pattern.
fn pattern(look: &mut Look<'_>, site: &Site, argument: &str, split: usize) -> Result<Placed, Failure> {
    let (directory, rest) = argument.split_at(split);
    let directory = if directory.is_empty() { "." } else { directory };
    let located = look.resolve(site, directory).map_err(|failure| as_pattern(failure, argument, rest))?;
    let beyond = beyond(site, argument, &located)
        .map(|Beyond { root, failure }| Beyond { root, failure: as_pattern(failure, argument, rest) });
    Placed::of(below(site, argument, &located, rest), beyond)
}

fn below(site: &Site, argument: &str, located: &Located, rest: &str) -> Result<Target, Failure> {
    let base = canonical(site, argument, &located.path)?;
    let text = match base.is_root() {
        true => rest.to_owned(),
        false => format!("{}/{rest}", Pattern::literal(&base).canonical()),
    };
    Pattern::parse_written(&text, site.fold)
        .map(Target::Path)
        .map_err(|error| invalid_pattern(argument, &error))
}

/// The path as it is compared. A located path is empty for the root, which no written path can be.
fn canonical(site: &Site, argument: &str, path: &str) -> Result<CanonicalPath, Failure> {
    if path.is_empty() && !argument.is_empty() {
        return Ok(CanonicalPath::root());
    }
    CanonicalPath::parse(path, site.fold).map_err(|error| invalid_path(argument, &error))
}

/// A path or pattern never reaches into a scope inside this one.
fn beyond(site: &Site, argument: &str, located: &Located) -> Option<Beyond> {
    let root = located.nested.clone()?;
    let path = site.root.as_ref().map(|root| root.join(&located.path)).unwrap_or_default();
    let inside = path.strip_prefix(&root).unwrap_or(Path::new("")).display().to_string();
    let nested = root.display().to_string();
    let message = format!("{} belongs to the scope at {}", printable(argument), printable(&nested));
    Some(Beyond { root, failure: Elsewhere::new(argument, &nested, &inside).failure(message) })
}

/// The failure of a pattern whose directory belongs elsewhere.
fn as_pattern(failure: Failure, argument: &str, pattern: &str) -> Failure {
    match failure.details {
        Details::Elsewhere(there) => {
            let there = there.with_pattern(argument, pattern);
            Failure { details: Details::Elsewhere(Box::new(there)), ..failure }
        }
        details => Failure { details, ..failure },
    }
}

fn invalid_pattern(argument: &str, error: &PatternError) -> Failure {
    let failure = Failure::new(Slug::InvalidPattern, format!("{} is no pattern: {error}", quoted(argument)));
    let failure = match (error.kind.is_too_much(), error.kind.is_of_meant_character()) {
        (true, _) => failure.hint("name less of it, or several patterns"),
        (_, true) => {
            failure.hint("put a backslash before a character that is meant as it is: app/\\[id\\]/page.tsx")
        }
        _ => failure,
    };
    failure.hint("the language of patterns: clearway explain invalid-pattern")
}

fn invalid_path(argument: &str, error: &PathError) -> Failure {
    Failure::new(Slug::InvalidPath, format!("{} cannot be reserved: {error}", quoted(argument)))
        .hint("the rules for paths: clearway explain invalid-path")
}

/// What to say where a target seems to reach into a scope inside this one. A path is that of such a scope or it is not;
/// only for a pattern is there anything to look for.
pub(crate) fn end_at_scope(look: &mut Look<'_>, site: &Site, placed: &Placed) -> Option<Notice> {
    let Target::Path(pattern) = &placed.target else { return None };
    let inner = match pattern.as_literal() {
        Some(_) => placed.inner.clone()?,
        None => look.reached_scope(site, pattern)?,
    };
    Some(ends_at(pattern, &inner))
}

/// What to say where a target names something of what is held here in a scope inside this one.
pub(crate) fn end_at_inner(placed: &Placed) -> Option<Notice> {
    match (&placed.target, &placed.beyond) {
        (Target::Path(pattern), Some(beyond)) => Some(ends_at(pattern, &beyond.root)),
        _ => None,
    }
}

fn ends_at(pattern: &Pattern, inner: &Path) -> Notice {
    Notice::EndsAtScope { target: pattern.display(), inner: inner.display().to_string() }
}

/// A named resource, taken literally, unless it alone stands before the numbers of the one configured resource that is
/// meant by it: `port` for `port:3000-3009`.
pub(crate) fn resource_name(config: &Config, argument: &str) -> Result<ResourceName, Failure> {
    refuse_unit(config, argument)?;
    let name = full_name(config, argument)?;
    ResourceName::parse(name).map_err(|error| {
        Failure::new(Slug::InvalidName, format!("{} cannot name a resource: {error}", quoted(argument)))
            .hint("names are plain text such as build, db:migrate or port:3000")
    })
}

/// Refuses to take what agents' commands of git take turns by: whoever had it would keep all of them from git, and a turn
/// is taken without being asked for.
pub(crate) fn refuse_of_git(target: &Target) -> Result<(), Failure> {
    let Target::Name(name) = target else { return Ok(()) };
    if !name.is_of_git() {
        return Ok(());
    }
    let message = format!("{name} is what agents' commands of git take turns by, for each command by itself");
    Err(Failure::new(Slug::InvalidName, message).hint("choose another name, such as git")
        .hint("to keep agents from changing anything for a while, a person may: clearway freeze --for 10m --reason TEXT"))
}

/// Refuses the name of a resource, given without saying that it is one, that is plainly a path of this checkout: whoever
/// names it means the file, and nobody who edits that would be kept away. A bare word such as `build` or `deploy` may
/// well be both.
pub(crate) fn refuse_path(
    look: &mut Look<'_>,
    site: &Site,
    config: &Config,
    name: &str,
) -> Result<(), Failure> {
    if site.root.is_none() || config.is_resource(name) || !is_path(look, site, name) {
        return Ok(());
    }
    let is_here = look.resolve(site, name).is_ok_and(|located| !located.path.is_empty());
    let reserve = is_here.then(|| format!("reserve it instead: clearway reserve {}", shell::word(name)));
    let message = format!("{} is a path, and a command runs under names", quoted(name));
    let failure = Failure::new(Slug::InvalidName, message);
    Err(reserve.into_iter().fold(failure, Failure::hint).hint(
        "to run one command at a time, choose a name such as build; one like a path has to be listed in [resources]",
    ))
}

fn is_path(look: &mut Look<'_>, site: &Site, name: &str) -> bool {
    let is_written_so =
        means_directory(name) || ["/", "./", "../"].iter().any(|begin| name.starts_with(begin));
    let mut found = |text: &str| look.resolve(site, text).map_or(Found::Nothing, |located| located.found);
    match name.rsplit_once('/') {
        _ if is_written_so => true,
        Some((directory, _)) => found(name) != Found::Nothing || found(directory) == Found::Directory,
        None => name.contains('.') && found(name) == Found::File,
    }
}

/// A unit of a range is given out with the range, so its own name would be a second way to the same thing.
fn refuse_unit(config: &Config, name: &str) -> Result<(), Failure> {
    let Some((range, prefix)) = config.range_around(name) else { return Ok(()) };
    let message = format!("{name} is one of {range}, which gives out its numbers by itself");
    Err(Failure::new(Slug::InvalidName, message).hint(format!("name the whole: {prefix}")))
}

fn full_name<'a>(config: &'a Config, name: &'a str) -> Result<&'a str, Failure> {
    let ranges: Vec<&str> = config.ranges_of(name).collect();
    match ranges.as_slice() {
        [only] => Ok(only),
        [] => Ok(name),
        several => {
            let message = format!("{} could be one of {}", quoted(name), several.join(", "));
            Err(Failure::new(Slug::Usage, message).hint("name one of them in full"))
        }
    }
}

/// Whether a word has the shape of an id, with or without something behind an `@`.
pub(crate) fn looks_like_lease(argument: &str) -> bool {
    let id = argument.split_once('@').map_or(argument, |(id, _)| id);
    LeaseId::parse(id).is_some()
}

/// A lease by id, with or without a fence. Only what has the shape of one; `None` for anything else.
pub(crate) fn lease_ref(argument: &str) -> Result<Option<LeaseRef>, Failure> {
    let (id, fence) = match argument.split_once('@') {
        Some((id, fence)) => (id, Some(fence)),
        None => (argument, None),
    };
    let Some(id) = LeaseId::parse(id) else { return Ok(None) };
    let fence = fence.map(|text| text.parse().map(Fence::from_integer)).transpose().map_err(|_| {
        Failure::new(Slug::InvalidId, format!("{} is no ID@FENCE: the fence is a number", quoted(argument)))
            .hint("copy both from: clearway leases --json")
    })?;
    Ok(Some(LeaseRef { id, fence }))
}
