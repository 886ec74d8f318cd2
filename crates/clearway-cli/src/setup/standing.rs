//! Whether a client will run our hooks, going by its own files: what they switch off, what they trust, what an
//! administrator forbids. Of what a file does not say, trust counts as not given and a switch as not touched, as the
//! client takes it. What is told on a client's command line or in its environment is not seen here.

use super::found::{State, state};
use super::place::{Form, HookFile, setup_of, user_files};
use super::shapes::mistake;
use super::text::Unfit;
use super::{entries, jsonc, shown, toml};
use crate::Host;
use clearway_core::agent::Client;
use clearway_core::shell;
use serde_json::Value;
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

    pub(crate) fn left(why: impl Into<String>, step: impl Into<String>) -> Self {
        Self::StepLeft { why: why.into(), step: step.into(), is_damage: false }
    }

    fn damage(why: impl Into<String>) -> Self {
        Self::StepLeft { why: why.into(), step: INIT.to_owned(), is_damage: true }
    }
}

const INIT: &str = "run: clearway init";

/// A client, and where it is looked at.
pub(crate) struct Scene<'a> {
    pub(super) client: Client,
    /// Its own directory.
    pub(crate) directory: &'a Path,
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
        if let Some(why) = unread(scene.client, &file, &text) {
            return to_mend(format!("it does not load {}: {why}", shown(&file.path)));
        }
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
                let installed = Installed { file, document, binary };
                let stops = broken(scene, &installed).or_else(|| dropped(scene, &installed));
                return stops.unwrap_or_else(|| switched_off(scene, &installed));
            }
        }
    }
    match damaged {
        Some(why) => Standing::damage(why),
        None => Standing::left("it has no hooks of ours", INIT),
    }
}

/// Bytes of a file of settings; a longer one would be read for minutes.
const FILE_BYTES_MAX: usize = 1_024 * 1_024;

/// Why a client would not load a file, or we would not, whatever is in it.
pub(super) fn unread(client: Client, file: &HookFile, text: &str) -> Option<String> {
    if text.len() > FILE_BYTES_MAX {
        return Some(format!("it is longer than {} KiB, which is no settings file", FILE_BYTES_MAX / 1_024));
    }
    let setup = setup_of(client)?;
    let is_first = setup.user_files.first().is_some_and(|(name, _)| file.path.ends_with(name));
    if is_first { (setup.reads)(text).err() } else { None }
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
pub(crate) struct Installed {
    pub(crate) file: HookFile,
    pub(crate) document: Value,
    binary: String,
}

fn broken(scene: &Scene<'_>, installed: &Installed) -> Option<Standing> {
    let binary = Path::new(&installed.binary);
    if !binary.is_absolute() || scene.host.can_run(binary) {
        return None;
    }
    Some(Standing::damage(format!("its hooks call {}, which cannot be run", shown(binary))))
}

/// Over one entry that is no hook a client may drop the whole file.
fn dropped(scene: &Scene<'_>, installed: &Installed) -> Option<Standing> {
    let setup = setup_of(scene.client)?;
    let shape = installed.file.form.shape();
    let why = mistake(&installed.document, shape, setup.kinds, setup.beside)?;
    let path = shown(&installed.file.path);
    let why = format!("it may load no hook of {path}: {why}");
    Some(Standing::left(why, format!("mend that entry by hand in {path}")))
}

fn switched_off(scene: &mut Scene<'_>, installed: &Installed) -> Standing {
    let withheld = setup_of(scene.client).and_then(|setup| (setup.withheld)(scene, installed));
    withheld.unwrap_or(Standing::Active)
}

impl Scene<'_> {
    /// What a file holds, if it is there and can be read.
    pub(crate) fn text(&mut self, path: &Path) -> Option<String> {
        self.host.read_text(path).ok().flatten()
    }

    pub(crate) fn json(&mut self, path: &Path) -> Value {
        self.text(path).and_then(|text| jsonc::value(&text).ok()).unwrap_or_default()
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.host.surroundings().variables.get("HOME").map(PathBuf::from).unwrap_or_default()
    }

    /// The client's directory by a path without links.
    pub(crate) fn real_directory(&mut self) -> PathBuf {
        let name = self.directory.file_name().unwrap_or_default().to_string_lossy();
        let parent = self.directory.parent().unwrap_or(Path::new("/"));
        self.host.destination(parent, &name).map_or_else(|_| self.directory.to_owned(), |found| found.file)
    }

    pub(crate) fn in_repository(&mut self, names: &[&str]) -> Vec<(PathBuf, Value)> {
        let Some(root) = self.root.map(Path::to_owned) else { return Vec::new() };
        let read = |name: &&str| {
            let path = root.join(name);
            let value = self.json(&path);
            (path, value)
        };
        names.iter().map(read).collect()
    }

    /// The nearest directory at or above the repository for which a file says something.
    pub(crate) fn said_of_folder(&self, said: impl Fn(&str) -> Option<bool>) -> Option<bool> {
        let root = self.root?;
        root.ancestors().find_map(|folder| said(&folder.display().to_string()))
    }

    pub(crate) fn folder(&self) -> String {
        shell::word(&self.root.unwrap_or(Path::new(".")).display().to_string())
    }
}

/// Whether a field says yes.
pub(crate) fn is_true(value: &Value, name: &str) -> bool {
    value.get(name) == Some(&Value::Bool(true))
}
