//! Small files that git ignores are kept too, beside git.

use super::commands::{invite, runs};
use super::{checkout, snapshot, states, status};
use crate::{app, each, home};
use clearway_testkit::{Client, Files, Home, Repository};
use serde_json::json;
use std::os::unix::fs::{PermissionsExt, symlink};

fn ignoring<'h>(home: &'h Home) -> Repository<'h> {
    let app = app(home);
    app.write(".gitignore", "/.env\n/secrets/\n/target/\n/data.bin\n*.log\n");
    app.git(&["add", ".gitignore"]);
    app.git(&["commit", "-qm", "what is ignored"]);
    app.write(".env", "TOKEN=of-the-machine\n");
    std::fs::set_permissions(app.path().join(".env"), PermissionsExt::from_mode(0o600)).expect("a mode");
    app.write("secrets/deep/key", "");
    symlink("../.env", app.path().join("secrets/link")).expect("a link");
    app.write("src/debug.log", "a log\n");
    app.write("target/debug/binary", "made anew\n");
    app.write("data.bin", &"x".repeat(1_000_001));
    app
}

#[test]
fn they_come_back_after_a_clean_of_everything_and_never_get_into_git() {
    let home = home();
    let app = ignoring(&home);
    app.write("src/a.rs", "mine\n");
    let before = checkout(app.path());
    let taken = app.agent("ada").ok(&["snapshot"]);
    let paths = [".env", "secrets/deep/key", "secrets/link", "src/debug.log", "src/a.rs"];
    let mut kept = each(&taken, "files", "path");
    kept.sort_unstable();
    let mut expect = paths.to_vec();
    expect.sort_unstable();
    assert_eq!(kept, expect);
    assert_eq!(taken["left_out"], json!(["data.bin"]));
    app.git(&["reset", "--quiet", "--hard"]);
    app.git(&["clean", "-qfdx"]);
    app.agent("ada").ok(&["undo", &taken["snapshot"].to_string(), "-y"]);
    let mut after = before.clone();
    after.retain(|path, _| !path.starts_with("target") && !path.starts_with("data.bin"));
    assert_eq!(checkout(app.path()), after);
    let objects = app.git(&["cat-file", "--batch-all-objects", "--batch"]);
    assert!(!objects.contains("of-the-machine"));
    assert!(Files::below(&home.state()).hold(b"of-the-machine"));
    app.write("more.rs", "mine\n");
    let said = app.agent("ada").run(&["snapshot"]).expect(0).stdout();
    assert!(!said.contains("not kept"), "{said}");
}

#[test]
fn what_is_left_out_is_named_to_people_and_one_that_changed_since_is_left_alone() {
    let home = home();
    let app = ignoring(&home);
    let said = app.agent("ada").run(&["snapshot"]).expect(0).stdout();
    assert!(
        said.contains("not kept, too large or not to be read: 1 ignored file, such as data.bin"),
        "{said}"
    );
    let taken = snapshot(&app, &[]);
    app.write(".env", "TOKEN=another\n");
    std::fs::remove_file(app.path().join("secrets/deep/key")).expect("a file");
    let undone = app.agent("ada").ok(&["undo", &taken, "-y"]);
    let state = |path: &str| states(&undone).get(path).cloned().unwrap_or_default();
    assert_eq!((state(".env"), state("secrets/deep/key")), ("changed-since".into(), "restored".into()));
    let restored = app.agent("ada").ok(&["restore", &taken, ".env"]);
    assert!(restored["before"].is_u64(), "{restored}");
    let text = || std::fs::read_to_string(app.path().join(".env")).expect("text");
    assert_eq!(text(), "TOKEN=of-the-machine\n");
    app.agent("ada").ok(&["undo", "-y"]);
    assert_eq!(text(), "TOKEN=another\n");
    assert_eq!(status(&app).matches("? ").count(), 0);
}

#[test]
fn more_than_there_is_room_for_is_left_out_and_what_is_gone_beside_git_is_named() {
    let home = home();
    let app = ignoring(&home);
    for number in 0..22 {
        app.write(&format!("secrets/{number:02}"), &"y".repeat(999_990));
    }
    let taken = app.agent("ada").ok(&["snapshot"]);
    let left_out = taken["left_out"].as_array().expect("a list").len();
    assert_eq!(left_out, 1 + 2, "{taken}");
    for path in
        Files::below(&home.state()).paths().filter(|path| path.display().to_string().contains("-ignored-"))
    {
        std::fs::remove_file(path).expect("a file");
    }
    std::fs::remove_file(app.path().join("secrets/01")).expect("a file");
    let restored = app.agent("ada").ok(&["restore", &taken["snapshot"].to_string()]);
    assert_eq!(states(&restored).get("secrets/01").map(String::as_str), Some("lost"));
}

#[test]
fn those_that_cannot_be_kept_are_named_and_not_destroyed() {
    let home = home();
    let app = ignoring(&home);
    invite(&app);
    for number in 0..22 {
        app.write(&format!("secrets/{number:02}"), &"y".repeat(999_990));
    }
    app.write("target/huge", &"z".repeat(1_000_001));
    let mut ada = Client::claude(&home, &app, "ada");
    for (command, named) in [
        ("rm -rf secrets", "secrets/"),
        ("rm -f data.bin", "data.bin"),
        ("rm -f *.bin", "data.bin"),
        ("cd src && rm ../data.bin", "data.bin"),
        ("mv -f .env data.bin", "data.bin"),
        ("git clean -fdx", "data.bin"),
        ("git clean -fX", "data.bin"),
    ] {
        let reason = runs(&mut ada, &home, &app, command).denied();
        assert!(reason.contains("could not be kept") && reason.contains(named), "{command}: {reason}");
        assert!(reason.contains("move it somewhere else"), "{command}: {reason}");
    }
    for command in [
        "rm -rf target",
        "rm -rf src/debug.log",
        "rm -f *.rs",
        "git reset --hard",
        "git stash",
        "rm secrets/01",
    ] {
        assert_eq!(runs(&mut ada, &home, &app, command).code, 0, "{command}");
    }
    assert!(!app.path().join("target").exists() && app.path().join("data.bin").exists());
    assert_eq!(runs(&mut ada, &home, &app, "mv data.bin ../elsewhere").code, 0, "what is moved is not lost");
    assert!(!app.path().join("data.bin").exists());
}

#[test]
fn what_a_command_that_only_a_shell_can_read_may_take_is_named_beside_what_is_kept() {
    let home = home();
    let app = ignoring(&home);
    invite(&app);
    app.write("src/a.rs", "mine\n");
    let mut ada = Client::claude(&home, &app, "ada");
    let told = runs(&mut ada, &home, &app, "D=$(echo src); rm -rf $D").told();
    assert!(told.contains("kept as s") && told.contains("Not kept: data.bin, which git ignores"), "{told}");
}
