//! What is one's own: lines, commits and snapshots.

use clap::Args;

#[derive(Clone, Debug, Args)]
pub(crate) struct MineFlags {
    /// End each path with a zero byte instead of a new line
    #[arg(short = '0')]
    pub(crate) zero: bool,
    /// Only those with an uncommitted change
    #[arg(long)]
    pub(crate) dirty: bool,
}

#[derive(Clone, Debug, Args)]
pub(crate) struct DiffFlags {
    /// Files, directories or patterns; everything without any
    #[arg(value_name = "PATTERN")]
    pub(crate) patterns: Vec<String>,
    /// Only the lines of this agent
    #[arg(long, value_name = "NAME")]
    pub(crate) agent_name: Option<String>,
    /// Only how many lines of each file are whose
    #[arg(long)]
    pub(crate) stat: bool,
}

#[derive(Clone, Debug, Args)]
pub(crate) struct CommitFlags {
    /// The message; again for more paragraphs
    #[arg(short, long = "message", value_name = "TEXT", required = true, allow_hyphen_values = true)]
    pub(crate) messages: Vec<String>,
    /// Files, directories or patterns; everything of yours without any
    #[arg(value_name = "PATH")]
    pub(crate) paths: Vec<String>,
}

#[derive(Clone, Debug, Args)]
pub(crate) struct SnapshotFlags {
    /// Files and directories; everything without any
    #[arg(value_name = "PATH")]
    pub(crate) paths: Vec<String>,
    /// Why: it is shown in the list
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub(crate) reason: Option<String>,
}

#[derive(Clone, Debug, Args)]
pub(crate) struct ShowFlags {
    /// The snapshot, as listed by `snapshots`
    #[arg(value_name = "N")]
    pub(crate) number: String,
}

#[derive(Clone, Debug, Args)]
pub(crate) struct RestoreFlags {
    /// The snapshot, as listed by `snapshots`
    #[arg(value_name = "N")]
    pub(crate) number: String,
    /// Only these files and directories
    #[arg(value_name = "PATH")]
    pub(crate) paths: Vec<String>,
    /// Go on although what is written over cannot be kept; for a person
    #[arg(long)]
    pub(crate) accept_loss: bool,
}

#[derive(Clone, Debug, Args)]
pub(crate) struct UndoFlags {
    /// The snapshot; without it the last one taken before something was written over
    #[arg(value_name = "N")]
    pub(crate) number: Option<String>,
    /// Do not ask
    #[arg(long, short = 'y')]
    pub(crate) yes: bool,
    /// Only show what would be done
    #[arg(long, conflicts_with = "yes")]
    pub(crate) dry_run: bool,
    /// Go on although what is written over cannot be kept; for a person
    #[arg(long)]
    pub(crate) accept_loss: bool,
}
