//! Where macOS keeps the same facts. **Untested**: it compiles, and no test of ours runs it.
//!
//! Without `libc` the sysctl interface is out of reach, so the system's own tools are asked; that
//! is slow and acceptable for a platform we promise nothing on.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::process::stat::Stat;
use rustix::process::Signal;
use signal_hook::iterator::exfiltrator::SignalOnly;

/// Named in the error when the boot id is missing.
pub(crate) const BOOT_ID_PLACE: &str = "sysctl kern.bootsessionuuid";

/// The boot session's UUID: unlike `kern.boottime` it does not move when the wall clock is set.
pub(crate) fn boot_id() -> io::Result<String> {
    answer("/usr/sbin/sysctl", &["-n", "kern.bootsessionuuid"])
}

/// macOS has no time namespaces.
pub(crate) fn time_namespace() -> Option<String> {
    None
}

/// macOS has one pid namespace; a constant makes identities comparable.
pub(crate) fn pid_namespace() -> Option<String> {
    Some("-".to_owned())
}

/// The hardware's UUID, else the host name.
pub(crate) fn host() -> Option<String> {
    if let Ok(uuid) = answer("/usr/sbin/sysctl", &["-n", "kern.uuid"]) {
        return Some(format!("machine:{uuid}"));
    }
    let name = rustix::system::uname().nodename().to_string_lossy().into_owned();
    (!name.is_empty()).then(|| format!("host:{name}"))
}

/// Reads one process; an error of kind `NotFound` means there is no such pid.
pub(crate) fn read_stat(pid: u32) -> io::Result<Stat> {
    let columns = "pid=,ppid=,state=,tty=,lstart=,comm=";
    let line = answer("/bin/ps", &["-o", columns, "-p", &pid.to_string()])?;
    parse_line(&line).ok_or_else(|| io::ErrorKind::InvalidData.into())
}

/// Reads this process.
pub(crate) fn read_own_stat() -> io::Result<Stat> {
    read_stat(std::process::id())
}

/// The pid that the process table gives this process.
pub(crate) fn own_pid_shown() -> Option<u32> {
    read_own_stat().ok().map(|stat| stat.pid)
}

/// Not offered without a private interface.
pub(crate) fn initial_environment(_pid: u32) -> Option<Vec<OsString>> {
    None
}

/// Not asked for here.
pub(crate) fn terminal_of(_pid: u32) -> Option<String> {
    None
}

/// Not offered without a private interface.
pub(crate) fn directory_of(_pid: u32) -> Option<PathBuf> {
    None
}

/// Not asked for here.
pub(crate) fn process_ids() -> Vec<u32> {
    Vec::new()
}

/// Not asked for here.
pub(crate) fn arguments_of(_pid: u32) -> Option<Vec<String>> {
    None
}

/// The binary at the path this one was started from.
pub(crate) fn own_binary() -> io::Result<PathBuf> {
    std::env::current_exe()
}

/// macOS has no such request.
pub(crate) fn die_with_parent() -> io::Result<()> {
    Ok(())
}

/// Not to be learnt here without `libc`.
pub(crate) fn ignored_signals() -> u64 {
    0
}

/// What is learnt of a signal: nothing but that it came.
pub(crate) type SignalFacts = SignalOnly;

/// The number of a signal, and whether a process sent it, which is a guess: those that keys make come from a terminal.
pub(crate) fn was_sent(signal: &i32) -> (i32, bool) {
    let by_keys = [Signal::HUP, Signal::INT, Signal::QUIT, Signal::TSTP, Signal::WINCH];
    (*signal, !by_keys.iter().any(|known| known.as_raw() == *signal))
}

/// Runs a tool of the system with a fixed locale and time zone, so its output can be read.
fn answer(program: &str, arguments: &[&str]) -> io::Result<String> {
    let output = Command::new(program)
        .args(arguments)
        .env_clear()
        .env("LC_ALL", "C")
        .env("TZ", "UTC")
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()?;
    let text = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    if !output.status.success() || text.is_empty() {
        return Err(io::ErrorKind::NotFound.into());
    }
    Ok(text)
}

/// Reads `412 1 Ss ttys001 Sat Nov 15 21:08:03 2025 /bin/zsh`.
fn parse_line(line: &str) -> Option<Stat> {
    let mut words = line.split_whitespace();
    let pid = words.next()?.parse().ok()?;
    let parent = words.next()?.parse().ok()?;
    let state = words.next()?.chars().next()?;
    let at_terminal = !words.next()?.starts_with('?');
    let (_weekday, month, day, time, year) =
        (words.next()?, words.next()?, words.next()?, words.next()?, words.next()?);
    let start_ticks = start_number(month, day, time, year)?;
    let command = words.collect::<Vec<_>>().join(" ");
    let session = rustix::process::Pid::from_raw(i32::try_from(pid).ok()?)
        .and_then(|known| rustix::process::getsid(Some(known)).ok())
        .and_then(|leader| u32::try_from(leader.as_raw_nonzero().get()).ok())
        .unwrap_or(0);
    Some(Stat { pid, command, state, parent, session, at_terminal, threads: 1, start_ticks })
}

/// Packs a start time into one ordered number; only equality and order are ever asked of it.
fn start_number(month: &str, day: &str, time: &str, year: &str) -> Option<u64> {
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let month = u64::try_from(MONTHS.iter().position(|name| *name == month)?).ok()?;
    let day: u64 = day.parse().ok()?;
    let year: u64 = year.parse().ok()?;
    let mut parts = time.split(':').map(str::parse::<u64>);
    let (hour, minute, second) = (parts.next()?.ok()?, parts.next()?.ok()?, parts.next()?.ok()?);
    let days = (year.checked_mul(12)?.checked_add(month)?).checked_mul(31)?.checked_add(day)?;
    days.checked_mul(86_400)?.checked_add(hour * 3_600 + minute * 60 + second)
}
