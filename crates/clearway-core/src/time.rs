//! Instants. Deadlines live on the monotonic clock of one boot; wall time is for display only.

use std::fmt;

/// Milliseconds on the monotonic clock of the current boot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Mono(pub u64);

impl Mono {
    /// A later instant; saturates, so that no duration can wrap a deadline into the past.
    pub fn plus_ms(self, ms: u64) -> Self {
        Self(self.0.saturating_add(ms))
    }

    /// Milliseconds since `earlier`, zero if it is not earlier.
    pub fn since(self, earlier: Self) -> u64 {
        self.0.saturating_sub(earlier.0)
    }
}

/// Names the clock that `Mono` values were read from: one boot of one kernel in one time namespace.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BootKey(pub String);

impl fmt::Display for BootKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(&self.0)
    }
}

/// Milliseconds since 1970-01-01 UTC, for people to read. No decision may depend on it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Wall(pub i64);

/// One reading of the clock: what every decision is given as "now".
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Now {
    /// Which clock `mono` belongs to.
    pub boot: BootKey,
    /// For deadlines.
    pub mono: Mono,
    /// For display.
    pub wall: Wall,
}

impl Now {
    /// The wall time at which the monotonic clock will show `instant`, as far as can be told now.
    pub fn wall_at(&self, instant: Mono) -> Wall {
        let ahead = i64::try_from(instant.since(self.mono)).unwrap_or(i64::MAX);
        let behind = i64::try_from(self.mono.since(instant)).unwrap_or(i64::MAX);
        Wall(self.wall.0.saturating_add(ahead).saturating_sub(behind))
    }
}

/// A span as people say it, to two units at most: `2h 5m`, `14m 30s`, `9s`, `0s`.
pub fn rounded(ms: u64) -> String {
    let seconds = ms.div_ceil(1_000);
    let units = [(86_400, "d"), (3_600, "h"), (60, "m"), (1, "s")];
    let Some(first) = units.iter().position(|(size, _)| seconds >= *size) else { return "0s".to_owned() };
    let part = |(size, unit): &(u64, &str), rest: u64| format!("{}{unit}", rest / size);
    let rest = seconds % units[first].0;
    match units.get(first + 1).filter(|(size, _)| rest >= *size) {
        Some(next) => format!("{} {}", part(&units[first], seconds), part(next, rest)),
        None => part(&units[first], seconds),
    }
}

/// A span that has passed, as people say it: a second that is not over yet does not count.
pub fn elapsed(ms: u64) -> String {
    rounded(ms / 1_000 * 1_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_passed_is_not_rounded_up() {
        assert_eq!([999, 1_000, 1_999, 61_500].map(elapsed), ["0s", "1s", "1s", "1m 1s"]);
    }

    #[test]
    fn spans_are_said_in_two_units() {
        for (ms, said) in [
            (0, "0s"),
            (1, "1s"),
            (90_000, "1m 30s"),
            (7_500_000, "2h 5m"),
            (86_400_000, "1d"),
            (3_605_000, "1h"),
        ] {
            assert_eq!(rounded(ms), said);
        }
    }

    #[test]
    fn no_span_wraps_a_deadline_into_the_past() {
        assert_eq!(Mono(5).plus_ms(u64::MAX), Mono(u64::MAX));
        let now = Now { boot: BootKey("b".to_owned()), mono: Mono(10), wall: Wall(1_000) };
        assert_eq!(now.wall_at(Mono(25)), Wall(1_015));
        assert_eq!(now.wall_at(Mono(0)), Wall(990));
    }
}
