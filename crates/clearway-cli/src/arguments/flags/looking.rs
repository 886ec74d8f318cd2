//! Looking at what is and at what was.

use crate::arguments::examples;
use clap::{Args, Subcommand};
use std::path::PathBuf;

#[derive(Clone, Debug, Args)]
pub(crate) struct StatusFlags {
    /// What hooks told and refused each agent in the last day, and slow hook calls
    #[arg(long)]
    pub(crate) cost: bool,
}

#[derive(Clone, Debug, Args)]
pub(crate) struct WhereFlags {
    /// The agent, by its name or id
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
}

#[derive(Clone, Debug, Args)]
pub(crate) struct DigestFlags {
    /// A time of day, a span or an instant, such as 22:00, 8h; 12h if not given
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) since: Option<String>,
}

#[derive(Clone, Debug, Args)]
pub(crate) struct EventsFlags {
    /// Begin with this event, or after the one at SEQ@HASH if it is unchanged
    #[arg(long, value_name = "SEQ|SEQ@HASH")]
    pub(crate) from: Option<String>,
    /// Stop after so many; with -f and without --from, after so many that are new
    #[arg(long, value_name = "COUNT")]
    pub(crate) limit: Option<usize>,
    /// Only so many, the latest ones
    #[arg(long, value_name = "COUNT", conflicts_with_all = ["from", "limit"])]
    pub(crate) last: Option<usize>,
    /// Only events of this kind, such as lease.granted, or of all kinds of a noun, such as lease
    #[arg(long, value_name = "KIND")]
    pub(crate) kind: Option<String>,
    /// Only events of this agent
    #[arg(long, value_name = "NAME")]
    pub(crate) agent_name: Option<String>,
    /// Only events of this run; before there are runs, no event is of one
    #[arg(long, value_name = "ID")]
    pub(crate) run: Option<String>,
    /// Show the last 10, and go on with what happens, up to --limit; or from --from on
    #[arg(short, long)]
    pub(crate) follow: bool,
}

#[derive(Clone, Debug, Subcommand)]
pub(crate) enum Audit {
    /// Check every event, its hash, the stored rows and the anchors
    #[command(after_help = examples::AUDIT_VERIFY)]
    Verify {
        /// Also compare with the anchors in these files
        #[arg(long, value_name = "FILE", num_args = 1..)]
        anchors: Vec<PathBuf>,
    },
    /// Sign the end of the log with the operator's key
    #[command(after_help = examples::AUDIT_ANCHOR)]
    Anchor {
        /// Also append the anchor to this file
        #[arg(long, value_name = "FILE")]
        export: Option<PathBuf>,
    },
    /// Print every event with its bytes and hash, one JSON object a line
    #[command(after_help = examples::AUDIT_EXPORT)]
    Export {
        /// Begin with this event
        #[arg(long, value_name = "SEQ", default_value_t = 1)]
        from: u64,
    },
}
