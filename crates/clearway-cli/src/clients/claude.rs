//! Claude Code, the dialect that others imitate.

use super::{Dialect, Registration};
use crate::hook::event::{Event, Moment};
use crate::hook::payload::{Fields, Tool, When, Words};
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
        mcp: tool_of_server,
        fields: FIELDS,
        // The second is there for commands, with the setting `bashEditDiffEnabled` or where commands do the editing.
        changed: &["/tool_response/filePath", "/tool_response/bashEditDiff/changedFiles"],
        goes_on: GOES_ON,
        forks: FORKS,
    },
    deny,
    tell,
    hold: Some(hold),
    stop: Some(stop),
    rewrite: None,
    owns: |payload, variables| {
        let told = variables.get("CLAUDE_CODE_SESSION_ID").filter(|told| !told.is_empty());
        let is_told =
            told.is_some_and(|told| payload.get("session_id").and_then(Value::as_str) == Some(told));
        is_told || is_shaped(payload)
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
        kinds: &["command", "http", "mcp_tool", "prompt", "agent"],
        beside: &[],
        plugins: Some("enabledPlugins"),
        reads,
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

/// Whether a payload about a tool is Claude Code's, whatever hook it was sent to: its ids of calls are those of its
/// models, and it has none of the fields by which those who imitate it are known.
fn is_shaped(payload: &Value) -> bool {
    let of_others = ["cursor_version", "conversation_id", "sessionId", "timestamp", "turn_id"];
    let id = payload.get("tool_use_id").and_then(Value::as_str).unwrap_or_default();
    id.starts_with("toolu_")
        && payload.get("transcript_path").is_some()
        && !of_others.iter().any(|field| payload.get(field).is_some())
}

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
    ("PostToolUseFailure", When::AfterFailure),
    ("Stop", When::TurnEnd),
    ("SubagentStop", When::SubagentEnd),
];

/// As those name them too who imitate it.
pub(super) const FIELDS: Fields = Fields {
    event: &["hook_event_name"],
    session: &["session_id"],
    subagent: &["agent_id"],
    tool: &["tool_name"],
    input: &["tool_input"],
    result: &["tool_response"],
    failure: &[],
    tool_use: &["tool_use_id"],
    cwd: &["cwd"],
    reason: &["reason"],
    source: &["source"],
    put: &["new_string", "content"],
    whole: &["content"],
    runs_in: &[],
};

/// After `/clear`, and when another session is taken up in its place.
pub(super) const GOES_ON: &[&str] = &["clear", "resume"];

pub(super) const FORKS: &[&str] = &["fork"];

/// Out of `mcp__server__tool`.
pub(super) fn tool_of_server(name: &str) -> Option<&str> {
    name.strip_prefix("mcp__")?.rsplit_once("__").map(|(_, tool)| tool)
}

pub(super) const TOOLS: &[(&str, Tool)] = &[
    ("Edit", Tool::Writes(&["file_path"])),
    ("Write", Tool::Replaces(&["file_path"])),
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

/// The model reads the reason and goes on.
pub(super) fn hold(text: &str) -> Value {
    json!({"decision": "block", "reason": text})
}

/// Stopping beats every decision; the denial beside it is for versions that do not know it.
fn stop(event: &Event, reason: &str) -> Value {
    let mut document = deny(event, reason);
    document["continue"] = json!(false);
    document["stopReason"] = json!(reason);
    document
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

/// It reads plain JSON, after a mark or not, and loads nothing of a file in which a setting has another type than its
/// own.
fn reads(text: &str) -> Result<(), String> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if text.trim().is_empty() {
        return Ok(());
    }
    let settings: Value = serde_json::from_str(text)
        .map_err(|error| format!("it reads plain JSON, without comments and trailing commas ({error})"))?;
    let is_wrong =
        |(at, kind, _): &&(&str, Kind, &str)| settings.pointer(at).is_some_and(|found| !kind(found));
    TYPES.iter().find(is_wrong).map_or(Ok(()), |(at, _, wanted)| {
        Err(format!("{} is to be {wanted}", at.trim_start_matches('/').replace('/', ".")))
    })
}

type Kind = fn(&Value) -> bool;

/// Settings that people write by hand, each with what it has to be.
const TYPES: &[(&str, Kind, &str)] = &[
    ("/disableAllHooks", Value::is_boolean, "true or false"),
    ("/model", Value::is_string, "a text"),
    ("/env", Value::is_object, "an object"),
    ("/permissions", Value::is_object, "an object"),
    ("/permissions/allow", Value::is_array, "a list"),
    ("/permissions/deny", Value::is_array, "a list"),
    ("/permissions/ask", Value::is_array, "a list"),
    ("/permissions/additionalDirectories", Value::is_array, "a list"),
    ("/permissions/defaultMode", Value::is_string, "a text"),
    ("/cleanupPeriodDays", Value::is_u64, "a number of days, from 0 on"),
    ("/sandbox", Value::is_object, "an object"),
    ("/includeCoAuthoredBy", Value::is_boolean, "true or false"),
    ("/statusLine", Value::is_object, "an object"),
    ("/outputStyle", Value::is_string, "a text"),
    ("/apiKeyHelper", Value::is_string, "a text"),
    ("/enabledPlugins", Value::is_object, "an object"),
];

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
    if let Some((path, _)) = layers.iter().find(|(_, layer)| layer.pointer(SIMPLE).is_some_and(is_on)) {
        let step = format!("remove \"CLAUDE_CODE_SIMPLE\" from \"env\" in {}", shown(path));
        return Some(Standing::left("CLAUDE_CODE_SIMPLE switches all its hooks off", step));
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

/// The variable of a mode without hooks, where settings give it.
const SIMPLE: &str = "/env/CLAUDE_CODE_SIMPLE";

/// Whether a variable of its environment says yes.
fn is_on(value: &Value) -> bool {
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned).to_lowercase();
    ["1", "true", "yes", "on"].contains(&text.as_str())
}

const MANAGED: [&str; 2] = [
    "/etc/claude-code/managed-settings.json",
    "/Library/Application Support/ClaudeCode/managed-settings.json",
];
