//! Whatever state a checkout is in, all of it comes back.

use super::{checkout, messy, odd_name, snapshot, status};
use crate::{app, each, home, list, number, text};
use serde_json::json;

#[test]
fn every_byte_mode_link_and_staged_blob_comes_back_after_a_hard_reset_and_a_clean() {
    let home = home();
    let messy = messy(&home);
    let (before, said) = (checkout(messy.path()), status(&messy));
    let taken = snapshot(&messy, &[]);
    messy.git(&["reset", "--quiet", "--hard"]);
    messy.git(&["clean", "-qfdx"]);
    assert!(!messy.path().join(odd_name()).exists());
    let undone = messy.agent("ada").ok(&["undo", &taken, "-y"]);
    assert_eq!(undone["done"], json!(true));
    assert_eq!(checkout(messy.path()), before);
    assert_eq!(status(&messy), said);
    messy.git(&["fsck", "--no-progress"]);
}

#[test]
fn every_byte_comes_back_after_a_stash_and_after_checkout_and_rm() {
    for command in
        [&["stash", "--include-untracked", "--quiet"] as &[&str], &["checkout", "--quiet", "--force", "HEAD"]]
    {
        let home = home();
        let messy = messy(&home);
        let (before, said) = (checkout(messy.path()), status(&messy));
        let taken = snapshot(&messy, &[]);
        messy.git(command);
        std::fs::remove_dir_all(messy.path().join("src")).expect("a directory");
        messy.agent("ada").ok(&["undo", &taken, "-y"]);
        assert_eq!(checkout(messy.path()), before, "{command:?}");
        assert_eq!(status(&messy), said, "{command:?}");
    }
}

#[test]
fn a_snapshot_is_listed_shown_and_recorded_under_one_number() {
    let home = home();
    let app = app(&home);
    app.write("src/a.rs", "changed\n");
    app.write("new file", "new\n");
    app.grant("bob", &["src/a.rs"]);
    let taken = app.agent("ada").ok(&["snapshot", "--reason", "before it goes wrong"]);
    let at = number(&taken, "snapshot");
    assert_eq!(each(&taken, "files", "path"), ["new file", "src/a.rs"]);
    let event = app.events().pop().expect("an event");
    assert_eq!((number(&event, "seq"), text(&event, "kind")), (at, "snapshot.taken"));
    assert_eq!(event["data"]["commit"], taken["commit"]);
    assert_eq!((&event["data"]["files"], &event["data"]["bytes"]), (&json!(2), &json!(12)));
    let listed = app.clearway().ok(&["snapshots"]);
    let only = &list(&listed, "snapshots")[0];
    assert_eq!((number(only, "number"), text(only, "agent")), (at, "ada"));
    assert_eq!((text(only, "cause"), text(only, "reason")), ("asked", "before it goes wrong"));
    let reference = format!("refs/clearway/snap/{}/{at}", text(only, "agent_id"));
    assert_eq!(app.git(&["rev-parse", &reference]).trim(), text(only, "commit"));
    let shown = app.clearway().ok(&["show", &at.to_string()]);
    let files = list(&shown, "contents");
    assert_eq!(each(&shown, "contents", "state"), ["new", "modified"]);
    assert_eq!((&files[0]["held_by"], &files[1]["held_by"]), (&json!([]), &json!(["bob"])));
    assert_eq!(files[1]["mode"], json!("644"));
    let page = app.clearway().run(&["show", &format!("s{at}")]).expect(0).stdout();
    assert!(page.contains("src/a.rs") && page.contains("bob"), "{page}");
    let page = app.clearway().run(&["snapshots"]).expect(0).stdout();
    assert!(page.contains(&format!("s{at}")) && page.contains("before it goes wrong"), "{page}");
}

#[test]
fn without_anything_uncommitted_nothing_is_kept_or_recorded() {
    let home = home();
    let app = app(&home);
    app.grant("ada", &["src/a.rs"]);
    let events = app.kinds();
    let taken = app.agent("ada").ok(&["snapshot"]);
    assert_eq!((&taken["snapshot"], &taken["files"]), (&json!(null), &json!([])));
    assert_eq!(app.kinds(), events);
    assert_eq!(app.git(&["for-each-ref", "refs/clearway"]), "");
    let said = app.agent("ada").run(&["snapshot"]).expect(0).stdout();
    assert_eq!(said, "nothing to keep: nothing is uncommitted here\n");
}

#[test]
fn only_named_paths_are_kept_wherever_the_caller_stands() {
    let home = home();
    let app = app(&home);
    for file in ["src/a.rs", "src/b.rs", "main.rs", "docs/new.md"] {
        app.write(file, "changed\n");
    }
    let taken = app.clearway_in("src").agent("ada").ok(&["snapshot", "a.rs", "../docs"]);
    assert_eq!(each(&taken, "files", "path"), ["docs/new.md", "src/a.rs"]);
}

#[test]
fn before_the_first_commit_everything_is_kept() {
    let home = home();
    let young = home.directory("young");
    home.shell(
        &young,
        "git init -q . && printf x > staged && git add staged && printf y > staged && printf z > new",
    )
    .status()
    .expect("git");
    let before = checkout(&young);
    let taken = home.clearway(&young).agent("ada").ok(&["snapshot"]);
    assert_eq!(each(&taken, "files", "path"), ["new", "staged"]);
    home.shell(&young, "git rm -qf --cached staged && rm staged new").status().expect("git");
    let word = number(&taken, "snapshot").to_string();
    home.clearway(&young).agent("ada").ok(&["undo", &word, "-y"]);
    assert_eq!(checkout(&young), before);
    let staged = home.shell(&young, "git show :staged").output().expect("git").stdout;
    assert_eq!(staged, b"x");
}

#[test]
fn with_a_detached_head_and_in_a_linked_worktree_the_right_checkout_is_kept() {
    let home = home();
    let app = app(&home);
    app.git(&["worktree", "add", "-q", "--detach", "../linked"]);
    let linked = app.path().parent().expect("a parent").join("linked");
    std::fs::write(linked.join("src/a.rs"), "in the linked one\n").expect("a file");
    app.write("src/a.rs", "in the main one\n");
    let taken = home.clearway(&linked).agent("ada").ok(&["snapshot"]);
    let word = format!("s{}", number(&taken, "snapshot"));
    std::fs::write(linked.join("src/a.rs"), "a\n").expect("a file");
    let error = app.agent("ada").fails("outside-scope", 2, &["restore", &word]);
    assert!(error["hints"][0].as_str().is_some_and(|hint| hint.contains("-C ")), "{error}");
    home.clearway(&linked).agent("ada").ok(&["restore", &word]);
    assert_eq!(std::fs::read(linked.join("src/a.rs")).expect("bytes"), b"in the linked one\n");
    assert_eq!(std::fs::read(app.path().join("src/a.rs")).expect("bytes"), b"in the main one\n");
}

#[test]
fn in_the_middle_of_a_merge_what_lies_there_is_kept() {
    let home = home();
    let app = app(&home);
    app.git(&["checkout", "-qb", "other"]);
    app.write("src/a.rs", "other\n");
    app.git(&["commit", "-qam", "other"]);
    app.git(&["checkout", "-q", "main"]);
    app.write("src/a.rs", "main\n");
    app.git(&["commit", "-qam", "main"]);
    let merged = home.shell(app.path(), "git merge -q other").status().expect("git");
    assert!(!merged.success());
    let half = std::fs::read(app.path().join("src/a.rs")).expect("bytes");
    let taken = app.agent("ada").ok(&["snapshot"]);
    assert_eq!(each(&taken, "files", "state"), ["conflict"]);
    assert!(app.path().join(".git/MERGE_HEAD").exists());
    app.git(&["merge", "--abort"]);
    app.agent("ada").ok(&["undo", &number(&taken, "snapshot").to_string(), "-y"]);
    assert_eq!(std::fs::read(app.path().join("src/a.rs")).expect("bytes"), half);
}

#[test]
fn repositories_inside_are_their_own() {
    let home = home();
    let app = app(&home);
    home.shell(
        app.path(),
        "git init -q inner && git -C inner -c user.name=x -c user.email=y commit -q --allow-empty -m i",
    )
    .status()
    .expect("git");
    app.git(&["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", "./inner", "sub"]);
    app.git(&["commit", "-qm", "a submodule"]);
    std::fs::write(app.path().join("sub/dirt"), "in the submodule\n").expect("a file");
    std::fs::write(app.path().join("inner/dirt"), "in the inner one\n").expect("a file");
    app.write("main.rs", "ours\n");
    let taken = app.agent("ada").ok(&["snapshot"]);
    assert_eq!(each(&taken, "files", "path"), ["main.rs"]);
}
