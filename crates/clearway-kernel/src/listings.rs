//! The verbs that look at what is held: leases, who, agents, status. None of them writes.

use crate::checked::UncheckedCommit;
use crate::config::Enforcement;
use crate::failures::store_failure;
use crate::lately::{Lately, lately};
use crate::overwritten::{OverwrittenFile, still_overwritten};
use crate::own::ENDED_ROWS;
use crate::queueing::with_queue;
use crate::scopes::MachineWide;
use crate::session::Session;
use crate::targets::end_at_inner;
use clearway_core::agent::{self, AgentName, Caller, Liveness};
use clearway_core::decide::{Identified, Notice, identify, lost_tail};
use clearway_core::facts::{FactQuery, Facts};
use clearway_core::failure::{Failure, LeaseView};
use clearway_core::ids::{AgentId, LeaseId, ScopeKey, Seq};
use clearway_core::lease::{Kind, Lease};
use clearway_core::nearest::nearest;
use clearway_core::negotiation::NegotiationView;
use clearway_core::pattern::Fold;
use clearway_core::refused::RefusedEdit;
use clearway_core::slice::{AgentLookup, AgentView, Freeze, ReadSet, ScopeState, Slice, household};
use clearway_core::slug::Slug;
use clearway_core::target::{Target, Worktree};
use clearway_core::text::shown;
use clearway_core::time::Now;
use clearway_core::wait::{Queued, waiters_for};
use clearway_store::contract::{LeaseListing, Listed};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Ended leases shown by `leases --history` when nothing narrows them.
const HISTORY_ROWS: usize = 1_000;

/// Which leases to show.
#[derive(Clone, Debug, Default)]
pub struct LeaseFilter {
    /// `--agent-name`.
    pub agent: Option<String>,
    /// `--pattern`: those that overlap it.
    pub pattern: Option<String>,
    /// `--history`: ended ones too.
    pub history: bool,
}

/// Leases found.
#[derive(Clone, Debug)]
pub struct Leases {
    /// The revision looked at.
    pub rev: Seq,
    /// The instant.
    pub now: Now,
    /// In the order of their fences. An overdue one is shown as expired, though nobody recorded it yet.
    pub leases: Vec<LeaseView>,
    /// Those that the caller holds in the scope of the machine.
    pub machine_wide: Vec<LeaseView>,
    /// How many of others there are in force there.
    pub elsewhere: u64,
    /// Rows nobody can read.
    pub unreadable: Vec<String>,
    /// Things to know beside the answer.
    pub notices: Vec<Notice>,
}

/// Who holds a path or a name.
#[derive(Clone, Debug)]
pub struct Who {
    /// The revision looked at.
    pub rev: Seq,
    /// The instant.
    pub now: Now,
    /// The path, pattern or name asked about.
    pub path: String,
    /// Everyone whose lease overlaps it.
    pub holders: Vec<LeaseView>,
    /// Everyone who waits for something that overlaps it.
    pub waiters: Vec<Queued>,
    /// Things to know beside the answer.
    pub notices: Vec<Notice>,
}

/// Agents found.
#[derive(Clone, Debug)]
pub struct Agents {
    /// The revision looked at.
    pub rev: Seq,
    /// The instant.
    pub now: Now,
    /// In the order they came.
    pub agents: Vec<AgentSeen>,
}

/// One agent as an onlooker sees it.
#[derive(Clone, Debug)]
pub struct AgentSeen {
    /// The agent.
    pub view: AgentView,
    /// How alive it looks.
    pub liveness: Liveness,
    /// For how many it waits.
    pub waiting: u64,
}

impl AgentSeen {
    /// How it looks, in a word for people.
    pub fn word(&self) -> &'static str {
        self.liveness.word_for(self.is_halted())
    }

    /// Whether a person stopped it.
    pub fn is_halted(&self) -> bool {
        self.view.agent.halted.is_some()
    }

    /// Whether its edits are refused again and again.
    pub fn is_looping(&self, now: &Now) -> bool {
        self.view.memo.loops_at(now.mono).is_some()
    }
}

/// One look at everything.
#[derive(Clone, Debug)]
pub struct Status {
    /// The revision looked at.
    pub rev: Seq,
    /// The instant.
    pub now: Now,
    /// The checkout that the caller stands in.
    pub here: Worktree,
    /// Who the caller is here, if it is known.
    pub me: Option<(AgentId, AgentName)>,
    /// Every agent that is not gone, and every gone one that still holds something.
    pub agents: Vec<AgentSeen>,
    /// Live leases.
    pub leases: Vec<LeaseView>,
    /// The queue, in the order of places.
    pub waits: Vec<Queued>,
    /// Who asks whom for what.
    pub negotiations: Vec<NegotiationView>,
    /// What the caller has in the scope of the machine.
    pub machine_wide: MachineWide,
    /// The pause a person ordered.
    pub frozen: Option<Freeze>,
    /// What went past the check within a day, the earliest first, if it was asked for.
    pub unchecked: Vec<UncheckedCommit>,
    /// What is held and was written by others within a day, and not edited by its holder since, the earliest first, if it was
    /// asked for.
    pub overwritten: Vec<OverwrittenFile>,
    /// What needs a person.
    pub warnings: Vec<String>,
}

impl Session<'_> {
    /// Lists leases.
    pub fn leases(&mut self, filter: &LeaseFilter) -> Result<Leases, Failure> {
        let pattern = filter.pattern.as_deref().map(|text| self.held_target(Kind::Path, text)).transpose()?;
        let beyond = pattern.as_ref().and_then(end_at_inner);
        let wanted = if filter.history { LeaseListing::WithEnded(HISTORY_ROWS) } else { LeaseListing::Live };
        let mut found = self.look(wanted)?;
        let there = self.machine_wide(wanted)?;
        (found.machine_wide, found.elsewhere) = (there.leases, there.others_hold);
        let here = self.site.worktree();
        let is_wanted = |view: &LeaseView| {
            let by_agent = filter.agent.as_ref().is_none_or(|name| view.agent.as_str() == name);
            let by_pattern = pattern
                .as_ref()
                .is_none_or(|pattern| view.lease.worktree == here && view.lease.is_on(&pattern.target));
            by_agent && by_pattern && (filter.history || view.lease.ended.is_none())
        };
        found.leases.retain(is_wanted);
        found.machine_wide.retain(is_wanted);
        let is_empty = found.leases.is_empty() && found.machine_wide.is_empty();
        if let Some(name) = filter.agent.as_deref().filter(|_| is_empty) {
            found.notices.extend(self.unknown_agent(name)?);
        }
        found.notices.extend(beyond.into_iter().chain(self.place_notice()));
        Ok(found)
    }

    /// What to say of a name that no agent here has.
    pub fn unknown_agent(&mut self, name: &str) -> Result<Option<Notice>, Failure> {
        let known: Vec<AgentName> =
            self.agents()?.agents.into_iter().map(|seen| seen.view.agent.name).collect();
        if known.iter().any(|agent| agent.as_str() == name) {
            return Ok(None);
        }
        let near = nearest(name, known.iter().map(AgentName::as_str));
        let near = known.iter().find(|agent| Some(agent.as_str()) == near).cloned();
        Ok(Some(Notice::UnknownAgent { name: name.to_owned(), near }))
    }

    /// Tells who holds a path, a pattern or a name.
    pub fn who(&mut self, kind: Kind, argument: &str) -> Result<Who, Failure> {
        let placed = self.held_target(kind, argument)?;
        let beyond = end_at_inner(&placed);
        let target = placed.target;
        let scope = self.scope_of(&target);
        let (here, now) = (self.site.worktree(), self.now()?);
        let mut read = ReadSet { waits: true, ..ReadSet::default() };
        read.meet(&here, &target);
        let read = read.for_the_answer_alone();
        let slice = self.read_in(&scope, |snapshot| with_queue(snapshot, &read, &now))?.unwrap_or_default();
        let facts = self.process_facts(&slice.agents, &slice.leases);
        let queue = self.queued(&slice, &now)?;
        let mut live = show(&slice.leases, &slice.agents, &facts, &now, slice.scope.is_of(&now.boot));
        count_waiters(&mut live, &queue);
        live.retain(|view| view.lease.ended.is_none());
        live.sort_by_key(|view| view.lease.fence);
        let on_it = |view: &LeaseView| {
            let elsewhere = matches!(target, Target::Path(_)) && view.lease.worktree != here;
            !elsewhere && view.lease.is_on(&target)
        };
        live.retain(on_it);
        let cut = told_of_cut(&slice.scope, &now, live.is_empty())?;
        let names = match live.is_empty() {
            true => self.held_names(kind, &[argument.to_owned()])?,
            false => Vec::new(),
        };
        let machine_wide = match live.is_empty() {
            true => self.machine_names(kind, &[argument.to_owned()])?,
            false => Vec::new(),
        };
        let names = names.into_iter().map(Notice::IsName).chain(machine_wide);
        let notices = names.chain(beyond).chain(self.place_notice()).chain(cut).collect();
        let waiters = queue.into_iter().filter(|queued| queued.wait.wanted.touches(&target, &here)).collect();
        Ok(Who { rev: slice.scope.rev, now, path: target.display(), holders: live, waiters, notices })
    }

    /// Lists agents, each with the leases it effectively holds.
    pub fn agents(&mut self) -> Result<Agents, Failure> {
        let survey = self.survey(LeaseListing::Live)?;
        Ok(Agents { rev: survey.rev(), agents: survey.agents(), now: survey.now })
    }

    /// What `sweep` would record.
    pub fn overdue(&mut self) -> Result<(Seq, Vec<LeaseId>), Failure> {
        let found = self.look(LeaseListing::Live)?;
        let over = found.leases.iter().filter(|view| view.lease.ended.is_some());
        Ok((found.rev, over.map(|view| view.lease.id).collect()))
    }

    /// What to say of leases on paths of a checkout that is gone, such as one that was moved: they protect nothing.
    fn without_place(&self, leases: &[LeaseView], me: Option<AgentId>) -> Vec<String> {
        let roots: BTreeSet<&str> = leases.iter().map(|view| view.lease.worktree.0.as_str()).collect();
        let is_gone = |root: &&str| !root.is_empty() && !self.outside.is_directory(Path::new(root));
        let of_root = |root: &str| {
            let there: Vec<&LeaseView> = leases.iter().filter(|view| view.lease.worktree.0 == root).collect();
            let own = there.iter().filter(|view| Some(view.lease.holder) == me);
            let own: Vec<&str> = own.map(|view| view.lease.id.as_str()).collect();
            let way_out = match own.is_empty() {
                true => "they end when their holders are silent or release them".to_owned(),
                false => format!("give yours back: clearway release {}", own.join(" ")),
            };
            let count = there.len();
            let root = shown(root);
            match count {
                1 => format!("1 lease is on paths of {root}, which is gone, and protects nothing; {way_out}"),
                _ => format!(
                    "{count} leases are on paths of {root}, which is gone, and protect nothing; {way_out}"
                ),
            }
        };
        roots.into_iter().filter(is_gone).map(of_root).collect()
    }

    /// One look at everything, all of it at one revision.
    pub fn full_status(&mut self) -> Result<Status, Failure> {
        self.status_with(LastDay::Read)
    }

    /// The same without what happened within a day.
    pub fn status(&mut self) -> Result<Status, Failure> {
        self.status_with(LastDay::LeftOut)
    }

    fn status_with(&mut self, day: LastDay) -> Result<Status, Failure> {
        let key = self.site.key.clone();
        let survey = self.survey_with(&key, LeaseListing::WithEnded(ENDED_ROWS), day)?;
        self.refuse_gone(survey.rev())?;
        survey.refuse_another(&self.caller)?;
        let mut leases = survey.leases();
        let left_behind = self.left_behind(&leases);
        leases.retain(|view| view.lease.ended.is_none());
        let holds = |id: AgentId| leases.iter().any(|view| view.lease.holder == id);
        let visible = |seen: &AgentSeen| seen.liveness != Liveness::Gone || holds(seen.view.agent.id);
        let mut agents: Vec<AgentSeen> = survey.agents().into_iter().filter(visible).collect();
        let mut machine_wide = self.machine_wide(LeaseListing::Live)?;
        machine_wide.leases.retain(|view| view.lease.ended.is_none());
        // Whoever has something machine-wide is somebody, though it did nothing here yet.
        let elsewhere = machine_wide.me.clone().filter(|_| !machine_wide.is_empty());
        let me = survey.caller(&self.caller).or_else(|| {
            agents.extend(elsewhere.clone());
            elsewhere
        });
        let me = me.map(|seen| (seen.view.agent.id, seen.view.agent.name));
        let scope = &survey.slice.scope;
        let mut warnings: Vec<String> =
            scope.has_lost_tail(&survey.now).then(|| cut(scope)).into_iter().collect();
        warnings.extend(self::warnings(&leases, &survey.listed.unreadable));
        warnings.extend(lenience(self.config.mode()));
        warnings.extend(self.place_notice().and_then(|notice| place_warning(&notice)));
        warnings.extend(self.without_place(&leases, me.as_ref().map(|(id, _)| *id)));
        warnings.extend(left_behind.into_iter().map(|(path, agent)| {
            let why = why_left(agents.iter().find(|seen| seen.view.agent.name.as_str() == agent));
            format!("changes of {agent} in {path} are not committed, and {why}")
        }));
        let negotiations = self.standing(&survey.slice, &survey.now)?;
        warnings.extend(stopped(&agents, &survey.now));
        let frozen = survey.slice.scope.frozen_at(&survey.now).cloned();
        let (rev, now, waits) = (survey.rev(), survey.now, survey.queue);
        let Lately { unchecked, overwritten } = survey.lately;
        let overwritten = still_overwritten(overwritten, &leases, &agents);
        Ok(Status {
            rev,
            now,
            here: self.site.worktree(),
            me,
            agents,
            leases,
            waits,
            negotiations,
            machine_wide,
            frozen,
            unchecked,
            overwritten,
            warnings,
        })
    }

    /// Who the caller is in this scope, if it is known here.
    pub fn me(&mut self) -> Result<Option<(AgentId, AgentName)>, Failure> {
        let key = self.site.key.clone();
        self.me_in(&key)
    }

    pub(crate) fn me_in(&mut self, scope: &ScopeKey) -> Result<Option<(AgentId, AgentName)>, Failure> {
        let known = self.identified_in(scope)?.ok().and_then(|identified| identified.known);
        Ok(known.map(|view| (view.agent.id, view.agent.name)))
    }

    /// Who the caller is, or why that cannot be told.
    pub(crate) fn identified_in(&mut self, scope: &ScopeKey) -> Result<Result<Identified, Failure>, Failure> {
        let read = ReadSet { agents: AgentLookup::of(&self.caller), ..ReadSet::default() };
        let now = self.now()?;
        let slice = self.read_in(scope, |snapshot| snapshot.load(&read, &now))?.unwrap_or_default();
        Ok(identify(&slice, &self.caller))
    }

    pub(crate) fn now(&mut self) -> Result<Now, Failure> {
        let outside = &mut *self.outside;
        self.engine.now(&mut || outside.now()).map_err(|error| store_failure(&error))
    }

    fn look(&mut self, wanted: LeaseListing) -> Result<Leases, Failure> {
        let survey = self.survey(wanted)?;
        let (rev, leases) = (survey.rev(), survey.leases());
        let is_empty = leases.iter().all(|view| view.lease.ended.is_some());
        let notices = told_of_cut(&survey.slice.scope, &survey.now, is_empty)?;
        let unreadable = survey.listed.unreadable;
        let notices = notices.into_iter().collect();
        let (now, machine_wide) = (survey.now, Vec::new());
        Ok(Leases { rev, now, leases, machine_wide, elsewhere: 0, unreadable, notices })
    }

    fn survey(&mut self, wanted: LeaseListing) -> Result<Survey, Failure> {
        let key = self.site.key.clone();
        let survey = self.survey_in(&key, wanted)?;
        self.refuse_gone(survey.rev())?;
        Ok(survey)
    }

    /// Everything there is to list, from one snapshot, with what the machine says of it.
    pub(crate) fn survey_in(&mut self, scope: &ScopeKey, wanted: LeaseListing) -> Result<Survey, Failure> {
        self.survey_with(scope, wanted, LastDay::LeftOut)
    }

    fn survey_with(
        &mut self,
        scope: &ScopeKey,
        wanted: LeaseListing,
        day: LastDay,
    ) -> Result<Survey, Failure> {
        let now = self.now()?;
        let read = ReadSet { agents: AgentLookup::of(&self.caller), waits: true, ..ReadSet::default() };
        let found = self.read_in(scope, |snapshot| {
            let slice = with_queue(snapshot, &read, &now)?;
            let (leases, agents) = (snapshot.leases(wanted, &now)?, snapshot.agents(&now)?);
            let lately = match day {
                LastDay::Read => lately(snapshot, &now, slice.scope.rev, slice.scope.fold, &agents)?,
                LastDay::LeftOut => Lately::default(),
            };
            Ok((slice, leases, agents, lately))
        })?;
        let (slice, listed, views, lately) = found.unwrap_or_default();
        let facts = self.process_facts(&views, &listed.leases);
        let queue = self.queued(&slice, &now)?;
        Ok(Survey { now, slice, listed, views, facts, queue, lately })
    }

    /// What the machine says of the processes behind agents, and of those that keep leases.
    pub(crate) fn process_facts(&mut self, agents: &[AgentView], leases: &[Lease]) -> Facts {
        let behind = agents.iter().filter_map(|view| view.agent.process.clone());
        let open = leases.iter().filter(|lease| lease.ended.is_none());
        let keeping = open.filter_map(|lease| lease.bound.clone());
        let queries = behind.chain(keeping).map(FactQuery::Process).collect();
        let mut facts = Facts::default();
        self.outside.gather(&queries, &mut facts);
        facts
    }
}

/// One look at a scope, before it is put into words.
pub(crate) struct Survey {
    pub(crate) now: Now,
    slice: Slice,
    listed: Listed,
    views: Vec<AgentView>,
    facts: Facts,
    pub(crate) queue: Vec<Queued>,
    lately: Lately,
}

/// Whether what happened within a day is read too, for which the log of that day is looked through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LastDay {
    Read,
    LeftOut,
}

impl Survey {
    /// The caller, if it is known here.
    pub(crate) fn caller(&self, caller: &Caller) -> Option<AgentSeen> {
        let id = identify(&self.slice, caller).ok()?.known?.agent.id;
        self.agents().into_iter().find(|seen| seen.view.agent.id == id)
    }

    /// Refuses to tell a caller what is its own under the name of somebody else, who has something else.
    pub(crate) fn refuse_another(&self, caller: &Caller) -> Result<(), Failure> {
        match identify(&self.slice, caller) {
            Err(failure) if matches!(failure.slug, Slug::NotYou | Slug::InvalidAgentName) => Err(failure),
            _ => Ok(()),
        }
    }

    /// The caller and everybody below it; nobody if it is not known here.
    pub(crate) fn family_of(&self, caller: &Caller) -> BTreeSet<AgentId> {
        let me = identify(&self.slice, caller).ok().and_then(|identified| identified.known);
        let Some(me) = me.map(|view| view.agent.id) else { return BTreeSet::new() };
        let is_below = |view: &&AgentView| view.agent.id == me || view.agent.root == me;
        self.views.iter().filter(is_below).map(|view| view.agent.id).collect()
    }

    /// Everybody of the caller's family, which is one for commits; nobody if the caller is not known here.
    pub(crate) fn household_of(&self, caller: &Caller) -> BTreeSet<AgentId> {
        let me = identify(&self.slice, caller).ok().and_then(|identified| identified.known);
        me.map(|view| household(view.agent.root, &self.views)).unwrap_or_default()
    }

    pub(crate) fn rev(&self) -> Seq {
        self.slice.scope.rev
    }

    pub(crate) fn fold(&self) -> Fold {
        self.slice.scope.fold
    }

    pub(crate) fn leases(&self) -> Vec<LeaseView> {
        let same_boot = self.slice.scope.is_of(&self.now.boot);
        let mut leases = show(&self.listed.leases, &self.views, &self.facts, &self.now, same_boot);
        count_waiters(&mut leases, &self.queue);
        leases
    }

    /// Agents with the leases they effectively hold.
    pub(crate) fn agents(&self) -> Vec<AgentSeen> {
        let mut held: BTreeMap<AgentId, u64> = BTreeMap::new();
        for view in self.leases().iter().filter(|view| view.lease.ended.is_none()) {
            *held.entry(view.lease.holder).or_default() += 1;
        }
        let judge = |view: &AgentView| {
            let live_leases = held.get(&view.agent.id).copied().unwrap_or(0);
            let liveness = agent::liveness(&view.agent, view.at_work(), &self.facts, self.now.mono);
            let waiting =
                self.queue.iter().filter(|queued| queued.wait.agent == view.agent.id).count() as u64;
            AgentSeen { view: AgentView { live_leases, ..view.clone() }, liveness, waiting }
        };
        self.views.iter().map(judge).collect()
    }
}

/// Leases as they effectively are: one whose time, or whose process, is over is shown as expired.
pub(crate) fn show(
    leases: &[Lease],
    agents: &[AgentView],
    facts: &Facts,
    now: &Now,
    same_boot: bool,
) -> Vec<LeaseView> {
    let by_id: BTreeMap<AgentId, &AgentView> = agents.iter().map(|view| (view.agent.id, view)).collect();
    let show_one = |lease: &Lease| {
        let holder = by_id.get(&lease.holder)?;
        let liveness = agent::liveness(&holder.agent, holder.at_work(), facts, now.mono);
        let mut view = LeaseView::new(lease, holder, liveness);
        view.lease.ended = lease.ended_given(holder.last_seen(), now, same_boot, facts);
        Some(view)
    };
    leases.iter().filter_map(show_one).collect()
}

fn count_waiters(leases: &mut [LeaseView], queue: &[Queued]) {
    for view in leases {
        view.waiters = waiters_for(&view.lease, queue.iter().map(|queued| &queued.wait));
    }
}

/// A scope that is not the one its directory had looks empty, or is somebody else's.
fn place_warning(notice: &Notice) -> Option<String> {
    notice.about_place().map(|(text, way_out)| format!("{text}; {way_out}"))
}

/// Whoever was stopped, and whoever goes round in circles, needs a person.
fn stopped(agents: &[AgentSeen], now: &Now) -> Vec<String> {
    let said = |seen: &AgentSeen| {
        let agent = &seen.view.agent;
        match &agent.halted {
            Some(reason) => Some(format!(
                "{} is halted: {reason}; let it go on: clearway resume {} --reason TEXT",
                agent.name, agent.name
            )),
            None => seen.view.memo.loops_at(now.mono).map(|refused| {
                let RefusedEdit { target, times, .. } = refused;
                format!("{} is looping: its edit of {target} was refused {times} times lately", agent.name)
            }),
        }
    };
    agents.iter().filter_map(said).collect()
}

/// That nothing is enforced is easily forgotten.
fn lenience(mode: Enforcement) -> Option<String> {
    let mode = match mode {
        Enforcement::Enforce => return None,
        Enforcement::Warn => "warn",
        Enforcement::Observe => "observe",
    };
    Some(format!("edits of files that are with somebody else are not refused here: mode = {mode}"))
}

fn warnings(leases: &[LeaseView], unreadable: &[String]) -> Vec<String> {
    let is_left = |view: &&LeaseView| view.liveness == Liveness::Gone && view.lease.bound.is_none();
    let gone = leases.iter().filter(is_left);
    let mut found: Vec<String> = gone
        .map(|view| {
            let target = view.lease.target.display();
            format!("{} is gone and still holds {target}: the next to reserve it takes it over", view.agent)
        })
        .collect();
    found
        .extend(unreadable.iter().map(|id| format!("the row of lease {id} cannot be read: clearway doctor")));
    let roots =
        leases.iter().filter(|view| matches!(view.lease.target, Target::Path(ref p) if p.is_root_level()));
    let roots = roots.count();
    if roots > 100 {
        found.push(format!("{roots} patterns without a leading directory slow every request"));
    }
    found
}

/// Of a log that lost its tail what is left is shown and said to be that. That nothing is held would be believed.
fn told_of_cut(scope: &ScopeState, now: &Now, is_empty: bool) -> Result<Option<Notice>, Failure> {
    match lost_tail(scope, now) {
        Some(failure) if is_empty => Err(failure),
        lost => Ok(lost.map(|_| Notice::TailLost { text: cut(scope) })),
    }
}

/// Why nobody holds what an agent left changed, by what is seen of it now.
fn why_left(agent: Option<&AgentSeen>) -> &'static str {
    match agent {
        Some(seen) if seen.view.agent.halted.is_some() => "it is halted",
        Some(seen) if seen.view.agent.ended_at.is_none() && seen.liveness != Liveness::Gone => {
            "it is back without holding it"
        }
        _ => "its session ended",
    }
}

fn cut(scope: &ScopeState) -> String {
    format!("{}; nothing is granted: clearway doctor", scope.tail_is_lost())
}
