//! Stores that were changed behind the product's back: bits, whole files, and a history rewritten with care.

use crate::arena::{Arena, Reply, copy_tree, home};
use clearway_core::ids::{ScopeKey, Seq};
use clearway_wire::chain::ChainHash;
use rusqlite::types::Value;
use rusqlite::{Connection, OpenFlags};
use std::collections::BTreeMap;
use std::path::Path;

const FLIPS: usize = 60;

/// What is no fact: signs of life, counted refusals, when to look next. Every other table and column is one.
const SOFT: [&str; 5] = ["presence.*", "memos.*", "refusals.*", "leases.check_at", "waits.heard"];

/// The columns of every table, as the schema lists them.
const COLUMNS: &str = "SELECT tables.name, columns.name FROM sqlite_schema AS tables, pragma_table_info(tables.name) \
                       AS columns WHERE tables.type = 'table' ORDER BY tables.name, columns.cid";
const SCHEMA: &str = "SELECT type, name, sql FROM sqlite_schema ORDER BY 1, 2";

/// A history with every kind of row, half of it in the database and half in its log.
fn busy_arena<'h>(home: &'h clearway_testkit::Home, name: &str) -> Arena<'h> {
    let arena = Arena::new(home, name);
    let run = |agent: &str, arguments: &[&str]| arena.run(agent, arguments);
    run("ada", &["reserve", "a.rs", "b/**", "--reason", "the parser"]).expect(0);
    run("bob", &["reserve", "c.rs", "--shared", "--idempotency-key", "k-1"]).expect(0);
    run("eve", &["reserve", "a.rs"]).expect(1);
    run("ada", &["release", "a.rs"]).expect(0);
    // Closing the last connection folds the log into the database.
    drop(
        Connection::open(arena.store(""))
            .and_then(|db| db.execute_batch("PRAGMA wal_checkpoint").map(|()| db)),
    );
    run("eve", &["reserve", "a.rs", "--idempotency-key", "k-2"]).expect(0);
    run("bob", &["reserve", "c.rs"]).expect(0);
    run("bob", &["renew", "--ttl", "2h"]).expect(0);
    run("bob", &["reserve", "b/c.rs", "--queue"]).expect(0);
    assert!(std::fs::metadata(arena.store("-wal")).unwrap().len() > 0);
    arena.audited().unwrap();
    arena
}

/// Somebody asks for what another holds, and they write to each other.
fn talk(arena: &Arena<'_>) {
    arena.run("bob", &["ask", "b/d.rs", "the release waits for it"]).expect(0);
    arena.run("ada", &["send", "bob", "soon", "--subject", "b/d.rs"]).expect(0);
    for agent in ["ada", "bob", "eve"] {
        arena.run(agent, &["policy", "contacts"]).expect(0);
    }
}

/// Nobody gets anything any more, until somebody says so.
fn frozen(arena: &Arena<'_>) {
    arena.make_operator_key();
    let mut freeze = arena.command("ada", &["freeze", "--reason", "cutting the release"]);
    freeze.env("CLEARWAY_OPERATOR_KEY", arena.operator_key());
    Reply::of(freeze).expect(0);
}

/// What the tables say, read with nothing of the product, or that they cannot be read.
fn dump(scope: &Path, scratch: &Path) -> Result<Vec<Vec<Value>>, String> {
    copy_tree(scope, scratch);
    let read = || -> rusqlite::Result<Vec<Vec<Value>>> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE;
        let connection = Connection::open_with_flags(scratch.join("store.db"), flags)?;
        let mut rows = Vec::new();
        for query in queries(&connection)? {
            rows.extend(selected(&connection, &query)?);
        }
        Ok(rows)
    };
    let rows = read().map_err(|error| error.to_string());
    std::fs::remove_dir_all(scratch).unwrap();
    rows
}

/// What asks for every fact.
fn queries(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    let mut tables: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for row in selected(connection, COLUMNS)? {
        let [Value::Text(table), Value::Text(column)] = row.as_slice() else { continue };
        let is_soft = [format!("{table}.*"), format!("{table}.{column}")];
        if !is_soft.iter().any(|soft| SOFT.contains(&soft.as_str())) {
            tables.entry(table.clone()).or_default().push(format!("\"{column}\""));
        }
    }
    let of_table =
        |(table, columns): (&String, &Vec<String>)| format!("SELECT {} FROM \"{table}\"", columns.join(", "));
    Ok(tables.iter().map(of_table).chain([SCHEMA.to_owned()]).collect())
}

fn selected(connection: &Connection, query: &str) -> rusqlite::Result<Vec<Vec<Value>>> {
    let mut statement = connection.prepare(query)?;
    let columns = statement.column_count();
    let read = |row: &rusqlite::Row<'_>| (0..columns).map(|index| row.get(index)).collect();
    statement.query_map([], read)?.collect()
}

/// Numbers that only depend on where they began.
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % end
    }
}

fn seed() -> u64 {
    let given = std::env::var("NEMESIS_SEED").ok().and_then(|text| text.parse().ok());
    given.unwrap_or(0x5eed_c1ea_2a11)
}

#[test]
fn every_flipped_bit_that_changes_a_fact_is_reported() {
    let home = home();
    let arena = busy_arena(&home, "flips");
    frozen(&arena);
    let mut dice = Dice(seed());
    println!("NEMESIS_SEED={}", dice.0);
    let truth = dump(&arena.scope_directory(), &home.path().join("scratch")).unwrap();
    let rows = |table: &str| {
        let connection = Connection::open(arena.copy("counted").store("")).unwrap();
        let count =
            connection.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get::<_, u64>(0));
        count.unwrap()
    };
    for (table, least) in [("waits", 1), ("scopes WHERE frozen_until IS NOT NULL", 1), ("idempotency", 2)] {
        assert!(rows(table) >= least, "nothing of {table} is there to be flipped");
    }
    let mut changed = 0;
    for number in 0..FLIPS {
        let flipped = arena.copy("flipped");
        let file = flipped.store(["", "-wal"][number % 2]);
        let mut bytes = std::fs::read(&file).unwrap();
        let at = dice.below(bytes.len() as u64);
        let bit = dice.below(8);
        bytes[usize::try_from(at).unwrap()] ^= 1 << bit;
        std::fs::write(&file, bytes).unwrap();
        let is_changed =
            dump(&flipped.scope_directory(), &home.path().join("scratch")).as_ref() != Ok(&truth);
        changed += usize::from(is_changed);
        let replies = [flipped.run("auditor", &["audit", "verify"]), flipped.run("auditor", &["doctor"])];
        let at = format!("bit {bit} of byte {at} of {}", file.display());
        for reply in &replies {
            assert!(matches!(reply.code, 0 | 1 | 69), "{at}: {reply:?}");
        }
        let is_reported = replies.iter().any(|reply| reply.code != 0);
        assert!(is_reported || !is_changed, "{at} changes a fact that nobody misses");
        std::fs::remove_dir_all(flipped.state()).unwrap();
    }
    println!("{changed} of {FLIPS} flips changed a fact, every one reported");
    assert!(changed > FLIPS / 4, "flips that change nothing prove nothing: {changed}");
}

/// What is projected from the log, and comes back from it.
const PROJECTED: [&str; 5] = ["agents", "ended_leases", "leases", "negotiations", "waits"];

/// Other values for a column, each of a kind that some constraint lets pass.
const OTHERWISE: [&str; 10] = [
    "CASE typeof({c}) WHEN 'integer' THEN {c} + 1 ELSE substr({c}, 1, length({c}) - 1) || \
     CASE substr({c}, -1) WHEN 'q' THEN 'r' ELSE 'q' END END",
    "{c} - 1",
    "{c} + 1000",
    "1 - {c}",
    "CASE {c} WHEN 'shared' THEN 'exclusive' ELSE 'shared' END",
    "CASE {c} WHEN 'auto' THEN 'claimed' ELSE 'auto' END",
    "CAST(substr({c}, 1, length({c}) - 1) || x'51' AS BLOB)",
    "coalesce({c}, 'q')",
    "coalesce({c}, 1)",
    "zeroblob(length({c}))",
];

/// Changes a column in one row, with every index, as a tool of somebody's would.
fn altered(store: &Path, table: &str, column: &str) -> bool {
    let connection = Connection::open(store).unwrap();
    connection.execute_batch("PRAGMA foreign_keys = OFF").unwrap();
    OTHERWISE.iter().any(|value| {
        let value = value.replace("{c}", &format!("\"{column}\""));
        let row = format!("SELECT rowid FROM \"{table}\" LIMIT 1");
        let only =
            if connection.prepare(&row).is_ok() { format!(" WHERE rowid = ({row})") } else { String::new() };
        let text = format!("UPDATE \"{table}\" SET \"{column}\" = {value}{only}");
        let before = selected(&connection, &format!("SELECT \"{column}\" FROM \"{table}\"")).unwrap();
        let changed = connection.execute(&text, []).is_ok();
        changed && before != selected(&connection, &format!("SELECT \"{column}\" FROM \"{table}\"")).unwrap()
    })
}

#[test]
fn a_column_that_was_changed_with_its_indexes_is_reported_and_made_anew() {
    let home = home();
    let arena = busy_arena(&home, "columns");
    talk(&arena);
    frozen(&arena);
    let columns = selected(&Connection::open(arena.copy("asked").store("")).unwrap(), COLUMNS).unwrap();
    let mut looked_at = 0;
    for row in &columns {
        let [Value::Text(table), Value::Text(column)] = row.as_slice() else { panic!("{row:?}") };
        let at = format!("{table}.{column}");
        if SOFT.contains(&at.as_str()) || SOFT.contains(&format!("{table}.*").as_str()) {
            continue;
        }
        let changed = arena.copy("changed");
        assert!(altered(&changed.store(""), table, column), "{at} could not be changed");
        let report = changed.run("auditor", &["doctor"]);
        assert_eq!(report.code, 1, "{at} was changed, and nobody missed it: {report:?}");
        if table != "idempotency" {
            assert_eq!(changed.run("auditor", &["audit", "verify"]).slug(), "audit-broken", "{at}");
        }
        if PROJECTED.contains(&table.as_str()) || at == "scopes.key" {
            changed.run("auditor", &["doctor", "--repair"]).expect(0);
            changed.audited().unwrap_or_else(|error| panic!("{at}: {error}"));
        }
        looked_at += 1;
        std::fs::remove_dir_all(changed.state()).unwrap();
    }
    assert!(looked_at > 70, "{looked_at} columns prove little");
}

/// The index by which candidates are found says one thing, the pattern another: both would be held.
#[test]
fn a_lease_that_was_put_where_nobody_looks_for_it_is_missed_and_put_back() {
    let home = home();
    let arena = Arena::new(&home, "anchored");
    arena.run("bob", &["reserve", "src/main.rs"]).expect(0);
    let connection = Connection::open(arena.store("")).unwrap();
    connection.execute("UPDATE leases SET anchor = 'src/main.ra'", []).unwrap();
    drop(connection);
    let broken = arena.run("ada", &["audit", "verify"]).refused(1, "audit-broken");
    assert!(broken.stdout.contains("a stored row does not follow"), "{broken:?}");
    arena.run("ada", &["doctor"]).refused(1, "unhealthy");
    arena.run("ada", &["doctor", "--repair"]).expect(0);
    arena.run("ada", &["reserve", "src/main.rs"]).refused(1, "reservation-held");
    arena.audited().unwrap();
}

/// A log that goes by another key is still this scope's: its hashes say so.
#[test]
fn a_log_under_another_key_is_missed_refuses_writes_and_is_given_its_key_back() {
    let home = home();
    let arena = busy_arena(&home, "renamed");
    let connection = Connection::open(arena.store("")).unwrap();
    let rename = "UPDATE scopes SET key = substr(key, 1, length(key) - 1) || 'q'";
    connection.execute(rename, []).unwrap();
    drop(connection);
    arena.run("ada", &["audit", "verify"]).refused(1, "audit-broken");
    arena.run("ada", &["doctor"]).refused(1, "unhealthy");
    let before = dump(&arena.scope_directory(), &home.path().join("scratch")).unwrap();
    for path in ["c.rs", "free.rs"] {
        let refused = arena.run("zoe", &["reserve", path]).refused(69, "store-corrupt");
        assert!(refused.stdout.contains("another key"), "{refused:?}");
    }
    for words in [["check", "free.rs"].as_slice(), &["who", "c.rs"], &["status"]] {
        arena.run("zoe", words).refused(69, "store-corrupt");
    }
    assert_eq!(dump(&arena.scope_directory(), &home.path().join("scratch")).unwrap(), before);
    arena.run("zoe", &["doctor", "--repair"]).expect(0);
    arena.run("zoe", &["reserve", "c.rs"]).refused(1, "reservation-held");
    arena.audited().unwrap();
}

#[test]
fn an_older_copy_that_was_put_back_is_found_and_gone_on_with_only_by_repair() {
    let home = home();
    let arena = Arena::new(&home, "older");
    arena.run("ada", &["reserve", "a.rs"]).expect(0);
    let older = arena.copy("kept");
    for number in 0..5 {
        arena.run("ada", &["reserve", &format!("later-{number}.rs")]).expect(0);
    }
    let last = arena.history().unwrap();
    for suffix in ["", "-wal", "-shm"] {
        std::fs::copy(older.store(suffix), arena.store(suffix)).unwrap();
    }
    let broken = arena.run("ada", &["audit", "verify"]).refused(1, "audit-broken");
    assert_eq!(broken.value["error"]["details"]["first_bad_seq"], 5);
    assert!(broken.stdout.contains("the witness beside the store remembers"), "{broken:?}");
    arena.run("ada", &["doctor"]).expect(1);
    let status = arena.run("eve", &["status"]).expect(0);
    let warning = status.value["warnings"][0].as_str().expect("a warning");
    assert!(warning.contains("5 later events are remembered; nothing is granted"), "{warning}");
    arena.run("eve", &["reserve", "b.rs"]).refused(69, "store-corrupt");
    arena.run("eve", &["check", "b.rs"]).refused(69, "store-corrupt");
    assert_eq!(arena.run("eve", &["who", "a.rs"]).expect(0).value["holders"][0]["agent"], "ada");
    arena.make_operator_key();
    let repair = |arguments: &[&str], key: bool| {
        let mut command = arena.command("ada", &[&["doctor", "--repair"], arguments].concat());
        command.envs(key.then(|| ("CLEARWAY_OPERATOR_KEY", arena.operator_key())));
        Reply::of(command)
    };
    let why = ["--reason", "put back from a copy"];
    repair(&[], true).refused(3, "not-operator");
    repair(&why, false).refused(3, "not-operator");
    repair(&why, true).expect(0);
    let began = arena.run("eve", &["events", "--kind", "epoch.began", "--last", "1"]).expect(0);
    assert_eq!(began.value["data"]["operator_reason"], why[1], "{began:?}");
    let reply = arena.run("eve", &["reserve", "b.rs"]).expect(0);
    assert!(reply.value["leases"][0]["fence"].as_u64().unwrap() > (last.epoch << 40) + last.rev);
    let history = arena.audited().unwrap();
    assert_eq!((history.epoch, history.live.len()), (2, 1));
}

/// The row of the scope was made to fit, the hash in it and the gate were not.
#[test]
fn a_tail_that_was_cut_off_is_told_by_what_remembers_it() {
    let home = home();
    let arena = Arena::new(&home, "cut");
    arena.run("ada", &["reserve", "a.rs"]).expect(0);
    arena.run("ada", &["reserve", "b.rs"]).expect(0);
    let connection = Connection::open(arena.store("")).unwrap();
    let cut = "DELETE FROM events WHERE seq = (SELECT max(seq) FROM events); UPDATE scopes SET rev = rev - 1";
    connection.execute_batch(cut).unwrap();
    drop(connection);
    let broken = arena.run("ada", &["audit", "verify"]).refused(1, "audit-broken");
    let message = broken.value["error"]["message"].as_str().unwrap();
    assert!(message.contains("ends at 4, with another event than the scope's row says"), "{message}");
    assert!(message.contains("the witness beside the store remembers 5"), "{message}");
}

/// Whoever can write the store can hash it anew and make the gate agree. Only the anchor tells.
#[test]
fn a_history_rewritten_and_hashed_anew_is_found_against_the_anchor_and_only_there() {
    let home = home();
    let arena = busy_arena(&home, "rewritten");
    arena.make_operator_key();
    arena.run("ada", &["audit", "anchor", "--export", "exported"]).expect(0);
    arena.run("ada", &["reserve", "after.rs"]).expect(0);
    arena.audited().unwrap();
    rewrite(&arena);
    let broken = arena.run("ada", &["audit", "verify"]).refused(1, "audit-broken");
    assert!(broken.stdout.contains("rewritten"), "{broken:?}");
    arena.run("ada", &["doctor"]).expect(1);
    std::fs::remove_file(arena.store("-anchors")).unwrap();
    let unanchored = arena.run("ada", &["audit", "verify"]).expect(0);
    assert_eq!(unanchored.value["anchored_seq"], serde_json::Value::Null);
    arena.run("ada", &["audit", "verify", "--anchors", "exported"]).refused(1, "audit-broken");
}

/// Drops one refusal's wall time from the record: nothing but its bytes and every later hash change.
fn rewrite(arena: &Arena<'_>) {
    let scope = arena.scope_directory();
    let key = ScopeKey::parse(scope.file_name().unwrap().to_str().unwrap()).unwrap();
    let events = arena.run("ada", &["events", "--kind", "reservation.refused"]).expect(0).stdout;
    let refusal: serde_json::Value = serde_json::from_str(events.lines().next().unwrap()).unwrap();
    let connection = Connection::open(arena.store("")).unwrap();
    let mut hash = ChainHash::GENESIS;
    let mut statement = connection.prepare("SELECT seq, bytes FROM events ORDER BY seq").unwrap();
    let rows = statement.query_map([], |row| Ok((row.get::<_, u64>(0)?, row.get::<_, Vec<u8>>(1)?)));
    let rows: Vec<(u64, Vec<u8>)> = rows.unwrap().collect::<rusqlite::Result<_>>().unwrap();
    for (seq, mut bytes) in rows {
        if Some(seq) == refusal["seq"].as_u64() {
            bytes = at_another_time(seq, &bytes);
        }
        hash = hash.next(&key, Seq(seq), &bytes);
        let update = "UPDATE events SET bytes = ?2, hash = ?3 WHERE seq = ?1";
        connection.execute(update, (seq, bytes, hash.0)).unwrap();
    }
    connection.execute("UPDATE scopes SET head = ?1", [hash.0]).unwrap();
    std::fs::write(arena.store("-gate"), "").unwrap();
}

fn at_another_time(seq: u64, bytes: &[u8]) -> Vec<u8> {
    let fold = clearway_core::pattern::Fold::Exact;
    let mut event = clearway_wire::canonical::decode(Seq(seq), bytes, fold).unwrap();
    event.at.0 -= 60_000;
    clearway_wire::canonical::encode(&event)
}

/// The database is gone or empty, the gate beside it is not: going on would give out the same fences again.
#[test]
fn a_store_that_was_emptied_or_removed_is_missed_as_long_as_the_gate_remembers_it() {
    let home = home();
    let arena = Arena::new(&home, "emptied");
    arena.run("ada", &["reserve", "a.rs"]).expect(0);
    for how in ["emptied", "removed"] {
        let arena = arena.copy(how);
        for suffix in ["-wal", "-shm"] {
            std::fs::remove_file(arena.store(suffix)).unwrap();
        }
        match how {
            "emptied" => std::fs::write(arena.store(""), "").unwrap(),
            _ => std::fs::remove_file(arena.store("")).unwrap(),
        }
        arena.run("ada", &["audit", "verify"]).refused(1, "audit-broken");
        let refused = arena.run("ada", &["reserve", "b.rs"]).refused(69, "store-lost");
        assert!(refused.stdout.contains("gate"), "{refused:?}");
        std::fs::remove_file(arena.store("-gate")).unwrap();
        arena.run("ada", &["reserve", "b.rs"]).expect(0);
        arena.audited().unwrap();
    }
}
