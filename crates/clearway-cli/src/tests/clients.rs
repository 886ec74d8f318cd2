//! How clients are set up and how they stand, by what their files say.

use super::stage::Stage;
use serde_json::{Value, json};
use std::path::Path;

fn home() -> Stage {
    let mut stage = Stage::default();
    stage.set("HOME", "/home/you");
    stage
}

fn with(files: &[(&str, &str)]) -> Stage {
    let mut stage = home();
    stage.files.extend(files.iter().map(|(path, text)| ((*path).into(), (*text).to_owned())));
    stage
}

/// What `init` says of a client.
#[track_caller]
fn set_up(stage: &mut Stage, client: &str) -> Value {
    let ran = stage.run(&format!("init -y --json --client {client}"));
    let reply = ran.json();
    let is_active = ran.code == 0;
    let clients = if is_active { &reply["clients"] } else { &reply["error"]["details"]["clients"] };
    assert_eq!(is_active, clients[0]["standing"] == "active", "{reply:#}");
    clients[0].clone()
}

#[track_caller]
fn check(client: &str, files: &[(&str, &str)], standing: &str, word: &str) {
    let told = set_up(&mut with(files), client);
    assert_eq!(told["standing"], standing, "{told:#}");
    assert!(told.to_string().contains(word), "{word} in {told:#}");
}

const TRUSTED: (&str, &str) =
    ("/home/you/.claude.json", r#"{"projects": {"/app": {"hasTrustDialogAccepted": true}}}"#);

#[test]
fn claude_code_runs_hooks_where_they_are_not_switched_off_and_the_folder_is_trusted() {
    let user = "/home/you/.claude/settings.json";
    let off = r#"{"disableAllHooks": true}"#;
    check("claude", &[TRUSTED], "active", "claude");
    check("claude", &[], "one-step-left", "cd /app && claude");
    let distrusted = r#"{"projects": {"/app": {"hasTrustDialogAccepted": false}}}"#;
    check("claude", &[("/home/you/.claude.json", distrusted)], "one-step-left", "trust");
    check("claude", &[TRUSTED, (user, off)], "one-step-left", user);
    check(
        "claude",
        &[TRUSTED, ("/app/.claude/settings.local.json", off)],
        "one-step-left",
        "settings.local.json",
    );
    let on = r#"{"disableAllHooks": false}"#;
    check("claude", &[TRUSTED, (user, off), ("/app/.claude/settings.json", on)], "active", "");
    for policy in
        [r#"{"allowManagedHooksOnly": true}"#, off, r#"{"strictPluginOnlyCustomization": ["hooks"]}"#]
    {
        let managed = "/etc/claude-code/managed-settings.json";
        check("claude", &[TRUSTED, (managed, policy)], "not-enforceable", managed);
    }
}

/// What Codex 0.166.0 writes when its person trusts our hooks, called from /usr/bin.
const CODEX_TRUST: [(&str, &str); 6] = [
    ("pre_tool_use", "21671b74c4cb320c3853f8b6fc01da6794ab39563343e76e7592c0b53e73c087"),
    ("post_tool_use", "687dd6372d481714a97adcd8dff77454c4427e086e97b8ab0f76ee4d3d8c1253"),
    ("session_start", "7b9662e22ede9e00964486dbddb98d2e810d6a6b321e2377ee792f27fc46e211"),
    ("session_end", "1bcc7f140f421dd814791e1e27bfbfc2be9508d27fcf535e451cc73e06d47b3e"),
    ("subagent_stop", "a1b6a73742a44d569282344c70c6c32e39fc0ce7fe30fd01eb5999a6f104ddb2"),
    ("stop", "1cd4e8f91305357819dc9c14bc3cf9a9bad4110ddaac9c1800f3feef2cfc31e1"),
];

fn codex_trust(file: &str) -> String {
    let entry = |(event, hash): &(&str, &str)| {
        format!("[hooks.state.\"/home/you/.codex/{file}:{event}:0:0\"]\ntrusted_hash = \"sha256:{hash}\"\n")
    };
    CODEX_TRUST.iter().map(entry).collect()
}

#[test]
fn codex_runs_a_hook_that_its_person_trusted() {
    let config = "/home/you/.codex/config.toml";
    let trust = codex_trust("hooks.json");
    check("codex", &[], "one-step-left", "/hooks");
    check("codex", &[(config, &trust)], "active", "codex");
    check("codex", &[(config, &trust.replace(":stop:", ":stopped:"))], "one-step-left", "/hooks");
    check("codex", &[(config, &trust.replace("sha256:1c", "sha256:00"))], "one-step-left", "/hooks");
    check("codex", &[(config, &format!("{trust}enabled = false\n"))], "one-step-left", "enable");
    check(
        "codex",
        &[(config, &format!("[features]\nhooks = false\n{trust}"))],
        "one-step-left",
        "[features]",
    );
    check("codex", &[(config, "features = ")], "one-step-left", config);
    let commented = ("/home/you/.codex/hooks.json", "// mine\n{}\n");
    check("codex", &[commented, (config, &trust)], "one-step-left", "comments");
    let managed = ("/etc/codex/requirements.toml", "allow_managed_hooks_only = true\n");
    check("codex", &[managed, (config, &trust)], "not-enforceable", "requirements.toml");
}

#[test]
fn codex_is_set_up_in_the_tables_that_carry_hooks_already() {
    let config = "/home/you/.codex/config.toml";
    let theirs =
        "[[hooks.UserPromptSubmit]]\n[[hooks.UserPromptSubmit.hooks]]\ntype = \"command\"\ncommand = \"x\"\n";
    let mut stage = with(&[(config, &format!("{theirs}{}", codex_trust("config.toml")))]);
    assert_eq!(set_up(&mut stage, "codex")["standing"], "active");
    let text = &stage.files[Path::new(config)];
    assert!(text.starts_with(theirs) && text.contains("[[hooks.PreToolUse.hooks]]"), "{text}");
    assert!(!stage.files.contains_key(Path::new("/home/you/.codex/hooks.json")));
    stage.run("init -y --uninstall --client codex").expect(0);
    assert_eq!(stage.files[Path::new(config)], format!("{theirs}{}", codex_trust("config.toml")));
}

#[test]
fn gemini_cli_runs_hooks_unless_they_are_disabled_or_the_folder_is_not_trusted() {
    let user = "/home/you/.gemini/settings.json";
    let said = "/home/you/.gemini/trustedFolders.json";
    let trusted = (said, r#"{"/app": "TRUST_FOLDER"}"#);
    check("gemini", &[trusted], "active", "gemini");
    check("gemini", &[(user, r#"{"hooksConfig": {"enabled": false}}"#)], "one-step-left", user);
    check("gemini", &[(user, r#"{"hooksConfig": {"disabled": ["clearway"]}}"#)], "one-step-left", "disabled");
    check(
        "gemini",
        &[("/app/.gemini/settings.json", r#"{"tools": {"enableHooks": false}}"#)],
        "one-step-left",
        "/app",
    );
    let asks = (user, r#"{"security": {"folderTrust": {"enabled": true}}}"#);
    let does_not = (user, r#"{"security": {"folderTrust": {"enabled": false}}}"#);
    let distrusted = (said, r#"{"/app": "DO_NOT_TRUST"}"#);
    check("gemini", &[does_not], "active", "");
    for ask in [&[][..], &[asks], &[does_not]] {
        check("gemini", &[ask, &[distrusted]].concat(), "one-step-left", "trust");
        check("gemini", &[ask, &[(said, r#"{"/": "TRUST_PARENT"}"#)]].concat(), "active", "");
    }
    check("gemini", &[], "one-step-left", "trust");
    check("gemini", &[asks], "one-step-left", "trust");
    let everybody = ("/etc/gemini-cli/settings.json", r#"{"security": {"folderTrust": {"enabled": true}}}"#);
    check("gemini", &[everybody, does_not], "one-step-left", "trust");
    let system = ("/etc/gemini-cli/settings.json", r#"{"hooksConfig": {"enabled": false}}"#);
    check("gemini", &[system], "not-enforceable", "/etc/gemini-cli");
}

#[test]
fn cursor_and_copilot_cli_run_hooks_unless_they_are_switched_off() {
    check("cursor", &[], "active", "cursor");
    check("copilot", &[], "active", "copilot");
    let off = r#"{"disableAllHooks": true}"#;
    check("copilot", &[("/home/you/.copilot/settings.json", off)], "one-step-left", "settings.json");
    check("copilot", &[("/app/.github/copilot/settings.json", off)], "one-step-left", "/app/.github");
}

/// What `doctor` says about clients.
fn examined(stage: &mut Stage) -> Vec<Value> {
    let reply = stage.run("doctor --json").json();
    let checks = reply.get("checks").unwrap_or(&reply["error"]["details"]["checks"]);
    checks.as_array().unwrap().iter().filter(|check| check["about"] == "client").cloned().collect()
}

#[test]
fn a_doctor_tells_what_was_never_set_up_from_what_is_broken() {
    let mut stage = home();
    assert!(examined(&mut Stage::default()).is_empty(), "without a home there is no client");
    let claude =
        |checks: Vec<Value>| checks.into_iter().find(|check| check["text"].to_string().contains("Claude"));
    assert_eq!(claude(examined(&mut stage)).unwrap()["status"], "note");
    stage.files.insert(TRUSTED.0.into(), TRUSTED.1.to_owned());
    stage.run("init -y --client claude").expect(0);
    assert_eq!(claude(examined(&mut stage)).unwrap()["status"], "ok");
    let user = Path::new("/home/you/.claude/settings.json");
    let text = stage.files[user].clone();
    for broken in [
        text.replace("/usr/bin/", "/gone/"),
        text.replacen("\"timeout\": 5", "\"timeout\": 6", 1),
        "{".to_owned(),
    ] {
        stage.files.insert(user.to_owned(), broken.clone());
        let check = claude(examined(&mut stage)).unwrap();
        let status = if broken == "{" { "note" } else { "wrong" };
        assert_eq!(check["status"], status, "{broken}");
        assert!(check["hint"].to_string().contains("clearway init"), "{check}");
    }
}

#[test]
fn a_doctor_names_hooks_that_are_there_twice_and_other_tools_for_this() {
    let mut stage = with(&[
        TRUSTED,
        (
            "/home/you/.claude/settings.json",
            r#"{"enabledPlugins": {"interlock@market": true, "intermute@market": false}}"#,
        ),
        (
            "/app/.claude/settings.json",
            r#"{"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "bash ~/foundry/guard.sh"}]}],
                "Stop": [{"hooks": [{"type": "command", "command": "clearway hook claude"}]}]}}"#,
        ),
    ]);
    stage.run("init -y --client claude").expect(0);
    let told: Vec<String> = examined(&mut stage).iter().map(|check| check["text"].to_string()).collect();
    for word in ["plugin interlock@market", "bash ~/foundry/guard.sh", "more than once"] {
        assert_eq!(told.iter().filter(|text| text.contains(word)).count(), 1, "{word} in {told:#?}");
    }
    assert!(!told.iter().any(|text| text.contains("intermute")), "{told:#?}");
}

#[test]
fn whoever_declines_changes_nothing() {
    let mut stage = with(&[TRUSTED]);
    stage.seat_person();
    stage.input = "n\n".to_owned();
    let before = stage.files.clone();
    let ran = stage.run("init --client claude").expect(1);
    assert!(
        ran.stdout.contains("nothing was written") && ran.stderr.contains("Write 1 file? [Y/n]"),
        "{ran:#?}"
    );
    assert_eq!(stage.files, before);
    stage.input = "\n".to_owned();
    let ran = stage.run("init --client claude").expect(0);
    assert_eq!(ran.stdout.matches("SessionStart").count(), 1, "what was shown is not shown again: {ran:#?}");
    assert_ne!(stage.files, before);
    stage.input = "n\n".to_owned();
    let ran = stage.run("init --client claude").expect(0);
    assert_eq!(ran.stderr, "", "nobody is asked about nothing");
}

#[test]
fn keys_in_a_clients_file_are_not_shown() {
    let key = "sk-ant-api03-0123456789abcdefghijABCDEFGHIJ0123456789";
    let settings = format!("{{\n  \"env\": {{\"ANTHROPIC_API_KEY\": \"{key}\"}}\n}}\n");
    let mut stage = with(&[("/home/you/.claude/settings.json", &settings)]);
    for line in
        ["init --dry-run --client claude", "init -y --client claude", "init -y --json --client claude"]
    {
        let ran = stage.run(line);
        assert!(!ran.stdout.contains(key), "{ran:#?}");
    }
    assert!(stage.files[Path::new("/home/you/.claude/settings.json")].contains(key));
}

#[test]
fn the_words_of_a_hook_are_what_its_client_calls() {
    let mut stage = with(&[TRUSTED]);
    stage.run("init -y --client claude --unattended").expect(0);
    let settings: Value =
        serde_json::from_str(&stage.files[Path::new("/home/you/.claude/settings.json")]).unwrap();
    let gate = &settings["hooks"]["PreToolUse"][0];
    let handler = json!({"type": "command", "command": "/usr/bin/clearway", "args": ["hook", "claude"], "timeout": 5, "onFailure": "block"});
    assert_eq!(*gate, json!({"matcher": "*", "hooks": [handler]}));
}
