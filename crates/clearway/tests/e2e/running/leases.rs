//! What a command runs under is kept for as long as it runs.

use super::{Diary, ended, is_alive, signal, under_build};
use crate::{home, text};
use clearway_testkit::eventually;

#[test]
fn a_lease_is_renewed_for_as_long_as_its_command_runs() {
    let home = home();
    let (repository, diary) = (home.repository("app", &[]), Diary::new(&home));
    let holder = under_build(&repository, &diary, &["--ttl", "1s"]);
    diary.expect("begin", 1);
    // Eight renewals of a lease that allows a second take it well past that second.
    eventually("renewals", || {
        let kinds = repository.kinds();
        (kinds.iter().filter(|kind| *kind == "lease.renewed").count() >= 8).then_some(())
    });
    repository.blockers("bob", &["--kind", "name", "build"]);
    diary.let_go();
    ended(holder, 0);
    repository.grant("bob", &["--kind", "name", "build"]);
}

#[test]
fn stopped_for_too_long_it_learns_that_the_lease_is_lost_and_ends_the_command() {
    let home = home();
    let (repository, diary) = (home.repository("app", &[]), Diary::new(&home));
    let holder = under_build(&repository, &diary, &["--ttl", "1s"]);
    let command = diary.expect("begin", 1).remove(0);
    signal(holder.id(), "STOP");
    eventually("bob gets it", || {
        (repository.agent("bob").json(&["reserve", "--kind", "name", "build"]).code() == 0).then_some(())
    });
    assert!(is_alive(&command), "nobody told it yet");
    signal(holder.id(), "CONT");
    let said = ended(holder, 124);
    assert!(said.contains("error[lease-lost]") && said.contains("bob holds it now"), "{said}");
    assert!(!is_alive(&command));
    assert_eq!(diary.lines("end").len(), 0, "it was ended");
}

#[test]
fn a_command_that_does_not_want_to_end_is_ended() {
    let home = home();
    let (repository, diary) = (home.repository("app", &[]), Diary::new(&home));
    let script =
        r#"trap 'echo asked >> "$LOG"' TERM; echo "begin $$" >> "$LOG"; while :; do sleep 0.01; done"#;
    let words = ["with", "build", "--ttl", "1s", "--", "sh", "-c", script];
    let holder = diary.told(repository.agent("ada")).spawn(&words);
    let command = diary.expect("begin", 1).remove(0);
    signal(holder.id(), "STOP");
    eventually("bob gets it", || {
        (repository.agent("bob").json(&["reserve", "--kind", "name", "build"]).code() == 0).then_some(())
    });
    signal(holder.id(), "CONT");
    let said = ended(holder, 124);
    assert!(said.contains("has expired"), "{said}");
    assert_eq!((diary.lines("asked").len(), is_alive(&command)), (1, false));
}

#[test]
fn what_a_running_command_keeps_is_given_back_by_its_end_alone() {
    let home = home();
    let (repository, diary) = (home.repository("app", &[]), Diary::new(&home));
    repository.grant("bob", &["docs/"]);
    let holder = under_build(&repository, &diary, &[]);
    diary.expect("begin", 1);
    let id =
        text(&repository.clearway().ok(&["leases", "--agent-name", "ada"])["leases"][0], "id").to_owned();
    let kill = format!("kill {}", holder.id());
    for words in [
        &["release", &id][..],
        &["release", "--kind", "name", "build"],
        &["transfer", &id, "--to", "bob"],
        &["transfer", "--kind", "name", "build", "--to", "bob"],
    ] {
        let error = repository.agent("ada").fails("held-by-command", 3, words);
        let message = text(&error, "message").to_owned();
        assert!(message.contains(&format!("process {}: sh …", holder.id())), "{message}");
        assert!(error["hints"].to_string().contains(&kill), "{error:#}");
    }
    let as_path = repository.agent("ada").run(&["release", "build"]).expect(0);
    assert!(as_path.stderr().contains("build is held as a name: add --kind name"), "{}", as_path.stderr());
    for words in [&["release", "--all"][..], &["transfer", "--all", "--to", "bob"]] {
        let left = repository.agent("ada").ok(words);
        let notice = &left["notices"][0];
        assert_eq!(
            (text(notice, "code"), text(notice, "lease")),
            ("kept-by-command", id.as_str()),
            "{left:#}"
        );
        assert!(text(notice, "message").contains(&kill), "{left:#}");
    }
    let terse = repository.agent("ada").run(&["status"]).expect(0).stdout();
    assert!(terse.contains("build") && !terse.contains("release"), "{terse}");
    repository.agent("ada").ok(&["renew", "--kind", "name", "build"]);
    repository.agent("bob").run(&["with", "build", "--", "true"]).expect(125);
    signal(holder.id(), "TERM");
    ended(holder, 143);
    assert_eq!(repository.agent("ada").ok(&["release", &id])["already_released"], serde_json::json!([id]));
    repository.agent("bob").run(&["with", "build", "--", "true"]).expect(0);
}

/// Nobody knows when a command ends, and its lease does not run out while it runs.
#[test]
fn what_a_command_holds_is_said_to_be_free_when_it_ends() {
    let home = home();
    let (repository, diary) = (home.repository("app", &[]), Diary::new(&home));
    let holder = under_build(&repository, &diary, &[]);
    diary.expect("begin", 1);
    let error = repository.agent("bob").fails("reservation-held", 1, &["reserve", "--kind", "name", "build"]);
    let message = text(&error, "message").to_owned();
    assert!(message.contains("free when its command ends") && !message.contains("free in"), "{message}");
    assert!(error["retry"]["ms"].as_u64().is_some_and(|ms| ms <= 5_000), "{error:#}");
    let said = repository.agent("bob").run(&["reserve", "--kind", "name", "build"]).expect(1).stderr();
    assert!(said.contains("until its command ends, process") && !said.contains("sign of life"), "{said}");
    diary.let_go();
    ended(holder, 0);
}
