//! Other processes: what state they are in, which locks they hold, and signals to them.

use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Ends a process without warning.
///
/// # Panics
/// If there is no such process.
pub fn kill(pid: u32) {
    send(pid, Signal::KILL);
}

/// Ends every process of a group without warning.
///
/// # Panics
/// If there is no such group.
pub fn kill_group(leader: u32) {
    kill_process_group(number(leader), Signal::KILL).unwrap_or_else(|error| panic!("{leader}: {error}"));
}

/// Makes a process stand still.
///
/// # Panics
/// If there is no such process.
pub fn stop(pid: u32) {
    send(pid, Signal::STOP);
}

/// Lets a process that stands still go on.
///
/// # Panics
/// If there is no such process.
pub fn go_on(pid: u32) {
    send(pid, Signal::CONT);
}

fn send(pid: u32, signal: Signal) {
    kill_process(number(pid), signal).unwrap_or_else(|error| panic!("{signal:?} to {pid}: {error}"));
}

fn number(pid: u32) -> Pid {
    i32::try_from(pid).ok().and_then(Pid::from_raw).expect("a process id")
}

/// The letter of a process's state.
pub fn state(pid: u32) -> Option<char> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit_once(") ")?.1.chars().next()
}

/// Whether a process keeps others out of a file by a lock that shows beside the file it has open.
pub fn holds_lock(pid: u32, file: &Path) -> bool {
    let Ok(inode) = std::fs::metadata(file).map(|metadata| metadata.ino()) else { return false };
    let held = |line: &str| {
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        let is_file = words.iter().any(|word| word.ends_with(&format!(":{inode}")));
        let is_exclusive = match words.get(2) {
            Some(&"POSIX") => words.get(4) == Some(&"WRITE"),
            Some(&kind) => matches!(kind, "FLOCK" | "OFDLCK"),
            None => false,
        };
        words.first() == Some(&"lock:") && is_exclusive && is_file
    };
    let opened = std::fs::read_dir(format!("/proc/{pid}/fdinfo")).into_iter().flatten().flatten();
    let mut described = opened.filter_map(|opened| std::fs::read_to_string(opened.path()).ok());
    described.any(|text| text.lines().any(held))
}
