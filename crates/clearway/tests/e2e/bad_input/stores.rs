//! Stores that are none, or not ours, or not to be trusted.

use super::check;
use crate::{app, each, home, list, text};
use clearway_testkit::Repository;

#[test]
fn a_store_on_another_engine_or_on_no_file() {
    let home = home();
    let repository = app(&home);
    let directory = home.directory("a-directory").display().to_string();
    for url in ["postgres://db.example/x", "mysql://x", &directory, "/"] {
        for verb in [["reserve", "a.rs"].as_slice(), &["leases"], &["events"]] {
            check(&home, &repository, "store-unavailable", |repository| {
                repository.agent("alice").args(&["--store", url]).json(verb)
            });
        }
    }
}

#[test]
fn a_store_in_a_directory_that_is_not_there_is_empty_and_is_not_made() {
    let home = home();
    let repository = app(&home);
    let directory = home.path().join("stroes");
    let path = directory.join("team.db").display().to_string();
    let alice = || repository.agent("alice").args(&["--store", &path]);
    for verb in ["agents", "waits", "mine", "events"] {
        alice().json(&[verb]).expect(0);
    }
    for verb in [["leases"].as_slice(), &["who", "a.rs"], &["check", "a.rs"]] {
        let seen = alice().ok(verb);
        assert_eq!(each(&seen, "notices", "code"), ["store-nowhere"], "{seen}");
    }
    assert!(text(&alice().ok(&["status"]), "place").contains("app"));
    let warned = alice().ok(&["status"])["warnings"].to_string();
    assert!(warned.contains("there is no directory"), "{warned}");
    alice().json(&["doctor"]).expect(1).slug("unhealthy");
    for verb in [["reserve", "a.rs"].as_slice(), &["release", "--all"], &["sweep"]] {
        let error = alice().fails("store-unavailable", 69, verb);
        assert!(text(&error, "message").contains("no directory"), "{error}");
    }
    assert!(!directory.exists());
    let error = alice().fails("store-unavailable", 69, &["reserve", "a.rs"]);
    let make = list(&error, "hints").iter().find_map(|hint| hint.as_str()?.split_once("make it first: "));
    let make = make.expect("a command").1;
    assert!(home.shell(repository.path(), make).status().is_ok_and(|status| status.success()), "{make}");
    alice().ok(&["reserve", "a.rs"]);
    assert!(list(&alice().ok(&["leases"]), "notices").is_empty());
}

#[test]
fn a_store_that_is_no_store() {
    let home = home();
    let repository = app(&home);
    let file = home.path().join("garbage.db");
    std::fs::write(&file, "this is not a database. ".repeat(100)).expect("a file");
    private(&file);
    let path = file.display().to_string();
    for verb in [["reserve", "a.rs"].as_slice(), &["leases"], &["check", "a.rs"], &["sweep"]] {
        check(&home, &repository, "store-corrupt", |repository| {
            repository.agent("alice").args(&["--store", &path]).json(verb)
        });
    }
}

#[test]
fn the_hints_of_a_damaged_store_end_in_one_that_works_again() {
    let home = home();
    let repository = app(&home);
    repository.grant("alice", &["a.rs"]);
    let store = home.only_store();
    std::fs::write(&store, "this is not a database. ".repeat(100)).expect("a file");
    std::fs::remove_file(format!("{}-wal", store.display())).expect("a file");
    let error = repository.agent("bob").fails("store-corrupt", 69, &["reserve", "b.rs"]);
    let hint = list(&error, "hints").last().and_then(|hint| hint.as_str()).unwrap_or_default();
    let (_, command) = hint.split_once(": ").expect("a command");
    let output = home.shell(repository.path(), command).output().expect("a shell");
    assert!(output.status.success(), "{command}: {}", String::from_utf8_lossy(&output.stderr));
    repository.grant("bob", &["b.rs"]);
    repository.clearway().ok(&["audit", "verify"]);
}

#[test]
fn a_store_of_a_newer_clearway() {
    let home = home();
    let repository = app(&home);
    repository.grant("alice", &["a.rs"]);
    let connection = crate::open_store(&home);
    connection.pragma_update(None, "user_version", 99).expect("a newer version");
    drop(connection);
    for verb in [["reserve", "b.rs"].as_slice(), &["leases"], &["release", "--all"]] {
        check(&home, &repository, "store-newer", |repository| repository.agent("alice").json(verb));
    }
}

#[test]
fn no_home_to_keep_anything_in() {
    let home = home();
    let repository = app(&home);
    let homeless = |repository: &Repository<'_>, words: &[&str]| {
        let clearway = repository.agent("alice").without_env("HOME").without_env("XDG_STATE_HOME");
        clearway.without_env("XDG_CONFIG_HOME").without_env("XDG_RUNTIME_DIR").json(words)
    };
    for words in [["reserve", "a.rs"].as_slice(), &["leases"], &["status"]] {
        check(&home, &repository, "store-unavailable", |repository| homeless(repository, words));
    }
    homeless(&repository, &["explain", "usage"]).expect(0);
    homeless(&repository, &["help"]).expect(0);
}

fn private(file: &std::path::Path) {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(file, std::fs::Permissions::from_mode(0o600)).expect("a mode");
}

#[test]
fn a_database_of_something_else_is_left_alone() {
    let home = home();
    let repository = app(&home);
    let file = home.path().join("theirs.db");
    let theirs = rusqlite::Connection::open(&file).expect("a database");
    theirs.execute_batch("CREATE TABLE t (x); INSERT INTO t VALUES (1)").expect("a table");
    drop(theirs);
    private(&file);
    let before = std::fs::read(&file).expect("bytes");
    let path = file.display().to_string();
    for verb in [["reserve", "a.rs"].as_slice(), &["check", "a.rs"]] {
        let ran = repository.clearway().agent("alice").args(&["--store", &path]).json(verb).expect(69);
        ran.slug("store-unavailable");
    }
    assert_eq!(std::fs::read(&file).expect("bytes"), before);
}

#[test]
fn a_store_that_others_can_write_is_not_used() {
    use std::os::unix::fs::PermissionsExt;
    let home = home();
    let repository = app(&home);
    repository.clearway().agent("alice").json(&["reserve", "a.rs"]).expect(0);
    let store = home.only_store();
    let mode = |path: &std::path::Path, mode| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).expect("a mode");
    };
    let exposed = [(0o666, 0o600), (0o777, 0o700), (0o770, 0o700), (0o1777, 0o700)];
    for (place, (open, closed)) in store.ancestors().take(4).zip(exposed) {
        mode(place, open);
        for verb in [["reserve", "b.rs"].as_slice(), &["release", "--all"], &["leases"], &["check", "b.rs"]] {
            let ran = repository.clearway().agent("alice").json(verb).expect(69);
            ran.slug("store-not-private");
            assert!(ran.stdout().contains(&format!("{}", place.display())), "{}", ran.stdout());
            let advice = if open & 0o1000 == 0 { "chmod go-rwx" } else { "mkdir -m 700" };
            assert!(ran.stdout().contains(advice), "{}", ran.stdout());
        }
        let found = repository.clearway().json(&["doctor"]).expect(1);
        found.slug("unhealthy");
        mode(place, closed);
    }
    mode(store.parent().expect("a directory"), 0o755);
    repository.clearway().agent("alice").json(&["reserve", "b.rs"]).expect(0);
}

#[test]
fn what_is_no_regular_file_is_no_store() {
    let home = home();
    let repository = app(&home);
    let pipe = home.path().join("pipe");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.is_ok_and(|status| status.success()));
    for store in [pipe.as_path(), std::path::Path::new("/dev/null")] {
        let store = store.display().to_string();
        let alice = || repository.clearway().agent("alice").args(&["--store", &store]);
        for verb in [["leases"].as_slice(), &["reserve", "a.rs"]] {
            let ran = alice().json(verb).expect(69);
            ran.slug("store-unavailable");
            assert!(ran.stdout().contains("no regular file"), "{}", ran.stdout());
        }
        alice().json(&["doctor"]).expect(1).slug("unhealthy");
    }
}

#[test]
fn a_store_that_is_gone_is_not_an_empty_one() {
    let home = home();
    let repository = app(&home);
    repository.clearway().agent("alice").json(&["reserve", "a.rs"]).expect(0);
    let store = home.only_store();
    for suffix in ["", "-wal", "-shm"] {
        std::fs::remove_file(format!("{}{suffix}", store.display())).expect("a file");
    }
    for verb in [["check", "a.rs"].as_slice(), &["leases"], &["status"], &["reserve", "a.rs"]] {
        repository.clearway().agent("bob").json(verb).expect(69).slug("store-lost");
    }
}
