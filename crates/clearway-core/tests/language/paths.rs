//! The path corpus: every spelling has one canonical form or one reason to be refused.

use clearway_core::path::{CanonicalPath, PathError};

use crate::support;

#[test]
fn every_path_of_the_corpus_reads_as_recorded() {
    let mut wrong = Vec::new();
    let cases = support::cases(include_str!("../corpus/paths.txt"));
    assert!(cases.len() >= 200, "the corpus has shrunk to {}", cases.len());
    for (line, columns) in cases {
        let [fold, text, expect] = columns.as_slice() else { panic!("line {line}: three columns") };
        let found = describe(CanonicalPath::parse(text, support::fold(fold)));
        if &found != expect {
            wrong.push(format!("line {line}: {text:.80?} gave {found:?}, recorded {expect:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_canonical_path_is_its_own_canonical_form() {
    for (line, columns) in support::cases(include_str!("../corpus/paths.txt")) {
        let fold = support::fold(&columns[0]);
        let Ok(path) = CanonicalPath::parse(&columns[1], fold) else { continue };
        if !path.is_root() {
            assert_eq!(CanonicalPath::parse(path.as_str(), fold), Ok(path), "line {line}");
        }
    }
}

fn describe(found: Result<CanonicalPath, PathError>) -> String {
    match found {
        Ok(path) if path.is_root() => "=".to_owned(),
        Ok(path) => format!("= {path}"),
        Err(error) => format!("! {}", error.code()),
    }
}
