//! Ids, sequence numbers and fences.
//!
//! One shape for every id: eight characters of lower-case base36. A newtype per kind, so that an agent can
//! never be passed where a lease is meant. Secrets are not ids and do not live here.

use std::fmt;

/// A source of unpredictable bytes, passed in so that decisions stay pure.
pub type Entropy<'a> = dyn FnMut(&mut [u8]) + 'a;

const ID_CHARS: usize = 8;
const BASE36: &[u8; 36] = b"0123456789abcdefghijklmnopqrstuvwxyz";

/// Eight base36 characters without a kind; the newtypes below give it one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Id([u8; ID_CHARS]);

impl Id {
    /// Draws a fresh id. Bytes from 252 upward are drawn again, so every character is equally likely.
    pub fn draw(entropy: &mut Entropy<'_>) -> Self {
        let mut id = [0_u8; ID_CHARS];
        let mut filled = 0;
        while filled < ID_CHARS {
            let mut bytes = [0_u8; 16];
            entropy(&mut bytes);
            for byte in bytes.into_iter().filter(|byte| *byte < 252) {
                if filled < ID_CHARS {
                    id[filled] = BASE36[usize::from(byte % 36)];
                    filled += 1;
                }
            }
        }
        Self(id)
    }

    /// Reads an id back from text; anything but eight base36 characters is `None`.
    pub fn parse(text: &str) -> Option<Self> {
        let bytes: [u8; ID_CHARS] = text.as_bytes().try_into().ok()?;
        bytes.iter().all(|byte| BASE36.contains(byte)).then_some(Self(bytes))
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        std::str::from_utf8(&self.0).unwrap_or_default()
    }
}

impl fmt::Display for Id {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.as_str())
    }
}

impl fmt::Debug for Id {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

macro_rules! id_kind {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub Id);

        impl $name {
            /// Draws a fresh id.
            pub fn draw(entropy: &mut Entropy<'_>) -> Self {
                Self(Id::draw(entropy))
            }

            /// Reads an id back from text.
            pub fn parse(text: &str) -> Option<Self> {
                Id::parse(text).map(Self)
            }

            /// The id as text.
            pub fn as_str(&self) -> &str {
                self.0.as_str()
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(formatter)
            }
        }
    };
}

id_kind!(
    /// Names one lease for its whole life, also after it ended.
    LeaseId
);
id_kind!(
    /// Names one agent.
    AgentId
);
id_kind!(
    /// Names one place in the queue.
    WaitId
);
id_kind!(
    /// Names one request to the holder of a lease.
    NegotiationId
);
id_kind!(
    /// Ties the leases of one write-set together.
    SetId
);

/// The position of an event in its scope's log, counted from 1. The revision of a scope is the `Seq` of its
/// last event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Seq(pub u64);

impl Seq {
    /// The next position.
    pub fn next(self) -> Self {
        Self(self.0 + 1)
    }
}

impl fmt::Display for Seq {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

/// Counts the boots a scope has seen. It moves durably before anything is granted under a new boot, so a
/// sequence number lost with the power can never be handed out twice as the same fence.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Epoch(pub u32);

/// The order of a grant: who holds the higher fence came later.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fence {
    /// Major part: the boot.
    pub epoch: Epoch,
    /// Minor part: the grant event.
    pub seq: Seq,
}

const FENCE_SEQ_BITS: u32 = 40;

impl Fence {
    /// The one integer shown to the outside: `epoch * 2^40 + seq`, below 2^53 for 8,192 boots.
    pub fn to_integer(self) -> u64 {
        (u64::from(self.epoch.0) << FENCE_SEQ_BITS) | self.seq.0
    }

    /// Reads the integer form back.
    pub fn from_integer(value: u64) -> Self {
        let seq = value & ((1 << FENCE_SEQ_BITS) - 1);
        let epoch = u32::try_from(value >> FENCE_SEQ_BITS).unwrap_or(u32::MAX);
        Self { epoch: Epoch(epoch), seq: Seq(seq) }
    }
}

impl fmt::Display for Fence {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.to_integer().fmt(formatter)
    }
}

/// Names one scope in the store: `<name>-<hash>` of the repository, or `machine`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ScopeKey(String);

impl ScopeKey {
    /// The scope of machine-wide resources.
    pub fn machine() -> Self {
        Self("machine".to_owned())
    }

    /// Makes the key of a place: what can be kept of its name, and eight digits that tell it from its namesakes.
    pub fn of(name: &str, digest: [u8; 4]) -> Self {
        let plain = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-') { c } else { '-' };
        let kept: String = name.chars().map(plain).collect();
        let kept = kept.trim_matches(|c: char| !c.is_ascii_alphanumeric());
        let kept = if kept.is_empty() { "scope" } else { &kept[..kept.len().min(40)] };
        Self(format!("{kept}-{:08x}", u32::from_be_bytes(digest)))
    }

    /// The key of a place whose own was adopted by another: the same with a number.
    #[must_use]
    pub fn successor(&self, generation: u32) -> Self {
        Self(format!("{self}.{generation}"))
    }

    /// Reads a key; anything but letters, digits, `.`, `_` and `-` (at most 80) is `None`.
    pub fn parse(text: &str) -> Option<Self> {
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
        let starts_well = text.starts_with(|c: char| c.is_ascii_alphanumeric());
        (starts_well && text.len() <= 80 && text.chars().all(plain)).then(|| Self(text.to_owned()))
    }

    /// The key as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ScopeKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn counting() -> impl FnMut(&mut [u8]) {
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        move |bytes: &mut [u8]| {
            for byte in bytes {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                *byte = (state >> 33) as u8;
            }
        }
    }

    #[test]
    fn ids_are_eight_base36_characters_and_read_back() {
        let mut entropy = counting();
        let drawn: BTreeSet<Id> = (0..10_000).map(|_| Id::draw(&mut entropy)).collect();
        assert_eq!(drawn.len(), 10_000, "no two draws agree");
        for id in drawn {
            assert_eq!(Id::parse(id.as_str()), Some(id));
        }
    }

    #[test]
    fn bytes_that_would_bias_an_id_are_drawn_again() {
        let mut first = true;
        let mut entropy = |bytes: &mut [u8]| {
            bytes.fill(if std::mem::take(&mut first) { 255 } else { 35 });
        };
        assert_eq!(Id::draw(&mut entropy).as_str(), "zzzzzzzz");
    }

    #[test]
    fn foreign_text_is_no_id() {
        for text in ["", "abc", "ABCDEFGH", "abcdefg!", "abcdefghi", "äbcdefg"] {
            assert_eq!(Id::parse(text), None, "{text:?}");
        }
    }

    #[test]
    fn a_fence_is_one_integer_that_grows_with_epoch_then_seq() {
        let old = Fence { epoch: Epoch(1), seq: Seq(900) };
        let new = Fence { epoch: Epoch(2), seq: Seq(1) };
        assert!(new > old && new.to_integer() > old.to_integer());
        assert_eq!(Fence::from_integer(new.to_integer()), new);
        let last = Fence { epoch: Epoch(8_191), seq: Seq((1 << 40) - 1) };
        assert!(last.to_integer() < 1 << 53, "fits a JSON number");
    }

    #[test]
    fn a_scope_key_is_safe_as_a_directory_name() {
        for text in ["", "..", "a/b", "-x", ".hidden", "a b", "a\n"] {
            assert_eq!(ScopeKey::parse(text), None, "{text:?}");
        }
        assert!(ScopeKey::parse("clearway-1a2b3c4d").is_some());
        for name in ["", ".hidden", "ünïcode dir", "-x", "a/b", "...", &"x".repeat(300)] {
            let key = ScopeKey::of(name, [0, 1, 2, 3]);
            assert_eq!(ScopeKey::parse(key.as_str()), Some(key), "{name:?}");
        }
    }
}
