//! A single value: how it is read from text or TOML, checked, and shown.

use std::fmt;
use std::time::Duration;

use clearway_core::duration;
use clearway_core::redact::redact;
use clearway_core::text::printable;
use toml::de::DeValue;

use super::error::Problem;
use super::keys::{Key, Kind, SWITCH};
use clearway_core::nearest::nearest;

/// A checked value. Its text is safe to show: secrets in addresses are taken out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    Unset,
    Text(String),
    Choice(&'static str),
    Integer(u64),
    Duration(Duration),
    Resource(Resource),
}

/// A named resource: how many may hold it at once, and whether the whole machine shares it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Resource {
    pub capacity: u32,
    pub machine: bool,
}

impl Default for Resource {
    fn default() -> Self {
        Resource { capacity: 1, machine: false }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Unset => f.write_str("unset"),
            Value::Text(text) => f.write_str(&printable(&redact(text))),
            Value::Choice(choice) => f.write_str(choice),
            Value::Integer(number) => write!(f, "{number}"),
            Value::Duration(duration) => write!(f, "{}", duration::display(*duration)),
            Value::Resource(Resource { capacity, machine: false }) => write!(f, "{capacity}"),
            Value::Resource(Resource { capacity, machine: true }) => write!(f, "{capacity} on this machine"),
        }
    }
}

/// Reads a value from a variable or flag, where everything is text.
pub(super) fn from_text(key: &'static Key, text: &str) -> Result<Value, Problem> {
    match key.kind {
        Kind::Text { check } => check(text)
            .map(|()| Value::Text(text.to_owned()))
            .map_err(|why| Problem::bad_value(key.name, text, why)),
        Kind::Choice(choices) => choice(key, choices, text),
        Kind::Switch => choice(key, &SWITCH, text),
        Kind::Integer { min, max } => {
            let number =
                text.parse().map_err(|_| Problem::bad_value(key.name, text, "it is not a whole number"))?;
            integer(key, number, min, max)
        }
        Kind::Duration { min, max } => duration_within(key, text, min, max),
        Kind::Patterns(_) | Kind::Resources | Kind::Tools => {
            Err(Problem::NotAllowedHere { key: key.name, allowed: "a configuration file" })
        }
    }
}

/// Reads a value from a file.
pub(super) fn from_toml(key: &'static Key, value: &DeValue<'_>) -> Result<Value, Problem> {
    match (key.kind, value) {
        (Kind::Text { .. } | Kind::Choice(_) | Kind::Duration { .. }, DeValue::String(text)) => {
            from_text(key, text)
        }
        (Kind::Switch, DeValue::Boolean(is_on)) => Ok(Value::Choice(SWITCH[usize::from(*is_on)])),
        (Kind::Integer { min, max }, DeValue::Integer(_)) => {
            let number = whole_number(value).ok_or_else(|| out_of_range(key, value_text(value), min, max))?;
            integer(key, number, min, max)
        }
        _ => Err(Problem::wrong_type(key.name, expected(key.kind), value)),
    }
}

/// A TOML integer that is not negative and fits.
pub(super) fn whole_number(value: &DeValue<'_>) -> Option<u64> {
    let integer = value.as_integer()?;
    u64::from_str_radix(integer.as_str(), integer.radix()).ok()
}

pub(super) fn expected(kind: Kind) -> &'static str {
    match kind {
        Kind::Text { .. } | Kind::Choice(_) => "a string",
        Kind::Switch => "true or false",
        Kind::Integer { .. } => "an integer",
        Kind::Duration { .. } => "a duration in quotes, such as \"30m\"",
        Kind::Patterns(_) => "a list of patterns",
        Kind::Resources => "a table of resources",
        Kind::Tools => "a table of tools",
    }
}

fn choice(key: &'static Key, choices: &'static [&'static str], text: &str) -> Result<Value, Problem> {
    if let Some(known) = choices.iter().find(|known| **known == text) {
        return Ok(Value::Choice(known));
    }
    Err(Problem::bad_choice(key.name, text, choices, nearest(text, choices.iter().copied())))
}

fn integer(key: &'static Key, number: u64, min: u64, max: u64) -> Result<Value, Problem> {
    if (min..=max).contains(&number) {
        return Ok(Value::Integer(number));
    }
    Err(out_of_range(key, number.to_string(), min, max))
}

fn out_of_range(key: &'static Key, number: String, min: u64, max: u64) -> Problem {
    Problem::bad_value(key.name, &number, &format!("it must be from {min} to {max}"))
}

fn duration_within(key: &'static Key, text: &str, min: Duration, max: Duration) -> Result<Value, Problem> {
    let duration =
        duration::parse(text).map_err(|error| Problem::bad_value(key.name, text, &error.to_string()))?;
    if (min..=max).contains(&duration) {
        return Ok(Value::Duration(duration));
    }
    let why = format!("it must be from {} to {}", duration::display(min), duration::display(max));
    Err(Problem::bad_value(key.name, text, &why))
}

fn value_text(value: &DeValue<'_>) -> String {
    value.as_integer().map(ToString::to_string).unwrap_or_default()
}
