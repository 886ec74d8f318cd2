//! Two disks can be full, the repository's and the store's: each failure names its own, and what is kept already stands in.

use super::commands::{invite, runs};
use super::slow::be_past;
use crate::{app, home, text};
use clearway_testkit::namespace::Namespace;
use clearway_testkit::{Client, Home, Repository};
use serde_json::Value;
use std::path::Path;
use std::process::Command;

/// What an agent is told that makes room where its checkout lies.
const MADE_ANEW: &str = "such as target/";

/// Puts what lies at a place on a small disk of its own, without a byte to spare.
fn fill(disk: &Namespace, home: &Home, place: &Path) {
    let (place, small) = (place.display(), home.directory("small").display().to_string());
    disk.script(&format!(
        "mount -t tmpfs -o size=4m,mode=700 tmpfs '{small}' && cp -a '{place}/.' '{small}/' && \
         find '{small}' -name '*-ballast' -delete && \
         {{ dd if=/dev/zero of='{small}/filler' bs=512 status=none 2>/dev/null || true; }} && \
         mount --bind '{small}' '{place}'"
    ));
}

/// A repository in which there is room for what is kept, and none for the name of it.
fn without_room_for_names(home: &Home, app: &Repository<'_>) -> Namespace {
    let disk = Namespace::of_mounts();
    let (git, room) = (app.path().join(".git"), home.directory("room").display().to_string());
    fill(&disk, home, &git);
    let objects = git.join("objects").display().to_string();
    disk.script(&format!("cp -a '{objects}/.' '{room}/' && mount --bind '{room}' '{objects}'"));
    disk
}

fn agent(home: &Home, app: &Repository<'_>, disk: &Namespace) -> Client {
    let runner = disk.runner(app.path());
    Client::claude_behind(home, app, "ada", &runner.iter().map(String::as_str).collect::<Vec<_>>())
}

fn fails(disk: &Namespace, command: Command) -> Value {
    let output = disk.enter(command).output().expect("it runs");
    assert_eq!(output.status.code(), Some(69));
    let value: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    value["error"].clone()
}

#[test]
fn a_repository_without_room_for_a_name_says_how_much_there_is() {
    let home = home();
    let app = app(&home);
    invite(&app);
    app.write("src/a.rs", "mine\n");
    let disk = without_room_for_names(&home, &app);
    let error = fails(&disk, app.agent("bob").args(&["--json", "snapshot"]).into_command());
    let git = app.path().join(".git").display().to_string();
    assert_eq!((text(&error, "slug"), &error["details"]["disk"]), ("store-full", &Value::from(git.as_str())));
    assert!(error["hints"][0].as_str().is_some_and(|hint| hint.contains("df -h")), "{error}");
    let reason = runs(&mut agent(&home, &app, &disk), &home, &app, "git checkout -- .").denied();
    assert!(reason.contains(&format!("bytes are free on {git}")) && reason.contains("df -h"), "{reason}");
    // The checkout lies on another disk, where nothing that goes makes room for this.
    assert!(!reason.contains("clearway snapshot") && !reason.contains(MADE_ANEW), "{reason}");
}

#[test]
fn a_repository_in_which_no_more_files_can_be_made_says_that_and_not_how_many_bytes_it_lacks() {
    let home = home();
    let app = app(&home);
    invite(&app);
    app.write("src/a.rs", "mine\n");
    let disk = Namespace::of_mounts();
    let git = app.path().join(".git").display().to_string();
    let small = home.directory("small").display().to_string();
    disk.script(&format!(
        "mount -t tmpfs -o size=16m,nr_inodes=500,mode=700 tmpfs '{small}' && cp -a '{git}/.' '{small}/' && \
         {{ i=0; while touch '{small}/filler-'$i 2>/dev/null; do i=$((i + 1)); done; }} && test -e '{small}/filler-9' && \
         mount --bind '{small}' '{git}'"
    ));
    let error = fails(&disk, app.agent("bob").args(&["--json", "snapshot"]).into_command());
    assert_eq!((text(&error, "slug"), &error["details"]["disk"]), ("store-full", &Value::from(git.as_str())));
    let message = text(&error, "message");
    assert!(message.contains(&format!("no more files can be made on {git}, though ")), "{message}");
    assert!(error["hints"][0].as_str().is_some_and(|hint| hint.contains("df -i")), "{error}");
}

#[test]
fn a_commit_without_room_names_the_disk() {
    let home = home();
    let app = app(&home);
    app.grant("bob", &["src/a.rs"]);
    app.write("src/a.rs", "mine\n");
    let disk = Namespace::of_mounts();
    fill(&disk, &home, &app.path().join(".git"));
    let words = ["--json", "commit", "-m", "mine", "src/a.rs"];
    let error = fails(&disk, app.agent("bob").args(&words).into_command());
    let git = app.path().join(".git").display().to_string();
    assert_eq!((text(&error, "slug"), &error["details"]["disk"]), ("store-full", &Value::from(git)));
}

#[test]
fn on_a_full_disk_of_the_repository_a_snapshot_by_hand_stands_for_what_nobody_changed_since() {
    let home = home();
    let app = app(&home);
    invite(&app);
    app.write("src/a.rs", "mine\n");
    be_past(&home);
    let number = super::snapshot(&app, &[]);
    let disk = Namespace::of_mounts();
    fill(&disk, &home, &app.path().join(".git"));
    let mut ada = agent(&home, &app, &disk);
    let told = runs(&mut ada, &home, &app, "git checkout -- .").told();
    assert!(told.contains(&format!("kept as {number}")), "{told}");
    app.write("src/b.rs", "mine since\n");
    let reason = runs(&mut ada, &home, &app, "git checkout -- .").denied();
    assert!(reason.contains("make room on that disk"), "{reason}");
}

#[test]
fn on_a_full_disk_of_the_store_it_is_that_disk_which_is_to_get_room() {
    let home = home();
    let app = app(&home);
    invite(&app);
    app.write(".git/info/exclude", ".env\n");
    app.write("src/a.rs", "mine\n");
    be_past(&home);
    let number = super::snapshot(&app, &[]);
    let disk = Namespace::of_mounts();
    let mut ada = agent(&home, &app, &disk);
    // Whoever is known already is not written down again.
    runs(&mut ada, &home, &app, "git status");
    fill(&disk, &home, &home.state());
    let told = runs(&mut ada, &home, &app, "git checkout -- src").told();
    assert!(told.contains(&format!("kept as {number}")), "{told}");
    app.write("src/b.rs", "mine since\n");
    let state = home.state().display().to_string();
    let reason = runs(&mut ada, &home, &app, "git checkout -- .").denied();
    let is_said = reason.contains(&state) && reason.contains("make room on that disk");
    assert!(is_said && !reason.contains(MADE_ANEW), "{reason}");
    // What git ignores is kept beside the store, and finds no room there either.
    app.write(".env", "TOKEN=1\n");
    let reason = runs(&mut ada, &home, &app, "rm .env").denied();
    let is_said = reason.contains(&state) && reason.contains("make room on that disk");
    assert!(is_said && !reason.contains(MADE_ANEW), "{reason}");
}
