//! What the product is built from: licences, sources, versions. The rules are those of deny.toml, so that they hold
//! with and without cargo-deny.

use clearway_checks::licence::is_satisfied;
use clearway_checks::package;
use clearway_checks::{root, text};
use std::collections::{BTreeMap, BTreeSet};

fn rules() -> toml::Table {
    text(&root().join("deny.toml")).parse().expect("deny.toml is TOML")
}

fn strings(rules: &toml::Table, section: &str, key: &str) -> BTreeSet<String> {
    let list = rules.get(section).and_then(|section| section.get(key)).and_then(toml::Value::as_array);
    let list = list.unwrap_or_else(|| panic!("deny.toml has [{section}] {key}"));
    list.iter().filter_map(|value| value.as_str().map(str::to_owned)).collect()
}

#[test]
fn every_licence_is_on_the_list() {
    let allowed = strings(&rules(), "licenses", "allow");
    for package in package::everything() {
        let licence = package.licence.unwrap_or_default();
        assert!(is_satisfied(&licence, &allowed), "{} {}: {licence:?}", package.name, package.version);
    }
}

#[test]
fn every_licence_on_the_list_is_needed() {
    let allowed = strings(&rules(), "licenses", "allow");
    let expressions: BTreeSet<String> =
        package::everything().into_iter().filter_map(|package| package.licence).collect();
    for licence in &allowed {
        assert!(expressions.iter().any(|text| text.contains(licence.as_str())), "nothing is under {licence}");
    }
}

#[test]
fn everything_comes_from_one_registry() {
    let sources: BTreeSet<String> =
        package::everything().into_iter().filter_map(|package| package.source).collect();
    assert_eq!(sources.len(), 1, "{sources:?}");
    assert!(sources.iter().all(|source| source.starts_with("registry+")), "{sources:?}");
}

#[test]
fn banned_crates_are_absent() {
    let rules = rules();
    for (banned, wrappers) in banned(&rules) {
        let found = package::everything().into_iter().find(|package| package.name == banned);
        let Some(found) = found else { continue };
        for user in package::users(&found) {
            assert!(wrappers.contains(&user), "{banned} is banned by deny.toml, and {user} uses it");
        }
    }
}

#[test]
fn the_binary_is_built_from_nothing_that_is_banned() {
    let built: BTreeSet<String> = package::built_into("clearway").into_iter().map(|(name, _)| name).collect();
    for (banned, wrappers) in banned(&rules()) {
        let strays: Vec<_> = wrappers.iter().chain([&banned]).filter(|name| built.contains(*name)).collect();
        assert!(strays.is_empty(), "{strays:?}");
    }
}

/// Every banned crate, with those that may use it nevertheless.
fn banned(rules: &toml::Table) -> Vec<(String, Vec<String>)> {
    let entries = rules["bans"]["deny"].as_array().expect("deny.toml has [bans] deny");
    let text = |value: &toml::Value| value.as_str().unwrap_or_default().to_owned();
    let wrappers = |entry: &toml::Value| entry.get("wrappers").and_then(toml::Value::as_array).cloned();
    let pair = |entry: &toml::Value| {
        (text(&entry["crate"]), wrappers(entry).unwrap_or_default().iter().map(text).collect())
    };
    entries.iter().map(pair).collect()
}

#[test]
fn nothing_the_binary_is_built_from_exists_twice_without_a_word_about_it() {
    let mut versions: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (name, version) in package::built_into("clearway") {
        versions.entry(name).or_default().insert(version);
    }
    let rules = rules();
    let skipped = rules["bans"]["skip"].as_array().cloned().unwrap_or_default();
    let skipped: Vec<&str> = skipped.iter().filter_map(|entry| entry.get("crate")?.as_str()).collect();
    for (name, versions) in versions.iter().filter(|(_, versions)| versions.len() > 1) {
        let is_explained = |version: &&String| {
            let named = format!("{name}@{version}.");
            skipped.iter().any(|entry| named.starts_with(&format!("{entry}.")))
        };
        let unexplained = versions.iter().filter(|version| !is_explained(version)).count();
        assert!(unexplained <= 1, "{name} exists as {versions:?}: name the extra ones in [bans] skip");
    }
}
