//! `radar`: which files of checkouts of a repository will not merge, what is not committed included.
//!
//! Git merges commits that nothing leads to and forgets them: no checkout, index or reference is touched. Whoever commits
//! hears of it once for each pair and set of files, or whoever ends a turn over uncommitted work, because whoever comes later
//! is the one who can still do otherwise.

use crate::hooking::{HookCall, welcome};
use crate::listings::LeaseFilter;
use crate::outside::{CheckedOut, Outside};
use crate::passing::{Mark, name_after, note_down};
use crate::session::{Globals, Session};
use crate::shelf::DraftOrder;
use crate::site::SiteKind;
use crate::snapshots::no_checkout;
use clearway_core::failure::Failure;
use clearway_core::grasp::Grasp;
use clearway_core::hint::Hint;
use clearway_core::ids::Seq;
use clearway_core::limits::{RADAR_MS_MAX, SNAPSHOT_MS_MAX};
use clearway_core::slug::Slug;
use clearway_core::snapshot::SnapshotCause;
use clearway_core::text::{quoted, shown};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Tips of work that are compared with each other: some two hundred merges.
const TIPS_MAX: usize = 20;
/// Bytes of what is remembered of predictions that were told.
const TOLD_BYTES_MAX: u64 = 16 * 1_024;
/// How long no turn is held for a prediction after one was: fewer than five in an hour.
const REST_MS: u64 = 15 * 60 * 1_000;
/// Paths that are named in a line.
const PATHS_NAMED: usize = 3;

/// What will not merge.
#[derive(Clone, Debug)]
pub struct Radar {
    /// The revision looked at.
    pub rev: Seq,
    /// What was compared.
    pub tips: Vec<Tip>,
    /// The pairs that will not merge, by their places in the list.
    pub conflicts: Vec<Conflict>,
}

/// The end of a line of work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tip {
    /// The branch, or the commit where there is none.
    pub name: String,
    /// The checkout; `None` for a branch that was named.
    pub root: Option<PathBuf>,
    /// Whether it holds what is not committed.
    pub is_dirty: bool,
    /// Who holds paths there.
    pub agents: Vec<String>,
    /// The commit that stands for it, which may be one that nothing leads to.
    commit: String,
}

/// Two that will not merge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// One of them.
    pub one: usize,
    /// The other.
    pub other: usize,
    /// The files.
    pub paths: Vec<String>,
}

/// Files that will not merge with the work of somebody else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Foreseen {
    /// Which, and with whose.
    pub text: String,
}

impl Foreseen {
    /// Where there is more of it.
    pub fn look() -> Hint {
        Hint::command("see all of it", "radar", &[])
    }

    /// All of them, for whoever reads lines.
    pub(crate) fn lines(all: &[Self]) -> Option<String> {
        let line = |one: &Self| format!("{}; {}", one.text, Self::look());
        (!all.is_empty()).then(|| all.iter().map(line).collect::<Vec<_>>().join("\n"))
    }
}

/// What an agent whose turn ends is to be told of its uncommitted work, if anything.
pub fn foreseen_at_rest(outside: &mut dyn Outside, call: &HookCall) -> Result<Option<Foreseen>, Failure> {
    let globals = Globals { idempotency_key: None, ..call.globals() };
    let Some(ground) = welcome(outside, &globals, &call.cwd)? else { return Ok(None) };
    Session::on(outside, &globals, ground)?.foreseen_of_own()
}

impl Session<'_> {
    /// Whoever holds nothing here was told when it committed. A turn that is held costs its agent more than a line does, so
    /// none in the repository is held again for this soon.
    fn foreseen_of_own(&mut self) -> Result<Option<Foreseen>, Failure> {
        let (others, is_at_it) = self.others_elsewhere()?;
        let now = self.now()?;
        let Ok(mark) = self.outside.passing_file(&format!("radar-rest-{}", self.site.key)) else {
            return Ok(None);
        };
        let held = self.outside.read_text(&mark)?.and_then(|text| Mark::parse(text.trim()));
        if !is_at_it || held.is_some_and(|held| held.is_recent(&now, REST_MS)) {
            return Ok(None);
        }
        let found = self.radar_here(&others).into_iter().next();
        if found.is_some() {
            self.outside.write_private(&mark, &format!("{}\n", Mark::of(&now)))?;
        }
        Ok(found)
    }

    /// Compares the checkouts of the repository, and these branches, with each other.
    pub fn radar(&mut self, branches: &[String]) -> Result<Radar, Failure> {
        let root =
            self.site.root.clone().filter(|_| self.site.kind == SiteKind::Git).ok_or_else(no_checkout)?;
        let checkouts = self.outside.checkouts(&root)?;
        if checkouts.len() + branches.len() > TIPS_MAX {
            let message = format!(
                "{} checkouts and branches are more than {TIPS_MAX}",
                checkouts.len() + branches.len()
            );
            return Err(Failure::new(Slug::TooLarge, message)
                .hint("remove checkouts that are done: git worktree list"));
        }
        let mut tips = Vec::new();
        for checkout in checkouts {
            tips.push(self.tip(checkout)?);
        }
        for name in branches {
            tips.push(self.named_tip(&root, name)?);
        }
        let mut conflicts = Vec::new();
        for one in 0..tips.len() {
            for other in one + 1..tips.len() {
                let paths = self.clash(&root, &tips[one], &tips[other])?;
                conflicts.extend((!paths.is_empty()).then_some(Conflict { one, other, paths }));
            }
        }
        Ok(Radar { rev: self.agents()?.rev, tips, conflicts })
    }

    /// What whoever is done with something here is to be told: files that will not merge with the work of others who are at
    /// it in another checkout, if it came later than they and nobody was told. Nothing is asked of git where nobody is in
    /// another checkout; what cannot be predicted soon is predicted another time.
    pub(crate) fn radar_here(&mut self, others: &BTreeSet<String>) -> Vec<Foreseen> {
        if others.is_empty() {
            return Vec::new();
        }
        self.outside.hurry(RADAR_MS_MAX);
        self.foreseen(others).unwrap_or_default()
    }

    fn foreseen(&mut self, others: &BTreeSet<String>) -> Result<Vec<Foreseen>, Failure> {
        let here = self.site.worktree();
        let Some(root) = self.site.root.clone() else { return Ok(Vec::new()) };
        let checkouts = self.outside.checkouts(&root)?;
        let (own, rest): (Vec<CheckedOut>, Vec<CheckedOut>) =
            checkouts.into_iter().partition(|checkout| checkout.root.display().to_string() == here.0);
        let Some(own) = own.into_iter().next() else { return Ok(Vec::new()) };
        let own = self.tip(own)?;
        let mut found = Vec::new();
        for checkout in
            rest.into_iter().filter(|checkout| others.contains(&checkout.root.display().to_string()))
        {
            let other = self.tip(checkout)?;
            let paths = self.clash(&root, &own, &other)?;
            if !paths.is_empty() && self.is_later(&root, &other, &paths) && self.is_news(&other, &paths) {
                found.push(Foreseen { text: told(&other, &paths) });
            }
        }
        Ok(found)
    }

    /// Whether the change here is the later one: the other was there first, and this one can still be done otherwise.
    fn is_later(&self, root: &Path, other: &Tip, paths: &[String]) -> bool {
        let last =
            |root: &Path| paths.iter().filter_map(|path| self.outside.changed_at(&root.join(path))).max();
        let there = other.root.as_deref().and_then(last);
        last(root).is_none_or(|here| there.is_none_or(|there| here >= there))
    }

    fn tip(&mut self, checkout: CheckedOut) -> Result<Tip, Failure> {
        let CheckedOut { root, commit, branch } = checkout;
        let order = DraftOrder {
            paths: vec![String::new()],
            grasp: Grasp::everything(),
            gone: Vec::new(),
            cause: SnapshotCause::Asked,
            reason: None,
            at: self.now()?.wall,
            within_ms: SNAPSHOT_MS_MAX,
            ignored_beside: None,
        };
        let drafted = self.outside.shelf(&root)?.draft(&order)?;
        let place = root.display().to_string();
        let leases = self.leases(&LeaseFilter::default())?.leases;
        let here = leases.iter().filter(|view| view.lease.worktree.0 == place);
        let mut agents: Vec<String> = here.map(|view| view.agent.to_string()).collect();
        agents.sort();
        agents.dedup();
        let name = branch.unwrap_or_else(|| commit.get(..9).unwrap_or(&commit).to_owned());
        let is_dirty = drafted.is_some();
        let commit = drafted.map_or(commit, |drafted| drafted.commit);
        Ok(Tip { name, root: Some(root), is_dirty, agents, commit })
    }

    fn named_tip(&mut self, root: &Path, name: &str) -> Result<Tip, Failure> {
        let commit = self.outside.commit_of(root, name)?.ok_or_else(|| {
            Failure::new(Slug::NotFound, format!("no branch or commit is called {}", quoted(name)))
                .hint("see which there are: git branch --all")
        })?;
        Ok(Tip { name: name.to_owned(), root: None, is_dirty: false, agents: Vec::new(), commit })
    }

    fn clash(&mut self, root: &Path, one: &Tip, other: &Tip) -> Result<Vec<String>, Failure> {
        if one.commit == other.commit {
            return Ok(Vec::new());
        }
        self.outside.merge_conflicts(root, &one.commit, &other.commit)
    }

    /// Whether nobody of this pair was told of these files yet.
    fn is_news(&mut self, other: &Tip, paths: &[String]) -> bool {
        let Ok(path) = self.outside.passing_file(&format!("radar-{}", self.site.key)) else {
            return true;
        };
        let place = other.root.as_ref().map(|root| root.display().to_string()).unwrap_or_default();
        let mut pair = [place, self.site.worktree().0];
        pair.sort();
        let line = name_after(&format!("{}\n{}", pair.join("\n"), paths.join("\n")));
        let known = self.outside.read_text(&path).ok().flatten().unwrap_or_default();
        if known.lines().any(|known| known == line) {
            return false;
        }
        note_down(self.outside, &path, &line, TOLD_BYTES_MAX);
        true
    }
}

fn told(other: &Tip, paths: &[String]) -> String {
    let named: Vec<String> = paths.iter().take(PATHS_NAMED).map(|path| shown(path)).collect();
    let more = paths.len().saturating_sub(PATHS_NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let by = if other.agents.is_empty() { String::new() } else { format!(" ({})", other.agents.join(", ")) };
    let place = other.root.as_ref().map(|root| shown(&root.display().to_string())).unwrap_or_default();
    format!("{}{more} will not merge with {}{by} in {place}", named.join(", "), shown(&other.name))
}
