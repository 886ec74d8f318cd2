//! Patterns, paths and the places they are meant from.

use super::{check, everything};
use crate::{app, each, home, list, text};

#[test]
fn patterns_that_cannot_be_read() {
    let home = home();
    let repository = app(&home);
    let many = "?/".repeat(40);
    let deep = "{{{{{a,b},c},d},e},f}";
    let wide = format!("{{{}}}", (0..65).map(|n| n.to_string()).collect::<Vec<_>>().join(","));
    let long = format!("*{}", "x".repeat(1_100));
    for pattern in [
        "a[",
        "[z-a]",
        "a\\",
        "{a,b",
        "[",
        "src/[",
        "[]",
        "a/*/../b",
        &many,
        deep,
        &wide,
        &long,
        "*/.git/config",
        "x*\u{7}y",
        "*\u{202e}",
    ] {
        for verb in ["reserve", "check", "who", "release"] {
            check(&home, &repository, "invalid-pattern", |repository| {
                repository.agent("alice").json(&[verb, "--", pattern])
            });
        }
        check(&home, &repository, "invalid-pattern", |repository| {
            repository.agent("alice").json(&["leases", &format!("--pattern={pattern}")])
        });
    }
}

#[test]
fn paths_outside_the_scope() {
    let home = home();
    let repository = app(&home);
    home.directory("elsewhere");
    for path in
        ["../x", "/etc/passwd", "src/../../x", "/", "..", "../elsewhere", "../*.rs", "/etc/*", "../app2/a.rs"]
    {
        for verb in ["reserve", "check", "who"] {
            check(&home, &repository, "outside-scope", |repository| {
                repository.agent("alice").json(&[verb, path])
            });
        }
    }
}

#[test]
fn paths_that_cannot_be_reserved() {
    let home = home();
    let repository = app(&home);
    let long = format!("{}x", "d/".repeat(2_100));
    for path in [
        ".git/config",
        ".git",
        ".git/",
        "./.git/hooks/pre-commit",
        "src/.git/x",
        ".GIT/config",
        "a\nb",
        "a\u{1b}b",
        "a\u{202e}b",
        "",
        &long,
    ] {
        for verb in ["reserve", "check"] {
            check(&home, &repository, "invalid-path", |repository| {
                repository.agent("alice").json(&[verb, "--", path])
            });
        }
    }
}

#[test]
fn a_working_directory_that_is_gone() {
    let home = home();
    let repository = app(&home);
    home.directory("gone");
    for words in ["reserve a.rs", "leases", "status"] {
        let script = format!("cd ../gone && rmdir ../gone && clearway --json --agent alice {words}");
        let output = home.shell(repository.path(), &script).output().expect("a shell");
        let answer: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
        assert_eq!(
            (&answer["error"]["slug"], output.status.code()),
            (&"no-scope".into(), Some(2)),
            "{answer}"
        );
        assert!(!list(&answer["error"], "hints").is_empty());
        home.directory("gone");
    }
    let script = format!(
        "cd ../gone && rmdir ../gone && clearway --agent alice -C {} check a.rs",
        repository.path().display()
    );
    assert!(home.shell(repository.path(), &script).status().expect("a shell").success());
    for place in ["/nowhere", "src/a.rs"] {
        check(&home, &repository, "no-scope", |repository| {
            repository.clearway().json(&["-C", place, "leases"])
        });
    }
    assert!(home.state_files().is_empty());
}

#[test]
fn a_broken_repository_is_named() {
    let home = home();
    let directory = home.directory("broken");
    std::fs::write(directory.join(".git"), "gitdir: /nowhere/at/all\n").expect("a file");
    let before = everything(&home);
    let error = home.clearway(&directory).agent("alice").fails("no-scope", 2, &["reserve", "a.rs"]);
    assert!(text(&error, "message").contains(".git"), "{error}");
    before.assert_same(&everything(&home), "a broken repository");
}

#[test]
fn every_spelling_of_the_whole_tree_is_a_broad_claim() {
    let home = home();
    let repository = app(&home);
    for pattern in ["**", "**/*", "{**,a}", "."] {
        repository.agent("alice").fails("claim-too-broad", 3, &["reserve", pattern]);
        let asked = repository.agent("alice").ok(&["check", pattern]);
        assert_eq!((&asked["clear"], each(&asked, "notices", "code")), (&true.into(), vec!["needs-broad"]));
    }
}

/// Whoever is shown a pattern may name it again.
#[test]
fn a_directory_whose_pattern_nobody_could_write_is_refused_and_a_file_below_it_is_not() {
    let home = home();
    let repository = app(&home);
    let deep = ["d".repeat(200).as_str(); 6].join("/");
    std::fs::create_dir_all(repository.path().join(&deep)).expect("directories");
    for directory in [deep.clone(), format!("{}/", deep.replace('d', "e"))] {
        let error = repository.agent("ada").fails("invalid-pattern", 2, &["reserve", &directory]);
        assert!(text(&error, "message").contains("at most 1024"), "{error:#}");
    }
    let error = repository.agent("ada").fails("invalid-pattern", 2, &["reserve", &"*a/".repeat(40)]);
    assert!(!error["hints"].to_string().contains("backslash"), "{error:#}");
    let file = format!("{deep}/f.rs");
    repository.grant("ada", &[&file]);
    repository.agent("ada").ok(&["renew", &file]);
}

#[test]
fn a_backslash_is_recommended_where_it_helps() {
    let home = home();
    let repository = app(&home);
    for (pattern, helps) in [
        ("src/[", true),
        ("src/{a", true),
        ("*\n", false),
        ("*/../x", false),
        ("[z-a]", false),
        ("{}", false),
    ] {
        let error = repository.agent("alice").fails("invalid-pattern", 2, &["reserve", "--", pattern]);
        assert_eq!(error["hints"].to_string().contains("backslash"), helps, "{pattern:?}: {error}");
    }
}
