//! Files that a client would not load are not edited, and nothing in them is called active.

use super::{file, read, trust, trust_by_gemini, write};
use crate::{app, home, list, text};
use serde_json::{Value, json};
use std::path::Path;

#[test]
fn a_client_whose_file_is_broken_is_refused_and_the_others_go_on() {
    let home = home();
    let repository = app(&home);
    let settings = file(&home, ".claude/settings.json");
    for broken in [
        "{\"hooks\": {",
        "[]",
        "{\"hooks\": {\"PreToolUse\": \"x\"}}",
        "{\n  // mine\n}",
        "{\"model\": \"opus\",}",
        "{\"permissions\": {\"allow\": \"x\"}}",
        &format!("{{\"x\": \"{}\"}}", "x".repeat(2 << 20)),
    ] {
        write(&settings, broken);
        let words = ["init", "-y", "--client", "claude", "--client", "cursor"];
        let error = repository.clearway().fails("client-not-active", 1, &words);
        let files = list(&error["details"], "files");
        assert_eq!(files[0]["problem"]["slug"], "client-config", "{error:#}");
        assert!(text(&files[0]["problem"], "message").contains("settings.json"));
        assert!(!list(&files[0]["problem"], "hints").is_empty());
        assert_eq!(error["details"]["clients"][1]["standing"], "active", "{error:#}");
        assert_eq!(read(&settings), broken);
    }
    std::fs::write(&settings, b"{\"a\": \"\xff\"}").expect("a file");
    let error = repository.clearway().fails("client-not-active", 1, &["init", "-y", "--client", "claude"]);
    assert_eq!(error["details"]["files"][0]["problem"]["slug"], "client-config");
}

#[test]
fn a_broken_file_that_never_was_ours_keeps_nothing_else_from_being_given_back() {
    let home = home();
    let repository = app(&home);
    let (settings, cursor) = (file(&home, ".claude/settings.json"), file(&home, ".cursor/hooks.json"));
    repository.clearway().ok(&["init", "-y", "--client", "cursor"]);
    let uninstall = ["init", "-y", "--uninstall", "--client", "claude", "--client", "cursor"];
    let broken = [&b"{\"hooks\": {"[..], b"{\"a\": \"\xff\"}", &vec![b'x'; 2 << 20]];
    for (time, broken) in broken.into_iter().enumerate() {
        std::fs::create_dir_all(settings.parent().expect("a directory")).expect("a directory");
        std::fs::write(&settings, broken).expect("a file");
        let told = repository.clearway().ok(&uninstall);
        let files = list(&told, "files");
        assert_eq!(files[0]["change"], "unchanged", "{told:#}");
        assert!(text(&files[0], "note").starts_with("passed over"), "{told:#}");
        assert_eq!(files.len(), if time == 0 { 2 } else { 1 }, "{told:#}");
        assert_eq!(std::fs::read(&settings).expect("a file"), broken);
        assert!(!cursor.exists());
    }
    assert!(repository.clearway().text(&uninstall).ends_with("nothing of ours was found\n"));
}

#[test]
fn a_broken_file_in_which_we_are_is_refused_when_it_is_to_be_given_back() {
    let home = home();
    let repository = app(&home);
    let settings = file(&home, ".claude/settings.json");
    trust(&home, &repository);
    repository.clearway().ok(&["init", "-y", "--client", "claude"]);
    let uninstall = ["init", "-y", "--uninstall", "--client", "claude"];
    for broken in [read(&settings) + "{", "{".to_owned()] {
        write(&settings, &broken);
        let error = repository.clearway().fails("client-config", 78, &uninstall);
        assert!(text(&error, "message").contains("settings.json"));
        assert_eq!(read(&settings), broken);
    }
    std::fs::remove_file(home.state().join("init.json")).expect("what is remembered");
    write(&settings, "{\"hooks\": {\"Stop\": [{\"hooks\": [{\"command\": \"/bin/clearway hook claude\"}");
    repository.clearway().fails("client-config", 78, &uninstall);
}

#[test]
fn a_file_that_gemini_does_not_load_is_not_edited_and_comments_are_no_reason() {
    let home = home();
    let repository = app(&home);
    trust_by_gemini(&home, &repository);
    let settings = file(&home, ".gemini/settings.json");
    for broken in ["{\"a\": 1,}", "\u{feff}{}"] {
        write(&settings, broken);
        let error =
            repository.clearway().fails("client-not-active", 1, &["init", "-y", "--client", "gemini"]);
        assert_eq!(error["details"]["files"][0]["problem"]["slug"], "client-config", "{error:#}");
        assert_eq!(read(&settings), broken);
    }
    write(&settings, "{\n  // mine\n}");
    repository.clearway().ok(&["init", "-y", "--client", "gemini"]);
}

#[test]
fn a_file_that_its_client_stopped_loading_is_not_called_active() {
    let home = home();
    let repository = app(&home);
    trust(&home, &repository);
    let settings = file(&home, ".claude/settings.json");
    repository.clearway().ok(&["init", "-y", "--client", "claude"]);
    for (own, why) in
        [("// mine\n", "plain JSON"), ("\"permissions\": {\"allow\": \"x\"},", "permissions.allow")]
    {
        let whole = read(&settings);
        write(&settings, &whole.replacen('{', &format!("{{{own}"), 1));
        let error =
            repository.clearway().fails("client-not-active", 1, &["init", "-y", "--client", "claude"]);
        let client = &list(&error["details"], "clients")[0];
        assert_eq!(text(client, "standing"), "one-step-left", "{error:#}");
        assert!(error.to_string().contains(why), "{error:#}");
        write(&settings, &whole);
    }
}

#[test]
fn hooks_of_another_type_are_for_a_person_to_mend() {
    let home = home();
    let repository = app(&home);
    let settings = file(&home, ".claude/settings.json");
    for wrong in ["{\"hooks\": \"str\"}", "{\"hooks\": {\"PreToolUse\": \"x\"}}"] {
        write(&settings, wrong);
        let error =
            repository.clearway().fails("client-not-active", 1, &["init", "-y", "--client", "claude"]);
        let client = &error["details"]["clients"][0];
        assert!(text(client, "why").contains("settings.json cannot be edited: `hooks"), "{error:#}");
        for advice in [text(client, "step"), error["hints"][0].as_str().unwrap_or_default()] {
            assert!(advice.starts_with("mend") && advice.contains("by hand"), "{advice}");
        }
        let told = repository.clearway().ok(&["doctor"]).to_string();
        assert!(told.contains("mend that file by hand"), "{told}");
    }
}

/// The settings of a client with something of somebody else in them.
fn with(settings: &Path, change: impl FnOnce(&mut Value)) -> String {
    let whole = read(settings);
    let mut document: Value = serde_json::from_str(&whole).expect("JSON");
    change(&mut document);
    write(settings, &document.to_string());
    whole
}

#[test]
fn a_client_that_may_drop_its_file_over_an_entry_of_somebody_else_is_not_called_active() {
    let home = home();
    let repository = app(&home);
    trust(&home, &repository);
    trust_by_gemini(&home, &repository);
    let hook = |hook: Value| json!({"matcher": "*", "hooks": [hook]});
    let entries = [
        (hook(json!({"type": "command", "command": "true", "timeout": "5"})), "timeout"),
        (hook(json!({"type": "command"})), "without a `command`"),
        (hook(json!({"type": "frob", "x": 1})), "frob"),
        (json!({"matcher": 5, "hooks": []}), "matcher"),
    ];
    for (client, name, event) in
        [("claude", ".claude/settings.json", "PreToolUse"), ("gemini", ".gemini/settings.json", "BeforeTool")]
    {
        let settings = file(&home, name);
        repository.clearway().ok(&["init", "-y", "--client", client]);
        for (entry, why) in &entries {
            let whole = with(&settings, |document| {
                document["hooks"][event].as_array_mut().expect("a list").push(entry.clone());
            });
            let error =
                repository.clearway().fails("client-not-active", 1, &["init", "-y", "--client", client]);
            let seen = &list(&error["details"], "clients")[0];
            assert_eq!(text(seen, "standing"), "one-step-left", "{client} {entry}: {error:#}");
            assert!(text(seen, "why").contains(why), "{client} {entry}: {error:#}");
            write(&settings, &whole);
        }
        repository.clearway().ok(&["init", "-y", "--client", client]);
    }
}

#[test]
fn settings_that_switch_the_hooks_of_claude_off_are_seen() {
    let home = home();
    let repository = app(&home);
    trust(&home, &repository);
    let settings = file(&home, ".claude/settings.json");
    repository.clearway().ok(&["init", "-y", "--client", "claude"]);
    for (name, value, why) in [
        ("sandbox", json!(true), "sandbox"),
        ("cleanupPeriodDays", json!(-1), "cleanupPeriodDays"),
        ("env", json!({"CLAUDE_CODE_SIMPLE": "1"}), "CLAUDE_CODE_SIMPLE"),
    ] {
        let whole = with(&settings, |document| document[name] = value.clone());
        let error =
            repository.clearway().fails("client-not-active", 1, &["init", "-y", "--client", "claude"]);
        assert_eq!(text(&list(&error["details"], "clients")[0], "standing"), "one-step-left", "{error:#}");
        assert!(error.to_string().contains(why), "{error:#}");
        write(&settings, &whole);
    }
    let whole = with(&settings, |document| document["env"] = json!({"CLAUDE_CODE_SIMPLE": "0"}));
    repository.clearway().ok(&["init", "-y", "--client", "claude"]);
    write(&settings, &whole);
}

#[test]
fn a_file_that_codex_does_not_load_is_not_edited() {
    let home = home();
    let repository = app(&home);
    let hooks = file(&home, ".codex/hooks.json");
    for broken in ["{\n  // mine\n}", "{\"hooks\": {},}", "\u{feff}{}"] {
        write(&hooks, broken);
        let error = repository.clearway().fails("client-not-active", 1, &["init", "-y", "--client", "codex"]);
        assert_eq!(error["details"]["files"][0]["problem"]["slug"], "client-config", "{error:#}");
        assert_eq!(read(&hooks), broken);
    }
}
