//! The operator's key: who may vouch for a log, and who may act for others without a terminal.

use super::anchor::Anchor;
use crate::outside::Outside;
use clearway_core::failure::Failure;
use clearway_core::shell;
use clearway_core::slug::Slug;
use clearway_core::text::shown;
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
    match public_key(outside, &path)? {
        Some(public) if public == key.verifying_key().to_bytes() => Ok((key, is_new)),
        _ => Err(halves_differ(&path)),
    }
}

fn halves_differ(path: &Path) -> Failure {
    let (private, public) = (path.display(), public_path(path));
    let message = format!("{private} and {} are not halves of one key", public.display());
    Failure::new(Slug::AuditBroken, message).hint(
        "nothing was anchored; put the right file back, or move the public half away to have it made anew",
    )
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
    let unusable = |why: &str| {
        let message = format!("variable {KEY_VARIABLE}: {why}");
        Failure::new(Slug::ConfigBadValue, message)
            .hint("name the file that holds the operator's key, or unset it")
    };
    let presented = read(outside, &named).map_err(|failure| match failure.slug {
        Slug::StoreNotPrivate => failure,
        _ => unusable(&failure.message),
    })?;
    let absent = || unusable(&format!("there is no file {}", shown(&named.display().to_string())));
    let presented = presented.ok_or_else(absent)?;
    Ok(read(outside, &expected)?.is_some_and(|expected| presented == expected))
}

/// Anchors signed by anybody but the operator vouch for nothing: those of the operator, and what to say of the others.
/// Without a key here, any one signer will do.
pub(super) fn of_operator(
    outside: &mut dyn Outside,
    anchors: Vec<Anchor>,
) -> Result<(Vec<Anchor>, Option<Failure>), Failure> {
    let path = outside.operator_key_path()?;
    let expected = public_key(outside, &path)?.or_else(|| anchors.first().map(Anchor::signer));
    let (own, strangers): (Vec<Anchor>, Vec<Anchor>) =
        anchors.into_iter().partition(|anchor| Some(anchor.signer()) == expected);
    Ok((own, strangers.first().map(|anchor| strange(anchor, &public_path(&path)))))
}

fn strange(anchor: &Anchor, public: &Path) -> Failure {
    let message = format!(
        "an anchor was signed by {}, not by the operator, whose public key is in {}",
        anchor.signer_text(),
        public.display()
    );
    Failure::new(Slug::AuditBroken, message)
        .hint("check who wrote to the anchor files, and that the public key is the operator's")
}

fn public_key(outside: &mut dyn Outside, key: &Path) -> Result<Option<[u8; 32]>, Failure> {
    Ok(outside.read_text(&public_path(key))?.and_then(|text| hex::decode::<32>(text.trim())))
}

fn read(outside: &mut dyn Outside, path: &Path) -> Result<Option<SigningKey>, Failure> {
    let Some(text) = outside.read_text(path)? else { return Ok(None) };
    let seed = hex::decode::<32>(text.trim()).ok_or_else(|| {
        Failure::new(Slug::AuditBroken, format!("{} holds no operator key", path.display()))
            .hint("put the right file back, or move it away to have a new key made")
    })?;
    if outside.others_can_use(path) {
        let place = path.display().to_string();
        let message = format!("{} can be used by others, who could be the operator with it", shown(&place));
        return Err(Failure::new(Slug::StoreNotPrivate, message)
            .hint(format!("make it yours alone: chmod go-rwx {}", shell::word(&place))));
    }
    Ok(Some(SigningKey::from_bytes(&seed)))
}

fn public_path(key: &Path) -> PathBuf {
    key.with_extension("pub")
}
