//! `commit`: what is the caller's, and nothing else.

use super::paths_in;
use crate::{app, home, list, text};
use clearway_testkit::{Client, Repository};
use serde_json::{Value, json};

/// What git says of everything that is not committed.
fn status(app: &Repository<'_>) -> String {
    app.git(&["status", "--porcelain=v1"])
}

fn commit(app: &Repository<'_>, agent: &str, words: &[&str]) -> Value {
    app.agent(agent).ok(&[&["commit", "-m", "mine"], words].concat())
}

#[test]
fn a_commit_takes_what_its_agent_holds_and_leaves_the_rest_as_it_is() {
    let home = home();
    let app = app(&home);
    app.grant("ada", &["src/a.rs", "new/"]);
    app.grant("bob", &["src/b.rs"]);
    app.write("src/a.rs", "ada\n");
    app.write("new/file one.rs", "ada\n");
    app.write("src/b.rs", "bob\n");
    app.write("docs/x.md", "somebody\n");
    app.write("loose.txt", "somebody\n");
    app.git(&["add", "src/b.rs", "docs/x.md"]);
    app.write("docs/x.md", "somebody, and more\n");
    let made = commit(&app, "ada", &[]);
    assert_eq!(made["paths"], json!(["new/file one.rs", "src/a.rs"]));
    assert_eq!((&made["branch"], &made["left"], text(&made, "agent")), (&json!("main"), &json!(3), "ada"));
    assert_eq!(text(&made, "commit"), app.git(&["rev-parse", "HEAD"]).trim());
    assert_eq!(paths_in(&app, "HEAD"), ["new/file one.rs", "src/a.rs"]);
    assert_eq!(status(&app), "MM docs/x.md\nM  src/b.rs\n?? loose.txt\n");
    assert_eq!(app.git(&["log", "-1", "--format=%s"]), "mine\n");
}

#[test]
fn deletions_and_new_names_go_with_it() {
    let home = home();
    let app = app(&home);
    app.grant("ada", &["src/a.rs", "docs/x.md"]);
    std::fs::remove_file(app.path().join("src/a.rs")).expect("a file");
    app.git(&["mv", "docs/x.md", "docs/größe [1].md"]);
    let made = commit(&app, "ada", &[]);
    assert_eq!(made["paths"], json!(["docs/größe [1].md", "docs/x.md", "src/a.rs"]));
    assert_eq!(status(&app), "");
    assert_eq!(app.git(&["ls-files", "-z"]), "docs/größe [1].md\0main.rs\0src/b.rs\0");
}

#[test]
fn what_only_the_caller_wrote_is_its_own_without_a_lease() {
    let home = home();
    let app = app(&home);
    app.grant("bob", &["--kind", "name", "build"]);
    let mut ada = Client::claude(&home, &app, "ada");
    let input = json!({"file_path": app.path().join("new.rs"), "content": "one\n"});
    let fields = json!({"tool_name": "Write", "tool_input": input, "tool_response": {}});
    ada.event("PreToolUse", &fields).silent();
    app.write("new.rs", "one\n");
    ada.event("PostToolUse", &fields).silent();
    app.clearway().session("ada").ok(&["release", "--all"]);
    app.agent("bob").fails("nothing-to-commit", 1, &["commit", "-m", "x"]);
    let error = app.agent("bob").fails("commit-refused", 1, &["commit", "-m", "x", "new.rs"]);
    assert!(text(&error, "message").starts_with("new.rs has uncommitted lines of claude-"), "{error}");
    let made = app.clearway().session("ada").ok(&["commit", "-m", "mine"]);
    assert_eq!(made["paths"], json!(["new.rs"]));
}

#[test]
fn a_subagents_files_are_committed_by_its_session() {
    let home = home();
    let app = app(&home);
    app.grant("bob", &["--kind", "name", "build"]);
    let mut one = Client::claude(&home, &app, "one");
    let edit = json!({"agent_id": "x", "tool_name": "Edit", "tool_input": {"file_path": "src/a.rs"}});
    one.event("PreToolUse", &edit).silent();
    app.write("src/a.rs", "changed\n");
    assert_eq!(app.clearway().session("one").ok(&["commit", "-m", "x"])["paths"], json!(["src/a.rs"]));
}

#[test]
fn what_is_named_and_nobodys_is_taken_and_what_is_with_others_is_refused_with_the_rest() {
    let home = home();
    let app = app(&home);
    app.grant("bob", &["src/b.rs"]);
    app.write("src/b.rs", "bob\n");
    app.write("loose file.txt", "somebody\n");
    let error = app.agent("ada").fails("nothing-to-commit", 1, &["commit", "-m", "x"]);
    let hint = list(&error, "hints")[0].as_str().expect("a hint").to_owned();
    assert!(hint.ends_with("clearway --agent ada commit -m x 'loose file.txt'"), "{hint}");
    let below = app.clearway_in("src").agent("ada");
    let ran = below.json(&["commit", "-m", "it's", ".", "../loose file.txt"]).expect(1);
    let error = ran.slug("commit-refused");
    assert_eq!(text(&error, "message"), "src/b.rs is with bob; nothing was committed");
    assert_eq!(status(&app), " M src/b.rs\n?? \"loose file.txt\"\n");
    let hint = list(&error, "hints")[0].as_str().expect("a hint");
    let command = hint.strip_prefix("commit the rest: ").expect("a command");
    assert!(ran.shell(&home, command).status().expect("a shell").success(), "{command}");
    assert_eq!(paths_in(&app, "HEAD"), ["loose file.txt"]);
    assert_eq!(app.git(&["log", "-1", "--format=%s"]), "it's\n");
    assert_eq!(status(&app), " M src/b.rs\n");
}

#[test]
fn the_check_of_gits_hooks_is_the_rule_of_this_commit_too() {
    let home = home();
    let app = app(&home);
    app.grant("bob", &["--broad", "--strict", "."]);
    app.write("Cargo.lock", "what everybody writes\n");
    let made = commit(&app, "ada", &["Cargo.lock"]);
    assert_eq!(made["paths"], json!(["Cargo.lock"]));
    app.write("src/a.rs", "bob\n");
    let error = app.agent("ada").fails("commit-refused", 1, &["commit", "-m", "x", "src/a.rs"]);
    assert_eq!(text(&error, "message"), "src/a.rs is with bob; nothing was committed");
}

#[test]
fn whoever_has_no_name_is_told_that_and_nothing_of_others() {
    let home = home();
    let app = app(&home);
    app.write("loose.txt", "somebody\n");
    let error = app.clearway().fails("no-identity", 2, &["commit", "-m", "x", "loose.txt"]);
    assert!(!error["hints"].to_string().contains("others commit"), "{error}");
    assert_eq!(status(&app), "?? loose.txt\n");
}

#[test]
fn a_file_that_is_gone_is_named_by_its_very_name() {
    let home = home();
    let app = home.repository("app", &[("app/[id]/page.tsx", "x\n"), ("app/i/page.tsx", "x\n")]);
    for file in ["app/[id]", "app/i"] {
        std::fs::remove_dir_all(app.path().join(file)).expect("a directory");
    }
    let made = app.clearway_in("app").agent("ada").ok(&["commit", "-m", "x", "[id]/page.tsx"]);
    assert_eq!(made["paths"], json!(["app/[id]/page.tsx"]), "what the brackets would match is not named");
}

#[test]
fn the_first_commit_a_linked_worktree_and_a_detached_head_are_committed_to() {
    let home = home();
    let young = home.directory("young");
    let script = "git init -q -b main . && git config user.name T && git config user.email t@example.org \
        && echo x > a && echo y > b && git add b";
    assert!(home.shell(&young, script).status().expect("git").success());
    let made = home.clearway(&young).agent("ada").ok(&["commit", "-m", "x", "a"]);
    assert_eq!((&made["paths"], &made["branch"]), (&json!(["a"]), &json!("main")));

    let app = app(&home);
    let linked = home.path().join("home/linked");
    app.git(&["worktree", "add", "-q", "--detach", linked.to_str().expect("text")]);
    std::fs::write(linked.join("main.rs"), "changed\n").expect("a file");
    let made = home.clearway(&linked).agent("ada").ok(&["commit", "-m", "x", "main.rs"]);
    assert_eq!((&made["paths"], &made["branch"]), (&json!(["main.rs"]), &json!(null)));
    assert_eq!(app.git(&["log", "--format=%s", text(&made, "commit")]), "x\nfirst\n");
}

#[test]
fn what_git_refuses_is_told_and_leaves_nothing_behind() {
    let home = home();
    let app = app(&home);
    app.grant("ada", &["new.rs"]);
    app.write("new.rs", "x\n");
    let hook = app.path().join(".git/hooks/pre-commit");
    std::fs::create_dir_all(hook.parent().expect("a parent")).expect("a directory");
    std::fs::write(&hook, "#!/bin/sh\necho the tests fail >&2\nenv | grep -c ^GIT_LITERAL >&2\nexit 1\n")
        .expect("a file");
    let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&hook, executable).expect("a mode");
    let error = app.agent("ada").fails("git-failed", 69, &["commit", "-m", "x"]);
    assert!(text(&error, "message").contains("the tests fail; 0"), "{error}");
    assert_eq!(status(&app), "?? new.rs\n");
    std::fs::remove_file(&hook).expect("a file");

    app.git(&["checkout", "-q", "-b", "topic"]);
    app.git(&["commit", "-q", "--allow-empty", "-m", "topic"]);
    app.git(&["checkout", "-q", "main"]);
    app.git(&["merge", "-q", "--no-ff", "--no-commit", "topic"]);
    let error = app.agent("ada").fails("git-failed", 69, &["commit", "-m", "x"]);
    assert!(
        list(&error, "hints")[0]
            .as_str()
            .expect("a hint")
            .contains("finish it, once it is resolved and staged: git commit"),
        "{error}"
    );
    assert_eq!(status(&app), "?? new.rs\n");
}

#[test]
fn bad_words_change_nothing() {
    let home = home();
    let app = app(&home);
    app.write("main.rs", "x\n");
    app.agent("ada").fails("usage", 2, &["commit"]);
    app.agent("ada").fails("usage", 2, &["commit", "-m", " "]);
    app.agent("ada").fails("outside-scope", 2, &["commit", "-m", "x", "../elsewhere"]);
    app.agent("ada").fails("nothing-to-commit", 1, &["commit", "-m", "x", "src"]);
    app.agent("ada").fails("usage", 2, &["commit", "-m", "x", "--idempotency-key", "k"]);
    home.clearway(&home.directory("plain")).agent("ada").fails("no-checkout", 2, &["commit", "-m", "x"]);
    assert_eq!(status(&app), " M main.rs\n");
    assert!(!home.state().join("scopes").exists(), "nobody was invited");
}

#[test]
fn variables_that_name_another_repository_are_not_obeyed_and_authors_are() {
    let home = home();
    let (app, other) = (app(&home), home.repository("other", &[("o", "o\n")]));
    app.grant("ada", &["src/a.rs"]);
    app.write("src/a.rs", "ada\n");
    let elsewhere = other.path().join(".git");
    let ada = app.agent("ada").env("GIT_DIR", &elsewhere).env("GIT_INDEX_FILE", elsewhere.join("index"));
    ada.env("GIT_AUTHOR_NAME", "Ada").ok(&["commit", "-m", "x"]);
    assert_eq!(app.git(&["log", "-1", "--format=%an %s"]), "Ada x\n");
    assert_eq!(other.git(&["log", "--format=%s"]), "first\n");
}

#[test]
fn a_name_at_which_nothing_is_changed_keeps_the_rest_from_being_committed_unseen() {
    let home = home();
    let app = app(&home);
    for file in ["main.rs", "loose.txt", "one.txt", "two.txt"] {
        app.write(file, "2\n");
    }
    let before = app.git(&["rev-parse", "HEAD"]);
    let words = ["commit", "-m", "x", "main.rs", "nonexist.txt"];
    let error = app.agent("ada").fails("nothing-to-commit", 1, &words);
    let said = error.to_string();
    assert!(said.contains("nothing is changed at nonexist.txt; nothing was committed"), "{said}");
    assert!(said.contains("commit -m x main.rs"), "{said}");
    assert_eq!(app.git(&["rev-parse", "HEAD"]), before);
    let odd: &std::ffi::OsStr = std::os::unix::ffi::OsStrExt::from_bytes(b"not\xffutf");
    std::fs::write(app.path().join(odd), "2\n").expect("a file");
    assert_eq!(commit(&app, "ada", &["main.rs"])["left"], json!(4), "a name that cannot be typed counts too");
}

#[test]
fn what_a_hook_that_formats_leaves_staged_is_nothing_to_commit() {
    let home = home();
    let app = app(&home);
    app.grant("ada", &["main.rs"]);
    let hook = app.path().join(".git/hooks/pre-commit");
    std::fs::create_dir_all(hook.parent().expect("a parent")).expect("a directory");
    std::fs::write(&hook, "#!/bin/sh\necho formatted > main.rs; git add main.rs\n").expect("a file");
    std::fs::set_permissions(&hook, std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("a mode");
    app.write("main.rs", "2\n");
    commit(&app, "ada", &[]);
    let error = app.agent("ada").fails("nothing-to-commit", 1, &["commit", "-m", "again"]);
    let said = error.to_string();
    assert!(said.contains("is as it was committed last"), "{said}");
    assert!(said.contains("git reset -q -- main.rs"), "{said}");
    app.git(&["reset", "-q", "--", "main.rs"]);
    assert_eq!(status(&app), "");
}

#[test]
fn a_lock_of_the_index_that_nobody_takes_away_is_named() {
    let home = home();
    let app = app(&home);
    app.grant("ada", &["main.rs"]);
    app.write("main.rs", "2\n");
    app.write(".git/index.lock", "");
    let error = app.agent("ada").fails("git-failed", 69, &["commit", "-m", "x"]);
    assert!(
        error.to_string().contains("index.lock") && error.to_string().contains("removes the file"),
        "{error}"
    );
    std::fs::remove_file(app.path().join(".git/index.lock")).expect("a file");
    commit(&app, "ada", &[]);
}
