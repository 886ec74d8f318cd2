//! `with`: a command under named leases, as real processes live and die.

use crate::{app, home, list, text};
use clearway_testkit::{Clearway, Home, Repository, Terminal, eventually};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// Says who it is, waits for the file named in GO, and says that it ends.
const WAITS_FOR_GO: &str = r#"echo "begin $$" >> "$LOG"
until [ -e "$GO" ]; do sleep 0.01; done
echo "end $$" >> "$LOG""#;

/// A place where commands write down what they do.
struct Diary {
    log: PathBuf,
    go: PathBuf,
}

impl Diary {
    fn new(home: &Home) -> Self {
        Self { log: home.path().join("log"), go: home.path().join("go") }
    }

    fn told(&self, clearway: Clearway) -> Clearway {
        clearway.env("LOG", &self.log).env("GO", &self.go)
    }

    fn let_go(&self) {
        std::fs::write(&self.go, "").expect("a file");
    }

    fn text(&self) -> String {
        std::fs::read_to_string(&self.log).unwrap_or_default()
    }

    fn lines(&self, word: &str) -> Vec<String> {
        let text = self.text();
        let lines = text.lines().filter_map(|line| line.strip_prefix(word));
        lines.map(|rest| rest.trim().to_owned()).collect()
    }

    /// Waits until so many lines begin with this word: what follows it there.
    #[track_caller]
    fn expect(&self, word: &str, count: usize) -> Vec<String> {
        eventually(&format!("{count} times {word}"), || {
            Some(self.lines(word)).filter(|lines| lines.len() >= count)
        })
    }
}

/// No command outlives a test that failed.
impl Drop for Diary {
    fn drop(&mut self) {
        self.let_go();
    }
}

fn signal(pid: impl std::fmt::Display, name: &str) {
    let sent = Command::new("kill").args([&format!("-{name}"), &pid.to_string()]).status();
    assert!(sent.is_ok_and(|status| status.success()), "kill -{name} {pid}");
}

/// A command under `build` that runs until it is let go.
fn under_build(repository: &Repository<'_>, diary: &Diary, flags: &[&str]) -> Child {
    let words = [&["with", "build"], flags, &["--", "sh", "-c", WAITS_FOR_GO]].concat();
    diary.told(repository.agent("ada")).spawn(&words)
}

#[track_caller]
fn ended(child: Child, code: i32) -> String {
    let output = child.wait_with_output().expect("it ends");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(code), "{:?}: {said}", output.status);
    said
}

fn is_alive(pid: &str) -> bool {
    let stat = std::fs::read_to_string(Path::new("/proc").join(pid).join("stat")).unwrap_or_default();
    let state = stat.rsplit_once(") ").and_then(|(_, rest)| rest.chars().next());
    state.is_some_and(|state| state != 'Z')
}

#[test]
fn never_more_than_the_capacity_of_a_machine_wide_resource_run_at_once() {
    let home = home();
    home.user_config("[resources]\nbuild = { capacity = 2, scope = \"machine\" }\n");
    let repositories = ["one", "two", "three"].map(|name| home.repository(name, &[]));
    let diary = Diary::new(&home);
    let script =
        r#"echo "begin $$ $CLEARWAY_SLOT_BUILD" >> "$LOG"; sleep 0.02; echo "end $$" >> "$LOG"; exit $CODE"#;
    let contenders: Vec<(i32, Child)> = (0..20)
        .map(|at| {
            let code = at % 3;
            let clearway = repositories[at as usize % 3].agent(&format!("agent-{}", at % 5));
            let clearway = diary.told(clearway).env("CODE", code.to_string());
            (code, clearway.spawn(&["with", "build", "--wait", "5m", "--", "sh", "-c", script]))
        })
        .collect();
    for (code, child) in contenders {
        assert_eq!(ended(child, code), "", "nothing is said where nobody looks");
    }
    let mut running = BTreeMap::new();
    for line in diary.text().lines() {
        match line.split(' ').collect::<Vec<_>>().as_slice() {
            ["begin", pid, slot] => drop(running.insert((*pid).to_owned(), (*slot).to_owned())),
            ["end", pid] => drop(running.remove(*pid).expect("it began")),
            other => panic!("{other:?}"),
        }
        let slots: BTreeSet<&String> = running.values().collect();
        assert!(running.len() <= 2 && slots.len() == running.len(), "{}", diary.text());
    }
    assert_eq!((diary.lines("begin").len(), diary.lines("end").len()), (20, 20));
    let left = repositories[0].clearway().args(&["--scope", "machine"]).ok(&["leases"]);
    assert_eq!(left["leases"].as_array().map(Vec::len), Some(0), "{left}");
}

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
fn the_exit_code_is_the_command_s() {
    let home = home();
    let repository = home.repository("app", &[]);
    for (script, code) in [("exit 0", 0), ("exit 7", 7), ("kill -TERM $$", 143), ("kill -KILL $$", 137)] {
        let ran = repository.agent("ada").run(&["with", "build", "--", "sh", "-c", script]).expect(code);
        assert_eq!((ran.stdout(), ran.stderr()), (String::new(), String::new()), "{script}");
    }
    assert_eq!(repository.kinds().iter().filter(|kind| *kind == "lease.released").count(), 4);
}

#[test]
fn a_held_name_is_refused_in_a_way_that_no_command_answers() {
    let home = home();
    let (repository, diary) = (home.repository("app", &[]), Diary::new(&home));
    let holder = under_build(&repository, &diary, &["--reason", "the nightly one"]);
    diary.expect("begin", 1);
    for flags in [&[][..], &["--wait", "200ms"]] {
        let words = [&["with", "build"], flags, &["--", "echo", "ran"]].concat();
        let ran = repository.agent("bob").json(&words).expect(125);
        assert_eq!(ran.stdout(), "", "standard output is the command's");
        let said: serde_json::Value = serde_json::from_str(&ran.stderr()).expect("one JSON document");
        assert_eq!(text(&said["error"], "slug"), "reservation-held");
        assert!(said["error"]["hints"].to_string().contains("--wait"), "{said}");
        assert_eq!(repository.clearway().ok(&["waits"])["waits"].as_array().map(Vec::len), Some(0));
    }
    let told = repository.agent("bob").run(&["with", "build", "--", "echo", "ran"]).expect(125).stderr();
    assert!(
        told.contains("the nightly one") && told.contains("clearway --agent bob who --kind name build"),
        "{told}"
    );
    diary.let_go();
    ended(holder, 0);
}

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
fn holders_of_a_range_are_told_different_numbers() {
    let home = home();
    let (repository, diary) = (home.repository("app", &[]), Diary::new(&home));
    repository.write(".clearway.toml", "[resources]\n\"port:3000-3002\" = 3\nbuild = 2\n");
    let script = r#"echo "number $CLEARWAY_NUMBER_PORT $CLEARWAY_SLOT_PORT $CLEARWAY_SLOT_BUILD $CLEARWAY_LEASES" >> "$LOG"
until [ -e "$GO" ]; do sleep 0.01; done"#;
    let start = |words: &[&str]| {
        let words = [&["with"], words, &["--", "sh", "-c", script]].concat();
        diary.told(repository.agent("ada")).spawn(&words)
    };
    let mut holders = vec![start(&["port"]), start(&["port:3000-3002", "build"]), start(&["port"])];
    diary.expect("number", 3);
    let mut told: Vec<Vec<String>> =
        diary.lines("number").iter().map(|line| line.split(' ').map(str::to_owned).collect()).collect();
    told.sort();
    let numbers: Vec<(&str, &str)> = told.iter().map(|told| (&*told[0], &*told[1])).collect();
    assert_eq!(numbers, [("3000", "0"), ("3001", "1"), ("3002", "2")]);
    repository.agent("bob").run(&["with", "port", "--", "true"]).expect(125);
    diary.let_go();
    holders.drain(..).for_each(|holder| drop(ended(holder, 0)));
    let leases = repository.clearway().ok(&["leases", "--history"]);
    let mut known: Vec<String> = leases["leases"].as_array().expect("a list").iter().map(as_named).collect();
    let mut named: Vec<String> = told.iter().flatten().filter(|word| word.contains('@')).cloned().collect();
    known.sort();
    named.sort();
    assert_eq!(named, known, "CLEARWAY_LEASES names exactly what was held");
}

fn as_named(lease: &serde_json::Value) -> String {
    format!("{}@{}", text(lease, "id"), lease["fence"])
}

#[test]
fn a_command_inside_a_command_takes_more_but_never_waits_for_itself() {
    let home = home();
    let repository = home.repository("app", &[]);
    let line = |inner: &str| {
        let line = format!("export CLEARWAY_AGENT=ada; clearway with build -- clearway with {inner}");
        home.shell(repository.path(), &line).output().expect("a shell")
    };
    let ran = line("test --wait 5m -- echo ran");
    assert_eq!((ran.status.code(), ran.stdout), (Some(0), b"ran\n".to_vec()));
    let refused = line("build --wait 5m -- echo ran");
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert_eq!((refused.status.code(), refused.stdout), (Some(125), Vec::new()), "{said}");
    assert!(said.contains("error[would-deadlock]"), "{said}");
}

#[test]
fn inside_a_command_nobody_waits_for_what_it_holds() {
    let home = home();
    let repository = home.repository("app", &[]);
    let inside = |inner: &str| {
        let line = format!("export CLEARWAY_AGENT=ada; clearway with build -- clearway {inner}");
        home.shell(repository.path(), &line).output().expect("a shell")
    };
    for (inner, code) in [
        ("reserve --kind name build", 1),
        ("reserve --wait 5m --kind name build", 1),
        ("reserve --queue --kind name build", 1),
        ("reserve --queue --kind name build other", 1),
        ("--agent bob reserve --queue --kind name build", 1),
        ("with build -- true", 125),
    ] {
        let refused = inside(inner);
        let said = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert_eq!(refused.status.code(), Some(code), "{inner}: {said}");
        assert!(
            said.contains("error[would-deadlock]") && said.contains("run it as it is"),
            "{inner}: {said}"
        );
        assert!(!said.contains("--wait"), "{inner}: {said}");
        repository.agent("bob").run(&["with", "build", "--", "true"]).expect(0);
    }
    repository.write(".clearway.toml", "[resources]\nbuild = 2\n");
    assert_eq!(
        inside("reserve --queue --kind name build").status.code(),
        Some(0),
        "there is room for another"
    );
}

#[test]
fn a_command_takes_the_turn_that_is_kept_for_its_agent() {
    let home = home();
    let repository = home.repository("app", &[]);
    repository.grant("alice", &["--kind", "name", "build"]);
    for agent in ["ada", "bob"] {
        repository.agent(agent).ok(&["reserve", "--queue", "--kind", "name", "build"]);
    }
    repository.agent("alice").ok(&["release", "--all"]);
    repository.agent("bob").run(&["with", "build", "--", "true"]).expect(125);
    repository.agent("ada").run(&["with", "build", "--", "true"]).expect(0);
    repository.agent("bob").run(&["with", "build", "--wait", "5m", "--", "true"]).expect(0);
    assert!(list(&repository.clearway().ok(&["waits"]), "waits").is_empty());
}

#[test]
fn commands_of_one_agent_take_turns() {
    let home = home();
    let (repository, diary) = (home.repository("app", &[]), Diary::new(&home));
    diary.let_go();
    let commands: Vec<Child> = (0..4).map(|_| under_build(&repository, &diary, &["--wait", "5m"])).collect();
    commands.into_iter().for_each(|command| drop(ended(command, 0)));
    let words: Vec<String> =
        diary.text().lines().filter_map(|line| line.split(' ').next()).map(str::to_owned).collect();
    assert_eq!(words, ["begin", "end"].repeat(4));
}

#[test]
fn what_the_agent_holds_itself_lets_one_command_in_and_stays_its_own() {
    let home = home();
    let (repository, diary) = (home.repository("app", &[]), Diary::new(&home));
    let own = repository.grant("ada", &["--kind", "name", "build"]);
    let holder = under_build(&repository, &diary, &[]);
    diary.expect("begin", 1);
    for agent in ["ada", "bob"] {
        repository.agent(agent).run(&["with", "build", "--", "true"]).expect(125);
    }
    let given = repository.agent("ada").ok(&["release", "--all"]);
    assert_eq!(given["released"], serde_json::json!([own["id"]]));
    assert_eq!(given["notices"][0]["code"], "kept-by-command", "{given:#}");
    repository.agent("bob").run(&["with", "build", "--", "true"]).expect(125);
    diary.let_go();
    ended(holder, 0);
    repository.agent("bob").run(&["with", "build", "--", "true"]).expect(0);
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

/// Nobody is told to give back what cannot be given back.
#[test]
fn who_would_wait_for_ever_is_told_what_can_be_done_about_it() {
    let home = home();
    let (repository, diary) = (home.repository("app", &[]), Diary::new(&home));
    repository.grant("bob", &["docs/"]);
    let holder = under_build(&repository, &diary, &[]);
    diary.expect("begin", 1);
    repository.agent("bob").ok(&["reserve", "--queue", "--kind", "name", "build"]);
    let error = repository.agent("ada").fails("would-deadlock", 1, &["reserve", "--queue", "docs/"]);
    assert!(error["hints"].to_string().contains("if bob gives back docs/"), "{error:#}");
    assert!(!error["hints"].to_string().contains("release"), "{error:#}");
    diary.let_go();
    ended(holder, 0);
}

#[test]
fn the_command_gets_its_streams_its_directory_its_arguments_and_nothing_else() {
    use std::os::unix::ffi::OsStrExt;
    let home = home();
    let repository = home.repository("app", &[("sub/x", "")]);
    let open = ["with", "build", "--", "ls", "/proc/self/fd"];
    let bare = home.shell(repository.path(), "exec ls /proc/self/fd").output().expect("a shell");
    let ran = repository.agent("ada").run(&open).expect(0);
    assert_eq!(ran.stdout(), String::from_utf8_lossy(&bare.stdout), "no file of ours is left open for it");
    let line = "printf hello | clearway --agent ada -C sub with build -- sh -c 'cat; pwd; echo oops >&2'";
    let output = home.shell(repository.path(), line).output().expect("a shell");
    let place = repository.path().join("sub");
    assert_eq!(String::from_utf8_lossy(&output.stdout), format!("hello{}\n", place.display()));
    assert_eq!(output.stderr, b"oops\n");
    let mut raw = repository.agent("ada").args(&["with", "build", "--", "printf", "%s|"]).into_command();
    raw.args([std::ffi::OsStr::from_bytes(b"\xff"), "--json".as_ref(), "--".as_ref(), "".as_ref()]);
    assert_eq!(raw.output().expect("it runs").stdout, b"\xff|--json|--||");
}

/// A file with the permission to be run.
fn executable(repository: &Repository<'_>, name: &str, bytes: &[u8]) {
    let path = repository.path().join(name);
    std::fs::write(&path, bytes).expect("a file");
    std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o755))
        .expect("permissions");
}

/// What is said, in both forms, of a file that `with` cannot run. Standard output is left to the command.
#[track_caller]
fn refused_beside_command(repository: &Repository<'_>, slug: &str, code: i32, file: &str) -> Value {
    let ran = repository.agent("ada").run(&["with", "build", "--", file]).expect(code);
    assert!(ran.stderr().starts_with(&format!("error[{slug}]")), "{}", ran.stderr());
    let ran = repository.agent("ada").run(&["--json", "with", "build", "--", file]).expect(code);
    assert_eq!(ran.stdout(), "");
    let said: Value = serde_json::from_str(&ran.stderr()).expect("JSON");
    assert_eq!(said["error"]["slug"], slug, "{said:#}");
    assert!(!list(&said["error"], "hints").is_empty(), "{said:#}");
    said["error"].clone()
}

#[test]
fn a_file_that_nothing_can_read_is_told_before_anything_is_held() {
    let home = home();
    let repository = app(&home);
    executable(&repository, "bare", b"echo hi\n");
    executable(&repository, "orphan", b"#!/nowhere/sh\necho hi\n");
    executable(&repository, "misread", b"#!/etc/passwd\n");
    for (slug, code, word, said) in [
        ("command-not-executable", 126, "./bare", "does not say what reads it"),
        ("command-not-executable", 126, "./src", "a directory"),
        ("command-not-found", 127, "./orphan", "\"/nowhere/sh\", which is nowhere"),
        ("command-not-executable", 126, "./misread", "\"/etc/passwd\", which cannot be run"),
    ] {
        let error = refused_beside_command(&repository, slug, code, word);
        assert!(text(&error, "message").contains(said), "{error:#}");
    }
    assert!(home.state_files().is_empty(), "nothing was reserved");
    let ran = repository.agent("ada").run(&["with", "build", "--", "sh", "./bare"]).expect(0);
    assert_eq!(ran.stdout(), "hi\n", "the hint works");
}

/// Only the kernel can tell that a program cannot be begun; its word is an error like any other, and the name is free.
#[test]
fn a_program_that_the_kernel_refuses_is_told_like_any_other_and_leaves_nothing_held() {
    let home = home();
    let repository = app(&home);
    let mut program = std::fs::read("/bin/true").expect("a program");
    let loader = program.windows(4).position(|four| four == b"/lib").expect("its loader");
    program[loader..loader + 4].copy_from_slice(b"/non");
    executable(&repository, "unloadable", &program);
    let error = refused_beside_command(&repository, "command-not-found", 127, "./unloadable");
    assert!(text(&error, "message").contains("\"./unloadable\" cannot be run"), "{error:#}");
    assert!(list(&repository.clearway().ok(&["leases"]), "leases").is_empty());
    let own = repository.agent("ada").run(&["with", "build", "--", "sh", "-c", "exit 127"]).expect(127);
    assert_eq!(own.stderr(), "", "a code of the command's own is no mishap");
}

/// Whether a command was begun is between us and our second start: no socket is there that others could talk to.
#[test]
fn nobody_else_can_say_that_a_command_was_not_begun() {
    let home = home();
    let repository = app(&home);
    let named_sockets_of_parent = r"for file in /proc/$PPID/fd/*; do
        inode=$(readlink $file | sed -n 's/^socket:\[\(.*\)\]$/\1/p')
        awk -v inode=${inode:-none} '$7 == inode && NF > 7' /proc/net/unix
    done; echo ran";
    let words = ["with", "build", "--", "sh", "-c", named_sockets_of_parent];
    assert_eq!(repository.agent("ada").run(&words).expect(0).stdout(), "ran\n");
}

/// A directory that went away while the turn was waited for is no missing command.
#[test]
fn what_keeps_a_command_from_being_started_is_not_blamed_on_the_command() {
    let home = home();
    let repository = home.repository("app", &[("sub/x", "")]);
    repository.grant("bob", &["--kind", "name", "build"]);
    let waiting = repository.agent("ada").args(&["-C", "sub"]);
    let waiting = waiting.spawn(&["with", "build", "--wait", "5m", "--", "true"]);
    eventually("a place in the queue", || {
        let queue = repository.clearway().ok(&["waits"]);
        (!list(&queue, "waits").is_empty()).then_some(())
    });
    std::fs::remove_dir_all(repository.path().join("sub")).expect("a directory");
    repository.agent("bob").ok(&["release", "--all"]);
    let said = ended(waiting, 126);
    assert!(said.starts_with("error[command-not-executable]: the command cannot be started"), "{said}");
    assert!(list(&repository.clearway().ok(&["leases"]), "leases").is_empty());
}

#[test]
fn what_cannot_be_run_is_told_before_anything_is_held() {
    let home = home();
    let repository = home.repository("app", &[("script", "echo\n")]);
    let fails = |slug: &str, code: i32, words: &[&str]| {
        let ran = repository.agent("ada").run(words).expect(code);
        assert!(ran.stderr().contains(&format!("error[{slug}]")), "{words:?}: {}", ran.stderr());
        assert_eq!(ran.stdout(), "", "{words:?}");
        ran.stderr()
    };
    fails("command-not-found", 127, &["with", "build", "--", "no-such-command"]);
    fails("command-not-found", 127, &["with", "build", "--", ""]);
    fails("command-not-executable", 126, &["with", "build", "--", "./script"]);
    fails("command-not-executable", 126, &["with", "build", "--", "./"]);
    let said = fails("usage", 2, &["with", "build"]);
    assert!(said.contains("clearway --agent ada with NAME -- CMD"), "{said}");
    fails("usage", 2, &["with", "--", "true"]);
    fails("usage", 2, &["with", "build", "true"]);
    fails("usage", 2, &["with", "a-b", "a_b", "--", "true"]);
    fails("usage", 2, &["--idempotency-key", "k", "with", "build", "--", "true"]);
    fails("invalid-name", 2, &["with", "", "--", "true"]);
    let soon = fails("invalid-duration", 2, &["with", "build", "--wait", "soon", "--", "true"]);
    assert!(soon.contains("clearway --agent ada with NAME --wait 5m -- CMD"), "{soon}");
    let never = fails("invalid-duration", 2, &["with", "build", "--wait", "0", "--", "true"]);
    assert!(never.contains("had at once or not at all") && !never.contains("--queue"), "{never}");
    let taken = fails("usage", 2, &["with", "--wait", "build", "--", "true"]);
    assert!(taken.contains("clearway --agent ada with build --wait 5m -- CMD"), "{taken}");
    fails("invalid-duration", 2, &["with", "build", "--ttl", "0", "--", "true"]);
    repository.write(".clearway.toml", "[resources]\n\"port:1-2\" = 2\n\"port:5-9\" = 2\n");
    let said = fails("usage", 2, &["with", "port", "--", "true"]);
    assert!(said.contains("port:1-2, port:5-9"), "{said}");
    repository.write(".clearway.toml", "[resources]\nbuild = 0\n");
    fails("config-bad-value", 78, &["with", "build", "--", "true"]);
    repository.write(".clearway.toml", "");
    assert_eq!(repository.clearway().ok(&["agents"])["agents"].as_array().map(Vec::len), Some(0));
}

#[test]
fn a_path_is_not_taken_for_a_name() {
    let home = home();
    let repository =
        home.repository("app", &[("src/main.rs", ""), ("build/x", ""), ("deploy", ""), ("a.sql", "")]);
    for path in ["src/main.rs", "./src/main.rs", "src/new.rs", "build/", "build/x", "a.sql"] {
        let ran = repository.agent("ada").run(&["with", path, "--", "echo", "ran"]).expect(2);
        assert!(ran.stderr().contains("error[invalid-name]") && ran.stdout().is_empty(), "{}", ran.stderr());
        assert!(ran.stderr().contains(&format!("clearway --agent ada reserve {path}")), "{}", ran.stderr());
    }
    for path in ["/etc/passwd", "../app", "."] {
        let ran = repository.agent("ada").run(&["with", path, "--", "echo", "ran"]).expect(2);
        assert!(ran.stderr().contains("choose a name such as build"), "{}", ran.stderr());
    }
    assert!(home.state_files().is_empty(), "nothing was reserved");
    for name in ["build", "deploy", "db:migrate", "team/build", "git-index:/w/x", "v1.2"] {
        repository.agent("ada").run(&["with", name, "--", "true"]).expect(0);
    }
    repository.write(".clearway.toml", "[resources]\n\"src/main.rs\" = 1\n");
    repository.agent("ada").run(&["with", "src/main.rs", "--", "true"]).expect(0);
}

#[test]
fn shared_holders_run_together_and_keep_an_exclusive_one_out() {
    let home = home();
    let (repository, diary) = (home.repository("app", &[]), Diary::new(&home));
    let holders = [0, 1].map(|_| under_build(&repository, &diary, &["--shared"]));
    diary.expect("begin", 2);
    repository.agent("bob").run(&["with", "build", "--", "true"]).expect(125);
    repository.agent("bob").run(&["with", "build", "--shared", "--", "true"]).expect(0);
    diary.let_go();
    holders.into_iter().for_each(|holder| drop(ended(holder, 0)));
}

#[test]
fn with_a_bare_wait_a_command_waits_as_long_as_its_client_allows() {
    let home = home();
    let repository = home.repository("app", &[]);
    repository.grant("alice", &["--kind", "name", "build"]);
    let words = ["with", "build", "--wait", "--", "sh", "-c", "echo ran"];
    let waiting = repository.agent("bob").spawn(&words);
    eventually("it waits", || repository.clearway().ok(&["waits"])["waits"].get(0).cloned());
    repository.agent("alice").ok(&["release", "--all"]);
    let output = waiting.wait_with_output().expect("it ends");
    assert_eq!((output.status.code(), String::from_utf8_lossy(&output.stdout).trim()), (Some(0), "ran"));
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
