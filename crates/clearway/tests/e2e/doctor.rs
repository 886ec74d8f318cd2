//! A doctor that sees what is wrong and says what to do.

use crate::{app, home, list, text};
use clearway_testkit::{Home, Repository};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::PathBuf;

/// What is said about one thing.
#[track_caller]
fn about<'v>(checks: &'v Value, name: &str) -> &'v Value {
    let found = list(checks, "checks").iter().find(|check| check["about"] == name);
    found.unwrap_or_else(|| panic!("nothing about {name} in {checks:#}"))
}

#[track_caller]
fn check_unhealthy(repository: &Repository<'_>, name: &str, word: &str) -> Value {
    let error = repository.clearway().fails("unhealthy", 1, &["doctor"]);
    let wrong = list(&error["details"], "checks").iter().filter(|check| check["status"] == "wrong");
    let wrong: Vec<&Value> = wrong.filter(|check| check["about"] == name).collect();
    let found = wrong.iter().find(|check| text(check, "text").contains(word));
    let found = found.unwrap_or_else(|| panic!("nothing wrong about {name}: {word}: {error:#}"));
    assert!(found["hint"].is_string(), "what to do is said: {found}");
    repository.clearway().run(&["doctor"]).expect(1);
    (*found).clone()
}

#[test]
fn a_healthy_scope_is_healthy_before_and_after_its_first_event() {
    let home = home();
    let repository = app(&home);
    for round in 0..2 {
        let reply = repository.agent("alice").ok(&["doctor"]);
        assert_eq!(reply["healthy"], true);
        assert!(list(&reply, "checks").iter().all(|check| check["status"] != "wrong"), "{reply:#}");
        let exists = round == 1;
        let store = text(about(&reply, "store"), "text").to_owned();
        assert_eq!(store.contains("does not exist yet"), !exists, "{store}");
        repository.grant("alice", &["a.rs"]);
    }
    let reply = repository.agent("alice").ok(&["doctor"]);
    assert!(text(about(&reply, "identity"), "text").contains("alice"));
    assert!(text(about(&reply, "writers"), "text").contains("nobody"));
}

#[test]
fn the_build_is_named_with_its_target_and_its_engine() {
    let home = home();
    let repository = app(&home);
    let reply = repository.clearway().ok(&["doctor"]);
    let build = text(about(&reply, "build"), "text").to_owned();
    for word in [env!("CARGO_PKG_VERSION"), "linux", rusqlite::version()] {
        assert!(build.contains(word), "{word} in {build}");
    }
    assert!(build.contains("static") || build.contains("dynamic"), "{build}");
}

#[test]
fn files_that_others_can_read_are_named() {
    let home = home();
    let repository = app(&home);
    repository.grant("alice", &["a.rs"]);
    let store = home.only_store();
    std::fs::set_permissions(&store, std::fs::Permissions::from_mode(0o644)).expect("permissions");
    let found = check_unhealthy(&repository, "privacy", "store.db");
    let wrong = repository.clearway().run(&["doctor"]).expect(1).stderr();
    assert!(wrong.contains("1 thing is wrong: privacy"), "one cause is one thing: {wrong}");
    let hint = text(&found, "hint").to_owned();
    let command = hint.strip_prefix("make it yours alone: ").expect("a command");
    let mended = home.shell(repository.path(), command).status().expect("a shell");
    assert!(mended.success(), "{hint}");
    repository.clearway().ok(&["doctor"]);
}

fn sql(home: &Home, statement: &str) {
    let connection = crate::open_store(home);
    connection.execute_batch(statement).expect("the statement runs");
}

#[test]
fn a_lost_index_or_a_strange_table_is_named() {
    let home = home();
    let repository = app(&home);
    repository.grant("alice", &["a.rs"]);
    sql(&home, "DROP INDEX leases_by_holder");
    check_unhealthy(&repository, "schema", "leases_by_holder");
    sql(&home, "CREATE TABLE notes (x)");
    check_unhealthy(&repository, "schema", "notes");
}

#[test]
fn a_row_nobody_can_read_is_named_and_stops_nobody_else() {
    let home = home();
    let repository = app(&home);
    let lease = repository.grant("alice", &["src/a.rs"]);
    sql(&home, "UPDATE leases SET pattern = 'src/[' WHERE pattern = 'src/a.rs'");
    repository.grant("bob", &["docs/"]);
    assert!(!repository.is_clear("bob", "src/a.rs"), "it is never read as nothing");
    repository.clearway().fails("unhealthy", 1, &["doctor"]);
    repository.clearway().fails("audit-broken", 1, &["audit", "verify"]);
    repository.clearway().ok(&["doctor", "--repair"]);
    let leases = repository.clearway().ok(&["leases", "--agent-name", "alice"]);
    assert_eq!(
        (&leases["leases"][0]["id"], &leases["leases"][0]["pattern"]),
        (&lease["id"], &"src/a.rs".into())
    );
}

#[test]
fn a_row_that_no_event_explains_fails_whole_operations_over_it() {
    let home = home();
    let repository = app(&home);
    repository.grant("alice", &["src/a.rs"]);
    let other = repository.grant("alice", &["src/b.rs"]);
    sql(
        &home,
        "UPDATE events SET bytes = x'00' WHERE seq = 4; UPDATE leases SET pattern = 'src/[' WHERE pattern = 'src/a.rs'",
    );
    repository.agent("alice").fails("unreadable-row", 69, &["release", "--all"]);
    let still = repository.clearway().ok(&["leases"]);
    assert!(
        list(&still, "leases").iter().any(|lease| lease["id"] == other["id"]),
        "nothing was released: {still:#}"
    );
    assert_eq!(list(&still, "unreadable").len(), 1, "{still:#}");
    repository.grant("bob", &["docs/"]);
    let reply = repository.agent("bob").ok(&["reserve", "src/a.rs"]);
    assert_eq!(reply["notices"][0]["code"], "unreadable-rows", "{reply:#}");
}

/// Nobody can tell who waits there for what: that is said, and keeps nobody from anything.
#[test]
fn a_place_in_the_queue_that_nobody_can_read_stops_nobody() {
    let home = home();
    let repository = app(&home);
    repository.grant("alice", &["src/a.rs"]);
    repository.grant("carol", &["docs/"]);
    repository.agent("bob").ok(&["reserve", "--queue", "src/a.rs"]);
    let seq = repository.events().iter().position(|event| event["kind"] == "wait.began").expect("a wait") + 1;
    let broken =
        format!("UPDATE waits SET wanted = x'00'; UPDATE events SET bytes = x'00' WHERE seq = {seq}");
    sql(&home, &broken);
    let checks = repository.clearway().fails("unhealthy", 1, &["doctor"]);
    let named = |check: &Value| check["about"] == "rows" && text(check, "text").contains("row of wait");
    assert!(list(&checks["details"], "checks").iter().any(named), "{checks:#}");
    let reply = repository.agent("carol").ok(&["transfer", "--to", "alice", "--all"]);
    assert_eq!(reply["notices"][0]["code"], "unreadable-rows", "{reply:#}");
    repository.agent("alice").ok(&["release", "--all"]);
    repository.grant("carol", &["src/a.rs"]);
}

#[test]
fn a_row_nobody_can_read_is_not_handed_over() {
    let home = home();
    let repository = app(&home);
    repository.grant("alice", &["src/a.rs"]);
    repository.grant("alice", &["src/b.rs"]);
    repository.grant("bob", &["docs/"]);
    sql(
        &home,
        "UPDATE events SET bytes = x'00' WHERE seq = 4; UPDATE leases SET pattern = 'src/[' WHERE pattern = 'src/a.rs'",
    );
    repository.agent("alice").fails("unreadable-row", 69, &["transfer", "--to", "bob", "--all"]);
    assert!(!repository.clearway().run(&["events", "--json"]).stdout().contains("lease.transferred"));
    let still = repository.clearway().ok(&["who", "src/b.rs"]);
    assert_eq!(still["holders"][0]["agent"], "alice");
}

#[test]
fn a_broken_configuration_or_store_is_a_finding_not_a_crash() {
    let home = home();
    let repository = app(&home);
    repository.write(".clearway.toml", "colour = 1\n");
    check_unhealthy(&repository, "config", "colour");
    std::fs::remove_file(repository.path().join(".clearway.toml")).expect("the file");
    repository.grant("alice", &["a.rs"]);
    let store = home.only_store();
    for suffix in ["-wal", "-shm"] {
        let _ = std::fs::remove_file(format!("{}{suffix}", store.display()));
    }
    std::fs::write(store, "this is not a database, whatever its name says. ".repeat(40)).expect("a file");
    repository.clearway().fails("unhealthy", 1, &["doctor"]);
}

#[test]
fn a_file_that_is_no_database_is_called_that_and_nothing_else_is_said_of_it() {
    let home = home();
    let repository = app(&home);
    let (file, fresh) = (home.path().join("notes.txt"), home.path().join("fresh.db").display().to_string());
    for was_store in [false, true] {
        let path = file.display().to_string();
        let doctor = || repository.clearway().args(&["--store", &path]);
        if was_store {
            repository.agent("alice").args(&["--store", &path]).ok(&["reserve", "a.rs"]);
            ["-wal", "-shm"]
                .iter()
                .for_each(|suffix| std::fs::remove_file(format!("{path}{suffix}")).expect("a file"));
        }
        std::fs::write(&file, "what I have to do today\n".repeat(400)).expect("a file");
        std::fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o600)).expect("a mode");
        for words in [["doctor"].as_slice(), &["doctor", "--repair"]] {
            let error = doctor().fails("unhealthy", 1, words);
            let checks = list(&error["details"], "checks");
            let wrong: Vec<_> = checks.iter().filter(|check| check["status"] == "wrong").collect();
            assert_eq!(wrong.len(), 1, "{error:#}");
            assert_eq!(
                (text(wrong[0], "about"), text(wrong[0], "text")),
                ("store", format!("{path} is no database").as_str())
            );
            let said = error.to_string();
            assert!(!said.contains("--repair") && !said.contains("migrates"), "{said}");
        }
        let error = doctor().fails("store-corrupt", 69, &["leases"]);
        assert!(error["hints"][0].to_string().contains("--store FILE"), "{error:#}");
        let begin = list(&error, "hints").last().and_then(|hint| hint.as_str()?.rsplit_once(": "));
        let begin = begin.expect("a command").1;
        assert!(
            home.shell(repository.path(), begin).status().is_ok_and(|status| status.success()),
            "{begin}"
        );
        doctor().ok(&["doctor"]);
    }
    repository.agent("alice").ok(&["--store", &fresh, "reserve", "a.rs"]);
}

#[test]
fn the_text_form_fits_the_page_and_names_what_is_wrong_last() {
    let home = home();
    let repository = app(&home);
    repository.grant("alice", &["a.rs"]);
    let healthy = repository.clearway().text(&["doctor"]);
    assert!(healthy.ends_with("healthy\n"), "{healthy}");
    // A client that is there and was never set up is nothing wrong, and no work of it is checked.
    for directory in [".claude", ".gemini"] {
        std::fs::create_dir_all(home.path().join("home").join(directory)).expect("a directory");
    }
    let said = repository.clearway().text(&["doctor"]);
    assert!(said.ends_with("healthy, but not active: Claude Code, Gemini CLI\n"), "{said}");
    sql(&home, "DROP INDEX leases_by_holder");
    let ran = repository.clearway().run(&["doctor"]).expect(1);
    assert!(ran.stdout().contains("leases_by_holder") && ran.stderr().contains("error[unhealthy]"));
}

/// What a schema can lose or gain by a curious tool, all of it mended by one repair.
#[test]
fn a_repair_brings_back_lost_tables_and_removes_what_does_not_belong_there() {
    let damages = [
        "DROP TABLE leases",
        "DROP TABLE ended_leases",
        "DROP TABLE agents",
        "DROP TABLE waits",
        "UPDATE waits SET wanted = x'00'",
        "DROP TABLE idempotency",
        "DROP TABLE presence; DROP TABLE refusals",
        "DROP INDEX leases_by_check; CREATE INDEX leases_by_check ON leases (id)",
        "DROP TABLE agents; CREATE TABLE agents (scope, id, name)",
        "CREATE TRIGGER no BEFORE INSERT ON leases BEGIN SELECT RAISE(ABORT, 'no'); END",
        "CREATE TABLE notes (x); CREATE VIEW \"odd \"\" name\" AS SELECT 1; CREATE INDEX mine ON leases (holder)",
    ];
    let home = home();
    let repository = app(&home);
    let lease = repository.grant("alice", &["a.rs"]);
    repository.grant("alice", &["b.rs"]);
    repository.agent("alice").ok(&["release", "b.rs"]);
    repository.agent("bob").ok(&["reserve", "--queue", "a.rs"]);
    let wait = repository.clearway().ok(&["waits"])["waits"][0]["id"].clone();
    for damage in damages {
        sql(&home, damage);
        repository.clearway().fails("unhealthy", 1, &["doctor"]);
        let reply = repository.clearway().ok(&["doctor", "--repair"]);
        assert_eq!(reply["healthy"], true, "{damage}: {reply:#}");
        repository.clearway().ok(&["audit", "verify"]);
        let leases = repository.clearway().ok(&["leases", "--history"]);
        assert_eq!(list(&leases, "leases").len(), 2, "{damage}: {leases:#}");
        assert_eq!(leases["leases"][0]["id"], lease["id"], "{damage}");
        repository.blockers("bob", &["a.rs"]);
        let waits = repository.clearway().ok(&["waits"]);
        assert_eq!(waits["waits"][0]["id"], wait, "{damage}: {waits:#}");
    }
}

#[test]
fn what_killed_processes_left_behind_is_named_and_removed_but_never_what_is_in_use() {
    let home = home();
    let repository = app(&home);
    repository.grant("alice", &["a.rs"]);
    let beside = |name: &str| home.only_store().with_file_name(name);
    let dead = beside(".clearway-0123456789abcdef.tmp");
    let living = beside(".clearway-fedcba9876543210.tmp");
    let foreign = beside(".clearway-notes.tmp");
    let copy = home.path().join("tmp/clearway-read-0123456789abcdef");
    std::fs::create_dir_all(&copy).expect("a directory");
    for file in [&dead, &living, &foreign, &copy.join("store.db")] {
        std::fs::write(file, "x").expect("a file");
    }
    let held = std::fs::File::open(&living).expect("a file");
    held.lock().expect("a lock");
    let reply = repository.clearway().ok(&["doctor"]);
    let told = about(&reply, "leftover");
    assert!(
        text(told, "text").starts_with("2 ") && text(told, "hint").ends_with("doctor --repair"),
        "{told}"
    );
    assert!(dead.exists() && copy.exists(), "looking removes nothing");
    let reply = repository.clearway().ok(&["doctor", "--repair"]);
    assert_eq!(reply["repaired"]["leftovers"], 2);
    assert!(!dead.exists() && !copy.exists());
    assert!(living.exists() && foreign.exists());
    let reply = repository.clearway().ok(&["doctor"]);
    assert!(list(&reply, "checks").iter().all(|check| check["about"] != "leftover"), "{reply:#}");
}

/// What a refused reservation sends its caller to look for is found there, and the command it names is the way out.
#[test]
fn what_lies_in_the_place_of_the_gate_is_found_and_moved_away_by_the_command_named() {
    let home = home();
    let app = app(&home);
    app.grant("ada", &["a.rs"]);
    for suffix in ["-gate", "-next"] {
        let path = PathBuf::from(format!("{}{suffix}", home.only_store().display()));
        std::fs::remove_file(&path).expect("a file of the turnstile");
        std::fs::DirBuilder::new().mode(0o700).create(&path).expect("a directory");
        app.agent("ada").fails("store-unavailable", 69, &["reserve", "b.rs"]);
        let access = check_unhealthy(&app, "access", "is no regular file");
        let (_, command) = text(&access, "hint").split_once(": ").expect("a command");
        assert!(home.shell(app.path(), command).status().expect("a shell").success(), "{command}");
        app.agent("ada").ok(&["reserve", "b.rs"]);
        app.clearway().ok(&["doctor"]);
    }
}

#[test]
fn where_there_is_no_scope_the_doctor_says_so_and_what_it_can() {
    let home = home();
    app(&home).grant("alice", &["a.rs"]);
    let gone = home.directory("gone");
    let script = "rmdir ../gone && exec clearway --json doctor";
    let output = home.shell(&gone, script).output().expect("a shell");
    let deleted: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let outside = home.clearway(&home.path().join("home")).ok(&["doctor"]);
    for (reply, why) in [(&deleted, "no longer exists"), (&outside, "no place for a scope")] {
        let scope = about(reply, "scope");
        assert!(scope["status"] == "note" && text(scope, "text").contains(why), "{scope}");
        assert!(text(about(reply, "build"), "text").starts_with("clearway "));
        let state = home.state().display().to_string();
        assert!(text(about(reply, "store"), "text").contains(&state), "{reply:#}");
        assert_eq!(reply["healthy"], true);
    }
    home.clearway(&home.path().join("home")).fails("no-scope", 2, &["doctor", "--repair"]);
    std::fs::set_permissions(home.state(), std::fs::Permissions::from_mode(0o777)).expect("permissions");
    let error = home.clearway(&home.path().join("home")).fails("unhealthy", 1, &["doctor"]);
    assert!(error["details"].to_string().contains("chmod go-rwx"), "{error:#}");
}

fn said(repository: &Repository<'_>, about: &str) -> Vec<Value> {
    let checks = repository.clearway().ok(&["doctor"]);
    list(&checks, "checks").iter().filter(|check| check["about"] == about).cloned().collect()
}

#[test]
fn a_client_that_runs_here_and_calls_no_hook_is_named_until_it_does() {
    let home = home();
    let app = app(&home);
    app.grant("ada", &["main.rs"]);
    let (program, payload) = (home.path().join("claude"), home.path().join("payload.json"));
    std::os::unix::fs::symlink("/bin/sh", &program).expect("a link");
    let start =
        json!({"session_id": "s", "cwd": app.path(), "hook_event_name": "SessionStart", "source": "startup"});
    std::fs::write(&payload, start.to_string()).expect("a file");
    let script =
        r#"echo up; read go; CLAUDE_PID=$$ "$1" hook claude < "$2" > /dev/null; echo covered; read end"#;
    let mut command = std::process::Command::new(&program);
    command.args(["-c", script, "x"]).arg(home.binary()).arg(&payload).current_dir(app.path());
    command.env_clear().envs(home.environment());
    command.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped());
    let mut client = command.spawn().expect("a shell");
    let mut lines = BufReader::new(client.stdout.take().expect("a pipe")).lines();
    let mut next = || lines.next().expect("a line").expect("text");
    assert_eq!(next(), "up");
    let found = said(&app, "session");
    assert_eq!(found.len(), 1, "{found:?}");
    let line = format!("claude (process {}) runs here and never called a hook", client.id());
    assert_eq!(text(&found[0], "text"), line);
    assert!(text(&found[0], "hint").ends_with("claude --resume"));
    app.write("main.rs", "held\n");
    app.write("src/a.rs", "held by nobody\n");
    let unguarded = format!("{line}; it is unguarded: 1 changed file is held by nobody");
    assert_eq!(text(&said(&app, "session")[0], "text"), unguarded);
    writeln!(client.stdin.as_mut().expect("a pipe"), "go").expect("it listens");
    assert_eq!(next(), "covered");
    assert!(said(&app, "session").is_empty());
    drop(client.stdin.take());
    client.wait().expect("it ends");
}

#[test]
fn git_hooks_of_interlock_are_named_with_the_way_to_what_was_there_before() {
    let home = home();
    let app = app(&home);
    let hooks = app.path().join(".git/hooks");
    std::fs::create_dir_all(&hooks).expect("a directory");
    std::fs::write(hooks.join("pre-commit"), "#!/bin/sh\n# INTERLOCK_HOOK_MARKER\n").expect("a file");
    std::fs::write(hooks.join("pre-commit.interlock-backup"), "#!/bin/sh\ntrue\n").expect("a file");
    std::fs::write(hooks.join("post-commit"), "#!/bin/sh\n# mine\n").expect("a file");
    let found = said(&app, "git");
    assert_eq!(found.len(), 1, "{found:?}");
    let hint = text(&found[0], "hint");
    let command = hint.strip_prefix("move it aside: ").expect("a command");
    let ran = std::process::Command::new("sh").args(["-c", command]).status().expect("a shell");
    assert!(ran.success() && said(&app, "git").is_empty(), "{hint}");
    assert!(std::fs::read_to_string(hooks.join("pre-commit")).expect("a file").ends_with("true\n"));
}

/// What was not seen yet was not seen: it keeps no lease, and somebody put it there.
#[test]
fn a_sign_of_life_from_the_future_keeps_nothing_and_is_reported() {
    let home = home();
    let repository = app(&home);
    repository.grant("alice", &["src/a.rs", "--ttl", "1s"]);
    let later = "UPDATE presence SET last_seen = last_seen + 999999999";
    assert_eq!(crate::open_store(&home).execute(later, []).expect("a row"), 1);
    let error = repository.clearway().fails("unhealthy", 1, &["doctor"]);
    let checks = list(&error["details"], "checks");
    let check = checks.iter().find(|check| check["about"] == "presence").expect("it is reported");
    assert!(text(check, "text").starts_with("alice is said to be seen "), "{check}");
    clearway_testkit::eventually("the lease runs out", || {
        repository.is_clear("bob", "src/a.rs").then_some(())
    });
    repository.grant("bob", &["src/a.rs"]);
}
