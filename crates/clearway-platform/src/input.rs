//! Standard input of a program that nobody waits for long: bounded in size and in time.

use crate::stopwatch::Stopwatch;
use rustix::buffer::spare_capacity;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use std::io;
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

/// Room for what most payloads take. A call pays for every page that it touches, so there is no more until it is
/// needed.
const FIRST_BYTES: usize = 4 * 1_024;

/// Reads standard input to its end, at most so many bytes and for at most so long.
pub fn read(bytes_max: usize, patience: Duration) -> io::Result<Input> {
    read_from(io::stdin(), bytes_max, patience)
}

/// Past the buffer of the standard library: what lies there would not be seen by waiting for more.
fn read_from(source: impl AsFd, bytes_max: usize, patience: Duration) -> io::Result<Input> {
    let (started, mut bytes) = (Stopwatch::start(), Vec::with_capacity(FIRST_BYTES));
    loop {
        let left = patience.saturating_sub(Duration::from_millis(started.elapsed_ms()));
        if !is_readable(&source, left)? {
            return Ok(Input::Unfinished);
        }
        if bytes.len() == bytes.capacity() {
            bytes.reserve(bytes.len());
        }
        match rustix::io::read(&source, spare_capacity(&mut bytes)) {
            Ok(0) => return Ok(Input::Whole(bytes)),
            Ok(_) if bytes.len() > bytes_max => return Ok(Input::TooLong),
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
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
            Err(Errno::INTR) => {}
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
        let long = vec![b'x'; 3 * FIRST_BYTES + 1];
        assert_eq!(read_after(&long, true, long.len()), Input::Whole(long.clone()));
    }

    #[test]
    fn what_is_longer_or_does_not_end_is_given_up() {
        assert_eq!(read_after(b"abcd", true, 3), Input::TooLong);
        assert_eq!(read_after(b"abc", false, 3), Input::Unfinished);
    }
}
