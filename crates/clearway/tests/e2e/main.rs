//! End to end: the real binary, real git, real SQLite, real processes.

mod audit;
mod bad_input;
mod checkouts;
mod commits;
mod config;
mod conformance;
mod damaged;
mod demo;
mod doctor;
mod events;
mod explained;
mod handover;
mod hints;
mod hooks;
mod identity;
mod init;
mod keeping;
mod lines;
mod looking_back;
mod lost;
mod mail;
mod moving;
mod names;
mod negotiation;
mod nested;
mod notifying;
mod output;
mod own;
mod paths;
mod places;
mod reading;
mod readme;
mod releasing;
mod renewing;
mod replaying;
mod reserving;
mod running;
mod schemas;
mod secrets;
mod sharing;
mod snapshots;
mod status;
mod store;
mod time;
mod waiting;

use clearway_testkit::{Home, Repository};
use serde_json::Value;

fn home() -> Home {
    Home::new(env!("CARGO_BIN_EXE_clearway"))
}

/// The same on a machine on which time can have passed.
fn home_long_after_boot() -> Home {
    Home::long_after_boot(env!("CARGO_BIN_EXE_clearway"))
}

/// A repository with a little of everything.
fn app(home: &Home) -> Repository<'_> {
    home.repository(
        "app",
        &[("src/a.rs", "a\n"), ("src/b.rs", "b\n"), ("docs/x.md", "x\n"), ("main.rs", "\n")],
    )
}

/// A text field.
#[track_caller]
fn text<'v>(value: &'v Value, field: &str) -> &'v str {
    value[field].as_str().unwrap_or_else(|| panic!("no text {field} in {value}"))
}

/// A number.
#[track_caller]
fn number(value: &Value, field: &str) -> u64 {
    value[field].as_u64().unwrap_or_else(|| panic!("no number {field} in {value}"))
}

/// A list.
#[track_caller]
fn list<'v>(value: &'v Value, field: &str) -> &'v [Value] {
    value[field].as_array().unwrap_or_else(|| panic!("no list {field} in {value}"))
}

/// One field of every element of a list.
#[track_caller]
fn each<'v>(value: &'v Value, field: &str, name: &str) -> Vec<&'v str> {
    list(value, field).iter().map(|element| text(element, name)).collect()
}

/// A file for a store of several scopes, in a directory of its own.
fn shared_store(home: &Home) -> std::path::PathBuf {
    let directory = home.path().join("shared");
    let made =
        std::os::unix::fs::DirBuilderExt::mode(&mut std::fs::DirBuilder::new(), 0o700).create(&directory);
    made.expect("a directory");
    directory.join("store.db")
}

/// The store as another program opens it; closing it leaves the log where it is, as Clearway does.
fn open_store(home: &Home) -> rusqlite::Connection {
    let connection = rusqlite::Connection::open(home.only_store()).expect("the store opens");
    let keep = rusqlite::config::DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE;
    connection.set_db_config(keep, true).expect("a setting");
    connection
}
