//! Any bytes as a stored event or a remembered answer: reading never panics, and bytes that can be read are the only
//! ones that mean what they mean, so that equal events have equal hashes.

#![no_main]

use clearway_core::ids::Seq;
use clearway_core::path::Fold;
use clearway_wire::{canonical, outcome};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    for fold in [Fold::Exact, Fold::Insensitive] {
        if let Ok(event) = canonical::decode(Seq(1), bytes, fold) {
            assert_eq!(canonical::encode(&event), bytes, "{event:?}");
        }
        if let Ok(success) = outcome::decode(bytes, fold) {
            assert_eq!(outcome::encode(&success), bytes, "{success:?}");
        }
    }
});
