//! Events: the immutable facts of a scope's log. State is their fold.

use crate::agent::{Agent, Established, IdentityKey};
use crate::facts::Process;
use crate::ids::{AgentId, Epoch, LeaseId, NegotiationId, Seq, WaitId};
use crate::lease::{ExpiryCause, Lease, Mode, Terms};
use crate::mail::MailEvent;
use crate::negotiation::{Negotiation, NegotiationEnd, Urgency};
use crate::pattern::Fold;
use crate::snapshot::Keeping;
use crate::target::Target;
use crate::time::{BootKey, Mono, Wall};
use crate::wait::{Wait, WaitEnd};

/// One entry of the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// Its position.
    pub seq: Seq,
    /// When, for people.
    pub at: Wall,
    /// Who, and how that was established.
    pub actor: Actor,
    /// What.
    pub body: Body,
}

/// Who caused an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Actor {
    /// The agent; `None` for the kernel's own acts and for a caller that was turned away before it had one.
    pub agent: Option<AgentId>,
    /// How it was established.
    pub how: Established,
}

impl Actor {
    /// The kernel itself.
    pub const KERNEL: Self = Self { agent: None, how: Established::Kernel };

    /// Somebody who claimed to be what it is not.
    pub(crate) const CLAIMANT: Self = Self { agent: None, how: Established::Claim };
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Body {
    /// The scope was seen for the first time.
    ScopeOpened {
        /// Where it is, for people.
        place: String,
        /// Whether its file system folds case; sticky.
        fold: Fold,
    },
    /// A boot of the machine began for this scope.
    EpochBegan {
        /// Its number.
        epoch: Epoch,
        /// The clock its deadlines are read from.
        boot: BootKey,
        /// Events that a power cut took from the log, as far as the witness beside it remembers.
        lost_tail: u64,
        /// Why an operator went on without them; `None` if a boot began by itself.
        operator_reason: Option<String>,
    },
    /// An agent was seen for the first time.
    AgentRegistered(Agent),
    /// An agent goes on under another session id or in another process, or after it said goodbye.
    AgentResumed {
        /// Who.
        agent: AgentId,
        /// What recognises it from now on.
        key: IdentityKey,
        /// The client's own process from now on.
        process: Option<Process>,
    },
    /// An agent said goodbye.
    AgentEnded {
        /// Who.
        agent: AgentId,
    },
    /// A lease was granted.
    LeaseGranted(Lease),
    /// A lease was extended by its holder, or for it.
    LeaseRenewed {
        /// Which.
        lease: LeaseId,
        /// On which terms from now on.
        terms: Terms,
        /// The reason an operator gave, when it was not the holder.
        operator_reason: Option<String>,
    },
    /// A shared lease became exclusive; its fence is this event.
    LeaseUpgraded {
        /// Which.
        lease: LeaseId,
        /// The unit of a named resource it holds from now on.
        slot: Option<u32>,
        /// On which terms from now on.
        terms: Terms,
    },
    /// An exclusive lease became shared. It keeps its fence and its unit.
    LeaseDowngraded {
        /// Which.
        lease: LeaseId,
        /// On which terms from now on.
        terms: Terms,
    },
    /// A lease that made way became a claim that does not: one that a hook took, or a broad one. It keeps its fence, since
    /// its holder had it all along.
    LeaseClaimed {
        /// Which.
        lease: LeaseId,
        /// On which terms from now on.
        terms: Terms,
    },
    /// A lease was given back.
    LeaseReleased {
        /// Which.
        lease: LeaseId,
        /// Whose it was.
        holder: AgentId,
        /// The reason an operator gave, when it was not the holder.
        operator_reason: Option<String>,
    },
    /// The holder of a lease ended, or was stopped, and left a change behind that is not committed.
    LeaseOrphaned {
        /// Which.
        lease: LeaseId,
        /// Whose it was.
        holder: AgentId,
    },
    /// A lease ran out.
    LeaseExpired {
        /// Which.
        lease: LeaseId,
        /// Whose it was.
        holder: AgentId,
        /// Why.
        cause: ExpiryCause,
        /// The holder's last sign of life as it was observed.
        last_seen: Option<Mono>,
    },
    /// An automatic lease on an unchanged path made room for a request.
    LeaseYielded {
        /// Which.
        lease: LeaseId,
        /// Whose it was.
        holder: AgentId,
        /// For whom.
        to: AgentId,
    },
    /// A path of a broad claim that its holder had not touched made way for a request.
    LeaseSplit {
        /// Of which.
        lease: LeaseId,
        /// Whose it is.
        holder: AgentId,
        /// Which path.
        path: Target,
        /// For whom.
        to: AgentId,
    },
    /// The lease of a holder proven gone was ended for a request.
    LeaseTakenOver {
        /// Which.
        lease: LeaseId,
        /// Whose it was.
        holder: AgentId,
        /// For whom.
        to: AgentId,
    },
    /// A lease was handed to another agent; its fence is this event.
    LeaseTransferred {
        /// Which.
        lease: LeaseId,
        /// Whose it was.
        from: AgentId,
        /// Whose it is.
        to: AgentId,
        /// The new deadline.
        deadline: Mono,
        /// The reason an operator gave, when it was not the holder.
        operator_reason: Option<String>,
    },
    /// A place in the queue was taken.
    WaitBegan(Wait),
    /// A process waits at a place from now on, or none does any more.
    WaitAttached {
        /// Which.
        wait: WaitId,
        /// The process; `None` if the agent is to be told.
        process: Option<Process>,
        /// When it gives up.
        until: Mono,
    },
    /// The turn of a wait without a process has come.
    WaitOffered {
        /// Which.
        wait: WaitId,
        /// How long it is kept.
        until: Mono,
    },
    /// A turn was not taken in time; the wait is the last of the queue from now on.
    WaitPassed {
        /// Which.
        wait: WaitId,
    },
    /// A turn was taken back that could not have been taken; the wait keeps its place.
    WaitWithdrawn {
        /// Which.
        wait: WaitId,
    },
    /// A place in the queue was given up.
    WaitEnded {
        /// Which.
        wait: WaitId,
        /// Whose it was.
        agent: AgentId,
        /// Why.
        cause: WaitEnd,
        /// When its process was last heard of, as it was observed.
        last_heard: Option<Mono>,
        /// Why an operator ended it.
        operator_reason: Option<String>,
    },
    /// An operator admits no new path leases of agents.
    ScopeFrozen {
        /// Until when.
        until: Mono,
        /// Why.
        reason: String,
    },
    /// An operator admits them again.
    ScopeThawed {
        /// Why.
        reason: String,
    },
    /// An operator let a commit take along what is with somebody else.
    CommitAllowed {
        /// Which paths.
        paths: Vec<String>,
        /// Who held them.
        blockers: Vec<LeaseId>,
        /// Why.
        reason: String,
    },
    /// A commit that the check never saw holds what was with somebody else.
    CommitUnchecked {
        /// Which.
        commit: String,
        /// Paths of it.
        paths: Vec<String>,
        /// Who held them.
        blockers: Vec<LeaseId>,
    },
    /// A file that somebody holds was written by somebody else: the actor, if it is known who.
    LeaseOverwritten {
        /// The lease on it.
        lease: LeaseId,
        /// Who holds it.
        holder: AgentId,
        /// Which file.
        path: String,
    },
    /// What was not committed is kept; the number of the snapshot is that of this event.
    SnapshotTaken(Keeping),
    /// Somebody asked the holder of a lease for it.
    NegotiationAsked(Negotiation),
    /// It asked again: sooner, or to be granted it at once.
    NegotiationRaised {
        /// Which.
        negotiation: NegotiationId,
        /// How soon from now on.
        urgency: Urgency,
        /// Whether it is granted in the transaction that lets it go.
        then_reserve: bool,
        /// The new deadline.
        deadline: Mono,
    },
    /// The holder answered that it takes longer.
    NegotiationDeferred {
        /// Which.
        negotiation: NegotiationId,
        /// Until when; `None` for its next commit.
        until: Option<Mono>,
        /// The new deadline.
        deadline: Mono,
    },
    /// The deadline passed, and both sides are told.
    NegotiationOverdue {
        /// Which.
        negotiation: NegotiationId,
    },
    /// It is over.
    NegotiationEnded {
        /// Which.
        negotiation: NegotiationId,
        /// In which way.
        how: NegotiationEnd,
        /// How many leases were let go.
        released: u64,
        /// Why, where somebody said so.
        reason: Option<String>,
    },
    /// What was asked for was taken from its holder. The actor took it.
    NegotiationForced {
        /// By which request.
        negotiation: NegotiationId,
        /// Of which lease.
        lease: LeaseId,
        /// From whom.
        holder: AgentId,
        /// What.
        target: Target,
        /// Why.
        reason: String,
        /// The holder's last sign of life as it was observed; `None` for one that is proven gone.
        last_seen: Option<Mono>,
    },
    /// A person stopped an agent.
    AgentHalted {
        /// Whom.
        agent: AgentId,
        /// Why.
        reason: String,
    },
    /// A person let it go on.
    AgentContinued {
        /// Whom.
        agent: AgentId,
        /// Why.
        reason: String,
    },
    /// A request met a lease of somebody else.
    ReservationRefused {
        /// What was asked for.
        targets: Vec<String>,
        /// In which mode.
        mode: Mode,
        /// Who stood in the way.
        blockers: Vec<LeaseId>,
        /// How often the same had been refused without an event of its own.
        repeats: u64,
    },
    /// Somebody tried what was not theirs to do.
    ActionDenied {
        /// What.
        action: String,
        /// On whom or what.
        subject: String,
        /// Why not.
        reason: String,
        /// How often the same had been denied without an event of its own.
        repeats: u64,
    },
    /// Something happened to mail.
    Mail(MailEvent),
}

impl Body {
    /// The kind of a commit that went past the check: it is looked for by its name.
    pub const COMMIT_UNCHECKED: &'static str = "commit.unchecked";
    /// The kind of a write over what somebody holds, looked for likewise.
    pub const LEASE_OVERWRITTEN: &'static str = "lease.overwritten";

    /// The stable name of the kind.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::ScopeOpened { .. } => "scope.opened",
            Self::EpochBegan { .. } => "epoch.began",
            Self::AgentRegistered(_) => "agent.registered",
            Self::AgentResumed { .. } => "agent.resumed",
            Self::AgentEnded { .. } => "agent.ended",
            Self::LeaseOrphaned { .. } => "lease.orphaned",
            Self::LeaseGranted(_) => "lease.granted",
            Self::LeaseRenewed { .. } => "lease.renewed",
            Self::LeaseUpgraded { .. } => "lease.upgraded",
            Self::LeaseDowngraded { .. } => "lease.downgraded",
            Self::LeaseClaimed { .. } => "lease.claimed",
            Self::LeaseReleased { .. } => "lease.released",
            Self::LeaseExpired { .. } => "lease.expired",
            Self::LeaseYielded { .. } => "lease.yielded",
            Self::LeaseSplit { .. } => "lease.split",
            Self::LeaseTakenOver { .. } => "lease.taken-over",
            Self::LeaseTransferred { .. } => "lease.transferred",
            Self::WaitBegan(_) => "wait.began",
            Self::WaitAttached { .. } => "wait.attached",
            Self::WaitOffered { .. } => "wait.offered",
            Self::WaitPassed { .. } => "wait.passed",
            Self::WaitWithdrawn { .. } => "wait.withdrawn",
            Self::WaitEnded { .. } => "wait.ended",
            Self::ScopeFrozen { .. } => "scope.frozen",
            Self::ScopeThawed { .. } => "scope.thawed",
            Self::CommitAllowed { .. } => "commit.allowed",
            Self::CommitUnchecked { .. } => Self::COMMIT_UNCHECKED,
            Self::LeaseOverwritten { .. } => Self::LEASE_OVERWRITTEN,
            Self::SnapshotTaken(_) => "snapshot.taken",
            Self::NegotiationAsked(_) => "negotiation.asked",
            Self::NegotiationRaised { .. } => "negotiation.raised",
            Self::NegotiationDeferred { .. } => "negotiation.deferred",
            Self::NegotiationOverdue { .. } => "negotiation.overdue",
            Self::NegotiationEnded { .. } => "negotiation.ended",
            Self::NegotiationForced { .. } => "negotiation.forced",
            Self::AgentHalted { .. } => "agent.halted",
            Self::AgentContinued { .. } => "agent.continued",
            Self::ReservationRefused { .. } => "reservation.refused",
            Self::ActionDenied { .. } => "action.denied",
            Self::Mail(mail) => mail.kind(),
        }
    }

    /// Every kind, for filters and their error messages.
    pub const KINDS: [&'static str; 44] = [
        "scope.opened",
        "epoch.began",
        "agent.registered",
        "agent.resumed",
        "agent.ended",
        "lease.granted",
        "lease.renewed",
        "lease.upgraded",
        "lease.downgraded",
        "lease.claimed",
        "lease.released",
        "lease.orphaned",
        "lease.expired",
        "lease.yielded",
        "lease.split",
        "lease.taken-over",
        "lease.transferred",
        Self::LEASE_OVERWRITTEN,
        "wait.began",
        "wait.attached",
        "wait.offered",
        "wait.passed",
        "wait.withdrawn",
        "wait.ended",
        "scope.frozen",
        "scope.thawed",
        "commit.allowed",
        Self::COMMIT_UNCHECKED,
        "snapshot.taken",
        "negotiation.asked",
        "negotiation.raised",
        "negotiation.deferred",
        "negotiation.overdue",
        "negotiation.ended",
        "negotiation.forced",
        "agent.halted",
        "agent.continued",
        "reservation.refused",
        "action.denied",
        "mail.sent",
        "mail.read",
        "mail.acknowledged",
        "mail.rules-set",
        "mail.forgotten",
    ];

    /// How much the disk must promise before the act is acknowledged. One table for every engine.
    pub fn durability(&self) -> Durability {
        match self {
            Self::EpochBegan { .. }
            | Self::LeaseRenewed { operator_reason: Some(_), .. }
            | Self::LeaseTransferred { .. }
            | Self::ScopeFrozen { .. }
            | Self::ScopeThawed { .. }
            | Self::CommitAllowed { .. }
            | Self::SnapshotTaken(_)
            | Self::NegotiationAsked(_)
            | Self::NegotiationRaised { .. }
            | Self::NegotiationDeferred { .. }
            | Self::NegotiationOverdue { .. }
            | Self::NegotiationEnded { .. }
            | Self::NegotiationForced { .. }
            | Self::AgentHalted { .. }
            | Self::AgentContinued { .. }
            | Self::LeaseReleased { operator_reason: Some(_), .. }
            | Self::WaitEnded { operator_reason: Some(_), .. } => Durability::Full,
            Self::Mail(mail) => mail.durability(),
            _ => Durability::Normal,
        }
    }
}

/// What an acknowledgement promises.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Durability {
    /// Survives the death of every process; the last moments may be lost with the power.
    #[default]
    Normal,
    /// Survives the loss of power too.
    Full,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_operators_act_survives_the_loss_of_power_and_a_holders_need_not() {
        let (lease, holder) = (LeaseId::parse("abcdefgh").unwrap(), AgentId::parse("abcdefgh").unwrap());
        for (operator_reason, promised) in
            [(Some("holiday".to_owned()), Durability::Full), (None, Durability::Normal)]
        {
            let (deadline, reason, by) = (Mono(1), None, operator_reason.clone());
            let terms = Terms { ttl_ms: 1, deadline, end_max: None, reason };
            let renewed = Body::LeaseRenewed { lease, terms, operator_reason: by };
            let released = Body::LeaseReleased { lease, holder, operator_reason };
            assert_eq!([renewed.durability(), released.durability()], [promised, promised]);
        }
    }
}
