//! Answers about the configuration.

use schemars::JsonSchema;
use serde::Serialize;

/// `config show`
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct SettingsReply {
    /// Every key in the order of the reference.
    pub settings: Vec<Setting>,
    /// `CLEARWAY_…` variables that nothing reads.
    pub unknown_variables: Vec<UnknownVariableReply>,
}

/// One value and where it came from.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Setting {
    /// As written in a file, with dots between the tables.
    pub key: String,
    /// The value in force as text; null where nothing is set.
    pub value: Option<String>,
    /// Where it came from: file and line, variable, flag, posture or default.
    pub source: String,
    /// `default`, `user`, `repository`, `environment` or `flags`.
    pub layer: String,
    /// What it replaced, the strongest first.
    pub overrode: Vec<OverriddenSetting>,
    /// What was given but does not count.
    pub ignored: Vec<IgnoredSetting>,
    /// Whether safety depends on it.
    pub safety: bool,
    /// What it is for.
    pub about: String,
}

/// A value that a stronger one replaced.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct OverriddenSetting {
    /// The value.
    pub value: String,
    /// Where it came from.
    pub source: String,
}

/// A value that would lower safety from where it may not.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct IgnoredSetting {
    /// The value.
    pub value: String,
    /// Where it came from.
    pub source: String,
    /// The safer value that was kept.
    pub kept: String,
}

/// A variable that looks like ours.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct UnknownVariableReply {
    /// Its name.
    pub name: String,
    /// The nearest one that is read.
    pub nearest: Option<String>,
}

/// `config path`
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct PathsReply {
    /// The configuration files, weakest first.
    pub files: Vec<ConfigFile>,
}

/// One configuration file.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ConfigFile {
    /// `user` or `repository`.
    pub layer: String,
    /// Where it is, or would be.
    pub path: String,
    /// Whether it is there.
    pub present: bool,
}

/// `config classes`
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ClassesReply {
    /// One for each class.
    pub classes: Vec<ClassReply>,
}

/// One class of paths.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ClassReply {
    /// `ignored`, `common` or `hot`.
    pub class: String,
    /// What being in it means.
    pub about: String,
    /// Its patterns.
    pub patterns: Vec<PatternReply>,
    /// Where a list is given that adds nothing to those.
    pub adds_nothing: Vec<String>,
}

/// One pattern of a class.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct PatternReply {
    /// As it was written.
    pub pattern: String,
    /// Where it came from.
    pub source: String,
}
