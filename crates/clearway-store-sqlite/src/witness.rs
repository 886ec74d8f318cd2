//! What the gate file remembers of a scope's log: its last head, outside the database. A database that was put
//! back, or lost its tail, then no longer agrees.

use clearway_core::ids::Seq;
use clearway_platform::gate::WITNESS_BYTES;
use clearway_store::contract::Head;
use clearway_wire::chain::{ChainHash, digest_bytes};

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
