//! `with`: a command under named leases, as real processes live and die.

mod leases;
mod nested;
mod signals;
mod starting;
mod turns;

use clearway_testkit::{Clearway, Home, Repository, eventually};
use std::path::{Path, PathBuf};
use std::process::{Child, Command};

/// Says who it is, waits for the file named in GO, and says that it ends.
const WAITS_FOR_GO: &str = r#"echo "begin $$" >> "$LOG"
until [ -e "$GO" ]; do sleep 0.01; done
echo "end $$" >> "$LOG""#;

/// A place where commands write down what they do.
struct Diary {
    log: PathBuf,
    go: PathBuf,
}

impl Diary {
    fn new(home: &Home) -> Self {
        Self { log: home.path().join("log"), go: home.path().join("go") }
    }

    fn told(&self, clearway: Clearway) -> Clearway {
        clearway.env("LOG", &self.log).env("GO", &self.go)
    }

    fn let_go(&self) {
        std::fs::write(&self.go, "").expect("a file");
    }

    fn text(&self) -> String {
        std::fs::read_to_string(&self.log).unwrap_or_default()
    }

    fn lines(&self, word: &str) -> Vec<String> {
        let text = self.text();
        let lines = text.lines().filter_map(|line| line.strip_prefix(word));
        lines.map(|rest| rest.trim().to_owned()).collect()
    }

    /// Waits until so many lines begin with this word: what follows it there.
    #[track_caller]
    fn expect(&self, word: &str, count: usize) -> Vec<String> {
        eventually(&format!("{count} times {word}"), || {
            Some(self.lines(word)).filter(|lines| lines.len() >= count)
        })
    }
}

/// No command outlives a test that failed.
impl Drop for Diary {
    fn drop(&mut self) {
        self.let_go();
    }
}

fn signal(pid: impl std::fmt::Display, name: &str) {
    let sent = Command::new("kill").args([&format!("-{name}"), &pid.to_string()]).status();
    assert!(sent.is_ok_and(|status| status.success()), "kill -{name} {pid}");
}

/// A command under `build` that runs until it is let go.
fn under_build(repository: &Repository<'_>, diary: &Diary, flags: &[&str]) -> Child {
    let words = [&["with", "build"], flags, &["--", "sh", "-c", WAITS_FOR_GO]].concat();
    diary.told(repository.agent("ada")).spawn(&words)
}

#[track_caller]
fn ended(child: Child, code: i32) -> String {
    let output = child.wait_with_output().expect("it ends");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(code), "{:?}: {said}", output.status);
    said
}

fn is_alive(pid: &str) -> bool {
    let stat = std::fs::read_to_string(Path::new("/proc").join(pid).join("stat")).unwrap_or_default();
    let state = stat.rsplit_once(") ").and_then(|(_, rest)| rest.chars().next());
    state.is_some_and(|state| state != 'Z')
}
