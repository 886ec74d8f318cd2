//! Directories: the modes of those that a command removed, and those in which nothing was.

use super::commands::{invite, runs};
use super::snapshot;
use crate::{app, home};
use clearway_testkit::{Client, Repository};
use std::collections::BTreeMap;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// Every directory of a checkout but git's own, with its permission bits.
fn directories(root: &Path) -> BTreeMap<PathBuf, u32> {
    let mut found = BTreeMap::new();
    let mut left = vec![root.to_owned()];
    while let Some(directory) = left.pop() {
        for entry in std::fs::read_dir(&directory).expect("a directory") {
            let path = entry.expect("an entry").path();
            let metadata = std::fs::symlink_metadata(&path).expect("metadata");
            let name = path.strip_prefix(root).expect("below").to_owned();
            if metadata.is_dir() && name != Path::new(".git") {
                found.insert(name, metadata.mode() & 0o7777);
                left.push(path);
            }
        }
    }
    found
}

/// Makes a directory of this mode.
fn directory(repository: &Repository<'_>, name: &str, mode: u32) {
    let place = repository.path().join(name);
    std::fs::create_dir_all(&place).expect("a directory");
    std::fs::set_permissions(place, PermissionsExt::from_mode(mode)).expect("a mode");
}

/// Directories of several modes, some of them empty, among files that git tracks, and that it does not.
fn furnished(repository: &Repository<'_>) {
    repository.write("src/a.rs", "changed\n");
    repository.write("src/new/deep/file.rs", "new\n");
    repository.write("src/locked/key", "secret\n");
    repository.write("scratch/note", "new\n");
    for (name, mode) in [
        ("src", 0o750),
        ("src/new", 0o700),
        ("src/new/deep", 0o2775),
        ("src/locked", 0o500),
        ("src/empty", 0o755),
        ("src/odd \u{fc}\nname/inner", 0o1777),
        ("scratch", 0o711),
        ("scratch/nothing/at/all", 0o700),
    ] {
        directory(repository, name, mode);
    }
}

/// Furnishes a checkout, keeps it, and removes its directories; the number of what is kept.
fn kept_and_removed(app: &Repository<'_>) -> String {
    furnished(app);
    let taken = snapshot(app, &[]);
    for name in ["src", "scratch"] {
        std::fs::remove_dir_all(app.path().join(name)).expect("a directory");
    }
    taken
}

#[test]
fn directories_that_a_command_removed_come_back_with_their_modes_and_so_do_empty_ones() {
    for command in [
        "rm -rf src scratch",
        "git clean -qfd",
        "cd src && rm -rf * && cd .. && git clean -qfdx",
        "git stash -qu",
    ] {
        let home = home();
        let app = app(&home);
        invite(&app);
        furnished(&app);
        let before = (super::checkout(app.path()), directories(app.path()));
        let mut ada = Client::claude(&home, &app, "ada");
        let told = runs(&mut ada, &home, &app, command).told();
        assert!(told.contains("kept as s"), "{command}: {told}");
        assert_ne!(directories(app.path()), before.1, "{command}");
        app.agent("bob").ok(&["undo", "-y"]);
        assert_eq!((super::checkout(app.path()), directories(app.path())), before, "{command}");
    }
}

#[test]
fn a_directory_that_is_there_is_left_as_it_is_and_one_in_the_way_of_which_something_lies_is_not_made() {
    let home = home();
    let app = app(&home);
    let taken = kept_and_removed(&app);
    directory(&app, "src", 0o777);
    app.write("scratch/nothing", "a file by now\n");
    app.agent("ada").ok(&["undo", &taken, "-y"]);
    let now = directories(app.path());
    let mode = |name: &str| now.get(Path::new(name)).copied();
    assert_eq!((mode("src"), mode("src/new"), mode("src/empty")), (Some(0o777), Some(0o700), Some(0o755)));
    assert_eq!(mode("scratch/nothing"), None);
    assert_eq!(std::fs::read(app.path().join("scratch/nothing")).expect("bytes"), b"a file by now\n");
}

#[test]
fn a_restore_of_some_paths_makes_no_other_directory() {
    let home = home();
    let app = app(&home);
    let taken = kept_and_removed(&app);
    app.agent("ada").ok(&["restore", &taken, "src/new"]);
    let now: Vec<PathBuf> = directories(app.path()).into_keys().collect();
    assert_eq!(now, ["docs", "src", "src/new", "src/new/deep"].map(PathBuf::from));
    app.agent("ada").ok(&["restore", &taken, "src/empty"]);
    assert!(app.path().join("src/empty").is_dir());
}
