//! Who calls a hook of git, and who else is in the checkout.

use crate::session::Session;
use clearway_core::agent::{AgentName, Liveness};
use clearway_core::decide::{identify, is_person};
use clearway_core::failure::Failure;
use clearway_core::ids::{AgentId, LeaseId};
use clearway_core::lease::Lease;
use clearway_core::negotiation::{Negotiation, NegotiationState};
use clearway_core::slice::{AgentLookup, AgentView, ReadSet, household};
use clearway_core::target::Target;
use clearway_core::time::Mono;
use clearway_store::contract::LeaseListing;
use std::collections::{BTreeMap, BTreeSet};

/// Who calls, and who else is in this checkout.
pub(super) struct Scene {
    pub(super) is_person: bool,
    pub(super) family: BTreeSet<AgentId>,
    /// Whether a person stopped the caller, or the session it belongs to.
    pub(super) is_halted: bool,
    /// Live leases on paths of this checkout.
    pub(super) leases: Vec<Lease>,
    /// Leases out of which the holder promised a path to who asks, with its next commit of it.
    pub(super) promised: Vec<(LeaseId, String)>,
    /// Everybody who is not known to be gone, by its id.
    pub(super) others: BTreeMap<AgentId, AgentName>,
    /// Other checkouts in which they hold paths.
    pub(super) elsewhere: BTreeSet<String>,
    pub(super) now: Mono,
}

impl Scene {
    pub(super) fn own(&self) -> impl Iterator<Item = &Lease> {
        self.leases.iter().filter(|lease| self.family.contains(&lease.holder))
    }

    pub(super) fn promises(&self, lease: LeaseId) -> bool {
        self.promised.iter().any(|(id, _)| *id == lease)
    }

    pub(super) fn foreign(&self) -> impl Iterator<Item = &Lease> {
        self.leases.iter().filter(|lease| !self.family.contains(&lease.holder))
    }
}

impl Session<'_> {
    /// The checkouts in which others are at work, and whether the caller's family holds paths in this one.
    pub(crate) fn others_elsewhere(&mut self) -> Result<(BTreeSet<String>, bool), Failure> {
        let scene = self.scene()?;
        let is_at_it = scene.own().next().is_some();
        Ok((scene.elsewhere, is_at_it))
    }

    /// The caller and its subagents.
    pub(crate) fn own_family(&mut self) -> Result<BTreeSet<AgentId>, Failure> {
        Ok(self.scene()?.family)
    }

    pub(super) fn scene(&mut self) -> Result<Scene, Failure> {
        let (now, here) = (self.now()?, self.site.worktree());
        let read = ReadSet { agents: AgentLookup::of(&self.caller), waits: true, ..ReadSet::default() };
        let found = self.read(|snapshot| {
            let slice = snapshot.load(&read, &now)?;
            Ok((slice, snapshot.leases(LeaseListing::Live, &now)?.leases, snapshot.agents(&now)?))
        })?;
        let (slice, leases, agents) = found.unwrap_or_default();
        let me = identify(&slice, &self.caller).ok().and_then(|identified| identified.known);
        let is_caller = |view: &&AgentView| {
            me.as_ref().is_some_and(|me| [me.agent.id, me.agent.root].contains(&view.agent.id))
        };
        let is_halted = agents.iter().filter(is_caller).any(|view| view.agent.halted.is_some());
        let family = me.map(|view| household(view.agent.root, &agents)).unwrap_or_default();
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
        Ok(Scene { is_person, family, is_halted, leases, promised, others, elsewhere, now: now.mono })
    }
}
