//! Who depends on whom: the table in ARCHITECTURE.md, compared with what cargo says.

use clearway_checks::markdown::{code_spans, table};
use clearway_checks::package::{self, Package};
use clearway_checks::{root, text, tree};
use std::collections::{BTreeMap, BTreeSet};

/// Crates from outside that belong to the crates written for them, whatever the table says.
const TIED: [(&str, &[&str]); 13] = [
    ("rusqlite", &["clearway-store-sqlite"]),
    ("tokio", &["clearway-store-postgres"]),
    ("tokio-postgres", &["clearway-store-postgres"]),
    ("rustix", &["clearway-platform"]),
    ("serde", &["clearway-wire", "clearway-cli"]),
    ("schemars", &["clearway-wire", "clearway-cli"]),
    ("clap", &["clearway-cli"]),
    ("clap_complete", &["clearway-cli"]),
    ("clap_mangen", &["clearway-cli"]),
    ("jsonc-parser", &["clearway-cli"]),
    ("toml_edit", &["clearway-cli"]),
    ("blake3", &["clearway-wire"]),
    ("ed25519-dalek", &["clearway-kernel"]),
];

/// Crates of tests that stand on the product's own: the engine that proves the contract, the simulation, the storms.
const OF_TESTS: [&str; 3] = ["clearway-sim", "clearway-store-postgres", "clearway-storm"];

/// A crate's edges: to the workspace, and to the outside.
type Edges = (BTreeSet<String>, BTreeSet<String>);

#[test]
fn every_edge_is_in_the_table_and_every_edge_of_the_table_exists() {
    let (written, found) = (edges_of_the_table(), edges_of_the_workspace());
    let names = |edges: &BTreeMap<String, Edges>| edges.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&written), names(&found), "the table of ARCHITECTURE.md lists every crate");
    for (name, edges) in &found {
        assert_eq!(&written[name], edges, "{name}: left the table of ARCHITECTURE.md, right what cargo says");
    }
}

#[test]
fn no_crate_of_the_product_is_built_with_one_of_the_tests() {
    let testing = root().join("testing");
    let of_tests: Vec<Package> =
        package::members().into_iter().filter(|package| package.manifest.starts_with(&testing)).collect();
    for name in OF_TESTS {
        assert!(of_tests.iter().any(|package| package.name == name), "{of_tests:?}");
    }
    for package in product() {
        let strays = of_tests.iter().find(|test| package.dependencies.contains(&test.name));
        assert!(strays.is_none(), "{} is built with {strays:?}", package.name);
    }
}

#[test]
fn outside_crates_stay_with_the_crates_written_for_them() {
    for package in described() {
        for (outside, homes) in TIED {
            let strays = package.dependencies.contains(outside) && !homes.contains(&package.name.as_str());
            assert!(!strays, "{} may not use {outside}: it belongs to {}", package.name, homes.join(", "));
        }
    }
}

#[test]
fn every_dependency_is_used() {
    let sources: Vec<_> = tree::with_extension("rs").into_iter().map(|file| root().join(file)).collect();
    for package in described() {
        let directory = package.manifest.parent().map(|directory| directory.join("src")).unwrap_or_default();
        let own: String =
            sources.iter().filter(|file| file.starts_with(&directory)).map(|file| text(file)).collect();
        for name in &package.dependencies {
            assert!(own.contains(&name.replace('-', "_")), "{} does not use {name}", package.name);
        }
    }
}

#[test]
fn the_core_is_built_from_almost_nothing() {
    let reached: BTreeSet<String> =
        package::built_into("clearway-core").into_iter().map(|(name, _)| name).collect();
    assert!(reached.contains("unicode-normalization"), "{reached:?}");
    for forbidden in ["serde", "serde_core", "rusqlite", "libc", "rustix", "getrandom", "rand", "jiff", "log"]
    {
        assert!(!reached.contains(forbidden), "clearway-core is built with {forbidden}");
    }
}

/// The crates of the table: the product's, and those of the tests that stand on them. The simulation proves something
/// only as long as it reaches nothing but the model.
fn described() -> Vec<Package> {
    let of_tests = package::members().into_iter().filter(|package| OF_TESTS.contains(&package.name.as_str()));
    product().into_iter().chain(of_tests).collect()
}

fn product() -> Vec<Package> {
    let crates = root().join("crates");
    package::members().into_iter().filter(|package| package.manifest.starts_with(&crates)).collect()
}

fn edges_of_the_workspace() -> BTreeMap<String, Edges> {
    let edges = |package: &Package| {
        package.dependencies.iter().cloned().partition(|name| name.starts_with("clearway"))
    };
    described().iter().map(|package| (package.name.clone(), edges(package))).collect()
}

fn edges_of_the_table() -> BTreeMap<String, Edges> {
    let rows = table(&text(&root().join("ARCHITECTURE.md")), "crate");
    let cell = |row: &[String], index: usize| row.get(index).map(|cell| code_spans(cell)).unwrap_or_default();
    rows.iter()
        .map(|row| {
            let inside = cell(row, 1).into_iter().collect();
            let outside = cell(row, 2).into_iter().collect();
            (cell(row, 0).concat(), (inside, outside))
        })
        .collect()
}
