//! A full disk: said as such, nothing half done, and everything as before once there is room.

use crate::support::{TestWorld, audit, engine, fast_dir, grant, must_be_whole, try_reserve};
use crate::traces::Mount;
use clearway_store::contract::StoreError;
use std::fs::File;
use std::io::Write;
use std::path::Path;

/// Takes every byte that is left.
fn fill(ballast: &Path) {
    let mut file = File::create(ballast).unwrap();
    for size in [65_536, 4_096, 1] {
        while file.write_all(&vec![b'x'; size]).is_ok() {}
    }
}

#[test]
fn a_full_disk_refuses_whole_and_recovers_whole() {
    let point = fast_dir();
    let Some(_mounted) = Mount::tmpfs(point.path(), "size=2m,mode=700") else { return };
    let (state, ballast) = (point.path().join("state"), point.path().join("ballast"));
    let mut world = TestWorld::new(1);
    let mut acknowledged = grant(&mut engine(&state), &mut world, "a", "first").lease.fence.seq;
    for round in 0..3 {
        fill(&ballast);
        let mut refused = 0;
        for number in 0..40 {
            match try_reserve(&mut engine(&state), &mut world, "a", &format!("{round}/{number}")) {
                Ok(reply) => acknowledged = reply.rev,
                Err(StoreError::Full { .. }) => refused += 1,
                Err(other) => panic!("{other:?}"),
            }
        }
        assert!(refused > 0, "the disk was full");
        let report = audit(&mut engine(&state), &[]).unwrap().unwrap();
        assert_eq!(report.head.rev, acknowledged, "what was acknowledged, and nothing else");
        must_be_whole(&mut engine(&state));
        std::fs::remove_file(&ballast).unwrap();
        acknowledged = grant(&mut engine(&state), &mut world, "a", &format!("{round}/again")).lease.fence.seq;
        must_be_whole(&mut engine(&state));
    }
}

#[test]
fn an_engine_that_met_a_full_disk_goes_on_when_there_is_room() {
    let point = fast_dir();
    let Some(_mounted) = Mount::tmpfs(point.path(), "size=2m,mode=700") else { return };
    let (state, ballast) = (point.path().join("state"), point.path().join("ballast"));
    let (mut engine, mut world) = (engine(&state), TestWorld::new(2));
    grant(&mut engine, &mut world, "a", "first");
    fill(&ballast);
    let refused =
        (0..100).find_map(|number| try_reserve(&mut engine, &mut world, "a", &format!("d/{number}")).err());
    assert!(matches!(refused, Some(StoreError::Full { .. })), "{refused:?}");
    std::fs::remove_file(&ballast).unwrap();
    grant(&mut engine, &mut world, "a", "second");
    must_be_whole(&mut engine);
}

#[test]
fn a_store_that_found_no_room_to_be_made_is_made_when_there_is() {
    let point = fast_dir();
    let Some(_mounted) = Mount::tmpfs(point.path(), "size=2m,mode=700") else { return };
    let (state, ballast) = (point.path().join("state"), point.path().join("ballast"));
    fill(&ballast);
    let refused = try_reserve(&mut engine(&state), &mut TestWorld::new(3), "a", "f").err();
    assert!(matches!(refused, Some(StoreError::Full { .. })), "{refused:?}");
    assert!(audit(&mut engine(&state), &[]).unwrap().is_none(), "as if nothing had been tried");
    std::fs::remove_file(&ballast).unwrap();
    grant(&mut engine(&state), &mut TestWorld::new(4), "a", "f");
    must_be_whole(&mut engine(&state));
}
