//! Environment variables that look like ours but are not read: most likely a slip, never an error, because a newer
//! version may know them.

use std::collections::BTreeMap;

use super::keys::KEYS;
use crate::audit::KEY_VARIABLE;
use crate::githooks::REASON_VARIABLE;
use clearway_core::nearest::nearest;
use clearway_core::unit;

const PREFIX: &str = "CLEARWAY_";

/// Variables that are read without being settings.
const ALSO_READ: [&str; 2] = [KEY_VARIABLE, REASON_VARIABLE];

/// A `CLEARWAY_…` variable that nothing reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownVariable {
    pub name: String,
    pub nearest: Option<String>,
}

/// Lists them. What a command that runs under leases is told is no slip either.
pub fn unknown_variables(variables: &BTreeMap<String, String>) -> Vec<UnknownVariable> {
    let known = || KEYS.iter().filter_map(|key| key.variable).chain(ALSO_READ);
    let ours = variables.range(PREFIX.to_owned()..).map(|(name, _)| name);
    ours.take_while(|name| name.starts_with(PREFIX))
        .filter(|name| !known().any(|known| known == name.as_str()) && !unit::is_told(name))
        .map(|name| UnknownVariable { name: name.clone(), nearest: nearest_known(name, known()) })
        .collect()
}

/// The common prefix is left out of the comparison; it would make every name look near.
fn nearest_known<'k>(name: &str, known: impl Iterator<Item = &'k str>) -> Option<String> {
    let own = name.strip_prefix(PREFIX)?;
    nearest(own, known.filter_map(|known| known.strip_prefix(PREFIX))).map(|near| format!("{PREFIX}{near}"))
}
