//! The command line: parse, one use case, render.
//!
//! [`run`] is the whole of it for the binary; [`command`] and [`docs`] are for generated documentation. This crate
//! decides nothing, stores nothing and re-implements no rule.

mod arguments;
mod console;
mod demo;
pub mod docs;
mod given;
mod pages;
mod render;
#[cfg(test)]
mod tests;
mod usage;
mod verbs;

pub use arguments::command;
pub use demo::{Backstage, By, Ran};

use clearway_core::failure::Failure;
use clearway_kernel::Outside;
use console::Console;
use std::ffi::OsString;
use std::io::Write;
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

/// What the command line needs of the machine: everything the kernel asks, and a stage for the demonstration.
pub trait Host: Outside {
    /// Makes the throw-away repository of a demonstration, and removes those that killed ones left behind.
    fn backstage(&mut self) -> Result<Box<dyn Backstage>, Failure>;
}

/// Runs one command and returns its exit code. The arguments are those of the process, its name first.
pub fn run(arguments: Vec<OsString>, host: &mut dyn Host, streams: &mut Streams<'_>) -> u8 {
    let json = usage::asks_for_json(&arguments);
    let runs_command = usage::runs_a_command(&arguments);
    let mut console = Console::new(json, runs_command, host.surroundings(), streams);
    match verbs::run(arguments, host, &mut console) {
        Ok(Told::Answer(answer)) => console.tell(&*answer, host),
        Ok(Told::Already(code)) => code,
        Err(problem) => console.complain(&problem, host),
    }
}
