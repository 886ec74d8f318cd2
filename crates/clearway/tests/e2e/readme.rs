//! What the README shows is what happens.

use crate::home;
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the workspace")
}

/// Replaces what no two runs share: ids where ids stand, the scope's digits, the head.
fn masked(text: &str) -> String {
    text.lines().map(masked_line).collect::<Vec<_>>().join("\n")
}

fn masked_line(line: &str) -> String {
    let is_id =
        |word: &str| word.len() == 8 && word.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit());
    let words: Vec<&str> = line.split(' ').collect();
    let mask = |(at, word): (usize, &&str)| {
        let before = at.checked_sub(1).map_or("", |before| words[before]);
        let in_row = at == 2 && words[0].is_empty() && words[1].is_empty();
        match *word {
            id if is_id(id) && (in_row || before == "lease" || before.ends_with(':')) => "ID".to_owned(),
            hash if hash.len() == 64 => "HASH".to_owned(),
            scope if scope.starts_with("app-") => "SCOPE".to_owned(),
            other => other.to_owned(),
        }
    };
    words.iter().enumerate().map(mask).collect::<Vec<_>>().join(" ")
}

#[test]
fn the_first_look_prints_what_the_readme_says() {
    let readme = std::fs::read_to_string(root().join("README.md")).expect("README.md");
    let shown =
        readme.split("<!-- first-look -->\n```console\n").nth(1).and_then(|rest| rest.split("```").next());
    let home = home();
    let binary = Path::new(env!("CARGO_BIN_EXE_clearway")).parent().expect("a directory");
    let output = Command::new("sh")
        .arg(root().join("docs/first-look.sh"))
        .env_clear()
        .envs(home.environment())
        .env("PATH", format!("{}:/usr/local/bin:/usr/bin:/bin", binary.display()))
        .current_dir(home.path())
        .output()
        .expect("the script runs");
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    let steady = |text: &str| clearway_testkit::steady(&masked(text.trim_end()));
    assert_eq!(steady(&printed), steady(shown.expect("the marked block")));
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
}

#[test]
fn every_verb_the_readme_names_exists() {
    let readme = std::fs::read_to_string(root().join("README.md")).expect("README.md");
    let home = home();
    let here = home.directory("here");
    let mut named: Vec<&str> = readme
        .split("clearway ")
        .skip(1)
        .filter_map(|rest| rest.split([' ', '`', ':', '\n']).next())
        .collect();
    named.retain(|verb| !verb.is_empty() && verb.bytes().all(|b| b.is_ascii_lowercase()));
    named.sort_unstable();
    named.dedup();
    let not_verbs = ["and", "is", "keeps", "shows"];
    for verb in named.iter().filter(|verb| !not_verbs.contains(verb)) {
        home.clearway(&here).run(&["help", verb]).expect(0);
    }
    assert!(named.contains(&"reserve") && named.len() > 10, "{named:?}");
}
