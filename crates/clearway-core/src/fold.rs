//! What the log means: state is the fold of events. Every projection an engine keeps is a cache of this.

use crate::agent::Agent;
use crate::event::{Body, Event};
use crate::ids::{AgentId, Fence, LeaseId, NegotiationId, Seq, WaitId};
use crate::lease::{End, Ended, Grade, Lease, Mode};
use crate::mail::MailState;
use crate::negotiation::{Negotiation, NegotiationEnd, NegotiationState, Settled};
use crate::slice::{Freeze, ScopeState};
use crate::time::Wall;
use crate::wait::Wait;
use std::collections::BTreeMap;
use thiserror::Error;

/// The state of one scope.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct State {
    /// The scope itself.
    pub scope: ScopeState,
    /// Every agent ever registered.
    pub agents: BTreeMap<AgentId, Agent>,
    /// Every lease ever granted, live and ended.
    pub leases: BTreeMap<LeaseId, Lease>,
    /// Every place in the queue that is still kept.
    pub waits: BTreeMap<WaitId, Wait>,
    /// Every message that is kept, and every mailbox.
    pub mail: MailState,
    /// Every request to the holder of a lease, open and over.
    pub negotiations: BTreeMap<NegotiationId, Negotiation>,
}

/// An event that does not fit the state before it: the log was not written by `decide`.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum FoldError {
    /// A hole or a repetition.
    #[error("event {found} follows revision {rev}")]
    OutOfOrder {
        /// The revision before.
        rev: u64,
        /// The event's seq.
        found: u64,
    },
    /// It speaks of a lease that is not live.
    #[error("event {seq} is about lease {lease}, which is not live")]
    NotLive {
        /// Where.
        seq: u64,
        /// Which.
        lease: LeaseId,
    },
    /// It speaks of a wait that is over or never began.
    #[error("event {seq} is about wait {wait}, which is not in the queue")]
    NotWaiting {
        /// Where.
        seq: u64,
        /// Which.
        wait: WaitId,
    },
    /// It speaks of a request that is over or was never made.
    #[error("event {seq} is about negotiation {negotiation}, which is not open")]
    NotOpen {
        /// Where.
        seq: u64,
        /// Which.
        negotiation: NegotiationId,
    },
    /// It speaks of an agent that nobody registered.
    #[error("event {seq} is about agent {agent}, which is not registered")]
    NotRegistered {
        /// Where.
        seq: u64,
        /// Who.
        agent: AgentId,
    },
    /// It speaks of a message that is in no mailbox of that agent.
    #[error("event {seq} is about message {message}, which is not in the mailbox of {agent}")]
    NoSuchMail {
        /// Where.
        seq: u64,
        /// Whose mailbox.
        agent: AgentId,
        /// Which.
        message: u64,
    },
    /// It grants or registers an id a second time.
    #[error("event {seq} gives the id {id} a second time")]
    Twice {
        /// Where.
        seq: u64,
        /// Which.
        id: String,
    },
}

impl State {
    /// Takes one more event into account.
    pub fn apply(&mut self, event: &Event) -> Result<(), FoldError> {
        if event.seq != self.scope.rev.next() {
            return Err(FoldError::OutOfOrder { rev: self.scope.rev.0, found: event.seq.0 });
        }
        match &event.body {
            Body::ScopeOpened { fold, .. } => self.scope.fold = *fold,
            Body::EpochBegan { epoch, boot, .. } => {
                (self.scope.epoch, self.scope.boot) = (*epoch, Some(boot.clone()));
                // A pause was ordered on a clock that is gone.
                self.scope.frozen = None;
            }
            Body::AgentRegistered(agent) => self.register(event.seq, agent)?,
            body if body.changed_agent().is_some() => self.change_agent(event, body)?,
            Body::LeaseGranted(lease) => self.grant(event.seq, lease)?,
            Body::WaitBegan(wait) => self.begin_wait(event.seq, wait)?,
            Body::ScopeFrozen { until, reason } => {
                self.scope.frozen = Some(Freeze { until: *until, reason: reason.clone() });
            }
            Body::ScopeThawed { .. } => self.scope.frozen = None,
            Body::CommitAllowed { .. }
            | Body::CommitUnchecked { .. }
            | Body::LeaseOverwritten { .. }
            | Body::ReservationRefused { .. }
            | Body::ActionDenied { .. }
            | Body::SnapshotTaken(_) => {}
            Body::Mail(mail) => self.mail.apply(event.seq, event.at, mail)?,
            Body::NegotiationAsked(negotiation) => self.ask(event.seq, negotiation)?,
            body if body.negotiation().is_some() => self.change_negotiation(event, body)?,
            body if body.wait().is_some() => self.change_wait(event.seq, body)?,
            body => self.change(event.seq, event.at, body)?,
        }
        self.scope.rev = event.seq;
        Ok(())
    }

    fn register(&mut self, seq: Seq, agent: &Agent) -> Result<(), FoldError> {
        let taken = self.agents.insert(agent.id, agent.clone()).is_some();
        if taken { Err(FoldError::Twice { seq: seq.0, id: agent.id.to_string() }) } else { Ok(()) }
    }

    fn change_agent(&mut self, event: &Event, body: &Body) -> Result<(), FoldError> {
        let Some(id) = body.changed_agent() else { return Ok(()) };
        let unknown = FoldError::NotRegistered { seq: event.seq.0, agent: id };
        change_agent(self.agents.get_mut(&id).ok_or(unknown)?, event.at, body);
        Ok(())
    }

    fn grant(&mut self, seq: Seq, lease: &Lease) -> Result<(), FoldError> {
        if self.leases.insert(lease.id, lease.clone()).is_some() {
            return Err(FoldError::Twice { seq: seq.0, id: lease.id.to_string() });
        }
        self.scope.live_leases += 1;
        self.scope.root_patterns += u64::from(lease.target.is_root_level());
        Ok(())
    }

    fn ask(&mut self, seq: Seq, negotiation: &Negotiation) -> Result<(), FoldError> {
        let taken = self.negotiations.insert(negotiation.id, negotiation.clone()).is_some();
        if taken { Err(FoldError::Twice { seq: seq.0, id: negotiation.id.to_string() }) } else { Ok(()) }
    }

    fn change_negotiation(&mut self, event: &Event, body: &Body) -> Result<(), FoldError> {
        let Some(id) = body.negotiation() else { return Ok(()) };
        let open = self.negotiations.get_mut(&id).filter(|negotiation| negotiation.is_open());
        let negotiation = open.ok_or(FoldError::NotOpen { seq: event.seq.0, negotiation: id })?;
        change_negotiation(negotiation, event.at, body);
        Ok(())
    }

    fn begin_wait(&mut self, seq: Seq, wait: &Wait) -> Result<(), FoldError> {
        self.scope.live_waits += 1;
        let taken = self.waits.insert(wait.id, wait.clone()).is_some();
        if taken { Err(FoldError::Twice { seq: seq.0, id: wait.id.to_string() }) } else { Ok(()) }
    }

    fn change_wait(&mut self, seq: Seq, body: &Body) -> Result<(), FoldError> {
        let Some(id) = body.wait() else { return Ok(()) };
        let wait = self.waits.get_mut(&id).ok_or(FoldError::NotWaiting { seq: seq.0, wait: id })?;
        if change_wait(wait, seq, body) == Standing::Over {
            self.waits.remove(&id);
            self.scope.live_waits = self.scope.live_waits.saturating_sub(1);
        }
        Ok(())
    }

    fn change(&mut self, seq: Seq, at: Wall, body: &Body) -> Result<(), FoldError> {
        let Some(id) = body.lease() else { return Ok(()) };
        let epoch = self.scope.epoch;
        let live = self.leases.get_mut(&id).filter(|lease| lease.ended.is_none());
        let lease = live.ok_or(FoldError::NotLive { seq: seq.0, lease: id })?;
        change_lease(lease, Fence { epoch, seq }, at, body);
        if lease.ended.is_some() {
            let root = u64::from(lease.target.is_root_level());
            self.scope.live_leases = self.scope.live_leases.saturating_sub(1);
            self.scope.root_patterns = self.scope.root_patterns.saturating_sub(root);
        }
        Ok(())
    }
}

/// What an event about one agent does to it.
pub fn change_agent(agent: &mut Agent, at: Wall, body: &Body) {
    match body {
        Body::AgentResumed { key, process, .. } => {
            (agent.key, agent.process, agent.ended_at) = (key.clone(), process.clone(), None);
        }
        Body::AgentEnded { .. } => agent.ended_at = Some(at),
        Body::AgentHalted { reason, .. } => agent.halted = Some(reason.clone()),
        Body::AgentContinued { .. } => agent.halted = None,
        _ => {}
    }
}

/// What an event about one live lease does to it. `fence` is the event's own.
pub fn change_lease(lease: &mut Lease, fence: Fence, at: Wall, body: &Body) {
    match body {
        Body::LeaseRenewed { terms, .. } => lease.set_terms(terms.clone()),
        Body::LeaseUpgraded { slot, terms, .. } => {
            (lease.mode, lease.fence, lease.slot) = (Mode::Exclusive, fence, *slot);
            lease.set_terms(terms.clone());
        }
        Body::LeaseDowngraded { terms, .. } => {
            lease.mode = Mode::Shared;
            lease.set_terms(terms.clone());
        }
        Body::LeaseClaimed { terms, .. } => {
            (lease.grade, lease.makes_way) = (Grade::Claimed, false);
            lease.set_terms(terms.clone());
        }
        Body::LeaseTransferred { from, to, deadline, .. } => {
            (lease.holder, lease.fence, lease.deadline) = (*to, fence, *deadline);
            lease.handed_by = Some(*from);
        }
        Body::LeaseSplit { path, .. } => lease.ceded.push(path.clone()),
        body => lease.ended = body.end().map(|how| Ended { how, at }).or(lease.ended),
    }
}

/// What an event about one open negotiation does to it.
pub fn change_negotiation(negotiation: &mut Negotiation, at: Wall, body: &Body) {
    match body {
        Body::NegotiationRaised { urgency, then_reserve, deadline, .. } => {
            (negotiation.urgency, negotiation.then_reserve) = (*urgency, *then_reserve);
            negotiation.deadline = *deadline;
        }
        Body::NegotiationDeferred { until, deadline, .. } => {
            negotiation.state = until.map_or(NegotiationState::AfterCommit, NegotiationState::Later);
            (negotiation.deadline, negotiation.overdue) = (*deadline, false);
        }
        Body::NegotiationOverdue { .. } => negotiation.overdue = true,
        Body::NegotiationEnded { how, released, reason, .. } => {
            let (how, released, reason) = (*how, *released, reason.clone());
            negotiation.state = NegotiationState::Over(Settled { how, released, reason, at });
        }
        Body::NegotiationForced { reason, .. } => {
            let (how, reason) = (NegotiationEnd::Forced, Some(reason.clone()));
            negotiation.state = NegotiationState::Over(Settled { how, released: 1, reason, at });
        }
        _ => {}
    }
}

/// Whether a wait is still in the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It is.
    Waits,
    /// It is not any more.
    Over,
}

/// What an event about one wait does to it. `seq` is the event's own.
pub fn change_wait(wait: &mut Wait, seq: Seq, body: &Body) -> Standing {
    match body {
        Body::WaitAttached { process, until, .. } => {
            wait.kept_until = match (process, &wait.attached) {
                (None, _) => None,
                (Some(_), None) => Some(wait.until),
                (Some(_), Some(_)) => wait.kept_until,
            };
            (wait.attached, wait.until, wait.offered_until) = (process.clone(), *until, None);
        }
        Body::WaitOffered { until, .. } => {
            (wait.offered_until, wait.offers) = (Some(*until), wait.offers + 1);
        }
        Body::WaitPassed { .. } => (wait.offered_until, wait.place) = (None, seq),
        Body::WaitWithdrawn { .. } => {
            (wait.offered_until, wait.offers) = (None, wait.offers.saturating_sub(1));
        }
        _ => {}
    }
    if matches!(body, Body::WaitEnded { .. }) { Standing::Over } else { Standing::Waits }
}

impl Body {
    /// The one wait an event is about.
    pub fn wait(&self) -> Option<WaitId> {
        match self {
            Self::WaitBegan(wait) => Some(wait.id),
            Self::WaitAttached { wait, .. }
            | Self::WaitOffered { wait, .. }
            | Self::WaitPassed { wait }
            | Self::WaitWithdrawn { wait }
            | Self::WaitEnded { wait, .. } => Some(*wait),
            _ => None,
        }
    }

    /// The one negotiation an event is about.
    pub fn negotiation(&self) -> Option<NegotiationId> {
        match self {
            Self::NegotiationAsked(negotiation) => Some(negotiation.id),
            Self::NegotiationRaised { negotiation, .. }
            | Self::NegotiationDeferred { negotiation, .. }
            | Self::NegotiationOverdue { negotiation }
            | Self::NegotiationEnded { negotiation, .. }
            | Self::NegotiationForced { negotiation, .. } => Some(*negotiation),
            _ => None,
        }
    }

    /// The one lease an event is about.
    pub fn lease(&self) -> Option<LeaseId> {
        match self {
            Self::LeaseGranted(lease) => Some(lease.id),
            Self::LeaseRenewed { lease, .. }
            | Self::LeaseUpgraded { lease, .. }
            | Self::LeaseDowngraded { lease, .. }
            | Self::LeaseClaimed { lease, .. }
            | Self::LeaseReleased { lease, .. }
            | Self::LeaseOrphaned { lease, .. }
            | Self::LeaseExpired { lease, .. }
            | Self::LeaseYielded { lease, .. }
            | Self::LeaseSplit { lease, .. }
            | Self::LeaseTakenOver { lease, .. }
            | Self::LeaseTransferred { lease, .. } => Some(*lease),
            _ => None,
        }
    }

    /// The one agent an event changes.
    pub fn changed_agent(&self) -> Option<AgentId> {
        match self {
            Self::AgentResumed { agent, .. }
            | Self::AgentEnded { agent }
            | Self::AgentHalted { agent, .. }
            | Self::AgentContinued { agent, .. } => Some(*agent),
            _ => None,
        }
    }

    /// How the event ends its lease, if it does.
    pub fn end(&self) -> Option<End> {
        match self {
            Self::LeaseReleased { .. } => Some(End::Released),
            Self::LeaseOrphaned { .. } => Some(End::Orphaned),
            Self::LeaseExpired { cause, .. } => Some(End::Expired(*cause)),
            Self::LeaseYielded { .. } => Some(End::Yielded),
            Self::LeaseTakenOver { .. } => Some(End::TakenOver),
            _ => None,
        }
    }
}
