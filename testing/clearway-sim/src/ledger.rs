//! The history as a bookkeeper reads it: the events folded a second time, by code that shares nothing with the fold of
//! the product, and what follows from them at an instant.

use crate::ground;
use clearway_core::agent::{Agent, Caller, IdentityKey};
use clearway_core::event::{Body, Event};
use clearway_core::fold::State;
use clearway_core::ids::{AgentId, Fence, LeaseId, NegotiationId, Seq, WaitId};
use clearway_core::lease::{Grade, Lease, Mode, Terms};
use clearway_core::negotiation::{Negotiation, NegotiationEnd, NegotiationState, Settled};
use clearway_core::target::{Target, Worktree};
use clearway_core::time::{BootKey, Mono, Now};
use clearway_core::wait::Wait;
use std::collections::{BTreeMap, BTreeSet};

/// Everything the log says, and the soft state beside it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ledger {
    pub(crate) rev: u64,
    pub(crate) epoch: u32,
    pub(crate) boot: Option<BootKey>,
    pub(crate) agents: BTreeMap<AgentId, Agent>,
    pub(crate) leases: BTreeMap<LeaseId, Lease>,
    /// Leases that no event ended.
    pub(crate) open: BTreeSet<LeaseId>,
    /// Leases that their holders gave back, or that yielded.
    pub(crate) let_go: BTreeSet<LeaseId>,
    pub(crate) waits: BTreeMap<WaitId, Wait>,
    pub(crate) negotiations: BTreeMap<NegotiationId, Negotiation>,
    pub(crate) frozen_until: Option<Mono>,
    pub(crate) highest_fence: Option<Fence>,
    /// Signs of life as the store remembered them before the step, on the clock of `soft_boot`.
    pub(crate) seen: BTreeMap<AgentId, Mono>,
    pub(crate) heard: BTreeMap<WaitId, Mono>,
    pub(crate) soft_boot: Option<BootKey>,
}

impl Ledger {
    /// Takes one event into account. What cannot be is said in words.
    pub(crate) fn apply(&mut self, event: &Event) -> Result<(), String> {
        let seq = event.seq.0;
        if seq != self.rev + 1 {
            return Err(format!("event {seq} follows {}", self.rev));
        }
        self.rev = seq;
        match &event.body {
            Body::ScopeOpened { .. }
            | Body::CommitAllowed { .. }
            | Body::CommitUnchecked { .. }
            | Body::LeaseOverwritten { .. }
            | Body::ReservationRefused { .. }
            | Body::ActionDenied { .. }
            | Body::SnapshotTaken(_)
            | Body::Mail(_) => {}
            Body::EpochBegan { epoch, boot, .. } => {
                (self.epoch, self.boot, self.frozen_until) = (epoch.0, Some(boot.clone()), None);
            }
            Body::AgentRegistered(agent) => {
                self.agents.insert(agent.id, agent.clone());
            }
            Body::ScopeFrozen { until, .. } => self.frozen_until = Some(*until),
            Body::ScopeThawed { .. } => self.frozen_until = None,
            Body::LeaseGranted(lease) => {
                self.open.insert(lease.id);
                self.leases.insert(lease.id, lease.clone());
                self.fenced(lease.id, event.seq);
            }
            Body::WaitBegan(wait) => {
                self.waits.insert(wait.id, wait.clone());
            }
            Body::NegotiationAsked(negotiation) => {
                self.negotiations.insert(negotiation.id, negotiation.clone());
            }
            Body::AgentHalted { agent, reason } => self.stop(*agent, Some(reason.clone())),
            Body::AgentContinued { agent, .. } => self.stop(*agent, None),
            body if body.wait().is_some() => self.turn(event.seq, body)?,
            body if body.negotiation().is_some() => self.talk(event)?,
            body => self.change(event.seq, body)?,
        }
        Ok(())
    }

    fn fenced(&mut self, lease: LeaseId, seq: Seq) {
        let fence = Fence { epoch: clearway_core::ids::Epoch(self.epoch), seq };
        if let Some(lease) = self.leases.get_mut(&lease) {
            lease.fence = fence;
        }
        self.highest_fence = self.highest_fence.max(Some(fence));
    }

    fn stop(&mut self, agent: AgentId, reason: Option<String>) {
        if let Some(agent) = self.agents.get_mut(&agent) {
            agent.halted = reason;
        }
    }

    fn talk(&mut self, event: &Event) -> Result<(), String> {
        let open = event.body.negotiation().and_then(|id| self.negotiations.get_mut(&id));
        let Some(open) = open.filter(|open| open.is_open()) else {
            return Err(format!(
                "event {} is about a request that is over: {}",
                event.seq,
                event.body.kind()
            ));
        };
        match &event.body {
            Body::NegotiationRaised { urgency, then_reserve, deadline, .. } => {
                (open.urgency, open.then_reserve, open.deadline) = (*urgency, *then_reserve, *deadline);
            }
            Body::NegotiationDeferred { until, deadline, .. } => {
                open.state = match until {
                    Some(until) => NegotiationState::Later(*until),
                    None => NegotiationState::AfterCommit,
                };
                (open.deadline, open.overdue) = (*deadline, false);
            }
            Body::NegotiationOverdue { .. } => open.overdue = true,
            Body::NegotiationEnded { how, released, reason, .. } => {
                open.state = over(*how, *released, reason.clone(), event);
            }
            Body::NegotiationForced { reason, .. } => {
                open.state = over(NegotiationEnd::Forced, 1, Some(reason.clone()), event);
            }
            _ => {}
        }
        Ok(())
    }

    fn change(&mut self, seq: Seq, body: &Body) -> Result<(), String> {
        let id = body.lease().filter(|id| self.open.contains(id));
        let id = id.ok_or_else(|| format!("event {seq} is about a lease that is over: {}", body.kind()))?;
        let Some(lease) = self.leases.get_mut(&id) else { return Ok(()) };
        match body {
            Body::LeaseRenewed { terms, .. } => take_terms(lease, terms),
            Body::LeaseUpgraded { slot, terms, .. } => {
                (lease.mode, lease.slot) = (Mode::Exclusive, *slot);
                take_terms(lease, terms);
                self.fenced(id, seq);
            }
            Body::LeaseDowngraded { terms, .. } => {
                lease.mode = Mode::Shared;
                take_terms(lease, terms);
            }
            Body::LeaseClaimed { terms, .. } => {
                (lease.grade, lease.makes_way) = (Grade::Claimed, false);
                take_terms(lease, terms);
            }
            Body::LeaseSplit { path, .. } => lease.ceded.push(path.clone()),
            Body::LeaseTransferred { from, to, deadline, .. } => {
                (lease.holder, lease.deadline, lease.handed_by) = (*to, *deadline, Some(*from));
                self.fenced(id, seq);
            }
            body => {
                self.open.remove(&id);
                if matches!(body, Body::LeaseReleased { .. } | Body::LeaseYielded { .. }) {
                    self.let_go.insert(id);
                }
            }
        }
        Ok(())
    }

    fn turn(&mut self, seq: Seq, body: &Body) -> Result<(), String> {
        let id = body.wait().unwrap_or_else(|| unreachable!("asked before"));
        let Some(wait) = self.waits.get_mut(&id) else {
            return Err(format!("event {seq} is about a wait that is over: {}", body.kind()));
        };
        match body {
            Body::WaitAttached { process, until, .. } => {
                let was_alone = wait.attached.is_none();
                let kept = if was_alone { Some(wait.until) } else { wait.kept_until };
                wait.kept_until = kept.filter(|_| process.is_some());
                (wait.attached, wait.until, wait.offered_until) = (process.clone(), *until, None);
            }
            Body::WaitOffered { until, .. } => {
                (wait.offered_until, wait.offers) = (Some(*until), wait.offers + 1);
            }
            Body::WaitPassed { .. } => (wait.offered_until, wait.place) = (None, seq),
            Body::WaitWithdrawn { .. } => (wait.offered_until, wait.offers) = (None, wait.offers - 1),
            _ => {
                self.waits.remove(&id);
            }
        }
        Ok(())
    }

    /// How the stored projections differ from the books.
    pub(crate) fn differs_from(&self, stored: &State) -> Option<String> {
        let open: BTreeSet<LeaseId> =
            stored.leases.values().filter(|lease| lease.ended.is_none()).map(|lease| lease.id).collect();
        let row = |lease: &Lease| {
            (lease.holder, lease.mode, lease.fence, lease.deadline, lease.ttl_ms, lease.target.clone())
        };
        let rows = |ids: &BTreeSet<LeaseId>, all: &BTreeMap<LeaseId, Lease>| {
            ids.iter().filter_map(|id| all.get(id)).map(row).collect::<Vec<_>>()
        };
        if stored.scope.rev.0 != self.rev {
            Some(format!("the scope is at {}, the log at {}", stored.scope.rev, self.rev))
        } else if open != self.open || rows(&open, &stored.leases) != rows(&self.open, &self.leases) {
            Some("the stored leases are not those of the log".to_owned())
        } else if stored.waits != self.waits {
            Some("the stored queue is not that of the log".to_owned())
        } else if stored.negotiations != self.negotiations {
            Some("the stored requests to holders are not those of the log".to_owned())
        } else if stored.agents != self.agents || stored.scope.live_leases != self.open.len() as u64 {
            Some("the stored agents or counts are not those of the log".to_owned())
        } else {
            None
        }
    }

    /// Leases that no event ended, in the order of their fences.
    pub(crate) fn open_leases(&self) -> impl Iterator<Item = &Lease> {
        let mut open: Vec<&Lease> = self.open.iter().filter_map(|id| self.leases.get(id)).collect();
        open.sort_by_key(|lease| lease.fence);
        open.into_iter()
    }

    /// The agent that a caller is, if it is registered.
    pub(crate) fn identified(&self, caller: &Caller) -> Option<AgentId> {
        let by = |wanted: &dyn Fn(&Agent) -> bool| {
            self.agents.values().find(|agent| wanted(agent)).map(|agent| agent.id)
        };
        if let Some(claim) = &caller.claim {
            return by(&|agent| agent.name == *claim);
        }
        let session = caller.session.as_ref().map(|s| IdentityKey::session(s.client, &s.session));
        let key = session.or(caller.terminal.as_ref().map(IdentityKey::terminal))?;
        by(&|agent| agent.key == key)
    }

    /// Whether one stands above the other in one family, or is the other.
    pub(crate) fn is_above(&self, above: AgentId, below: AgentId) -> bool {
        let mut current = Some(below);
        while let Some(agent) = current {
            if agent == above {
                return true;
            }
            current = self.agents.get(&agent).and_then(|agent| agent.parent);
        }
        false
    }

    /// The top of a family.
    pub(crate) fn family(&self, agent: AgentId) -> AgentId {
        let mut top = agent;
        while let Some(parent) = self.agents.get(&top).and_then(|agent| agent.parent) {
            top = parent;
        }
        top
    }

    pub(crate) fn seen(&self, agent: AgentId, now: &Now) -> Option<Mono> {
        self.seen.get(&agent).copied().filter(|_| self.soft_boot.as_ref() == Some(&now.boot))
    }

    /// When a lease ends if its holder stays silent.
    pub(crate) fn ends_at(&self, lease: &Lease, now: &Now) -> Mono {
        let silence = self.seen(lease.holder, now).map_or(0, |seen| seen.0 + lease.ttl_ms);
        let end = lease.deadline.0.max(silence);
        Mono(lease.end_max.map_or(end, |max| end.min(max.0)))
    }

    /// Whether a lease is in force: open, of this boot, and its time is not over.
    pub(crate) fn is_live(&self, lease: &Lease, now: &Now) -> bool {
        self.open.contains(&lease.id)
            && self.boot.as_ref() == Some(&now.boot)
            && now.mono < self.ends_at(lease, now)
    }

    pub(crate) fn live(&self, now: &Now) -> Vec<&Lease> {
        self.open_leases().filter(|lease| self.is_live(lease, now)).collect()
    }

    /// When a waiting process was last heard of.
    pub(crate) fn heard(&self, wait: &Wait, now: &Now) -> Mono {
        let heard = self.heard.get(&wait.id).copied();
        let heard = heard.filter(|_| self.soft_boot.as_ref() == Some(&now.boot));
        wait.since.max(heard.unwrap_or(wait.since))
    }

    /// Live leases on something that overlaps a target.
    pub(crate) fn on<'a>(&'a self, target: &Target, worktree: &Worktree, now: &Now) -> Vec<&'a Lease> {
        let touches = |lease: &&Lease| ground::meets(lease, target, worktree);
        self.live(now).into_iter().filter(touches).collect()
    }

    /// Requests to holders that nothing became of yet.
    pub(crate) fn asked(&self) -> impl Iterator<Item = &Negotiation> {
        self.negotiations.values().filter(|negotiation| negotiation.is_open())
    }

    /// The very lease that somebody was asked for, while its holder has it.
    pub(crate) fn lease_asked_for(&self, asked: &Negotiation) -> Option<&Lease> {
        let lease = self.leases.get(&asked.lease).filter(|lease| self.open.contains(&lease.id))?;
        let is_it = lease.fence == asked.fence && lease.holder == asked.holder;
        Some(lease).filter(|lease| is_it && ground::meets(lease, &asked.target, &asked.worktree))
    }

    /// Whether an agent, or one above it, was stopped.
    pub(crate) fn is_stopped(&self, agent: AgentId) -> bool {
        let stopped = |id: &AgentId| self.agents.get(id).is_some_and(|agent| agent.halted.is_some());
        stopped(&agent) || stopped(&self.family(agent))
    }

    pub(crate) fn is_frozen(&self, now: &Now) -> bool {
        self.boot.as_ref() == Some(&now.boot) && self.frozen_until.is_some_and(|until| now.mono < until)
    }
}

fn over(how: NegotiationEnd, released: u64, reason: Option<String>, event: &Event) -> NegotiationState {
    NegotiationState::Over(Settled { how, released, reason, at: event.at })
}

fn take_terms(lease: &mut Lease, terms: &Terms) {
    (lease.deadline, lease.ttl_ms, lease.end_max) = (terms.deadline, terms.ttl_ms, terms.end_max);
}
