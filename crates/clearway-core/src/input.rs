//! Words of a caller that are checked against a limit and taken as they are. What is wrong with one is said here,
//! with the limit it broke; what it is for is none of this module's business.

use crate::duration;
use crate::failure::Failure;
use crate::limits::{
    FREEZE_MS_MAX, FREEZE_MS_MIN, IDEMPOTENCY_KEY_BYTES_MAX, LATER_MINUTES_MAX, SESSION_BYTES_MAX,
    TTL_MS_MAX, TTL_MS_MIN, WAIT_MS_MAX, WAIT_MS_MIN,
};
use crate::slug::Slug;
use crate::text::quoted;
use std::time::Duration;

/// A span of silence or an absolute end, in milliseconds, as `flag` states it.
pub fn lease_span_ms(text: &str, flag: &str) -> Result<u64, Failure> {
    span_ms(text, flag, [TTL_MS_MIN, TTL_MS_MAX], "a lease lasts as long as you give signs of life; renew it")
}

/// How long to wait, in milliseconds, as `flag` states it. `otherwise` says what there is for those who wait no time.
pub fn wait_span_ms(text: &str, flag: &str, otherwise: &str) -> Result<u64, Failure> {
    span_ms(text, flag, [WAIT_MS_MIN, WAIT_MS_MAX], otherwise)
}

/// How long to stop the agents, in milliseconds, as `flag` states it.
pub fn freeze_span_ms(text: &str, flag: &str) -> Result<u64, Failure> {
    span_ms(text, flag, [FREEZE_MS_MIN, FREEZE_MS_MAX], "end it early with: clearway thaw --reason TEXT")
}

fn span_ms(text: &str, flag: &str, [min, max]: [u64; 2], hint: &str) -> Result<u64, Failure> {
    let parsed = duration::parse(text).map_err(|error| {
        let message = format!("{flag} {}: {error}", quoted(text));
        let failure = Failure::new(Slug::InvalidDuration, message).hint("durations look like 90s, 15m or 2h");
        if error == duration::DurationError::Zero { failure.hint(hint) } else { failure }
    })?;
    let ms = duration::milliseconds(parsed);
    if (min..=max).contains(&ms) {
        return Ok(ms);
    }
    let [min, max] = [min, max].map(|ms| duration::display(Duration::from_millis(ms)));
    let message = format!("{flag} {} is out of range: {min} to {max}", quoted(text));
    Err(Failure::new(Slug::InvalidDuration, message).hint(hint))
}

/// How long an answer is put off, in milliseconds, as a number of minutes states it.
pub fn later_ms(text: &str) -> Result<u64, Failure> {
    let minutes = text.parse::<i64>().map_err(|_| {
        Failure::new(Slug::Usage, format!("{} is no number of minutes", quoted(text))).hint("such as: 20")
    })?;
    let range = 1..=LATER_MINUTES_MAX;
    match u64::try_from(minutes).ok().filter(|minutes| range.contains(minutes)) {
        Some(minutes) => Ok(minutes * 60_000),
        None => {
            let message =
                format!("an answer is put off by 1 to {LATER_MINUTES_MAX} minutes, not by {minutes}");
            Err(Failure::new(Slug::EtaOutOfRange, message)
                .hint("say what is true now; it can be put off again at any time"))
        }
    }
}

/// A key under which an answer is remembered.
pub fn idempotency_key(text: &str) -> Result<String, Failure> {
    let is_long = text.len() > IDEMPOTENCY_KEY_BYTES_MAX;
    if !is_long && !text.is_empty() && text.chars().all(|c| c.is_ascii_graphic()) {
        return Ok(text.to_owned());
    }
    let slug = if is_long { Slug::TooLarge } else { Slug::Usage };
    let message = format!("an idempotency key is 1 to {IDEMPOTENCY_KEY_BYTES_MAX} visible ASCII characters");
    Err(Failure::new(slug, message).hint("use a UUID"))
}

/// The id of a client's session, as the variable states it. Characters that a shell would not leave alone are in
/// none that any client makes.
pub fn session_id(text: &str) -> Option<String> {
    let is_plain = |c: char| c.is_ascii_graphic() && !"\"'\\`$".contains(c);
    (text.len() <= SESSION_BYTES_MAX && text.chars().all(is_plain)).then(|| text.to_owned())
}

/// What to say where a session id is needed and the variable holds none.
pub(crate) fn no_session_id(variable: &str) -> Failure {
    let message =
        format!("{variable} does not hold a session id: at most {SESSION_BYTES_MAX} plain characters");
    Failure::new(Slug::NoIdentity, message).hint("start the client again, or unset the variable")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_is_taken_up_to_its_limits_and_no_further() {
        for (text, ms) in [("1s", TTL_MS_MIN), ("24h", TTL_MS_MAX), ("1h30m", 5_400_000)] {
            assert_eq!(lease_span_ms(text, "--ttl"), Ok(ms));
        }
        for text in ["999ms", "25h", "0s", "90", ""] {
            let failure = lease_span_ms(text, "--max").unwrap_err();
            assert!(failure.slug == Slug::InvalidDuration && failure.message.starts_with("--max"), "{text}");
        }
        assert!(lease_span_ms("2d", "--ttl").unwrap_err().message.ends_with("out of range: 1s to 1d"));
    }

    #[test]
    fn an_answer_is_put_off_by_a_minute_at_least_and_an_hour_at_most() {
        assert_eq!(["1", "60"].map(|text| later_ms(text).unwrap()), [60_000, 3_600_000]);
        for text in ["0", "-3", "61", "500"] {
            assert_eq!(later_ms(text).unwrap_err().slug, Slug::EtaOutOfRange, "{text}");
        }
        for text in ["", "soon", "1.5", "99999999999999999999"] {
            assert_eq!(later_ms(text).unwrap_err().slug, Slug::Usage, "{text}");
        }
    }

    #[test]
    fn a_key_is_visible_ascii_of_bounded_length() {
        let longest = "k".repeat(IDEMPOTENCY_KEY_BYTES_MAX);
        assert_eq!(idempotency_key(&longest).as_deref(), Ok(longest.as_str()));
        assert_eq!(idempotency_key(&format!("{longest}k")).unwrap_err().slug, Slug::TooLarge);
        for text in ["", "a b", "é", "a\n"] {
            assert_eq!(idempotency_key(text).unwrap_err().slug, Slug::Usage, "{text:?}");
        }
    }

    #[test]
    fn a_session_id_holds_nothing_a_shell_would_touch() {
        assert_eq!(session_id("0193-ab/1").as_deref(), Some("0193-ab/1"));
        for text in ["a b", "$(x)", "'", &"s".repeat(SESSION_BYTES_MAX + 1)] {
            assert_eq!(session_id(text), None, "{text:?}");
        }
    }
}
