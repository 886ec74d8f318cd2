//! Silence, deadlines, boots.

use super::Story;
use super::stage::*;
use crate::memory::MemoryEngine;
use clearway_core::event::Body;
use clearway_core::lease::ExpiryCause;
use clearway_core::slug::Slug;
use clearway_core::time::Wall;

pub(super) const STORIES: &[Story] = &[
    ("at the deadline instant every operation agrees", deadline_instant),
    ("an expiry seen by a request is recorded before its grant", recorded_in_order),
    ("a holder that gives signs of life never loses a lease to time", signs_of_life),
    ("an absolute end comes in spite of signs of life", absolute_end),
    ("an absolute end given to a lease that signs of life keep is found when it comes", earlier_end),
    ("a sweep records each expiry once", swept_once),
    ("a write records some of what is overdue elsewhere", share_of_expiries),
    ("a write records first what is over for longest, in one order on every engine", one_order),
    ("leases expiring a millisecond apart expire in order", a_millisecond_apart),
    ("after expiry a renewal fails and a new reservation is a new lease", after_expiry),
    ("a changed boot ends every lease once, and fences go on rising", reboot),
    ("a wall clock that jumps changes nothing", wall_jumps),
];

fn deadline_instant(stage: &mut Stage) {
    let lease = stage.grant("a", "f", ttl(10_000));
    stage.pass(9_999);
    assert_eq!(stage.check(&named("b"), &[path("f")], &How::default()).len(), 1);
    stage.pass(1);
    assert!(stage.check(&named("b"), &[path("f")], &How::default()).is_empty(), "check");
    refusal(stage.renew(&named("a"), by_id(&lease)), Slug::LeaseExpired);
    assert_eq!(
        stage.kinds().iter().filter(|kind| **kind == "lease.expired").count(),
        1,
        "recorded by the renewal"
    );
    let (gone, already, _) = released(stage.release(&named("a"), by_id(&lease)));
    assert_eq!((gone.len(), already.len()), (0, 1), "release");
    stage.grant("b", "f", How::default());
    assert_eq!(stage.kinds().iter().filter(|kind| **kind == "lease.expired").count(), 1);
}

fn recorded_in_order(stage: &mut Stage) {
    stage.grant("a", "f", ttl(1_000));
    stage.pass(2_000);
    stage.grant("b", "f", How::default());
    let kinds = stage.kinds();
    let tail: Vec<&str> = kinds.into_iter().filter(|kind| kind.starts_with("lease.")).collect();
    assert_eq!(tail, ["lease.granted", "lease.expired", "lease.granted"]);
}

fn signs_of_life(stage: &mut Stage) {
    stage.grant("a", "f", ttl(60_000));
    for round in 0..10 {
        stage.pass(50_000);
        stage.grant("a", &format!("other/{round}"), How::default());
        assert_eq!(stage.refused("b", "f", How::default()).len(), 1, "round {round}");
    }
    assert!(stage.sweep().is_empty());
    stage.pass(60_000);
    stage.grant("b", "f", How::default());
    let observed = stage.events().into_iter().find_map(|event| match event.body {
        Body::LeaseExpired { last_seen, .. } => last_seen,
        _ => None,
    });
    let silent_since = stage.world.now.mono.0 - 60_000;
    assert_eq!(observed.map(|seen| seen.0), Some(silent_since), "the event says what was observed");
}

fn absolute_end(stage: &mut Stage) {
    let how = How { max_ms: Some(90_000), ..ttl(60_000) };
    stage.grant("a", "f", how);
    stage.pass(50_000);
    stage.grant("a", "g", How::default());
    stage.pass(39_999);
    stage.refused("b", "f", How::default());
    stage.grant("a", "g", How::default());
    stage.pass(1);
    stage.grant("b", "f", How::default());
    assert!(
        stage
            .events()
            .iter()
            .any(|event| { matches!(event.body, Body::LeaseExpired { cause: ExpiryCause::Maximum, .. }) })
    );
}

fn earlier_end(stage: &mut Stage) {
    let lease = stage.grant("a", "f", ttl(60_000));
    stage.pass(50_000);
    stage.grant("a", "g", How::default());
    stage.pass(20_000);
    let again = stage.grant("a", "f", How { max_ms: Some(5_000), ..ttl(60_000) });
    assert_eq!(
        again.lease.id, lease.lease.id,
        "the deadline it states has passed, its holder was seen since"
    );
    stage.pass(5_000);
    assert_eq!(stage.sweep(), [lease.lease.id]);
}

fn swept_once(stage: &mut Stage) {
    for number in 0..20 {
        stage.grant("a", &format!("d/{number}"), ttl(1_000));
    }
    stage.pass(5_000);
    assert_eq!(stage.sweep().len(), 20);
    assert!(stage.sweep().is_empty());
    let kinds = stage.kinds();
    assert_eq!(kinds.iter().filter(|kind| **kind == "lease.expired").count(), 20);
    assert!(!kinds.contains(&"lease.released"));
}

fn share_of_expiries(stage: &mut Stage) {
    for number in 0..100 {
        stage.grant(&format!("a{number}"), &format!("d/{number}"), ttl(1_000));
    }
    stage.pass(5_000);
    stage.grant("z", "elsewhere", How::default());
    let expired = stage.kinds().iter().filter(|kind| **kind == "lease.expired").count();
    assert_eq!(expired, 64, "a write pays a bounded share");
    stage.grant("z", "elsewhere2", How::default());
    assert_eq!(stage.kinds().iter().filter(|kind| **kind == "lease.expired").count(), 100);
}

/// Agents with different silences, some of them seen again, some with an absolute end; then two who pay.
fn run_out(stage: &mut Stage) {
    for number in 0..90 {
        let how = How { max_ms: (number % 7 == 0).then_some(1_500), ..ttl(1_000 + (number * 37) % 400) };
        stage.grant(&format!("a{}", number % 30), &format!("d/{number}"), how);
        stage.pass(1);
    }
    stage.pass(1_200);
    for number in 0..10 {
        stage.grant(&format!("a{number}"), &format!("e/{number}"), How::default());
    }
    stage.pass(1_050);
    stage.grant("a3", "d/7", How::default());
    stage.grant("z", "elsewhere", How::default());
    stage.sweep();
}

fn one_order(stage: &mut Stage) {
    run_out(stage);
    for model in [MemoryEngine::default(), MemoryEngine::generous()] {
        let mut other = Stage::new(Box::new(model));
        run_out(&mut other);
        let (mine, expected) = (stage.stored_events(), other.stored_events());
        let differs = mine.iter().zip(&expected).find(|(one, two)| one != two);
        assert_eq!(differs, None);
        assert_eq!(mine.len(), expected.len());
    }
}

fn a_millisecond_apart(stage: &mut Stage) {
    let first = stage.grant("a", "f", ttl(5_000));
    stage.pass(1);
    let second = stage.grant("b", "g", ttl(5_000));
    stage.pass(4_999);
    assert_eq!(stage.sweep(), [first.lease.id]);
    stage.pass(1);
    assert_eq!(stage.sweep(), [second.lease.id]);
}

fn after_expiry(stage: &mut Stage) {
    let old = stage.grant("a", "f", ttl(1_000));
    stage.pass(1_000);
    refusal(stage.renew(&named("a"), fenced(&old)), Slug::LeaseExpired);
    let new = stage.grant("a", "f", How::default());
    assert!(new.lease.id != old.lease.id && new.lease.fence > old.lease.fence);
}

fn reboot(stage: &mut Stage) {
    let old: Vec<_> = ["f", "g", "h"].iter().map(|p| stage.grant("a", p, How::default())).collect();
    stage.reboot("boot-2");
    assert!(stage.check(&named("b"), &[path("f")], &How::default()).is_empty(), "a reader sees it at once");
    let new = stage.grant("b", "f", How::default());
    assert!(old.iter().all(|view| new.lease.fence.to_integer() > view.lease.fence.to_integer()));
    let reboots = |stage: &mut Stage| {
        let is = |body: &Body| matches!(body, Body::LeaseExpired { cause: ExpiryCause::Reboot, .. });
        stage.events().iter().filter(|event| is(&event.body)).count()
    };
    assert_eq!(reboots(stage), 3);
    stage.grant("b", "g", How::default());
    assert!(stage.sweep().is_empty());
    assert_eq!(reboots(stage), 3, "once each");
    let epochs = stage.kinds().iter().filter(|kind| **kind == "epoch.began").count();
    assert_eq!(epochs, 2);
    refusal(stage.renew(&named("a"), by_id(&old[1])), Slug::LeaseExpired);
}

fn wall_jumps(stage: &mut Stage) {
    let lease = stage.grant("a", "f", ttl(60_000));
    for jump in [-3_600_000_i64, 7_200_000, -50 * 365 * 86_400_000, 100 * 365 * 86_400_000] {
        stage.world.now.wall = Wall(stage.world.now.wall.0 + jump);
        assert_eq!(stage.refused("b", "f", How::default()).len(), 1, "not dropped early by {jump}");
        assert!(stage.sweep().is_empty());
    }
    stage.pass(60_000);
    assert_eq!(stage.sweep(), [lease.lease.id], "not immortal either");
}
