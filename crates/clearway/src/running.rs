//! Commands for the kernel, run by the real machine.

use clearway_core::failure::Failure;
use clearway_core::slug::Slug;
use clearway_core::text::quoted;
use clearway_kernel::{Order, Running};
use clearway_platform::command::{self, Program};
use clearway_platform::environment::Environment;
use std::ffi::OsStr;
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
        Program::NotRunnable => {
            Err(Failure::new(Slug::CommandNotExecutable, format!("{shown} is there and cannot be run"))
                .hint("make it executable, or name the program that reads it: … -- sh SCRIPT"))
        }
        Program::Absent => Err(Failure::new(Slug::CommandNotFound, format!("there is no command {shown}"))
            .hint(
                "what follows -- is one command and its arguments; for a line of shell: … -- sh -c 'LINE'",
            )),
    }
}

/// Starts the command.
pub(crate) fn start(order: &Order) -> Result<Box<dyn Running>, Failure> {
    let Order { words, variables, directory } = order.clone();
    let running = command::Running::start(&command::Order { words, variables, directory });
    running.map(|running| Box::new(Started(running)) as Box<dyn Running>).map_err(|error| {
        Failure::new(Slug::CommandNotExecutable, format!("the command cannot be started: {error}"))
            .hint("see what is wrong: clearway doctor")
    })
}

/// A command of this machine.
#[derive(Debug)]
struct Started(command::Running);

impl Running for Started {
    fn wait(&mut self, at_most_ms: u64) -> Result<Option<u8>, Failure> {
        self.0.wait(Duration::from_millis(at_most_ms)).map_err(|error| {
            Failure::new(Slug::Internal, format!("the command cannot be waited for: {error}"))
        })
    }

    fn ask_to_end(&mut self) {
        self.0.ask_to_end();
    }

    fn kill(&mut self) {
        self.0.kill();
    }
}
