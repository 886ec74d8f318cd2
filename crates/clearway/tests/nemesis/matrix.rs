//! Every mutating verb, prepared so that it changes something, with the points where it can be struck.

use crate::arena::{Arena, Facts, Reply};
use clearway_testkit::Home;
use clearway_testkit::faults::{Fault, Point, points, struck};
use clearway_testkit::namespace::Namespace;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Threads that strike; the machine these tests are meant for has two cores.
const STRIKERS: usize = 2;

/// Writes after which the log must have been folded.
const WRITES_MAX: usize = 1_000;

/// Complaints shown in full.
const SHOWN_MAX: usize = 12;

/// One mutating verb on one state.
#[derive(Clone, Copy)]
pub(crate) struct Case {
    pub(crate) name: &'static str,
    /// Leads to the state the verb is used on.
    pub(crate) prepare: fn(&Arena<'_>),
    pub(crate) arguments: &'static [&'static str],
    pub(crate) judged: Judged,
}

/// How to tell that a verb happened entirely or not at all, and what repeating it must do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Judged {
    /// By the stored facts; a repetition with the same key has no second effect.
    Keyed,
    /// By the stored facts; a repetition leads to the same live leases and places in the queue.
    Unkeyed,
    /// By the anchors beside the store; the facts never change.
    Anchor,
    /// By the stored leases, which were damaged; the log never changes.
    Repair,
    /// By the stored facts. Until it happened, and until the witness knows that it did, the log has lost its end; a
    /// repetition may begin one more epoch and leads to the same live leases.
    Recovery,
}

/// Stands for the id of the lease on `far.rs`: what is somebody else's is named by its id.
const FOREIGN_LEASE: &str = "ID";

const KEY: [&str; 2] = ["--idempotency-key", "the-one-key"];

pub(crate) const CASES: [Case; 25] = [
    Case { name: "first-reserve", prepare: nothing, arguments: &["reserve", "a.rs"], judged: Judged::Keyed },
    Case {
        name: "later-reserve",
        prepare: one_lease,
        arguments: &["reserve", "b.rs"],
        judged: Judged::Keyed,
    },
    Case {
        name: "plain-reserve",
        prepare: one_lease,
        arguments: &["reserve", "b.rs"],
        judged: Judged::Unkeyed,
    },
    Case {
        name: "multi-reserve",
        prepare: one_lease,
        arguments: &["reserve", "b.rs", "c/**", "d.rs", "--kind", "write-set"],
        judged: Judged::Keyed,
    },
    Case { name: "upgrade", prepare: shared_lease, arguments: &["reserve", "s.rs"], judged: Judged::Keyed },
    Case {
        name: "over-expired",
        prepare: expired_leases,
        arguments: &["reserve", "old-1.rs"],
        judged: Judged::Keyed,
    },
    Case { name: "long-log", prepare: long_log, arguments: &["reserve", "b.rs"], judged: Judged::Keyed },
    Case { name: "renew", prepare: one_lease, arguments: &["renew", "--ttl", "2h"], judged: Judged::Keyed },
    Case { name: "release", prepare: one_lease, arguments: &["release", "a.rs"], judged: Judged::Keyed },
    Case { name: "sweep", prepare: expired_leases, arguments: &["sweep"], judged: Judged::Unkeyed },
    Case {
        name: "first-anchor",
        prepare: unvouched,
        arguments: &["audit", "anchor"],
        judged: Judged::Anchor,
    },
    Case { name: "later-anchor", prepare: anchored, arguments: &["audit", "anchor"], judged: Judged::Anchor },
    Case {
        name: "downgrade",
        prepare: one_lease,
        arguments: &["reserve", "a.rs", "--shared"],
        judged: Judged::Keyed,
    },
    Case {
        name: "partial-release",
        prepare: wide_lease,
        arguments: &["release", "d/**", "--keep", "d/kept.rs"],
        judged: Judged::Keyed,
    },
    Case {
        name: "operator-release",
        prepare: foreign_lease,
        arguments: &["release", "--reason", "on holiday", FOREIGN_LEASE],
        judged: Judged::Keyed,
    },
    Case { name: "new-boot", prepare: another_boot, arguments: &["reserve", "b.rs"], judged: Judged::Keyed },
    Case {
        name: "recovery",
        prepare: lost_tail,
        arguments: &["doctor", "--repair", "--reason", "put back from a copy"],
        judged: Judged::Recovery,
    },
    Case { name: "repair", prepare: damaged, arguments: &["doctor", "--repair"], judged: Judged::Repair },
    Case {
        name: "enqueue",
        prepare: foreign_lease,
        arguments: &["reserve", "far.rs", "--queue"],
        judged: Judged::Unkeyed,
    },
    Case { name: "offer", prepare: awaited, arguments: &["release", "a.rs"], judged: Judged::Keyed },
    Case { name: "take-turn", prepare: offered, arguments: &["reserve", "far.rs"], judged: Judged::Keyed },
    Case { name: "cancel", prepare: offered, arguments: &["wait", "--cancel"], judged: Judged::Keyed },
    Case {
        name: "transfer",
        prepare: awaited,
        arguments: &["transfer", "--to", "far", "--all"],
        judged: Judged::Keyed,
    },
    Case {
        name: "freeze",
        prepare: foreign_lease,
        arguments: &["freeze", "--reason", "cutting the release"],
        judged: Judged::Keyed,
    },
    Case {
        name: "thaw",
        prepare: waiting_out_a_freeze,
        arguments: &["thaw", "--reason", "the release is out"],
        judged: Judged::Keyed,
    },
];

fn nothing(_: &Arena<'_>) {}

fn one_lease(arena: &Arena<'_>) {
    arena.run("ada", &["reserve", "a.rs", "--reason", "the first"]).expect(0);
}

fn shared_lease(arena: &Arena<'_>) {
    arena.run("ada", &["reserve", "s.rs", "--shared"]).expect(0);
}

fn wide_lease(arena: &Arena<'_>) {
    arena.run("ada", &["reserve", "d/**"]).expect(0);
}

fn foreign_lease(arena: &Arena<'_>) {
    one_lease(arena);
    arena.run("far", &["reserve", "far.rs"]).expect(0);
    arena.make_operator_key();
}

/// Two wait for what ada holds, and far holds something too.
fn awaited(arena: &Arena<'_>) {
    foreign_lease(arena);
    arena.run("bob", &["reserve", "a.rs", "--queue"]).expect(0);
    arena.run("eve", &["reserve", "a.rs", "--queue"]).expect(0);
}

/// It is ada's turn, and eve waits behind.
fn offered(arena: &Arena<'_>) {
    foreign_lease(arena);
    arena.run("ada", &["reserve", "far.rs", "--queue"]).expect(0);
    arena.run("eve", &["reserve", "far.rs", "--queue"]).expect(0);
    arena.run("far", &["release", "--all"]).expect(0);
}

fn waiting_out_a_freeze(arena: &Arena<'_>) {
    foreign_lease(arena);
    let mut freeze = arena.command("ada", &["freeze", "--reason", "cutting the release"]);
    freeze.env("CLEARWAY_OPERATOR_KEY", arena.operator_key());
    Reply::of(freeze).expect(0);
    arena.run("bob", &["reserve", "b.rs", "--queue"]).expect(0);
}

/// Everything so far happened before the machine was started anew.
fn another_boot(arena: &Arena<'_>) {
    let earlier = Namespace::of_boot(arena.state(), "0b5e5a1e-0000-4000-8000-00000000000e");
    Reply::of(earlier.enter(arena.command("ada", &["reserve", "a.rs"]))).expect(0);
}

/// An older copy of the store was put back.
fn lost_tail(arena: &Arena<'_>) {
    arena.run("ada", &["reserve", "a.rs"]).expect(0);
    let older = arena.copy("older");
    for number in 0..5 {
        arena.run("ada", &["reserve", &format!("lost-{number}.rs")]).expect(0);
    }
    for suffix in ["", "-wal", "-shm"] {
        std::fs::copy(older.store(suffix), arena.store(suffix)).expect("a copy");
    }
    arena.make_operator_key();
}

fn expired_leases(arena: &Arena<'_>) {
    let paths = ["old-1.rs", "old-2.rs", "old-3.rs"];
    arena.run("old", &[["reserve", "--ttl", "1s"].as_slice(), &paths].concat()).expect(0);
    paths.iter().for_each(|path| arena.wait_until_free(path));
}

/// The next write makes the write-ahead log long enough to be folded into the database.
fn long_log(arena: &Arena<'_>) {
    arena.run("ada", &["reserve", "long.rs"]).expect(0);
    let folded_at = longest_log(&arena.copy("long-log-tried"));
    let mut number = 0;
    while log_bytes(arena) < folded_at || !next_write_folds(&arena.copy("long-log-next")) {
        number += 1;
        arena.run("ada", &["reserve", &format!("long-{number}.rs")]).expect(0);
        assert!(number < WRITES_MAX, "the log is never folded");
    }
}

/// The longest that the log becomes before it is folded.
fn longest_log(arena: &Arena<'_>) -> u64 {
    let lengths = (0..WRITES_MAX).map(|number| {
        arena.run("ada", &["reserve", &format!("long-{number}.rs")]).expect(0);
        log_bytes(arena)
    });
    let mut longest = 0;
    for length in lengths {
        if length < longest {
            return longest;
        }
        longest = length;
    }
    panic!("the log is never folded")
}

fn next_write_folds(arena: &Arena<'_>) -> bool {
    let before = log_bytes(arena);
    arena.run("ada", &["reserve", "b.rs"]).expect(0);
    let folds = log_bytes(arena) < before;
    std::fs::remove_dir_all(arena.state()).expect("a copy");
    folds
}

fn log_bytes(arena: &Arena<'_>) -> u64 {
    std::fs::metadata(arena.store("-wal")).map_or(0, |file| file.len())
}

fn unvouched(arena: &Arena<'_>) {
    one_lease(arena);
    arena.make_operator_key();
}

fn anchored(arena: &Arena<'_>) {
    unvouched(arena);
    arena.run("ada", &["audit", "anchor"]).expect(0);
    arena.run("ada", &["reserve", "b.rs"]).expect(0);
}

/// A row is gone and another one altered; the log knows better.
fn damaged(arena: &Arena<'_>) {
    arena.run("ada", &["reserve", "a.rs", "b.rs"]).expect(0);
    arena.run("ada", &["release", "b.rs"]).expect(0);
    arena.run("ada", &["reserve", "c.rs", "--reason", "as it was"]).expect(0);
    let connection = rusqlite::Connection::open(arena.store("")).expect("the database");
    let text = "DELETE FROM leases WHERE pattern = 'a.rs'; UPDATE leases SET reason = 'forged'";
    connection.execute_batch(text).expect("rows of ours");
}

impl Case {
    /// The verb as it is run, again and again with the same key.
    pub(crate) fn command(&self, arena: &Arena<'_>) -> std::process::Command {
        let keyed = self.judged == Judged::Keyed;
        let arguments = [if keyed { KEY.as_slice() } else { &[] }, self.arguments].concat();
        let foreign = arguments.contains(&FOREIGN_LEASE).then(|| arena.lease_id("far.rs"));
        let named = |word: &&'static str| match (*word, &foreign) {
            (FOREIGN_LEASE, Some(id)) => id.clone(),
            (word, _) => word.to_owned(),
        };
        let arguments: Vec<String> = arguments.iter().map(named).collect();
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let mut command = arena.command("ada", &arguments);
        command.env("CLEARWAY_OPERATOR_KEY", arena.operator_key());
        command
    }
}

/// A case with what was there before, what is there after, and where it can be struck in between.
pub(crate) struct Prepared<'h> {
    pub(crate) case: Case,
    pub(crate) arena: Arena<'h>,
    pub(crate) before: Facts,
    pub(crate) after: Facts,
    pub(crate) points: Vec<Point>,
}

impl<'h> Prepared<'h> {
    pub(crate) fn new(home: &'h Home, case: Case) -> Self {
        let arena = Arena::new(home, case.name);
        (case.prepare)(&arena);
        let before = arena.facts().expect("the state before");
        let done = arena.copy(&format!("{}-done", case.name));
        let (points, output) = points(case.command(&done), &home.path().join(format!("{}.trace", case.name)));
        Reply::from(output).expect(0);
        let after = done.facts().expect("the state after");
        let changes = case.judged != Judged::Anchor;
        assert_eq!(before != after, changes, "{}: {after:?}", case.name);
        assert!(points.len() > 3, "{}: {points:?}", case.name);
        Self { case, arena, before, after, points }
    }
}

/// One strike: its case, its point and its fault.
pub(crate) struct Strike<'p, 'h> {
    pub(crate) prepared: &'p Prepared<'h>,
    pub(crate) point: &'p Point,
    pub(crate) fault: Fault,
}

/// Carries out every strike on its own copy of the state and gathers what was wrong.
///
/// # Panics
/// If anything was wrong, with all of it.
pub(crate) fn strike_all(
    strikes: &[Strike<'_, '_>],
    judge: impl Fn(&Strike<'_, '_>, &Arena<'_>, &Reply) -> Result<(), String> + Sync,
) {
    let (next, wrong) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..STRIKERS {
            scope.spawn(|| {
                while let Some(strike) = strikes.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if let Err(complaint) = carry_out(strike, &judge) {
                        wrong.lock().expect("no striker panics").push(complaint);
                    }
                }
            });
        }
    });
    let wrong = wrong.into_inner().expect("no striker panics");
    let first = wrong.iter().take(SHOWN_MAX).cloned().collect::<Vec<_>>().join("\n");
    assert!(wrong.is_empty(), "{} of {} strikes went wrong, the first:\n{first}", wrong.len(), strikes.len());
}

fn carry_out(
    strike: &Strike<'_, '_>,
    judge: &(impl Fn(&Strike<'_, '_>, &Arena<'_>, &Reply) -> Result<(), String> + Sync),
) -> Result<(), String> {
    let Strike { prepared, point, fault } = strike;
    let case = prepared.case;
    let name = format!("{}-{}-{}-{fault:?}", case.name, point.call, point.nth);
    let arena = prepared.arena.copy(&name.replace(['(', ')', '"'], "-"));
    let reply = Reply::of(struck(case.command(&arena), point, *fault));
    let judged = judge(strike, &arena, &reply);
    if judged.is_ok() {
        std::fs::remove_dir_all(arena.state()).map_err(|error| error.to_string())?;
    }
    let shown = point.shown.replace(&arena.state().display().to_string(), "");
    judged.map_err(|complaint| format!("- {name} at {shown}: {complaint}\n  answer: {reply:?}"))
}

/// The verb done once more without a fault, and everything that must hold after that.
pub(crate) fn recover(prepared: &Prepared<'_>, arena: &Arena<'_>, happened: bool) -> Result<(), String> {
    let case = prepared.case;
    let again = Reply::of(case.command(arena));
    if again.code != 0 {
        return Err(format!("doing it again: {again:?}"));
    }
    let (found, after) = (arena.facts()?, &prepared.after);
    match case.judged {
        Judged::Keyed if found != *after => {
            Err(format!("twice is not once: {found:#?} instead of {after:#?}"))
        }
        Judged::Keyed if happened && again.value["replayed"] != true => {
            Err(format!("it happened, but was done again: {again:?}"))
        }
        Judged::Unkeyed | Judged::Recovery
            if (found.live(), &found.waits) != (after.live(), &after.waits) =>
        {
            Err(format!("again: {found:#?}, not {after:#?}"))
        }
        Judged::Repair if found != *after => Err(format!("not repaired: {found:#?} instead of {after:#?}")),
        Judged::Anchor => whole_anchors(arena),
        _ => Ok(()),
    }?;
    arena.audited().map(|_| ())
}

/// The public key lies beside the secret one: without it anybody's anchors would be believed.
fn whole_anchors(arena: &Arena<'_>) -> Result<(), String> {
    let (key, public) = (arena.operator_key(), arena.state().join("clearway/operator.pub"));
    match (key.exists(), public.exists()) {
        (true, true) => Ok(()),
        (key, public) => Err(format!("operator.key is there: {key}, operator.pub: {public}")),
    }
}
