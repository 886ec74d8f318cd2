//! Where an answer is shown: JSON or text, standard output or standard error.

use crate::given::Given;
use crate::render::{self, Page};
use crate::verbs::code_beside_command;
use crate::{Host, Streams, githook, hook};
use clearway_core::decide::Notice;
use clearway_core::failure::Failure;
use clearway_core::slug::Slug;
use clearway_core::text::truncate_columns;
use clearway_core::time::{BootKey, Mono, Now, Wall};
use clearway_kernel::{Globals, Outside, Surroundings};
use clearway_wire::json::Failed;
pub(crate) use clearway_wire::json::document;
use std::ffi::OsString;
use std::io::{self, ErrorKind, Write};

/// What a verb found or did.
pub(crate) trait Answer {
    /// For programs: one JSON document.
    fn json(&self, given: &Given) -> String;

    /// For people: whole lines.
    fn text(&self, page: &Page) -> String;

    /// For people who read the text: what may be wrong with the question. It goes to standard error.
    fn aside(&self, _page: &Page) -> String {
        String::new()
    }

    /// What a script sees.
    fn exit_code(&self) -> u8 {
        0
    }

    /// What people are told beside the text, when the answer is that something is wrong.
    fn complaint(&self) -> Option<&Failure> {
        None
    }
}

/// Why there is no answer, and the instant its deadlines are read at.
#[derive(Debug)]
pub(crate) struct Problem {
    pub(crate) failure: Failure,
    pub(crate) now: Option<Box<Now>>,
}

impl From<Failure> for Problem {
    fn from(failure: Failure) -> Self {
        Self { failure, now: None }
    }
}

/// The streams and how they are written to.
pub(crate) struct Console<'a, 'b> {
    pub(crate) json: bool,
    pub(crate) page: Page,
    /// Standard output and the exit code are those of a command that is run; what is ours goes elsewhere.
    runs_command: bool,
    error_page: Page,
    /// Whether the line above the cursor is one that is replaced.
    is_live: bool,
    streams: &'a mut Streams<'b>,
}

impl<'a, 'b> Console<'a, 'b> {
    pub(crate) fn new(
        json: bool,
        runs_command: bool,
        surroundings: &Surroundings,
        streams: &'a mut Streams<'b>,
    ) -> Self {
        let (page, error_page) = (Page::stdout(surroundings), Page::stderr(surroundings));
        Self { json, runs_command, page, error_page, is_live: false, streams }
    }

    /// What the commands in every answer repeat of the line that was typed.
    pub(crate) fn repeat(&mut self, given: Given) {
        self.error_page.given = given.clone();
        self.page.given = given;
    }

    /// Where the caller acts: paths of any other checkout are shown with it.
    pub(crate) fn stand_in(&mut self, checkout: &str) {
        let here = Some(checkout.to_owned());
        self.error_page.here.clone_from(&here);
        self.page.here = here;
    }

    /// Answers a hook, which has a form of its own for everything, and returns the exit code.
    pub(crate) fn hook(&mut self, words: &[OsString], host: &mut dyn Host) -> u8 {
        hook::run(words, host, self.streams)
    }

    /// The same for a hook of git.
    pub(crate) fn git_hook(&mut self, words: &[OsString], given: &Globals, host: &mut dyn Host) -> u8 {
        githook::run(words, given, host, self.streams)
    }

    /// Shows an answer and returns the exit code.
    pub(crate) fn tell(&mut self, answer: &dyn Answer, outside: &mut dyn Outside) -> u8 {
        let text = if self.json { answer.json(&self.page.given) + "\n" } else { answer.text(&self.page) };
        if let Err(problem) = self.line(&text) {
            return self.complain_aloud(&problem, outside);
        }
        if !self.json {
            // Nobody is left to be told if this fails; the answer was given.
            let _ = write(self.streams.stderr, &answer.aside(&self.error_page));
        }
        if let Some(failure) = answer.complaint().filter(|_| !self.json) {
            self.complain(&Problem::from(failure.clone()), outside);
        }
        answer.exit_code()
    }

    /// Shows why there is no answer and returns the exit code.
    pub(crate) fn complain(&mut self, problem: &Problem, outside: &mut dyn Outside) -> u8 {
        let now = problem.now.as_deref().cloned().unwrap_or_else(|| now(outside));
        let shown = if self.json {
            let text = document(&Failed::new(&self.page.given.failure(&problem.failure), &now)) + "\n";
            match self.runs_command {
                false => write(self.streams.stdout, &text),
                true => write(self.streams.stderr, &text),
            }
        } else {
            return self.complain_aloud(problem, outside);
        };
        match shown {
            Err(error) if error.kind() != ErrorKind::BrokenPipe => {
                self.complain_aloud(&unwritable(&error).into(), outside)
            }
            _ => self.exit_code(problem.failure.slug),
        }
    }

    /// The same on standard error, whatever form was asked for: standard output may be what failed.
    pub(crate) fn complain_aloud(&mut self, problem: &Problem, outside: &mut dyn Outside) -> u8 {
        let now = problem.now.as_deref().cloned().unwrap_or_else(|| now(outside));
        let failure = self.page.given.failure(&problem.failure);
        let shown = write(self.streams.stderr, &render::failure(&failure, &now, &self.error_page));
        // With both streams gone there is nobody left to tell; the exit code still says it.
        drop(shown);
        self.exit_code(problem.failure.slug)
    }

    fn exit_code(&self, slug: Slug) -> u8 {
        if self.runs_command { code_beside_command(slug) } else { slug.exit_code() }
    }

    /// Asks a person at a terminal, and whether the answer is yes.
    pub(crate) fn agrees(&mut self, question: &str, host: &mut dyn Host) -> Result<bool, Problem> {
        // Nobody can answer a question that cannot be shown, and no answer is one too.
        let _ = write(self.streams.stderr, &format!("{question} [Y/n] "));
        let typed = host.typed_line()?;
        Ok(matches!(typed.trim().to_lowercase().as_str(), "" | "y" | "yes"))
    }

    /// Tells people what to know beside lines that are data.
    pub(crate) fn note<'n>(&mut self, noted: impl IntoIterator<Item = &'n Notice>) {
        if !self.json {
            // The answer goes on without it.
            let _ = write(self.streams.stderr, &render::notices(noted, &self.error_page));
        }
    }

    /// Replaces the line that a person at a terminal watches, or takes it away; nothing anywhere else. The cursor rests
    /// below it, so that whoever interrupts has the next prompt on a line of its own.
    pub(crate) fn live(&mut self, text: &str) {
        if !self.error_page.is_terminal || self.json || (text.is_empty() && !self.is_live) {
            return;
        }
        let width = self.error_page.columns.saturating_sub(1);
        let line = truncate_columns(text, width);
        let up = if self.is_live { "\x1b[1A" } else { "" };
        let below = if text.is_empty() { "" } else { "\n" };
        self.is_live = !text.is_empty();
        // A line nobody can be shown is no reason to stop waiting.
        let _ = write(self.streams.stderr, &format!("{up}\r\x1b[2K{line}{below}"));
    }

    /// Writes to standard output and flushes, so that a reader has it at once. `false` if nobody reads any more.
    pub(crate) fn line(&mut self, text: &str) -> Result<bool, Problem> {
        match write(self.streams.stdout, text) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(false),
            Err(error) => Err(unwritable(&error).into()),
        }
    }
}

fn write(stream: &mut dyn Write, text: &str) -> io::Result<()> {
    stream.write_all(text.as_bytes())?;
    stream.flush()
}

fn unwritable(error: &io::Error) -> Failure {
    Failure::new(Slug::OutputUnwritable, format!("standard output cannot be written: {error}"))
        .hint("what was asked for may have been done; look with: clearway status")
}

/// The present for spans in a failure. Without a clock they read as zero.
fn now(outside: &mut dyn Outside) -> Now {
    let none = || Now { boot: BootKey(String::new()), mono: Mono(0), wall: Wall(0) };
    outside.now().unwrap_or_else(|_| none())
}
