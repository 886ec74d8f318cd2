//! Which scope owns a directory, and where an argument lies in it.

use clearway_core::failure::{Elsewhere, Failure};
use clearway_core::hint;
use clearway_core::pattern::Fold;
use clearway_core::shell;
use clearway_core::slug::Slug;
use clearway_core::text::{quoted, shown};
use clearway_git::{DiscoverError, PathKind, ResolveError};
use clearway_kernel::config::REPOSITORY_FILE;
use clearway_kernel::{Destination, Found, Knows, Located, NoSite, Site, SiteKind, directory_key, scope_key};
use clearway_platform::environment::Environment;
use clearway_platform::files;
use std::path::{Path, PathBuf};

/// The innermost repository, or else the nearest directory that is a scope already, or else this directory.
pub(crate) fn find(
    environment: &Environment,
    start: Start<'_>,
    named: bool,
    knows: &mut Knows<'_>,
) -> Result<Site, NoSite> {
    let cwd = start.entered()?;
    match clearway_git::discover_from(&cwd) {
        Ok(Some(repository)) => Ok(git_site(&repository, cwd)),
        Ok(None) => Ok(directory_site(environment, cwd, named, knows)?),
        Err(error) => {
            let cause =
                std::error::Error::source(&error).map(|cause| format!(": {cause}")).unwrap_or_default();
            let failure = Failure::new(Slug::NoScope, format!("{}{cause}", shown(&error.to_string())))
                .hint("repair the repository, or run outside of it");
            Err(NoSite { failure, site: unusable(error, &cwd, knows).map(Box::new) })
        }
    }
}

/// The scope of the repository that would be there if it could be used, as far as its directories are known: one that is
/// known, should its git directory be, or have been, behind a link.
fn unusable(error: DiscoverError, cwd: &Path, knows: &mut Knows<'_>) -> Option<Site> {
    let dot_git = match error {
        DiscoverError::Damaged { git_dir, .. } => git_dir,
        DiscoverError::Unreadable { path, .. } => {
            path.ancestors().find(|above| above.ends_with(".git"))?.to_owned()
        }
        DiscoverError::Start { .. } | DiscoverError::BrokenGitfile { .. } => return None,
    };
    let worktree = dot_git.parent()?;
    let behind = dot_git.read_link().ok().map(|target| {
        let target = worktree.join(target);
        target.canonicalize().unwrap_or(target)
    });
    let site = |git_dir: PathBuf| {
        let (common_dir, worktree) = (git_dir.clone(), Some(worktree.to_owned()));
        git_site(&clearway_git::Repository { common_dir, git_dir, worktree }, cwd.to_owned())
    };
    let known = behind.into_iter().map(site).find(|site| knows(&site.key));
    Some(known.unwrap_or_else(|| site(dot_git.clone())))
}

/// Where a search for a scope begins.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Start<'a> {
    pub(crate) directory: &'a Path,
    /// The same without links, where that is known.
    pub(crate) canonical: Option<&'a Path>,
}

impl Start<'_> {
    /// The directory, canonical, if it can be worked in.
    fn entered(self) -> Result<PathBuf, Failure> {
        let start = self.directory;
        if let Some(canonical) = self.canonical.filter(|canonical| canonical.is_dir()) {
            return Ok(canonical.to_owned());
        }
        let cwd = start.canonicalize().map_err(|error| {
            let message = format!("{} cannot be entered: {error}", shown(&start.display().to_string()));
            Failure::new(Slug::NoScope, message).hint("name a directory that exists: clearway -C DIR …")
        })?;
        if cwd.is_dir() {
            return Ok(cwd);
        }
        let message = format!("{} is no directory", shown(&start.display().to_string()));
        Err(Failure::new(Slug::NoScope, message).hint("name the directory it lies in: clearway -C DIR …"))
    }
}

fn git_site(repository: &clearway_git::Repository, cwd: PathBuf) -> Site {
    let common = &repository.common_dir;
    let is_dot_git = common.file_name().is_some_and(|name| name == ".git");
    let named_after = if is_dot_git { common.parent().unwrap_or(common) } else { common };
    let root = repository.worktree.clone();
    Site {
        key: scope_key(named_after, common),
        place: common.display().to_string(),
        kind: SiteKind::Git,
        fold: Fold::Exact,
        root,
        cwd,
    }
}

fn directory_site(
    environment: &Environment,
    cwd: PathBuf,
    named: bool,
    knows: &mut Knows<'_>,
) -> Result<Site, Failure> {
    let root = cwd.ancestors().find(|directory| is_scope(directory, knows)).unwrap_or(&cwd).to_owned();
    let home = environment.text("HOME").and_then(|home| Path::new(home).canonicalize().ok());
    let too_wide = root == Path::new("/") || Some(&root) == home.as_ref();
    if too_wide && !named && !knows(&directory_key(&root)) {
        let message = format!("{} is no place for a scope of its own", shown(&root.display().to_string()));
        return Err(Failure::new(Slug::NoScope, message)
            .hint("go to a project's directory")
            .hint(format!("or mean it: clearway -C {} …", shell::word(&root.display().to_string()))));
    }
    Ok(Site {
        key: directory_key(&root),
        place: root.display().to_string(),
        kind: SiteKind::Directory,
        fold: Fold::Exact,
        root: Some(root),
        cwd,
    })
}

/// Whether the file system of a site folds case.
pub(crate) fn fold_of(site: &Site) -> Fold {
    let folds = match (&site.root, site.kind) {
        (Some(root), SiteKind::Git) => files::folds_case_of(root, ".git"),
        (Some(root), _) => files::folds_case(root),
        (None, _) => files::folds_case(Path::new(&site.place)),
    };
    if folds { Fold::Insensitive } else { Fold::Exact }
}

/// Where an argument lies.
pub(crate) fn resolve(site: &Site, argument: &str, knows: &mut Knows<'_>) -> Result<Located, Failure> {
    let Some(root) = &site.root else {
        return Err(Failure::new(Slug::OutsideScope, format!("{} has no paths", site.place)));
    };
    let located = clearway_git::resolve_from(root, &site.cwd, Path::new(argument));
    let located = located.map_err(|error| unresolved(site, argument, &error, knows))?;
    let repository = located.nested.or_else(|| located.is_nested_root.then(|| root.join(&located.path)));
    let directory = inner_directory(site, root, &located.path, knows);
    Ok(Located {
        found: match located.kind {
            PathKind::ExistingFile => Found::File,
            PathKind::ExistingDirectory => Found::Directory,
            PathKind::Missing => Found::Nothing,
        },
        is_nested_root: located.is_nested_root
            && directory.is_none()
            && repository == Some(root.join(&located.path)),
        nested: repository.or(directory),
        path: located.path,
    })
}

/// Where a file that is written to lies in the end, and in which directory that exists.
pub(crate) fn destination(from: &Path, file: &str) -> Result<Destination, Failure> {
    let unusable = |why: String| {
        Failure::new(Slug::InvalidPath, format!("{} cannot be used: {}", quoted(file), shown(&why)))
    };
    let file =
        clearway_git::destination(from, Path::new(file)).map_err(|error| unusable(error.to_string()))?;
    let mut above = file.ancestors().skip(1);
    let directory = above.find(|directory| directory.is_dir()).unwrap_or(Path::new("/")).to_owned();
    Ok(Destination { file, directory })
}

/// The innermost directory at or above a path that is a scope of its own inside a directory without git. Inside a
/// repository no directory is one.
fn inner_directory(site: &Site, root: &Path, path: &str, knows: &mut Knows<'_>) -> Option<PathBuf> {
    let below = |part: &&Path| !part.as_os_str().is_empty();
    let mut places = Path::new(path).ancestors().take_while(below).map(|part| root.join(part));
    places.find(|place| is_inner_directory(site, place, knows))
}

/// Whether a directory below a site's root is a scope of its own without being a repository.
pub(crate) fn is_inner_directory(site: &Site, directory: &Path, knows: &mut Knows<'_>) -> bool {
    site.kind == SiteKind::Directory && is_scope(directory, knows)
}

/// Whether a directory without git is a scope already, or says that it is to be one.
fn is_scope(directory: &Path, knows: &mut Knows<'_>) -> bool {
    directory.join(REPOSITORY_FILE).is_file() || knows(&directory_key(directory))
}

/// Whether there is a scope to act in already: in any other directory one would come into being by the hint alone.
fn is_owned(directory: &Path, knows: &mut Knows<'_>) -> bool {
    directory.ancestors().any(|above| above.join(".git").exists() || is_scope(above, knows))
}

fn unresolved(site: &Site, argument: &str, error: &ResolveError, knows: &mut Knows<'_>) -> Failure {
    let cause = std::error::Error::source(error).map(|cause| format!(": {cause}")).unwrap_or_default();
    match error {
        ResolveError::Outside { path, .. } => {
            let directory = path.ancestors().find(|above| above.is_dir()).unwrap_or(Path::new("/"));
            let inside = path.strip_prefix(directory).unwrap_or(path).display().to_string();
            let message = format!("{} is outside of {}", quoted(argument), site.worktree().0);
            if !is_owned(directory, knows) {
                return Failure::new(Slug::OutsideScope, message)
                    .hint("no repository owns it, so nothing of it can be reserved");
            }
            Elsewhere::new(argument, &directory.display().to_string(), &inside).failure(message)
        }
        other => {
            let why = shown(&other.to_string());
            Failure::new(Slug::InvalidPath, format!("{} cannot be used: {why}{cause}", quoted(argument)))
                .hint(hint::PATH_RULES)
        }
    }
}
