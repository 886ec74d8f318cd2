//! What a command of an agent is about to destroy is kept before it runs.

use super::{checkout, messy, states, status};
use crate::{app, home, list, text};
use clearway_testkit::{Answer, Client, Home, Repository};
use serde_json::json;

/// An agent runs a command: what the hook said before it.
pub(super) fn runs(client: &mut Client, home: &Home, repository: &Repository<'_>, command: &str) -> Answer {
    let fields = json!({"tool_name": "Bash", "tool_input": {"command": command}, "tool_response": {}});
    let before = client.event("PreToolUse", &fields);
    if before.code == 0 {
        drop(home.shell(repository.path(), command).output().expect("a shell"));
        client.event("PostToolUse", &fields);
    }
    before
}

pub(super) fn invite(repository: &Repository<'_>) {
    repository.grant("bob", &["--kind", "name", "build"]);
}

#[test]
fn every_destructive_command_is_undone_to_the_byte_and_touches_nothing_else() {
    for command in [
        "git reset --hard",
        "git checkout -- .",
        "git restore src",
        "git clean -fdx",
        "git stash --include-untracked",
        "rm -rf src",
        "mv -f new/binary src/a.rs",
        "cd src && rm -f *.rs && cd .. && git reset --hard; git clean -qfd",
    ] {
        let home = home();
        let messy = messy(&home);
        messy.write(".git/info/exclude", ".env\n");
        messy.write(".env", "TOKEN=1\n");
        invite(&messy);
        let (before, said) = (checkout(messy.path()), status(&messy));
        let mut ada = Client::claude(&home, &messy, "ada");
        let told = runs(&mut ada, &home, &messy, command).told();
        assert!(told.contains("clearway undo s"), "{command}: {told}");
        assert_ne!(checkout(messy.path()), before, "{command} does something");
        messy.agent("bob").ok(&["undo", "-y"]);
        assert_eq!(checkout(messy.path()), before, "{command}");
        assert_eq!(status(&messy), said, "{command}");
        let listed = messy.clearway().ok(&["snapshots"]);
        let taken = list(&listed, "snapshots").last().expect("one").clone();
        assert_eq!((text(&taken, "cause"), text(&taken, "reason")), ("command", command));
    }
}

#[test]
fn a_command_over_a_clean_checkout_and_one_that_destroys_nothing_are_silent() {
    let home = home();
    let app = app(&home);
    invite(&app);
    let mut ada = Client::claude(&home, &app, "ada");
    runs(&mut ada, &home, &app, "git reset --hard").silent();
    app.write("src/a.rs", "mine\n");
    runs(&mut ada, &home, &app, "git status && cat src/a.rs").silent();
    runs(&mut ada, &home, &app, "rm -f docs/x.md").silent();
    assert!(!app.kinds().contains(&"snapshot.taken".to_owned()));
    let stranger = home.repository("stranger", &[("a", "a\n")]);
    stranger.write("a", "mine\n");
    let mut cy = Client::claude(&home, &stranger, "cy");
    runs(&mut cy, &home, &stranger, "git reset --hard").silent();
    assert_eq!(stranger.git(&["for-each-ref", "refs/clearway"]), "");
}

#[test]
fn undo_leaves_alone_what_somebody_wrote_after_the_command() {
    let home = home();
    let app = app(&home);
    invite(&app);
    app.write("src/a.rs", "mine\n");
    app.write("src/b.rs", "mine too\n");
    app.write("new.rs", "new\n");
    let mut ada = Client::claude(&home, &app, "ada");
    runs(&mut ada, &home, &app, "mv -f new.rs src/a.rs && git checkout -- src/b.rs").told();
    app.write("src/b.rs", "somebody's work since\n");
    let undone = app.agent("bob").ok(&["undo", "-y"]);
    let state = |path: &str| states(&undone).get(path).cloned().unwrap_or_default();
    assert_eq!((state("src/a.rs"), state("src/b.rs")), ("restored".to_owned(), "changed-since".to_owned()));
    let read = |file: &str| std::fs::read_to_string(app.path().join(file)).expect("text");
    assert_eq!((read("src/a.rs"), read("src/b.rs")), ("mine\n".into(), "somebody's work since\n".into()));
    assert_eq!(read("new.rs"), "new\n");
}

#[test]
fn what_cannot_be_kept_is_not_destroyed_where_that_is_enforced() {
    let home = home();
    let app = app(&home);
    invite(&app);
    let file = std::fs::File::create(app.path().join("huge.bin")).expect("a file");
    file.set_len(201_000_000).expect("a size");
    let mut ada = Client::claude(&home, &app, "ada");
    let reason = runs(&mut ada, &home, &app, "git clean -fd").denied();
    assert!(reason.contains("huge.bin"), "{reason}");
    assert!(app.path().join("huge.bin").exists());
    assert!(reason.contains("move"), "{reason}");
    runs(&mut ada, &home, &app, "mv huge.bin ../huge.bin").silent();
    assert!(!app.path().join("huge.bin").exists(), "what is moved is not lost");
    runs(&mut ada, &home, &app, "mv ../huge.bin huge.bin").silent();
    home.user_config("mode = \"observe\"\n");
    runs(&mut ada, &home, &app, "git clean -fd").silent();
    assert!(!app.path().join("huge.bin").exists());
}

#[test]
fn of_a_command_that_reaches_several_checkouts_each_number_is_told() {
    let home = home();
    let (app, other) = (app(&home), home.repository("other", &[("x.rs", "x\n")]));
    for repository in [&app, &other] {
        invite(repository);
    }
    app.write("src/a.rs", "mine\n");
    other.write("x.rs", "mine\n");
    let mut one = Client::claude(&home, &app, "one");
    let there = other.path().join("x.rs");
    let said = runs(&mut one, &home, &app, &format!("rm src/a.rs {}", there.display())).told();
    let lines: Vec<&str> = said.lines().collect();
    assert_eq!(lines.len(), 2, "{said}");
    for line in lines {
        let undo = line.split("; ").nth(1).and_then(|rest| rest.strip_suffix(" brings it back."));
        let undo = undo.unwrap_or_else(|| panic!("{line}"));
        assert!(home.shell(app.path(), undo).output().expect("a shell").status.success(), "{undo}");
    }
    assert_eq!(std::fs::read_to_string(there).expect("a file"), "mine\n");
    assert_eq!(std::fs::read_to_string(app.path().join("src/a.rs")).expect("a file"), "mine\n");
}
