//! Which scope each file of a tool call belongs to, and which way it is looked after there.

use crate::ground::Ground;
use crate::hooking::{HookCall, welcome};
use crate::outside::{Destination, Outside};
use crate::session::Globals;
use crate::targets::Look;
use clearway_core::command::{Care, Used};
use clearway_core::failure::Failure;
use clearway_core::path::{CanonicalPath, PathClass};
use clearway_core::pattern::Pattern;
use clearway_core::target::Target;
use std::path::{Path, PathBuf};

/// The files of one scope.
pub(crate) struct Part {
    pub(crate) ground: Ground,
    pub(crate) targets: Vec<Target>,
    /// Those of them that many edit briefly, so that nobody keeps them.
    pub(crate) brief: Vec<Target>,
    /// Those that everybody writes, one call after the other, and nobody leases.
    pub(crate) common: Vec<Target>,
    /// Directories, which no call can write, but one that moves them takes along what is in them.
    pub(crate) directories: Vec<PathBuf>,
}

impl Part {
    /// All of them, each with how it is looked after.
    pub(crate) fn used(&self) -> Vec<Used> {
        let care = |target: &Target| if self.brief.contains(target) { Care::Brief } else { Care::Kept };
        let leased = self.targets.iter().map(|target| Used { target: target.clone(), how: care(target) });
        let common = self.common.iter().map(|target| Used { target: target.clone(), how: Care::Common });
        leased.chain(common).collect()
    }
}

/// Where the files lie. One that no path can name is nothing that could be held.
pub(crate) fn destinations(outside: &mut dyn Outside, cwd: &Path, files: &[String]) -> Vec<Destination> {
    files.iter().filter_map(|file| outside.destination(cwd, file).ok()).collect()
}

/// The files by the scopes they belong to, without those that nobody invited us to or that are never leased.
pub(crate) fn parts(
    outside: &mut dyn Outside,
    globals: &Globals,
    files: &[Destination],
) -> Result<Vec<Part>, Failure> {
    let mut parts = parts_with_directories(outside, globals, files)?;
    parts.retain(|part| !(part.targets.is_empty() && part.common.is_empty()));
    Ok(parts)
}

/// The same with directories among them.
pub(crate) fn parts_with_directories(
    outside: &mut dyn Outside,
    globals: &Globals,
    files: &[Destination],
) -> Result<Vec<Part>, Failure> {
    let (mut parts, mut left): (Vec<Part>, Vec<&Destination>) = (Vec::new(), files.iter().collect());
    while let Some(first) = left.first().copied() {
        let Some(mut ground) = welcome(outside, globals, &first.directory)? else {
            left.retain(|file| file.directory != first.directory);
            continue;
        };
        let (mut targets, mut brief, mut common) = (Vec::new(), Vec::new(), Vec::new());
        let root = ground.site.root.clone();
        let is_of_root = |file: &Path| root.as_ref().is_some_and(|root| file.starts_with(root));
        let is_moved = |file: &&&Destination| is_of_root(&file.file) && outside.is_directory(&file.file);
        let directories: Vec<PathBuf> = left.iter().filter(is_moved).map(|file| file.file.clone()).collect();
        left.retain(|file| {
            let located = path_in(outside, &mut ground, &file.file);
            if let Some((target, class)) = located.as_ref().and_then(|path| guarded(&ground, path)) {
                let kind = if class == PathClass::Common { &mut common } else { &mut targets };
                if !kind.contains(&target) {
                    brief.extend(Some(target.clone()).filter(|_| class == PathClass::Hot));
                    kind.push(target);
                }
            }
            located.is_none() && *file != first
        });
        left.retain(|file| !directories.contains(&file.file));
        if !(targets.is_empty() && common.is_empty() && directories.is_empty()) {
            parts.push(Part { ground, targets, brief, common, directories });
        }
    }
    Ok(parts)
}

/// What is said of files, by their paths in a scope, as far as they are of it.
pub(crate) fn located<'s, T>(
    outside: &mut dyn Outside,
    call: &HookCall,
    ground: &mut Ground,
    said: impl Iterator<Item = (&'s str, T)>,
) -> Vec<(CanonicalPath, T)> {
    let mut found = Vec::new();
    for (file, what) in said {
        let Ok(destination) = outside.destination(&call.cwd, file) else { continue };
        found.extend(path_in(outside, ground, &destination.file).map(|path| (path, what)));
    }
    found
}

/// The path of a file in a scope; `None` if it is not of that scope, cannot be named there, or is a directory, which no
/// call can write.
fn path_in(outside: &mut dyn Outside, ground: &mut Ground, file: &Path) -> Option<CanonicalPath> {
    let Ground { site, engine, .. } = ground;
    site.root.as_ref()?;
    if outside.is_directory(file) {
        return None;
    }
    let located = Look { outside, engine: &mut **engine }.resolve(site, file.to_str()?).ok()?;
    let is_own = located.nested.is_none() && !located.path.is_empty();
    CanonicalPath::parse(&located.path, site.fold).ok().filter(|_| is_own)
}

/// A path that is written as something to look after, and in which way. What nobody keeps is not.
fn guarded(ground: &Ground, path: &CanonicalPath) -> Option<(Target, PathClass)> {
    let classes = ground.config.classes(ground.site.fold);
    match classes.map_or(PathClass::Plain, |classes| classes.classify(path)) {
        PathClass::Ignored => None,
        class => Some((Target::Path(Pattern::literal(path)), class)),
    }
}
