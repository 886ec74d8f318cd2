//! Every suggested command works when it is pasted.

use crate::{app, home, list, number, text};
use clearway_testkit::{Home, Ran, Repository};
use serde_json::Value;

/// Failures of every sort, with what leads to them.
fn failures(home: &Home, repository: &Repository<'_>) -> Vec<Value> {
    repository.write(".clearway.toml", "");
    let lease = repository.grant("alice", &["src/a.rs", "--shared"]);
    let old = number(&lease, "fence");
    repository.grant("alice", &["src/a.rs"]);
    repository.clearway().session("s-1").ok(&["reserve", "docs/"]);
    let session = repository.clearway().ok(&["leases", "--pattern", "docs/"])["leases"][0].clone();
    let id = text(&lease, "id");
    let stale = format!("{id}@{old}");
    let released = repository.grant("alice", &["over.rs"]);
    repository.agent("alice").ok(&["release", "over.rs"]);
    repository.grant("alice", &["--kind", "name", "build"]);
    let alice = || repository.agent("alice");
    let bob = || repository.agent("bob");
    let mut ran: Vec<Ran> = vec![
        bob().json(&["reserve", "src/a.rs"]),
        bob().json(&["reserve", "src/a.rs", "b.rs"]),
        bob().json(&["reserve", "src/**", "it's.rs"]),
        bob().json(&["reserve", "--kind", "name", "build"]),
        bob().json(&["release", id]),
        bob().json(&["renew", id]),
        bob().json(&["release", id, "--reason", "x"]),
        alice().json(&["renew", &stale]),
        alice().json(&["renew", text(&released, "id")]),
        alice().json(&["renew", "zzzzzzzz"]),
        alice().json(&["renew", "nonsense"]),
        alice().json(&["reserve", "a["]),
        alice().json(&["reserve", "../x"]),
        alice().json(&["reserve", ".git/config"]),
        alice().json(&["reserve", "--kind", "name", ""]),
        alice().json(&["reserve", "x", "--ttl", "0"]),
        alice().json(&["reserve", "**"]),
        alice().json(&["reserve", "x", "--reason", &"x".repeat(3_000)]),
        alice().json(&["frobnicate"]),
        alice().json(&["reserve", "--frob", "x"]),
        alice().json(&["release"]),
        alice().json(&["explain", "reservation-hold"]),
        alice().json(&["explain", "nothing-like-it"]),
        alice().json(&["events", "--kind", "x"]),
        alice().json(&["events", "--from", "x"]),
        alice().json(&["events", "--from", &format!("2@{}", "0".repeat(64))]),
        alice().json(&["audit", "verify", "--anchors", "/nowhere"]),
        alice().json(&["--scope", "nowhere-00000000", "leases"]),
        alice().json(&["--store", "postgres://x/y", "leases"]),
        alice().json(&["-C", "/nowhere", "leases"]),
        repository.agent(text(&session, "agent")).json(&["reserve", "x"]),
        repository.clearway().env("CLAUDE_CODE_SESSION_ID", "a b").json(&["reserve", "x"]),
        repository.clearway().env("CLEARWAY_TIMEOUTS_STORE", "soon").json(&["leases"]),
        home.clearway(&home.path().join("home")).json(&["reserve", "x"]),
        repository.clearway_in("docs").agent("bob").json(&["reserve", "../src/a.rs"]),
    ];
    repository.write(".clearway.toml", "leases.brod_files = 1\n");
    ran.push(alice().json(&["leases"]));
    repository.write(".clearway.toml", "[leases]\nbroad_files = 999999\n");
    ran.push(alice().json(&["leases"]));
    repository.write(".clearway.toml", "");
    let connection = crate::open_store(home);
    connection.execute_batch("UPDATE leases SET ttl_ms = ttl_ms + 1").expect("a change");
    ran.push(alice().json(&["audit", "verify"]));
    ran.push(alice().json(&["doctor"]));
    let mut errors: Vec<Value> = ran.iter().map(|ran| ran.value()["error"].clone()).collect();
    let found: Vec<Value> =
        errors.iter().flat_map(|error| error["details"]["checks"].as_array().cloned()).flatten().collect();
    let advice = found.iter().filter(|check| check["hint"].is_string());
    errors.extend(advice.map(|check| serde_json::json!({ "hints": [check["hint"]] })));
    errors
}

/// The command a hint ends with, if it has one.
fn command(hint: &str) -> Option<&str> {
    let at = hint.find("clearway ")?;
    Some(hint[at + "clearway ".len()..].trim())
}

/// Words a reader replaces, such as `ID`, `FILE` or `…`.
fn has_placeholder(command: &str) -> bool {
    let word = |word: &str| word.len() > 1 && word.chars().all(|c| c.is_ascii_uppercase());
    command.contains('…') || command.contains("...") || command.split([' ', '/', '=', '@']).any(word)
}

#[test]
fn every_suggested_command_works_when_pasted() {
    let home = home();
    let repository = app(&home);
    let errors = failures(&home, &repository);
    let mut pasted = 0;
    for error in &errors {
        assert!(!list(error, "hints").is_empty(), "{error:#}");
        let hints = list(error, "hints").iter().filter_map(Value::as_str);
        for command in hints.filter_map(command).filter(|command| !has_placeholder(command)) {
            let output =
                home.shell(repository.path(), &format!("clearway --agent bob --json {command}")).output();
            let output = output.expect("a shell");
            let said = String::from_utf8_lossy(&output.stdout).into_owned();
            let answer: Value =
                serde_json::from_str(said.lines().next().unwrap_or_default()).unwrap_or_default();
            let slug = answer["error"]["slug"].as_str().unwrap_or_default();
            let wrong = slug == "usage" || slug == "internal" || slug.starts_with("invalid-");
            assert!(
                !wrong,
                "{command}
{said}
from {error:#}"
            );
            assert!(
                ![Some(2), Some(70), Some(127), Some(126)].contains(&output.status.code()),
                "{command}: {said}"
            );
            pasted += 1;
        }
    }
    assert!(pasted >= 25, "{pasted} commands");
}

#[test]
fn a_suggestion_with_a_placeholder_works_once_it_is_filled_in() {
    let home = home();
    let repository = app(&home);
    for error in failures(&home, &repository) {
        let hints = list(&error, "hints").iter().filter_map(Value::as_str);
        for command in hints.filter_map(command).filter(|command| has_placeholder(command)) {
            let filled = command
                .replace("ID…", "zzzzzzzz")
                .replace('…', "leases")
                .replace("DIR/", "src/")
                .replace("DIR", "src")
                .replace("ID", "zzzzzzzz")
                .replace("NAME", "carol")
                .replace("TEXT", "because")
                .replace("PATH", "src/b.rs")
                .replace("FILE", "/nowhere/file");
            let script = format!("clearway --json {filled}");
            let output = home.shell(repository.path(), &script).output().expect("a shell");
            let said = String::from_utf8_lossy(&output.stdout).into_owned();
            assert!(!said.contains("\"error\":{\"slug\":\"usage\""), "{filled}: {said}");
        }
    }
}

#[test]
fn a_command_in_the_name_of_a_file_is_no_command_of_the_hint() {
    let home = home();
    let repository = app(&home);
    let name = "clearway who x.rs";
    repository.write(&format!("src/{name}"), "");
    repository.grant("alice", &[&format!("src/{name}")]);
    let error = repository.clearway_in("src").agent("bob").fails("reservation-held", 1, &["reserve", name]);
    let root = repository.path().display().to_string();
    let expected = format!("see who holds it and until when: clearway -C {root} who 'src/{name}'");
    assert_eq!(list(&error, "hints")[0], expected);
}

#[test]
fn a_suggested_command_means_the_store_of_the_one_that_failed() {
    let home = home();
    let repository = app(&home);
    let store = home.path().join("other place/team.db");
    std::fs::create_dir(home.path().join("other place")).expect("a directory");
    std::fs::set_permissions(
        home.path().join("other place"),
        std::os::unix::fs::PermissionsExt::from_mode(0o700),
    )
    .expect("a private directory");
    let store = store.to_str().expect("a name");
    repository.agent("alice").ok(&["--store", store, "reserve", "src/a.rs"]);
    let error =
        repository.agent("bob").fails("reservation-held", 1, &["--store", store, "reserve", "src/a.rs"]);
    let hint = error["hints"][0].as_str().unwrap_or_default();
    let command = hint.split_once(": ").map_or("", |(_, command)| command);
    let output = home.shell(repository.path(), &format!("{command} --json")).output().expect("a shell");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(said.contains("\"agent\":\"alice\""), "{hint}: {said}");
}

#[test]
fn a_damaged_store_is_set_aside_by_the_suggested_command_even_if_nothing_lies_beside_it() {
    let home = home();
    let repository = app(&home);
    std::fs::write(repository.path().join("u.db"), "no database").expect("a file");
    let store = repository.path().join("u.db");
    std::fs::set_permissions(&store, std::os::unix::fs::PermissionsExt::from_mode(0o600)).expect("private");
    let store = store.to_str().expect("a name").to_owned();
    let error = repository.clearway().fails("store-corrupt", 69, &["--store", &store, "leases"]);
    let hints: Vec<&str> = list(&error, "hints").iter().filter_map(Value::as_str).collect();
    let aside = hints.iter().find_map(|hint| hint.split_once(": mkdir ")).expect("a way to begin anew");
    let ran = home.shell(repository.path(), &format!("mkdir {}", aside.1)).status().expect("a shell");
    assert!(ran.success() && !repository.path().join("u.db").exists(), "{hints:?}");
    repository.agent("alice").ok(&["--store", &store, "reserve", "x"]);
}
