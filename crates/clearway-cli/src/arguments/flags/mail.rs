//! Writing to each other.

use clap::{ArgAction, Args, ValueEnum};
use clearway_core::mail::{Importance, Policy};

#[derive(Clone, Debug, Args)]
pub(crate) struct SendFlags {
    /// Who gets it; several are separated by commas
    #[arg(required = true, value_name = "NAME", value_delimiter = ',', num_args = 1, action = ArgAction::Set)]
    pub(crate) to: Vec<String>,
    #[command(flatten)]
    pub(crate) said: SaidFlags,
    /// Who is to know as well
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub(crate) cc: Vec<String>,
    /// Who is to know without the others knowing of it
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub(crate) bcc: Vec<String>,
    /// What it is about, in one word for filters
    #[arg(long, value_name = "WORD")]
    pub(crate) topic: Option<String>,
    /// Answer a message: its id, or any other of its thread
    #[arg(long, value_name = "ID")]
    pub(crate) thread: Option<String>,
}

#[derive(Clone, Debug, Args)]
pub(crate) struct BroadcastFlags {
    #[command(flatten)]
    pub(crate) said: SaidFlags,
    /// What it is about, in one word for filters
    #[arg(long, value_name = "WORD", required = true)]
    pub(crate) topic: String,
}

/// What every message says of itself.
#[derive(Clone, Debug, Args)]
pub(crate) struct SaidFlags {
    /// What it says; `-` reads it from standard input
    #[arg(required = true, value_name = "TEXT", allow_hyphen_values = true)]
    pub(crate) text: String,
    /// What it is about, for lists
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub(crate) subject: Option<String>,
    /// How soon it wants to be read
    #[arg(long, value_name = "HOW", value_enum, default_value_t = ImportanceWord::Normal)]
    pub(crate) importance: ImportanceWord,
    /// The same as --importance urgent
    #[arg(long, conflicts_with = "importance")]
    pub(crate) urgent: bool,
    /// Ask everybody who gets it to acknowledge it
    #[arg(long)]
    pub(crate) ack: bool,
    /// An id of your own: the same message under it is sent once
    #[arg(long, value_name = "ID")]
    pub(crate) id: Option<String>,
}

impl SaidFlags {
    pub(crate) fn importance(&self) -> Importance {
        if self.urgent { Importance::Urgent } else { self.importance.importance() }
    }
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum ImportanceWord {
    /// After everything else; nobody is told of it
    Low,
    /// In its turn
    Normal,
    /// Before what is ordinary
    High,
    /// Before everything else, and told at the next tool call
    Urgent,
}

impl ImportanceWord {
    fn importance(self) -> Importance {
        match self {
            Self::Low => Importance::Low,
            Self::Normal => Importance::Normal,
            Self::High => Importance::High,
            Self::Urgent => Importance::Urgent,
        }
    }
}

#[derive(Clone, Debug, Args)]
pub(crate) struct InboxFlags {
    /// Everything, newest first: what was read too, and what you wrote
    #[arg(long)]
    pub(crate) all: bool,
    /// Leave what is shown unread
    #[arg(long, conflicts_with = "all")]
    pub(crate) peek: bool,
    /// Only what you have as this
    #[arg(long, value_name = "KIND", value_enum)]
    pub(crate) kind: Option<KindWord>,
    /// Only this thread: the id of its first message
    #[arg(long, value_name = "ID")]
    pub(crate) thread: Option<String>,
    /// Only this topic
    #[arg(long, value_name = "WORD")]
    pub(crate) topic: Option<String>,
    /// Only what is no older than this, such as 2h
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) since: Option<String>,
    /// Only what this agent wrote
    #[arg(long, value_name = "NAME")]
    pub(crate) from: Option<String>,
    /// At most so many
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    pub(crate) limit: Option<usize>,
    /// Go on with --all where the last page ended
    #[arg(long, value_name = "SEQ", requires = "all")]
    pub(crate) before: Option<u64>,
    /// Go on with --peek after so many
    #[arg(long, value_name = "N", requires = "peek", conflicts_with = "all", default_value_t = 0)]
    pub(crate) skip: usize,
}

fn at_least_one(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) => Err("it is at least 1".to_owned()),
        Ok(number) => Ok(number),
        Err(error) => Err(format!("{error}")),
    }
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum KindWord {
    /// Addressed to you
    To,
    /// For you to know
    Cc,
    /// For you to know, and nobody knows of it
    Bcc,
    /// Sent to everybody
    Broadcast,
    /// Written by you
    From,
}

impl KindWord {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::To => "to",
            Self::Cc => "cc",
            Self::Bcc => "bcc",
            Self::Broadcast => "broadcast",
            Self::From => "from",
        }
    }
}

#[derive(Clone, Debug, Args)]
pub(crate) struct MessageFlags {
    /// The message, as `inbox` shows it
    #[arg(required = true, value_name = "ID")]
    pub(crate) ids: Vec<String>,
}

#[derive(Clone, Debug, Args)]
pub(crate) struct ThreadFlags {
    /// Any message of the thread
    #[arg(required = true, value_name = "ID")]
    pub(crate) id: String,
    /// Go on where the last page ended
    #[arg(long, value_name = "SEQ")]
    pub(crate) before: Option<u64>,
}

#[derive(Clone, Debug, Args)]
pub(crate) struct ThreadsFlags {
    /// Go on where the last page ended
    #[arg(long, value_name = "SEQ")]
    pub(crate) before: Option<u64>,
}

#[derive(Clone, Debug, Args)]
pub(crate) struct SearchFlags {
    /// Words that the message holds, all of them
    #[arg(required = true, value_name = "WORD")]
    pub(crate) words: Vec<String>,
    /// Go on where the last page ended
    #[arg(long, value_name = "SEQ")]
    pub(crate) before: Option<u64>,
}

#[derive(Clone, Debug, Args)]
pub(crate) struct StaleAcksFlags {
    /// Only what is older than this; 10m unless said
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) older_than: Option<String>,
}

#[derive(Clone, Debug, Args)]
pub(crate) struct PolicyFlags {
    /// From whom you take mail; without it the answer is how it is
    #[arg(value_name = "WHOM", value_enum)]
    pub(crate) policy: Option<PolicyWord>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum PolicyWord {
    /// From everybody
    Open,
    /// From contacts, in your threads, and from whom you have to do with
    Auto,
    /// From contacts, and in your threads
    Contacts,
    /// From nobody
    Block,
}

impl PolicyWord {
    pub(crate) fn policy(self) -> Policy {
        match self {
            Self::Open => Policy::Open,
            Self::Auto => Policy::Auto,
            Self::Contacts => Policy::Contacts,
            Self::Block => Policy::Block,
        }
    }
}

#[derive(Clone, Debug, Args)]
pub(crate) struct ContactsFlags {
    /// Take mail from this agent
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub(crate) add: Vec<String>,
    /// Take it out again
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub(crate) remove: Vec<String>,
}
