//! Length-prefixed bytes: the alphabet of canonical events and remembered outcomes.
//!
//! Every value has exactly one encoding, so equal values have equal hashes. Nothing here knows what a lease is.

use thiserror::Error;

/// Why bytes cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum DecodeError {
    /// They end too early.
    #[error("the bytes end at {position} where {wanted} more were expected")]
    Truncated {
        /// Where.
        position: usize,
        /// How many were wanted.
        wanted: usize,
    },
    /// Something follows that nobody wrote.
    #[error("{count} bytes follow the end")]
    Trailing {
        /// How many.
        count: usize,
    },
    /// A value is not one of those that can stand there.
    #[error("no {what} is written as {found:?}")]
    Unknown {
        /// Of what kind.
        what: &'static str,
        /// What stands there.
        found: String,
    },
    /// Written by a newer version.
    #[error("version {found} is newer than {known}")]
    Newer {
        /// The version found.
        found: u8,
        /// The newest this build reads.
        known: u8,
    },
}

impl DecodeError {
    pub(crate) fn unknown(what: &'static str, found: impl Into<String>) -> Self {
        Self::Unknown { what, found: found.into() }
    }
}

/// Appends values.
#[derive(Debug, Default)]
pub(crate) struct Writer {
    bytes: Vec<u8>,
}

impl Writer {
    pub(crate) fn finish(self) -> Vec<u8> {
        self.bytes
    }

    pub(crate) fn byte(&mut self, value: u8) {
        self.bytes.push(value);
    }

    pub(crate) fn number(&mut self, value: u64) {
        self.bytes.extend_from_slice(&value.to_be_bytes());
    }

    pub(crate) fn signed(&mut self, value: i64) {
        self.bytes.extend_from_slice(&value.to_be_bytes());
    }

    pub(crate) fn text(&mut self, value: &str) {
        self.length(value.len());
        self.bytes.extend_from_slice(value.as_bytes());
    }

    pub(crate) fn flag(&mut self, value: bool) {
        self.byte(u8::from(value));
    }

    pub(crate) fn option<T>(&mut self, value: Option<T>, write: impl FnOnce(&mut Self, T)) {
        self.flag(value.is_some());
        if let Some(value) = value {
            write(self, value);
        }
    }

    pub(crate) fn list<T>(
        &mut self,
        values: impl ExactSizeIterator<Item = T>,
        mut write: impl FnMut(&mut Self, T),
    ) {
        self.length(values.len());
        values.for_each(|value| write(self, value));
    }

    /// Lists and texts are bounded by named limits far below this.
    fn length(&mut self, length: usize) {
        self.bytes.extend_from_slice(&u32::try_from(length).unwrap_or(u32::MAX).to_be_bytes());
    }
}

/// Reads values back, never past the end and never into more memory than the bytes justify.
#[derive(Debug)]
pub(crate) struct Reader<'a> {
    bytes: &'a [u8],
    position: usize,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, position: 0 }
    }

    pub(crate) fn end(&self) -> Result<(), DecodeError> {
        match self.bytes.len() - self.position {
            0 => Ok(()),
            count => Err(DecodeError::Trailing { count }),
        }
    }

    pub(crate) fn byte(&mut self) -> Result<u8, DecodeError> {
        Ok(self.take(1)?[0])
    }

    pub(crate) fn number(&mut self) -> Result<u64, DecodeError> {
        self.array().map(u64::from_be_bytes)
    }

    pub(crate) fn signed(&mut self) -> Result<i64, DecodeError> {
        self.array().map(i64::from_be_bytes)
    }

    pub(crate) fn text(&mut self) -> Result<&'a str, DecodeError> {
        let length = self.length()?;
        let bytes = self.take(length)?;
        std::str::from_utf8(bytes).map_err(|_| DecodeError::unknown("text", String::from_utf8_lossy(bytes)))
    }

    /// Reads the version all bytes begin with. There was no version 0.
    pub(crate) fn version(&mut self, known: u8) -> Result<u8, DecodeError> {
        match self.byte()? {
            0 => Err(DecodeError::unknown("version", "0")),
            found if found > known => Err(DecodeError::Newer { found, known }),
            found => Ok(found),
        }
    }

    /// Reads a yes or no; any third value would be a second way to write one of them.
    pub(crate) fn flag(&mut self, what: &'static str) -> Result<bool, DecodeError> {
        match self.byte()? {
            0 => Ok(false),
            1 => Ok(true),
            other => Err(DecodeError::unknown(what, other.to_string())),
        }
    }

    pub(crate) fn option<T>(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<T, DecodeError>,
    ) -> Result<Option<T>, DecodeError> {
        if self.flag("option")? { read(self).map(Some) } else { Ok(None) }
    }

    pub(crate) fn list<T>(
        &mut self,
        mut read: impl FnMut(&mut Self) -> Result<T, DecodeError>,
    ) -> Result<Vec<T>, DecodeError> {
        let length = self.length()?;
        (0..length).map(|_| read(self)).collect()
    }

    /// Reads a word of a closed vocabulary.
    pub(crate) fn word<T>(
        &mut self,
        what: &'static str,
        parse: impl FnOnce(&str) -> Option<T>,
    ) -> Result<T, DecodeError> {
        let text = self.text()?;
        parse(text).ok_or_else(|| DecodeError::unknown(what, text))
    }

    fn length(&mut self) -> Result<usize, DecodeError> {
        self.array().map(|bytes| u32::from_be_bytes(bytes) as usize)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], DecodeError> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(N)?);
        Ok(array)
    }

    fn take(&mut self, count: usize) -> Result<&'a [u8], DecodeError> {
        let rest = &self.bytes[self.position..];
        let taken = rest
            .get(..count)
            .ok_or_else(|| DecodeError::Truncated { position: self.position, wanted: count - rest.len() })?;
        self.position += count;
        Ok(taken)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flag_has_two_spellings_and_no_third() {
        for (byte, expect) in [(0, Ok(false)), (1, Ok(true)), (2, Err(())), (255, Err(()))] {
            assert_eq!(Reader::new(&[byte]).flag("flag").map_err(|_| ()), expect, "{byte}");
        }
        assert!(Reader::new(&[2]).option(Reader::byte).is_err());
    }

    #[test]
    fn versions_are_counted_from_one_and_newer_ones_are_named() {
        assert!(Reader::new(&[0]).version(2).is_err());
        assert_eq!(Reader::new(&[1]).version(2), Ok(1));
        assert_eq!(Reader::new(&[3]).version(2), Err(DecodeError::Newer { found: 3, known: 2 }));
    }

    #[test]
    fn bytes_that_end_too_early_are_counted() {
        assert_eq!(Reader::new(&[0, 0]).number(), Err(DecodeError::Truncated { position: 0, wanted: 6 }));
        assert!(Reader::new(&[255, 255, 255, 255, b'x']).text().is_err());
    }
}
