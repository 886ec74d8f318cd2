//! Paths that a command tells from the root of the checkout it stands in.

use crate::hooking::welcome;
use crate::outside::Outside;
use crate::session::Globals;
use clearway_core::harm::ROOT;
use std::path::{Path, PathBuf};

/// Where a path lies. What follows `:/` lies in the root of the checkout that the directory in front of it is in, where
/// somebody invited us; elsewhere it is nobody's.
pub(crate) fn rooted(outside: &mut dyn Outside, globals: &Globals, cwd: &Path, path: &str) -> PathBuf {
    let Some((_, rest)) = path.rsplit_once(ROOT) else { return cwd.join(path) };
    let start = cwd.join(path.split(ROOT).next().unwrap_or_default());
    let ground = welcome(outside, globals, &start).ok().flatten();
    match ground.and_then(|ground| ground.site.root) {
        Some(root) if rest.trim_start_matches('/').is_empty() => root,
        Some(root) => root.join(rest.trim_start_matches('/')),
        None => cwd.join(path),
    }
}
