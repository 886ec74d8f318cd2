//! A store with a past: every kind of event, live and ended leases, remembered keys. And plain looks at its files
//! that do not pass through the engine.

use crate::script::{Script, Step};
use crate::support::{Rng, TestWorld, beside, claim, engine, path, process, request, scope, store_file};
use clearway_core::agent::{AgentName, Caller, Client, ClientSession, OperatorAct};
use clearway_core::command::{Answer, Ask, Attend, Care, Command, Commit, Force, Reserve, Says, Unchecked};
use clearway_core::decide::Success;
use clearway_core::fold::State;
use clearway_core::ids::Seq;
use clearway_core::lease::Grade;
use clearway_core::mail::{Act, Importance, MessageId, Policy, RulesChange, Send, Topic};
use clearway_core::negotiation::Urgency;
use clearway_core::time::Wall;
use clearway_store::contract::Engine;
use clearway_store::{Rules, execute};
use clearway_wire::{canonical, chain};
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};
use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// Columns that hold no fact; every other one does.
const SOFT: [(&str, Option<&str>); 5] = [
    ("presence", None),
    ("memos", None),
    ("refusals", None),
    ("leases", Some("check_at")),
    ("waits", Some("heard")),
];

/// The files of a store that hold something worth keeping.
const KEPT: [&str; 3] = ["", "-wal", "-gate"];

/// How many times as long a life may get that has not seen enough.
const LIVES_LONGER: u64 = 8;

/// Lives until the log of the store below `state` has at least `events` events of at least `kinds_min` kinds.
pub(crate) fn live(state: &Path, seed: u64, events: u64, kinds_min: usize) {
    let (mut engine, mut world) = (engine(state), TestWorld::new(seed));
    let mut script = Script::new(seed);
    let (mut fold, mut kinds) = (State::default(), BTreeSet::new());
    if kinds_min > 0 {
        session(&mut engine, &mut world);
    }
    while fold.scope.rev < Seq(events) || kinds.len() < kinds_min {
        assert!(
            fold.scope.rev.0 < events * LIVES_LONGER,
            "{} kinds of events, and only {kinds:?}",
            kinds_min
        );
        let Step::Ask(request) = script.next(&mut world, &fold) else { continue };
        let reply = execute(&mut engine, &mut world, Rules::default(), &scope(), &request).unwrap();
        script.learn(&request, &reply);
        let Some(mut snapshot) = engine.snapshot(&scope()).unwrap() else { continue };
        for stored in snapshot.events(fold.scope.rev, usize::MAX).unwrap() {
            let event = canonical::decode(stored.seq, &stored.bytes, script.fold()).unwrap();
            fold.apply(&event).unwrap();
            kinds.insert(event.body.kind());
        }
    }
}

/// What only hooks cause: a client's session from its first edit to its end, which leaves a change behind, a broad claim
/// of which a file made way, a file that is claimed after it was edited and that somebody else writes over, a commit that
/// an operator let take it along, and one that went past the check.
fn session(engine: &mut dyn Engine, world: &mut TestWorld) {
    let hook = |session: &str, pid: u32| {
        let session = ClientSession {
            client: Client::ClaudeCode,
            session: session.to_owned(),
            subagent: None,
            process: Some(process(pid)),
        };
        Caller { session: Some(session), hook: true, hears: true, ..Caller::default() }
    };
    world.dirty.insert("left/behind".to_owned());
    let edit = |file: &str| Command::Reserve(Reserve { grade: Grade::Auto, ..claim(&[path(file)]) });
    let taken_along = claim(&[path("broad/one")]);
    let commit = Commit {
        paths: taken_along.wants.into_iter().map(|want| want.target).collect(),
        worktree: taken_along.worktree,
        ..Commit::default()
    };
    let unchecked = Unchecked {
        commit: "1f2e".to_owned(),
        paths: vec![path("broad/one")],
        worktree: commit.worktree.clone(),
        at: Wall(i64::MAX),
        explained: false,
    };
    let written_over = Attend::done(Care::Kept, [path("broad/one")], commit.worktree.clone());
    let broad = Reserve { makes_way: true, ..claim(&[path("broad/**")]) };
    for (session, pid, command) in [
        ("one", 300, edit("left/behind")),
        ("two", 300, Command::Attend(Attend::Start)),
        ("two", 300, Command::Attend(Attend::End)),
        ("three", 301, Command::Reserve(broad)),
        ("four", 302, edit("broad/one")),
        ("four", 302, Command::Reserve(claim(&[path("broad/one")]))),
        ("five", 303, Command::Attend(Attend::Start)),
        ("five", 303, Command::Attend(written_over)),
        ("five", 303, Command::Commit(commit)),
        ("five", 303, Command::Unchecked(unchecked)),
    ] {
        let mut caller = hook(session, pid);
        if matches!(command, Command::Commit(_)) {
            let reason = "release day".to_owned();
            caller = Caller { claim: AgentName::parse("person"), ..Caller::default() };
            caller.operator = Some(OperatorAct { reason, at_terminal: true, holds_key: false });
        }
        let request = request(caller, command, None);
        let reply = execute(engine, world, Rules::default(), &scope(), &request).unwrap();
        assert!(reply.outcome.is_ok(), "{reply:?}");
    }
    negotiations(engine, world);
    mail(engine, world);
}

/// Requests to a holder that end in every way, one of them by force, and a holder that a person stops for a while.
fn negotiations(engine: &mut dyn Engine, world: &mut TestWorld) {
    let named = |name: &str| Caller { claim: AgentName::parse(name), ..Caller::default() };
    let done = |engine: &mut dyn Engine, world: &mut TestWorld, caller: Caller, command: Command| {
        let request = request(caller, command, None);
        let reply = execute(engine, world, Rules::default(), &scope(), &request).unwrap();
        match reply.outcome.unwrap_or_else(|failure| panic!("{failure:?}: {request:?}")) {
            Success::Negotiated(outcome) => outcome.negotiations.first().map(|view| view.negotiation.id),
            _ => None,
        }
    };
    let held = |file: &str| Reserve { ttl_ms: 86_400_000, ..claim(&[path(file)]) };
    let ask = |file: &str, urgency: Urgency| {
        Command::Ask(Ask {
            reserve: held(file),
            why: "the release".to_owned(),
            urgency,
            then_reserve: false,
            tells_answer: false,
            tells_circle: false,
        })
    };
    let says = |negotiation, says| Command::Answer(Answer { negotiation, says });
    for file in ["asked/one", "asked/two"] {
        done(engine, world, named("holder"), Command::Reserve(held(file)));
    }
    let first = done(engine, world, named("asker"), ask("asked/one", Urgency::Normal)).unwrap();
    done(engine, world, named("asker"), ask("asked/one", Urgency::Urgent));
    done(engine, world, named("holder"), says(first, Says::Later { for_ms: 60_000 }));
    done(engine, world, named("holder"), says(first, Says::Release(Vec::new())));
    let second = done(engine, world, named("asker"), ask("asked/two", Urgency::Urgent)).unwrap();
    world.pass(25 * 60_000);
    let request_force =
        Command::Force(Force { negotiation: second, reason: "due".to_owned(), without_snapshot: false });
    done(engine, world, named("asker"), request_force);
    let operator = OperatorAct { reason: "looks".to_owned(), at_terminal: true, holds_key: false };
    let person = Caller { operator: Some(operator), ..named("person") };
    let holder = AgentName::parse("holder").unwrap();
    done(engine, world, person.clone(), Command::Halt(holder.clone()));
    done(engine, world, person, Command::Continue(holder));
}

/// Mail of every kind: some that is forgotten, some that is read and acknowledged, some that is not.
fn mail(engine: &mut dyn Engine, world: &mut TestWorld) {
    let named = |name: &str| Caller { claim: AgentName::parse(name), ..Caller::default() };
    let send = |id: &str, text: &str| {
        Act::Send(Box::new(Send {
            id: MessageId::parse(id),
            to: AgentName::parse("reader").into_iter().collect(),
            cc: Vec::new(),
            bcc: Vec::new(),
            everyone: false,
            subject: Some("what it is about".to_owned()),
            digest: chain::digest(text),
            text: text.to_owned(),
            topic: Topic::parse("topic"),
            importance: Importance::High,
            wants_ack: true,
            thread: None,
        }))
    };
    let ids = |id: &str| MessageId::parse(id).into_iter().collect::<Vec<_>>();
    let rules = RulesChange {
        policy: Some(Policy::Auto),
        add: AgentName::parse("person").into_iter().collect(),
        remove: Vec::new(),
    };
    let mut done = |name: &str, act: Act| {
        let request = request(named(name), Command::Mail(act), None);
        let reply = execute(engine, world, Rules::default(), &scope(), &request).unwrap();
        assert!(reply.outcome.is_ok(), "{reply:?}");
        reply.rev
    };
    done("reader", Act::SetRules(rules));
    let old = done("person", send("old", "a text that is forgotten"));
    done("reader", Act::Forget(old));
    done("person", send("kept", "a text that is kept"));
    done("person", send("unread", "a text that nobody read"));
    done("reader", Act::Read(ids("kept")));
    done("reader", Act::Acknowledge(ids("kept")));
}

/// Opens the store's file past the engine, leaving the log where it is.
pub(crate) fn open_plainly(state: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(store_file(state), flags)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    connection.execute_batch("PRAGMA wal_autocheckpoint = 0")?;
    Ok(connection)
}

/// Folds the whole log into the database.
pub(crate) fn fold_log(state: &Path) {
    let connection = open_plainly(state).unwrap();
    let busy: i64 = connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0)).unwrap();
    assert_eq!(busy, 0);
}

/// Every fact as plain SQL finds it.
pub(crate) fn facts(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    let mut found = Vec::new();
    for (table, columns) in fact_columns(connection)? {
        let columns = columns.join(", ");
        let mut statement = connection.prepare(&format!("SELECT {columns} FROM \"{table}\""))?;
        let count = statement.column_count();
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let cells = (0..count).map(|index| row.get_ref(index).map(|cell| format!("{cell:?}")));
            found.push(format!("{table}: {}", cells.collect::<rusqlite::Result<Vec<_>>>()?.join(", ")));
        }
    }
    Ok(found)
}

/// The columns of facts of each table, as the schema lists them.
fn fact_columns(connection: &Connection) -> rusqlite::Result<BTreeMap<String, Vec<String>>> {
    let list = "SELECT tables.name, columns.name FROM sqlite_schema AS tables, pragma_table_info(tables.name) AS columns \
                WHERE tables.type = 'table' ORDER BY tables.name, columns.cid";
    let mut tables: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut statement = connection.prepare(list)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let (table, column): (String, String) = (row.get(0)?, row.get(1)?);
        let is_soft =
            |(soft, of): &(&str, Option<&str>)| *soft == table && of.is_none_or(|soft| soft == column);
        if !SOFT.iter().any(is_soft) {
            tables.entry(table).or_default().push(format!("\"{column}\""));
        }
    }
    Ok(tables)
}

/// The files of a store, in memory.
#[derive(Clone, Debug)]
pub(crate) struct Specimen(BTreeMap<&'static str, Vec<u8>>);

impl Specimen {
    pub(crate) fn take(state: &Path) -> Self {
        let file = store_file(state);
        Self(KEPT.into_iter().map(|suffix| (suffix, std::fs::read(beside(&file, suffix)).unwrap())).collect())
    }

    pub(crate) fn put(&self, state: &Path) {
        let file = store_file(state);
        clearway_platform::files::create_private_dir_all(file.parent().unwrap()).unwrap();
        // There, as writers leave it, and empty: whoever opens the store first reads the log anew.
        std::fs::write(beside(&file, "-shm"), "").unwrap();
        std::fs::set_permissions(beside(&file, "-shm"), std::fs::Permissions::from_mode(0o600)).unwrap();
        for (suffix, bytes) in &self.0 {
            let path = beside(&file, suffix);
            let _ = std::fs::remove_file(&path);
            drop(clearway_platform::files::open_private(&path).unwrap());
            std::fs::write(&path, bytes).unwrap();
        }
    }

    pub(crate) fn length(&self, suffix: &str) -> usize {
        self.0[suffix].len()
    }

    pub(crate) fn flipped(&self, flip: Flip) -> Self {
        let mut files = self.0.clone();
        files.get_mut(flip.suffix).unwrap()[flip.byte] ^= 1 << flip.bit;
        Self(files)
    }
}

/// One bit of one file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Flip {
    pub(crate) suffix: &'static str,
    pub(crate) byte: usize,
    pub(crate) bit: u32,
}

/// Bytes before the first frame of a log, and before the page in each frame.
const LOG_HEADER_BYTES: usize = 32;
const FRAME_HEADER_BYTES: usize = 24;
const PAGE_BYTES: usize = 2_048;

impl Specimen {
    /// So many bits in the pages of the log that count: the last version of each.
    pub(crate) fn spread_over_last_frames(&self, count: usize, seed: u64) -> Vec<Flip> {
        let frames = self.0["-wal"][LOG_HEADER_BYTES..].chunks_exact(FRAME_HEADER_BYTES + PAGE_BYTES);
        let last: BTreeMap<&[u8], usize> =
            frames.enumerate().map(|(index, frame)| (&frame[..4], index)).collect();
        let starts: Vec<usize> = last
            .values()
            .map(|index| LOG_HEADER_BYTES + index * (FRAME_HEADER_BYTES + PAGE_BYTES) + FRAME_HEADER_BYTES)
            .collect();
        let logical = spread("-wal", starts.len() * PAGE_BYTES, count, seed);
        let place = |byte: usize| starts[byte / PAGE_BYTES] + byte % PAGE_BYTES;
        logical.into_iter().map(|flip| Flip { byte: place(flip.byte), ..flip }).collect()
    }
}

/// So many bits, spread evenly over a file of this length.
pub(crate) fn spread(suffix: &'static str, length: usize, count: usize, seed: u64) -> Vec<Flip> {
    let mut rng = Rng(seed);
    let flip = |index: usize| {
        let (from, to) = (index * length / count, (index + 1) * length / count);
        Flip { suffix, byte: from + rng.below(to - from), bit: rng.next() as u32 % 8 }
    };
    (0..count).map(flip).collect()
}
