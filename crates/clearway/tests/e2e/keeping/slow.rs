//! A git that takes longer than a client waits for a hook: nothing is destroyed that was not kept, and the hook answers.

use super::commands::invite;
use crate::{app, home};
use clearway_testkit::{Home, Ran, Repository, until};
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, SystemTime};

/// Twice of what the times of files may lie behind the clock.
const PAST: Duration = Duration::from_millis(40);

/// A directory with a git that never ends when it is asked for this.
fn stuck_at(home: &Home, word: &str) -> String {
    let directory = home.directory(&format!("stuck-{word}"));
    let script = format!(
        "#!/bin/sh\nfor word; do if test \"$word\" = {word}; then exec sleep 60; fi; done\n\
         PATH=/usr/local/bin:/usr/bin:/bin exec git \"$@\"\n"
    );
    let git = directory.join("git");
    std::fs::write(&git, script).expect("a file");
    std::fs::set_permissions(&git, std::fs::Permissions::from_mode(0o755)).expect("a mode");
    format!("{}:/usr/local/bin:/usr/bin:/bin", directory.display())
}

fn payload(repository: &Repository<'_>, command: &str) -> Value {
    json!({"session_id": "ada", "cwd": repository.path(), "hook_event_name": "PreToolUse",
        "tool_name": "Bash", "tool_input": {"command": command}})
}

/// Waits until what is written now has a time that nobody takes for that of what was written before.
pub(super) fn be_past(home: &Home) {
    let clock = home.path().join("clock");
    let written = || -> SystemTime {
        std::fs::write(&clock, "").expect("a file");
        clock.metadata().and_then(|file| file.modified()).expect("a time")
    };
    let before = written();
    until("files have a later time", || written().duration_since(before).is_ok_and(|passed| passed > PAST));
}

fn hook(repository: &Repository<'_>, path: &str, command: &str) -> Ran {
    let clearway = repository.clearway().env("PATH", path);
    clearway.run_with(payload(repository, command).to_string().as_bytes(), &["hook", "claude"])
}

#[test]
fn whatever_git_is_stuck_at_the_hook_answers_and_offers_to_keep_it_without_haste() {
    for word in ["status", "fast-import", "update-ref"] {
        let home = home();
        let app = app(&home);
        invite(&app);
        app.write("src/a.rs", "mine\n");
        let path = stuck_at(&home, word);
        let refused = hook(&app, &path, "git checkout -- .").expect(2);
        let said = refused.stderr();
        assert!(said.contains("keep it first, without haste: clearway snapshot"), "{word}: {said}");
        // What is only tidied up behind it is no reason to refuse anything.
        let list = stuck_at(&home, "for-each-ref");
        assert!(hook(&app, &list, "git checkout -- .").expect(0).stdout().contains("kept as s"));
    }
}

#[test]
fn a_snapshot_by_hand_stands_for_it_as_long_as_nothing_changed_since() {
    let home = home();
    let app = app(&home);
    invite(&app);
    app.write(".git/info/exclude", "target/\n");
    app.write("src/a.rs", "mine\n");
    let path = stuck_at(&home, "fast-import");
    let passes = |command: &str| hook(&app, &path, command);
    // One of a part says nothing of the rest.
    app.write("docs/b.md", "mine\n");
    app.agent("ada").ok(&["snapshot", "docs"]);
    passes("git checkout -- .").expect(2);
    be_past(&home);
    app.agent("ada").ok(&["snapshot"]);
    let told = passes("git checkout -- .").expect(0).stdout();
    assert!(told.contains("kept as s") && told.contains("clearway undo s"), "{told}");
    // What a build makes is nobody's work, and what is not reached may change.
    app.write("target/debug/x", "built\n");
    passes("git checkout -- .").expect(0);
    app.write("docs/b.md", "more\n");
    passes("git checkout -- src").expect(0);
    passes("git checkout -- .").expect(2);
    app.write("src/new.rs", "new\n");
    passes("rm -rf src").expect(2);
}

#[test]
fn a_file_that_cannot_be_looked_at_may_have_changed_since() {
    let home = home();
    let app = app(&home);
    invite(&app);
    app.write("src/a.rs", "mine\n");
    let path = stuck_at(&home, "fast-import");
    be_past(&home);
    app.agent("ada").ok(&["snapshot"]);
    let payload = payload(&app, "git checkout -- src").to_string();
    std::fs::write(home.path().join("call.json"), payload).expect("a file");
    let answers = |runner: &str| {
        let line =
            format!("PATH={path}:$PATH {runner} clearway hook claude < {}/call.json", home.path().display());
        home.shell(app.path(), &line).output().expect("a shell").status.code()
    };
    let unseen = app.path().join("src/b.rs").display().to_string();
    let traced = format!("strace -f -qq -o /dev/null -P {unseen} -e trace=statx");
    assert_eq!(answers(&traced), Some(0));
    assert_eq!(answers(&format!("{traced} -e inject=statx:error=EACCES")), Some(2));
}

#[test]
fn a_checkout_in_which_there_is_nothing_to_keep_is_let_through_too() {
    let home = home();
    let app = app(&home);
    invite(&app);
    let path = stuck_at(&home, "status");
    hook(&app, &path, "git reset --hard").expect(2);
    be_past(&home);
    app.agent("ada").ok(&["snapshot"]);
    hook(&app, &path, "git reset --hard").expect(0);
    app.write("src/a.rs", "mine\n");
    hook(&app, &path, "git reset --hard").expect(2);
}
