//! What programs read: one JSON document for every answer, with its JSON Schema.
//!
//! The structs are twins of domain types, converted by hand, so that a change of the domain never changes the
//! interface by accident. Fields may be added, never removed or retyped within a major version; lists are `[]`,
//! never null; integers stay below 2^53; `*_at` is RFC 3339 in UTC with milliseconds.
//!
//! Nothing here decides or looks anything up.

mod agent;
mod alert;
mod document;
mod envelope;
mod error;
mod event;
mod lease;
mod mail;
mod negotiation;
mod notice;
mod replies;
mod schemas;
#[cfg(test)]
mod tests;
mod time;
mod wait;

pub use agent::AgentJson;
pub use alert::AlertJson;
pub use document::document;
pub use envelope::{Acted, Actor, Looked, Told};
pub use error::{ErrorJson, Failed, RetryJson, RetryWhen};
pub use event::{AgentFacts, EventData, EventJson, ExportedJson, LeaseFacts, WaitFacts};
pub use lease::{Blocker, LeaseJson};
pub use mail::{MailFacts, MessageJson, RecipientFacts};
pub use negotiation::{HaltReply, NegotiatedReply, NegotiationJson, NegotiationsReply, ResumeReply};
pub use notice::NoticeJson;
pub use replies::{
    AckReply, InboxReply, MailRulesReply, MessagesReply, ReadReply, SearchReply, SendReply, StaleAckJson,
    StaleAcksReply, ThreadJson, ThreadReply, ThreadsReply,
};
pub use replies::{
    AdoptReply, AgentCostJson, AgentsReply, AnchorReply, AuthorLinesJson, BackFileJson, BackReply,
    ChangedLineJson, CheckReply, CheckedThing, ClassReply, ClassesReply, ClientFileJson, ClientJson,
    CommitReply, CommitsJson, CompletionsReply, ConfigFile, ConflictJson, CostReply, DeedsJson, DemoReply,
    DemoStep, DiffReply, DigestReply, DoctorReply, ExplainReply, FileLinesJson, FreezeReply, IgnoredSetting,
    InitReply, LeasesReply, LeftReply, LongestWaitJson, ManReply, MineReply, OperatorActJson,
    OverriddenSetting, PassedJson, PathsReply, PatternReply, ProblemJson, QueuedReply, RadarReply,
    RefusedTarget, ReleaseReply, RenewReply, RepairedJson, ReserveReply, ScopeReply, ScopesReply, Setting,
    SettingsReply, ShowReply, SlowCallJson, SlugReply, SlugsReply, SnapshotFileJson, SnapshotJson,
    SnapshotReply, SnapshotsReply, StatusReply, StatuslineReply, SweepReply, TextReply, ThawReply, TipJson,
    TransferReply, UncheckedJson, UnknownVariableReply, VerifyReply, WaitsReply, WhereReply, WhoReply,
    WrittenOverJson,
};
pub use schemas::schemas;
pub use time::{Zone, instant, rfc3339};
pub use wait::{AheadJson, CycleStepJson, WaitJson};

/// The largest integer every JSON reader keeps exactly.
pub const INTEGER_MAX: u64 = (1 << 53) - 1;

/// A count or span that no reader rounds.
fn integer(value: u64) -> u64 {
    value.min(INTEGER_MAX)
}

/// Lower-case hexadecimal digits.
fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
