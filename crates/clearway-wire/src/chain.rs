//! The hash chain of a log: each event is hashed with its predecessor, its scope and its place.

use clearway_core::ids::{ScopeKey, Seq};
use std::fmt;

/// The hash of an event and, through it, of everything before it.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct ChainHash(pub [u8; 32]);

impl ChainHash {
    /// What the first event of every log follows.
    pub const GENESIS: Self = Self([0; 32]);

    /// The hash of the event at `seq` with these canonical bytes.
    pub fn next(self, scope: &ScopeKey, seq: Seq, bytes: &[u8]) -> Self {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&self.0);
        hasher.update(&(scope.as_str().len() as u64).to_be_bytes());
        hasher.update(scope.as_str().as_bytes());
        hasher.update(&seq.0.to_be_bytes());
        hasher.update(bytes);
        Self(*hasher.finalize().as_bytes())
    }

    /// Reads 32 bytes.
    pub fn from_slice(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(Self)
    }

    /// Reads 64 hexadecimal digits.
    pub fn from_hex(text: &str) -> Option<Self> {
        crate::hex::decode(text).map(Self)
    }
}

impl fmt::Display for ChainHash {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(formatter, "{byte:02x}"))
    }
}

impl fmt::Debug for ChainHash {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

/// The digest of any text, for comparing requests without keeping them.
pub fn digest(text: &str) -> [u8; 32] {
    *blake3::hash(text.as_bytes()).as_bytes()
}

/// The digest of any bytes.
pub fn digest_bytes(bytes: &[u8]) -> [u8; 32] {
    *blake3::hash(bytes).as_bytes()
}
