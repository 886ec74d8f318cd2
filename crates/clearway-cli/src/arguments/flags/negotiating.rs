//! Asking for what somebody holds, and saying what becomes of it.

use super::leasing::KindWord;
use crate::arguments::WAIT_AS_LONG_AS_ALLOWED;
use clap::Args;

#[derive(Clone, Debug, Args)]
pub(crate) struct AskFlags {
    /// What somebody else holds; with --kind name: a name
    #[arg(value_name = "PATH")]
    pub(crate) path: String,
    /// Why: the holder reads it
    #[arg(value_name = "WHY")]
    pub(crate) why: String,
    /// What it is
    #[arg(long, value_enum, default_value = "path")]
    pub(crate) kind: KindWord,
    /// An answer is due in five minutes instead of ten
    #[arg(long)]
    pub(crate) urgent: bool,
    /// Wait for an answer; without a time as long as the calling client allows
    #[arg(long, value_name = "TIME", num_args = 0..=1, default_missing_value = WAIT_AS_LONG_AS_ALLOWED)]
    pub(crate) wait: Option<String>,
    /// Be granted it in the very moment it is let go
    #[arg(long)]
    pub(crate) then_reserve: bool,
}

#[derive(Clone, Debug, Args)]
pub(crate) struct AnswerFlags {
    /// The request, as listed by `negotiations`
    #[arg(value_name = "ID")]
    pub(crate) id: String,
    /// One of: release [PATH], after-commit, later MINUTES, no REASON
    #[arg(value_name = "ANSWER")]
    pub(crate) says: String,
    /// Parts to let go, minutes, or a reason
    #[arg(value_name = "WORDS", allow_negative_numbers = true)]
    pub(crate) rest: Vec<String>,
}

#[derive(Clone, Debug, Args)]
pub(crate) struct WithdrawFlags {
    /// The request, as listed by `negotiations`
    #[arg(value_name = "ID")]
    pub(crate) id: String,
}

#[derive(Clone, Debug, Args)]
pub(crate) struct ForceFlags {
    /// The request, as listed by `negotiations`
    #[arg(value_name = "ID")]
    pub(crate) id: String,
    /// Why: it is recorded, and the holder reads it
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub(crate) reason: String,
    /// Take it although what is not committed of it cannot be kept first (operators only)
    #[arg(long)]
    pub(crate) without_snapshot: bool,
}

#[derive(Clone, Debug, Args)]
pub(crate) struct HaltFlags {
    /// The agent, as listed by `agents`
    #[arg(value_name = "AGENT")]
    pub(crate) whom: String,
    /// Why: it is recorded, and the agent reads it
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub(crate) reason: String,
}
