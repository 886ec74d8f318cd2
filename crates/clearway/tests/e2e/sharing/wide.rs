//! What changes a whole checkout waits for everybody who is at work in it.

use super::{asks, edits, invited, named, payloads, read, runs};
use crate::{home, list, text};
use clearway_testkit::{Client, Home, Repository};
use serde_json::json;

const WIDE: [&str; 18] = [
    "git switch other",
    "git switch -c new other",
    "git checkout other",
    "git checkout -b new other",
    "git checkout -f",
    "git rebase other",
    "git merge other",
    "git pull",
    "git reset",
    "git reset --hard",
    "git reset --merge HEAD~1",
    "git reset --keep HEAD~1",
    "git reset --mixed HEAD~1",
    "git bisect start",
    "make && git switch other 2>&1 | tail -1",
    "cd src && git checkout other",
    "bash -c 'git pull --rebase'",
    "git -C . merge other",
];

fn with_branch(home: &Home) -> Repository<'_> {
    let app = invited(home);
    app.git(&["commit", "-q", "--allow-empty", "-m", "second"]);
    app.git(&["branch", "other", "HEAD~1"]);
    app
}

/// Another repository, in which bob has uncommitted work and git cannot say what.
fn with_spoiled_index(home: &Home) -> (Repository<'_>, Client) {
    let lib = home.repository("lib", &[("src/b.rs", "1\n")]);
    lib.grant("eve", &["--kind", "name", "build"]);
    let mut bob = Client::claude(home, &lib, "bob");
    edits(&mut bob, &lib, "src/b.rs", "bob's\n");
    std::fs::write(lib.path().join(".git/index"), "no index").expect("a file");
    (lib, bob)
}

#[test]
fn a_checkout_that_cannot_be_judged_says_nothing_of_the_others_and_is_named() {
    let home = home();
    let app = with_branch(&home);
    let (lib, _at_work) = with_spoiled_index(&home);
    let mut ada = Client::claude(&home, &app, "ada");
    let there = format!("git -C {} merge other", lib.path().display());
    let told = asks(&mut ada, &there).told();
    assert!(told.contains("could not tell whether this takes along what is with others"), "{told}");
    let mut bob = Client::claude(&home, &app, "bob");
    edits(&mut bob, &app, "src/b.rs", "bob's\n");
    let reason = asks(&mut ada, &format!("{there}; git switch other")).denied();
    assert!(reason.contains("has uncommitted changes in this checkout"), "{reason}");
    home.user_config("posture = \"unattended\"\n");
    let reason = asks(&mut ada, &there).denied();
    assert!(reason.contains("not run"), "{reason}");
}

#[test]
fn every_such_command_is_refused_while_another_agent_has_uncommitted_work_and_a_checkout_of_its_own_is_offered()
 {
    let home = home();
    let app = with_branch(&home);
    let mut ada = Client::claude(&home, &app, "ada");
    let mut bob = Client::claude(&home, &app, "bob");
    edits(&mut bob, &app, "src/b.rs", "bob's\n");
    bob.event("Stop", &json!({}));
    for command in WIDE {
        let reason = asks(&mut ada, command).denied();
        assert!(reason.contains("has uncommitted changes in this checkout"), "{command}: {reason}");
        let offered = named(&reason, "git");
        assert!(offered.contains("worktree add --detach "), "{command}: {offered}");
    }
    let offered = named(&asks(&mut ada, "git switch other").denied(), "git");
    assert_eq!(runs(&mut ada, &home, &app, &offered).code, 0, "{offered}");
    let apart = app.path().parent().expect("a parent").join("app-1");
    let there = json!({"cwd": apart, "tool_name": "Bash", "tool_input": {"command": "git switch other"}});
    ada.event("PreToolUse", &there).silent();
    assert!(home.shell(&apart, "git switch other").status().expect("a shell").success());
    let denied = app.agent("eve").json(&["events", "--kind", "action.denied"]).expect(0).lines();
    assert!(denied.iter().any(|event| text(&event["data"], "action") == "git"), "it is on record");
}

#[test]
fn an_active_agent_is_reason_enough_whether_it_holds_anything_or_not_and_one_that_rests_or_is_gone_is_none() {
    let home = home();
    let app = with_branch(&home);
    let mut ada = Client::claude(&home, &app, "ada");
    let mut bob = Client::claude(&home, &app, "bob");
    bob.event("SessionStart", &json!({"source": "startup"}));
    let reason = asks(&mut ada, "git switch other").denied();
    assert!(reason.contains("is at work in this checkout"), "{reason}");
    assert_eq!(bob.before_edit("src/b.rs").code, 0);
    bob.after_edit("src/b.rs");
    asks(&mut ada, "git switch other").denied();
    bob.event("Stop", &json!({}));
    assert_eq!(asks(&mut ada, "git switch other").code, 0, "nothing of bob's is changed");
    edits(&mut bob, &app, "src/b.rs", "bob's\n");
    asks(&mut ada, "git switch other").denied();
    bob.die();
    assert_eq!(asks(&mut ada, "git switch other").code, 0, "bob is gone");
}

#[test]
fn whoever_is_alone_or_with_persons_is_never_refused_and_what_concerns_nobody_is_not() {
    let home = home();
    let app = with_branch(&home);
    let mut ada = Client::claude(&home, &app, "ada");
    edits(&mut ada, &app, "src/a.rs", "ada's\n");
    app.write("src/b.rs", "a person's\n");
    for command in WIDE {
        assert_eq!(asks(&mut ada, command).code, 0, "{command}");
    }
    let mut bob = Client::claude(&home, &app, "bob");
    edits(&mut bob, &app, "docs/x.md", "bob's\n");
    for command in [
        "git fetch --all",
        "git clone . ../copy",
        "git gc",
        "git pack-refs --all",
        "git branch new",
        "git status",
        "git checkout -- src/a.rs",
        "git checkout src/a.rs",
        "git reset src/a.rs",
        "git reset -- src/a.rs",
        "git reset --soft HEAD",
        "git cherry-pick other",
        "git revert --no-edit HEAD",
        "git merge --abort",
        "git worktree add ../x",
        "git bisect reset",
        "git log other..",
    ] {
        assert_eq!(asks(&mut ada, command).code, 0, "{command}");
    }
    let person =
        home.shell(app.path(), "git switch -q other && git switch -q main").status().expect("a shell");
    assert!(person.success(), "no person is kept from anything");
}

#[test]
fn nobody_is_kept_in_the_middle_and_what_others_wrote_there_meanwhile_comes_back() {
    for (begins, gives_up) in [
        ("git merge -q other || true", "git merge --abort"),
        ("git cherry-pick other || true", "git cherry-pick --abort"),
        ("git rebase -q other || true", "git rebase --abort"),
    ] {
        let home = home();
        let app = invited(&home);
        app.git(&["branch", "other"]);
        for (branch, text) in [("other", "other\n"), ("main", "main\n")] {
            app.git(&["checkout", "-q", branch]);
            app.write("src/b.rs", text);
            app.git(&["commit", "-qam", branch]);
        }
        let mut ada = Client::claude(&home, &app, "ada");
        assert_eq!(runs(&mut ada, &home, &app, begins).code, 0, "{begins}");
        assert!(read(&app, "src/b.rs").contains("<<<<"), "{begins} stops");
        let mut bob = Client::claude(&home, &app, "bob");
        edits(&mut bob, &app, "src/b.rs", "bob's\n");
        let told = runs(&mut ada, &home, &app, gives_up).told();
        assert!(told.contains("clearway undo s"), "{gives_up}: {told}");
        assert_eq!(read(&app, "src/b.rs"), "main\n", "{gives_up}");
        app.agent("eve").ok(&["undo", "-y"]);
        assert_eq!(read(&app, "src/b.rs"), "bob's\n", "{gives_up}");
    }
}

#[test]
fn a_checkout_that_somebody_works_in_is_not_removed() {
    let home = home();
    let app = with_branch(&home);
    app.git(&["worktree", "add", "-q", "--detach", "../linked"]);
    let linked = app.path().parent().expect("a parent").join("linked");
    let mut ada = Client::claude(&home, &app, "ada");
    assert_eq!(asks(&mut ada, "git worktree remove --force ../linked").code, 0);
    let mut bob = Client::claude(&home, &app, "bob");
    let edit = json!({"tool_name": "Write", "tool_input": {"file_path": linked.join("src/b.rs"), "content": "bob's\n"}});
    assert_eq!(bob.event("PreToolUse", &edit).code, 0);
    std::fs::write(linked.join("src/b.rs"), "bob's\n").expect("a file");
    bob.event("PostToolUse", &edit);
    for command in
        ["git worktree remove --force ../linked", "cd src && git worktree move ../../linked ../../x"]
    {
        let reason = asks(&mut ada, command).denied();
        assert!(reason.contains("has uncommitted changes in this checkout"), "{command}: {reason}");
    }
    assert_eq!(asks(&mut bob, "git worktree remove --force ../linked").code, 0, "it is bob's own");
}

#[test]
fn every_client_is_refused_in_its_own_form() {
    let home = home();
    let app = with_branch(&home);
    let mut bob = Client::claude(&home, &app, "bob");
    edits(&mut bob, &app, "src/b.rs", "bob's\n");
    for command in ["git switch other", "git stash"] {
        for (client, words, payload) in payloads(app.path(), command) {
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            let ran = app.clearway().run_with(payload.as_bytes(), &words).expect(2);
            assert!(ran.stderr().contains("Clearway: not run: "), "{client}: {}", ran.stderr());
            let document: serde_json::Value = serde_json::from_str(&ran.stdout()).expect("one document");
            assert!(document.to_string().contains("uncommitted"), "{client}: {document}");
        }
    }
}

#[test]
fn a_branch_that_begins_at_what_is_checked_out_changes_nothing_and_is_made() {
    let home = home();
    let app = with_branch(&home);
    let mut ada = Client::claude(&home, &app, "ada");
    let mut bob = Client::claude(&home, &app, "bob");
    edits(&mut bob, &app, "src/b.rs", "bob's\n");
    for command in ["git checkout -q -b one", "git switch -q -c two", "git switch -q --create three"] {
        assert_eq!(runs(&mut ada, &home, &app, command).code, 0, "{command}");
        assert_eq!(read(&app, "src/b.rs"), "bob's\n", "{command}");
    }
}

#[test]
fn where_refusals_are_not_enforced_it_is_said_or_only_recorded() {
    let home = home();
    let app = with_branch(&home);
    let mut ada = Client::claude(&home, &app, "ada");
    let mut bob = Client::claude(&home, &app, "bob");
    edits(&mut bob, &app, "src/b.rs", "bob's\n");
    home.user_config("mode = \"warn\"\n");
    let told = asks(&mut ada, "git switch other").told();
    assert!(told.contains("has uncommitted changes") && told.contains("It runs all the same"), "{told}");
    assert!(!told.contains("not run"), "{told}");
    home.user_config("mode = \"observe\"\n");
    assert_eq!(asks(&mut ada, "git switch other").code, 0);
    let denied = app.agent("eve").json(&["events", "--kind", "action.denied"]).expect(0).lines();
    assert_eq!(list(&json!({ "denied": denied }), "denied").len(), 1, "what is repeated is counted");
}
