//! Reads leave no trace: no file appears or vanishes, no byte changes but in SQLite's own `-shm`.

use crate::mounts::{Mount, where_one_may_mount};
use crate::specimen::{fold_log, live};
use crate::support::{
    TestWorld, audit, beside, engine, fast_dir, grant, path, scope, settings, store_file, try_reserve,
};
use clearway_core::slice::ReadSet;
use clearway_core::target::Worktree;
use clearway_store::contract::{Engine, LeaseListing, StoreError};
use clearway_store_sqlite::SqliteEngine;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

const READS: usize = 1_000;

/// Every file below a directory, with its bytes.
#[derive(Debug)]
pub(crate) struct Traces(BTreeMap<PathBuf, Vec<u8>>);

impl Traces {
    pub(crate) fn of(state: &Path) -> Self {
        let mut found = BTreeMap::new();
        let mut open = vec![state.to_owned()];
        while let Some(directory) = open.pop() {
            for entry in std::fs::read_dir(&directory).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    open.push(path);
                } else {
                    found.insert(path.clone(), std::fs::read(&path).unwrap());
                }
            }
        }
        Self(found)
    }

    /// Compares with what is there now, leaving out files whose names end in one of these.
    pub(crate) fn must_be_unchanged_but_for(&self, state: &Path, exempt: &[&str]) {
        let now = Self::of(state);
        let counts = |path: &&PathBuf| !exempt.iter().any(|end| path.to_string_lossy().ends_with(end));
        let names = |traces: &Self| traces.0.keys().filter(counts).cloned().collect::<Vec<_>>();
        assert_eq!(names(self), names(&now), "the same files");
        let changed = names(self).into_iter().find(|path| self.0[path] != now.0[path]);
        assert_eq!(changed, None, "the same bytes");
    }

    fn has(&self, end: &str) -> bool {
        self.0.keys().any(|path| path.to_string_lossy().ends_with(end))
    }
}

/// Everything a reader may ask, through an engine of its own.
fn read(engine: &mut SqliteEngine) -> usize {
    let now = TestWorld::new(1).now;
    let mut wanted = ReadSet::default();
    wanted.meet(&Worktree("/w".to_owned()), &path("src/a.rs"));
    let Some(mut snapshot) = engine.snapshot(&scope()).unwrap() else { return 0 };
    snapshot.load(&wanted, &now).unwrap();
    snapshot.agents(&now).unwrap();
    snapshot.leases(LeaseListing::WithEnded(10), &now).unwrap();
    snapshot.events(clearway_core::ids::Seq(0), 10).unwrap().len()
}

#[test]
fn a_thousand_reads_change_nothing() {
    let directory = fast_dir();
    live(directory.path(), 3, 60, 0);
    let traces = Traces::of(directory.path());
    assert!(traces.has("-wal") && traces.has("-shm"), "{:?}", traces.0.keys());
    for _ in 0..READS {
        assert_eq!(read(&mut engine(directory.path())), 10);
    }
    let mut engine = engine(directory.path());
    assert!(audit(&mut engine, &[]).unwrap().is_some());
    assert!(engine.examine(&scope()).unwrap().exists);
    assert!(!engine.changed(&scope(), clearway_core::ids::Seq(1 << 40), 0).unwrap());
    drop(engine);
    traces.must_be_unchanged_but_for(directory.path(), &["-shm"]);
    assert!(Traces::of(directory.path()).has("-shm"));
}

#[test]
fn an_absent_store_is_empty_and_stays_absent() {
    let directory = fast_dir();
    for _ in 0..100 {
        let mut engine = engine(directory.path());
        assert_eq!(read(&mut engine), 0);
        assert!(audit(&mut engine, &[]).unwrap().is_none());
        assert!(!engine.examine(&scope()).unwrap().exists);
        assert!(
            engine.begin(&scope(), false).unwrap().is_none(),
            "a verb that makes no scope writes nothing"
        );
    }
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
}

#[test]
fn an_empty_file_is_no_store_yet() {
    let directory = fast_dir();
    let file = store_file(directory.path());
    clearway_platform::files::create_private_dir_all(file.parent().unwrap()).unwrap();
    drop(clearway_platform::files::open_private(&file).unwrap());
    let traces = Traces::of(directory.path());
    assert_eq!(read(&mut engine(directory.path())), 0);
    assert!(engine(directory.path()).begin(&scope(), false).unwrap().is_none());
    traces.must_be_unchanged_but_for(directory.path(), &[]);
    grant(&mut engine(directory.path()), &mut TestWorld::new(1), "a", "f");
}

#[test]
fn a_read_only_store_is_read_and_not_written() {
    where_one_may_mount(read_only_stories);
}

fn read_only_stories() {
    let present: [(&[&str], &str); 4] = [
        (&[], "with log and index"),
        (&["-shm"], "without index"),
        (&["-shm", "-wal"], "without log and index"),
        (&["-shm", "-wal", "-gate", "-next"], "alone"),
    ];
    for (absent, what) in present {
        let point = fast_dir();
        let mounted = Mount::tmpfs(point.path(), "size=8m,mode=700");
        let state = point.path().join("state");
        live(&state, 3, 60, 0);
        if absent.contains(&"-wal") {
            fold_log(&state);
        }
        for suffix in absent {
            std::fs::remove_file(beside(&store_file(&state), suffix)).unwrap();
        }
        let traces = Traces::of(&state);
        mounted.make_read_only();
        assert_eq!(read(&mut engine(&state)), 10, "{what}");
        let report = audit(&mut engine(&state), &[]).unwrap().unwrap();
        assert_eq!((report.broken, report.stale_projections.len()), (None, 0), "{what}");
        assert!(engine(&state).examine(&scope()).unwrap().exists, "{what}");
        match try_reserve(&mut SqliteEngine::new(settings(&state)), &mut TestWorld::new(1), "a", "f") {
            Err(StoreError::ReadOnly { .. }) => {}
            other => panic!("{what}: {other:?}"),
        }
        traces.must_be_unchanged_but_for(&state, &["-shm"]);
        let fresh = point.path().join("fresh");
        match try_reserve(&mut engine(&fresh), &mut TestWorld::new(1), "a", "f") {
            Err(StoreError::ReadOnly { .. }) => {}
            other => panic!("a store cannot be made there: {other:?}"),
        }
    }
}

#[test]
fn damage_met_in_a_copy_is_said_of_the_store_itself() {
    let directory = fast_dir();
    live(directory.path(), 3, 60, 0);
    fold_log(directory.path());
    let store = store_file(directory.path());
    for suffix in ["-wal", "-shm"] {
        std::fs::remove_file(beside(&store, suffix)).unwrap();
    }
    let mut bytes = std::fs::read(&store).unwrap();
    bytes[100..4_096].fill(0xa5);
    std::fs::write(&store, bytes).unwrap();
    match engine(directory.path()).snapshot(&scope()).err() {
        Some(StoreError::Corrupt { path, .. }) => assert_eq!(path, store.display().to_string()),
        other => panic!("{other:?}"),
    }
}
