//! GitHub Copilot CLI, from its documentation. The case of an event's name decides what its payload looks like; ours
//! are written small, and such a payload does not name its event, so the command line does. It also runs Claude Code's
//! hooks.

use super::{Dialect, Registration, claude};
use crate::hook::event::{Event, Moment};
use crate::hook::payload::{Failing, Fields, Tool, When, Words};
use crate::hook::reply::Told;
use crate::setup::{Form, Installed, Scene, Setup, Standing, below_home, is_true, shown, variable};
use clearway_core::agent::Client;
use serde_json::{Value, json};

pub(super) static DIALECT: Dialect = Dialect {
    client: Client::Copilot,
    words: Words {
        events: EVENTS,
        tools: TOOLS,
        mcp: claude::tool_of_server,
        fields: Fields {
            session: &["sessionId", "session_id"],
            subagent: &["agentId", "agent_id"],
            tool: &["toolName", "tool_name"],
            input: &["toolArgs", "tool_input"],
            result: &["toolResult", "tool_result", "tool_response"],
            failure: &[Failing::IsNot(&["resultType", "result_type"], "success")],
            tool_use: &["toolUseId", "tool_use_id"],
            put: &["new_string", "content", "new_str", "file_text"],
            whole: &["content", "file_text"],
            runs_in: &[],
            ..claude::FIELDS
        },
        changed: &[],
        goes_on: claude::GOES_ON,
        forks: claude::FORKS,
    },
    deny: |_, reason| json!({"permissionDecision": "deny", "permissionDecisionReason": reason}),
    tell,
    hold: None,
    stop: None,
    rewrite: None,
    owns: |payload, _| {
        let has = |field: &str| payload.get(field).is_some();
        has("sessionId") || (has("session_id") && has("timestamp") && !has("transcript_path"))
    },
    setup: Setup {
        title: "Copilot CLI",
        programs: &["copilot"],
        directory: |variables| {
            variable(variables, "COPILOT_HOME").or_else(|| below_home(variables, ".copilot"))
        },
        user_files: &[("hooks/clearway.json", Form::FLAT)],
        repository_files: &[(".github/hooks/clearway.json", Form::FLAT)],
        handler: |called| {
            vec![
                ("type", json!("command")),
                ("bash", called.line_if_there()),
                ("timeoutSec", called.seconds()),
            ]
        },
        kinds: &["command", "http", "prompt"],
        beside: &[],
        plugins: None,
        reads: |_| Ok(()),
        unattended: "unattended: a hook that is missing or crashes blocks the tool call, one that is too slow does not",
        withheld,
    },
    registered: &[
        entry("sessionStart", &["hook", "copilot", "sessionStart"]),
        entry("preToolUse", &["hook", "copilot", "preToolUse"]),
        entry("postToolUse", &["hook", "copilot", "postToolUse"]),
        entry("agentStop", &["hook", "copilot", "agentStop"]),
        entry("subagentStop", &["hook", "copilot", "subagentStop"]),
        entry("sessionEnd", &["hook", "copilot", "sessionEnd"]),
    ],
};

const fn entry(event: &'static str, arguments: &'static [&'static str]) -> Registration {
    Registration { event, matcher: None, arguments, timeout_ms: 5_000 }
}

const EVENTS: &[(&str, When)] = &[
    ("sessionStart", When::SessionStart),
    ("sessionEnd", When::SessionEnd),
    ("preToolUse", When::BeforeTool),
    ("postToolUse", When::AfterTool),
    ("agentStop", When::TurnEnd),
    ("stop", When::TurnEnd),
    ("subagentStop", When::SubagentEnd),
];

const TOOLS: &[(&str, Tool)] = &[
    ("create", Tool::Replaces(&["path", "file_path"])),
    ("edit", Tool::Writes(&["path", "file_path"])),
    ("str_replace_editor", Tool::Editor(&["path", "file_path"])),
    ("apply_patch", Tool::Patch(&["input", "patch", "patchText", "command"])),
    ("bash", Tool::Shell("command")),
    // What it calls them where it runs the hooks of Claude Code.
    ("Write", Tool::Replaces(&["file_path", "path"])),
    ("Edit", Tool::Writes(&["file_path", "path"])),
    ("Bash", Tool::Shell("command")),
];

fn tell(event: &Event, told: &Told) -> Option<Value> {
    let reaches_model = matches!(event.moment, Moment::AfterTool(_) | Moment::SessionStart);
    let model = told.model.as_ref().filter(|_| reaches_model)?;
    Some(json!({"additionalContext": model}))
}

fn withheld(scene: &mut Scene<'_>, _: &Installed) -> Option<Standing> {
    let mut layers =
        scene.in_repository(&[".github/copilot/settings.local.json", ".github/copilot/settings.json"]);
    for name in ["settings.json", "config.json", "hooks/clearway.json"] {
        let path = scene.directory.join(name);
        let value = scene.json(&path);
        layers.push((path, value));
    }
    let (path, _) = layers.into_iter().find(|(_, layer)| is_true(layer, "disableAllHooks"))?;
    let step = format!("remove \"disableAllHooks\" from {}", shown(&path));
    Some(Standing::left("all its hooks are switched off", step))
}
