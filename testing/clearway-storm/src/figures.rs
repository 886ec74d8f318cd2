//! Times and shares, as storms print them. They depend on the machine and its load, so only a long run, which has a
//! machine to itself, fails over a goal that it misses.

use crate::stage::Outcome;
use std::time::Duration;

/// Times of one thing.
#[derive(Clone, Debug, Default)]
pub(crate) struct Times(Vec<Duration>);

impl Times {
    pub(crate) fn add(&mut self, time: Duration) {
        self.0.push(time);
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// The time that so many of a hundred stay below, in milliseconds.
    pub(crate) fn percentile_ms(&self, percent: usize) -> f64 {
        let mut sorted = self.0.clone();
        sorted.sort_unstable();
        let index = (sorted.len() * percent / 100).min(sorted.len().saturating_sub(1));
        sorted.get(index).map_or(f64::NAN, |time| time.as_secs_f64() * 1_000.0)
    }

    /// Median, p99 and maximum.
    pub(crate) fn told(&self) -> String {
        let [p50, p99, most] = [50, 99, 100].map(|percent| self.percentile_ms(percent));
        format!("p50 {p50:.1} ms, p99 {p99:.1} ms, most {most:.1} ms")
    }
}

/// Jain's index of fairness: 1 if all got the same, 1/n if one got everything.
pub(crate) fn jain(shares: &[u64]) -> f64 {
    let sum: f64 = shares.iter().map(|share| *share as f64).sum();
    let squares: f64 = shares.iter().map(|share| (*share as f64).powi(2)).sum();
    sum * sum / (shares.len() as f64 * squares)
}

/// What becomes of goals that are missed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Goals {
    /// They are marked where figures are printed.
    Shown,
    /// The storm fails if a share is missed, since shares do not depend on how fast the machine is. Times are shown.
    Shares,
    /// The storm fails over any.
    All,
}

/// A goal with whether it was met.
#[derive(Clone, Debug)]
pub(crate) struct Goal {
    words: String,
    is_met: bool,
    is_binding: bool,
}

impl Goal {
    /// A goal for a time.
    pub(crate) fn time(goals: Goals, is_met: bool, words: String) -> Self {
        Self { words, is_met, is_binding: goals == Goals::All }
    }

    /// A goal for a share.
    pub(crate) fn share(goals: Goals, is_met: bool, words: String) -> Self {
        Self { words, is_met, is_binding: goals != Goals::Shown }
    }

    /// The goal beside what was found.
    pub(crate) fn told(&self) -> String {
        format!("goal {}: {}", self.words, if self.is_met { "met" } else { "**missed**" })
    }
}

/// What was seen, or an error with it if a goal that binds was missed.
pub(crate) fn judged(seen: String, goals: &[Goal]) -> Outcome<String> {
    let missed: Vec<&str> =
        goals.iter().filter(|goal| goal.is_binding && !goal.is_met).map(|goal| goal.words.as_str()).collect();
    if missed.is_empty() { Ok(seen) } else { Err(format!("{seen}missed: {}", missed.join(", "))) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_shares_are_fair_and_one_winner_of_four_is_not() {
        assert!((jain(&[7, 7, 7]) - 1.0).abs() < 1e-9);
        assert!((jain(&[9, 0, 0, 0]) - 0.25).abs() < 1e-9);
    }

    #[test]
    fn a_missed_goal_fails_where_it_binds_and_is_marked_elsewhere() {
        let seen = |goal: fn(Goals, bool, String) -> Goal, goals, is_met| {
            judged(String::new(), &[goal(goals, is_met, "g".to_owned())]).is_ok()
        };
        assert!(seen(Goal::time, Goals::All, true) && !seen(Goal::time, Goals::All, false));
        assert!(seen(Goal::time, Goals::Shares, false) && !seen(Goal::share, Goals::Shares, false));
        assert!(seen(Goal::share, Goals::Shown, false) && !seen(Goal::share, Goals::All, false));
        assert!(Goal::time(Goals::Shown, false, "g".to_owned()).told().contains("missed"));
    }

    #[test]
    fn percentiles_are_of_the_sorted_times() {
        let mut times = Times::default();
        (1..=100).rev().for_each(|ms| times.add(Duration::from_millis(ms)));
        assert!((times.percentile_ms(99) - 100.0).abs() < 1e-9);
        assert!(Times::default().percentile_ms(50).is_nan());
    }
}
