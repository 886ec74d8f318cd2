//! A command of ours typed in a sandboxed shell, which has no way to the store.

use super::gate::invited;
use crate::{app, each, home, list};
use serde_json::{Value, json};

/// A call of the shell, by an id of its own for each command.
fn shell(command: &str, root: &std::path::Path) -> String {
    json!({
        "session_id": "t-1", "turn_id": "1", "model": "m", "cwd": root, "permission_mode": "bypassPermissions",
        "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_use_id": command.replace(|c: char| !c.is_ascii_alphanumeric(), "-"), "tool_input": {"command": command},
    })
    .to_string()
}

#[test]
fn it_is_carried_out_once_as_the_agent_and_the_shell_prints_the_answer() {
    let home = home();
    let app = app(&home);
    invited(&app);
    let hook = |command: &str| {
        app.clearway().run_with(shell(command, app.path()).as_bytes(), &["hook", "codex"]).expect(0)
    };
    let printed = |command: &str| -> (String, Option<i32>) {
        let document: Value = serde_json::from_str(&hook(command).stdout()).expect("a document");
        let rewritten =
            document["hookSpecificOutput"]["updatedInput"]["command"].as_str().expect("a command").to_owned();
        let output = home.shell(app.path(), &rewritten).output().expect("a shell");
        (String::from_utf8_lossy(&output.stdout).into_owned(), output.status.code())
    };
    let (said, code) = printed("clearway reserve src/a.rs --reason 'it'");
    assert!(said.starts_with("reserved as codex-") && code == Some(0), "{said}");
    let leases = app.clearway().ok(&["leases"]);
    assert_eq!(each(&leases, "leases", "reason"), ["it"], "once, and by the hook");
    assert_eq!(printed("clearway who src/a.rs").1, Some(0));
    assert_eq!(printed("clearway release src/nothing.rs").1, Some(0));
    app.grant("otter", &["src/b.rs"]);
    assert_eq!(printed("clearway check src/b.rs").1, Some(1), "the exit code is that of the command");
    let own = app.clearway().env("CODEX_SESSION_ID", "t-1").ok(&["release", "--all"]);
    assert_eq!(list(&own, "released").len(), 1, "its own shell is the same agent");
}

/// What our own texts have an agent type works where it is typed.
#[test]
fn commands_that_we_suggest_work_in_a_sandbox() {
    let home = home();
    let app = app(&home);
    app.write("it's.txt", "\n");
    app.grant("otter", &["it's.txt", "src/a.rs"]);
    let typed = |command: &str| {
        let document =
            app.clearway().run_with(shell(command, app.path()).as_bytes(), &["hook", "codex"]).expect(0);
        let document: Value =
            serde_json::from_str(&document.stdout()).unwrap_or_else(|error| panic!("{command}: {error}"));
        let rewritten =
            document["hookSpecificOutput"]["updatedInput"]["command"].as_str().expect("a command");
        let output = home.shell(app.path(), rewritten).output().expect("a shell");
        assert!(output.status.success(), "{command}: {output:?}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    assert!(typed(r"clearway who 'it'\''s.txt'").contains("otter"));
    typed("clearway reserve --queue src/a.rs");
    assert!(typed("clearway wait").starts_with("queued as codex-"), "it waits for a moment only");
    app.agent("otter").ok(&["release", "--all"]);
    assert!(typed("clearway wait --for 5m").starts_with("reserved as codex-"));
    app.write("src/a.rs", "precious\n");
    typed("clearway snapshot");
    app.write("src/a.rs", "gone\n");
    let number = app.clearway().ok(&["snapshots"])["snapshots"][0]["number"].to_string();
    typed(&format!("clearway restore s{number} src/a.rs"));
    assert_eq!(std::fs::read_to_string(app.path().join("src/a.rs")).expect("a file"), "precious\n");
}

#[test]
fn whatever_is_more_than_that_is_left_to_the_shell() {
    let home = home();
    let app = app(&home);
    for command in [
        "clearway reserve src/a.rs && touch x",
        "clearway reserve $(touch x)",
        "clearway with build -- touch x",
        "clearway reserve src/a.rs --store x",
        "clearway --store=x status",
    ] {
        let ran =
            app.clearway().run_with(shell(command, app.path()).as_bytes(), &["hook", "codex"]).expect(0);
        assert_eq!((ran.stdout(), ran.stderr()), Default::default(), "{command}");
    }
    assert!(!app.path().join("x").exists() && !home.state().exists());
}

#[test]
fn where_nobody_invited_us_it_is_left_to_the_shell() {
    let home = home();
    let (app, other) = (app(&home), home.repository("other", &[("x.rs", "x\n")]));
    let hook = |command: &str| {
        app.clearway().run_with(shell(command, app.path()).as_bytes(), &["hook", "codex"]).expect(0)
    };
    for command in ["clearway status", "clearway reserve src/a.rs", "clearway explain reservation-held"] {
        let ran = hook(command);
        assert_eq!((ran.stdout(), ran.stderr()), Default::default(), "{command}");
    }
    assert!(!home.state().exists(), "nothing is made");
    other.grant("otter", &["x.rs"]);
    let there = format!("clearway -C {} who x.rs", other.path().display());
    assert!(hook(&there).stdout().contains("otter"), "where it acts somebody did");
    let ran = hook("clearway status");
    assert_eq!((ran.stdout(), ran.stderr()), Default::default());
    let home_of = format!("clearway -C {} status", app.path().display());
    let ran =
        other.clearway().run_with(shell(&home_of, other.path()).as_bytes(), &["hook", "codex"]).expect(0);
    assert_eq!((ran.stdout(), ran.stderr()), Default::default(), "where it acts nobody did");
}

/// Two hooks of one client are told of the same call.
#[test]
fn what_is_told_twice_is_done_once_and_answered_twice() {
    let home = home();
    let app = app(&home);
    app.grant("otter", &["src/b.rs"]);
    app.clearway().env("CODEX_SESSION_ID", "t-1").ok(&["reserve", "src/a.rs"]);
    let hook = |command: &str| {
        let payload = shell(command, app.path());
        let document = app.clearway().run_with(payload.as_bytes(), &["hook", "codex"]).expect(0).stdout();
        let document: Value = serde_json::from_str(&document).expect("a document");
        document["hookSpecificOutput"]["updatedInput"]["command"].as_str().expect("a command").to_owned()
    };
    let hand_over = "clearway transfer --to otter src/a.rs";
    let (first, again) = (hook(hand_over), hook(hand_over));
    for said in [&first, &again] {
        assert!(said.contains("handed 1 lease to otter"), "{said}");
    }
    assert!(again.contains("the answer to an earlier, equal request"), "{again}");
    let own = hook("clearway --idempotency-key mine reserve src/c.rs");
    assert!(own.contains("reserved as codex-"), "{own}");
    let kinds = app.kinds();
    assert_eq!(kinds.iter().filter(|kind| *kind == "lease.transferred").count(), 1, "{kinds:?}");
}
