//! Snapshots: what is not committed is kept, every byte and mode of it comes back, and nothing else is touched.

mod at_once;
mod back;
mod broken;
mod commands;
mod directories;
mod gone;
mod ignored;
mod killed;
mod lasting;
mod merging;
mod random;
mod reach;
mod refused;
mod room;
mod safe;
mod slow;
mod states;
mod taking_over;

use crate::{list, number, text};
use clearway_testkit::{Home, Repository};
use serde_json::Value;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

/// Permission bits and bytes of files, and where links lead.
type Contents = BTreeMap<PathBuf, (u32, Vec<u8>)>;

/// Everything of a checkout but git's own.
fn checkout(root: &Path) -> Contents {
    let mut found = BTreeMap::new();
    let mut left = vec![root.to_owned()];
    while let Some(directory) = left.pop() {
        for entry in std::fs::read_dir(&directory).expect("a directory") {
            let path = entry.expect("an entry").path();
            let metadata = std::fs::symlink_metadata(&path).expect("metadata");
            let name = path.strip_prefix(root).expect("below").to_owned();
            if name == Path::new(".git") {
                continue;
            }
            if metadata.is_dir() {
                left.push(path);
            } else if metadata.is_symlink() {
                let target = std::fs::read_link(&path).expect("a link");
                found.insert(name, (0o120_000, target.as_os_str().as_bytes().to_vec()));
            } else {
                found.insert(name, (metadata.mode() & 0o7777, std::fs::read(&path).expect("bytes")));
            }
        }
    }
    found
}

/// What git says of everything that is not committed, the index included.
fn status(repository: &Repository<'_>) -> String {
    repository.git(&["--no-optional-locks", "status", "--porcelain=v2", "-z", "--untracked-files=all"])
}

/// A path whose name is no text.
fn odd_name() -> &'static OsStr {
    OsStr::from_bytes(b"\xff not text")
}

/// A checkout in every sort of disorder.
fn messy<'h>(home: &'h Home) -> Repository<'h> {
    let files = [
        ("src/a.rs", "a\n"),
        ("src/b.rs", "b\n"),
        ("gone.rs", "gone\n"),
        ("staged-gone.rs", "x\n"),
        ("old name.rs", "renamed\n"),
        ("mode.sh", "#!/bin/sh\n"),
        ("becomes-link", "file\n"),
        ("becomes-directory", "file\n"),
        ("directory/becomes-file", "x\n"),
    ];
    let repository = home.repository("messy", &files);
    let root = repository.path().to_owned();
    let at = |name: &str| root.join(name);
    repository.write("src/a.rs", "changed\r\nwith carriage returns\r\n");
    repository.write("src/b.rs", "staged\n");
    repository.git(&["add", "src/b.rs"]);
    repository.write("src/b.rs", "and changed again\n");
    std::fs::remove_file(at("gone.rs")).expect("a file");
    repository.git(&["rm", "-q", "staged-gone.rs"]);
    repository.git(&["mv", "old name.rs", "new name.rs"]);
    std::fs::set_permissions(at("mode.sh"), PermissionsExt::from_mode(0o755)).expect("a mode");
    std::fs::remove_file(at("becomes-link")).expect("a file");
    symlink("src/a.rs", at("becomes-link")).expect("a link");
    std::fs::remove_file(at("becomes-directory")).expect("a file");
    repository.write("becomes-directory/inside", "now a directory\n");
    std::fs::remove_dir_all(at("directory")).expect("a directory");
    repository.write("directory", "now a file\n");
    repository.write("staged-only.rs", "only in the index\n");
    repository.git(&["add", "staged-only.rs"]);
    std::fs::remove_file(at("staged-only.rs")).expect("a file");
    repository.write("new/empty", "");
    repository.write("new/tool", "#!/bin/sh\nexit 0\n");
    std::fs::set_permissions(at("new/tool"), PermissionsExt::from_mode(0o700)).expect("a mode");
    repository.write("new/private", "secret\n");
    std::fs::set_permissions(at("new/private"), PermissionsExt::from_mode(0o600)).expect("a mode");
    symlink("nowhere/at all", at("new/dangling")).expect("a link");
    std::fs::write(at("new/binary"), [0, 255, 10, 13, 0]).expect("a file");
    for name in
        ["new/\u{fc}ml\u{e4}ut", "new/two words", "new/line\nbreak", "new/\"quoted\\\"", "-dash", "%25"]
    {
        repository.write(name, name);
    }
    std::fs::write(root.join(odd_name()), b"odd\n").expect("a file");
    repository
}

/// Takes a snapshot for ada: its number.
#[track_caller]
fn snapshot(repository: &Repository<'_>, words: &[&str]) -> String {
    let taken = repository.agent("ada").ok(&[&["snapshot"], words].concat());
    format!("s{}", number(&taken, "snapshot"))
}

/// What became of each file.
fn states(answer: &Value) -> BTreeMap<String, String> {
    let state = |file: &Value| (text(file, "path").to_owned(), text(file, "state").to_owned());
    list(answer, "files").iter().map(state).collect()
}
