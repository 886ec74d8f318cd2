//! OpenAI Codex. It speaks like Claude Code, takes several files in one patch, and lets pass whatever it cannot read: a
//! bare `allow` or an `ask` would be such a thing.

use super::claude::{deny, tell};
use super::{Dialect, Registration};
use crate::hook::payload::{Fields, McpName, Tool, When, Words};
use clearway_core::agent::Client;
use serde_json::json;

pub(super) static DIALECT: Dialect = Dialect {
    client: Client::Codex,
    words: Words {
        events: EVENTS,
        tools: TOOLS,
        mcp: McpName::DoubleUnderscore,
        fields: Fields::OF_CLAUDE,
        changed: &[],
    },
    deny,
    tell,
    rewrite: Some(|event, command| {
        json!({"hookSpecificOutput": {
            "hookEventName": event.name,
            "permissionDecision": "allow",
            "updatedInput": {"command": command},
        }})
    }),
    owns: |payload, _| payload.get("turn_id").is_some() && payload.get("model").is_some(),
    registered: &[
        entry("SessionStart", None),
        entry("PreToolUse", Some("*")),
        entry("PostToolUse", Some("Bash|apply_patch")),
        entry("Stop", None),
        entry("SubagentStop", None),
        Registration { event: "SessionEnd", matcher: None, arguments: COMMAND, timeout_ms: 3_000 },
    ],
};

const COMMAND: &[&str] = &["hook", "codex"];

const fn entry(event: &'static str, matcher: Option<&'static str>) -> Registration {
    Registration { event, matcher, arguments: COMMAND, timeout_ms: 5_000 }
}

const EVENTS: &[(&str, When)] = &[
    ("SessionStart", When::SessionStart),
    ("SessionEnd", When::SessionEnd),
    ("PreToolUse", When::BeforeTool),
    ("PostToolUse", When::AfterTool),
    ("Stop", When::TurnEnd),
    ("SubagentStop", When::SubagentEnd),
];

const TOOLS: &[(&str, Tool)] =
    &[("apply_patch", Tool::Patch(&["command", "input", "patch"])), ("Bash", Tool::Shell("command"))];
