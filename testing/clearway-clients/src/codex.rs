//! Codex without its screen. Its model speaks the Responses API as server-sent events.

use crate::http::{Request, Response};
use crate::shown::{items, text, told};
use crate::{Call, Hooks, Move, RealClient, Start, write};
use clearway_core::agent::Client;
use serde_json::{Value, json};
use std::path::Path;

/// Codex.
pub static CODEX: RealClient = RealClient {
    client: Client::Codex,
    configure,
    program: "@openai/codex/bin/codex.js",
    words: |start| match start {
        Start::Anew => &["exec", "--dangerously-bypass-hook-trust"],
        Start::Resumed => &["exec", "resume", "--last", "--dangerously-bypass-hook-trust"],
    },
    variables: |_| vec![("SCRIPTED_KEY", "none".to_owned())],
    is_turn: |request| request.method == "POST" && request.path.ends_with("/responses"),
    told: |body| told(&body["input"], "assistant"),
    results: |body| {
        let outputs = items(&body["input"])
            .filter(|item| item["type"].as_str().is_some_and(|kind| kind.ends_with("_call_output")));
        outputs.map(|item| text(&item["output"])).collect()
    },
    answer,
};

/// Sandboxed as it is for most people: the repository can be written but for `.git`, and nothing else. What tests make
/// lies in a temporary directory, so the one for all has to be taken out.
fn configure(home: &Path, hooks: &Hooks, endpoint: &str) {
    let events =
        hooks.events(1, |binary, arguments| json!({"command": format!("{binary} {}", arguments.join(" "))}));
    write(&home.join(".codex/hooks.json"), &json!({"hooks": events}).to_string());
    let config = format!(
        r#"model = "gpt-5.5"
model_provider = "scripted"
approval_policy = "never"
sandbox_mode = "workspace-write"
check_for_update_on_startup = false

[sandbox_workspace_write]
exclude_slash_tmp = true
exclude_tmpdir_env_var = true

[analytics]
enabled = false

[model_providers.scripted]
name = "scripted"
base_url = "{endpoint}/v1"
wire_api = "responses"
env_key = "SCRIPTED_KEY"
"#
    );
    write(&home.join(".codex/config.toml"), &config);
    // Its shell is a login shell, which begins with the path of the machine.
    write(&home.join(".profile"), &format!("PATH={}:$PATH\n", hooks.directory().display()));
}

fn answer(request: &Request, next: Option<Move<'_>>) -> Response {
    if request.method != "POST" {
        return Response::NotFound;
    }
    let item = match next {
        Some(next) => tool_call(&request.body["tools"], next),
        None => json!({
            "type": "message", "id": "msg_1", "role": "assistant",
            "content": [{"type": "output_text", "text": "done", "annotations": []}],
        }),
    };
    let usage = json!({
        "input_tokens": 1, "input_tokens_details": null,
        "output_tokens": 1, "output_tokens_details": null, "total_tokens": 2,
    });
    let events = [
        ("response.created", json!({"response": {"id": "resp_1"}})),
        ("response.output_item.done", json!({"output_index": 0, "item": item})),
        ("response.completed", json!({"response": {"id": "resp_1", "usage": usage}})),
    ];
    Response::Events(events.map(|(name, data)| (name, crate::named(name, data))).into())
}

fn tool_call(tools: &Value, next: Move<'_>) -> Value {
    let id = next.id;
    match next.call {
        Call::Read { file } => shell(tools, id, &format!("cat {file}")),
        Call::Shell { command } => shell(tools, id, command),
        Call::Patch { hunks } => patch(id, hunks),
        Call::Delegate { .. } => panic!("Codex has no subagents unless it is set up for them"),
        Call::Edit { file, old, new } => patch(id, &format!("*** Update File: {file}\n@@\n-{old}\n+{new}\n")),
        Call::Create { file, line } => patch(id, &format!("*** Add File: {file}\n+{line}\n")),
    }
}

fn patch(id: &str, hunks: &str) -> Value {
    let input = format!("*** Begin Patch\n{hunks}*** End Patch\n");
    json!({"type": "custom_tool_call", "id": format!("ctc_{id}"), "call_id": id, "name": "apply_patch", "input": input, "status": "completed"})
}

/// Which shell tool there is depends on the model and the machine.
fn shell(tools: &Value, id: &str, command: &str) -> Value {
    let offers = |name: &str| items(tools).any(|tool| tool["name"] == name);
    let (name, arguments) = if offers("exec_command") {
        ("exec_command", json!({"cmd": command}))
    } else {
        ("shell_command", json!({"command": command}))
    };
    json!({"type": "function_call", "id": format!("fc_{id}"), "call_id": id, "name": name, "arguments": arguments.to_string()})
}
