//! What is the caller's own, in the words of other commands: its paths, and what was left behind for anybody.

use crate::session::Session;
use clearway_core::facts::{FactQuery, Facts};
use clearway_core::failure::{Failure, LeaseView};
use clearway_core::ids::Seq;
use clearway_core::lease::{End, Lease};
use clearway_core::target::Target;
use clearway_store::contract::LeaseListing;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Ended leases that are looked through for what was left behind.
pub(crate) const ENDED_ROWS: usize = 200;

/// The caller's paths.
#[derive(Clone, Debug)]
pub struct Mine {
    /// The revision looked at.
    pub rev: Seq,
    /// Relative to where the caller stands.
    pub paths: Vec<String>,
}

impl Session<'_> {
    /// The files and directories that the caller and its subagents hold in this checkout, or those of them that have an
    /// uncommitted change.
    pub fn mine(&mut self, dirty: bool) -> Result<Mine, Failure> {
        let key = self.site.key.clone();
        let survey = self.survey_in(&key, LeaseListing::Live)?;
        survey.refuse_another(&self.caller)?;
        let rev = survey.rev();
        let family = survey.family_of(&self.caller);
        let here = self.site.worktree();
        let is_own = |view: &LeaseView| {
            view.lease.ended.is_none() && view.lease.worktree == here && family.contains(&view.lease.holder)
        };
        let leases: Vec<Lease> = survey.leases().into_iter().filter(is_own).map(|view| view.lease).collect();
        let named: Vec<&str> = leases.iter().filter_map(place).collect();
        let facts = if dirty { self.dirtiness(&named) } else { Facts::default() };
        let is_wanted = |path: &&str| !dirty || facts.dirty(&here, path) == Some(true);
        let mut paths: Vec<String> =
            named.into_iter().filter(is_wanted).map(|path| self.seen_from_here(path)).collect();
        paths.sort();
        paths.dedup();
        Ok(Mine { rev, paths })
    }

    /// Paths with changes that somebody whose session ended left behind, and that nobody took since. The leases are those
    /// of one look, the latest ended ones included.
    pub(crate) fn left_behind(&mut self, leases: &[LeaseView]) -> Vec<(String, String)> {
        let here = self.site.worktree();
        let is_last = |view: &&LeaseView| {
            let same = |other: &&LeaseView| {
                other.lease.target == view.lease.target && other.lease.worktree == view.lease.worktree
            };
            leases.iter().filter(same).all(|other| other.lease.fence <= view.lease.fence)
        };
        let is_orphan = |view: &&LeaseView| {
            view.lease.worktree == here && view.lease.ended.is_some_and(|ended| ended.how == End::Orphaned)
        };
        let left: Vec<&LeaseView> = leases.iter().filter(is_orphan).filter(is_last).collect();
        let paths: Vec<&str> = left.iter().filter_map(|view| place(&view.lease)).collect();
        let facts = self.dirtiness(&paths);
        let is_dirty = |path: &str| facts.dirty(&here, path) == Some(true);
        let named = left.iter().filter_map(|view| Some((place(&view.lease)?, view.agent.to_string())));
        named.filter(|(path, _)| is_dirty(path)).map(|(path, agent)| (path.to_owned(), agent)).collect()
    }

    fn dirtiness(&mut self, paths: &[&str]) -> Facts {
        let here = self.site.worktree();
        let queries: BTreeSet<FactQuery> =
            paths.iter().map(|path| FactQuery::Dirty(here.clone(), (*path).to_owned())).collect();
        let mut facts = Facts::default();
        self.outside.gather(&queries, &mut facts);
        facts
    }

    /// A path of the scope as it is written where the caller stands.
    fn seen_from_here(&self, path: &str) -> String {
        let root = self.site.root.as_deref().unwrap_or(Path::new("/"));
        let below: Vec<_> = match self.site.cwd.strip_prefix(root) {
            Ok(below) => below.components().collect(),
            Err(_) => return root.join(path).display().to_string(),
        };
        let wanted: Vec<_> = Path::new(path).components().collect();
        let shared = below.iter().zip(&wanted).take_while(|(one, other)| one == other).count();
        let up = std::iter::repeat_n("..", below.len() - shared);
        let relative: PathBuf =
            up.map(PathBuf::from).chain(wanted[shared..].iter().map(PathBuf::from)).collect();
        if relative.as_os_str().is_empty() { ".".to_owned() } else { relative.display().to_string() }
    }
}

/// The one file or directory that a lease is on; `None` for names and wider patterns.
fn place(lease: &Lease) -> Option<&str> {
    let Target::Path(pattern) = &lease.target else { return None };
    pattern.as_literal().or_else(|| pattern.as_subtree())
}
