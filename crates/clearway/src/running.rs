//! Commands for the kernel, run by the real machine.

use clearway_core::failure::Failure;
use clearway_core::hint;
use clearway_core::slug::Slug;
use clearway_core::text::quoted;
use clearway_kernel::{Errand, Order, Running};
use clearway_platform::command::{self, End, Program, WhyNot};
use clearway_platform::environment::Environment;
use std::ffi::OsStr;
use std::io;
use std::path::Path;
use std::time::Duration;

/// Whether the command is there and can be run.
pub(crate) fn look_for(environment: &Environment, order: &Order) -> Result<(), Failure> {
    let program = order.words.first().map(|word| word.as_os_str()).unwrap_or_default();
    let directory = order.directory.as_deref().or(environment.cwd.as_deref()).unwrap_or(Path::new("/"));
    let path = environment.vars.get(OsStr::new("PATH")).map(|path| path.as_os_str());
    let shown = quoted(&program.to_string_lossy());
    match command::look_up(program, path, directory) {
        Program::Runnable => Ok(()),
        Program::NotRunnable(why) => Err(not_runnable(&shown, &why)),
        Program::Absent => Err(Failure::new(Slug::CommandNotFound, format!("there is no command {shown}"))
            .hint(
                "what follows -- is one command and its arguments; for a line of shell: … -- sh -c 'LINE'",
            )),
    }
}

const FIRST_LINE: &str = "correct its first line, or name the program that reads it: … -- sh SCRIPT";

fn not_runnable(shown: &str, why: &WhyNot) -> Failure {
    let (text, hint) = match why {
        WhyNot::Directory => ("is a directory".to_owned(), "name a program in it"),
        WhyNot::Permission => (
            "is there and cannot be run".to_owned(),
            "make it executable, or name the program that reads it: … -- sh SCRIPT",
        ),
        WhyNot::Text => (
            "is a text that does not say what reads it".to_owned(),
            "name the program that reads it: … -- sh SCRIPT, or begin it with a line such as #!/bin/sh",
        ),
        WhyNot::Interpreter(path) => {
            (format!("is to be read by {}, which cannot be run", quoted(&path.to_string_lossy())), FIRST_LINE)
        }
        WhyNot::InterpreterAbsent(path) => {
            (format!("is to be read by {}, which is nowhere", quoted(&path.to_string_lossy())), FIRST_LINE)
        }
    };
    let slug = match why {
        WhyNot::InterpreterAbsent(_) => Slug::CommandNotFound,
        _ => Slug::CommandNotExecutable,
    };
    Failure::new(slug, format!("{shown} {text}")).hint(hint)
}

/// Starts the command.
pub(crate) fn start(order: &Order) -> Result<Box<dyn Running>, Failure> {
    let Order { words, variables, directory } = order.clone();
    let program = words.first().map(|word| quoted(&word.to_string_lossy())).unwrap_or_default();
    let running = command::Running::start(&command::Order { words, variables, directory });
    running
        .map(|running| Box::new(Started { program, running }) as Box<dyn Running>)
        .map_err(|error| not_started(&error))
}

/// Starts a line that nobody waits for.
pub(crate) fn run_aside(errand: &Errand) -> Result<(), Failure> {
    let Errand { line, input, without, ms_max, note } = errand.clone();
    let aside = command::Aside { line, input, without, ms_max, note };
    command::run_aside(&aside).map_err(|error| not_started(&error))
}

/// What keeps every command from being started, such as a directory that is gone, says nothing of this one.
fn not_started(error: &io::Error) -> Failure {
    Failure::new(Slug::CommandNotExecutable, format!("the command cannot be started: {error}"))
        .hint(hint::DOCTOR)
}

/// What was found and could not be begun: a program for another machine, or one whose loader is missing.
fn not_begun(program: &str, error: &io::Error) -> Failure {
    let slug = match error.kind() {
        io::ErrorKind::NotFound => Slug::CommandNotFound,
        _ => Slug::CommandNotExecutable,
    };
    Failure::new(slug, format!("{program} cannot be run: {error}"))
        .hint("what was taken for it was given back; see whether it runs by itself")
}

/// A command of this machine.
#[derive(Debug)]
struct Started {
    program: String,
    running: command::Running,
}

impl Running for Started {
    fn wait(&mut self, at_most_ms: u64) -> Result<Option<u8>, Failure> {
        match self.running.wait(Duration::from_millis(at_most_ms)) {
            Ok(None) => Ok(None),
            Ok(Some(End::Code(code))) => Ok(Some(code)),
            Ok(Some(End::NotBegun(error))) => Err(not_begun(&self.program, &error)),
            Err(error) => {
                let message = format!("the command cannot be waited for: {error}");
                Err(Failure::new(Slug::Internal, message).hint(hint::DOCTOR))
            }
        }
    }

    fn ask_to_end(&mut self) {
        self.running.ask_to_end();
    }

    fn kill(&mut self) {
        self.running.kill();
    }
}
