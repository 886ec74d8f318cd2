//! Gemini CLI in prompt mode. Its model speaks `generateContent`, whole or streamed.

use crate::http::{Request, Response};
use crate::shown::{items, text, told};
use crate::{Call, Hooks, Move, RealClient, Start, write};
use clearway_core::agent::Client;
use serde_json::{Value, json};
use std::path::Path;

/// Gemini CLI.
pub static GEMINI: RealClient = RealClient {
    client: Client::Gemini,
    configure,
    program: "@google/gemini-cli/bundle/gemini.js",
    words: |start| match start {
        Start::Anew => &["--model", "gemini-2.5-flash", "--approval-mode", "yolo", "--prompt"],
        Start::Resumed => {
            &["--resume", "latest", "--model", "gemini-2.5-flash", "--approval-mode", "yolo", "--prompt"]
        }
    },
    variables: |endpoint| {
        vec![("GOOGLE_GEMINI_BASE_URL", endpoint.to_owned()), ("GEMINI_API_KEY", "none".to_owned())]
    },
    is_turn: |request| {
        let tools = request.body["tools"].as_array().is_some_and(|tools| !tools.is_empty());
        request.path.contains("enerateContent") && tools
    },
    told: |body| told(&body["contents"], "model"),
    results: |body| {
        let parts = items(&body["contents"]).flat_map(|content| items(&content["parts"]));
        let mut responses: Vec<&Value> = parts.filter_map(|part| part.get("functionResponse")).collect();
        // A conversation that is resumed has each of them twice.
        responses.dedup_by_key(|response| &response["id"]);
        responses.iter().map(|response| text(&response["response"])).collect()
    },
    answer,
};

/// What cannot be started is a denial to it, of every call and of every end of a turn, which it then begins anew
/// without end. A binary that is gone has to be no opinion, so the line looks for it first.
fn line(binary: &str, arguments: &[&str]) -> Value {
    json!({"command": format!("test ! -x {binary} || {binary} {}", arguments.join(" "))})
}

fn configure(home: &Path, hooks: &Hooks, _: &str) {
    let settings = json!({
        "hooks": hooks.events(1_000, line),
        "security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": false}},
        "privacy": {"usageStatisticsEnabled": false},
        "telemetry": {"enabled": false},
        "general": {"enableAutoUpdate": false, "enableAutoUpdateNotification": false},
    });
    write(&home.join(".gemini/settings.json"), &settings.to_string());
}

fn answer(request: &Request, next: Option<Move<'_>>) -> Response {
    if request.path.contains(":countTokens") {
        return Response::Document(json!({"totalTokens": 1}));
    }
    let part = match next {
        Some(next) => json!({"functionCall": function_call(next)}),
        None => json!({"text": "done"}),
    };
    let document = json!({
        "candidates": [{"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}],
        "usageMetadata": {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2},
    });
    if request.path.contains(":streamGenerateContent") {
        Response::Events(vec![("", document)])
    } else {
        Response::Document(document)
    }
}

fn function_call(next: Move<'_>) -> Value {
    let (name, args) = match next.call {
        Call::Read { file } => ("read_file", json!({"file_path": next.path(file)})),
        Call::Edit { file, old, new } => (
            "replace",
            json!({"file_path": next.path(file), "instruction": "Replaces a line.", "old_string": old, "new_string": new}),
        ),
        Call::Create { file, line } => {
            ("write_file", json!({"file_path": next.path(file), "content": format!("{line}\n")}))
        }
        Call::Patch { .. } => panic!("only Codex applies patches"),
        Call::Delegate { task, .. } => ("invoke_agent", json!({"agent_name": "generalist", "prompt": task})),
        Call::Shell { command } => ("run_shell_command", json!({"command": command})),
    };
    json!({"id": next.id, "name": name, "args": args})
}
