//! The machine's clock, read as one consistent triple.
//!
//! Deadlines compare `mono_ms`, and only between readings with the same [`BootKey`]; `wall_ms` is
//! for display alone. This module never sleeps and never compares two readings.

use std::fmt;
use std::sync::OnceLock;

use rustix::time::{ClockId, Timespec, clock_gettime};

use crate::system;

/// Anything that can tell the time; tests pass one of their own.
pub trait Clock {
    /// Reads boot, monotonic and wall time together.
    fn read(&self) -> Result<Reading, ClockError>;
}

/// What the clock said, once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reading {
    /// Which run of which clock `mono_ms` belongs to.
    pub boot: BootKey,
    /// Milliseconds of `CLOCK_MONOTONIC`, which stands still while the machine sleeps.
    pub mono_ms: u64,
    /// Milliseconds since 1970, as the wall clock believes; it may jump in both directions.
    pub wall_ms: i64,
}

/// Names the span in which monotonic readings are comparable: one boot, one time namespace.
///
/// A container may run with its own monotonic offset, so the boot id alone is not enough.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BootKey(String);

impl BootKey {
    /// Joins a boot id and a time namespace, `-` where the kernel has none.
    pub fn new(boot_id: &str, time_namespace: Option<&str>) -> Self {
        Self(format!("{boot_id}/{}", time_namespace.unwrap_or("-")))
    }

    /// Takes back what [`BootKey::as_str`] gave, for instance from a store.
    pub fn from_text(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The key as text, for storing and comparing.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The boot id without the time namespace.
    pub fn boot_id(&self) -> &str {
        self.0.split_once('/').map_or(self.0.as_str(), |(boot_id, _)| boot_id)
    }
}

impl fmt::Display for BootKey {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

/// Why the time could not be told.
#[derive(Debug, thiserror::Error)]
pub enum ClockError {
    /// Without a boot id no monotonic reading can be compared with a stored one.
    #[error("the boot id of this machine cannot be read from {place}")]
    BootId {
        /// Where it was looked for.
        place: &'static str,
        /// What the system answered.
        source: std::io::Error,
    },
}

/// The machine's own clock.
#[derive(Debug, Default)]
pub struct SystemClock;

impl SystemClock {
    /// A clock that reads the boot id at its first reading.
    pub fn new() -> Self {
        Self
    }
}

impl Clock for SystemClock {
    fn read(&self) -> Result<Reading, ClockError> {
        let boot = boot_key()?;
        let mono_ms = millis(clock_gettime(ClockId::Monotonic));
        let wall_ms = millis(clock_gettime(ClockId::Realtime));
        Ok(Reading { boot, mono_ms: u64::try_from(mono_ms).unwrap_or(0), wall_ms })
    }
}

/// The boot key this process lives under, which stays the same as long as it does: it is read once.
pub fn boot_key() -> Result<BootKey, ClockError> {
    static BOOT: OnceLock<BootKey> = OnceLock::new();
    if let Some(boot) = BOOT.get() {
        return Ok(boot.clone());
    }
    let boot_id =
        system::boot_id().map_err(|source| ClockError::BootId { place: system::BOOT_ID_PLACE, source })?;
    let boot = BootKey::new(&boot_id, system::time_namespace().as_deref());
    Ok(BOOT.get_or_init(|| boot).clone())
}

/// Rounds down, so that no deadline looks reached before it is.
fn millis(time: Timespec) -> i64 {
    time.tv_sec.saturating_mul(1_000).saturating_add(time.tv_nsec / 1_000_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn monotonic_time_never_goes_back_and_the_boot_key_stays() {
        let clock = SystemClock::new();
        let first = clock.read().unwrap();
        let second = clock.read().unwrap();
        assert!(second.mono_ms >= first.mono_ms);
        assert_eq!(first.boot, second.boot);
        assert_eq!(first.boot, SystemClock::new().read().unwrap().boot);
    }

    #[test]
    fn wall_time_is_after_this_was_written() {
        let written_ms = 1_700_000_000_000;
        assert!(SystemClock::new().read().unwrap().wall_ms > written_ms);
    }

    #[test]
    fn the_boot_key_names_boot_and_time_namespace() {
        assert_eq!(BootKey::new("abc", Some("4026531834")).as_str(), "abc/4026531834");
        assert_eq!(BootKey::new("abc", None).as_str(), "abc/-");
        assert_eq!(BootKey::new("abc", Some("1")).boot_id(), "abc");
        assert_eq!(BootKey::from_text("old").boot_id(), "old");
    }

    #[test]
    fn this_machine_has_a_boot_id() {
        assert!(!boot_key().unwrap().boot_id().is_empty());
    }

    #[test]
    fn times_before_1970_round_down_too() {
        let time = Timespec { tv_sec: -1, tv_nsec: 999_999_999 };
        assert_eq!(millis(time), -1);
        assert_eq!(millis(Timespec { tv_sec: 1, tv_nsec: 999_999_999 }), 1_999);
    }
}
