//! Agents that share a checkout type commands of git: none of them takes along, changes or loses what is another's.

mod index;
mod managers;
mod stash;
mod undoing;
mod wide;

use crate::app;
use clearway_testkit::{Answer, Client, Home, Repository};
use serde_json::{Value, json};
use std::path::Path;

/// A repository in which somebody used Clearway before.
fn invited(home: &Home) -> Repository<'_> {
    let app = app(home);
    app.grant("eve", &["--kind", "name", "build"]);
    app
}

fn shell_call(command: &str) -> Value {
    json!({"tool_name": "Bash", "tool_input": {"command": command}, "tool_response": {}})
}

/// What the hook says before a command.
fn asks(client: &mut Client, command: &str) -> Answer {
    client.event("PreToolUse", &shell_call(command))
}

/// A command is over.
fn is_over(client: &mut Client, command: &str) {
    client.event("PostToolUse", &shell_call(command));
}

/// An agent runs a command where its hook lets it: what the hook said before it.
fn runs(client: &mut Client, home: &Home, repository: &Repository<'_>, command: &str) -> Answer {
    let before = asks(client, command);
    if before.code == 0 {
        let output = home.shell(repository.path(), command).output().expect("a shell");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{command}: {said}");
        is_over(client, command);
    }
    before
}

/// An agent writes a file.
fn edits(client: &mut Client, repository: &Repository<'_>, file: &str, text: &str) {
    assert_eq!(client.before_edit(file).code, 0, "{file}");
    repository.write(file, text);
    client.after_edit(file);
}

fn read(repository: &Repository<'_>, file: &str) -> String {
    std::fs::read_to_string(repository.path().join(file)).unwrap_or_default()
}

/// The command that a refusal names, which begins with this word.
#[track_caller]
fn named(reason: &str, word: &str) -> String {
    let (_, hint) = reason.split_once('\n').unwrap_or_else(|| panic!("no hint in {reason}"));
    let begins = hint.find(&format!(": {word} ")).unwrap_or_else(|| panic!("no {word} in {hint}"));
    hint[begins + 2..].trim().to_owned()
}

/// Names on which somebody has a lease.
fn turns(repository: &Repository<'_>) -> Vec<String> {
    let listed = repository.clearway().ok(&["leases"]);
    let names = crate::each(&listed, "leases", "pattern").into_iter();
    names.filter(|name| name.starts_with("git-")).map(str::to_owned).collect()
}

/// What each client sends before a command.
fn payloads(root: &Path, command: &str) -> Vec<(&'static str, Vec<String>, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/hooks");
    let clients = ["claude", "codex", "copilot", "cursor", "gemini"];
    let payload = |client: &'static str| {
        let files = ["bash.json", "shell.json"].map(|name| folder.join(client).join(name));
        let text = files.iter().find_map(|file| std::fs::read_to_string(file).ok()).expect("a fixture");
        let mut fixture: Value = serde_json::from_str(&text).expect("JSON");
        let more = fixture["arguments"].as_array().cloned().unwrap_or_default();
        let more = more.iter().map(|word| word.as_str().expect("a word").to_owned());
        let words = ["hook".to_owned(), client.to_owned()].into_iter().chain(more).collect();
        replace_command(&mut fixture["payload"], command);
        (client, words, fixture["payload"].to_string().replace("$ROOT", &root.display().to_string()))
    };
    clients.into_iter().map(payload).collect()
}

/// The command of a payload, wherever it stands.
fn replace_command(value: &mut Value, command: &str) {
    match value {
        Value::Object(fields) => fields.iter_mut().for_each(|(name, field)| match field {
            Value::String(text) if name == "command" => command.clone_into(text),
            field => replace_command(field, command),
        }),
        Value::Array(fields) => fields.iter_mut().for_each(|field| replace_command(field, command)),
        _ => {}
    }
}
