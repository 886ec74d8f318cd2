//! Repositories that were there. Without its `.git` a checkout is a directory like any other, with a scope of its own or
//! that of a repository around it, and whoever holds something in the scope it had would be overlooked.

use super::Asked;
use crate::outside::{NoSite, Outside};
use crate::site::{Site, SiteKind, scope_key};
use clearway_core::failure::Failure;
use clearway_core::ids::ScopeKey;
use clearway_core::pattern::Fold;
use clearway_core::slug::Slug;
use clearway_core::text::shown;
use std::path::Path;

/// Refuses a site if a directory on the way to it was a repository that is still meant: something is left in the place of
/// its git directory, or something is held in it. One that was taken away for good has nobody in it soon.
pub(super) fn refuse(outside: &mut dyn Outside, store: &mut Asked<'_>, site: &Site) -> Result<(), NoSite> {
    let end = match (&site.root, site.kind) {
        (Some(root), SiteKind::Git) => Some(root.as_path()),
        (Some(_), SiteKind::Directory) => None,
        _ => return Ok(()),
    };
    for directory in site.cwd.ancestors().take_while(|above| Some(*above) != end) {
        let git_dir = directory.join(".git");
        let key = scope_key(directory, &git_dir);
        if !store.knows(&key) || is_of_another(outside, store, &key, &git_dir) {
            continue;
        }
        let why = match outside.is_directory(&git_dir) {
            true => "was a git directory, and nothing of one is in it any more",
            false if store.is_held(outside, &key) => {
                "was a git directory and is gone, and leases are held there"
            }
            false => continue,
        };
        return Err(no_site(site, directory, &git_dir, key, why));
    }
    Ok(())
}

/// Whether the scope of a place went elsewhere with its repository.
fn is_of_another(outside: &mut dyn Outside, store: &Asked<'_>, key: &ScopeKey, git_dir: &Path) -> bool {
    let place = git_dir.display().to_string();
    store.record(outside, key).is_some_and(|record| record.is_of_another(&place, outside.file_id(git_dir)))
}

fn no_site(site: &Site, directory: &Path, git_dir: &Path, key: ScopeKey, why: &str) -> NoSite {
    let place = git_dir.display().to_string();
    let failure = Failure::new(Slug::NoScope, format!("{} {why}", shown(&place)))
        .hint("repair the repository, or run outside of it");
    let root = Some(directory.to_owned());
    let site = Site { key, place, kind: SiteKind::Git, root, cwd: site.cwd.clone(), fold: Fold::Exact };
    NoSite { failure, site: Some(Box::new(site)) }
}
