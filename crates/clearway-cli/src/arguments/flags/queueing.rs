//! Waiting for a turn, and running something in it.

use crate::arguments::WAIT_AS_LONG_AS_ALLOWED;
use clap::Args;
use std::ffi::OsString;

#[derive(Clone, Debug, Args)]
pub(crate) struct WaitFlags {
    /// The wait, as listed by `waits`; yours if it is the only one
    #[arg(value_name = "ID")]
    pub(crate) waits: Vec<String>,
    /// How long to wait; without it as long as the calling client allows, 10m in a plain shell
    #[arg(long = "for", value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) span: Option<String>,
    /// Leave the queue instead: at these places, or at all of yours
    #[arg(long, conflicts_with = "span")]
    pub(crate) cancel: bool,
    /// End somebody else's wait as an operator; the reason is recorded
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true, requires = "cancel")]
    pub(crate) reason: Option<String>,
}

#[derive(Clone, Debug, Args)]
pub(crate) struct WaitsFlags {
    /// Only those of this agent
    #[arg(long, value_name = "NAME")]
    pub(crate) agent_name: Option<String>,
}

#[derive(Clone, Debug, Args)]
pub(crate) struct WithFlags {
    /// What to hold while the command runs
    #[arg(required = true, value_name = "NAME")]
    pub(crate) names: Vec<String>,
    /// If it is held, wait so long for it; without this it is refused at once
    #[arg(
        long,
        value_name = "TIME",
        num_args = 0..=1,
        default_missing_value = WAIT_AS_LONG_AS_ALLOWED
    )]
    pub(crate) wait: Option<String>,
    /// Let others hold it too, as long as they also say --shared
    #[arg(long)]
    pub(crate) shared: bool,
    /// The silence after which the lease ends; it is renewed in time
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) ttl: Option<String>,
    /// Why: others read it when they meet the lease
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub(crate) reason: Option<String>,
    /// The command and its arguments
    #[arg(last = true, required = true, value_name = "CMD")]
    pub(crate) command: Vec<OsString>,
}
