//! Many who commit in one checkout at once.

use super::paths_in;
use crate::{home, text};
use std::collections::BTreeMap;
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
