//! Where in the log an operation may lie, by real time alone: after everything that had been answered before it
//! started, and not after anything answered to somebody who started when it was over.

use super::breach::{Breach, Rule};
use super::operation::Operation;

/// Revisions between which an operation took place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Window {
    /// It came after this one.
    pub(super) floor: u64,
    /// Whatever it did stands up to here.
    pub(super) ceiling: u64,
}

impl Window {
    pub(super) fn holds(&self, seq: u64) -> bool {
        self.floor < seq && seq <= self.ceiling
    }

    /// An answer that is older than what was known before it was asked for.
    pub(super) fn breach(&self, operation: &Operation) -> Option<Breach> {
        let rev = operation.rev()?;
        (rev < self.floor || self.ceiling < rev || self.ceiling < self.floor).then(|| {
            let Self { floor, ceiling } = self;
            let text = format!("{} answers of revision {rev}, not of {floor} to {ceiling}", operation.mark());
            Breach::new(Rule::RealTime, text)
        })
    }
}

/// The window of each operation of a history.
pub(super) fn windows(history: &[Operation]) -> Vec<Window> {
    let mut ends: Vec<(u64, u64)> =
        history.iter().filter_map(|one| Some((one.completed_ns, one.rev()?))).collect();
    let mut starts: Vec<(u64, u64)> =
        history.iter().filter_map(|one| Some((one.invoked_ns, one.rev()?))).collect();
    ends.sort_unstable();
    starts.sort_unstable();
    let mut highest = 0;
    for (_, rev) in &mut ends {
        highest = highest.max(*rev);
        *rev = highest;
    }
    let mut lowest = u64::MAX;
    for (_, rev) in starts.iter_mut().rev() {
        lowest = lowest.min(*rev);
        *rev = lowest;
    }
    let window = |one: &Operation| {
        let before = ends.partition_point(|(end, _)| *end < one.invoked_ns);
        let after = starts.partition_point(|(start, _)| *start <= one.completed_ns);
        let floor = before.checked_sub(1).and_then(|index| ends.get(index)).map_or(0, |(_, rev)| *rev);
        let later = starts.get(after).map_or(u64::MAX, |(_, rev)| *rev);
        Window { floor, ceiling: later.min(one.rev().unwrap_or(u64::MAX)) }
    };
    history.iter().map(window).collect()
}
