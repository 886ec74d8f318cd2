//! Small file systems of a test's own. A machine that gives us none fails the test: nothing else would be tested.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Set for the second run, so that there is no third.
const INSIDE: &str = "CLEARWAY_TEST_INSIDE_NAMESPACES";

/// Runs a story where file systems can be mounted: here if this user may, otherwise this very test once more in
/// namespaces in which it is root.
///
/// # Panics
/// If the story fails, or the machine lets nobody mount anything.
pub(crate) fn where_one_may_mount(story: fn()) {
    if may_mount() {
        return story();
    }
    assert!(
        std::env::var_os(INSIDE).is_none(),
        "root in namespaces of its own, and still nothing can be mounted"
    );
    let test = std::thread::current().name().expect("a test runs in a thread called like it").to_owned();
    let again = Command::new("unshare")
        .args(["--map-root-user", "--mount"])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", &test, "--nocapture"])
        .env(INSIDE, "1")
        .output()
        .expect("unshare runs: without it or the rights of root nothing can be mounted");
    let said = String::from_utf8_lossy(&again.stdout).into_owned() + &String::from_utf8_lossy(&again.stderr);
    assert!(again.status.success() && said.contains("1 passed"), "{test} in namespaces of its own: {said}");
}

fn may_mount() -> bool {
    let point = tempfile::tempdir().unwrap();
    mount(&["-t", "tmpfs", "tmpfs", point.path().to_str().unwrap()]).is_ok_and(|()| {
        drop(Mount(point.path().to_owned()));
        true
    })
}

/// A file system of its own, unmounted with its owner.
pub(crate) struct Mount(PathBuf);

impl Mount {
    pub(crate) fn tmpfs(at: &Path, options: &str) -> Self {
        mount(&["-t", "tmpfs", "-o", options, "tmpfs", at.to_str().unwrap()]).unwrap();
        Self(at.to_owned())
    }

    pub(crate) fn make_read_only(&self) {
        mount(&["-o", "remount,ro", self.0.to_str().unwrap()]).unwrap();
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0).status();
    }
}

fn mount(arguments: &[&str]) -> Result<(), String> {
    let output = Command::new("mount").args(arguments).output().map_err(|error| error.to_string())?;
    output.status.success().then_some(()).ok_or_else(|| String::from_utf8_lossy(&output.stderr).into_owned())
}
