//! The operator's key: who may vouch for a log, and who may act for others without a terminal.

use super::anchor::Anchor;
use crate::outside::Outside;
use clearway_core::failure::Failure;
use clearway_core::slug::Slug;
use clearway_wire::hex;
use ed25519_dalek::SigningKey;
use std::path::{Path, PathBuf};

/// Names a file with the operator's key, for an operator without a terminal.
pub(crate) const KEY_VARIABLE: &str = "CLEARWAY_OPERATOR_KEY";

/// The key, made on first use. Of several that use it first exactly one makes it.
pub(super) fn load_or_make(outside: &mut dyn Outside) -> Result<(SigningKey, bool), Failure> {
    let path = outside.operator_key_path()?;
    let is_new = read(outside, &path)?.is_none() && make(outside, &path)?;
    let key = read(outside, &path)?.ok_or_else(|| vanished(&path))?;
    // Whoever made the key may have died before its public half was written, and without that half anybody's
    // anchors would be believed.
    outside.create_private(&public_path(&path), &line(&key.verifying_key().to_bytes()))?;
    Ok((key, is_new))
}

/// False if another process was faster.
fn make(outside: &mut dyn Outside, path: &Path) -> Result<bool, Failure> {
    let mut seed = [0_u8; 32];
    outside.draw(&mut seed);
    outside.create_private(path, &line(&seed))
}

fn line(bytes: &[u8; 32]) -> String {
    format!("{}\n", hex::encode(bytes))
}

fn vanished(path: &Path) -> Failure {
    Failure::new(Slug::StoreUnavailable, format!("{} vanished while it was read", path.display()))
        .hint("try again")
}

/// Whether the caller holds the key of this user's operator: named by the variable, and the right one.
pub(crate) fn presented_key(outside: &mut dyn Outside) -> Result<bool, Failure> {
    let Some(named) = outside.surroundings().variables.get(KEY_VARIABLE).map(PathBuf::from) else {
        return Ok(false);
    };
    let expected = outside.operator_key_path()?;
    let (presented, expected) = (read(outside, &named)?, read(outside, &expected)?);
    Ok(presented.zip(expected).is_some_and(|(presented, expected)| presented == expected))
}

/// Anchors signed by anybody but the operator vouch for nothing. Without a key here, any one signer will do.
pub(super) fn same_signer(outside: &mut dyn Outside, anchors: &[Anchor]) -> Result<(), Failure> {
    let path = public_path(&outside.operator_key_path()?);
    let own = outside.read_text(&path)?.and_then(|text| hex::decode::<32>(text.trim()));
    let expected = own.or_else(|| anchors.first().map(Anchor::signer));
    match anchors.iter().find(|anchor| Some(anchor.signer()) != expected) {
        None => Ok(()),
        Some(stranger) => {
            let message = format!("an anchor was signed by {}, not by the operator", stranger.signer_text());
            Err(Failure::new(Slug::AuditBroken, message).hint("check who wrote to the anchor files"))
        }
    }
}

fn read(outside: &mut dyn Outside, path: &Path) -> Result<Option<SigningKey>, Failure> {
    let Some(text) = outside.read_text(path)? else { return Ok(None) };
    let seed = hex::decode::<32>(text.trim()).ok_or_else(|| {
        Failure::new(Slug::AuditBroken, format!("{} holds no operator key", path.display()))
            .hint("put the right file back, or move it away to have a new key made")
    })?;
    Ok(Some(SigningKey::from_bytes(&seed)))
}

fn public_path(key: &Path) -> PathBuf {
    key.with_extension("pub")
}
