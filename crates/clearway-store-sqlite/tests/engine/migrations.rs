//! From one schema to the next: once, with one backup, or not at all. Older stores are read as they lie, newer ones
//! are refused.

use crate::specimen::{fold_log, live, open_plainly};
use crate::support::{
    PATIENCE, TestWorld, audit, beside, engine, fast_dir, grant, must_be_whole, scope, settings, store_file,
    try_reserve,
};
use crate::traces::Traces;
use clearway_store::contract::{Engine, LeaseListing, StoreError};
use clearway_store_sqlite::{Schema, Settings, SqliteEngine};
use rusqlite::Connection;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Barrier;

/// A schema after the current one: a column with a value for every row that is there, and an index.
const NEXT: Schema = Schema { steps: &[Schema::CURRENT.steps[0], NEXT_STEP] };
const NEXT_STEP: &str = "ALTER TABLE agents ADD COLUMN mood TEXT NOT NULL DEFAULT 'calm'; \
                         CREATE INDEX agents_by_mood ON agents (scope, mood);";
/// A step that fails after it changed something.
const BROKEN: Schema = Schema {
    steps: &[Schema::CURRENT.steps[0], "DROP TABLE refusals; ALTER TABLE nothing ADD COLUMN x TEXT;"],
};

/// Writes the fixture of the current schema, for the commit that makes the next one.
const FIXTURE_VARIABLE: &str = "CLEARWAY_WRITE_FIXTURE";

fn with_schema(state: &Path, schema: Schema) -> SqliteEngine {
    SqliteEngine::new(Settings { schema, ..settings(state) })
}

fn lived_in(state: &Path) {
    live(state, 3, 60, 0);
}

/// Every file whose name speaks of a backup.
fn backups(state: &Path) -> Vec<PathBuf> {
    let directory = store_file(state).parent().unwrap().to_owned();
    let names = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    names.filter(|path| path.to_string_lossy().contains("backup")).collect()
}

fn schema_of(connection: &Connection) -> Vec<String> {
    let text = "SELECT type || name || coalesce(sql, '') FROM sqlite_schema ORDER BY 1";
    let mut statement = connection.prepare(text).unwrap();
    statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
}

/// What every schema keeps: the log.
fn log_of(connection: &Connection) -> Vec<(u64, Vec<u8>, Vec<u8>)> {
    let mut statement = connection.prepare("SELECT seq, bytes, hash FROM events ORDER BY seq").unwrap();
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).unwrap();
    rows.map(Result::unwrap).collect()
}

#[test]
fn a_migration_keeps_everything_and_makes_one_private_backup() {
    let (directory, fresh) = (fast_dir(), fast_dir());
    let state = directory.path();
    lived_in(state);
    let before = log_of(&open_plainly(state).unwrap());
    let mut next = with_schema(state, NEXT);
    grant(&mut next, &mut TestWorld::new(1), "migrator", "elsewhere/x");
    drop(next);
    let made = backups(state);
    assert_eq!(made.len(), 1, "{made:?}");
    assert_eq!(std::fs::metadata(&made[0]).unwrap().permissions().mode() & 0o7777, 0o600);
    let after = open_plainly(state).unwrap();
    assert_eq!(log_of(&after)[..before.len()], before);
    must_be_whole(&mut with_schema(state, NEXT));
    grant(&mut with_schema(fresh.path(), NEXT), &mut TestWorld::new(1), "first", "f");
    assert_eq!(schema_of(&after), schema_of(&open_plainly(fresh.path()).unwrap()), "as if made so");
    let backup = std::fs::read(&made[0]).unwrap();
    grant(&mut with_schema(state, NEXT), &mut TestWorld::new(2), "later", "elsewhere/y");
    assert_eq!(backups(state), made, "no second backup");
    assert_eq!(std::fs::read(&made[0]).unwrap(), backup, "and the first as it was");
}

#[test]
fn a_backup_can_be_put_back() {
    let directory = fast_dir();
    let state = directory.path();
    lived_in(state);
    let before = log_of(&open_plainly(state).unwrap());
    let refused = try_reserve(&mut with_schema(state, NEXT), &mut TestWorld::new(1), "a", "elsewhere/x");
    refused.unwrap().outcome.unwrap();
    let restored = fast_dir();
    let file = store_file(restored.path());
    clearway_platform::files::create_private_dir_all(file.parent().unwrap()).unwrap();
    clearway_platform::files::copy_private(&backups(state)[0], &file).unwrap();
    let mut engine = engine(restored.path());
    let report = audit(&mut engine, &[]).unwrap().unwrap();
    assert_eq!((report.broken, report.stale_projections.len()), (None, 0));
    grant(&mut engine, &mut TestWorld::new(2), "a", "elsewhere/z");
    drop(engine);
    assert_eq!(log_of(&open_plainly(restored.path()).unwrap())[..before.len()], before);
}

#[test]
fn many_writers_at_once_migrate_once() {
    const WRITERS: usize = 20;
    let directory = fast_dir();
    lived_in(directory.path());
    let barrier = Barrier::new(WRITERS);
    std::thread::scope(|threads| {
        for number in 0..WRITERS {
            let (state, barrier) = (directory.path(), &barrier);
            threads.spawn(move || {
                let (mut engine, mut world) = (with_schema(state, NEXT), TestWorld::new(number as u64));
                barrier.wait();
                grant(&mut engine, &mut world, &format!("m{number}"), &format!("migrated/{number}"));
            });
        }
    });
    assert_eq!(backups(directory.path()).len(), 1);
    must_be_whole(&mut with_schema(directory.path(), NEXT));
}

#[test]
fn a_step_that_fails_changes_nothing() {
    let directory = fast_dir();
    let state = directory.path();
    lived_in(state);
    fold_log(state);
    let traces = Traces::of(state);
    let error = try_reserve(&mut with_schema(state, BROKEN), &mut TestWorld::new(1), "a", "f").unwrap_err();
    assert!(error.to_string().contains("nothing"), "{error}");
    traces.must_be_unchanged_but_for(state, &["-shm", "-schema-1-backup"]);
    grant(&mut engine(state), &mut TestWorld::new(2), "a", "elsewhere/x");
    must_be_whole(&mut engine(state));
    grant(&mut with_schema(state, NEXT), &mut TestWorld::new(3), "a", "elsewhere/y");
    assert_eq!(backups(state).len(), 1, "the left-over of the failed try is replaced");
}

#[test]
fn an_older_schema_is_read_without_changing_a_byte() {
    let directory = fast_dir();
    let state = directory.path();
    lived_in(state);
    let traces = Traces::of(state);
    let now = TestWorld::new(1).now;
    let live = |engine: &mut dyn Engine| {
        let mut snapshot = engine.snapshot(&scope()).unwrap().unwrap();
        let listed = snapshot.leases(LeaseListing::WithEnded(1_000), &now).unwrap();
        (snapshot.head().unwrap(), listed.leases)
    };
    let expected = live(&mut engine(state));
    let mut next = with_schema(state, NEXT);
    assert_eq!(live(&mut next), expected);
    assert_eq!(next.examine(&scope()).unwrap().schema, 1, "and said to be older");
    traces.must_be_unchanged_but_for(state, &["-shm"]);
    let newer = grant(&mut engine(state), &mut TestWorld::new(4), "a", "elsewhere/x");
    let (head, leases) = live(&mut next);
    assert!(head.rev >= newer.lease.fence.seq && leases.contains(&newer.lease), "a copy is not kept");
}

#[test]
fn a_newer_schema_is_refused_and_left_alone() {
    let directory = fast_dir();
    let state = directory.path();
    lived_in(state);
    open_plainly(state).unwrap().execute_batch("PRAGMA user_version = 2").unwrap();
    let traces = Traces::of(state);
    let newer =
        |error: Option<StoreError>| matches!(error, Some(StoreError::Newer { found: 2, known: 1, .. }));
    let mut engine = engine(state);
    assert!(newer(engine.begin(&scope(), true).err()));
    assert!(newer(engine.begin(&scope(), false).err()));
    assert!(newer(engine.snapshot(&scope()).err()));
    assert!(newer(engine.witness(&scope()).err()));
    assert!(newer(engine.examine(&scope()).err()));
    drop(engine);
    traces.must_be_unchanged_but_for(state, &["-shm"]);
}

/// A store of schema 1 as the build that made that schema wrote it. The next schema keeps it and adds its own:
/// `CLEARWAY_WRITE_FIXTURE=1 cargo test -p clearway-store-sqlite --test engine migrations`.
#[test]
fn a_store_of_every_released_schema_opens() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    if std::env::var_os(FIXTURE_VARIABLE).is_some() {
        write_fixture(&fixtures.join(format!("schema-{}.db", Schema::CURRENT.number())));
    }
    for number in 1..=Schema::CURRENT.number() {
        let directory = fast_dir();
        let file = store_file(directory.path());
        clearway_platform::files::create_private_dir_all(file.parent().unwrap()).unwrap();
        let fixture = fixtures.join(format!("schema-{number}.db"));
        clearway_platform::files::copy_private(&fixture, &file).unwrap();
        let report = audit(&mut engine(directory.path()), &[]).unwrap().unwrap();
        assert_eq!((report.broken, report.stale_projections), (None, Vec::new()), "schema {number}");
        assert!(report.events >= 60, "schema {number} has a past");
        grant(&mut engine(directory.path()), &mut TestWorld::new(9), "today", "elsewhere/x");
        must_be_whole(&mut engine(directory.path()));
    }
}

fn write_fixture(target: &Path) {
    let directory = fast_dir();
    lived_in(directory.path());
    fold_log(directory.path());
    let connection = open_plainly(directory.path()).unwrap();
    connection.busy_timeout(PATIENCE).unwrap();
    let _ = std::fs::remove_file(target);
    connection.execute("VACUUM INTO ?1", [target.to_str().unwrap()]).unwrap();
    assert!(!beside(target, "-wal").exists());
}
