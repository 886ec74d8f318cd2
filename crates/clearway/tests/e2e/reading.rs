//! Looking: right answers, and not a byte changed.

use crate::{app, each, home, list, text};
use clearway_testkit::{Files, Repository};
use std::process::Output;

/// Every verb that only looks.
const LOOKS: [&[&str]; 15] = [
    &["check", "src/a.rs"],
    &["who", "src/a.rs"],
    &["leases"],
    &["leases", "--history"],
    &["agents"],
    &["waits"],
    &["waits", "--agent-name", "alice"],
    &["status"],
    &["sweep", "--dry-run"],
    &["events"],
    &["audit", "verify"],
    &["audit", "export"],
    &["doctor"],
    &["config", "show"],
    &["config", "classes"],
];

#[track_caller]
fn look_at_everything(repository: &Repository<'_>, expected_check: i32) {
    for words in LOOKS {
        let code = if words[0] == "check" { expected_check } else { 0 };
        repository.agent("bob").run(words).expect(code);
        repository.agent("bob").json(words).expect(code);
    }
}

#[test]
fn looking_at_what_does_not_exist_yet_finds_nothing_and_makes_nothing() {
    let home = home();
    let repository = app(&home);
    look_at_everything(&repository, 0);
    assert!(Files::below(&home.state()).is_empty(), "{:?}", Files::below(&home.state()));
    assert!(Files::below(&home.path().join("run")).is_empty(), "no doorbell either");
    let status = repository.agent("bob").ok(&["status"]);
    assert_eq!(
        (&status["rev"], list(&status, "agents").len(), list(&status, "leases").len()),
        (&0.into(), 0, 0)
    );
    for verb in ["renew", "sweep"] {
        repository.agent("bob").ok(&[verb]);
    }
    repository.agent("bob").ok(&["release", "--all"]);
    assert!(Files::below(&home.state()).is_empty(), "nothing to change makes nothing");
}

#[test]
fn looking_changes_no_byte_of_an_existing_store() {
    let home = home();
    let repository = app(&home);
    repository.grant("alice", &["src/a.rs"]);
    let before = home.state_files();
    look_at_everything(&repository, 1);
    before.assert_same(&home.state_files(), "looking");
}

#[test]
fn a_thousand_checks_leave_every_byte_where_it_was() {
    let home = home();
    let repository = app(&home);
    repository.grant("alice", &["src/a.rs"]);
    let before = home.state_files();
    let listing = Files::below(&home.state());
    let paths: Vec<_> = listing.paths().collect();
    let checks = |agent: &str| {
        for _ in 0..500 {
            repository.agent(agent).run(&["check", "src/a.rs"]).expect(1);
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(|| checks("bob"));
        scope.spawn(|| checks("carol"));
    });
    before.assert_same(&home.state_files(), "a thousand checks");
    assert_eq!(Files::below(&home.state()).paths().collect::<Vec<_>>(), paths, "no file came or went");
}

#[test]
fn a_store_without_its_log_beside_it_is_read_without_a_trace() {
    let home = home();
    let repository = app(&home);
    repository.grant("alice", &["src/a.rs"]);
    let store = home.only_store();
    let connection = rusqlite::Connection::open(&store).expect("the store opens");
    connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).expect("a checkpoint");
    drop(connection);
    for suffix in ["-wal", "-shm"] {
        let _ = std::fs::remove_file(format!("{}{suffix}", store.display()));
    }
    let before = Files::below(&home.state());
    look_at_everything(&repository, 1);
    before.assert_same(&Files::below(&home.state()), "looking");
    assert!(Files::below(&home.path().join("tmp")).is_empty(), "private copies vanish");
}

/// Runs a script with the state mounted read-only; `None` where that is not allowed.
fn with_read_only(
    home: &clearway_testkit::Home,
    directory: &std::path::Path,
    script: &str,
) -> Option<Output> {
    let state = home.state().display().to_string();
    let inner =
        format!("mount --bind {state} {state} && mount -o remount,ro,bind {state} || exit 99; {script}");
    let mut command = home.shell(directory, "exec unshare -m sh -c \"$0\" || exit 99");
    let output = command.arg(inner).output().ok()?;
    (output.status.code() != Some(99)).then_some(output)
}

#[test]
fn a_read_only_store_is_read_and_refuses_to_be_written_by_name() {
    let home = home();
    let repository = app(&home);
    repository.grant("alice", &["src/a.rs"]);
    let script = "clearway --json --agent bob who src/a.rs && clearway --json --agent bob reserve other.rs";
    let Some(output) = with_read_only(&home, repository.path(), script) else {
        // Without the right to mount, permissions have to do: they do not bind root, so this is not root.
        check_by_permissions(&home, &repository);
        return;
    };
    let lines: Vec<serde_json::Value> = String::from_utf8_lossy(&output.stdout)
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    assert_eq!(lines[0]["holders"][0]["agent"], "alice", "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!((&lines[1]["error"]["slug"], output.status.code()), (&"store-read-only".into(), Some(69)));
}

fn check_by_permissions(home: &clearway_testkit::Home, repository: &Repository<'_>) {
    use std::os::unix::fs::PermissionsExt;
    let directory = home.only_store().parent().expect("a directory").to_owned();
    std::fs::set_permissions(&directory, std::fs::Permissions::from_mode(0o500)).expect("permissions");
    for file in ["store.db", "store.db-wal", "store.db-shm", "store.db-gate", "store.db-next"] {
        let _ = std::fs::set_permissions(directory.join(file), std::fs::Permissions::from_mode(0o400));
    }
    let seen = repository.agent("bob").ok(&["who", "src/a.rs"]);
    repository.agent("bob").fails("store-read-only", 69, &["reserve", "other.rs"]);
    std::fs::set_permissions(&directory, std::fs::Permissions::from_mode(0o700)).expect("permissions");
    assert_eq!(seen["holders"][0]["agent"], "alice");
}

#[test]
fn a_check_leaves_out_what_the_asker_holds_itself() {
    let home = home();
    let repository = app(&home);
    repository.grant("alice", &["src/*.rs"]);
    let own = repository.agent("alice").ok(&["check", "src/a.rs"]);
    assert_eq!(
        (&own["clear"], list(&own, "blockers").len(), list(&own, "notices").len()),
        (&true.into(), 0, 0)
    );
    let other = repository.agent("bob").json(&["check", "src/a.rs"]).expect(1).value();
    assert_eq!((&other["ok"], each(&other, "blockers", "agent")), (&true.into(), vec!["alice"]));
    assert!(other.get("error").is_none(), "a negative is no error");
}

#[test]
fn a_check_is_the_decision_of_reserve() {
    let home = home();
    let repository = app(&home);
    repository.grant("alice", &["src/a.rs", "--shared"]);
    for words in
        [["src/a.rs"].as_slice(), &["src/a.rs", "--shared"], &["src/"], &["docs/"], &["src/a.rs", "docs/"]]
    {
        let check = repository.agent("bob").json(&[&["check"], words].concat());
        let reserve = repository.agent("bob").json(&[&["reserve"], words].concat());
        assert_eq!(check.code(), reserve.code(), "{words:?}");
        repository.agent("bob").ok(&["release", "--all"]);
    }
}

#[test]
fn a_check_says_nothing_of_what_only_a_grant_would_bring_about() {
    let home = home();
    let repository = app(&home);
    repository.grant("bob", &["src/a.rs"]);
    repository.agent("bob").ok(&["release", "--all"]);
    repository.grant("alice", &["src/a.rs"]);
    repository.agent("alice").ok(&["release", "--all"]);
    assert_eq!(list(&repository.agent("bob").ok(&["check", "src/a.rs"]), "notices").len(), 0);
    assert_eq!(list(&repository.agent("bob").ok(&["reserve", "src/a.rs"]), "notices").len(), 1);
}

#[test]
fn leases_are_filtered_by_holder_pattern_and_history() {
    let home = home();
    let repository = app(&home);
    repository.grant("alice", &["src/a.rs"]);
    repository.grant("alice", &["--kind", "name", "build"]);
    repository.grant("bob", &["docs/"]);
    repository.grant("bob", &["gone.rs"]);
    repository.agent("bob").ok(&["release", "gone.rs"]);
    let patterns = |words: &[&str]| {
        let reply = repository.clearway().ok(&[&["leases"], words].concat());
        each(&reply, "leases", "pattern").iter().map(|pattern| (*pattern).to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(patterns(&[]), ["src/a.rs", "build", "docs/**"]);
    assert_eq!(patterns(&["--agent-name", "alice"]), ["src/a.rs", "build"]);
    assert_eq!(patterns(&["--pattern", "src/*"]), ["src/a.rs"]);
    assert_eq!(patterns(&["--history", "--agent-name", "bob"]), ["docs/**", "gone.rs"]);
    assert_eq!(patterns(&["--agent-name", "nobody"]), Vec::<String>::new());
}

#[test]
fn who_answers_for_files_directories_and_patterns() {
    let home = home();
    let repository = app(&home);
    repository.grant("alice", &["src/a.rs", "--shared"]);
    repository.grant("bob", &["src/", "--shared"]);
    let holders = |path: &str| {
        let reply = repository.clearway().ok(&["who", path]);
        assert_eq!(list(&reply, "waiters").len(), 0);
        each(&reply, "holders", "agent").iter().map(|name| (*name).to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(holders("src/a.rs"), ["alice", "bob"]);
    assert_eq!(holders("src/b.rs"), ["bob"]);
    assert_eq!(holders("**/a.rs"), ["alice", "bob"]);
    assert_eq!(holders("docs/"), Vec::<String>::new());
    let reply = repository.clearway_in("src").ok(&["who", "a.rs"]);
    assert_eq!(text(&reply, "path"), "src/a.rs");
}

#[test]
fn agents_are_listed_with_what_they_hold_and_how_alive_they_are() {
    let home = home();
    let repository = app(&home);
    repository.grant("alice", &["a", "b"]);
    repository.blockers("bob", &["a"]);
    let reply = repository.clearway().ok(&["agents"]);
    assert_eq!(each(&reply, "agents", "name"), ["alice", "bob"]);
    assert_eq!(each(&reply, "agents", "liveness"), ["active", "active"]);
    let counts: Vec<u64> =
        list(&reply, "agents").iter().filter_map(|agent| agent["leases"].as_u64()).collect();
    assert_eq!(counts, [2, 0]);
    let first = &reply["agents"][0];
    assert!(first["last_active_ms_ago"].is_u64() && first["waiting"] == 0, "{first}");
}

#[test]
fn a_mistyped_agent_is_told_which_one_was_meant() {
    let home = home();
    let repository = app(&home);
    repository.grant("alice", &["a.rs"]);
    let reply = repository.clearway().ok(&["leases", "--agent-name", "alcie"]);
    assert_eq!(reply["notices"][0]["code"], "unknown-agent", "{reply}");
    let told = repository.clearway().run(&["leases", "--agent-name", "alcie"]).expect(0).stderr();
    assert!(told.contains("no agent here is called alcie; did you mean alice?"), "{told}");
    repository.agent("alice").ok(&["release", "--all"]);
    let none = repository.clearway().ok(&["leases", "--agent-name", "alice"]);
    assert_eq!(none["notices"].as_array().map(Vec::len), Some(0), "{none}");
}

#[test]
fn an_error_is_explained_as_it_was_pasted() {
    let home = home();
    let repository = app(&home);
    let page = repository.clearway().text(&["explain", "usage"]);
    for pasted in ["error[usage]", "error[usage]:"] {
        assert_eq!(repository.clearway().text(&["explain", pasted]), page);
    }
}

#[test]
fn a_manual_that_cannot_be_written_names_its_directory() {
    let home = home();
    let error = app(&home).clearway().fails("not-found", 5, &["man", "/proc/nowhere"]);
    assert!(text(&error, "message").contains("/proc/nowhere"), "{error}");
    let pages = home.directory("pages").display().to_string();
    home.directory("pages/clearway.1");
    app(&home).clearway().fails("output-unwritable", 74, &["man", &pages]);
    assert!(error["hints"][0].as_str().is_some_and(|hint| hint.ends_with(": clearway man DIR")), "{error}");
}
