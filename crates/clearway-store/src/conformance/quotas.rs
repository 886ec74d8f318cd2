//! How much anybody may hold, whichever way it comes to them.

use super::Story;
use super::handover::{hand, moved, take_many};
use super::stage::*;
use clearway_core::command::{Command, Release, Selection};
use clearway_core::failure::Failure;
use clearway_core::limits::{LEASES_PER_AGENT_MAX, ROOT_PATTERNS_PER_SCOPE_MAX};
use clearway_core::slug::Slug;
use clearway_core::target::Target;

pub(super) const STORIES: &[Story] = &[
    ("an agent has a quota, and others are unaffected", of_one_agent),
    ("leases that are over count against no quota, recorded or not", over),
    ("after a boot nothing counts against a quota, looked at or taken", after_a_boot),
    ("parts that are kept count like any other lease", kept_parts),
    ("patterns without a leading directory are counted when kept too", kept_roots),
    ("what is handed over counts, what is over or held already does not", handed_over),
];

const OF_AGENT: &str = "leases of one agent: at most 1000";

fn files(range: std::ops::Range<u64>) -> Vec<Target> {
    range.map(|number| path(&format!("d/{number}"))).collect()
}

fn exceeds(failure: &Failure, limit: &str) {
    assert!(failure.message.starts_with(limit), "{}", failure.message);
}

fn of_one_agent(stage: &mut Stage) {
    take_many(stage, "a", files(0..LEASES_PER_AGENT_MAX).into_iter());
    exceeds(
        &refusal(stage.reserve(&named("a"), &[path("e")], How::default()), Slug::QuotaExceeded),
        OF_AGENT,
    );
    stage.grant("a", "d/0", How::default());
    stage.grant("b", "e", How::default());
}

fn over(stage: &mut Stage) {
    let others: Vec<Target> = (0..100).map(|number| path(&format!("e/{number}"))).collect();
    leases(stage.reserve(&named("b"), &others, ttl(1_000)));
    leases(stage.reserve(&named("a"), &files(0..LEASES_PER_AGENT_MAX), ttl(2_000)));
    stage.pass(5_000);
    let kept = stage.preview_of("a", "f");
    assert!(kept.outcome.is_ok(), "{kept:?}");
    stage.grant("a", "f", How::default());
}

fn after_a_boot(stage: &mut Stage) {
    leases(stage.reserve(&named("a"), &files(0..LEASES_PER_AGENT_MAX), How::default()));
    stage.reboot("another boot");
    let looked_at = stage.preview_of("a", "f");
    assert!(looked_at.outcome.is_ok(), "{looked_at:?}");
    assert!(stage.preview_of("b", "d/7").outcome.is_ok(), "what it meets is over too");
    stage.grant("a", "f", How::default());
    assert_eq!(stage.stored().len(), 1);
}

fn keep(stage: &mut Stage, agent: &str, whole: &str, parts: &[&str]) -> crate::execute::Reply {
    let targets = vec![path(whole)];
    let selection = Selection::These { leases: Vec::new(), targets, worktree: How::default().worktree };
    let keep = parts.iter().map(|part| path(part)).collect();
    stage.command(agent, Command::Release(Release { selection, keep }))
}

fn kept_parts(stage: &mut Stage) {
    take_many(stage, "a", files(1..LEASES_PER_AGENT_MAX).into_iter());
    stage.grant("a", "w/**", How::default());
    exceeds(&refusal(keep(stage, "a", "w/**", &["w/1", "w/2"]), Slug::QuotaExceeded), OF_AGENT);
    assert!(!stage.kinds().contains(&"lease.released"), "nothing half-done");
    released(keep(stage, "a", "w/**", &["w/1", "w/1"]));
    assert_eq!(stage.stored().len() as u64, LEASES_PER_AGENT_MAX);
}

fn kept_roots(stage: &mut Stage) {
    let roots = |range: std::ops::Range<u64>| range.map(|number| path(&format!("**/x{number}"))).collect();
    let roots: Vec<Target> = roots(1..ROOT_PATTERNS_PER_SCOPE_MAX);
    for (number, some) in roots.chunks(333).enumerate() {
        leases(stage.reserve(&named(&format!("b{number}")), some, shared()));
    }
    stage.grant("a", "**/y*", shared());
    let limit = "patterns without a leading directory: at most 1000";
    exceeds(&refusal(keep(stage, "a", "**/y*", &["**/y1", "**/y2"]), Slug::QuotaExceeded), limit);
    released(keep(stage, "a", "**/y*", &["**/y1"]));
}

fn handed_over(stage: &mut Stage) {
    take_many(stage, "b", files(0..LEASES_PER_AGENT_MAX - 1).into_iter());
    leases(stage.reserve(&named("b"), &[path("same")], shared()));
    leases(stage.reserve(&named("a"), &[path("same")], shared()));
    moved(hand(stage, "a", "b", None));
    assert_eq!(stage.stored().len() as u64, LEASES_PER_AGENT_MAX, "what was the same is one lease");
    leases(stage.reserve(&named("a"), &[path("f")], ttl(7_200_000)));
    exceeds(&refusal(hand(stage, "a", "b", None), Slug::QuotaExceeded), OF_AGENT);
    stage.pass(3_600_000);
    assert_eq!(moved(hand(stage, "a", "b", None)).len(), 1, "whatever b held is over");
}
