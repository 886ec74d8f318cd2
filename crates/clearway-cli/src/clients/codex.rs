//! OpenAI Codex. It speaks like Claude Code, takes several files in one patch, and lets pass whatever it cannot read: a
//! bare `allow` or an `ask` would be such a thing.

use super::claude::{self, deny, hold, tell};
use super::{Dialect, Registration};
use crate::hook::payload::{Fields, Tool, When, Words};
use crate::setup::{
    Form, Found, Installed, Scene, Setup, Standing, below_home, hex, is_true, ours, shown, variable,
};
use clearway_core::agent::Client;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::path::Path;

pub(super) static DIALECT: Dialect = Dialect {
    client: Client::Codex,
    words: Words {
        events: EVENTS,
        tools: TOOLS,
        mcp: claude::tool_of_server,
        fields: Fields { runs_in: &["workdir"], ..claude::FIELDS },
        changed: &[],
        goes_on: claude::GOES_ON,
        forks: claude::FORKS,
    },
    deny,
    tell,
    hold: Some(hold),
    stop: None,
    rewrite: Some(|event, command| {
        json!({"hookSpecificOutput": {
            "hookEventName": event.name,
            "permissionDecision": "allow",
            "updatedInput": {"command": command},
        }})
    }),
    owns: |payload, _| payload.get("turn_id").is_some() && payload.get("model").is_some(),
    setup: Setup {
        title: "Codex",
        programs: &["codex"],
        directory: |variables| variable(variables, "CODEX_HOME").or_else(|| below_home(variables, ".codex")),
        user_files: &[("hooks.json", Form::GROUPED), ("config.toml", Form::Toml)],
        repository_files: &[(".codex/hooks.json", Form::GROUPED), (".codex/config.toml", Form::Toml)],
        handler: |called| {
            vec![("type", json!("command")), ("command", called.line()), ("timeout", called.seconds())]
        },
        kinds: &["command", "mcp_tool", "prompt", "agent"],
        // What it remembers of the trust in its hooks.
        beside: &["state"],
        plugins: None,
        reads,
        unattended: "unattended: it goes on when a hook fails, and cannot be told otherwise",
        withheld,
    },
    registered: &[
        entry("SessionStart", None),
        entry("PreToolUse", Some("*")),
        entry("PostToolUse", Some("Bash|apply_patch|mcp__.*")),
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

/// It reads plain JSON, and no hook of a file that is none.
fn reads(text: &str) -> Result<(), String> {
    if text.trim().is_empty() {
        return Ok(());
    }
    let read = serde_json::from_str::<Value>(text);
    read.map(drop).map_err(|error| {
        format!("it reads plain JSON, without comments, commas at the end and marks ({error})")
    })
}

const REQUIREMENTS: &str = "/etc/codex/requirements.toml";

fn withheld(scene: &mut Scene<'_>, installed: &Installed) -> Option<Standing> {
    let requirements = scene.text(Path::new(REQUIREMENTS)).and_then(|text| Form::Toml.value(&text).ok());
    if requirements.is_some_and(|policy| is_true(&policy, "allow_managed_hooks_only")) {
        return Some(Standing::NotEnforceable(format!("{REQUIREMENTS} admits managed hooks only")));
    }
    let config = scene.directory.join("config.toml");
    let config = match scene.text(&config).map(|text| Form::Toml.value(&text)) {
        None => Value::Null,
        Some(Ok(config)) => config,
        Some(Err(_)) => {
            let step = format!("mend {}", shown(&config));
            return Some(Standing::left("its configuration cannot be read", step));
        }
    };
    let features = config.get("features").cloned().unwrap_or_default();
    if ["hooks", "codex_hooks"].iter().any(|name| features.get(name) == Some(&json!(false))) {
        let step =
            format!("set hooks = true below [features] in {}", shown(&scene.directory.join("config.toml")));
        return Some(Standing::left("its hooks are switched off", step));
    }
    let remembered = config.get("hooks").and_then(|hooks| hooks.get("state")).cloned().unwrap_or_default();
    let name = installed.file.path.file_name().unwrap_or_default();
    let sources = [installed.file.path.clone(), scene.real_directory().join(name)];
    let ours = ours(&installed.document, installed.file.form.shape());
    let of = |found: &Found| sources.iter().find_map(|source| remembered.get(key_of(source, found)));
    if ours.iter().any(|found| of(found).is_some_and(|state| state.get("enabled") == Some(&json!(false)))) {
        return Some(Standing::left(
            "some of its hooks are switched off",
            "start codex and enable them with: /hooks",
        ));
    }
    let is_trusted = |found: &Found| {
        of(found).and_then(|state| state.get("trusted_hash")?.as_str()) == Some(&hash_of(found))
    };
    if ours.iter().all(is_trusted) {
        return None;
    }
    let why = "it runs no hook before you trust it";
    Some(Standing::left(why, "start codex and trust the hooks of clearway in its review, or with: /hooks"))
}

/// What Codex remembers a hook by.
fn key_of(source: &Path, found: &Found) -> String {
    format!("{}:{}:{}:{}", source.display(), snake_case(&found.event), found.place.0, found.place.1)
}

/// What Codex compares when it asks whether a hook is the one that was trusted: a digest of its definition, written as
/// JSON whose keys are in order.
fn hash_of(found: &Found) -> String {
    let field = |name: &str| found.handler.get(name).cloned().unwrap_or_default();
    let (command, timeout) = (field("command"), field("timeout"));
    let handler = json!({"async": false, "command": command, "timeout": timeout, "type": "command"});
    let identity = match &found.matcher {
        Some(matcher) => {
            json!({"event_name": snake_case(&found.event), "hooks": [handler], "matcher": matcher})
        }
        None => json!({"event_name": snake_case(&found.event), "hooks": [handler]}),
    };
    format!("sha256:{}", hex(&Sha256::digest(identity.to_string().as_bytes())))
}

fn snake_case(name: &str) -> String {
    let mut snake = String::new();
    for letter in name.chars() {
        if letter.is_ascii_uppercase() && !snake.is_empty() {
            snake.push('_');
        }
        snake.push(letter.to_ascii_lowercase());
    }
    snake
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What Codex 0.166.0 itself lists for a file of these hooks.
    #[test]
    fn a_definition_has_the_digest_that_codex_gives_it() {
        let document = json!({"hooks": {
            "PreToolUse": [{"matcher": "*", "hooks": [
                {"type": "command", "command": "/usr/bin/clearway hook codex", "timeout": 5}]}],
            "SessionStart": [{"hooks": [
                {"type": "command", "command": "/usr/bin/clearway hook codex", "timeout": 5}]}],
            "SessionEnd": [{"hooks": [
                {"type": "command", "command": "/usr/bin/clearway hook codex", "timeout": 3}]}],
        }});
        let listed: Vec<(String, String)> = ours(&document, Form::GROUPED.shape())
            .iter()
            .map(|found| (key_of(Path::new("/c/hooks.json"), found), hash_of(found)))
            .collect();
        for (key, hash) in [
            ("pre_tool_use", "21671b74c4cb320c3853f8b6fc01da6794ab39563343e76e7592c0b53e73c087"),
            ("session_start", "7b9662e22ede9e00964486dbddb98d2e810d6a6b321e2377ee792f27fc46e211"),
            ("session_end", "1bcc7f140f421dd814791e1e27bfbfc2be9508d27fcf535e451cc73e06d47b3e"),
        ] {
            let wanted = (format!("/c/hooks.json:{key}:0:0"), format!("sha256:{hash}"));
            assert!(listed.contains(&wanted), "{wanted:?} in {listed:?}");
        }
    }
}
