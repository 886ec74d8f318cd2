//! docs/conformance.md names tests that exist, and leaves no finding out.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The rows of every table: id, requirement, tests or a reason.
fn rows() -> Vec<[String; 3]> {
    let text = std::fs::read_to_string(root().join("docs/conformance.md")).expect("docs/conformance.md");
    let cells = |line: &str| -> Option<[String; 3]> {
        let cells: Vec<String> =
            line.strip_prefix("| ")?.trim_end_matches(" |").split(" | ").map(str::to_owned).collect();
        cells.try_into().ok()
    };
    text.lines().filter_map(cells).filter(|[id, ..]| id != "id" && !id.starts_with("---")).collect()
}

/// Every test function of the source tree, by its name behind the modules around it, as few or as many as are named.
fn tests() -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for directory in ["crates", "testing", "xtask"] {
        collect(&root().join(directory), &mut found);
    }
    found
}

fn collect(directory: &Path, found: &mut BTreeSet<String>) {
    for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let modules = modules(&path);
            let text = std::fs::read_to_string(&path).expect("a source file");
            for name in marked(&text).into_iter().chain(told(&text)) {
                let below = |first: usize| format!("{}::{name}", modules[first..].join("::"));
                found.extend((0..modules.len()).map(below));
            }
        }
    }
}

/// The modules that a source file lies in, outermost first: the folders below its crate, and the file itself unless it
/// speaks for its folder.
fn modules(file: &Path) -> Vec<String> {
    let below = file.strip_prefix(root()).unwrap_or(file).with_extension("");
    let parts = below.iter().map(|part| part.to_string_lossy().into_owned());
    parts.skip_while(|part| part != "src" && part != "tests").skip(1).filter(|part| part != "mod").collect()
}

/// The functions that the test harness runs.
fn marked(text: &str) -> Vec<&str> {
    let (mut is_test, mut found) = (false, Vec::new());
    for line in text.lines().map(str::trim) {
        if line == "#[test]" {
            is_test = true;
        } else if let Some(name) = function(line) {
            found.extend(is_test.then_some(name));
            is_test = false;
        }
    }
    found
}

/// The stories that every engine lives through: each is listed with the function that tells it.
fn told(text: &str) -> Vec<&str> {
    let list = text.split_once("STORIES: &[Story] = &[").and_then(|(_, rest)| rest.split_once("];"));
    let after_titles = list.into_iter().flat_map(|(list, _)| list.split('"').skip(2).step_by(2));
    after_titles
        .filter_map(|rest| rest.trim_start_matches([',', ' ', '\n']).split([',', ')', '\n']).next())
        .collect()
}

/// The name of the function that a line begins.
fn function(line: &str) -> Option<&str> {
    line.trim_start_matches("pub ").strip_prefix("fn ")?.split(['(', '<']).next()
}

/// The names in backquotes of a cell.
fn named(cell: &str) -> Vec<&str> {
    cell.split('`').skip(1).step_by(2).collect()
}

#[test]
fn every_row_names_a_test_that_exists_or_a_reason() {
    let tests = tests();
    for [id, requirement, cell] in rows() {
        assert!(!requirement.trim().is_empty(), "{id}");
        let reasons = ["superseded: ", "not built yet: ", "not applicable: "];
        let has_reason = reasons.iter().any(|reason| cell.contains(reason));
        let names: Vec<&str> = named(&cell).into_iter().filter(|name| name.contains("::")).collect();
        assert!(has_reason || !names.is_empty(), "{id}: neither a test nor a reason: {cell}");
        for name in names {
            assert!(tests.contains(name), "{id}: no test is called {name}");
        }
    }
}

#[test]
fn no_finding_is_left_out() {
    let ids: BTreeSet<String> = rows().into_iter().map(|[id, ..]| id).collect();
    let seed_0 = [
        "trust",
        "ids",
        "injection",
        "force-without-consent",
        "sizes",
        "flag",
        "authentication",
        "toctou",
        "lost-wake-up",
        "no-process",
        "idempotent",
        "concurrent-mutation",
        "worker",
        "thread",
        "rollback",
        "thread-ids",
        "bodies",
        "thread-fetch",
        "spoofing",
        "polling",
    ];
    let seed_1 = [
        "C1",
        "SAFETY-1",
        "SAFETY-2",
        "SAFETY-3",
        "C2",
        "ARCH-3",
        "H1",
        "H2",
        "H3",
        "H4",
        "H5",
        "ARCH-1",
        "ARCH-2",
        "ARCH-4",
        "M1",
        "M2",
        "M3",
        "M4",
        "QUALITY-1",
        "QUALITY-2",
        "L1",
        "L2",
        "L3",
        "L4",
        "QUALITY-3",
        "QUALITY-4",
        "QUALITY-5",
        "C3.1",
        "process",
    ];
    let seed_4 = [
        "1.1", "1.2", "1.3", "1.4", "2.1", "2.2", "2.3", "2.4", "2.5", "2.6", "3.1", "3.2", "3.3", "4", "M1",
        "M2", "M3", "M4", "M5", "C1", "C2", "C3", "C4", "C5",
    ];
    let intercore = [
        1, 2, 3, 4, 6, 7, 8, 9, 11, 12, 13, 14, 16, 17, 18, 19, 21, 22, 23, 24, 26, 27, 28, 29, 31, 32, 33,
        34, 36, 37, 38, 39, 41, 42, 43, 44, 46, 47, 48, 49, 51, 52, 53, 54, 56, 57, 58, 59, 60, 61, 62, 63,
        64, 68, 69, 70, 71, 72, 73, 74, 75, 76, 77, 78, 79, 81, 82, 83, 84, 85, 86, 87, 88, 89, 90, 91, 92,
        93, 94, 95, 96, 97, 98, 99, 100, 101, 102, 103, 104,
    ];
    let intermute = [
        1, 2, 3, 5, 6, 7, 9, 10, 11, 13, 14, 15, 17, 18, 19, 21, 22, 23, 25, 26, 27, 29, 30, 31, 33, 34, 35,
        37, 38, 39, 41, 42, 43, 45, 62, 63, 65, 66, 67, 69, 70, 71, 73, 74, 75, 77, 78, 79, 81, 97, 98, 103,
    ];
    let mail = [46, 47, 49, 50, 51, 53, 54, 55, 57, 58, 59, 61];
    let promises = 1..=21;
    let expected = seed_0
        .iter()
        .map(|id| format!("0/{id}"))
        .chain(seed_1.iter().map(|id| format!("1/{id}")))
        .chain(seed_4.iter().map(|id| format!("4/{id}")))
        .chain(intercore.iter().map(|id| format!("7.{id}")))
        .chain(intermute.iter().map(|id| format!("C-{id:03}")))
        .chain(mail.iter().map(|id| format!("C-{id:03}")))
        .chain(promises.map(|id| format!("P-{id:02}")));
    let missing: Vec<String> = expected.filter(|id| !ids.contains(id)).collect();
    assert!(missing.is_empty(), "docs/conformance.md says nothing about {missing:?}");
}

#[test]
fn a_test_is_found_by_the_modules_around_it() {
    let of = |file: &str| modules(&root().join(file)).join("::");
    assert_eq!(of("crates/clearway/tests/e2e/bad_input/words.rs"), "e2e::bad_input::words");
    assert_eq!(of("crates/clearway/tests/e2e/bad_input/mod.rs"), "e2e::bad_input");
    assert_eq!(of("testing/clearway-storm/src/histories/model.rs"), "histories::model");
}

#[test]
fn a_function_that_no_harness_runs_is_no_test() {
    let text = "fn helper() {}\n#[test]\n#[expect(x)]\nfn real() {}\n  fn later() {}\n";
    assert_eq!(marked(text), ["real"]);
    let stories = "const STORIES: &[Story] = &[\n    (\"a title\", told),\n];\nfn untold() {}\n";
    assert_eq!((told(stories), told(text)), (vec!["told"], Vec::new()));
}
