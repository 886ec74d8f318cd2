//! `init --git-hooks`: ours stand in front of what is there, and go without a trace.

use super::stage::{Stage, Who, said};
use crate::{home, list, text};
use clearway_testkit::Files;
use std::os::unix::fs::PermissionsExt;

const ADA: Who = Who::Agent("ada");
/// A git that has no hooks in its configuration.
const OLDER: &str = "2.53.0";
/// One that has.
const NEWER: &str = "2.54.0";

fn stage<'h>(home: &'h clearway_testkit::Home) -> Stage<'h> {
    let repository = home.repository("app", &[("held.txt", "1\n"), ("own.txt", "1\n")]);
    Stage { home, root: repository.path().to_owned() }
}

fn script(stage: &Stage<'_>, name: &str, text: &str) {
    let path = stage.root.join(".git/hooks").join(name);
    stage.write(&format!(".git/hooks/{name}"), text);
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).expect("a mode");
}

fn init(stage: &Stage<'_>, words: &[&str]) {
    stage.beside_git(OLDER).run(&[&["init", "-y"], words].concat()).expect(0);
}

#[test]
fn a_hook_that_is_there_runs_first_and_comes_back_byte_by_byte() {
    let home = home();
    let stage = stage(&home);
    script(&stage, "prepare-commit-msg", "#!/bin/sh\necho \"first $2\" >> ran\ntest ! -e refuse\n");
    script(&stage, "pre-push", "#!/bin/sh\ncat > pushed\n");
    let before = Files::below(&stage.root.join(".git/hooks"));
    for _ in 0..2 {
        init(&stage, &["--git-hooks"]);
    }
    stage.grant("bob", &["held.txt"]);
    let refused = stage.types(ADA, "echo 2 > held.txt; git commit -q -a -m x");
    assert!(
        !refused.status.success() && said(&refused).contains("error[commit-refused]"),
        "{}",
        said(&refused)
    );
    assert_eq!(std::fs::read_to_string(stage.root.join("ran")).expect("it ran"), "first message\n");
    stage.write("refuse", "");
    assert!(!stage.types(Who::Person, "git commit -q -a -m x").status.success(), "the other hook refuses");
    std::fs::remove_file(stage.root.join("refuse")).expect("a file");
    assert!(stage.types(Who::Person, "git commit -q -a -m x").status.success());
    let remote = home.directory("remote.git");
    stage.git(&format!("git init -q --bare -b main {0} && git push -q {0} main", remote.display()));
    assert!(
        std::fs::read_to_string(stage.root.join("pushed")).expect("it ran").starts_with("refs/heads/main ")
    );
    let healthy = stage.beside_git(OLDER).run(&["doctor"]).stdout();
    assert!(healthy.contains("git calls us before commits, rebases and pushes"), "{healthy}");
    init(&stage, &["--uninstall"]);
    assert_eq!(Files::below(&stage.root.join(".git/hooks")), before);
}

#[test]
fn without_hooks_before_there_are_none_after() {
    let home = home();
    let stage = stage(&home);
    let before = Files::below(&stage.root.join(".git"));
    init(&stage, &["--git-hooks"]);
    assert_ne!(Files::below(&stage.root.join(".git")), before);
    init(&stage, &["--uninstall"]);
    assert_eq!(Files::below(&stage.root.join(".git")), before);
}

#[test]
fn a_program_that_is_gone_locks_nobody_out_unless_nobody_watches() {
    let home = home();
    let stage = stage(&home);
    for (words, passes) in [(["--git-hooks"].as_slice(), true), (&["--git-hooks", "--unattended"], false)] {
        init(&stage, words);
        let hook = stage.root.join(".git/hooks/prepare-commit-msg");
        let text = std::fs::read_to_string(&hook).expect("a hook");
        let gone =
            text.lines().map(|line| line.replace(&home.binary().display().to_string(), "/nowhere/clearway"));
        std::fs::write(&hook, gone.collect::<Vec<_>>().join("\n") + "\n").expect("a file");
        let committed = stage.types(ADA, "git commit -q --allow-empty -m x");
        assert_eq!(committed.status.success(), passes, "{}", said(&committed));
        assert!(said(&committed).contains("prepare-commit-msg checked nothing, for the program is gone"));
    }
}

#[test]
fn a_hook_that_lost_its_mode_or_was_replaced_is_named_and_another_place_is_left_alone() {
    let home = home();
    let stage = stage(&home);
    script(&stage, "post-commit", "#!/bin/sh\n");
    init(&stage, &["--git-hooks"]);
    let hooks = stage.root.join(".git/hooks");
    let plain = std::fs::Permissions::from_mode(0o644);
    std::fs::set_permissions(hooks.join("pre-rebase"), plain).expect("a mode");
    stage.write(".git/hooks/post-commit", "#!/bin/sh\necho mine\n");
    let error = stage.beside_git(OLDER).fails("unhealthy", 1, &["doctor"]);
    let checks = list(&error["details"], "checks");
    let said: Vec<&str> = checks.iter().map(|check| text(check, "text")).collect();
    for expect in ["pre-rebase cannot be run", "post-commit was replaced"] {
        assert!(said.iter().any(|text| text.contains(expect)), "{expect}: {said:?}");
    }
    init(&stage, &["--git-hooks"]);
    stage.beside_git(OLDER).ok(&["doctor"]);

    stage.git("git config core.hooksPath team-hooks");
    let ran = stage.beside_git(OLDER).run(&["init", "-y", "--git-hooks"]).expect(78);
    assert!(ran.stdout().contains("core.hooksPath leads git to"), "{}", ran.stdout());
    assert!(!stage.root.join("team-hooks").exists());
    let error = stage.beside_git(OLDER).fails("unhealthy", 1, &["doctor"]);
    let passed_over =
        |check: &serde_json::Value| text(check, "text").contains("hooks is passed over: core.hooksPath");
    assert!(list(&error["details"], "checks").iter().any(passed_over), "{error}");
    init(&stage, &["--uninstall"]);
    assert!(!hooks.join("pre-rebase").exists() && !hooks.join("post-commit.before-clearway").exists());
}

/// The pre-commit framework moves a hook that it finds to `NAME.legacy`, and runs that before its own.
#[test]
fn a_hook_of_ours_that_another_runs_is_in_order_and_is_taken_away() {
    let home = home();
    let stage = stage(&home);
    init(&stage, &["--git-hooks"]);
    stage.git("cd .git/hooks && mv prepare-commit-msg prepare-commit-msg.legacy");
    script(&stage, "prepare-commit-msg", "#!/bin/sh\n\"$0.legacy\" \"$@\" || exit $?\necho theirs >> ran\n");
    stage.grant("bob", &["held.txt"]);
    stage.beside_git(OLDER).ok(&["doctor"]);
    init(&stage, &["--git-hooks"]);
    assert!(!stage.root.join(".git/hooks/prepare-commit-msg.before-clearway").exists());
    assert!(!stage.types(ADA, "echo 2 > held.txt; git commit -q -a -m x").status.success());
    stage.git("rm .git/hooks/prepare-commit-msg.legacy; git checkout -q held.txt");
    init(&stage, &["--git-hooks"]);
    stage.git("cd .git/hooks && mv prepare-commit-msg prepare-commit-msg.legacy && mv prepare-commit-msg.before-clearway prepare-commit-msg");
    init(&stage, &["--uninstall"]);
    let left = stage.git("ls .git/hooks");
    assert_eq!(
        left.lines().filter(|name| !name.ends_with(".sample")).collect::<Vec<_>>(),
        ["prepare-commit-msg"]
    );
}

/// What git 2.54 does with such a section: the command is a line of shell, and what the hook is told follows it.
fn as_git_runs_it(stage: &Stage<'_>, who: Who, name: &str, words: &str) -> std::process::Output {
    let line = format!(
        "command=$(git config hook.clearway-{name}.command); sh -c \"$command \\\"\\$@\\\"\" \"$command\" {words}"
    );
    stage.types(who, &line)
}

#[test]
fn a_newer_git_has_them_in_its_configuration_and_no_directory_of_hooks_is_touched() {
    let home = home();
    let stage = stage(&home);
    script(&stage, "prepare-commit-msg", "#!/bin/sh\n");
    stage.git("git config core.hooksPath team-hooks");
    let (hooks, config) = (stage.root.join(".git/hooks"), stage.root.join(".git/config"));
    let (before, text_before) = (Files::below(&hooks), std::fs::read_to_string(&config).expect("text"));
    for _ in 0..2 {
        stage.beside_git(NEWER).run(&["init", "-y", "--git-hooks"]).expect(0);
    }
    assert_eq!(Files::below(&hooks), before);
    assert!(!stage.root.join("team-hooks").exists());
    assert_eq!(stage.git("git config core.hooksPath"), "team-hooks\n");
    let events = stage.git("git config --get-regexp '^hook\\.clearway-.*\\.event$'");
    let events: Vec<&str> = events.lines().filter_map(|line| line.split(' ').nth(1)).collect();
    assert_eq!(events, ["prepare-commit-msg", "post-commit", "pre-rebase", "pre-push"]);
    let healthy = stage.beside_git(NEWER).run(&["doctor"]).expect(0).stdout();
    assert!(healthy.contains("git calls us before commits"), "{healthy}");

    stage.grant("bob", &["held.txt"]);
    stage.git("echo 2 > held.txt; echo 2 > own.txt; git add -A; echo part > .git/COMMIT_EDITMSG");
    let refused = as_git_runs_it(&stage, ADA, "prepare-commit-msg", ".git/COMMIT_EDITMSG message");
    assert!(
        !refused.status.success() && said(&refused).contains("held.txt is with bob"),
        "{}",
        said(&refused)
    );
    assert!(as_git_runs_it(&stage, ADA, "post-commit", "").status.success());

    // An older git passes them over, which is said, and put right by installing again; so is one that is switched off.
    let error = stage.beside_git(OLDER).fails("unhealthy", 1, &["doctor"]);
    let is_said = |error: &serde_json::Value, expect: &str| {
        list(&error["details"], "checks").iter().any(|check| text(check, "text").contains(expect))
    };
    assert!(is_said(&error, "hooks of ours that this git does not know"), "{error}");
    stage.git("git config hook.clearway-pre-push.enabled false");
    let error = stage.beside_git(NEWER).fails("unhealthy", 1, &["doctor"]);
    assert!(is_said(&error, "switches a hook of ours off"), "{error}");
    stage.beside_git(NEWER).run(&["init", "-y", "--git-hooks"]).expect(0);
    stage.beside_git(NEWER).ok(&["doctor"]);
    stage.git("git config --unset core.hooksPath; git config core.hooksPath team-hooks");
    stage.beside_git(NEWER).run(&["init", "-y", "--uninstall"]).expect(0);
    assert_eq!(std::fs::read_to_string(&config).expect("text"), text_before);
}

#[test]
fn a_hook_of_the_configuration_whose_program_is_gone_locks_nobody_out_and_a_lock_of_git_is_respected() {
    let home = home();
    let stage = stage(&home);
    for (words, passes) in [(["--git-hooks"].as_slice(), true), (&["--git-hooks", "--unattended"], false)] {
        stage.beside_git(NEWER).run(&[&["init", "-y"], words].concat()).expect(0);
        let binary = home.binary().display().to_string();
        let path = stage.root.join(".git/config");
        let gone = std::fs::read_to_string(&path).expect("text").replace(&binary, "/nowhere/clearway");
        std::fs::write(&path, gone).expect("a file");
        let ran = as_git_runs_it(&stage, ADA, "prepare-commit-msg", ".git/COMMIT_EDITMSG");
        assert_eq!(ran.status.success(), passes, "{}", said(&ran));
        assert!(
            said(&ran).contains("prepare-commit-msg checked nothing, for the program is gone"),
            "{}",
            said(&ran)
        );
    }
    stage.write(".git/config.lock", "");
    let before = Files::below(&stage.root.join(".git"));
    let ran = stage.beside_git(NEWER).run(&["init", "-y", "--git-hooks"]);
    assert!(ran.stdout().contains("config.lock"), "{}", ran.stdout());
    assert_eq!(Files::below(&stage.root.join(".git")), before);
}

#[test]
fn a_hook_that_looks_at_its_own_name_finds_the_one_it_had() {
    for shell in ["#!/bin/sh", "#!/usr/bin/env bash"] {
        let home = home();
        let stage =
            Stage { home: &home, root: home.repository("app", &[("own.txt", "1\n")]).path().to_owned() };
        let script = format!(
            "{shell}\ncase $(basename \"$0\") in prepare-commit-msg) echo \"$# $1\" > ran;; post-commit) ;; *) exit 1;; esac\n"
        );
        let hooks = stage.root.join(".git/hooks");
        std::fs::create_dir_all(&hooks).expect("a directory");
        std::fs::write(hooks.join("_run"), script).expect("a file");
        let mode = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(hooks.join("_run"), mode).expect("a mode");
        for name in ["prepare-commit-msg", "post-commit", "pre-push", "pre-rebase"] {
            std::os::unix::fs::symlink("_run", hooks.join(name)).expect("a link");
        }
        stage.beside_git(OLDER).run(&["init", "--git-hooks", "-y"]).expect(0);
        let made = stage.types(Who::Person, "echo 2 > own.txt; git commit -q -a -m 'two words'");
        assert!(made.status.success(), "{shell}: {}", String::from_utf8_lossy(&made.stderr));
        assert_eq!(
            std::fs::read_to_string(stage.root.join("ran")).expect("it ran"),
            "2 .git/COMMIT_EDITMSG\n"
        );
    }
}

#[test]
fn a_hook_whose_program_is_gone_is_named() {
    let home = home();
    let stage = stage(&home);
    init(&stage, &["--git-hooks"]);
    let hook = stage.root.join(".git/hooks/post-commit");
    let text = std::fs::read_to_string(&hook).expect("a hook");
    let line = text.lines().find(|line| line.contains(" git-hook ")).expect("a line");
    let program =
        line.strip_prefix("if test -x ").and_then(|rest| rest.split(';').next()).expect("a program");
    std::fs::write(&hook, text.replace(program, "/nowhere/clearway")).expect("a hook");
    let error = stage.beside_git(OLDER).fails("unhealthy", 1, &["doctor"]);
    assert!(error.to_string().contains("would run a program that is gone"), "{error}");
    init(&stage, &["--git-hooks"]);
    stage.beside_git(OLDER).ok(&["doctor"]);
}
