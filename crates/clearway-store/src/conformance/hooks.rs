//! What the hooks of clients tell of their agents.

use super::Story;
use super::stage::*;
use crate::execute::Reply;
use clearway_core::agent::{Caller, ClientSession};
use clearway_core::command::{
    Attend, Await, Care, Command, Enter, Hit, Release, Reserve, Selection, Stay, Unchecked, Used,
};
use clearway_core::decide::{Notice, Success};
use clearway_core::facts::ProcessLife;
use clearway_core::failure::LeaseView;
use clearway_core::lease::Grade;
use clearway_core::limits::{
    CALL_MS_MAX, COMMON_MS_MAX, NOTES_MAX, NOTES_MS, OFFER_MS, OFFERS_PER_WAIT_MAX, OVERWRITTEN_PER_CALL_MAX,
    WAIT_MS_MAX,
};
use clearway_core::slug::Slug;
use clearway_core::target::Worktree;
use clearway_core::time::Wall;
use std::collections::BTreeSet;

pub(super) const STORIES: &[Story] = &[
    ("another session id of one client process is the same agent", same_process),
    ("a session in another process is the same agent, and its old process is no evidence", other_process),
    ("what a subagent leaves is its parent's, and a finished child refuses nobody", subagents),
    ("a session that ends gives back what is clean and marks what is changed", ends),
    ("whoever comes back has again what it left changed and nobody took", comes_back),
    ("what was left behind and is clean by now is told to nobody", left_clean),
    ("whoever is refused an edit waits and closes no circle", edits_in_a_circle),
    ("what a hook took is claimed under its id and fence, and does not yield", claimed),
    ("what a call has in hand does not yield before it is put down", in_hand),
    ("what was taken for one call is over with it, whatever is in it", for_one_call),
    ("a call that is never heard of again does not hold for ever", lost_call),
    ("whoever tries a part of a patch again waits at one place while it waits for the same", part_again),
    ("whoever never took its turn is told that it waits no more", away),
    ("a holder is told who waits and a waiter that it is its turn, each once", told),
    ("what the dead left uncommitted is kept before it goes to somebody else, and both are told", kept),
    ("a commit past the check is recorded, and the holders of what is in it are told", committed_unchecked),
    ("what was written over is told to both, and to the holder alone if nobody is known", written_over),
    ("what a call wrote over is recorded once, and again after an edit of that very file", overwritten),
    (
        "what a call wrote that it was kept from is recorded, up to a limit, and nothing else",
        overwritten_alone,
    ),
    ("nobody is told more than its budget allows", budget),
    ("an agent that rests is idle until it does something", rests),
    ("a path of a broad claim that nobody touches makes way, and the rest stays", split),
    ("what was changed or edited is not taken out of a broad claim", not_split),
    ("only the broad claim of an agent that hooks speak for makes way", firm_claims),
    ("what made way is no part of the claim, whatever becomes of it", after_the_split),
    ("what git ignores is held by nobody and nobody is asked about what is held already", ignored),
    ("what everybody writes is written by one call after the other, and held by nobody", one_writer),
];

/// A client's hook.
fn hook(session: &str, pid: u32) -> Caller {
    let mut caller = in_session(session);
    caller.session = caller.session.map(|session| ClientSession { process: Some(process(pid)), ..session });
    Caller { hook: true, hears: true, ..caller }
}

fn subagent(session: &str, pid: u32, id: &str) -> Caller {
    let mut caller = hook(session, pid);
    let subagent = Some(id.to_owned());
    caller.session = caller.session.map(|session| ClientSession { subagent, ..session });
    caller
}

/// Is about to edit a file.
fn edit(stage: &mut Stage, caller: &Caller, file: &str) -> Reply {
    let reserve = reservation(&[path(file)], &auto());
    let wait = Await { reserve, stay: Stay::Durable, wait_ms: WAIT_MS_MAX, wait: None };
    stage.execute(caller, Command::Await(wait), None)
}

#[track_caller]
fn granted(reply: &Reply) {
    assert!(matches!(reply.outcome, Ok(Success::Reserved { .. })), "{reply:?}");
}

#[track_caller]
fn queued(reply: &Reply) {
    assert!(matches!(reply.outcome, Ok(Success::Queued { .. })), "{reply:?}");
}

fn attend(stage: &mut Stage, caller: &Caller, attend: Attend) -> Reply {
    let reply = stage.execute(caller, Command::Attend(attend), None);
    assert!(reply.outcome.is_ok(), "{reply:?}");
    reply
}

fn wrote(file: &str) -> Attend {
    Attend::done(Care::Kept, [path(file)], Worktree("/w".to_owned()))
}

fn same_process(stage: &mut Stage) {
    stage.world.dirty.insert("a".to_owned());
    granted(&edit(stage, &hook("one", 7), "a"));
    attend(stage, &hook("two", 7), Attend::Start);
    granted(&edit(stage, &hook("two", 7), "a"));
    assert_eq!(stage.agents(), 1);
    granted(&edit(stage, &in_session("two"), "a"));
    queued(&edit(stage, &hook("three", 8), "a"));
}

fn other_process(stage: &mut Stage) {
    stage.world.dirty.insert("a".to_owned());
    granted(&edit(stage, &hook("one", 7), "a"));
    stage.world.processes.insert(7, ProcessLife::Dead);
    attend(stage, &hook("one", 8), Attend::Start);
    queued(&edit(stage, &hook("two", 9), "a"));
    assert_eq!(stage.agents(), 2);
}

fn subagents(stage: &mut Stage) {
    stage.world.dirty.extend(["a".to_owned(), "b".to_owned()]);
    let (root, x, y) = (hook("s", 7), subagent("s", 7, "x"), subagent("s", 7, "y"));
    granted(&edit(stage, &x, "a"));
    assert_eq!(stage.agents(), 2, "the session is known with its first subagent");
    queued(&edit(stage, &y, "a"));
    queued(&edit(stage, &root, "a"));
    granted(&edit(stage, &root, "b"));
    granted(&edit(stage, &x, "b"));
    attend(stage, &x, Attend::End);
    granted(&edit(stage, &root, "a"));
    queued(&edit(stage, &hook("other", 9), "a"));
}

fn comes_back(stage: &mut Stage) {
    stage.world.dirty.extend(["a", "b", "c", "d"].map(str::to_owned));
    let (one, two, worker) = (hook("one", 7), hook("two", 8), subagent("one", 7, "x"));
    for file in ["a", "b", "c"] {
        granted(&edit(stage, &one, file));
    }
    granted(&edit(stage, &worker, "a"));
    granted(&edit(stage, &worker, "d"));
    attend(stage, &one, Attend::End);
    assert!(stage.stored().is_empty());
    granted(&edit(stage, &two, "b"));
    stage.world.dirty.remove("c");
    attend(stage, &hook("one", 9), Attend::Start);
    let held = |stage: &mut Stage| -> Vec<String> {
        let mut held: Vec<String> = stage.held().iter().map(|lease| lease.target.display()).collect();
        held.sort();
        held
    };
    assert_eq!(held(stage), ["a", "b", "d"], "b is two's, and c is clean");
    queued(&edit(stage, &two, "a"));
    queued(&edit(stage, &two, "d"));
    queued(&edit(stage, &hook("one", 9), "b"));
    attend(stage, &hook("one", 9), Attend::End);
    stage.world.dirty.remove("a");
    granted(&edit(stage, &two, "a"));
    attend(stage, &hook("one", 9), Attend::Start);
    assert_eq!(held(stage), ["a", "b"], "whoever waited has the turn at what was left");
}

fn left_clean(stage: &mut Stage) {
    stage.world.dirty.insert("a".to_owned());
    granted(&edit(stage, &hook("one", 7), "a"));
    attend(stage, &hook("one", 7), Attend::End);
    stage.world.dirty.clear();
    let taken = edit(stage, &hook("two", 8), "a");
    granted(&taken);
    assert!(taken.notices.is_empty(), "{taken:?}");
}

fn edits_in_a_circle(stage: &mut Stage) {
    stage.world.dirty.extend(["a", "b", "c"].map(str::to_owned));
    let (one, two, three) = (hook("one", 7), hook("two", 8), hook("three", 9));
    granted(&edit(stage, &one, "a"));
    queued(&edit(stage, &two, "a"));
    queued(&edit(stage, &three, "a"));
    granted(&edit(stage, &three, "b"));
    queued(&edit(stage, &two, "b"));
    granted(&edit(stage, &two, "c"));
    queued(&edit(stage, &three, "c"));
    queued(&edit(stage, &one, "b"));
}

fn claimed(stage: &mut Stage) {
    let one = hook("one", 7);
    granted(&edit(stage, &one, "a"));
    attend(stage, &one, wrote("a"));
    let before = stage.held().remove(0);
    let reserve = Reserve { reason: Some("mine".to_owned()), ..reservation(&[path("a")], &How::default()) };
    granted(&stage.execute(&one, Command::Reserve(reserve), None));
    let lease = stage.held().remove(0);
    assert_eq!((lease.id, lease.fence, lease.grade), (before.id, before.fence, Grade::Claimed));
    assert_eq!(lease.reason.as_deref(), Some("mine"));
    queued(&edit(stage, &hook("two", 8), "a"));
    granted(&edit(stage, &one, "a"));
    assert_eq!(stage.held().remove(0).grade, Grade::Claimed, "an edit makes it no less");
}

fn ends(stage: &mut Stage) {
    stage.world.dirty.insert("changed".to_owned());
    let one = hook("one", 7);
    granted(&edit(stage, &one, "changed"));
    granted(&edit(stage, &one, "clean"));
    attend(stage, &one, Attend::End);
    assert!(stage.stored().is_empty());
    let taken = edit(stage, &hook("two", 8), "changed");
    assert!(taken.notices.iter().any(|notice| matches!(notice, Notice::LeftBehind { .. })), "{taken:?}");
    assert!(edit(stage, &hook("two", 8), "clean").notices.is_empty());
    attend(stage, &one, Attend::End);
    granted(&edit(stage, &one, "more"));
    assert_eq!(stage.agents(), 2);
}

fn in_hand(stage: &mut Stage) {
    let (one, two) = (hook("one", 7), hook("two", 8));
    granted(&edit(stage, &one, "a"));
    queued(&edit(stage, &two, "a"));
    attend(stage, &one, wrote("a"));
    granted(&edit(stage, &two, "a"));
}

fn for_one_call(stage: &mut Stage) {
    let (one, two) = (hook("one", 7), hook("two", 8));
    stage.world.dirty.insert("a".to_owned());
    let take = |stage: &mut Stage, caller: &Caller| {
        let reserve = Reserve { max_ms: Some(CALL_MS_MAX), ..reservation(&[path("a")], &auto()) };
        stage.execute(caller, Command::Reserve(reserve), None)
    };
    granted(&take(stage, &one));
    assert!(take(stage, &two).outcome.is_err(), "a call has it in hand");
    stage.pass(CALL_MS_MAX - 1);
    granted(&take(stage, &one));
    stage.pass(CALL_MS_MAX - 1);
    assert!(take(stage, &two).outcome.is_err(), "another call has it");
    stage.pass(1);
    granted(&take(stage, &two));
    attend(stage, &two, Attend::Rest);
    let reply = take(stage, &one);
    granted(&reply);
    assert!(!reply.notices.iter().any(|notice| matches!(notice, Notice::Yielded { .. })), "{reply:?}");
    assert!(attend(stage, &two, Attend::Call).notices.is_empty(), "nobody lost anything");
    attend(stage, &one, Attend::End);
    let kinds = stage.kinds();
    assert!(!kinds.contains(&"lease.orphaned"), "{kinds:?}");
}

fn part_again(stage: &mut Stage) {
    let (one, two, three) = (hook("one", 7), hook("two", 8), hook("three", 9));
    let patch = |stage: &mut Stage, files: &[&str]| {
        let files: Vec<_> = files.iter().map(|file| path(file)).collect();
        let wait = Await {
            reserve: reservation(&files, &auto()),
            stay: Stay::Durable,
            wait_ms: WAIT_MS_MAX,
            wait: None,
        };
        stage.execute(&two, Command::Await(wait), None)
    };
    for (caller, file) in [(&one, "b"), (&three, "c")] {
        stage.world.dirty.insert(file.to_owned());
        granted(&edit(stage, caller, file));
        attend(stage, caller, wrote(file));
    }
    queued(&patch(stage, &["a", "b"]));
    queued(&patch(stage, &["b"]));
    assert_eq!(stage.waits().len(), 1, "{:?}", stage.waits());
    queued(&patch(stage, &["b", "c"]));
    queued(&patch(stage, &["c"]));
    assert_eq!(stage.waits().len(), 3, "somebody else is in the way of the rest: {:?}", stage.waits());
    stage.world.dirty = BTreeSet::from(["c".to_owned()]);
    granted(&patch(stage, &["b"]));
    assert_eq!(stage.waits().len(), 2, "nobody is in the way of a alone: {:?}", stage.waits());
    stage.world.dirty.clear();
    granted(&patch(stage, &["b", "c"]));
    assert!(stage.waits().is_empty(), "{:?}", stage.waits());
    stage.world.dirty = BTreeSet::from(["d".to_owned()]);
    for file in ["d", "e"] {
        granted(&edit(stage, &three, file));
        attend(stage, &three, wrote(file));
    }
    queued(&patch(stage, &["d", "e"]));
    stage.world.dirty.clear();
    granted(&patch(stage, &["d"]));
    assert!(stage.waits().is_empty(), "what is with somebody who changed nothing in it: {:?}", stage.waits());
}

/// Whoever is refused an edit was promised to be told: also if it was away for as long as its turns were kept.
fn away(stage: &mut Stage) {
    let (one, two) = (hook("one", 7), hook("two", 8));
    for file in ["a", "b"] {
        stage.world.dirty.insert(file.to_owned());
        granted(&edit(stage, &one, file));
        attend(stage, &one, wrote(file));
        queued(&edit(stage, &two, file));
    }
    stage.world.dirty.clear();
    for _ in 0..=OFFERS_PER_WAIT_MAX {
        stage.sweep();
        stage.pass(OFFER_MS);
    }
    stage.sweep();
    assert!(stage.waits().is_empty(), "{:?}", stage.waits());
    let told = attend(stage, &two, Attend::Call).notices;
    assert_eq!(told, [Notice::PlaceOver { target: "a".to_owned() }]);
    granted(&edit(stage, &two, "b"));
    assert!(attend(stage, &two, Attend::Call).notices.is_empty(), "it has the other");
}

fn ignored(stage: &mut Stage) {
    stage.world.ignored.insert("out".to_owned());
    let (one, two) = (hook("one", 7), hook("two", 8));
    for caller in [&one, &two] {
        let reply = edit(stage, caller, "out");
        assert!(
            matches!(&reply.outcome, Ok(Success::Reserved { leases, .. }) if leases.is_empty()),
            "{reply:?}"
        );
    }
    granted(&edit(stage, &one, "a"));
    let asked = stage.world.gathered;
    granted(&edit(stage, &one, "a"));
    assert_eq!(stage.world.gathered, asked, "whoever has a file is served without a question");
    // What was taken before the file came to be ignored stays, and so does what somebody claims by its name.
    stage.world.ignored.insert("a".to_owned());
    granted(&edit(stage, &one, "a"));
    assert_eq!(stage.stored().len(), 1);
    stage.take("ada", "out");
}

fn lost_call(stage: &mut Stage) {
    let (one, two) = (hook("one", 7), hook("two", 8));
    granted(&edit(stage, &one, "a"));
    stage.pass(CALL_MS_MAX - 1);
    queued(&edit(stage, &two, "a"));
    stage.pass(1);
    granted(&edit(stage, &two, "a"));
}

fn told(stage: &mut Stage) {
    stage.world.dirty.insert("a".to_owned());
    let (one, two) = (hook("one", 7), hook("two", 8));
    granted(&edit(stage, &one, "a"));
    attend(stage, &one, wrote("a"));
    queued(&edit(stage, &two, "a"));
    let holder = attend(stage, &one, Attend::Call).notices;
    assert!(matches!(holder.as_slice(), [Notice::WaitedFor { .. }]), "{holder:?}");
    assert!(attend(stage, &one, Attend::Call).notices.is_empty());
    assert!(attend(stage, &two, Attend::Call).notices.is_empty());
    stage.world.dirty.clear();
    let waiter = attend(stage, &two, Attend::Call).notices;
    assert!(matches!(waiter.as_slice(), [Notice::YourTurn { .. }]), "{waiter:?}");
    assert!(attend(stage, &two, Attend::Call).notices.is_empty());
    granted(&edit(stage, &two, "a"));
    let former = attend(stage, &one, Attend::Call).notices;
    assert!(matches!(former.as_slice(), [Notice::PassedOn { .. }]), "{former:?}");
}

fn kept(stage: &mut Stage) {
    let (one, two) = (hook("one", 7), hook("two", 8));
    stage.world.dirty.insert("a".to_owned());
    for file in ["a", "b"] {
        granted(&edit(stage, &one, file));
        attend(stage, &one, wrote(file));
    }
    stage.world.processes.insert(7, ProcessLife::Dead);
    let reply = edit(stage, &two, "a");
    granted(&reply);
    let number =
        stage.events().iter().find(|event| event.body.kind() == "snapshot.taken").map(|event| event.seq);
    let is_kept = |notice: &Notice| matches!(notice, Notice::Kept { number: n, .. } if Some(*n) == number);
    assert!(number.is_some() && reply.notices.iter().any(is_kept), "{reply:?}");
    let kinds = stage.kinds();
    let at = |kind: &str| kinds.iter().position(|found| *found == kind);
    assert!(at("snapshot.taken") < at("lease.taken-over"), "{kinds:?}");
    // What is committed needs no keeping.
    let reply = edit(stage, &two, "b");
    granted(&reply);
    assert!(!reply.notices.iter().any(|notice| matches!(notice, Notice::Kept { .. })), "{reply:?}");
    // Back in another process, the former holder hears of it.
    let back = hook("one", 9);
    let heard = attend(stage, &back, Attend::Start).notices;
    assert!(matches!(&heard[..], [Notice::PassedOn { kept, .. }] if *kept == number), "{heard:?}");
}

fn written_over(stage: &mut Stage) {
    let (one, two) = (hook("one", 7), hook("two", 8));
    granted(&edit(stage, &one, "a"));
    let lease = stage.stored()[0];
    attend(stage, &two, Attend::Start);
    let hit = |explained| Attend::Ran { hits: vec![Hit { lease, explained }] };
    let author = attend(stage, &two, hit(true)).notices;
    assert!(matches!(author.as_slice(), [Notice::WroteOver { .. }]), "{author:?}");
    let holder = attend(stage, &one, Attend::Call).notices;
    assert!(matches!(holder.as_slice(), [Notice::WrittenOver { by: Some(_), .. }]), "{holder:?}");
    assert!(attend(stage, &two, hit(false)).notices.is_empty(), "nobody is blamed");
    let holder = attend(stage, &one, Attend::Call).notices;
    assert!(matches!(holder.as_slice(), [Notice::WrittenOver { by: None, .. }]), "{holder:?}");
    assert!(attend(stage, &one, hit(true)).notices.is_empty(), "what is one's own is nobody else's");
}

/// How often it is recorded by then that something was written over.
fn times_overwritten(stage: &mut Stage) -> usize {
    stage.kinds().iter().filter(|kind| **kind == "lease.overwritten").count()
}

fn overwritten(stage: &mut Stage) {
    let (one, two, three) = (hook("one", 7), hook("two", 8), hook("three", 9));
    for file in ["d/a", "d/b"] {
        stage.world.dirty.insert(file.to_owned());
    }
    leases(stage.reserve(&one, &[path("d/**")], How::default()));
    for caller in [&two, &three] {
        attend(stage, caller, Attend::Start);
    }
    for _ in 0..2 {
        attend(stage, &two, wrote("d/a"));
        attend(stage, &two, wrote("d/b"));
    }
    assert_eq!(times_overwritten(stage), 2, "each file once");
    attend(stage, &three, wrote("d/a"));
    assert_eq!(times_overwritten(stage), 3, "by somebody else");
    granted(&edit(stage, &one, "d/b"));
    attend(stage, &one, wrote("d/b"));
    attend(stage, &two, wrote("d/a"));
    assert_eq!(times_overwritten(stage), 3, "another file of the same claim was edited");
    attend(stage, &two, wrote("d/b"));
    assert_eq!(times_overwritten(stage), 4);
    let leases = stage.stored();
    attend(stage, &two, Attend::Ran { hits: vec![Hit { lease: leases[0], explained: false }] });
    assert_eq!(times_overwritten(stage), 5, "by nobody who is known");
    let release = Release { selection: Selection::All, keep: Vec::new() };
    assert!(stage.execute(&one, Command::Release(release), None).outcome.is_ok());
    attend(stage, &three, wrote("d/b"));
    attend(stage, &two, Attend::Ran { hits: vec![Hit { lease: leases[0], explained: true }] });
    assert_eq!(times_overwritten(stage), 5, "nobody holds it any more");
}

fn overwritten_alone(stage: &mut Stage) {
    let (one, two) = (hook("one", 7), hook("two", 8));
    let files: Vec<String> =
        (0..OVERWRITTEN_PER_CALL_MAX + 4).map(|number| format!("d/{number:02}")).collect();
    stage.world.dirty.extend(files.iter().cloned().chain(["d/out".to_owned(), "e".to_owned()]));
    stage.world.ignored.insert("d/out".to_owned());
    leases(stage.reserve(&one, &[path("d/**")], How::default()));
    attend(stage, &two, Attend::Start);
    attend(stage, &subagent("one", 7, "x"), wrote("d/00"));
    assert_eq!(times_overwritten(stage), 0, "its own family");
    attend(stage, &two, wrote("d/out"));
    assert_eq!(times_overwritten(stage), 0, "nobody is kept from what git ignores");
    granted(&edit(stage, &two, "e"));
    attend(stage, &two, wrote("e"));
    let worktree = How::default().worktree;
    attend(stage, &two, Attend::done(Care::Common, [path("d/00")], worktree.clone()));
    let all: Vec<Used> = files.iter().map(|file| Used { target: path(file), how: Care::Kept }).collect();
    let done = |failed| Attend::Done { files: all.clone(), worktree: worktree.clone(), failed };
    attend(stage, &two, done(true));
    assert_eq!(times_overwritten(stage), 0, "none of it was written");
    attend(stage, &two, done(false));
    assert_eq!(times_overwritten(stage), OVERWRITTEN_PER_CALL_MAX);
}

fn committed_unchecked(stage: &mut Stage) {
    let (one, two) = (hook("one", 7), hook("two", 8));
    granted(&edit(stage, &one, "a"));
    granted(&edit(stage, &two, "b"));
    let at = stage.world.now.wall;
    let tell = |stage: &mut Stage, caller: &Caller, file: &str, at: Wall, explained: bool| {
        let (paths, worktree) = (vec![path(file)], How::default().worktree);
        let found = Unchecked { commit: "1f2e".to_owned(), paths, worktree, at, explained };
        let caller = Caller { hears: false, ..caller.clone() };
        assert!(stage.execute(&caller, Command::Unchecked(found), None).outcome.is_ok());
        stage.kinds().iter().filter(|kind| **kind == "commit.unchecked").count()
    };
    assert_eq!(tell(stage, &two, "b", at, true), 0, "its own");
    assert_eq!(tell(stage, &two, "free", at, true), 0);
    assert_eq!(tell(stage, &two, "a", Wall(at.0 - 1), true), 0, "nobody held it then");
    assert_eq!(tell(stage, &two, "a", at, true), 1);
    let holder = attend(stage, &one, Attend::Call).notices;
    assert!(matches!(holder.as_slice(), [Notice::CommittedUnchecked { by: Some(_), .. }]), "{holder:?}");
    assert_eq!(tell(stage, &Caller::default(), "a", at, false), 2, "whoever found it");
    let holder = attend(stage, &one, Attend::Call).notices;
    assert!(matches!(holder.as_slice(), [Notice::CommittedUnchecked { by: None, .. }]), "{holder:?}");
}

fn budget(stage: &mut Stage) {
    let (one, two) = (hook("one", 7), hook("two", 8));
    let mut heard = 0;
    for number in 0..NOTES_MAX + 3 {
        let file = format!("f{number}");
        granted(&edit(stage, &one, &file));
        attend(stage, &one, wrote(&file));
        granted(&edit(stage, &two, &file));
        heard += attend(stage, &one, Attend::Call).notices.len();
    }
    assert_eq!(heard, NOTES_MAX as usize);
    stage.pass(NOTES_MS);
    assert_eq!(attend(stage, &one, Attend::Call).notices.len(), 1, "what was kept is told later");
}

fn rests(stage: &mut Stage) {
    let one = hook("one", 7);
    granted(&edit(stage, &one, "a"));
    attend(stage, &one, Attend::Rest);
    assert_eq!(stage.at_work(), [false]);
    attend(stage, &one, Attend::Call);
    assert_eq!(stage.at_work(), [true]);
    assert_eq!(stage.stored().len(), 1);
}

/// Is about to write a file that everybody writes.
fn enter(stage: &mut Stage, caller: &Caller, file: &str) -> Reply {
    let enter = Enter { targets: vec![path(file)], worktree: Worktree("/w".to_owned()) };
    stage.execute(caller, Command::Enter(enter), None)
}

fn one_writer(stage: &mut Stage) {
    let (one, two) = (hook("one", 7), hook("two", 8));
    attend(stage, &one, Attend::Start);
    let entered = |reply: Reply| assert!(reply.outcome.is_ok(), "{reply:?}");
    let turned_away = |reply: Reply| {
        let failure = refusal(reply, Slug::ReservationHeld);
        assert!(failure.message.contains("is writing Cargo.lock at this moment"), "{}", failure.message);
    };
    entered(enter(stage, &one, "Cargo.lock"));
    entered(enter(stage, &one, "Cargo.lock"));
    turned_away(enter(stage, &two, "Cargo.lock"));
    entered(enter(stage, &two, "go.sum"));
    attend(stage, &one, wrote("Cargo.lock"));
    entered(enter(stage, &two, "Cargo.lock"));
    turned_away(enter(stage, &one, "Cargo.lock"));
    attend(stage, &two, Attend::Rest);
    entered(enter(stage, &one, "Cargo.lock"));
    stage.pass(COMMON_MS_MAX - 1);
    turned_away(enter(stage, &two, "Cargo.lock"));
    stage.pass(1);
    entered(enter(stage, &two, "Cargo.lock"));
    assert!(stage.stored().is_empty(), "nobody holds it");
    assert!(!stage.kinds().iter().any(|kind| kind.starts_with("reservation.")), "and no event tells of it");
}

/// A claim over everything, by an agent that hooks speak for.
fn claim_broadly(stage: &mut Stage, caller: &Caller) -> LeaseView {
    attend(stage, caller, Attend::Start);
    let how = How { makes_way: true, max_ms: Some(600_000), ..How::default() };
    only(leases(stage.reserve(caller, &[path("**")], how)))
}

fn split(stage: &mut Stage) {
    let (one, two, three) = (hook("one", 7), hook("two", 8), hook("three", 9));
    let claim = claim_broadly(stage, &one);
    let taken = edit(stage, &two, "src/a");
    granted(&taken);
    assert!(matches!(&taken.notices[..], [Notice::Yielded { target, .. }] if target == "src/a"), "{taken:?}");
    assert!(stage.kinds().ends_with(&["lease.split", "lease.granted"]), "{:?}", stage.kinds());
    let told = attend(stage, &one, Attend::Call).notices;
    assert!(matches!(&told[..], [Notice::PassedOn { target, .. }] if target == "src/a"), "{told:?}");
    queued(&edit(stage, &three, "src/a"));
    stage.world.dirty.insert("src/a".to_owned());
    queued(&edit(stage, &one, "src/a"));
    let rest = edit(stage, &one, "src/b");
    let rest = only(leases(rest));
    assert_eq!(
        (rest.lease.id, rest.lease.fence),
        (claim.lease.id, claim.lease.fence),
        "the rest is what it was"
    );
    assert_eq!(rest.lease.ceded, [path("src/a")]);
}

fn not_split(stage: &mut Stage) {
    let (one, two) = (hook("one", 7), hook("two", 8));
    claim_broadly(stage, &one);
    stage.world.dirty.insert("changed".to_owned());
    queued(&edit(stage, &two, "changed"));
    granted(&edit(stage, &one, "edited"));
    attend(stage, &one, wrote("edited"));
    granted(&edit(stage, &subagent("one", 7, "x"), "by-a-child"));
    attend(stage, &subagent("one", 7, "x"), wrote("by-a-child"));
    queued(&edit(stage, &two, "edited"));
    queued(&edit(stage, &two, "by-a-child"));
}

fn firm_claims(stage: &mut Stage) {
    let two = hook("two", 8);
    let broad = |how: How| How { makes_way: true, ..how };
    leases(stage.reserve(&named("script"), &[path("a/**")], broad(How::default())));
    queued(&edit(stage, &two, "a/f"));
    attend(stage, &hook("one", 7), Attend::Start);
    leases(stage.reserve(&hook("one", 7), &[path("b/**")], How::default()));
    queued(&edit(stage, &two, "b/f"));
    leases(stage.reserve(&hook("one", 7), &[path("c/**")], broad(shared())));
    queued(&edit(stage, &two, "c/f"));
    leases(stage.reserve(&hook("one", 7), &[path("d/**"), path("e")], broad(How::default())));
    queued(&edit(stage, &two, "e"));
    let wide = stage.reserve(&two, &[path("d/*.rs")], How::default());
    refusal(wide, Slug::ReservationHeld);
}

fn after_the_split(stage: &mut Stage) {
    let (one, two) = (hook("one", 7), hook("two", 8));
    let claim = claim_broadly(stage, &one);
    granted(&edit(stage, &two, "a"));
    stage.world.dirty.insert("a".to_owned());
    let lower = stage.reserve(&one, &[path("**")], shared());
    assert_eq!(only(leases(lower)).lease.id, claim.lease.id, "lowering takes nothing back");
    let raise = stage.reserve(&one, &[path("**")], How::default());
    assert_eq!(only(leases(raise)).lease.ceded, [path("a")], "and raising neither");
    let keep = Release { selection: Selection::of(vec![by_id(&claim)]), keep: vec![path("a")] };
    refusal(stage.execute(&one, Command::Release(keep), None), Slug::Usage);
    stage.world.dirty.clear();
    attend(stage, &two, wrote("a"));
    attend(stage, &two, Attend::End);
    let back = edit(stage, &one, "a");
    granted(&back);
    assert!(back.notices.iter().any(|notice| matches!(notice, Notice::ChangedHands { .. })), "{back:?}");
    assert_eq!(stage.stored().len(), 2, "it is held by itself again");
}
