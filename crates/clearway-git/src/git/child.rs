//! Running one `git` and reading its answer within bounds of time and size.

use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use super::{Git, GitError, Question, room};
use clearway_platform::command::{ask_to_end, lost_a_mapping};

/// Room for two million paths of a hundred bytes; more is no worktree we can serve.
const OUTPUT_BYTES_MAX: usize = 256 * 1_024 * 1_024;

/// What is kept of a complaint.
const MESSAGE_BYTES_MAX: usize = 2_048;

/// What one `git` said.
#[derive(Debug)]
pub(crate) struct Answer {
    /// `None` if a signal ended it.
    pub(super) code: Option<i32>,
    /// Whether what it had mapped into its memory went away beneath it.
    lost_a_mapping: bool,
    pub(super) output: Vec<u8>,
    message: Vec<u8>,
    /// Where it was run.
    directory: PathBuf,
}

/// What writes to git's standard input, beside whoever reads its answer.
pub(crate) type Feed = Box<dyn FnOnce(&mut dyn Write) -> io::Result<()> + Send>;

/// Commands that write. Nobody's hooks are run for what is ours alone, nothing of it is logged as if it were a person's,
/// and it is on the disk when git says so.
const WRITING: [&str; 5] = ["fast-import", "update-ref", "update-index", "add", "worktree"];
const WRITES: [&str; 6] =
    ["-c", "core.hooksPath=/dev/null", "-c", "core.logAllRefUpdates=false", "-c", "core.fsync=all"];

/// How often git is asked the same.
const TRIES_MAX: usize = 5;
/// What it says of a file that became shorter while it was read; often it is ended before it says so.
const CUT_SHORT: &str = "short read while indexing";

impl Answer {
    fn was_cut_short(&self) -> bool {
        let says_so = || String::from_utf8_lossy(&self.message).contains(CUT_SHORT);
        self.lost_a_mapping || (self.code != Some(0) && says_so())
    }

    pub(super) fn failure(&self, command: &'static str) -> GitError {
        let message = String::from_utf8_lossy(&self.message).trim().to_owned();
        match room::missing(&self.directory, &message) {
            Some(missing) => GitError::NoRoom { command, message, missing },
            None => GitError::Failed { command, message },
        }
    }
}

impl Git {
    /// Asks. What somebody was just writing is asked for again: git reads files where they lie, so that one that is cut
    /// short meanwhile ends it. What writes something is asked for once.
    pub(super) fn run(&self, worktree: &Path, question: &Question<'_>) -> Result<Answer, GitError> {
        let once = || self.run_command(question.command, self.command(worktree, question), None);
        let mut answer = once()?;
        let again = if WRITING.contains(&question.command) { 0 } else { TRIES_MAX - 1 };
        for _ in 0..again {
            if !answer.was_cut_short() {
                break;
            }
            answer = once()?;
        }
        Ok(answer)
    }

    /// The same with something on its standard input. What git does not read to its end it judges itself.
    pub(super) fn run_fed(
        &self,
        worktree: &Path,
        question: &Question<'_>,
        feed: Feed,
    ) -> Result<Answer, GitError> {
        self.run_command(question.command, self.command(worktree, question), Some(feed))
    }

    /// Runs a git, with what is fed to it on its standard input.
    pub(super) fn run_command(
        &self,
        name: &'static str,
        mut command: Command,
        feed: Option<Feed>,
    ) -> Result<Answer, GitError> {
        let failed = |source| GitError::Run { program: self.program.clone(), source };
        let patience = self.patience().ok_or(GitError::NoTime { command: name })?;
        if feed.is_some() {
            command.stdin(Stdio::piped());
        }
        let directory = command.get_current_dir().map(Path::to_owned).unwrap_or_default();
        let mut child = command.spawn().map_err(failed)?;
        if let (Some(feed), Some(mut pipe)) = (feed, child.stdin.take()) {
            let write = move || drop(feed(&mut pipe));
            drop(thread::Builder::new().name("clearway-feed".to_owned()).spawn(write));
        }
        let output = read_in_thread(child.stdout.take(), OUTPUT_BYTES_MAX + 1, Rest::Leave);
        let message = read_in_thread(child.stderr.take(), MESSAGE_BYTES_MAX, Rest::Discard);
        let started = Instant::now();
        let heard = |pipe: Receiver<io::Result<Vec<u8>>>| match pipe
            .recv_timeout(patience.saturating_sub(started.elapsed()))
        {
            Ok(bytes) => bytes.map_err(failed),
            Err(RecvTimeoutError::Timeout) => Err(timed_out(name, patience)),
            Err(RecvTimeoutError::Disconnected) => Err(failed(io::ErrorKind::BrokenPipe.into())),
        };
        let output = heard(output).and_then(|output| within_limit(name, output));
        let said = output.and_then(|output| Ok((output, heard(message)?)));
        let (output, message) = said.inspect_err(|_| end(&mut child))?;
        match wait_until(&mut child, started.checked_add(patience)).map_err(failed)? {
            Some(status) => Ok(Answer {
                code: status.code(),
                lost_a_mapping: lost_a_mapping(status),
                output,
                message,
                directory,
            }),
            None => {
                end(&mut child);
                Err(timed_out(name, patience))
            }
        }
    }

    /// `core.fsmonitor` is a program named by the repository, and therefore switched off.
    fn command(&self, worktree: &Path, question: &Question<'_>) -> Command {
        let mut git = self.bare_command(worktree);
        git.env("LC_ALL", "C")
            .args(["--no-optional-locks", "-c", "core.quotepath=off", "-c", "core.fsmonitor=false"])
            .arg("--literal-pathspecs")
            .args(WRITING.contains(&question.command).then_some(WRITES).into_iter().flatten())
            .arg(question.command)
            .args(question.options)
            .args((!question.paths.is_empty()).then_some("--"))
            .args(question.paths);
        git
    }

    /// Git as it is, without a word yet.
    pub(super) fn bare_command(&self, worktree: &Path) -> Command {
        let mut git = Command::new(&self.program);
        git.env_clear()
            .envs(self.vars.iter().map(|(name, value)| (name, value)))
            .current_dir(worktree)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        git
    }
}

fn timed_out(command: &'static str, patience: Duration) -> GitError {
    GitError::TimedOut { command, waited_ms: u64::try_from(patience.as_millis()).unwrap_or(u64::MAX) }
}

/// Both pipes are read at once: a child that fills the unread one would wait for ever.
fn read_in_thread(
    pipe: Option<impl Read + Send + 'static>,
    bytes_max: usize,
    rest: Rest,
) -> Receiver<io::Result<Vec<u8>>> {
    let (sender, receiver) = mpsc::channel();
    if let Some(pipe) = pipe {
        let read = move || drop(sender.send(read_to_limit(pipe, bytes_max, rest)));
        // A thread that cannot start drops the sender, which the receiver notices.
        drop(thread::Builder::new().name("clearway-git".to_owned()).spawn(read));
    }
    receiver
}

fn read_to_limit(mut pipe: impl Read, bytes_max: usize, rest: Rest) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    pipe.by_ref().take(bytes_max as u64).read_to_end(&mut bytes)?;
    if rest == Rest::Discard {
        io::copy(&mut pipe, &mut io::sink())?;
    }
    Ok(bytes)
}

/// What becomes of bytes beyond the limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rest {
    /// They stay unread; the caller ends the child.
    Leave,
    /// They are read and forgotten: closing the pipe early would end a git that merely warns a lot.
    Discard,
}

fn within_limit(command: &'static str, output: Vec<u8>) -> Result<Vec<u8>, GitError> {
    if output.len() > OUTPUT_BYTES_MAX {
        return Err(GitError::TooMuchOutput { command, bytes_max: OUTPUT_BYTES_MAX });
    }
    Ok(output)
}

/// How soon a child that has closed its pipes and not yet ended is looked at again: most end at once, and somebody waits.
const LOOK_MICROSECONDS: u64 = 30;
const LOOK_MICROSECONDS_MAX: u64 = 1_000;

/// How long a child that was asked to go may take to clean up.
const ASKED_MS: u64 = 200;

/// How long a child that was ended may take to go. One that the kernel holds longer is left to it.
const GO_MS: u64 = 1_000;

/// The child's status; `None` if it goes on beyond the deadline.
fn wait_until(child: &mut Child, deadline: Option<Instant>) -> io::Result<Option<ExitStatus>> {
    let mut pause = LOOK_MICROSECONDS;
    loop {
        match child.try_wait()? {
            None if deadline.is_none_or(|deadline| Instant::now() < deadline) => {
                thread::sleep(Duration::from_micros(pause));
                pause = (pause * 2).min(LOOK_MICROSECONDS_MAX);
            }
            settled => return Ok(settled),
        }
    }
}

/// Only our own child is ended; if it is gone already there is nothing left to do. It is asked to go first: a git that is
/// killed leaves its lock files behind, and nobody else may remove them.
fn end(child: &mut Child) {
    ask_to_end(child);
    if let Ok(Some(_)) = wait_until(child, Instant::now().checked_add(Duration::from_millis(ASKED_MS))) {
        return;
    }
    let _ = child.kill();
    let _ = wait_until(child, Instant::now().checked_add(Duration::from_millis(GO_MS)));
}
