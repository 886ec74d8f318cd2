//! A process and everything it says, standard output and standard error in one.

use std::io::{self, PipeReader, Read};
use std::process::{Child, Command};
use std::thread::{self, JoinHandle};
use std::time::Instant;

/// No command of the demonstration says more.
const OUTPUT_BYTES_MAX: u64 = 1 << 20;

/// Runs a command to its end: its exit code, -1 if a signal ended it, and what it said.
pub(super) fn run(command: Command) -> io::Result<(i32, String)> {
    let (mut child, said) = spawn(command)?;
    let output = listen(said)?;
    Ok((child.wait()?.code().unwrap_or(-1), output))
}

/// A process that somebody goes on to hear of later. It is killed when this is dropped.
pub(super) struct Waiting {
    child: Child,
    listener: Option<JoinHandle<io::Result<(String, Instant)>>>,
}

impl Waiting {
    pub(super) fn start(command: Command) -> io::Result<Self> {
        let (child, said) = spawn(command)?;
        let mut waiting = Self { child, listener: None };
        let listen = move || Ok((listen(said)?, Instant::now()));
        waiting.listener = Some(thread::Builder::new().name("clearway-demo".to_owned()).spawn(listen)?);
        Ok(waiting)
    }

    /// Its exit code, what it said, and when it had said all of it.
    pub(super) fn hear(mut self) -> io::Result<(i32, String, Instant)> {
        let lost = || io::Error::other("its output was lost");
        let heard = self.listener.take().and_then(|listener| listener.join().ok()).ok_or_else(lost)?;
        let (output, ended) = heard?;
        Ok((self.child.wait()?.code().unwrap_or(-1), output, ended))
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        end(&mut self.child);
    }
}

/// Only our own child is ended; one that is gone already has been waited for.
pub(super) fn end(child: &mut Child) {
    let _ = child.kill();
    let _ = child.wait();
}

/// The command is given up here, and with it our end of what it writes to: otherwise reading would never end.
fn spawn(mut command: Command) -> io::Result<(Child, PipeReader)> {
    let (said, saying) = io::pipe()?;
    command.stdout(saying.try_clone()?).stderr(saying);
    Ok((command.spawn()?, said))
}

fn listen(said: PipeReader) -> io::Result<String> {
    let mut bytes = Vec::new();
    said.take(OUTPUT_BYTES_MAX).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
