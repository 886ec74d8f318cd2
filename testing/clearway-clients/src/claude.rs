//! Claude Code in print mode. Its model speaks the Messages API as server-sent events.

use crate::http::{Request, Response};
use crate::shown::{items, text, told};
use crate::{Call, Hooks, Move, RealClient, Start, write};
use clearway_core::agent::Client;
use serde_json::{Value, json};
use std::path::Path;

/// A model that it knows the tools of.
const MODEL: &str = "claude-sonnet-4-5";

/// Claude Code.
pub static CLAUDE: RealClient = RealClient {
    client: Client::ClaudeCode,
    configure,
    // The wrapper finds the binary of this machine; what npm calls `claude` needs a script of the package to run first.
    program: "@anthropic-ai/claude-code/cli-wrapper.cjs",
    words,
    variables: |endpoint| {
        vec![
            ("ANTHROPIC_BASE_URL", endpoint.to_owned()),
            ("ANTHROPIC_API_KEY", "sk-ant-none".to_owned()),
            ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1".to_owned()),
        ]
    },
    is_turn: |request| {
        let tools = request.body["tools"].as_array().is_some_and(|tools| !tools.is_empty());
        request.path.starts_with("/v1/messages") && !request.path.contains("count_tokens") && tools
    },
    told: |body| told(&body["messages"], "assistant"),
    results: |body| {
        let content = items(&body["messages"]).flat_map(|message| items(&message["content"]));
        let results = content.filter(|block| block["type"] == "tool_result");
        results.map(|block| text(&block["content"])).collect()
    },
    answer,
};

fn configure(home: &Path, hooks: &Hooks, _: &str) {
    let hooks = hooks.events(1, |binary, arguments| json!({"command": binary, "args": arguments}));
    write(&home.join(".claude/settings.json"), &json!({"hooks": hooks}).to_string());
}

fn words(start: Start) -> &'static [&'static str] {
    match start {
        Start::Anew => {
            &["--print", "--model", MODEL, "--permission-mode", "acceptEdits", "--allowedTools=Bash"]
        }
        Start::Resumed => &[
            "--print",
            "--continue",
            "--model",
            MODEL,
            "--permission-mode",
            "acceptEdits",
            "--allowedTools=Bash",
        ],
    }
}

fn answer(request: &Request, next: Option<Move<'_>>) -> Response {
    if request.path.contains("count_tokens") {
        return Response::Document(json!({"input_tokens": 1}));
    }
    if !request.path.starts_with("/v1/messages") {
        return Response::Document(json!({}));
    }
    let (block, stop) = match next {
        Some(next) => (tool_use(next), "tool_use"),
        None => (json!({"type": "text", "text": "done"}), "end_turn"),
    };
    if request.body["stream"] == true {
        stream(&block, stop)
    } else {
        Response::Document(message(&[block], Some(stop)))
    }
}

fn tool_use(next: Move<'_>) -> Value {
    let (name, input) = match next.call {
        Call::Read { file } => ("Read", json!({"file_path": next.path(file)})),
        Call::Edit { file, old, new } => {
            ("Edit", json!({"file_path": next.path(file), "old_string": old, "new_string": new}))
        }
        Call::Create { file, line } => {
            ("Write", json!({"file_path": next.path(file), "content": format!("{line}\n")}))
        }
        Call::Patch { .. } => panic!("only Codex applies patches"),
        Call::Delegate { task, .. } => (
            "Agent",
            json!({"description": "Has it done", "prompt": task, "subagent_type": "general-purpose", "run_in_background": false}),
        ),
        Call::Shell { command } => ("Bash", json!({"command": command, "description": "Runs a command"})),
    };
    json!({"type": "tool_use", "id": next.id, "name": name, "input": input})
}

fn message(content: &[Value], stop: Option<&str>) -> Value {
    json!({
        "id": "msg_1", "type": "message", "role": "assistant", "model": MODEL, "content": content,
        "stop_reason": stop, "stop_sequence": null, "usage": {"input_tokens": 1, "output_tokens": 1},
    })
}

/// A block begins empty and is filled by one delta.
fn stream(block: &Value, stop: &str) -> Response {
    let mut empty = block.clone();
    let delta = if block["type"] == "text" {
        empty["text"] = json!("");
        json!({"type": "text_delta", "text": block["text"]})
    } else {
        empty["input"] = json!({});
        json!({"type": "input_json_delta", "partial_json": block["input"].to_string()})
    };
    let end = json!({"stop_reason": stop, "stop_sequence": null});
    let events = [
        ("message_start", json!({"message": message(&[], None)})),
        ("content_block_start", json!({"index": 0, "content_block": empty})),
        ("content_block_delta", json!({"index": 0, "delta": delta})),
        ("content_block_stop", json!({"index": 0})),
        ("message_delta", json!({"delta": end, "usage": {"output_tokens": 1}})),
        ("message_stop", json!({})),
    ];
    Response::Events(events.map(|(name, data)| (name, crate::named(name, data))).into())
}
