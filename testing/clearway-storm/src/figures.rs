//! Times and shares, as storms print them. Nothing is asserted of them: they depend on the machine and its load.

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

/// A goal beside what was found.
pub(crate) fn goal(is_met: bool, words: &str) -> String {
    format!("goal {words}: {}", if is_met { "met" } else { "**missed**" })
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
    fn percentiles_are_of_the_sorted_times() {
        let mut times = Times::default();
        (1..=100).rev().for_each(|ms| times.add(Duration::from_millis(ms)));
        assert!((times.percentile_ms(99) - 100.0).abs() < 1e-9);
        assert!(Times::default().percentile_ms(50).is_nan());
    }
}
