//! `[notify] command`: a real line of shell, run for what a person who does not watch wants to know.

use crate::negotiation::{asked, pass};
use crate::{app, home, home_long_after_boot, list, text};
use clearway_testkit::{Client, Home, Repository, eventually, until};
use serde_json::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

fn told_file(home: &Home) -> PathBuf {
    home.path().join("told")
}

/// Has everything told added to a file, a line each.
pub(crate) fn listen(home: &Home) {
    configure(home, &format!("cat >> {}", told_file(home).display()));
}

fn configure(home: &Home, line: &str) {
    home.user_config(&format!("[notify]\ncommand = '''{line}'''\n"));
}

fn told(home: &Home) -> Vec<Value> {
    let text = fs::read_to_string(told_file(home)).unwrap_or_default();
    let read = |line| {
        let told = serde_json::from_str(line).expect("one document on each line");
        clearway_testkit::schema::check("notify", &told);
        told
    };
    text.lines().map(read).collect()
}

/// The first that is told of a kind.
pub(crate) fn heard(home: &Home, event: &str) -> Value {
    eventually(event, || told(home).into_iter().find(|told| told["event"] == event))
}

/// Something was told so many times and is told no more. Nobody waits for the command, so that it is counted when an event
/// is there that was told after it for certain.
pub(crate) fn is_told(home: &Home, repository: &Repository<'_>, event: &str, times: usize) {
    let count = |event: &str| told(home).iter().filter(|told| told["event"] == event).count();
    until(event, || count(event) >= times);
    let before = count("paused");
    let root = || repository.agent("root").operator(home);
    root().ok(&["freeze", "--for", "10m", "--reason", "the last"]);
    until("the last is told", || count("paused") > before);
    root().ok(&["thaw", "--reason", "it was"]);
    assert_eq!(count(event), times, "{:?}", told(home));
}

fn change(client: &mut Client, repository: &Repository<'_>, file: &str) {
    client.before_edit(file).silent();
    repository.write(file, "changed\n");
    client.after_edit(file).silent();
}

#[test]
fn a_person_is_told_of_a_force_of_a_pause_and_of_work_that_was_left() {
    let home = home_long_after_boot();
    listen(&home);
    let app = app(&home);
    app.grant("ada", &["src/a.rs", "--ttl", "3h"]);
    let id = asked(&app, "bob", "src/a.rs");
    pass(&home, 21);
    let injected = home.path().join("injected");
    let reason = format!("due $(touch {0}) `touch {0}`", injected.display());
    app.agent("bob").ok(&["force", &id, "--reason", &reason]);
    let forced = heard(&home, "forced");
    assert_eq!(
        [text(&forced, "agent"), text(&forced, "holder"), text(&forced, "target")],
        ["bob", "ada", "src/a.rs"]
    );
    assert_eq!(text(&forced, "reason"), reason);
    assert_eq!(text(&forced, "place"), app.path().to_str().expect("text"));
    app.agent("bob").ok(&["force", &id, "--reason", "again"]);
    app.agent("root").operator(&home).ok(&["freeze", "--for", "10m", "--reason", "cut\u{202e}ting"]);
    assert_eq!(text(&heard(&home, "paused"), "reason"), "cut\u{202e}ting");
    let raw = fs::read_to_string(told_file(&home)).expect("a file");
    assert!(!raw.contains('\u{202e}'), "what is told steers no terminal: {raw}");
    app.agent("root").operator(&home).ok(&["thaw", "--reason", "cut"]);
    let mut one = Client::claude(&home, &app, "one");
    change(&mut one, &app, "src/b.rs");
    one.event("SessionEnd", &serde_json::json!({"reason": "other"})).silent();
    assert_eq!(text(&heard(&home, "orphaned"), "target"), "src/b.rs");
    assert_eq!(
        told(&home).iter().filter(|told| told["event"] == "forced").count(),
        1,
        "a second force is none"
    );
    assert!(!injected.exists(), "what people write is never a command");
}

#[test]
fn a_person_is_told_once_that_an_agent_loops() {
    let home = home();
    listen(&home);
    let app = app(&home);
    app.grant("otter", &["src/a.rs"]);
    let mut one = Client::claude(&home, &app, "one");
    for time in 1..=9 {
        one.before_edit("src/a.rs").denied();
        if time == 4 {
            is_told(&home, &app, "looping", 0);
        }
    }
    is_told(&home, &app, "looping", 1);
}

#[test]
fn a_person_is_told_once_of_a_wait_for_somebody_who_rests() {
    let home = home_long_after_boot();
    listen(&home);
    let app = app(&home);
    app.grant("ada", &["src/a.rs", "--ttl", "3h"]);
    app.agent("bob").ok(&["reserve", "src/a.rs", "--queue"]);
    let look_again = || {
        for entry in fs::read_dir(home.path().join("run/clearway")).expect("a directory").flatten() {
            if entry.file_name().to_string_lossy().starts_with("looked-") {
                fs::remove_file(entry.path()).expect("a file");
            }
        }
    };
    pass(&home, 9);
    look_again();
    app.agent("eve").ok(&["reserve", "docs/"]);
    pass(&home, 2);
    for _ in 0..3 {
        look_again();
        app.agent("eve").ok(&["renew"]);
    }
    let waiting = heard(&home, "waiting");
    assert_eq!(
        [text(&waiting, "agent"), text(&waiting, "holder"), text(&waiting, "target")],
        ["bob", "ada", "src/a.rs"]
    );
    assert!(waiting["waited_ms"].as_u64().expect("a number") >= 600_000);
    is_told(&home, &app, "waiting", 1);
    assert_eq!(told(&home).len(), 2, "{:?}", told(&home));
}

#[test]
fn a_person_is_told_once_that_nothing_is_checked() {
    let home = home();
    listen(&home);
    let app = app(&home);
    app.grant("ada", &["docs/"]);
    let store = home.only_store();
    for (ending, text) in [("", "no database"), ("-wal", "no log")] {
        fs::write(format!("{}{ending}", store.display()), text).expect("a file");
    }
    let mut one = Client::claude(&home, &app, "one");
    one.before_edit("src/a.rs");
    one.before_edit("src/b.rs");
    let outage = heard(&home, "outage");
    assert!(text(&outage, "text").starts_with("edits are not checked: "), "{outage}");
    is_told(&home, &home.repository("other", &[("x.rs", "\n")]), "outage", 1);
}

#[test]
fn a_command_that_fails_or_is_missing_breaks_nothing_and_the_doctor_says_so() {
    for (line, how) in [("exit 3", "exit status: 3"), ("no-such-program --now", "exit status: 127")] {
        let home = home();
        configure(&home, line);
        let app = app(&home);
        let ran = app.agent("root").operator(&home).ok(&["freeze", "--for", "10m", "--reason", "x"]);
        assert!(ran["notices"].as_array().is_some_and(Vec::is_empty), "{ran}");
        let said = eventually("what the doctor says", || {
            let doctor = app.clearway().ok(&["doctor"]);
            let checks = list(&doctor, "checks").iter().filter(|check| check["about"] == "notify");
            checks.map(|check| text(check, "text").to_owned()).find(|said| said.contains("exit status"))
        });
        assert!(said.contains(how), "{said}");
    }
}

/// The note is ours alone, whatever lies in its place.
#[test]
fn how_the_command_ended_is_noted_privately_and_through_no_link() {
    let home = home();
    configure(&home, "exit 3");
    let app = app(&home);
    app.grant("ada", &["docs/"]);
    let (note, elsewhere) = (home.path().join("run/clearway/notified"), home.path().join("elsewhere"));
    fs::write(&elsewhere, "theirs\n").expect("a file");
    std::os::unix::fs::symlink(&elsewhere, &note).expect("a link");
    app.agent("root").operator(&home).ok(&["freeze", "--for", "10m", "--reason", "x"]);
    until("it is noted", || fs::read_to_string(&note).is_ok_and(|text| text.contains("exit status: 3")));
    let file = fs::symlink_metadata(&note).expect("a file");
    assert!(file.is_file() && file.permissions().mode() & 0o077 == 0, "{file:?}");
    assert_eq!(fs::read_to_string(&elsewhere).expect("a file"), "theirs\n");
}

/// Nobody waits for it: not the hook, and not whoever reads the hook's output to its end.
#[test]
fn a_command_that_hangs_holds_up_nobody_and_has_nothing_of_the_callers() {
    let home = home();
    let (begun, go) = (home.path().join("begun"), home.path().join("go"));
    let line = format!(
        "env > {0}.env; ls -l /proc/self/fd > {0}.fds; pwd > {0}; \
         while [ ! -e {1} ]; do sleep 0.05; done; cat > {0}.read",
        begun.display(),
        go.display()
    );
    configure(&home, &line);
    let app = app(&home);
    app.grant("otter", &["src/a.rs"]);
    let mut one = Client::claude(&home, &app, "one");
    for _ in 0..6 {
        one.before_edit("src/a.rs").denied();
    }
    eventually("it runs", || fs::read_to_string(&begun).ok().filter(|text| text.ends_with('\n')));
    assert_eq!(fs::read_to_string(&begun).expect("a file"), "/\n", "not in the repository");
    let read =
        |ending: &str| fs::read_to_string(home.path().join(format!("begun.{ending}"))).expect("a file");
    assert!(!read("env").contains("CLAUDE_CODE_SESSION_ID="), "it is not the agent: {}", read("env"));
    assert!(!read("fds").contains("client-one"), "{}", read("fds"));
    one.before_edit("src/b.rs").silent();
    fs::write(&go, "").expect("a file");
    until("it was told all the same", || {
        home.path().join("begun.read").metadata().is_ok_and(|file| file.len() > 0)
    });
}

#[test]
fn only_the_user_says_what_is_run_and_it_is_shown() {
    let home = home();
    listen(&home);
    let app = app(&home);
    let shown = app.clearway().ok(&["config", "show"]);
    let row = list(&shown, "settings").iter().find(|row| row["key"] == "notify.command").expect("a row");
    assert!(text(row, "value").starts_with("cat >> "), "{row}");
    assert!(text(row, "source").contains("config.toml:2"), "{row}");
    app.write(".clearway.toml", "[notify]\ncommand = \"touch stolen\"\n");
    app.clearway().fails("config-unsafe", 78, &["reserve", "src/a.rs"]);
    assert!(!app.path().join("stolen").exists());
    fs::remove_file(app.path().join(".clearway.toml")).expect("a file");
    configure(&home, " ");
    app.clearway().fails("config-bad-value", 78, &["config", "show"]);
}
