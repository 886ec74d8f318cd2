//! Behind the stage of `clearway demo`: a temporary directory with a repository and a store of its own, and real
//! processes of this binary that act in it. Nothing of the caller's environment but `PATH` reaches them, so they can
//! neither act as the caller nor find its store.

mod child;
mod janitor;
mod window;

use child::{Waiting, run};
use clearway_cli::{Backstage, By, Ran};
use clearway_core::failure::Failure;
use clearway_core::slug::Slug;
use clearway_git::{Git, GitError};
use clearway_kernel::config::AGENT_VARIABLE;
use clearway_platform::environment::Environment;
use clearway_platform::files::{self, TemporaryDir};
use clearway_platform::terminal::pause_or_enter;
use janitor::Janitor;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};
use window::Window;

/// The first word of a command line of our own children. It is no verb: nobody else types it.
const PART: &str = "demo-part";

/// Plays a part of a demonstration, if that is what this process was started for.
pub(crate) fn play_part(arguments: &[OsString]) -> Option<ExitCode> {
    let [_, first, words @ ..] = arguments else { return None };
    if first != PART {
        return None;
    }
    let played = match words.split_first().map(|(part, rest)| (part.to_str(), rest)) {
        Some((Some(window::PART), words)) => window::play(words),
        Some((Some(janitor::PART), words)) => janitor::play(words),
        _ => Err(io::ErrorKind::InvalidInput.into()),
    };
    Some(if played.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Prepares everything, after removing what demonstrations that were killed left behind.
pub(crate) fn prepare(environment: &Environment) -> Result<Box<dyn Backstage>, Failure> {
    let git = Git::locate(environment).map_err(|error| no_git(&error))?;
    for abandoned in files::leftover_directories() {
        // Somebody else may be removing it too, and what cannot be removed is no reason not to play.
        let _ = files::remove_leftover(&abandoned);
    }
    let directory = files::temporary_dir(files::DEMO).map_err(|error| failure("make a directory", &error))?;
    let binary = std::env::current_exe().map_err(|error| failure("find its own program", &error))?;
    let place = directory.path().to_owned();
    let path = environment.var("PATH").unwrap_or_default().to_owned();
    let janitor = Janitor::start(&binary, &place).map_err(|error| failure("start a process", &error))?;
    let stage = Stage {
        binary,
        path,
        place,
        directory: Some(directory),
        waiting: None,
        window: None,
        begun: Instant::now(),
        janitor,
    };
    stage.furnish(git.program())?;
    Ok(Box::new(stage))
}

fn no_git(error: &GitError) -> Failure {
    Failure::new(Slug::GitMissing, error.to_string())
        .hint("install git, or name its directory: PATH=/usr/bin:$PATH clearway demo")
}

fn failure(action: &str, error: &dyn std::error::Error) -> Failure {
    let cause = error.source().map(|cause| format!(": {cause}")).unwrap_or_default();
    Failure::new(Slug::Internal, format!("the demonstration cannot {action}: {error}{cause}"))
        .hint("it needs room in the directory for temporary files; choose another: TMPDIR=DIR clearway demo")
}

/// Files of the repository.
const FILES: [(&str, &str); 3] = [
    ("src/parser.rs", "pub fn parse() {}\n"),
    ("src/lexer.rs", "pub fn lex() {}\n"),
    ("docs/guide.md", "# Guide\n"),
];

struct Stage {
    binary: PathBuf,
    path: OsString,
    place: PathBuf,
    /// Gone only while everything else goes.
    directory: Option<TemporaryDir>,
    waiting: Option<Waiting>,
    window: Option<Window>,
    begun: Instant,
    janitor: Janitor,
}

impl Stage {
    fn furnish(&self, git: &Path) -> Result<(), Failure> {
        let made = || -> io::Result<()> {
            for name in ["home", "state", "config", "run", "tmp", "app/src", "app/docs"] {
                fs::create_dir_all(self.place.join(name))?;
            }
            for (path, text) in FILES {
                fs::write(self.place.join("app").join(path), text)?;
            }
            let status = self.program(git).args(["init", "-q", "."]).status()?;
            if status.success() { Ok(()) } else { Err(io::Error::other(format!("git init: {status}"))) }
        };
        made().map_err(|error| failure("make a repository", &error))
    }

    /// A program in the repository, with an environment that is all of the demonstration's making.
    fn program(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command.current_dir(self.place.join("app")).env_clear().env("PATH", &self.path);
        for (name, directory) in [
            ("HOME", "home"),
            ("XDG_STATE_HOME", "state"),
            ("XDG_CONFIG_HOME", "config"),
            ("XDG_RUNTIME_DIR", "run"),
            ("TMPDIR", "tmp"),
        ] {
            command.env(name, self.place.join(directory));
        }
        command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
        command.stdin(self.janitor.line()).stdout(Stdio::null()).stderr(Stdio::null());
        command
    }

    fn clearway(&self, by: By) -> Command {
        let mut command = self.program(&self.binary);
        if let By::Agent(name) = by {
            command.env(AGENT_VARIABLE, name);
        }
        command
    }

    fn end_children(&mut self) {
        // Each of them ends its process when it is dropped.
        self.waiting = None;
        self.window = None;
    }
}

impl Backstage for Stage {
    fn place(&self) -> &Path {
        &self.place
    }

    fn run(&mut self, by: By, words: &[String]) -> Result<Ran, Failure> {
        self.begun = Instant::now();
        let mut command = self.clearway(by);
        let ran = if by == By::Window {
            Window::open(command, words).map(|(window, ran)| {
                self.window = Some(window);
                ran
            })
        } else {
            command.args(words);
            run(command)
        };
        let (code, output) = ran.map_err(|error| failure("run a process", &error))?;
        Ok(Ran { code, output, took_ms: milliseconds(self.begun.elapsed()) })
    }

    fn start(&mut self, by: By, words: &[String]) -> Result<(), Failure> {
        let mut command = self.clearway(by);
        command.args(words);
        self.waiting = Some(Waiting::start(command).map_err(|error| failure("start a process", &error))?);
        Ok(())
    }

    fn hear(&mut self) -> Result<Ran, Failure> {
        let nothing = || io::Error::other("nothing was started");
        let heard = self.waiting.take().ok_or_else(nothing).and_then(Waiting::hear);
        let (code, output, ended) = heard.map_err(|error| failure("hear of a process", &error))?;
        Ok(Ran { code, output, took_ms: milliseconds(ended.saturating_duration_since(self.begun)) })
    }

    fn kill_window(&mut self) -> Result<u32, Failure> {
        let nothing = || io::Error::other("there is no window");
        let killed = self.window.take().ok_or_else(nothing).and_then(Window::kill);
        killed.map_err(|error| failure("kill a process", &error))
    }

    fn flip(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        let scopes = self.place.join("state/clearway/scopes");
        match flip_below(&scopes, bytes) {
            Ok(0) => Err(failure("flip a byte", &io::Error::other("the event is in no file of the store"))),
            Ok(_) => Ok(()),
            Err(error) => Err(failure("flip a byte", &error)),
        }
    }

    fn pause(&mut self, span_ms: u64) {
        pause_or_enter(Duration::from_millis(span_ms));
    }

    fn keep(mut self: Box<Self>) -> Result<(), Failure> {
        self.end_children();
        self.janitor.dismiss();
        let kept = self.directory.take().map_or(Ok(()), TemporaryDir::keep);
        kept.map_err(|error| failure("keep its directory", &error))
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        self.end_children();
        self.directory = None;
    }
}

fn milliseconds(span: Duration) -> u64 {
    u64::try_from(span.as_millis()).unwrap_or(u64::MAX)
}

/// Flips a bit of the last byte wherever the bytes are found; how often that was. The log of the database may hold
/// pages of it more than once.
fn flip_below(directory: &Path, wanted: &[u8]) -> io::Result<usize> {
    let mut flipped = 0;
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        if path.is_dir() {
            flipped += flip_below(&path, wanted)?;
            continue;
        }
        let mut bytes = fs::read(&path)?;
        let places = places_of(wanted, &bytes);
        places.iter().for_each(|end| bytes[*end] ^= 1);
        if !places.is_empty() {
            fs::write(&path, bytes)?;
        }
        flipped += places.len();
    }
    Ok(flipped)
}

/// Where the last byte of each occurrence is.
fn places_of(wanted: &[u8], bytes: &[u8]) -> Vec<usize> {
    let windows = bytes.windows(wanted.len().max(1)).enumerate();
    windows.filter(|(_, found)| *found == wanted).map(|(start, _)| start + wanted.len() - 1).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_is_flipped_at_the_end_of_every_occurrence() {
        assert_eq!(places_of(b"ab", b"ab-ab-a"), [1, 4]);
        assert!(places_of(b"x", b"ab").is_empty() && places_of(b"", b"ab").is_empty());
    }

    #[test]
    fn only_our_own_first_word_plays_a_part() {
        let words = |line: &str| line.split(' ').map(OsString::from).collect::<Vec<_>>();
        assert!(play_part(&words("clearway demo")).is_none());
        assert!(play_part(&words("clearway")).is_none());
        assert_eq!(play_part(&words("clearway demo-part lead")), Some(ExitCode::FAILURE));
    }
}
