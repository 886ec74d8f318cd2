//! Wall time as text.

use clearway_core::time::Wall;
use jiff::Timestamp;

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
