//! What git was in the middle of comes back with the files: conflicts, the merge itself, and what was announced.

use super::commands::{invite, runs};
use super::{checkout, snapshot, status};
use crate::{app, home, text};
use clearway_testkit::{Client, Repository};
use serde_json::json;

/// Files of git's own directory that say what it is in the middle of.
const STATE: [&str; 5] = ["MERGE_HEAD", "MERGE_MSG", "MERGE_MODE", "CHERRY_PICK_HEAD", "REVERT_HEAD"];

fn state(repository: &Repository<'_>) -> Vec<Option<String>> {
    STATE.map(|name| std::fs::read_to_string(repository.path().join(".git").join(name)).ok()).to_vec()
}

/// Everything of the checkout, of what git says of it, and of what git is in the middle of.
fn whole(repository: &Repository<'_>) -> (super::Contents, String, String, Vec<Option<String>>) {
    let stages = repository.git(&["ls-files", "--stage", "-z"]);
    (checkout(repository.path()), status(repository), stages, state(repository))
}

/// Two branches that do not merge: what both changed, what one changed and the other removed, and what only one has.
fn parted(repository: &Repository<'_>) {
    repository.git(&["checkout", "-qb", "other"]);
    repository.write("src/a.rs", "other\n");
    repository.write("src/b.rs", "other\n");
    repository.write("added.rs", "by other\n");
    repository.write("both.rs", "added by other\n");
    repository.git(&["add", "-A"]);
    repository.git(&["commit", "-qm", "other"]);
    repository.git(&["checkout", "-q", "main"]);
    repository.write("src/a.rs", "main\n");
    repository.write("both.rs", "added by main\n");
    repository.git(&["rm", "-q", "src/b.rs"]);
    repository.git(&["add", "-A"]);
    repository.git(&["commit", "-qm", "main"]);
}

/// Something that stops over conflicts, one of which somebody begins to settle.
pub(super) fn stopped(repository: &Repository<'_>, command: &str) {
    parted(repository);
    let alias = format!("alias.stops=!{command} && exit 1 || true");
    repository.git(&["-c", &alias, "stops"]);
    assert_ne!(repository.git(&["ls-files", "--unmerged"]), "", "{command}");
    repository.write("src/a.rs", "half settled\n");
}

#[test]
fn a_merge_that_a_command_threw_away_is_under_way_again_with_its_conflicts() {
    for (stops, command, word) in [
        ("git merge -q other", "git reset --hard", "merge"),
        ("git merge -q other", "git merge --abort", "merge"),
        ("git merge -q --no-ff other", "git checkout -qf HEAD", "merge"),
        ("git cherry-pick other", "git reset --hard", "cherry-pick"),
        ("git cherry-pick other", "git cherry-pick --abort", "cherry-pick"),
        ("git revert --no-edit HEAD~1 other", "git reset --hard", "revert"),
    ] {
        let home = home();
        let app = app(&home);
        invite(&app);
        stopped(&app, stops);
        let before = whole(&app);
        let mut ada = Client::claude(&home, &app, "ada");
        let told = runs(&mut ada, &home, &app, command).told();
        assert!(told.contains("kept as s"), "{command}: {told}");
        assert_ne!(whole(&app), before, "{command} does something");
        let undone = app.agent("bob").ok(&["undo", "-y"]);
        assert_eq!(whole(&app), before, "{stops}, {command}");
        assert_eq!(text(&undone, "resumes"), word, "{stops}, {command}");
        app.git(&["fsck", "--no-progress"]);
        app.git(&["status"]);
        let again = app.agent("bob").ok(&["undo", "-y"]);
        assert_eq!((whole(&app), &again["resumes"]), (before, &json!(null)), "{stops}, {command}");
    }
}

#[test]
fn what_a_merge_needs_outlives_its_branch_and_the_collection_of_garbage() {
    let home = home();
    let app = app(&home);
    stopped(&app, "git merge -q other");
    let before = whole(&app);
    let taken = snapshot(&app, &[]);
    app.git(&["reset", "-q", "--hard"]);
    app.git(&["branch", "-qD", "other"]);
    app.git(&["reflog", "expire", "--expire=now", "--all"]);
    app.git(&["gc", "-q", "--prune=now"]);
    app.agent("ada").ok(&["undo", &taken, "-y"]);
    assert_eq!(whole(&app), before);
    app.git(&["fsck", "--no-progress"]);
    app.git(&["add", "-A"]);
    app.git(&["commit", "-qm", "settled"]);
    assert_eq!(app.git(&["show", "-s", "--format=%P"]).split_whitespace().count(), 2);
}

#[test]
fn where_something_else_is_under_way_or_the_commit_is_another_files_come_back_without_the_conflict() {
    for between in ["git commit -q --allow-empty -m since", "git merge -q --no-commit --no-ff third"] {
        let home = home();
        let app = app(&home);
        app.git(&["branch", "third"]);
        stopped(&app, "git merge -q other");
        app.git(&["branch", "-f", "third", "other~1"]);
        let taken = snapshot(&app, &[]);
        app.git(&["reset", "-q", "--hard"]);
        app.git(&["checkout", "-q", "third"]);
        app.write("third.rs", "third\n");
        app.git(&["add", "-A"]);
        app.git(&["commit", "-qm", "third"]);
        app.git(&["checkout", "-q", "main"]);
        assert!(home.shell(app.path(), between).status().expect("git").success());
        let now = state(&app);
        let undone = app.agent("ada").ok(&["undo", &taken, "-y"]);
        assert_eq!((&undone["resumes"], state(&app)), (&json!(null), now), "{between}");
        assert_eq!(app.git(&["ls-files", "--unmerged"]), "", "{between}");
        assert_eq!(
            std::fs::read(app.path().join("src/a.rs")).expect("bytes"),
            b"half settled\n",
            "{between}"
        );
    }
}

#[test]
fn a_conflict_in_a_linked_worktree_comes_back_there() {
    let home = home();
    let app = app(&home);
    parted(&app);
    let linked = app.path().with_file_name("linked");
    app.git(&["worktree", "add", "-q", "--detach", &linked.display().to_string()]);
    let said = || {
        home.shell(&linked, "git status --porcelain=v2 && git rev-parse MERGE_HEAD").output().expect("git")
    };
    assert!(!home.shell(&linked, "git merge -q other").status().expect("git").success());
    let before = said();
    assert!(before.status.success());
    let taken = crate::number(&home.clearway(&linked).agent("ada").ok(&["snapshot"]), "snapshot").to_string();
    assert!(home.shell(&linked, "git reset -q --hard").status().expect("git").success());
    home.clearway(&linked).agent("ada").ok(&["undo", &taken, "-y"]);
    assert_eq!(said(), before);
    assert_eq!(status(&app), "", "the main checkout is in the middle of nothing");
}

#[test]
fn what_was_announced_is_announced_again() {
    for command in
        ["git reset --hard", "rm -f to-come.rs 'two words' && git rm -q --cached --ignore-unmatch to-come.rs"]
    {
        let home = home();
        let app = app(&home);
        invite(&app);
        app.write("src/a.rs", "mine\n");
        app.write("to-come.rs", "new\n");
        app.write("two words", "new\n");
        app.git(&["add", "--intent-to-add", "to-come.rs", "two words"]);
        let before = whole(&app);
        let mut ada = Client::claude(&home, &app, "ada");
        runs(&mut ada, &home, &app, command).told();
        assert_ne!(whole(&app), before, "{command}");
        app.agent("bob").ok(&["undo", "-y"]);
        assert_eq!(whole(&app), before, "{command}");
    }
}

#[test]
fn a_merge_without_a_conflict_is_under_way_again_too() {
    let home = home();
    let app = app(&home);
    app.git(&["checkout", "-qb", "other"]);
    app.write("added.rs", "by other\n");
    app.git(&["add", "-A"]);
    app.git(&["commit", "-qm", "other"]);
    app.git(&["checkout", "-q", "main"]);
    app.git(&["merge", "-q", "--no-commit", "--no-ff", "other"]);
    let before = whole(&app);
    let taken = snapshot(&app, &[]);
    app.git(&["reset", "-q", "--hard"]);
    let said = app.agent("ada").run(&["undo", &taken]).expect(2).stdout();
    assert!(said.contains("the merge would be under way again\n"), "{said}");
    let said = app.agent("ada").text(&["undo", &taken, "-y"]);
    assert!(said.contains("the merge is under way again\n"), "{said}");
    assert_eq!(whole(&app), before);
}
