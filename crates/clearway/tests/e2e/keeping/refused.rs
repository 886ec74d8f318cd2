//! What cannot be kept or found is said by name, and nothing is changed.

use super::checkout;
use super::commands::{invite, runs};
use crate::{app, home, text};
use clearway_testkit::faults::behind;
use clearway_testkit::namespace::Namespace;
use clearway_testkit::{Client, Files, Home, Repository};
use serde_json::json;

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
fn what_stops_git_itself_is_no_matter_of_haste() {
    let home = home();
    let app = app(&home);
    invite(&app);
    app.write("src/a.rs", "mine\n");
    std::fs::write(app.path().join(".git/index"), "no index").expect("a file");
    let mut ada = Client::claude(&home, &app, "ada");
    let reason = runs(&mut ada, &home, &app, "rm -rf src").denied();
    assert!(
        reason.contains("put the broken index aside") && !reason.contains("clearway snapshot"),
        "{reason}"
    );
    assert!(app.path().join("src/a.rs").exists());
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
        let slug = if script.contains("tmpfs") { "store-full" } else { "git-failed" };
        assert!(said.contains(&format!("error[{slug}]")), "{script}: {said}");
        drop(disk);
        assert_eq!((checkout(app.path()), super::status(&app)), before, "{script}");
        app.git(&["fsck", "--no-progress"]);
    }
    assert!(home.state_files().is_empty(), "nothing is recorded of what was not kept");
}

#[test]
fn a_file_that_cannot_be_read_keeps_nobody_from_a_command_that_leaves_it_alone() {
    let home = home();
    let app = app(&home);
    invite(&app);
    app.git(&["checkout", "-qb", "with-secret"]);
    app.write("secret.pem", "committed\n");
    app.git(&["add", "-A"]);
    app.git(&["commit", "-qm", "has one"]);
    app.git(&["checkout", "-q", "main"]);
    app.write("secret.pem", "secret\n");
    let file = app.path().join("secret.pem").display().to_string();
    let runner = ["strace", "-f", "-qq", "-o", "/dev/null", "-P", &file, "-e", "trace=openat"];
    let runner = [&runner[..], &["-e", "inject=openat:error=EACCES"]].concat();
    let mut ada = Client::claude_behind(&home, &app, "ada", &runner);
    app.git(&["branch", "moving"]);
    app.git(&["update-ref", "refs/remotes/origin/theirs", "with-secret"]);
    for command in [
        "git clean -fd",
        "git reset --hard with-secret",
        "git checkout -q with-secret -- .",
        "git checkout -f -",
        "git switch -f -",
        "git checkout -f theirs",
        "git checkout -f main...with-secret",
        "git branch -f moving with-secret; git reset --hard moving",
        "git reset -q with-secret && git checkout -- .",
        "git stash --inc",
        "rm *",
    ] {
        let reason = runs(&mut ada, &home, &app, command).denied();
        assert!(reason.contains("secret.pem"), "{command}: {reason}");
    }
    for command in [
        "git reset --hard",
        "git reset -q --hard HEAD",
        "git checkout -- .",
        "git stash",
        "git clean -fd src",
    ] {
        app.write("src/a.rs", "mine\n");
        app.write("src/new.rs", "new\n");
        let told = runs(&mut ada, &home, &app, command).told();
        assert!(told.contains("kept as s"), "{command}: {told}");
        app.agent("bob").ok(&["undo", "-y"]);
        let read = |name: &str| std::fs::read(app.path().join(name)).expect("bytes");
        assert_eq!(
            (read("src/a.rs"), read("src/new.rs")),
            (b"mine\n".to_vec(), b"new\n".to_vec()),
            "{command}"
        );
    }
    assert_eq!(std::fs::read(&file).expect("bytes"), b"secret\n");
    app.git(&["add", "-N", "secret.pem"]);
    let reason = runs(&mut ada, &home, &app, "git reset --hard").denied();
    assert!(reason.contains("secret.pem"), "{reason}");
}

/// Clearway, which cannot open these files of a repository.
fn blind_to(repository: &Repository<'_>, files: &[String]) -> Vec<String> {
    let traced = ["strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=openat"].map(str::to_owned);
    let named =
        files.iter().flat_map(|file| ["-P".to_owned(), repository.path().join(file).display().to_string()]);
    let inject = ["-e", "inject=openat:error=EACCES"].map(str::to_owned);
    traced.into_iter().chain(named).chain(inject).collect()
}

fn blind_agent(home: &Home, app: &Repository<'_>, files: &[String]) -> Client {
    let runner = blind_to(app, files);
    Client::claude_behind(home, app, "ada", &runner.iter().map(String::as_str).collect::<Vec<_>>())
}

#[test]
fn what_lies_in_the_place_of_something_that_git_tracks_is_not_left_alone_by_it() {
    let home = home();
    let app = app(&home);
    invite(&app);
    app.git(&["checkout", "-qb", "flat"]);
    app.write("place", "a file\n");
    app.write("deep/secret/file", "below it\n");
    app.git(&["add", "-A"]);
    app.git(&["commit", "-qm", "files"]);
    app.git(&["checkout", "-q", "main"]);
    std::fs::remove_file(app.path().join("main.rs")).expect("a file");
    std::fs::remove_dir_all(app.path().join("docs")).expect("a directory");
    let files = ["main.rs/secret", "place/in/secret", "docs", "deep/secret"].map(str::to_owned);
    for (file, commands) in files.iter().zip([
        ["git reset --hard", "git checkout -- .", "git restore .", "git stash"],
        ["git reset --hard flat", "git checkout -f flat", "git checkout flat -- place", "git switch -f flat"],
        ["git reset --hard", "git checkout -- .", "git restore docs", "git stash"],
        ["git reset --hard flat", "git checkout -f flat", "git checkout flat -- deep", "git switch -f flat"],
    ]) {
        app.write(file, "secret\n");
        let mut ada = blind_agent(&home, &app, std::slice::from_ref(file));
        for command in commands {
            let reason = runs(&mut ada, &home, &app, command).denied();
            assert!(reason.contains(file), "{command}: {reason}");
        }
        runs(&mut ada, &home, &app, "git checkout -- src").silent();
        std::fs::remove_file(app.path().join(file)).expect("a file");
    }
}

#[test]
fn of_more_files_that_cannot_be_read_than_are_asked_for_each_counts_as_lost() {
    let home = home();
    let app = app(&home);
    invite(&app);
    let files: Vec<String> = (0..=64).map(|number| format!("data/{number}.bin")).collect();
    for file in &files {
        app.write(file, "secret\n");
    }
    app.write("src/a.rs", "mine\n");
    let reason = runs(&mut blind_agent(&home, &app, &files), &home, &app, "git reset --hard").denied();
    assert!(reason.contains("data/0.bin"), "{reason}");
    std::fs::remove_file(app.path().join("data/64.bin")).expect("a file");
    let told = runs(&mut blind_agent(&home, &app, &files), &home, &app, "git reset --hard").told();
    assert!(told.contains("kept as s"), "{told}");
}

#[test]
fn on_a_full_disk_what_is_made_anew_makes_room_for_an_agent() {
    let home = home();
    let app = app(&home);
    invite(&app);
    app.write(".git/info/exclude", "target/\n");
    let noise: Vec<u8> =
        (0..400_000_u32).flat_map(|number| number.wrapping_mul(2_654_435_761).to_le_bytes()).collect();
    std::fs::write(app.path().join("data.bin"), &noise).expect("a file");
    let (root, small) = (app.path().display().to_string(), home.directory("small").display().to_string());
    let disk = Namespace::of_mounts();
    disk.script(&format!(
        "mount -t tmpfs -o size=16m tmpfs '{small}' && cp -a '{root}/.' '{small}/' && mkdir '{small}/target' && \
         {{ dd if=/dev/zero of='{small}/target/made' bs=4k status=none 2>/dev/null || true; }} && \
         mount --bind '{small}' '{root}'"
    ));
    let runner = disk.runner(app.path());
    let mut ada =
        Client::claude_behind(&home, &app, "ada", &runner.iter().map(String::as_str).collect::<Vec<_>>());
    let mut asks = |command: &str| {
        let fields = json!({"tool_name": "Bash", "tool_input": {"command": command}});
        ada.event("PreToolUse", &fields)
    };
    let reason = asks("rm data.bin").denied();
    let is_said =
        reason.contains(&format!(" bytes are free on {root}")) && reason.contains("such as target/");
    assert!(is_said && reason.contains("let a person remove it"), "{reason}");
    assert_eq!(asks("rm -rf target").code, 0, "nothing of it is kept");
    disk.script(&format!("rm -rf '{root}/target'"));
    let told = asks("rm data.bin").told();
    assert!(told.contains("kept as s"), "{told}");
}
