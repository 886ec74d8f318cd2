//! Faults struck into a real process at an exact system call, by way of `strace`.
//!
//! A command is run once to list the calls by which it can change something. Each of them is a point where the
//! next run, on a fresh copy of the same state, can be killed, stopped, or told that the call failed. Nothing here
//! judges what came of it.

use std::path::Path;
use std::process::{Command, Output};

/// Calls that can change a file, a directory or what a reader of standard output was told. Those that a processor
/// does not have are passed over by the question mark. `exit_group` is the point after everything.
const CALLS: [&str; 24] = [
    "pwrite64",
    "pwritev",
    "pwritev2",
    "write",
    "writev",
    "ftruncate",
    "truncate",
    "fallocate",
    "fdatasync",
    "fsync",
    "openat",
    "mkdir",
    "mkdirat",
    "rename",
    "renameat",
    "renameat2",
    "unlink",
    "unlinkat",
    "rmdir",
    "link",
    "linkat",
    "chmod",
    "fchmod",
    "exit_group",
];

/// One call of a run, by its name and its place among the calls of that name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Point {
    /// The call.
    pub call: String,
    /// Counted from 1.
    pub nth: usize,
    /// The call as the tracer showed it, for messages.
    pub shown: String,
}

impl Point {
    /// Whether the call tells the outcome, rather than making it.
    pub fn is_reply(&self) -> bool {
        self.call.starts_with("write") && (self.shown.contains("(1<") || self.shown.contains("(2<"))
    }
}

/// What happens to the process at a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// It dies before the call does anything.
    Kill,
    /// The call fails with this error and does nothing.
    Error(&'static str),
    /// The call and every later one of its name fail with this error.
    ErrorFromHereOn(&'static str),
}

/// Runs the command and lists the points where it can change something, in order.
///
/// # Panics
/// If `strace` cannot be run.
pub fn points(command: Command, log: &Path) -> (Vec<Point>, Output) {
    let trace = format!("trace={}", CALLS.map(|call| format!("?{call}")).join(","));
    let log_text = log.display().to_string();
    let mut traced = behind(
        command,
        &["strace", "-f", "--seccomp-bpf", "-qq", "-y", "-s", "0", "-o", &log_text, "-e", &trace],
    );
    let output = traced.output().expect("strace runs: these tests need it");
    let text = std::fs::read_to_string(log).expect("strace wrote its log");
    (points_in(&text), output)
}

/// The command with a fault struck into it.
pub fn struck(command: Command, point: &Point, fault: Fault) -> Command {
    let Point { call, nth, .. } = point;
    let inject = match fault {
        Fault::Kill => format!("inject={call}:signal=KILL:when={nth}"),
        Fault::Error(name) => format!("inject={call}:error={name}:when={nth}"),
        Fault::ErrorFromHereOn(name) => format!("inject={call}:error={name}:when={nth}+"),
    };
    let trace = format!("trace={call}");
    // Not `--seccomp-bpf`: strace 6.1 then delivers no injected signal.
    let quiet = ["strace", "-f", "-qq", "-o", "/dev/null", "-e", "signal=none"];
    behind(command, &[quiet.as_slice(), &["-e", &trace, "-e", &inject]].concat())
}

/// The command made to stand still right after a call. [`stopped`] tells from the log when it does.
pub fn stopping(command: Command, point: &Point, log: &Path) -> Command {
    let Point { call, nth, .. } = point;
    let (trace, inject) = (format!("trace={call}"), format!("inject={call}:signal=STOP:when={nth}"));
    let log = log.display().to_string();
    behind(command, &["strace", "-f", "-qq", "-o", &log, "-e", &trace, "-e", &inject])
}

/// The process that stands still by now. A traced process looks stopped at every call, so only the tracer knows.
pub fn stopped(log: &Path) -> Option<u32> {
    let text = std::fs::read_to_string(log).ok()?;
    let line = text.lines().find(|line| line.contains("--- stopped by SIGSTOP ---"))?;
    line.split_ascii_whitespace().next()?.parse().ok()
}

/// The command told that every file system it asks about is NFS.
pub fn on_network(command: Command) -> Command {
    // The kind is the first word of what `statfs` answers; this is the number of NFS.
    let inject = "inject=?statfs:poke_exit=@arg2=6969000000000000";
    behind(command, &["strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=?statfs", "-e", inject])
}

/// The command run by another one that takes a program and its arguments.
///
/// # Panics
/// If there is no other one.
pub fn behind(command: Command, runner: &[&str]) -> Command {
    let (program, arguments) = runner.split_first().expect("a runner");
    let mut whole = Command::new(program);
    whole.args(arguments).arg(command.get_program()).args(command.get_args()).env_clear();
    whole.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    if let Some(directory) = command.get_current_dir() {
        whole.current_dir(directory);
    }
    whole.stdin(std::process::Stdio::null());
    whole
}

/// How the list of every process of the machine is opened.
const ALL_PROCESSES: &str = "\"/proc\",";

/// Reads `PID call(arguments) = result` lines of the first process. Calls of its children are not its own. Behind a
/// look at every process files are opened as often as there are processes, so an opening there has no number that
/// holds.
fn points_in(log: &str) -> Vec<Point> {
    let mut counts = std::collections::BTreeMap::new();
    let first = log.split_ascii_whitespace().next().unwrap_or_default().to_owned();
    let (mut found, mut is_countable) = (Vec::new(), true);
    for line in log.lines() {
        let Some((pid, shown)) = line.split_once(' ') else { continue };
        let shown = shown.trim_start();
        let Some((call, _)) = shown.split_once('(').filter(|_| pid == first) else { continue };
        if !CALLS.contains(&call) {
            continue;
        }
        let count = counts.entry(call.to_owned()).or_insert(0_usize);
        *count += 1;
        is_countable &= call != "openat" || !shown.contains(ALL_PROCESSES);
        if call != "openat" || (shown.contains("O_CREAT") && is_countable) {
            found.push(Point { call: call.to_owned(), nth: *count, shown: shown.to_owned() });
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn openings_behind_a_look_at_every_process_are_no_points() {
        let log = "\
7  openat(AT_FDCWD</r>, \"/x\", O_RDWR|O_CREAT, 0600) = 3
7  openat(AT_FDCWD</r>, \"/proc\", O_RDONLY|O_DIRECTORY) = 4
7  openat(AT_FDCWD</r>, \"/proc/7/fdinfo\", O_RDONLY) = 5
7  openat(AT_FDCWD</r>, \"/y\", O_RDWR|O_CREAT, 0600) = 3
7  pwrite64(3</y>, \"\"..., 1, 0) = 1
";
        let found = points_in(log);
        let shown: Vec<(&str, usize)> = found.iter().map(|point| (point.call.as_str(), point.nth)).collect();
        assert_eq!(shown, [("openat", 1), ("pwrite64", 1)]);
    }

    #[test]
    fn points_are_counted_by_call_and_opening_to_read_is_none() {
        let log = "\
7  openat(AT_FDCWD, \"/etc\", O_RDONLY) = 3
7  openat(AT_FDCWD, \"/x\", O_RDWR|O_CREAT, 0600) = 3
8  pwrite64(3</x>, \"\"..., 1, 0) = 1
7  pwrite64(3</x>, \"\"..., 1, 0) = 1
7  --- SIGCHLD {} ---
7  write(1<pipe:[1]>, \"\"..., 9) = 9
7  exit_group(0) = ?
";
        let found = points_in(log);
        let shown: Vec<(&str, usize)> = found.iter().map(|point| (point.call.as_str(), point.nth)).collect();
        assert_eq!(shown, [("openat", 2), ("pwrite64", 1), ("write", 1), ("exit_group", 1)]);
        assert_eq!(found.iter().filter(|point| point.is_reply()).count(), 1);
    }
}
