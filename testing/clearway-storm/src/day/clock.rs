//! A clock that the day moves. The binary has none for tests: it reads the machine's, and takes another time namespace
//! for another clock. So every call of the day runs in a time namespace that is ahead by what has passed, and is shown
//! the one name of the first.

use crate::stage::Outcome;
use clearway_testkit::Home;
use clearway_testkit::faults::behind;
use clearway_testkit::namespace::Namespace;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

/// The name of the time namespace that every machine starts with.
const FIRST: &str = "time:[4026531834]";
/// Runs what follows it as one that reads the machine's own clock.
pub(super) const SHOWN: &str = r#"mount --bind "$0" /proc/$$/ns && exec "$@""#;

/// The time of the day, in seconds since it began.
#[derive(Debug)]
pub(super) struct Clock {
    machine: Namespace,
    /// What processes are shown as their namespaces.
    pub(super) names: PathBuf,
    /// What enters a time namespace. It is called like a shell, since only shells may stand between a client and its
    /// hooks.
    pub(super) entrance: PathBuf,
    begun: Instant,
    ahead_s: u64,
}

impl Clock {
    /// A day that begins now.
    pub(super) fn new(home: &Home) -> Outcome<Self> {
        let directory = home.directory("clock");
        let (names, entrance) = (directory.join("ns"), directory.join("sh"));
        show_names(&names).map_err(|error| format!("the names of namespaces: {error}"))?;
        symlink("/usr/bin/unshare", &entrance).map_err(|error| format!("unshare: {error}"))?;
        Ok(Self { machine: Namespace::of_mounts(), names, entrance, begun: Instant::now(), ahead_s: 0 })
    }

    /// Goes on to a second of the day. Time never goes back, also if more of it passed than was planned.
    pub(super) fn move_to(&mut self, second: u64) {
        self.ahead_s = self.ahead_s.max(second.saturating_sub(self.begun.elapsed().as_secs()));
    }

    /// How far the day is ahead of the machine.
    pub(super) fn ahead_s(&self) -> u64 {
        self.ahead_s
    }

    /// A process that lives where the names of namespaces can be changed, at the machine's time.
    pub(super) fn enter(&self, command: Command) -> Command {
        self.machine.enter(command)
    }

    /// A command at the time of the day.
    pub(super) fn now(&self, command: Command) -> Command {
        let ahead = self.ahead_s.to_string();
        let [entrance, names] = [&self.entrance, &self.names].map(|path| path.display().to_string());
        let runner = [&entrance, "--time", "--fork", "--monotonic", &ahead, "/bin/sh", "-c", SHOWN, &names];
        self.enter(behind(command, &runner))
    }
}

fn show_names(names: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(names)?;
    for entry in std::fs::read_dir("/proc/self/ns")? {
        let entry = entry?;
        let target = match entry.file_name() {
            name if name == "time" => PathBuf::from(FIRST),
            _ => std::fs::read_link(entry.path())?,
        };
        symlink(target, names.join(entry.file_name()))?;
    }
    Ok(())
}
