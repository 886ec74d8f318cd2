//! A store that is gone while the gate beside it remembers one: named, left alone, and a way back that works.

use crate::{app, home, list, text};
use clearway_testkit::{Home, Repository};
use serde_json::Value;
use std::path::{Path, PathBuf};

fn beside(store: &Path, suffix: &str) -> PathBuf {
    PathBuf::from(format!("{}{suffix}", store.display()))
}

/// Ways to lose a log of which the gate knows.
type Loss = (&'static str, fn(&Path));

const LOSSES: [Loss; 4] = [
    ("removed alone", |store| std::fs::remove_file(store).expect("a file")),
    ("removed with its log", |store| {
        ["", "-wal", "-shm"]
            .iter()
            .for_each(|suffix| std::fs::remove_file(beside(store, suffix)).expect("a file"));
    }),
    ("emptied", |store| std::fs::write(store, "").expect("a file")),
    ("without its log", |store| std::fs::remove_file(beside(store, "-wal")).expect("a file")),
];

/// Runs the command that ends a hint.
#[track_caller]
fn follow(home: &Home, repository: &Repository<'_>, hint: &str) {
    let (_, command) = hint.rsplit_once(": ").expect("a command");
    let output = home.shell(repository.path(), command).output().expect("a shell");
    assert!(output.status.success(), "{command}: {}", String::from_utf8_lossy(&output.stderr));
}

#[track_caller]
fn only_hint(error: &Value) -> String {
    let [hint] = list(error, "hints") else { panic!("one way out: {error:#}") };
    hint.as_str().expect("words").to_owned()
}

#[test]
fn a_lost_store_is_named_by_every_verb_and_none_of_them_changes_a_file() {
    for (how, lose) in LOSSES {
        let home = home();
        let repository = app(&home);
        repository.grant("alice", &["src/a.rs"]);
        lose(&home.only_store());
        let before = home.state_files();
        for words in [
            ["reserve", "src/b.rs"].as_slice(),
            &["release", "--all"],
            &["sweep"],
            &["status"],
            &["leases"],
            &["check", "src/b.rs"],
        ] {
            let error = repository.agent("alice").fails("store-lost", 69, words);
            assert!(text(&error, "message").contains("remembers 4 events"), "{how}: {error:#}");
        }
        repository.clearway().fails("audit-broken", 1, &["audit", "verify"]);
        repository.clearway().fails("unhealthy", 1, &["doctor"]);
        repository.clearway().fails("unhealthy", 1, &["doctor", "--repair"]);
        before.assert_same(&home.state_files(), how);
    }
}

#[test]
fn the_doctor_says_that_a_store_was_lost_and_nothing_that_is_not_so() {
    for (how, lose) in LOSSES {
        let home = home();
        let repository = app(&home);
        repository.grant("alice", &["src/a.rs"]);
        lose(&home.only_store());
        let error = repository.clearway().fails("unhealthy", 1, &["doctor"]);
        let checks = list(&error["details"], "checks");
        let wrong: Vec<&Value> = checks.iter().filter(|check| check["status"] == "wrong").collect();
        assert_eq!(wrong.len(), 1, "{how}: {error:#}");
        assert!(text(wrong[0], "text").contains("remembers 4 events"), "{how}: {error:#}");
        let said = error.to_string();
        assert!(!said.contains("does not exist yet") && !said.contains("--repair"), "{how}: {said}");
    }
}

/// Every hint leads back to work, also the second time: what was kept aside is neither in the way nor overwritten.
#[test]
fn the_hint_of_a_lost_store_begins_anew() {
    for (how, lose) in LOSSES {
        let home = home();
        let repository = app(&home);
        repository.grant("alice", &["src/a.rs"]);
        for (slug, code, words) in [
            ("store-lost", 69, ["reserve", "src/a.rs"].as_slice()),
            ("audit-broken", 1, &["audit", "verify"]),
            ("unhealthy", 1, &["doctor"]),
        ] {
            lose(&home.only_store());
            let error = repository.agent("bob").fails(slug, code, words);
            follow(&home, &repository, &only_hint(&error));
            repository.grant("bob", &["src/a.rs"]);
            repository.clearway().ok(&["audit", "verify"]);
            repository.clearway().ok(&["doctor"]);
        }
        let kept =
            |path: &&Path| path.to_string_lossy().contains(".damaged.") && path.ends_with("store.db-gate");
        let files = clearway_testkit::Files::below(&home.state());
        assert_eq!(files.paths().map(AsRef::as_ref).filter(kept).count(), 3, "{how}: each is kept");
    }
}

#[test]
fn a_store_that_is_put_back_goes_on() {
    let home = home();
    let repository = app(&home);
    let lease = repository.grant("alice", &["src/a.rs"]);
    let store = home.only_store();
    let away = home.path().join("away.db");
    std::fs::rename(&store, &away).expect("moved");
    repository.agent("bob").fails("store-lost", 69, &["reserve", "src/b.rs"]);
    std::fs::rename(&away, &store).expect("moved back");
    assert_eq!(repository.clearway().ok(&["leases"])["leases"][0]["id"], lease["id"]);
    repository.clearway().ok(&["audit", "verify"]);
}

/// An older copy of a shared store lacks a scope; the others in it are not given up for that.
#[test]
fn a_scope_that_a_shared_store_has_lost_is_begun_anew_beside_the_others() {
    let home = home();
    let (one, two) = (home.repository("one", &[]), home.repository("two", &[]));
    let file = crate::shared_store(&home);
    let path = file.display().to_string();
    one.agent("alice").args(&["--store", &path]).ok(&["reserve", "a.rs"]);
    let older = home.path().join("older.db");
    let copy = format!("VACUUM INTO '{}'", older.display());
    rusqlite::Connection::open(&file).expect("a store").execute_batch(&copy).expect("a copy");
    let at = |repository: &Repository<'_>| repository.agent("bob").args(&["--store", &path]);
    at(&two).ok(&["reserve", "a.rs"]);
    for time in 1..=2 {
        for suffix in ["-wal", "-shm"] {
            std::fs::remove_file(beside(&file, suffix)).expect("a file");
        }
        std::fs::write(&file, std::fs::read(&older).expect("the older one")).expect("it is put back");
        let error = at(&two).fails("store-lost", 69, &["reserve", "a.rs"]);
        at(&one).fails("unhealthy", 1, &["doctor"]);
        let hint = only_hint(&error);
        assert!(hint.contains("forget all scopes"), "{hint}");
        follow(&home, &two, &hint);
        at(&two).ok(&["reserve", "a.rs"]);
        let files = clearway_testkit::Files::below(&home.path().join("shared"));
        let kept =
            |path: &&Path| path.to_string_lossy().contains(".damaged.") && path.ends_with("store.db-gate");
        assert_eq!(files.paths().map(AsRef::as_ref).filter(kept).count(), time, "none is overwritten");
    }
    let leases = one.clearway().args(&["--store", &path]).ok(&["leases"]);
    assert_eq!(leases["leases"][0]["agent"], "alice");
    two.clearway().args(&["--store", &path]).ok(&["doctor"]);
}

/// The gate is what misses the end of a log; that it no longer can is said until it can again.
#[test]
fn a_gate_that_forgot_is_reported_and_remembers_again_by_the_next_write_or_a_repair() {
    let forgets: [fn(&Path); 2] = [
        |gate| std::fs::remove_file(gate).expect("a file"),
        |gate| std::fs::write(gate, "").expect("a file"),
    ];
    for (forget, mend) in forgets.into_iter().zip([["reserve", "src/b.rs"], ["doctor", "--repair"]]) {
        let home = home();
        let repository = app(&home);
        repository.grant("alice", &["src/a.rs"]);
        assert_eq!(repository.clearway().ok(&["audit", "verify"])["witnessed"], true);
        forget(&beside(&home.only_store(), "-gate"));
        assert_eq!(repository.clearway().ok(&["audit", "verify"])["witnessed"], false);
        assert!(repository.clearway().text(&["audit", "verify"]).contains("does not remember this log"));
        let reply = repository.clearway().ok(&["doctor"]);
        let check = list(&reply, "checks").iter().find(|check| check["about"] == "witness");
        let check = check.unwrap_or_else(|| panic!("nothing about the witness: {reply:#}"));
        assert!(text(check, "hint").ends_with(": clearway doctor --repair"), "{check}");
        repository.agent("alice").ok(&mend);
        assert_eq!(repository.clearway().ok(&["audit", "verify"])["witnessed"], true, "{mend:?}");
        let reply = repository.clearway().ok(&["doctor"]);
        assert!(list(&reply, "checks").iter().all(|check| check["about"] != "witness"), "{reply:#}");
    }
}

/// What is lost is not free: whoever looks is told the same as whoever asks.
#[test]
fn nothing_is_called_free_or_empty_of_which_the_gate_knows_more() {
    let home = home();
    let repository = app(&home);
    let store = crate::shared_store(&home);
    let path = store.display().to_string();
    let at = |name: &str| repository.agent(name).args(&["--store", &path]);
    home.repository("other", &[]).agent("zoe").args(&["--store", &path]).ok(&["reserve", "z.rs"]);
    let older = home.path().join("older.db");
    let keep = |older: &Path| {
        let copy = format!("VACUUM INTO '{}'", older.display());
        rusqlite::Connection::open(&store).expect("a store").execute_batch(&copy).expect("a copy");
    };
    keep(&older);
    at("alice").ok(&["reserve", "src/a.rs", "--ttl", "1h"]);
    at("alice").ok(&["release", "--all"]);
    let later = home.path().join("later.db");
    keep(&later);
    at("alice").ok(&["reserve", "src/a.rs"]);
    let whole = home.path().join("whole.db");
    keep(&whole);
    for (put_back, slug) in [(&older, "store-lost"), (&later, "store-corrupt")] {
        for suffix in ["-wal", "-shm"] {
            let _ = std::fs::remove_file(beside(&store, suffix));
        }
        std::fs::write(&store, std::fs::read(put_back).expect("a copy")).expect("it is put back");
        for words in
            [["check", "src/a.rs"].as_slice(), &["who", "src/a.rs"], &["leases"], &["reserve", "src/a.rs"]]
        {
            at("bob").fails(slug, 69, words);
        }
    }
    let warnings = at("bob").ok(&["status"])["warnings"].to_string();
    assert!(warnings.contains("later event"), "{warnings}");
    std::fs::write(&store, std::fs::read(&whole).expect("a copy")).expect("it is put back");
    assert_eq!(at("bob").ok(&["who", "src/a.rs"])["holders"][0]["agent"], "alice");
    let delete = "PRAGMA foreign_keys = OFF; DELETE FROM scopes";
    rusqlite::Connection::open(&store).expect("a store").execute_batch(delete).expect("nothing is left");
    for words in [["reserve", "src/a.rs"].as_slice(), &["check", "src/a.rs"], &["leases"], &["status"]] {
        at("bob").fails("store-lost", 69, words);
    }
}

/// A gate tells that events were lost; without one there is still the directory that the scope had.
#[test]
fn a_store_that_is_gone_with_its_gate_is_not_told_to_be_empty() {
    let home = home();
    let repository = app(&home);
    repository.clearway().ok(&["status"]);
    repository.grant("alice", &["src/a.rs"]);
    let store = home.only_store();
    for file in std::fs::read_dir(store.parent().expect("a directory")).expect("a directory") {
        let path = file.expect("an entry").path();
        if !path.ends_with("store.db-place") {
            std::fs::remove_file(path).expect("a file");
        }
    }
    for words in [["status"].as_slice(), &["leases"], &["agents"], &["events"]] {
        let error = repository.agent("bob").fails("store-unavailable", 69, words);
        assert!(text(&error, "message").ends_with("store.db is not there any more"), "{error:#}");
    }
    let error = repository.clearway().fails("unhealthy", 1, &["doctor"]);
    assert!(error.to_string().contains("store.db is not there any more"), "{error:#}");
    repository.grant("bob", &["src/a.rs"]);
    repository.clearway().ok(&["status"]);
    repository.clearway().ok(&["doctor"]);
}
