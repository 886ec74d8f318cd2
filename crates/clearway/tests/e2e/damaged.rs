//! A repository that is damaged, or gone, is no other scope: whoever holds something in it would be overlooked there.

use crate::{home, text};
use clearway_testkit::{Client, Home, Repository};
use std::fs;
use std::path::Path;

/// What is done to a git directory.
type Damage = fn(&Path);

/// Ways to lose a repository, each told by a word of the message.
const DAMAGES: [(&str, Damage); 8] = [
    ("HEAD", |git_dir| fs::write(git_dir.join("HEAD"), "").expect("a file")),
    ("HEAD", |git_dir| fs::remove_file(git_dir.join("HEAD")).expect("a file")),
    ("HEAD", |git_dir| {
        fs::remove_file(git_dir.join("HEAD")).expect("a file");
        fs::create_dir(git_dir.join("HEAD")).expect("a directory");
    }),
    ("objects", |git_dir| fs::remove_dir_all(git_dir.join("objects")).expect("a directory")),
    ("refs", |git_dir| fs::remove_dir_all(git_dir.join("refs")).expect("a directory")),
    ("nothing is there", |git_dir| {
        fs::remove_dir_all(git_dir).expect("a directory");
        std::os::unix::fs::symlink("elsewhere", git_dir).expect("a link");
    }),
    ("nothing of one is in it", |git_dir| {
        fs::remove_dir_all(git_dir).expect("a directory");
        fs::create_dir(git_dir).expect("a directory");
    }),
    ("is gone", |git_dir| fs::remove_dir_all(git_dir).expect("a directory")),
];

/// A repository in which ada holds a file, and then the damage; alone, or inside another repository.
fn damaged<'h>(home: &'h Home, place: &str, damage: Damage) -> Repository<'h> {
    if place.contains('/') {
        home.repository("around", &[("b.rs", "")]).grant("carol", &["b.rs"]);
    }
    let app = home.repository(place, &[("src/a.rs", "a\n")]);
    app.grant("ada", &["src/a.rs"]);
    damage(&app.path().join(".git"));
    app
}

#[test]
fn a_damaged_repository_is_named_and_becomes_no_other_scope() {
    for place in ["app", "around/app"] {
        for (word, damage) in DAMAGES {
            let home = home();
            let app = damaged(&home, place, damage);
            let before = home.state_files();
            for words in [["check", "src/a.rs"], ["reserve", "src/a.rs"], ["who", "src/a.rs"]] {
                for at in ["", "src"] {
                    let path = if at.is_empty() { words[1] } else { "a.rs" };
                    let bob = app.clearway_in(at).agent("bob");
                    let error = bob.fails("no-scope", 2, &[words[0], path]);
                    assert!(text(&error, "message").contains(word), "{place}: {error}");
                    assert!(text(&error, "message").contains(".git"), "{place}: {error}");
                }
            }
            let error = app.agent("ada").fails("no-scope", 2, &["status"]);
            let hint = error["hints"][1].as_str().expect("a hint");
            let (_, command) = hint.split_once(": ").expect("a command");
            let ran = home.shell(app.path(), command).output().expect("a shell");
            assert!(String::from_utf8_lossy(&ran.stdout).contains("src/a.rs"), "{word}: {hint}: {ran:?}");
            before.assert_same(&home.state_files(), "a damaged repository");
        }
    }
}

#[test]
fn a_damaged_repository_is_the_trouble_that_doctor_tells_of() {
    for (word, damage) in DAMAGES {
        let home = home();
        let app = damaged(&home, "app", damage);
        let checks = app.clearway().json(&["doctor"]).expect(1).stdout();
        assert!(checks.contains(word) && !checks.contains("directory without git"), "{checks}");
    }
}

#[test]
fn what_lies_in_a_damaged_repository_is_not_held_from_around_it() {
    for (word, damage) in DAMAGES.into_iter().take(6) {
        let home = home();
        let app = damaged(&home, "around/app", damage);
        let around = home.clearway(app.path().parent().expect("around")).agent("bob");
        let error = around.fails("outside-scope", 2, &["reserve", "app/src/a.rs"]);
        assert!(text(&error, "message").contains("app"), "{word}: {error}");
    }
}

#[test]
fn a_directory_that_never_was_a_repository_is_a_scope_of_its_own() {
    for contents in [None, Some("config")] {
        let home = home();
        let plain = home.directory("plain");
        home.directory("plain/.git");
        if let Some(name) = contents {
            fs::write(plain.join(".git").join(name), "").expect("a file");
        }
        home.clearway(&plain).agent("ada").ok(&["reserve", "a.rs"]);
        home.clearway(&plain).agent("bob").fails("reservation-held", 1, &["reserve", "a.rs"]);
    }
}

/// Whoever takes git away for good is not held up by what was.
#[test]
fn a_checkout_without_its_repository_is_a_directory_once_nothing_is_held_there() {
    let home = home();
    let app = home.repository("app", &[("a.rs", "")]);
    app.grant("ada", &["a.rs"]);
    fs::remove_dir_all(app.path().join(".git")).expect("a directory");
    let error = app.agent("ada").fails("no-scope", 2, &["reserve", "a.rs"]);
    let hint = error["hints"][1].as_str().expect("a hint");
    let key = hint.split_whitespace().skip_while(|word| *word != "--scope").nth(1).expect("a key");
    app.agent("ada").args(&["--scope", key]).ok(&["release", "--all"]);
    app.grant("ada", &["a.rs"]);
    app.agent("bob").fails("reservation-held", 1, &["reserve", "a.rs"]);
}

#[test]
fn an_edit_in_a_damaged_repository_is_answered_as_the_posture_says() {
    for (word, damage) in DAMAGES {
        let home = home();
        let app = damaged(&home, "app", damage);
        let mut watched = Client::claude(&home, &app, "one");
        let first = watched.before_edit("src/a.rs");
        assert!(first.told().contains(word), "{}", first.told());
        home.user_config("posture = \"unattended\"\n");
        let mut alone = Client::claude(&home, &app, "two");
        alone.before_edit("src/a.rs").denied();
    }
}

#[test]
fn an_edit_in_a_damaged_repository_that_invited_nobody_is_nobodys_business() {
    let home = home();
    let app = home.repository("app", &[("src/a.rs", "a\n")]);
    fs::write(app.path().join(".git/HEAD"), "").expect("a file");
    Client::claude(&home, &app, "one").before_edit("src/a.rs").silent();
    let outer = home.repository("around", &[("inner/a.rs", "")]);
    outer.grant("ada", &["inner/a.rs"]);
    fs::create_dir(outer.path().join("inner/.git")).expect("a directory");
    fs::write(outer.path().join("inner/.git/HEAD"), "").expect("a file");
    let told = Client::claude(&home, &outer, "one").before_edit("inner/a.rs");
    assert!(told.told().contains("inner/.git"), "what lies around it invited somebody: {told:?}");
}
