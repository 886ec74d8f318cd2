//! A checkout that is gone as a whole comes back with what was not committed there.

use super::commands::{invite, runs};
use super::{checkout, snapshot};
use crate::{app, home, list, number, text};
use clearway_testkit::{Client, Home, Repository};
use std::path::{Path, PathBuf};

/// A linked checkout with work in it, on a branch of its own.
fn linked(home: &Home, repository: &Repository<'_>) -> PathBuf {
    let linked = repository.path().with_file_name("two words");
    repository.git(&["worktree", "add", "-q", "-b", "topic", &linked.display().to_string()]);
    let script = "echo precious > src/a.rs; echo staged > src/b.rs; git add src/b.rs; mkdir -m 700 new new/empty; \
                  echo new > new/file; rm README.md 2> /dev/null; true";
    assert!(home.shell(&linked, script).status().expect("a shell").success());
    linked
}

/// What git says of a checkout.
fn said(home: &Home, root: &Path) -> String {
    let script = "git status --porcelain=v2 --branch; git symbolic-ref -q HEAD; git diff --cached; true";
    let output = home.shell(root, script).output().expect("git");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn a_checkout_that_was_removed_is_made_again_by_the_command_that_is_told() {
    for command in ["git worktree remove --force '../two words'", "rm -rf '../two words'"] {
        let home = home();
        let app = app(&home);
        invite(&app);
        let linked = linked(&home, &app);
        let before = (checkout(&linked), said(&home, &linked));
        let mut ada = Client::claude(&home, &app, "ada");
        let told = runs(&mut ada, &home, &app, command).told();
        assert!(!linked.exists(), "{command}");
        let undo = told.split("; ").nth(1).and_then(|rest| rest.split(" brings").next()).expect("a command");
        let pasted = home.shell(app.path(), undo).output().expect("a shell");
        let text = String::from_utf8_lossy(&pasted.stdout).into_owned();
        assert!(pasted.status.success() && text.contains("made the checkout again: "), "{told}: {text}");
        assert_eq!((checkout(&linked), said(&home, &linked)), before, "{command}");
        app.git(&["fsck", "--no-progress"]);
        assert_eq!(super::status(&app), "", "{command}");
    }
}

#[test]
fn where_its_branch_went_on_or_is_checked_out_elsewhere_it_stands_on_its_commit_alone() {
    for between in [
        "git branch -f topic HEAD~0 && git switch -q topic",
        "git switch -q topic && git commit -q --allow-empty -m on",
    ] {
        let home = home();
        let app = app(&home);
        let linked = linked(&home, &app);
        let head = app.git(&["rev-parse", "topic"]);
        let taken = home.clearway(&linked).agent("ada").ok(&["snapshot"]);
        let word = format!("s{}", number(&taken, "snapshot"));
        app.git(&["worktree", "remove", "--force", &linked.display().to_string()]);
        assert!(home.shell(app.path(), between).status().expect("git").success());
        let planned = app.agent("ada").ok(&["undo", &word, "--dry-run"]);
        assert_eq!(text(&planned, "remade"), linked.display().to_string());
        assert!(!linked.exists(), "a look changes nothing");
        app.agent("ada").ok(&["undo", &word, "-y"]);
        let now = home.shell(&linked, "git rev-parse HEAD; git symbolic-ref -q HEAD").output().expect("git");
        assert_eq!(String::from_utf8_lossy(&now.stdout), head, "{between}");
        assert_eq!(std::fs::read(linked.join("src/a.rs")).expect("bytes"), b"precious\n");
        assert_eq!(app.git(&["symbolic-ref", "--short", "HEAD"]), "topic\n", "{between}");
    }
}

#[test]
fn a_place_that_is_not_free_is_left_alone_and_so_is_that_of_a_repository_that_was_moved() {
    let home = home();
    let app = app(&home);
    let linked = linked(&home, &app);
    let taken = home.clearway(&linked).agent("ada").ok(&["snapshot"]);
    let word = format!("s{}", number(&taken, "snapshot"));
    app.git(&["worktree", "remove", "--force", &linked.display().to_string()]);
    let error = app.agent("ada").fails("outside-scope", 2, &["restore", &word]);
    assert!(
        error["hints"][0].as_str().is_some_and(|hint| hint.ends_with(&format!("undo {word} -y"))),
        "{error}"
    );
    std::fs::write(&linked, "somebody's").expect("a file");
    app.agent("ada").fails("outside-scope", 2, &["undo", &word, "-y"]);
    assert_eq!(std::fs::read(&linked).expect("bytes"), b"somebody's");
    app.write("src/a.rs", "mine\n");
    let own = snapshot(&app, &[]);
    let moved = app.path().with_file_name("moved");
    std::fs::rename(app.path(), &moved).expect("a move");
    let listed = home.clearway(&moved).ok(&["snapshots"]);
    assert!(!list(&listed, "snapshots").is_empty());
    home.clearway(&moved).agent("ada").fails("outside-scope", 2, &["undo", &own, "-y"]);
    assert!(!app.path().exists());
}

/// Does what a failure advises, line by line, as a shell of an agent does.
fn follows(home: &Home, place: &Path, error: &serde_json::Value) {
    for hint in list(error, "hints") {
        let advice = hint.as_str().expect("a hint");
        let command = advice.split_once(": ").expect("a command").1;
        let mut shell = home.shell(place, command);
        let output = shell.env("CLEARWAY_AGENT", "ada").output().expect("a shell");
        assert!(output.status.success(), "{advice}: {}", String::from_utf8_lossy(&output.stderr));
    }
}

#[test]
fn what_is_told_of_a_checkout_whose_place_is_taken_brings_it_back() {
    let home = home();
    let app = app(&home);
    let linked = linked(&home, &app);
    let before = (checkout(&linked), said(&home, &linked));
    let word = format!("s{}", number(&home.clearway(&linked).agent("ada").ok(&["snapshot"]), "snapshot"));
    std::fs::remove_dir_all(&linked).expect("removed");
    std::fs::write(&linked, "somebody's").expect("a file");
    for verb in ["restore", "undo"] {
        let error = app.agent("ada").fails("outside-scope", 2, &[verb, &word]);
        assert!(text(&error, "message").ends_with("where something else lies now"), "{error}");
    }
    follows(&home, app.path(), &app.agent("ada").fails("outside-scope", 2, &["undo", &word, "-y"]));
    assert_eq!((checkout(&linked), said(&home, &linked)), before);
    assert_eq!(std::fs::read(linked.with_file_name("two words-1")).expect("bytes"), b"somebody's");
}

#[test]
fn what_is_told_of_a_checkout_that_is_no_linked_one_brings_its_files_back() {
    for before in ["true", "rm -rf .git && git init -q"] {
        let home = home();
        let app = app(&home);
        assert!(home.shell(app.path(), before).status().expect("git").success());
        app.write("src/a.rs", "mine\n");
        app.write("new", "new\n");
        let own = snapshot(&app, &[]);
        let moved = app.path().with_file_name("it's moved");
        std::fs::rename(app.path(), &moved).expect("a move");
        let files = checkout(&moved);
        let error = home.clearway(&moved).agent("ada").fails("outside-scope", 2, &["undo", &own, "-y"]);
        assert!(text(&error, "message").ends_with("which is gone"), "{error}");
        follows(&home, &moved, &error);
        assert_eq!(checkout(app.path()), files, "{before}");
        assert_eq!(checkout(&moved), files, "{before}");
    }
}
