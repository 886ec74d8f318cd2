//! In which process a session was begun. A client that goes on under another id leaves the earlier one to be resumed, and
//! its agent is known by the later id alone: the process that both had leads back to it. Forgotten with the boot.

use crate::outside::Outside;
use crate::passing::name_after;
use clearway_core::agent::ClientSession;
use clearway_core::facts::{FactQuery, Facts, Process, ProcessLife};
use std::collections::BTreeSet;
use std::path::PathBuf;

/// The process in which a session was begun before, if that is another one and dead; what lives goes on by itself. From
/// now on it is the one it begins in.
pub(crate) fn process_of(outside: &mut dyn Outside, session: &ClientSession) -> Option<Process> {
    let (path, own) = (memory(outside, session)?, session.process.as_ref()?);
    let before = outside.read_text(&path).ok().flatten().and_then(|text| Process::from_key(text.trim()));
    if before.as_ref() != Some(own) {
        drop(outside.write_private(&path, &own.key()));
    }
    let before = before.filter(|before| before != own)?;
    let mut facts = Facts::default();
    outside.gather(&BTreeSet::from([FactQuery::Process(before.clone())]), &mut facts);
    (facts.process(&before) == Some(ProcessLife::Dead)).then_some(before)
}

fn memory(outside: &dyn Outside, session: &ClientSession) -> Option<PathBuf> {
    outside.passing_file(&format!("began-{}", name_after(&session.root_key().0))).ok()
}
