//! Wall time as text.

use clearway_core::time::Wall;
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan};

/// The time zone of whoever reads.
#[derive(Clone, Debug)]
pub struct Zone(TimeZone);

impl Zone {
    /// The zone that a file of the system's data describes, or else a text such as `CET-1CEST`; UTC where neither is
    /// one.
    pub fn read(file: Option<&[u8]>, text: Option<&str>) -> Self {
        let by_file = file.and_then(|bytes| TimeZone::tzif("local", bytes).ok());
        let by_text = || text.and_then(|text| TimeZone::posix(text).ok());
        Self(by_file.or_else(by_text).unwrap_or(TimeZone::UTC))
    }

    /// The last time before `now` that clocks there showed this; `None` for what no clock shows.
    pub fn last(&self, now: Wall, hour: i8, minute: i8) -> Option<Wall> {
        let now = Timestamp::from_millisecond(now.0).ok()?.to_zoned(self.0.clone());
        let today = now.with().hour(hour).minute(minute).second(0).subsec_nanosecond(0).build().ok()?;
        let last = if today <= now { today } else { today.checked_sub(1.day()).ok()? };
        Some(Wall(last.timestamp().as_millisecond()))
    }
}

/// The instant that a text such as `2026-07-29T22:00:00Z` names.
pub fn instant(text: &str) -> Option<Wall> {
    text.parse::<Timestamp>().ok().map(|instant| Wall(instant.as_millisecond()))
}

/// RFC 3339 in UTC with milliseconds. What no calendar holds becomes the nearest instant that one does.
pub fn rfc3339(at: Wall) -> String {
    let end = if at.0 < 0 { Timestamp::MIN } else { Timestamp::MAX };
    let instant = Timestamp::from_millisecond(at.0).unwrap_or(end);
    format!("{instant:.3}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_of_day_is_the_last_one_there_was() {
        let now = instant("2026-07-29T21:48:25Z").unwrap();
        let utc = Zone::read(None, None);
        for (zone, hour, minute, expect) in [
            (&utc, 21, 0, "2026-07-29T21:00:00.000Z"),
            (&utc, 22, 0, "2026-07-28T22:00:00.000Z"),
            (&Zone::read(None, Some("CET-1CEST,M3.5.0,M10.5.0")), 22, 30, "2026-07-29T20:30:00.000Z"),
            (&Zone::read(Some(b"rubbish"), Some("rubbish")), 21, 48, "2026-07-29T21:48:00.000Z"),
        ] {
            assert_eq!(rfc3339(zone.last(now, hour, minute).unwrap()), expect);
        }
        assert_eq!(utc.last(now, 24, 0), None);
        assert_eq!(instant("yesterday"), None);
    }

    #[test]
    fn instants_are_utc_with_milliseconds_and_never_overflow() {
        for (ms, text) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (1_785_361_705_123, "2026-07-29T21:48:25.123Z"),
            (-1, "1969-12-31T23:59:59.999Z"),
        ] {
            assert_eq!(rfc3339(Wall(ms)), text);
        }
        assert!(rfc3339(Wall(i64::MAX)).starts_with("9999-"));
        assert!(rfc3339(Wall(i64::MIN)).starts_with('-'));
    }
}
