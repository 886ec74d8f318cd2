//! Which commits the check saw, and those that went past it.
//!
//! The check runs before there is a commit, so what it remembers is where the head was: a step of the head from there is the
//! commit that it saw. Steps that it never saw are found in the log of the head by whoever looks next, and reported once.
//! All of it is forgotten with the boot: what was never looked at before is nobody's fault.

use crate::lately::lately;
use crate::outside::{HeadMove, Outside};
use crate::passing::{name_after, note_down};
use crate::session::Session;
use crate::site::Site;
use clearway_core::agent::{AgentName, ClientSession};
use clearway_core::command::{Command, Unchecked};
use clearway_core::decide::is_person;
use clearway_core::failure::Failure;
use clearway_core::hint::Hint;
use clearway_core::ids::LeaseId;
use clearway_core::lease::Lease;
use clearway_core::limits::TARGETS_PER_REQUEST_MAX;
use clearway_core::path::CanonicalPath;
use clearway_core::pattern::Pattern;
use clearway_core::slice::{AgentLookup, ReadSet};
use clearway_core::slug::Slug;
use clearway_core::target::Target;
use clearway_core::time::Wall;
use clearway_store::contract::LeaseListing;
use std::path::PathBuf;

/// Bytes of what is remembered of checks: some hundred commits.
const BYTES_MAX: u64 = 16 * 1_024;
/// What the memory of checks is called.
const CHECKED: &str = "checked";
/// What git says of steps that bring along what was committed before, here or elsewhere. A rebase was asked about when it
/// began.
const BROUGHT: [&str; 9] =
    ["checkout:", "clone:", "merge ", "pull", "rebase", "reset:", "am:", "branch:", "switch:"];

impl Session<'_> {
    /// Remembers that the commit which git makes now was checked.
    pub(crate) fn note_checked(&mut self) {
        let (Some(head), Some(path)) = (self.outside.hooked_head(), self.memory(CHECKED)) else { return };
        note_down(self.outside, &path, &head.commit, BYTES_MAX);
    }

    /// Whether the commit that follows this one was checked.
    pub(crate) fn was_checked(&mut self, parent: &str) -> bool {
        was_checked(self.outside, &self.site, parent)
    }

    /// Reports what went past the check since somebody looked. `during` is the call that just ended, which did it unless
    /// others ran meanwhile.
    pub(crate) fn look_for_unchecked(&mut self, during: Option<&ClientSession>) -> Result<(), Failure> {
        let moves = self.new_moves();
        let is_unseen = |session: &mut Self, step: &HeadMove| {
            !BROUGHT.iter().any(|front| step.action.starts_with(front)) && !session.was_checked(&step.from)
        };
        let unseen: Vec<HeadMove> = moves.into_iter().filter(|step| is_unseen(self, step)).collect();
        if unseen.is_empty() || self.leases_here()?.is_empty() {
            return Ok(());
        }
        // What was just written down tells how late it is in the time of files.
        let now_ns =
            self.memory("looked").and_then(|path| self.outside.changed_at(&path)).unwrap_or(i64::MAX);
        let explained = during.is_some_and(|session| self.ran_alone(session, now_ns).unwrap_or(false));
        for step in unseen {
            self.report(&step, explained)?;
        }
        Ok(())
    }

    /// Why an agent does not push what a commit past the check took along, while that is still with somebody else.
    pub(crate) fn unchecked_in(&mut self, pushed: &[String]) -> Result<Option<Failure>, Failure> {
        let (now, leases) = (self.now()?, self.leases_here()?);
        let read = ReadSet { agents: AgentLookup::of(&self.caller), ..ReadSet::default() };
        let slice = self.read(|snapshot| snapshot.load(&read, &now))?.unwrap_or_default();
        let Some(root) = self.site.root.clone() else { return Ok(None) };
        if leases.is_empty() || is_person(&slice, &self.caller) {
            return Ok(None);
        }
        let family = self.own_family()?;
        for UncheckedCommit { commit, paths, blockers, .. } in self.unchecked_lately()? {
            let is_in_way = |lease: &&Lease| blockers.contains(&lease.id) && !family.contains(&lease.holder);
            let is_held = leases.iter().any(|lease| is_in_way(&lease));
            if is_held && pushed.iter().any(|head| self.outside.leads_to(&root, &commit, head)) {
                return Ok(Some(not_pushed(&commit, &paths)));
            }
        }
        Ok(None)
    }

    /// What went past the check within a day, the earliest first.
    pub(crate) fn unchecked_lately(&mut self) -> Result<Vec<UncheckedCommit>, Failure> {
        let (now, fold) = (self.now()?, self.fold()?);
        let found = self.read(|snapshot| {
            let (head, agents) = (snapshot.head()?.rev, snapshot.agents(&now)?);
            Ok(lately(snapshot, &now, head, fold, &agents)?.unchecked)
        })?;
        Ok(found.unwrap_or_default())
    }

    fn report(&mut self, step: &HeadMove, explained: bool) -> Result<(), Failure> {
        let Some(root) = self.site.root.clone() else { return Ok(()) };
        let leases = self.leases_here()?;
        let fold = self.site.fold;
        // What cannot be compared any more, because git collected it, is nobody's to report.
        let changed = self.outside.paths_between(&root, &step.from, &step.to).unwrap_or_default();
        let target = |path: &String| {
            let target = Target::Path(Pattern::literal(&CanonicalPath::parse(path, fold).ok()?));
            leases.iter().any(|lease| lease.is_on(&target)).then_some(target)
        };
        let paths: Vec<Target> = changed.iter().filter_map(target).take(TARGETS_PER_REQUEST_MAX).collect();
        if paths.is_empty() {
            return Ok(());
        }
        // The log of the head knows seconds: what was taken within the last of them may have been there.
        let at = Wall(step.at.0 + 999);
        let (commit, worktree) = (step.to.clone(), self.site.worktree());
        self.command(Command::Unchecked(Unchecked { commit, paths, worktree, at, explained }))?.outcome?;
        Ok(())
    }

    /// The steps of the head since somebody looked; none the first time.
    fn new_moves(&mut self) -> Vec<HeadMove> {
        let (Some(root), Some(path)) = (self.site.root.clone(), self.memory("looked")) else {
            return Vec::new();
        };
        let known = self.outside.read_text(&path).ok().flatten();
        let known: Option<u64> = known.and_then(|text| text.lines().next_back()?.parse().ok());
        let Some((length, moves)) = self.outside.head_moves(&root, known.unwrap_or(u64::MAX)) else {
            return Vec::new();
        };
        if known != Some(length) {
            note_down(self.outside, &path, &length.to_string(), BYTES_MAX);
        }
        moves
    }

    fn leases_here(&mut self) -> Result<Vec<Lease>, Failure> {
        let (now, here) = (self.now()?, self.site.worktree());
        let leases = self.read(|snapshot| Ok(snapshot.leases(LeaseListing::Live, &now)?.leases))?;
        let is_path = |lease: &Lease| matches!(lease.target, Target::Path(_)) && lease.worktree == here;
        Ok(leases.unwrap_or_default().into_iter().filter(is_path).collect())
    }

    fn memory(&self, front: &str) -> Option<PathBuf> {
        memory(self.outside, &self.site, front)
    }
}

/// Bytes at the end of the log of a head in which its last step lies.
const LAST_STEPS_BYTES: u64 = 16 * 1_024;

/// Whether the commit that is checked out was checked, as far as that can be told without the store.
pub(crate) fn was_last_checked(outside: &mut dyn Outside, site: &Site) -> bool {
    let (Some(root), Some(head)) = (&site.root, outside.hooked_head()) else { return false };
    let Some((length, _)) = outside.head_moves(root, u64::MAX) else { return false };
    let Some((_, moves)) = outside.head_moves(root, length.saturating_sub(LAST_STEPS_BYTES)) else {
        return false;
    };
    let last = moves.last().filter(|step| step.to == head.commit);
    last.is_some_and(|step| was_checked(outside, site, &step.from))
}

fn was_checked(outside: &mut dyn Outside, site: &Site, parent: &str) -> bool {
    let Some(path) = memory(outside, site, CHECKED) else { return false };
    let text = outside.read_text(&path).ok().flatten().unwrap_or_default();
    text.lines().any(|line| line == parent)
}

fn memory(outside: &dyn Outside, site: &Site, front: &str) -> Option<PathBuf> {
    let worktree = name_after(&site.worktree().0);
    outside.passing_file(&format!("{front}-{}-{worktree}", site.key)).ok()
}

/// A commit that went past the check with what was with somebody else.
#[derive(Clone, Debug)]
pub struct UncheckedCommit {
    /// Its id.
    pub commit: String,
    /// Its paths that were with others.
    pub paths: Vec<String>,
    /// The leases on them.
    pub blockers: Vec<LeaseId>,
    /// Whose command it was, if no other ran then.
    pub by: Option<AgentName>,
    /// When it was found.
    pub at: Wall,
}

impl UncheckedCommit {
    /// The part of its id that people read.
    pub fn short(&self) -> &str {
        short(&self.commit)
    }
}

fn short(commit: &str) -> &str {
    commit.get(..12).unwrap_or(commit)
}

fn not_pushed(commit: &str, paths: &[String]) -> Failure {
    let commit = short(commit);
    let message =
        format!("{commit} went past the check and holds what is with somebody else: {}", paths.join(", "));
    let first = paths.first().map(String::as_str).unwrap_or_default();
    Failure::new(Slug::CommitRefused, message).hint(Hint::command("see whose it is", "who", &[first]))
}
