//! A store that went back is noticed, refused, and gone on with only when told to.

#![expect(clippy::disallowed_methods, reason = "a test puts files back behind the engine's back")]

use clearway_core::command::Command;
use clearway_core::decide::Success;
use clearway_core::event::Body;
use clearway_core::slug::Slug;
use clearway_store::conformance::Stage;
use clearway_store::contract::{Engine, StoreError};
use clearway_store_sqlite::{Place, Schema, Settings, SqliteEngine};
use std::path::{Path, PathBuf};
use std::time::Duration;

fn engine(directory: &Path, network: fn(&Path) -> Option<String>) -> Box<SqliteEngine> {
    Box::new(SqliteEngine::new(Settings {
        place: Place::OneFile(directory.join("store.db")),
        runtime_dir: directory.join("run"),
        timeout: Duration::from_secs(5),
        network,
        schema: Schema::CURRENT,
        leave_open: false,
    }))
}

fn copy(from: &Path, to: &Path) {
    for name in ["store.db", "store.db-wal", "store.db-shm"] {
        std::fs::copy(from.join(name), to.join(name)).unwrap();
    }
}

fn went_back(directory: &Path) -> PathBuf {
    let older = directory.join("older");
    std::fs::create_dir(&older).unwrap();
    let mut stage = Stage::new(engine(directory, |_| None));
    stage.take("a", "f");
    copy(directory, &older);
    for number in 0..5 {
        stage.take("a", &format!("g{number}"));
    }
    drop(stage);
    copy(&older, directory);
    directory.to_owned()
}

#[test]
fn writing_to_a_store_that_was_put_back_is_refused_within_one_boot() {
    let directory = tempfile::tempdir().unwrap();
    let mut stage = Stage::new(engine(&went_back(directory.path()), |_| None));
    let failure = stage.try_take("b", "h").unwrap_err();
    assert_eq!(failure.slug, Slug::StoreCorrupt);
    assert!(failure.message.contains("5 later events"), "{}", failure.message);
    assert!(stage.try_take("b", "h").is_err(), "and stays refused");
    let asked = stage.preview_of("b", "h").outcome.unwrap_err();
    assert_eq!((asked.slug, asked.message), (failure.slug, failure.message), "whoever asks first is told");
}

#[test]
fn recovery_moves_the_epoch_so_that_no_fence_is_given_out_twice() {
    let directory = tempfile::tempdir().unwrap();
    let mut stage = Stage::new(engine(&went_back(directory.path()), |_| None));
    let reply = stage.command("a", Command::Recover);
    assert!(matches!(reply.outcome, Ok(Success::Swept { expired }) if expired.len() == 1));
    let lost = stage.events().into_iter().find_map(|event| match event.body {
        Body::EpochBegan { lost_tail, epoch, .. } if lost_tail > 0 => Some((epoch.0, lost_tail)),
        _ => None,
    });
    assert_eq!(lost, Some((2, 5)), "the log says what it lost");
    let next = stage.try_take("b", "g0").unwrap();
    assert_eq!(next.lease.fence.epoch.0, 2);
    stage.must_be_whole();
}

#[test]
fn a_new_boot_may_have_lost_its_last_moments_and_goes_on_by_itself() {
    let directory = tempfile::tempdir().unwrap();
    let mut stage = Stage::new(engine(&went_back(directory.path()), |_| None));
    stage.reboot("boot-2");
    let lease = stage.try_take("b", "f").unwrap();
    assert_eq!(lease.lease.fence.epoch.0, 2);
    assert!(stage.events().iter().any(|event| matches!(event.body, Body::EpochBegan { lost_tail: 5, .. })));
}

#[test]
fn a_network_file_system_is_refused_for_reading_and_writing() {
    let directory = tempfile::tempdir().unwrap();
    let mut engine = engine(directory.path(), |_| Some("nfs".to_owned()));
    let scope = clearway_core::ids::ScopeKey::machine();
    let refused =
        |error: Option<StoreError>| matches!(error, Some(StoreError::Network { kind, .. }) if kind == "nfs");
    assert!(refused(engine.begin(&scope, true).err()));
    assert!(refused(engine.snapshot(&scope).err()));
    assert!(!directory.path().join("store.db").exists(), "nothing was made");
}
