//! Killed at any point, whatever keeps, brings back or commits leaves a whole repository, and nothing is lost.

use super::merging::stopped;
use super::{checkout, snapshot, status};
use crate::{app, home, list, number};
use clearway_testkit::Repository;
use clearway_testkit::faults::{Fault, Point, struck};

const CALLS: [&str; 8] = ["openat", "write", "rename", "link", "unlink", "fsync", "execve", "close"];
const NTH: [usize; 4] = [1, 3, 9, 27];

/// Strikes a command of ada at many points, each in a repository of its own.
fn strike(words: impl Fn(&Repository<'_>) -> Vec<String>, judge: impl Fn(&Repository<'_>, &Scene, &str)) {
    for call in CALLS {
        for nth in NTH {
            let home = home();
            let app = app(&home);
            app.write("src/a.rs", "mine\n");
            app.write("src/b.rs", "staged\n");
            app.git(&["add", "src/b.rs"]);
            app.write("new/file.rs", "new\n");
            app.grant("ada", &["src/a.rs"]);
            let words = words(&app);
            let scene = Scene { before: checkout(app.path()), head: app.git(&["rev-parse", "HEAD"]) };
            let arguments: Vec<&str> = words.iter().map(String::as_str).collect();
            let command = app.agent("ada").args(&arguments).into_command();
            let point = Point { call: call.to_owned(), nth, shown: String::new() };
            drop(struck(command, &point, Fault::Kill).output().expect("strace runs"));
            app.git(&["fsck", "--no-progress"]);
            app.git(&["status", "--porcelain"]);
            // A git that was killed may leave its locks, as git does: nobody but a person removes them.
            for lock in ["index.lock", "HEAD.lock", "refs/heads/main.lock"] {
                drop(std::fs::remove_file(app.path().join(".git").join(lock)));
            }
            judge(&app, &scene, &format!("{words:?} at {call} {nth}"));
        }
    }
}

/// What was there before a strike.
struct Scene {
    before: super::Contents,
    head: String,
}

/// The snapshot that was taken first.
fn first(app: &Repository<'_>) -> String {
    let listed = app.clearway().ok(&["snapshots"]);
    let first = list(&listed, "snapshots").last().expect("one").clone();
    format!("s{}", number(&first, "number"))
}

#[test]
fn a_commit_that_is_killed_is_made_whole_or_not_and_takes_nothing_of_others() {
    let words = |_: &Repository<'_>| ["commit", "-m", "mine", "src/a.rs"].map(str::to_owned).to_vec();
    strike(words, |app, scene, what| {
        assert_eq!(checkout(app.path()), scene.before, "{what}: the checkout is as it was");
        assert_eq!(app.git(&["diff", "--cached", "--name-only", "--", "src/b.rs"]), "src/b.rs\n", "{what}");
        let is_made = app.git(&["rev-parse", "HEAD"]) != scene.head;
        if is_made {
            assert_eq!(app.git(&["show", "--format=", "--name-only"]), "src/a.rs\n", "{what}");
            assert_eq!(app.git(&["rev-parse", "HEAD~1"]), scene.head, "{what}");
        } else {
            app.agent("ada").ok(&["commit", "-m", "mine", "src/a.rs"]);
        }
    });
}

#[test]
fn an_undo_that_is_killed_loses_nothing_and_is_done_again() {
    let words = |app: &Repository<'_>| {
        let number = snapshot(app, &[]);
        app.git(&["reset", "--quiet", "--hard"]);
        app.git(&["clean", "-qfd"]);
        vec!["undo".to_owned(), number, "-y".to_owned()]
    };
    strike(words, |app, _, what| {
        let number = first(app);
        assert!(!status(app).contains("clearway-"), "{what}: {}", status(app));
        // What a killed one began counts as changed since, which `restore` writes over.
        app.agent("ada").ok(&["restore", &number]);
        assert_eq!(app.git(&["show", ":src/b.rs"]), "staged\n", "{what}");
        let read = |file: &str| std::fs::read_to_string(app.path().join(file)).unwrap_or_default();
        assert_eq!((read("src/a.rs"), read("new/file.rs")), ("mine\n".into(), "new\n".into()), "{what}");
        assert_eq!(status(app).matches("src/b.rs").count(), 1, "{what}");
        let left =
            |entry: &std::fs::DirEntry| entry.file_name().to_string_lossy().starts_with("clearway-back");
        let entries = std::fs::read_dir(app.path().join(".git")).expect("a directory");
        assert!(!entries.map(|entry| entry.expect("an entry")).any(|entry| left(&entry)), "{what}");
    });
}

#[test]
fn an_undo_of_a_merge_that_is_killed_leaves_it_for_git_as_it_was_or_as_it_is_to_be() {
    let words = |app: &Repository<'_>| {
        app.git(&["reset", "--quiet", "--hard"]);
        app.git(&["clean", "-qfd"]);
        stopped(app, "git merge -q other");
        let number = snapshot(app, &[]);
        app.git(&["reset", "--quiet", "--hard"]);
        vec!["undo".to_owned(), number, "-y".to_owned()]
    };
    strike(words, |app, _, what| {
        let is_merging = || app.path().join(".git/MERGE_HEAD").exists();
        let conflicts = || app.git(&["ls-files", "--unmerged"]).lines().count();
        assert!(
            !is_merging() || conflicts() == 7,
            "{what}: git does not take half a merge for a settled one"
        );
        app.agent("ada").ok(&["restore", &first(app)]);
        assert_eq!((is_merging(), conflicts()), (true, 7), "{what}");
        let read = std::fs::read_to_string(app.path().join("src/a.rs")).expect("text");
        assert_eq!(read, "half settled\n", "{what}");
    });
}

#[test]
fn a_restore_that_is_killed_keeps_what_it_was_about_to_write_over() {
    let words = |app: &Repository<'_>| {
        let number = snapshot(app, &[]);
        app.write("src/a.rs", "later work\n");
        vec!["restore".to_owned(), number]
    };
    strike(words, |app, _, what| {
        let there = std::fs::read_to_string(app.path().join("src/a.rs")).unwrap_or_default();
        let all = app.git(&["for-each-ref", "--format=%(refname)", "refs/clearway/snap"]);
        let is_kept =
            all.lines().any(|name| app.git(&["show", &format!("{name}:src/a.rs")]) == "later work\n");
        assert!(there == "later work\n" || is_kept, "{what}: {there:?}");
        app.agent("ada").ok(&["restore", &first(app)]);
        assert_eq!(std::fs::read_to_string(app.path().join("src/a.rs")).expect("text"), "mine\n", "{what}");
    });
}
