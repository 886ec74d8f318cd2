//! The demonstration: a story that is data, a director that plays it and believes nothing, and a contract for what
//! happens behind the stage, where the real processes are. Nothing here starts a process or touches a file.
//!
//! Start with [`story`].

mod director;
mod story;

pub(crate) use director::{Director, Pace, Played};

use clearway_core::failure::Failure;
use std::path::Path;

/// What the stage stands on: a throw-away repository, and processes that act in it. Dropping it removes everything.
pub trait Backstage {
    /// Where all of it lies.
    fn place(&self) -> &Path;

    /// Runs `clearway` with these words to its end, in the repository.
    fn run(&mut self, by: By, words: &[String]) -> Result<Ran, Failure>;

    /// Starts it and returns at once. One such process at a time.
    fn start(&mut self, by: By, words: &[String]) -> Result<(), Failure>;

    /// What the process that was started came to; its time is counted from when the last command was begun.
    fn hear(&mut self) -> Result<Ran, Failure>;

    /// Kills the window and the process behind it; which one that was.
    fn kill_window(&mut self) -> Result<u32, Failure>;

    /// Flips one bit of the last of these bytes in the files of the store, wherever they are found.
    fn flip(&mut self, bytes: &[u8]) -> Result<(), Failure>;

    /// Waits so long, or until a person at the terminal presses Enter.
    fn pause(&mut self, span_ms: u64);

    /// Leaves everything where it is, to be looked at.
    fn keep(self: Box<Self>) -> Result<(), Failure>;
}

/// Who acts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// An agent that named itself.
    Agent(&'static str),
    /// A terminal window that did not.
    Window,
    /// Nobody of the story.
    Nobody,
}

impl By {
    /// The name before the prompt.
    pub fn name(self) -> &'static str {
        match self {
            Self::Agent(name) => name,
            Self::Window => "window",
            Self::Nobody => "",
        }
    }
}

/// What a command came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ran {
    /// Its exit code; -1 if a signal ended it.
    pub code: i32,
    /// What it said, on standard output and standard error in the order of saying.
    pub output: String,
    /// How long it took.
    pub took_ms: u64,
}
