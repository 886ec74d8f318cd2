//! kill -9 while a client's configuration is written: it is the old one or the new one, with its mode, and what was
//! there before comes back whatever happened.

use crate::arena::home;
use clearway_testkit::Home;
use clearway_testkit::faults::{Fault, Point, points, struck};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;

const OLD: &str = "{\n\t\"model\":  \"opus\"\n}\n";
const MODE: u32 = 0o664;

/// A user of its own with a file of Claude Code.
struct User {
    directory: PathBuf,
}

impl User {
    fn new(home: &Home, name: &str) -> Self {
        let user = Self { directory: home.directory(&format!("users/{name}")) };
        std::fs::create_dir_all(user.settings().parent().expect("a parent")).expect("a directory");
        std::fs::write(user.settings(), OLD).expect("a file");
        std::fs::set_permissions(user.settings(), std::fs::Permissions::from_mode(MODE)).expect("a mode");
        user
    }

    fn settings(&self) -> PathBuf {
        self.directory.join(".claude/settings.json")
    }

    fn text(&self) -> String {
        std::fs::read_to_string(self.settings()).unwrap_or_default()
    }

    fn mode(&self) -> u32 {
        std::fs::metadata(self.settings()).map_or(0, |found| found.mode() & 0o7777)
    }

    fn command(&self, home: &Home, repository: &Path, words: &[&str]) -> Command {
        let clearway = home.clearway(repository).args(&["init", "-y", "--client", "claude"]).args(words);
        let clearway =
            clearway.env("HOME", &self.directory).env("XDG_STATE_HOME", self.directory.join("state"));
        clearway.into_command()
    }
}

#[test]
fn a_killed_init_leaves_the_old_file_or_the_new_one_and_gives_it_back() {
    let home = home();
    let repository = home.repository("app", &[("a.rs", "a\n")]);
    let whole = User::new(&home, "whole");
    let log = home.path().join("init.trace");
    let (points, _) = points(whole.command(&home, repository.path(), &[]), &log);
    let new = whole.text();
    assert!(new != OLD && points.len() > 10, "{points:?}");
    // Before the first file of a client nothing differs from what other verbs are struck at.
    let concerns_client = |point: &Point| {
        point.shown.contains("init.json") || point.shown.contains(".claude") || point.call == "exit_group"
    };
    let first = points.iter().position(concerns_client).expect("a point");
    for (number, point) in points[first..].iter().enumerate() {
        let user = User::new(&home, &format!("user{number}"));
        struck(user.command(&home, repository.path(), &[]), point, Fault::Kill).output().expect("it runs");
        let text = user.text();
        assert!(text == OLD || text == new, "{point:?}: {text}");
        assert_eq!(user.mode(), MODE, "{point:?}");
        if number % 3 == 0 {
            user.command(&home, repository.path(), &[]).output().expect("it runs");
            assert_eq!(user.text(), new, "{point:?}: the next one goes on");
        }
        let undone = user.command(&home, repository.path(), &["--uninstall"]).output().expect("it runs");
        assert!(undone.status.success(), "{point:?}: {undone:?}");
        assert_eq!((user.text().as_str(), user.mode()), (OLD, MODE), "{point:?}");
    }
}
