//! What git is about to do with a checkout that others work in, and what a commit ends.

use super::Story;
use super::stage::*;
use clearway_core::agent::{AgentName, Caller};
use clearway_core::command::{Command, Commit, Settle, Upheaval};
use clearway_core::ids::LeaseId;
use clearway_core::slug::Slug;
use clearway_core::target::{Target, Worktree};
use clearway_core::time::Mono;

pub(super) const STORIES: &[Story] = &[
    (
        "a commit of what somebody else holds is refused and recorded, an operator's is allowed and recorded",
        refused,
    ),
    ("what made way, and what an operation brought along, is in no commit's way", made_way),
    ("a family is one agent for commits", family),
    ("a commit gives back what hooks took before it and is clean, and nothing else", settled),
    ("a rebase waits for the changes of others and not for what they hold", rebased),
    ("what changes a whole checkout waits for everybody who is at work there", upheaved),
];

fn worktree() -> Worktree {
    How::default().worktree
}

fn of(paths: &[&str]) -> Commit {
    Commit { paths: paths.iter().map(|text| path(text)).collect(), worktree: worktree(), ..Commit::default() }
}

fn commits(stage: &mut Stage, caller: &Caller, commit: Commit) -> bool {
    let reply = stage.execute(caller, Command::Commit(commit), None);
    let is_ok = reply.outcome.is_ok();
    if !is_ok {
        refusal(reply, Slug::CommitRefused);
    }
    is_ok
}

fn changed(stage: &mut Stage, file: &str) {
    stage.world.dirty.insert(file.to_owned());
}

fn refused(stage: &mut Stage) {
    stage.take("bob", "f");
    assert!(!commits(stage, &named("ada"), of(&["f"])));
    assert!(commits(stage, &named("bob"), of(&["f"])));
    let written = Commit { written: vec![(path("g"), name_of("cy"))], ..of(&[]) };
    assert!(!commits(stage, &named("ada"), written.clone()));
    stage.take("ada", "g");
    assert!(commits(stage, &named("ada"), written));
    assert_eq!(stage.denials().len(), 2);
    assert!(commits(stage, &operator(77, "he is away"), of(&["f"])));
    assert_eq!(stage.kinds().iter().filter(|kind| **kind == "commit.allowed").count(), 1);
}

fn name_of(name: &str) -> AgentName {
    AgentName::parse(name).unwrap_or_else(|| panic!("{name} is a name"))
}

fn made_way(stage: &mut Stage) {
    stage.grant("bob", "f", auto());
    assert!(commits(stage, &named("ada"), of(&["f"])), "nothing of bob's is in it");
    changed(stage, "f");
    assert!(!commits(stage, &named("ada"), of(&["f"])));
    let brought: Vec<Target> = vec![path("f")];
    assert!(commits(stage, &named("ada"), Commit { brought: brought.clone(), ..of(&["f"]) }));
    stage.take("bob", "g");
    assert!(!commits(stage, &named("ada"), Commit { brought: vec![path("g")], ..of(&["g"]) }));
    assert_eq!(stage.stored().len(), 2, "nothing ends for a commit");
}

fn family(stage: &mut Stage) {
    let root = stage.reserve(&in_session("s"), &[path("x")], How::default()).agent.unwrap().0;
    stage.register_child(&in_session("s/1"), root, "child001");
    leases(stage.reserve(&in_session("s/1"), &[path("f")], How::default()));
    assert!(commits(stage, &in_session("s"), of(&["f"])));
    assert!(commits(stage, &in_session("s/1"), of(&["x"])));
}

fn settled(stage: &mut Stage) {
    let clean = stage.grant("ada", "clean", auto());
    let dirty = stage.grant("ada", "dirty", auto());
    let claimed = stage.take("ada", "claimed");
    let foreign = stage.grant("bob", "foreign", auto());
    changed(stage, "dirty");
    let began: Mono = stage.world.now.mono;
    stage.pass(5);
    let later = stage.grant("ada", "later", auto());
    let all: Vec<LeaseId> = [&clean, &dirty, &claimed, &foreign, &later].map(|view| view.lease.id).to_vec();
    let settle = Command::Settle(Settle { leases: all, began });
    assert_eq!(released(stage.command("ada", settle)).0, [clean.lease.id]);
    assert_eq!(stage.stored().len(), 4);
}

fn rebased(stage: &mut Stage) {
    stage.take("bob", "src/**");
    let rebase = Command::Rebase(worktree());
    assert!(stage.command("ada", rebase.clone()).outcome.is_ok());
    changed(stage, "src");
    refusal(stage.command("ada", rebase.clone()), Slug::OthersAtWork);
    assert!(stage.command("bob", rebase.clone()).outcome.is_ok());
    assert!(stage.command("ada", Command::Rebase(Worktree("/elsewhere".to_owned()))).outcome.is_ok());
}

fn upheaved(stage: &mut Stage) {
    let upheaval = Upheaval { worktree: worktree(), what: "git switch".to_owned(), ..Upheaval::default() };
    let switch = Command::Upheave(upheaval.clone());
    assert!(stage.command("ada", switch.clone()).outcome.is_ok());
    stage.take("bob", "src/**");
    let failure = refusal(stage.command("ada", switch.clone()), Slug::OthersAtWork);
    assert!(failure.message.starts_with("bob is at work"), "{failure:?}");
    changed(stage, "src");
    let failure = refusal(stage.command("ada", switch.clone()), Slug::OthersAtWork);
    assert!(failure.message.starts_with("bob has uncommitted changes"), "{failure:?}");
    assert!(stage.command("bob", switch).outcome.is_ok());
    let elsewhere = Upheaval { worktree: Worktree("/elsewhere".to_owned()), ..upheaval };
    assert!(stage.command("ada", Command::Upheave(elsewhere.clone())).outcome.is_ok());
    let bob: Vec<AgentName> = AgentName::parse("bob").into_iter().collect();
    for told in [Upheaval { present: bob.clone(), ..elsewhere.clone() }, Upheaval { wrote: bob, ..elsewhere }]
    {
        refusal(stage.command("ada", Command::Upheave(told)), Slug::OthersAtWork);
    }
}
