//! A line of shell that is run beside everything else: nobody waits for it, nothing of ours depends on it, and it ends in
//! time.
//!
//! Our binary is started a second time to leave the caller's session at once, and a third time to stay with the line. So
//! whoever calls has no child that it would have to wait for, and the line has nothing of the caller's but its standard
//! input, which was written before it began.

use crate::files;
use crate::stopwatch::{Stopwatch, pause};
use crate::system;
use rustix::process::{Pid, Signal, kill_process_group, setsid};
use std::ffi::OsString;
use std::io::{self, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// The first words of the two starts. They are between us and ourselves and in no help.
const LEAVE: &str = "__aside";
const STAY: &str = "__aside-stay";
/// How often is looked whether the line is over.
const LOOK_MS: u64 = 20;
/// Where a line runs, so that it means the same whoever is the first to have something to tell.
const DIRECTORY: &str = "/";

/// What to run.
#[derive(Clone, Debug)]
pub struct Aside {
    /// The line.
    pub line: String,
    /// What it reads. It has to fit a pipe.
    pub input: String,
    /// Variables that it does not get.
    pub without: Vec<&'static str>,
    /// How long it may take.
    pub ms_max: u64,
    /// Where it is noted how it ended.
    pub note: PathBuf,
}

/// Starts it, and does not wait for it.
pub fn run_aside(aside: &Aside) -> io::Result<()> {
    let mut command = start(LEAVE, &[aside.ms_max.to_string().into(), aside.note.clone().into()])?;
    for name in &aside.without {
        command.env_remove(name);
    }
    let mut child = command.arg(&aside.line).stdin(Stdio::piped()).spawn()?;
    let written = child.stdin.take().map_or(Ok(()), |mut pipe| pipe.write_all(aside.input.as_bytes()));
    child.wait()?;
    written
}

/// The other two starts: what the process does whose arguments these are; `None` if it is none of them.
pub fn play_aside(arguments: &[OsString]) -> Option<u8> {
    let [_, part, words @ ..] = arguments else { return None };
    let played = match part.to_str() {
        Some(LEAVE) => leave(words),
        Some(STAY) => stay(words),
        _ => return None,
    };
    Some(u8::from(played.is_err()))
}

fn start(part: &str, words: &[OsString]) -> io::Result<Command> {
    let mut command = Command::new(system::own_binary()?);
    command.arg0("clearway").arg(part).args(words).current_dir(DIRECTORY);
    command.stdout(Stdio::null()).stderr(Stdio::null());
    Ok(command)
}

fn leave(words: &[OsString]) -> io::Result<()> {
    setsid()?;
    start(STAY, words)?.spawn().map(drop)
}

fn stay(words: &[OsString]) -> io::Result<()> {
    let [ms_max, note, line] = words else { return Err(io::ErrorKind::InvalidInput.into()) };
    let ms_max = ms_max.to_str().and_then(|ms| ms.parse().ok()).ok_or(io::ErrorKind::InvalidInput)?;
    let ended = run(line, ms_max).unwrap_or_else(|error| error.to_string());
    // It is for whoever asks why nothing arrived; where it cannot be kept, nobody is kept from anything.
    files::write_atomic(Path::new(note), (ended + "\n").as_bytes()).map_err(io::Error::other)
}

/// Runs the line, and tells how it ended.
fn run(line: &OsString, ms_max: u64) -> io::Result<String> {
    let mut shell = Command::new("/bin/sh");
    shell.arg("-c").arg(line).process_group(0).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = shell.spawn()?;
    let watch = Stopwatch::start();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(if status.success() { String::new() } else { status.to_string() });
        }
        if watch.elapsed_ms() >= ms_max {
            end(&mut child);
            return Ok(format!("it was still running after {} s and was ended", ms_max / 1_000));
        }
        pause(Duration::from_millis(LOOK_MS));
    }
}

/// Ends it with everything that it started and that stayed with it.
fn end(child: &mut Child) {
    if let Some(group) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
        let _ = kill_process_group(group, Signal::KILL);
    }
    let _ = child.wait();
}
