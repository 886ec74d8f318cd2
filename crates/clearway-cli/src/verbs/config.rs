//! `config show`, `config path` and `config classes`.

use crate::console::{Answer, Problem, document};
use crate::given::Given;
use crate::render::{Cell, Fit, Page, Table, Tone, wrap, wrapped};
use clearway_core::text::printable;
use clearway_kernel::config::{Config, Entry, KeyId, layer_word, unknown_variables};
use clearway_kernel::{ConfigPlace, Globals, Outside, Session, config_places};
use clearway_wire::json::{
    ClassReply, ClassesReply, ConfigFile, IgnoredSetting, OverriddenSetting, PathsReply, PatternReply,
    Setting, SettingsReply, Told, UnknownVariableReply,
};
use std::collections::BTreeMap;

/// Columns of the longest key.
const KEY_COLUMNS: usize = 18;
/// In front of what stands below a value.
const BELOW: &str = "                      ";

pub(super) fn show(session: &Session<'_>, variables: &BTreeMap<String, String>) -> Settings {
    let unknown = unknown_variables(variables);
    Settings(SettingsReply {
        settings: session.config.entries().map(|entry| setting(&entry)).collect(),
        unknown_variables: unknown
            .into_iter()
            .map(|variable| UnknownVariableReply { name: variable.name, nearest: variable.nearest })
            .collect(),
    })
}

pub(super) fn classes(session: &Session<'_>) -> Classes {
    Classes(ClassesReply { classes: class_list(&session.config) })
}

pub(super) fn paths(outside: &mut dyn Outside, globals: &Globals) -> Result<Paths, Problem> {
    let file = |place: ConfigPlace| ConfigFile {
        layer: layer_word(place.layer).to_owned(),
        path: place.path.display().to_string(),
        present: place.present,
    };
    Ok(Paths(PathsReply { files: config_places(outside, globals)?.into_iter().map(file).collect() }))
}

fn setting(entry: &Entry<'_>) -> Setting {
    Setting {
        key: entry.key.to_string(),
        value: entry.value_text.clone(),
        source: entry.source.to_string(),
        layer: layer_word(entry.layer).to_owned(),
        overrode: entry
            .overrode
            .iter()
            .map(|old| OverriddenSetting { value: old.value.to_string(), source: old.source.to_string() })
            .collect(),
        ignored: entry
            .ignored
            .iter()
            .map(|ignored| IgnoredSetting {
                value: ignored.value.to_string(),
                source: ignored.source.to_string(),
                kept: ignored.kept.to_string(),
            })
            .collect(),
        safety: entry.safety,
        about: entry.doc.to_owned(),
    }
}

fn class_list(config: &Config) -> Vec<ClassReply> {
    let keys = [KeyId::ClassesIgnored, KeyId::ClassesCommon, KeyId::ClassesHot].map(|id| id.key().name);
    let about = [
        "no automatic lease, report or check",
        "written by everybody: no automatic lease",
        "edited briefly by many: an automatic lease ends with the tool call",
    ];
    let list = |(key, about): (&str, &str)| {
        let entry = config.entries().find(|entry| entry.key == key)?;
        let patterns = entry
            .parts
            .iter()
            .map(|part| PatternReply { pattern: part.pattern.to_owned(), source: part.source.to_string() })
            .collect();
        let class = key.trim_start_matches("classes.").to_owned();
        let adds_nothing = entry.empty.iter().map(ToString::to_string).collect();
        Some(ClassReply { class, about: about.to_owned(), patterns, adds_nothing })
    };
    keys.into_iter().zip(about).filter_map(list).collect()
}

/// The answer of `config show`.
#[derive(Debug)]
pub(super) struct Settings(SettingsReply);

impl Answer for Settings {
    fn json(&self, _: &Given) -> String {
        document(&Told::new(&self.0))
    }

    fn text(&self, page: &Page) -> String {
        let mut lines: Vec<String> = Vec::new();
        for setting in &self.0.settings {
            lines.extend(setting_lines(setting, page));
        }
        for variable in &self.0.unknown_variables {
            let near = variable.nearest.as_ref().map(|near| format!("; did you mean {near}?"));
            let note = format!("note: nothing reads {}{}", variable.name, near.unwrap_or_default());
            lines.extend(wrap(&printable(&note), page.columns, "", "  "));
        }
        lines.join("\n") + "\n"
    }
}

/// A value with its source, and below it what it replaced and what does not count. Sources stay whole: they are
/// what is asked for.
fn setting_lines(setting: &Setting, page: &Page) -> Vec<String> {
    let is_class = setting.key.starts_with("classes.");
    let value = match &setting.value {
        Some(_) if is_class => page.given.advice("see: clearway config classes"),
        Some(value) => value.clone(),
        None => "-".to_owned(),
    };
    let tone = if setting.layer == "default" { Tone::Faint } else { Tone::Strong };
    let key = format!("{:KEY_COLUMNS$}", printable(&setting.key));
    let value = page.paint(tone, &printable(&value));
    let origin = if setting.layer == "default" { " (default)" } else { "" };
    let mut lines = vec![format!("{key}  {value}{origin}")];
    let mut below = |text: String| {
        lines.extend(wrap(&printable(&text), page.columns, BELOW, BELOW));
    };
    if setting.layer != "default" {
        below(format!("from {}", setting.source));
    }
    for old in setting.overrode.iter().filter(|_| setting.layer != "default") {
        below(format!("overrode {} from {}", old.value, old.source));
    }
    for ignored in &setting.ignored {
        below(format!("ignored {} from {}: less safe than {}", ignored.value, ignored.source, ignored.kept));
    }
    lines
}

/// The answer of `config path`.
#[derive(Debug)]
pub(super) struct Paths(PathsReply);

impl Answer for Paths {
    fn json(&self, _: &Given) -> String {
        document(&Told::new(&self.0))
    }

    fn text(&self, page: &Page) -> String {
        let mut table = Table::new(&[Fit::Whole, Fit::Whole, Fit::Whole]);
        for file in &self.0.files {
            let (word, tone) = if file.present { ("present", Tone::Good) } else { ("absent", Tone::Faint) };
            table.row(vec![Cell::new(&file.layer), Cell::new(word).tone(tone), Cell::new(&file.path)]);
        }
        table.render(page, "")
    }
}

/// The answer of `config classes`.
#[derive(Debug)]
pub(super) struct Classes(ClassesReply);

impl Answer for Classes {
    fn json(&self, _: &Given) -> String {
        document(&Told::new(&self.0))
    }

    fn text(&self, page: &Page) -> String {
        let mut text = String::new();
        for class in &self.0.classes {
            let name = page.paint(Tone::Strong, &class.class);
            text.push_str(&format!("{name}: {}\n", class.about));
            let mut table = Table::new(&[Fit::End, Fit::Start]);
            for pattern in &class.patterns {
                let source = if pattern.source == "default" { "" } else { &pattern.source };
                table.row(vec![Cell::new(&pattern.pattern), Cell::new(source).tone(Tone::Faint)]);
            }
            for source in &class.adds_nothing {
                table.row(vec![
                    Cell::new("(nothing added)").tone(Tone::Faint),
                    Cell::new(source).tone(Tone::Faint),
                ]);
            }
            text.push_str(&table.render(page, "  "));
        }
        let note = "classes guide automatic leases; what you reserve by name is granted whatever its class";
        text + &wrapped(note, page, "")
    }
}
