//! Repositories that were moved, copied or made anew at a used path, and the scopes they had.

use crate::{app, each, home, list, text};
use clearway_testkit::{Clearway, Home, Repository};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Moves a repository.
fn moved(home: &Home, repository: &Repository<'_>) -> PathBuf {
    let to = home.path().join("home/moved");
    std::fs::rename(repository.path(), &to).expect("a move");
    to
}

fn shell(home: &Home, program: &str, arguments: &[&str]) {
    let status = std::process::Command::new(program).args(arguments).current_dir(home.path()).status();
    assert!(status.is_ok_and(|status| status.success()), "{program} {arguments:?}");
}

fn scope(clearway: Clearway) -> String {
    text(&clearway.ok(&["status"]), "scope").to_owned()
}

#[track_caller]
fn codes(reply: &Value) -> Vec<&str> {
    each(reply, "notices", "code")
}

#[test]
fn a_moved_repository_is_reported_once_and_goes_on_with_its_scope_when_told_to() {
    let home = home();
    let repository = app(&home);
    repository.grant("alice", &["--kind", "name", "build"]);
    let old = scope(repository.clearway());
    let place = moved(&home, &repository);
    let at = |agent: &str| home.clearway(&place).agent(agent);
    assert_ne!(scope(at("bob")), old);
    assert_eq!(text(&at("bob").ok(&["doctor"])["checks"][2], "about"), "place");
    let first = at("bob").ok(&["reserve", "src/a.rs"]);
    assert_eq!(codes(&first), ["scope-moved"]);
    let message = text(&first["notices"][0], "message");
    let hint = format!("scope adopt {old}");
    assert!(
        message.contains(&hint) && message.contains(&repository.path().display().to_string()),
        "{message}"
    );
    assert_eq!(at("bob").ok(&["reserve", "src/b.rs"])["notices"], json!([]), "once is enough");
    assert!(text(&at("bob").ok(&["doctor"])["checks"][2], "hint").contains(&hint));
    let adopted = at("bob").ok(&["scope", "adopt", &old]);
    assert_eq!((text(&adopted, "scope"), &adopted["changed"]), (old.as_str(), &json!(true)));
    let aside = Path::new(text(&adopted, "put_aside")).join("store.db");
    assert!(aside.exists(), "{}", aside.display());
    assert_eq!(scope(at("bob")), old);
    at("bob").fails("reservation-held", 1, &["reserve", "--kind", "name", "build"]);
    assert_eq!(at("bob").ok(&["reserve", "src/a.rs"])["notices"], json!([]));
    at("bob").ok(&["audit", "verify"]);
    let again = at("bob").ok(&["scope", "adopt", &old]);
    assert_eq!((&again["changed"], &again["put_aside"]), (&json!(false), &json!(null)));
    assert_ne!(text(&at("bob").ok(&["doctor"])["checks"][2], "about"), "place");
}

#[test]
fn before_anything_is_written_there_is_nothing_to_put_aside() {
    let home = home();
    let repository = app(&home);
    repository.grant("alice", &["src/a.rs"]);
    let old = scope(repository.clearway());
    let place = moved(&home, &repository);
    let adopted = home.clearway(&place).agent("alice").ok(&["scope", "adopt"]);
    assert_eq!((text(&adopted, "scope"), &adopted["put_aside"]), (old.as_str(), &json!(null)));
    assert_eq!(adopted["left_behind"], 1, "its lease is on a path that is gone");
    assert_eq!(scope(home.clearway(&place)), old);
    assert_eq!(scope(home.clearway(&place).args(&["--scope", &old])), old);
    home.clearway(&place).agent("alice").args(&["--scope", &old]).ok(&["reserve", "src/a.rs"]);
}

#[test]
fn nobody_else_loses_what_it_holds_in_a_scope_that_was_begun_meanwhile() {
    let home = home();
    let repository = app(&home);
    repository.grant("alice", &["src/a.rs"]);
    let old = scope(repository.clearway());
    let place = moved(&home, &repository);
    home.clearway(&place).agent("carol").ok(&["reserve", "src/b.rs"]);
    let error = home.clearway(&place).agent("bob").fails("reservation-held", 1, &["scope", "adopt", &old]);
    assert_eq!(error["details"]["blockers"][0]["agent"], "carol", "{error}");
    home.clearway(&place).agent("carol").ok(&["release", "--all"]);
    home.clearway(&place).agent("bob").ok(&["scope", "adopt", &old]);
}

#[test]
fn a_copy_is_a_repository_of_its_own() {
    let home = home();
    let repository = app(&home);
    repository.grant("alice", &["src/a.rs"]);
    let old = scope(repository.clearway());
    let copy = home.path().join("home/copy");
    shell(&home, "cp", &["-a", &repository.path().display().to_string(), &copy.display().to_string()]);
    let bob = || home.clearway(&copy).agent("bob");
    assert_eq!(bob().ok(&["reserve", "src/a.rs"])["notices"], json!([]));
    assert_ne!(scope(bob()), old);
    let error = bob().fails("usage", 2, &["scope", "adopt", &old]);
    assert!(text(&error, "message").contains("still there"), "{error}");
    assert_eq!(bob().ok(&["scope", "adopt"])["changed"], false);
}

#[test]
fn another_repository_at_a_used_path_is_reported_until_somebody_says_that_it_is_the_same() {
    let home = home();
    let repository = app(&home);
    repository.grant("alice", &["--kind", "name", "build"]);
    let kept = home.path().join("home/kept");
    std::fs::rename(repository.path(), &kept).expect("a move");
    shell(&home, "cp", &["-a", &kept.display().to_string(), &repository.path().display().to_string()]);
    let reserve = |path: &str| repository.agent("bob").ok(&["reserve", path]);
    assert_eq!(codes(&reserve("src/a.rs")), ["scope-replaced"]);
    assert_eq!(reserve("src/b.rs")["notices"], json!([]));
    let found = repository.clearway().ok(&["doctor"]);
    assert_eq!(text(&found["checks"][2], "about"), "place");
    assert!(text(&found["checks"][2], "hint").contains("clearway scope adopt"), "{found}");
    assert_eq!(repository.agent("bob").ok(&["scope", "adopt"])["changed"], true);
    assert_ne!(text(&repository.clearway().ok(&["doctor"])["checks"][2], "about"), "place");
    repository.blockers("bob", &["--kind", "name", "build"]);
}

#[test]
fn a_moved_directory_without_git_keeps_its_scope_for_everything_below() {
    let home = home();
    let (directory, below) = (home.directory("plain"), home.directory("plain/a"));
    home.clearway(&directory).agent("alice").ok(&["reserve", "--kind", "name", "build"]);
    let old = scope(home.clearway(&below));
    let to = home.path().join("home/moved");
    std::fs::rename(&directory, &to).expect("a move");
    home.clearway(&to).agent("alice").ok(&["scope", "adopt"]);
    assert_eq!(scope(home.clearway(&to.join("a"))), old);
}

#[test]
fn what_cannot_be_adopted_is_said() {
    let home = home();
    let repository = app(&home);
    repository.grant("alice", &["src/a.rs"]);
    let alice = || repository.agent("alice");
    let error = alice().fails("not-found", 5, &["scope", "adopt", "nowhere-00000000"]);
    assert!(error["hints"].to_string().contains("clearway --agent alice scope list"), "{error}");
    alice().fails("usage", 2, &["--scope", "machine", "scope", "adopt"]);
    let store = home.path().join("one.db");
    let error = alice().env("CLEARWAY_STORE", &store).fails("usage", 2, &["scope", "adopt"]);
    assert!(text(&error, "message").contains("one file holds every scope"), "{error}");
    alice().env("CLEARWAY_STORE", &store).ok(&["reserve", "src/a.rs"]);
    assert_eq!(list(&alice().env("CLEARWAY_STORE", &store).ok(&["scope", "list"]), "scopes").len(), 1);
}

#[test]
fn scopes_are_listed_with_what_they_are() {
    let home = home();
    assert_eq!(home.clearway(&home.directory("new")).ok(&["scope", "list"])["scopes"], json!([]));
    let (one, two) = (home.repository("one", &[]), home.repository("two", &[]));
    one.grant("alice", &["a.rs"]);
    two.grant("bob", &["a.rs"]);
    two.agent("bob").ok(&["release", "--all"]);
    let found = one.clearway().ok(&["scope", "list"]);
    let facts = |scope: &Value| (scope["leases"].clone(), scope["here"].clone());
    let scopes = list(&found, "scopes");
    assert_eq!([facts(&scopes[0]), facts(&scopes[1])], [(json!(1), json!(true)), (json!(0), json!(false))]);
    assert_eq!(text(&scopes[1], "place"), two.path().join(".git").display().to_string());
    assert!(scopes[1]["last_event_at"].is_string(), "{found}");
    let shown = one.clearway().run(&["scope", "list"]).expect(0).stdout();
    assert!(shown.contains("1 lease ") && shown.contains(".git (here)"), "{shown}");
}

#[test]
fn scopes_are_listed_from_anywhere_and_one_that_is_damaged_hides_no_other() {
    let home = home();
    let (one, two) = (home.repository("one", &[]), home.repository("two", &[]));
    one.grant("alice", &["a.rs"]);
    two.grant("alice", &["a.rs"]);
    let key = text(&two.clearway().ok(&["status"]), "scope").to_owned();
    let store = home.state().join("scopes").join(&key).join("store.db");
    std::fs::write(&store, "this is not a database. ".repeat(100)).expect("a file");
    std::fs::remove_file(format!("{}-wal", store.display())).expect("a file");
    let gone = home.directory("gone");
    let deleted = home.shell(&gone, "rmdir ../gone && exec clearway scope list").output().expect("a shell");
    let deleted = String::from_utf8_lossy(&deleted.stdout).into_owned();
    for said in [one.clearway().text(&["scope", "list"]), deleted] {
        assert!(said.contains("one-") && said.contains("unreadable"), "{said}");
        assert!(said.contains(&format!("clearway --scope {key} doctor")), "{said}");
    }
    let listed = home.clearway(&home.path().join("home")).ok(&["scope", "list"]);
    let damaged = |scope: &&Value| scope["trouble"].is_string();
    let scopes = list(&listed, "scopes");
    assert_eq!(scopes.len(), 2, "{listed:#}");
    assert_eq!(scopes.iter().find(damaged).map(|scope| text(scope, "scope")), Some(key.as_str()));
    assert!(scopes.iter().all(|scope| scope["here"] == false), "{listed:#}");
    one.clearway().fails("unhealthy", 1, &["--scope", &key, "doctor"]);
    one.clearway().ok(&["doctor"]);
}

/// A relative store lies where the caller stands, also where there is no scope.
#[test]
fn scopes_of_a_relative_store_are_listed_where_there_is_no_scope() {
    let home = home();
    let outside = home.path().join("home");
    let store = outside.join("s.db");
    let store = store.to_str().expect("a name");
    app(&home).agent("alice").args(&["--store", store]).ok(&["reserve", "src/a.rs"]);
    let listed = home.clearway(&outside).args(&["--store", "s.db"]).ok(&["scope", "list"]);
    assert_eq!(listed["scopes"][0]["leases"], 1, "{listed:#}");
}

#[test]
fn whoever_only_looks_is_told_of_a_moved_repository_until_it_is_written_to() {
    let home = home();
    let repository = app(&home);
    repository.grant("alice", &["--kind", "name", "build"]);
    let old = scope(repository.clearway());
    let place = moved(&home, &repository);
    let at = || home.clearway(&place).agent("bob");
    let adopt = format!("scope adopt {old}");
    let before = home.state_files();
    for words in [["who", "src/a.rs"].as_slice(), &["leases"], &["check", "src/a.rs"]] {
        let reply = at().ok(words);
        assert_eq!(codes(&reply), ["scope-moved"], "{words:?}");
        assert!(text(&reply["notices"][0], "message").contains(&adopt), "{words:?}");
        let ran = at().run(words).expect(0);
        assert!((ran.stdout() + &ran.stderr()).contains("scope adopt"), "{words:?}");
    }
    assert!(at().ok(&["status"])["warnings"].to_string().contains(&adopt));
    before.assert_same(&home.state_files(), "looking");
    at().ok(&["scope", "adopt"]);
    assert_eq!(at().ok(&["leases"])["notices"], json!([]));
    assert_eq!(at().ok(&["status"])["warnings"], json!([]));
}

/// The scope went with its repository; another one at the path it left has nothing to do with it.
#[test]
fn a_repository_at_the_path_that_an_adopted_scope_left_has_a_scope_of_its_own() {
    let home = home();
    let repository = app(&home);
    repository.grant("alice", &["--kind", "name", "build"]);
    let old = scope(repository.clearway());
    let place = moved(&home, &repository);
    home.clearway(&place).agent("alice").ok(&["scope", "adopt"]);
    let anew = home.repository("app", &[]);
    assert_eq!(anew.path(), repository.path());
    let own = scope(anew.clearway());
    assert_ne!(own, old);
    assert_eq!(anew.agent("bob").ok(&["reserve", "--kind", "name", "build"])["notices"], json!([]));
    assert_eq!((scope(anew.clearway()), scope(home.clearway(&place))), (own.clone(), old.clone()));
    let builders = |clearway: Clearway| clearway.ok(&["leases"])["leases"][0]["agent"].clone();
    assert_eq!((builders(anew.clearway()), builders(home.clearway(&place))), (json!("bob"), json!("alice")));
    assert_eq!(builders(home.clearway(&place).args(&["--scope", &own])), json!("bob"));
    assert_eq!(builders(anew.clearway().args(&["--scope", &old])), json!("alice"));
    assert_eq!(scope(anew.clearway().args(&["--scope", &old])), old, "what is named is meant");
    assert_eq!(builders(anew.clearway().args(&["--scope", &own])), json!("bob"));
    anew.agent("bob").args(&["--scope", &own]).ok(&["reserve", "src/a.rs"]);
    anew.clearway().ok(&["doctor"]);
    std::fs::remove_dir_all(&place).expect("a directory");
    assert_eq!(scope(anew.clearway()), own, "it stays so when the other is gone");
}

/// What was held on paths of the old place is nobody's protection any more; who holds it is told how to give it back.
#[test]
fn leases_on_paths_of_a_place_that_is_gone_are_pointed_out_until_they_are_given_back() {
    let home = home();
    let repository = app(&home);
    let lease = repository.grant("alice", &["src/a.rs"]);
    repository.grant("alice", &["--kind", "name", "build"]);
    let place = moved(&home, &repository);
    let at = |agent: &str| home.clearway(&place).agent(agent);
    at("alice").ok(&["scope", "adopt"]);
    let warned = |agent: &str| at(agent).ok(&["status"])["warnings"].to_string();
    assert!(warned("bob").contains("1 lease is on paths of") && !warned("bob").contains("clearway release"));
    let said = warned("alice");
    let command = format!("release {}", text(&lease, "id"));
    assert!(said.contains(&command) && said.contains(&repository.path().display().to_string()), "{said}");
    at("alice").ok(&command.split(' ').collect::<Vec<_>>());
    assert_eq!(warned("alice"), "[]");
    at("alice").ok(&["reserve", "src/a.rs"]);
    assert_eq!(warned("alice"), "[]");
}
