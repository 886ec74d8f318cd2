//! Environment variables that look like ours but are not read: most likely a slip, never an error, because a newer
//! version may know them.

use std::collections::BTreeMap;

use super::keys::KEYS;
use clearway_core::nearest::nearest;

const PREFIX: &str = "CLEARWAY_";

/// A `CLEARWAY_…` variable that nothing reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownVariable {
    pub name: String,
    pub nearest: Option<String>,
}

/// Lists them. `also_read` names the variables that other parts of the product read.
pub fn unknown_variables(variables: &BTreeMap<String, String>, also_read: &[&str]) -> Vec<UnknownVariable> {
    let known = || KEYS.iter().filter_map(|key| key.variable).chain(also_read.iter().copied());
    let ours = variables.range(PREFIX.to_owned()..).map(|(name, _)| name);
    ours.take_while(|name| name.starts_with(PREFIX))
        .filter(|name| !known().any(|known| known == name.as_str()))
        .map(|name| UnknownVariable { name: name.clone(), nearest: nearest_known(name, known()) })
        .collect()
}

/// The common prefix is left out of the comparison; it would make every name look near.
fn nearest_known<'k>(name: &str, known: impl Iterator<Item = &'k str>) -> Option<String> {
    let own = name.strip_prefix(PREFIX)?;
    nearest(own, known.filter_map(|known| known.strip_prefix(PREFIX))).map(|near| format!("{PREFIX}{near}"))
}
