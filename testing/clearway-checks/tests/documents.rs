//! Documents that a reader relies on: they exist, and their links lead somewhere.

use clearway_checks::markdown::links;
use clearway_checks::{root, text, tree};
use std::path::Path;

#[test]
fn the_documents_of_the_house_exist() {
    for name in [
        "README.md",
        "CHANGELOG.md",
        "ARCHITECTURE.md",
        "THREAT_MODEL.md",
        "CONTRIBUTING.md",
        "LICENSE-MIT",
        "LICENSE-APACHE",
        "docs/benchmarks.md",
    ] {
        assert!(root().join(name).is_file(), "{name} is there");
    }
}

#[test]
fn every_relative_link_leads_to_a_file() {
    for document in tree::with_extension("md") {
        let content = text(&root().join(&document));
        let directory = root().join(&document);
        let directory = directory.parent().unwrap_or(Path::new(""));
        for link in links(&content).iter().filter(|link| is_relative(link)) {
            let path = link.split('#').next().unwrap_or_default();
            assert!(directory.join(path).exists(), "{} links to {link}", document.display());
        }
    }
}

/// A paragraph of the code map begins with the directory it is about; a file that it names lies below that.
#[test]
fn every_file_that_the_code_map_names_is_where_it_says() {
    let content = text(&root().join("ARCHITECTURE.md"));
    let map =
        content.split("## Code map").nth(1).and_then(|rest| rest.split("\n## ").next()).expect("a code map");
    let mut named = 0;
    for paragraph in map.split("\n\n") {
        let words: Vec<&str> = paragraph.split('`').skip(1).step_by(2).collect();
        let Some((place, files)) = words.split_first().filter(|_| paragraph.trim_start().starts_with("**`"))
        else {
            continue;
        };
        for file in files.iter().filter(|word| word.ends_with(".rs") || word.ends_with(".sql")) {
            let below = |path: &std::path::PathBuf| path.starts_with(place) && path.ends_with(file);
            assert!(tree::files().iter().any(below), "{file} is not below {place}");
            named += 1;
        }
    }
    assert!(named > 40, "only {named} files are named");
}

#[test]
fn every_decision_record_says_what_was_rejected() {
    let records = tree::with_extension("md").into_iter().filter(|file| file.starts_with("docs/adr"));
    for record in records {
        let content = text(&root().join(&record));
        for heading in ["## Context", "## Decision", "## Rejected", "## Consequences"] {
            assert!(content.contains(heading), "{} has {heading}", record.display());
        }
    }
}

fn is_relative(link: &str) -> bool {
    !link.is_empty() && !link.contains("://") && !link.starts_with(['#', '<']) && !link.starts_with("mailto:")
}
