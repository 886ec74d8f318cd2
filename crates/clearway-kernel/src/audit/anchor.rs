//! A signed head: who vouches for a log, and whether that is to be believed.

use clearway_core::failure::Failure;
use clearway_core::ids::{Epoch, ScopeKey};
use clearway_core::slug::Slug;
use clearway_core::time::Wall;
use clearway_store::contract::Head;
use clearway_store::verify::Mark;
use clearway_wire::anchor::{AnchorRecord, statement};
use clearway_wire::hex;
use ed25519_dalek::{Signature, Signer, SigningKey, Verifier, VerifyingKey};

/// A head somebody vouched for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Anchor {
    record: AnchorRecord,
    place: String,
}

impl Anchor {
    /// Signs a head.
    pub(super) fn sign(key: &SigningKey, scope: &ScopeKey, epoch: Epoch, head: Head, at: Wall) -> Self {
        let Head { rev: seq, hash } = head;
        let signature = key.sign(&statement(scope, epoch, seq, hash, at)).to_bytes();
        let signer = key.verifying_key().to_bytes();
        let record = AnchorRecord { scope: scope.clone(), epoch, seq, hash, at, signer, signature };
        Self { record, place: String::new() }
    }

    /// The anchor as a line of its file.
    pub(super) fn line(&self) -> String {
        self.record.line()
    }

    /// Reads a line. One of another scope is passed over; one that is not what its signer wrote is refused.
    pub(super) fn read(line: &str, place: &str, scope: &ScopeKey) -> Result<Option<Self>, Failure> {
        if line.trim().is_empty() {
            return Ok(None);
        }
        let record = AnchorRecord::parse(line).ok_or_else(|| bad(place, "a line is no anchor"))?;
        if record.scope != *scope {
            return Ok(None);
        }
        let key =
            VerifyingKey::from_bytes(&record.signer).map_err(|_| bad(place, "a signer is no public key"))?;
        let signature = Signature::from_bytes(&record.signature);
        key.verify(&record.statement(), &signature)
            .map_err(|_| bad(place, "a signature does not fit its anchor"))?;
        Ok(Some(Self { record, place: place.to_owned() }))
    }

    pub(super) fn mark(&self) -> Mark {
        Mark { head: self.head(), by: format!("an anchor in {}", self.place) }
    }

    /// The head.
    pub fn head(&self) -> Head {
        Head { rev: self.record.seq, hash: self.record.hash }
    }

    /// When, for people.
    pub fn at(&self) -> Wall {
        self.record.at
    }

    /// Who: the public half of the operator's key.
    pub(super) fn signer(&self) -> [u8; 32] {
        self.record.signer
    }

    /// The signer as text.
    pub fn signer_text(&self) -> String {
        hex::encode(&self.record.signer)
    }
}

fn bad(place: &str, what: &str) -> Failure {
    Failure::new(Slug::AuditBroken, format!("the anchors in {place} cannot be trusted: {what}"))
        .hint("compare with an exported copy: clearway audit verify --anchors FILE")
}

#[cfg(test)]
mod tests {
    use super::*;
    use clearway_core::ids::Seq;
    use clearway_wire::chain::ChainHash;

    fn anchor() -> (Anchor, ScopeKey) {
        let scope = ScopeKey::parse("app-01234567").unwrap();
        let head = Head { rev: Seq(7), hash: ChainHash([9; 32]) };
        (Anchor::sign(&SigningKey::from_bytes(&[3; 32]), &scope, Epoch(3), head, Wall(5)), scope)
    }

    #[test]
    fn an_anchor_reads_back_and_any_changed_digit_is_refused() {
        let (anchor, scope) = anchor();
        let line = anchor.line();
        let read = Anchor::read(&line, "x", &scope).unwrap().unwrap();
        assert_eq!((read.head(), read.signer()), (anchor.head(), anchor.signer()));
        for forged in [
            line.replace("\"seq\":7", "\"seq\":6"),
            line.replace("\"epoch\":3", "\"epoch\":2"),
            line.replace("\"at_ms\":5", "\"at_ms\":4"),
        ] {
            assert_ne!(forged, line);
            assert!(Anchor::read(&forged, "x", &scope).is_err());
        }
        assert!(Anchor::read("{}", "x", &scope).is_err());
    }

    #[test]
    fn an_anchor_of_another_scope_is_passed_over() {
        let (anchor, _) = anchor();
        let other = ScopeKey::parse("other-01234567").unwrap();
        assert_eq!(Anchor::read(&anchor.line(), "x", &other).unwrap(), None);
    }
}
