//! SQLite lives through every story, in one file per scope and in one file for all.

use clearway_platform::files::create_private_dir_all;
use clearway_store::conformance::run_all;
use clearway_store_sqlite::{Place, Schema, Settings, SqliteEngine};
use std::path::Path;
use std::time::Duration;

fn engine(place: Place, directory: &Path) -> Box<SqliteEngine> {
    Box::new(SqliteEngine::new(Settings {
        place,
        runtime_dir: directory.join("run"),
        timeout: Duration::from_secs(5),
        network: |_| None,
        schema: Schema::CURRENT,
        leave_open: false,
    }))
}

#[test]
fn a_file_per_scope_conforms() {
    let directory = tempfile::tempdir().unwrap();
    let mut number = 0;
    run_all(|_| {
        number += 1;
        let own = directory.path().join(number.to_string());
        engine(Place::PerScope(own.clone()), &own)
    });
}

#[test]
fn one_file_for_every_scope_conforms() {
    let directory = tempfile::tempdir().unwrap();
    let mut number = 0;
    run_all(|_| {
        number += 1;
        let own = directory.path().join(number.to_string());
        create_private_dir_all(&own).unwrap();
        engine(Place::OneFile(own.join("store.db")), &own)
    });
}
