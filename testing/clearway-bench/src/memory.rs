//! Bytes: of the binary, and of memory at its peak.

use crate::figures::{Goal, Table};
use crate::repository::Repository;
use crate::{Outcome, seed};
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

const BINARY_MB: Goal = Goal { most: 20.0, unit: " MB" };
/// How long the exit of a call is held up, so that its memory can be looked at.
const HOLD_US: u64 = 400_000;

pub(crate) fn measure(binary: &Path) -> Outcome<Table> {
    let mut table = Table::new(&["what", "size", "goal"]);
    let megabytes = std::fs::metadata(binary)?.len() as f64 / 1e6;
    table.row(&["the binary".to_owned(), format!("{megabytes:.2} MB"), BINARY_MB.said_of(megabytes)]);
    let peak = match peak_of_check(binary)? {
        Some(kilobytes) => format!("{:.2} MB", kilobytes as f64 / 1e3),
        None => "not measured: strace is not installed".to_owned(),
    };
    table.row(&["memory of a `check` at its peak, 10,000 leases".to_owned(), peak, String::new()]);
    Ok(table)
}

/// The peak of a call's own memory in kilobytes. The kernel's figure for children would include the memory of whoever
/// started them, so the call is held at its exit and asked.
fn peak_of_check(binary: &Path) -> Outcome<Option<u64>> {
    let repository = Repository::new()?;
    seed::seed(&repository, &mut repository.engine(), 10_000)?;
    let hold = format!("inject=exit_group:delay_enter={HOLD_US}");
    let mut command = repository.command(Path::new("strace"));
    command.args(["-qq", "-e", "trace=exit_group", "-e", &hold, "-o", "/dev/null"]).arg(binary);
    command.args(["check", "bench/free.rs"]).current_dir(repository.root()).stderr(Stdio::null());
    let Ok(mut strace) = command.spawn() else { return Ok(None) };
    let mut peak = None;
    while strace.try_wait()?.is_none() {
        peak = child_of(strace.id()).and_then(|child| peak_of(child, binary)).or(peak);
        std::thread::sleep(Duration::from_millis(5));
    }
    Ok(peak)
}

fn child_of(parent: u32) -> Option<u32> {
    let children = std::fs::read_to_string(format!("/proc/{parent}/task/{parent}/children")).ok()?;
    children.split_whitespace().next()?.parse().ok()
}

fn peak_of(process: u32, binary: &Path) -> Option<u64> {
    let is_ours = std::fs::read_link(format!("/proc/{process}/exe")).ok()? == binary;
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes = line.trim().strip_suffix(" kB")?.trim().parse().ok()?;
    is_ours.then_some(kilobytes)
}
