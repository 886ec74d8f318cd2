//! What git's hooks ask before a commit and a rebase, and tell after a commit.
//!
//! People pass, with a word. Agents are kept from taking along what is with somebody else. Where nobody invited us
//! nothing is asked of git and nothing is said; a store that fails keeps no person from anything.

use crate::config::Enforcement;
use crate::ground::without_store;
use crate::hooking::{STORE_WAIT, welcome};
use crate::identity;
use crate::outside::{Outside, Staged, UnderWay};
use crate::passing::name_after;
use crate::session::{Globals, Session};
use clearway_core::agent::{AgentName, Liveness};
use clearway_core::command::{Command, Commit, Settle};
use clearway_core::decide::{identify, is_person};
use clearway_core::failure::Failure;
use clearway_core::hint::Hint;
use clearway_core::ids::{AgentId, LeaseId};
use clearway_core::lease::{Grade, Lease};
use clearway_core::negotiation::{Negotiation, NegotiationState};
use clearway_core::path::{CanonicalPath, PathClass};
use clearway_core::pattern::Pattern;
use clearway_core::shell;
use clearway_core::slice::{AgentLookup, AgentView, ReadSet};
use clearway_core::slug::Slug;
use clearway_core::target::Target;
use clearway_core::time::Mono;
use clearway_store::contract::LeaseListing;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// Says why an operator lets a commit take along what is with others.
pub(crate) const REASON_VARIABLE: &str = "CLEARWAY_COMMIT_REASON";

/// Says that a commit is one of ours, which tells by itself what its hooks would.
pub const INSIDE_COMMIT: &str = "CLEARWAY_INSIDE_COMMIT";

/// Paths of one request; more are asked about in several.
const PATHS_ASKED: usize = 128;
/// Paths beyond which none is looked at by itself for what can be committed without it.
pub(crate) const PATHS_TOLD_APART: usize = 32;
/// Bytes of a mark, of which only the last line counts.
const MARK_BYTES_MAX: u64 = 1_024;
/// What git writes into the message of a commit that undoes another.
const REVERTS: &str = "This reverts commit ";
/// The reference that is detached where no branch is checked out.
const HEAD: &str = "HEAD";

/// How a hook of git is answered.
#[derive(Clone, Debug)]
pub enum GitAnswer {
    /// There is nothing to say.
    Silent,
    /// Git goes on, and this is to be known.
    Warned(Failure),
    /// Nothing is in the way, and this is to be known.
    Said(String),
    /// Git is to stop.
    Refused(Failure),
    /// Git goes on though nothing was checked.
    Unchecked(Failure),
}

/// Whether the commit that git is about to make takes along what is with somebody else. `message` is what it will say.
pub fn before_commit(outside: &mut dyn Outside, given: &Globals, message: Option<&str>) -> GitAnswer {
    answered(outside, given, |outside| {
        let under_way = match outside.under_way() {
            // It was asked about when it began, and nobody is left in the middle of it.
            UnderWay::Rebase => return Ok(GitAnswer::Silent),
            UnderWay::Nothing if message.is_some_and(|text| text.contains(REVERTS)) => UnderWay::Revert,
            under_way => under_way,
        };
        on_ground(outside, given, |session| {
            let answer = session.check_commit(&under_way, message)?;
            if !matches!(answer, GitAnswer::Refused(_)) {
                session.note_checked();
            }
            Ok(answer)
        })
    })
}

/// A reference that git is about to change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefMove {
    /// The commit it leads to; zeros if there is none.
    pub from: String,
    /// The commit it will lead to.
    pub to: String,
    /// Its name.
    pub name: String,
}

/// Whether the branch that is checked out, or a detached head, is about to lead to commits that nothing led to before and
/// that take along what is with somebody else. Only asked where settings are strict; what the check before a commit saw
/// passes, and so does everything that was committed before.
pub fn before_move(outside: &mut dyn Outside, given: &Globals, moves: &[RefMove]) -> GitAnswer {
    let Some(head) = outside.hooked_head() else { return GitAnswer::Silent };
    let name = head.branch.as_deref().unwrap_or(HEAD);
    let Some(moved) = moves.iter().find(|moved| moved.name == name) else { return GitAnswer::Silent };
    if moved.to == head.commit || outside.under_way() == UnderWay::Rebase {
        return GitAnswer::Silent;
    }
    answered(outside, given, |outside| {
        on_ground(outside, given, |session| match session.config.is_strict() {
            true => session.check_move(moved),
            false => Ok(GitAnswer::Silent),
        })
    })
}

/// Why commits are not pushed: an agent does not pass on what went past the check and is still with somebody else.
pub fn before_push(outside: &mut dyn Outside, given: &Globals, pushed: &[String]) -> GitAnswer {
    answered(outside, given, |outside| {
        on_ground(outside, given, |session| {
            drop(session.look_for_unchecked(None));
            if session.config.mode() != Enforcement::Enforce {
                return Ok(GitAnswer::Silent);
            }
            Ok(session.unchecked_in(pushed)?.map_or(GitAnswer::Silent, GitAnswer::Refused))
        })
    })
}

/// Gives back what the commit that git made is over with.
pub fn after_commit(outside: &mut dyn Outside, given: &Globals) -> GitAnswer {
    answered(outside, given, |outside| {
        if outside.under_way() == UnderWay::Rebase {
            return Ok(GitAnswer::Silent);
        }
        on_ground(outside, given, |session| {
            drop(session.look_for_unchecked(None));
            let committed = |session: &mut Session<'_>| session.outside.committed_paths();
            let others = session.settle_commit(committed, None)?;
            let is_told_later = session.outside.surroundings().variables.contains_key(INSIDE_COMMIT);
            let clash = if is_told_later { None } else { session.radar_here(&others)? };
            Ok(clash.map_or(GitAnswer::Silent, GitAnswer::Said))
        })
    })
}

/// Whether the rebase that git is about to begin would go over somebody else's uncommitted changes.
pub fn before_rebase(outside: &mut dyn Outside, given: &Globals) -> GitAnswer {
    answered(outside, given, |outside| on_ground(outside, given, |session| session.check_rebase()))
}

/// Git waits, so nobody waits long for a busy store.
fn hurried(given: &Globals) -> Globals {
    Globals { timeout: Some(STORE_WAIT.to_owned()), ..given.clone() }
}

fn on_ground(
    outside: &mut dyn Outside,
    given: &Globals,
    act: impl FnOnce(&mut Session<'_>) -> Result<GitAnswer, Failure>,
) -> Result<GitAnswer, Failure> {
    let here = outside.surroundings().cwd.clone().unwrap_or_default();
    let globals = hurried(given);
    let Some(ground) = welcome(outside, &globals, &here)? else { return Ok(GitAnswer::Silent) };
    act(&mut Session::on(outside, &globals, ground)?)
}

/// What cannot be checked passes with a word, unless an agent is at it that nobody watches.
fn answered(
    outside: &mut dyn Outside,
    given: &Globals,
    act: impl FnOnce(&mut dyn Outside) -> Result<GitAnswer, Failure>,
) -> GitAnswer {
    let failure = match act(outside) {
        Ok(answer) => return answer,
        Err(failure) => failure,
    };
    let here = outside.surroundings().cwd.clone().unwrap_or_default();
    let Ok((config, _)) = without_store(outside, &hurried(given), &here) else {
        return GitAnswer::Unchecked(failure);
    };
    let is_agent = config.agent().is_some() || identity::inside_session(&outside.surroundings().variables);
    match is_agent && config.is_unattended() {
        true => GitAnswer::Refused(failure),
        false => GitAnswer::Unchecked(failure),
    }
}

/// Who calls, and who else is in this checkout.
struct Scene {
    is_person: bool,
    family: BTreeSet<AgentId>,
    /// Live leases on paths of this checkout.
    leases: Vec<Lease>,
    /// Leases out of which the holder promised a path to who asks, with its next commit of it.
    promised: Vec<(LeaseId, String)>,
    /// Everybody who is not known to be gone, by its id.
    others: BTreeMap<AgentId, AgentName>,
    /// Other checkouts in which they hold paths.
    elsewhere: BTreeSet<String>,
    now: Mono,
}

/// A path of a commit.
pub(crate) struct PathOfCommit {
    pub(crate) path: String,
    pub(crate) target: Target,
    /// Whether leases are about it. What everybody writes, and what nobody keeps, is nobody's.
    pub(crate) is_guarded: bool,
}

impl Scene {
    fn own(&self) -> impl Iterator<Item = &Lease> {
        self.leases.iter().filter(|lease| self.family.contains(&lease.holder))
    }

    fn promises(&self, lease: LeaseId) -> bool {
        self.promised.iter().any(|(id, _)| *id == lease)
    }

    fn foreign(&self) -> impl Iterator<Item = &Lease> {
        self.leases.iter().filter(|lease| !self.family.contains(&lease.holder))
    }
}

impl Session<'_> {
    fn check_commit(&mut self, under_way: &UnderWay, message: Option<&str>) -> Result<GitAnswer, Failure> {
        let scene = self.scene()?;
        if scene.own().any(|lease| lease.target.literal().is_some()) {
            self.mark_begin(scene.now);
        }
        let noted = self.noted_by(&|author| scene.others.contains_key(&author))?;
        if scene.foreign().next().is_none() && noted.is_empty() {
            return Ok(GitAnswer::Silent);
        }
        let staged = self.outside.staged(under_way)?;
        let paths = self.guarded_paths(&staged);
        let commit = self.concerning_others(&scene, &staged, &paths, &noted, under_way)?;
        match self.refusal_of(&commit)? {
            None => Ok(GitAnswer::Silent),
            Some(failure) => self.refuse_commit(&scene, under_way, message, &paths, &commit, failure),
        }
    }

    /// Without a lease of anybody else in this checkout git is not asked.
    fn check_move(&mut self, moved: &RefMove) -> Result<GitAnswer, Failure> {
        let scene = self.scene()?;
        if scene.is_person || scene.foreign().next().is_none() || self.was_checked(&moved.from) {
            return Ok(GitAnswer::Silent);
        }
        let staged = Staged { paths: self.outside.new_paths(&moved.from, &moved.to)?, ..Staged::default() };
        let paths = self.guarded_paths(&staged);
        let nobodys = BTreeMap::new();
        let commit = self.concerning_others(&scene, &staged, &paths, &nobodys, &UnderWay::Nothing)?;
        match self.refusal_of(&commit)? {
            None => Ok(GitAnswer::Silent),
            Some(failure) => self.refuse_commit(&scene, &UnderWay::Nothing, None, &paths, &commit, failure),
        }
    }

    /// The caller and its subagents.
    pub(crate) fn own_family(&mut self) -> Result<BTreeSet<AgentId>, Failure> {
        Ok(self.scene()?.family)
    }

    fn refuse_commit(
        &mut self,
        scene: &Scene,
        under_way: &UnderWay,
        message: Option<&str>,
        paths: &[(String, Target)],
        commit: &Commit,
        failure: Failure,
    ) -> Result<GitAnswer, Failure> {
        let reason = self.outside.surroundings().variables.get(REASON_VARIABLE).cloned();
        if let Some(reason) = reason.filter(|reason| !reason.is_empty()) {
            self.act_as_operator(&reason)?;
            return Ok(match self.decide_commit(commit)? {
                Ok(()) => GitAnswer::Silent,
                Err(failure) if scene.is_person => GitAnswer::Warned(failure),
                Err(failure) => GitAnswer::Refused(failure),
            });
        }
        match self.config.mode() {
            _ if scene.is_person => return Ok(GitAnswer::Warned(without_advice(failure))),
            Enforcement::Observe => return Ok(GitAnswer::Silent),
            Enforcement::Warn => return Ok(GitAnswer::Warned(without_advice(failure))),
            Enforcement::Enforce => {}
        }
        let Err(failure) = self.decide_commit(commit)? else { return Ok(GitAnswer::Silent) };
        let rest = self.rest(paths, commit)?;
        let hint = way_out(under_way, message, &rest, paths, commit);
        Ok(GitAnswer::Refused(self.at_root(without_advice(failure).hint(hint))))
    }

    /// What of a commit may concern somebody else.
    fn concerning_others(
        &mut self,
        scene: &Scene,
        staged: &Staged,
        paths: &[(String, Target)],
        noted: &BTreeMap<String, BTreeSet<AgentId>>,
        under_way: &UnderWay,
    ) -> Result<Commit, Failure> {
        let is_held = |target: &Target| scene.foreign().any(|lease| lease.is_on(target));
        let held = paths.iter().filter(|(_, target)| is_held(target));
        let changed: BTreeSet<&str> = staged.changed_since.iter().map(String::as_str).collect();
        let brought = held
            .clone()
            .filter(|(path, _)| *under_way != UnderWay::Nothing && !changed.contains(path.as_str()));
        let brought = brought.map(|(_, target)| target.clone()).collect();
        let is_free = |target: &Target| !scene.leases.iter().any(|lease| lease.is_on(target));
        let noted = paths.iter().filter(|(path, target)| noted.contains_key(path) && is_free(target));
        let written = match under_way {
            // What an operation brings along, others may well have written: it is committed already.
            UnderWay::Nothing => self.written_by_others(scene, &noted.collect::<Vec<_>>())?,
            _ => Vec::new(),
        };
        let paths = held.map(|(_, target)| target.clone()).collect();
        Ok(Commit { paths, brought, written, worktree: self.site.worktree() })
    }

    /// The staged lines of these files that others wrote.
    fn written_by_others(
        &mut self,
        scene: &Scene,
        noted: &[&(String, Target)],
    ) -> Result<Vec<(Target, AgentName)>, Failure> {
        if noted.is_empty() {
            return Ok(Vec::new());
        }
        let paths: Vec<&str> = noted.iter().map(|(path, _)| path.as_str()).collect();
        let changes = self.outside.staged_lines(&paths)?;
        let authors = self.authors_of(&changes)?;
        let mut written = Vec::new();
        for (path, target) in noted {
            let by = authors.get(path).into_iter().flatten();
            let names = by.filter_map(|author| scene.others.get(author));
            written.extend(names.map(|name| (target.clone(), name.clone())));
        }
        Ok(written)
    }

    /// Why a commit would be refused, as far as can be told without writing anything.
    pub(crate) fn refusal_of(&mut self, commit: &Commit) -> Result<Option<Failure>, Failure> {
        let key = self.site.key.clone();
        for part in parts(commit) {
            match self.preview_in(&key, Command::Commit(part))?.outcome {
                Ok(_) => {}
                Err(failure) if failure.slug == Slug::CommitRefused => return Ok(Some(failure)),
                Err(failure) => return Err(failure),
            }
        }
        Ok(None)
    }

    /// Has a commit decided for good, part by part, up to the first that is refused.
    fn decide_commit(&mut self, commit: &Commit) -> Result<Result<(), Failure>, Failure> {
        for part in parts(commit) {
            if let Err(failure) = self.command(Command::Commit(part))?.outcome {
                return Ok(Err(failure));
            }
        }
        Ok(Ok(()))
    }

    /// What of a commit may be made without the rest.
    fn rest(&mut self, paths: &[(String, Target)], commit: &Commit) -> Result<Vec<String>, Failure> {
        let concerned = |target: &Target| {
            commit.paths.contains(target) || commit.written.iter().any(|(written, _)| written == target)
        };
        let few = commit.paths.len() + commit.written.len() <= PATHS_TOLD_APART;
        let mut rest = Vec::new();
        for (path, target) in paths {
            let is_free = match concerned(target) {
                false => true,
                true => few && self.refusal_of(&commit.only(target))?.is_none(),
            };
            rest.extend(is_free.then(|| path.clone()));
        }
        Ok(rest)
    }

    /// The paths that leases are about.
    fn guarded_paths(&self, staged: &Staged) -> Vec<(String, Target)> {
        let paths = self.paths_of_commit(&staged.paths).into_iter();
        paths.filter(|path| path.is_guarded).map(|path| (path.path, path.target)).collect()
    }

    /// Paths of a commit as leases know them.
    pub(crate) fn paths_of_commit(&self, paths: &[String]) -> Vec<PathOfCommit> {
        let fold = self.site.fold;
        let classes = self.config.classes(fold);
        let known = |path: &String| {
            let canonical = CanonicalPath::parse(path, fold).ok()?;
            let class = classes.as_ref().map_or(PathClass::Plain, |classes| classes.classify(&canonical));
            let is_guarded = !matches!(class, PathClass::Common | PathClass::Ignored);
            let target = Target::Path(Pattern::literal(&canonical));
            Some(PathOfCommit { path: path.clone(), target, is_guarded })
        };
        paths.iter().filter_map(known).collect()
    }

    fn check_rebase(&mut self) -> Result<GitAnswer, Failure> {
        let scene = self.scene()?;
        if scene.foreign().next().is_none() {
            return Ok(GitAnswer::Silent);
        }
        let (key, rebase) = (self.site.key.clone(), Command::Rebase(self.site.worktree()));
        let would_be = match self.preview_in(&key, rebase.clone())?.outcome {
            Ok(_) => return Ok(GitAnswer::Silent),
            Err(failure) if failure.slug == Slug::OthersAtWork || scene.is_person => failure,
            Err(failure) => return Err(failure),
        };
        match self.config.mode() {
            _ if scene.is_person && would_be.slug == Slug::NoIdentity => Ok(GitAnswer::Silent),
            Enforcement::Observe if !scene.is_person => Ok(GitAnswer::Silent),
            Enforcement::Enforce if !scene.is_person => {
                let refused = self.command(rebase)?.outcome;
                let hint = self.elsewhere();
                Ok(refused
                    .map_or_else(|failure| GitAnswer::Refused(failure.hint(hint)), |_| GitAnswer::Silent))
            }
            _ => Ok(GitAnswer::Warned(would_be)),
        }
    }

    /// A checkout of its own, where nobody else is.
    fn elsewhere(&self) -> Hint {
        let root = self.site.root.as_ref().map(|root| root.display().to_string()).unwrap_or_default();
        let mut names = (1..).map(|number| format!("{root}-{number}"));
        let name = names.find(|name| !self.outside.is_directory(PathBuf::from(name).as_path()));
        let name = shell::word(&name.unwrap_or_default());
        Hint::Advice(format!("rebase in a checkout of your own: git worktree add --detach {name}"))
    }

    fn scene(&mut self) -> Result<Scene, Failure> {
        let (now, here) = (self.now()?, self.site.worktree());
        let read = ReadSet { agents: AgentLookup::of(&self.caller), waits: true, ..ReadSet::default() };
        let found = self.read(|snapshot| {
            let slice = snapshot.load(&read, &now)?;
            Ok((slice, snapshot.leases(LeaseListing::Live, &now)?.leases, snapshot.agents(&now)?))
        })?;
        let (slice, leases, agents) = found.unwrap_or_default();
        let me = identify(&slice, &self.caller).ok().and_then(|identified| identified.known);
        let root = me.map(|view| view.agent.root);
        let is_family = |view: &&AgentView| Some(view.agent.root) == root;
        let family: BTreeSet<AgentId> = agents.iter().filter(is_family).map(|view| view.agent.id).collect();
        let is_path = |lease: &Lease| matches!(lease.target, Target::Path(_)) && lease.worktree == here;
        let facts = self.process_facts(&agents, &[]);
        let is_there = |view: &&AgentView| {
            let liveness = clearway_core::agent::liveness(&view.agent, view.last_seen(), &facts, now.mono);
            liveness != Liveness::Gone && !family.contains(&view.agent.id)
        };
        let others = agents.iter().filter(is_there);
        let others: BTreeMap<AgentId, AgentName> =
            others.map(|view| (view.agent.id, view.agent.name.clone())).collect();
        let is_elsewhere = |lease: &&Lease| {
            matches!(lease.target, Target::Path(_))
                && lease.worktree != here
                && others.contains_key(&lease.holder)
        };
        let elsewhere = leases.iter().filter(is_elsewhere).map(|lease| lease.worktree.0.clone()).collect();
        let is_person = is_person(&slice, &self.caller);
        let is_promised = |asked: &&Negotiation| asked.state == NegotiationState::AfterCommit;
        let promised = slice.negotiations.iter().filter(is_promised);
        let promised =
            promised.filter_map(|asked| Some((asked.lease, asked.target.literal()?.to_owned()))).collect();
        let leases = leases.into_iter().filter(is_path).collect();
        Ok(Scene { is_person, family, leases, promised, others, elsewhere, now: now.mono })
    }

    /// Gives back what hooks took of the family on paths of a commit, `began` being when it began, if that is known. The
    /// checkouts in which others are at work.
    pub(crate) fn settle_commit(
        &mut self,
        committed: impl FnOnce(&mut Self) -> Result<Vec<String>, Failure>,
        began: Option<Mono>,
    ) -> Result<BTreeSet<String>, Failure> {
        let scene = self.scene()?;
        let is_automatic = |lease: &Lease| lease.grade == Grade::Auto && lease.target.literal().is_some();
        let may_end =
            |lease: &&Lease| lease.bound.is_none() && (is_automatic(lease) || scene.promises(lease.id));
        let own: Vec<&Lease> = scene.own().filter(may_end).collect();
        if own.is_empty() {
            return Ok(scene.elsewhere);
        }
        let committed: BTreeSet<String> = committed(self)?.into_iter().collect();
        let is_kept_promise = |lease: &Lease| {
            scene.promised.iter().any(|(id, path)| *id == lease.id && committed.contains(path))
        };
        let is_in_it = |lease: &&&Lease| {
            let is_committed = |path: &str| committed.contains(path);
            (is_automatic(lease) && lease.target.literal().is_some_and(is_committed))
                || is_kept_promise(lease)
        };
        let leases: Vec<_> = own.iter().filter(is_in_it).map(|lease| lease.id).collect();
        let began = began.or_else(|| self.marked_begin()).unwrap_or(scene.now);
        if !leases.is_empty() {
            self.command(Command::Settle(Settle { leases, began }))?.outcome?;
        }
        Ok(scene.elsewhere.clone())
    }

    fn mark(&self) -> Option<PathBuf> {
        let worktree = name_after(&self.site.worktree().0);
        self.outside.passing_file(&format!("commit-{}-{worktree}", self.site.key)).ok()
    }

    /// Notes when a commit began. One that nobody noted began when it was made.
    fn mark_begin(&mut self, now: Mono) {
        let Some(path) = self.mark() else { return };
        let line = now.0.to_string();
        if self.outside.jot(&path, &line, MARK_BYTES_MAX).is_err() {
            drop(self.outside.write_private(&path, &format!("{line}\n")));
        }
    }

    fn marked_begin(&mut self) -> Option<Mono> {
        let path = self.mark()?;
        let text = self.outside.read_text(&path).ok()??;
        drop(self.outside.remove_file(&path));
        text.lines().next_back()?.parse().ok().map(Mono)
    }
}

/// The commit in parts that one request can hold.
fn parts(commit: &Commit) -> Vec<Commit> {
    let with = |paths: &[Target], written: &[(Target, AgentName)]| Commit {
        paths: paths.to_vec(),
        written: written.to_vec(),
        ..commit.clone()
    };
    let held = commit.paths.chunks(PATHS_ASKED).map(|paths| with(paths, &[]));
    held.chain(commit.written.chunks(PATHS_ASKED).map(|written| with(&[], written))).collect()
}

/// One command is enough, and it is not the one of a lease that is wanted.
fn without_advice(mut failure: Failure) -> Failure {
    failure.hints.clear();
    failure
}

/// The one command that leads on.
fn way_out(
    under_way: &UnderWay,
    message: Option<&str>,
    rest: &[String],
    paths: &[(String, Target)],
    commit: &Commit,
) -> Hint {
    let git = |line: &str| Hint::Advice(format!("give it up: git {line}"));
    match under_way {
        UnderWay::Merge(_) => git("merge --abort"),
        UnderWay::CherryPick => git("cherry-pick --abort"),
        UnderWay::Revert => {
            let all: Vec<String> = paths.iter().map(|(path, _)| shell::word(path)).collect();
            git(&format!("restore --staged --worktree {}", all.join(" ")))
        }
        UnderWay::Nothing | UnderWay::Rebase => {
            let rest: Vec<&str> = rest.iter().map(String::as_str).collect();
            let messages = vec![first_paragraph(message)];
            crate::committing::rest_of_it(&messages, "commit the rest", &rest).unwrap_or_else(|| {
                let is_held = |(_, target): &&(String, Target)| commit.paths.contains(target);
                match paths.iter().find(is_held) {
                    Some((path, _)) => Hint::command("see whose it is", "who", &[path]),
                    None => Hint::from("see whose lines they are: clearway diff --stat"),
                }
            })
        }
    }
}

/// What a commit says, without the lines that git puts there for its writer.
fn first_paragraph(message: Option<&str>) -> String {
    let lines = message.unwrap_or_default().lines().filter(|line| !line.starts_with('#'));
    let lines = lines.skip_while(|line| line.trim().is_empty());
    let text: Vec<&str> = lines.take_while(|line| !line.trim().is_empty()).collect();
    if text.is_empty() { "my part".to_owned() } else { text.join(" ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_told_by_its_first_paragraph() {
        for (message, expect) in [
            (Some("\nsplit\nthe lexer\n\nbecause\n# On branch main\n"), "split the lexer"),
            (Some("# Please enter\n"), "my part"),
            (None, "my part"),
        ] {
            assert_eq!(first_paragraph(message), expect);
        }
    }
}
