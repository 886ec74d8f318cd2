//! Standard input of a program that nobody waits for long: bounded in size and in time.

use crate::stopwatch::Stopwatch;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::io::{self, Read};
use std::os::fd::AsFd;
use std::time::Duration;

/// What came in.
#[derive(Debug, PartialEq, Eq)]
pub enum Input {
    /// All of it.
    Whole(Vec<u8>),
    /// More than was allowed; nothing of it is kept.
    TooLong,
    /// It did not end in time.
    Unfinished,
}

/// Reads standard input to its end, at most so many bytes and for at most so long.
pub fn read(bytes_max: usize, patience: Duration) -> io::Result<Input> {
    let stdin = io::stdin().lock();
    read_from(stdin, bytes_max, patience)
}

fn read_from(mut source: impl Read + AsFd, bytes_max: usize, patience: Duration) -> io::Result<Input> {
    let (started, mut bytes, mut chunk) = (Stopwatch::start(), Vec::new(), vec![0; 64 * 1_024]);
    loop {
        let left = patience.saturating_sub(Duration::from_millis(started.elapsed_ms()));
        if !is_readable(&source, left)? {
            return Ok(Input::Unfinished);
        }
        match source.read(&mut chunk) {
            Ok(0) => return Ok(Input::Whole(bytes)),
            Ok(count) if bytes.len() + count > bytes_max => return Ok(Input::TooLong),
            Ok(count) => bytes.extend_from_slice(&chunk[..count]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

fn is_readable(source: &impl AsFd, left: Duration) -> io::Result<bool> {
    let timeout = Timespec {
        tv_sec: left.as_secs().try_into().unwrap_or(i64::MAX),
        tv_nsec: left.subsec_nanos().into(),
    };
    let mut fds = [PollFd::new(source, PollFlags::IN)];
    loop {
        match poll(&mut fds, Some(&timeout)) {
            Ok(ready) => return Ok(ready > 0),
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn read_after(write: &[u8], close: bool, bytes_max: usize) -> Input {
        let (reader, mut writer) = io::pipe().unwrap();
        writer.write_all(write).unwrap();
        let kept = (!close).then_some(writer);
        let input = read_from(reader, bytes_max, Duration::from_millis(50)).unwrap();
        drop(kept);
        input
    }

    #[test]
    fn what_ends_in_time_and_fits_is_read_whole() {
        assert_eq!(read_after(b"abc", true, 3), Input::Whole(b"abc".to_vec()));
        assert_eq!(read_after(b"", true, 3), Input::Whole(Vec::new()));
    }

    #[test]
    fn what_is_longer_or_does_not_end_is_given_up() {
        assert_eq!(read_after(b"abcd", true, 3), Input::TooLong);
        assert_eq!(read_after(b"abc", false, 3), Input::Unfinished);
    }
}
