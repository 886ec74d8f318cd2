//! A command of ours typed in a sandboxed shell, which has no way to the store.

use crate::{app, each, home, list};
use serde_json::{Value, json};

fn shell(command: &str, root: &std::path::Path) -> String {
    json!({
        "session_id": "t-1", "turn_id": "1", "model": "m", "cwd": root, "permission_mode": "bypassPermissions",
        "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_use_id": "c1", "tool_input": {"command": command},
    })
    .to_string()
}

#[test]
fn it_is_carried_out_once_as_the_agent_and_the_shell_prints_the_answer() {
    let home = home();
    let app = app(&home);
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

#[test]
fn whatever_is_more_than_that_is_left_to_the_shell() {
    let home = home();
    let app = app(&home);
    for command in [
        "clearway reserve src/a.rs && touch x",
        "clearway reserve $(touch x)",
        "clearway with build -- touch x",
    ] {
        let ran =
            app.clearway().run_with(shell(command, app.path()).as_bytes(), &["hook", "codex"]).expect(0);
        assert_eq!((ran.stdout(), ran.stderr()), Default::default(), "{command}");
    }
    assert!(!app.path().join("x").exists() && !home.state().exists());
}
