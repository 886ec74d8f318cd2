//! The composition root: the kernel's questions are answered with the real machine, and the command line is handed
//! over; nothing is decided here. [`main`] is the whole binary. [`Machine`] is there for tests that let one process
//! call the command line many times.

mod backstage;
mod changes;
mod clients;
mod commits;
mod facts;
mod failures;
mod hooked;
mod host;
mod inner;
mod machine;
mod radar;
mod running;
mod shelf;
mod sites;
mod stashes;
mod stores;
mod uncommitted;
mod world;

pub use machine::Machine;
pub use stores::Engines;

use clearway_cli::Streams;
use clearway_platform::command;
use clearway_platform::environment::Environment;
use std::ffi::OsString;
use std::io::{self, Write};
use std::process::ExitCode;

/// One call of the binary, from its arguments to its exit code.
pub fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().collect();
    if let Some(code) = backstage::play_part(&arguments) {
        return code;
    }
    if let Some(code) = command::play_aside(&arguments) {
        return ExitCode::from(code);
    }
    if arguments.get(1).is_some_and(|first| first == command::UNDER) {
        return ExitCode::from(command::under(&arguments[2..]));
    }
    let mut machine = Machine::new(Environment::capture(), stores::fresh);
    let mut stdout = io::BufWriter::new(io::stdout().lock());
    let mut stderr = io::stderr().lock();
    let code = {
        let mut streams = Streams { stdout: &mut stdout, stderr: &mut stderr };
        clearway_cli::run(arguments, &mut machine, &mut streams)
    };
    // Nobody reads any more: what was done is done, and there is nobody to tell.
    let _ = stdout.flush();
    ExitCode::from(code)
}
