//! Where a command acts: one scope, one worktree.

use clearway_core::ids::ScopeKey;
use clearway_core::pattern::Fold;
use clearway_core::target::Worktree;
use clearway_wire::chain;
use std::path::{Path, PathBuf};

/// A scope and the caller's place in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Site {
    /// Names the scope in the store.
    pub key: ScopeKey,
    /// What the scope is, for people: the repository's common directory, or the directory itself.
    pub place: String,
    /// What sort of scope it is.
    pub kind: SiteKind,
    /// The root that paths are relative to; `None` where there are no paths (a bare repository, the machine).
    pub root: Option<PathBuf>,
    /// Where the caller stands.
    pub cwd: PathBuf,
    /// Whether names that differ in case alone are one: as it was when the scope began, for good.
    pub fold: Fold,
}

/// Sorts of scopes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SiteKind {
    /// A git repository.
    Git,
    /// A directory without git.
    Directory,
    /// The machine, for resources shared between repositories.
    Machine,
}

impl Site {
    /// The worktree as leases name it; empty where there are no paths.
    pub fn worktree(&self) -> Worktree {
        Worktree(self.root.as_ref().map(|root| root.display().to_string()).unwrap_or_default())
    }

    /// The scope of machine-wide resources.
    pub fn machine(cwd: PathBuf) -> Self {
        let key = ScopeKey::machine();
        Self {
            key,
            place: "this machine".to_owned(),
            kind: SiteKind::Machine,
            root: None,
            cwd,
            fold: Fold::Exact,
        }
    }
}

/// A user's argument, placed inside a worktree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Located {
    /// Relative to the root; empty for the root itself.
    pub path: String,
    /// What is there.
    pub found: Found,
    /// The scope inside this one that owns what lies at the path, if one does: a repository, or a directory where there
    /// is no git.
    pub nested: Option<PathBuf>,
    /// Whether the path is the root of such a repository: its name is the outer one's, everything below is not.
    pub is_nested_root: bool,
}

/// What a path names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// A file, or anything that is no directory.
    File,
    /// A directory.
    Directory,
    /// Nothing yet.
    Nothing,
}

/// The key of a scope: the name of a directory and eight digits of the canonical place's digest.
pub fn scope_key(named_after: &Path, canonical_place: &Path) -> ScopeKey {
    let name = named_after.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let [a, b, c, d, ..] = chain::digest(&canonical_place.display().to_string());
    ScopeKey::of(&name, [a, b, c, d])
}

/// The key of the scope that a directory without git is, or would be.
pub fn directory_key(directory: &Path) -> ScopeKey {
    scope_key(directory, directory)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_clones_with_one_name_are_two_scopes() {
        let key = |clone: &str| scope_key(Path::new(clone), &Path::new(clone).join(".git"));
        let (a, b) = (key("/a/app"), key("/b/app"));
        assert!(a != b && a.as_str().starts_with("app-") && a.as_str().len() == 12);
    }
}
