//! Payloads that no client sends: a documented answer, no panic, no hang.

use crate::{app, home};
use clearway_testkit::Repository;
use serde_json::{Value, json};

/// What a hook says to these bytes: nothing on standard output, and never the code of a denial.
#[track_caller]
fn no_opinion(repository: &Repository<'_>, client: &[&str], payload: &[u8]) -> String {
    let words: Vec<&str> = [&["hook"], client].concat();
    let ran = repository.clearway().run_with(payload, &words).expect(0);
    assert_eq!(ran.stdout(), "", "{words:?}");
    assert!(!ran.stderr().contains("panicked"), "{}", ran.stderr());
    ran.stderr()
}

#[test]
fn what_is_no_payload_gets_no_opinion_and_a_line_for_whoever_looks() {
    let home = home();
    let app = app(&home);
    app.grant("otter", &["src/a.rs"]);
    let nested = format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000));
    let truncated = r#"{"session_id":"s","hook_event_name":"PreToolUse","tool_name":"Edit","tool_input":{"file_path":"src/a"#;
    let not_utf8: &[u8] = b"{\"session_id\":\"s\",\"tool_input\":{\"file_path\":\"\xff\"}}";
    let all: [&[u8]; 8] =
        [b"", b" ", b"null", b"[]", b"42", nested.as_bytes(), truncated.as_bytes(), not_utf8];
    for client in ["claude", "codex", "gemini", "cursor", "copilot"] {
        for payload in all {
            let said = no_opinion(&app, &[client], payload);
            assert!(said.starts_with("clearway: nothing was checked: "), "{said}");
            assert_eq!(said.lines().count(), 1, "{said}");
        }
    }
}

#[test]
fn what_has_the_wrong_types_or_is_not_known_passes_without_a_word() {
    let home = home();
    let app = app(&home);
    app.grant("otter", &["src/a.rs"]);
    for payload in [
        r#"{}"#,
        r#"{"session_id":7,"hook_event_name":"PreToolUse","tool_name":"Edit","tool_input":{"file_path":"src/a.rs"}}"#,
        r#"{"session_id":"s","hook_event_name":["PreToolUse"],"tool_name":"Edit"}"#,
        r#"{"session_id":"s","hook_event_name":"PreToolUse","tool_name":{},"tool_input":[]}"#,
        r#"{"session_id":"s","hook_event_name":"PreToolUse","tool_name":"Edit","tool_input":"src/a.rs"}"#,
        r#"{"session_id":"s","hook_event_name":"PreToolUse","tool_name":"Edit","tool_input":{"file_path":{"x":1}}}"#,
        r#"{"session_id":"s","hook_event_name":"PreToolUse","tool_name":"Frobnicate","tool_input":{"file_path":"src/a.rs"}}"#,
        r#"{"session_id":"s","hook_event_name":"Eclipse","tool_name":"Edit","tool_input":{"file_path":"src/a.rs"}}"#,
        r#"{"session_id":"$(id) `x`","hook_event_name":"PreToolUse","tool_name":"Edit","tool_input":{"file_path":"src/a.rs"}}"#,
    ] {
        for client in ["claude", "codex", "gemini", "cursor", "copilot"] {
            assert_eq!(no_opinion(&app, &[client], payload.as_bytes()), "", "{client} {payload}");
        }
    }
}

#[test]
fn half_a_character_in_a_payload_is_no_way_around_a_hold() {
    let home = home();
    let app = app(&home);
    app.grant("otter", &["src/a.rs"]);
    let file = app.path().join("src/a.rs");
    for content in [r"bad \ud83d end", r"\uDE00", r"\\\ud83d \ud83d\ude00"] {
        let payload = format!(
            r#"{{"session_id":"s","hook_event_name":"PreToolUse","tool_name":"Write","tool_input":{{"file_path":{file:?},"content":"{content}"}}}}"#
        );
        let ran = app.clearway().run_with(payload.as_bytes(), &["hook", "claude"]).expect(2);
        assert!(ran.stderr().starts_with("Not edited: src/a.rs is "), "{}", ran.stderr());
    }
    let lone = r#"{"session_id":"s","hook_event_name":"PreToolUse","tool_name":"Edit","tool_input":{"file_path":"\ud800"}}"#;
    no_opinion(&app, &["claude"], lone.as_bytes());
}

#[test]
fn a_payload_of_ten_megabytes_is_read_and_a_longer_one_is_not() {
    let home = home();
    let app = app(&home);
    app.grant("otter", &["src/a.rs"]);
    let payload = |bytes: usize| {
        let input =
            serde_json::json!({"file_path": app.path().join("src/a.rs"), "content": "x".repeat(bytes)});
        serde_json::json!({"session_id": "s", "hook_event_name": "PreToolUse", "tool_name": "Write", "tool_input": input})
            .to_string()
    };
    let ran = app.clearway().run_with(payload(10 << 20).as_bytes(), &["hook", "claude"]).expect(2);
    assert!(ran.stderr().starts_with("Not edited: src/a.rs is with otter"), "{}", ran.stderr());
    let said = no_opinion(&app, &["claude"], payload(33 << 20).as_bytes());
    assert!(said.contains("longer than"), "{said}");
}

#[test]
fn a_line_that_names_no_client_is_no_denial() {
    let home = home();
    let app = app(&home);
    for words in [vec!["hook", "clod"], vec!["hook", "Claude", "x", "y"]] {
        let ran = app.clearway().run_with(b"{}", &words).expect(1);
        assert_eq!(ran.stdout(), "");
        assert!(ran.stderr().contains("claude, ") || ran.stderr().contains("claude"), "{}", ran.stderr());
    }
}

#[test]
fn a_client_that_went_away_and_a_directory_that_is_gone_are_no_reason_to_panic() {
    let home = home();
    let app = app(&home);
    app.grant("otter", &["src/a.rs"]);
    let payload = format!(
        r#"{{"session_id":"s","cwd":"/gone","hook_event_name":"PreToolUse","tool_name":"Edit","tool_input":{{"file_path":{:?}}}}}"#,
        app.path().join("src/a.rs")
    );
    let gone = home.directory("gone");
    let script = format!(
        "printf %s '{payload}' > {home}/payload; rmdir {gone}; {binary} hook claude < {home}/payload >&- 2> {home}/err; echo $?",
        home = home.path().display(),
        gone = gone.display(),
        binary = home.binary().display()
    );
    let mut shell = home.shell(&gone, &script);
    let output = shell.output().expect("a shell runs");
    assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), "2");
    let err = std::fs::read_to_string(home.path().join("err")).expect("text");
    assert!(err.starts_with("Not edited: ") && !err.contains("panicked"), "{err}");
}

/// What a client's hook answers to a payload of Copilot CLI, which does not name its event.
fn of_copilot(app: &Repository<'_>, words: &[&str], tool: &str, arguments: &Value) -> i32 {
    let payload = json!({
        "sessionId": "c-1", "timestamp": 1, "cwd": app.path(), "toolName": tool, "toolArgs": arguments,
    });
    app.clearway().run_with(payload.to_string().as_bytes(), &[&["hook"], words].concat()).code()
}

#[test]
fn every_form_of_a_patch_is_checked_and_a_look_is_none() {
    let home = home();
    let app = app(&home);
    app.grant("otter", &["src/a.rs"]);
    let patch = "*** Begin Patch\n*** Update File: src/a.rs\n@@\n-a\n+b\n*** End Patch";
    let view = json!({"command": "view", "path": "src/a.rs"});
    let insert = json!({"command": "insert", "path": "src/a.rs"});
    for hook in [&["copilot", "preToolUse"][..], &["claude"], &["gemini"]] {
        for (tool, arguments, is_refused) in [
            ("apply_patch", json!(patch), true),
            ("apply_patch", json!({"patchText": patch}), true),
            ("apply_patch", json!(json!({"patchText": patch}).to_string()), true),
            ("str_replace_editor", insert.clone(), true),
            ("str_replace_editor", view.clone(), false),
            ("view", json!({"path": "src/a.rs"}), false),
        ] {
            let code = of_copilot(&app, hook, tool, &arguments);
            assert_eq!(code != 0, is_refused, "{hook:?} {tool} {arguments}");
        }
    }
}
