//! The answer of each verb, without its envelope.

mod audit;
mod leasing;
mod listing;
mod looking_back;
mod mail;
mod pages;
mod scopes;
mod settings;
mod setup;
mod snapshots;

pub use audit::{AnchorReply, VerifyReply};
pub use leasing::{
    CheckReply, CommitReply, FreezeReply, LeftReply, QueuedReply, RefusedTarget, ReleaseReply, RenewReply,
    ReserveReply, SweepReply, ThawReply, TransferReply, WaitsReply,
};
pub use listing::{
    AgentsReply, AuthorLinesJson, ChangedLineJson, ConflictJson, DiffReply, FileLinesJson, LeasesReply,
    MineReply, RadarReply, StatusReply, StatuslineReply, TipJson, UncheckedJson, WhereReply, WhoReply,
};
pub use looking_back::{
    AgentCostJson, CommitsJson, CostReply, DeedsJson, DigestReply, LongestWaitJson, OperatorActJson,
    PassedJson, SlowCallJson, WrittenOverJson,
};
pub use mail::{
    AckReply, InboxReply, MailRulesReply, MessagesReply, ReadReply, SearchReply, SendReply, StaleAckJson,
    StaleAcksReply, ThreadJson, ThreadReply, ThreadsReply,
};
pub use pages::{CompletionsReply, ExplainReply, ManReply, SlugReply, SlugsReply, TextReply};
pub use scopes::{AdoptReply, ScopeReply, ScopesReply};
pub use settings::{
    ClassReply, ClassesReply, ConfigFile, IgnoredSetting, OverriddenSetting, PathsReply, PatternReply,
    Setting, SettingsReply, UnknownVariableReply,
};
pub use setup::{
    CheckedThing, ClientFileJson, ClientJson, DemoReply, DemoStep, DoctorReply, InitReply, ProblemJson,
    RepairedJson,
};
pub use snapshots::{
    BackFileJson, BackReply, ShowReply, SnapshotFileJson, SnapshotJson, SnapshotReply, SnapshotsReply,
};
