//! Processes: which one this is, who started it, and whether another one still lives.
//!
//! A pid alone names nobody, because it is used again; a [`ProcessIdentity`] names one process for
//! good. [`liveness`] says `Dead` only on proof. Nothing here sends a signal that does anything.

pub(crate) mod stat;

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use crate::clock::{BootKey, ClockError, boot_key};
use crate::system;
use stat::Stat;

/// Ancestor chains end here even if `/proc` should describe a longer one.
pub const ANCESTORS_MAX: usize = 64;

/// One process, on one machine, in one boot: comparable with one that was stored.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ProcessIdentity {
    /// Machine id or host name; `None` where the machine has neither.
    pub host: Option<String>,
    /// Boot and time namespace: start times are counted within them.
    pub boot: BootKey,
    /// Inode of the pid namespace; the same pid means someone else in another one.
    pub pid_namespace: String,
    /// The process id within that namespace.
    pub pid: u32,
    /// When the process started, in kernel ticks since boot.
    pub start_ticks: u64,
}

/// What can be said about a process that was once seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Liveness {
    /// That very process runs.
    Alive,
    /// It is proven to have ended.
    Dead,
    /// It lives elsewhere, in another boot or namespace, or cannot be looked at.
    Unknown,
}

/// What a process is doing, for telling a user who is in the way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessState {
    /// The process looked at.
    pub pid: u32,
    /// The kernel's letter, such as `R`, `S`, `D`, `T` or `Z`.
    pub letter: char,
    /// The command's short name.
    pub command: String,
}

impl ProcessState {
    /// The state in words; the letter is added where the state is out of the ordinary.
    pub fn words(&self) -> String {
        match self.letter {
            'R' => "running".to_owned(),
            'S' | 'I' => "sleeping".to_owned(),
            'D' | 'U' => format!("waiting for a device ({})", self.letter),
            'T' => "stopped (T)".to_owned(),
            't' => "stopped by a debugger (t)".to_owned(),
            'Z' => "ended, not yet reaped (Z)".to_owned(),
            letter => format!("in state {letter}"),
        }
    }

    /// Whether it stands still until somebody lets it go on.
    pub fn is_stopped(&self) -> bool {
        matches!(self.letter, 'T' | 't')
    }
}

/// Why a process could not be identified.
#[derive(Debug, thiserror::Error)]
pub enum ProcessError {
    /// The process table cannot be read.
    #[error("process {pid} cannot be looked at")]
    Unreadable {
        /// The pid asked for.
        pid: u32,
        /// What the system answered.
        source: io::Error,
    },
    /// `/proc` belongs to another pid namespace, so its pids are not ours.
    #[error("/proc shows another pid namespace: it calls this process {seen}, which is {own}")]
    ForeignProcessTable {
        /// The pid `/proc` gives this process.
        seen: u32,
        /// The pid this process has.
        own: u32,
    },
    /// Without a boot id an identity would not outlive a reboot.
    #[error(transparent)]
    Clock(#[from] ClockError),
}

/// The identity of this process.
pub fn current() -> Result<ProcessIdentity, ProcessError> {
    let own = std::process::id();
    let stat = system::read_own_stat().map_err(|source| ProcessError::Unreadable { pid: own, source })?;
    if stat.pid != own {
        return Err(ProcessError::ForeignProcessTable { seen: stat.pid, own });
    }
    identify(&stat)
}

/// The processes above this one, nearest first, without this one.
pub fn ancestors() -> impl Iterator<Item = ProcessIdentity> {
    chain(system::read_own_stat().ok())
}

/// The processes above another one, nearest first; `None` if it is not one that can be seen from here to live.
pub fn ancestors_of(process: &ProcessIdentity) -> Option<Vec<ProcessIdentity>> {
    let is_seen = || liveness(process) == Liveness::Alive;
    is_seen().then(|| chain(system::read_stat(process.pid).ok()).collect())
}

/// The same of this one, each with the short name of its command; nothing is looked at before it is asked for.
pub fn commands_above() -> impl Iterator<Item = (ProcessIdentity, String)> {
    let above = std::iter::successors(system::read_own_stat().ok(), parent_of).skip(1);
    above.take(ANCESTORS_MAX).map_while(|stat| Some((identify(&stat).ok()?, stat.command)))
}

/// The words behind the nearest command of this name above, if they can be looked at.
pub fn words_above(name: &str) -> Option<Vec<String>> {
    let (process, _) = commands_above().find(|(_, command)| command == name)?;
    Some(system::arguments_of(process.pid)?.into_iter().skip(1).collect())
}

/// The leader of this process's session, if it has a controlling terminal: usually the shell of a window.
///
/// `None` if there is no terminal, or if the leader has ended or lives in an outer pid namespace. A session without
/// a terminal is often a single command of some program, and its leader says nothing about who acts.
pub fn terminal_leader() -> Option<ProcessIdentity> {
    terminal_leader_of(&system::read_own_stat().ok()?)
}

/// Whether that very process still lives, as far as can be proven from here.
///
/// `Dead` needs the same host, boot and pid namespace as ours, and either no such pid or another
/// start time; a process that ended and waits to be reaped is dead as well.
pub fn liveness(process: &ProcessIdentity) -> Liveness {
    let Some(place) = place().ok().filter(|place| place.holds(process)) else {
        return Liveness::Unknown;
    };
    if !place.process_table_is_ours {
        return Liveness::Unknown;
    }
    match system::read_stat(process.pid) {
        Ok(stat) => judge(process, &stat),
        Err(error) if error.kind() == io::ErrorKind::NotFound => judge_unseen(process.pid),
        Err(_) => Liveness::Unknown,
    }
}

/// What a process is doing right now; `None` if it is not there to be seen.
pub fn state_of(pid: u32) -> Option<ProcessState> {
    let stat = system::read_stat(pid).ok()?;
    Some(ProcessState { pid: stat.pid, letter: stat.state, command: stat.command })
}

/// A process that runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Running {
    /// Which.
    pub process: ProcessIdentity,
    /// The short name of its command.
    pub command: String,
    /// The short name of its first argument that is no flag: what an interpreter runs.
    pub script: Option<String>,
}

/// The processes above this one that can be looked at, nearest first.
pub fn running_above() -> impl Iterator<Item = Running> {
    ancestors().filter_map(|process| running(process.pid))
}

/// The words behind each process of this name that works in this very directory, but for those above this one and below it.
pub fn words_beside(name: &str, directory: &Path) -> Vec<Vec<String>> {
    let is_there = |pid: &u32| system::directory_of(*pid).is_some_and(|found| found == directory);
    let named =
        |pid: u32| system::read_stat(pid).ok().filter(|stat| stat.command == name && !stat.has_ended());
    let mut found: Vec<Stat> = system::process_ids().into_iter().filter(is_there).filter_map(named).collect();
    if !found.is_empty() {
        let own = std::process::id();
        let above: Vec<u32> = ancestors().map(|process| process.pid).collect();
        let is_below = |stat: &Stat| chain(Some(stat.clone())).any(|process| process.pid == own);
        found.retain(|stat| !above.contains(&stat.pid) && !is_below(stat));
    }
    let words = |stat: Stat| Some(system::arguments_of(stat.pid)?.into_iter().skip(1).collect());
    found.into_iter().filter_map(words).collect()
}

/// The processes of ours that work in a directory or below it.
pub fn running_in(root: &Path) -> Vec<Running> {
    let is_inside = |pid: &u32| system::directory_of(*pid).is_some_and(|found| found.starts_with(root));
    system::process_ids().into_iter().filter(is_inside).filter_map(running).collect()
}

fn running(pid: u32) -> Option<Running> {
    let stat = system::read_stat(pid).ok().filter(|stat| !stat.has_ended())?;
    let script = system::arguments_of(pid)?.into_iter().skip(1).find(|word| !word.starts_with('-'));
    let script = script.and_then(|script| script.rsplit('/').next().map(str::to_owned));
    Some(Running { process: identify(&stat).ok()?, command: stat.command, script })
}

/// Where a process is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessPlace {
    /// The terminal it reads from or writes to.
    pub terminal: Option<String>,
    /// The pane of tmux that it was started in.
    pub tmux_pane: Option<String>,
    /// The directory it works in.
    pub directory: Option<PathBuf>,
}

/// Where that very process is; `None` unless it is known to live.
pub fn place_of(process: &ProcessIdentity) -> Option<ProcessPlace> {
    if liveness(process) != Liveness::Alive {
        return None;
    }
    let variables = initial_environment(process.pid).unwrap_or_default();
    let pane = variables.iter().find_map(|entry| entry.to_str()?.strip_prefix("TMUX_PANE="));
    Some(ProcessPlace {
        terminal: system::terminal_of(process.pid),
        tmux_pane: pane.filter(|pane| !pane.is_empty()).map(str::to_owned),
        directory: system::directory_of(process.pid),
    })
}

/// The variables a process was started with, as `NAME=value`; what it set later does not show. `None` if we may not
/// look.
pub fn initial_environment(pid: u32) -> Option<Vec<OsString>> {
    system::initial_environment(pid)
}

/// Where this process lives; it cannot change while it runs, so it is read once.
#[derive(Debug)]
struct Place {
    host: Option<String>,
    boot: BootKey,
    pid_namespace: String,
    process_table_is_ours: bool,
}

impl Place {
    /// Whether the process would be found in our own process table.
    fn holds(&self, process: &ProcessIdentity) -> bool {
        self.host.is_some()
            && self.host == process.host
            && self.boot == process.boot
            && self.pid_namespace == process.pid_namespace
    }
}

fn place() -> Result<&'static Place, ProcessError> {
    static PLACE: OnceLock<Place> = OnceLock::new();
    if let Some(place) = PLACE.get() {
        return Ok(place);
    }
    let own = std::process::id();
    let process_table_is_ours = system::own_pid_shown() == Some(own);
    let missing = || ProcessError::Unreadable { pid: own, source: io::ErrorKind::NotFound.into() };
    let pid_namespace = system::pid_namespace().ok_or_else(missing)?;
    let place = Place { host: system::host(), boot: boot_key()?, pid_namespace, process_table_is_ours };
    Ok(PLACE.get_or_init(|| place))
}

fn identify(stat: &Stat) -> Result<ProcessIdentity, ProcessError> {
    let place = place()?;
    Ok(ProcessIdentity {
        host: place.host.clone(),
        boot: place.boot.clone(),
        pid_namespace: place.pid_namespace.clone(),
        pid: stat.pid,
        start_ticks: stat.start_ticks,
    })
}

fn chain(start: Option<Stat>) -> impl Iterator<Item = ProcessIdentity> {
    std::iter::successors(start, parent_of).skip(1).take(ANCESTORS_MAX).map_while(|stat| identify(&stat).ok())
}

/// A parent cannot be younger than its child: such a one took over the pid of a parent that ended.
fn parent_of(child: &Stat) -> Option<Stat> {
    if child.parent == 0 {
        return None;
    }
    let parent = system::read_stat(child.parent).ok()?;
    (parent.start_ticks <= child.start_ticks).then_some(parent)
}

/// A session outlives its leader, whose pid may then belong to someone who leads nothing or came
/// later.
fn leader_of(member: &Stat) -> Option<Stat> {
    let leader = system::read_stat(member.session).ok()?;
    (leader.session == leader.pid && leader.start_ticks <= member.start_ticks).then_some(leader)
}

fn terminal_leader_of(member: &Stat) -> Option<ProcessIdentity> {
    let leader = leader_of(member).filter(|leader| leader.at_terminal)?;
    identify(&leader).ok()
}

fn judge(process: &ProcessIdentity, stat: &Stat) -> Liveness {
    if stat.start_ticks != process.start_ticks || stat.has_ended() { Liveness::Dead } else { Liveness::Alive }
}

/// `/proc` may hide the processes of other users, so its silence is confirmed by a null signal.
fn judge_unseen(pid: u32) -> Liveness {
    let pid = i32::try_from(pid).ok().and_then(rustix::process::Pid::from_raw);
    match pid.map(rustix::process::test_kill_process) {
        Some(Err(rustix::io::Errno::SRCH)) => Liveness::Dead,
        _ => Liveness::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::process::{Child, Command, Stdio};

    /// Repeats one line, then waits for another.
    const REPEAT_AND_WAIT: &str = "read line; echo $line; read line";

    /// A child that lives until its standard input is closed, which even a failing test does.
    struct Waiting(Child);

    impl Waiting {
        /// The command must repeat the first line it is given, which shows that it is up.
        fn start(command: &mut Command) -> Self {
            let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
            child.stdin.as_mut().unwrap().write_all(b"up\n").unwrap();
            let mut repeated = [0; 3];
            child.stdout.as_mut().unwrap().read_exact(&mut repeated).unwrap();
            Self(child)
        }

        fn cat() -> Self {
            Self::start(&mut Command::new("cat"))
        }

        /// Ends the child and leaves it to be reaped.
        fn end(&mut self) {
            drop(self.0.stdin.take());
            while state_of(self.0.id()).is_none_or(|state| state.letter != 'Z') {
                std::thread::yield_now();
            }
        }
    }

    impl Drop for Waiting {
        fn drop(&mut self) {
            drop(self.0.stdin.take());
            let _ = self.0.wait();
        }
    }

    #[test]
    fn this_process_is_alive_and_the_same_by_pid() {
        let own = current().unwrap();
        assert_eq!(own.pid, std::process::id());
        assert_eq!(identity_of(own.pid).unwrap(), own);
        assert_eq!(liveness(&own), Liveness::Alive);
    }

    #[test]
    fn a_process_is_dead_before_and_after_it_is_reaped() {
        let mut child = Waiting::cat();
        let identity = identity_of(child.0.id()).unwrap();
        assert_eq!(liveness(&identity), Liveness::Alive);
        child.end();
        assert_eq!(liveness(&identity), Liveness::Dead);
        drop(child);
        assert_eq!(liveness(&identity), Liveness::Dead);
        assert!(matches!(identity_of(identity.pid), Err(ProcessError::Unreadable { .. })));
    }

    #[test]
    fn a_pid_used_again_does_not_bring_a_process_back() {
        let own = current().unwrap();
        let before = ProcessIdentity { start_ticks: own.start_ticks - 1, ..own };
        assert_eq!(liveness(&before), Liveness::Dead);
    }

    #[test]
    fn what_lives_elsewhere_is_never_called_dead() {
        let own = current().unwrap();
        let gone = ProcessIdentity { pid: u32::MAX >> 2, start_ticks: 1, ..own.clone() };
        assert_eq!(liveness(&gone), Liveness::Dead);
        let elsewhere = [
            ProcessIdentity { host: Some("machine:other".to_owned()), ..gone.clone() },
            ProcessIdentity { host: None, ..gone.clone() },
            ProcessIdentity { boot: BootKey::new(own.boot.boot_id(), Some("1")), ..gone.clone() },
            ProcessIdentity { boot: BootKey::new("earlier", None), ..gone.clone() },
            ProcessIdentity { pid_namespace: "1".to_owned(), ..gone.clone() },
        ];
        for process in elsewhere {
            assert_eq!(liveness(&process), Liveness::Unknown, "{process:?}");
        }
    }

    #[test]
    fn a_pid_no_system_hands_out_is_unknown_and_not_dead() {
        let own = current().unwrap();
        for pid in [0, u32::MAX] {
            assert_eq!(liveness(&ProcessIdentity { pid, ..own.clone() }), Liveness::Unknown);
        }
    }

    fn identity_of(pid: u32) -> Result<ProcessIdentity, ProcessError> {
        identify(&system::read_stat(pid).map_err(|source| ProcessError::Unreadable { pid, source })?)
    }

    #[test]
    fn ancestors_start_with_the_parent_and_end() {
        let child = Waiting::cat();
        let above: Vec<ProcessIdentity> = chain(system::read_stat(child.0.id()).ok()).collect();
        assert_eq!(above.first(), Some(&current().unwrap()));
        assert!(above.len() <= ANCESTORS_MAX);
        assert_eq!(above.get(1..).unwrap(), ancestors().collect::<Vec<_>>());
        assert_eq!(chain(None).count(), 0);
    }

    #[test]
    fn a_younger_process_under_the_parents_pid_is_not_the_parent() {
        let own = system::read_own_stat().unwrap();
        let older = Stat { parent: own.pid, start_ticks: own.start_ticks - 1, ..own.clone() };
        assert_eq!(parent_of(&older), None);
        let younger = Stat { parent: own.pid, start_ticks: own.start_ticks + 1, ..own };
        assert!(parent_of(&younger).is_some());
    }

    #[test]
    fn the_session_leader_is_found_and_not_confused_with_a_later_process() {
        let leader = Waiting::start(Command::new("setsid").args(["sh", "-c", REPEAT_AND_WAIT]));
        let stat = system::read_stat(leader.0.id()).unwrap();
        let younger = Stat { pid: 1, start_ticks: stat.start_ticks + 1, ..stat.clone() };
        assert_eq!(leader_of(&younger).map(|found| found.pid), Some(stat.pid));
        let older = Stat { start_ticks: stat.start_ticks - 1, ..younger.clone() };
        assert_eq!(leader_of(&older), None);
        assert_eq!(leader_of(&Stat { session: 0, ..younger.clone() }), None);
        assert_eq!(terminal_leader_of(&younger), None, "setsid gave it no terminal");
    }

    #[test]
    fn this_process_has_the_session_leader_the_process_table_names() {
        let own = system::read_own_stat().unwrap();
        assert!(terminal_leader().is_none_or(|leader| leader.pid == own.session));
    }

    #[test]
    fn a_process_tells_its_name_and_what_it_was_started_with() {
        let mut command = Command::new("sh");
        command.env("GREETING", "good day").args(["-c", REPEAT_AND_WAIT]);
        let child = Waiting::start(&mut command);
        let pid = child.0.id();
        assert_eq!(state_of(pid).unwrap().command, "sh");
        assert!(initial_environment(pid).unwrap().contains(&OsString::from("GREETING=good day")));
    }

    #[test]
    fn a_program_called_like_a_stat_line_is_read_rightly() {
        let dir = tempfile::tempdir().unwrap();
        let program = dir.path().join("x) Z 1 (y");
        std::os::unix::fs::symlink("/bin/sh", &program).unwrap();
        let child = Waiting::start(Command::new(&program).args(["-c", REPEAT_AND_WAIT]));
        let pid = child.0.id();
        assert_eq!(state_of(pid).unwrap().command, "x) Z 1 (y");
        assert_eq!(liveness(&identity_of(pid).unwrap()), Liveness::Alive);
    }

    #[test]
    fn a_process_tells_where_it_is_while_it_lives() {
        let dir = tempfile::tempdir().unwrap();
        let directory = dir.path().canonicalize().unwrap();
        let mut command = Command::new("cat");
        command.env("TMUX_PANE", "%7").current_dir(&directory).stderr(Stdio::null());
        let mut child = Waiting::start(&mut command);
        let identity = identity_of(child.0.id()).unwrap();
        let place = place_of(&identity).unwrap();
        assert_eq!((place.tmux_pane.as_deref(), place.directory), (Some("%7"), Some(directory)));
        assert_eq!(place.terminal, None, "it has pipes alone");
        child.end();
        assert_eq!(place_of(&identity), None);
    }

    #[test]
    fn nothing_is_told_about_a_process_that_is_not_there() {
        assert_eq!(state_of(u32::MAX), None);
        assert_eq!(initial_environment(u32::MAX), None);
    }

    #[test]
    fn states_are_told_in_words() {
        let check = |letter, expect| {
            assert_eq!(ProcessState { pid: 1, letter, command: String::new() }.words(), expect);
        };
        check('R', "running");
        check('S', "sleeping");
        check('D', "waiting for a device (D)");
        check('T', "stopped (T)");
        check('t', "stopped by a debugger (t)");
        check('Z', "ended, not yet reaped (Z)");
        check('W', "in state W");
    }
}
