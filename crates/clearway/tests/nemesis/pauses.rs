//! Processes that stand still.

/// The stopped process a tracer has started, if it stands still by now.
pub(crate) fn stopped_child(tracer: u32) -> Option<u32> {
    let children = std::fs::read_to_string(format!("/proc/{tracer}/task/{tracer}/children")).ok()?;
    let pid: u32 = children.split_ascii_whitespace().next()?.parse().ok()?;
    matches!(state(pid)?, 't' | 'T').then_some(pid)
}

/// The letter of a process's state.
pub(crate) fn state(pid: u32) -> Option<char> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit_once(") ")?.1.chars().next()
}

/// Sends a signal to one process.
pub(crate) fn signal(pid: u32, name: &str) {
    let sent = std::process::Command::new("kill").args([&format!("-{name}"), &pid.to_string()]).status();
    assert!(sent.is_ok_and(|status| status.success()), "kill -{name} {pid}");
}
