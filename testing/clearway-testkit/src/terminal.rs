//! A terminal of a test's own, with nobody looking at it.

use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A pseudoterminal. Whoever has it as controlling terminal is hung up when this is dropped, as by a closed window.
#[derive(Debug)]
pub struct Terminal {
    window: OwnedFd,
    device: PathBuf,
}

impl Terminal {
    /// Opens one. It does not become the terminal of the test itself.
    ///
    /// # Panics
    /// If the system has none to give.
    pub fn open() -> Self {
        use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
        let window = openpt(flags).expect("a pseudoterminal");
        grantpt(&window).and_then(|()| unlockpt(&window)).expect("its other end");
        let name = ptsname(&window, Vec::new()).expect("its name").into_bytes();
        Self { window, device: std::ffi::OsString::from_vec(name).into() }
    }

    /// The device, for scripts that take it with `setsid --ctty`.
    pub fn device(&self) -> &Path {
        &self.device
    }

    /// Types the key that interrupts whoever is in the foreground, and waits until the terminal has done so.
    ///
    /// # Panics
    /// If the terminal takes no keys.
    pub fn interrupt(&self) {
        rustix::io::write(&self.window, b"\x03").expect("the terminal takes a key");
        let mut shown = Vec::new();
        // The terminal shows the key after it has sent the signal.
        while !shown.ends_with(b"^C") {
            let mut next = [0];
            assert_eq!(rustix::io::read(&self.window, &mut next), Ok(1), "the terminal shows the key");
            shown.extend(next);
        }
    }

    /// Types a text, for whoever reads next.
    ///
    /// # Panics
    /// If the terminal takes no keys.
    pub fn type_in(&self, text: &str) {
        let typed = rustix::io::write(&self.window, text.as_bytes()).expect("the terminal takes keys");
        assert_eq!(typed, text.len());
    }

    /// Makes the command, which must be one of `setsid --ctty`, the leader of a session at this terminal. It keeps
    /// its process id.
    ///
    /// # Panics
    /// If the device cannot be opened.
    pub fn seat(&self, mut command: Command) -> Command {
        command.stdin(self.end());
        command
    }

    /// Lets the command read from this terminal and complain to it, without making it its controlling terminal.
    ///
    /// # Panics
    /// If the device cannot be opened.
    pub fn attach(&self, command: &mut Command) {
        command.stdin(self.end()).stderr(self.end());
    }

    /// Where a command writes that is to believe that somebody watches it.
    ///
    /// # Panics
    /// If the device cannot be opened.
    pub fn end(&self) -> Stdio {
        let no_ctty = rustix::fs::OFlags::NOCTTY.bits().cast_signed();
        let device =
            std::fs::OpenOptions::new().read(true).write(true).custom_flags(no_ctty).open(&self.device);
        Stdio::from(device.expect("the device opens"))
    }
}
