//! Every JSON answer is held against its published schema.

use jsonschema::Validator;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Mutex, OnceLock};

/// Flags that take a value, so that the word after one is no verb.
const FLAGS_WITH_VALUES: [&str; 6] =
    ["-C", "--store", "--agent", "--idempotency-key", "--timeout", "--scope"];

/// The directory of the published schemas.
pub fn directory() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/schemas")
}

/// The schema that the answer of a command line follows.
pub fn name_for(arguments: &[String], ok: bool) -> String {
    if !ok {
        return "error".to_owned();
    }
    let words = words(arguments);
    match words.as_slice() {
        [group @ ("audit" | "config" | "scope"), verb, ..] => format!("{group}-{verb}"),
        ["wait", ..] if arguments.iter().any(|word| word == "--cancel") => "wait-cancel".to_owned(),
        ["status", ..] if arguments.iter().any(|word| word == "--cost") => "status-cost".to_owned(),
        ["explain"] => "explain-all".to_owned(),
        [verb, ..] if !arguments.iter().any(|word| word == "--help" || word == "-h") => (*verb).to_owned(),
        _ => "help".to_owned(),
    }
}

/// Holds an answer against a schema.
///
/// # Panics
/// If there is no such schema or the answer does not follow it.
#[track_caller]
pub fn check(name: &str, value: &Value) {
    static VALIDATORS: OnceLock<Mutex<BTreeMap<String, Validator>>> = OnceLock::new();
    let mut validators =
        VALIDATORS.get_or_init(Mutex::default).lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let validator = validators.entry(name.to_owned()).or_insert_with(|| load(name));
    let complaints: Vec<String> =
        validator.iter_errors(value).map(|error| format!("{}: {error}", error.instance_path())).collect();
    drop(validators);
    assert!(complaints.is_empty(), "not what docs/schemas/{name}.json promises: {complaints:?}\n{value:#}");
}

fn load(name: &str) -> Validator {
    let path = directory().join(format!("{name}.json"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let schema: Value = serde_json::from_str(&text).expect("a schema is JSON");
    jsonschema::draft202012::new(&schema).expect("a schema is a schema")
}

/// The verb and what follows it, without flags of everywhere.
fn words(arguments: &[String]) -> Vec<&str> {
    let mut words = Vec::new();
    let mut rest = arguments.iter().map(String::as_str);
    while let Some(word) = rest.next() {
        if FLAGS_WITH_VALUES.contains(&word) {
            rest.next();
        } else if !word.starts_with('-') {
            words.push(word);
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_schema_of_an_answer_follows_from_the_command_line() {
        for (line, ok, name) in [
            ("--json reserve a.rs", true, "reserve"),
            ("--agent ada -C /x --json audit verify", true, "audit-verify"),
            ("config show --json", true, "config-show"),
            ("explain", true, "explain-all"),
            ("explain usage", true, "explain"),
            ("reserve a.rs", false, "error"),
            ("--version", true, "help"),
            ("reserve --help", true, "help"),
        ] {
            let arguments: Vec<String> = line.split(' ').map(str::to_owned).collect();
            assert_eq!(name_for(&arguments, ok), name, "{line}");
        }
    }
}
