//! The log verifies itself, its anchors vouch for it, and anybody else can check it.

use crate::{app, home, list, number, text};
use clearway_testkit::{Clearway, Home, Repository, Terminal};
use rusqlite::Connection;
use serde_json::Value;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// A repository with a few events.
fn busy(home: &Home) -> Repository<'_> {
    let repository = app(home);
    repository.grant("alice", &["src/a.rs", "--reason", "refactoring"]);
    repository.grant("bob", &["docs/"]);
    repository.agent("alice").ok(&["release", "--all"]);
    repository
}

/// Somebody who may vouch for the log.
fn person(repository: &Repository<'_>, terminal: &Terminal) -> Clearway {
    repository.clearway().at(terminal)
}

fn sql(store: &Path, statement: &str) {
    let connection = Connection::open(store).expect("the store opens");
    connection.execute_batch(statement).expect("the statement runs");
}

#[test]
fn a_whole_log_verifies_and_names_its_head() {
    let home = home();
    let repository = busy(&home);
    let verified = repository.clearway().ok(&["audit", "verify"]);
    let events = repository.events();
    assert_eq!(number(&verified, "events"), events.len() as u64);
    assert_eq!(verified["head"], events.last().expect("an event")["hash"]);
    assert_eq!(
        (&verified["anchored_seq"], number(&verified, "unanchored")),
        (&Value::Null, events.len() as u64)
    );
}

#[test]
fn an_anchor_vouches_for_everything_up_to_it() {
    let (home, terminal) = (home(), Terminal::open());
    let repository = busy(&home);
    let anchored = person(&repository, &terminal).ok(&["audit", "anchor"]);
    assert_eq!(anchored["new_key"], true);
    let mode = std::fs::metadata(home.state().join("operator.key")).expect("the key").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let verified = repository.clearway().ok(&["audit", "verify"]);
    assert_eq!((&verified["anchored_seq"], number(&verified, "unanchored")), (&anchored["rev"], 0));
    repository.grant("carol", &["main.rs"]);
    let later = repository.clearway().ok(&["audit", "verify"]);
    assert_eq!((&later["anchored_seq"], number(&later, "unanchored")), (&anchored["rev"], 2));
    let again = person(&repository, &terminal).ok(&["audit", "anchor"]);
    assert_eq!((&again["new_key"], &again["signer"]), (&false.into(), &anchored["signer"]));
}

#[test]
fn an_exported_anchor_is_found_again() {
    let (home, terminal) = (home(), Terminal::open());
    let repository = busy(&home);
    let file = home.path().join("anchors.jsonl");
    let path = file.display().to_string();
    let reply = person(&repository, &terminal).ok(&["audit", "anchor", "--export", &path]);
    assert_eq!(list(&reply, "written").len(), 2);
    person(&repository, &terminal).ok(&["audit", "anchor", "--export", &path]);
    assert_eq!(std::fs::read_to_string(&file).expect("the file").lines().count(), 2);
    repository.clearway().ok(&["audit", "verify", "--anchors", &path]);
    repository.clearway().fails("not-found", 5, &["audit", "verify", "--anchors", "/nowhere/anchors"]);
    let other = home.repository("other", &[]);
    other.grant("alice", &["a.rs"]);
    let error = other.clearway().fails("not-found", 5, &["audit", "verify", "--anchors", &path]);
    assert!(text(&error, "message").contains("holds no anchor of other-"), "{error}");
}

#[test]
fn damaged_anchors_beside_the_store_keep_no_copy_from_being_compared() {
    for damage in [b"no anchor\n".as_slice(), b"\xff\xfe\x00"] {
        let (home, terminal) = (home(), Terminal::open());
        let repository = busy(&home);
        let exported = home.path().join("anchors.jsonl").display().to_string();
        person(&repository, &terminal).ok(&["audit", "anchor", "--export", &exported]);
        let own = home.only_store().with_file_name("store.db-anchors");
        std::fs::write(&own, damage).expect("a file");
        let verify = ["audit", "verify", "--anchors", &exported];
        let ran = repository.clearway().json(&verify).stdout();
        assert!(ran.contains("store.db-anchors"), "the damage is told: {ran}");
        assert!(ran.contains("the log agrees with every anchor that can be trusted"), "{ran}");
        let bytes = std::fs::read(&exported).expect("the copy");
        let other = String::from_utf8(bytes).expect("text").replacen("\"seq\":", "\"seq\":9", 1);
        std::fs::write(&exported, other).expect("a file");
        let ran = repository.clearway().json(&verify).stdout();
        assert!(
            ran.contains("anchors.jsonl") && !ran.contains("the log agrees"),
            "so is that of the copy: {ran}"
        );
    }
}

#[test]
fn the_way_out_of_damaged_anchors_is_named_and_works() {
    let (home, terminal) = (home(), Terminal::open());
    let repository = busy(&home);
    person(&repository, &terminal).ok(&["audit", "anchor"]);
    let own = home.only_store().with_file_name("store.db-anchors");
    std::fs::write(&own, "no anchor\n").expect("a file");
    let error = person(&repository, &terminal).fails("audit-broken", 1, &["audit", "anchor"]);
    let hint = error["hints"][1].as_str().expect("a hint");
    let (_, command) = hint.split_once(": ").expect("a command");
    assert!(home.shell(repository.path(), command).status().expect("a shell").success(), "{hint}");
    person(&repository, &terminal).ok(&["audit", "anchor"]);
    repository.clearway().ok(&["audit", "verify"]);
}

#[test]
fn there_is_nothing_to_anchor_before_the_first_event() {
    let home = home();
    let repository = app(&home);
    repository.clearway().fails("not-found", 5, &["audit", "anchor"]);
    assert!(home.state_files().is_empty());
}

#[test]
fn nobody_but_an_operator_vouches_for_a_log_or_gets_the_key_made() {
    let home = home();
    let repository = busy(&home);
    let error = repository.agent("bob").fails("not-operator", 3, &["audit", "anchor"]);
    assert!(text(&error, "message").contains("no terminal and no operator key"), "{error}");
    let (terminal, elsewhere) = (Terminal::open(), home.path().join("other.key"));
    clearway_testkit::write_private(&elsewhere, &format!("{}\n", "0".repeat(64)));
    let stranger = repository.clearway().env("CLEARWAY_OPERATOR_KEY", &elsewhere);
    stranger.fails("not-operator", 3, &["audit", "anchor"]);
    person(&repository, &terminal).session("s-1").fails("not-operator", 3, &["audit", "anchor"]);
    assert!(!home.state().join("operator.key").exists(), "no key is made for them");
    assert!(!home.only_store().with_file_name("store.db-anchors").exists());
    let denied: Vec<Value> =
        repository.events().into_iter().filter(|event| event["kind"] == "action.denied").collect();
    assert_eq!((&denied[0]["agent"], &denied[0]["data"]["action"]), (&"bob".into(), &"anchor".into()));
    repository.clearway().operator(&home).ok(&["audit", "anchor"]);
    assert_eq!(person(&repository, &terminal).ok(&["audit", "anchor"])["new_key"], false);
}

/// The chain as documented, computed by nobody's code but this.
fn chain(lines: &[Value]) -> Vec<String> {
    let mut previous = [0_u8; 32];
    let mut hashes = Vec::new();
    for line in lines {
        let scope = text(line, "scope").as_bytes();
        let hex = text(line, "bytes").as_bytes();
        let byte =
            |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).expect("hex"), 16).expect("hex");
        let bytes: Vec<u8> = hex.chunks(2).map(byte).collect();
        let mut input = previous.to_vec();
        input.extend((scope.len() as u64).to_be_bytes());
        input.extend(scope);
        input.extend(number(line, "seq").to_be_bytes());
        input.extend(bytes);
        previous = *blake3::hash(&input).as_bytes();
        hashes.push(blake3::Hash::from_bytes(previous).to_string());
    }
    hashes
}

#[test]
fn an_exported_log_is_verified_by_anybody() {
    let home = home();
    let repository = busy(&home);
    let lines = repository.clearway().json(&["audit", "export"]).expect(0).lines();
    let stated: Vec<String> = lines.iter().map(|line| text(line, "hash").to_owned()).collect();
    assert_eq!(chain(&lines), stated);
    let verified = repository.clearway().ok(&["audit", "verify"]);
    assert_eq!(stated.last().map(String::as_str), Some(text(&verified, "head")));
    let mut forged = lines.clone();
    forged[2]["seq"] = 9.into();
    assert_ne!(chain(&forged)[2..], stated[2..], "the place of an event is part of its hash");
    let part = repository.clearway().json(&["audit", "export", "--from", "3"]).expect(0).lines();
    assert_eq!(part, lines[2..]);
    let plain = repository.clearway().run(&["audit", "export"]).expect(0).lines();
    assert_eq!(plain, lines, "an export is for programs with or without --json");
}

#[track_caller]
fn check_broken(repository: &Repository<'_>, first_bad: Option<u64>) {
    let error = repository.clearway().fails("audit-broken", 1, &["audit", "verify"]);
    if let Some(seq) = first_bad {
        assert_eq!(error["details"]["first_bad_seq"], seq, "{error}");
    }
    repository.clearway().json(&["doctor"]).expect(1).slug("unhealthy");
}

#[test]
fn a_changed_event_is_named_by_its_place() {
    let home = home();
    let repository = busy(&home);
    sql(&home.only_store(), "UPDATE events SET bytes = CAST(bytes || x'00' AS BLOB) WHERE seq = 4");
    check_broken(&repository, Some(4));
}

#[test]
fn a_dropped_event_is_named_by_its_place() {
    let home = home();
    let repository = busy(&home);
    sql(&home.only_store(), "DELETE FROM events WHERE seq = 4");
    check_broken(&repository, Some(4));
}

#[test]
fn reordered_events_are_noticed() {
    let home = home();
    let repository = busy(&home);
    sql(
        &home.only_store(),
        "CREATE TEMP TABLE one AS SELECT bytes FROM events WHERE seq = 4; \
         UPDATE events SET bytes = (SELECT bytes FROM events WHERE seq = 6) WHERE seq = 4; \
         UPDATE events SET bytes = (SELECT bytes FROM one) WHERE seq = 6",
    );
    check_broken(&repository, Some(4));
}

#[test]
fn a_dropped_tail_is_noticed() {
    let home = home();
    let repository = busy(&home);
    let last = repository.events().len();
    sql(&home.only_store(), &format!("DELETE FROM events WHERE seq = {last}"));
    check_broken(&repository, None);
}

#[test]
fn a_stored_row_that_does_not_follow_from_the_log_is_noticed_and_rebuilt() {
    let home = home();
    let repository = busy(&home);
    sql(&home.only_store(), "UPDATE leases SET ttl_ms = ttl_ms + 1");
    check_broken(&repository, None);
    let repaired = repository.clearway().ok(&["doctor", "--repair"]);
    assert_eq!((&repaired["healthy"], number(&repaired["repaired"], "rows")), (&true.into(), 1));
    repository.clearway().ok(&["audit", "verify"]);
    assert!(!repository.is_clear("alice", "docs/x.md"));
}

/// Puts back an older copy of everything the database consists of, witness included.
fn roll_back(store: &Path, copy: &Path) {
    for suffix in ["", "-wal", "-gate"] {
        let name = format!("store.db{suffix}");
        if copy.join(&name).exists() {
            std::fs::copy(copy.join(&name), store.with_file_name(&name)).expect("a copy");
        }
    }
    let _ = std::fs::remove_file(store.with_file_name("store.db-shm"));
}

fn copy_store(home: &Home, copy: &Path) {
    std::fs::create_dir_all(copy).expect("a directory");
    let store = home.only_store();
    for suffix in ["", "-wal", "-gate"] {
        let name = format!("store.db{suffix}");
        std::fs::copy(store.with_file_name(&name), copy.join(&name)).expect("a copy");
    }
}

#[test]
fn an_older_copy_put_back_is_found_against_the_last_anchor() {
    let (home, terminal) = (home(), Terminal::open());
    let repository = busy(&home);
    let copy = home.path().join("copy");
    copy_store(&home, &copy);
    repository.grant("carol", &["main.rs"]);
    let exported = home.path().join("anchors").display().to_string();
    person(&repository, &terminal).ok(&["audit", "anchor", "--export", &exported]);
    roll_back(&home.only_store(), &copy);
    check_broken(&repository, None);
    std::fs::remove_file(home.only_store().with_file_name("store.db-anchors")).expect("the anchors");
    repository.clearway().fails("audit-broken", 1, &["audit", "verify", "--anchors", &exported]);
}

#[test]
fn what_an_operator_went_on_without_is_told_and_breaks_the_log_no_longer() {
    let (home, terminal) = (home(), Terminal::open());
    let repository = busy(&home);
    let copy = home.path().join("copy");
    copy_store(&home, &copy);
    repository.grant("carol", &["main.rs"]);
    person(&repository, &terminal).ok(&["audit", "anchor"]);
    std::fs::remove_file(copy.join("store.db-gate")).expect("the gate stays the newer one");
    roll_back(&home.only_store(), &copy);
    repository.clearway().fails("audit-broken", 1, &["audit", "verify"]);
    let repair = ["doctor", "--repair", "--reason", "an older copy was put back"];
    repository.agent("mallory").operator(&home).ok(&repair);
    for file in ["src/a.rs", "src/b.rs", "main.rs"] {
        repository.grant("dave", &[file]);
    }
    let verified = repository.clearway().ok(&["audit", "verify"]);
    assert_eq!((number(&verified, "given_up"), &verified["anchored_seq"]), (1, &Value::Null));
    person(&repository, &terminal).ok(&["audit", "anchor"]);
    let verified = repository.clearway().ok(&["audit", "verify"]);
    assert_eq!((number(&verified, "given_up"), number(&verified, "unanchored")), (1, 0));
    person(&repository, &terminal).ok(&["doctor"]);
}

#[test]
fn a_log_whose_place_is_not_there_is_not_called_whole() {
    let home = home();
    let repository = busy(&home);
    for verb in ["verify", "export"] {
        let line = ["--store", "/nowhere/at/all/s.db", "audit", verb];
        repository.clearway().fails("store-unavailable", 69, &line);
    }
    for verb in ["agents", "waits", "events", "mine"] {
        let ran = repository.agent("ada").run(&["--store", "/nowhere/at/all/s.db", verb]).expect(0);
        assert!(ran.stderr().contains("there is no directory /nowhere/at/all"), "{verb}: {}", ran.stderr());
    }
}

#[test]
fn a_log_written_anew_and_hashed_anew_is_found_against_the_last_anchor() {
    let (home, terminal) = (home(), Terminal::open());
    let repository = busy(&home);
    person(&repository, &terminal).ok(&["audit", "anchor"]);
    let store = home.only_store();
    let anchors = std::fs::read(store.with_file_name("store.db-anchors")).expect("the anchors");
    let directory = store.parent().expect("a directory").to_owned();
    std::fs::remove_dir_all(&directory).expect("the scope");
    for (agent, file) in [("mallory", "src/a.rs"), ("mallory", "src/b.rs"), ("eve", "main.rs"), ("eve", "x")]
    {
        repository.grant(agent, &[file]);
    }
    repository.clearway().ok(&["audit", "verify"]);
    std::fs::write(directory.join("store.db-anchors"), anchors).expect("the anchors");
    check_broken(&repository, None);
}

#[test]
fn an_anchor_of_a_stranger_vouches_for_nothing() {
    let (home, terminal) = (home(), Terminal::open());
    let repository = busy(&home);
    person(&repository, &terminal).ok(&["audit", "anchor"]);
    let exported = home.path().join("anchors").display().to_string();
    for name in ["operator.key", "operator.pub"] {
        std::fs::rename(home.state().join(name), home.path().join(name)).expect("the key moves");
    }
    std::fs::remove_file(home.only_store().with_file_name("store.db-anchors")).expect("the anchors");
    person(&repository, &terminal).ok(&["audit", "anchor", "--export", &exported]);
    std::fs::remove_file(home.only_store().with_file_name("store.db-anchors")).expect("the anchors");
    for name in ["operator.key", "operator.pub"] {
        std::fs::rename(home.path().join(name), home.state().join(name)).expect("the key moves back");
    }
    let error = repository.clearway().fails("audit-broken", 1, &["audit", "verify", "--anchors", &exported]);
    assert!(text(&error, "message").contains("signed by"), "{error}");
}

#[test]
fn a_wrong_public_key_hides_no_other_finding_and_keeps_no_row_from_repair() {
    let (home, terminal) = (home(), Terminal::open());
    let repository = busy(&home);
    person(&repository, &terminal).ok(&["audit", "anchor"]);
    let public = home.state().join("operator.pub");
    std::fs::write(&public, format!("{}\n", "0".repeat(64))).expect("a file");
    sql(&home.only_store(), "UPDATE leases SET ttl_ms = ttl_ms + 1");
    let error = repository.clearway().fails("audit-broken", 1, &["audit", "verify"]);
    for part in ["signed by", "operator.pub", "a stored row does not follow"] {
        assert!(text(&error, "message").contains(part), "{part}: {error}");
    }
    repository.clearway().json(&["doctor", "--repair"]).expect(1).slug("unhealthy");
    let error = repository.clearway().fails("audit-broken", 1, &["audit", "verify"]);
    assert!(!text(&error, "message").contains("row"), "the rows are repaired: {error}");
    sql(&home.only_store(), "UPDATE events SET bytes = CAST(bytes || x'00' AS BLOB) WHERE seq = 4");
    check_broken(&repository, Some(4));
}

#[test]
fn a_key_whose_halves_differ_signs_nothing() {
    let home = home();
    let repository = busy(&home);
    repository.clearway().operator(&home).ok(&["reserve", "main.rs", "--agent", "carol"]);
    std::fs::write(home.state().join("operator.pub"), format!("{}\n", "0".repeat(64))).expect("a file");
    let error = repository.clearway().operator(&home).fails("audit-broken", 1, &["audit", "anchor"]);
    for part in ["operator.key", "operator.pub"] {
        assert!(text(&error, "message").contains(part), "{error}");
    }
    assert!(!home.only_store().with_file_name("store.db-anchors").exists());
}

#[test]
fn a_key_that_others_can_use_makes_nobody_an_operator() {
    let home = home();
    let repository = busy(&home);
    let key = home.operator_key();
    let freeze = ["freeze", "--reason", "a release"];
    let operator = || repository.agent("bob").env("CLEARWAY_OPERATOR_KEY", &key);
    for mode in [0o644, 0o620, 0o606] {
        std::fs::set_permissions(&key, std::fs::Permissions::from_mode(mode)).expect("its mode");
        let error = operator().fails("store-not-private", 69, &freeze);
        operator().fails("store-not-private", 69, &["audit", "anchor"]);
        let hint = error["hints"][0].as_str().expect("a hint");
        let (_, command) = hint.split_once(": ").expect("a command");
        assert!(home.shell(repository.path(), command).status().expect("a shell").success(), "{hint}");
        operator().ok(&freeze);
    }
}

#[test]
fn a_variable_that_names_no_key_is_a_setting_to_correct() {
    let home = home();
    let repository = busy(&home);
    let (key, junk) = (home.operator_key(), home.path().join("junk"));
    std::fs::write(&junk, "junk\n").expect("a file");
    for named in [&junk, &home.path().to_owned()] {
        let operator = repository.agent("bob").env("CLEARWAY_OPERATOR_KEY", named);
        let error = operator.fails("config-bad-value", 78, &["release", "abcd1234", "--reason", "x"]);
        let message = text(&error, "message");
        assert!(
            message.contains("CLEARWAY_OPERATOR_KEY") && message.contains(&*named.to_string_lossy()),
            "{error}"
        );
    }
    assert!(key.exists());
}

#[test]
fn an_export_adds_to_anchors_alone_and_follows_a_link() {
    let home = home();
    let repository = busy(&home);
    let (notes, kept, link) = (home.path().join("notes"), home.path().join("kept"), home.path().join("link"));
    std::fs::write(&notes, "mine\n").expect("a file");
    std::os::unix::fs::symlink(&kept, &link).expect("a link");
    let anchor = |path: &std::path::Path| {
        repository
            .clearway()
            .operator(&home)
            .json(&["audit", "anchor", "--export", &path.display().to_string()])
            .code()
    };
    assert_eq!(anchor(&notes), 2);
    assert_eq!(std::fs::read_to_string(&notes).expect("a file"), "mine\n");
    assert_eq!((anchor(&kept), anchor(&link)), (0, 0));
    assert!(link.is_symlink());
    assert_eq!(std::fs::read_to_string(&kept).expect("a file").lines().count(), 2);
}

#[test]
fn an_anchor_that_cannot_be_exported_is_not_made() {
    let home = home();
    let repository = busy(&home);
    let anchors = home.only_store().with_file_name("store.db-anchors");
    let missing = home.path().join("not-mounted");
    let places = [home.path().to_owned(), "/dev/full".into(), "/dev/null".into(), missing.join("anchors")];
    for place in places {
        let place = place.display().to_string();
        let operator = repository.clearway().operator(&home);
        let error = operator.fails("usage", 2, &["audit", "anchor", "--export", &place]);
        assert!(text(&error, "message").contains(&format!("--export {place}")), "{error}");
        assert!(!anchors.exists(), "{place}");
    }
    assert!(!missing.exists(), "a place that is not there is not made");
}

#[test]
fn a_lost_tail_names_the_way_out_and_going_on_is_no_start_of_the_machine() {
    let home = home();
    let repository = busy(&home);
    let copy = home.path().join("copy");
    copy_store(&home, &copy);
    repository.grant("carol", &["main.rs"]);
    std::fs::remove_file(copy.join("store.db-gate")).expect("the gate stays the newer one");
    roll_back(&home.only_store(), &copy);
    let error = repository.clearway().json(&["doctor"]).expect(1).slug("unhealthy");
    let hint = error["hints"][0].as_str().expect("a hint");
    assert!(hint.contains("clearway doctor --repair --reason TEXT"), "{hint}");
    let repair = ["doctor", "--repair", "--reason", "put back"];
    repository.agent("mallory").operator(&home).ok(&repair);
    let began = repository.events().into_iter().rfind(|event| event["kind"] == "epoch.began");
    assert_eq!(began.expect("an epoch")["agent"], "mallory");
    let told = repository.clearway().text(&["events", "--kind", "epoch.began"]);
    assert!(told.contains("mallory: epoch 2 after 2 lost"), "{told}");
    repository.clearway().ok(&["audit", "verify"]);
}

#[test]
fn a_store_removed_under_its_gate_is_not_called_whole() {
    let home = home();
    let repository = busy(&home);
    for suffix in ["", "-wal", "-shm"] {
        let _ = std::fs::remove_file(format!("{}{suffix}", home.only_store().display()));
    }
    let ran = repository.clearway().run(&["doctor"]);
    assert!(!ran.stdout().contains("the log is whole"), "{}", ran.stdout());
}

#[test]
fn a_lost_store_is_noticed_by_its_anchors() {
    let (home, terminal) = (home(), Terminal::open());
    let repository = busy(&home);
    person(&repository, &terminal).ok(&["audit", "anchor"]);
    let store = home.only_store();
    for suffix in ["", "-wal", "-shm", "-gate", "-next"] {
        let _ = std::fs::remove_file(format!("{}{suffix}", store.display()));
    }
    repository.clearway().fails("audit-broken", 1, &["audit", "verify"]);
}

/// The store and its gate were put back together, so that nothing on this machine misses anything.
#[test]
fn what_only_an_anchor_elsewhere_remembers_is_told_without_a_repair_that_mends_nothing() {
    let (home, terminal) = (home(), Terminal::open());
    let repository = busy(&home);
    let elsewhere = home.path().join("anchors");
    let (directory, older) =
        (home.only_store().parent().expect("a place").to_owned(), home.path().join("older"));
    let copy = |from: &Path, to: &Path| {
        let copied = std::process::Command::new("cp").args(["-aT"]).args([from, to]).status();
        assert!(copied.is_ok_and(|status| status.success()));
    };
    copy(&directory, &older);
    repository.grant("carol", &["main.rs"]);
    person(&repository, &terminal).ok(&["audit", "anchor", "--export", &elsewhere.display().to_string()]);
    std::fs::remove_dir_all(&directory).expect("it is gone");
    copy(&older, &directory);
    let verify = ["audit", "verify", "--anchors", &elsewhere.display().to_string()];
    let error = repository.clearway().fails("audit-broken", 1, &verify);
    let hints = error["hints"].to_string();
    assert!(hints.contains("put a newer copy of the store back") && !hints.contains("doctor"), "{hints}");
}
