//! Events as programs read them.

use super::mail::MailFacts;
use super::{hex, integer, rfc3339};
use crate::chain::ChainHash;
use clearway_core::agent::{Agent, AgentName};
use clearway_core::event::{Body, Event};
use clearway_core::ids::ScopeKey;
use clearway_core::lease::Lease;
use clearway_core::pattern::Fold;
use clearway_core::wait::Wait;
use schemars::JsonSchema;
use serde::Serialize;

/// One line of `events`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Event")]
pub struct EventJson {
    /// Its place in the log, from 1, without gaps.
    pub seq: u64,
    /// What happened.
    pub kind: String,
    /// The name of who did it; null for the kernel itself.
    pub agent: Option<String>,
    /// Its id.
    pub agent_id: Option<String>,
    /// When.
    pub at: String,
    /// How the actor was established: `session`, `ancestry`, `claim`, `terminal` or `kernel`.
    pub how: String,
    /// The facts.
    pub data: EventData,
    /// Chains the event to everything before it. `SEQ@HASH` is a cursor for `events --from`.
    pub hash: String,
}

impl EventJson {
    /// An event with the name of its actor.
    pub fn new(event: &Event, agent: Option<&AgentName>, hash: ChainHash) -> Self {
        Self {
            seq: integer(event.seq.0),
            kind: event.body.kind().to_owned(),
            agent: agent.map(ToString::to_string),
            agent_id: event.actor.agent.map(|id| id.to_string()),
            at: rfc3339(event.at),
            how: event.actor.how.word().to_owned(),
            data: EventData::new(&event.body),
            hash: hash.to_string(),
        }
    }
}

/// One line of `audit export`: enough to verify the chain with nothing else at hand.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ExportedJson {
    /// The scope; it is hashed.
    pub scope: String,
    /// The event's place; it is hashed.
    pub seq: u64,
    /// What happened.
    pub kind: String,
    /// Who did it.
    pub agent_id: Option<String>,
    /// When.
    pub at: String,
    /// How the actor was established.
    pub how: String,
    /// The facts, decoded.
    pub data: EventData,
    /// The canonical bytes as stored, in hexadecimal.
    pub bytes: String,
    /// BLAKE3 of: the hash before (32 zero bytes at first), the scope's length (8 bytes, big-endian), the scope,
    /// the seq (8 bytes, big-endian), the bytes.
    pub hash: String,
}

impl ExportedJson {
    /// An event with its bytes.
    pub fn new(scope: &ScopeKey, event: &Event, bytes: &[u8], hash: ChainHash) -> Self {
        Self {
            scope: scope.to_string(),
            seq: integer(event.seq.0),
            kind: event.body.kind().to_owned(),
            agent_id: event.actor.agent.map(|id| id.to_string()),
            at: rfc3339(event.at),
            how: event.actor.how.word().to_owned(),
            data: EventData::new(&event.body),
            bytes: hex(bytes),
            hash: hash.to_string(),
        }
    }
}

/// The facts of an event; which ones depends on its kind.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum EventData {
    /// `scope.opened`
    ScopeOpened {
        /// Where it is.
        place: String,
        /// Whether its file system folds case.
        folds_case: bool,
    },
    /// `epoch.began`
    EpochBegan {
        /// Which start of the machine this is, for the scope.
        epoch: u32,
        /// Events that a power cut took from the log.
        lost_tail: u64,
        /// What an operator gave as the reason for going on without them.
        operator_reason: Option<String>,
    },
    /// `agent.registered`
    AgentRegistered(AgentFacts),
    /// `agent.resumed` and `agent.ended`
    AgentChanged {
        /// Who.
        changed_id: String,
        /// The client's own process from now on, where one is known.
        pid: Option<u32>,
    },
    /// `lease.granted`
    LeaseGranted(LeaseFacts),
    /// `lease.renewed`, `lease.upgraded`, `lease.downgraded` and `lease.claimed`
    LeaseRenewed {
        /// Which.
        lease: String,
        /// The silence it allows from now on.
        ttl_ms: u64,
        /// Why, in the holder's words.
        reason: Option<String>,
        /// What an operator gave as the reason for renewing somebody else's.
        operator_reason: Option<String>,
    },
    /// `lease.yielded` and `lease.taken-over`
    LeaseMadeRoom {
        /// Which.
        lease: String,
        /// Whose it was.
        holder_id: String,
        /// For whom.
        to_id: String,
    },
    /// `lease.split`
    LeaseSplit {
        /// Of which.
        lease: String,
        /// Whose it is.
        holder_id: String,
        /// The path that made way.
        path: String,
        /// For whom.
        to_id: String,
    },
    /// `lease.expired`
    LeaseExpired {
        /// Which.
        lease: String,
        /// Whose it was.
        holder_id: String,
        /// `silence`, `maximum`, `reboot`, `recovery` or `process-gone`.
        cause: String,
    },
    /// `lease.released` and `lease.orphaned`
    LeaseReleased {
        /// Which.
        lease: String,
        /// Whose it was.
        holder_id: String,
        /// What an operator gave as the reason for releasing somebody else's.
        operator_reason: Option<String>,
    },
    /// `lease.transferred`
    LeaseTransferred {
        /// Which.
        lease: String,
        /// Whose it was.
        from_id: String,
        /// Whose it is.
        to_id: String,
        /// What an operator gave as the reason for handing over somebody else's.
        operator_reason: Option<String>,
    },
    /// `wait.began`
    WaitBegan(WaitFacts),
    /// `wait.attached`
    WaitAttached {
        /// Which.
        wait: String,
        /// The process that waits; null if the agent is to be told.
        pid: Option<u32>,
    },
    /// `wait.ended`
    WaitEnded {
        /// Which.
        wait: String,
        /// Who waited.
        waiter_id: String,
        /// `granted`, `timed-out`, `cancelled`, `silent`, `gone`, `lapsed`, `reboot` or `recovery`.
        cause: String,
        /// Why an operator ended it.
        #[serde(skip_serializing_if = "Option::is_none")]
        operator_reason: Option<String>,
    },
    /// `wait.offered`, `wait.passed` and `wait.withdrawn`
    WaitTurn {
        /// Which.
        wait: String,
    },
    /// `scope.frozen` and `scope.thawed`
    ScopePaused {
        /// Why.
        operator_reason: String,
    },
    /// `commit.allowed`
    CommitAllowed {
        /// Paths that are with somebody else.
        paths: Vec<String>,
        /// Leases on them.
        blockers: Vec<String>,
        /// Why an operator let them go along.
        operator_reason: String,
    },
    /// `commit.unchecked`
    CommitUnchecked {
        /// The commit that the check never saw.
        commit: String,
        /// Paths of it that were with somebody else.
        paths: Vec<String>,
        /// Leases on them.
        blockers: Vec<String>,
    },
    /// `lease.overwritten`
    LeaseOverwritten {
        /// The lease on it.
        lease: String,
        /// Who holds it.
        holder_id: String,
        /// The file that somebody else wrote.
        path: String,
    },
    /// `snapshot.taken`
    SnapshotTaken {
        /// The commit that holds it.
        commit: String,
        /// Of which checkout.
        worktree: String,
        /// `asked`, `command`, `take-over`, `session-end`, `halt` or `restore`.
        cause: String,
        /// Why, in somebody's words.
        reason: Option<String>,
        /// How many files it holds.
        files: u64,
        /// How many bytes they have.
        bytes: u64,
    },
    /// `negotiation.asked`
    NegotiationAsked {
        /// Which.
        negotiation: String,
        /// Who is asked.
        holder_id: String,
        /// The lease that is asked for.
        lease: String,
        /// Its fence.
        fence: u64,
        /// What of it is asked for.
        pattern: String,
        /// Why.
        why: String,
        /// `normal` or `urgent`.
        urgency: String,
        /// The requester's place in the queue.
        wait: String,
        /// Whether it is granted in the transaction that lets it go.
        then_reserve: bool,
    },
    /// `negotiation.raised`
    NegotiationRaised {
        /// Which.
        negotiation: String,
        /// `normal` or `urgent`.
        urgency: String,
        /// Whether it is granted in the transaction that lets it go.
        then_reserve: bool,
    },
    /// `negotiation.deferred`
    NegotiationDeferred {
        /// Which.
        negotiation: String,
        /// `after-commit` or `later`.
        answer: String,
    },
    /// `negotiation.overdue`
    NegotiationOverdue {
        /// Which.
        negotiation: String,
    },
    /// `negotiation.ended`
    NegotiationEnded {
        /// Which.
        negotiation: String,
        /// `released`, `refused`, `withdrawn` or `lapsed`; `forced` where the request of somebody else took it.
        outcome: String,
        /// How many leases were let go.
        released: u64,
        /// Why, where somebody said so.
        reason: Option<String>,
    },
    /// `negotiation.forced`: who took it is the actor of the event.
    NegotiationForced {
        /// By which request.
        negotiation: String,
        /// Of which lease.
        lease: String,
        /// From whom.
        holder_id: String,
        /// What.
        pattern: String,
        /// Why.
        reason: String,
    },
    /// `agent.halted`, `agent.continued`
    AgentHalted {
        /// Whom.
        halted_id: String,
        /// Why.
        operator_reason: String,
    },
    /// `reservation.refused`
    ReservationRefused {
        /// What was asked for.
        targets: Vec<String>,
        /// In which mode.
        mode: String,
        /// The leases in the way.
        blockers: Vec<String>,
        /// How often the same was refused before without an event of its own.
        repeats: u64,
    },
    /// `action.denied`
    ActionDenied {
        /// What was tried.
        action: String,
        /// On whom or what.
        subject: String,
        /// The slug of the reason.
        reason: String,
        /// How often the same was denied before without an event of its own.
        repeats: u64,
    },
    /// `mail.sent`, `mail.read`, `mail.acknowledged`, `mail.rules-set` and `mail.forgotten`
    Mail(MailFacts),
}

/// A place in the queue as it was taken.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct WaitFacts {
    /// Its id.
    pub wait: String,
    /// Who waits.
    pub waiter_id: String,
    /// For what.
    pub targets: Vec<String>,
    /// In which mode.
    pub mode: String,
    /// The process that waits; null if the agent is to be told.
    pub pid: Option<u32>,
}

/// A lease as it was granted.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct LeaseFacts {
    /// Its id.
    pub lease: String,
    /// `path`, `name` or `write-set`.
    pub kind: String,
    /// What it is on.
    pub pattern: String,
    /// `exclusive` or `shared`.
    pub mode: String,
    /// `auto` or `claimed`.
    pub grade: String,
    /// Whose it is.
    pub holder_id: String,
    /// The order of its grant.
    pub fence: u64,
    /// Why, in the holder's words.
    pub reason: Option<String>,
    /// The checkout it is about; empty for names.
    pub worktree: String,
    /// The silence it allows.
    pub ttl_ms: u64,
    /// The write-set it belongs to.
    pub set_id: Option<String>,
    /// Which unit of a named resource.
    pub slot: Option<u32>,
}

/// An agent as it was registered, without what proves its identity.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct AgentFacts {
    /// Its id.
    pub registered_id: String,
    /// Its name.
    pub name: String,
    /// What kind of program it is.
    pub client: String,
    /// The agent that started it.
    pub parent_id: Option<String>,
    /// The machine of its process, where one is known.
    pub host: Option<String>,
    /// Its process, where one is known.
    pub pid: Option<u32>,
}

impl EventData {
    /// The facts of a body.
    pub fn new(body: &Body) -> Self {
        match body {
            Body::ScopeOpened { place, fold } => {
                Self::ScopeOpened { place: place.clone(), folds_case: *fold == Fold::Insensitive }
            }
            Body::EpochBegan { epoch, lost_tail, operator_reason, .. } => Self::EpochBegan {
                epoch: epoch.0,
                lost_tail: integer(*lost_tail),
                operator_reason: operator_reason.clone(),
            },
            Body::AgentRegistered(agent) => Self::AgentRegistered(agent_facts(agent)),
            Body::AgentResumed { agent, process, .. } => Self::AgentChanged {
                changed_id: agent.to_string(),
                pid: process.as_ref().map(|process| process.pid),
            },
            Body::AgentEnded { agent } => Self::AgentChanged { changed_id: agent.to_string(), pid: None },
            Body::LeaseOrphaned { lease, holder } => Self::LeaseReleased {
                lease: lease.to_string(),
                holder_id: holder.to_string(),
                operator_reason: None,
            },
            Body::LeaseGranted(lease) => Self::LeaseGranted(lease_facts(lease)),
            Body::LeaseRenewed { lease, terms, operator_reason } => Self::LeaseRenewed {
                lease: lease.to_string(),
                ttl_ms: integer(terms.ttl_ms),
                reason: terms.reason.clone(),
                operator_reason: operator_reason.clone(),
            },
            Body::LeaseUpgraded { lease, terms, .. }
            | Body::LeaseDowngraded { lease, terms }
            | Body::LeaseClaimed { lease, terms } => Self::LeaseRenewed {
                lease: lease.to_string(),
                ttl_ms: integer(terms.ttl_ms),
                reason: terms.reason.clone(),
                operator_reason: None,
            },
            Body::LeaseReleased { lease, holder, operator_reason } => Self::LeaseReleased {
                lease: lease.to_string(),
                holder_id: holder.to_string(),
                operator_reason: operator_reason.clone(),
            },
            Body::LeaseExpired { lease, holder, cause, .. } => Self::LeaseExpired {
                lease: lease.to_string(),
                holder_id: holder.to_string(),
                cause: cause.word().to_owned(),
            },
            Body::LeaseYielded { lease, holder, to } | Body::LeaseTakenOver { lease, holder, to } => {
                Self::LeaseMadeRoom {
                    lease: lease.to_string(),
                    holder_id: holder.to_string(),
                    to_id: to.to_string(),
                }
            }
            Body::LeaseSplit { lease, holder, path, to } => Self::LeaseSplit {
                lease: lease.to_string(),
                holder_id: holder.to_string(),
                path: path.display(),
                to_id: to.to_string(),
            },
            Body::LeaseTransferred { lease, from, to, operator_reason, .. } => Self::LeaseTransferred {
                lease: lease.to_string(),
                from_id: from.to_string(),
                to_id: to.to_string(),
                operator_reason: operator_reason.clone(),
            },
            Body::WaitBegan(wait) => Self::WaitBegan(wait_facts(wait)),
            Body::WaitAttached { wait, process, .. } => Self::WaitAttached {
                wait: wait.to_string(),
                pid: process.as_ref().map(|process| process.pid),
            },
            Body::WaitOffered { wait, .. } | Body::WaitPassed { wait } | Body::WaitWithdrawn { wait } => {
                Self::WaitTurn { wait: wait.to_string() }
            }
            Body::WaitEnded { wait, agent, cause, operator_reason, .. } => Self::WaitEnded {
                wait: wait.to_string(),
                waiter_id: agent.to_string(),
                cause: cause.word().to_owned(),
                operator_reason: operator_reason.clone(),
            },
            Body::ScopeFrozen { reason, .. } | Body::ScopeThawed { reason } => {
                Self::ScopePaused { operator_reason: reason.clone() }
            }
            Body::CommitAllowed { paths, blockers, reason } => Self::CommitAllowed {
                paths: paths.clone(),
                blockers: blockers.iter().map(ToString::to_string).collect(),
                operator_reason: reason.clone(),
            },
            Body::CommitUnchecked { commit, paths, blockers } => Self::CommitUnchecked {
                commit: commit.clone(),
                paths: paths.clone(),
                blockers: blockers.iter().map(ToString::to_string).collect(),
            },
            Body::LeaseOverwritten { lease, holder, path } => Self::LeaseOverwritten {
                lease: lease.to_string(),
                holder_id: holder.to_string(),
                path: path.clone(),
            },
            Body::SnapshotTaken(keeping) => Self::SnapshotTaken {
                commit: keeping.commit.clone(),
                worktree: keeping.worktree.0.clone(),
                cause: keeping.cause.word().to_owned(),
                reason: keeping.reason.clone(),
                files: integer(keeping.files),
                bytes: integer(keeping.bytes),
            },
            Body::NegotiationAsked(asked) => Self::NegotiationAsked {
                negotiation: asked.id.to_string(),
                holder_id: asked.holder.to_string(),
                lease: asked.lease.to_string(),
                fence: asked.fence.to_integer(),
                pattern: asked.target.display(),
                why: asked.why.clone(),
                urgency: asked.urgency.word().to_owned(),
                wait: asked.wait.to_string(),
                then_reserve: asked.then_reserve,
            },
            Body::NegotiationRaised { negotiation, urgency, then_reserve, .. } => Self::NegotiationRaised {
                negotiation: negotiation.to_string(),
                urgency: urgency.word().to_owned(),
                then_reserve: *then_reserve,
            },
            Body::NegotiationDeferred { negotiation, until, .. } => Self::NegotiationDeferred {
                negotiation: negotiation.to_string(),
                answer: until.map_or("after-commit", |_| "later").to_owned(),
            },
            Body::NegotiationOverdue { negotiation } => {
                Self::NegotiationOverdue { negotiation: negotiation.to_string() }
            }
            Body::NegotiationEnded { negotiation, how, released, reason } => Self::NegotiationEnded {
                negotiation: negotiation.to_string(),
                outcome: how.word().to_owned(),
                released: integer(*released),
                reason: reason.clone(),
            },
            Body::NegotiationForced { negotiation, lease, holder, target, reason, .. } => {
                Self::NegotiationForced {
                    negotiation: negotiation.to_string(),
                    lease: lease.to_string(),
                    holder_id: holder.to_string(),
                    pattern: target.display(),
                    reason: reason.clone(),
                }
            }
            Body::AgentHalted { agent, reason } | Body::AgentContinued { agent, reason } => {
                Self::AgentHalted { halted_id: agent.to_string(), operator_reason: reason.clone() }
            }
            Body::ReservationRefused { targets, mode, blockers, repeats } => Self::ReservationRefused {
                targets: targets.clone(),
                mode: mode.word().to_owned(),
                blockers: blockers.iter().map(ToString::to_string).collect(),
                repeats: integer(*repeats),
            },
            Body::ActionDenied { action, subject, reason, repeats } => Self::ActionDenied {
                action: action.clone(),
                subject: subject.clone(),
                reason: reason.clone(),
                repeats: integer(*repeats),
            },
            Body::Mail(event) => Self::Mail(MailFacts::new(event)),
        }
    }
}

fn wait_facts(wait: &Wait) -> WaitFacts {
    WaitFacts {
        wait: wait.id.to_string(),
        waiter_id: wait.agent.to_string(),
        targets: wait.wanted.wants.iter().map(|want| want.target.display()).collect(),
        mode: wait.wanted.mode.word().to_owned(),
        pid: wait.attached.as_ref().map(|process| process.pid),
    }
}

fn lease_facts(lease: &Lease) -> LeaseFacts {
    LeaseFacts {
        lease: lease.id.to_string(),
        kind: lease.kind().word().to_owned(),
        pattern: lease.target.display(),
        mode: lease.mode.word().to_owned(),
        grade: lease.grade.word().to_owned(),
        holder_id: lease.holder.to_string(),
        fence: integer(lease.fence.to_integer()),
        reason: lease.reason.clone(),
        worktree: lease.worktree.0.clone(),
        ttl_ms: integer(lease.ttl_ms),
        set_id: lease.set.map(|set| set.to_string()),
        slot: lease.slot,
    }
}

fn agent_facts(agent: &Agent) -> AgentFacts {
    AgentFacts {
        registered_id: agent.id.to_string(),
        name: agent.name.to_string(),
        client: agent.client.word().to_owned(),
        parent_id: agent.parent.map(|parent| parent.to_string()),
        host: agent.process.as_ref().map(|process| process.host.clone()),
        pid: agent.process.as_ref().map(|process| process.pid),
    }
}
