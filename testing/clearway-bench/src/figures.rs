//! Samples, their percentiles, and tables of them.

use std::fmt;
use std::time::Duration;

/// Times of one thing.
#[derive(Clone, Debug, Default)]
pub(crate) struct Samples(Vec<Duration>);

impl Samples {
    pub(crate) fn add(&mut self, time: Duration) {
        self.0.push(time);
    }

    /// The time that so many of a hundred samples stay below, in microseconds.
    pub(crate) fn percentile(&self, percent: usize) -> f64 {
        let mut sorted = self.0.clone();
        sorted.sort();
        let index = (sorted.len() * percent / 100).min(sorted.len().saturating_sub(1));
        sorted.get(index).map_or(f64::NAN, |time| time.as_secs_f64() * 1e6)
    }

    pub(crate) fn median(&self) -> f64 {
        self.percentile(50)
    }
}

/// A goal: at most this much.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Goal {
    pub(crate) most: f64,
    pub(crate) unit: &'static str,
}

impl Goal {
    /// A goal as a multiple of a floor.
    pub(crate) const fn times(most: f64) -> Self {
        Self { most, unit: "x" }
    }

    /// The goal in words, with a mark where it was missed.
    pub(crate) fn said_of(self, found: f64) -> String {
        let verdict = if found <= self.most { "met" } else { "**missed**" };
        format!("<= {}{} {verdict}", self.most, self.unit)
    }
}

/// A Markdown table.
#[derive(Clone, Debug)]
pub(crate) struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    pub(crate) fn new(header: &[&str]) -> Self {
        let line = header.iter().map(|_| "---".to_owned()).collect();
        Self { rows: vec![header.iter().map(|cell| (*cell).to_owned()).collect(), line] }
    }

    pub(crate) fn row(&mut self, cells: &[String]) {
        self.rows.push(cells.to_vec());
    }
}

impl fmt::Display for Table {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.rows.iter().try_for_each(|row| writeln!(out, "| {} |", row.join(" | ")))
    }
}

/// Microseconds as milliseconds with three digits.
pub(crate) fn ms(microseconds: f64) -> String {
    format!("{:.3} ms", microseconds / 1_000.0)
}

/// Microseconds with one digit.
pub(crate) fn us(microseconds: f64) -> String {
    format!("{microseconds:.1} us")
}

/// A ratio with two digits.
pub(crate) fn ratio(value: f64) -> String {
    format!("{value:.2}x")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_come_from_the_samples() {
        let mut samples = Samples::default();
        (1..=100).rev().for_each(|ms| samples.add(Duration::from_millis(ms)));
        assert_eq!((samples.median(), samples.percentile(99)), (51_000.0, 100_000.0));
        assert!(Samples::default().median().is_nan());
    }

    #[test]
    fn a_missed_goal_is_marked_and_what_was_not_measured_counts_as_missed() {
        let goal = Goal::times(1.5);
        assert_eq!(goal.said_of(1.5), "<= 1.5x met");
        assert_eq!(goal.said_of(1.51), "<= 1.5x **missed**");
        assert_eq!(goal.said_of(f64::NAN), "<= 1.5x **missed**");
    }
}
