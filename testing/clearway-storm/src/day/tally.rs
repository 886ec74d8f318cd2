//! What is counted on a day, and which of it has a goal.

use super::{AGENTS, Effort, Mode};
use crate::figures::{Goal, Goals, judged};
use crate::stage::Outcome;
use std::collections::BTreeMap;

/// The counts of a day.
#[derive(Debug, Default)]
pub(super) struct Tally {
    pub(super) sessions: usize,
    pub(super) crashes: usize,
    pub(super) turns: usize,
    pub(super) commits: usize,
    pub(super) claims: usize,
    pub(super) calls: usize,
    pub(super) edits: usize,
    /// Turns in which an agent was refused and got nothing done.
    pub(super) waiting: usize,
    /// Turns at a file that were announced and used.
    pub(super) turns_taken: usize,
    /// Promises that were not kept though nobody was in the way.
    pub(super) forgotten: usize,
    refused: usize,
    needless: Vec<String>,
    /// Bytes that models were made to read, by agent and hour. Whoever begins anew is another agent.
    injected: BTreeMap<(String, u64), usize>,
}

const REFUSED_PERCENT_MAX: f64 = 1.0;
const INJECTED_BYTES_MAX: usize = 2_048;

impl Tally {
    pub(super) fn inject(&mut self, agent: String, second: u64, bytes: usize) {
        if bytes > 0 {
            *self.injected.entry((agent, second / 3_600)).or_default() += bytes;
        }
    }

    pub(super) fn refuse(&mut self, second: u64, session: &str, reason: &str, is_needed: bool) {
        self.refused += 1;
        if !is_needed {
            self.needless.push(format!("{}:{:02} {session}: {reason}", second / 3_600, second / 60 % 60));
        }
    }

    /// The figures of the day, or an error with them.
    pub(super) fn judged(&self, effort: Effort, lost_bytes: usize) -> Outcome<String> {
        let percent = 100.0 * self.refused as f64 / self.edits.max(1) as f64;
        let most = self.injected.values().copied().max().unwrap_or(0);
        let hours = effort.minutes as f64 / 60.0;
        let mean = self.injected.values().sum::<usize>() as f64 / (AGENTS as f64 * hours);
        // On a short day one refusal more or less is a third of a percent.
        let enough = if effort.goals == Goals::All { Goals::All } else { Goals::Shown };
        let goal = |is_met, words: String| Goal::share(effort.goals, is_met, words);
        if effort.mode == Mode::Observe {
            return self.judged_without_us(effort, lost_bytes);
        }
        let goals = [
            goal(self.needless.is_empty(), "needless refusals 0".to_owned()),
            Goal::share(
                enough,
                percent <= REFUSED_PERCENT_MAX,
                format!("refused edits <= {REFUSED_PERCENT_MAX} %"),
            ),
            goal(
                most <= INJECTED_BYTES_MAX,
                format!("injected <= {INJECTED_BYTES_MAX} bytes an agent and hour"),
            ),
            goal(self.waiting == 0, "turns spent waiting 0".to_owned()),
            goal(lost_bytes == 0, "uncommitted work lost 0 bytes".to_owned()),
            goal(self.forgotten == 0, "promises forgotten 0".to_owned()),
        ];
        let figures = [
            format!("needless refusals: {}", self.needless.len()),
            format!("refused edits: {percent:.2} % ({} of {})", self.refused, self.edits),
            format!("injected: {mean:.0} bytes an agent and hour, {most} at most"),
            format!("turns spent waiting: {} of {}", self.waiting, self.turns),
            format!("uncommitted work lost: {lost_bytes} bytes"),
            format!("promises forgotten: {}, kept: {}", self.forgotten, self.turns_taken),
        ];
        let lines = figures.iter().zip(&goals).map(|(figure, goal)| format!("{figure}; {}\n", goal.told()));
        let needless: String = self.needless.iter().map(|refusal| format!("  {refusal}\n")).collect();
        judged(format!("{}{}{needless}", self.told(effort), lines.collect::<String>()), &goals)
    }

    /// A day on which nothing is refused shows what there is to lose.
    fn judged_without_us(&self, effort: Effort, lost_bytes: usize) -> Outcome<String> {
        let goals = [
            Goal::share(effort.goals, self.refused == 0, "refused edits 0".to_owned()),
            Goal::share(effort.goals, lost_bytes > 0, "uncommitted work lost, as nobody keeps it".to_owned()),
        ];
        let figures = [
            format!("refused edits: {}", self.refused),
            format!("uncommitted work lost: {lost_bytes} bytes"),
        ];
        let lines = figures.iter().zip(&goals).map(|(figure, goal)| format!("{figure}; {}\n", goal.told()));
        judged(format!("{}{}", self.told(effort), lines.collect::<String>()), &goals)
    }

    fn told(&self, effort: Effort) -> String {
        let Self { sessions, crashes, turns, edits, commits, claims, calls, .. } = self;
        let (hours, seed, mode) = (effort.minutes as f64 / 60.0, effort.seed, effort.mode);
        format!(
            "{AGENTS} agents, {hours:.1} hours (seed {seed}, {mode:?}): {sessions} sessions, {crashes} crashes, {turns} \
             turns, {edits} edits, {commits} commits, {claims} claims, {calls} calls of the hook\n"
        )
    }
}
