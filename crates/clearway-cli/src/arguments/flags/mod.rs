//! The flags and words of each verb.

mod leasing;
mod looking;
mod mail;
mod negotiating;
mod own_work;
mod queueing;
mod setting_up;
mod words;

pub(crate) use leasing::{
    CheckFlags, FreezeFlags, LeasesFlags, ReleaseFlags, RenewFlags, ReserveFlags, SweepFlags, ThawFlags,
    TransferFlags, WhoFlags, mode,
};
pub(crate) use looking::{Audit, DigestFlags, EventsFlags, StatusFlags, WhereFlags};
pub(crate) use mail::{
    BroadcastFlags, ContactsFlags, InboxFlags, MessageFlags, PolicyFlags, PolicyWord, SaidFlags, SearchFlags,
    SendFlags, StaleAcksFlags, ThreadFlags, ThreadsFlags,
};
pub(crate) use negotiating::{AnswerFlags, AskFlags, ForceFlags, HaltFlags, WithdrawFlags};
pub(crate) use own_work::{
    CommitFlags, DiffFlags, MineFlags, RadarFlags, RestoreFlags, ShowFlags, SnapshotFlags, UndoFlags,
};
pub(crate) use queueing::{WaitFlags, WaitsFlags, WithFlags};
pub(crate) use setting_up::{Config, DemoFlags, DoctorFlags, GitHookFlags, HookFlags, InitFlags, Scope};
pub(crate) use words::{CompletionsFlags, ExplainFlags, HelpFlags, ManFlags};
