//! Repositories in which something is wrong: every verb says what by a slug and names a way round, and whatever of the
//! user's is there stays as it is.

use super::{checkout, snapshot};
use crate::{app, home};
use clearway_testkit::faults::behind;
use clearway_testkit::namespace::Namespace;
use clearway_testkit::{Home, Ran, Repository};
use std::process::Command;

const COMMIT: &[&str] = &["commit", "-m", "mine", "src/a.rs"];
const DIFF: &[&str] = &["diff"];

/// A repository with a snapshot, changes since, and something staged: the number of the snapshot.
fn prepared<'h>(home: &'h Home) -> (Repository<'h>, String) {
    let app = app(home);
    app.write("src/a.rs", "kept\n");
    app.write("src/b.rs", "staged\n");
    app.git(&["add", "src/b.rs"]);
    let number = snapshot(&app, &[]);
    app.grant("ada", &["src/a.rs"]);
    app.write("src/a.rs", "later\n");
    app.git(&["reset", "-q"]);
    (app, number)
}

/// A verb fails so, says what to do, and the checkout is as it was.
#[track_caller]
fn refused(app: &Repository<'_>, words: &[&str], slug: &str) {
    let before = checkout(app.path());
    let ran: Ran = app.agent("ada").json(words);
    let value = ran.value();
    assert_eq!(value["error"]["slug"], slug, "{words:?}: {value}");
    assert!(value["error"]["hints"].as_array().is_some_and(|hints| !hints.is_empty()), "{words:?}: {value}");
    assert_eq!(checkout(app.path()), before, "{words:?}");
}

#[test]
fn where_there_is_no_checkout_every_verb_says_so() {
    let home = home();
    let bare = home.directory("bare.git");
    home.shell(&bare, "git init -q --bare .").status().expect("git");
    for words in [COMMIT, DIFF, &["snapshot"], &["restore", "s1"], &["undo", "-y"]] {
        home.clearway(&bare).agent("ada").fails("no-checkout", 2, words);
    }
}

#[test]
fn a_corrupt_index_is_named_by_every_verb_that_needs_it() {
    let home = home();
    let (app, number) = prepared(&home);
    std::fs::write(app.path().join(".git/index"), "no index").expect("a file");
    for words in [COMMIT, DIFF, &["restore", &number], &["undo", &number, "-y"]] {
        refused(&app, words, "git-failed");
    }
    let before = checkout(app.path());
    let value = app.agent("ada").json(COMMIT).value();
    let hint = value["error"]["hints"][0].as_str().expect("a hint");
    let command = hint.split_once(": ").expect("a command").1;
    let pasted = home.shell(&app.path().join("src"), command).output().expect("a shell");
    assert!(pasted.status.success(), "{command}: {}", String::from_utf8_lossy(&pasted.stderr));
    assert_eq!(checkout(app.path()), before);
    assert_eq!(std::fs::read(app.path().join(".git/index.broken")).expect("bytes"), b"no index");
    app.agent("ada").ok(&["restore", &number]);
    assert_eq!(std::fs::read(app.path().join("src/a.rs")).expect("bytes"), b"kept\n");
}

#[test]
fn before_the_first_commit_there_is_something_to_commit_and_to_look_at() {
    let home = home();
    let young = home.directory("young");
    let made = "git init -q -b main . && git config user.name x && git config user.email y && printf z > new";
    home.shell(&young, made).status().expect("git");
    let ada = || home.clearway(&young).agent("ada");
    ada().ok(&["reserve", "new"]);
    ada().ok(DIFF);
    ada().ok(&["commit", "-m", "first"]);
    let shown = home.shell(&young, "git show --format= --name-only").output().expect("git").stdout;
    assert_eq!(shown, b"new\n");
}

#[test]
fn in_a_repository_that_cannot_be_written_or_is_full_nothing_is_lost_and_looking_goes_on() {
    for is_full in [false, true] {
        let home = home();
        let (app, number) = prepared(&home);
        let (git, small) = (app.path().join(".git"), home.directory("small"));
        let (git, small) = (git.display(), small.display());
        let read_only = format!("mount --bind '{git}' '{git}' && mount -o remount,ro,bind '{git}'");
        let full = format!(
            "mount -t tmpfs -o size=2m tmpfs '{small}' && cp -a '{git}/.' '{small}/' && \
             {{ dd if=/dev/zero of='{small}/filler' bs=4k status=none 2>/dev/null || true; }} && \
             mount --bind '{small}' '{git}'"
        );
        let disk = Namespace::of_mounts();
        disk.script(if is_full { &full } else { &read_only });
        let run = |words: &[&str]| -> (i32, String) {
            let command: Command = app.agent("ada").args(words).into_command();
            let output = disk.enter(command).output().expect("it runs");
            (output.status.code().unwrap_or(-1), String::from_utf8_lossy(&output.stderr).into_owned())
        };
        let before = checkout(app.path());
        for words in [COMMIT, &["snapshot"], &["restore", &number]] {
            let (code, said) = run(words);
            // What finds no room says how much of it there is.
            let slug = if is_full { "error[store-full]" } else { "error[git-failed]" };
            let is_said = said.contains(slug) && said.contains("hint:");
            assert!(code == 69 && is_said, "{words:?}, full: {is_full}: {said}");
            assert_eq!(checkout(app.path()), before, "{words:?}");
        }
        let (code, said) = run(DIFF);
        assert_eq!(code, 0, "{said}");
        drop(disk);
        app.git(&["fsck", "--no-progress"]);
        app.agent("ada").ok(COMMIT);
    }
}

#[test]
fn a_lock_of_somebody_else_is_waited_for_named_and_never_removed() {
    let home = home();
    let (app, number) = prepared(&home);
    let lock = app.path().join(".git/index.lock");
    std::fs::write(&lock, "somebody's").expect("a file");
    refused(&app, COMMIT, "git-failed");
    // What was staged belongs to it, so it is brought back as a whole or not at all.
    refused(&app, &["restore", &number], "git-failed");
    app.agent("ada").ok(DIFF);
    assert_eq!(std::fs::read(&lock).expect("bytes"), b"somebody's");
    std::fs::remove_file(&lock).expect("a file");
    app.agent("ada").ok(&["restore", &number]);
    app.agent("ada").ok(COMMIT);
}

#[test]
fn in_the_middle_of_a_merge_a_commit_of_a_part_is_refused_and_the_rest_goes_on() {
    let home = home();
    let (app, number) = prepared(&home);
    app.git(&["checkout", "-q", "--", "."]);
    app.git(&["checkout", "-qb", "other"]);
    app.write("main.rs", "other\n");
    app.git(&["commit", "-qam", "other"]);
    app.git(&["checkout", "-q", "main"]);
    app.write("main.rs", "main\n");
    app.git(&["commit", "-qam", "main"]);
    assert!(!home.shell(app.path(), "git merge -q other").status().expect("git").success());
    app.write("src/a.rs", "later\n");
    refused(&app, COMMIT, "git-failed");
    app.agent("ada").ok(DIFF);
    app.agent("ada").ok(&["restore", &number, "src/a.rs"]);
    assert!(app.path().join(".git/MERGE_HEAD").exists());
    assert_eq!(std::fs::read(app.path().join("src/a.rs")).expect("bytes"), b"kept\n");
}

#[test]
fn an_enormous_file_is_in_the_way_of_nobody_who_does_not_mean_it() {
    let home = home();
    let (app, number) = prepared(&home);
    let file = std::fs::File::create(app.path().join("huge.bin")).expect("a file");
    file.set_len(201_000_000).expect("a size");
    refused(&app, &["snapshot"], "snapshot-too-large");
    app.agent("ada").ok(DIFF);
    app.agent("ada").ok(&["restore", &number]);
    app.agent("ada").ok(COMMIT);
    assert_eq!(std::fs::metadata(app.path().join("huge.bin")).expect("a file").len(), 201_000_000);
}

#[test]
fn a_file_that_cannot_be_read_is_named_and_nothing_is_changed() {
    let home = home();
    let (app, number) = prepared(&home);
    let file = app.path().join("src/a.rs").display().to_string();
    let runner =
        ["strace", "-f", "-qq", "-o", "/dev/null", "-P", &file, "-P", "src/a.rs", "-e", "trace=openat"];
    let runner = [&runner[..], &["-e", "inject=openat:error=EACCES"]].concat();
    let before = checkout(app.path());
    for words in [COMMIT, &["snapshot"], &["restore", &number]] {
        let command = app.agent("ada").args(words).into_command();
        let output = behind(command, &runner).output().expect("strace runs");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(
            !output.status.success() && said.contains("src/a.rs") && said.contains("hint:"),
            "{words:?}: {said}"
        );
        assert_eq!(checkout(app.path()), before, "{words:?}");
    }
}
