//! The command line: parse, one use case, render.
//!
//! [`run`] is the whole of it for the binary. This crate decides nothing, stores nothing and re-implements no rule.

mod arguments;
mod clients;
mod console;
mod demo;
#[cfg(test)]
mod docs;
mod elsewhere;
mod githook;
mod given;
mod hook;
mod pages;
mod render;
mod setup;
#[cfg(test)]
mod tests;
mod usage;
mod verbs;

pub use arguments::command;
pub use clearway_wire::json::Zone;
pub use clients::{Registration, registrations};
pub use demo::{Backstage, By, Ran};
pub use setup::{ClientFiles, HooksFollowed, HooksPlace};

use clearway_core::failure::Failure;
use clearway_kernel::{Globals, Hook, Outside};
use console::Console;
use std::ffi::OsString;
use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;
use verbs::Told;

/// Where answers go.
pub struct Streams<'a> {
    /// For the answer.
    pub stdout: &'a mut dyn Write,
    /// For people who have to know why there is none.
    pub stderr: &'a mut dyn Write,
}

impl std::fmt::Debug for Streams<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Streams")
    }
}

/// Milliseconds of a process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spent {
    /// Since it began.
    pub total_ms: u64,
    /// Those of them in which git and the process table were asked.
    pub asking_ms: u64,
}

/// What the command line needs of the machine: everything the kernel asks, the files of clients, a stage for the
/// demonstration, and what a client sends to its hook.
pub trait Host: Outside + ClientFiles {
    /// Makes the throw-away repository of a demonstration, and removes those that killed ones left behind.
    fn backstage(&mut self) -> Result<Box<dyn Backstage>, Failure>;

    /// How long this process has been at work.
    fn spent(&self) -> Spent;

    /// The time zone of whoever reads.
    fn zone(&self) -> Zone;

    /// Standard input to its end, at most so many bytes and for at most so long.
    fn input(&mut self, bytes_max: usize, patience: Duration) -> Result<Vec<u8>, Failure>;
}

/// Runs one command and returns its exit code. The arguments are those of the process, its name first.
pub fn run(arguments: Vec<OsString>, host: &mut dyn Host, streams: &mut Streams<'_>) -> u8 {
    if let Some(words) = hook::plain(&arguments) {
        return hook::run(words, host, streams);
    }
    if let Some(words) = githook::plain(&arguments) {
        return githook::run(words, &Globals::default(), host, streams);
    }
    run_for(None, arguments, host, streams)
}

/// The exit code of a line that cannot be read.
const USAGE: u8 = 2;

/// The agent of a hook, for which a line is carried out.
#[derive(Clone, Debug)]
pub(crate) struct OnBehalf {
    pub(crate) hook: Hook,
    /// Where it works.
    pub(crate) cwd: PathBuf,
    /// What tells a line that is told twice, unless it says so itself.
    pub(crate) key: Option<String>,
}

/// The same for the agent of a hook.
fn run_for(
    agent: Option<OnBehalf>,
    arguments: Vec<OsString>,
    host: &mut dyn Host,
    streams: &mut Streams<'_>,
) -> u8 {
    let json = usage::asks_for_json(&arguments);
    let runs_command = usage::runs_a_command(&arguments);
    let calls_a_hook = usage::calls_a_hook(&arguments);
    let mut console = Console::new(json, runs_command, host.surroundings(), streams);
    match verbs::run(arguments, agent, host, &mut console) {
        Ok(Told::Answer(answer)) => console.tell(&*answer, host),
        Ok(Told::Already(code)) => code,
        Err(problem) => match console.complain(&problem, host) {
            // A client takes the code of a line that cannot be read for a denial.
            USAGE if calls_a_hook => hook::NOT_RUN,
            code => code,
        },
    }
}
