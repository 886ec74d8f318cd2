//! Setting up agents' clients, and giving everything back.

mod asking;
mod files;
mod unread;
mod wishes;

use clearway_testkit::{Clearway, Files, Home, Repository};
use serde_json::json;
use std::path::{Path, PathBuf};

const CLIENTS: [(&str, &str); 5] = [
    ("claude", ".claude/settings.json"),
    ("codex", ".codex/hooks.json"),
    ("gemini", ".gemini/settings.json"),
    ("cursor", ".cursor/hooks.json"),
    ("copilot", ".copilot/hooks/clearway.json"),
];

/// A file of the user's.
fn file(home: &Home, name: &str) -> PathBuf {
    home.path().join("home").join(name)
}

#[track_caller]
fn write(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
    std::fs::write(path, text).expect("a file");
}

#[track_caller]
fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Everything of the user's but what is ours.
fn users_files(home: &Home) -> Files {
    Files::below(&home.path().join("home"))
}

/// The binary as it is found by its name.
pub(crate) fn found_by_name(home: &Home, repository: &Repository<'_>) -> Clearway {
    let bin = home.path().join("bin");
    repository.clearway().env("PATH", format!("{}:/usr/bin:/bin", bin.display()))
}

/// Makes Claude Code active wherever it is set up.
pub(crate) fn trust(home: &Home, repository: &Repository<'_>) {
    let root = repository.path().display().to_string();
    let state = json!({"projects": {root: {"hasTrustDialogAccepted": true}}});
    write(&file(home, ".claude.json"), &state.to_string());
}

/// Makes Gemini CLI active wherever it is set up.
fn trust_by_gemini(home: &Home, repository: &Repository<'_>) {
    let folders = json!({repository.path().display().to_string(): "TRUST_FOLDER"});
    write(&file(home, ".gemini/trustedFolders.json"), &folders.to_string());
}

const SETTINGS: &str = "{\r\n\t\"model\": \"opus\",\r\n\t\"hooks\": {\r\n\t\t\"PreToolUse\": [\r\n\t\t\t{\"matcher\": \"*\", \"hooks\": [{\"type\": \"command\", \"command\": \"other\"}]}\r\n\t\t]\r\n\t}\r\n}";
const COMMENTED: &str = "{\r\n\t// mine\r\n\t\"hooks\": {\r\n\t\t\"BeforeTool\": [\r\n\t\t\t{\"matcher\": \".*\", \"hooks\": [{\"type\": \"command\", \"command\": \"other\"}]} // theirs\r\n\t\t]\r\n\t}\r\n}";
