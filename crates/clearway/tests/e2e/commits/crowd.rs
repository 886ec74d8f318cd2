//! Many who commit in one checkout at once.

use super::paths_in;
use crate::{home, text};
use clearway_testkit::faults::behind;
use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Output};

const AGENTS: usize = 10;
const ROUNDS: usize = 3;

/// A person who commits a file of its own by git alone. What git itself says of a lock that somebody else holds is for
/// the person to try again; nothing else is.
fn person(mut commit: impl FnMut() -> Command, round: usize) {
    clearway_testkit::eventually("a person's commit", || {
        let Output { status, stderr, .. } = commit().output().expect("git");
        let said = String::from_utf8_lossy(&stderr).into_owned();
        let is_locked = said.contains(".lock': File exists") || said.contains("cannot lock ref");
        assert!(status.success() || is_locked, "round {round}: {said}");
        status.success().then_some(())
    });
}

#[test]
fn ten_agents_beside_a_person_commit_each_its_own_and_nothing_is_lost() {
    let home = home();
    let app = home.repository("app", &[("person.txt", "0\n"), ("staged.txt", "0\n")]);
    app.write("staged.txt", "for later\n");
    app.git(&["add", "staged.txt"]);
    app.clearway().run(&["init", "-y", "--git-hooks"]).expect(0);
    let names: Vec<String> = (0..AGENTS).map(|number| format!("agent{number}")).collect();
    for name in &names {
        app.grant(name, &[&format!("{name}/")]);
    }
    let file = |name: &str, round: usize| format!("{name}/{round}.rs");
    std::thread::scope(|scope| {
        let (app, home) = (&app, &home);
        for name in &names {
            scope.spawn(move || {
                for round in 0..ROUNDS {
                    app.write(&file(name, round), "new\n");
                    app.write(&format!("{name}/same.rs"), &format!("{round}\n"));
                    let made = app.agent(name).ok(&["commit", "-m", &format!("{name} {round}")]);
                    assert_eq!(paths_in(app, text(&made, "commit")).len(), 2, "{made}");
                }
            });
        }
        scope.spawn(move || {
            for round in 0..AGENTS * ROUNDS {
                app.write("person.txt", &format!("person {round}\n"));
                let line = format!("git commit -q -m 'person {round}' --only person.txt");
                person(|| home.shell(app.path(), &line), round);
            }
        });
    });
    let log = app.git(&["log", "--format=%H %s", "HEAD"]);
    let commits: BTreeMap<&str, &str> =
        log.lines().filter_map(|line| line.split_once(' ')).map(|(id, subject)| (subject, id)).collect();
    assert_eq!(commits.len(), log.lines().count(), "{log}");
    for name in &names {
        for round in 0..ROUNDS {
            let id = commits
                .get(format!("{name} {round}").as_str())
                .unwrap_or_else(|| panic!("{name} {round} is lost"));
            assert_eq!(paths_in(&app, id), [file(name, round), format!("{name}/same.rs")]);
        }
    }
    for round in 0..AGENTS * ROUNDS {
        let id = commits.get(format!("person {round}").as_str()).expect("a person's commit");
        assert_eq!(paths_in(&app, id), ["person.txt"]);
    }
    assert_eq!(app.git(&["status", "--porcelain"]), "M  staged.txt\n");
    app.git(&["fsck", "--strict"]);
    assert_eq!(app.clearway().ok(&["leases"])["leases"].as_array().map(Vec::len), Some(AGENTS));
}

#[test]
fn a_commit_that_somebody_began_is_waited_for_and_keeps_its_message() {
    let home = home();
    let app = home.repository("app", &[("person.txt", "0\n"), ("ada.txt", "0\n")]);
    app.clearway().run(&["init", "-y", "--git-hooks"]).expect(0);
    app.grant("ada", &["ada.txt"]);
    let (there, gate) = (home.path().join("there"), home.path().join("gate"));
    assert!(
        home.shell(app.path(), &format!("mkfifo {}", gate.display())).status().expect("mkfifo").success()
    );
    // Hooks of the repository run while git has no lock.
    let hook = app.path().join(".git/hooks/commit-msg");
    let script = format!(
        "#!/bin/sh\nif grep -q person \"$1\"; then : > {}; read line < {}; fi\n",
        there.display(),
        gate.display()
    );
    std::fs::write(&hook, script).expect("a file");
    std::fs::set_permissions(&hook, std::fs::Permissions::from_mode(0o755)).expect("a mode");
    app.write("person.txt", "1\n");
    app.git(&["add", "person.txt"]);
    app.write("ada.txt", "1\n");
    let mut person = home.shell(app.path(), "exec git commit -q -m 'by a person'");
    let person = person.spawn().expect("git");
    clearway_testkit::until("its hook runs", || there.exists());
    let (log, looks) = (home.path().join("trace"), format!("\"/proc/{}/cwd\"", person.id()));
    let trace = log.display().to_string();
    let ada = app.agent("ada").args(&["commit", "-m", "by ada"]).into_command();
    let strace = ["strace", "-f", "-qq", "-o", &trace, "-e", "trace=?readlink,?readlinkat"];
    let ada = behind(ada, &strace).spawn().expect("strace runs");
    clearway_testkit::until("ada looks at it, and looks again", || {
        std::fs::read_to_string(&log).is_ok_and(|log| log.matches(&looks).count() > 1)
    });
    std::fs::write(&gate, "go on\n").expect("a pipe");
    for mut child in [person, ada] {
        assert!(child.wait().expect("an end").success());
    }
    assert_eq!(app.git(&["log", "--format=%s", "-2"]), "by ada\nby a person\n");
    assert_eq!(paths_in(&app, "HEAD"), ["ada.txt"]);
    assert_eq!(paths_in(&app, "HEAD~1"), ["person.txt"]);
}
