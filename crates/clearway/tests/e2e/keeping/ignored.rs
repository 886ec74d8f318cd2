//! Small files that git ignores are kept too, beside git.

use super::{checkout, snapshot, states, status};
use crate::{app, each, home};
use clearway_testkit::{Files, Home, Repository};
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
