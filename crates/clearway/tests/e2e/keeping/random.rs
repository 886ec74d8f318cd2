//! Random days: edits of a person and of another agent, commits, destructive commands of an agent and undos. Nothing is
//! lost.
//!
//! `CLEARWAY_UNDO_SEQUENCES` says how many there are in each quarter, 250 of which are a thousand; a failure names its
//! seed. `cargo xtask test --long` plays a thousand.

use super::checkout;
use super::commands::{invite, runs};
use crate::{app, home};
use clearway_testkit::{Client, Repository};
use std::os::unix::fs::{PermissionsExt, symlink};

const FILES: [&str; 8] =
    ["src/a.rs", "src/b.rs", "docs/x.md", "main.rs", "new/one", "new/two words", "top", "src/deep/er.rs"];

const DESTRUCTIVE: [&str; 14] = [
    "git reset --hard",
    "git reset --hard HEAD~1",
    "git checkout -- .",
    "git checkout -f HEAD",
    "git restore .",
    "git restore --staged --worktree .",
    "git clean -fdx",
    "git stash",
    "git stash -u",
    "rm -rf src",
    "rm -rf new top",
    "mv -f main.rs src/a.rs",
    "mv -f src/b.rs top",
    "git reset --hard && git clean -fd",
];

/// A small generator: the same seed lives the same day.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).expect("small") % sides
    }
}

fn change(repository: &Repository<'_>, other: &mut Client, dice: &mut Dice, step: usize) {
    let file = FILES[dice.roll(FILES.len())];
    let path = repository.path().join(file);
    // A file may have become the directory of another, or the other way round.
    let in_the_way = path.is_dir() || path.ancestors().skip(1).any(|above| above.is_file());
    if in_the_way {
        return;
    }
    match dice.roll(7) {
        0 | 1 => {
            // What is written through a link is somebody else's.
            if path.is_symlink() {
                std::fs::remove_file(&path).expect("a link");
            }
            // Every third edit is another agent's.
            let is_others = dice.roll(3) == 0 && other.before_edit(file).code == 0;
            repository.write(file, &format!("{step} in {file}\n"));
            if is_others {
                other.after_edit(file);
            }
        }
        2 => drop(std::fs::remove_file(&path)),
        3 if path.is_file() => {
            let mode = [0o644, 0o755, 0o600, 0o700][dice.roll(4)];
            std::fs::set_permissions(&path, PermissionsExt::from_mode(mode)).expect("a mode");
        }
        4 if path.parent().is_some_and(std::path::Path::is_dir) => {
            drop(std::fs::remove_file(&path));
            symlink(format!("to/{step}"), &path).expect("a link");
        }
        5 => drop(repository.git(&["add", "--all"])),
        6 => {
            repository.git(&["add", "--all"]);
            repository.git(&["commit", "--quiet", "--allow-empty", "--message", "a commit"]);
        }
        _ => {}
    }
}

fn live(seed: u64) {
    let home = home();
    let app = app(&home);
    app.git(&["commit", "--quiet", "--allow-empty", "--message", "second"]);
    invite(&app);
    let mut ada = Client::claude(&home, &app, "ada");
    let mut otter = Client::claude(&home, &app, "otter");
    let mut dice = Dice(seed);
    for round in 0..2 {
        for step in 0..5 {
            change(&app, &mut otter, &mut dice, round * 10 + step);
        }
        let dirty: Vec<String> = {
            let listed =
                app.git(&["status", "--porcelain=v2", "-z", "--untracked-files=all", "--no-renames"]);
            listed.split('\0').filter(|record| !record.is_empty()).map(str::to_owned).collect()
        };
        let before = checkout(app.path());
        let command = DESTRUCTIVE[dice.roll(DESTRUCTIVE.len())];
        let told = runs(&mut ada, &home, &app, command);
        let after = checkout(app.path());
        if told.code != 0 {
            // Others are at work: the command did not run.
            assert_eq!(after, before, "seed {seed}: {command} was refused");
            continue;
        }
        if !told.stdout.contains("clearway undo s") {
            // Nothing that was not committed was in reach: whatever went is in git.
            for record in &dirty {
                let file = FILES.iter().find(|file| record.ends_with(*file)).expect("one of ours");
                let path = std::path::Path::new(file);
                assert_eq!(before.get(path), after.get(path), "seed {seed}: {command} lost {file}");
            }
            continue;
        }
        app.agent("bob").ok(&["undo", "-y"]);
        let undone = checkout(app.path());
        for record in &dirty {
            let file = FILES.iter().find(|file| record.ends_with(*file)).expect("one of ours");
            let path = std::path::Path::new(file);
            assert_eq!(undone.get(path), before.get(path), "seed {seed}: {command} and undo changed {file}");
        }
        let is_clean = |path: &std::path::Path| {
            !dirty.iter().any(|record| record.ends_with(&path.display().to_string()))
        };
        for (path, content) in after.iter().filter(|(path, _)| is_clean(path)) {
            // What was as committed and written over by the command comes back with the rest.
            let is_as = |content| undone.get(path) == content;
            let is_left = is_as(Some(content)) || is_as(before.get(path));
            assert!(is_left, "seed {seed}: undo of {command} touched {path:?}");
        }
    }
    app.git(&["fsck", "--no-progress"]);
}

fn quarter(number: u64) {
    let wanted = std::env::var("CLEARWAY_UNDO_SEQUENCES").ok().and_then(|text| text.parse().ok());
    let sequences: u64 = wanted.unwrap_or(15);
    assert!(sequences > 0);
    (0..sequences).for_each(|seed| live(seed * 4 + number));
}

#[test]
fn a_first_quarter_of_random_days_loses_nothing() {
    quarter(0);
}

#[test]
fn a_second_quarter_of_random_days_loses_nothing() {
    quarter(1);
}

#[test]
fn a_third_quarter_of_random_days_loses_nothing() {
    quarter(2);
}

#[test]
fn a_fourth_quarter_of_random_days_loses_nothing() {
    quarter(3);
}
