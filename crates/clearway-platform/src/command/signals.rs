//! The signals that reach this process while a command runs, and which of them are the command's.

use std::io;
use std::os::unix::net::UnixStream;
use std::time::Duration;

use crate::system;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Signal, getpid, kill_process};
use signal_hook::iterator::backend::SignalDelivery;

/// What is passed on. The rest either cannot be caught or is about this process alone.
const PASSED_ON: [Signal; 9] = [
    Signal::HUP,
    Signal::INT,
    Signal::QUIT,
    Signal::TERM,
    Signal::USR1,
    Signal::USR2,
    Signal::ALARM,
    Signal::WINCH,
    Signal::CONT,
];

/// Signals that are caught and wait to be looked at.
#[derive(Debug)]
pub(super) struct Signals(SignalDelivery<UnixStream, system::SignalFacts>);

impl Signals {
    /// Catches them from now on. What is ignored stays so: whoever started us, such as `nohup`, wants that for the
    /// command as well, and a command inherits what is ignored but not what is caught.
    pub(super) fn catch() -> io::Result<Self> {
        let ignored = system::ignored_signals();
        let is_heard = |signal: &Signal| ignored >> (signal.as_raw() - 1) & 1 == 0;
        let passed = PASSED_ON.into_iter().chain([Signal::TSTP]).filter(is_heard);
        let (read, write) = UnixStream::pair()?;
        let caught = passed.chain([Signal::CHILD]).map(Signal::as_raw);
        Ok(Self(SignalDelivery::with_pipe(read, write, system::SignalFacts::default(), caught)?))
    }

    /// Returns when one has come or the time is up.
    pub(super) fn wait(&self, at_most: Duration) -> io::Result<()> {
        let mut watched = [PollFd::new(self.0.get_read(), PollFlags::IN)];
        let at_most = Timespec::try_from(at_most).ok();
        match poll(&mut watched, at_most.as_ref()) {
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Passes on what has come. Asked to stop, this process stops like the command, and so does its time.
    pub(super) fn pass_on(&mut self, send: impl Fn(Signal)) {
        let mut stops = false;
        for caught in self.0.pending() {
            let (number, is_sent) = system::was_sent(&caught);
            let Some(signal) = Signal::from_named_raw(number) else { continue };
            if signal != Signal::CHILD && is_sent {
                send(signal);
            }
            stops |= signal == Signal::TSTP;
        }
        if stops {
            let _ = kill_process(getpid(), Signal::STOP);
        }
    }
}
