//! The kernel's outside, answered by the real machine.

use crate::failures::{directory_of, file_failure, no_home};
use crate::shelf::{self, GitShelf};
use crate::stores::Engines;
use crate::{changes, commits, facts, hooked, inner, radar, running, sites, stashes, stores, uncommitted};
use clearway_core::agent::{Above, Client};
use clearway_core::commit::Reverts;
use clearway_core::facts::Process;
use clearway_core::failure::Failure;
use clearway_core::ids::ScopeKey;
use clearway_core::pattern::{Fold, Pattern};
use clearway_core::slug::Slug;
use clearway_core::time::Wall;
use clearway_git::{Draft, Git};
use clearway_kernel::{
    BuildFacts, Changed, ChangedPaths, CheckedOut, CommitOrder, Commits, Destination, Errand, FileId,
    GitCommit, Head, HeadMove, Knows, Located, NoSite, Order, Outside, ProcessPlace, PutAside, Running,
    Shelf, Site, SiteKind, Staged, StoreAt, Surroundings, Uncommitted, UnderWay,
};
use clearway_platform::clock::SystemClock;
use clearway_platform::environment::{self, Environment};
use clearway_platform::files;
use clearway_platform::stopwatch::Stopwatch;
use clearway_platform::{output, process};
use clearway_store::contract::Engine;
use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// This machine.
#[derive(Debug)]
pub struct Machine {
    environment: Environment,
    surroundings: Surroundings,
    engines: Engines,
    pub(crate) clock: SystemClock,
    pub(crate) since_start: Stopwatch,
    pub(crate) asking_ms: u64,
    /// Directories that are known to lead through no links: the kernel names the working directory without any, and
    /// those of destinations were walked to.
    canonical: BTreeSet<PathBuf>,
    /// Snapshots that have no number yet.
    drafts: Vec<Draft>,
    /// When what is asked of git for snapshots and predictions has to be over, if somebody waits for it.
    pub(crate) deadline: Option<Instant>,
}

impl Machine {
    /// The machine as a process finds it, with where its engines come from.
    pub fn new(environment: Environment, engines: Engines) -> Self {
        // A setting of ours that is no text stays recognisable as such, so that it is refused instead of not being
        // found.
        let text = |(name, value): (&std::ffi::OsString, &std::ffi::OsString)| {
            let name = name.to_str()?;
            let value = match value.to_str() {
                Some(value) => value.to_owned(),
                None if name.starts_with("CLEARWAY_") => value.to_string_lossy().into_owned(),
                None => return None,
            };
            Some((name.to_owned(), value))
        };
        let surroundings = Surroundings {
            variables: environment::one_by_one(environment.vars.iter().filter_map(text)),
            cwd: environment.cwd.clone(),
            stdin_is_terminal: environment.stdin_is_terminal,
            stdout_is_terminal: environment.stdout_is_terminal,
            stderr_is_terminal: environment.stderr_is_terminal,
            terminal_columns: environment.terminal_width,
        };
        let (clock, since_start) = (SystemClock::new(), Stopwatch::start());
        let canonical = environment.cwd.iter().cloned().collect();
        Self {
            environment,
            surroundings,
            engines,
            clock,
            since_start,
            asking_ms: 0,
            canonical,
            drafts: Vec::new(),
            deadline: None,
        }
    }

    pub(crate) fn environment(&self) -> &Environment {
        &self.environment
    }

    /// Git, for what somebody may wait for.
    fn hurried_git(&self) -> Result<Git, Failure> {
        let git = Git::locate(&self.environment).map_err(|error| shelf::unanswered(&error))?;
        Ok(self.deadline.into_iter().fold(git, Git::until))
    }

    pub(crate) fn state_dir(&self) -> Result<PathBuf, Failure> {
        environment::state_dir(&self.environment).map_err(|error| no_home(&error))
    }
}

impl Outside for Machine {
    fn surroundings(&self) -> &Surroundings {
        &self.surroundings
    }

    fn find_site(&mut self, start: &Path, named: bool, knows: &mut Knows<'_>) -> Result<Site, NoSite> {
        let canonical = self.canonical.get(start).map(PathBuf::as_path);
        let start = sites::Start { directory: start, canonical };
        sites::find(&self.environment, start, named, knows)
    }

    fn resolve(&mut self, site: &Site, argument: &str, knows: &mut Knows<'_>) -> Result<Located, Failure> {
        sites::resolve(site, argument, knows)
    }

    fn destination(&mut self, from: &Path, file: &str) -> Result<Destination, Failure> {
        let destination = sites::destination(from, file)?;
        self.canonical.insert(destination.directory.clone());
        Ok(destination)
    }

    fn reached_scope(&mut self, site: &Site, pattern: &Pattern, knows: &mut Knows<'_>) -> Option<PathBuf> {
        inner::reached(site, pattern, knows)
    }

    fn fold_of(&self, site: &Site) -> Fold {
        sites::fold_of(site)
    }

    fn tracked_count(&mut self, site: &Site) -> Option<u64> {
        let repository = clearway_git::discover(site.root.as_deref()?).ok().flatten()?;
        clearway_git::index_entry_count(&repository.git_dir).map(u64::from)
    }

    fn tracked_files(&mut self, site: &Site) -> Result<Vec<String>, Failure> {
        let Some(root) = &site.root else { return Ok(Vec::new()) };
        let files = Git::locate(&self.environment).and_then(|git| git.tracked_files(root));
        files.map_err(|error| {
            Failure::new(
                Slug::ClaimTooBroad,
                format!("cannot count the files this claim would cover: {error}"),
            )
            .hint("claim it all the same with --broad, or name files and directories with few files")
        })
    }

    fn is_heard(&self) -> bool {
        output::is_heard()
    }

    fn own_process(&mut self) -> Option<Process> {
        process::current().ok().map(|process| facts::process(&process))
    }

    fn ancestors(&mut self) -> Vec<Process> {
        process::ancestors().map(|process| facts::process(&process)).collect()
    }

    fn commands_above(&mut self, at_most: usize, more: &dyn Fn(&[Above]) -> bool) -> Vec<Above> {
        let mut above = Vec::new();
        for (process, command) in process::commands_above().take(at_most) {
            above.push(Above { process: facts::process(&process), command });
            if !more(&above) {
                break;
            }
        }
        above
    }

    fn git_words(&mut self) -> Option<Vec<String>> {
        process::words_above("git")
    }

    fn started_with(&mut self, variables: &BTreeMap<&'static str, String>) -> Vec<Vec<&'static str>> {
        let environments =
            process::ancestors().map_while(|process| process::initial_environment(process.pid));
        let shared = |environment: Vec<std::ffi::OsString>| {
            let same = |(name, value): (&&'static str, &String)| {
                environment.iter().any(|entry| *entry == *format!("{name}={value}")).then_some(*name)
            };
            variables.iter().filter_map(same).collect()
        };
        environments.map(shared).collect()
    }

    fn set_above(&mut self, variables: &[&'static str]) -> Vec<&'static str> {
        let above: Vec<std::ffi::OsString> = process::ancestors()
            .filter_map(|process| process::initial_environment(process.pid))
            .flatten()
            .collect();
        let is_set = |name: &&'static str| above.iter().any(|entry| sets(entry, name));
        variables.iter().copied().filter(is_set).collect()
    }

    fn place_of(&mut self, process: &Process) -> Option<ProcessPlace> {
        let place = process::place_of(&facts::identity(process))?;
        Some(ProcessPlace {
            terminal: place.terminal,
            tmux_pane: place.tmux_pane,
            directory: place.directory,
        })
    }

    fn branch_of(&mut self, directory: &Path) -> Option<String> {
        let repository = clearway_git::discover(directory).ok().flatten()?;
        clearway_git::head_name(&repository.git_dir)
    }

    fn is_below_client(&mut self) -> bool {
        let is_client =
            |above: process::Running| Client::running_as(&above.command, above.script.as_deref()).is_some();
        process::running_above().any(is_client)
    }

    fn clients_in(&mut self, root: &Path) -> Vec<(Process, Client)> {
        let running = process::running_in(root).into_iter();
        let client = |running: process::Running| {
            let client = Client::running_as(&running.command, running.script.as_deref())?;
            Some((facts::process(&running.process), client))
        };
        running.filter_map(client).collect()
    }

    fn changed_files(&mut self, root: &Path) -> Vec<String> {
        let changed = Git::locate(&self.environment).and_then(|git| git.dirty_paths(root, &[""]));
        changed.map(|paths| paths.into_iter().collect()).unwrap_or_default()
    }

    fn commits_since(&mut self, site: &Site, since: Wall) -> Option<Vec<(String, u64)>> {
        let root = site.root.as_deref().filter(|_| site.kind == SiteKind::Git)?;
        let git = Git::locate(&self.environment).ok()?;
        git.commits_since(root, since.0.div_euclid(1_000)).ok()
    }

    fn uncommitted(&mut self, site: &Site, paths: &[&str]) -> Result<Vec<Uncommitted>, Failure> {
        uncommitted::of(&self.environment, site, paths)
    }

    fn committed_since(
        &mut self,
        site: &Site,
        paths: &[&str],
        since: Wall,
        counting: Commits,
    ) -> Result<BTreeMap<String, Wall>, Failure> {
        uncommitted::last_commits(&self.environment, site, paths, since, counting)
    }

    fn changed_paths(&mut self, site: &Site) -> Result<ChangedPaths, Failure> {
        commits::changed(&self.environment, site)
    }

    fn commit(&mut self, site: &Site, order: &CommitOrder) -> Result<GitCommit, Failure> {
        commits::make(&self.environment, site, order)
    }

    fn under_way(&mut self) -> UnderWay {
        hooked::under_way(&self.environment)
    }

    fn staged(&mut self, under_way: &UnderWay) -> Result<Staged, Failure> {
        hooked::staged(&self.environment, under_way)
    }

    fn staged_lines(&mut self, paths: &[&str]) -> Result<Vec<Uncommitted>, Failure> {
        hooked::lines(&self.environment, paths)
    }

    fn checkouts(&mut self, root: &Path) -> Result<Vec<CheckedOut>, Failure> {
        radar::checkouts(&self.hurried_git()?, root)
    }

    fn commit_of(&mut self, root: &Path, name: &str) -> Result<Option<String>, Failure> {
        radar::commit_of(&self.hurried_git()?, root, name)
    }

    fn merge_conflicts(&mut self, root: &Path, one: &str, other: &str) -> Result<Vec<String>, Failure> {
        radar::merge_conflicts(&self.hurried_git()?, root, one, other)
    }

    fn hooked_head(&mut self) -> Option<Head> {
        hooked::head(&self.environment)
    }

    fn new_paths(&mut self, from: &str, to: &str) -> Result<Vec<String>, Failure> {
        hooked::new_paths(&self.environment, from, to)
    }

    fn head_moves(&mut self, root: &Path, after: u64) -> Option<(u64, Vec<HeadMove>)> {
        hooked::head_moves(root, after)
    }

    fn paths_between(&mut self, root: &Path, from: &str, to: &str) -> Result<Vec<String>, Failure> {
        hooked::paths_between(&self.environment, root, from, to)
    }

    fn leads_to(&mut self, root: &Path, commit: &str, head: &str) -> bool {
        hooked::leads_to(&self.environment, root, commit, head)
    }

    fn is_reverse(&mut self, reverts: &Reverts) -> bool {
        hooked::is_reverse(&self.environment, reverts)
    }

    fn committed_paths(&mut self) -> Result<Vec<String>, Failure> {
        hooked::committed(&self.environment)
    }

    fn put_aside(&mut self, site: &Site) -> Result<PutAside, Failure> {
        stashes::put_aside(&self.environment, site)
    }

    fn hooks_put_aside(&mut self, site: &Site) -> bool {
        stashes::hooks_put_aside(&self.environment, site)
    }

    fn own_refs(&self) -> &'static str {
        clearway_git::OWN_REFS
    }

    fn hurry(&mut self, within_ms: u64) {
        let deadline = Stopwatch::start().at_ms(within_ms);
        self.deadline = Some(self.deadline.map_or(deadline, |earlier| earlier.min(deadline)));
    }

    fn repositories_in(&mut self, directory: &Path) -> Vec<PathBuf> {
        changes::repositories_in(directory)
    }

    fn untracked_repositories_in(&mut self, root: &Path, place: &Path, with_ignored: bool) -> Vec<PathBuf> {
        changes::untracked_repositories_in(&self.environment, root, place, with_ignored)
    }

    fn is_changed_since(&mut self, root: &Path, paths: &[String], since: Wall) -> bool {
        changes::any_below(&self.environment, root, paths, since)
    }

    fn shelf(&mut self, root: &Path) -> Result<Box<dyn Shelf + '_>, Failure> {
        let git = self.hurried_git()?;
        Ok(Box::new(GitShelf { git, root: root.to_owned(), drafts: &mut self.drafts }))
    }

    fn terminal_session(&mut self) -> Option<Process> {
        process::terminal_leader().map(|process| facts::process(&process))
    }

    fn look_for(&mut self, order: &Order) -> Result<(), Failure> {
        running::look_for(&self.environment, order)
    }

    fn start(&mut self, order: &Order) -> Result<Box<dyn Running>, Failure> {
        running::start(order)
    }

    fn run_aside(&mut self, errand: &Errand) -> Result<(), Failure> {
        running::run_aside(errand)
    }

    fn open_store(&mut self, store: StoreAt<'_>, timeout: Duration) -> Result<Box<dyn Engine>, Failure> {
        let runtime = environment::runtime_dir(&self.environment).map_err(|error| no_home(&error))?;
        let settings = stores::settings(&self.state_dir()?, runtime, store, timeout)?;
        Ok((self.engines)(settings))
    }

    fn file_beside_store(
        &mut self,
        store: StoreAt<'_>,
        scope: &ScopeKey,
        suffix: &str,
    ) -> Result<PathBuf, Failure> {
        let place = stores::place(&self.state_dir()?, store)?;
        Ok(place.beside(scope, suffix))
    }

    fn leftovers(&mut self, beside: &Path) -> Vec<PathBuf> {
        beside.parent().map(files::leftovers).unwrap_or_default()
    }

    fn remove_leftover(&mut self, path: &Path) -> Result<bool, Failure> {
        files::remove_leftover(path).map_err(|error| file_failure(&error))
    }

    fn read_text(&mut self, path: &Path) -> Result<Option<String>, Failure> {
        files::read_text(path).map_err(|error| file_failure(&error))
    }

    fn everybody_can_write(&self, path: &Path) -> bool {
        files::everybody_can_write(path)
    }

    fn others_can_use(&self, path: &Path) -> bool {
        files::others_can_use(path)
    }

    fn is_directory(&self, path: &Path) -> bool {
        path.is_dir()
    }

    fn file_id(&self, path: &Path) -> Option<FileId> {
        let metadata = path.metadata().ok()?;
        let born = metadata.created().ok().and_then(|at| at.duration_since(std::time::UNIX_EPOCH).ok());
        let born = born.and_then(|since| u64::try_from(since.as_nanos()).ok()).unwrap_or(0);
        Some(FileId { device: metadata.dev(), inode: metadata.ino(), born })
    }

    fn write_private(&mut self, path: &Path, text: &str) -> Result<(), Failure> {
        let written = directory_of(path).and_then(|()| files::write_atomic(path, text.as_bytes()));
        written.map_err(|error| file_failure(&error))
    }

    fn append_private(&mut self, path: &Path, line: &str, timeout: Duration) -> Result<(), Failure> {
        // A link is followed: replacing it would leave what it leads to without the line.
        let path = &path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let written = directory_of(path).and_then(|()| files::append_line(path, line, timeout));
        written.map_err(|error| file_failure(&error))
    }

    fn jot(&mut self, path: &Path, line: &str, bytes_max: u64) -> Result<(), Failure> {
        files::jot(path, line, bytes_max).map_err(|error| file_failure(&error))
    }

    fn create_private(&mut self, path: &Path, text: &str) -> Result<bool, Failure> {
        let made = directory_of(path).and_then(|()| files::create_atomic(path, text.as_bytes()));
        made.map_err(|error| file_failure(&error))
    }

    fn passing_file(&self, name: &str) -> Result<PathBuf, Failure> {
        let directory = environment::runtime_dir(&self.environment).map_err(|error| no_home(&error))?;
        Ok(directory.join(name))
    }

    fn passing_files(&self, front: &str) -> Vec<PathBuf> {
        let Ok(directory) = environment::runtime_dir(&self.environment) else { return Vec::new() };
        let names = files::names_in(&directory);
        names.iter().filter(|name| name.starts_with(front)).map(|name| directory.join(name)).collect()
    }

    fn changed_at(&self, path: &Path) -> Option<i64> {
        files::changed_at(path)
    }

    fn changed_since(&self, root: &Path, paths: &[&str], since_ns: i64, within: Duration) -> Vec<Changed> {
        changes::since(root, paths, since_ns, within)
    }

    fn remove_file(&mut self, path: &Path) -> Result<(), Failure> {
        files::remove_if_present(path).map_err(|error| file_failure(&error))
    }

    fn user_config_path(&self) -> Result<PathBuf, Failure> {
        environment::config_file(&self.environment).map_err(|error| no_home(&error))
    }

    fn operator_key_path(&self) -> Result<PathBuf, Failure> {
        Ok(self.state_dir()?.join("operator.key"))
    }

    fn build(&self) -> BuildFacts {
        BuildFacts {
            version: env!("CARGO_PKG_VERSION"),
            target: env!("CLEARWAY_TARGET"),
            is_static: cfg!(target_feature = "crt-static"),
        }
    }
}

/// Whether an entry of an environment gives a variable a value that is not empty.
fn sets(entry: &std::ffi::OsStr, name: &str) -> bool {
    let value = entry.as_encoded_bytes().strip_prefix(name.as_bytes());
    value.and_then(|rest| rest.strip_prefix(b"=")).is_some_and(|value| !value.is_empty())
}
