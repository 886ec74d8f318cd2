//! The words of the command line. Nothing here acts; [`crate::verbs`] does.

mod examples;
mod flags;
pub(crate) mod quick;

pub(crate) use flags::{
    AnswerFlags, AskFlags, Audit, CheckFlags, CommitFlags, CompletionsFlags, Config, DemoFlags, DiffFlags,
    DigestFlags, DoctorFlags, EventsFlags, ExplainFlags, ForceFlags, FreezeFlags, GitHookFlags, HaltFlags,
    HelpFlags, HookFlags, InitFlags, LeasesFlags, ManFlags, MineFlags, RadarFlags, ReleaseFlags, RenewFlags,
    ReserveFlags, RestoreFlags, Scope, ShowFlags, SnapshotFlags, StatusFlags, SweepFlags, ThawFlags,
    TransferFlags, UndoFlags, WaitFlags, WaitsFlags, WhereFlags, WhoFlags, WithFlags, WithdrawFlags, mode,
};
pub(crate) use flags::{
    BroadcastFlags, ContactsFlags, InboxFlags, MessageFlags, PolicyFlags, PolicyWord, SaidFlags, SearchFlags,
    SendFlags, StaleAcksFlags, ThreadFlags, ThreadsFlags,
};

use clap::builder::PossibleValuesParser;
use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand};
use clearway_core::slug::Slug;
use clearway_kernel::Globals;
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

/// The command line as shells complete it. The parser itself takes any word for a slug or a verb, because an unknown one
/// has an answer of its own.
pub(crate) fn command_for_completion() -> clap::Command {
    let slugs = Slug::ALL.iter().map(|slug| slug.as_str());
    let command = command().mut_subcommand("explain", |explain| {
        explain.mut_arg("slug", |slug| slug.value_parser(PossibleValuesParser::new(slugs)))
    });
    // The parser keeps names that live as long as the process, which ends with the script.
    let verbs: Vec<&'static str> =
        command.get_subcommands().map(|verb| &*verb.get_name().to_owned().leak()).collect();
    let names = || PossibleValuesParser::new(verbs.clone());
    // The manual also goes to a directory, which shells offer beside the verbs.
    command
        .mut_subcommand("help", |help| help.mut_arg("verb", |verb| verb.value_parser(names())))
        .mut_subcommand("man", |man| man.mut_arg("pages", |pages| pages.value_parser(names())))
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
    /// Give a repeated request the answer of the first with this key that changed something
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
    /// Ask whoever holds a path for it
    #[command(after_help = examples::ASK)]
    Ask(AskFlags),
    /// Say to who asks what becomes of it
    #[command(after_help = examples::ANSWER)]
    Answer(AnswerFlags),
    /// Take back what you asked for
    #[command(after_help = examples::WITHDRAW)]
    Withdraw(WithdrawFlags),
    /// List who asks whom for what
    #[command(after_help = examples::NEGOTIATIONS)]
    Negotiations,
    /// Take what you asked for from a holder that is gone or silent
    #[command(after_help = examples::FORCE)]
    Force(ForceFlags),
    /// Stop an agent (a person's act)
    #[command(after_help = examples::HALT)]
    Halt(HaltFlags),
    /// Let an agent go on that was stopped (a person's act)
    #[command(after_help = examples::RESUME)]
    Resume(HaltFlags),
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
    /// Show uncommitted lines and whose they are
    #[command(after_help = examples::DIFF)]
    Diff(DiffFlags),
    /// Commit what is yours, and nothing else
    #[command(after_help = examples::COMMIT)]
    Commit(CommitFlags),
    /// Tell which files of checkouts will not merge
    #[command(after_help = examples::RADAR)]
    Radar(RadarFlags),
    /// Keep what is not committed, where nothing overwrites it
    #[command(after_help = examples::SNAPSHOT)]
    Snapshot(SnapshotFlags),
    /// List snapshots
    #[command(after_help = examples::SNAPSHOTS)]
    Snapshots,
    /// Tell what is in a snapshot, and who held it
    #[command(after_help = examples::SHOW)]
    Show(ShowFlags),
    /// Bring files of a snapshot back
    #[command(after_help = examples::RESTORE)]
    Restore(RestoreFlags),
    /// Bring back what was last written over or removed
    #[command(after_help = examples::UNDO)]
    Undo(UndoFlags),
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
    /// Write to another agent
    #[command(after_help = examples::SEND)]
    Send(SendFlags),
    /// Show your mail: what is unread, which then counts as read
    #[command(after_help = examples::INBOX)]
    Inbox(InboxFlags),
    /// Acknowledge a message: say that you took note of it
    #[command(after_help = examples::ACK)]
    Ack(MessageFlags),
    /// Show all of a message
    #[command(after_help = examples::READ)]
    Read(MessageFlags),
    /// Show a thread: a message and its answers
    #[command(after_help = examples::THREAD)]
    Thread(ThreadFlags),
    /// List your threads
    #[command(after_help = examples::THREADS)]
    Threads(ThreadsFlags),
    /// Find messages by their words
    #[command(after_help = examples::SEARCH)]
    Search(SearchFlags),
    /// Write to everybody who is here
    #[command(after_help = examples::BROADCAST)]
    Broadcast(BroadcastFlags),
    /// List messages that nobody acknowledged for too long
    #[command(after_help = examples::STALE_ACKS)]
    StaleAcks(StaleAcksFlags),
    /// Tell or change from whom you take mail
    #[command(after_help = examples::POLICY)]
    Policy(PolicyFlags),
    /// Tell or change who your contacts are
    #[command(after_help = examples::CONTACTS)]
    Contacts(ContactsFlags),
    /// Answer a client's hook; its payload is on standard input
    #[command(after_help = examples::HOOK)]
    Hook(HookFlags),
    /// Answer a hook of git, which says so by its exit code
    #[command(after_help = examples::GIT_HOOK)]
    GitHook(GitHookFlags),
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
