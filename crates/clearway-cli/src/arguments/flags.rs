//! The flags and words of each verb.

use super::WAIT_AS_LONG_AS_ALLOWED;
use super::examples;
use crate::clients::names;
use crate::verbs::Detail;
use clap::builder::PossibleValuesParser;
use clap::{Args, Subcommand, ValueEnum};
use clearway_core::lease::{Kind, Mode};
use std::ffi::OsString;
use std::path::PathBuf;

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
    /// Add three lines to the repository's AGENTS.md or CLAUDE.md
    #[arg(long, conflicts_with = "uninstall")]
    pub(crate) agents_md: bool,
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
pub(crate) struct WaitFlags {
    /// The wait, as listed by `waits`; yours if it is the only one
    #[arg(value_name = "ID")]
    pub(crate) waits: Vec<String>,
    /// How long to wait; without it as long as the calling client allows
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
pub(crate) struct SweepFlags {
    /// Only tell which ones
    #[arg(long)]
    pub(crate) dry_run: bool,
}

#[derive(Clone, Debug, Args)]
pub(crate) struct EventsFlags {
    /// Begin with this event, or after the one at SEQ@HASH if it is unchanged
    #[arg(long, value_name = "SEQ|SEQ@HASH")]
    pub(crate) from: Option<String>,
    /// Stop after so many
    #[arg(long, value_name = "COUNT")]
    pub(crate) limit: Option<usize>,
    /// Only so many, the latest ones
    #[arg(long, value_name = "COUNT", conflicts_with_all = ["from", "limit"])]
    pub(crate) last: Option<usize>,
    /// Only events of this kind, such as lease.granted
    #[arg(long, value_name = "KIND")]
    pub(crate) kind: Option<String>,
    /// Only events of this agent
    #[arg(long, value_name = "NAME")]
    pub(crate) agent_name: Option<String>,
    /// Only events of this run; before there are runs, no event is of one
    #[arg(long, value_name = "ID")]
    pub(crate) run: Option<String>,
    /// Show the last 10, or from --from on, and go on with what happens, up to --limit
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

#[derive(Clone, Debug, Args)]
pub(crate) struct DoctorFlags {
    /// Rebuild stored rows from the log and remove temporary files first
    #[arg(long)]
    pub(crate) repair: bool,
    /// As an operator, go on with a log that lost its end, and say why; every lease ends
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

#[derive(Clone, Debug, Args)]
pub(crate) struct ExplainFlags {
    /// The name in `error[name]`
    #[arg(value_name = "SLUG")]
    pub(crate) slug: Option<String>,
}

#[derive(Clone, Debug, Args)]
pub(crate) struct CompletionsFlags {
    /// For which shell
    #[arg(value_enum, value_name = "SHELL")]
    pub(crate) shell: clap_complete::Shell,
}

#[derive(Clone, Debug, Args)]
pub(crate) struct ManFlags {
    /// Where to write the pages, or the verb whose page is wanted
    // Not `directory`, which is what -C is called everywhere.
    #[arg(value_name = "DIR|VERB")]
    pub(crate) pages: Option<PathBuf>,
}

#[derive(Clone, Debug, Args)]
pub(crate) struct HelpFlags {
    /// The verb, such as `reserve` or `audit verify`
    #[arg(value_name = "VERB")]
    pub(crate) verb: Vec<String>,
    /// Also the verbs and flags for scripts
    #[arg(long)]
    pub(crate) all: bool,
}

impl HelpFlags {
    /// How much to show.
    pub(crate) fn detail(&self) -> Detail {
        if self.all { Detail::All } else { Detail::Brief }
    }
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
