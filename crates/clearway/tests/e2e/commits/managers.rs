//! Managers of git hooks as npm and PyPI have them, beside ours: whoever was there first, both run, either may refuse, and
//! what a manager writes over is noticed and mended.

use super::stage::{Stage, Who, said};
use crate::{home, list, text};
use clearway_clients::Managers;
use clearway_testkit::{Files, Home};
use serde_json::{Value, json};

const ADA: Who = Who::Agent("ada");
/// A git that has no hooks in its configuration.
const OLDER: &str = "2.53.0";

/// A manager that writes into git's own directory of hooks.
struct Manager {
    name: &'static str,
    /// What it is told, in which file.
    settings: (&'static str, &'static str),
    install: fn(&Managers) -> String,
    /// Whether it runs what it finds in the place of its hooks.
    keeps_others: bool,
}

const MANAGERS: [Manager; 2] = [
    Manager {
        name: "lefthook",
        settings: (
            "lefthook.yml",
            "pre-commit:\n  jobs:\n    - run: echo theirs >> ../ran && test ! -e ../refuse\n\
             prepare-commit-msg:\n  jobs:\n    - run: echo prepared >> ../ran\n",
        ),
        install: |managers| format!("{} install", managers.lefthook().display()),
        keeps_others: false,
    },
    Manager {
        name: "pre-commit",
        settings: (
            ".pre-commit-config.yaml",
            "repos:\n- repo: local\n  hooks:\n  - id: theirs\n    name: theirs\n    language: system\n    \
             entry: sh -c \"echo theirs >> ../ran && test ! -e ../refuse\"\n    pass_filenames: false\n    \
             always_run: true\n    stages: [pre-commit, prepare-commit-msg]\n",
        ),
        install: |managers| {
            format!("{} install -t pre-commit -t prepare-commit-msg", managers.pre_commit().display())
        },
        keeps_others: true,
    },
];

fn managers() -> Managers {
    clearway_clients::managers().expect("managers of hooks")
}

fn stage<'h>(home: &'h Home, settings: &[(&str, &str)]) -> Stage<'h> {
    let files = [&[("held.txt", "1\n"), ("own.txt", "1\n")], settings].concat();
    let stage = Stage { home, root: home.repository("app", &files).path().to_owned() };
    stage.grant("eve", &["--kind", "name", "build"]);
    stage
}

fn init(stage: &Stage<'_>, words: &[&str]) {
    stage.beside_git(OLDER).run(&[&["init", "-y"], words].concat()).expect(0);
}

/// What `doctor` says of git, if it is wrong.
fn faults(stage: &Stage<'_>) -> Vec<String> {
    let ran = stage.beside_git(OLDER).json(&["doctor"]);
    let answer: Value = ran.value();
    let checks = if answer["ok"] == json!(true) {
        list(&answer, "checks")
    } else {
        list(&answer["error"]["details"], "checks")
    };
    let is_wrong = |check: &&Value| text(check, "about") == "git" && text(check, "status") == "wrong";
    checks.iter().filter(is_wrong).map(|check| text(check, "text").to_owned()).collect()
}

/// What an agent hears that begins here.
fn told_at_start(stage: &Stage<'_>, session: &str) -> String {
    let payload = json!({"session_id": session, "cwd": stage.root, "hook_event_name": "SessionStart", "source": "startup"});
    let ran = stage.beside_git(OLDER).run_with(payload.to_string().as_bytes(), &["hook", "claude"]);
    ran.expect(0).stdout()
}

/// Both have a say in every commit, and ours is not passed over by `--no-verify`.
#[track_caller]
fn both_run(stage: &Stage<'_>, at: &str) {
    let outside = stage.root.parent().expect("a directory").to_owned();
    let ran = || std::fs::read_to_string(outside.join("ran")).unwrap_or_default().lines().count();
    let before = (stage.head(), ran());
    let passed = stage.types(ADA, "echo $$ >> own.txt; git commit -q -m part --only own.txt");
    assert!(passed.status.success(), "{at}: {}", said(&passed));
    assert!(stage.head() != before.0 && ran() > before.1, "{at}: theirs did not run");
    std::fs::write(outside.join("refuse"), "").expect("a file");
    let refused = stage.types(ADA, "echo $$ >> own.txt; git commit -q -m part --only own.txt");
    assert!(!refused.status.success() && !said(&refused).contains("clearway"), "{at}: {}", said(&refused));
    std::fs::remove_file(outside.join("refuse")).expect("a file");
    for line in ["git commit -q -a -m part", "git commit -q --no-verify -a -m part"] {
        let before = stage.head();
        let refused = stage.types(ADA, &format!("echo $$ >> held.txt; {line}"));
        assert!(!refused.status.success() && stage.head() == before, "{at}: {line}");
        assert!(said(&refused).contains("held.txt is with bob"), "{at}: {line}: {}", said(&refused));
    }
    stage.git("git checkout -q HEAD -- held.txt own.txt");
}

#[test]
fn whoever_was_there_first_both_run_and_ours_goes_without_a_trace() {
    let managers = managers();
    for manager in &MANAGERS {
        let mut theirs_alone = None;
        for ours_first in [false, true] {
            let at = format!("{} / ours first: {ours_first}", manager.name);
            let home = home();
            let stage = stage(&home, &[manager.settings]);
            stage.grant("bob", &["held.txt"]);
            if ours_first {
                init(&stage, &["--git-hooks"]);
            }
            stage.git(&(manager.install)(&managers));
            let hooks = stage.root.join(".git/hooks");
            let theirs_alone = theirs_alone.get_or_insert_with(|| relative(&hooks));
            let is_noticed = ours_first && !manager.keeps_others;
            assert_eq!(!faults(&stage).is_empty(), is_noticed, "{at}");
            assert_eq!(
                told_at_start(&stage, "one").contains("was replaced since it was installed"),
                is_noticed,
                "{at}"
            );
            init(&stage, &["--git-hooks"]);
            both_run(&stage, &at);

            // Installing theirs again takes our place, which is noticed, or runs ours.
            stage.git(&(manager.install)(&managers));
            let replaced = faults(&stage);
            let told = told_at_start(&stage, "two");
            match manager.keeps_others {
                true => {
                    assert!(replaced.is_empty() && !told.contains("replaced"), "{at}: {replaced:?} {told}")
                }
                false => {
                    assert!(
                        replaced.iter().any(|text| text.contains("prepare-commit-msg was replaced")),
                        "{at}: {replaced:?}"
                    );
                    assert!(told.contains("clearway init --git-hooks --yes"), "{at}: {told}");
                    assert!(stage.types(ADA, "clearway init --git-hooks --yes").status.success(), "{at}");
                }
            }
            assert!(faults(&stage).is_empty(), "{at}");
            both_run(&stage, &at);
            init(&stage, &["--uninstall"]);
            assert_eq!(relative(&hooks), *theirs_alone, "{at}");
        }
    }
}

/// What lies in a directory of hooks, whatever repository it is of.
fn relative(hooks: &std::path::Path) -> Vec<(String, String)> {
    let files = Files::below(hooks);
    let paths = files.paths().filter(|path| !path.display().to_string().ends_with(".sample"));
    let text = |path: &std::path::Path| std::fs::read_to_string(path).expect("text");
    let name = |path: &std::path::Path| path.file_name().expect("a name").to_string_lossy().into_owned();
    paths.map(|path| (name(path), text(path))).collect()
}

/// A hook that somebody wrote by hand goes on, whatever a manager does to ours in front of it.
#[test]
fn what_stood_there_before_both_is_where_it_would_be_without_us() {
    let managers = managers();
    for manager in &MANAGERS {
        let mut without_us = None;
        for with_us in [false, true] {
            let at = format!("{} / with us: {with_us}", manager.name);
            let home = home();
            let stage = stage(&home, &[manager.settings]);
            stage.git("printf '#!/bin/sh\\necho by hand >> ../hand\\n' > .git/hooks/prepare-commit-msg; chmod +x .git/hooks/prepare-commit-msg");
            if with_us {
                init(&stage, &["--git-hooks"]);
            }
            stage.git(&(manager.install)(&managers));
            if with_us && manager.keeps_others {
                stage.git("echo 2 > own.txt; git commit -q -a -m x");
                assert!(
                    stage.root.parent().expect("a directory").join("hand").exists(),
                    "{at}: it did not run"
                );
            }
            if with_us {
                init(&stage, &["--git-hooks"]);
                init(&stage, &["--uninstall"]);
            }
            let found = relative(&stage.root.join(".git/hooks"));
            assert_eq!(&found, without_us.get_or_insert_with(|| found.clone()), "{at}");
        }
    }
}

#[test]
fn a_program_that_is_gone_locks_nobody_out_whoever_runs_ours() {
    let managers = managers();
    for manager in &MANAGERS {
        let home = home();
        let stage = stage(&home, &[manager.settings]);
        init(&stage, &["--git-hooks"]);
        stage.git(&(manager.install)(&managers));
        init(&stage, &["--git-hooks"]);
        let line = format!(
            "for file in .git/hooks/*; do sed -i 's|{}|/nowhere/clearway|g' $file; done; echo 2 > own.txt; git commit -q -a -m x",
            home.binary().display()
        );
        let passed = stage.types(ADA, &line);
        assert!(passed.status.success(), "{}: {}", manager.name, said(&passed));
        assert!(said(&passed).contains("for the program is gone"), "{}: {}", manager.name, said(&passed));
    }
}

#[test]
fn the_directory_of_husky_is_its_own_and_the_one_step_that_is_left_works() {
    let managers = managers();
    let husky = format!("node {}", managers.husky().display());
    for ours_first in [false, true] {
        let at = format!("ours first: {ours_first}");
        let home = home();
        let stage = stage(&home, &[(".husky/pre-commit", "echo theirs >> ../ran && test ! -e ../refuse\n")]);
        stage.grant("bob", &["held.txt"]);
        if ours_first {
            init(&stage, &["--git-hooks"]);
        }
        stage.git(&husky);
        let generated = Files::below(&stage.root.join(".husky/_"));
        let told = told_at_start(&stage, "one");
        assert_eq!(told.contains("is passed over: core.hooksPath leads git to"), ours_first, "{at}: {told}");
        assert_eq!(faults(&stage).len(), usize::from(ours_first), "{at}");
        let ran = stage.beside_git(OLDER).run(&["init", "-y", "--git-hooks"]).expect(78);
        assert!(
            ran.stdout().contains("one step left: core.hooksPath leads git to"),
            "{at}: {}",
            ran.stdout()
        );
        let json = stage.beside_git(OLDER).json(&["init", "-y", "--git-hooks"]);
        let hint = json.value()["error"]["hints"].to_string();
        let step = hint.split_once("call ours: ").expect("a step").1;
        let step: String =
            serde_json::from_str(&format!("\"{}", step.trim_end_matches(']'))).expect("a text");
        stage.git(&step);
        init(&stage, &["--git-hooks"]);
        assert!(
            faults(&stage).is_empty() && !told_at_start(&stage, "two").contains("core.hooksPath"),
            "{at}"
        );
        both_run(&stage, &at);
        assert_eq!(stage.git("git config core.hooksPath"), ".husky/_\n", "{at}");
        // Installing theirs again changes nothing, and neither does a machine on which we are not.
        stage.git(&husky);
        assert_eq!(Files::below(&stage.root.join(".husky/_")), generated, "{at}");
        assert!(faults(&stage).is_empty(), "{at}");
        both_run(&stage, &at);
        let passed = stage
            .types(Who::Person, "PATH=/usr/local/bin:/usr/bin:/bin; echo 3 > own.txt; git commit -q -a -m x");
        assert!(passed.status.success(), "{at}: {}", said(&passed));
    }
}

/// A checkout whose commits run lint-staged, which writes `linted` at the end of every staged text.
fn with_lint_staged<'h>(home: &'h Home) -> Stage<'h> {
    let stage = stage(home, &[(".lintstagedrc.json", "{\"*.txt\": \"sh ../lint\"}\n")]);
    let lint = stage.root.join("../lint");
    std::fs::write(lint, "for file; do echo linted >> \"$file\"; done\n").expect("a file");
    stage.call_hooks(&stage.root.join(".git/hooks"));
    let hook = format!("#!/bin/sh\nexec node {} --quiet\n", managers().lint_staged().display());
    let path = stage.root.join(".git/hooks/pre-commit");
    std::fs::write(&path, hook).expect("a hook");
    std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("a mode");
    stage
}

/// The hooks of a client around a command, and what became of it.
fn runs(stage: &Stage<'_>, session: &'static str, line: &str) -> std::process::Output {
    let payload = |event: &str| {
        json!({"session_id": session, "cwd": stage.root, "hook_event_name": event, "tool_name": "Bash",
            "tool_input": {"command": line}})
    };
    stage.hook(&payload("PreToolUse")).expect(0);
    let output = stage.types(Who::Session(session), line);
    stage.hook(&payload("PostToolUse")).expect(0);
    output
}

#[test]
fn lint_staged_runs_in_everybodys_commits_and_loses_nobodys_work() {
    let home = home();
    let stage = with_lint_staged(&home);
    let read = |file: &str| std::fs::read_to_string(stage.root.join(file)).expect("a file");
    stage.edits("bob", None, "held.txt", Some("bob's\n"));
    // A person passes, with a part of a file staged and everybody's changes beside it.
    stage.write("own.txt", "1\nstaged\n");
    stage.git("git add own.txt");
    stage.write("own.txt", "0\n1\nstaged\n");
    let passed = stage.types(Who::Person, "git commit -m person");
    assert!(passed.status.success(), "{}", String::from_utf8_lossy(&passed.stderr));
    assert_eq!(stage.git("git show HEAD:own.txt"), "1\nstaged\nlinted\n");
    assert_eq!(read("held.txt"), "bob's\n");
    assert!(
        stage.types(Who::Person, "git commit -q -a -m all && git reset -q --soft HEAD~1").status.success()
    );
    stage.git("git restore --staged . && git checkout -q -- own.txt");
    stage.edits("bob", None, "held.txt", Some("bob's\n"));
    // So does an agent with what is its own: what others have is kept before, and comes back.
    stage.edits("ada", None, "own.txt", Some("ada's\n"));
    let passed = runs(&stage, "ada", "git add own.txt && git commit -q -m ada");
    assert!(passed.status.success(), "{}", String::from_utf8_lossy(&passed.stderr));
    assert_eq!(
        (stage.paths_in("HEAD"), read("held.txt")),
        (vec!["own.txt".to_owned()], "bob's\n".to_owned())
    );
    assert_eq!(stage.events("snapshot.taken").len(), 1);
    // What is another's it does not take along, and the command that is offered works.
    stage.edits("ada", None, "own.txt", Some("more\n"));
    let refused = runs(&stage, "ada", "git add -A && git commit -q -m both");
    let told = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(!refused.status.success() && told.contains("held.txt is with claude-"), "{told}");
    let command = super::stage::hinted(&told);
    let pasted = runs(&stage, "ada", &command);
    assert!(pasted.status.success(), "{command}: {}", String::from_utf8_lossy(&pasted.stderr));
    assert_eq!(stage.paths_in("HEAD"), ["own.txt"]);
    assert!(read("held.txt").starts_with("bob's\n"), "{}", read("held.txt"));
    assert_eq!(stage.git("git stash list"), "");
}
