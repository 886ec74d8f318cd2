//! Taking leases, giving them back, and looking at them.

use crate::arguments::WAIT_AS_LONG_AS_ALLOWED;
use clap::{Args, ValueEnum};
use clearway_core::lease::{Kind, Mode};

#[derive(Clone, Debug, Args)]
pub(crate) struct ReserveFlags {
    /// Files, directories or patterns; with --kind name: names
    #[arg(required = true, value_name = "PATTERN")]
    pub(crate) patterns: Vec<String>,
    /// Let others hold it too, as long as they also say --shared
    #[arg(long)]
    pub(crate) shared: bool,
    /// What the words name; write-set: paths as one set
    #[arg(long, value_enum, default_value = "path")]
    pub(crate) kind: KindWord,
    /// The silence after which the lease ends, such as 30m
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) ttl: Option<String>,
    /// An end that no sign of life moves, such as 2h
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) max: Option<String>,
    /// Why: others read it when they meet the lease
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub(crate) reason: Option<String>,
    /// If it is held, keep a place in the queue and be told
    #[arg(long, conflicts_with = "best_effort")]
    pub(crate) queue: bool,
    /// If it is held, wait so long for it, then keep the place
    #[arg(
        long,
        value_name = "TIME",
        num_args = 0..=1,
        default_missing_value = WAIT_AS_LONG_AS_ALLOWED,
        conflicts_with = "best_effort"
    )]
    pub(crate) wait: Option<String>,
    /// Take what is free and skip the rest
    #[arg(long)]
    pub(crate) best_effort: bool,
    /// Allow a claim over much of the tree, for 10 minutes at most
    #[arg(long)]
    pub(crate) broad: bool,
    /// With --broad: keep all of it, also files you have not touched for 10 minutes
    #[arg(long, requires = "broad")]
    pub(crate) strict: bool,
}

#[derive(Clone, Debug, Args)]
pub(crate) struct CheckFlags {
    /// Files, directories or patterns; with --kind name: names
    #[arg(required = true, value_name = "PATTERN")]
    pub(crate) patterns: Vec<String>,
    /// Ask for a shared reservation
    #[arg(long)]
    pub(crate) shared: bool,
    /// Ask for one over the whole tree or very many files
    #[arg(long, hide_short_help = true)]
    pub(crate) broad: bool,
    /// What the words name; write-set: paths as one set
    #[arg(long, value_enum, default_value = "path")]
    pub(crate) kind: KindWord,
}

#[derive(Clone, Debug, Args)]
pub(crate) struct WhoFlags {
    /// A file, directory or pattern; with --kind name: a name
    #[arg(value_name = "PATH")]
    pub(crate) path: String,
    /// What the word names
    #[arg(long, value_enum, default_value = "path", hide_short_help = true)]
    pub(crate) kind: KindWord,
}

#[derive(Clone, Debug, Args)]
pub(crate) struct RenewFlags {
    /// Leases as ID or ID@FENCE, or the patterns they are on; all of yours if none is named
    #[arg(value_name = "ID|PATTERN")]
    pub(crate) targets: Vec<String>,
    /// Everything you hold here, as without any word
    #[arg(long)]
    pub(crate) all: bool,
    /// What words that are no ids name
    #[arg(long, value_enum, default_value = "path", hide_short_help = true, requires = "targets")]
    pub(crate) kind: KindWord,
    /// The silence after which the lease ends; never sooner than before
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) ttl: Option<String>,
    /// A new stated reason of the lease
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub(crate) note: Option<String>,
    /// Renew somebody else's lease as an operator; the reason is recorded
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub(crate) reason: Option<String>,
}

#[derive(Clone, Debug, Args)]
pub(crate) struct ReleaseFlags {
    /// Leases as ID or ID@FENCE, or the patterns they are on
    #[arg(value_name = "ID|PATTERN")]
    pub(crate) targets: Vec<String>,
    /// Everything you hold here and machine-wide
    #[arg(long)]
    pub(crate) all: bool,
    /// Go on holding this part of what is released, never free in between
    #[arg(long, value_name = "PATTERN")]
    pub(crate) keep: Vec<String>,
    /// What words that are no ids name
    #[arg(long, value_enum, default_value = "path", conflicts_with = "all")]
    pub(crate) kind: KindWord,
    /// Release somebody else's lease as an operator; the reason is recorded
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub(crate) reason: Option<String>,
}

#[derive(Clone, Debug, Args)]
pub(crate) struct TransferFlags {
    /// Leases as ID or ID@FENCE, or the patterns they are on
    #[arg(value_name = "ID|PATTERN")]
    pub(crate) targets: Vec<String>,
    /// Who gets them
    #[arg(long, value_name = "NAME")]
    pub(crate) to: String,
    /// Everything you hold here and machine-wide
    #[arg(long)]
    pub(crate) all: bool,
    /// What words that are no ids name
    #[arg(long, value_enum, default_value = "path", hide_short_help = true, conflicts_with = "all")]
    pub(crate) kind: KindWord,
    /// Hand over somebody else's lease as an operator; the reason is recorded
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub(crate) reason: Option<String>,
}

#[derive(Clone, Debug, Args)]
pub(crate) struct FreezeFlags {
    /// For how long; 10m without it
    #[arg(long = "for", value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) span: Option<String>,
    /// Why: the agents are told
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub(crate) reason: String,
}

#[derive(Clone, Debug, Args)]
pub(crate) struct ThawFlags {
    /// Why; it is recorded
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub(crate) reason: String,
}

#[derive(Clone, Debug, Args)]
pub(crate) struct LeasesFlags {
    /// Only those of this agent
    #[arg(long, value_name = "NAME")]
    pub(crate) agent_name: Option<String>,
    /// Only those that overlap this path or pattern
    #[arg(long, value_name = "PATTERN")]
    pub(crate) pattern: Option<String>,
    /// Also those that are over
    #[arg(long)]
    pub(crate) history: bool,
}

#[derive(Clone, Debug, Args)]
pub(crate) struct SweepFlags {
    /// Only tell which ones
    #[arg(long)]
    pub(crate) dry_run: bool,
}

/// The words of `--kind`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum KindWord {
    // Comments here would become help and make it three times as long.
    Path,
    Name,
    WriteSet,
}

impl KindWord {
    /// The kind it stands for.
    pub(crate) fn kind(self) -> Kind {
        match self {
            Self::Path => Kind::Path,
            Self::Name => Kind::Name,
            Self::WriteSet => Kind::WriteSet,
        }
    }
}

/// The mode `--shared` stands for.
pub(crate) fn mode(shared: bool) -> Mode {
    if shared { Mode::Shared } else { Mode::Exclusive }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_the_domain_has_its_word() {
        let words: Vec<String> = KindWord::value_variants()
            .iter()
            .map(|word| word.to_possible_value().unwrap().get_name().to_owned())
            .collect();
        assert_eq!(words, Kind::ALL.map(|kind| kind.word().to_owned()));
    }
}
