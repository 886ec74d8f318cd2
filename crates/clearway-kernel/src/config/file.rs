//! One configuration file: its text becomes settings with lines, or a list of all its mistakes.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::ConfigText;
use super::classes::{Class, ClassPattern, EmptyClass};
use super::error::{ConfigError, Place, Problem};
use super::keys::{self, KEYS, Key, KeyId, Kind, Places};
use super::location;
use super::resolve::{Setting, Settings};
use super::source::{Layer, Source};
use super::tools::WritingTool;
use super::value::{self, Resource, Value};
use clearway_core::limits::CAPACITY_MAX;
use clearway_core::nearest::nearest;
use clearway_core::pattern::{Fold, Pattern};
use clearway_core::target::ResourceName;
use clearway_core::unit::Numbers;

/// A larger file is refused unread; a generous one has a few hundred lines.
const FILE_BYTES_MAX: usize = 64 * 1024;
/// Bytes of the name of a tool or of a field of its input.
const TOOL_WORD_BYTES_MAX: usize = 256;
/// More mistakes than this are counted instead of listed.
const ERRORS_MAX: usize = 20;

/// Reads one file of a layer. Mistakes go to `errors`, ordered by line; the settings are then incomplete.
pub(super) fn read(file: ConfigText<'_>, layer: Layer, errors: &mut Vec<ConfigError>) -> Settings {
    let lines = Lines::of(file.text);
    let mut reader = Reader { file, layer, lines, settings: Settings::default(), errors: Vec::new() };
    reader.read_document();
    errors.append(&mut capped(reader.errors));
    reader.settings
}

struct Reader<'a> {
    file: ConfigText<'a>,
    layer: Layer,
    lines: Lines,
    settings: Settings,
    errors: Vec<ConfigError>,
}

impl Reader<'_> {
    fn read_document(&mut self) {
        let text = self.file.text;
        if text.len() > FILE_BYTES_MAX {
            return self.error(0, Problem::TooLarge { bytes_max: FILE_BYTES_MAX });
        }
        let (document, mistakes) = DeTable::parse_recoverable(text);
        let broken = mistakes.iter().any(|mistake| !is_duplicate(mistake));
        for mistake in &mistakes {
            let at = mistake.span().map_or(0, |span| span.start);
            self.error(at, syntax_problem(mistake, self.lines.column(text, at)));
        }
        // What a parser recovers from broken text would be reported as nonsense; duplicates do not mislead it.
        if !broken {
            self.read_table("", document.get_ref());
        }
    }

    fn read_table(&mut self, prefix: &str, table: &DeTable<'_>) {
        for (name, value) in table.iter() {
            let at = name.span().start;
            let path = joined(prefix, name.get_ref());
            match (keys::find(&path), value.get_ref()) {
                (Some(key), _) => self.read_key(key, at, value),
                (None, DeValue::Table(inner)) if keys::is_section(&path) => self.read_table(&path, inner),
                (None, other) if keys::is_section(&path) => {
                    self.error(at, Problem::wrong_type(&path, "a table", other));
                }
                (None, other) => self.unknown(&path, at, other),
            }
        }
    }

    /// Names the keys inside an unknown table rather than the table: those have a nearest match, unless the table is
    /// one whose keys are free.
    fn unknown(&mut self, path: &str, at: usize, value: &DeValue<'_>) {
        match value {
            DeValue::Table(_) if nearest_table(path).is_some() => {
                self.error(at, Problem::unknown_key(path, nearest_table(path)));
            }
            DeValue::Table(inner) if !inner.is_empty() => {
                for (name, value) in inner.iter() {
                    self.unknown(&joined(path, name.get_ref()), name.span().start, value.get_ref());
                }
            }
            _ => self.error(at, Problem::unknown_key(path, nearest_key(path))),
        }
    }

    fn read_key(&mut self, key: &'static Key, at: usize, value: &Spanned<DeValue<'_>>) {
        if let Some(problem) = misplaced(key, self.layer) {
            return self.error(at, problem);
        }
        match key.kind {
            Kind::Patterns(class) => self.read_patterns(key, class, at, value.get_ref()),
            Kind::Resources => self.read_resources(key, at, value.get_ref()),
            Kind::Tools => self.read_tools(key, at, value.get_ref()),
            _ => match value::from_toml(key, value.get_ref()) {
                Ok(value) => {
                    let (value, source) = (location::in_file(key, value, self.file.path), self.source(at));
                    self.settings.scalars.push(Setting { id: key.id, value, source });
                }
                Err(problem) => self.error(at, problem),
            },
        }
    }

    fn read_patterns(&mut self, key: &Key, class: Class, at: usize, value: &DeValue<'_>) {
        let DeValue::Array(items) = value else {
            return self.error(at, Problem::wrong_type(key.name, value::expected(key.kind), value));
        };
        if items.is_empty() {
            let (source, layer) = (self.source(at), self.layer);
            self.settings.empty_classes.push(EmptyClass { class, source, layer });
        }
        for item in items.iter() {
            let at = item.span().start;
            match pattern(key, item.get_ref()) {
                Ok(pattern) if self.layer == Layer::Repository && takes_everything(&pattern) => {
                    self.error(at, Problem::takes_everything(key.name, &pattern));
                }
                Ok(pattern) => {
                    let (source, layer) = (self.source(at), self.layer);
                    self.settings.patterns.push(ClassPattern { class, pattern, source, layer });
                }
                Err(problem) => self.error(at, problem),
            }
        }
    }

    fn read_resources(&mut self, key: &Key, at: usize, value: &DeValue<'_>) {
        let DeValue::Table(table) = value else {
            return self.error(at, Problem::wrong_type(key.name, value::expected(key.kind), value));
        };
        for (name, value) in table.iter() {
            let at = name.span().start;
            if let Some(why) = bad_resource_name(name.get_ref()) {
                self.error(at, Problem::bad_value(key.name, name.get_ref(), &why));
                continue;
            }
            let path = joined(key.name, name.get_ref());
            if let Some(resource) = self.read_resource(&path, at, value.get_ref()) {
                if let Some(problem) = too_many(&path, name.get_ref(), resource) {
                    self.error(at, problem);
                    continue;
                }
                let (value, source) = (Value::Resource(resource), self.source(at));
                let setting = Setting { id: key.id, value, source };
                self.settings.resources.push((name.get_ref().to_string(), setting));
            }
        }
    }

    fn read_tools(&mut self, key: &Key, at: usize, value: &DeValue<'_>) {
        let DeValue::Table(table) = value else {
            return self.error(at, Problem::wrong_type(key.name, value::expected(key.kind), value));
        };
        for (name, value) in table.iter() {
            let at = name.span().start;
            let path = joined(key.name, name.get_ref());
            match tool_words(key, name.get_ref()).and_then(|name| Ok((name, tool_fields(&path, value)?))) {
                Ok((name, fields)) => {
                    let (source, layer) = (self.source(at), self.layer);
                    self.settings.tools.push(WritingTool { name, fields, source, layer });
                }
                Err(problem) => self.error(at, problem),
            }
        }
    }

    fn read_resource(&mut self, path: &str, at: usize, value: &DeValue<'_>) -> Option<Resource> {
        match value {
            DeValue::Table(fields) => self.read_resource_fields(path, fields),
            other => match capacity(path, other) {
                Ok(capacity) => Some(Resource { capacity, ..Resource::default() }),
                Err(problem) => {
                    self.error(at, problem);
                    None
                }
            },
        }
    }

    fn read_resource_fields(&mut self, path: &str, fields: &DeTable<'_>) -> Option<Resource> {
        let mut resource = Resource::default();
        let errors_before = self.errors.len();
        for (name, value) in fields.iter() {
            let field_path = joined(path, name.get_ref());
            let read = match name.get_ref().as_ref() {
                "capacity" => {
                    capacity(&field_path, value.get_ref()).map(|capacity| resource.capacity = capacity)
                }
                "scope" => on_machine(&field_path, value.get_ref()).map(|machine| resource.machine = machine),
                other => {
                    let near = nearest(other, ["capacity", "scope"].into_iter());
                    Err(Problem::unknown_key(&field_path, near))
                }
            };
            if let Err(problem) = read {
                self.error(name.span().start, problem);
            }
        }
        (self.errors.len() == errors_before).then_some(resource)
    }

    fn source(&self, at: usize) -> Source {
        Source::File { path: self.file.path.to_owned(), line: self.lines.line(at) }
    }

    fn error(&mut self, at: usize, problem: Problem) {
        let place = Place::File { path: self.file.path.to_owned(), line: self.lines.line(at) };
        self.errors.push(ConfigError { place, problem });
    }
}

fn misplaced(key: &'static Key, layer: Layer) -> Option<Problem> {
    let allowed = match (key.places, layer) {
        (Places::NotInFiles, _) => "the environment or by a flag",
        (Places::NotInRepository, Layer::Repository) => "the user file, the environment or by a flag",
        (Places::OnlyInUserFile, Layer::Repository) => "the user file",
        _ => return None,
    };
    Some(Problem::NotAllowedHere { key: key.name, allowed })
}

fn pattern(key: &Key, item: &DeValue<'_>) -> Result<String, Problem> {
    let DeValue::String(text) = item else {
        return Err(Problem::wrong_type(key.name, "a list of strings", item));
    };
    match Pattern::parse_written(text, Fold::Exact) {
        Ok(_) => Ok(text.to_string()),
        Err(error) => Err(Problem::bad_value(key.name, text, &error.to_string())),
    }
}

/// Whether a pattern takes in files whatever they are called: whoever can write the repository's file could otherwise take
/// all of them from those who hold them.
fn takes_everything(pattern: &str) -> bool {
    let parsed = |text: &str| Pattern::parse_written(text, Fold::Exact).ok();
    let Some(pattern) = parsed(pattern) else { return false };
    NOBODYS_FILES.into_iter().filter_map(parsed).any(|file| pattern.overlaps(&file))
}

/// Files of a name that stands for any.
const NOBODYS_FILES: [&str; 2] = ["zq7xk", "zq7xk/zq7xk"];

/// The name of a tool or of a field of its input.
fn tool_words(key: &Key, name: &str) -> Result<String, Problem> {
    let why = match name {
        "" => "it is empty",
        name if name.len() > TOOL_WORD_BYTES_MAX => "it is longer than 256 bytes",
        name if name.chars().any(char::is_control) => "it contains a control character",
        name => return Ok(name.to_owned()),
    };
    Err(Problem::bad_value(key.name, name, why))
}

/// One field or a list of them.
fn tool_fields(path: &str, value: &Spanned<DeValue<'_>>) -> Result<Vec<String>, Problem> {
    let wrong =
        |value: &DeValue<'_>| Problem::wrong_type(path, "the name of an argument, or a list of such", value);
    let field = |value: &DeValue<'_>| match value {
        DeValue::String(name) => tool_words(KeyId::Tools.key(), name),
        other => Err(wrong(other)),
    };
    match value.get_ref() {
        DeValue::Array(items) if !items.is_empty() => {
            items.iter().map(|item| field(item.get_ref())).collect()
        }
        one => field(one).map(|field| vec![field]),
    }
}

/// A resource whose name says which numbers it has cannot have more holders than numbers.
fn too_many(path: &str, name: &str, resource: Resource) -> Option<Problem> {
    let count = Numbers::of(name)?.count();
    let why = || format!("its name stands for {count} numbers");
    (u64::from(resource.capacity) > count)
        .then(|| Problem::bad_value(path, &resource.capacity.to_string(), &why()))
}

fn bad_resource_name(name: &str) -> Option<String> {
    let reversed = Numbers::is_reversed(name).then(|| "its numbers end before they begin".to_owned());
    reversed.or_else(|| match ResourceName::parse(name) {
        Ok(name) => name.is_of_git().then(|| "agents' commands of git take turns by it".to_owned()),
        Err(error) => Some(error.to_string()),
    })
}

fn capacity(path: &str, value: &DeValue<'_>) -> Result<u32, Problem> {
    let DeValue::Integer(integer) = value else {
        return Err(Problem::wrong_type(path, "an integer or { capacity = …, scope = … }", value));
    };
    let number = value::whole_number(value).and_then(|number| u32::try_from(number).ok());
    let fits = number.filter(|capacity| (1..=CAPACITY_MAX).contains(capacity));
    fits.ok_or_else(|| Problem::bad_value(path, &integer.to_string(), "a capacity is from 1 to 1000"))
}

fn on_machine(path: &str, value: &DeValue<'_>) -> Result<bool, Problem> {
    const SCOPES: [&str; 2] = ["machine", "repository"];
    let DeValue::String(text) = value else {
        return Err(Problem::wrong_type(path, "a string", value));
    };
    match text.as_ref() {
        "machine" => Ok(true),
        "repository" => Ok(false),
        other => Err(Problem::bad_choice(path, other, &SCOPES, nearest(other, SCOPES.into_iter()))),
    }
}

/// A key given without or in another table is found by its last name, a slip by its edits.
fn nearest_key(path: &str) -> Option<&'static str> {
    let names = || KEYS.iter().map(|key| key.name);
    let sections = names().filter_map(|name| name.split_once('.')).map(|(section, _)| section);
    let last = path.rsplit('.').next().unwrap_or(path);
    let same_last = names().find(|name| name.rsplit('.').next() == Some(last));
    same_last.or_else(|| nearest(path, names().chain(sections)))
}

/// The key whose value is a table of free names, if the path is a slip of it.
fn nearest_table(path: &str) -> Option<&'static str> {
    let tables = KEYS.iter().filter(|key| matches!(key.kind, Kind::Resources | Kind::Tools));
    nearest(path, tables.map(|key| key.name))
}

/// A name that TOML would quote is quoted here too, so that `"leases.claimed_ttl"` is not taken for two names.
pub(super) fn joined(prefix: &str, name: &str) -> String {
    let bare = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'));
    let name = if bare { name.to_owned() } else { format!("{name:?}") };
    if prefix.is_empty() { name } else { format!("{prefix}.{name}") }
}

fn is_duplicate(mistake: &toml::de::Error) -> bool {
    mistake.message().starts_with("duplicate key")
}

fn syntax_problem(mistake: &toml::de::Error, column: usize) -> Problem {
    if is_duplicate(mistake) {
        return Problem::Duplicate;
    }
    Problem::Syntax { column, message: mistake.message().to_owned() }
}

/// Where the lines of a text start, so that finding the line of every value stays cheap in a long file.
struct Lines {
    starts: Vec<usize>,
}

impl Lines {
    fn of(text: &str) -> Lines {
        let after_newlines = text.bytes().enumerate().filter(|(_, b)| *b == b'\n').map(|(at, _)| at + 1);
        Lines { starts: after_newlines.collect() }
    }

    /// The line of a byte offset, from one.
    fn line(&self, at: usize) -> usize {
        self.starts.partition_point(|start| *start <= at) + 1
    }

    /// The column of a byte offset, in characters from one.
    fn column(&self, text: &str, at: usize) -> usize {
        let earlier = self.starts.partition_point(|start| *start <= at);
        let line_start = earlier.checked_sub(1).and_then(|last| self.starts.get(last)).copied().unwrap_or(0);
        text.get(line_start..at).unwrap_or_default().chars().count() + 1
    }
}

fn capped(mut errors: Vec<ConfigError>) -> Vec<ConfigError> {
    errors.sort_by_key(ConfigError::line);
    let more = errors.len().saturating_sub(ERRORS_MAX);
    if more > 0 {
        errors.truncate(ERRORS_MAX);
        let last = errors.last().map(|last| last.place.clone());
        errors.extend(last.map(|place| ConfigError { place, problem: Problem::TooMany { more } }));
    }
    errors
}
