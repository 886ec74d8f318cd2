//! Each verb: one use case of the kernel, and its answer.

mod audit;
mod config;
mod demo;
mod doctor;
mod events;
mod leasing;
mod listing;
mod queueing;
mod running;
mod scope;
mod status;
mod words;

pub(crate) use running::code_beside_command;
pub(crate) use words::Detail;

use crate::Host;
use crate::arguments::{self, Audit, Cli, Config, Scope, Verb};
use crate::console::{Answer, Console, Problem};
use crate::usage;
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
pub(crate) fn run(arguments: Vec<OsString>, host: &mut dyn Host, console: &mut Console<'_, '_>) -> Outcome {
    let texts = usage::texts(&arguments)?;
    if let Some(cli) = arguments::quick::read(&texts) {
        return obey(cli, host, console);
    }
    let parsed = arguments::command_for_people()
        .try_get_matches_from(&arguments)
        .and_then(|matches| Cli::from_arg_matches(&matches));
    match parsed {
        Ok(cli) => obey(cli, host, console),
        Err(error) if error.kind() == ErrorKind::DisplayVersion => {
            answer(words::Text::styled(&error.render()))
        }
        Err(error) if error.kind() == ErrorKind::DisplayHelp => answer(words::help_on(&texts)),
        Err(error) => Err(usage::failure(&error, &texts).into()),
    }
}

/// Does what was asked. Commands in the hints of a failure mean the scope and the store of the caller.
fn obey(cli: Cli, host: &mut dyn Host, console: &mut Console<'_, '_>) -> Outcome {
    let globals = cli.everywhere.globals();
    dispatch(cli, host, console).map_err(|mut problem| {
        let directory = globals.directory.as_ref().map(|directory| directory.display().to_string());
        let given = [("-C", &directory), ("--store", &globals.store), ("--scope", &globals.scope)];
        for (flag, value) in given.into_iter().filter_map(|(flag, value)| Some((flag, value.as_ref()?))) {
            problem.failure.hints.iter_mut().for_each(|hint| hint.run_with(flag, value));
        }
        problem
    })
}

fn dispatch(cli: Cli, host: &mut dyn Host, console: &mut Console<'_, '_>) -> Outcome {
    let globals = cli.everywhere.globals();
    usage::check_flags(&globals)?;
    let verb = match cli.verb {
        None => return answer(words::help(&[], words::Detail::Brief)?),
        Some(Verb::Help(flags)) => return answer(words::help(&flags.verb, flags.detail())?),
        Some(Verb::Explain(flags)) => return words::explain(flags.slug.as_deref()),
        Some(Verb::Completions(flags)) => return answer(words::completions(flags.shell)),
        Some(Verb::Man(flags)) => {
            let directory = flags.pages.map(|path| placed(host, &globals, &path));
            return answer(words::man(directory.as_deref())?);
        }
        Some(Verb::Config(Config::Path)) => return answer(config::paths(host, &globals)?),
        Some(Verb::Doctor(flags)) => return answer(doctor::doctor(host, &globals, &flags)?),
        Some(Verb::Demo(flags)) => return demo::demo(host, &flags, console),
        Some(verb) => verb,
    };
    in_session(verb, host, &globals, console)
}

/// The verbs that look into a scope.
fn in_session(
    verb: Verb,
    outside: &mut dyn Outside,
    globals: &Globals,
    console: &mut Console<'_, '_>,
) -> Outcome {
    let verb = with_placed_files(verb, outside, globals);
    let variables = matches!(verb, Verb::Config(_)).then(|| outside.surroundings().variables.clone());
    let is_terminal = outside.surroundings().stdout_is_terminal;
    let mut session = Session::open(outside, globals)?;
    match verb {
        Verb::Reserve(flags) => answer(leasing::reserve(&mut session, flags, console)?),
        Verb::Wait(flags) => answer(queueing::wait(&mut session, &flags, console)?),
        Verb::Waits(flags) => answer(queueing::waits(&mut session, &flags)?),
        Verb::With(flags) => running::with(&mut session, flags, console).map(Told::Already),
        Verb::Transfer(flags) => answer(queueing::transfer(&mut session, flags)?),
        Verb::Freeze(flags) => answer(queueing::freeze(&mut session, &flags)?),
        Verb::Thaw(flags) => answer(queueing::thaw(&mut session, &flags)?),
        Verb::Check(flags) => answer(leasing::check(&mut session, flags)?),
        Verb::Renew(flags) => answer(leasing::renew(&mut session, flags)?),
        Verb::Release(flags) => answer(leasing::release(&mut session, flags)?),
        Verb::Sweep(flags) => answer(leasing::sweep(&mut session, &flags)?),
        Verb::Who(flags) => answer(listing::who(&mut session, &flags)?),
        Verb::Leases(flags) => answer(listing::leases(&mut session, flags)?),
        Verb::Agents => answer(listing::agents(&mut session)?),
        Verb::Status => answer(status::status(&mut session, is_terminal)?),
        Verb::Events(flags) => events::events(&mut session, flags, console).map(|()| Told::Already(0)),
        Verb::Audit(Audit::Verify { anchors }) => answer(audit::verify(&mut session, &anchors)?),
        Verb::Audit(Audit::Anchor { export }) => answer(audit::anchor(&mut session, export)?),
        Verb::Audit(Audit::Export { from }) => {
            audit::export(&mut session, from, console).map(|()| Told::Already(0))
        }
        Verb::Scope(Scope::List) => answer(scope::list(&mut session)?),
        Verb::Scope(Scope::Adopt { key }) => answer(scope::adopt(&mut session, key.as_deref())?),
        Verb::Config(Config::Classes) => answer(config::classes(&session)),
        Verb::Config(Config::Show | Config::Path) => {
            answer(config::show(&session, &variables.unwrap_or_default()))
        }
        Verb::Doctor(_)
        | Verb::Demo(_)
        | Verb::Explain(_)
        | Verb::Completions(_)
        | Verb::Man(_)
        | Verb::Help(_) => Ok(Told::Already(0)),
    }
}

/// Files named beside `-C DIR` lie there.
fn with_placed_files(verb: Verb, outside: &dyn Outside, globals: &Globals) -> Verb {
    match verb {
        Verb::Audit(Audit::Verify { anchors }) => {
            let anchors = anchors.iter().map(|path| placed(outside, globals, path)).collect();
            Verb::Audit(Audit::Verify { anchors })
        }
        Verb::Audit(Audit::Anchor { export }) => {
            let export = export.map(|path| placed(outside, globals, &path));
            Verb::Audit(Audit::Anchor { export })
        }
        other => other,
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
    let Reply { rev, agent, notices, replayed, now, outcome } = reply;
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
