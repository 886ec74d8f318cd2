//! Postures: one name for values that belong together.
//!
//! Every posture sets the same keys, so that choosing one in a stronger layer replaces all of another's values.

use std::time::Duration;

use super::keys::{self, KeyId};
use super::value::Value;

pub(super) const DEFAULT: &str = "solo";
pub(super) const UNATTENDED: &str = "unattended";

/// From the least to the most careful, the order that safety is judged by.
pub(super) static NAMES: [&str; 3] = [DEFAULT, "team", UNATTENDED];

/// A posture and what it stands for.
#[derive(Debug)]
pub struct Posture {
    pub name: &'static str,
    pub doc: &'static str,
    pub values: [(KeyId, Value); 4],
}

/// All postures, in the order of their carefulness.
pub static POSTURES: [Posture; 3] = [
    Posture {
        name: DEFAULT,
        doc: "One person who watches a few agents: the defaults.",
        values: [
            (KeyId::ClaimedTtl, Value::Duration(keys::CLAIMED_TTL_DEFAULT)),
            (KeyId::Durability, Value::Choice(keys::DURABILITY_NORMAL)),
            (KeyId::BroadFiles, Value::Integer(keys::BROAD_FILES_DEFAULT)),
            (KeyId::StoreTimeout, Value::Duration(keys::STORE_TIMEOUT_DEFAULT)),
        ],
    },
    Posture {
        name: "team",
        doc: "Several people in one repository: broad claims must be asked for sooner.",
        values: [
            (KeyId::ClaimedTtl, Value::Duration(keys::CLAIMED_TTL_DEFAULT)),
            (KeyId::Durability, Value::Choice(keys::DURABILITY_NORMAL)),
            (KeyId::BroadFiles, Value::Integer(100)),
            (KeyId::StoreTimeout, Value::Duration(keys::STORE_TIMEOUT_DEFAULT)),
        ],
    },
    Posture {
        name: UNATTENDED,
        doc: "Nobody watches: silent holders free their leases sooner, leases survive a power cut, and a busy store is \
              waited for longer because no one will run the command again.",
        values: [
            (KeyId::ClaimedTtl, Value::Duration(Duration::from_secs(15 * 60))),
            (KeyId::Durability, Value::Choice(keys::DURABILITY_FULL)),
            (KeyId::BroadFiles, Value::Integer(50)),
            (KeyId::StoreTimeout, Value::Duration(Duration::from_secs(15))),
        ],
    },
];

pub(super) fn find(name: &str) -> Option<&'static Posture> {
    POSTURES.iter().find(|posture| posture.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_names_a_file_may_use_are_those_of_the_table() {
        assert!(POSTURES.iter().map(|posture| posture.name).eq(NAMES));
    }

    #[test]
    fn solo_spells_out_the_defaults() {
        for (id, value) in &find(DEFAULT).expect("solo exists").values {
            assert_eq!(value, &id.key().default, "{}", id.key().name);
        }
    }

    #[test]
    fn a_more_careful_posture_lowers_no_safety_and_sets_the_same_keys() {
        for pair in POSTURES.windows(2) {
            for ((id, less), (same_id, more)) in pair[0].values.iter().zip(&pair[1].values) {
                assert_eq!(id, same_id);
                assert!(!id.key().lowers_safety(less, more), "{} {}", pair[1].name, id.key().name);
            }
        }
    }
}
