//! The `clearway` binary: the composition root. It answers the kernel's questions with the real machine and hands
//! the command line over; nothing is decided here.

mod backstage;
mod changes;
mod clients;
mod facts;
mod inner;
mod machine;
mod running;
mod sites;
mod stores;
mod uncommitted;

use clearway_cli::Streams;
use clearway_platform::command;
use clearway_platform::environment::Environment;
use std::ffi::OsString;
use std::io::{self, Write};
use std::process::ExitCode;

/// musl's allocator asks the kernel for nearly every block; in a process that lives a millisecond that was a third
/// of all system calls. docs/adr/0004-linking.md has the figures.
#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: dlmalloc::GlobalDlmalloc = dlmalloc::GlobalDlmalloc;

fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().collect();
    if let Some(code) = backstage::play_part(&arguments) {
        return code;
    }
    if arguments.get(1).is_some_and(|first| first == command::UNDER) {
        return ExitCode::from(command::under(&arguments[2..]));
    }
    let mut machine = machine::Machine::new(Environment::capture());
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
