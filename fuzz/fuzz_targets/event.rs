//! Any bytes as a stored event or a remembered answer: reading never panics, and bytes that can be read are the only
//! ones that mean what they mean, so that equal events have equal hashes. An answer that an earlier version wrote means the
//! same in the form of this one.

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
            let written = outcome::encode(&success);
            match written.first() == bytes.first() {
                true => assert_eq!(written, bytes, "{success:?}"),
                false => assert_eq!(outcome::decode(&written, fold).ok(), Some(success)),
            }
        }
    }
});
