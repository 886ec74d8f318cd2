//! Where Linux keeps its facts: small text files below `/proc`.
//!
//! Everything platform-specific about clocks and processes is here; `macos.rs` offers the same
//! functions.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use crate::files::read_small;
use crate::process::stat::{Stat, parse_stat};
use signal_hook::iterator::exfiltrator::WithOrigin;
use signal_hook::low_level::siginfo::{Cause, Origin};

/// Named in the error when the boot id is missing.
pub(crate) const BOOT_ID_PLACE: &str = "/proc/sys/kernel/random/boot_id";

/// A fresh identifier at every boot.
pub(crate) fn boot_id() -> io::Result<String> {
    let text = text_at(BOOT_ID_PLACE)?;
    let boot_id = text.trim();
    if boot_id.is_empty() {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(boot_id.to_owned())
}

/// Which clock this process reads: the inode of its time namespace, and, in any but the first one, how far that
/// is ahead, because the kernel gives an inode that was given up to the next namespace. `None` on kernels before 5.6.
pub(crate) fn time_namespace() -> Option<String> {
    let inode = namespace("/proc/self/ns/time")?;
    if inode == FIRST_TIME_NAMESPACE {
        return Some(inode);
    }
    let offsets = fs::read_to_string("/proc/self/timens_offsets").unwrap_or_default();
    Some(format!("{inode}{}", monotonic_offset(&offsets).unwrap_or_default()))
}

/// The inode that the kernel reserves for the time namespace it starts with.
const FIRST_TIME_NAMESPACE: &str = "4026531834";

/// Takes `+86400.0` out of a line such as `monotonic  86400  0`.
fn monotonic_offset(offsets: &str) -> Option<String> {
    let fields = offsets.lines().find_map(|line| line.strip_prefix("monotonic"))?;
    let (seconds, nanoseconds) = fields.trim().split_once(char::is_whitespace)?;
    Some(format!("+{seconds}.{}", nanoseconds.trim()))
}

/// The inode of this process's pid namespace.
pub(crate) fn pid_namespace() -> Option<String> {
    namespace("/proc/self/ns/pid")
}

/// The machine id where one was set up, else the host name.
pub(crate) fn host() -> Option<String> {
    let machine_id = text_at("/etc/machine-id").ok();
    let machine_id = machine_id.as_deref().map(str::trim).filter(|id| is_machine_id(id));
    if let Some(machine_id) = machine_id {
        return Some(format!("machine:{machine_id}"));
    }
    let name = rustix::system::uname().nodename().to_string_lossy().into_owned();
    (!name.is_empty()).then(|| format!("host:{name}"))
}

/// Reads one process; an error of kind `NotFound` means `/proc` shows no such pid.
pub(crate) fn read_stat(pid: u32) -> io::Result<Stat> {
    stat_at(&format!("/proc/{pid}/stat"))
}

/// Reads this process as `/proc` sees it, which may be under a foreign pid (see [`Stat::pid`]).
pub(crate) fn read_own_stat() -> io::Result<Stat> {
    stat_at("/proc/self/stat")
}

/// The pid that `/proc` gives this process.
pub(crate) fn own_pid_shown() -> Option<u32> {
    fs::read_link("/proc/self").ok()?.to_str()?.parse().ok()
}

/// The variables a process was started with; readable for processes of the same user only.
pub(crate) fn initial_environment(pid: u32) -> Option<Vec<OsString>> {
    strings_at(&format!("/proc/{pid}/environ"))
}

/// The terminal that a process reads from or writes to.
pub(crate) fn terminal_of(pid: u32) -> Option<String> {
    let open = |descriptor: u8| fs::read_link(format!("/proc/{pid}/fd/{descriptor}")).ok();
    let names = [0, 1, 2].into_iter().filter_map(open).filter_map(|path| path.to_str().map(str::to_owned));
    names.into_iter().find(|name| ["/dev/pts/", "/dev/tty"].iter().any(|front| name.starts_with(front)))
}

/// The directory that a process works in.
pub(crate) fn directory_of(pid: u32) -> Option<PathBuf> {
    fs::read_link(format!("/proc/{pid}/cwd")).ok()
}

/// Every process that is shown.
pub(crate) fn process_ids() -> Vec<u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

/// The words a process was started with.
pub(crate) fn arguments_of(pid: u32) -> Option<Vec<String>> {
    let words = strings_at(&format!("/proc/{pid}/cmdline"))?;
    Some(words.iter().map(|word| word.to_string_lossy().into_owned()).collect())
}

/// This very binary, even if another lies at its path by now.
pub(crate) fn own_binary() -> io::Result<PathBuf> {
    Ok(PathBuf::from("/proc/self/exe"))
}

/// Has this process killed when its parent dies, also once it has become another program.
pub(crate) fn die_with_parent() -> io::Result<()> {
    Ok(rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL))?)
}

/// The signals this process ignores: the bit of signal n has the value 2^(n-1).
pub(crate) fn ignored_signals() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}

/// What is learnt of a signal.
pub(crate) type SignalFacts = WithOrigin;

/// The number of a signal, and whether a process sent it. What a terminal sends goes to its whole group.
pub(crate) fn was_sent(origin: &Origin) -> (i32, bool) {
    (origin.signal, matches!(origin.cause, Cause::Sent(_)))
}

/// Reads strings that each end with a NUL byte.
fn strings_at(path: &str) -> Option<Vec<OsString>> {
    let bytes = read_small(Path::new(path), u64::MAX).ok()?;
    let bytes = bytes.strip_suffix(&[0]).unwrap_or(&bytes);
    if bytes.is_empty() {
        return Some(Vec::new());
    }
    Some(bytes.split(|byte| *byte == 0).map(|part| OsString::from_vec(part.to_vec())).collect())
}

fn stat_at(path: &str) -> io::Result<Stat> {
    let bytes = read_small(Path::new(path), u64::MAX).map_err(vanished_to_not_found)?;
    parse_stat(&bytes).ok_or_else(|| io::ErrorKind::InvalidData.into())
}

fn text_at(path: &str) -> io::Result<String> {
    let bytes = read_small(Path::new(path), u64::MAX)?;
    String::from_utf8(bytes).map_err(|_| io::ErrorKind::InvalidData.into())
}

/// A process that ends between open and read answers ESRCH, which means the same as ENOENT.
fn vanished_to_not_found(error: io::Error) -> io::Error {
    if error.raw_os_error() == Some(rustix::io::Errno::SRCH.raw_os_error()) {
        return io::ErrorKind::NotFound.into();
    }
    error
}

/// `uninitialized` is what systemd writes into images before their first boot.
fn is_machine_id(text: &str) -> bool {
    text.len() == 32 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Takes `4026531834` out of a link such as `time:[4026531834]`.
fn namespace(link: &str) -> Option<String> {
    let target = fs::read_link(link).ok()?;
    let (_, rest) = target.to_str()?.split_once('[')?;
    Some(rest.strip_suffix(']')?.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn namespaces_are_numbers() {
        let inode = pid_namespace().unwrap();
        assert!(!inode.is_empty() && inode.bytes().all(|byte| byte.is_ascii_digit()), "{inode}");
        assert_eq!(namespace("/proc/self/ns/no-such-namespace"), None);
    }

    #[test]
    fn the_offset_of_a_clock_is_that_of_its_monotonic_time() {
        let offsets = "monotonic       86400         7\nboottime            1         2\n";
        assert_eq!(monotonic_offset(offsets).as_deref(), Some("+86400.7"));
        assert_eq!(monotonic_offset("monotonic -5 0\n").as_deref(), Some("+-5.0"));
        assert_eq!(monotonic_offset(""), None);
    }

    #[test]
    fn only_a_written_machine_id_counts() {
        assert!(is_machine_id("3d1219c7c4c5404aaa1f6d2a48adfda4"));
        assert!(!is_machine_id("uninitialized"));
        assert!(!is_machine_id(""));
    }

    #[test]
    fn the_host_has_a_name() {
        assert!(host().unwrap().contains(':'));
    }

    #[test]
    fn what_every_program_of_ours_ignores_is_known() {
        let broken_pipe = rustix::process::Signal::PIPE.as_raw();
        assert_eq!(ignored_signals() >> (broken_pipe - 1) & 1, 1);
    }

    #[test]
    fn a_pid_that_cannot_exist_is_not_found() {
        assert_eq!(read_stat(u32::MAX).unwrap_err().kind(), io::ErrorKind::NotFound);
    }
}
