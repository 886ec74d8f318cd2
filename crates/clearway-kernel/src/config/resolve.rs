//! Lays the layers over each other, and keeps account of it.

use std::collections::BTreeMap;

use super::classes::{ClassPattern, EmptyClass};
use super::error::{ConfigError, Place, Problem};
use super::keys::{KEYS, Key, KeyId};
use super::postures;
use super::source::{Ignored, Layer, Overridden, Source};
use super::tools::WritingTool;
use super::value::{self, Value};
use super::{Config, ConfigText, Inputs, file, location};

pub(super) fn resolve(inputs: &Inputs<'_>) -> Result<Config, Vec<ConfigError>> {
    let mut config = Config::defaults();
    let mut errors = Vec::new();
    for layer in [Layer::User, Layer::Repository, Layer::Environment, Layer::Flags] {
        let mut layer_errors = Vec::new();
        let settings = read_layer(inputs, layer, &mut layer_errors);
        // Over a broken layer nothing can be judged: what looks less safe may not be once the mistake is mended.
        if errors.is_empty() {
            config.apply(inputs, layer, settings, &mut layer_errors);
        }
        layer_errors.sort_by_key(ConfigError::line);
        errors.append(&mut layer_errors);
    }
    if errors.is_empty() { Ok(config) } else { Err(errors) }
}

fn read_layer(inputs: &Inputs<'_>, layer: Layer, errors: &mut Vec<ConfigError>) -> Settings {
    let read_file = |file: Option<ConfigText<'_>>, errors: &mut Vec<ConfigError>| {
        file.map(|file| file::read(file, layer, errors)).unwrap_or_default()
    };
    match layer {
        Layer::Default => Settings::default(),
        Layer::User => read_file(inputs.user, errors),
        Layer::Repository => read_file(inputs.repository, errors),
        Layer::Environment => read_variables(inputs, errors),
        Layer::Flags => read_flags(inputs, errors),
    }
}

/// What one layer sets.
#[derive(Debug, Default)]
pub(super) struct Settings {
    pub(super) scalars: Vec<Setting>,
    pub(super) patterns: Vec<ClassPattern>,
    pub(super) empty_classes: Vec<EmptyClass>,
    pub(super) resources: Vec<(String, Setting)>,
    pub(super) tools: Vec<WritingTool>,
}

#[derive(Debug, Clone)]
pub(super) struct Setting {
    pub(super) id: KeyId,
    pub(super) value: Value,
    pub(super) source: Source,
}

/// A value in force and its history.
#[derive(Debug, Clone)]
pub(super) struct Slot {
    pub(super) value: Value,
    pub(super) source: Source,
    pub(super) layer: Layer,
    /// The strongest first.
    pub(super) overrode: Vec<Overridden>,
    pub(super) ignored: Vec<Ignored>,
}

impl Slot {
    fn new(value: Value, source: Source, layer: Layer) -> Slot {
        Slot { value, source, layer, overrode: Vec::new(), ignored: Vec::new() }
    }

    fn replace(&mut self, value: Value, source: Source, layer: Layer) {
        let value = std::mem::replace(&mut self.value, value);
        let source = std::mem::replace(&mut self.source, source);
        self.layer = layer;
        if value != Value::Unset {
            self.overrode.insert(0, Overridden { value, source });
        }
    }
}

impl Config {
    fn defaults() -> Config {
        let slot = |key: &Key| Slot::new(key.default.clone(), Source::Default, Layer::Default);
        let slots = KEYS.iter().map(slot).collect();
        let (class_patterns, empty_classes) = (Vec::new(), Vec::new());
        Config { slots, class_patterns, empty_classes, resources: BTreeMap::new(), tools: Vec::new() }
    }

    fn apply(
        &mut self,
        inputs: &Inputs<'_>,
        layer: Layer,
        settings: Settings,
        errors: &mut Vec<ConfigError>,
    ) {
        self.class_patterns.extend(settings.patterns);
        self.empty_classes.extend(settings.empty_classes);
        self.tools.extend(settings.tools);
        if settings.scalars.is_empty() && settings.resources.is_empty() {
            return;
        }
        let mut laying = Laying { inputs, layer, beneath: self.values(), errors };
        for (name, setting) in settings.resources {
            laying.lay_resource(&mut self.resources, name, setting);
        }
        let (postures, explicit): (Vec<_>, Vec<_>) =
            settings.scalars.into_iter().partition(|setting| setting.id == KeyId::Posture);
        for setting in postures {
            laying.lay(&mut self.slots, setting);
        }
        let expanded = expand_posture(&self.slots[KeyId::Posture as usize], layer);
        for setting in expanded.into_iter().chain(explicit) {
            laying.lay(&mut self.slots, setting);
        }
    }

    fn values(&self) -> Vec<Value> {
        self.slots.iter().map(|slot| slot.value.clone()).collect()
    }
}

/// The values of a posture that was named in this very layer.
fn expand_posture(slot: &Slot, layer: Layer) -> Vec<Setting> {
    let Value::Choice(name) = slot.value else { return Vec::new() };
    let Some(posture) = postures::find(name).filter(|_| slot.layer == layer) else { return Vec::new() };
    let via = |source: &Source| Source::Posture { name: posture.name, via: Box::new(source.clone()) };
    let setting =
        |(id, value): &(KeyId, Value)| Setting { id: *id, value: value.clone(), source: via(&slot.source) };
    posture.values.iter().map(setting).collect()
}

/// One layer being laid over what is beneath it. Safety is judged against the layers beneath, not against the
/// posture of the same layer, which an explicit key may always replace.
struct Laying<'l, 'i> {
    inputs: &'l Inputs<'i>,
    layer: Layer,
    beneath: Vec<Value>,
    errors: &'l mut Vec<ConfigError>,
}

enum Verdict {
    Accept,
    Ignore,
    Refuse,
}

impl Laying<'_, '_> {
    fn lay(&mut self, slots: &mut [Slot], setting: Setting) {
        let at = setting.id as usize;
        let beneath = self.beneath[at].clone();
        self.lay_over(&mut slots[at], setting.id.key().name, beneath, setting);
    }

    /// A resource that nothing beneath declares may be declared by any file.
    fn lay_resource(&mut self, slots: &mut BTreeMap<String, Slot>, name: String, setting: Setting) {
        match slots.get_mut(&name) {
            Some(slot) => {
                let key = file::joined(setting.id.key().name, &name);
                self.lay_over(slot, &key, slot.value.clone(), setting);
            }
            None => {
                slots.insert(name, Slot::new(setting.value, setting.source, self.layer));
            }
        }
    }

    fn lay_over(&mut self, slot: &mut Slot, name: &str, beneath: Value, setting: Setting) {
        match self.verdict(&beneath, &setting) {
            Verdict::Accept => slot.replace(setting.value, setting.source, self.layer),
            Verdict::Ignore => {
                slot.ignored.push(Ignored { value: setting.value, source: setting.source, kept: beneath });
            }
            Verdict::Refuse => self.refuse(name, &beneath, &setting),
        }
    }

    fn verdict(&self, beneath: &Value, setting: &Setting) -> Verdict {
        if !setting.id.key().lowers_safety(beneath, &setting.value) {
            return Verdict::Accept;
        }
        let by_posture = matches!(setting.source, Source::Posture { .. });
        match self.layer {
            Layer::Default | Layer::User => Verdict::Accept,
            // A careful posture of the repository is welcome even where the user is more careful still.
            Layer::Repository if by_posture => Verdict::Ignore,
            Layer::Repository => Verdict::Refuse,
            Layer::Environment | Layer::Flags if self.inputs.inside_agent_session => Verdict::Ignore,
            Layer::Environment | Layer::Flags => Verdict::Accept,
        }
    }

    fn refuse(&mut self, name: &str, beneath: &Value, setting: &Setting) {
        let Source::File { path, line } = &setting.source else { return };
        let problem = Problem::UnsafeRepositoryValue {
            key: name.to_owned(),
            value: setting.value.to_string(),
            beneath: beneath.to_string(),
            user_file: self.inputs.user_path.display().to_string(),
        };
        let place = Place::File { path: path.clone(), line: *line };
        self.errors.push(ConfigError { place, problem });
    }
}

fn read_variables(inputs: &Inputs<'_>, errors: &mut Vec<ConfigError>) -> Settings {
    let mut settings = Settings::default();
    if inputs.variables.is_empty() {
        return settings;
    }
    for key in &KEYS {
        let Some(name) = key.variable else { continue };
        let Some(text) = inputs.variables.get(name).filter(|text| !text.is_empty()) else { continue };
        let value = is_text(key, text).and_then(|()| value::from_text(key, text));
        match value.and_then(|value| location::in_environment(key, value, inputs.cwd)) {
            Ok(value) => {
                let source = Source::Variable(name.to_owned());
                settings.scalars.push(Setting { id: key.id, value, source });
            }
            Err(problem) => errors.push(ConfigError { place: Place::Variable(name.to_owned()), problem }),
        }
    }
    settings
}

/// A byte that is no text arrives as the character that stands for one.
fn is_text(key: &Key, text: &str) -> Result<(), Problem> {
    match text.contains(char::REPLACEMENT_CHARACTER) {
        true => Err(Problem::bad_value(key.name, text, "it is not UTF-8 text")),
        false => Ok(()),
    }
}

fn read_flags(inputs: &Inputs<'_>, errors: &mut Vec<ConfigError>) -> Settings {
    let mut settings = Settings::default();
    for flag in inputs.flags {
        match value::from_text(flag.key.key(), flag.value) {
            Ok(value) => {
                let source = Source::Flag(flag.flag.to_owned());
                settings.scalars.push(Setting { id: flag.key, value, source });
            }
            Err(problem) => errors.push(ConfigError { place: Place::Flag(flag.flag.to_owned()), problem }),
        }
    }
    settings
}
