//! Cursor, from its documentation: the editor and its command-line agent read the same files. It also runs Claude
//! Code's hooks, and does not enforce `ask`.

use super::{Dialect, Registration, claude};
use crate::hook::event::{Event, Moment};
use crate::hook::payload::{Fields, Tool, When, Words};
use crate::hook::reply::Told;
use crate::setup::{Form, Setup, below_home};
use clearway_core::agent::Client;
use serde_json::{Map, Value, json};

pub(super) static DIALECT: Dialect = Dialect {
    client: Client::Cursor,
    words: Words {
        events: EVENTS,
        tools: TOOLS,
        mcp: |name| name.strip_prefix("MCP:"),
        fields: Fields {
            session: &["conversation_id", "session_id"],
            subagent: &["subagent_id"],
            result: &["tool_output", "tool_response"],
            put: &["new_string", "content", "contents"],
            whole: &["content", "contents"],
            runs_in: &["working_directory"],
            ..claude::FIELDS
        },
        changed: &[],
        goes_on: claude::GOES_ON,
        forks: claude::FORKS,
    },
    deny: |_, reason| json!({"permission": "deny", "user_message": reason, "agent_message": reason}),
    tell,
    hold: None,
    stop: None,
    rewrite: None,
    owns: |payload, _| payload.get("cursor_version").is_some(),
    setup: Setup {
        title: "Cursor",
        programs: &["cursor-agent", "cursor"],
        directory: |variables| below_home(variables, ".cursor"),
        user_files: &[("hooks.json", Form::FLAT)],
        repository_files: &[(".cursor/hooks.json", Form::FLAT)],
        handler: |called| {
            let mut fields = vec![("command", called.line()), ("timeout", called.seconds())];
            fields.extend(called.blocks.then_some(("failClosed", json!(true))));
            fields
        },
        kinds: &["command", "prompt"],
        beside: &[],
        plugins: None,
        reads: |_| Ok(()),
        unattended: "unattended: a hook that fails or is missing blocks the tool call",
        withheld: |_, _| None,
    },
    registered: &[
        entry("sessionStart", None),
        entry("preToolUse", Some(".*")),
        entry("postToolUse", Some(".*")),
        entry("stop", None),
        entry("subagentStop", None),
        entry("sessionEnd", None),
    ],
};

const fn entry(event: &'static str, matcher: Option<&'static str>) -> Registration {
    Registration { event, matcher, arguments: &["hook", "cursor"], timeout_ms: 5_000 }
}

/// Also under the names of Claude Code, whose hooks it runs.
const EVENTS: &[(&str, When)] = &[
    ("sessionStart", When::SessionStart),
    ("sessionEnd", When::SessionEnd),
    ("preToolUse", When::BeforeTool),
    ("postToolUse", When::AfterTool),
    ("postToolUseFailure", When::AfterFailure),
    ("stop", When::TurnEnd),
    ("subagentStop", When::SubagentEnd),
];

const TOOLS: &[(&str, Tool)] = &[
    ("Write", Tool::Replaces(&["file_path", "path", "target_file"])),
    ("Edit", Tool::Writes(&["file_path", "path", "target_file"])),
    ("Delete", Tool::Removes(&["file_path", "path", "target_file"])),
    ("Shell", Tool::Shell("command")),
    ("Bash", Tool::Shell("command")),
];

fn tell(event: &Event, told: &Told) -> Option<Value> {
    let mut document = Map::new();
    let reaches_model = matches!(event.moment, Moment::AfterTool(_) | Moment::SessionStart);
    if let Some(model) = told.model.as_ref().filter(|_| reaches_model) {
        document.insert("additional_context".to_owned(), json!(model));
    }
    if let Some(person) = &told.person {
        document.insert("user_message".to_owned(), json!(person));
    }
    (!document.is_empty()).then_some(Value::Object(document))
}
