//! The whole configuration as a list, for `config show`.

use std::borrow::Cow;

use super::Config;
use super::classes::Class;
use super::file::joined;
use super::keys::{KEYS, Key, KeyId, Kind, Safety};
use super::resolve::Slot;
use super::source::{Ignored, Layer, Overridden, Source};
use super::tools::WritingTool;
use super::value::Value;

/// One key, class or resource with its value and history.
#[derive(Debug, Clone)]
pub struct Entry<'c> {
    pub key: Cow<'static, str>,
    /// Safe to show; `None` where nothing is set.
    pub value_text: Option<String>,
    pub source: &'c Source,
    pub layer: Layer,
    /// What the value replaced, the strongest first.
    pub overrode: &'c [Overridden],
    /// What was given but does not count.
    pub ignored: &'c [Ignored],
    /// For a class: its patterns one by one.
    pub parts: Vec<Part<'c>>,
    /// For a class: where a list is given that adds nothing.
    pub empty: Vec<&'c Source>,
    /// Whether the value is one that safety depends on.
    pub safety: bool,
    pub doc: &'static str,
}

/// One pattern of a class.
#[derive(Debug, Clone)]
pub struct Part<'c> {
    /// As it was written; make it printable before showing it.
    pub pattern: &'c str,
    pub source: &'c Source,
    pub layer: Layer,
}

impl Config {
    /// Every known key in the order of the table, defaults included, then every configured resource and tool.
    pub fn entries(&self) -> impl Iterator<Item = Entry<'_>> {
        let is_single = |key: &&Key| !matches!(key.kind, Kind::Resources | Kind::Tools);
        let keys = KEYS.iter().filter(is_single).map(|key| self.entry(key));
        let resources = self.resources.iter().map(|(name, slot)| resource_entry(name, slot));
        keys.chain(resources).chain(self.tools.iter().map(tool_entry))
    }

    /// What the caller's environment or line says but does not count, with the key. A careful posture of a repository
    /// that is less careful than its user is nobody's slip.
    pub(crate) fn ignored(&self) -> impl Iterator<Item = (&'static str, &Ignored)> {
        let of_key = |key: &'static Key| {
            let ignored = self.slots[key.id as usize].ignored.iter();
            ignored.filter(|ignored| ignored.source.is_of_caller()).map(move |ignored| (key.name, ignored))
        };
        KEYS.iter().flat_map(of_key)
    }

    fn entry(&self, key: &'static Key) -> Entry<'_> {
        match key.kind {
            Kind::Patterns(class) => self.class_entry(key, class),
            _ => slot_entry(Cow::Borrowed(key.name), &self.slots[key.id as usize], key),
        }
    }

    fn class_entry(&self, key: &'static Key, class: Class) -> Entry<'_> {
        let default =
            |pattern: &'static str| Part { pattern, source: &Source::Default, layer: Layer::Default };
        let mut parts: Vec<Part<'_>> = class.defaults().map(default).collect();
        parts.extend(self.class_patterns.iter().filter(|added| added.class == class).map(|added| Part {
            pattern: &added.pattern,
            source: &added.source,
            layer: added.layer,
        }));
        let mut entry = slot_entry(Cow::Borrowed(key.name), &self.slots[key.id as usize], key);
        let empty = || self.empty_classes.iter().filter(|given| given.class == class);
        let added = parts.last().map(|part| (part.source, part.layer));
        let given = empty().map(|given| (&given.source, given.layer));
        if let Some(strongest) = added.into_iter().chain(given).max_by_key(|(_, layer)| *layer) {
            (entry.source, entry.layer) = strongest;
        }
        entry.empty = empty().map(|given| &given.source).collect();
        let patterns: Vec<&str> = parts.iter().map(|part| part.pattern).collect();
        // Quoted one by one, so that two lists never read the same.
        entry.value_text = Some(format!("{patterns:?}"));
        entry.parts = parts;
        entry
    }
}

fn slot_entry<'c>(name: Cow<'static, str>, slot: &'c Slot, key: &'static Key) -> Entry<'c> {
    Entry {
        key: name,
        value_text: (slot.value != Value::Unset).then(|| slot.value.to_string()),
        source: &slot.source,
        layer: slot.layer,
        overrode: &slot.overrode,
        ignored: &slot.ignored,
        parts: Vec::new(),
        empty: Vec::new(),
        safety: key.safety != Safety::None,
        doc: key.doc,
    }
}

fn resource_entry<'c>(name: &str, slot: &'c Slot) -> Entry<'c> {
    let key = KeyId::Resources.key();
    slot_entry(Cow::Owned(joined(key.name, name)), slot, key)
}

fn tool_entry(tool: &WritingTool) -> Entry<'_> {
    let key = KeyId::Tools.key();
    Entry {
        key: Cow::Owned(joined(key.name, &tool.name)),
        value_text: Some(format!("{:?}", tool.fields)),
        source: &tool.source,
        layer: tool.layer,
        overrode: &[],
        ignored: &[],
        parts: Vec::new(),
        empty: Vec::new(),
        safety: key.safety != Safety::None,
        doc: key.doc,
    }
}
