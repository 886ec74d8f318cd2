//! Whether a commit, or a branch that moves past every check, takes along what is with somebody else.

use super::refusal::Asked;
use super::scene::Scene;
use super::{GitAnswer, RefMove, Saying};
use crate::config::Enforcement;
use crate::outside::{Staged, UnderWay};
use crate::session::Session;
use clearway_core::agent::AgentName;
use clearway_core::command::{Command, Commit};
use clearway_core::commit::reverts;
use clearway_core::failure::Failure;
use clearway_core::ids::AgentId;
use clearway_core::path::{CanonicalPath, PathClass};
use clearway_core::pattern::Pattern;
use clearway_core::target::Target;
use std::collections::{BTreeMap, BTreeSet};

/// A path of a commit.
pub(crate) struct PathOfCommit {
    pub(crate) path: String,
    pub(crate) target: Target,
    /// Whether leases are about it. What everybody writes, and what nobody keeps, is nobody's.
    pub(crate) is_guarded: bool,
}

impl Session<'_> {
    pub(super) fn check_commit(
        &mut self,
        under_way: UnderWay,
        saying: &Saying<'_>,
    ) -> Result<GitAnswer, Failure> {
        let scene = self.scene()?;
        if scene.is_halted {
            return self.refuse_halted();
        }
        if scene.own().any(|lease| lease.target.literal().is_some()) {
            self.mark_begin(scene.now);
        }
        let noted = self.noted_by(&|author| scene.others.contains_key(&author))?;
        if scene.foreign().next().is_none() && noted.is_empty() {
            return Ok(GitAnswer::Silent);
        }
        let under_way = self.or_revert(under_way, saying.message);
        let staged = self.outside.staged(&under_way)?;
        let paths = self.guarded_paths(&staged);
        let commit = self.concerning_others(&scene, &staged, &paths, &noted, &under_way)?;
        match self.refusal_of(&commit)? {
            None => Ok(GitAnswer::Silent),
            Some(failure) => {
                let asked = Asked { under_way: &under_way, saying, staged: &staged, paths: &paths };
                self.refuse_commit(&scene, &asked, &commit, failure)
            }
        }
    }

    /// Whoever a person stopped commits nothing, whosever it is.
    fn refuse_halted(&mut self) -> Result<GitAnswer, Failure> {
        let nothing = Commit {
            paths: Vec::new(),
            brought: Vec::new(),
            written: Vec::new(),
            worktree: self.site.worktree(),
        };
        let Err(failure) = self.command(Command::Commit(nothing))?.outcome else {
            return Ok(GitAnswer::Silent);
        };
        Ok(match self.config.mode() {
            Enforcement::Enforce => GitAnswer::Refused(failure),
            Enforcement::Warn => GitAnswer::Warned(failure),
            Enforcement::Observe => GitAnswer::Silent,
        })
    }

    /// Of a revert without conflicts git leaves no mark but the message, which anybody may type: it is one if what is
    /// staged is the reverse of that commit to the letter, as it is where nobody changed its files since.
    fn or_revert(&mut self, under_way: UnderWay, message: Option<&str>) -> UnderWay {
        match (&under_way, message.and_then(reverts)) {
            (UnderWay::Nothing, Some(reverts)) if self.outside.is_reverse(&reverts) => UnderWay::Revert,
            _ => under_way,
        }
    }

    /// Without a lease of anybody else in this checkout git is not asked.
    pub(super) fn check_move(&mut self, moved: &RefMove) -> Result<GitAnswer, Failure> {
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
            Some(failure) => {
                let (under_way, saying) = (&UnderWay::Nothing, &Saying::default());
                let asked = Asked { under_way, saying, staged: &staged, paths: &paths };
                self.refuse_commit(&scene, &asked, &commit, failure)
            }
        }
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
        let beyond: BTreeSet<&str> = staged.beyond.iter().map(String::as_str).collect();
        let brought = held
            .clone()
            .filter(|(path, _)| *under_way != UnderWay::Nothing && !beyond.contains(path.as_str()));
        let brought = brought.map(|(_, target)| target.clone()).collect();
        let is_free = |target: &Target| !scene.leases.iter().any(|lease| lease.is_on(target));
        // What an operation brings along, others may well have written: it is committed already.
        let is_its_own = |path: &str| match under_way {
            UnderWay::Nothing => false,
            _ => !staged.is_apart(path),
        };
        let noted = paths
            .iter()
            .filter(|(path, target)| noted.contains_key(path) && is_free(target) && !is_its_own(path));
        let written = self.written_by_others(scene, &noted.collect::<Vec<_>>())?;
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
}
