//! Hooks carry mail: a message is announced at the next tool call, within what an agent may be told.

use super::{bodies, company};
use crate::{app, home, list, text};
use clearway_testkit::{Answer, Client, Home, Repository};
use serde_json::{Value, json};

const BYTES_MAX: usize = 400;

fn reads(client: &mut Client) -> Answer {
    client.event("PreToolUse", &json!({"tool_name": "Read", "tool_input": {"file_path": "docs/x.md"}}))
}

/// A client's session, and what its agent is called.
fn begun(home: &Home, app: &Repository<'_>) -> (Client, String) {
    let mut client = Client::claude(home, app, "one");
    client.event("SessionStart", &json!({"source": "startup"}));
    let agents = app.clearway().ok(&["agents"]);
    let own = list(&agents, "agents").iter().find(|agent| text(agent, "name").starts_with("claude-"));
    (client, text(own.expect("its agent"), "name").to_owned())
}

#[test]
fn a_message_is_told_once_at_the_next_tool_call_and_its_command_reads_it() {
    let home = home();
    let app = app(&home);
    company(&app, &["otter", "heron"]);
    let (mut one, me) = begun(&home, &app);
    app.agent("otter").ok(&["send", &me, "the parser is split; rebase when you commit"]);
    let told = reads(&mut one).told();
    assert_eq!(
        told,
        "otter wrote to you: \"the parser is split; rebase when you commit\". Read: clearway inbox"
    );
    assert_eq!(told.len(), 87);
    reads(&mut one).silent();
    let read = app.clearway().session("one").ok(&["inbox"]);
    assert_eq!(bodies(&read), ["the parser is split; rebase when you commit"]);
    app.agent("otter").ok(&[
        "send",
        &me,
        "x",
        "--subject",
        &"long \u{1b}[2J \"quoted\" ".repeat(8),
        "--ack",
        "--urgent",
    ]);
    app.agent("heron").ok(&["send", &me, "and me"]);
    app.agent("heron").ok(&["send", &me, "psst", "--importance", "low"]);
    let told = reads(&mut one).told();
    assert!(told.starts_with("otter wrote to you urgently: \"long \\u{1b}[2J 'quoted' long"), "{told}");
    assert!(told.ends_with("\", and 1 more. It is to be acknowledged. Read: clearway inbox"), "{told}");
    assert!(told.len() <= BYTES_MAX && !told.contains('\u{1b}'), "{}: {told}", told.len());
    app.agent("heron").ok(&["send", &me, "read before it is told"]);
    app.clearway().session("one").ok(&["inbox"]);
    reads(&mut one).silent();
}

#[test]
fn what_an_agent_is_told_in_an_hour_is_bounded_except_for_what_is_urgent() {
    let home = home();
    let app = app(&home);
    company(&app, &["otter"]);
    let (mut one, me) = begun(&home, &app);
    let mut bytes = 0;
    for number in 0..8 {
        app.agent("otter").ok(&["send", &me, &format!("message {number} {}", "x".repeat(300))]);
        let answer = reads(&mut one);
        bytes += if answer.is_silent() { 0 } else { answer.told().len() };
    }
    assert!(bytes > 0 && bytes <= 2_000, "{bytes}");
    reads(&mut one).silent();
    app.agent("otter").ok(&["send", &me, "fire", "--urgent"]);
    let told = reads(&mut one).told();
    assert!(told.contains("urgently: \"fire\", and 3 more"), "{told}");
}

#[test]
fn a_session_begins_with_what_was_written_to_it_within_its_budget() {
    let home = home();
    let app = app(&home);
    let names: Vec<String> = (0..5).map(|number| format!("{}-{number}", "long-name".repeat(5))).collect();
    company(&app, &names.iter().map(String::as_str).collect::<Vec<_>>());
    let (mut one, me) = begun(&home, &app);
    let start = |client: &mut Client| client.event("SessionStart", &json!({"source": "resume"})).told();
    let before = start(&mut one);
    assert!(before.len() <= BYTES_MAX && !before.contains("unread"), "{before}");
    for name in &names {
        app.agent(name).ok(&[
            "send",
            &me,
            "x",
            "--subject",
            &"what it is about ".repeat(10),
            "--importance",
            "low",
        ]);
    }
    let told = start(&mut one);
    assert!(told.len() <= BYTES_MAX, "{}: {told}", told.len());
    let last = told.lines().last().unwrap_or_default();
    assert!(last.starts_with("5 unread messages, the first from long-name"), "{told}");
    assert!(last.ends_with("Read: clearway inbox") || last.ends_with('.'), "{told}");
}

#[test]
fn send_inbox_and_ack_work_in_a_sandboxed_shell() {
    let home = home();
    let app = app(&home);
    company(&app, &["otter"]);
    let call = |command: &str, number: u32| -> (String, Option<i32>) {
        let payload = json!({
            "session_id": "t-1", "turn_id": "1", "model": "m", "cwd": app.path(), "permission_mode": "default",
            "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_use_id": format!("call-{number}"),
            "tool_input": {"command": command},
        });
        let ran = app.clearway().run_with(payload.to_string().as_bytes(), &["hook", "codex"]).expect(0);
        let document: Value = serde_json::from_str(&ran.stdout()).expect("a document");
        let rewritten =
            document["hookSpecificOutput"]["updatedInput"]["command"].as_str().expect("a command");
        let output = home.shell(app.path(), rewritten).output().expect("a shell");
        (String::from_utf8_lossy(&output.stdout).into_owned(), output.status.code())
    };
    let (said, code) = call("clearway send otter 'done; it is yours' --id first", 1);
    assert!(said.starts_with("sent as codex-") && code == Some(0), "{said}");
    let page = app.agent("otter").ok(&["inbox"]);
    assert_eq!(bodies(&page), ["done; it is yours"]);
    let me = text(&list(&page, "messages")[0], "from").to_owned();
    app.agent("otter").ok(&["send", &me, "it's $(mine)", "--thread", "first", "--ack", "--id", "second"]);
    let (said, code) = call("clearway inbox", 2);
    assert!(said.contains("  otter| it's $(mine)\n") && code == Some(0), "{said}");
    assert!(said.contains("clearway ack second"), "{said}");
    assert_eq!(call("clearway ack second", 3).1, Some(0));
    assert!(list(&app.agent("otter").ok(&["stale-acks", "--older-than", "1ms"]), "stale").is_empty());
}

/// The same session in another process, after it said goodbye, is the same agent with the same rules.
#[test]
fn what_an_agent_said_of_its_mail_holds_when_it_comes_back() {
    let home = home();
    let app = app(&home);
    super::company(&app, &["ada"]);
    let (mut one, name) = begun(&home, &app);
    app.clearway().session("one").ok(&["policy", "block"]);
    app.clearway().session("one").ok(&["contacts", "--add", "ada"]);
    one.event("SessionEnd", &serde_json::json!({"reason": "other"})).silent();
    one.die();
    let mut again = Client::claude(&home, &app, "one");
    again.event("SessionStart", &serde_json::json!({"source": "resume"}));
    let rules = app.clearway().session("one").ok(&["policy"]);
    assert_eq!(
        (crate::text(&rules, "policy"), crate::list(&rules, "contacts").len()),
        ("block", 1),
        "{rules}"
    );
    app.agent("ada").fails("not-accepted", 3, &["send", &name, "hello"]);
}
