//! A signed head, one line of JSON.

use clearway_core::failure::Failure;
use clearway_core::ids::{ScopeKey, Seq};
use clearway_core::slug::Slug;
use clearway_core::time::Wall;
use clearway_store::contract::Head;
use clearway_store::verify::Mark;
use clearway_wire::chain::ChainHash;
use ed25519_dalek::{Signature, Signer, SigningKey, Verifier, VerifyingKey};
use serde_json::{Value, json};

/// A head somebody vouched for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Anchor {
    /// Of which scope.
    pub scope: ScopeKey,
    /// The head.
    pub head: Head,
    /// When, for people.
    pub at: Wall,
    /// Who: the public half of the operator's key.
    pub signer: [u8; 32],
    signature: [u8; 64],
    place: String,
}

impl Anchor {
    /// Signs a head.
    pub(super) fn sign(key: &SigningKey, scope: &ScopeKey, head: Head, at: Wall) -> Self {
        let signature = key.sign(&statement(scope, &head, at)).to_bytes();
        let signer = key.verifying_key().to_bytes();
        Self { scope: scope.clone(), head, at, signer, signature, place: String::new() }
    }

    /// The anchor as a line of its file.
    pub(super) fn line(&self) -> String {
        json!({
            "scope": self.scope.as_str(),
            "seq": self.head.rev.0,
            "hash": self.head.hash.to_string(),
            "at_ms": self.at.0,
            "signer": hex(&self.signer),
            "signature": hex(&self.signature),
        })
        .to_string()
    }

    /// Reads a line. One of another scope is passed over; one that is not what its signer wrote is refused.
    pub(super) fn read(line: &str, place: &str, scope: &ScopeKey) -> Result<Option<Self>, Failure> {
        if line.trim().is_empty() {
            return Ok(None);
        }
        let anchor = parse(line, place).ok_or_else(|| bad(place, "a line is no anchor"))?;
        if anchor.scope != *scope {
            return Ok(None);
        }
        let key =
            VerifyingKey::from_bytes(&anchor.signer).map_err(|_| bad(place, "a signer is no public key"))?;
        let signature = Signature::from_bytes(&anchor.signature);
        let stated = statement(&anchor.scope, &anchor.head, anchor.at);
        key.verify(&stated, &signature).map_err(|_| bad(place, "a signature does not fit its anchor"))?;
        Ok(Some(anchor))
    }

    pub(super) fn mark(&self) -> Mark {
        Mark { head: self.head, by: format!("an anchor in {}", self.place) }
    }

    /// The signer as text.
    pub fn signer_text(&self) -> String {
        hex(&self.signer)
    }
}

/// What is signed: every field, each with its length in front.
fn statement(scope: &ScopeKey, head: &Head, at: Wall) -> Vec<u8> {
    let mut bytes = b"clearway anchor 1".to_vec();
    for part in
        [scope.as_str().as_bytes(), &head.rev.0.to_be_bytes(), head.hash.0.as_slice(), &at.0.to_be_bytes()]
    {
        bytes.extend_from_slice(&(part.len() as u64).to_be_bytes());
        bytes.extend_from_slice(part);
    }
    bytes
}

fn parse(line: &str, place: &str) -> Option<Anchor> {
    let value: Value = serde_json::from_str(line).ok()?;
    let text = |name: &str| value.get(name)?.as_str();
    Some(Anchor {
        scope: ScopeKey::parse(text("scope")?)?,
        head: Head { rev: Seq(value.get("seq")?.as_u64()?), hash: ChainHash::from_hex(text("hash")?)? },
        at: Wall(value.get("at_ms")?.as_i64()?),
        signer: unhex(text("signer")?)?,
        signature: unhex(text("signature")?)?,
        place: place.to_owned(),
    })
}

fn bad(place: &str, what: &str) -> Failure {
    Failure::new(Slug::AuditBroken, format!("the anchors in {place} cannot be trusted: {what}"))
        .hint("compare with an exported copy: clearway audit verify --anchors FILE")
}

pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

pub(super) fn unhex<const N: usize>(text: &str) -> Option<[u8; N]> {
    if text.len() != 2 * N || !text.is_ascii() {
        return None;
    }
    let mut bytes = [0; N];
    for (byte, digits) in bytes.iter_mut().zip(text.as_bytes().chunks(2)) {
        *byte = u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn anchor() -> (Anchor, ScopeKey) {
        let scope = ScopeKey::parse("app-01234567").unwrap();
        let head = Head { rev: Seq(7), hash: ChainHash([9; 32]) };
        (Anchor::sign(&SigningKey::from_bytes(&[3; 32]), &scope, head, Wall(5)), scope)
    }

    #[test]
    fn an_anchor_reads_back_and_any_changed_digit_is_refused() {
        let (anchor, scope) = anchor();
        let line = anchor.line();
        let read = Anchor::read(&line, "x", &scope).unwrap().unwrap();
        assert_eq!((read.head, read.signer), (anchor.head, anchor.signer));
        for forged in [line.replace("\"seq\":7", "\"seq\":6"), line.replace("\"at_ms\":5", "\"at_ms\":4")] {
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
