//! Standard output of a program that writes seldom: whether there is any use in going on.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::os::fd::AsFd;

/// Whether somebody may still read standard output. A pipe tells when its reader is gone; a file has no reader.
pub fn is_heard() -> bool {
    is_open(&std::io::stdout())
}

fn is_open(sink: &impl AsFd) -> bool {
    // Whatever is asked for, a gone reader is reported; nothing else is of interest.
    let mut fds = [PollFd::new(sink, PollFlags::empty())];
    match poll(&mut fds, Some(&Timespec::default())) {
        Ok(_) => !fds[0].revents().intersects(PollFlags::ERR | PollFlags::NVAL),
        Err(_) => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pipe_is_open_until_its_reader_is_gone_and_a_file_always() {
        let (reader, writer) = std::io::pipe().unwrap();
        assert!(is_open(&writer));
        drop(reader);
        assert!(!is_open(&writer));
        assert!(is_open(&tempfile::tempfile().unwrap()));
    }
}
