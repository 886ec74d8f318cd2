//! Nothing of the user's is touched, whatever happens.

use super::{checkout, messy, snapshot, status};
use crate::{app, home};
use clearway_testkit::faults::{Fault, Point, struck};
use clearway_testkit::{Files, Repository};

/// What is the user's of a repository: index, branches, stash, configuration, hooks and logs.
fn own(repository: &Repository<'_>) -> (Files, Files, String, String) {
    let git = repository.path().join(".git");
    let refs = repository.git(&["for-each-ref", "refs/heads", "refs/tags", "refs/stash"]);
    let index = std::fs::read(git.join("index")).expect("an index");
    (Files::below(&git.join("logs")), Files::below(&git.join("hooks")), refs, format!("{index:?}"))
}

#[test]
fn a_snapshot_changes_neither_index_nor_checkout_nor_branches_nor_stash_nor_configuration() {
    let home = home();
    let messy = messy(&home);
    let hook = "#!/bin/sh\ntouch \"$(git rev-parse --git-dir)/hook-ran\"\n";
    for name in ["reference-transaction", "post-index-change"] {
        messy.write(&format!(".git/hooks/{name}"), hook);
        home.shell(messy.path(), &format!("chmod +x .git/hooks/{name}")).status().expect("chmod");
    }
    let config = std::fs::read(messy.path().join(".git/config")).expect("bytes");
    let before = (checkout(messy.path()), own(&messy), status(&messy));
    snapshot(&messy, &[]);
    assert!(!messy.path().join(".git/hook-ran").exists());
    assert_eq!((checkout(messy.path()), own(&messy), status(&messy)), before);
    assert_eq!(std::fs::read(messy.path().join(".git/config")).expect("bytes"), config);
    messy.git(&["fsck", "--no-progress"]);
}

#[test]
fn one_tree_is_stored_once() {
    let home = home();
    let app = app(&home);
    app.write("src/a.rs", "mine\n");
    app.write("src/deep/new.rs", "mine too\n");
    snapshot(&app, &[]);
    let trees = |app: &Repository<'_>| {
        let all = app.git(&["cat-file", "--batch-all-objects", "--batch-check=%(objecttype)"]);
        all.lines().filter(|kind| *kind != "commit").count()
    };
    let before = trees(&app);
    snapshot(&app, &[]);
    assert_eq!(trees(&app), before);
}

#[test]
fn a_foreign_lock_of_the_index_does_not_matter_to_a_snapshot_and_stays() {
    let home = home();
    let app = app(&home);
    app.write("src/a.rs", "mine\n");
    app.write("src/b.rs", "staged\n");
    app.git(&["add", "src/b.rs"]);
    let lock = app.path().join(".git/index.lock");
    std::fs::write(&lock, "somebody's").expect("a file");
    let taken = snapshot(&app, &[]);
    assert_eq!(std::fs::read(&lock).expect("bytes"), b"somebody's");
    std::fs::remove_file(&lock).expect("a file");
    app.git(&["reset", "--quiet", "--hard"]);
    std::fs::write(&lock, "somebody's").expect("a file");
    let clean = checkout(app.path());
    let error = app.agent("ada").fails("git-failed", 69, &["undo", &taken, "-y"]);
    assert!(error["message"].as_str().is_some_and(|message| message.contains("index.lock")), "{error}");
    assert_eq!(checkout(app.path()), clean, "what cannot be undone as a whole is not begun");
    std::fs::remove_file(&lock).expect("a file");
    app.agent("ada").ok(&["undo", &taken, "-y"]);
    assert_eq!(app.git(&["show", ":src/b.rs"]), "staged\n");
}

#[test]
fn killed_at_any_point_it_leaves_a_whole_repository_and_the_checkout_as_it_was() {
    let calls = ["openat", "write", "rename", "link", "unlink", "fsync", "fdatasync", "close"];
    for call in calls {
        for nth in [1, 2, 4, 9, 20] {
            let home = home();
            let app = app(&home);
            app.write("src/a.rs", "mine\n");
            app.write("src/b.rs", "staged\n");
            app.git(&["add", "src/b.rs"]);
            let before = (checkout(app.path()), own(&app), status(&app));
            let command = app.agent("ada").args(&["snapshot"]).into_command();
            let point = Point { call: call.to_owned(), nth, shown: String::new() };
            drop(struck(command, &point, Fault::Kill).output().expect("strace runs"));
            app.git(&["fsck", "--no-progress"]);
            assert_eq!((checkout(app.path()), own(&app), status(&app)), before, "{call} {nth}");
            let taken = snapshot(&app, &[]);
            app.git(&["reset", "--quiet", "--hard"]);
            app.agent("ada").ok(&["undo", &taken, "-y"]);
            assert_eq!((&checkout(app.path()), &status(&app)), (&before.0, &before.2), "{call} {nth}");
        }
    }
}
