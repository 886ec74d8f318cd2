//! An anchor as it is kept and signed: one line of JSON, and the bytes that the signature is over.
//!
//! It neither signs nor believes: keys are the kernel's matter.

use crate::chain::ChainHash;
use crate::hex;
use clearway_core::ids::{Epoch, ScopeKey, Seq};
use clearway_core::time::Wall;
use serde_json::{Value, json};

/// A head somebody vouched for, with the signature.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnchorRecord {
    /// Of which scope.
    pub scope: ScopeKey,
    /// Which boot its fences belong to.
    pub epoch: Epoch,
    /// The last event.
    pub seq: Seq,
    /// Its hash.
    pub hash: ChainHash,
    /// When, for people.
    pub at: Wall,
    /// The public half of the key.
    pub signer: [u8; 32],
    /// Over [`statement`].
    pub signature: [u8; 64],
}

impl AnchorRecord {
    /// The record as a line of its file.
    pub fn line(&self) -> String {
        json!({
            "scope": self.scope.as_str(),
            "epoch": self.epoch.0,
            "seq": self.seq.0,
            "hash": self.hash.to_string(),
            "at_ms": self.at.0,
            "signer": hex::encode(&self.signer),
            "signature": hex::encode(&self.signature),
        })
        .to_string()
    }

    /// Reads a line; `None` if it is no anchor.
    pub fn parse(line: &str) -> Option<Self> {
        let value: Value = serde_json::from_str(line).ok()?;
        let text = |name: &str| value.get(name)?.as_str();
        Some(Self {
            scope: ScopeKey::parse(text("scope")?)?,
            epoch: Epoch(value.get("epoch")?.as_u64()?.try_into().ok()?),
            seq: Seq(value.get("seq")?.as_u64()?),
            hash: ChainHash::from_hex(text("hash")?)?,
            at: Wall(value.get("at_ms")?.as_i64()?),
            signer: hex::decode(text("signer")?)?,
            signature: hex::decode(text("signature")?)?,
        })
    }

    /// What the signature of this record is over.
    pub fn statement(&self) -> Vec<u8> {
        statement(&self.scope, self.epoch, self.seq, self.hash, self.at)
    }
}

/// What is signed: every field, each with its length in front.
pub fn statement(scope: &ScopeKey, epoch: Epoch, seq: Seq, hash: ChainHash, at: Wall) -> Vec<u8> {
    let mut bytes = b"clearway anchor 1".to_vec();
    let numbers = [u64::from(epoch.0).to_be_bytes(), seq.0.to_be_bytes(), at.0.to_be_bytes()];
    let numbers = numbers.iter().map(<[u8; 8]>::as_slice);
    for part in [scope.as_str().as_bytes(), hash.0.as_slice()].into_iter().chain(numbers) {
        bytes.extend_from_slice(&(part.len() as u64).to_be_bytes());
        bytes.extend_from_slice(part);
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_reads_back_from_its_line_and_nothing_else_is_one() {
        let scope = ScopeKey::parse("app-01234567").unwrap();
        let (epoch, seq, hash, at) = (Epoch(3), Seq(7), ChainHash([9; 32]), Wall(5));
        let record = AnchorRecord { scope, epoch, seq, hash, at, signer: [1; 32], signature: [2; 64] };
        assert_eq!(AnchorRecord::parse(&record.line()), Some(record.clone()));
        assert_eq!(AnchorRecord::parse("{}"), None);
        assert_eq!(AnchorRecord::parse(&record.line().replace("\"0101", "\"+101")), None);
    }

    #[test]
    fn every_field_is_part_of_what_is_signed() {
        let scope = |text| ScopeKey::parse(text).unwrap();
        let stated = [
            statement(&scope("app-01234567"), Epoch(3), Seq(7), ChainHash([9; 32]), Wall(5)),
            statement(&scope("app-01234567"), Epoch(4), Seq(7), ChainHash([9; 32]), Wall(5)),
            statement(&scope("apq-01234567"), Epoch(3), Seq(7), ChainHash([9; 32]), Wall(5)),
            statement(&scope("app-01234567"), Epoch(3), Seq(8), ChainHash([9; 32]), Wall(5)),
            statement(&scope("app-01234567"), Epoch(3), Seq(7), ChainHash([8; 32]), Wall(5)),
            statement(&scope("app-01234567"), Epoch(3), Seq(7), ChainHash([9; 32]), Wall(6)),
        ];
        for (index, one) in stated.iter().enumerate() {
            assert!(stated.iter().skip(index + 1).all(|other| other != one));
        }
    }
}
