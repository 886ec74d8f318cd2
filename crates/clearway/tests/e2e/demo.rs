//! `clearway demo`: it shows what it promises, touches nothing of the caller's, and leaves nothing behind.

use crate::{app, home, list, number, text};
use clearway_testkit::{Clearway, Home, Terminal, eventually};
use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// What each demonstration shows.
const PROMISED: [&str; 8] = [
    "ada$ clearway reserve src/parser.rs --reason \"split the lexer\"\nreserved as ada\n",
    "bob$ clearway reserve 'src/**'\nerror[reservation-held]: src/parser.rs is held by ada\n",
    "  bob waits for src/** before you\n",
    " ms after the release was typed:\nreserved as bob\n",
    "bob$ clearway transfer 'src/**' --to ada\nhanded 1 lease to ada as bob\n",
    "$ kill -9 ",
    "note: took over docs/guide.md from term-",
    "$ clearway audit verify\nthe log is whole: ",
];

fn demo(home: &Home) -> Clearway {
    home.clearway(&home.directory("anywhere"))
}

/// What lies in the place for temporary files.
fn temporary(home: &Home) -> BTreeSet<PathBuf> {
    let entries = std::fs::read_dir(home.path().join("tmp")).expect("a directory");
    entries.map(|entry| entry.expect("an entry").path()).collect()
}

/// A `git` of the test's own, for one directory of PATH.
fn fake_git(home: &Home, script: &str) -> PathBuf {
    let directory = home.directory("fake");
    let program = directory.join("git");
    std::fs::write(&program, format!("#!/bin/sh\n{script}\n")).expect("a script");
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).expect("a mode");
    directory
}

#[test]
fn every_promised_situation_is_shown_and_nothing_is_left_or_touched() {
    let home = home();
    let repository = app(&home);
    repository.grant("alice", &["src/a.rs"]);
    let before = home.state_files();
    let ran = repository.clearway().run(&["demo"]).expect(0);
    let shown = ran.stdout();
    for promised in PROMISED {
        assert!(shown.contains(promised), "{promised:?} in\n{shown}");
    }
    assert_eq!(ran.stderr(), "");
    assert!(shown.lines().all(|line| line.chars().count() <= 80), "{shown}");
    assert_eq!(temporary(&home), BTreeSet::new());
    assert_eq!(home.state_files(), before);
    let holders = repository.clearway().ok(&["agents"]);
    assert_eq!(crate::each(&holders, "agents", "name"), ["alice"]);
}

#[test]
fn slowly_it_explains_shows_more_and_without_a_terminal_waits_for_nobody() {
    let home = home();
    let mut command = demo(&home).args(&["demo", "--slow"]).into_command();
    // An input that stays open and says nothing: whoever waited for it would wait for ever.
    let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let mut child = child.expect("the binary starts");
    let silent = child.stdin.take();
    let output = child.wait_with_output().expect("it ends");
    drop(silent);
    let shown = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    let more = [
        "   The queue is first come, first served.",
        "\nerror[stale-fence]: lease ",
        "(one byte of event ",
        "\nerror[audit-broken]: the log is broken at event ",
    ];
    for promised in PROMISED.iter().chain(&more) {
        assert!(shown.contains(promised), "{promised:?} in\n{shown}");
    }
    assert!(shown.lines().all(|line| line.chars().count() <= 80), "{shown}");
    assert_eq!(temporary(&home), BTreeSet::new());
}

#[test]
fn at_a_terminal_enter_goes_on_at_once() {
    let home = home();
    let here = home.directory("anywhere");
    let script = "yes '' | head -60 | script -qec 'clearway demo --slow' /dev/null";
    let output = home.shell(&here, script).env("SHELL", "/bin/sh").output().expect("a shell");
    let shown = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(shown.contains("Enter goes on at once."), "{shown}");
    assert!(shown.contains("All of it was real"), "{shown}");
    assert_eq!(temporary(&home), BTreeSet::new());
}

#[test]
fn a_program_reads_the_steps_with_exit_codes_and_durations() {
    let home = home();
    let told = demo(&home).ok(&["demo", "--slow"]);
    let steps = list(&told, "steps");
    let command = |part: &str| {
        let found = steps.iter().find(|step| text(step, "command").contains(part));
        found.unwrap_or_else(|| panic!("no {part} in {told:#}"))
    };
    for (part, who, code) in [
        ("reserve src/parser.rs", "ada", 0),
        ("reserve src/lexer.rs", "cy", 1),
        ("reserve docs/guide.md", "window", 0),
        ("renew ", "ada", 4),
    ] {
        let step = command(part);
        assert_eq!((text(step, "who"), number(step, "exit_code")), (who, code), "{step}");
        assert!(step["duration_ms"].is_u64() && !text(step, "scene").is_empty(), "{step}");
    }
    assert!(command(" &")["exit_code"].is_null(), "{told:#}");
    let last = steps.last().expect("a step");
    assert_eq!((text(last, "command"), number(last, "exit_code")), ("clearway audit verify", 1));
    assert!(told["wake_up_ms"].is_u64());
}

#[test]
fn a_place_for_temporary_files_that_depends_on_where_one_stands_is_none() {
    let home = home();
    let here = home.directory("here");
    home.clearway(&here).env("TMPDIR", "relative").run(&["demo"]).expect(0);
    assert!(std::fs::read_dir(&here).expect("a directory").next().is_none());
}

#[test]
fn without_git_it_says_so_and_makes_nothing() {
    let home = home();
    let error = demo(&home).env("PATH", home.directory("empty")).fails("git-missing", 69, &["demo"]);
    assert!(text(&error, "message").contains("git"), "{error}");
    assert!(error["hints"].to_string().contains("install git"), "{error}");
    assert_eq!(temporary(&home), BTreeSet::new());
}

#[test]
fn inside_an_agents_session_without_a_home_it_acts_as_nobody_but_its_own() {
    let home = home();
    let store = home.path().join("own.db");
    let mut demo = demo(&home)
        .session("s-1")
        .env("CODEX_THREAD_ID", "t-1")
        .env("CLEARWAY_AGENT", "mallory")
        .env("CLEARWAY_STORE", &store)
        .env("GIT_DIR", "/nowhere");
    for variable in ["HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_RUNTIME_DIR"] {
        demo = demo.without_env(variable);
    }
    let told = demo.ok(&["demo"]).to_string();
    for stranger in ["mallory", "claude-", "codex-"] {
        assert!(!told.contains(stranger), "{stranger} in {told}");
    }
    assert!(!store.exists() && !home.state().exists());
    assert_eq!(temporary(&home), BTreeSet::new());
}

#[test]
fn a_step_that_goes_wrong_is_named_and_everything_is_kept() {
    let home = home();
    let fake = fake_git(&home, "echo 'not = [toml' > .clearway.toml; mkdir .git");
    let ran = demo(&home).env("PATH", path_with(&fake)).run(&["demo"]).expect(70);
    let said = ran.stderr().split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("error[internal]: in \"ada reserves a file and says why\""), "{said}");
    assert!(said.contains("its exit code is 78, and should be 0"), "{said}");
    assert!(!ran.stdout().contains("All of it was real"), "{}", ran.stdout());
    let kept = temporary(&home);
    assert_eq!(kept.len(), 1, "{kept:?}");
    let place = kept.first().expect("one");
    assert!(said.contains(&place.display().to_string()) && place.join("app/.clearway.toml").exists());
    let error = demo(&home).env("PATH", path_with(&fake)).fails("internal", 70, &["demo"]);
    assert_eq!(
        text(&error["details"], "command"),
        "clearway reserve src/parser.rs --reason \"split the lexer\""
    );
    demo(&home).run(&["demo"]).expect(0);
    assert!(temporary(&home).is_superset(&kept), "the next one removes what was kept");
}

fn path_with(directory: &Path) -> String {
    format!("{}:/usr/local/bin:/usr/bin:/bin", directory.display())
}

/// A demonstration that somebody seems to watch, so that it takes its time, in a process group of its own.
fn watched(home: &Home, terminal: &Terminal, words: &[&str]) -> Child {
    let mut command = demo(home).args(words).into_command();
    command.stdout(terminal.end()).stderr(Stdio::null()).process_group(0);
    command.spawn().expect("the binary starts")
}

/// The directory of the demonstration that runs, once this lies in it.
fn place_in_use(home: &Home, made: &str) -> PathBuf {
    let find = || temporary(home).into_iter().find(|place| place.join(made).exists());
    eventually(made, find)
}

#[test]
fn killed_in_any_way_it_leaves_nothing() {
    for (signal, whole_group) in [("INT", true), ("TERM", true), ("KILL", false)] {
        let (home, terminal) = (home(), Terminal::open());
        let mut child = watched(&home, &terminal, &["demo"]);
        place_in_use(&home, "state/clearway/scopes");
        let target = format!("{}{}", if whole_group { "-" } else { "" }, child.id());
        let killed = Command::new("kill").args(["-s", signal, "--", &target]).status().expect("kill runs");
        assert!(killed.success(), "{signal}");
        child.wait().expect("it ends");
        eventually(signal, || temporary(&home).is_empty().then_some(()));
    }
}

#[test]
fn what_a_killed_one_could_not_remove_the_next_one_does_but_never_what_is_in_use() {
    let (home, terminal) = (home(), Terminal::open());
    let mut child = watched(&home, &terminal, &["demo", "--slow"]);
    let in_use = place_in_use(&home, "app/.git/HEAD");
    let leftover = home.path().join("tmp/clearway-demo-0123456789abcdef");
    let other = home.path().join("tmp/clearway-demo-mine");
    std::fs::create_dir_all(leftover.join("app")).expect("a directory");
    std::fs::create_dir_all(&other).expect("a directory");
    demo(&home).run(&["demo"]).expect(0);
    assert!(!leftover.exists());
    assert!(in_use.join("app").exists() && other.exists());
    child.kill().expect("it runs");
    child.wait().expect("it ends");
    eventually("it is removed", || (!in_use.exists()).then_some(()));
}

#[test]
fn a_reader_that_leaves_ends_it_quietly() {
    let home = home();
    let output = home.shell(&home.directory("anywhere"), "clearway demo | head -n 1").output();
    let output = output.expect("a shell");
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    eventually("everything is removed", || temporary(&home).is_empty().then_some(()));
}
