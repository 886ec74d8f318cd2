//! What can be wrong with a configuration, and where.
//!
//! Each message says what to do next. A value is shown shortened, printable and without secrets.

use std::fmt;
use std::path::{Path, PathBuf};

use clearway_core::redact::redact;
use clearway_core::shell;
use clearway_core::slug::Slug;
use clearway_core::text::{printable, truncate_columns};
use toml::de::DeValue;

/// The most that is shown of a name or value from outside, in columns.
const SHOWN_COLUMNS_MAX: usize = 80;

/// One mistake and its place.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {problem}")]
pub struct ConfigError {
    pub place: Place,
    pub problem: Problem,
}

impl ConfigError {
    /// The stable name of the mistake, for programs.
    pub fn slug(&self) -> Slug {
        match self.problem {
            Problem::Syntax { .. }
            | Problem::TooLarge { .. }
            | Problem::TooMany { .. }
            | Problem::Duplicate => Slug::ConfigSyntax,
            Problem::UnknownKey { .. } => Slug::ConfigUnknownKey,
            Problem::WrongType { .. } => Slug::ConfigWrongType,
            Problem::BadValue { .. } | Problem::RelativeLocation { .. } => Slug::ConfigBadValue,
            Problem::NotAllowedHere { .. }
            | Problem::UnsafeRepositoryValue { .. }
            | Problem::TakesEverything { .. } => Slug::ConfigUnsafe,
        }
    }
}

impl ConfigError {
    /// What mends it, where that is one thing to type.
    pub fn way_out(&self) -> Option<String> {
        match (&self.problem, &self.place) {
            (Problem::RelativeLocation { absolute: Some(absolute), .. }, Place::Variable(name)) => {
                Some(format!("write all of it: export {name}={}", shell::word(absolute)))
            }
            _ => None,
        }
    }

    /// The line for ordering; what is in no file has none.
    pub(super) fn line(&self) -> usize {
        match self.place {
            Place::File { line, .. } => line,
            Place::Variable(_) | Place::Flag(_) => 0,
        }
    }
}

/// Where a mistake is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    File { path: PathBuf, line: usize },
    Variable(String),
    Flag(String),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::File { path, line } => write!(f, "{}:{line}", printable(&path.to_string_lossy())),
            Place::Variable(name) => write!(f, "variable {}", printable(name)),
            Place::Flag(name) => write!(f, "flag {}", printable(name)),
        }
    }
}

/// What is wrong.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    #[error("this is not valid TOML at column {column}: {message}")]
    Syntax { column: usize, message: String },
    #[error("the file is larger than {bytes_max} bytes")]
    TooLarge { bytes_max: usize },
    #[error("there are {more} more mistakes in this file")]
    TooMany { more: usize },
    #[error("this key is given twice; keep one of them")]
    Duplicate,
    #[error("unknown key `{key}`{}", did_you_mean(.nearest))]
    UnknownKey { key: String, nearest: Option<String> },
    #[error("`{key}` must be {expected}, not {actual}")]
    WrongType { key: String, expected: &'static str, actual: &'static str },
    #[error("`{key}` cannot be `{value}`: {why}{}", did_you_mean(.nearest))]
    BadValue { key: String, value: String, why: String, nearest: Option<String> },
    #[error("`{key}` cannot be `{value}`: a relative path means another file in every directory")]
    RelativeLocation { key: String, value: String, absolute: Option<String> },
    #[error("`{key}` cannot be set here; set it in {allowed}")]
    NotAllowedHere { key: &'static str, allowed: &'static str },
    #[error(
        "`{key} = {value}` is less safe than {beneath} and a repository cannot lower safety; only the user file \
         {user_file} can hold it"
    )]
    UnsafeRepositoryValue { key: String, value: String, beneath: String, user_file: String },
    #[error(
        "`{key}` takes in every file by `{value}`, which would then be nobody's; name what is meant, such as \
         docs/generated/**, or set it in the user file"
    )]
    TakesEverything { key: &'static str, value: String },
}

impl Problem {
    pub(super) fn bad_value(key: &str, value: &str, why: &str) -> Problem {
        Problem::BadValue { key: shown(key), value: shown(value), why: why.to_owned(), nearest: None }
    }

    pub(super) fn relative_location(key: &str, path: &str, cwd: Option<&Path>) -> Problem {
        let absolute =
            cwd.map(|cwd| cwd.join(path).display().to_string()).filter(|path| shown(path) == *path);
        Problem::RelativeLocation { key: shown(key), value: shown(path), absolute }
    }

    pub(super) fn bad_choice(key: &str, value: &str, choices: &[&str], nearest: Option<&str>) -> Problem {
        let why = format!("it must be one of {}", choices.join(", "));
        Problem::BadValue { key: shown(key), value: shown(value), why, nearest: nearest.map(str::to_owned) }
    }

    pub(super) fn takes_everything(key: &'static str, value: &str) -> Problem {
        Problem::TakesEverything { key, value: shown(value) }
    }

    pub(super) fn wrong_type(key: &str, expected: &'static str, actual: &DeValue<'_>) -> Problem {
        Problem::WrongType { key: shown(key), expected, actual: type_name(actual) }
    }

    pub(super) fn unknown_key(key: &str, nearest: Option<&str>) -> Problem {
        Problem::UnknownKey { key: shown(key), nearest: nearest.map(str::to_owned) }
    }
}

fn shown(text: &str) -> String {
    truncate_columns(&printable(&redact(text)), SHOWN_COLUMNS_MAX).into_owned()
}

fn did_you_mean(nearest: &Option<String>) -> String {
    nearest.as_ref().map(|name| format!("; did you mean `{name}`?")).unwrap_or_default()
}

fn type_name(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "a string",
        DeValue::Integer(_) => "an integer",
        DeValue::Float(_) => "a number with a fraction",
        DeValue::Boolean(_) => "true or false",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}
