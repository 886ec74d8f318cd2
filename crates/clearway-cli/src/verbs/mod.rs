//! Each verb: one use case of the kernel, and its answer.

mod audit;
mod changed;
mod committing;
mod config;
mod demo;
mod doctor;
mod events;
mod finding;
mod init;
mod leasing;
mod lines;
mod listing;
mod looking_back;
mod mail;
mod negotiation;
mod own;
mod queueing;
mod radar;
mod running;
mod scope;
mod snapshots;
mod status;
mod words;

pub(crate) use running::code_beside_command;
pub(crate) use words::Detail;

use crate::arguments::{self, Audit, Cli, Config, Scope, StatusFlags, Verb};
use crate::console::{Answer, Console, Problem};
use crate::given::Given;
use crate::{Host, OnBehalf, elsewhere, usage};
use clap::FromArgMatches;
use clap::error::ErrorKind;
use clearway_kernel::{Globals, Outside, Reply, Session};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// What a verb comes to.
pub(crate) type Outcome = Result<Told, Problem>;

/// How a verb answers.
pub(crate) enum Told {
    /// With this, which is yet to be shown.
    Answer(Box<dyn Answer>),
    /// It has shown everything; this is its exit code.
    Already(u8),
}

/// Reads the command line and does what it says.
pub(crate) fn run(
    arguments: Vec<OsString>,
    agent: Option<OnBehalf>,
    host: &mut dyn Host,
    console: &mut Console<'_, '_>,
) -> Outcome {
    let texts = usage::texts(&arguments)?;
    if let Some(cli) = arguments::quick::read(&texts) {
        return obey(cli, agent, host, console).map_err(|problem| placed_right(problem, &texts));
    }
    let parsed = arguments::command_for_people()
        .try_get_matches_from(&arguments)
        .and_then(|matches| Cli::from_arg_matches(&matches));
    match parsed {
        Ok(cli) => obey(cli, agent, host, console).map_err(|problem| placed_right(problem, &texts)),
        Err(error) if error.kind() == ErrorKind::DisplayVersion => {
            answer(words::Text::styled(&error.render()))
        }
        Err(error) if error.kind() == ErrorKind::DisplayHelp => answer(words::help_on(&texts)),
        Err(error) => {
            console.repeat(Given::of(&arguments::as_far_as_read(&texts)));
            Err(usage::failure(&error, &texts).into())
        }
    }
}

fn placed_right(problem: Problem, line: &[String]) -> Problem {
    Problem { failure: elsewhere::with_command(problem.failure, line), ..problem }
}

/// Does what was asked. A session is opened by the verbs that look into a scope, and by no other.
fn obey(cli: Cli, agent: Option<OnBehalf>, host: &mut dyn Host, console: &mut Console<'_, '_>) -> Outcome {
    let mut globals = cli.everywhere.globals();
    console.repeat(Given::of(&globals));
    if let Some(OnBehalf { hook, cwd, key }) = agent {
        globals.directory = Some(cwd.join(globals.directory.unwrap_or_default()));
        globals.hook = Some(hook);
        globals.idempotency_key = globals.idempotency_key.or(key);
    }
    usage::check_flags(&globals)?;
    let Some(verb) = cli.verb else { return answer(words::help(&[], words::Detail::Brief)?) };
    match verb {
        Verb::Help(flags) => answer(words::help(&flags.verb, flags.detail())?),
        Verb::Explain(flags) => words::explain(flags.slug.as_deref()),
        Verb::Completions(flags) => answer(words::completions(flags.shell)),
        Verb::Man(flags) => {
            let named: Vec<String> =
                flags.pages.iter().map(|word| word.to_string_lossy().into_owned()).collect();
            match flags.pages.as_slice() {
                [] => answer(words::man(None)?),
                [page]
                    if host.is_directory(&placed(host, &globals, page))
                        || !words::is_verb_like(&named[0]) =>
                {
                    answer(words::man(Some(&placed(host, &globals, page)))?)
                }
                _ => answer(words::man_of_verb(&named)?),
            }
        }
        Verb::Hook(flags) => {
            let words: Vec<OsString> =
                std::iter::once(flags.client).chain(flags.event).map(OsString::from).collect();
            Ok(Told::Already(console.hook(&words, host)))
        }
        Verb::GitHook(flags) => {
            let words: Vec<OsString> = std::iter::once(flags.name).chain(flags.words).collect();
            Ok(Told::Already(console.git_hook(&words, &globals, host)))
        }
        Verb::Init(flags) => init::init(host, &globals, &flags, console),
        Verb::Demo(flags) => demo::demo(host, &flags, console),
        Verb::Doctor(flags) => answer(doctor::doctor(host, &globals, &flags)?),
        Verb::Audit(verb) => audit(verb, host, &globals, console),
        Verb::Config(verb) => config(&verb, host, &globals),
        Verb::Scope(Scope::List) => answer(scope::list(&mut Session::open_anywhere(host, &globals)?)?),
        Verb::Scope(Scope::Adopt { key }) => {
            answer(scope::adopt(&mut session(host, &globals, console)?, key.as_deref())?)
        }
        Verb::Reserve(flags) => {
            answer(leasing::reserve(&mut session(host, &globals, console)?, flags, console)?)
        }
        Verb::Check(flags) => answer(leasing::check(&mut session(host, &globals, console)?, flags)?),
        Verb::Renew(flags) => answer(leasing::renew(&mut session(host, &globals, console)?, flags)?),
        Verb::Release(flags) => answer(leasing::release(&mut session(host, &globals, console)?, flags)?),
        Verb::Sweep(flags) => leasing::sweep(&mut session(host, &globals, console)?, &flags),
        Verb::Wait(flags) => answer(queueing::wait(&mut session(host, &globals, console)?, &flags, console)?),
        Verb::Waits(flags) => {
            answer(queueing::waits(&mut looking(host, &globals, console)?, &flags, console)?)
        }
        Verb::Ask(flags) => answer(negotiation::ask(&mut session(host, &globals, console)?, flags)?),
        Verb::Answer(flags) => answer(negotiation::answer(&mut session(host, &globals, console)?, flags)?),
        Verb::Withdraw(flags) => {
            answer(negotiation::withdraw(&mut session(host, &globals, console)?, &flags)?)
        }
        Verb::Negotiations => answer(negotiation::negotiations(&mut session(host, &globals, console)?)?),
        Verb::Force(flags) => answer(negotiation::force(&mut session(host, &globals, console)?, &flags)?),
        Verb::Halt(flags) => answer(negotiation::halt(&mut session(host, &globals, console)?, &flags)?),
        Verb::Resume(flags) => answer(negotiation::resume(&mut session(host, &globals, console)?, &flags)?),
        Verb::Transfer(flags) => answer(queueing::transfer(&mut session(host, &globals, console)?, flags)?),
        Verb::Freeze(flags) => answer(queueing::freeze(&mut session(host, &globals, console)?, &flags)?),
        Verb::Thaw(flags) => answer(queueing::thaw(&mut session(host, &globals, console)?, &flags)?),
        Verb::With(flags) => {
            running::with(&mut session(host, &globals, console)?, flags, console).map(Told::Already)
        }
        Verb::Who(flags) => answer(listing::who(&mut session(host, &globals, console)?, &flags)?),
        Verb::Leases(flags) => answer(listing::leases(&mut session(host, &globals, console)?, flags)?),
        Verb::Radar(flags) => answer(radar::radar(&mut session(host, &globals, console)?, &flags)?),
        Verb::Mine(flags) => answer(own::mine(&mut looking(host, &globals, console)?, &flags)?),
        Verb::Diff(flags) => answer(lines::diff(&mut session(host, &globals, console)?, &flags)?),
        Verb::Commit(flags) => {
            answer(committing::commit(&mut session(host, &globals, console)?, flags, console)?)
        }
        Verb::Snapshot(flags) => answer(snapshots::snapshot(&mut session(host, &globals, console)?, &flags)?),
        Verb::Snapshots => answer(snapshots::snapshots(&mut session(host, &globals, console)?)?),
        Verb::Show(flags) => answer(snapshots::show(&mut session(host, &globals, console)?, &flags)?),
        Verb::Restore(flags) => answer(snapshots::restore(&mut session(host, &globals, console)?, &flags)?),
        Verb::Undo(flags) => snapshots::undo(host, &globals, &flags, console),
        Verb::Send(flags) => {
            let text = mail::text(host, &flags.said)?;
            answer(mail::send(&mut session(host, &globals, console)?, flags, text)?)
        }
        Verb::Broadcast(flags) => {
            let text = mail::text(host, &flags.said)?;
            answer(mail::broadcast(&mut session(host, &globals, console)?, flags, text)?)
        }
        Verb::Inbox(flags) => answer(mail::inbox(&mut session(host, &globals, console)?, flags, console)?),
        Verb::Ack(flags) => answer(mail::ack(&mut session(host, &globals, console)?, &flags)?),
        Verb::Read(flags) => answer(mail::read(&mut session(host, &globals, console)?, &flags)?),
        Verb::Thread(flags) => answer(mail::thread(&mut session(host, &globals, console)?, &flags, console)?),
        Verb::Threads(flags) => {
            answer(mail::threads(&mut session(host, &globals, console)?, &flags, console)?)
        }
        Verb::Search(flags) => answer(mail::search(&mut session(host, &globals, console)?, &flags, console)?),
        Verb::StaleAcks(flags) => {
            answer(mail::stale_acks(&mut session(host, &globals, console)?, &flags, console)?)
        }
        Verb::Policy(flags) => answer(mail::policy(&mut session(host, &globals, console)?, &flags)?),
        Verb::Contacts(flags) => answer(mail::contacts(&mut session(host, &globals, console)?, flags)?),
        Verb::Statusline => answer(own::statusline(&mut session(host, &globals, console)?)?),
        Verb::Agents => answer(listing::agents(&mut looking(host, &globals, console)?)?),
        Verb::Where(flags) => answer(finding::where_is(&mut session(host, &globals, console)?, &flags)?),
        Verb::Digest(flags) => answer(looking_back::digest(host, &globals, &flags)?),
        Verb::Status(StatusFlags { cost: true }) => {
            answer(looking_back::cost(&mut session(host, &globals, console)?)?)
        }
        Verb::Status(_) => {
            let is_terminal = host.surroundings().stdout_is_terminal;
            answer(status::status(&mut session(host, &globals, console)?, is_terminal)?)
        }
        Verb::Events(flags) => {
            events::events(&mut looking(host, &globals, console)?, flags, console).map(|()| Told::Already(0))
        }
    }
}

/// A caller in the scope that the line names.
fn session<'h>(
    host: &'h mut dyn Host,
    globals: &Globals,
    console: &mut Console<'_, '_>,
) -> Result<Session<'h>, Problem> {
    let session = Session::open(host, globals)?;
    console.stand_in(&session.site.worktree().0);
    Ok(session)
}

/// The same for a look whose answer has no place for what is strange about the store.
fn looking<'h>(
    host: &'h mut dyn Host,
    globals: &Globals,
    console: &mut Console<'_, '_>,
) -> Result<Session<'h>, Problem> {
    let session = session(host, globals, console)?;
    console.note(&session.store_nowhere());
    Ok(session)
}

fn audit(verb: Audit, host: &mut dyn Host, globals: &Globals, console: &mut Console<'_, '_>) -> Outcome {
    match verb {
        Audit::Verify { anchors } => {
            let anchors: Vec<PathBuf> = anchors.iter().map(|path| placed(host, globals, path)).collect();
            answer(audit::verify(&mut session(host, globals, console)?, &anchors)?)
        }
        Audit::Anchor { export } => {
            let export = export.map(|path| placed(host, globals, &path));
            answer(audit::anchor(&mut session(host, globals, console)?, export)?)
        }
        Audit::Export { from } => {
            audit::export(&mut session(host, globals, console)?, from, console).map(|()| Told::Already(0))
        }
    }
}

fn config(verb: &Config, host: &mut dyn Host, globals: &Globals) -> Outcome {
    match verb {
        Config::Path => answer(config::paths(host, globals)?),
        Config::Classes => answer(config::classes(&Session::open(host, globals)?)),
        Config::Show => {
            let variables = host.surroundings().variables.clone();
            answer(config::show(&Session::open(host, globals)?, &variables))
        }
    }
}

/// A file as it is meant by somebody who stands where `-C` says.
fn placed(outside: &dyn Outside, globals: &Globals, path: &Path) -> PathBuf {
    let cwd = outside.surroundings().cwd.clone().unwrap_or_default();
    cwd.join(globals.directory.as_deref().unwrap_or(Path::new(""))).join(path)
}

fn answer(answer: impl Answer + 'static) -> Outcome {
    Ok(Told::Answer(Box::new(answer)))
}

/// The success of a reply, or its failure with the instant it was decided at.
fn settled(reply: Reply) -> Result<(clearway_core::decide::Success, Done), Problem> {
    let Reply { rev, agent, notices, replayed, now, outcome, .. } = reply;
    match outcome {
        Ok(success) => Ok((success, Done { rev, agent, notices, replayed, now })),
        Err(failure) => Err(Problem { failure, now: Some(Box::new(now)) }),
    }
}

/// What surrounds a success.
#[derive(Debug)]
struct Done {
    rev: clearway_core::ids::Seq,
    agent: Option<(clearway_core::ids::AgentId, clearway_core::agent::AgentName)>,
    notices: Vec<clearway_core::decide::Notice>,
    replayed: bool,
    now: clearway_core::time::Now,
}
