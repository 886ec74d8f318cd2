//! Giving back, and who may.

use super::Story;
use super::handover::hand;
use super::stage::*;
use clearway_core::command::{Command, LeaseRef, Release, Selection};
use clearway_core::decide::Notice;
use clearway_core::event::Body;
use clearway_core::ids::{Fence, LeaseId, Seq};
use clearway_core::slug::Slug;
use clearway_core::target::Worktree;

pub(super) const STORIES: &[Story] = &[
    ("only the holder gives a lease back", holder_only),
    ("an operator with a reason may, and it is recorded", by_operator),
    ("a second release is no error and no event", twice),
    ("a stale fence changes nothing and says who holds now", stale_fence),
    ("what is over is nobody's, whoever renews or hands it over", over_for_everybody),
    ("what was handed over answers its old fence with who holds it now", old_fence),
    ("what is held in another checkout is not what was meant", held_elsewhere),
    ("an unknown id changes nothing, also among known ones", unknown_id),
    ("release by pattern takes what lies inside and names what reaches further", by_pattern),
    ("a kept part is never free in between, and keeping more than was held is refused", kept),
    ("releasing everything is one event each", everything),
    ("releasing in a scope nobody opened makes nothing", nothing_there),
];

fn holder_only(stage: &mut Stage) {
    let held = stage.grant("a", "f", How::default());
    stage.grant("b", "g", How::default());
    for attempt in [stage.release(&named("b"), by_id(&held)), stage.renew(&named("b"), by_id(&held))] {
        let failure = refusal(attempt, Slug::NotHolder);
        assert!(failure.message.contains("held by a"), "{}", failure.message);
    }
    assert!(stage.stored().contains(&held.lease.id));
    let denials = stage.kinds().iter().filter(|kind| **kind == "action.denied").count();
    assert_eq!(denials, 2, "an attempt is recorded");
    refusal(stage.release(&named("stranger"), by_id(&held)), Slug::NotHolder);
    assert_eq!(released(stage.release(&named("a"), by_id(&held))).0, [held.lease.id]);
}

fn by_operator(stage: &mut Stage) {
    let held = stage.grant("a", "f", How::default());
    let (gone, ..) = released(stage.release(&operator(3, "a is on holiday"), by_id(&held)));
    assert_eq!(gone, [held.lease.id]);
    let last = stage.events().pop().unwrap();
    assert!(
        matches!(&last.body, Body::LeaseReleased { operator_reason: Some(why), .. } if why == "a is on holiday"),
        "{last:?}"
    );
}

fn twice(stage: &mut Stage) {
    let held = stage.grant("a", "f", How::default());
    stage.release(&named("a"), by_id(&held));
    let before = stage.kinds().len();
    let (gone, already, _) = released(stage.release(&named("a"), by_id(&held)));
    assert_eq!((gone.len(), already), (0, vec![held.lease.id]));
    assert_eq!(stage.kinds().len(), before);
    refusal(stage.renew(&named("a"), by_id(&held)), Slug::LeaseExpired);
}

fn over_for_everybody(stage: &mut Stage) {
    let returned = stage.take("a", "f");
    released(stage.release(&named("a"), by_id(&returned)));
    let silent = stage.grant("a", "g", ttl(60_000));
    stage.take("b", "h");
    stage.pass(60_000);
    for over in [&returned, &silent] {
        for caller in ["a", "b"] {
            let failure = refusal(stage.renew(&named(caller), by_id(over)), Slug::LeaseExpired);
            assert!(!failure.message.contains("held by"), "{}", failure.message);
            let other = if caller == "a" { "b" } else { "a" };
            refusal(hand(stage, caller, other, Some(vec![by_id(over)])), Slug::LeaseExpired);
        }
    }
}

fn old_fence(stage: &mut Stage) {
    let held = stage.take("a", "f");
    stage.take("b", "g");
    assert!(hand(stage, "a", "b", Some(vec![by_id(&held)])).outcome.is_ok());
    for attempt in [
        stage.renew(&named("a"), fenced(&held)),
        stage.release(&named("a"), fenced(&held)),
        hand(stage, "a", "b", Some(vec![fenced(&held)])),
    ] {
        let failure = refusal(attempt, Slug::StaleFence);
        assert!(failure.message.contains("b holds it now"), "{}", failure.message);
    }
}

fn held_elsewhere(stage: &mut Stage) {
    let there = || How { worktree: Worktree("/other".to_owned()), ..How::default() };
    stage.grant("a", "src/a.rs", there());
    let reply = stage.release_inside(&named("a"), "src/a.rs");
    let notices = reply.notices.clone();
    assert!(matches!(notices[..], [Notice::NothingHeld { meant: None, .. }]), "{notices:?}");
    assert_eq!(released(reply).0, []);
    leases(stage.reserve(&named("a"), &[path("kept")], How { bound: Some(process(11)), ..there() }));
    let reply = stage.release_inside(&named("a"), "kept");
    assert!(matches!(reply.notices[..], [Notice::NothingHeld { .. }]), "{:?}", reply.notices);
    stage.take("a", "kept");
    let reply = stage.release_inside(&named("a"), "kept");
    assert!(reply.notices.is_empty(), "{:?}", reply.notices);
    assert_eq!(released(reply).0.len(), 1);
}

fn stale_fence(stage: &mut Stage) {
    let held = stage.grant("a", "f", How::default());
    let wrong = LeaseRef { id: held.lease.id, fence: Some(Fence { seq: Seq(9_999), ..held.lease.fence }) };
    let before = stage.kinds();
    for attempt in [stage.release(&named("a"), wrong), stage.renew(&named("a"), wrong)] {
        refusal(attempt, Slug::StaleFence);
    }
    assert_eq!(stage.kinds(), before, "nothing was written");
    stage.release(&named("a"), fenced(&held));
    stage.grant("b", "f", How::default());
    let failure = refusal(stage.renew(&named("a"), wrong), Slug::StaleFence);
    assert!(failure.message.contains("b holds it now"), "{}", failure.message);
}

fn unknown_id(stage: &mut Stage) {
    let held = stage.grant("a", "f", How::default());
    let unknown = LeaseRef { id: LeaseId::parse("zzzzzzzz").unwrap(), fence: None };
    let selection = Selection::These {
        leases: vec![by_id(&held), unknown],
        targets: Vec::new(),
        worktree: How::default().worktree,
    };
    refusal(
        stage.execute(&named("a"), Command::Release(Release { selection, keep: Vec::new() }), None),
        Slug::NotFound,
    );
    assert_eq!(stage.stored(), [held.lease.id]);
}

fn by_pattern(stage: &mut Stage) {
    let inside = stage.grant("a", "a/x", How::default());
    let also = stage.grant("a", "a/y", How::default());
    let beyond = stage.grant("a", "{a,b}/z", How::default());
    let elsewhere = stage.grant("a", "b/w", How::default());
    let foreign = stage.grant("b", "a/q", How::default());
    let (mut gone, _, remaining) = released(stage.release_inside(&named("a"), "a/*"));
    gone.sort();
    let mut expected = [inside.lease.id, also.lease.id];
    expected.sort();
    assert_eq!((gone.as_slice(), remaining), (expected.as_slice(), vec![beyond.lease.id]));
    let left = stage.stored();
    assert!([beyond, elsewhere, foreign].iter().all(|view| left.contains(&view.lease.id)));
}

fn kept(stage: &mut Stage) {
    let whole = stage.grant("a", "src/**", How { reason: Some("why".to_owned()), ..How::default() });
    let part = |keep: &str| Release {
        selection: Selection::These {
            leases: vec![by_id(&whole)],
            targets: Vec::new(),
            worktree: How::default().worktree,
        },
        keep: vec![path(keep)],
    };
    refusal(stage.execute(&named("a"), Command::Release(part("docs/x")), None), Slug::Usage);
    assert_eq!(stage.stored(), [whole.lease.id], "nothing was released");
    let (gone, _, remaining) =
        released(stage.execute(&named("a"), Command::Release(part("src/api/**")), None));
    assert_eq!((gone, remaining.len()), (vec![whole.lease.id], 1));
    let blocker = stage.refused("b", "src/api/x.rs", How::default()).remove(0);
    assert_eq!((blocker.lease.id, blocker.lease.reason.as_deref()), (remaining[0], Some("why")));
    assert!(blocker.lease.fence > whole.lease.fence);
    stage.grant("b", "src/main.rs", How::default());
    let whole = stage.grant("c", "docs/**", shared());
    let own = stage.grant("c", "docs/a.md", How::default());
    let selection = Selection::These {
        leases: vec![by_id(&whole)],
        targets: Vec::new(),
        worktree: How::default().worktree,
    };
    let keep = vec![path("docs/a.md"), path("docs/b.md"), path("docs/b.md")];
    let (_, _, remaining) =
        released(stage.execute(&named("c"), Command::Release(Release { selection, keep }), None));
    assert_eq!(remaining.len(), 2, "what is held already is kept as it is, and nothing is kept twice");
    assert!(remaining.contains(&own.lease.id));
}

fn everything(stage: &mut Stage) {
    for pattern in ["a", "b", "c"] {
        stage.grant("a", pattern, How::default());
    }
    let kept = stage.grant("b", "d", How::default());
    let reply = stage.execute(
        &named("a"),
        Command::Release(Release { selection: Selection::All, keep: Vec::new() }),
        None,
    );
    assert_eq!(released(reply).0.len(), 3);
    assert_eq!(stage.kinds().iter().filter(|kind| **kind == "lease.released").count(), 3);
    assert_eq!(stage.stored(), [kept.lease.id]);
}

fn nothing_there(stage: &mut Stage) {
    let reply = stage.execute(
        &named("a"),
        Command::Release(Release { selection: Selection::All, keep: Vec::new() }),
        None,
    );
    assert_eq!(released(reply).0, []);
    assert!(stage.sweep().is_empty());
    assert!(stage.events().is_empty());
    assert!(!stage.engine.examine(&stage.scope.clone()).unwrap().exists, "no store came into being");
}
