//! `git stash` takes what is its caller's, and gives nobody what is another's.

use super::{asks, edits, invited, named, read, runs, turns};
use crate::home;
use clearway_testkit::Client;
use serde_json::json;

#[test]
fn a_stash_over_the_work_of_others_is_refused_with_the_form_that_takes_only_ones_own() {
    let home = home();
    let app = invited(&home);
    let mut ada = Client::claude(&home, &app, "ada");
    let mut bob = Client::claude(&home, &app, "bob");
    for file in ["src/a.rs", "app/[id]/two words.rs", "-dash"] {
        edits(&mut ada, &app, file, "ada's\n");
    }
    app.write("app/i/two words.rs", "nobody's\n");
    edits(&mut bob, &app, "src/b.rs", "bob's\n");
    edits(&mut bob, &app, "app/d/two words.rs", "bob's\n");
    for command in
        ["git stash", "git stash -u -m wip", "git stash push src", "git stash save x", "git stash -- ."]
    {
        let reason = asks(&mut ada, command).denied();
        assert!(reason.contains("would take uncommitted work of") && reason.contains(".rs"), "{reason}");
    }
    let reason = runs(&mut ada, &home, &app, "git stash -u").denied();
    let command = named(&reason, "git");
    assert_eq!(runs(&mut ada, &home, &app, &command).code, 0, "{command}");
    assert_eq!((read(&app, "src/a.rs"), read(&app, "-dash")), ("a\n".to_owned(), String::new()));
    assert_eq!(read(&app, "app/[id]/two words.rs"), "");
    assert_eq!(
        (read(&app, "src/b.rs"), read(&app, "app/d/two words.rs")),
        ("bob's\n".into(), "bob's\n".into())
    );
    assert_eq!(read(&app, "app/i/two words.rs"), "nobody's\n");
    assert_eq!(runs(&mut ada, &home, &app, "git stash pop").code, 0);
    assert_eq!((read(&app, "src/a.rs"), read(&app, "-dash")), ("ada's\n".into(), "ada's\n".into()));
    assert_eq!(turns(&app), [""; 0]);
}

#[test]
fn the_form_that_is_offered_works_where_the_agent_stands_and_however_much_is_its_own() {
    let home = home();
    let app = invited(&home);
    let mut ada = Client::claude(&home, &app, "ada");
    let mut bob = Client::claude(&home, &app, "bob");
    edits(&mut bob, &app, "src/b.rs", "bob's\n");
    edits(&mut ada, &app, "src/a.rs", "ada's\n");
    let below =
        json!({"cwd": app.path().join("src"), "tool_name": "Bash", "tool_input": {"command": "git stash"}});
    let command = named(&ada.event("PreToolUse", &below).denied(), "git");
    let typed = home.shell(&app.path().join("src"), &command).status().expect("a shell");
    assert!(
        typed.success() && read(&app, "src/a.rs") == "a\n" && read(&app, "src/b.rs") == "bob's\n",
        "{command}"
    );
    let files: Vec<String> = (0..40).map(|number| format!("src/quite_a_long_name_{number}.rs")).collect();
    files.iter().for_each(|file| edits(&mut ada, &app, file, "ada's\n"));
    let command = named(&asks(&mut ada, "git stash").denied(), "git");
    assert!(command.contains("$(clearway mine --dirty)"), "{command}");
    assert_eq!(asks(&mut ada, &command).code, 0);
    let mut shell = home.shell(app.path(), &command);
    let typed = shell.env("CLAUDE_CODE_SESSION_ID", "ada").status().expect("a shell");
    assert!(typed.success() && files.iter().all(|file| read(&app, file).is_empty()), "{command}");
    assert_eq!(read(&app, "src/b.rs"), "bob's\n");
}

#[test]
fn what_is_another_agents_is_neither_popped_nor_dropped_and_ones_own_is_named() {
    let home = home();
    let app = invited(&home);
    let mut ada = Client::claude(&home, &app, "ada");
    let mut bob = Client::claude(&home, &app, "bob");
    edits(&mut ada, &app, "src/a.rs", "ada's\n");
    edits(&mut bob, &app, "src/b.rs", "bob's\n");
    assert_eq!(runs(&mut ada, &home, &app, "git stash push -- src/a.rs").code, 0);
    assert_eq!(runs(&mut bob, &home, &app, "git stash push -- src/b.rs").code, 0);
    for command in [
        "git stash pop",
        "git stash apply",
        "git stash drop",
        "git stash drop stash@{0}",
        "git stash pop --index 0",
        "git stash branch new",
        "git stash clear",
        "cd src && git stash pop 2>&1 | tail -3",
    ] {
        let reason = asks(&mut ada, command).denied();
        assert!(reason.contains("stash@{0}") && reason.contains("stash@{1}"), "{command}: {reason}");
    }
    let reason = asks(&mut ada, "git stash branch new").denied();
    assert_eq!(named(&reason, "git"), "git stash branch new stash@{1}");
    let reason = asks(&mut ada, "git stash pop").denied();
    let command = named(&reason, "git");
    assert_eq!(command, "git stash pop stash@{1}");
    assert_eq!(runs(&mut ada, &home, &app, &command).code, 0);
    assert_eq!((read(&app, "src/a.rs"), read(&app, "src/b.rs")), ("ada's\n".into(), "b\n".into()));
    assert_eq!(runs(&mut bob, &home, &app, "git stash pop").code, 0);
    assert_eq!(read(&app, "src/b.rs"), "bob's\n");
}

#[test]
fn what_a_person_or_somebody_who_is_gone_put_aside_is_taken_by_its_number_alone() {
    let home = home();
    let app = invited(&home);
    app.write("src/a.rs", "a person's\n");
    app.git(&["stash"]);
    let mut ada = Client::claude(&home, &app, "ada");
    let reason = asks(&mut ada, "git stash pop").denied();
    assert!(reason.contains("nobody who is known"), "{reason}");
    assert_eq!(runs(&mut ada, &home, &app, &named(&reason, "git")).code, 0);
    assert_eq!(read(&app, "src/a.rs"), "a person's\n");
    app.git(&["checkout", "--", "."]);
    let mut bob = Client::claude(&home, &app, "bob");
    edits(&mut bob, &app, "src/b.rs", "bob's\n");
    assert_eq!(runs(&mut bob, &home, &app, "git stash").code, 0);
    asks(&mut ada, "git stash pop stash@{0}").denied();
    bob.event("SessionEnd", &json!({"reason": "exit"}));
    let reason = asks(&mut ada, "git stash pop").denied();
    assert!(reason.contains("who is gone"), "{reason}");
    assert_eq!(runs(&mut ada, &home, &app, "git stash pop stash@{0}").code, 0);
    assert_eq!(read(&app, "src/b.rs"), "bob's\n");
}

#[test]
fn after_a_call_that_was_never_heard_of_again_nothing_is_taken_for_the_agents() {
    let home = home();
    let app = invited(&home);
    let mut ada = Client::claude(&home, &app, "ada");
    assert_eq!(asks(&mut ada, "git stash").code, 0);
    app.write("src/a.rs", "a person's\n");
    app.git(&["stash"]);
    let reason = asks(&mut ada, "git stash pop").denied();
    assert!(reason.contains("nobody who is known"), "{reason}");
}

#[test]
fn in_one_line_what_is_put_aside_comes_back_and_where_there_is_nothing_nobody_elses_does() {
    let home = home();
    let app = invited(&home);
    app.write("src/b.rs", "a person's\n");
    app.git(&["stash"]);
    let mut ada = Client::claude(&home, &app, "ada");
    let line = "git stash && true; git stash pop";
    let reason = asks(&mut ada, line).denied();
    assert!(reason.contains("nothing here would be put aside"), "{reason}");
    edits(&mut ada, &app, "src/a.rs", "ada's\n");
    assert_eq!(runs(&mut ada, &home, &app, line).code, 0);
    assert_eq!((read(&app, "src/a.rs"), read(&app, "src/b.rs")), ("ada's\n".into(), "b\n".into()));
    assert_eq!(app.git(&["stash", "list"]).lines().count(), 1, "the person's is still there");
    edits(&mut ada, &app, "new.rs", "new\n");
    app.git(&["checkout", "--", "src"]);
    asks(&mut ada, line).denied();
    assert_eq!(runs(&mut ada, &home, &app, "git stash -u && true; git stash pop").code, 0);
    assert_eq!(read(&app, "new.rs"), "new\n");
}

#[test]
fn what_was_put_aside_in_another_checkout_is_not_popped_by_accident() {
    let home = home();
    let app = invited(&home);
    app.git(&["worktree", "add", "-q", "--detach", "../linked"]);
    let linked = app.path().parent().expect("a parent").join("linked");
    let mut ada = Client::claude(&home, &app, "ada");
    std::fs::write(linked.join("src/a.rs"), "in the linked one\n").expect("a file");
    let there = json!({"cwd": linked, "tool_name": "Bash", "tool_input": {"command": "git stash"}});
    assert_eq!(ada.event("PreToolUse", &there).code, 0);
    assert!(home.shell(&linked, "git stash").status().expect("a shell").success());
    ada.event("PostToolUse", &there);
    let reason = asks(&mut ada, "git stash pop").denied();
    assert!(reason.contains("of another checkout"), "{reason}");
    assert_eq!(asks(&mut ada, &named(&reason, "git")).code, 0);
}

#[test]
fn whoever_is_alone_puts_aside_and_takes_back_what_it_likes_and_where_nobody_invited_us_everybody_does() {
    let home = home();
    let app = invited(&home);
    app.write("src/b.rs", "a person's\n");
    let mut ada = Client::claude(&home, &app, "ada");
    for again in
        ["git stash pop", "git stash apply", "git stash drop", "git stash branch apart", "git stash clear"]
    {
        app.git(&["switch", "-q", "main"]);
        edits(&mut ada, &app, "src/a.rs", &format!("{again}\n"));
        assert_eq!(runs(&mut ada, &home, &app, "git stash").code, 0);
        assert_eq!(runs(&mut ada, &home, &app, again).code, 0, "{again}");
        app.git(&["checkout", "-q", "--", "."]);
    }
    let stranger = home.repository("stranger", &[("a", "a\n")]);
    stranger.write("a", "changed\n");
    stranger.git(&["stash"]);
    let mut cy = Client::claude(&home, &stranger, "cy");
    asks(&mut cy, "git stash pop").silent();
}
