//! What git ignores, found without git, compared with what git says.

mod support;

use clearway_git::is_ignored;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use std::collections::BTreeSet;
use std::fs;
use support::{Sandbox, link};

/// Of these paths, those that git ignores.
fn by_git<'p>(sandbox: &Sandbox, paths: &[&'p str]) -> BTreeSet<&'p str> {
    let words = ["ls-files", "--others", "--ignored", "--exclude-standard", "-z"];
    let listed = sandbox.git("repo", &words);
    let listed: BTreeSet<&str> = listed.split('\0').collect();
    paths.iter().copied().filter(|path| listed.contains(path)).collect()
}

fn by_us<'p>(sandbox: &Sandbox, paths: &[&'p str]) -> BTreeSet<&'p str> {
    let (environment, root) = (sandbox.environment(), sandbox.at("repo"));
    paths.iter().copied().filter(|path| is_ignored(&environment, &root, path)).collect()
}

const PATHS: [&str; 16] = [
    "a",
    "b.o",
    "a.b/a",
    "a.b/b.o",
    "a.b/c/a",
    "c/a",
    "c/b/a",
    "c/b/a.b",
    "c/b/c/b.o",
    "ab/*",
    "ab/[a]",
    "ab/a b",
    "ab/ü",
    "#a",
    "!a",
    "ab/B",
];

/// Lines of files of patterns: mostly of the letters that paths are made of, and of everything that means something.
fn lines() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => "[abco.]{1,2}",
        3 => Just("/".to_owned()),
        2 => Just("*".to_owned()),
        2 => Just("**".to_owned()),
        1 => Just("?".to_owned()),
        1 => prop_oneof![
            "\\[[!^]?[abc.\\]\\-\\\\]{1,3}\\]?",
            Just("[[:alpha:]]".to_owned()),
            Just("[[:x:]]".to_owned()),
            Just("[a-c]".to_owned()),
            Just("[]-a]".to_owned()),
        ],
        1 => prop_oneof![Just("\\".to_owned()), Just(" ".to_owned()), Just("\\ ".to_owned()), Just("ü".to_owned())],
    ];
    let line = (
        prop_oneof![5 => Just(""), 2 => Just("!"), 1 => Just("#"), 2 => Just("/")],
        prop::collection::vec(piece, 1..5),
    );
    let line = line.prop_map(|(front, pieces)| format!("{front}{}", pieces.concat()));
    let ending = prop_oneof![6 => Just("\n"), 1 => Just("\r\n"), 1 => Just("  \n")];
    prop::collection::vec((line, ending), 0..6)
        .prop_map(|lines| lines.into_iter().map(|(line, ending)| format!("{line}{ending}")).collect())
}

#[test]
fn what_fits_a_pattern_is_what_git_says() {
    let sandbox = Sandbox::new();
    sandbox.repository("repo");
    for path in PATHS {
        sandbox.write(&format!("repo/{path}"), "");
    }
    let mut runner = TestRunner::new(Config { cases: 400, failure_persistence: None, ..Config::default() });
    let some = (lines(), lines(), lines(), lines(), proptest::sample::subsequence(&PATHS[..], 0..3));
    let seen = std::cell::Cell::new(0);
    let ran = runner.run(&some, |(top, deep, own, user, tracked)| {
        for (file, text) in [
            ("repo/.gitignore", &top),
            ("repo/c/.gitignore", &deep),
            ("repo/.git/info/exclude", &own),
            ("home/.config/git/ignore", &user),
        ] {
            sandbox.write(file, text);
        }
        sandbox.git("repo", &["read-tree", "--empty"]);
        if !tracked.is_empty() {
            let literal: Vec<String> = tracked.iter().map(|path| format!(":(literal){path}")).collect();
            let words = ["add", "--force", "--"].into_iter().chain(literal.iter().map(String::as_str));
            sandbox.git("repo", &words.collect::<Vec<_>>());
        }
        let (expect, found) = (by_git(&sandbox, &PATHS), by_us(&sandbox, &PATHS));
        seen.set(seen.get() + expect.len());
        prop_assert_eq!(expect, found);
        Ok(())
    });
    ran.unwrap_or_else(|error| panic!("{error}"));
    assert!(seen.get() > 400, "{} files were ignored in all", seen.get());
}

#[test]
fn what_is_tracked_is_not_ignored_however_the_index_is_written() {
    for format in ["sha1", "sha256"] {
        for version in ["2", "3", "4"] {
            let sandbox = Sandbox::new();
            fs::create_dir(sandbox.at("repo")).unwrap();
            sandbox.git("repo", &["init", "--quiet", &format!("--object-format={format}")]);
            sandbox.git("repo", &["config", "index.version", version]);
            sandbox.write("repo/.gitignore", "*\n");
            let names = ["a", "deep/er/file.log", "deep/er/file.lot", "deep/other", &"long/".repeat(40)];
            let names =
                names.map(|name| if name.ends_with('/') { format!("{name}x") } else { name.to_owned() });
            for name in &names {
                sandbox.write(&format!("repo/{name}"), name);
                sandbox.write(&format!("repo/{name}-not"), name);
            }
            let add: Vec<&str> =
                ["add", "--force"].into_iter().chain(names.iter().map(String::as_str)).collect();
            sandbox.git("repo", &add);
            // Later versions have more flags for what is only meant to be added.
            sandbox.write("repo/meant", "");
            sandbox.git("repo", &["add", "--force", "--intent-to-add", "meant"]);
            let all: Vec<String> =
                names.iter().flat_map(|name| [name.clone(), format!("{name}-not")]).collect();
            let all: Vec<&str> = all.iter().map(String::as_str).chain(["meant"]).collect();
            let found = by_us(&sandbox, &all);
            assert_eq!(found, by_git(&sandbox, &all), "{format} {version}");
            assert_eq!(found.len(), names.len(), "{format} {version}");
        }
    }
}

#[test]
fn an_index_that_lies_in_two_files_may_have_anything() {
    let sandbox = Sandbox::new();
    sandbox.repository("repo");
    sandbox.write("repo/.gitignore", "*.log\n");
    sandbox.write("repo/a.log", "");
    assert_eq!(by_us(&sandbox, &["a.log"]).len(), 1);
    sandbox.git("repo", &["update-index", "--split-index"]);
    assert!(by_us(&sandbox, &["a.log"]).is_empty());
}

#[test]
fn the_users_own_patterns_are_where_the_configuration_says() {
    let sandbox = Sandbox::new();
    let root = sandbox.repository("repo");
    sandbox.write("home/.config/git/ignore", "default.x\n");
    sandbox.write("home/mine", "given.x\n");
    sandbox.write("repo/.git/patterns", "local.x\n");
    let found = || by_us(&sandbox, &["default.x", "given.x", "local.x"]).into_iter().collect::<Vec<_>>();
    assert_eq!(found(), ["default.x"]);
    sandbox.write("home/.gitconfig", "[core]\n\texcludesFile = ~/mine\n");
    assert_eq!(found(), ["given.x"]);
    sandbox.git("repo", &["config", "core.excludesFile", &root.join(".git/patterns").display().to_string()]);
    assert_eq!(found(), ["local.x"]);
}

#[test]
fn a_link_to_patterns_is_not_followed_and_a_worktree_has_the_patterns_of_its_repository() {
    let sandbox = Sandbox::new();
    let root = sandbox.repository("repo");
    sandbox.write("patterns", "*.log\n");
    link(sandbox.at("patterns"), root.join(".gitignore"));
    assert!(by_us(&sandbox, &["a.log"]).is_empty());
    sandbox.write("repo/.git/info/exclude", "*.log\n");
    sandbox.git("repo", &["worktree", "add", "--quiet", "../linked"]);
    assert!(is_ignored(&sandbox.environment(), &sandbox.at("linked"), "a.log"));
    assert!(!is_ignored(&sandbox.environment(), &sandbox.at("home"), "a.log"), "no repository");
    assert!(!is_ignored(&sandbox.environment(), &sandbox.at("repo/.git"), "a.log"), "no worktree");
}
