//! Granting and refusing.

use super::Story;
use super::stage::*;
use clearway_core::agent::Caller;
use clearway_core::command::{Command, Release, Renew, Selection};
use clearway_core::decide::{Notice, Success};
use clearway_core::facts::ProcessLife;
use clearway_core::lease::Mode;
use clearway_core::slug::Slug;
use clearway_core::target::Worktree;
use clearway_core::time::Wall;

pub(super) const STORIES: &[Story] = &[
    ("a grant has an id, a fence and a deadline, and is listed", granted),
    ("an overlapping request is refused and told who, why and until when", refused),
    ("shared goes with shared, exclusive with nobody", modes),
    ("all or nothing, unless best effort was asked for", all_or_nothing),
    ("reserving what is held renews it under the same id", renewed),
    ("a renewal by pattern extends what lies inside and nobody else's", renewed_by_pattern),
    ("a covered request is answered with the covering lease", covered),
    ("an upgrade waits for other readers and keeps the id", upgraded),
    ("a downgrade keeps id and fence and lets readers in", downgraded),
    ("two checkouts never conflict on paths", worktrees),
    ("the lease of a dead holder is taken over in the same call", taken_over),
    ("an unknown holder keeps its lease", unknown_holder),
    ("an automatic lease yields where nothing was changed, and stands where something was", yielded),
    ("a claimed lease never yields", claimed_stands),
    ("regaining a path another held in between is said", changed_hands),
    (
        "a path also changes hands within something wider, by a hand-over, and by what yields",
        changed_hands_within,
    ),
    (
        "a path changes hands by whoever may have written in it, whatever the time of day says",
        changed_hands_shared,
    ),
    (
        "a path that makes way for a name that is used in its holder's session changes hands",
        named_in_a_session,
    ),
    ("candidates are found above, at and below, and by the matcher alone", candidates),
    ("fences rise from grant to grant", fences),
];

fn granted(stage: &mut Stage) {
    let how = How { reason: Some("because".to_owned()), ..ttl(600_000) };
    let lease = stage.grant("a", "src/*.go", how);
    assert_eq!(lease.deadline, stage.world.now.mono.plus_ms(600_000));
    assert_eq!(lease.lease.reason.as_deref(), Some("because"));
    assert_eq!(lease.agent.as_str(), "a");
    assert_eq!(stage.stored(), [lease.lease.id]);
    assert_eq!(stage.kinds(), ["scope.opened", "epoch.began", "agent.registered", "lease.granted"]);
    assert_eq!(lease.lease.fence.seq.0, 4, "the fence is the seq of the grant");
}

fn refused(stage: &mut Stage) {
    let held =
        stage.grant("a", "internal/http/*.go", How { reason: Some("routes".to_owned()), ..How::default() });
    let blockers = stage.refused("b", "internal/http/router.go", How::default());
    assert_eq!(blockers.len(), 1);
    assert_eq!((blockers[0].lease.id, blockers[0].agent.as_str()), (held.lease.id, "a"));
    assert_eq!(blockers[0].lease.reason.as_deref(), Some("routes"));
    assert_eq!(blockers[0].deadline, held.deadline);
    assert_eq!(stage.kinds().last(), Some(&"reservation.refused"));
    assert_eq!(stage.stored(), [held.lease.id], "no row for the refused one");
    stage.grant("b", "internal/httpx/router.go", How::default());
}

fn modes(stage: &mut Stage) {
    stage.grant("a", "docs/*.md", shared());
    stage.grant("b", "docs/README.md", shared());
    assert_eq!(stage.refused("c", "docs/README.md", How::default()).len(), 2, "every blocker is named");
    stage.grant("x", "src/a.rs", How::default());
    assert_eq!(stage.refused("y", "src/a.rs", shared()).len(), 1);
}

fn all_or_nothing(stage: &mut Stage) {
    stage.grant("b", "y", How::default());
    let wants = [path("x"), path("y")];
    let failure = refusal(stage.reserve(&named("a"), &wants, How::default()), Slug::ReservationHeld);
    assert_eq!(blockers(&failure).len(), 1);
    assert_eq!(stage.stored().len(), 1, "x was not taken");
    let reply = stage.reserve(&named("a"), &wants, How { best_effort: true, ..How::default() });
    match reply.outcome {
        Ok(Success::Reserved { leases, refused }) => {
            assert_eq!((leases.len(), refused.len()), (1, 1));
            assert_eq!(refused[0].target, "y");
        }
        other => panic!("{other:?}"),
    }
    let both = [path("{y,z}"), path("z")];
    match stage.reserve(&named("d"), &both, How { best_effort: true, ..How::default() }).outcome {
        Ok(Success::Reserved { leases, refused }) => assert_eq!((leases.len(), refused.len()), (1, 1)),
        other => panic!("what a refused target covers is still asked for by itself: {other:?}"),
    }
    let nothing = [path("y")];
    refusal(
        stage.reserve(&named("c"), &nothing, How { best_effort: true, ..How::default() }),
        Slug::ReservationHeld,
    );
}

fn renewed_by_pattern(stage: &mut Stage) {
    let inside = stage.grant("a", "src/f", How::default());
    stage.grant("a", "docs/g", How::default());
    stage.grant("b", "src/h", How::default());
    let renew = |targets: &[&str]| {
        let targets = targets.iter().map(|target| path(target)).collect();
        let selection = Selection::These { leases: Vec::new(), targets, worktree: How::default().worktree };
        Command::Renew(Renew { selection, ttl_ms: None, reason: None })
    };
    refusal(stage.command("a", renew(&["src/**", "lib/**"])), Slug::NotFound);
    let reply = stage.command("a", renew(&["src/**"]));
    assert!(
        matches!(&reply.outcome, Ok(Success::Renewed(leases)) if leases.len() == 1 && leases[0].lease.id == inside.lease.id),
        "{:?}",
        reply.outcome
    );
    assert_eq!(stage.kinds().iter().filter(|kind| **kind == "lease.renewed").count(), 1);
}

fn renewed(stage: &mut Stage) {
    let first = stage.grant("a", "f", How { reason: Some("why".to_owned()), ..ttl(60_000) });
    for _ in 0..4 {
        stage.pass(30_000);
        let again = stage.grant("a", "f", ttl(60_000));
        assert_eq!((again.lease.id, again.lease.fence), (first.lease.id, first.lease.fence));
        assert_eq!(again.deadline, stage.world.now.mono.plus_ms(60_000));
        assert_eq!(again.lease.reason.as_deref(), Some("why"), "a stated reason stays");
    }
    assert_eq!(stage.stored().len(), 1);
    let shorter = stage.grant("a", "f", ttl(1_000));
    assert!(shorter.deadline >= stage.world.now.mono.plus_ms(60_000), "a renewal never shortens");
}

fn covered(stage: &mut Stage) {
    let wide = stage.grant("a", "src/**", How::default());
    assert_eq!(stage.grant("a", "src/x/y.rs", How::default()).lease.id, wide.lease.id);
    assert_eq!(stage.grant("a", "src/x/*.rs", shared()).lease.id, wide.lease.id);
    assert_eq!(stage.stored().len(), 1);
    let again = stage.grant("a", "src/z.rs", How { reason: Some("just z".to_owned()), ..ttl(7_200_000) });
    assert_eq!((again.lease.reason, again.lease.ttl_ms), (None, 1_800_000), "it keeps its own terms");
    let reader = stage.grant("b", "docs/**", shared());
    let writer = stage.grant("b", "docs/a.md", How::default());
    assert_ne!(reader.lease.id, writer.lease.id, "a shared lease does not cover an exclusive request");
}

fn upgraded(stage: &mut Stage) {
    let mine = stage.grant("a", "s", shared());
    let theirs = stage.grant("b", "s", shared());
    assert_eq!(stage.refused("a", "s", How::default())[0].lease.id, theirs.lease.id);
    stage.release(&named("b"), by_id(&theirs));
    let raised = stage.grant("a", "s", How::default());
    assert_eq!((raised.lease.id, raised.lease.mode), (mine.lease.id, Mode::Exclusive));
    assert!(raised.lease.fence > mine.lease.fence, "an upgrade is a new grant");
    assert_eq!(stage.stored().len(), 1);
    let failure = refusal(stage.renew(&named("a"), fenced(&mine)), Slug::StaleFence);
    assert!(failure.message.contains(&raised.lease.fence.to_string()));
}

fn downgraded(stage: &mut Stage) {
    let mine = stage.grant("a", "s", How::default());
    stage.refused("b", "s", shared());
    let lowered = stage.grant("a", "s", shared());
    assert_eq!((lowered.lease.id, lowered.lease.fence), (mine.lease.id, mine.lease.fence));
    stage.grant("b", "s", shared());
}

fn worktrees(stage: &mut Stage) {
    stage.grant("a", "src/a.rs", How::default());
    let elsewhere = How { worktree: Worktree("/other".to_owned()), ..How::default() };
    stage.grant("b", "src/a.rs", elsewhere.clone());
    assert_eq!(stage.refused("c", "src/a.rs", elsewhere).len(), 1);
}

fn taken_over(stage: &mut Stage) {
    let held = only(leases(stage.reserve(&at_terminal(7), &[path("f")], How::default())));
    assert_eq!(stage.refused("b", "f", How::default()).len(), 1, "its process is alive");
    stage.world.processes.insert(7, ProcessLife::Dead);
    assert!(stage.check(&named("b"), &[path("f")], &How::default()).is_empty(), "check agrees");
    let reply = stage.reserve(&named("b"), &[path("f")], How::default());
    assert!(matches!(&reply.notices[..], [Notice::TookOver { from, .. }] if *from == held.agent));
    let taken = only(leases(reply));
    assert!(taken.lease.fence > held.lease.fence);
    let kinds = stage.kinds();
    assert_eq!(&kinds[kinds.len() - 2..], ["lease.taken-over", "lease.granted"]);
    let failure = refusal(stage.renew(&at_terminal(7), by_id(&held)), Slug::LeaseExpired);
    assert!(
        failure.message.contains("taken over") && failure.message.contains("b holds it now"),
        "{failure:?}"
    );
}

fn unknown_holder(stage: &mut Stage) {
    leases(stage.reserve(&at_terminal(7), &[path("f")], How::default()));
    stage.world.processes.insert(7, ProcessLife::Unknown);
    assert_eq!(stage.refused("b", "f", How::default()).len(), 1);
}

fn yielded(stage: &mut Stage) {
    stage.grant("a", "f", auto());
    stage.world.dirty.insert("f".to_owned());
    assert_eq!(stage.refused("b", "f", auto()).len(), 1);
    stage.world.dirty.clear();
    let reply = stage.reserve(&named("b"), &[path("f")], auto());
    assert!(matches!(&reply.notices[..], [Notice::Yielded { .. }]), "{:?}", reply.notices);
    leases(reply);
    assert!(stage.kinds().contains(&"lease.yielded"));
    assert_eq!(stage.stored().len(), 1);
}

fn claimed_stands(stage: &mut Stage) {
    stage.grant("a", "f", How::default());
    assert_eq!(stage.refused("b", "f", auto()).len(), 1);
}

fn changed_hands(stage: &mut Stage) {
    let first = stage.grant("a", "f", How::default());
    stage.release(&named("a"), by_id(&first));
    let again = stage.reserve(&named("a"), &[path("f")], How::default());
    assert!(again.notices.is_empty(), "nobody was there in between");
    stage.release(&named("a"), by_id(&only(leases(again))));
    let other = stage.grant("b", "f", How::default());
    stage.release(&named("b"), by_id(&other));
    let back = stage.reserve(&named("a"), &[path("f")], How::default());
    assert!(matches!(&back.notices[..], [Notice::ChangedHands { by, .. }] if by.as_str() == "b"));
}

fn candidates(stage: &mut Stage) {
    for (agent, pattern) in
        [("a", "src/**"), ("b", "**/lock.json"), ("c", "lib/x/y.rs"), ("d", "a*/[bc]"), ("e", "q?/**")]
    {
        stage.grant(agent, pattern, shared());
    }
    let how = How::default();
    for (wanted, expected) in [
        ("src", 1),
        ("src/deep/er.rs", 1),
        ("srcx", 0),
        ("lock.json", 1),
        ("src/lock.json", 2),
        ("lib", 1),
        ("lib/x", 1),
        ("li", 0),
        ("lib/x/y.rs/z", 1),
        ("lib/x/y.rs/*.md", 1),
        ("lib/x/y.rsx", 0),
        ("lib/**", 2),
        ("lib/x/*.rs", 1),
        ("lib/x/*.go", 0),
        ("ab/b", 1),
        ("ab/d", 0),
        ("qq/lock.json", 2),
        ("**", 5),
    ] {
        let found = stage.check(&named("z"), &[path(wanted)], &how);
        assert_eq!(found.len(), expected, "{wanted}: {found:?}");
    }
}

fn fences(stage: &mut Stage) {
    let mut last = 0;
    for round in 0..20 {
        let agent = format!("a{}", round % 3);
        let lease = stage.grant(&agent, "f", How::default());
        assert!(lease.lease.fence.to_integer() > last);
        last = lease.lease.fence.to_integer();
        stage.release(&named(&agent), fenced(&lease));
    }
}

/// Whom the path went to in between, as whoever takes it is told.
#[track_caller]
fn regained(stage: &mut Stage, agent: &str, what: &str) -> Option<String> {
    let reply = stage.reserve(&named(agent), &[path(what)], How::default());
    assert!(reply.outcome.is_ok(), "{reply:?}");
    reply.notices.iter().find_map(|notice| match notice {
        Notice::ChangedHands { by, .. } => Some(by.to_string()),
        _ => None,
    })
}

fn held_for_a_while(stage: &mut Stage, agent: &str, what: &str) {
    let held = stage.grant(agent, what, How::default());
    stage.release(&named(agent), by_id(&held));
}

fn changed_hands_within(stage: &mut Stage) {
    held_for_a_while(stage, "a", "src/one");
    held_for_a_while(stage, "b", "src/**");
    assert_eq!(regained(stage, "a", "src/one").as_deref(), Some("b"), "within a directory");
    assert_eq!(regained(stage, "a", "src/new"), None, "what the caller never had");
    stage.command("a", Command::Release(Release { selection: Selection::All, keep: Vec::new() }));
    held_for_a_while(stage, "a", "lib/*.rs");
    held_for_a_while(stage, "b", "lib/two.rs");
    assert_eq!(regained(stage, "a", "lib/two.rs").as_deref(), Some("b"), "out of a pattern of its own");
    held_for_a_while(stage, "a", "docs/**");
    held_for_a_while(stage, "b", "docs/*.md");
    assert_eq!(regained(stage, "a", "docs/x.txt"), None, "another pattern beside it");
    assert_eq!(regained(stage, "a", "docs/x.md").as_deref(), Some("b"), "both by patterns");
    let given = stage.grant("a", "handed", How::default());
    stage.take("b", "other");
    super::handover::moved(super::handover::hand(stage, "a", "b", Some(vec![fenced(&given)])));
    stage.release(&named("b"), by_id(&given));
    assert_eq!(regained(stage, "a", "handed").as_deref(), Some("b"), "handed over and given back");
    held_for_a_while(stage, "a", "soft");
    stage.grant("b", "soft", auto());
    assert_eq!(regained(stage, "a", "soft").as_deref(), Some("b"), "made way in the same request");
}

fn named_in_a_session(stage: &mut Stage) {
    held_for_a_while(stage, "a", "f");
    let session = in_session("one");
    assert!(stage.reserve(&session, &[path("f")], auto()).outcome.is_ok());
    let both = Caller { claim: named("a").claim, ..session };
    let reply = stage.reserve(&both, &[path("f")], How::default());
    let changed = |notice: &Notice| matches!(notice, Notice::ChangedHands { .. });
    assert!(reply.notices.iter().any(changed), "{:?}", reply.notices);
}

/// Whoever shares a path only reads it, whatever the time of day says of who left first.
fn changed_hands_shared(stage: &mut Stage) {
    let shared_for_a_while = |stage: &mut Stage, agents: &[&str], what: &str| {
        let held: Vec<_> = agents.iter().map(|agent| stage.grant(agent, what, shared())).collect();
        for (agent, lease) in agents.iter().zip(&held) {
            stage.release(&named(agent), by_id(lease));
        }
    };
    held_for_a_while(stage, "a", "one");
    held_for_a_while(stage, "b", "one");
    shared_for_a_while(stage, &["c", "d"], "one");
    assert_eq!(regained(stage, "a", "one").as_deref(), Some("b"), "who had it alone before others shared it");
    shared_for_a_while(stage, &["a", "b"], "two");
    assert_eq!(regained(stage, "a", "two"), None, "who shared it too");
    stage.command("a", Command::Release(Release { selection: Selection::All, keep: Vec::new() }));
    stage.world.now.wall = Wall(0);
    shared_for_a_while(stage, &["b"], "one");
    assert_eq!(regained(stage, "a", "one").as_deref(), Some("b"), "a day before it had it itself");
}
