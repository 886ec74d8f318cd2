//! What the README shows is what happens.

use crate::home;
use clearway_testkit::Files;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the workspace")
}

/// Replaces what no two runs share: ids where ids stand, names that were made, numbers of processes, milliseconds,
/// spans of a few seconds and the scope's digits.
fn masked(text: &str) -> String {
    text.lines().map(masked_line).collect::<Vec<_>>().join("\n")
}

fn masked_line(line: &str) -> String {
    let words: Vec<&str> = line.split(' ').collect();
    let mask = |(at, word): (usize, &&str)| {
        let near = |distance: usize| at.checked_sub(distance).map_or("", |before| words[before]);
        let next = words.get(at + 1).copied().unwrap_or_default();
        let begins_row = words[..at].iter().all(|before| before.is_empty());
        let body = word.trim_end_matches(',');
        let is_number = body.bytes().all(|b| b.is_ascii_digit());
        let mask = match body {
            id if is_id(id) && (begins_row || near(1) == "lease" || near(1).ends_with(':')) => "ID",
            made if made.starts_with("term-") => "NAME",
            scope if scope.starts_with("app-") => "SCOPE",
            _ if is_number && (near(2) == "kill" || near(1) == "process") => "PID",
            _ if is_number && next == "ms" => "N",
            span if (is_seconds(span) || span == "now") && next.is_empty() => "SPAN",
            _ => return (*word).to_owned(),
        };
        word.replacen(body, mask, 1)
    };
    words.iter().enumerate().map(mask).collect::<Vec<_>>().join(" ")
}

fn is_id(word: &str) -> bool {
    word.len() == 8
        && word.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit())
        && !["clearway", "reserved", "released"].contains(&word)
}

fn is_seconds(word: &str) -> bool {
    word.strip_suffix('s').is_some_and(|digits| digits.parse::<u32>().is_ok())
}

/// A busy machine says `29m 59s` where another says `30m`, and `3s ago` where it says `just now`.
fn unhurried(text: &str) -> String {
    let text = text.replace("since now", "since just now");
    let ages = (1..60).map(|seconds| format!("29m {seconds}s"));
    ages.fold(text, |text, age| text.replace(&age, "30m"))
}

#[test]
fn the_demo_prints_what_the_readme_says() {
    let readme = std::fs::read_to_string(root().join("README.md")).expect("README.md");
    let shown = readme.split("<!-- demo -->\n```console\n").nth(1).and_then(|rest| rest.split("```").next());
    let home = home();
    let ran = home.clearway(home.path()).run(&["demo"]).expect(0);
    let steady = |text: &str| unhurried(&clearway_testkit::steady(&masked(text.trim_end())));
    assert_eq!(steady(&ran.stdout()), steady(shown.expect("the marked block")));
}

#[test]
fn commands_under_a_name_print_what_the_readme_says() {
    let readme = std::fs::read_to_string(root().join("README.md")).expect("README.md");
    let block = readme.split("<!-- one-at-a-time -->\n```console\n").nth(1);
    let shown = block.and_then(|rest| rest.split("```").next()).expect("the marked block");
    let home = home();
    let repository = crate::app(&home);
    let mut printed = String::new();
    for command in shown.lines().filter_map(|line| line.strip_prefix("$ ")) {
        let mut shell = home.shell(repository.path(), command);
        let output = shell.env("CLEARWAY_AGENT", "ada").output().expect("a shell");
        printed.push_str(&format!("$ {command}\n{}", String::from_utf8_lossy(&output.stdout)));
    }
    assert_eq!(printed, shown);
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

/// Every fenced block of shell commands in the documents people start from.
fn shell_blocks() -> Vec<(String, String)> {
    let documents =
        ["README.md", "CONTRIBUTING.md", "docs/benchmarks.md", "docs/robustness.md", "docs/conformance.md"];
    let blocks = |name: &str| {
        let text = std::fs::read_to_string(root().join(name)).expect("a document");
        let after = text.split("```sh\n").skip(1).map(str::to_owned).collect::<Vec<_>>();
        after.into_iter().filter_map(|rest| rest.split("```").next().map(str::to_owned)).collect::<Vec<_>>()
    };
    documents
        .iter()
        .flat_map(|name| blocks(name).into_iter().map(|block| ((*name).to_owned(), block)))
        .collect()
}

/// Words of a block that are paths of this repository; those with a variable, and names of git, are the reader's own.
fn paths_in(line: &str) -> impl Iterator<Item = (&str, &str)> {
    let words = line.split('#').next().unwrap_or_default().split_whitespace();
    let before = std::iter::once("").chain(words.clone());
    before
        .zip(words)
        .filter(|(_, word)| word.contains('/') && !word.contains('$') && !word.starts_with("refs/"))
}

#[test]
fn the_scripts_that_the_documents_tell_to_run_are_there_and_run_as_they_are_written() {
    let blocks = shell_blocks();
    assert!(blocks.len() >= 3, "{blocks:?}");
    let mut scripts = 0;
    for (document, block) in blocks {
        for (before, word) in block.lines().flat_map(paths_in) {
            let path = root().join(word);
            assert!(path.exists(), "{document}: {word}");
            if path.is_file() && before.is_empty() {
                runs_by_itself(&document, &path);
                scripts += 1;
            }
            let shells = ["sh", "bash", "dash"];
            assert!(
                !shells.contains(&before),
                "{document}: {word} is run by {before}, whatever its first line says"
            );
        }
    }
    assert!(scripts >= 2, "{scripts}");
}

/// A script that is typed by its path: it may be executed, says by what, and that reads it.
#[track_caller]
fn runs_by_itself(document: &str, path: &Path) {
    let shown = path.display();
    let mode = std::fs::metadata(path).expect("metadata").permissions().mode();
    assert_eq!(mode & 0o111, 0o111, "{document}: {shown} cannot be executed");
    let text = std::fs::read_to_string(path).expect("a script");
    let interpreter = text.lines().next().and_then(|line| line.strip_prefix("#!/usr/bin/env "));
    let interpreter = interpreter.unwrap_or_else(|| panic!("{document}: {shown} does not say what runs it"));
    let read = Command::new(interpreter).arg("-n").arg(path).output().expect("its interpreter");
    assert!(read.status.success(), "{document}: {shown}");
}

#[test]
fn what_the_readme_removes_is_everything_there_is() {
    let readme = std::fs::read_to_string(root().join("README.md")).expect("README.md");
    let block = readme.split("<!-- remove -->\n```sh\n").nth(1).and_then(|rest| rest.split("```").next());
    let block = block.expect("the marked block");
    let removal: Vec<&str> = block.lines().filter(|line| !line.starts_with("cargo ")).collect();
    assert_eq!(removal.len(), 3, "{block}");
    let removal = removal.join("\n");
    for runtime in ["", "unset XDG_RUNTIME_DIR;"] {
        let home = home();
        let own = |name: &str| home.path().join(name);
        let here = own("work");
        std::fs::create_dir(&here).expect("a directory");
        let begin =
            "git init --quiet && git -c user.name=x -c user.email=x commit --quiet --allow-empty -m x";
        assert!(home.shell(&here, begin).status().is_ok_and(|status| status.success()));
        let refs =
            || home.shell(&here, "git for-each-ref; cat .git/config").output().expect("a shell").stdout;
        let git = || (refs(), Files::below(&here.join(".git/hooks")));
        let left = || (["home", "state", "config", "run", "tmp"].map(|name| Files::below(&own(name))), git());
        let before = left();
        let used = "clearway --agent ada reserve a.rs && clearway --agent bob reserve a.rs --wait 100ms \
                    && clearway init --git-hooks -y && echo changed > a.rs && clearway --agent ada snapshot \
                    && git for-each-ref refs/clearway | grep -q . && ls \"$XDG_STATE_HOME\"";
        let mut shell = home.shell(&here, &format!("{runtime} {used} && set -e\n{removal}"));
        let output = shell.output().expect("a shell");
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
        assert!(said.lines().any(|line| line == "clearway"), "{said}");
        assert_eq!(left(), before, "{removal}");
    }
}

#[test]
fn the_commands_of_the_readme_table_can_be_typed() {
    let readme = std::fs::read_to_string(root().join("README.md")).expect("README.md");
    let home = home();
    let repository = crate::app(&home);
    let rows = readme.lines().filter(|line| line.starts_with("| "));
    let commands =
        rows.flat_map(|row| row.split('`').skip(1).step_by(2)).filter(|word| word.starts_with("clearway "));
    let mut typed = 0;
    for command in commands.filter(|command| !command.ends_with(" -f") && !command.contains("SLUG")) {
        repository.grant("ada", &["src/api/"]);
        let line = format!("clearway --json --agent ada {}", command.trim_start_matches("clearway "));
        let output = home.shell(repository.path(), &line).output().expect("a shell");
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(!said.is_empty() && !said.contains("\"kind\":\"usage\""), "{command}: {said}");
        typed += 1;
    }
    assert!(typed > 12, "{typed}");
}
