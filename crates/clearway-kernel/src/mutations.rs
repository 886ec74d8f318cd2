//! The verbs that change something, and `check`, which asks whether one would.

use crate::identity::reason_text;
use crate::lapses::told_with;
use crate::session::Session;
use crate::site::{Found, Site};
use crate::targets::{
    Look, Placed, end_at_scope, lease_ref, looks_like_lease, path_target, refuse_of_git, resource_name,
};
use clearway_core::breadth::{Breadth, too_broad};
use clearway_core::command::{Command, LeaseRef, Release, Renew, Reserve, Selection, Want};
use clearway_core::decide::{Notice, not_shortened};
use clearway_core::duration;
use clearway_core::failure::{Ahead, Details, Failure, LeaseView};
use clearway_core::ids::{LeaseId, ScopeKey, Seq};
use clearway_core::input::lease_span_ms;
use clearway_core::lease::{Grade, Kind, Lease, Mode};
use clearway_core::limits::{BROAD_MS_MAX, TARGETS_PER_REQUEST_MAX, TTL_MS_MAX, TTL_MS_MIN};
use clearway_core::path::CanonicalPath;
use clearway_core::slice::ReadSet;
use clearway_core::slug::Slug;
use clearway_core::target::Target;
use clearway_core::time::Now;
use clearway_store::Reply;

/// `reserve` and `check` as they were typed.
#[derive(Clone, Debug)]
pub struct ReserveWords {
    /// Patterns or names.
    pub targets: Vec<String>,
    /// `--kind`.
    pub kind: Kind,
    /// `--shared`.
    pub mode: Mode,
    /// `--ttl`.
    pub ttl: Option<String>,
    /// `--max`.
    pub max: Option<String>,
    /// `--reason`.
    pub reason: Option<String>,
    /// `--best-effort`.
    pub best_effort: bool,
    /// `--broad`.
    pub broad: bool,
    /// `--strict`.
    pub strict: bool,
}

/// Which leases are meant, as it was typed.
#[derive(Clone, Debug)]
pub struct ChosenWords {
    /// Ids, patterns or names.
    pub targets: Vec<String>,
    /// `--kind` of the patterns or names.
    pub kind: Kind,
    /// `--all`.
    pub all: bool,
}

/// `renew` as it was typed.
#[derive(Clone, Debug)]
pub struct RenewWords {
    /// Which; none means all.
    pub chosen: ChosenWords,
    /// `--ttl`.
    pub ttl: Option<String>,
    /// `--note`: a new stated reason.
    pub note: Option<String>,
}

/// `release` as it was typed.
#[derive(Clone, Debug)]
pub struct ReleaseWords {
    /// Which.
    pub chosen: ChosenWords,
    /// `--keep`: parts to go on holding.
    pub keep: Vec<String>,
}

/// What `check` answers.
#[derive(Clone, Debug)]
pub struct Checked {
    /// The revision looked at.
    pub rev: Seq,
    /// The instant.
    pub now: Now,
    /// Whether it would be granted. During a freeze it may not be although nobody stands in the way.
    pub clear: bool,
    /// Who stands in the way; empty if nobody does.
    pub blockers: Vec<LeaseView>,
    /// Who waits for it longer.
    pub ahead: Vec<Ahead>,
    /// Things to know beside the answer.
    pub notices: Vec<Notice>,
}

/// What the words of `renew`, `release` and `transfer` name.
#[derive(Debug)]
pub(crate) enum Chosen {
    /// Everything the caller holds, wherever.
    Everything,
    /// These, all of one scope.
    These { scope: ScopeKey, selection: Selection },
}

impl Session<'_> {
    /// Takes leases.
    pub fn reserve(&mut self, words: &ReserveWords) -> Result<Reply, Failure> {
        let (scope, reserve) = self.reservation(words)?;
        let reply = self.heard(|session| session.command_in(&scope, Command::Reserve(reserve)))?;
        lasting(reply, words.ttl.as_deref())
    }

    /// Asks whether a reservation would be granted: the very decision of `reserve`, of which nothing is written. However
    /// much is asked about, asking takes nothing from anybody: that a claim of it would have to say that it is meant is
    /// told beside the answer.
    pub fn check(&mut self, words: &ReserveWords) -> Result<Checked, Failure> {
        let (scope, reserve, breadth) = self.request(words)?;
        let unsaid = breadth.filter(|_| !words.broad).map(|_| Notice::NeedsBroad {
            targets: words.targets.clone(),
            mode: words.mode,
            max_ms: BROAD_MS_MAX,
        });
        let Reply { rev, now, mut notices, outcome, .. } =
            self.preview_in(&scope, Command::Reserve(reserve))?;
        // What granting would bring about did not happen; what is so without it is so all the same.
        notices.retain(|notice| {
            matches!(notice, Notice::UnreadableRows(_) | Notice::EndsAtScope { .. } | Notice::Frozen { .. })
        });
        notices.extend(self.place_notice().into_iter().chain(unsaid));
        let clear = outcome.is_ok();
        if clear {
            notices.extend(self.held_names(words.kind, &words.targets)?.into_iter().map(Notice::IsName));
            notices.extend(self.machine_names(words.kind, &words.targets)?);
        }
        let (blockers, ahead) = match outcome {
            Ok(_) => (Vec::new(), Vec::new()),
            Err(Failure { details: Details::Blockers { leases, ahead }, .. }) => (leases, ahead.into()),
            Err(failure) => return Err(failure),
        };
        Ok(Checked { rev, now, clear, blockers, ahead, notices })
    }

    /// Extends leases.
    pub fn renew(&mut self, words: &RenewWords) -> Result<Reply, Failure> {
        let ttl_ms = words.ttl.as_deref().map(|text| lease_span_ms(text, "--ttl")).transpose()?;
        let reason = words.note.as_deref().map(reason_text).transpose()?;
        let renew = |selection| Command::Renew(Renew { selection, ttl_ms, reason });
        let reply = match self.chosen(&words.chosen)?.unwrap_or(Chosen::Everything) {
            Chosen::Everything => {
                let all = renew(Selection::All);
                let lapses = self.lapses()?;
                told_with(self.heard(|session| session.command_everywhere(all.clone(), all))?, lapses)
            }
            Chosen::These { scope, selection } => {
                let command = renew(selection.clone());
                let reply = self.heard(|session| session.command_in(&scope, command))?;
                let reply = self.unless_ran_out(&scope, &selection, reply)?;
                self.with_names(&words.chosen, reply)?
            }
        };
        lasting(reply, words.ttl.as_deref())
    }

    /// Gives leases back.
    pub fn release(&mut self, words: &ReleaseWords) -> Result<Reply, Failure> {
        within_limit(words.keep.len())?;
        let kind = words.chosen.kind;
        let keep: Vec<Target> =
            words.keep.iter().map(|text| self.target(kind, text)).collect::<Result<_, _>>()?;
        let chosen = self
            .chosen(&words.chosen)?
            .ok_or_else(|| usage("name what to release", "everything you hold: clearway release --all"))?;
        match chosen {
            Chosen::Everything => {
                let all = |keep| Command::Release(Release { selection: Selection::All, keep });
                let (here, there) =
                    keep.into_iter().partition(|target| self.scope_of(target) == self.site.key);
                self.heard(|session| session.command_everywhere(all(here), all(there)))
            }
            Chosen::These { scope, selection } => {
                let scopes = keep.iter().map(|target| self.scope_of(target));
                let scope = self.one_scope(std::iter::once(scope).chain(scopes))?;
                let release = Command::Release(Release { selection, keep });
                let reply = self.heard(|session| session.command_in(&scope, release))?;
                self.with_names(&words.chosen, reply)
            }
        }
    }

    /// What the words name; `None` if they name nothing.
    pub(crate) fn chosen(&mut self, words: &ChosenWords) -> Result<Option<Chosen>, Failure> {
        within_limit(words.targets.len())?;
        match (words.all, words.targets.is_empty()) {
            (true, true) => Ok(Some(Chosen::Everything)),
            (false, false) => self.named(words).map(Some),
            (true, false) => Err(usage("--all and named leases exclude each other", "leave out one of them")),
            (false, true) => Ok(None),
        }
    }

    /// Begins the scope, if it has not begun: from then on hooks act here.
    pub fn invite(&mut self) -> Result<Reply, Failure> {
        self.command(Command::Open)
    }

    /// Records every expiry, and keeps snapshots and messages no longer that were kept for long enough.
    pub fn sweep(&mut self) -> Result<Reply, Failure> {
        let mut reply = self.command(Command::Sweep)?;
        self.forget_outlived();
        let messages = self.forget_old_mail(u64::MAX);
        reply.notices.extend((messages > 0).then_some(Notice::ForgotMail { messages }));
        Ok(reply)
    }

    /// What is asked for. A claim that reaches far has to say that it is meant, and is told what becomes of it.
    pub(crate) fn reservation(&mut self, words: &ReserveWords) -> Result<(ScopeKey, Reserve), Failure> {
        let (scope, reserve, breadth) = self.request(words)?;
        if breadth.is_some() && !words.broad {
            return Err(too_broad(&words.targets, self.config.broad_files()));
        }
        self.notices.extend(breadth);
        Ok((scope, reserve))
    }

    /// The words as a request, and what to know of it if it reaches far.
    fn request(&mut self, words: &ReserveWords) -> Result<(ScopeKey, Reserve, Option<Notice>), Failure> {
        within_limit(words.targets.len())?;
        let wants = self.wants(words)?;
        let scope = self.one_scope(wants.iter().map(|want| self.scope_of(&want.target)))?;
        let max_ms = words.max.as_deref().map(|text| lease_span_ms(text, "--max")).transpose()?;
        let is_broad = self.is_broad(&wants)?;
        let (broad_ms, makes_way) = (is_broad.then_some(BROAD_MS_MAX), is_broad && !words.strict);
        let max_ms = max_ms.into_iter().chain(broad_ms).min();
        let reserve = Reserve {
            wants,
            worktree: self.site.worktree(),
            mode: words.mode,
            grade: Grade::Claimed,
            as_set: words.kind == Kind::WriteSet,
            ttl_ms: self.ttl(words)?,
            max_ms,
            reason: words
                .reason
                .as_deref()
                .map(reason_text)
                .transpose()?
                .filter(|text| !text.trim().is_empty()),
            best_effort: words.best_effort,
            bound: None,
            makes_way,
        };
        let breadth = max_ms.filter(|_| is_broad).map(|max_ms| Notice::Broad { max_ms, makes_way });
        Ok((scope, reserve, breadth))
    }

    fn ttl(&self, words: &ReserveWords) -> Result<u64, Failure> {
        match words.ttl.as_deref() {
            Some(text) => lease_span_ms(text, "--ttl"),
            None => Ok(duration::milliseconds(self.config.claimed_ttl()).clamp(TTL_MS_MIN, TTL_MS_MAX)),
        }
    }

    fn wants(&mut self, words: &ReserveWords) -> Result<Vec<Want>, Failure> {
        let mut wants: Vec<Want> = Vec::with_capacity(words.targets.len());
        for argument in &words.targets {
            let placed = self.placed(words.kind, argument)?;
            let target = placed.target.clone();
            refuse_of_git(&target)?;
            let capacity = self.config.resource(target.canonical()).capacity;
            let capacity = if words.kind == Kind::Name { capacity } else { 1 };
            if !wants.iter().any(|want| want.target == target) {
                let mut look = Look { outside: self.outside, engine: &mut *self.engine };
                self.notices.extend(end_at_scope(&mut look, &self.site, &placed));
                if words.kind != Kind::Name {
                    let named = self.taken_as_path(argument)?;
                    self.notices.extend(named);
                }
                wants.push(Want { target, capacity });
            }
        }
        Ok(wants)
    }

    pub(crate) fn target(&mut self, kind: Kind, argument: &str) -> Result<Target, Failure> {
        self.placed(kind, argument).map(|placed| placed.target)
    }

    fn placed(&mut self, kind: Kind, argument: &str) -> Result<Placed, Failure> {
        match kind {
            Kind::Name => resource_name(&self.config, argument).map(|name| Target::Name(name).into()),
            Kind::Path | Kind::WriteSet => {
                let mut look = Look { outside: self.outside, engine: &mut *self.engine };
                path_target(&mut look, &self.site, argument)
            }
        }
    }

    /// The files are counted only where the patterns alone do not tell, and listed only where there are enough.
    fn is_broad(&mut self, wants: &[Want]) -> Result<bool, Failure> {
        let (breadth, limit) = (Breadth::of(wants), self.config.broad_files());
        if let Some(known) = breadth.known() {
            return Ok(known);
        }
        if self.outside.tracked_count(&self.site).is_none_or(|count| count <= limit) {
            return Ok(false);
        }
        let files = self.outside.tracked_files(&self.site)?;
        let paths = files.iter().filter_map(|file| CanonicalPath::parse(file, self.site.fold).ok());
        Ok(breadth.covers_more_than(limit, paths))
    }

    fn named(&mut self, words: &ChosenWords) -> Result<Chosen, Failure> {
        let (mut leases, mut targets) = (Vec::new(), Vec::new());
        for argument in &words.targets {
            match self.lease_meant(words.kind, argument)? {
                Some(lease) => leases.push(lease),
                None => targets.push(self.target(words.kind, argument)?),
            }
        }
        let ids: Vec<LeaseId> = leases.iter().map(|lease| lease.id).collect();
        let mut scopes = if ids.is_empty() { Vec::new() } else { self.scopes_of_leases(&ids)? };
        scopes.extend(targets.iter().map(|target| self.scope_of(target)));
        let scope = self.one_scope(scopes)?;
        Ok(Chosen::These {
            scope,
            selection: Selection::These { leases, targets, worktree: self.site.worktree() },
        })
    }

    /// The lease that a word is the id of, with or without a fence. A word of that shape may as well be a file, or
    /// something that somebody holds: `makefile`, `database`, `makefile@1`.
    fn lease_meant(&mut self, kind: Kind, argument: &str) -> Result<Option<LeaseRef>, Failure> {
        if !looks_like_lease(argument)
            || self.found(argument) != Found::Nothing
            || self.holds(kind, argument)?
        {
            return Ok(None);
        }
        lease_ref(argument)
    }

    /// Whether somebody holds just what a word names.
    fn holds(&mut self, kind: Kind, argument: &str) -> Result<bool, Failure> {
        let Ok(target) = self.target(kind, argument) else { return Ok(false) };
        let (scope, now) = (self.scope_of(&target), self.now()?);
        let mut read = ReadSet::default();
        read.meet(&self.site.worktree(), &target);
        let slice = self.read_in(&scope, |snapshot| snapshot.load(&read.for_the_answer_alone(), &now))?;
        let is_held = |lease: &Lease| lease.ended.is_none() && lease.target == target;
        Ok(slice.is_some_and(|slice| slice.leases.iter().any(is_held)))
    }

    /// What a word that could be something else is the path of in the working tree.
    pub(crate) fn found(&mut self, argument: &str) -> Found {
        let Site { root: Some(_), .. } = self.site else { return Found::Nothing };
        let mut look = Look { outside: self.outside, engine: &mut *self.engine };
        look.resolve(&self.site, argument).map_or(Found::Nothing, |located| located.found)
    }
}

/// The answer with a word on every lease that lasts longer than the `--ttl` that was typed.
pub(crate) fn lasting(mut reply: Reply, ttl: Option<&str>) -> Result<Reply, Failure> {
    if let (Some(text), Ok(success)) = (ttl, &reply.outcome) {
        reply.notices.extend(not_shortened(success, lease_span_ms(text, "--ttl")?, &reply.now));
    }
    Ok(reply)
}

fn within_limit(count: usize) -> Result<(), Failure> {
    if count <= TARGETS_PER_REQUEST_MAX {
        return Ok(());
    }
    let message = format!("at most {TARGETS_PER_REQUEST_MAX} targets in one request; these are {count}");
    Err(Failure::new(Slug::TooLarge, message).hint("name a directory or a pattern instead of every file"))
}

pub(crate) fn usage(message: &str, hint: &str) -> Failure {
    Failure::new(Slug::Usage, message).hint(hint)
}
