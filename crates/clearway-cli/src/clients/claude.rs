//! Claude Code, the dialect that others imitate.

use super::{Dialect, Registration};
use crate::hook::event::{Event, Moment};
use crate::hook::payload::{Fields, McpName, Tool, When, Words};
use crate::hook::reply::Told;
use crate::setup::{Form, Installed, Scene, Setup, Standing, below_home, is_true, shown, variable};
use clearway_core::agent::Client;
use serde_json::{Map, Value, json};
use std::path::Path;

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
    setup: Setup {
        title: "Claude Code",
        programs: &["claude"],
        directory: |variables| {
            variable(variables, "CLAUDE_CONFIG_DIR").or_else(|| below_home(variables, ".claude"))
        },
        user_files: &[("settings.json", Form::GROUPED)],
        repository_files: &[
            (".claude/settings.json", Form::GROUPED),
            (".claude/settings.local.json", Form::GROUPED),
        ],
        handler: |called| {
            let mut fields = vec![
                ("type", json!("command")),
                ("command", json!(called.binary)),
                ("args", json!(called.arguments)),
                ("timeout", called.seconds()),
            ];
            fields.extend(called.blocks.then(|| ("onFailure", json!("block"))));
            fields
        },
        unattended: "unattended: a hook that fails or is missing blocks the tool call",
        withheld,
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

fn withheld(scene: &mut Scene<'_>, _: &Installed) -> Option<Standing> {
    for managed in MANAGED {
        let policy = scene.json(Path::new(managed));
        let only_plugins = policy.get("strictPluginOnlyCustomization");
        let only_plugins =
            only_plugins.and_then(Value::as_array).is_some_and(|kinds| kinds.contains(&json!("hooks")));
        if is_true(&policy, "disableAllHooks") || is_true(&policy, "allowManagedHooksOnly") || only_plugins {
            return Some(Standing::NotEnforceable(format!("{managed} admits no hooks of users")));
        }
    }
    let mut layers = scene.in_repository(&[".claude/settings.local.json", ".claude/settings.json"]);
    let user = scene.directory.join("settings.json");
    let value = scene.json(&user);
    layers.push((user, value));
    // The innermost file that says anything decides.
    let decides = layers.iter().find(|(_, layer)| layer.get("disableAllHooks").is_some());
    if let Some((path, _)) = decides.filter(|(_, layer)| is_true(layer, "disableAllHooks")) {
        let step = format!("remove \"disableAllHooks\" from {}", shown(path));
        return Some(Standing::left("all its hooks are switched off", step));
    }
    let own = scene.directory.join(".claude.json");
    let home = scene.home();
    let state = if scene.directory == home.join(".claude") { home.join(".claude.json") } else { own };
    let state = scene.json(&state);
    let projects = state.get("projects");
    let trusted = scene.said_of_folder(|folder| {
        let accepted = projects?.get(folder)?.get("hasTrustDialogAccepted")?.as_bool()?;
        accepted.then_some(true)
    });
    if trusted == Some(true) {
        return None;
    }
    let step = format!("start it once and trust the folder: cd {} && claude", scene.folder());
    Some(Standing::left("it runs no hooks before you trust this folder", step))
}

const MANAGED: [&str; 2] = [
    "/etc/claude-code/managed-settings.json",
    "/Library/Application Support/ClaudeCode/managed-settings.json",
];
