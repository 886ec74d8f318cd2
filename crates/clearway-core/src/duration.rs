//! Durations as people write them: `90s`, `15m`, `1h30m`, `500ms`, `1d`.
//!
//! Used by configuration and by command-line flags, so that both accept the same texts. A bare number is refused
//! rather than guessed: nobody remembers whether `30` meant seconds or minutes. This module knows no clock and sets
//! no policy; the range a setting allows belongs to that setting.

use std::fmt;
use std::time::Duration;

/// The longest duration that can be written: 100 years. It keeps every sum with a clock reading far from overflow.
pub const DURATION_MS_MAX: u64 = 36_525 * MS_PER_DAY;

const MS_PER_DAY: u64 = 24 * MS_PER_HOUR;
const MS_PER_HOUR: u64 = 60 * MS_PER_MINUTE;
const MS_PER_MINUTE: u64 = 60 * MS_PER_SECOND;
const MS_PER_SECOND: u64 = 1_000;

struct Unit {
    name: &'static str,
    ms: u64,
}

/// Units from large to small, the order in which they must be written.
static UNITS: [Unit; 5] = [
    Unit { name: "d", ms: MS_PER_DAY },
    Unit { name: "h", ms: MS_PER_HOUR },
    Unit { name: "m", ms: MS_PER_MINUTE },
    Unit { name: "s", ms: MS_PER_SECOND },
    Unit { name: "ms", ms: 1 },
];

/// Why a text is not a duration. The messages never repeat the text, which may be anything.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DurationError {
    #[error("a duration is empty; write for example 30s, 15m or 1h30m")]
    Empty,
    #[error("a duration must be longer than zero")]
    Zero,
    #[error("a duration cannot be negative")]
    Negative,
    #[error("a duration needs a unit; did you mean {number}s?")]
    BareNumber { number: u64 },
    #[error("a duration is made of whole numbers with the units d, h, m, s, ms, for example 1h30m")]
    Malformed,
    #[error("the units of a duration go from large to small, each at most once, for example 1h30m")]
    UnitOrder,
    #[error("a duration is at most 100 years")]
    TooLong,
}

/// Reads one duration. Surrounding white space is not accepted; callers trim if their format allows it.
pub fn parse(text: &str) -> Result<Duration, DurationError> {
    if text.is_empty() {
        return Err(DurationError::Empty);
    }
    if text.starts_with('-') {
        return Err(DurationError::Negative);
    }
    let ms = sum_parts(text)?;
    if ms == 0 { Err(DurationError::Zero) } else { Ok(Duration::from_millis(ms)) }
}

/// Shows a duration exactly, in whole milliseconds, as [`parse`] reads it: the shorter of a single unit (`90s`) and
/// the mixed form (`1d500ms`).
pub fn display(duration: Duration) -> impl fmt::Display {
    Shown { ms: milliseconds(duration) }
}

/// The whole milliseconds of a duration, by which everything here counts.
pub fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

fn sum_parts(text: &str) -> Result<u64, DurationError> {
    let (mut rest, mut units, mut total_ms) = (text, UNITS.as_slice(), 0_u64);
    while !rest.is_empty() {
        let (count, after_count) = split_run(rest, |c| c.is_ascii_digit());
        let (unit, after_unit) = split_run(after_count, |c| !c.is_ascii_digit());
        let count = read_count(count)?;
        if unit.is_empty() {
            return Err(missing_unit(text));
        }
        let (unit_ms, smaller) = take_unit(unit, units)?;
        let part_ms = count.checked_mul(unit_ms).ok_or(DurationError::TooLong)?;
        total_ms = total_ms.checked_add(part_ms).ok_or(DurationError::TooLong)?;
        (rest, units) = (after_unit, smaller);
    }
    if total_ms > DURATION_MS_MAX { Err(DurationError::TooLong) } else { Ok(total_ms) }
}

fn split_run(text: &str, belongs: impl Fn(char) -> bool) -> (&str, &str) {
    let end = text.find(|c| !belongs(c)).unwrap_or(text.len());
    text.split_at_checked(end).unwrap_or((text, ""))
}

fn read_count(digits: &str) -> Result<u64, DurationError> {
    if digits.is_empty() {
        return Err(DurationError::Malformed);
    }
    // Only digits are left, so the one way to fail is a number too large.
    digits.parse().map_err(|_| DurationError::TooLong)
}

/// Zero needs no unit to be refused for what it is; any other bare number gets its hint.
fn missing_unit(text: &str) -> DurationError {
    match text.parse::<u64>() {
        Ok(0) => DurationError::Zero,
        Ok(number) => DurationError::BareNumber { number },
        Err(_) => DurationError::Malformed,
    }
}

/// The length of a unit, and the units that may still follow it.
fn take_unit(unit: &str, allowed: &'static [Unit]) -> Result<(u64, &'static [Unit]), DurationError> {
    let found = allowed.iter().position(|allowed| allowed.name == unit);
    if let Some((this, smaller)) = found.and_then(|at| allowed.get(at..)?.split_first()) {
        return Ok((this.ms, smaller));
    }
    let known = UNITS.iter().any(|known| known.name == unit);
    Err(if known { DurationError::UnitOrder } else { DurationError::Malformed })
}

struct Shown {
    ms: u64,
}

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (single, mixed) = (single_unit(self.ms), mixed_units(self.ms));
        f.write_str(if mixed.is_empty() || single.len() <= mixed.len() { &single } else { &mixed })
    }
}

fn single_unit(ms: u64) -> String {
    let exact = UNITS.iter().find(|unit| ms > 0 && ms.is_multiple_of(unit.ms));
    exact.map_or_else(|| format!("{ms}ms"), |unit| format!("{}{}", ms / unit.ms, unit.name))
}

fn mixed_units(ms: u64) -> String {
    let (mut text, mut rest_ms) = (String::new(), ms);
    for unit in &UNITS {
        if rest_ms >= unit.ms {
            text.push_str(&format!("{}{}", rest_ms / unit.ms, unit.name));
            rest_ms %= unit.ms;
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(text: &str, expect: Result<u64, DurationError>) {
        assert_eq!(parse(text), expect.map(Duration::from_millis), "{text:?}");
    }

    #[track_caller]
    fn check_shown(ms: u64, expect: &str) {
        assert_eq!(display(Duration::from_millis(ms)).to_string(), expect);
    }

    #[test]
    fn the_documented_forms_are_read() {
        check("90s", Ok(90_000));
        check("15m", Ok(900_000));
        check("2h", Ok(7_200_000));
        check("1h30m", Ok(5_400_000));
        check("500ms", Ok(500));
        check("1d", Ok(86_400_000));
        check("1d2h3m4s5ms", Ok(93_784_005));
        check("007s", Ok(7_000));
        check("1h90m", Ok(9_000_000));
    }

    #[test]
    fn nothing_zero_and_negative_are_refused() {
        check("", Err(DurationError::Empty));
        check("0", Err(DurationError::Zero));
        check("0s", Err(DurationError::Zero));
        check("0h0m", Err(DurationError::Zero));
        check("-5m", Err(DurationError::Negative));
        check("-", Err(DurationError::Negative));
    }

    #[test]
    fn a_bare_number_is_refused_with_the_likely_meaning() {
        check("90", Err(DurationError::BareNumber { number: 90 }));
        assert_eq!(parse("90").unwrap_err().to_string(), "a duration needs a unit; did you mean 90s?");
        check("1h30", Err(DurationError::Malformed));
    }

    #[test]
    fn junk_and_unknown_units_are_refused() {
        for text in [
            "1e9y",
            "s",
            "ten minutes",
            "5 m",
            " 5m",
            "5m ",
            "1.5h",
            "5M",
            "5min",
            "+5m",
            "５m",
            "1w",
            "\u{1b}",
        ] {
            check(text, Err(DurationError::Malformed));
        }
    }

    #[test]
    fn units_go_from_large_to_small_and_never_twice() {
        check("30m1h", Err(DurationError::UnitOrder));
        check("1s1s", Err(DurationError::UnitOrder));
        check("1ms1s", Err(DurationError::UnitOrder));
    }

    #[test]
    fn what_overflows_or_passes_a_century_is_refused() {
        check("36525d", Ok(DURATION_MS_MAX));
        check("36526d", Err(DurationError::TooLong));
        check("18446744073709551615d", Err(DurationError::TooLong));
        check("18446744073709551616s", Err(DurationError::TooLong));
        check("18446744073709551615ms", Err(DurationError::TooLong));
    }

    #[test]
    fn the_shorter_exact_form_is_shown() {
        check_shown(90_000, "90s");
        check_shown(1_800_000, "30m");
        check_shown(5_400_000, "90m");
        check_shown(86_400_000, "1d");
        check_shown(86_400_500, "1d500ms");
        check_shown(1, "1ms");
        check_shown(1_500, "1500ms");
        check_shown(0, "0ms");
    }

    proptest! {
        #[test]
        fn every_shown_duration_reads_back_the_same(ms in 1..=DURATION_MS_MAX) {
            let duration = Duration::from_millis(ms);
            prop_assert_eq!(parse(&display(duration).to_string()), Ok(duration));
        }

        #[test]
        fn no_text_makes_parsing_panic(text in any::<String>()) {
            let parsed = parse(&text);
            prop_assert!(parsed.is_err() || parsed.is_ok_and(|d| !d.is_zero()));
        }

        #[test]
        fn texts_close_to_a_duration_never_panic(text in "[0-9]{0,21}(d|h|m|s|ms|y|é)?[0-9]{0,21}(d|h|m|s|ms)?") {
            let parsed = parse(&text);
            prop_assert!(parsed.is_err() || parsed.is_ok_and(|d| d.as_millis() <= u128::from(DURATION_MS_MAX)));
        }
    }
}
