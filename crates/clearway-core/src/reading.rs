//! What a command has to see: its read sets, in the steps in which they become known.

use crate::agent::AgentName;
use crate::command::{
    Answer, Ask, Attend, Await, Command, Force, LeaseRef, Leave, Release, Renew, Request, Reserve, Selection,
    Stay, Transfer, Upheaval, Want,
};
use crate::facts::Facts;
use crate::ids::{AgentId, WaitId};
use crate::lease::Lease;
use crate::limits::LEASES_PER_AGENT_MAX;
use crate::mail::{Act, Policy};
use crate::pattern::{Fold, Pattern};
use crate::slice::{AgentLookup, Due, Note, ReadSet, RefusalMemory, Slice};
use crate::target::{Target, Worktree};
use crate::time::Now;
use crate::wait::WaitView;

impl Request {
    /// The state this request has to see.
    pub fn read_set(&self) -> ReadSet {
        let mut read = ReadSet {
            agents: AgentLookup::of(&self.caller),
            due: Due::SHARE,
            key: self.idempotency_key.clone(),
            waits: true,
            ..ReadSet::default()
        };
        if let Some((targets, worktree)) = self.named_targets() {
            targets.iter().for_each(|target| read.meet(worktree, target));
            read.history.clear();
        }
        match &self.command {
            Command::Reserve(reserve)
            | Command::Await(Await { reserve, .. })
            | Command::Ask(Ask { reserve, .. }) => read.meet_all(reserve),
            Command::Answer(Answer { negotiation, .. }) | Command::Withdraw(negotiation) => {
                read.negotiations.push(*negotiation);
            }
            // A holder is at work while anybody of its family is, and any agent may be of it.
            Command::Force(Force { negotiation, .. }) => {
                read.negotiations.push(*negotiation);
                read.mail.everyone = true;
            }
            Command::Halt(agent) | Command::Continue(agent) => {
                read.agents.names.push(agent.clone());
                read.agents.ids.extend(AgentId::parse(agent.as_str()));
            }
            Command::Transfer(transfer) => {
                read.agents.names.push(transfer.to.clone());
                read.agents.ids.extend(AgentId::parse(transfer.to.as_str()));
                read.leases.extend(self.named_leases().iter().map(|lease| lease.id));
            }
            Command::Renew(_) | Command::Release(_) => {
                read.leases.extend(self.named_leases().iter().map(|lease| lease.id));
            }
            Command::Attend(Attend::Done { files, worktree, .. }) => {
                files.iter().for_each(|used| read.meet(worktree, &used.target));
                read.history.clear();
            }
            Command::Attend(Attend::Ran { hits }) => {
                read.leases.extend(hits.iter().map(|hit| hit.lease));
            }
            Command::Enter(_) => read.remembered = true,
            Command::Commit(commit) => {
                let paths = commit.paths.iter().chain(commit.written.iter().map(|(path, _)| path));
                paths.for_each(|path| read.meet(&commit.worktree, path));
                read.history.clear();
            }
            Command::Unchecked(found) => {
                found.paths.iter().for_each(|path| read.meet(&found.worktree, path));
                read.history.clear();
            }
            Command::Settle(settle) => read.leases.extend(settle.leases.iter().copied()),
            Command::Rebase(worktree) | Command::Upheave(Upheaval { worktree, .. }) => {
                let all = Pattern::parse("**", Fold::Exact).into_iter();
                read.overlapping.extend(all.map(|all| (worktree.clone(), all)));
            }
            Command::Leave(_)
            | Command::LetGo(_)
            | Command::Attend(_)
            | Command::Freeze { .. }
            | Command::Thaw
            | Command::Keep(_)
            | Command::Open
            | Command::Anchor => {}
            Command::Sweep | Command::Recover => read.due = Due::EveryLive,
            Command::Mail(act) => read_mail(&mut read, act),
        }
        read
    }

    /// What else has to be seen once it is known who the caller is and which leases it names: its own leases,
    /// its last refusal, and who holds now what a named lease was on.
    pub fn second_read_set(&self, slice: &Slice, agent: Option<AgentId>) -> ReadSet {
        let mut read = ReadSet {
            held_by: agent
                .filter(|agent| self.reads_leases_of(*agent, slice))
                .into_iter()
                .chain(self.recipient(slice))
                .chain(self.asked(slice))
                .chain(self.parent(slice, agent))
                .chain(self.subagents(slice, agent))
                .chain(self.keepers(slice))
                .chain(self.particular(slice, agent))
                .collect(),
            refusals_of: Some(RefusalMemory::principal(agent)),
            ..ReadSet::default()
        };
        if let Command::Mail(Act::SetRules(_)) = &self.command {
            let rules = agent.and_then(|agent| slice.mail.rules.get(&agent));
            read.agents.ids.extend(rules.iter().flat_map(|rules| &rules.contacts).copied());
        }
        for (worktree, path) in slice.left_by(agent).iter().filter(|_| self.command.brings_back()) {
            read.agents.ids.extend(agent.filter(|agent| !read.agents.ids.contains(agent)));
            read.overlapping.push((worktree.clone(), path.clone()));
            read.history.push((worktree.clone(), path.clone()));
        }
        let mut stood_for = ReadSet::default();
        for wanted in self.named_leases() {
            let lease = slice.lease(wanted.id);
            let stale =
                |lease: &&Lease| lease.ended.is_some() || wanted.fence.is_some_and(|own| own != lease.fence);
            if let Some(lease) = lease.filter(stale) {
                stood_for.meet(&lease.worktree, &lease.target);
            }
        }
        read.overlapping.extend(stood_for.overlapping);
        read.names.extend(stood_for.names);
        read
    }

    /// Whether the request is about this lease: it names it, would meet it, or is about all its holder has.
    pub(crate) fn concerns(&self, lease: &Lease, slice: &Slice, caller: Option<AgentId>) -> bool {
        let named = || self.named_leases().iter().any(|named| named.id == lease.id);
        let met = || self.wanted().is_some_and(|wanted| wanted.touches(&lease.target, &lease.worktree));
        let own = || caller == Some(lease.holder) && self.reads_leases_of(lease.holder, slice);
        own() || named() || met()
    }

    /// What stands in the way of those in the queue whose turn this request may bring: it ends leases or waits they
    /// wait for. Joining the queue, handing something over and taking more while waiting may close a circle, and the end
    /// of a pause may be anybody's turn: they have to see all of it.
    pub fn survey(&self, slice: &Slice, agent: Option<AgentId>, facts: &Facts, now: &Now) -> Option<ReadSet> {
        let over = |view: &WaitView| {
            let agent = slice.agent(view.wait.agent).map(|known| &known.agent);
            view.over(agent, facts, now.mono).is_some() || view.offer_lapsed(now.mono)
        };
        // Only a request that names no place takes one. A pause kept everyone from their turn, whoever is
        // handed something may have waited for it, and whoever let its turn pass goes behind everyone else.
        let sees_all = match &self.command {
            Command::Sweep | Command::Thaw | Command::Transfer(_) => true,
            Command::Ask(_) => true,
            // At the end of a wait it is looked for the circle that it stands in.
            Command::Await(Await { stay: Stay::Durable, .. }) => true,
            Command::Await(Await { reserve, wait, .. }) => {
                wait.is_none() || agent.is_some_and(|me| adds_while_waiting(slice, me, reserve, *wait))
            }
            Command::Reserve(reserve) => agent.is_some_and(|me| adds_while_waiting(slice, me, reserve, None)),
            _ => false,
        };
        let sees_all = sees_all || slice.waits.iter().any(|view| view.offer_lapsed(now.mono));
        let leaving: Vec<&WaitView> =
            slice.waits.iter().filter(|view| self.leaves(view, slice) || over(view)).collect();
        let own_wait = |view: &WaitView| Some(view.wait.agent) == agent;
        // What is over already ends nobody's waiting: how much of the past an engine brings along is its own.
        let held = || slice.leases.iter().filter(|lease| lease.ended.is_none());
        let meets = |own: &Reserve, view: &WaitView| {
            own.conflicts_with(&view.wait.wanted) || (own_wait(view) && own.meets(&view.wait.wanted))
        };
        let concerned = |view: &WaitView| {
            let wanted = &view.wait.wanted;
            sees_all
                || view.falls_back(facts, now.mono).is_some()
                || (self.is_attention() && own_wait(view))
                || self.wanted().is_some_and(|own| meets(own, view))
                || held().any(|lease| wanted.touches(&lease.target, &lease.worktree))
                || leaving.iter().any(|other| other.wait.wanted.conflicts_with(wanted))
        };
        let mut read = ReadSet::around(slice.waits.iter().filter(|view| concerned(view)));
        // Others of the giver's family, and the giver itself, may hold parts of what is handed over.
        if matches!(self.command, Command::Transfer(_)) {
            slice.leases.iter().for_each(|lease| read.meet(&lease.worktree, &lease.target));
            read.history.clear();
        }
        (!read.surveyed.is_empty() || !read.overlapping.is_empty() || !read.names.is_empty()).then_some(read)
    }

    /// Whoever is handed something may hold the same already.
    fn recipient(&self, slice: &Slice) -> Option<AgentId> {
        let Command::Transfer(Transfer { to, .. }) = &self.command else { return None };
        slice.agent_meant(to).map(|view| view.agent.id)
    }

    /// Whoever is asked, or stopped, may hold more than one lease that matters.
    fn asked(&self, slice: &Slice) -> Option<AgentId> {
        match &self.command {
            Command::Answer(Answer { negotiation, .. })
            | Command::Withdraw(negotiation)
            | Command::Force(Force { negotiation, .. }) => Some(slice.negotiation(*negotiation)?.holder),
            Command::Halt(agent) => Some(slice.agent_meant(agent)?.agent.id),
            _ => None,
        }
    }

    /// Whoever gets what a subagent leaves may hold the same already.
    fn parent(&self, slice: &Slice, agent: Option<AgentId>) -> Option<AgentId> {
        let ends = matches!(self.command, Command::Attend(Attend::End));
        agent.filter(|_| ends).and_then(|agent| slice.agent(agent)?.agent.parent)
    }

    /// Whoever ends with the caller.
    fn subagents(&self, slice: &Slice, agent: Option<AgentId>) -> Vec<AgentId> {
        let ends = matches!(self.command, Command::Attend(Attend::End));
        agent.filter(|_| ends).map(|agent| slice.subagents_of(agent)).unwrap_or_default()
    }

    /// Whoever goes on holding parts of what is released, and may come to hold too much.
    fn keepers(&self, slice: &Slice) -> Vec<AgentId> {
        let keeps = matches!(&self.command, Command::Release(release) if !release.keep.is_empty());
        let named = self.named_leases().iter().filter_map(|named| slice.lease(named.id));
        named.filter(|_| keeps).map(|lease| lease.holder).collect()
    }

    /// Who takes mail from those it has to do with, and who writes to it: what they hold tells.
    fn particular(&self, slice: &Slice, agent: Option<AgentId>) -> Vec<AgentId> {
        let Command::Mail(Act::Send(_)) = &self.command else { return Vec::new() };
        let mut agents: Vec<AgentId> = slice
            .mail
            .rules
            .iter()
            .filter(|(_, rules)| rules.policy == Policy::Auto)
            .map(|(agent, _)| *agent)
            .collect();
        agents.extend(agent.filter(|_| !agents.is_empty()));
        agents
    }

    fn is_attention(&self) -> bool {
        matches!(self.command, Command::Attend(_))
    }

    fn leaves(&self, view: &WaitView, slice: &Slice) -> bool {
        match &self.command {
            Command::Attend(Attend::End) => true,
            Command::Leave(Leave { waits: Some(waits) }) => waits.contains(&view.wait.id),
            Command::Leave(Leave { waits: None }) => true,
            Command::Await(Await { wait, .. }) => *wait == Some(view.wait.id),
            Command::Withdraw(id) => slice.negotiation(*id).is_some_and(|asked| asked.wait == view.wait.id),
            Command::Halt(name) => {
                slice.agent_meant(name).is_some_and(|known| known.agent.id == view.wait.agent)
            }
            _ => false,
        }
    }

    /// The leases this request asks for.
    pub fn wanted(&self) -> Option<&Reserve> {
        match &self.command {
            Command::Reserve(reserve)
            | Command::Await(Await { reserve, .. })
            | Command::Ask(Ask { reserve, .. }) => Some(reserve),
            _ => None,
        }
    }

    /// What the request names without asking for it. Any of the caller's family may hold it.
    fn named_targets(&self) -> Option<(&[Target], &Worktree)> {
        match &self.command {
            Command::Renew(Renew { selection: Selection::These { targets, worktree, .. }, .. })
            | Command::Release(Release { selection: Selection::These { targets, worktree, .. }, .. })
            | Command::Transfer(Transfer { selection: Selection::These { targets, worktree, .. }, .. }) => {
                Some((targets, worktree))
            }
            _ => None,
        }
    }

    fn named_leases(&self) -> &[LeaseRef] {
        match &self.command {
            Command::Renew(Renew { selection: Selection::These { leases, .. }, .. })
            | Command::Release(Release { selection: Selection::These { leases, .. }, .. })
            | Command::Transfer(Transfer { selection: Selection::These { leases, .. }, .. }) => leases,
            _ => &[],
        }
    }

    /// Whether all the caller's leases are read: it means all of them, or would hold too many if none were over.
    fn reads_leases_of(&self, caller: AgentId, slice: &Slice) -> bool {
        let stored = slice.agent(caller).map_or(0, |view| view.live_leases);
        let hears = self.caller.hears || matches!(&self.command, Command::Ask(ask) if ask.tells_circle);
        let hears =
            hears && slice.agent(caller).is_some_and(|view| view.memo.notes.iter().any(Note::is_of_held));
        match &self.command {
            _ if hears => true,
            Command::Attend(Attend::End) => true,
            Command::Attend(Attend::Done { .. } | Attend::Ran { .. } | Attend::Rest) => {
                !slice.waits.is_empty()
            }
            Command::Reserve(reserve)
            | Command::Await(Await { reserve, .. })
            | Command::Ask(Ask { reserve, .. }) => stored + reserve.wants.len() as u64 > LEASES_PER_AGENT_MAX,
            Command::Renew(Renew { selection: Selection::All, .. })
            | Command::Release(Release { selection: Selection::All, .. })
            | Command::LetGo(_)
            | Command::Transfer(Transfer { selection: Selection::All, .. }) => true,
            Command::Renew(Renew { selection: Selection::These { targets, .. }, .. })
            | Command::Transfer(Transfer { selection: Selection::These { targets, .. }, .. }) => {
                !targets.is_empty()
            }
            // What is left of a set that is given back in part is told.
            Command::Release(Release { selection: Selection::These { targets, leases, .. }, keep }) => {
                let is_of_set =
                    |named: &LeaseRef| slice.lease(named.id).is_some_and(|lease| lease.set.is_some());
                !targets.is_empty() || !keep.is_empty() || leases.iter().any(is_of_set)
            }
            _ => false,
        }
    }
}

/// What mail asks for: the agents and messages it names.
fn read_mail(read: &mut ReadSet, act: &Act) {
    let mut name = |name: &AgentName| {
        read.agents.names.push(name.clone());
        read.agents.ids.extend(AgentId::parse(name.as_str()));
    };
    match act {
        Act::Send(send) => {
            send.named().for_each(&mut name);
            read.mail.ids.extend(send.messages().cloned());
            (read.mail.rules, read.mail.everyone) = (true, send.everyone);
        }
        Act::Read(ids) | Act::Acknowledge(ids) => read.mail.ids.extend(ids.iter().cloned()),
        Act::SetRules(change) => {
            change.add.iter().chain(&change.remove).for_each(&mut name);
            read.mail.rules = true;
        }
        Act::Forget(_) => {}
    }
}

/// Whether a request may get its agent more while its family goes on waiting: elsewhere than at this place, or there,
/// because it takes what it can get.
fn adds_while_waiting(slice: &Slice, me: AgentId, reserve: &Reserve, place: Option<WaitId>) -> bool {
    let root = |agent: AgentId| slice.agent(agent).map_or(agent, |view| view.agent.root);
    let goes_on = |view: &WaitView| {
        root(view.wait.agent) == root(me) && (Some(view.wait.id) != place || reserve.best_effort)
    };
    let has = |want: &Want| {
        let covers = |lease: &Lease| {
            lease.holder == me
                && lease.bound == reserve.bound
                && lease.ended.is_none()
                && lease.mode >= reserve.mode
                && lease.covers(&want.target)
        };
        slice.leases.iter().any(covers)
    };
    slice.waits.iter().any(goes_on) && !reserve.wants.iter().all(has)
}
