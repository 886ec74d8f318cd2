//! Snapshots: keeping what is not committed, looking at what is kept, and bringing it back.
//!
//! A snapshot is made first and recorded then, so that no transaction spans git: its number is that of its event, and
//! what has no number is forgotten. What is written over by bringing one back is kept before.

use crate::githooks::PathOfCommit;
use crate::identity::reason_text;
use crate::listings::LeaseFilter;
use crate::outside::Outside;
use crate::session::Session;
use crate::shelf::{
    Back, BackOrder, BackPlan, BackState, DraftOrder, Drafted, Shelf, SnapshotFile, SnapshotSeen,
};
use crate::site::SiteKind;
use crate::targets::Look;
use clearway_core::agent::AgentName;
use clearway_core::command::{Command, Reserve};
use clearway_core::decide::{Notice, Success, is_person};
use clearway_core::failure::{Details, Failure, LeaseView};
use clearway_core::grasp::Grasp;
use clearway_core::harm::Gone;
use clearway_core::hint::{Hint, SNAPSHOTS};
use clearway_core::ids::{AgentId, Seq};
use clearway_core::lease::Kind;
use clearway_core::limits::{SNAPSHOT_HOOK_MS_MAX, SNAPSHOT_MS_MAX, TARGETS_PER_REQUEST_MAX};
use clearway_core::path::CanonicalPath;
use clearway_core::shell;
use clearway_core::slice::{AgentLookup, ReadSet};
use clearway_core::slug::Slug;
use clearway_core::snapshot::{Kept, SnapshotCause, is_outlived};
use clearway_core::target::Target;
use clearway_core::text::{quoted, shown};
use clearway_core::time::Wall;
use clearway_store::Reply;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Earlier snapshots that are looked at for something to bring back.
const LOOKED_BEFORE_MAX: usize = 5;
/// Small ignored files of a snapshot, beside the store; its commit follows.
const IGNORED_SUFFIX: &str = "-ignored-";

/// What became of a request for a snapshot.
#[derive(Debug)]
pub struct Taken {
    /// The revision it belongs to.
    pub rev: Seq,
    /// The answer of the log; `None` if there was nothing to keep.
    pub reply: Option<Reply>,
    /// The number.
    pub number: Option<Seq>,
    /// What is kept; none of it is told again when an answer is.
    pub drafted: Option<Drafted>,
}

/// The snapshots of a repository.
#[derive(Debug)]
pub struct Snapshots {
    /// The revision looked at.
    pub rev: Seq,
    /// The latest first, each with the name of whose it is, where that is known.
    pub list: Vec<(SnapshotSeen, Option<AgentName>)>,
}

/// What is in a snapshot.
#[derive(Debug)]
pub struct SnapshotShown {
    /// The revision looked at.
    pub rev: Seq,
    /// Which.
    pub seen: SnapshotSeen,
    /// The name of whose it is.
    pub agent: Option<AgentName>,
    /// Its files, each with who held it then.
    pub files: Vec<(SnapshotFile, Vec<AgentName>)>,
}

/// What bringing a snapshot back does, or would do.
#[derive(Debug)]
pub struct Plan {
    /// The revision looked at.
    pub rev: Seq,
    /// Which snapshot.
    pub seen: SnapshotSeen,
    /// Each file.
    pub files: Vec<Back>,
    /// What git is in the middle of again; `None` if nothing is done for that.
    pub resumes: Option<&'static str>,
    /// The checkout that is made again, because it is gone; `None` if it is there.
    pub remakes: Option<String>,
    /// The snapshot of what was written over.
    pub before: Option<Seq>,
    order: BackOrder,
}

/// What becomes of what is written over and cannot be kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loss {
    /// Nothing is written over then; a person may say otherwise to this verb.
    Refused(&'static str),
    /// It is lost, as a person said.
    Accepted,
}

impl Loss {
    /// What was said to a verb.
    pub fn of(verb: &'static str, is_accepted: bool) -> Self {
        if is_accepted { Self::Accepted } else { Self::Refused(verb) }
    }
}

impl Plan {
    /// Whose a file is that is left alone for that.
    pub fn owner(&self, back: &Back) -> Option<&AgentName> {
        self.order.others.get(&back.file.path).filter(|_| back.state == BackState::WithOthers)
    }

    /// Whether it changes anything.
    pub fn is_due(&self) -> bool {
        let is_more = self.resumes.is_some() || self.remakes.is_some();
        is_more || self.files.iter().any(|back| back.state.is_touched() || back.restages)
    }
}

impl Session<'_> {
    /// Keeps what is not committed, at these paths or everywhere.
    pub fn snapshot(&mut self, paths: &[String], reason: Option<&str>) -> Result<Taken, Failure> {
        let changed = |session: &mut Self| {
            Ok(session.outside.changed_paths(&session.site)?.paths.into_iter().collect())
        };
        let paths = self.matching(paths, changed)?;
        let reason = reason.map(reason_text).transpose()?.filter(|text| !text.trim().is_empty());
        self.take_snapshot(paths, SnapshotCause::Asked, reason)
    }

    /// The same for whatever cause.
    pub(crate) fn take_snapshot(
        &mut self,
        paths: Vec<String>,
        cause: SnapshotCause,
        reason: Option<String>,
    ) -> Result<Taken, Failure> {
        self.take_from(paths, Grasp::everything(), Vec::new(), cause, reason)
    }

    /// The same before something destroys no more than this there, and this for sure.
    pub(crate) fn take_from(
        &mut self,
        paths: Vec<String>,
        grasp: Grasp,
        gone: Vec<Gone>,
        cause: SnapshotCause,
        reason: Option<String>,
    ) -> Result<Taken, Failure> {
        let at = self.now()?.wall;
        // Whoever takes over, or is gone, has nothing to do with what git ignores.
        let is_left = matches!(cause, SnapshotCause::TakeOver | SnapshotCause::Left | SnapshotCause::Halt);
        let with_ignored = !is_left;
        let ignored_beside = with_ignored.then(|| self.file_beside_store(IGNORED_SUFFIX)).transpose()?;
        let is_hurried = cause == SnapshotCause::Command;
        let within_ms = if is_hurried { SNAPSHOT_HOOK_MS_MAX } else { SNAPSHOT_MS_MAX };
        let is_whole = paths.iter().any(String::is_empty);
        let reason_kept = reason.clone();
        let order =
            DraftOrder { paths, grasp, gone, cause, reason: reason_kept, at, within_ms, ignored_beside };
        let drafted = self.shelf()?.draft(&order)?;
        let is_asked_whole = is_whole && cause == SnapshotCause::Asked;
        let Some(drafted) = drafted else {
            if is_asked_whole {
                self.note_whole(at, Seq(0), 0);
            }
            let (rev, _) = self.names_at()?;
            return Ok(Taken { rev, reply: None, number: None, drafted: None });
        };
        let keeping = drafted.keeping(self.site.worktree(), cause, reason);
        let reply = self.command(Command::Keep(keeping))?;
        let number = match &reply.outcome {
            Ok(Success::Kept { number }) => *number,
            Ok(_) => return Err(Failure::new(Slug::Internal, "a snapshot was answered otherwise")),
            Err(failure) => return Err(failure.clone()),
        };
        // An answer that is given once more is about an earlier snapshot: this one is forgotten.
        let drafted = Some(drafted).filter(|_| !reply.replayed);
        if let (Some(drafted), Some((agent, _))) = (&drafted, &reply.agent) {
            self.shelf()?.keep(&drafted.commit, *agent, number)?;
            if is_asked_whole {
                self.note_whole(at, number, drafted.files.len());
            }
            self.forget_outlived();
        }
        Ok(Taken { rev: reply.rev, reply: Some(reply), number: Some(number), drafted })
    }

    /// Gives snapshots their names that a decision gave their numbers. Of one that cannot have it the caller is not told; whoever
    /// held the path before is told the number, which then leads to nothing.
    pub(crate) fn name_kept(&mut self, reply: &mut Reply) {
        let mut unnamed = BTreeSet::new();
        for Kept { number, commit, agent } in std::mem::take(&mut reply.kept) {
            let named = self.shelf().and_then(|mut shelf| shelf.keep(&commit, agent, number));
            unnamed.extend(named.is_err().then_some(number));
        }
        let is_unnamed =
            |notice: &Notice| matches!(notice, Notice::Kept { number, .. } if unnamed.contains(number));
        reply.notices.retain(|notice| !is_unnamed(notice));
    }

    /// Keeps no longer what was kept for long enough. What cannot be forgotten now is forgotten another time.
    pub(crate) fn forget_outlived(&mut self) {
        drop(self.try_to_forget());
    }

    fn try_to_forget(&mut self) -> Result<(), Failure> {
        let now = self.now()?.wall;
        let list = self.shelf()?.list()?;
        let is_over = |(after, seen): &(usize, SnapshotSeen)| is_outlived(*after, seen.at, now);
        let (over, kept): (Vec<_>, Vec<_>) = list.into_iter().enumerate().partition(is_over);
        let over: Vec<SnapshotSeen> = over.into_iter().map(|(_, seen)| seen).collect();
        if over.is_empty() {
            return Ok(());
        }
        self.shelf()?.forget(&over)?;
        for seen in over.iter().filter(|seen| !kept.iter().any(|(_, kept)| kept.commit == seen.commit)) {
            let ignored = self.file_beside_store(&format!("{IGNORED_SUFFIX}{}", seen.commit))?;
            self.outside.remove_file(&ignored)?;
            let after = self.file_beside_store(&after_suffix(seen.number))?;
            self.outside.remove_file(&after)?;
        }
        Ok(())
    }

    /// What is kept.
    pub fn snapshots(&mut self) -> Result<Snapshots, Failure> {
        let (rev, names) = self.names_at()?;
        let list = self.shelf()?.list()?;
        let named = |seen: SnapshotSeen| (seen.clone(), names.get(&seen.agent).cloned());
        Ok(Snapshots { rev, list: list.into_iter().map(named).collect() })
    }

    /// What is in one.
    pub fn show_snapshot(&mut self, word: &str) -> Result<SnapshotShown, Failure> {
        let (rev, names) = self.names_at()?;
        let seen = self.snapshot_meant(word)?;
        let files = self.shelf()?.files(&seen.commit)?;
        let leases = self.leases(&LeaseFilter { history: true, ..LeaseFilter::default() })?.leases;
        let held = |file: SnapshotFile| {
            let holders = self.holders_at(&leases, &seen, &file.path);
            (file, holders)
        };
        let files = files.into_iter().map(held).collect();
        Ok(SnapshotShown { rev, agent: names.get(&seen.agent).cloned(), seen, files })
    }

    /// What bringing a snapshot back over everything would do.
    pub fn plan_restore(&mut self, word: &str, paths: &[String]) -> Result<Plan, Failure> {
        let (rev, _) = self.names_at()?;
        let seen = self.snapshot_meant(word)?;
        let seen = self.of_this_checkout("restore", seen)?;
        let held = |session: &mut Self| {
            let files = session.shelf()?.files(&seen.commit)?;
            Ok(files.into_iter().map(|file| file.path).collect())
        };
        let paths = self.matching(paths, held)?;
        let plan = self.plan(rev, seen, paths.clone(), true)?;
        let holds =
            |path: &&String| plan.files.iter().any(|back| Path::new(&back.file.path).starts_with(path));
        match paths.iter().find(|path| !holds(path)) {
            Some(path) if !path.is_empty() => Err(holds_nothing(plan.seen.number, path)),
            _ => Ok(plan),
        }
    }

    /// What undoing would do: of a snapshot, or of the last that was taken before something was written over.
    pub fn plan_undo(&mut self, word: Option<&str>) -> Result<Plan, Failure> {
        let (rev, _) = self.names_at()?;
        let seen = match word {
            Some(word) => self.snapshot_meant(word)?,
            None => self.last_undone()?,
        };
        if let Some(plan) = self.plan_anew(rev, &seen)? {
            return Ok(plan);
        }
        let seen = self.of_this_checkout("undo", seen)?;
        let plan = self.plan(rev, seen, vec![String::new()], false)?;
        self.sparing_others(plan)
    }

    /// Does what was planned. What is written over and nowhere else is kept first.
    pub fn carry_out(&mut self, mut plan: Plan, loss: Loss) -> Result<Plan, Failure> {
        if loss == Loss::Accepted {
            self.refuse_agent("only a person may accept that something is lost")?;
        }
        if plan.remakes.is_some() {
            let place = self.shelf()?.remake(&plan.seen.commit)?;
            let BackPlan { files, resumes } = self.outside.shelf(&place)?.bring_back(&plan.order)?;
            return Ok(Plan { files, resumes, ..plan });
        }
        if plan.order.over_changes {
            self.refuse_over_others(&plan)?;
        } else {
            plan = self.sparing_others(plan)?;
        }
        let touched = |back: &&Back| back.state.is_touched();
        let dirty: Vec<String> = plan
            .files
            .iter()
            .filter(touched)
            .filter(|back| back.is_dirty)
            .map(|back| back.file.path.clone())
            .collect();
        let mut before = None;
        if !dirty.is_empty() {
            let reason = Some(format!("before s{} was brought back", plan.seen.number.0));
            let kept = self.take_snapshot(dirty, SnapshotCause::Restore, reason);
            before = kept.map(|taken| taken.number).or_else(|failure| without(failure, loss, &plan.seen))?;
        }
        let BackPlan { files, resumes } = self.shelf()?.bring_back(&plan.order)?;
        if let Some(number) = before {
            let paths = files.iter().filter(touched).map(|back| back.file.path.as_str());
            self.note_after(number, paths)?;
        }
        Ok(Plan { files, resumes, before, rev: before.unwrap_or(plan.rev), ..plan })
    }

    /// What nobody asked for by name is left alone where it is with somebody else: an undo says which that is.
    fn sparing_others(&mut self, mut plan: Plan) -> Result<Plan, Failure> {
        let others = self.with_others(&plan)?;
        if !others.is_empty() {
            plan.order.others.extend(others);
            let BackPlan { files, resumes } = self.shelf()?.plan(&plan.order)?;
            (plan.files, plan.resumes) = (files, resumes);
        }
        Ok(plan)
    }

    /// Files of a plan that others took since or are at, and whose they are. A person is kept from nothing.
    fn with_others(&mut self, plan: &Plan) -> Result<BTreeMap<String, AgentName>, Failure> {
        let (key, mut found) = (self.site.key.clone(), BTreeMap::new());
        for some in self.written_over(plan).chunks(TARGETS_PER_REQUEST_MAX) {
            let targets = some.iter().map(|path| path.target.clone()).collect();
            let edit = Reserve { best_effort: true, ..self.edit_of(targets, None) };
            let outcome = self.preview_in(&key, Command::Reserve(edit))?.outcome;
            if let Err(failure) = &outcome
                && failure.slug != Slug::ReservationHeld
            {
                return outcome.map(|_| found);
            }
            let kept = plan.seen.number;
            let owned = |path: &PathOfCommit| Some((path.path.clone(), owner(&outcome, &path.target, kept)?));
            found.extend(some.iter().filter_map(owned));
        }
        Ok(found)
    }

    /// Files that an agent would write over, as far as agents are kept from each other's; none if a person does it.
    fn written_over(&mut self, plan: &Plan) -> Vec<PathOfCommit> {
        let is_touched = |back: &&Back| back.state.is_touched() || back.restages;
        let paths: Vec<String> =
            plan.files.iter().filter(is_touched).map(|back| back.file.path.clone()).collect();
        let guarded = self.paths_of_commit(&paths).into_iter().filter(|path| path.is_guarded).collect();
        if paths.is_empty() || self.refuse_agent("").is_ok() { Vec::new() } else { guarded }
    }

    /// An agent writes over nothing that is with somebody else, here as little as in an edit.
    fn refuse_over_others(&mut self, plan: &Plan) -> Result<(), Failure> {
        let targets: Vec<Target> = self.written_over(plan).into_iter().map(|path| path.target).collect();
        let key = self.site.key.clone();
        for some in targets.chunks(TARGETS_PER_REQUEST_MAX) {
            let reserve = Command::Reserve(self.edit_of(some.to_vec(), None));
            // Nothing is waited for here, so only who it is leads on.
            self.preview_in(&key, reserve)?.outcome.map_err(|mut failure| {
                failure.hints.truncate(1);
                failure
            })?;
        }
        Ok(())
    }

    /// Lets nobody pass whom anything says to be an agent.
    fn refuse_agent(&mut self, message: &str) -> Result<(), Failure> {
        let now = self.now()?;
        let read = ReadSet { agents: AgentLookup::of(&self.caller), ..ReadSet::default() };
        let slice = self.read(|snapshot| snapshot.load(&read, &now))?.unwrap_or_default();
        match is_person(&slice, &self.caller) {
            true => Ok(()),
            false => Err(Failure::new(Slug::NotOperator, message)
                .hint("ask a person to run it in a terminal of their own")),
        }
    }

    fn plan(
        &mut self,
        rev: Seq,
        seen: SnapshotSeen,
        paths: Vec<String>,
        over_changes: bool,
    ) -> Result<Plan, Failure> {
        let unchanged = self.unchanged_since(seen.number)?;
        let ignored_beside = self.file_beside_store(IGNORED_SUFFIX)?;
        let commit = seen.commit.clone();
        let order =
            BackOrder { commit, paths, over_changes, unchanged, others: BTreeMap::new(), ignored_beside };
        let BackPlan { files, resumes } = self.shelf()?.plan(&order)?;
        Ok(Plan { rev, seen, files, resumes, remakes: None, before: None, order })
    }

    /// Where snapshots of this checkout lie.
    pub(crate) fn shelf(&mut self) -> Result<Box<dyn Shelf + '_>, Failure> {
        let root = self.site.root.clone().filter(|_| self.site.kind == SiteKind::Git);
        let root = root.ok_or_else(no_checkout)?;
        self.outside.shelf(&root)
    }

    /// Of these words those that are no file stand, if they are patterns, for the paths among `known` that they match.
    fn matching(
        &mut self,
        words: &[String],
        known: impl FnOnce(&mut Self) -> Result<Vec<String>, Failure>,
    ) -> Result<Vec<String>, Failure> {
        let is_pattern = |word: &String| word.contains(['*', '?', '[', '{']);
        if !words.iter().any(is_pattern) {
            return self.places(words);
        }
        let known = known(self)?;
        let mut found = Vec::new();
        for word in words {
            match self.target(Kind::Path, word)? {
                Target::Path(pattern) if pattern.as_literal().is_none() => {
                    let fold = self.site.fold;
                    let is_meant = |path: &&String| {
                        CanonicalPath::parse(path, fold).is_ok_and(|path| pattern.matches(&path))
                    };
                    let before = found.len();
                    found.extend(known.iter().filter(is_meant).cloned());
                    if found.len() == before {
                        found.push(word.clone());
                    }
                }
                _ => found.extend(self.places(std::slice::from_ref(word))?),
            }
        }
        Ok(found)
    }

    /// Words as paths from the root; everything without any.
    fn places(&mut self, words: &[String]) -> Result<Vec<String>, Failure> {
        if words.is_empty() {
            return Ok(vec![String::new()]);
        }
        // A scope without paths is told apart from a path that is not there.
        self.shelf()?;
        let mut look = Look { outside: self.outside, engine: &mut *self.engine };
        let site = &self.site;
        words.iter().map(|word| look.resolve(site, word).map(|located| located.path)).collect()
    }

    fn names_at(&mut self) -> Result<(Seq, BTreeMap<AgentId, AgentName>), Failure> {
        let seen = self.agents()?;
        let name = |agent: crate::listings::AgentSeen| (agent.view.agent.id, agent.view.agent.name);
        Ok((seen.rev, seen.agents.into_iter().map(name).collect()))
    }

    fn snapshot_meant(&mut self, word: &str) -> Result<SnapshotSeen, Failure> {
        let number = word.strip_prefix('s').unwrap_or(word).parse::<u64>().map_err(|_| {
            let message = format!("{} is no number of a snapshot, such as 41 or s41", quoted(word));
            Failure::new(Slug::InvalidId, message).hint(SNAPSHOTS)
        })?;
        let found = self.shelf()?.list()?.into_iter().find(|seen| seen.number.0 == number);
        found.ok_or_else(|| {
            Failure::new(Slug::NotFound, format!("there is no snapshot s{number}")).hint(SNAPSHOTS)
        })
    }

    /// The last snapshot before this one that `undo` would bring something of back, and how many files of it.
    pub fn due_before(&mut self, plan: &Plan) -> Result<Option<(Seq, usize)>, Failure> {
        let (here, number) = (self.site.worktree().0, plan.seen.number);
        let is_meant = |seen: &SnapshotSeen| {
            seen.worktree == here && seen.number < number && seen.cause.is_some_and(SnapshotCause::is_undone)
        };
        let list = self.shelf()?.list()?;
        for seen in list.into_iter().filter(is_meant).take(LOOKED_BEFORE_MAX) {
            let earlier = self.plan(plan.rev, seen, vec![String::new()], false)?;
            if earlier.is_due() {
                let due = earlier.files.iter().filter(|back| back.state.is_touched()).count();
                return Ok(Some((earlier.seen.number, due)));
            }
        }
        Ok(None)
    }

    fn last_undone(&mut self) -> Result<SnapshotSeen, Failure> {
        let here = self.site.worktree().0;
        let is_meant =
            |seen: &SnapshotSeen| seen.worktree == here && seen.cause.is_some_and(SnapshotCause::is_undone);
        self.shelf()?.list()?.into_iter().find(is_meant).ok_or_else(|| {
            Failure::new(Slug::NotFound, "nothing that was written over in this checkout is kept")
                .hint(SNAPSHOTS)
        })
    }

    /// The same of a linked checkout that is gone, whose place is free: there is nothing to be careful of.
    fn plan_anew(&mut self, rev: Seq, seen: &SnapshotSeen) -> Result<Option<Plan>, Failure> {
        if !self.is_gone(seen) {
            return Ok(None);
        }
        let ignored_beside = self.file_beside_store(IGNORED_SUFFIX)?;
        let plan = self.shelf()?.plan_anew(&seen.commit)?;
        let order = BackOrder {
            commit: seen.commit.clone(),
            paths: vec![String::new()],
            over_changes: false,
            unchanged: BTreeSet::new(),
            others: BTreeMap::new(),
            ignored_beside,
        };
        let remakes = Some(seen.worktree.clone());
        let made = |BackPlan { files, resumes }| Plan {
            rev,
            seen: seen.clone(),
            files,
            resumes,
            remakes,
            before: None,
            order,
        };
        Ok(plan.map(made))
    }

    /// Whether nothing lies any more where the checkout of a snapshot was.
    fn is_gone(&self, seen: &SnapshotSeen) -> bool {
        let is_elsewhere = seen.worktree != self.site.worktree().0;
        is_elsewhere && self.outside.changed_at(Path::new(&seen.worktree)).is_none()
    }

    fn of_this_checkout(&mut self, verb: &str, seen: SnapshotSeen) -> Result<SnapshotSeen, Failure> {
        if seen.worktree == self.site.worktree().0 {
            return Ok(seen);
        }
        let (number, place) = (seen.number.0, shell::word(&seen.worktree));
        let message = format!("s{number} is of another checkout: {}", seen.worktree);
        let root = Path::new(&seen.worktree);
        if self.outside.changed_at(&root.join(".git")).is_some() {
            return Err(Failure::new(Slug::OutsideScope, message)
                .hint(format!("bring it back there: clearway -C {place} {verb} s{number}")));
        }
        let failure = match self.outside.changed_at(root) {
            None => Failure::new(Slug::OutsideScope, format!("{message}, which is gone")),
            Some(_) => Failure::new(Slug::OutsideScope, format!("{message}, where something else lies now"))
                .hint(format!(
                    "put what lies there somewhere else: mv {place} {}",
                    self.name_beside(&seen.worktree)
                )),
        };
        if self.shelf()?.plan_anew(&seen.commit)?.is_some() {
            return Err(failure.hint(format!("bring it back with its checkout: clearway undo s{number} -y")));
        }
        let here = shell::word(&self.site.worktree().0);
        let commit = seen.base.as_ref().unwrap_or(&seen.commit);
        // Git still lists a checkout that was removed by hand, and makes it again only if it is told to.
        let made = format!("git -C {here} worktree add --force --detach {place} {commit}");
        Err(failure
            .hint(Hint::Advice(format!("make a checkout there first: {made}")))
            .hint(format!("bring it back there: clearway -C {place} restore s{number}")))
    }

    /// Who held a path of a checkout at the instant of a snapshot.
    fn holders_at(&self, leases: &[LeaseView], seen: &SnapshotSeen, path: &str) -> Vec<AgentName> {
        let Ok(path) = CanonicalPath::parse(path, self.site.fold) else { return Vec::new() };
        let is_on = |view: &&LeaseView| match &view.lease.target {
            Target::Path(pattern) => view.lease.worktree.0 == seen.worktree && pattern.matches(&path),
            Target::Name(_) => false,
        };
        let lived = |view: &&LeaseView| {
            let ended = view.lease.ended.map_or(Wall(i64::MAX), |ended| ended.at);
            view.lease.created_at.0 <= seen.at.0 && seen.at.0 <= ended.0
        };
        let mut holders: Vec<AgentName> = Vec::new();
        for view in leases.iter().filter(is_on).filter(lived) {
            if !holders.contains(&view.agent) {
                holders.push(view.agent.clone());
            }
        }
        holders
    }

    /// Notes how files lie there once something was written over what a snapshot holds of them, so that it can be told
    /// whether they changed since. What cannot be noted counts as changed.
    pub(crate) fn note_after<'p>(
        &mut self,
        number: Seq,
        paths: impl Iterator<Item = &'p str>,
    ) -> Result<(), Failure> {
        let Some(root) = self.site.root.clone() else { return Ok(()) };
        let place = self.file_beside_store(&after_suffix(number))?;
        let lines: String = paths
            .map(|path| format!("{}\t{}\n", changed_at(self.outside, &root, path), one_line(path)))
            .collect();
        self.outside.write_private(&place, &lines)
    }

    /// The paths that lie there as they were noted.
    fn unchanged_since(&mut self, number: Seq) -> Result<BTreeSet<String>, Failure> {
        let Some(root) = self.site.root.clone() else { return Ok(BTreeSet::new()) };
        let place = self.file_beside_store(&after_suffix(number))?;
        let text = self.outside.read_text(&place)?.unwrap_or_default();
        let noted = text.lines().filter_map(|line| line.split_once('\t'));
        let noted = noted.map(|(at, path)| (at.to_owned(), as_it_was(path)));
        let is_same = |(at, path): &(String, String)| *at == changed_at(self.outside, &root, path);
        Ok(noted.filter(is_same).map(|(_, path)| path).collect())
    }
}

/// With whom a file is that was asked for, who took it after `kept` or is at it right now. Whoever had it before gets back
/// what is its own.
fn owner(outcome: &Result<Success, Failure>, target: &Target, kept: Seq) -> Option<AgentName> {
    let leases: &[LeaseView] = match outcome {
        Ok(Success::Reserved { refused, .. }) => {
            &refused.iter().find(|refused| refused.target == target.display())?.blockers
        }
        Err(Failure { details: Details::Blockers { leases, .. }, .. }) => leases,
        Ok(_) | Err(_) => return None,
    };
    let is_owned =
        |view: &&LeaseView| view.lease.is_on(target) && (view.in_hand || view.lease.fence.seq > kept);
    leases.iter().find(is_owned).map(|view| view.agent.clone())
}

fn holds_nothing(number: Seq, path: &str) -> Failure {
    let number = number.0;
    Failure::new(Slug::NotFound, format!("s{number} holds nothing at {}", shown(path)))
        .hint(format!("see what it holds: clearway show s{number}"))
}

/// What is to be done about something that is too much to be kept, or cannot be read.
fn without(failure: Failure, loss: Loss, seen: &SnapshotSeen) -> Result<Option<Seq>, Failure> {
    let is_beyond = matches!(failure.slug, Slug::SnapshotTooLarge | Slug::SnapshotUnreadable);
    match loss {
        Loss::Accepted if is_beyond => Ok(None),
        Loss::Refused(verb) if is_beyond => {
            let line = format!(
                "lose what is there now, for a person: clearway {verb} s{} --accept-loss",
                seen.number.0
            );
            Err(Failure { hints: vec![Hint::for_operator(&line)], ..failure })
        }
        _ => Err(failure),
    }
}

fn after_suffix(number: Seq) -> String {
    format!("-after-{}", number.0)
}

/// What tells whether a file is still the one that was looked at.
fn changed_at(outside: &dyn Outside, root: &Path, path: &str) -> String {
    let at: Option<i64> = outside.changed_at(&PathBuf::from(root).join(path));
    at.map_or_else(|| "-".to_owned(), |at| at.to_string())
}

fn one_line(path: &str) -> String {
    path.replace('%', "%25").replace('\n', "%0A")
}

fn as_it_was(line: &str) -> String {
    line.replace("%0A", "\n").replace("%25", "%")
}

/// Why nothing can be said of what is committed.
pub fn no_checkout() -> Failure {
    Failure::new(Slug::NoCheckout, "there is no git checkout here, so nothing is committed or uncommitted")
        .hint("go to a checkout, or name one: cd DIR")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_path_is_one_line_and_read_back() {
        for path in ["a b", "a\nb", "100%", "%0A", "a%250Ab\n"] {
            assert_eq!(as_it_was(&one_line(path)), path);
            assert!(!one_line(path).contains('\n'));
        }
    }
}
