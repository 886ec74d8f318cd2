//! Configuration in which every value knows where it came from.
//!
//! Layers, weakest first: defaults, user file, repository file (`.clearway.toml`), environment, flags. A posture is one
//! key whose name stands for several values *inside its layer*; an explicit key of the same layer beats it. A value
//! that lowers safety counts only from the user file, or from environment and flags outside an agent session, because
//! an agent can edit the repository file and set its own environment.
//!
//! Nothing here reads a file or the environment: texts and variables come in as arguments, and a [`Config`] or the
//! whole list of errors goes out. Start at [`Config::resolve`]; the table of keys is [`KEYS`].

mod classes;
mod entries;
mod error;
mod file;
mod keys;
mod location;
mod postures;
mod resolve;
mod source;
#[cfg(test)]
mod tests;
mod tools;
mod value;
mod variables;

use clearway_core::duration;
use clearway_core::mail::Retention;
use clearway_core::path::{ClassLists, Classes};
use clearway_core::pattern::Fold;
use clearway_core::unit::Numbers;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

pub use classes::{Class, ClassPattern, EmptyClass};
pub use entries::{Entry, Part};
pub use error::{ConfigError, Place, Problem};
pub use keys::{AGENT_VARIABLE, KEYS, Key, KeyId, Kind, Places, Safety};
pub use location::file_of;
pub use postures::{POSTURES, Posture};
pub use source::{Ignored, Layer, Overridden, Source, layer_word};
pub use tools::WritingTool;
pub use value::{Resource, Value};
pub use variables::{UnknownVariable, unknown_variables};

use resolve::Slot;

/// The configuration file of a repository, in its root.
pub const REPOSITORY_FILE: &str = ".clearway.toml";

/// Everything a configuration is made from. The caller has read it; nothing is looked up later.
#[derive(Debug, Clone, Copy)]
pub struct Inputs<'a> {
    /// Where the user file is, or would be.
    pub user_path: &'a Path,
    pub user: Option<ConfigText<'a>>,
    pub repository: Option<ConfigText<'a>>,
    /// The environment; only the names in [`KEYS`] are looked at, and an empty value counts as absent.
    pub variables: &'a BTreeMap<String, String>,
    /// Where the caller stands, to spell out what it wrote relative to it.
    pub cwd: Option<&'a Path>,
    /// Flags in the order given; of two for one key the later wins.
    pub flags: &'a [FlagValue<'a>],
    /// True in hooks, git hooks and every command started by an agent.
    pub inside_agent_session: bool,
}

/// The text of one configuration file, and the path to name in messages.
#[derive(Debug, Clone, Copy)]
pub struct ConfigText<'a> {
    pub path: &'a Path,
    pub text: &'a str,
}

/// A key given on the command line, with the flag as the user typed it, such as `--timeout`.
#[derive(Debug, Clone, Copy)]
pub struct FlagValue<'a> {
    pub key: KeyId,
    pub flag: &'a str,
    pub value: &'a str,
}

/// How long leases survive a crash of the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeaseDurability {
    /// Written without waiting for the disk; a power cut may lose the last moments.
    Normal,
    /// On disk before the answer is given.
    Full,
}

/// What hooks do about a file that is with somebody else, the strictest last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Enforcement {
    /// They record it.
    Observe,
    /// They record and say it.
    Warn,
    /// They refuse the edit.
    Enforce,
}

/// A resolved configuration.
#[derive(Debug, Clone)]
pub struct Config {
    /// One for each key, in their order.
    slots: Vec<Slot>,
    class_patterns: Vec<ClassPattern>,
    empty_classes: Vec<EmptyClass>,
    resources: BTreeMap<String, Slot>,
    tools: Vec<WritingTool>,
}

/// What is wrong with a value that was typed for a key, if something is.
pub fn wrong_with(key: KeyId, text: &str) -> Option<String> {
    match value::from_text(key.key(), text) {
        Err(Problem::BadValue { why, .. }) => Some(why),
        Err(problem) => Some(problem.to_string()),
        Ok(_) => None,
    }
}

impl Config {
    /// Resolves all layers, or returns every mistake in all of them at once.
    pub fn resolve(inputs: &Inputs<'_>) -> Result<Config, Vec<ConfigError>> {
        resolve::resolve(inputs)
    }

    /// Where the store is, if not in its default place.
    pub fn store_url(&self) -> Option<&str> {
        self.text(KeyId::StoreUrl)
    }

    /// The agent name claimed by flag or environment.
    pub fn agent(&self) -> Option<&str> {
        self.text(KeyId::Agent)
    }

    /// What hooks do about a file that is with somebody else.
    pub fn mode(&self) -> Enforcement {
        match self.choice(KeyId::Mode, keys::MODE_ENFORCE) {
            keys::MODE_OBSERVE => Enforcement::Observe,
            keys::MODE_WARN => Enforcement::Warn,
            _ => Enforcement::Enforce,
        }
    }

    /// Whether what no other hook of git saw is refused too.
    pub fn is_strict(&self) -> bool {
        self.choice(KeyId::GitStrict, keys::SWITCH[0]) == keys::ON
    }

    /// Whether nobody watches the agents.
    pub fn is_unattended(&self) -> bool {
        self.choice(KeyId::Posture, postures::DEFAULT) == postures::UNATTENDED
    }

    /// How long the holder of a claimed lease may be silent.
    pub fn claimed_ttl(&self) -> Duration {
        self.duration(KeyId::ClaimedTtl, keys::CLAIMED_TTL_DEFAULT)
    }

    pub fn lease_durability(&self) -> LeaseDurability {
        match self.choice(KeyId::Durability, keys::DURABILITY_NORMAL) {
            keys::DURABILITY_FULL => LeaseDurability::Full,
            _ => LeaseDurability::Normal,
        }
    }

    /// A claim over more tracked files than this must be asked for with `--broad`.
    pub fn broad_files(&self) -> u64 {
        match self.value(KeyId::BroadFiles) {
            Value::Integer(files) => *files,
            _ => keys::BROAD_FILES_DEFAULT,
        }
    }

    /// How long to wait for a busy store.
    pub fn store_timeout(&self) -> Duration {
        self.duration(KeyId::StoreTimeout, keys::STORE_TIMEOUT_DEFAULT)
    }

    /// What to run for what a person wants to be told of.
    pub fn notify_command(&self) -> Option<&str> {
        self.text(KeyId::NotifyCommand)
    }

    /// How long mail is kept, and how much of it.
    pub fn mail_retention(&self) -> Retention {
        let kept_ms = duration::milliseconds(self.duration(KeyId::MailKept, keys::MAIL_KEPT_DEFAULT));
        let messages_max = match self.value(KeyId::MailMessages) {
            Value::Integer(messages) => *messages,
            _ => Retention::default().messages_max,
        };
        Retention { kept_ms, messages_max }
    }

    /// A named resource; one that is not configured has room for a single holder in this repository.
    pub fn resource(&self, name: &str) -> Resource {
        match self.resources.get(name).map(|slot| &slot.value) {
            Some(Value::Resource(resource)) => *resource,
            _ => Resource::default(),
        }
    }

    /// Whether a name is one of the configured resources.
    pub fn is_resource(&self, name: &str) -> bool {
        self.resources.contains_key(name)
    }

    /// The configured resources that have this name before their numbers; none if the name is itself a resource.
    pub fn ranges_of<'c>(&'c self, name: &'c str) -> impl Iterator<Item = &'c str> {
        let is_range = move |other: &&str| Numbers::of(other).is_some_and(|numbers| numbers.prefix == name);
        let named = self.resources.keys().map(String::as_str).filter(is_range);
        named.filter(move |_| !self.resources.contains_key(name))
    }

    /// The configured range that a name is a unit of, and what stands before its numbers; none if the name is itself a
    /// resource.
    pub fn range_around(&self, name: &str) -> Option<(&str, &str)> {
        let range = |other: &'_ String| Numbers::of(other).is_some_and(|numbers| numbers.holds(name));
        let range =
            self.resources.keys().filter(|_| !self.resources.contains_key(name)).find(|key| range(key))?;
        Numbers::of(range).map(|numbers| (range.as_str(), numbers.prefix))
    }

    /// The fields of a tool's input that name files it writes, as configured; none for a tool that is not.
    pub fn fields_of_tool<'c>(&'c self, called: &'c str) -> impl Iterator<Item = &'c str> {
        let tools = self.tools.iter().filter(move |tool| tool.is_called(called));
        tools.flat_map(|tool| tool.fields.iter().map(String::as_str))
    }

    /// How paths of this scope are treated. Every pattern was checked when it was read.
    pub fn classes(&self, fold: Fold) -> Option<Classes> {
        let added = |class: Class| {
            let of_class = self.class_patterns.iter().filter(move |added| added.class == class);
            of_class.map(|added| added.pattern.clone()).collect()
        };
        let lists = ClassLists {
            ignored: added(Class::Ignored),
            common: added(Class::Common),
            hot: added(Class::Hot),
        };
        Classes::new(lists, fold).ok()
    }

    fn value(&self, id: KeyId) -> &Value {
        &self.slots[id as usize].value
    }

    fn text(&self, id: KeyId) -> Option<&str> {
        match self.value(id) {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    fn choice(&self, id: KeyId, otherwise: &'static str) -> &'static str {
        match self.value(id) {
            Value::Choice(choice) => choice,
            _ => otherwise,
        }
    }

    fn duration(&self, id: KeyId, otherwise: Duration) -> Duration {
        match self.value(id) {
            Value::Duration(duration) => *duration,
            _ => otherwise,
        }
    }
}
