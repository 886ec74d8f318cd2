//! Gemini CLI. Anything on standard output that is no JSON counts as permission, and only what is said after a tool
//! call reaches the model.

use super::{Dialect, Registration, claude};
use crate::hook::event::{Event, Moment};
use crate::hook::payload::{Failing, Fields, Tool, When, Words};
use crate::hook::reply::Told;
use crate::setup::{Form, Installed, NAME, Scene, Setup, Standing, no_json_with_comments, shown, variable};
use clearway_core::agent::Client;
use serde_json::{Map, Value, json};
use std::path::Path;

pub(super) static DIALECT: Dialect = Dialect {
    client: Client::Gemini,
    words: Words {
        events: EVENTS,
        tools: TOOLS,
        // Server and tool cannot be told apart in `mcp_server_tool`.
        mcp: |name| name.strip_prefix("mcp_"),
        fields: Fields {
            runs_in: &["dir_path", "directory"],
            failure: &[Failing::Holds("error")],
            ..claude::FIELDS
        },
        changed: &["/tool_response/returnDisplay/filePath"],
        goes_on: claude::GOES_ON,
        forks: claude::FORKS,
    },
    deny: |_, reason| json!({"decision": "deny", "reason": reason}),
    tell,
    hold: None,
    stop: Some(
        |_, reason| json!({"decision": "deny", "reason": reason, "continue": false, "stopReason": reason}),
    ),
    rewrite: None,
    owns: |payload, _| {
        let name = payload.get("hook_event_name").and_then(Value::as_str).unwrap_or_default();
        payload.get("timestamp").is_some() && OWN_EVENTS.contains(&name)
    },
    setup: Setup {
        title: "Gemini CLI",
        programs: &["gemini"],
        directory: |variables| {
            let home = variable(variables, "GEMINI_CLI_HOME").or_else(|| variable(variables, "HOME"));
            Some(home?.join(".gemini"))
        },
        user_files: &[("settings.json", Form::GROUPED)],
        repository_files: &[(".gemini/settings.json", Form::GROUPED)],
        handler: |called| {
            vec![
                ("type", json!("command")),
                ("name", json!(NAME)),
                ("command", called.line_if_there()),
                ("timeout", json!(called.timeout_ms)),
            ]
        },
        kinds: &["command"],
        // Settings that stood among its hooks once.
        beside: &["enabled", "disabled", "notifications"],
        plugins: None,
        reads,
        unattended: "unattended: a hook that is missing or crashes blocks the tool call, one that is too slow does not",
        withheld,
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
    ("write_file", Tool::Replaces(&["file_path"])),
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

/// It takes comments out before it reads JSON, and nothing else.
fn reads(text: &str) -> Result<(), String> {
    if text.starts_with('\u{feff}') {
        return Err("it begins with a byte order mark".to_owned());
    }
    no_json_with_comments(text)
        .map_err(|error| format!("it reads JSON with comments, without trailing commas ({error})"))
}

const SYSTEM: &str = "/etc/gemini-cli/settings.json";

fn withheld(scene: &mut Scene<'_>, _: &Installed) -> Option<Standing> {
    let is_off = |layer: &Value| {
        let says = |parent: &str, name: &str| {
            layer.get(parent).and_then(|parent| parent.get(name)) == Some(&json!(false))
        };
        says("hooksConfig", "enabled") || says("hooks", "enabled") || says("tools", "enableHooks")
    };
    let system = scene.json(Path::new(SYSTEM));
    if is_off(&system) {
        return Some(Standing::NotEnforceable(format!("{SYSTEM} switches hooks off")));
    }
    let mut layers = scene.in_repository(&[".gemini/settings.json"]);
    let user = scene.directory.join("settings.json");
    let value = scene.json(&user);
    // It asks unless it is told not to, and the file for all users has the last word.
    let asks = |layer: &Value| layer.pointer("/security/folderTrust/enabled").and_then(Value::as_bool);
    let asks_trust = asks(&system).or_else(|| asks(&value)).unwrap_or(true);
    layers.push((user, value));
    for (path, layer) in &layers {
        if is_off(layer) {
            let step = format!("set \"hooksConfig\": {{\"enabled\": true}} in {}", shown(path));
            return Some(Standing::left("its hooks are switched off", step));
        }
        let disabled = ["/hooksConfig/disabled", "/hooks/disabled"]
            .iter()
            .filter_map(|at| layer.pointer(at)?.as_array());
        if disabled.flatten().any(|name| name == NAME) {
            let step = format!("take \"{}\" out of the disabled hooks in {}", NAME, shown(path));
            return Some(Standing::left("its hooks of clearway are disabled", step));
        }
    }
    let folders = scene.json(&scene.directory.join("trustedFolders.json"));
    let trusted = scene.said_of_folder(|folder| {
        let level = folders.get(folder)?.as_str()?;
        Some(level != "DO_NOT_TRUST")
    });
    if trusted.unwrap_or(!asks_trust) {
        return None;
    }
    let step = format!("start it once and trust the folder: cd {} && gemini", scene.folder());
    Some(Standing::left("it is restricted before you trust this folder", step))
}
