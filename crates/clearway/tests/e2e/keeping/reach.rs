//! How far commands reach: what goes with what is kept, what may not go at all, and whose files come back over whose.

use super::commands::{invite, runs};
use super::{checkout, status};
use crate::{app, home, list, text};
use clearway_testkit::{Client, Home, Repository};

fn read(repository: &Repository<'_>, file: &str) -> String {
    std::fs::read_to_string(repository.path().join(file)).unwrap_or_default()
}

/// An agent that runs a command over one changed file, and undoes it.
fn undone(home: &Home, command: &str) {
    let app = app(home);
    invite(&app);
    app.write("src/a.rs", "mine\n");
    let (before, said) = (checkout(app.path()), status(&app));
    let mut ada = Client::claude(home, &app, "ada");
    let told = runs(&mut ada, home, &app, command).told();
    assert!(told.contains("kept as s"), "{command}: {told}");
    assert_ne!(checkout(app.path()), before, "{command}");
    app.agent("bob").ok(&["undo", "-y"]);
    assert_eq!(checkout(app.path()), before, "{command}");
    assert_eq!(status(&app), said, "{command}");
}

#[test]
fn files_that_were_as_committed_come_back_with_the_others_and_so_does_the_index() {
    for command in [
        "rm -rf src",
        "cd src && rm -rf *",
        "mv src/b.rs src/a.rs",
        "git rm -qf src/a.rs",
        "git rm -rfq src",
        "mv src/a.rs src/b.rs",
        "git mv -f src/b.rs src/a.rs",
    ] {
        undone(&home(), command);
    }
}

#[test]
fn what_a_move_left_as_committed_comes_back_and_what_it_made_stays() {
    let home = home();
    let app = app(&home);
    invite(&app);
    app.write("src/a.rs", "mine\n");
    let mut ada = Client::claude(&home, &app, "ada");
    runs(&mut ada, &home, &app, "git mv src lib").told();
    app.agent("bob").ok(&["undo", "-y"]);
    let there = |file: &str| (file.to_owned(), read(&app, file));
    assert_eq!(there("src/a.rs"), ("src/a.rs".to_owned(), "mine\n".to_owned()));
    assert_eq!(there("src/b.rs"), ("src/b.rs".to_owned(), "b\n".to_owned()));
    let said = app.git(&["status", "--porcelain"]);
    assert!(!said.contains("D  src") && said.contains(" M src/a.rs"), "{said}");
}

#[test]
fn what_somebody_commits_over_a_file_that_a_move_wrote_over_stays() {
    let home = home();
    let app = app(&home);
    invite(&app);
    app.write("src/a.rs", "mine\n");
    let mut ada = Client::claude(&home, &app, "ada");
    runs(&mut ada, &home, &app, "mv src/a.rs src/b.rs").told();
    app.write("src/b.rs", "somebody's work since\n");
    app.agent("bob").ok(&["undo", "-y"]);
    let said = (read(&app, "src/a.rs"), read(&app, "src/b.rs"));
    assert_eq!(said, ("mine\n".to_owned(), "somebody's work since\n".to_owned()));
}

/// A path of a checkout as a shell tells it from its home.
fn from_home(home: &Home, app: &Repository<'_>, rest: &str) -> String {
    let from = app.path().strip_prefix(home.path()).expect("beside the home");
    format!("~/../{}{rest}", from.display())
}

#[test]
fn a_home_means_what_it_means_to_a_shell_wherever_the_command_stands() {
    let home = home();
    let app = app(&home);
    invite(&app);
    app.write("src/a.rs", "mine\n");
    let (whole, src) = (from_home(&home, &app, ""), from_home(&home, &app, "/src"));
    let mut ada = Client::claude(&home, &app, "ada");
    let spelled = |path: &str| path.replacen('~', "$HOME", 1);
    for command in [
        format!("rm -rf {whole}"),
        format!("rm -rf {}/.git", spelled(&whole)),
        format!("cd /tmp && rm -rf {whole}"),
        format!("D={whole}; rm -rf $D/.git"),
        format!("find {whole} -delete"),
        format!("rm -rf $UNSET{}/.git", app.path().display()),
        "rm -rf \"$REPOSITORY/.git\"".to_owned(),
    ] {
        let reason = runs(&mut ada, &home, &app, &command).denied();
        assert!(reason.contains("kept and committed"), "{command}: {reason}");
    }
    for command in [
        format!("cd /tmp; rm -rf {src}"),
        format!("cd /; rm -rf {}", spelled(&src)),
        format!("git -C {whole} checkout -q ."),
        format!("cd /tmp; git -C {} checkout -q .", spelled(&whole)),
        format!("git checkout -q {src}"),
        format!("cd /tmp; git --git-dir={0}/.git --work-tree={0} checkout -q .", spelled(&whole)),
        format!("bash -c 'rm {src}/{{a,b}}.rs'"),
    ] {
        app.write("src/a.rs", "mine\n");
        let told = runs(&mut ada, &home, &app, &command).told();
        assert!(told.contains("kept as s") && read(&app, "src/a.rs") != "mine\n", "{command}: {told}");
        app.agent("bob").ok(&["undo", "-y"]);
        assert_eq!(read(&app, "src/a.rs"), "mine\n", "{command}");
    }
}

#[test]
fn files_that_only_a_shell_can_name_are_kept_before_a_checkout_of_them() {
    for command in [
        "git checkout -q $(git ls-files -m)",
        "git checkout -q `git ls-files -m`",
        "git ls-files -m | while read f; do git checkout -q $f; done",
        "F=$(git ls-files -m); git checkout -q $F",
    ] {
        undone(&home(), command);
    }
}

#[test]
fn nothing_is_promised_of_what_may_go_with_the_repository() {
    let home = home();
    let app = app(&home);
    invite(&app);
    app.write("src/a.rs", "mine\n");
    let mut ada = Client::claude(&home, &app, "ada");
    let told = runs(&mut ada, &home, &app, "D=$(echo src); rm -rf $D").told();
    assert!(told.contains("brings it back, unless the repository itself goes"), "{told}");
}

#[test]
fn commands_are_known_however_they_are_spelled() {
    for command in [
        "/bin/rm -rf src",
        "git reset -q --hard \"$(git rev-parse HEAD)\"",
        "rm -rf \"$PWD/src\"",
        "git checkout -q -- ':/src'",
        "(cd src && rm -f a.rs)",
        "echo src | xargs rm -rf",
        "git diff --name-only | xargs git restore",
        "git diff --name-only | xargs git checkout -q --",
        "true && (cd src && ls) > /dev/null && git reset -q --hard",
    ] {
        undone(&home(), command);
    }
}

#[test]
fn what_was_deleted_since_by_somebody_else_stays_deleted() {
    let home = home();
    let app = app(&home);
    invite(&app);
    app.write("src/a.rs", "mine\n");
    let mut ada = Client::claude(&home, &app, "ada");
    runs(&mut ada, &home, &app, "git checkout -- .").told();
    std::fs::remove_file(app.path().join("src/b.rs")).expect("a person removes it");
    app.agent("bob").ok(&["undo", "-y"]);
    assert_eq!((read(&app, "src/a.rs"), read(&app, "src/b.rs")), ("mine\n".to_owned(), String::new()));
}

#[test]
fn what_holds_everything_that_is_kept_is_removed_by_no_agent() {
    let home = home();
    let app = app(&home);
    invite(&app);
    app.write("src/a.rs", "mine\n");
    let mut ada = Client::claude(&home, &app, "ada");
    let root = app.path().display();
    for command in [
        "rm -rf .git",
        "cd .. && rm -rf app",
        &format!("rm -rf {root}"),
        "rm -fr .git/objects",
        "rm -rf \"$PWD\"",
        "rm -rf $(pwd)",
        "cd src; rm -rf -- \"$(git rev-parse --show-toplevel)\"",
        "cd src && rm -rf \"$(git rev-parse --show-toplevel)/.git\"",
        "cd src; cd \"$(git rev-parse --show-toplevel)\" && rm -rf .git",
        &format!("D={root}; rm -rf $D/.git"),
    ] {
        let reason = runs(&mut ada, &home, &app, command).denied();
        assert!(
            reason.contains("it would remove") && reason.contains("a person removes"),
            "{command}: {reason}"
        );
    }
    assert!(app.path().join(".git/HEAD").exists());
}

#[test]
fn where_nobody_can_tell_where_a_command_runs_what_is_here_is_kept_first() {
    for (command, is_refused) in [
        ("cd \"$(git rev-parse --show-toplevel)\" && git reset --hard", true),
        ("cd \"$PWD\" && git stash", true),
        ("R=$(pwd); cd $R; git checkout -- src/a.rs", true),
        ("cd ./src && cd \"$PWD\" && git checkout -- a.rs", true),
        ("cd docs && cd \"$(git rev-parse --show-toplevel)\" && git checkout -- src/a.rs", true),
        ("cd \"$(git rev-parse --show-toplevel)/src\" && git checkout -- a.rs", true),
        ("git -C \"$(git rev-parse --show-toplevel)\" reset --hard", true),
        ("out=$(git stash 2>&1); echo $out", true),
        ("/usr/bin/git reset --hard", true),
        ("D=$(dirname src/a.rs); cd $D && git checkout -- a.rs", false),
        ("cd - ; git reset --hard", false),
        ("GIT_DIR=.git git reset --hard", false),
        ("find src -name a.rs -exec git checkout -- {} \\;", false),
    ] {
        let home = home();
        let app = app(&home);
        invite(&app);
        let (mut ada, mut bob) = (Client::claude(&home, &app, "ada"), Client::claude(&home, &app, "bob"));
        ada.before_edit("src/a.rs").silent();
        app.write("src/a.rs", "ada's\n");
        ada.after_edit("src/a.rs").silent();
        let fields = serde_json::json!({"tool_name": "Bash", "tool_input": {"command": command}});
        let answer = bob.event("PreToolUse", &fields);
        if is_refused {
            assert!(answer.denied().contains("not run"), "{command}");
        } else {
            assert!(answer.told().contains("kept as s"), "{command}");
        }
    }
}

#[test]
fn a_command_runs_where_its_client_says_that_it_does() {
    let home = home();
    let app = app(&home);
    invite(&app);
    let mut ada = Client::claude(&home, &app, "ada");
    ada.before_edit("src/a.rs").silent();
    app.write("src/a.rs", "ada's\n");
    ada.after_edit("src/a.rs").silent();
    for (client, tool, event, field) in [
        ("gemini", "run_shell_command", "BeforeTool", "dir_path"),
        ("codex", "Bash", "PreToolUse", "workdir"),
        ("cursor", "Shell", "preToolUse", "working_directory"),
    ] {
        for place in ["src".to_owned(), app.path().join("src").display().to_string()] {
            let mut payload = serde_json::json!({
                "cwd": app.path(), "hook_event_name": event, "tool_name": tool,
                "tool_input": {"command": "git checkout -- a.rs", field: place},
            });
            let marks: &[&str] = match client {
                "gemini" => &["session_id", "timestamp"],
                "codex" => &["session_id", "turn_id", "model"],
                _ => &["conversation_id", "cursor_version"],
            };
            marks.iter().for_each(|mark| payload[*mark] = client.into());
            let ran = app.clearway().run_with(payload.to_string().as_bytes(), &["hook", client]);
            let said = format!("{}{}", ran.stdout(), ran.stderr());
            assert!(said.contains("not run") && said.contains("src/a.rs"), "{client} {place}: {said}");
        }
    }
}

#[test]
fn what_git_leaves_behind_in_its_directory_is_removed_by_whoever_likes() {
    let home = home();
    let app = app(&home);
    invite(&app);
    let mut ada = Client::claude(&home, &app, "ada");
    for name in ["rebase-merge", "index.lock"] {
        let left = app.path().join(".git").join(name);
        std::fs::create_dir(&left).expect("a directory");
        assert_eq!(runs(&mut ada, &home, &app, &format!("rm -fr .git/{name}")).code, 0, "{name}");
        assert!(!left.exists(), "{name}");
    }
}

#[test]
fn a_checkout_that_is_removed_by_force_is_kept_first() {
    let home = home();
    let app = app(&home);
    invite(&app);
    let linked = app.path().with_file_name("linked");
    app.git(&["worktree", "add", "-q", &linked.display().to_string()]);
    std::fs::write(linked.join("src/a.rs"), "precious\n").expect("a file");
    let mut ada = Client::claude(&home, &app, "ada");
    let told = runs(&mut ada, &home, &app, "git worktree remove --force ../linked").told();
    assert!(told.contains("kept as s") && !linked.exists(), "{told}");
    let taken = app.clearway().ok(&["snapshots"]);
    assert_eq!(text(&list(&taken, "snapshots")[0], "worktree"), linked.display().to_string());
}

#[test]
fn an_agent_restores_nothing_over_what_another_holds_and_has_changed() {
    let home = home();
    let app = app(&home);
    invite(&app);
    app.write("src/a.rs", "first\n");
    let number = crate::number(&app.agent("ada").ok(&["snapshot"]), "snapshot").to_string();
    app.grant("bob", &["src/a.rs"]);
    app.write("src/a.rs", "bob's\n");
    let error = app.agent("ada").fails("reservation-held", 1, &["restore", &number, "src/a.rs"]);
    assert!(error.to_string().contains("bob"), "{error}");
    assert_eq!(read(&app, "src/a.rs"), "bob's\n");
    // Its holder may, and so may anybody once it is given back.
    app.agent("bob").ok(&["restore", &number, "src/a.rs"]);
    app.write("src/a.rs", "bob's\n");
    app.agent("bob").ok(&["release", "--all"]);
    app.agent("ada").ok(&["restore", &number, "src/a.rs"]);
    assert_eq!(read(&app, "src/a.rs"), "first\n");
}

#[test]
fn a_path_that_names_nothing_is_not_told_that_all_is_well() {
    let home = home();
    let app = app(&home);
    app.write("src/a.rs", "mine\n");
    let number = crate::number(&app.agent("ada").ok(&["snapshot"]), "snapshot").to_string();
    let said = app.agent("ada").text(&["snapshot", "nosuch"]);
    assert_eq!(said, "nothing to keep: nothing is uncommitted at nosuch\n");
    assert_eq!(app.agent("ada").text(&["diff", "nosuch"]), "nothing is uncommitted at nosuch\n");
    app.agent("ada").fails("not-found", 5, &["restore", &number, "src/a.rss"]);
    assert!(app.agent("ada").text(&["snapshot", "src/*"]).contains("1 file"), "a pattern is one here too");
    app.agent("ada").ok(&["restore", &number, "src/*"]);
}

#[test]
fn a_command_that_destroyed_nothing_does_not_hide_the_one_that_did() {
    let home = home();
    let app = app(&home);
    invite(&app);
    app.write("src/a.rs", "precious\n");
    let mut ada = Client::claude(&home, &app, "ada");
    runs(&mut ada, &home, &app, "rm -rf src").told();
    runs(&mut ada, &home, &app, "rm -f src/a.rs");
    let said = app.agent("bob").text(&["undo", "-y"]);
    assert!(
        said.contains("before it has ") && said.contains(" to bring back: clearway --agent bob undo s"),
        "{said}"
    );
}

#[test]
fn a_clean_takes_no_repository_inside_along_that_has_changes_of_its_own() {
    let home = home();
    let app = app(&home);
    invite(&app);
    app.write(".git/info/exclude", "cache/\n");
    let inside = |name: &str| {
        let nested = app.path().join(name);
        app.git(&["init", "-q", &nested.display().to_string()]);
        std::fs::write(nested.join("work"), "work\n").expect("a file");
        nested
    };
    let (nested, cached) = (inside("d/nested"), inside("cache/nested"));
    let mut ada = Client::claude(&home, &app, "ada");
    for command in [
        "git clean -ffd",
        "git clean -ff -d .",
        "cd docs && git clean -ffd ..",
        "git clean -f -f d",
        "git -C d clean -ffd",
    ] {
        let reason = runs(&mut ada, &home, &app, command).denied();
        assert!(reason.contains("d/nested is a repository of its own"), "{command}: {reason}");
    }
    assert_eq!(runs(&mut ada, &home, &app, "git clean -fd && git clean -nffd").code, 0);
    std::fs::remove_file(nested.join("work")).expect("gone");
    let reason = runs(&mut ada, &home, &app, "git clean -ffdx").denied();
    assert!(reason.contains("cache/nested is a repository of its own"), "{reason}");
    assert_eq!(runs(&mut ada, &home, &app, "git clean -ffd").code, 0, "there is nothing to lose");
    assert!(!nested.exists() && cached.join("work").exists());
}

#[test]
fn of_many_repositories_inside_each_is_looked_at() {
    let home = home();
    let app = app(&home);
    invite(&app);
    for number in 0..12 {
        app.git(&["init", "-q", &app.path().join(format!("d/{number}")).display().to_string()]);
        app.write(&format!("d/{number}/work"), "work\n");
        let mut ada = Client::claude(&home, &app, &format!("ada-{number}"));
        for command in ["rm -rf d", "git clean -ffd"] {
            assert!(runs(&mut ada, &home, &app, command).denied().contains("of its own"), "{command}");
        }
        std::fs::remove_file(app.path().join(format!("d/{number}/work"))).expect("gone");
    }
}

#[test]
fn a_clean_that_leaves_submodules_alone_is_let_through() {
    let home = home();
    let (app, inner) = (app(&home), home.repository("inner", &[("a", "a\n")]));
    invite(&app);
    let place = inner.path().display().to_string();
    app.git(&["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", &place, "sub"]);
    app.git(&["commit", "-qm", "a submodule"]);
    app.write("sub/work", "work\n");
    let mut ada = Client::claude(&home, &app, "ada");
    assert_eq!(runs(&mut ada, &home, &app, "git clean -ffd").code, 0);
    assert!(app.path().join("sub/work").exists());
}

#[test]
fn a_repository_inside_with_changes_of_its_own_is_not_removed_with_the_rest() {
    let home = home();
    let app = app(&home);
    invite(&app);
    let nested = app.path().join("d/nested");
    app.git(&["init", "-q", &nested.display().to_string()]);
    std::fs::write(nested.join("n"), "work\n").expect("a file");
    let mut ada = Client::claude(&home, &app, "ada");
    for command in ["rm -rf d", "rm -rf d/nested"] {
        let reason = runs(&mut ada, &home, &app, command).denied();
        assert!(
            reason.contains("is a repository of its own, with changes of its own"),
            "{command}: {reason}"
        );
    }
    std::fs::remove_file(nested.join("n")).expect("gone");
    assert_eq!(runs(&mut ada, &home, &app, "rm -rf d").code, 0, "there is nothing to lose");
}
