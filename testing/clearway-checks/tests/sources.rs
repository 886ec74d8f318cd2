//! What every source file of the workspace keeps to.

use clearway_checks::package;
use clearway_checks::{root, text, tree};
use std::path::PathBuf;

/// Put together here, so that this file does not name what it forbids.
fn notes_to_self() -> [String; 3] {
    [["TO", "DO"].concat(), ["FIX", "ME"].concat(), ["XX", "X"].concat()]
}

/// The one file that may hold unsafe code, and says why.
const UNSAFE: &str = "crates/clearway-store-sqlite/src/memory.rs";

#[test]
fn what_is_unsafe_has_one_place() {
    let workspace: toml::Table = text(&root().join("Cargo.toml")).parse().expect("Cargo.toml is TOML");
    let level = &workspace["workspace"]["lints"]["rust"][["unsafe", "_code"].concat()];
    assert_eq!(level.as_str(), Some("deny"));
    for package in package::members() {
        let manifest: toml::Table = text(&package.manifest).parse().expect("a manifest is TOML");
        let inherits =
            manifest.get("lints").and_then(|lints| lints.get("workspace")).and_then(toml::Value::as_bool);
        assert_eq!(inherits, Some(true), "{} takes the workspace's lints", package.name);
    }
    // Put together here, so that this file does not seem to lift the lint itself.
    let lint = ["unsafe", "_code"].concat();
    let lifts = |file: &&PathBuf| {
        file.extension().is_some_and(|extension| extension == "rs")
            && std::fs::read_to_string(root().join(file)).is_ok_and(|content| content.contains(&lint))
    };
    let files = tree::files();
    let lifted: Vec<&PathBuf> = files.iter().filter(lifts).collect();
    assert_eq!(lifted, [&PathBuf::from(UNSAFE)]);
}

#[test]
fn only_these_may_ask_the_machine() {
    let mut lifted: Vec<PathBuf> =
        tree::files().into_iter().filter(|file| file.ends_with("clippy.toml")).collect();
    let expect = [
        "clippy.toml",
        "crates/clearway-git/clippy.toml",
        "crates/clearway-platform/clippy.toml",
        "crates/clearway/clippy.toml",
        "testing/clippy.toml",
        "xtask/clippy.toml",
    ];
    lifted.sort_by_key(|file| file.display().to_string());
    assert_eq!(lifted, expect.map(PathBuf::from));
}

/// Where a client of agents may be named: the word that events keep, and the file of each.
const NAMES_CLIENTS: [&str; 2] =
    ["crates/clearway-core/src/agent/client.rs", "crates/clearway-cli/src/clients/"];

#[test]
fn what_is_known_of_a_client_has_one_place() {
    let names = ["ClaudeCode", "Codex", "Gemini", "Cursor", "Copilot"];
    let mut forbidden: Vec<String> = names.iter().map(|name| format!("Client::{name}")).collect();
    let words = names.map(|name| name.trim_end_matches("Code").to_lowercase());
    forbidden.extend(words.iter().map(|word| format!("\"{word}\"")));
    forbidden.extend(words.iter().map(|word| format!("\"{}_", word.to_uppercase())));
    let is_product = |file: &&PathBuf| {
        let path = file.display().to_string();
        let is_test = ["/tests", "/conformance/"].iter().any(|part| path.contains(part));
        path.starts_with("crates/") && path.ends_with(".rs") && path.contains("/src/") && !is_test
    };
    let mut allowed = 0;
    for file in tree::files().iter().filter(is_product) {
        let content = text(&root().join(file));
        // A module of tests in the file itself comes last; one in another file is declared at the top.
        let code = content.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
        let named = forbidden.iter().find(|name| code.contains(*name));
        if NAMES_CLIENTS.iter().any(|place| file.display().to_string().starts_with(place)) {
            allowed += usize::from(named.is_some());
        } else {
            assert_eq!(named, None, "{}", file.display());
        }
    }
    assert_eq!(allowed, 1 + names.len(), "the names are those that are used");
}

#[test]
fn no_file_holds_a_note_to_self() {
    for file in tree::files().iter().filter(|file| !file.starts_with("fuzz/seeds")) {
        let Ok(content) = std::fs::read_to_string(root().join(file)) else { continue };
        for note in notes_to_self() {
            let line = content.lines().position(|line| has_word(line, &note));
            assert_eq!(
                line.map(|line| line + 1),
                None,
                "{} has a {note} on the line right of this",
                file.display()
            );
        }
    }
}

#[test]
fn every_module_says_what_it_is_for() {
    for package in package::members() {
        let Some(directory) = package.manifest.parent() else { continue };
        // A module of tests is about the module above it.
        let is_tests = |file: &PathBuf| file.file_stem().is_some_and(|stem| stem == "tests");
        let sources = tree::with_extension("rs")
            .into_iter()
            .filter(|file| !is_tests(file))
            .map(|file| root().join(file));
        for file in sources.filter(|file| file.starts_with(directory.join("src"))) {
            let content = text(&file);
            let first = content.lines().next().unwrap_or_default();
            assert!(
                first.starts_with("//! ") && !first.contains("Placeholder"),
                "{} says what it is for",
                file.display()
            );
        }
    }
}

#[test]
fn no_test_is_ignored() {
    let ignored = ["#[", "ignore"].concat();
    for file in tree::with_extension("rs") {
        assert!(!text(&root().join(&file)).contains(&ignored), "{} ignores a test", file.display());
    }
}

fn has_word(line: &str, word: &str) -> bool {
    line.split(|c: char| !c.is_alphanumeric()).any(|found| found == word)
}
