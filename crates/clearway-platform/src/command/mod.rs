//! A command that is run on somebody's behalf and does not outlive this process.
//!
//! Signals that a process sends to us are passed on; those that a terminal sends reach the command by themselves,
//! since it stays in our process group. It decides nothing: when to ask a command to end is the caller's business.
//!
//! The command is started through a second start of our own binary ([`under`]), which asks the kernel to be killed
//! when we die and then becomes the command. That holds for the command itself: what it starts in turn, and what a
//! set-user-id program does, is theirs. macOS has no such request; there a command outlives a killed parent.

mod aside;
mod mishap;
mod program;
mod signals;

pub use aside::{Aside, play_aside, run_aside};
pub use program::{Program, WhyNot, look_up};

use std::ffi::OsString;
use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus};
use std::time::{Duration, Instant};

use crate::system;
use mishap::{Ear, Mouth};
use rustix::process::{Pid, Signal, getppid, kill_process};
use signals::Signals;

/// The first word of the second start. It is between us and ourselves and in no help.
pub const UNDER: &str = "__under";

/// What a shell adds to the number of the signal that ended a command.
const SIGNAL_CODE_BASE: i32 = 128;
/// Exit codes of shells for a command that is not there, and for one that cannot be run.
const NOT_FOUND_CODE: u8 = 127;
const NOT_RUNNABLE_CODE: u8 = 126;
/// Our own for a command that was never begun.
const NOT_BEGUN_CODE: u8 = 125;

/// What to run.
#[derive(Clone, Debug, Default)]
pub struct Order {
    /// The program and its arguments.
    pub words: Vec<OsString>,
    /// Variables beside those of this process.
    pub variables: Vec<(String, String)>,
    /// Where, if not here.
    pub directory: Option<PathBuf>,
}

/// A command that runs.
#[derive(Debug)]
pub struct Running {
    child: Child,
    signals: Signals,
    mishaps: Ear,
}

/// How a command ended.
#[derive(Debug)]
pub enum End {
    /// With this exit code.
    Code(u8),
    /// It was found and could not be begun after all.
    NotBegun(io::Error),
}

impl Running {
    /// Starts a command with the streams of this process. It has to be called by the first thread of the process,
    /// since the kernel takes the end of the thread that starts something for the end of its parent.
    pub fn start(order: &Order) -> io::Result<Self> {
        // Caught before there is a command: what arrives in between waits for it.
        let signals = Signals::catch()?;
        let (mishaps, mouth) = mishap::pipe();
        let mut command = Command::new(system::own_binary()?);
        command.arg0("clearway").arg(UNDER).arg(std::process::id().to_string()).arg(mouth.name());
        command.args(&order.words).envs(order.variables.iter().map(|(name, value)| (name, value)));
        if let Some(directory) = &order.directory {
            command.current_dir(directory);
        }
        let child = command.spawn()?;
        drop(mouth);
        Ok(Self { child, signals, mishaps })
    }

    /// Waits for the end of the command, passing signals on meanwhile: how it ended, or `None` when the time is up.
    pub fn wait(&mut self, at_most: Duration) -> io::Result<Option<End>> {
        let ends = Instant::now() + at_most;
        loop {
            if let Some(status) = self.child.try_wait()? {
                return Ok(Some(self.mishaps.heard().map_or(End::Code(code(status)), End::NotBegun)));
            }
            let left = ends.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(None);
            }
            self.signals.wait(left)?;
            self.signals.pass_on(|signal| send(&self.child, signal));
        }
    }

    /// Asks the command to end. One that was stopped goes on, or it would never hear of it.
    pub fn ask_to_end(&mut self) {
        send(&self.child, Signal::TERM);
        send(&self.child, Signal::CONT);
    }

    /// Ends the command.
    pub fn kill(&mut self) {
        send(&self.child, Signal::KILL);
    }
}

/// The second start: becomes the command of `words`, which are what followed [`UNDER`]. Returns only if that fails,
/// with the exit code to end with.
pub fn under(words: &[OsString]) -> u8 {
    let [parent, mouth, program, arguments @ ..] = words else { return NOT_BEGUN_CODE };
    let mouth = Mouth::inherited(mouth);
    if system::die_with_parent().is_err() || !is_parent(parent) {
        return NOT_BEGUN_CODE;
    }
    let error = Command::new(program).args(arguments).exec();
    mouth.tell(&error);
    // With nobody to hear it, the exit code still tells.
    if error.kind() == io::ErrorKind::NotFound { NOT_FOUND_CODE } else { NOT_RUNNABLE_CODE }
}

/// Whether that process is still our parent: it may have died before we asked to die with it.
fn is_parent(pid: &OsString) -> bool {
    let parent = getppid().map(|parent| parent.as_raw_nonzero().get().to_string());
    parent.as_deref() == pid.to_str()
}

/// Asks a child that was not waited for yet to end, so that it can clean up behind itself.
pub fn ask_to_end(child: &Child) {
    send(child, Signal::TERM);
}

/// Whether a program was ended because a file that it had mapped into its memory became shorter meanwhile.
pub fn lost_a_mapping(status: ExitStatus) -> bool {
    status.signal() == Some(Signal::BUS.as_raw())
}

/// A command that was not waited for yet keeps its pid, so nobody else can be hit; one that has ended is not.
fn send(child: &Child, signal: Signal) {
    if let Some(pid) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
        let _ = kill_process(pid, signal);
    }
}

fn code(status: ExitStatus) -> u8 {
    let code = status.code().or_else(|| status.signal().map(|signal| SIGNAL_CODE_BASE + signal));
    code.and_then(|code| u8::try_from(code).ok()).unwrap_or(u8::MAX)
}
