//! Bringing back: only what is meant, and nothing is lost by it.

use super::{checkout, snapshot, states, status};
use crate::{app, home, list, number, text};
use clearway_testkit::{Client, Terminal};
use serde_json::json;

#[test]
fn undo_leaves_alone_and_names_what_was_changed_or_committed_since() {
    let home = home();
    let app = app(&home);
    for file in ["src/a.rs", "src/b.rs", "main.rs", "new.rs"] {
        app.write(file, "mine\n");
    }
    let taken = snapshot(&app, &[]);
    app.git(&["reset", "--quiet", "--hard"]);
    app.git(&["clean", "-qfd"]);
    app.write("src/b.rs", "somebody else's\n");
    app.write("main.rs", "committed since\n");
    app.git(&["commit", "-qm", "since", "main.rs"]);
    let undone = app.agent("ada").ok(&["undo", &taken, "-y"]);
    let expect = [
        ("main.rs", "changed-since"),
        ("new.rs", "restored"),
        ("src/a.rs", "restored"),
        ("src/b.rs", "changed-since"),
    ];
    assert_eq!(states(&undone), expect.map(|(path, state)| (path.to_owned(), state.to_owned())).into());
    let read = |file: &str| std::fs::read_to_string(app.path().join(file)).expect("text");
    assert_eq!((read("src/b.rs"), read("main.rs")), ("somebody else's\n".into(), "committed since\n".into()));
    assert_eq!((read("src/a.rs"), read("new.rs")), ("mine\n".into(), "mine\n".into()));
    let said = app.agent("ada").run(&["undo", &taken, "-y"]).expect(0).stdout();
    assert!(said.contains("left alone, changed since: 2 files") && said.contains("src/b.rs"), "{said}");
    assert!(said.contains("as it was kept, over what is there: clearway "), "{said}");
}

#[test]
fn a_reset_to_an_earlier_commit_is_undone_too() {
    let home = home();
    let app = app(&home);
    app.write("src/a.rs", "second\n");
    app.git(&["commit", "-qam", "second"]);
    app.write("src/a.rs", "mine\n");
    let taken = snapshot(&app, &[]);
    app.git(&["reset", "--quiet", "--hard", "HEAD~1"]);
    let undone = app.agent("ada").ok(&["undo", &taken, "-y"]);
    assert_eq!(states(&undone).get("src/a.rs").map(String::as_str), Some("restored"));
    assert_eq!(std::fs::read(app.path().join("src/a.rs")).expect("bytes"), b"mine\n");
}

#[test]
fn undo_asks_first_and_without_anybody_to_ask_changes_nothing() {
    let home = home();
    let app = app(&home);
    app.write("src/a.rs", "mine\n");
    let taken = snapshot(&app, &[]);
    app.git(&["checkout", "--quiet", "--", "."]);
    let clean = checkout(app.path());
    let error = app.agent("ada").fails("not-confirmed", 2, &["undo", &taken]);
    assert!(error["hints"][0].as_str().is_some_and(|hint| hint.ends_with("--dry-run")), "{error}");
    let shown = app.agent("ada").run(&["undo", &taken]).expect(2);
    assert!(shown.stdout().contains("would restore: 1 file\n  src/a.rs\n"), "{}", shown.stdout());
    let command = format!("clearway --agent ada undo {taken} -y");
    assert!(shown.stderr().contains(&command), "{}", shown.stderr());
    let planned = app.agent("ada").ok(&["undo", &taken, "--dry-run"]);
    assert_eq!((&planned["done"], &planned["before"]), (&json!(false), &json!(null)));
    assert_eq!(checkout(app.path()), clean);
    let pasted = shown.shell(&home, &command).status().expect("a shell");
    assert!(pasted.success());
    assert_eq!(std::fs::read(app.path().join("src/a.rs")).expect("bytes"), b"mine\n");
}

#[test]
fn a_person_at_a_terminal_is_asked_and_may_decline() {
    let home = home();
    let app = app(&home);
    app.write("src/a.rs", "mine\n");
    let taken = snapshot(&app, &[]);
    app.git(&["checkout", "--quiet", "--", "."]);
    for (typed, text) in [("n\n", "a\n"), ("\n", "mine\n")] {
        let terminal = Terminal::open();
        terminal.type_in(typed);
        app.agent("ada").at(&terminal).run(&["undo", &taken]).expect(0);
        assert_eq!(std::fs::read_to_string(app.path().join("src/a.rs")).expect("text"), text);
    }
}

#[test]
fn restore_writes_over_changes_keeps_them_first_and_is_undone_itself() {
    let home = home();
    let app = app(&home);
    app.write("src/a.rs", "one\n");
    app.write("src/b.rs", "one\n");
    let first = snapshot(&app, &[]);
    app.write("src/a.rs", "two\n");
    app.write("src/b.rs", "two\n");
    app.git(&["add", "src/b.rs"]);
    let (before, said) = (checkout(app.path()), status(&app));
    let restored = app.agent("ada").ok(&["restore", &first, "src/a.rs"]);
    assert_eq!(states(&restored), [("src/a.rs".to_owned(), "restored".to_owned())].into());
    let read = |file: &str| std::fs::read_to_string(app.path().join(file)).expect("text");
    assert_eq!((read("src/a.rs"), read("src/b.rs")), ("one\n".to_owned(), "two\n".to_owned()));
    let kept = number(&restored, "before");
    let listed = app.clearway().ok(&["snapshots"]);
    let latest = &list(&listed, "snapshots")[0];
    assert_eq!((number(latest, "number"), text(latest, "cause")), (kept, "restore"));
    let undone = app.agent("ada").ok(&["undo", "-y"]);
    assert_eq!(number(&undone, "snapshot"), kept);
    assert_eq!((checkout(app.path()), status(&app)), (before, said));
}

#[test]
fn what_a_link_leads_to_and_a_directory_in_the_way_are_left_alone() {
    let home = home();
    let app = app(&home);
    app.write("src/new/deep.rs", "mine\n");
    app.write("plain", "mine\n");
    let taken = snapshot(&app, &[]);
    std::fs::remove_dir_all(app.path().join("src/new")).expect("a directory");
    let outside = home.directory("outside");
    std::os::unix::fs::symlink(&outside, app.path().join("src/new")).expect("a link");
    std::fs::remove_file(app.path().join("plain")).expect("a file");
    app.write("plain/inside", "a directory by now\n");
    let restored = app.agent("ada").ok(&["restore", &taken]);
    let expect = [("plain", "in-the-way"), ("src/new/deep.rs", "in-the-way")];
    assert_eq!(states(&restored), expect.map(|(path, state)| (path.to_owned(), state.to_owned())).into());
    assert!(std::fs::read_dir(&outside).expect("a directory").next().is_none());
}

#[test]
fn an_answer_that_is_given_once_more_keeps_nothing_new() {
    let home = home();
    let app = app(&home);
    app.write("src/a.rs", "mine\n");
    let ask = || app.agent("ada").ok(&["--idempotency-key", "k1", "snapshot"]);
    let (one, other) = (ask(), ask());
    assert_eq!((&one["snapshot"], &one["replayed"]), (&other["snapshot"], &json!(false)));
    assert_eq!(other["replayed"], json!(true));
    let references = app.git(&["for-each-ref", "--format=%(refname)", "refs/clearway"]);
    assert_eq!(references.lines().count(), 1, "{references}");
}

#[test]
fn a_repository_with_longer_ids_gets_its_staged_deletions_back() {
    let home = home();
    let long = home.directory("long");
    let script = "git init -q -b main --object-format=sha256 . && git config user.name T \
        && git config user.email t@example.org && echo x > a && git add a && git commit -qm first && git rm -q a";
    assert!(home.shell(&long, script).status().expect("git").success());
    let ada = || home.clearway(&long).agent("ada");
    let taken = format!("s{}", number(&ada().ok(&["snapshot"]), "snapshot"));
    assert!(home.shell(&long, "git reset -q --hard").status().expect("git").success());
    ada().ok(&["restore", &taken]);
    assert!(!long.join("a").exists());
    let said = home.shell(&long, "git status --porcelain").output().expect("git");
    assert_eq!(String::from_utf8_lossy(&said.stdout), "D  a\n");
}

#[test]
fn undo_leaves_alone_and_names_what_is_with_somebody_else() {
    let home = home();
    let app = app(&home);
    app.grant("bob", &["--kind", "name", "build"]);
    for file in ["src/a.rs", "src/b.rs", "main.rs"] {
        app.write(file, "mine\n");
    }
    let taken = snapshot(&app, &[]);
    app.git(&["checkout", "--quiet", "--", "."]);
    let clean = checkout(app.path());
    // One is in a running call, another is reserved.
    let mut two = Client::claude(&home, &app, "two");
    two.before_edit("src/a.rs").silent();
    app.agent("bob").ok(&["reserve", "src/b.rs"]);
    let leases = app.clearway().ok(&["leases"]);
    let is_hooks = |lease: &&serde_json::Value| text(lease, "grade") == "auto";
    let lease = list(&leases, "leases").iter().find(is_hooks).expect("a lease");
    let holder = text(lease, "agent").to_owned();
    let shown = app.agent("ada").run(&["undo", &taken, "--dry-run"]).expect(0).stdout();
    let said = format!("left alone, with {holder}: 1 file\n  src/a.rs");
    assert!(shown.contains(&said) && shown.contains("left alone, with bob: 1 file\n  src/b.rs"), "{shown}");
    assert_eq!(checkout(app.path()), clean);
    let undone = app.agent("ada").ok(&["undo", &taken, "-y"]);
    let expect = [("main.rs", "restored"), ("src/a.rs", "with-others"), ("src/b.rs", "with-others")];
    assert_eq!(states(&undone), expect.map(|(path, state)| (path.to_owned(), state.to_owned())).into());
    let owners: Vec<&str> =
        list(&undone, "files").iter().filter_map(|file| file["held_by"].as_str()).collect();
    assert_eq!(owners, [holder.as_str(), "bob"]);
    let read = |file: &str| std::fs::read_to_string(app.path().join(file)).expect("text");
    assert_eq!(read("main.rs"), "mine\n");
    assert!(read("src/a.rs") != "mine\n" && read("src/b.rs") != "mine\n");
    // It is its own that bob brings back.
    let undone = app.agent("bob").ok(&["undo", &taken, "-y"]);
    assert_eq!(states(&undone).get("src/b.rs").map(String::as_str), Some("restored"));
}
