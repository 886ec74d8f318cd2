//! Where each client keeps its configuration, going by the variables that the client itself goes by.

use super::entries::{Entry, Shape};
use super::text::{Removed, Unfit};
use super::{jsonc, toml};
use clearway_core::agent::Client;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The clients that can be set up, in the order they are spoken of.
pub(crate) const CLIENTS: [Client; 5] =
    [Client::ClaudeCode, Client::Codex, Client::Gemini, Client::Cursor, Client::Copilot];

/// What people call a client.
pub(crate) fn title(client: Client) -> &'static str {
    match client {
        Client::ClaudeCode => "Claude Code",
        Client::Codex => "Codex",
        Client::Gemini => "Gemini CLI",
        Client::Cursor => "Cursor",
        Client::Copilot => "Copilot CLI",
        Client::Manual | Client::Terminal => "",
    }
}

/// What the programs of a client are called.
pub(super) fn programs(client: Client) -> &'static [&'static str] {
    match client {
        Client::ClaudeCode => &["claude"],
        Client::Codex => &["codex"],
        Client::Gemini => &["gemini"],
        Client::Cursor => &["cursor-agent", "cursor"],
        Client::Copilot => &["copilot"],
        Client::Manual | Client::Terminal => &[],
    }
}

/// The directory of a client's own files; `None` without a home.
pub(super) fn directory(client: Client, variables: &BTreeMap<String, String>) -> Option<PathBuf> {
    let set = |name: &str| variables.get(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let home = || set("HOME");
    match client {
        Client::ClaudeCode => set("CLAUDE_CONFIG_DIR").or_else(|| Some(home()?.join(".claude"))),
        Client::Codex => set("CODEX_HOME").or_else(|| Some(home()?.join(".codex"))),
        Client::Gemini => Some(set("GEMINI_CLI_HOME").or_else(home)?.join(".gemini")),
        Client::Cursor => Some(home()?.join(".cursor")),
        Client::Copilot => set("COPILOT_HOME").or_else(|| Some(home()?.join(".copilot"))),
        Client::Manual | Client::Terminal => None,
    }
}

/// A file of hooks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct HookFile {
    pub(super) path: PathBuf,
    pub(super) form: Form,
}

/// How a file of hooks is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Json(Shape),
    Toml,
}

impl Form {
    pub(super) fn shape(self) -> Shape {
        match self {
            Self::Json(shape) => shape,
            Self::Toml => Shape::Grouped,
        }
    }

    pub(super) fn value(self, text: &str) -> Result<Value, Unfit> {
        match self {
            Self::Json(_) => jsonc::value(text),
            Self::Toml => toml::value(text),
        }
    }

    pub(super) fn install(self, text: &str, entries: &[Entry]) -> Result<String, Unfit> {
        match self {
            Self::Json(shape) => jsonc::install(text, entries, shape),
            Self::Toml => toml::install(text, entries),
        }
    }

    /// The text without other tools for this; in tables they are left to a person.
    pub(super) fn without_rivals(self, text: &str) -> Result<String, Unfit> {
        match self {
            Self::Json(shape) => jsonc::without_rivals(text, shape),
            Self::Toml => Ok(text.to_owned()),
        }
    }

    pub(super) fn remove(self, text: &str, original: Option<&str>) -> Result<Removed, Unfit> {
        match self {
            Self::Json(shape) => jsonc::remove(text, original, shape),
            Self::Toml => toml::remove(text, original),
        }
    }
}

/// Every file of the user in which a client looks for hooks, the one we would write first.
pub(super) fn user_files(client: Client, directory: &Path) -> Vec<HookFile> {
    let file = |name: &str, form| HookFile { path: directory.join(name), form };
    let (grouped, flat) = (Form::Json(Shape::Grouped), Form::Json(Shape::Flat));
    match client {
        Client::ClaudeCode | Client::Gemini => vec![file("settings.json", grouped)],
        Client::Codex => vec![file("hooks.json", grouped), file("config.toml", Form::Toml)],
        Client::Cursor => vec![file("hooks.json", flat)],
        Client::Copilot => vec![file("hooks/clearway.json", flat)],
        Client::Manual | Client::Terminal => Vec::new(),
    }
}

/// Every file of a repository in which a client looks for hooks.
pub(super) fn repository_files(client: Client, root: &Path) -> Vec<HookFile> {
    let file = |name: &str, form| HookFile { path: root.join(name), form };
    let (grouped, flat) = (Form::Json(Shape::Grouped), Form::Json(Shape::Flat));
    match client {
        Client::ClaudeCode => {
            vec![file(".claude/settings.json", grouped), file(".claude/settings.local.json", grouped)]
        }
        Client::Codex => vec![file(".codex/hooks.json", grouped), file(".codex/config.toml", Form::Toml)],
        Client::Gemini => vec![file(".gemini/settings.json", grouped)],
        Client::Cursor => vec![file(".cursor/hooks.json", flat)],
        Client::Copilot => vec![file(".github/hooks/clearway.json", flat)],
        Client::Manual | Client::Terminal => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_variables_of_a_client_win_over_home() {
        let variables = |own: &[(&str, &str)]| -> BTreeMap<String, String> {
            let home = [("HOME", "/home/a")];
            own.iter().chain(&home).map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
        };
        for (client, own, plain, moved) in [
            (Client::ClaudeCode, "CLAUDE_CONFIG_DIR", "/home/a/.claude", "/x"),
            (Client::Codex, "CODEX_HOME", "/home/a/.codex", "/x"),
            (Client::Gemini, "GEMINI_CLI_HOME", "/home/a/.gemini", "/x/.gemini"),
            (Client::Cursor, "XDG_CONFIG_HOME", "/home/a/.cursor", "/home/a/.cursor"),
            (Client::Copilot, "COPILOT_HOME", "/home/a/.copilot", "/x"),
        ] {
            assert_eq!(directory(client, &variables(&[])), Some(plain.into()));
            assert_eq!(directory(client, &variables(&[(own, "")])), Some(plain.into()));
            assert_eq!(directory(client, &variables(&[(own, "/x")])), Some(moved.into()));
            assert_eq!(directory(client, &BTreeMap::new()), None);
        }
    }
}
