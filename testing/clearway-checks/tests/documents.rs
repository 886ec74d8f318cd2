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
