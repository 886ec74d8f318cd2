//! What the kernel asks of this machine.

use super::Stage;
use super::lent::Lent;
use clearway_core::agent::{Above, Client};
use clearway_core::commit::Reverts;
use clearway_core::facts::Process;
use clearway_core::failure::Failure;
use clearway_core::ids::ScopeKey;
use clearway_core::pattern::{Fold, Pattern};
use clearway_core::slug::Slug;
use clearway_core::time::Wall;
use clearway_kernel::{
    BuildFacts, Changed, Commits, Destination, Errand, FileId, Found, Knows, Located, NoSite, Order, Outside,
    ProcessPlace, Running, Site, SiteKind, StoreAt, Surroundings,
};
use clearway_store::contract::Engine;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

impl Outside for Stage {
    fn surroundings(&self) -> &Surroundings {
        &self.surroundings
    }

    fn find_site(&mut self, start: &Path, _named: bool, _: &mut Knows<'_>) -> Result<Site, NoSite> {
        Ok(Site {
            key: clearway_kernel::directory_key(Path::new("/app")),
            place: "/app".to_owned(),
            kind: SiteKind::Directory,
            root: Some(PathBuf::from("/app")),
            cwd: start.to_owned(),
            fold: Fold::Exact,
        })
    }

    fn resolve(&mut self, _site: &Site, argument: &str, _: &mut Knows<'_>) -> Result<Located, Failure> {
        Ok(Located {
            path: argument.trim_end_matches('/').to_owned(),
            found: Found::Nothing,
            nested: None,
            is_nested_root: false,
        })
    }

    fn destination(&mut self, from: &Path, file: &str) -> Result<Destination, Failure> {
        Ok(Destination { file: from.join(file), directory: PathBuf::from("/app") })
    }

    fn reached_scope(&mut self, _: &Site, _: &Pattern, _: &mut Knows<'_>) -> Option<PathBuf> {
        None
    }

    fn fold_of(&self, _: &Site) -> Fold {
        Fold::Exact
    }

    fn tracked_count(&mut self, _site: &Site) -> Option<u64> {
        None
    }

    fn tracked_files(&mut self, _site: &Site) -> Result<Vec<String>, Failure> {
        Ok(Vec::new())
    }

    fn is_heard(&self) -> bool {
        true
    }

    fn own_process(&mut self) -> Option<Process> {
        let text = |text: &str| text.to_owned();
        Some(Process { host: text("h"), boot: text("boot"), pid_namespace: text("p"), pid: 7, start: 7 })
    }

    fn look_for(&mut self, _: &Order) -> Result<(), Failure> {
        Ok(())
    }

    fn start(&mut self, _: &Order) -> Result<Box<dyn Running>, Failure> {
        Err(Failure::new(Slug::Internal, "nothing is run on a stage"))
    }

    fn run_aside(&mut self, _: &Errand) -> Result<(), Failure> {
        Ok(())
    }

    fn ancestors(&mut self) -> Vec<Process> {
        Vec::new()
    }

    fn commands_above(&mut self, _: usize, _: &dyn Fn(&[Above]) -> bool) -> Vec<Above> {
        Vec::new()
    }

    fn git_words(&mut self) -> Option<Vec<String>> {
        None
    }

    fn started_with(&mut self, _variables: &BTreeMap<&'static str, String>) -> Vec<Vec<&'static str>> {
        Vec::new()
    }

    fn set_above(&mut self, _variables: &[&'static str]) -> Vec<&'static str> {
        Vec::new()
    }

    fn place_of(&mut self, _: &Process) -> Option<ProcessPlace> {
        None
    }

    fn branch_of(&mut self, _: &Path) -> Option<String> {
        None
    }

    fn is_below_client(&mut self) -> bool {
        false
    }

    fn clients_in(&mut self, _: &Path) -> Vec<(Process, Client)> {
        Vec::new()
    }

    fn changed_files(&mut self, _: &Path) -> Vec<String> {
        Vec::new()
    }

    fn commits_since(&mut self, _: &Site, _: Wall) -> Option<Vec<(String, u64)>> {
        None
    }

    fn uncommitted(&mut self, _: &Site, _: &[&str]) -> Result<Vec<clearway_kernel::Uncommitted>, Failure> {
        Ok(Vec::new())
    }

    fn committed_since(
        &mut self,
        _: &Site,
        _: &[&str],
        _: Wall,
        _: Commits,
    ) -> Result<BTreeMap<String, Wall>, Failure> {
        Ok(BTreeMap::new())
    }

    fn put_aside(&mut self, _: &Site) -> Result<clearway_kernel::PutAside, Failure> {
        Ok(clearway_kernel::PutAside::default())
    }

    fn hooks_put_aside(&mut self, _: &Site) -> bool {
        false
    }

    fn changed_paths(&mut self, _: &Site) -> Result<clearway_kernel::ChangedPaths, Failure> {
        Ok(clearway_kernel::ChangedPaths::default())
    }

    fn commit(
        &mut self,
        _: &Site,
        _: &clearway_kernel::CommitOrder,
    ) -> Result<clearway_kernel::GitCommit, Failure> {
        Err(Failure::new(Slug::Internal, "nothing is committed on a stage"))
    }

    fn under_way(&mut self) -> clearway_kernel::UnderWay {
        clearway_kernel::UnderWay::Nothing
    }

    fn staged(&mut self, _: &clearway_kernel::UnderWay) -> Result<clearway_kernel::Staged, Failure> {
        Ok(clearway_kernel::Staged::default())
    }

    fn staged_lines(&mut self, _: &[&str]) -> Result<Vec<clearway_kernel::Uncommitted>, Failure> {
        Ok(Vec::new())
    }

    fn checkouts(&mut self, _: &Path) -> Result<Vec<clearway_kernel::CheckedOut>, Failure> {
        Ok(Vec::new())
    }

    fn commit_of(&mut self, _: &Path, _: &str) -> Result<Option<String>, Failure> {
        Ok(None)
    }

    fn merge_conflicts(&mut self, _: &Path, _: &str, _: &str) -> Result<Vec<String>, Failure> {
        Ok(Vec::new())
    }

    fn hooked_head(&mut self) -> Option<clearway_kernel::Head> {
        None
    }

    fn new_paths(&mut self, _: &str, _: &str) -> Result<Vec<String>, Failure> {
        Ok(Vec::new())
    }

    fn head_moves(&mut self, _: &Path, _: u64) -> Option<(u64, Vec<clearway_kernel::HeadMove>)> {
        None
    }

    fn paths_between(&mut self, _: &Path, _: &str, _: &str) -> Result<Vec<String>, Failure> {
        Ok(Vec::new())
    }

    fn leads_to(&mut self, _: &Path, _: &str, _: &str) -> bool {
        false
    }

    fn is_reverse(&mut self, _: &Reverts) -> bool {
        false
    }

    fn committed_paths(&mut self) -> Result<Vec<String>, Failure> {
        Ok(Vec::new())
    }

    fn own_refs(&self) -> &'static str {
        "refs/ours/"
    }

    fn hurry(&mut self, _: u64) {}

    fn repositories_in(&mut self, _: &Path) -> Vec<PathBuf> {
        Vec::new()
    }

    fn untracked_repositories_in(&mut self, _: &Path, _: &Path, _: bool) -> Vec<PathBuf> {
        Vec::new()
    }

    fn is_changed_since(&mut self, _: &Path, _: &[String], _: Wall) -> bool {
        true
    }

    fn shelf(&mut self, _: &Path) -> Result<Box<dyn clearway_kernel::Shelf + '_>, Failure> {
        Err(clearway_kernel::no_checkout())
    }

    fn terminal_session(&mut self) -> Option<Process> {
        None
    }

    fn open_store(&mut self, _: StoreAt<'_>, _timeout: Duration) -> Result<Box<dyn Engine>, Failure> {
        assert!(!self.breaks, "a defect");
        let engine = self.shelf.take();
        Ok(Box::new(Lent {
            engine,
            is_busy: self.is_busy,
            empties_queue: Rc::clone(&self.empties_queue),
            looks: Rc::clone(&self.looks),
            shelf: Rc::clone(&self.shelf),
        }))
    }

    fn file_beside_store(
        &mut self,
        _: StoreAt<'_>,
        scope: &ScopeKey,
        suffix: &str,
    ) -> Result<PathBuf, Failure> {
        Ok(PathBuf::from(format!("/state/{scope}{suffix}")))
    }

    fn leftovers(&mut self, _: &Path) -> Vec<PathBuf> {
        Vec::new()
    }

    fn remove_leftover(&mut self, _: &Path) -> Result<bool, Failure> {
        Ok(false)
    }

    fn read_text(&mut self, path: &Path) -> Result<Option<String>, Failure> {
        Ok(self.files.get(path).cloned())
    }

    fn others_can_use(&self, _path: &Path) -> bool {
        false
    }

    fn everybody_can_write(&self, _path: &Path) -> bool {
        false
    }

    fn file_id(&self, _: &Path) -> Option<FileId> {
        Some(FileId { device: 1, inode: 1, born: 1 })
    }

    fn is_directory(&self, _: &Path) -> bool {
        true
    }

    fn write_private(&mut self, path: &Path, text: &str) -> Result<(), Failure> {
        self.files.insert(path.to_owned(), text.to_owned());
        Ok(())
    }

    fn append_private(&mut self, path: &Path, line: &str, _timeout: Duration) -> Result<(), Failure> {
        let text = self.files.entry(path.to_owned()).or_default();
        text.push_str(line);
        text.push('\n');
        Ok(())
    }

    fn jot(&mut self, path: &Path, line: &str, _: u64) -> Result<(), Failure> {
        self.append_private(path, line, Duration::ZERO)
    }

    fn create_private(&mut self, path: &Path, text: &str) -> Result<bool, Failure> {
        let absent = !self.files.contains_key(path);
        self.files.entry(path.to_owned()).or_insert_with(|| text.to_owned());
        Ok(absent)
    }

    fn passing_file(&self, name: &str) -> Result<PathBuf, Failure> {
        Ok(Path::new("/run").join(name))
    }

    fn passing_files(&self, _: &str) -> Vec<PathBuf> {
        Vec::new()
    }

    fn changed_at(&self, _: &Path) -> Option<i64> {
        None
    }

    fn changed_since(&self, _: &Path, _: &[&str], _: i64, _: Duration) -> Vec<Changed> {
        Vec::new()
    }

    fn remove_file(&mut self, path: &Path) -> Result<(), Failure> {
        self.files.remove(path);
        Ok(())
    }

    fn user_config_path(&self) -> Result<PathBuf, Failure> {
        Ok(PathBuf::from("/home/you/.config/clearway/config.toml"))
    }

    fn operator_key_path(&self) -> Result<PathBuf, Failure> {
        Ok(PathBuf::from("/home/you/.config/clearway/operator.key"))
    }

    fn build(&self) -> BuildFacts {
        BuildFacts { version: "0.1.0", target: "test", is_static: true }
    }
}
