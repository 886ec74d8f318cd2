//! The words of the command line. Nothing here acts; [`crate::verbs`] does.

mod examples;
pub(crate) mod quick;

use crate::clients::names;
use crate::verbs::Detail;
use clap::builder::PossibleValuesParser;
use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};
use clearway_core::lease::{Kind, Mode};
use clearway_core::slug::Slug;
use clearway_kernel::Globals;
use std::ffi::OsString;
use std::path::PathBuf;

/// How wide help is, whatever the terminal: the same text here, in the reference and in the manual.
const HELP_COLUMNS: usize = 80;

/// The value of `--wait` without one: as long as the calling client allows.
pub(crate) const WAIT_AS_LONG_AS_ALLOWED: &str = "auto";

/// The verbs people type; the others are shown by `help --all`.
pub(crate) const EVERYDAY: [&str; 10] =
    ["init", "reserve", "who", "release", "wait", "with", "status", "events", "doctor", "demo"];

/// The whole command line, every verb shown.
pub fn command() -> clap::Command {
    Cli::command().term_width(HELP_COLUMNS)
}

/// The command line as people see it: everything works, and what they type every day is listed.
pub(crate) fn command_for_people() -> clap::Command {
    command().mut_subcommands(|verb| {
        let is_rare = !EVERYDAY.contains(&verb.get_name());
        verb.hide(is_rare)
    })
}

/// The command line as shells complete it. The parser itself takes any word for a slug, because an unknown one has an
/// answer of its own.
pub(crate) fn command_for_completion() -> clap::Command {
    let slugs = Slug::ALL.iter().map(|slug| slug.as_str());
    command().mut_subcommand("explain", |explain| {
        explain.mut_arg("slug", |slug| slug.value_parser(PossibleValuesParser::new(slugs)))
    })
}

/// The command line as manuals show it: its usage names the value of every flag.
pub(crate) fn with_whole_usage(command: clap::Command) -> clap::Command {
    let usage = whole_usage(&command);
    command.override_usage(usage).mut_subcommands(with_whole_usage)
}

fn whole_usage(command: &clap::Command) -> String {
    let name = command.get_bin_name().unwrap_or(command.get_name()).to_owned();
    let flags = command.get_opts().map(|flag| match (flag.get_short(), flag.get_long()) {
        (_, Some(long)) => format!("[--{long}{}]", value_of(flag)),
        (short, None) => format!("[-{}{}]", short.unwrap_or_default(), value_of(flag)),
    });
    let switches =
        command.get_arguments().filter(|flag| !flag.is_positional() && !flag.get_action().takes_values());
    let switches = switches.filter_map(|flag| flag.get_long()).map(|long| format!("[--{long}]"));
    let words = command.get_positionals().map(ToString::to_string);
    let verb = command.has_subcommands().then(|| "VERB".to_owned());
    let parts: Vec<String> =
        [name].into_iter().chain(flags).chain(switches).chain(words).chain(verb).collect();
    parts.join(" ")
}

fn value_of(flag: &clap::Arg) -> String {
    flag.get_value_names().unwrap_or_default().iter().map(|name| format!(" {name}")).collect()
}

/// The same with the flags that short help leaves out.
pub(crate) fn with_every_flag(command: clap::Command) -> clap::Command {
    command.mut_args(|flag| flag.hide_short_help(false)).mut_subcommands(with_every_flag)
}

/// Keeps a team of coding agents out of each other's way
#[derive(Debug, Parser)]
#[command(
    name = "clearway",
    version,
    disable_help_subcommand = true,
    subcommand_value_name = "VERB",
    subcommand_help_heading = "Verbs",
    after_help = examples::ROOT
)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) everywhere: Everywhere,
    #[command(subcommand)]
    pub(crate) verb: Option<Verb>,
}

/// The flags of everywhere on a line that cannot be read as a whole.
pub(crate) fn as_far_as_read(arguments: &[String]) -> Globals {
    let matches = command().ignore_errors(true).try_get_matches_from(arguments);
    let everywhere = matches.and_then(|matches| Everywhere::from_arg_matches(&matches));
    everywhere.map(|everywhere| everywhere.globals()).unwrap_or_default()
}

/// Flags that every verb takes, before or after it.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Everywhere")]
pub(crate) struct Everywhere {
    /// Act as if started in DIR
    #[arg(short = 'C', global = true, value_name = "DIR", hide_short_help = true)]
    pub(crate) directory: Option<PathBuf>,
    /// Use this store: a file [variable: CLEARWAY_STORE]
    #[arg(long, global = true, value_name = "URL", hide_short_help = true)]
    pub(crate) store: Option<String>,
    /// Act as this agent [variable: CLEARWAY_AGENT]
    #[arg(long, global = true, value_name = "NAME", hide_short_help = true)]
    pub(crate) agent: Option<String>,
    /// Answer with JSON on standard output, also on failure
    #[arg(long, global = true, overrides_with = "json")]
    pub(crate) json: bool,
    /// Give a repeated request the answer of the first one with the same key
    #[arg(long, global = true, value_name = "KEY", hide_short_help = true)]
    pub(crate) idempotency_key: Option<String>,
    /// Wait no longer than this for a busy store, such as 5s
    #[arg(long, global = true, value_name = "TIME", allow_hyphen_values = true, hide_short_help = true)]
    pub(crate) timeout: Option<String>,
    /// Act in the scope with this key, or in `machine`
    #[arg(long, global = true, value_name = "KEY", hide_short_help = true)]
    pub(crate) scope: Option<String>,
}

impl Everywhere {
    /// The flags as the kernel takes them.
    pub(crate) fn globals(&self) -> Globals {
        Globals {
            directory: self.directory.clone(),
            store: self.store.clone(),
            agent: self.agent.clone(),
            scope: self.scope.clone(),
            timeout: self.timeout.clone(),
            idempotency_key: self.idempotency_key.clone(),
            hook: None,
        }
    }
}

#[derive(Clone, Debug, Subcommand)]
pub(crate) enum Verb {
    /// Set up a repository and its agents' clients, or undo it
    #[command(after_help = examples::INIT)]
    Init(InitFlags),
    /// Take leases on paths or names, all of them or none
    #[command(after_help = examples::RESERVE)]
    Reserve(ReserveFlags),
    /// Tell who holds a path
    #[command(after_help = examples::WHO)]
    Who(WhoFlags),
    /// Give leases back
    #[command(after_help = examples::RELEASE)]
    Release(ReleaseFlags),
    /// Wait for your turn at what was refused, or leave the queue
    #[command(after_help = examples::WAIT)]
    Wait(WaitFlags),
    /// List who waits for what
    #[command(after_help = examples::WAITS)]
    Waits(WaitsFlags),
    /// Run a command while holding names, such as build or db:migrate
    #[command(after_help = examples::WITH)]
    With(WithFlags),
    /// Hand leases to another agent
    #[command(after_help = examples::TRANSFER)]
    Transfer(TransferFlags),
    /// Admit no new edits of agents for a while (a person's act)
    #[command(after_help = examples::FREEZE)]
    Freeze(FreezeFlags),
    /// End a freeze: admit new edits of agents again
    #[command(after_help = examples::THAW)]
    Thaw(ThawFlags),
    /// List leases
    #[command(after_help = examples::LEASES)]
    Leases(LeasesFlags),
    /// Print your paths, for other commands
    #[command(after_help = examples::MINE)]
    Mine(MineFlags),
    /// One line for a status bar; empty if there is nothing to say
    #[command(after_help = examples::STATUSLINE)]
    Statusline,
    /// List agents and how alive they look
    #[command(after_help = examples::AGENTS)]
    Agents,
    /// One look at everything: warnings, agents and what they hold
    #[command(after_help = examples::STATUS)]
    Status(StatusFlags),
    /// Tell where an agent is and how to resume its session
    #[command(after_help = examples::WHERE)]
    Where(WhereFlags),
    /// Tell what happened since an evening, in few lines
    #[command(after_help = examples::DIGEST)]
    Digest(DigestFlags),
    /// Read the log of everything that happened
    #[command(after_help = examples::EVENTS)]
    Events(EventsFlags),
    /// Verify, anchor or export the log
    #[command(subcommand, after_help = examples::AUDIT)]
    Audit(Audit),
    /// Look at everything a command depends on and name what is wrong
    #[command(after_help = examples::DOCTOR)]
    Doctor(DoctorFlags),
    /// List scopes, or go on with the one a moved repository had
    #[command(subcommand, after_help = examples::SCOPE)]
    Scope(Scope),
    /// Show settings and where they come from
    #[command(subcommand, after_help = examples::CONFIG)]
    Config(Config),
    /// Show all of it at work in a throw-away repository
    #[command(after_help = examples::DEMO)]
    Demo(DemoFlags),
    /// Explain an error by its name, or list them all
    #[command(after_help = examples::EXPLAIN)]
    Explain(ExplainFlags),
    /// Tell whether a reservation would be granted; exit code 1 if not
    #[command(after_help = examples::CHECK)]
    Check(CheckFlags),
    /// Extend leases
    #[command(after_help = examples::RENEW)]
    Renew(RenewFlags),
    /// Record every lease whose time is over as expired
    #[command(after_help = examples::SWEEP)]
    Sweep(SweepFlags),
    /// Answer a client's hook; its payload is on standard input
    #[command(after_help = examples::HOOK)]
    Hook(HookFlags),
    /// Print a completion script for a shell
    #[command(after_help = examples::COMPLETIONS)]
    Completions(CompletionsFlags),
    /// Print the manual page, or write all of them to a directory
    #[command(after_help = examples::MAN)]
    Man(ManFlags),
    /// Show help
    #[command(after_help = examples::HELP)]
    Help(HelpFlags),
}

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
    fn the_command_line_is_consistent() {
        command().debug_assert();
        command_for_people().debug_assert();
    }

    #[test]
    fn flags_of_everywhere_stand_before_or_after_the_verb() {
        for line in [
            "clearway --json --agent ada -C /x who a.rs",
            "clearway who a.rs --json --agent ada -C /x",
            "clearway --agent ada who --json a.rs -C /x",
        ] {
            let cli = Cli::try_parse_from(line.split(' ')).unwrap();
            assert!(cli.everywhere.json, "{line}");
            let globals = cli.everywhere.globals();
            assert_eq!((globals.agent.as_deref(), globals.directory), (Some("ada"), Some("/x".into())));
        }
    }

    #[test]
    fn the_flags_of_everywhere_are_found_on_a_line_that_cannot_be_read() {
        for line in [
            "clearway --agent ada -C /x reserve --wait a.rs",
            "clearway reserve --agent ada --wait a.rs -C /x",
            "clearway --agent ada -C /x frobnicate",
        ] {
            let globals = as_far_as_read(&line.split(' ').map(str::to_owned).collect::<Vec<_>>());
            assert_eq!(
                (globals.agent.as_deref(), globals.directory),
                (Some("ada"), Some("/x".into())),
                "{line}"
            );
        }
    }

    #[test]
    fn every_kind_of_the_domain_has_its_word() {
        let words: Vec<String> = KindWord::value_variants()
            .iter()
            .map(|word| word.to_possible_value().unwrap().get_name().to_owned())
            .collect();
        assert_eq!(words, Kind::ALL.map(|kind| kind.word().to_owned()));
    }

    #[test]
    fn every_verb_has_examples_that_begin_with_the_verb() {
        let mut all = command();
        all.build();
        let verbs =
            all.get_subcommands().flat_map(|verb| std::iter::once(verb).chain(verb.get_subcommands()));
        for verb in verbs {
            let name = verb.get_bin_name().unwrap_or_default().to_owned();
            let examples = verb.get_after_help().map(ToString::to_string).unwrap_or_default();
            assert!(examples.starts_with("Examples:\n"), "{name}");
            let lines: Vec<&str> = examples.lines().filter(|line| line.starts_with("  clearway ")).collect();
            assert!(!lines.is_empty() && lines.iter().any(|line| line.contains(&name)), "{name}: {examples}");
            assert!(examples.lines().all(|line| line.chars().count() <= HELP_COLUMNS), "{name}");
        }
    }
}
