//! In which process a session was begun. A client that goes on under another id leaves the earlier one to be resumed, and
//! its agent is known by the later id alone: the process that both had leads back to it, and from there to the one it went on in. Forgotten with the boot.

use crate::outside::Outside;
use crate::passing::name_after;
use clearway_core::agent::ClientSession;
use clearway_core::facts::{FactQuery, Facts, Process, ProcessLife};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// How often an agent is followed from one process to the next.
const PROCESSES_MAX: usize = 16;

/// The process in which a session was begun before, if that is another one and dead, and those in which its agent went on
/// since and which are dead too; what lives goes on by itself. From now on it is the one it begins in.
pub(crate) fn processes_of(outside: &mut dyn Outside, session: &ClientSession) -> Vec<Process> {
    let (Some(path), Some(own)) = (memory(outside, session), session.process.as_ref()) else {
        return Vec::new();
    };
    let mut next = note(outside, Some(path), own);
    let mut processes: Vec<Process> = Vec::new();
    while let Some(process) = next.filter(|next| next != own && !processes.contains(next)) {
        if processes.len() == PROCESSES_MAX || !is_dead(outside, &process) {
            break;
        }
        let path = after(outside, &process);
        next = path.as_ref().and_then(|path| read(outside, path));
        processes.push(process);
    }
    if let Some(last) = processes.last() {
        let path = after(outside, last);
        note(outside, path, own);
    }
    processes
}

/// Notes a process; the one that was noted before.
fn note(outside: &mut dyn Outside, path: Option<PathBuf>, own: &Process) -> Option<Process> {
    let path = path?;
    let before = read(outside, &path);
    if before.as_ref() != Some(own) {
        drop(outside.write_private(&path, &own.key()));
    }
    before
}

fn read(outside: &mut dyn Outside, path: &Path) -> Option<Process> {
    Process::from_key(outside.read_text(path).ok().flatten()?.trim())
}

fn is_dead(outside: &mut dyn Outside, process: &Process) -> bool {
    let mut facts = Facts::default();
    outside.gather(&BTreeSet::from([FactQuery::Process(process.clone())]), &mut facts);
    facts.process(process) == Some(ProcessLife::Dead)
}

/// Where it is noted in which process the agent of another one went on.
fn after(outside: &dyn Outside, process: &Process) -> Option<PathBuf> {
    outside.passing_file(&format!("after-{}", name_after(&process.key()))).ok()
}

fn memory(outside: &dyn Outside, session: &ClientSession) -> Option<PathBuf> {
    outside.passing_file(&format!("began-{}", name_after(&session.root_key().0))).ok()
}
