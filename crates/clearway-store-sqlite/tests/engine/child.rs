//! The test binary as another process: it runs the same test again, which finds that it has a role to play.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const ROLE: &str = "CLEARWAY_TEST_ROLE";
const STATE: &str = "CLEARWAY_TEST_STATE";
/// Marks the lines that are meant for the parent among those of the test harness.
const MARK: &str = "child says ";

/// The role this process was started for and the state directory it plays in; `None` in the test itself.
pub(crate) fn role() -> Option<(String, PathBuf)> {
    Some((std::env::var(ROLE).ok()?, PathBuf::from(std::env::var_os(STATE)?)))
}

/// Tells the parent something, as a child.
pub(crate) fn say(word: &str) {
    println!("\n{MARK}{word}");
    std::io::stdout().flush().unwrap();
}

/// Waits for a word of the parent, as a child; `None` when it is gone.
pub(crate) fn hear() -> Option<String> {
    let mut line = String::new();
    let read = std::io::stdin().lock().read_line(&mut line).unwrap();
    (read > 0).then(|| line.trim().to_owned())
}

/// A child process, killed with its owner.
pub(crate) struct Child {
    process: std::process::Child,
    output: BufReader<std::process::ChildStdout>,
}

impl Child {
    /// Runs `test` of this binary again in the role.
    pub(crate) fn start(test: &str, role: &str, state: &Path) -> Self {
        Self::run(Command::new(std::env::current_exe().unwrap()), test, role, state)
    }

    /// The same under another umask.
    pub(crate) fn start_with_umask(test: &str, umask: &str, state: &Path) -> Self {
        let mut shell = Command::new("sh");
        shell
            .arg("-c")
            .arg(format!("umask {umask}; exec \"$0\" \"$@\""))
            .arg(std::env::current_exe().unwrap());
        Self::run(shell, test, "make", state)
    }

    fn run(mut command: Command, test: &str, role: &str, state: &Path) -> Self {
        let mut process = command
            .args([test, "--exact", "--nocapture", "--test-threads=1"])
            .env(ROLE, role)
            .env(STATE, state)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let output = BufReader::new(process.stdout.take().unwrap());
        Self { process, output }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.process.id()
    }

    /// The next thing the child says.
    pub(crate) fn hear(&mut self) -> String {
        let mut line = String::new();
        while self.output.read_line(&mut line).unwrap() > 0 {
            if let Some(word) = line.strip_prefix(MARK) {
                return word.trim().to_owned();
            }
            line.clear();
        }
        panic!("the child ended without a word");
    }

    pub(crate) fn tell(&mut self, word: &str) {
        writeln!(self.process.stdin.as_mut().unwrap(), "{word}").unwrap();
    }

    /// Ends it in the middle of whatever it does.
    pub(crate) fn kill(mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }

    /// Lets it end by itself.
    pub(crate) fn finish(mut self) {
        drop(self.process.stdin.take());
        assert!(self.process.wait().unwrap().success());
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
