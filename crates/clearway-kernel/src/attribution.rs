//! Who wrote what is with somebody else: a look after a tool call that does not say what it writes, such as a command.
//!
//! Each agent has a file whose time of change tells when its last such call began or ended, and paths that others hold
//! are compared with that. Times of files are compared with times of files alone, so no clock has to agree with them. A
//! change that several calls may have made is nobody's; so is one that was there before the call.

use crate::listings::{AgentSeen, LeaseFilter};
use crate::outside::Outside;
use crate::passing::{name_after, note_down};
use crate::session::Session;
use clearway_core::agent::{Agent, ClientSession, Liveness};
use clearway_core::command::Hit;
use clearway_core::decide::identify;
use clearway_core::facts::{FactQuery, Facts};
use clearway_core::failure::Failure;
use clearway_core::ids::{AgentId, ScopeKey};
use clearway_core::lease::Lease;
use clearway_core::limits::{TARGETS_PER_REQUEST_MAX, TTL_MS_AUTO};
use clearway_core::slice::{AgentLookup, AgentView, ReadSet, household};
use clearway_core::target::Target;
use clearway_core::time::Mono;
use clearway_store::contract::LeaseListing;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long is looked at most; what is not seen by then shows at the commit.
const LOOK: Duration = Duration::from_millis(20);
/// Leases of a scope beyond which listing them would take longer than that.
const LEASES_MAX: u64 = 2_000;
/// Bytes of a mark, of which only the last line counts.
const MARK_BYTES_MAX: u64 = 1_024;
const BEGAN: &str = "began";
const OVER: &str = "over";

/// A file that changed, or is not there any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Changed {
    /// Which of those that were asked about.
    pub at: usize,
    /// Whether it is gone, as far as its directory tells.
    pub is_gone: bool,
}

/// Notes that a call begins that may write anything, and what of others was not there any more when it did.
pub(crate) fn begin(outside: &mut dyn Outside, scope: &ScopeKey, caller: &str, absent: &[String]) {
    if let Some(path) = absent_of(outside, scope, caller) {
        if !absent.is_empty() {
            drop(outside.write_private(&path, &absent.join("\n")));
        } else if outside.changed_at(&path).is_some() {
            drop(outside.remove_file(&path));
        }
    }
    mark(outside, scope, caller, BEGAN);
}

/// Notes that a call is over.
pub(crate) fn end(outside: &mut dyn Outside, scope: &ScopeKey, caller: &str) {
    mark(outside, scope, caller, OVER);
}

/// Forgets an agent that is gone.
pub(crate) fn forget(outside: &mut dyn Outside, scope: &ScopeKey, caller: &str) {
    if let Some(path) = mark_of(outside, scope, caller) {
        drop(outside.remove_file(&path));
    }
    if let Some(path) = absent_of(outside, scope, caller) {
        drop(outside.remove_file(&path));
    }
}

fn absent_of(outside: &dyn Outside, scope: &ScopeKey, caller: &str) -> Option<PathBuf> {
    outside.passing_file(&format!("absent-{scope}-{caller}")).ok()
}

/// Leaves a trace of a scope in which a hook took a lease or watched a call, so that its store is missed if it goes.
pub(crate) fn leave_trace(outside: &mut dyn Outside, scope: &ScopeKey) {
    if let Some(path) = trace(outside, scope) {
        drop(outside.write_private(&path, ""));
    }
}

/// Whether a hook took a lease in a scope or watched a call since the machine started. One file tells, which is asked
/// for wherever nobody invited us.
pub(crate) fn left_trace(outside: &mut dyn Outside, scope: &ScopeKey) -> bool {
    trace(outside, scope).is_some_and(|path| matches!(outside.read_text(&path), Ok(Some(_))))
}

fn trace(outside: &dyn Outside, scope: &ScopeKey) -> Option<PathBuf> {
    outside.passing_file(&format!("scope-{scope}")).ok()
}

/// Whether a session that goes on was watched in a scope: what it left is gone with it.
pub(crate) fn was_here(outside: &dyn Outside, scope: &ScopeKey) -> bool {
    !outside.passing_files(&front(scope)).is_empty()
}

fn mark(outside: &mut dyn Outside, scope: &ScopeKey, caller: &str, word: &str) {
    let Some(path) = mark_of(outside, scope, caller) else { return };
    if outside.changed_at(&path).is_none() {
        leave_trace(outside, scope);
    }
    note_down(outside, &path, word, MARK_BYTES_MAX);
}

fn front(scope: &ScopeKey) -> String {
    format!("call-{scope}-")
}

fn mark_of(outside: &dyn Outside, scope: &ScopeKey, caller: &str) -> Option<PathBuf> {
    outside.passing_file(&format!("{}{caller}", front(scope))).ok()
}

/// What tells the calls of one caller: its agent, under whatever session, or the session of somebody whom nobody knows yet,
/// such as a subagent that has taken nothing. Its calls may have changed things all the same.
pub(crate) fn caller(agent: Option<AgentId>, session: &ClientSession) -> String {
    agent.map_or_else(|| name_after(&session.key().0), |agent| agent.to_string())
}

/// The last call of an agent that may have written anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Call {
    /// When its mark was last written, in the time of files.
    at_ns: i64,
    runs: bool,
}

impl Call {
    fn read(outside: &mut dyn Outside, path: &Path) -> Option<Self> {
        let at_ns = outside.changed_at(path)?;
        let text = outside.read_text(path).ok()??;
        Some(Self { at_ns, runs: text.lines().next_back() == Some(BEGAN) })
    }

    /// Whether it may have run at the time of another that began at `start_ns` and ends now. One that was never heard of
    /// again is believed in for as long as a silent agent is.
    fn meets(self, start_ns: i64, now_ns: i64) -> bool {
        let believed_ns = i64::try_from(TTL_MS_AUTO).unwrap_or(i64::MAX).saturating_mul(1_000_000);
        match self.runs {
            true => now_ns.saturating_sub(self.at_ns) < believed_ns,
            false => self.at_ns >= start_ns,
        }
    }
}

impl Session<'_> {
    /// Whether no other call can have run during the caller's, which is about to end.
    pub(crate) fn ran_alone(&mut self, session: &ClientSession, now_ns: i64) -> Result<bool, Failure> {
        let scope = self.site.key.clone();
        let me = caller(self.foreign_leases()?.map(|(me, _)| me), session);
        let own = mark_of(self.outside, &scope, &me);
        let call = own.as_ref().and_then(|own| Call::read(self.outside, own)).filter(|call| call.runs);
        let Some((own, call)) = own.zip(call) else { return Ok(false) };
        let marks = self.outside.passing_files(&front(&scope));
        let mut meets = |mark: &PathBuf| {
            Call::read(self.outside, mark).is_some_and(|other| other.meets(call.at_ns, now_ns))
        };
        Ok(!marks.into_iter().filter(|mark| *mark != own).any(|mark| meets(&mark)))
    }

    /// Files of others that are not there, by their paths: whoever removed them, no call that begins now did. The time of a
    /// directory tells that something in it came or went, and not what.
    pub(crate) fn absent_of_others(&mut self) -> Vec<String> {
        let Some(root) = self.site.root.clone() else { return Vec::new() };
        let held = self.foreign_leases().ok().flatten().map(|(_, held)| held).unwrap_or_default();
        let is_absent = |held: &Foreign| self.outside.changed_at(&root.join(&held.path)).is_none();
        held.into_iter().filter(is_absent).map(|held| held.path).collect()
    }

    /// Leases of others whose files changed during the caller's call, which ends with this.
    pub(crate) fn hits(&mut self, session: &ClientSession) -> Result<Vec<Hit>, Failure> {
        let scope = self.site.key.clone();
        let (me, held) = self.foreign_leases()?.unzip();
        let (me, held) = (caller(me, session), held.unwrap_or_default());
        let own = mark_of(self.outside, &scope, &me);
        let call = own.as_ref().and_then(|own| Call::read(self.outside, own)).filter(|call| call.runs);
        end(self.outside, &scope, &me);
        let Some((own, call)) = own.zip(call) else { return Ok(Vec::new()) };
        let absent =
            absent_of(self.outside, &scope, &me).and_then(|path| self.outside.read_text(&path).ok()?);
        let absent = absent.unwrap_or_default();
        let mut changed = self.changed_of(&held, call.at_ns);
        let own_root = self.site.root.clone().unwrap_or_default();
        let is_there = |held: &Foreign| self.outside.changed_at(&own_root.join(&held.path)).is_some();
        changed.retain(|held| is_there(held) || !absent.lines().any(|path| path == held.path));
        if changed.is_empty() {
            return Ok(Vec::new());
        }
        let now_ns = self.outside.changed_at(&own).unwrap_or(i64::MAX);
        let marks = self.outside.passing_files(&front(&scope));
        let others: BTreeSet<PathBuf> = marks
            .into_iter()
            .filter(|mark| *mark != own)
            .filter(|mark| {
                Call::read(self.outside, mark).is_some_and(|other| other.meets(call.at_ns, now_ns))
            })
            .collect();
        let explained = others.is_empty();
        let mut hits = Vec::new();
        for held in changed {
            let is_holders = |agent: &AgentId| {
                mark_of(self.outside, &scope, &agent.to_string()).is_some_and(|mark| others.contains(&mark))
            };
            if !held.in_hand && !held.family.iter().any(is_holders) {
                hits.push(Hit { lease: held.lease.id, explained });
            }
        }
        Ok(hits)
    }

    /// Those of these files that hold a change which is not committed, and that nobody holds; as many as a request may
    /// name.
    pub(crate) fn changed_and_free(&mut self, targets: Vec<Target>) -> Result<Vec<Target>, Failure> {
        let (now, here) = (self.now()?, self.site.worktree());
        let found = self.read(|snapshot| {
            let few = snapshot.load(&ReadSet::default(), &now)?.scope.live_leases <= LEASES_MAX;
            few.then(|| Ok(snapshot.leases(LeaseListing::Live, &now)?.leases)).transpose()
        })?;
        let Some(held) = found.flatten() else { return Ok(Vec::new()) };
        let held: Vec<Lease> = held.into_iter().filter(|lease| lease.worktree == here).collect();
        let is_free = |target: &Target| !held.iter().any(|lease| lease.is_on(target));
        let free = targets.into_iter().filter(is_free);
        let free = free.filter_map(|target| Some((target.literal()?.to_owned(), target)));
        let free: Vec<(String, Target)> = free.take(TARGETS_PER_REQUEST_MAX).collect();
        let mut facts = Facts::default();
        let queries = free.iter().map(|(path, _)| FactQuery::Dirty(here.clone(), path.clone())).collect();
        self.outside.gather(&queries, &mut facts);
        let is_changed = |path: &str| facts.dirty(&here, path) == Some(true);
        Ok(free.into_iter().filter(|(path, _)| is_changed(path)).map(|(_, target)| target).collect())
    }

    /// Who calls, and the files of this checkout that are with somebody of another family, if there are not too many
    /// leases to look; `None` for somebody whom nobody knows.
    fn foreign_leases(&mut self) -> Result<Option<(AgentId, Vec<Foreign>)>, Failure> {
        let now = self.now()?;
        let read = ReadSet { agents: AgentLookup::of(&self.caller), ..ReadSet::default() };
        let found = self.read(|snapshot| {
            let slice = snapshot.load(&read, &now)?;
            if !(1..=LEASES_MAX).contains(&slice.scope.live_leases) {
                return Ok((slice, Vec::new(), Vec::new()));
            }
            Ok((slice, snapshot.leases(LeaseListing::Live, &now)?.leases, snapshot.agents(&now)?))
        })?;
        let Some((slice, leases, agents)) = found else { return Ok(None) };
        let me = identify(&slice, &self.caller).ok().and_then(|identified| identified.known);
        let Some(Agent { id: me, root, .. }) = me.map(|view| view.agent) else { return Ok(None) };
        let here = self.site.worktree();
        let held = leases.into_iter().filter(|lease| lease.worktree == here);
        let foreign = held.filter_map(|lease| Foreign::of(lease, &agents, root, now.mono)).collect();
        Ok(Some((me, foreign)))
    }

    /// Agents that are there and whose files changed although no call of theirs ran since the last one that a hook told
    /// of: how many files.
    pub(crate) fn written_in_silence(&mut self) -> Result<Vec<(AgentSeen, usize)>, Failure> {
        let (scope, here) = (self.site.key.clone(), self.site.worktree());
        let Some(root) = self.site.root.clone() else { return Ok(Vec::new()) };
        let seen = self.agents()?;
        let now = seen.now.mono;
        let leases = self.leases(&LeaseFilter::default())?.leases;
        let mut silent = Vec::new();
        for seen in seen.agents.into_iter().filter(|seen| seen.liveness != Liveness::Gone) {
            let mark = mark_of(self.outside, &scope, &seen.view.agent.id.to_string());
            let last = mark.and_then(|mark| Call::read(self.outside, &mark)).filter(|call| !call.runs);
            let Some(last) = last else { continue };
            let own = leases.iter().map(|view| &view.lease).filter(|lease| {
                let is_own = lease.holder == seen.view.agent.id && lease.worktree == here;
                is_own && lease.ended.is_none() && !is_in_hand(&seen.view, lease, now)
            });
            let paths: Vec<String> =
                own.filter_map(|lease| lease.target.literal().map(str::to_owned)).collect();
            let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
            let changed = self.outside.changed_since(&root, &paths, last.at_ns, LOOK);
            let count = changed.iter().filter(|changed| !changed.is_gone).count();
            silent.extend((count > 0).then_some((seen, count)));
        }
        Ok(silent)
    }

    fn changed_of(&mut self, held: &[Foreign], since_ns: i64) -> Vec<Foreign> {
        let Some(root) = self.site.root.clone().filter(|_| !held.is_empty()) else { return Vec::new() };
        let paths: Vec<&str> = held.iter().map(|held| held.path.as_str()).collect();
        let changed = self.outside.changed_since(&root, &paths, since_ns, LOOK);
        let here = self.site.worktree();
        let gone =
            changed.iter().filter(|changed| changed.is_gone).filter_map(|changed| held.get(changed.at));
        let queries: BTreeSet<FactQuery> =
            gone.map(|held| FactQuery::Dirty(here.clone(), held.path.clone())).collect();
        let mut facts = Facts::default();
        self.outside.gather(&queries, &mut facts);
        // What git does not miss was not there before.
        let is_missed = |held: &Foreign| facts.dirty(&here, &held.path) == Some(true);
        let changed = changed.iter().filter_map(|changed| Some((changed.is_gone, held.get(changed.at)?)));
        changed.filter(|(is_gone, held)| !is_gone || is_missed(held)).map(|(_, held)| held.clone()).collect()
    }
}

/// Whether a call of its holder is about to change what a lease is on.
fn is_in_hand(holder: &AgentView, lease: &Lease, now: Mono) -> bool {
    holder.memo.in_hand.iter().any(|(id, until)| *id == lease.id && *until > now)
}

/// A file that is with somebody else.
#[derive(Clone, Debug)]
struct Foreign {
    lease: Lease,
    path: String,
    /// Its holder and those of its family.
    family: BTreeSet<AgentId>,
    /// Whether a call of its holder is about to change it.
    in_hand: bool,
}

impl Foreign {
    fn of(lease: Lease, agents: &[AgentView], own_root: AgentId, now: Mono) -> Option<Self> {
        let path = lease.target.literal()?.to_owned();
        let holder = agents.iter().find(|view| view.agent.id == lease.holder)?;
        let root = Some(holder.agent.root).filter(|root| *root != own_root)?;
        let (family, in_hand) = (household(root, agents), is_in_hand(holder, &lease, now));
        Some(Self { lease, path, family, in_hand })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_meet_that_may_have_run_at_one_time() {
        let (minute, start) = (60_000_000_000, 1_000_000_000_000_000);
        let now = start + minute;
        for (at_ns, runs, expect) in [
            (start - 1, false, false),
            (start, false, true),
            (now, false, true),
            (start - minute, true, true),
            (now - 15 * minute, true, false),
            (now - 14 * minute, true, true),
        ] {
            assert_eq!(Call { at_ns, runs }.meets(start, now), expect, "{at_ns} {runs}");
        }
    }
}
