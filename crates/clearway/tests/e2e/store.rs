//! The store as a file on a disk: private, chosen, shared, busy, newer.

use crate::{app, home, list, text};
use clearway_testkit::{Home, Repository, eventually};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command};

#[test]
fn every_file_is_private_whatever_the_umask() {
    let home = home();
    let repository = app(&home);
    let script = "umask 000; clearway --agent alice reserve a.rs && clearway audit anchor";
    let terminal = clearway_testkit::Terminal::open();
    let mut shell = home.shell(repository.path(), script);
    terminal.attach(&mut shell);
    let done = shell.status().expect("a shell");
    assert!(done.success());
    let files = clearway_testkit::Files::below(&home.state());
    for path in files.paths() {
        let metadata = std::fs::metadata(path).expect("metadata");
        let expected = if metadata.is_dir() { 0o700 } else { 0o600 };
        assert_eq!(metadata.permissions().mode() & 0o777, expected, "{}", path.display());
    }
    let names: Vec<String> =
        files.paths().filter_map(|path| Some(path.file_name()?.to_str()?.to_owned())).collect();
    for name in
        ["store.db", "store.db-wal", "store.db-shm", "store.db-gate", "store.db-next", "store.db-anchors"]
    {
        assert!(names.iter().any(|found| found == name), "{name} in {names:?}");
    }
}

#[test]
fn many_calls_leave_no_more_files_than_one() {
    let home = home();
    let repository = app(&home);
    repository.grant("alice", &["a.rs"]);
    let count = |home: &Home| clearway_testkit::Files::below(&home.state()).paths().count();
    let before = count(&home);
    for round in 0..50 {
        repository.grant("alice", &["--kind", "name", &format!("n{round}")]);
    }
    repository.agent("alice").ok(&["release", "--all"]);
    assert_eq!(count(&home), before);
}

#[test]
fn one_named_file_holds_every_scope_used_with_it() {
    let home = home();
    let (one, two) = (home.repository("one", &[]), home.repository("two", &[]));
    let file = crate::shared_store(&home);
    let path = file.display().to_string();
    one.agent("alice").args(&["--store", &path]).ok(&["reserve", "a.rs"]);
    two.agent("bob").env("CLEARWAY_STORE", &path).ok(&["reserve", "a.rs"]);
    one.agent("bob").env("CLEARWAY_STORE", &path).fails("reservation-held", 1, &["reserve", "a.rs"]);
    assert!(home.state_files().is_empty() && file.exists());
    assert!(one.is_clear("bob", "a.rs"), "the default store knows nothing of it");
    let verified = two.clearway().args(&["--store", &format!("file://{path}")]).ok(&["audit", "verify"]);
    assert_eq!(verified["events"], 4, "each scope has its own log");
    home.user_config(&format!("[store]\nurl = \"{path}\"\n"));
    one.agent("bob").fails("reservation-held", 1, &["reserve", "a.rs"]);
}

#[test]
fn the_store_in_use_says_which_scopes_there_are() {
    let home = home();
    let (outer, inner) = (home.directory("plain"), home.directory("plain/sub"));
    let path = crate::shared_store(&home).display().to_string();
    let at =
        |directory: &Path, agent: &str| home.clearway(directory).agent(agent).env("CLEARWAY_STORE", &path);
    at(&outer, "alice").ok(&["reserve", "sub/a.rs"]);
    at(&inner, "bob").fails("reservation-held", 1, &["reserve", "a.rs"]);
    let key = text(&at(&inner, "bob").ok(&["status"]), "scope").to_owned();
    let elsewhere = home.directory("elsewhere");
    let by_key = |store: &str| home.clearway(&elsewhere).args(&["--store", store, "--scope", &key]);
    assert_eq!(by_key(&path).ok(&["leases"])["leases"][0]["pattern"], "sub/a.rs");
    by_key("/store-that-is-not-there.db").fails("not-found", 5, &["leases"]);
    home.clearway(&elsewhere).args(&["--scope", &key]).fails("not-found", 5, &["leases"]);
    std::fs::write(inner.join(".clearway.toml"), "").expect("a file");
    let made = at(&inner, "bob").ok(&["reserve", "a.rs"]);
    assert_eq!(made["notices"][0]["code"], "scope-inside-another", "{made}");
    home.clearway(&inner).agent("carol").ok(&["reserve", "a.rs"]);
    let error = at(&outer, "carol").fails("outside-scope", 2, &["reserve", "sub/b.rs"]);
    assert!(text(&error, "message").contains("belongs to the scope"), "{error}");
}

#[test]
fn a_relative_store_that_is_typed_lies_where_the_command_acts() {
    let home = home();
    let repository = app(&home);
    let elsewhere = home.directory("elsewhere");
    let root = repository.path().display().to_string();
    let from_afar =
        |agent: &str| home.clearway(&elsewhere).agent(agent).args(&["-C", &root, "--store", "own.db"]);
    from_afar("alice").ok(&["reserve", "src/a.rs"]);
    assert!(repository.path().join("own.db").exists() && !elsewhere.join("own.db").exists());
    let here = |words: &[&str]| {
        repository.agent("bob").args(&["--store", "own.db"]).fails("reservation-held", 1, words)
    };
    here(&["reserve", "src/a.rs"]);
    let typed = |name: &str| repository.clearway_in("src").agent("bob").args(&["--store", name]);
    typed("../own.db").fails("reservation-held", 1, &["reserve", "a.rs"]);
}

/// The environment goes into every directory: what is relative there would be another store in each.
#[test]
fn a_relative_store_in_the_environment_is_refused_with_what_to_write() {
    let home = home();
    let repository = app(&home);
    for url in ["own.db", "../own.db", "file://own.db"] {
        for words in [["reserve", "a.rs"].as_slice(), &["check", "a.rs"], &["leases"]] {
            let alice = repository.clearway_in("src").agent("alice").env("CLEARWAY_STORE", url);
            let error = alice.fails("config-bad-value", 78, words);
            let path = repository.path().join("src").join(url.trim_start_matches("file://"));
            let hint = error["hints"][0].as_str().unwrap_or_default();
            assert!(hint.ends_with(&format!("export CLEARWAY_STORE={}", path.display())), "{error}");
        }
    }
    assert!(home.state_files().is_empty() && !repository.path().join("src/own.db").exists());
}

#[test]
fn a_relative_store_in_the_user_file_lies_beside_that_file() {
    let home = home();
    let repository = app(&home);
    let config = home.user_config("[store]\nurl = \"own.db\"\n");
    repository.agent("alice").ok(&["reserve", "src/a.rs"]);
    assert!(config.with_file_name("own.db").exists() && home.state_files().is_empty());
    repository.clearway_in("src").agent("bob").fails("reservation-held", 1, &["reserve", "a.rs"]);
    let shown = repository.clearway().text(&["config", "show"]);
    assert!(shown.contains(&config.with_file_name("own.db").display().to_string()), "{shown}");
}

#[test]
fn half_an_address_is_no_file_of_that_name() {
    let home = home();
    let repository = app(&home);
    let alice = || repository.agent("alice");
    for url in ["sqlite:own.db", "file:own.db", "file:/own.db", "postgres:own"] {
        let error = alice().fails("usage", 2, &["--store", url, "reserve", "a.rs"]);
        assert!(text(&error, "message").contains("half an address"), "{error}");
        alice().env("CLEARWAY_STORE", url).fails("config-bad-value", 78, &["reserve", "a.rs"]);
    }
    alice().ok(&["--store", "./sqlite:own.db", "reserve", "a.rs"]);
    assert!(repository.path().join("sqlite:own.db").exists());
}

/// Each name of a file has a gate of its own, so two names would be two turnstiles for one store.
#[test]
fn a_store_with_several_names_is_read_and_not_written() {
    let home = home();
    let repository = app(&home);
    repository.grant("alice", &["a.rs"]);
    let store = home.only_store();
    let other = crate::shared_store(&home);
    std::fs::hard_link(&store, &other).expect("a link");
    let before = home.state_files();
    for words in [["reserve", "b.rs"].as_slice(), &["release", "--all"], &["renew"], &["sweep"]] {
        let error = repository.agent("alice").fails("store-unavailable", 69, words);
        assert!(text(&error, "message").contains("one of 2 names of the same file"), "{error}");
        let hint = format!("-samefile {}", store.display());
        assert!(error["hints"].to_string().contains(&hint), "{error}");
        let path = other.display().to_string();
        repository.agent("bob").args(&["--store", &path]).fails("store-unavailable", 69, words);
    }
    assert_eq!(list(&repository.clearway().ok(&["leases"]), "leases").len(), 1);
    let diagnosis = repository.clearway().fails("unhealthy", 1, &["doctor"]);
    assert!(diagnosis.to_string().contains("2 names"), "{diagnosis}");
    before.assert_same(&home.state_files(), "a store with two names");
    assert_eq!(std::fs::read_dir(other.parent().expect("a directory")).expect("names").count(), 1);
    std::fs::remove_file(&other).expect("one name less");
    repository.grant("alice", &["b.rs"]);
}

/// The gate would lie beside the link, and the log beside the file.
#[test]
fn a_store_behind_a_link_is_named_by_the_file_itself() {
    let home = home();
    let repository = app(&home);
    repository.grant("alice", &["a.rs"]);
    let link = crate::shared_store(&home);
    for to in [home.only_store(), home.path().join("nowhere.db")] {
        std::os::unix::fs::symlink(&to, &link).expect("a link");
        let path = link.display().to_string();
        for words in [["reserve", "b.rs"].as_slice(), &["leases"]] {
            let error =
                repository.agent("alice").args(&["--store", &path]).fails("store-unavailable", 69, words);
            assert!(text(&error, "message").contains("is a symbolic link"), "{error}");
            let hint = error["hints"][0].as_str().unwrap_or_default().to_owned();
            let command = hint.strip_prefix("name the file it leads to: ").expect("a command");
            let said = home.shell(repository.path(), command).output().expect("a shell");
            assert_eq!(String::from_utf8_lossy(&said.stdout).trim_end(), to.display().to_string());
        }
        std::fs::remove_file(&link).expect("a file");
    }
}

/// Whoever deletes the end of the log, and nothing else, is noticed by the next writer.
#[test]
fn nothing_is_written_behind_an_event_that_is_gone() {
    let home = home();
    let repository = app(&home);
    repository.grant("alice", &["a.rs"]);
    let connection = crate::open_store(&home);
    let gone = connection.execute("DELETE FROM events WHERE seq = (SELECT max(seq) FROM events)", []);
    assert_eq!(gone.expect("a statement"), 1);
    let count = || {
        let count = "SELECT count(*) FROM events";
        connection.query_row(count, [], |row| row.get::<_, u64>(0)).expect("a count")
    };
    let before = count();
    for words in [["reserve", "b.rs"].as_slice(), &["release", "--all"], &["renew"]] {
        let error = repository.agent("alice").fails("store-corrupt", 69, words);
        assert!(text(&error, "message").contains("does not end with event"), "{error}");
    }
    assert_eq!(count(), before);
    repository.clearway().fails("audit-broken", 1, &["audit", "verify"]);
    repository.clearway().fails("audit-broken", 1, &["doctor", "--repair"]);
}

/// To whoever may not look, the store is no store that cannot be written.
#[test]
fn another_user_is_told_that_the_store_cannot_be_read() {
    let home = home();
    let repository = app(&home);
    repository.grant("alice", &["a.rs"]);
    let named = format!("--store {} leases", home.only_store().display());
    for words in ["leases", &named, "--agent eve reserve b.rs"] {
        let script =
            format!("exec setpriv --reuid 65534 --regid 65534 --clear-groups clearway --json {words}");
        let output = home.shell(repository.path(), &script).output().expect("a shell");
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(said.contains("store-unavailable") && said.contains("cannot be read"), "{words}: {said}");
    }
}

#[test]
fn a_configured_store_that_cannot_be_used_is_never_replaced() {
    let home = home();
    let repository = app(&home);
    std::fs::write(home.path().join("file"), "").expect("a file");
    let below_a_file = home.path().join("file/store.db").display().to_string();
    for url in [
        "postgres://db.example/clearway",
        "unix:///run/clearway.sock",
        "/proc/nowhere/store.db",
        &below_a_file,
    ] {
        for words in [["reserve", "a.rs"].as_slice(), &["release", "--all"]] {
            let ran = repository.agent("alice").args(&["--store", url]).json(words);
            if words[0] == "reserve" {
                ran.slug("store-unavailable");
                ran.expect(69);
            } else {
                assert!([0, 69].contains(&ran.code()), "{url}: {}", ran.stdout());
            }
        }
    }
    assert!(home.state_files().is_empty());
}

/// A process that holds a gate file and is stopped.
struct Stopped(Child);

impl Stopped {
    fn holding(home: &Home, gate: &Path) -> Self {
        let ready = home.path().join("ready");
        let script = format!("touch {}; exec sleep 600", ready.display());
        let child = Command::new("flock").arg("--no-fork").arg(gate).args(["sh", "-c", &script]).spawn();
        let stopped = Self(child.expect("flock runs"));
        eventually("the gate is held", || ready.exists().then_some(()));
        stopped.signal("-STOP");
        stopped
    }

    fn signal(&self, signal: &str) {
        let status = Command::new("kill").args([signal, &self.0.id().to_string()]).status();
        assert!(status.is_ok_and(|status| status.success()));
    }
}

impl Drop for Stopped {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn whoever_blocks_a_writer_is_named_with_pid_and_state() {
    let home = home();
    let repository = app(&home);
    repository.grant("alice", &["a.rs"]);
    let stopped = Stopped::holding(&home, &home.only_store().with_file_name("store.db-gate"));
    let pid = stopped.0.id().to_string();
    let before = home.state_files();
    let error =
        repository.agent("bob").args(&["--timeout", "100ms"]).fails("store-busy", 75, &["reserve", "b.rs"]);
    let holder = error["details"]["holders"][0].as_str().unwrap_or_default();
    assert!(holder.contains(&pid) && holder.contains("stopped"), "{error:#}");
    assert!(text(&error, "message").contains(&pid), "{error:#}");
    assert_eq!(error["retry"]["when"], "now");
    let hints: Vec<&str> = list(&error, "hints").iter().filter_map(|hint| hint.as_str()).collect();
    assert!(hints.iter().any(|hint| hint.ends_with(&format!("kill -CONT {pid}"))), "{hints:?}");
    before.assert_same(&home.state_files(), "a busy store");
    let told = repository.clearway().fails("unhealthy", 1, &["doctor"]);
    let is_writers = |check: &&serde_json::Value| check["about"] == "writers";
    let writers = list(&told["details"], "checks").iter().find(is_writers).expect("writers");
    let said = text(writers, "text");
    assert!(said.contains(&pid) && said.contains("stopped"), "{said}");
    assert!(!repository.is_clear("bob", "a.rs"), "readers need no gate");
}

#[test]
fn a_writer_waits_for_another_that_goes_on() {
    let home = home();
    let repository = app(&home);
    repository.grant("alice", &["a.rs"]);
    let stopped = Stopped::holding(&home, &home.only_store().with_file_name("store.db-gate"));
    let waiting = repository.agent("bob").spawn(&["--timeout", "30s", "reserve", "b.rs"]);
    stopped.signal("-CONT");
    drop(stopped);
    let output = waiting.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
}

/// A transaction of a program that knows nothing of the gate.
fn foreign_writer(repository: &Repository<'_>, home: &Home) -> rusqlite::Connection {
    repository.grant("alice", &["a.rs"]);
    let connection = crate::open_store(home);
    connection.execute_batch("BEGIN IMMEDIATE").expect("a transaction");
    connection
}

#[test]
fn a_foreign_writer_is_waited_for_within_the_time_given() {
    let home = home();
    let repository = app(&home);
    let writer = foreign_writer(&repository, &home);
    let lease = repository.clearway().ok(&["leases"])["leases"][0].clone();
    for words in [["reserve", "b.rs"].as_slice(), &["renew", text(&lease, "id")], &["release", "--all"]] {
        let busy = repository.agent("alice").args(&["--timeout", "100ms"]);
        busy.fails("store-busy", 75, words);
    }
    let waiting = repository.agent("bob").spawn(&["--timeout", "30s", "reserve", "b.rs"]);
    writer.execute_batch("ROLLBACK").expect("the writer ends");
    let output = waiting.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
}

/// Every verb there is, with words that open the store; without words where it opens none, or is asked apart.
const VERBS: [(&str, &[&str]); 62] = [
    ("init", &["init", "-y"]),
    ("reserve", &["reserve", "b.rs"]),
    ("who", &["who", "a.rs"]),
    ("release", &["release", "--all"]),
    ("wait", &["wait", "--cancel"]),
    ("waits", &["waits"]),
    ("with", &[]),
    ("transfer", &["transfer", "--to", "bob", "--all"]),
    ("freeze", &["freeze", "--reason", "a test"]),
    ("thaw", &["thaw", "--reason", "a test"]),
    ("leases", &["leases"]),
    ("agents", &["agents"]),
    ("status", &["status"]),
    ("events", &["events"]),
    ("audit verify", &["audit", "verify"]),
    ("audit anchor", &["audit", "anchor"]),
    ("audit export", &["audit", "export"]),
    ("doctor", &[]),
    ("scope list", &[]),
    ("scope adopt", &["scope", "adopt"]),
    ("config show", &[]),
    ("config path", &[]),
    ("config classes", &[]),
    ("demo", &[]),
    ("explain", &[]),
    ("check", &["check", "a.rs"]),
    ("renew", &["renew"]),
    ("sweep", &["sweep"]),
    ("mine", &["mine"]),
    ("diff", &["diff"]),
    ("radar", &["radar"]),
    ("snapshot", &["snapshot"]),
    ("snapshots", &["snapshots"]),
    ("show", &["show", "1"]),
    ("restore", &["restore", "1"]),
    ("undo", &["undo"]),
    ("commit", &["commit", "-m", "x"]),
    ("statusline", &["statusline"]),
    ("where", &["where", "alice"]),
    ("digest", &["digest"]),
    ("send", &["send", "bob", "x"]),
    ("inbox", &["inbox"]),
    ("ack", &["ack", "abcdefgh"]),
    ("read", &["read", "abcdefgh"]),
    ("thread", &["thread", "abcdefgh"]),
    ("threads", &["threads"]),
    ("search", &["search", "x"]),
    ("broadcast", &["broadcast", "x", "--topic", "x"]),
    ("stale-acks", &["stale-acks"]),
    ("policy", &["policy", "open"]),
    ("contacts", &["contacts", "--add", "bob"]),
    ("ask", &["ask", "a.rs", "x"]),
    ("answer", &["answer", "abcdefgh", "release"]),
    ("withdraw", &["withdraw", "abcdefgh"]),
    ("negotiations", &["negotiations"]),
    ("force", &["force", "abcdefgh", "--reason", "x"]),
    ("halt", &["halt", "alice", "--reason", "x"]),
    ("resume", &["resume", "alice", "--reason", "x"]),
    ("hook", &[]),
    ("git-hook", &[]),
    ("completions", &[]),
    ("man", &[]),
];

#[test]
fn the_list_of_verbs_is_that_of_the_reference() {
    let reference = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/cli.md");
    let reference = std::fs::read_to_string(reference).expect("docs/cli.md");
    let headings =
        reference.lines().filter_map(|line| line.strip_prefix("### `clearway ")?.strip_suffix('`'));
    let not_verbs = ["audit", "config", "help", "scope"];
    let mut listed: Vec<&str> = headings.filter(|name| !not_verbs.contains(name)).collect();
    let mut known: Vec<&str> = VERBS.iter().map(|(name, _)| *name).collect();
    listed.sort_unstable();
    known.sort_unstable();
    assert_eq!(listed, known);
}

#[test]
fn a_newer_store_is_refused_unchanged_by_every_verb() {
    let home = home();
    let repository = app(&home);
    repository.grant("alice", &["a.rs"]);
    let connection = crate::open_store(&home);
    let version: u32 = connection.query_row("PRAGMA user_version", [], |row| row.get(0)).expect("a version");
    connection.pragma_update(None, "user_version", version + 1).expect("a newer version");
    drop(connection);
    let key = home.operator_key();
    let before = home.state_files();
    for (_, words) in VERBS.iter().filter(|(_, words)| !words.is_empty()) {
        let error =
            repository.agent("alice").env("CLEARWAY_OPERATOR_KEY", &key).fails("store-newer", 69, words);
        assert!(!list(&error, "hints").is_empty(), "{error}");
    }
    let with = repository.agent("alice").run(&["with", "build", "--", "true"]).expect(125);
    assert!(with.stderr().contains("store-newer"), "{}", with.stderr());
    repository.clearway().fails("unhealthy", 1, &["doctor"]);
    before.assert_same(&home.state_files(), "an older clearway");
}

#[test]
fn first_callers_at_once_make_one_store() {
    let home = home();
    let repository = home.repository("app", &[]);
    let children: Vec<Child> = (0..8)
        .map(|n| repository.agent(&format!("a{n}")).spawn(&["reserve", "--kind", "name", &format!("n{n}")]))
        .collect();
    for child in children {
        let output = child.wait_with_output().expect("it ends");
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    }
    let kinds = repository.kinds();
    assert_eq!(kinds.iter().filter(|kind| *kind == "scope.opened").count(), 1);
    assert_eq!(kinds.iter().filter(|kind| *kind == "lease.granted").count(), 8);
    repository.clearway().ok(&["audit", "verify"]);
}

#[test]
fn a_change_whose_event_cannot_be_written_does_not_happen() {
    let home = home();
    let repository = app(&home);
    let lease = repository.grant("alice", &["a.rs"]);
    let forbid = "CREATE TRIGGER no BEFORE INSERT ON events BEGIN SELECT RAISE(ABORT, 'no'); END";
    crate::open_store(&home).execute_batch(forbid).expect("a trigger");
    for words in [["reserve", "b.rs"].as_slice(), &["renew"], &["release", "--all"]] {
        let ran = repository.agent("alice").json(words);
        assert!([69, 70].contains(&ran.code()), "{words:?}: {}", ran.stdout());
        assert_eq!(ran.value()["ok"], false);
    }
    crate::open_store(&home).execute_batch("DROP TRIGGER no").expect("the trigger goes");
    let leases = repository.clearway().ok(&["leases"]);
    let ids: Vec<&str> = list(&leases, "leases").iter().map(|lease| text(lease, "id")).collect();
    assert_eq!(ids, [text(&lease, "id")]);
    repository.clearway().ok(&["audit", "verify"]);
}

#[test]
fn the_hint_of_a_store_that_others_can_reach_makes_it_private() {
    let home = home();
    let repository = app(&home);
    repository.grant("alice", &["a.rs"]);
    let store = home.only_store();
    for (path, mode) in [(store.as_path(), 0o644), (store.parent().expect("a directory"), 0o777)] {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).expect("permissions");
        let error = repository.agent("alice").fails("store-not-private", 69, &["reserve", "b.rs"]);
        let hint = error["hints"][0].as_str().unwrap_or_default().to_owned();
        let command = hint.strip_prefix("make it yours alone: ").expect("a command");
        assert!(
            home.shell(repository.path(), command).status().is_ok_and(|status| status.success()),
            "{hint}"
        );
        repository.agent("alice").ok(&["reserve", "b.rs"]);
    }
}

#[test]
fn what_is_no_store_is_called_that_before_its_mode_is_complained_of() {
    let home = home();
    let repository = app(&home);
    let file = home.path().join("passwd");
    std::fs::write(&file, "root:x:0:0\n").expect("a file");
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).expect("a mode");
    let error = repository.agent("ada").fails(
        "store-corrupt",
        69,
        &["--store", &file.display().to_string(), "reserve", "a.rs"],
    );
    assert!(!error["hints"].to_string().contains("chmod"), "{error:#}");
}
