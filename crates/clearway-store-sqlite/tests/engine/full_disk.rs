//! A full disk: said as such, nothing half done, and everything as before once there is room.

use crate::mounts::{Mount, where_one_may_mount};
use crate::support::{
    TestWorld, audit, beside, engine, fast_dir, grant, must_be_whole, named, release_all, request, run,
    store_file, try_reserve,
};
use clearway_core::limits::BALLAST_BYTES;
use clearway_store::contract::StoreError;
use std::fs::File;
use std::io::Write;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Takes every byte that is left.
fn fill(filler: &Path) {
    let mut file = File::create(filler).unwrap();
    for size in [65_536, 4_096, 1] {
        while file.write_all(&vec![b'x'; size]).is_ok() {}
    }
}

#[test]
fn a_full_disk_refuses_whole_and_recovers_whole() {
    where_one_may_mount(fill_and_empty_three_times);
}

fn fill_and_empty_three_times() {
    let point = fast_dir();
    let _mounted = Mount::tmpfs(point.path(), "size=2m,mode=700");
    let (state, filler) = (point.path().join("state"), point.path().join("filler"));
    let mut world = TestWorld::new(1);
    let mut acknowledged = grant(&mut engine(&state), &mut world, "a", "first").lease.fence.seq;
    for round in 0..3 {
        fill(&filler);
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
        std::fs::remove_file(&filler).unwrap();
        acknowledged = grant(&mut engine(&state), &mut world, "a", &format!("{round}/again")).lease.fence.seq;
        must_be_whole(&mut engine(&state));
    }
}

#[test]
fn an_engine_that_met_a_full_disk_goes_on_when_there_is_room() {
    where_one_may_mount(one_engine_goes_on);
}

fn one_engine_goes_on() {
    let point = fast_dir();
    let _mounted = Mount::tmpfs(point.path(), "size=2m,mode=700");
    let (state, filler) = (point.path().join("state"), point.path().join("filler"));
    let (mut engine, mut world) = (engine(&state), TestWorld::new(2));
    grant(&mut engine, &mut world, "a", "first");
    fill(&filler);
    let refused =
        (0..100).find_map(|number| try_reserve(&mut engine, &mut world, "a", &format!("d/{number}")).err());
    assert!(matches!(refused, Some(StoreError::Full { .. })), "{refused:?}");
    std::fs::remove_file(&filler).unwrap();
    grant(&mut engine, &mut world, "a", "second");
    must_be_whole(&mut engine);
}

#[test]
fn a_store_that_found_no_room_to_be_made_is_made_when_there_is() {
    where_one_may_mount(a_store_is_made_late);
}

fn a_store_is_made_late() {
    let point = fast_dir();
    let _mounted = Mount::tmpfs(point.path(), "size=2m,mode=700");
    let (state, filler) = (point.path().join("state"), point.path().join("filler"));
    fill(&filler);
    let refused = try_reserve(&mut engine(&state), &mut TestWorld::new(3), "a", "f").err();
    assert!(matches!(refused, Some(StoreError::Full { .. })), "{refused:?}");
    assert!(audit(&mut engine(&state), &[]).unwrap().is_none(), "as if nothing had been tried");
    std::fs::remove_file(&filler).unwrap();
    grant(&mut engine(&state), &mut TestWorld::new(4), "a", "f");
    must_be_whole(&mut engine(&state));
}

#[test]
fn ballast_is_given_up_for_a_release_and_taken_again_when_there_is_room() {
    where_one_may_mount(ballast_goes_and_comes_back);
}

fn ballast_goes_and_comes_back() {
    let point = fast_dir();
    let _mounted = Mount::tmpfs(point.path(), "size=2m,mode=700");
    let (state, filler) = (point.path().join("state"), point.path().join("filler"));
    let mut world = TestWorld::new(5);
    let ballast = beside(&store_file(&state), "-ballast");
    let kept = || std::fs::metadata(&ballast).map(|file| (file.len(), file.blocks() * 512)).ok();
    grant(&mut engine(&state), &mut world, "a", "first");
    assert_eq!(kept(), Some((BALLAST_BYTES, BALLAST_BYTES)), "made with the scope, and no hole");
    fill(&filler);
    let reserve =
        |number| try_reserve(&mut engine(&state), &mut TestWorld::new(number), "b", &format!("d/{number}"));
    let refused = (0..100).find_map(|number| reserve(number).err());
    let Some(StoreError::Full { disk, free_bytes, .. }) = refused else { panic!("{refused:?}") };
    assert_eq!((disk, free_bytes / 4_096), (point.path().display().to_string(), 0));
    assert!(kept().is_some(), "taking leases is not what it is kept for");
    run(&mut engine(&state), &mut world, &request(named("a"), release_all(), None)).unwrap().outcome.unwrap();
    assert_eq!(kept(), None, "it went overboard");
    must_be_whole(&mut engine(&state));
    std::fs::remove_file(&filler).unwrap();
    grant(&mut engine(&state), &mut world, "a", "second");
    assert_eq!(kept(), Some((BALLAST_BYTES, BALLAST_BYTES)));
    must_be_whole(&mut engine(&state));
}
