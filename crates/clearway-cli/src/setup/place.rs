//! Where each client keeps its configuration, going by the variables that the client itself goes by.

use super::entries::{Called, Entry, Shape};
use super::standing::{Installed, Scene, Standing};
use super::text::{Removed, Unfit};
use super::{jsonc, toml};
use crate::clients::{self, Variables};
use clearway_core::agent::Client;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// How one client is set up.
#[derive(Debug)]
pub(crate) struct Setup {
    /// What people call it.
    pub(crate) title: &'static str,
    /// What its programs are called.
    pub(crate) programs: &'static [&'static str],
    /// The directory of its own files; `None` without a home.
    pub(crate) directory: fn(&Variables) -> Option<PathBuf>,
    /// Every file there in which it looks for hooks, the one we would write first.
    pub(crate) user_files: &'static [(&'static str, Form)],
    /// Every file of a repository in which it does.
    pub(crate) repository_files: &'static [(&'static str, Form)],
    /// What an entry is made of, in the order it is written.
    pub(crate) handler: fn(&Called<'_>) -> Vec<(&'static str, Value)>,
    /// The kinds of hooks that it is known to run.
    pub(crate) kinds: &'static [&'static str],
    /// Names among its hooks that are settings of its own and no events.
    pub(crate) beside: &'static [&'static str],
    /// The setting that holds which plugins are on, if it has plugins.
    pub(crate) plugins: Option<&'static str>,
    /// Whether it would read its first file of hooks, if that has this text; if not, why.
    pub(crate) reads: fn(&str) -> Result<(), String>,
    /// What it does when nobody watches and a hook fails.
    pub(crate) unattended: &'static str,
    /// Why it runs no hooks, though they are whole.
    pub(crate) withheld: fn(&mut Scene<'_>, &Installed) -> Option<Standing>,
}

/// How a client is set up; `None` for one that has no hooks.
pub(super) fn setup_of(client: Client) -> Option<&'static Setup> {
    clients::of(client).map(|dialect| &dialect.setup)
}

/// The clients that can be set up, in the order they are spoken of.
pub(crate) fn all() -> impl Iterator<Item = Client> {
    Client::ALL.into_iter().filter(|client| setup_of(*client).is_some())
}

/// A variable that is set to something.
pub(crate) fn variable(variables: &Variables, name: &str) -> Option<PathBuf> {
    variables.get(name).filter(|value| !value.is_empty()).map(PathBuf::from)
}

/// A directory below the user's own.
pub(crate) fn below_home(variables: &Variables, name: &str) -> Option<PathBuf> {
    Some(variable(variables, "HOME")?.join(name))
}

/// The directory of a client's own files; `None` without a home.
pub(super) fn directory(client: Client, variables: &Variables) -> Option<PathBuf> {
    (setup_of(client)?.directory)(variables)
}

/// A file of hooks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HookFile {
    pub(crate) path: PathBuf,
    pub(crate) form: Form,
}

/// How a file of hooks is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Json(Shape),
    Toml,
}

impl Form {
    /// Groups of handlers in JSON.
    pub(crate) const GROUPED: Self = Self::Json(Shape::Grouped);
    /// Single handlers in JSON.
    pub(crate) const FLAT: Self = Self::Json(Shape::Flat);

    pub(crate) fn shape(self) -> Shape {
        match self {
            Self::Json(shape) => shape,
            Self::Toml => Shape::Grouped,
        }
    }

    pub(crate) fn value(self, text: &str) -> Result<Value, Unfit> {
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
    pub(super) fn without_rivals(self, text: &str, plugins: Option<&str>) -> Result<String, Unfit> {
        match self {
            Self::Json(shape) => jsonc::without_rivals(text, shape, plugins),
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
    below(directory, setup_of(client).map_or(&[], |setup| setup.user_files))
}

/// Every file of a repository in which a client looks for hooks.
pub(super) fn repository_files(client: Client, root: &Path) -> Vec<HookFile> {
    below(root, setup_of(client).map_or(&[], |setup| setup.repository_files))
}

fn below(directory: &Path, files: &[(&str, Form)]) -> Vec<HookFile> {
    files.iter().map(|(name, form)| HookFile { path: directory.join(name), form: *form }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

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
