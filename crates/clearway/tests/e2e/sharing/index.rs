//! Commands that write the index of a checkout take turns, and nobody keeps it who is not at it.

use super::{asks, edits, invited, is_over, read, runs, shell_call, turns};
use crate::home;
use clearway_testkit::Client;
use serde_json::json;

#[test]
fn whoever_is_alone_takes_no_turn_and_leaves_no_trace() {
    let home = home();
    let quiet = home.repository("quiet", &[("a", "a\n")]);
    quiet.clearway().ok(&["init", "--yes"]);
    let mut ada = Client::claude(&home, &quiet, "ada");
    ada.event("SessionStart", &json!({"source": "startup"}));
    let events = quiet.kinds();
    for command in ["git add a", "git commit -qm x --allow-empty", "git reset -q", "git rm --cached -q a"] {
        runs(&mut ada, &home, &quiet, command).silent();
    }
    assert_eq!(quiet.kinds(), events);
    let stranger = home.repository("stranger", &[("a", "a\n")]);
    let mut bob = Client::claude(&home, &stranger, "bob");
    runs(&mut bob, &home, &stranger, "git add a").silent();
}

#[test]
fn while_one_command_writes_the_index_another_waits_and_goes_on_when_it_is_over() {
    let home = home();
    let app = invited(&home);
    let mut ada = Client::claude(&home, &app, "ada");
    let mut bob = Client::claude(&home, &app, "bob");
    edits(&mut ada, &app, "src/a.rs", "ada's\n");
    edits(&mut bob, &app, "src/b.rs", "bob's\n");
    asks(&mut ada, "git add src/a.rs").silent();
    assert_eq!(turns(&app), [format!("git-index:{}", app.path().display())]);
    let answer = std::thread::scope(|threads| {
        let waiting = threads.spawn(|| asks(&mut bob, "git add src/b.rs"));
        is_over(&mut ada, "git add src/a.rs");
        waiting.join().expect("an answer")
    });
    answer.silent();
    is_over(&mut bob, "git add src/b.rs");
    assert_eq!(turns(&app), [""; 0]);
}

#[test]
fn beyond_a_moment_it_is_told_in_one_line_who_is_at_it() {
    let home = home();
    let app = invited(&home);
    let mut ada = Client::claude(&home, &app, "ada");
    let mut bob = Client::claude(&home, &app, "bob");
    edits(&mut bob, &app, "src/b.rs", "bob's\n");
    assert_eq!(asks(&mut ada, "git commit --no-verify -qm x --allow-empty").code, 0);
    let reason = asks(&mut bob, "git add src/b.rs").denied();
    assert!(reason.contains("has the index of this checkout this moment; try again"), "{reason}");
    assert_eq!(reason.lines().count(), 1, "{reason}");
    assert_eq!(asks(&mut bob, "git status && git log").code, 0, "what only reads waits for nobody");
    is_over(&mut ada, "git commit");
    assert_eq!(asks(&mut bob, "git add src/b.rs").code, 0);
}

#[test]
fn a_call_that_is_never_heard_of_again_keeps_nothing() {
    let home = home();
    let app = invited(&home);
    let mut ada = Client::claude(&home, &app, "ada");
    let mut bob = Client::claude(&home, &app, "bob");
    edits(&mut bob, &app, "src/b.rs", "bob's\n");
    asks(&mut ada, "git add src/a.rs").silent();
    asks(&mut ada, "git add docs").silent();
    is_over(&mut ada, "git add docs");
    assert_eq!(turns(&app), [""; 0], "the next call ends the one before");
    asks(&mut ada, "git add src/a.rs").silent();
    ada.event("Stop", &json!({}));
    assert_eq!(turns(&app), [""; 0], "so does the end of the turn");
    asks(&mut ada, "git add src/a.rs").silent();
    let listed = app.clearway().ok(&["leases"]);
    let lease =
        crate::list(&listed, "leases").iter().find(|lease| crate::text(lease, "pattern").starts_with("git-"));
    let left_ms = lease.and_then(|lease| lease["expires_in_ms"].as_u64());
    assert!(left_ms.is_some_and(|left_ms| left_ms <= 30_000), "it ends by itself: {lease:?}");
    ada.die();
    assert_eq!(asks(&mut bob, "git add src/b.rs").code, 0, "whoever is dead keeps nothing");
    let fields = shell_call("git add src/b.rs");
    let failed = bob.event("PostToolUseFailure", &fields);
    assert_eq!(failed.code, 0);
    assert_eq!(turns(&app), [""; 0], "a command that failed is over too");
}

#[test]
fn a_refused_command_keeps_no_turn() {
    let home = home();
    let app = invited(&home);
    let mut ada = Client::claude(&home, &app, "ada");
    let mut bob = Client::claude(&home, &app, "bob");
    edits(&mut bob, &app, "src/b.rs", "bob's\n");
    asks(&mut ada, "git add src/a.rs && git switch main").denied();
    app.git(&["stash", "push", "--", "src/b.rs"]);
    asks(&mut ada, "git add src/a.rs && git stash pop").denied();
    assert_eq!(turns(&app), [""; 0]);
}

#[test]
fn a_commit_of_ours_in_the_same_line_does_not_wait_for_itself() {
    let home = home();
    let app = invited(&home);
    let mut ada = Client::claude(&home, &app, "ada");
    let mut bob = Client::claude(&home, &app, "bob");
    edits(&mut bob, &app, "src/b.rs", "bob's\n");
    edits(&mut ada, &app, "src/a.rs", "ada's\n");
    let line = "git add src/a.rs && clearway commit -m mine src/a.rs";
    assert_eq!(asks(&mut ada, line).code, 0);
    let mut shell = home.shell(app.path(), line);
    let output = shell.env("CLAUDE_CODE_SESSION_ID", "ada").output().expect("a shell");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    is_over(&mut ada, line);
    assert_eq!(app.git(&["show", "--format=", "--name-only"]), "src/a.rs\n");
    assert_eq!(turns(&app), [""; 0]);
}

#[test]
fn a_crowd_that_adds_and_commits_at_once_never_meets_a_locked_index() {
    let home = home();
    let app = invited(&home);
    std::thread::scope(|threads| {
        for name in ["ada", "bob", "cy", "dan"] {
            let (home, app) = (&home, &app);
            threads.spawn(move || {
                let mut agent = Client::claude(home, app, name);
                for round in 0..4 {
                    let file = format!("{name}.rs");
                    edits(&mut agent, app, &file, &format!("{round}\n"));
                    let line = format!("git add {file} && git commit -qm '{name} {round}' -- {file}");
                    // Whoever is told to try again does.
                    while runs(&mut agent, home, app, &line).code != 0 {}
                }
            });
        }
    });
    assert_eq!(app.git(&["rev-list", "--count", "HEAD"]).trim(), "17");
    for name in ["ada", "bob", "cy", "dan"] {
        assert_eq!(read(&app, &format!("{name}.rs")), "3\n");
    }
    assert_eq!(app.git(&["status", "--porcelain"]), "");
    app.git(&["fsck", "--no-progress"]);
}
