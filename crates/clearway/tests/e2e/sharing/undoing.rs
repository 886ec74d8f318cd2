//! Commands of git that undo what is not committed undo what is their caller's, and nothing of anybody else.

use super::{asks, edits, invited, named, read, runs};
use crate::home;
use clearway_testkit::Client;

const UNDOING: [&str; 6] = [
    "git checkout -- src/a.rs",
    "git checkout src/a.rs",
    "git checkout .",
    "git checkout HEAD -- src",
    "git restore src/a.rs",
    "git restore .",
];

#[test]
fn what_is_another_agents_is_not_undone_and_the_form_for_ones_own_works() {
    let home = home();
    let app = invited(&home);
    let (mut ada, mut bob) = (Client::claude(&home, &app, "ada"), Client::claude(&home, &app, "bob"));
    edits(&mut ada, &app, "src/a.rs", "ada's\n");
    edits(&mut bob, &app, "src/b.rs", "bob's\n");
    edits(&mut bob, &app, "src/new.rs", "bob's\n");
    for command in UNDOING {
        let reason = asks(&mut bob, command).denied();
        assert!(reason.contains("would take uncommitted work of claude-"), "{command}: {reason}");
        assert!(reason.contains("src/a.rs"), "{command}: {reason}");
    }
    let reason = asks(&mut bob, "git restore .").denied();
    let own = named(&reason, "git");
    assert_eq!(own, "git restore -- src/b.rs");
    assert_eq!(runs(&mut bob, &home, &app, &own).code, 0);
    assert_eq!((read(&app, "src/a.rs"), read(&app, "src/b.rs")), ("ada's\n".to_owned(), "b\n".to_owned()));
    edits(&mut bob, &app, "src/b.rs", "bob's\n");
    assert_eq!(runs(&mut bob, &home, &app, "git checkout src/b.rs").code, 0, "what is one's own is free");
    assert_eq!(read(&app, "src/b.rs"), "b\n");
}

#[test]
fn new_files_of_others_are_not_cleaned_away_and_what_undoes_nothing_is_not_refused() {
    let home = home();
    let app = invited(&home);
    let (mut ada, mut bob) = (Client::claude(&home, &app, "ada"), Client::claude(&home, &app, "bob"));
    edits(&mut ada, &app, "src/hers.rs", "ada's\n");
    edits(&mut bob, &app, "docs/his.md", "bob's\n");
    let reason = asks(&mut bob, "git clean -fd").denied();
    assert!(reason.contains("src/hers.rs") && reason.contains("git clean -fd -- docs/his.md"), "{reason}");
    for command in ["git clean -fd docs", "git clean -n", "git restore --staged .", "git reset src/hers.rs"] {
        assert_eq!(asks(&mut bob, command).code, 0, "{command}");
    }
    assert_eq!(read(&app, "src/hers.rs"), "ada's\n");
}

#[test]
fn whoever_is_alone_undoes_what_it_likes() {
    let home = home();
    let app = invited(&home);
    let mut ada = Client::claude(&home, &app, "ada");
    edits(&mut ada, &app, "src/a.rs", "ada's\n");
    for command in UNDOING {
        assert_eq!(asks(&mut ada, command).code, 0, "{command}");
    }
}

#[test]
fn a_clean_is_kept_from_nothing_that_git_tracks() {
    let home = home();
    let app = invited(&home);
    let (mut ada, mut bob) = (Client::claude(&home, &app, "ada"), Client::claude(&home, &app, "bob"));
    edits(&mut ada, &app, "src/a.rs", "ada's\n");
    app.write("junk", "junk\n");
    app.write("src/junk", "junk\n");
    for command in ["git clean -fdX", "git clean -qf -- src", "git clean -qfd"] {
        assert_eq!(runs(&mut bob, &home, &app, command).code, 0, "{command}");
    }
    assert_eq!((read(&app, "src/a.rs"), read(&app, "junk")), ("ada's\n".to_owned(), String::new()));
    edits(&mut ada, &app, "src/hers.rs", "ada's\n");
    assert!(asks(&mut bob, "git clean -fd").denied().contains("src/hers.rs"));
}
