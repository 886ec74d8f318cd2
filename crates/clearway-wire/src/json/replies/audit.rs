//! Answers about the log.

use schemars::JsonSchema;
use serde::Serialize;

/// `audit verify`
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct VerifyReply {
    /// How many events were read.
    pub events: u64,
    /// The hash of the last one.
    pub head: String,
    /// The last event an anchor vouches for.
    pub anchored_seq: Option<u64>,
    /// How many events came after it.
    pub unanchored: u64,
    /// Anchors of events that were lost, and that an operator went on without.
    pub given_up: u64,
    /// Whether the gate file beside the store remembers the log. Where it does not, a tail that was lost before the
    /// next write is missed by anchors alone.
    pub witnessed: bool,
    /// Messages whose text is gone. It lay beside the log, which has only its digest.
    pub lost_texts: Vec<String>,
}

/// `audit anchor`
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct AnchorReply {
    /// The hash that was signed.
    pub head: String,
    /// The signer's public key in hexadecimal.
    pub signer: String,
    /// When.
    pub anchored_at: String,
    /// The files it was written to.
    pub written: Vec<String>,
    /// Whether the operator's key was made by this call.
    pub new_key: bool,
}
