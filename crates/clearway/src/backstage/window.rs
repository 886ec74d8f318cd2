//! A terminal window: a process that leads a session at a terminal of its own, as a shell does, types one command, and
//! then stays until it is killed or its demonstration has ended.

use super::child::{end, run};
use clearway_platform::terminal::{Pseudoterminal, lead_session};
use std::ffi::OsString;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// What the process is called.
pub(super) const PART: &str = "window";

/// The window as the demonstration sees it. Its process is killed when this is dropped.
pub(super) struct Window {
    process: Child,
    _terminal: Pseudoterminal,
}

impl Window {
    /// Opens a window with this command, which is one of our own program, and has it type these words: the window, and
    /// what came of them.
    pub(super) fn open(mut command: Command, words: &[String]) -> io::Result<(Self, (i32, String))> {
        let terminal = Pseudoterminal::open()?;
        command.args([super::PART, PART]).arg(terminal.device()).args(words);
        // Its standard input ends when the demonstration does, however that comes about.
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut window = Self { process: command.spawn()?, _terminal: terminal };
        let said = window.process.stdout.take().ok_or(io::ErrorKind::BrokenPipe)?;
        let answer = read_answer(BufReader::new(said))?;
        Ok((window, answer))
    }

    /// Kills the process and waits until it is gone; which one it was.
    pub(super) fn kill(mut self) -> io::Result<u32> {
        self.process.kill()?;
        self.process.wait()?;
        Ok(self.process.id())
    }
}

impl Drop for Window {
    fn drop(&mut self) {
        end(&mut self.process);
    }
}

/// What the process does.
pub(super) fn play(words: &[OsString]) -> io::Result<()> {
    let (device, words) = words.split_first().ok_or(io::ErrorKind::InvalidInput)?;
    let _terminal = lead_session(Path::new(device))?;
    let mut command = Command::new(std::env::current_exe()?);
    command.args(words).stdin(Stdio::null());
    let (code, output) = run(command)?;
    write_answer(io::stdout().lock(), code, &output)?;
    io::copy(&mut io::stdin().lock(), &mut io::sink()).map(drop)
}

/// The exit code and the length on a line, then the text.
fn write_answer(mut to: impl Write, code: i32, output: &str) -> io::Result<()> {
    write!(to, "{code} {}\n{output}", output.len())?;
    to.flush()
}

fn read_answer(mut from: impl BufRead) -> io::Result<(i32, String)> {
    let mut line = String::new();
    from.read_line(&mut line)?;
    let numbers = line.trim_end().split_once(' ');
    let numbers = numbers.and_then(|(code, length)| Some((code.parse().ok()?, length.parse::<u64>().ok()?)));
    let (code, length) = numbers.ok_or_else(|| io::Error::other("the terminal window did not open"))?;
    let mut output = String::new();
    from.take(length).read_to_string(&mut output)?;
    Ok((code, output))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_reads_back_and_what_is_none_is_an_error() {
        let mut sent = Vec::new();
        write_answer(&mut sent, 3, "two\nlines\n").unwrap();
        sent.extend(b"and more");
        assert_eq!(read_answer(sent.as_slice()).unwrap(), (3, "two\nlines\n".to_owned()));
        for wrong in ["", "3\n", "x 1\n", "1 x\n"] {
            assert!(read_answer(wrong.as_bytes()).is_err(), "{wrong:?}");
        }
    }
}
