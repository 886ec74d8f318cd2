//! The one who stays behind: a process that waits until its demonstration has ended, even by a signal, and with it
//! everybody who could still write, and removes what they left. Where it is killed as well, the next demonstration or
//! `doctor --repair` does.

use super::child::end;
use clearway_platform::files;
use clearway_platform::stopwatch::pause;
use std::ffi::OsString;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// What the process is called.
pub(super) const PART: &str = "janitor";

/// A dying process may hold its directory for a moment: how often to try, and how long between.
const TRIES_MAX: usize = 100;
const TRY_MS: u64 = 50;

/// The janitor as the demonstration sees it.
pub(super) struct Janitor(Child);

impl Janitor {
    /// Starts it, out of reach of a Ctrl-C at the terminal.
    pub(super) fn start(binary: &Path, place: &Path) -> io::Result<Self> {
        let mut command = Command::new(binary);
        command.args([super::PART, PART]).arg(place).process_group(0);
        command.current_dir("/").stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        Ok(Self(command.spawn()?))
    }

    /// The line that it waits at. Whoever has it as standard input, which is never read, is waited for as well.
    pub(super) fn line(&self) -> Stdio {
        let line = self.0.stdin.as_ref().and_then(|line| line.as_fd().try_clone_to_owned().ok());
        line.map_or_else(Stdio::null, Stdio::from)
    }

    /// There is nothing to remove.
    pub(super) fn dismiss(&mut self) {
        end(&mut self.0);
    }
}

impl Drop for Janitor {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        let _ = self.0.wait();
    }
}

/// What the process does. Whatever it is told, it removes only what is known to be a leftover.
pub(super) fn play(words: &[OsString]) -> io::Result<()> {
    let place = Path::new(words.first().ok_or(io::ErrorKind::InvalidInput)?);
    io::copy(&mut io::stdin().lock(), &mut io::sink())?;
    for _ in 0..TRIES_MAX {
        if !place.exists() {
            return Ok(());
        }
        if files::leftover_directories().iter().any(|leftover| leftover == place) {
            let _ = files::remove_leftover(place);
        }
        pause(Duration::from_millis(TRY_MS));
    }
    Err(io::ErrorKind::DirectoryNotEmpty.into())
}
