//! Every mutating verb, prepared so that it changes something, and how to tell that it did.

use crate::arena::{Arena, Reply};
use crate::deaths::session;
use clearway_testkit::Terminal;
use clearway_testkit::namespace::Namespace;

/// Writes after which the log must have been folded.
const WRITES_MAX: usize = 1_000;

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
    /// By the log: the verb is several transactions, each of which is there whole or not at all, in their order. A
    /// repetition leads to the same live leases and places in the queue.
    Stepwise,
    /// By the stored facts; a repetition after it happened finds nothing to wait for, says so, and changes nothing.
    Once,
}

/// Stands for the id of the lease on `far.rs`: what is somebody else's is named by its id.
const FOREIGN_LEASE: &str = "ID";
/// Stands for the id of the first wait in the queue.
const FOREIGN_WAIT: &str = "WAIT";
/// Stands for the id of the first request to a holder.
const REQUEST: &str = "REQUEST";
/// Stands for a file in the state directory of the arena, of which each copy has its own.
const EXPORTED: &str = "EXPORTED";

const KEY: [&str; 2] = ["--idempotency-key", "the-one-key"];

pub(crate) const CASES: [Case; 48] = [
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
    Case {
        name: "attached",
        prepare: foreign_lease,
        arguments: &["reserve", "far.rs", "--wait", "100ms"],
        judged: Judged::Stepwise,
    },
    Case { name: "wait", prepare: offered, arguments: &["wait", "--for", "1m"], judged: Judged::Once },
    Case { name: "take-over", prepare: dead_holder, arguments: &["reserve", "a.rs"], judged: Judged::Keyed },
    Case {
        name: "operator-renew",
        prepare: foreign_lease,
        arguments: &["renew", "--reason", "on holiday", "--ttl", "2h", FOREIGN_LEASE],
        judged: Judged::Keyed,
    },
    Case {
        name: "operator-transfer",
        prepare: foreign_lease,
        arguments: &["transfer", "--to", "ada", "--reason", "on holiday", FOREIGN_LEASE],
        judged: Judged::Keyed,
    },
    Case {
        name: "operator-cancel",
        prepare: awaited,
        arguments: &["wait", "--cancel", "--reason", "on holiday", FOREIGN_WAIT],
        judged: Judged::Keyed,
    },
    Case {
        name: "exported-anchor",
        prepare: unvouched,
        arguments: &["audit", "anchor", "--export", EXPORTED],
        judged: Judged::Anchor,
    },
    Case {
        name: "with",
        prepare: one_lease,
        arguments: &["with", "build", "--", "true"],
        judged: Judged::Stepwise,
    },
    Case {
        name: "send",
        prepare: two_agents,
        arguments: &["send", "bob", "the parser is split", "--cc", "cy", "--subject", "news"],
        judged: Judged::Keyed,
    },
    Case { name: "ack", prepare: unread_mail, arguments: &["ack", "asked"], judged: Judged::Keyed },
    Case { name: "read", prepare: unread_mail, arguments: &["read", "asked"], judged: Judged::Unkeyed },
    Case { name: "inbox", prepare: unread_mail, arguments: &["inbox"], judged: Judged::Unkeyed },
    Case {
        name: "broadcast",
        prepare: two_agents,
        arguments: &["broadcast", "--topic", "build", "green again"],
        judged: Judged::Keyed,
    },
    Case { name: "policy", prepare: two_agents, arguments: &["policy", "contacts"], judged: Judged::Keyed },
    Case {
        name: "contacts",
        prepare: two_agents,
        arguments: &["contacts", "--add", "bob"],
        judged: Judged::Keyed,
    },
    Case {
        name: "ask",
        prepare: foreign_lease,
        arguments: &["ask", "far.rs", "the release waits for it"],
        judged: Judged::Keyed,
    },
    Case {
        name: "answer",
        prepare: asked,
        arguments: &["answer", REQUEST, "release"],
        judged: Judged::Keyed,
    },
    Case {
        name: "answer-later",
        prepare: asked,
        arguments: &["answer", REQUEST, "later", "20"],
        judged: Judged::Keyed,
    },
    Case {
        name: "answer-no",
        prepare: asked,
        arguments: &["answer", REQUEST, "no", "half done"],
        judged: Judged::Keyed,
    },
    Case { name: "withdraw", prepare: asking, arguments: &["withdraw", REQUEST], judged: Judged::Keyed },
    Case {
        name: "force",
        prepare: asked_of_the_dead,
        // The same blow would end the git that is to keep something first, and be refused for that.
        arguments: &["force", REQUEST, "--reason", "the release is due", "--without-snapshot"],
        judged: Judged::Keyed,
    },
    Case {
        name: "halt",
        prepare: foreign_lease,
        arguments: &["halt", "far", "--reason", "wrong module"],
        judged: Judged::Keyed,
    },
    Case {
        name: "resume",
        prepare: halted,
        arguments: &["resume", "far", "--reason", "told it"],
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

/// Others who can be written to.
fn two_agents(arena: &Arena<'_>) {
    for (agent, file) in [("ada", "a.rs"), ("bob", "b.rs"), ("cy", "c.rs")] {
        arena.run(agent, &["reserve", file]).expect(0);
    }
}

/// Mail that the one who acts has not read.
fn unread_mail(arena: &Arena<'_>) {
    two_agents(arena);
    arena.run("bob", &["send", "ada", "did you see?", "--ack", "--id", "asked"]).expect(0);
}

/// What a terminal session holds that was killed.
fn dead_holder(arena: &Arena<'_>) {
    let terminal = Terminal::open();
    let mut holder = session(arena, &terminal, "a.rs");
    holder.kill().expect("a process of ours");
    holder.wait().expect("it ends");
}

/// far asks ada for what it holds.
fn asked(arena: &Arena<'_>) {
    foreign_lease(arena);
    arena.run("far", &["ask", "a.rs", "the release waits for it"]).expect(0);
}

/// ada asks far for what it holds.
fn asking(arena: &Arena<'_>) {
    foreign_lease(arena);
    arena.run("ada", &["ask", "far.rs", "the release waits for it"]).expect(0);
}

/// ada asked a terminal session that was killed then.
fn asked_of_the_dead(arena: &Arena<'_>) {
    let terminal = Terminal::open();
    let mut holder = session(arena, &terminal, "a.rs");
    arena.make_operator_key();
    arena.run("ada", &["ask", "a.rs", "the release waits for it"]).expect(0);
    holder.kill().expect("a process of ours");
    holder.wait().expect("it ends");
}

fn halted(arena: &Arena<'_>) {
    foreign_lease(arena);
    let mut halt = arena.command("ada", &["halt", "far", "--reason", "wrong module"]);
    halt.env("CLEARWAY_OPERATOR_KEY", arena.operator_key());
    Reply::of(halt).expect(0);
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
        let named = |word: &&'static str| match *word {
            FOREIGN_LEASE => arena.lease_id("far.rs"),
            FOREIGN_WAIT => first_wait_id(arena),
            REQUEST => first_request_id(arena),
            EXPORTED => arena.state().join("exported").display().to_string(),
            word => word.to_owned(),
        };
        let arguments: Vec<String> = arguments.iter().map(named).collect();
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let mut command = arena.command("ada", &arguments);
        command.env("CLEARWAY_OPERATOR_KEY", arena.operator_key());
        command
    }
}

/// The id of the first request there ever was.
fn first_request_id(arena: &Arena<'_>) -> String {
    let asked = arena.run("reader", &["events", "--kind", "negotiation.asked"]).expect(0).stdout;
    let first: serde_json::Value =
        serde_json::from_str(asked.lines().next().unwrap_or_default()).expect("an event");
    first["data"]["negotiation"].as_str().expect("an id").to_owned()
}

/// The id of the first wait there ever was. Once it is over, only the log remembers it.
fn first_wait_id(arena: &Arena<'_>) -> String {
    let queued = arena.run("reader", &["events", "--kind", "wait.began"]).expect(0).stdout;
    let first: serde_json::Value =
        serde_json::from_str(queued.lines().next().unwrap_or_default()).expect("an event");
    first["data"]["wait"].as_str().expect("an id").to_owned()
}
