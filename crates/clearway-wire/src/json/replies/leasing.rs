//! Answers of the verbs that change who holds what.

use crate::json::{AheadJson, Blocker, LeaseJson, WaitJson};
use schemars::JsonSchema;
use serde::Serialize;

/// `reserve`
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ReserveReply {
    /// The leases held now.
    pub leases: Vec<LeaseJson>,
    /// With `--best-effort`: what was not granted.
    pub refused: Vec<RefusedTarget>,
    /// With `--queue`, or when `--wait` ends first: the place in the queue.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queued: Option<QueuedReply>,
}

/// A place in the queue, and who stands in the way.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct QueuedReply {
    /// The place.
    #[serde(flatten)]
    pub wait: WaitJson,
    /// Leases in the way.
    pub blockers: Vec<Blocker>,
    /// Earlier waits in the way.
    pub ahead: Vec<AheadJson>,
}

/// `waits`
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct WaitsReply {
    /// In the order of places; after them those of the caller for machine-wide names.
    pub waits: Vec<WaitJson>,
    /// Which of them, by id, are in the scope of the machine.
    pub machine_wide: Vec<String>,
}

/// `wait --cancel`
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct LeftReply {
    /// Ids of the waits given up by this call.
    pub cancelled: Vec<String>,
}

/// `transfer`
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct TransferReply {
    /// The leases as they are now.
    pub leases: Vec<LeaseJson>,
}

/// `freeze`
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct FreezeReply {
    /// Until when no new edits of agents are admitted.
    pub frozen_until: String,
    /// The same as a span from now.
    pub frozen_for_ms: u64,
}

/// `thaw`
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ThawReply {
    /// Whether there was anything to thaw.
    pub was_frozen: bool,
}

/// `commit`
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct CommitReply {
    /// The full name of the commit.
    pub commit: String,
    /// The branch it is on; null for a detached head.
    pub branch: Option<String>,
    /// What is in it.
    pub paths: Vec<String>,
    /// How many changed paths of the checkout are not in it.
    pub left: u64,
    /// Files that will not merge with the work of others in another checkout, in words; said once.
    pub clash: Option<String>,
}

/// Something that best effort could not get.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct RefusedTarget {
    /// What.
    pub pattern: String,
    /// Who stands in the way.
    pub blockers: Vec<Blocker>,
    /// Who waits for it longer.
    pub ahead: Vec<AheadJson>,
}

/// `check`
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct CheckReply {
    /// Whether the reservation would be granted. The exit code is 1 if not.
    pub clear: bool,
    /// Who stands in the way.
    pub blockers: Vec<Blocker>,
    /// Who waits for it longer.
    pub ahead: Vec<AheadJson>,
    /// Things to know beside the answer.
    pub notices: Vec<crate::json::NoticeJson>,
}

/// `renew`
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct RenewReply {
    /// The leases as they are now.
    pub leases: Vec<LeaseJson>,
}

/// `release`
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ReleaseReply {
    /// Ids of the leases given back by this call.
    pub released: Vec<String>,
    /// Ids of leases that were over before it.
    pub already_released: Vec<String>,
    /// Own leases that overlap what was named but reach further, and what was kept.
    pub remaining: Vec<LeaseJson>,
}

/// `sweep`
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct SweepReply {
    /// Ids of the leases recorded as expired, or that would be.
    pub expired: Vec<String>,
    /// Whether nothing was recorded.
    pub dry_run: bool,
}
