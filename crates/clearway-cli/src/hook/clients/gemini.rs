//! Gemini CLI. Anything on standard output that is no JSON counts as permission, and only what is said after a tool call
//! reaches the model.

use super::{Dialect, Registration};
use crate::hook::event::{Event, Moment};
use crate::hook::payload::{Fields, McpName, Tool, When, Words};
use crate::hook::reply::Told;
use clearway_core::agent::Client;
use serde_json::{Map, Value, json};

pub(super) static DIALECT: Dialect = Dialect {
    client: Client::Gemini,
    words: Words {
        events: EVENTS,
        tools: TOOLS,
        mcp: McpName::Underscore,
        fields: Fields::OF_CLAUDE,
        changed: &["/tool_response/returnDisplay/filePath"],
    },
    deny: |_, reason| json!({"decision": "deny", "reason": reason}),
    tell,
    rewrite: None,
    owns: |payload, _| {
        let name = payload.get("hook_event_name").and_then(Value::as_str).unwrap_or_default();
        payload.get("timestamp").is_some() && OWN_EVENTS.contains(&name)
    },
    registered: &[
        entry("SessionStart", None),
        entry("BeforeTool", Some(".*")),
        entry("AfterTool", Some(".*")),
        entry("AfterAgent", None),
        entry("SessionEnd", None),
    ],
};

const fn entry(event: &'static str, matcher: Option<&'static str>) -> Registration {
    Registration { event, matcher, arguments: &["hook", "gemini"], timeout_ms: 5_000 }
}

const EVENTS: &[(&str, When)] = &[
    ("SessionStart", When::SessionStart),
    ("SessionEnd", When::SessionEnd),
    ("BeforeTool", When::BeforeTool),
    ("AfterTool", When::AfterTool),
    ("AfterAgent", When::TurnEnd),
];

/// Names that no other client uses.
const OWN_EVENTS: [&str; 3] = ["BeforeTool", "AfterTool", "AfterAgent"];

const TOOLS: &[(&str, Tool)] = &[
    ("write_file", Tool::Writes(&["file_path"])),
    ("replace", Tool::Writes(&["file_path"])),
    ("run_shell_command", Tool::Shell("command")),
];

fn tell(event: &Event, told: &Told) -> Option<Value> {
    let mut document = Map::new();
    let reaches_model = matches!(event.moment, Moment::AfterTool(_) | Moment::SessionStart);
    if let Some(model) = told.model.as_ref().filter(|_| reaches_model) {
        document.insert("hookSpecificOutput".to_owned(), json!({"additionalContext": model}));
    }
    if let Some(person) = &told.person {
        document.insert("systemMessage".to_owned(), json!(person));
    }
    (!document.is_empty()).then_some(Value::Object(document))
}
