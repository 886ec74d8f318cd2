//! What the gate file remembers of a scope's log: its last head, outside the database. A database that was put
//! back, or lost its tail, then no longer agrees.

use clearway_core::event::Body;
use clearway_core::ids::Seq;
use clearway_core::pattern::Fold;
use clearway_platform::files::{self, with_suffix};
use clearway_platform::gate::{Gate, WITNESS_BYTES};
use clearway_store::contract::Head;
use clearway_wire::canonical;
use clearway_wire::chain::{ChainHash, digest_bytes};
use rusqlite::{Connection, params};
use std::path::Path;

const MAGIC: &[u8; 4] = b"cwh1";

/// The record of a head.
pub(crate) fn encode(head: &Head) -> [u8; WITNESS_BYTES] {
    let mut record = [0_u8; WITNESS_BYTES];
    record[..4].copy_from_slice(MAGIC);
    record[4..12].copy_from_slice(&head.rev.0.to_be_bytes());
    record[12..44].copy_from_slice(&head.hash.0);
    let sum = digest_bytes(&record[..44]);
    record[44..60].copy_from_slice(&sum[..16]);
    record
}

/// Reads a record; a torn or foreign one witnesses nothing.
pub(crate) fn decode(record: &[u8; WITNESS_BYTES]) -> Option<Head> {
    let sum = digest_bytes(&record[..44]);
    if record[..4] != *MAGIC || record[44..60] != sum[..16] {
        return None;
    }
    let rev = u64::from_be_bytes(record[4..12].try_into().ok()?);
    Some(Head { rev: Seq(rev), hash: ChainHash::from_slice(&record[12..44])? })
}

/// The head that the gate remembers of a scope, as its last writer left it.
pub(crate) fn remembered(file: &Path, scope: i64) -> Option<Head> {
    let record = Gate::beside(file).read_witness(u64::try_from(scope).ok()?).ok().flatten()?;
    decode(&record)
}

/// Everything the gate remembers: scopes by their number in the file.
pub(crate) fn all_remembered(file: &Path) -> impl Iterator<Item = (i64, Head)> {
    let slots = files::length(&with_suffix(file, "-gate")).unwrap_or(0) / WITNESS_BYTES as u64;
    let numbers = (0..slots).filter_map(|slot| i64::try_from(slot).ok());
    numbers.filter_map(move |slot| Some((slot, remembered(file, slot)?))).filter(|(_, head)| head.rev.0 > 0)
}

/// The longest log that the gate remembers of any scope.
pub(crate) fn last_remembered(file: &Path) -> Option<Head> {
    all_remembered(file).map(|(_, head)| head).max_by_key(|head| head.rev)
}

/// Whether the log itself records that an operator went on without the events up to a head: whoever did may have died
/// before the gate forgot them. Asked only where they are missed, and found among the latest events.
pub(crate) fn was_given_up(
    connection: &Connection,
    scope: i64,
    fold: Fold,
    head: &Head,
) -> rusqlite::Result<bool> {
    let text = "SELECT seq, bytes FROM events WHERE scope = ? ORDER BY seq DESC LIMIT ?";
    let mut statement = connection.prepare(text)?;
    let mut rows = statement.query(params![scope, RECENT_EVENTS])?;
    while let Some(row) = rows.next()? {
        let (seq, bytes) = (Seq(row.get(0)?), row.get::<_, Vec<u8>>(1)?);
        let body = canonical::decode(seq, &bytes, fold).map(|event| event.body);
        if let Ok(Body::EpochBegan { lost_tail, operator_reason: Some(_), .. }) = body {
            return Ok((seq.0..seq.0.saturating_add(lost_tail)).contains(&head.rev.0));
        }
    }
    Ok(false)
}

/// Events of one repair: its own, and one for each lease that it ends.
const RECENT_EVENTS: u32 = 10_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_reads_back_and_a_torn_record_is_no_witness() {
        let head = Head { rev: Seq(42), hash: ChainHash([7; 32]) };
        let mut record = encode(&head);
        assert_eq!(decode(&record), Some(head));
        for index in 0..60 {
            record[index] ^= 1;
            assert_eq!(decode(&record), None, "byte {index}");
            record[index] ^= 1;
        }
    }
}
