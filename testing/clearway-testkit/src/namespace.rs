//! Private namespaces: mounts, clocks and process ids that only the commands of one test see, and that vanish with
//! it.

use crate::faults::behind;
use std::fs::Permissions;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

/// A set of namespaces kept open by a process that ends with the test, however that ends.
#[derive(Debug)]
pub struct Namespace {
    keeper: Child,
    pid: u32,
    kinds: Vec<&'static str>,
}

impl Namespace {
    /// Mounts of its own.
    pub fn of_mounts() -> Self {
        Self::new(&["--mount"], &["--mount", "--propagation", "private"])
    }

    /// A machine that was started another time: the boot id, kept in a file of `directory`, is another.
    ///
    /// # Panics
    /// If it cannot be put in the place of the kernel's.
    pub fn of_boot(directory: &Path, id: &str) -> Self {
        let file = directory.join(id);
        std::fs::write(&file, format!("{id}\n")).expect("a file");
        let namespace = Self::of_mounts();
        namespace.script(&format!("mount --bind '{}' /proc/sys/kernel/random/boot_id", file.display()));
        assert_eq!(namespace.script("cat /proc/sys/kernel/random/boot_id").trim(), id);
        namespace
    }

    /// A monotonic clock that is ahead of the machine's by so many seconds.
    pub fn of_time(ahead_s: u32) -> Self {
        let ahead = ahead_s.to_string();
        Self::new(&["--time"], &["--time", "--fork", "--monotonic", &ahead, "--boottime", &ahead])
    }

    /// Process ids of its own, with a `/proc` that shows them.
    pub fn of_processes() -> Self {
        Self::new(&["--pid", "--mount"], &["--pid", "--fork", "--kill-child", "--mount-proc"])
    }

    /// The keeper waits for the end of its standard input, which comes even when the test is killed.
    fn new(kinds: &[&'static str], flags: &[&str]) -> Self {
        let mut unshare = Command::new("unshare");
        unshare.args(flags).args(["sh", "-c", "echo ready; exec cat"]);
        unshare.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut keeper = unshare.spawn().expect("unshare runs: these tests need it");
        let mut ready = [0_u8; 6];
        if keeper.stdout.as_mut().is_none_or(|out| out.read_exact(&mut ready).is_err()) {
            let output = keeper.wait_with_output().expect("unshare ends");
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            panic!("this test needs root and the namespaces {kinds:?}, and cannot have them: {said}");
        }
        let pid = if flags.contains(&"--fork") { only_child(keeper.id()) } else { keeper.id() };
        Self { pid, keeper, kinds: kinds.to_vec() }
    }

    /// The command run inside.
    ///
    /// # Panics
    /// If the command's directory is not text.
    pub fn enter(&self, command: Command) -> Command {
        let directory = command.get_current_dir().unwrap_or(Path::new("/")).to_owned();
        let runner = self.runner(&directory);
        behind(command, &runner.iter().map(String::as_str).collect::<Vec<_>>())
    }

    /// What runs a program inside, in a directory of it.
    ///
    /// # Panics
    /// If the directory is no text.
    pub fn runner(&self, directory: &Path) -> Vec<String> {
        let (pid, directory) = (self.pid.to_string(), directory.to_str().expect("text"));
        let entered = ["nsenter", "--target", &pid].into_iter().chain(self.kinds.iter().copied());
        entered.chain(["--", "env", "-C", directory]).map(str::to_owned).collect()
    }

    /// A program that is another one inside, whoever starts it and wherever.
    ///
    /// # Panics
    /// If it cannot be written.
    pub fn wrap(&self, program: &Path, place: &Path) {
        let entered: Vec<&str> = self.kinds.iter().copied().chain(["--"]).collect();
        let (pid, entered) = (self.pid, entered.join(" "));
        let text =
            format!("#!/bin/sh\nexec nsenter --target {pid} {entered} '{}' \"$@\"\n", program.display());
        std::fs::write(place, text).expect("a file");
        std::fs::set_permissions(place, Permissions::from_mode(0o755)).expect("its mode");
    }

    /// Runs a shell script inside.
    ///
    /// # Panics
    /// If it fails.
    pub fn script(&self, text: &str) -> String {
        let mut shell = Command::new("bash");
        shell
            .args(["-euc", text])
            .env("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin");
        let Output { status, stdout, stderr } = self.enter(shell).output().expect("nsenter runs");
        let (said, complained) = (String::from_utf8_lossy(&stdout), String::from_utf8_lossy(&stderr));
        assert!(status.success(), "{text}\nstdout: {said}\nstderr: {complained}");
        said.into_owned()
    }
}

impl Drop for Namespace {
    fn drop(&mut self) {
        drop(self.keeper.stdin.take());
        let _ = self.keeper.wait();
    }
}

fn only_child(parent: u32) -> u32 {
    let path = format!("/proc/{parent}/task/{parent}/children");
    let text = std::fs::read_to_string(path).expect("the keeper runs");
    text.trim().parse().expect("one child")
}
