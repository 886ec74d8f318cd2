//! Signals and deaths: a command and whoever runs it go together.

use super::{Diary, WAITS_FOR_GO, ended, is_alive, signal, under_build};
use crate::{home, list, text};
use clearway_testkit::{Terminal, eventually};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::Stdio;

#[test]
fn killed_without_warning_it_takes_its_command_along_and_the_next_one_gets_the_turn() {
    let home = home();
    let (repository, diary) = (home.repository("app", &[]), Diary::new(&home));
    let mut first = under_build(&repository, &diary, &[]);
    let command = diary.expect("begin", 1).remove(0);
    let second = under_build(&repository, &diary, &["--wait", "5m"]);
    eventually("the second one waits", || {
        let waits = repository.clearway().ok(&["waits"]);
        waits["waits"].get(0).is_some().then_some(())
    });
    first.kill().expect("it lives");
    first.wait().expect("it was ours");
    diary.expect("begin", 2);
    eventually("the command of the killed one is gone", || (!is_alive(&command)).then_some(()));
    diary.let_go();
    ended(second, 0);
    assert_eq!(diary.lines("end").len(), 1, "the first one never came to its end");
    assert!(repository.kinds().contains(&"lease.expired".to_owned()), "{:?}", repository.kinds());
}

#[test]
fn killed_without_warning_it_is_over_for_everyone_who_looks_and_a_sweep_records_it() {
    let home = home();
    let (repository, diary) = (home.repository("app", &[]), Diary::new(&home));
    let mut holder = under_build(&repository, &diary, &[]);
    diary.expect("begin", 1);
    let look = |words: &[&str], field: &str| list(&repository.agent("bob").ok(words), field).len();
    let looks = || {
        let who = look(&["who", "--kind", "name", "build"], "holders");
        (who, look(&["leases"], "leases"), look(&["status"], "leases"))
    };
    assert_eq!((looks(), look(&["sweep"], "expired")), ((1, 1, 1), 0), "it lives");
    let id = text(&repository.clearway().ok(&["leases"])["leases"][0], "id").to_owned();
    holder.kill().expect("it lives");
    holder.wait().expect("it was ours");
    assert_eq!(looks(), (0, 0, 0));
    assert_eq!(repository.agent("bob").ok(&["check", "--kind", "name", "build"])["clear"], true);
    let agents = repository.clearway().ok(&["agents"]);
    assert!(list(&agents, "agents").iter().all(|agent| agent["leases"] == 0), "{agents:#}");
    let own = repository.agent("ada").ok(&["status"]);
    assert!(list(&own, "leases").is_empty(), "{own:#}");
    for (words, expired) in [
        (&["sweep", "--dry-run"][..], std::slice::from_ref(&id)),
        (&["sweep"], std::slice::from_ref(&id)),
        (&["sweep"], &[]),
    ] {
        assert_eq!(repository.clearway().ok(words)["expired"], serde_json::json!(expired), "{words:?}");
    }
    let ended = repository.clearway().ok(&["leases", "--history"])["leases"][0].clone();
    assert_eq!((text(&ended, "id"), text(&ended, "ended_how")), (id.as_str(), "process-gone"));
}

#[test]
fn killed_without_warning_it_leaves_nothing_that_can_be_renewed() {
    let home = home();
    let (repository, diary) = (home.repository("app", &[]), Diary::new(&home));
    let mut holder = under_build(&repository, &diary, &[]);
    diary.expect("begin", 1);
    let id = text(&repository.clearway().ok(&["leases"])["leases"][0], "id").to_owned();
    repository.agent("ada").ok(&["renew", &id]);
    holder.kill().expect("it lives");
    holder.wait().expect("it was ours");
    repository.agent("ada").fails("lease-expired", 4, &["renew", &id]);
    assert!(list(&repository.agent("ada").ok(&["renew"]), "leases").is_empty());
}

#[test]
fn a_signal_that_is_sent_to_it_reaches_the_command_once() {
    let home = home();
    let (repository, diary) = (home.repository("app", &[]), Diary::new(&home));
    let script = r#"for name in HUP INT QUIT TERM USR1 USR2; do trap "echo got $name >> $LOG" $name; done
echo "begin $$" >> "$LOG"
until [ -e "$GO" ]; do sleep 0.01; done; exit 9"#;
    let child = diary.told(repository.agent("ada")).spawn(&["with", "build", "--", "sh", "-c", script]);
    diary.expect("begin", 1);
    let names = ["HUP", "INT", "QUIT", "TERM", "USR1", "USR2"];
    for (at, name) in names.iter().enumerate() {
        signal(child.id(), name);
        assert_eq!(diary.expect("got", at + 1), names[..=at], "each once and in order");
    }
    diary.let_go();
    ended(child, 9);
    assert_eq!(diary.lines("got"), names);
}

/// The command leaves the terminal here, so whatever reaches it was passed on.
#[test]
fn what_a_terminal_sends_to_everyone_is_not_passed_on() {
    let home = home();
    let (repository, diary) = (home.repository("app", &[]), Diary::new(&home));
    let script = format!(
        r#"exec clearway --agent ada with build -- setsid sh -c 'for name in INT USR1; do
trap "echo got $name >> {log}" $name; done
echo begin >> {log}; until [ -e {go} ]; do sleep 0.01; done'"#,
        log = diary.log.display(),
        go = diary.go.display()
    );
    let terminal = Terminal::open();
    let mut session = home.session_shell(&terminal, repository.path(), &script);
    let child = session.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("a session");
    diary.expect("begin", 1);
    terminal.interrupt();
    signal(child.id(), "USR1");
    assert_eq!(diary.expect("got", 1), ["USR1"]);
    signal(child.id(), "INT");
    diary.expect("got", 2);
    diary.let_go();
    ended(child, 0);
    assert_eq!(diary.lines("got"), ["USR1", "INT"]);
}

#[test]
fn what_was_ignored_stays_ignored_for_the_command() {
    let home = home();
    let repository = home.repository("app", &[]);
    let line = "trap '' HUP; clearway --agent ada with build -- sh -c 'kill -HUP $$; echo survived'";
    let output = home.shell(repository.path(), line).output().expect("a shell");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "survived\n", "{output:?}");
}

#[test]
fn asked_to_stop_it_stops_with_its_command_and_both_go_on() {
    let home = home();
    let (repository, diary) = (home.repository("app", &[]), Diary::new(&home));
    // A group of its own, as a shell gives each job: without one the kernel would not stop what has no shell above it.
    let words = ["with", "build", "--", "sh", "-c", WAITS_FOR_GO];
    let mut alone = diary.told(repository.agent("ada")).args(&words).into_command();
    alone.process_group(0).stdout(Stdio::piped()).stderr(Stdio::piped());
    let holder = alone.spawn().expect("the binary starts");
    let command = diary.expect("begin", 1).remove(0);
    let is_stopped = |pid: &str| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        stat.contains(") T ")
    };
    signal(holder.id(), "TSTP");
    for pid in [holder.id().to_string(), command.clone()] {
        eventually("it stops", || is_stopped(&pid).then_some(()));
    }
    signal(holder.id(), "CONT");
    diary.let_go();
    ended(holder, 0);
    assert_eq!(diary.lines("end").len(), 1);
}

#[test]
fn sent_to_a_waiting_one_a_signal_ends_it_and_its_place() {
    let home = home();
    let (repository, diary) = (home.repository("app", &[]), Diary::new(&home));
    let holder = under_build(&repository, &diary, &[]);
    diary.expect("begin", 1);
    let mut waiting = under_build(&repository, &diary, &["--wait", "5m"]);
    eventually("it waits", || repository.clearway().ok(&["waits"])["waits"].get(0).cloned());
    signal(waiting.id(), "TERM");
    assert_eq!(waiting.wait().expect("it ends").signal(), Some(15));
    assert_eq!(repository.clearway().ok(&["waits"])["waits"].as_array().map(Vec::len), Some(0));
    diary.let_go();
    ended(holder, 0);
}
