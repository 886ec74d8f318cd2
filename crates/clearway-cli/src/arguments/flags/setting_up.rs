//! Setting up, what is called by others, and what is wrong.

use crate::arguments::examples;
use crate::clients::names;
use clap::builder::PossibleValuesParser;
use clap::{Args, Subcommand};
use std::ffi::OsString;

#[derive(Clone, Debug, Args)]
pub(crate) struct InitFlags {
    /// Only this client; again for more. Without it those that are found
    #[arg(long, value_name = "NAME", value_parser = PossibleValuesParser::new(names()))]
    pub(crate) client: Vec<String>,
    /// Do not ask before files are written
    #[arg(long, short = 'y')]
    pub(crate) yes: bool,
    /// Only show what would be written
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// For agents that nobody watches: a hook that fails blocks, where a client can do that
    #[arg(long, conflicts_with = "uninstall")]
    pub(crate) unattended: bool,
    /// Add a few lines to the repository's AGENTS.md or CLAUDE.md
    #[arg(long, conflicts_with = "uninstall")]
    pub(crate) agents_md: bool,
    /// Let git call us before commits, rebases and pushes; hooks that are there run first
    #[arg(long, conflicts_with = "uninstall")]
    pub(crate) git_hooks: bool,
    /// Take out hooks of Interlock, Intermute and Foundry, which did this before
    #[arg(long, conflicts_with = "uninstall")]
    pub(crate) without_others: bool,
    /// Give every file back as it was, or take our entries out if others changed it
    #[arg(long)]
    pub(crate) uninstall: bool,
}

#[derive(Clone, Debug, Args)]
pub(crate) struct HookFlags {
    /// The client that calls
    #[arg(value_name = "CLIENT", value_parser = PossibleValuesParser::new(names()))]
    pub(crate) client: String,
    /// What the client calls for, where its payload does not say so
    #[arg(value_name = "EVENT")]
    pub(crate) event: Option<String>,
}

#[derive(Clone, Debug, Args)]
pub(crate) struct GitHookFlags {
    /// The hook, such as prepare-commit-msg
    #[arg(value_name = "NAME")]
    pub(crate) name: OsString,
    /// What git tells it
    #[arg(value_name = "WORD", trailing_var_arg = true, allow_hyphen_values = true)]
    pub(crate) words: Vec<OsString>,
}

#[derive(Clone, Debug, Args)]
pub(crate) struct DoctorFlags {
    /// Rebuild stored rows from the log and remove temporary files first
    #[arg(long)]
    pub(crate) repair: bool,
    /// With --repair, as an operator: go on with a log that lost its end; every lease ends
    #[arg(long, value_name = "TEXT", requires = "repair")]
    pub(crate) reason: Option<String>,
}

#[derive(Clone, Debug, Args)]
pub(crate) struct DemoFlags {
    /// Explain each step, go on at a pace to read by, and show more
    #[arg(long)]
    pub(crate) slow: bool,
}

#[derive(Clone, Debug, Subcommand)]
pub(crate) enum Scope {
    /// Every scope of the store: its key, place, leases and last event
    #[command(after_help = examples::SCOPE_LIST)]
    List,
    /// Go on with the scope that this repository had elsewhere
    #[command(after_help = examples::SCOPE_ADOPT)]
    Adopt {
        /// The scope, as listed by `scope list`; without it the one that remembers this repository
        // Not `scope`, which is what --scope is called everywhere.
        #[arg(value_name = "KEY")]
        key: Option<String>,
    },
}

#[derive(Clone, Debug, Subcommand)]
pub(crate) enum Config {
    /// Every value, where it comes from and what it overrode
    #[command(after_help = examples::CONFIG_SHOW)]
    Show,
    /// The configuration files and whether they are there
    #[command(after_help = examples::CONFIG_PATH)]
    Path,
    /// The patterns of files that need no lease or only a brief one
    #[command(after_help = examples::CONFIG_CLASSES)]
    Classes,
}
