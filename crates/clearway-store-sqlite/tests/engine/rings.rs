//! Who is woken by what.

use crate::support::{TestWorld, engine, fast_dir, grant, scope, settings, try_reserve};
use clearway_core::ids::Seq;
use clearway_platform::doorbell;
use clearway_store::contract::Engine;
use std::time::Duration;

#[test]
fn an_event_rings_and_soft_state_does_not() {
    let directory = fast_dir();
    let (mut engine, mut world) = (engine(directory.path()), TestWorld::new(1));
    grant(&mut engine, &mut world, "ann", "f");
    try_reserve(&mut engine, &mut world, "bob", "f").unwrap().outcome.unwrap_err();
    let runtime_dir = settings(directory.path()).runtime_dir;
    let mut listener = doorbell::listen(&runtime_dir, scope().as_str()).unwrap();
    let before = engine.snapshot(&scope()).unwrap().unwrap().head().unwrap().rev;
    world.pass(20_000);
    let repeated = try_reserve(&mut engine, &mut world, "bob", "f").unwrap();
    assert_eq!(repeated.rev, before, "a repetition is counted, and its caller seen");
    assert!(!listener.wait(Duration::ZERO).unwrap());
    grant(&mut engine, &mut world, "ann", "g");
    assert!(listener.wait(Duration::ZERO).unwrap());
}

/// A follower that nobody rings sees what others commit, and is not misled by what it has seen.
#[test]
fn a_follower_sees_commits_of_others_without_a_bell() {
    let directory = fast_dir();
    let (mut writer, mut world) = (engine(directory.path()), TestWorld::new(1));
    let mut follower = engine(directory.path());
    for round in 0..3 {
        let rev = grant(&mut writer, &mut world, "ann", &format!("d/{round}")).lease.fence.seq;
        assert!(follower.changed(&scope(), Seq(rev.0 - 1), 60_000).unwrap());
        assert!(!follower.changed(&scope(), rev, 0).unwrap());
        assert!(!follower.changed(&scope(), rev, 50).unwrap());
    }
}
