//! Whether a client will run our hooks: what its own files say, and nothing that it might.
//!
//! The judgement is never kinder than the client: what cannot be told counts as a step that is left.

use super::found::{Found, State, ours, state};
use super::journal::hex;
use super::place::{Form, HookFile, user_files};
use super::text::Unfit;
use super::{entries, jsonc, shown, toml};
use crate::Host;
use clearway_core::agent::Client;
use clearway_core::shell;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};

/// How a client stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    /// It runs our hooks.
    Active,
    /// It will, after this.
    StepLeft {
        /// What keeps it from that.
        why: String,
        /// What to do.
        step: String,
        /// Whether something that was in order is so no more.
        is_damage: bool,
    },
    /// It will not.
    NotEnforceable(String),
}

impl Standing {
    /// The word for programs and people.
    pub(crate) fn word(&self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::StepLeft { .. } => "one-step-left",
            Self::NotEnforceable(_) => "not-enforceable",
        }
    }

    fn left(why: impl Into<String>, step: impl Into<String>) -> Self {
        Self::StepLeft { why: why.into(), step: step.into(), is_damage: false }
    }

    fn damage(why: impl Into<String>) -> Self {
        Self::StepLeft { why: why.into(), step: INIT.to_owned(), is_damage: true }
    }
}

const INIT: &str = "run: clearway init";

/// A client, and where it is looked at.
pub(super) struct Scene<'a> {
    pub(super) client: Client,
    /// Its own directory.
    pub(super) directory: &'a Path,
    /// The repository, if there is one.
    pub(super) root: Option<&'a Path>,
    pub(super) host: &'a mut dyn Host,
}

/// Judges a client.
pub(super) fn judge(scene: &mut Scene<'_>) -> Standing {
    let files = user_files(scene.client, scene.directory);
    let mut damaged = None;
    for file in files {
        let Some(text) = scene.text(&file.path) else { continue };
        let Ok(document) = file.form.value(&text) else {
            return to_mend(format!("{} cannot be read", shown(&file.path)));
        };
        let state = state(scene.client, &document, file.form.shape());
        if let Some(Unfit(why)) = unfit(scene.client, &file, &text).filter(|_| !state.is_whole()) {
            return to_mend(format!("{} cannot be edited: {why}", shown(&file.path)));
        }
        match state {
            State::Missing => {}
            State::Changed => damaged = Some(format!("its hooks in {} were changed", shown(&file.path))),
            State::Whole { binary, .. } => {
                let installed = Installed { file, text, document, binary };
                return broken(scene, &installed).unwrap_or_else(|| switched_off(scene, &installed));
            }
        }
    }
    match damaged {
        Some(why) => Standing::damage(why),
        None => Standing::left("it has no hooks of ours", INIT),
    }
}

/// What only a person can do: `init` would be refused as often as it is run.
fn to_mend(why: String) -> Standing {
    Standing::left(why, format!("mend that file by hand, then {INIT}"))
}

/// Why our hooks would find no place in a file that is for them.
fn unfit(client: Client, file: &HookFile, text: &str) -> Option<Unfit> {
    let is_ours_to_write = file.form != Form::Toml || toml::carries_hooks(text);
    let installed = || file.form.install(text, &entries::entries(client, entries::NAME, false));
    is_ours_to_write.then(installed).and_then(Result::err)
}

/// Our hooks as they were found.
struct Installed {
    file: HookFile,
    text: String,
    document: Value,
    binary: String,
}

fn broken(scene: &Scene<'_>, installed: &Installed) -> Option<Standing> {
    let binary = Path::new(&installed.binary);
    if !binary.is_absolute() || scene.host.can_run(binary) {
        return None;
    }
    Some(Standing::damage(format!("its hooks call {}, which cannot be run", shown(binary))))
}

fn switched_off(scene: &mut Scene<'_>, installed: &Installed) -> Standing {
    let standing = match scene.client {
        Client::ClaudeCode => claude(scene),
        Client::Codex => codex(scene, installed),
        Client::Gemini => gemini(scene),
        Client::Copilot => copilot(scene),
        Client::Cursor | Client::Manual | Client::Terminal => None,
    };
    standing.unwrap_or(Standing::Active)
}

impl Scene<'_> {
    /// What a file holds, if it is there and can be read.
    fn text(&mut self, path: &Path) -> Option<String> {
        self.host.read_text(path).ok().flatten()
    }

    fn json(&mut self, path: &Path) -> Value {
        self.text(path).and_then(|text| jsonc::value(&text).ok()).unwrap_or_default()
    }

    fn home(&self) -> PathBuf {
        self.host.surroundings().variables.get("HOME").map(PathBuf::from).unwrap_or_default()
    }

    /// The client's directory by a path without links.
    fn real_directory(&mut self) -> PathBuf {
        let name = self.directory.file_name().unwrap_or_default().to_string_lossy();
        let parent = self.directory.parent().unwrap_or(Path::new("/"));
        self.host.destination(parent, &name).map_or_else(|_| self.directory.to_owned(), |found| found.file)
    }

    fn in_repository(&mut self, names: &[&str]) -> Vec<(PathBuf, Value)> {
        let Some(root) = self.root.map(Path::to_owned) else { return Vec::new() };
        let read = |name: &&str| {
            let path = root.join(name);
            let value = self.json(&path);
            (path, value)
        };
        names.iter().map(read).collect()
    }

    /// The nearest directory at or above the repository for which a file says something.
    fn said_of_folder(&self, said: impl Fn(&str) -> Option<bool>) -> Option<bool> {
        let root = self.root?;
        root.ancestors().find_map(|folder| said(&folder.display().to_string()))
    }

    fn folder(&self) -> String {
        shell::word(&self.root.unwrap_or(Path::new(".")).display().to_string())
    }
}

fn claude(scene: &mut Scene<'_>) -> Option<Standing> {
    for managed in CLAUDE_MANAGED {
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

const CLAUDE_MANAGED: [&str; 2] = [
    "/etc/claude-code/managed-settings.json",
    "/Library/Application Support/ClaudeCode/managed-settings.json",
];

const CODEX_REQUIREMENTS: &str = "/etc/codex/requirements.toml";

fn codex(scene: &mut Scene<'_>, installed: &Installed) -> Option<Standing> {
    let requirements = scene.text(Path::new(CODEX_REQUIREMENTS)).and_then(|text| toml::value(&text).ok());
    if requirements.is_some_and(|policy| is_true(&policy, "allow_managed_hooks_only")) {
        return Some(Standing::NotEnforceable(format!("{CODEX_REQUIREMENTS} admits managed hooks only")));
    }
    let is_json = installed.file.form != Form::Toml;
    if is_json && serde_json::from_str::<Value>(&installed.text).is_err() {
        let step = format!("take comments, trailing commas and marks out of {}", shown(&installed.file.path));
        return Some(Standing::left("it reads plain JSON only", step));
    }
    let config = scene.directory.join("config.toml");
    let config = match scene.text(&config).map(|text| toml::value(&text)) {
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
    let of = |found: &Found| sources.iter().find_map(|source| remembered.get(codex_key(source, found)));
    if ours.iter().any(|found| of(found).is_some_and(|state| state.get("enabled") == Some(&json!(false)))) {
        return Some(Standing::left(
            "some of its hooks are switched off",
            "start codex and enable them with: /hooks",
        ));
    }
    let is_trusted = |found: &Found| {
        of(found).and_then(|state| state.get("trusted_hash")?.as_str()) == Some(&codex_hash(found))
    };
    if ours.iter().all(is_trusted) {
        return None;
    }
    let why = "it runs no hook before you trust it";
    Some(Standing::left(why, "start codex and trust the hooks of clearway in its review, or with: /hooks"))
}

/// What Codex remembers a hook by.
fn codex_key(source: &Path, found: &Found) -> String {
    format!("{}:{}:{}:{}", source.display(), snake_case(&found.event), found.place.0, found.place.1)
}

/// What Codex compares when it asks whether a hook is the one that was trusted: a digest of its definition, written as
/// JSON whose keys are in order.
fn codex_hash(found: &Found) -> String {
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

const GEMINI_SYSTEM: &str = "/etc/gemini-cli/settings.json";

fn gemini(scene: &mut Scene<'_>) -> Option<Standing> {
    let is_off = |layer: &Value| {
        let says = |parent: &str, name: &str| {
            layer.get(parent).and_then(|parent| parent.get(name)) == Some(&json!(false))
        };
        says("hooksConfig", "enabled") || says("hooks", "enabled") || says("tools", "enableHooks")
    };
    if is_off(&scene.json(Path::new(GEMINI_SYSTEM))) {
        return Some(Standing::NotEnforceable(format!("{GEMINI_SYSTEM} switches hooks off")));
    }
    let mut layers = scene.in_repository(&[".gemini/settings.json"]);
    let user = scene.directory.join("settings.json");
    let value = scene.json(&user);
    let asks_trust = value.pointer("/security/folderTrust/enabled") == Some(&json!(true));
    layers.push((user, value));
    for (path, layer) in &layers {
        if is_off(layer) {
            let step = format!("set \"hooksConfig\": {{\"enabled\": true}} in {}", shown(path));
            return Some(Standing::left("its hooks are switched off", step));
        }
        let disabled = ["/hooksConfig/disabled", "/hooks/disabled"]
            .iter()
            .filter_map(|at| layer.pointer(at)?.as_array());
        if disabled.flatten().any(|name| name == entries::NAME) {
            let step = format!("take \"{}\" out of the disabled hooks in {}", entries::NAME, shown(path));
            return Some(Standing::left("its hooks of clearway are disabled", step));
        }
    }
    let folders = scene.json(&scene.directory.join("trustedFolders.json"));
    let trusted = scene.said_of_folder(|folder| {
        let level = folders.get(folder)?.as_str()?;
        Some(level != "DO_NOT_TRUST")
    });
    if !asks_trust || trusted == Some(true) {
        return None;
    }
    let step = format!("start it once and trust the folder: cd {} && gemini", scene.folder());
    Some(Standing::left("it is restricted before you trust this folder", step))
}

fn copilot(scene: &mut Scene<'_>) -> Option<Standing> {
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

fn is_true(value: &Value, name: &str) -> bool {
    value.get(name) == Some(&Value::Bool(true))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::setup::entries::Shape;

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
        let listed: Vec<(String, String)> = ours(&document, Shape::Grouped)
            .iter()
            .map(|found| (codex_key(Path::new("/c/hooks.json"), found), codex_hash(found)))
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
