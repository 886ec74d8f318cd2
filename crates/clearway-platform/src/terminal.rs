//! Terminals: one of our own with nobody looking at it, and the one somebody may be typing at.
//!
//! Nothing here changes the settings of a terminal.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags};
use rustix::io::FdFlags;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use std::ffi::OsString;
use std::io::{self, BufRead};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A pseudoterminal. Whoever has it as controlling terminal is hung up when this is dropped, as by a closed window.
#[derive(Debug)]
pub struct Pseudoterminal {
    _window: OwnedFd,
    device: PathBuf,
}

impl Pseudoterminal {
    /// Opens one. It does not become the terminal of this process.
    pub fn open() -> io::Result<Self> {
        let window = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY)?;
        rustix::io::fcntl_setfd(&window, FdFlags::CLOEXEC)?;
        grantpt(&window)?;
        unlockpt(&window)?;
        let name = ptsname(&window, Vec::new())?.into_bytes();
        Ok(Self { _window: window, device: OsString::from_vec(name).into() })
    }

    /// The device its programs open.
    pub fn device(&self) -> &Path {
        &self.device
    }
}

/// Makes this process the leader of a new session at that terminal, as the shell of a window is. The terminal stays
/// its own for as long as the answer is held.
pub fn lead_session(device: &Path) -> io::Result<OwnedFd> {
    rustix::process::setsid()?;
    let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
    let terminal = rustix::fs::open(device, flags, Mode::empty())?;
    rustix::process::ioctl_tiocsctty(&terminal)?;
    Ok(terminal)
}

/// Waits so long, or until somebody at the terminal of standard input presses Enter. A process in the background is
/// not spoken to, and reading there would stop it.
pub fn pause_or_enter(span: Duration) {
    let stdin = io::stdin();
    let own = rustix::process::getpgrp();
    if !rustix::termios::tcgetpgrp(&stdin).is_ok_and(|group| group == own) {
        return crate::stopwatch::pause(span);
    }
    let timeout = Timespec {
        tv_sec: i64::try_from(span.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: i64::from(span.subsec_nanos()),
    };
    let mut watched = [PollFd::from_borrowed_fd(stdin.as_fd(), PollFlags::IN)];
    if poll(&mut watched, Some(&timeout)).is_ok_and(|ready| ready > 0) {
        // What was typed says only that it was.
        let _ = stdin.lock().read_line(&mut String::new());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_of_ones_own_has_a_device_that_is_gone_with_it() {
        let terminal = Pseudoterminal::open().unwrap();
        let device = terminal.device().to_owned();
        assert!(device.exists(), "{}", device.display());
        drop(terminal);
        assert!(std::fs::File::open(&device).is_err(), "{}", device.display());
    }
}
