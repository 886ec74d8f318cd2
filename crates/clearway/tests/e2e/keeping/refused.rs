//! What cannot be kept or found is said by name, and nothing is changed.

use super::checkout;
use crate::{app, home, text};
use clearway_testkit::Files;
use clearway_testkit::faults::behind;
use clearway_testkit::namespace::Namespace;

#[test]
fn a_number_that_is_none_or_of_nothing_is_named() {
    let home = home();
    let app = app(&home);
    app.write("src/a.rs", "mine\n");
    let before = checkout(app.path());
    for verb in ["show", "restore", "undo"] {
        app.agent("ada").fails("not-found", 5, &[verb, "s41"]);
        app.agent("ada").fails("invalid-id", 2, &[verb, "yesterday"]);
    }
    app.agent("ada").fails("not-found", 5, &["undo", "-y"]);
    assert_eq!(checkout(app.path()), before);
}

#[test]
fn without_a_checkout_there_is_nothing_to_keep() {
    let home = home();
    let plain = home.directory("plain");
    let bare = home.directory("bare.git");
    home.shell(&bare, "git init -q --bare .").status().expect("git");
    for (place, words) in
        [(&plain, ["snapshot"]), (&bare, ["snapshot"]), (&bare, ["snapshots"]), (&plain, ["undo"])]
    {
        home.clearway(place).agent("ada").fails("no-checkout", 2, &words);
    }
    let machine = home.clearway(&plain).agent("ada").json(&["--scope", "machine", "snapshot"]);
    machine.expect(2).slug("no-checkout");
}

#[test]
fn without_git_on_the_path_that_is_said() {
    let home = home();
    let app = app(&home);
    app.write("src/a.rs", "mine\n");
    let empty = home.directory("empty");
    app.agent("ada").env("PATH", &empty).fails("git-missing", 69, &["snapshot"]);
    assert!(home.state_files().is_empty(), "nothing is recorded of what was not kept");
}

#[test]
fn a_corrupt_index_is_gits_to_name_and_nothing_is_changed() {
    let home = home();
    let app = app(&home);
    app.write("src/a.rs", "mine\n");
    std::fs::write(app.path().join(".git/index"), "no index").expect("a file");
    let before = Files::below(app.path());
    let error = app.agent("ada").fails("git-failed", 69, &["snapshot"]);
    assert!(text(&error, "message").contains("index"), "{error}");
    before.assert_same(&Files::below(app.path()), "a snapshot that failed");
}

#[test]
fn objects_that_cannot_be_written_fail_it_and_leave_no_report_behind() {
    let home = home();
    let app = app(&home);
    app.write("src/a.rs", "mine\n");
    // What lies in the way of the directory of packs stands for one that cannot be written: tests are root.
    std::fs::remove_dir(app.path().join(".git/objects/pack")).expect("a directory");
    std::fs::write(app.path().join(".git/objects/pack"), "in the way").expect("a file");
    let before = checkout(app.path());
    app.agent("ada").fails("git-failed", 69, &["snapshot"]);
    assert_eq!(checkout(app.path()), before);
    let names = std::fs::read_dir(app.path().join(".git")).expect("a directory");
    let reports = names.filter(|entry| {
        entry.as_ref().is_ok_and(|entry| entry.file_name().to_string_lossy().starts_with("fast_import"))
    });
    assert_eq!(reports.count(), 0);
    assert!(home.state_files().is_empty(), "nothing is recorded of what was not kept");
}

#[test]
fn what_is_too_large_is_refused_with_its_largest_files_and_a_part_can_be_kept() {
    let home = home();
    let app = app(&home);
    app.write("src/a.rs", "mine\n");
    let file = std::fs::File::create(app.path().join("huge.bin")).expect("a file");
    file.set_len(201_000_000).expect("a size");
    let error = app.agent("ada").fails("snapshot-too-large", 69, &["snapshot"]);
    assert!(text(&error, "message").contains("huge.bin (201.0 MB)"), "{error}");
    assert!(home.state_files().is_empty(), "nothing is recorded of what was not kept");
    app.agent("ada").ok(&["snapshot", "src"]);
}

#[test]
fn what_is_too_large_to_be_kept_is_not_written_over_unless_a_person_accepts_the_loss() {
    let home = home();
    let app = app(&home);
    app.write("src/a.rs", "mine\n");
    let number = super::snapshot(&app, &[]);
    let file = std::fs::File::create(app.path().join("src/a.rs")).expect("a file");
    file.set_len(201_000_000).expect("a size");
    drop(file);
    let error = app.agent("ada").fails("snapshot-too-large", 69, &["restore", &number]);
    let hint = error["hints"][0].as_str().expect("a hint");
    assert!(hint.ends_with(&format!("clearway restore {number} --accept-loss")), "{hint}");
    for words in
        [&["restore", &number, "--accept-loss"] as &[&str], &["undo", &number, "-y", "--accept-loss"]]
    {
        app.agent("ada").fails("not-operator", 3, words);
    }
    let size = || std::fs::metadata(app.path().join("src/a.rs")).expect("a file").len();
    assert_eq!(size(), 201_000_000, "nothing is written over");
    app.clearway().ok(&["restore", &number, "--accept-loss"]);
    assert_eq!(std::fs::read(app.path().join("src/a.rs")).expect("bytes"), b"mine\n");
    let taken = app.kinds().iter().filter(|kind| *kind == "snapshot.taken").count();
    assert_eq!(taken, 1, "nothing more could be kept");
}

#[test]
fn what_cannot_be_read_is_named_and_a_part_can_be_kept() {
    let home = home();
    let app = app(&home);
    app.write("src/a.rs", "mine\n");
    app.write("secret.pem", "secret\n");
    let file = app.path().join("secret.pem").display().to_string();
    let command = app.agent("ada").args(&["snapshot"]).into_command();
    let runner = ["strace", "-f", "-qq", "-o", "/dev/null", "-P", &file, "-e", "trace=openat"];
    let output = behind(command, &[&runner[..], &["-e", "inject=openat:error=EACCES"]].concat()).output();
    let said = String::from_utf8_lossy(&output.expect("strace runs").stderr).into_owned();
    assert!(said.contains("error[snapshot-unreadable]") && said.contains("secret.pem"), "{said}");
    assert!(home.state_files().is_empty(), "nothing is recorded of what was not kept");
    app.agent("ada").ok(&["snapshot", "src"]);
}

#[test]
fn a_repository_that_is_read_only_or_full_refuses_and_the_checkout_stays() {
    let home = home();
    let app = app(&home);
    let noise: String =
        (0..40_000_u32).map(|line| format!("{:x}\n", line.wrapping_mul(2_654_435_761))).collect();
    app.write("src/a.rs", &noise);
    let before = (checkout(app.path()), super::status(&app));
    let git = app.path().join(".git").display().to_string();
    let read_only = format!("mount --bind '{git}' '{git}' && mount -o remount,ro,bind '{git}'");
    let full = format!("mount -t tmpfs -o size=64k tmpfs '{git}/objects/pack'");
    for script in [read_only, full] {
        let disk = Namespace::of_mounts();
        disk.script(&script);
        let command = app.agent("ada").args(&["snapshot"]).into_command();
        let output = disk.enter(command).output().expect("it runs");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(said.contains("error[git-failed]"), "{script}: {said}");
        drop(disk);
        assert_eq!((checkout(app.path()), super::status(&app)), before, "{script}");
        app.git(&["fsck", "--no-progress"]);
    }
    assert!(home.state_files().is_empty(), "nothing is recorded of what was not kept");
}
