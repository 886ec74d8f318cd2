//! Claude Code, the dialect that others imitate.

use super::{Dialect, Registration};
use crate::hook::event::{Event, Moment};
use crate::hook::payload::{Fields, McpName, Tool, When, Words};
use crate::hook::reply::Told;
use clearway_core::agent::Client;
use serde_json::{Map, Value, json};

pub(super) static DIALECT: Dialect = Dialect {
    client: Client::ClaudeCode,
    words: Words {
        events: EVENTS,
        tools: TOOLS,
        mcp: McpName::DoubleUnderscore,
        fields: Fields::OF_CLAUDE,
        // The second is there for commands, with the setting `bashEditDiffEnabled` or where commands do the editing.
        changed: &["/tool_response/filePath", "/tool_response/bashEditDiff/changedFiles"],
    },
    deny,
    tell,
    rewrite: None,
    owns: |payload, variables| {
        let told = variables.get("CLAUDE_CODE_SESSION_ID").filter(|told| !told.is_empty());
        told.is_some_and(|told| payload.get("session_id").and_then(Value::as_str) == Some(told))
    },
    registered: &[
        entry("SessionStart", None),
        entry("PreToolUse", Some("*")),
        entry("PostToolUse", Some(WRITING)),
        entry("PostToolUseFailure", Some(WRITING)),
        entry("Stop", None),
        entry("SubagentStop", None),
        entry("SessionEnd", None),
    ],
};

/// Tools that may change files. Every other call is worth a look before it, to be told what waits, and none after it.
const WRITING: &str = "^(Edit|Write|MultiEdit|NotebookEdit|Bash|PowerShell|mcp__.*)$";

const fn entry(event: &'static str, matcher: Option<&'static str>) -> Registration {
    Registration { event, matcher, arguments: &["hook", "claude"], timeout_ms: 5_000 }
}

pub(super) const EVENTS: &[(&str, When)] = &[
    ("SessionStart", When::SessionStart),
    ("SessionEnd", When::SessionEnd),
    ("PreToolUse", When::BeforeTool),
    ("PostToolUse", When::AfterTool),
    ("PostToolUseFailure", When::AfterTool),
    ("Stop", When::TurnEnd),
    ("SubagentStop", When::SubagentEnd),
];

pub(super) const TOOLS: &[(&str, Tool)] = &[
    ("Edit", Tool::Writes(&["file_path"])),
    ("Write", Tool::Writes(&["file_path"])),
    ("MultiEdit", Tool::Writes(&["file_path"])),
    ("NotebookEdit", Tool::Writes(&["notebook_path"])),
    ("Bash", Tool::Shell("command")),
    ("PowerShell", Tool::Shell("command")),
];

pub(super) fn deny(event: &Event, reason: &str) -> Value {
    json!({"hookSpecificOutput": {
        "hookEventName": event.name,
        "permissionDecision": "deny",
        "permissionDecisionReason": reason,
    }})
}

/// Without a decision: allowing would override what the person set up.
pub(super) fn tell(event: &Event, told: &Told) -> Option<Value> {
    let mut document = Map::new();
    let hears = matches!(event.moment, Moment::BeforeTool(_) | Moment::AfterTool(_) | Moment::SessionStart);
    if let Some(model) = told.model.as_ref().filter(|_| hears) {
        let output = json!({"hookEventName": event.name, "additionalContext": model});
        document.insert("hookSpecificOutput".to_owned(), output);
    }
    if let Some(person) = &told.person {
        document.insert("systemMessage".to_owned(), json!(person));
    }
    (!document.is_empty()).then_some(Value::Object(document))
}
